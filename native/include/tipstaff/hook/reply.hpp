// A verdict in the words of a host: what goes to standard output and standard error, and the exit status.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/rules/image.hpp"
#include "tipstaff/hook/event.hpp"
#include "tipstaff/hook/json.hpp"

namespace tipstaff::hook {

struct Reply {
  gate::Decision decision = gate::Decision::allow;  // allow, warn, confirm or block
  bool unattended = false;
  bool proven = false;  // a person has it that nobody is asked for such calls
  std::string_view reason;   // for people and the model; not empty where the decision is not allow
  std::string_view context;  // text for the model's window; empty for none
  std::string_view output;   // a tool's output with its secrets masked, as JSON; empty where it stays as it is
  std::string_view replacement;  // the same as text, for hosts that put a reason in the output's place
};

namespace replies {

using gate::Decision;

constexpr std::string_view kProven = "It is proven to read only what is in the repository or public.";

inline bool stops(const HookEvent& event, const Reply& reply) noexcept {
  return reply.decision == Decision::block ||
         (reply.decision == Decision::confirm && (!event.can_ask || reply.unattended || event.unattended));
}

inline bool asks(const HookEvent& event, const Reply& reply) noexcept {
  return reply.decision == Decision::confirm && !stops(event, reply);
}

inline void member(Writer& out, std::string_view key, std::string_view text, bool* first) noexcept {
  if (!*first) out.raw(",");
  *first = false;
  out.string(key).raw(":").string(text);
}

// Claude Code; and Codex, which takes the same shape but fails open on anything that it does not know: no question, no
// bare allow, no further keys.
inline void claude_like(const HookEvent& event, const Reply& reply, Writer& out) noexcept {
  const bool codex = event.host == Host::codex;
  const bool warns = reply.decision == Decision::warn && !reply.reason.empty();
  if (event.phase == Phase::permission) {
    // Silence leaves the question to the person who was going to be asked anyway.
    if (reply.decision != Decision::block && !(stops(event, reply))) return;
    out.raw("{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{\"behavior\":\"deny\",\"message\":");
    out.string(reply.reason).raw("}}}");
    return;
  }
  const bool allows = event.phase == Phase::before_tool && reply.proven && event.host == Host::claude;
  const bool decides = event.phase == Phase::before_tool && (stops(event, reply) || asks(event, reply) || allows);
  if (!reply.replacement.empty() && event.host == Host::qwen) {
    // What stops a call that has run takes the place of its output, and the session continues.
    out.raw("{\"continue\":false,\"stopReason\":").string(reply.replacement).raw("}");
    return;
  }
  bool first = true;
  out.raw("{");
  if (warns) member(out, "systemMessage", reply.reason, &first);
  if (!reply.replacement.empty()) {
    // Codex, whose reader of replaced outputs is newer than its reader of blocks.
    member(out, "decision", "block", &first);
    member(out, "reason", reply.replacement, &first);
  }
  if (decides || !reply.context.empty() || (!reply.output.empty() && !codex)) {
    if (!first) out.raw(",");
    first = false;
    out.raw("\"hookSpecificOutput\":{\"hookEventName\":").string(event.name);
    if (decides) {
      out.raw(",\"permissionDecision\":\"").raw(allows ? "allow" : stops(event, reply) ? "deny" : "ask").raw("\",\"permissionDecisionReason\":");
      out.string(allows ? kProven : reply.reason);
    }
    if (!reply.context.empty()) out.raw(",\"additionalContext\":").string(reply.context);
    if (!reply.output.empty() && !codex) out.raw(",\"updatedToolOutput\":").raw(reply.output);
    out.raw("}");
  }
  out.raw("}");
  if (out.view() == "{}") out.clear();  // an empty reply is written as no output
}

inline void gemini(const HookEvent& event, const Reply& reply, Writer& out) noexcept {
  bool first = true;
  out.raw("{");
  if (event.phase == Phase::before_tool && (stops(event, reply) || asks(event, reply))) {
    member(out, "decision", stops(event, reply) ? "deny" : "ask", &first);
    member(out, "reason", reply.reason, &first);
    // The reason is for the model; this is the only text that a person sees, and what waits for them has a code in it.
    if (reply.decision == Decision::confirm) member(out, "systemMessage", reply.reason, &first);
  } else if (!reply.replacement.empty()) {  // a denied output gives way to the reason
    member(out, "decision", "deny", &first);
    member(out, "reason", reply.replacement, &first);
  } else if (reply.decision == Decision::warn && !reply.reason.empty()) {
    member(out, "systemMessage", reply.reason, &first);
  }
  if (!reply.context.empty()) {
    if (!first) out.raw(",");
    out.raw("\"hookSpecificOutput\":{\"hookEventName\":").string(event.name);
    out.raw(",\"additionalContext\":").string(reply.context).raw("}");
  }
  out.raw("}");
}

inline void cursor(const HookEvent& event, const Reply& reply, Writer& out) noexcept {
  bool first = true;
  out.raw("{");
  if (event.phase == Phase::before_tool) {
    member(out, "permission", stops(event, reply) ? "deny" : asks(event, reply) ? "ask" : "allow", &first);
    if (reply.decision != Decision::allow && !reply.reason.empty()) {
      member(out, event.camel ? "userMessage" : "user_message", reply.reason, &first);
      member(out, event.camel ? "agentMessage" : "agent_message", reply.reason, &first);
    }
  } else if (event.phase == Phase::prompt) {
    out.raw("\"continue\":true");
    first = false;
  } else if (event.name == "subagentStart") {
    member(out, "permission", "allow", &first);
  }
  if (!reply.context.empty() && (event.phase == Phase::session_start || event.phase == Phase::after_tool))
    member(out, event.camel ? "additionalContext" : "additional_context", reply.context, &first);
  if (!reply.output.empty() && event.phase == Phase::after_tool) {
    if (!first) out.raw(",");
    out.raw("\"updated_mcp_tool_output\":").raw(reply.output);
  }
  out.raw("}");
}

inline void copilot(const HookEvent& event, const Reply& reply, Writer& out) noexcept {
  bool first = true;
  out.raw("{");
  if (event.phase == Phase::permission) {
    if (stops(event, reply)) {
      member(out, "behavior", "deny", &first);
      member(out, "message", reply.reason, &first);
    }
  } else if (event.phase == Phase::before_tool && (stops(event, reply) || asks(event, reply))) {
    const std::string_view decision = stops(event, reply) ? "deny" : "ask";
    member(out, "permissionDecision", decision, &first);
    member(out, "permissionDecisionReason", reply.reason, &first);
    if (!event.camel) {  // Visual Studio Code sends the same event and reads the answer where Claude Code does
      out.raw(",\"hookSpecificOutput\":{\"hookEventName\":").string(event.name);
      out.raw(",\"permissionDecision\":").string(decision).raw(",\"permissionDecisionReason\":").string(reply.reason).raw("}");
    }
  } else if (event.phase == Phase::before_tool && reply.proven) {
    member(out, "permissionDecision", "allow", &first);
    member(out, "permissionDecisionReason", kProven, &first);
  }
  if (!reply.context.empty()) member(out, "additionalContext", reply.context, &first);
  if (!reply.output.empty()) {
    if (!first) out.raw(",");
    first = false;
    out.raw("\"modifiedResult\":").raw(reply.output);
  }
  out.raw("}");
  if (out.view() == "{}") out.clear();
}

// Writes the reply; the exit status is always 0, since every host reads its JSON then.
inline void write(const HookEvent& event, const Reply& reply, Writer& out) noexcept {
  out.clear();
  switch (event.host) {
    case Host::gemini: return gemini(event, reply, out);
    case Host::cursor: return cursor(event, reply, out);
    case Host::copilot: return copilot(event, reply, out);
    case Host::claude:
    case Host::qwen:
    case Host::opencode:
    case Host::codex: return claude_like(event, reply, out);
    case Host::unknown: return;
  }
}

}  // namespace replies

}  // namespace tipstaff::hook
