// What an agent host tells its hook, in one shape for all hosts.
//
// Wire formats: the hosts' own documentation and schemas as of 2026; see docs/reference/hosts.md for what each one honours.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "tipstaff/gate/shell/language/bytes.hpp"
#include "tipstaff/gate/tool_fields.hpp"
#include "tipstaff/hook/json.hpp"

namespace tipstaff::hook {

enum class Host : std::uint8_t { unknown, claude, codex, gemini, cursor, copilot, qwen, opencode };
enum class Phase : std::uint8_t { other, before_tool, permission, after_tool, failed_tool, prompt, session_start, before_compaction };

inline std::string_view name_of(Host host) noexcept {
  switch (host) {
    case Host::claude: return "claude";
    case Host::codex: return "codex";
    case Host::gemini: return "gemini";
    case Host::cursor: return "cursor";
    case Host::copilot: return "copilot";
    case Host::qwen: return "qwen";
    case Host::opencode: return "opencode";
    default: return "unknown";
  }
}

inline Host host_named(std::string_view name) noexcept {
  for (Host host : {Host::claude, Host::codex, Host::gemini, Host::cursor, Host::copilot, Host::qwen, Host::opencode})
    if (name == name_of(host)) return host;
  return Host::unknown;
}

struct HookEvent {
  Host host = Host::unknown;
  Phase phase = Phase::other;
  std::string_view name;     // of the event, as the host says it
  std::string_view tool;     // empty: a bare command (Cursor's shell event)
  std::string_view cwd;
  std::string_view folder;   // the call's own, absolute or below cwd; empty where it names none
  std::string_view session;
  std::string_view agent;
  std::string_view call;     // the host's own name of this one call; empty where it gives none
  std::string_view prompt;
  std::string_view source;   // of a session's start
  bool unattended = false;   // the event itself says that nobody can be asked
  bool can_ask = true;       // the host honours a question at this event
  bool camel = false;        // Cursor before 2.0 and Copilot's own names
  bool readable = true;      // all that the call would do is in `fields`
  std::uint32_t input = kNoNode;   // the tool's parameters
  std::uint32_t output = kNoNode;  // what the tool gave
  gate::Field* fields = nullptr;   // room for field_room of them, the caller's
  std::uint32_t field_room = 0;
  std::uint32_t field_count = 0;
};

// Whether a host puts a question to a person, at some event at least. Gemini asks where nobody is there to answer, and lets
// calls of trusted servers run unasked; opencode's plugins can only refuse.
inline bool can_ask(Host host) noexcept {
  return host != Host::codex && host != Host::gemini && host != Host::opencode;
}

namespace events {

using gate::shell::one_of;

inline Phase phase_of(std::string_view name) noexcept {
  if (one_of(name, "PreToolUse preToolUse BeforeTool beforeShellExecution beforeMCPExecution beforeReadFile beforeTabFileRead"))
    return Phase::before_tool;
  if (one_of(name, "PermissionRequest permissionRequest")) return Phase::permission;
  if (one_of(name, "PostToolUse postToolUse AfterTool")) return Phase::after_tool;
  if (one_of(name, "PostToolUseFailure postToolUseFailure")) return Phase::failed_tool;
  if (one_of(name, "UserPromptSubmit BeforeAgent beforeSubmitPrompt userPromptSubmitted")) return Phase::prompt;
  if (one_of(name, "SessionStart sessionStart")) return Phase::session_start;
  if (one_of(name, "PreCompact PreCompress preCompact")) return Phase::before_compaction;
  return Phase::other;
}

// Every text below a value, each under the innermost name above it; names are texts as well (a secret may be a key), and
// so is what is switched on ("force": true).
inline void flatten(const Json& json, std::uint32_t index, std::string_view name, std::uint32_t element,
                    HookEvent* event) noexcept {
  const JsonNode& node = json[index];
  if (node.kind == JsonKind::object || node.kind == JsonKind::array) {
    std::uint32_t position = 0;
    for (std::uint32_t i = node.child; i != kNoNode; i = json[i].next, ++position) {
      const bool object = node.kind == JsonKind::object;
      flatten(json, i, object ? json[i].key : name, object ? 0xffffffffu : position, event);
    }
    return;
  }
  if (node.kind != JsonKind::string && !(node.kind == JsonKind::boolean && node.text == "true")) return;
  if (event->field_count == event->field_room) {
    event->readable = false;
    return;
  }
  new (&event->fields[event->field_count++]) gate::Field{name, node.text, element};
}

inline bool is_true(const Json& json, std::uint32_t object, std::string_view key) noexcept {
  const std::uint32_t found = json.find(object, key);
  return found != kNoNode && json[found].kind == JsonKind::boolean && json[found].text == "true";
}

inline bool is_set(std::string_view text) noexcept { return !text.empty(); }

// Parses a string that holds a document of its own, from a copy: reading unescapes in place, and the string must stay
// what it was where it turns out to hold none. Returns kNoNode there.
inline std::uint32_t nested_document(Json& json, std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(" \n\r\t");
  if (first == std::string_view::npos || (text[first] != '{' && text[first] != '[')) return kNoNode;
  void* copy = ::mmap(nullptr, text.size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (copy == MAP_FAILED) return kNoNode;
  std::memcpy(copy, text.data(), text.size());
  return json.parse_more({static_cast<char*>(copy), text.size()});
}

// Tells the host by what only its events hold.
inline Host guess(const Json& json, std::string_view name) noexcept {
  const auto has = [&](std::string_view key) noexcept { return json.find(0, key) != kNoNode; };
  if (has("conversation_id") || has("cursor_version") || has("workspace_roots")) return Host::cursor;
  if (has("toolName") || has("sessionId") || has("toolArgs")) return Host::copilot;
  if (one_of(name, "BeforeTool AfterTool BeforeAgent AfterAgent PreCompress BeforeModel AfterModel BeforeToolSelection"))
    return Host::gemini;
  if (has("turn_id") || (has("model") && has("hook_event_name"))) return Host::codex;
  if (has("hook_event_name") && has("timestamp")) return has("transcript_path") ? Host::gemini : Host::copilot;
  if (has("hook_event_name") || has("tool_name")) return Host::claude;
  return Host::unknown;
}

// Whether an event says what would be done: a shell call without a command says nothing that could be judged.
inline bool holds_call(const HookEvent& event) noexcept {
  if (event.tool.empty() && event.field_count == 0) return false;
  if (!one_of(event.tool, "Bash bash Shell PowerShell powershell run_shell_command")) return true;
  for (std::uint32_t i = 0; i < event.field_count; ++i)
    if (!event.fields[i].text.empty()) return true;
  return false;
}

// What Cursor's own events carry beside the rest.
inline void read_cursor(const Json& json, HookEvent* event) noexcept {
  const std::string_view name = event->name;
  event->can_ask = one_of(name, "beforeShellExecution beforeMCPExecution");
  // A question about a command that runs in its sandbox is not put to anybody.
  if (is_true(json, 0, "sandbox")) event->can_ask = false;
  const std::string_view version = json.text(0, "cursor_version");
  event->camel = version.size() > 1 && version[0] <= '1' && version[1] == '.';
  if (event->cwd.empty()) {
    const std::uint32_t roots = json.find(0, "workspace_roots");
    if (roots != kNoNode && json[roots].kind == JsonKind::array && json[roots].child != kNoNode)
      event->cwd = json[json[roots].child].text;
  }
  const auto add = [&](std::string_view key) noexcept {
    const std::string_view text = json.text(0, key);
    if (text.empty()) return;
    if (event->field_count == event->field_room) {
      event->readable = false;
      return;
    }
    new (&event->fields[event->field_count++]) gate::Field{key, text, 0xffffffffu};
  };
  if (name == "beforeShellExecution") {
    event->tool = "Shell";
    add("command");
  } else if (name == "beforeMCPExecution") {
    add("url");
    add("command");
  } else if (one_of(name, "beforeReadFile beforeTabFileRead")) {
    event->tool = "Read";
    add("file_path");
  }
}

// Fills `event` from a document; `named` and `asked` are what the command line said, unknown and empty where nothing.
inline bool read_event(Json& json, Host named, std::string_view asked, HookEvent* event) noexcept {
  if (json.count() == 0 || json[0].kind != JsonKind::object) return false;
  std::string_view name = json.text(0, "hook_event_name");
  event->host = named != Host::unknown ? named : guess(json, name);
  if (event->host == Host::unknown) return false;
  if (name.empty()) name = asked;
  if (name.empty() && event->host == Host::copilot) {  // whose own events do not say their name
    name = json.find(0, "toolResult") != kNoNode ? "postToolUse"
           : json.find(0, "toolName") != kNoNode ? "preToolUse"
           : json.find(0, "prompt") != kNoNode   ? "userPromptSubmitted"
                                                 : "sessionStart";
  }
  if (name.empty() && json.find(0, "tool_name") != kNoNode) name = event->host == Host::gemini ? "BeforeTool" : "PreToolUse";
  event->name = name;
  event->phase = phase_of(name);

  const auto either = [&](std::string_view one, std::string_view other) noexcept {
    const std::string_view found = json.text(0, one);
    return is_set(found) ? found : json.text(0, other);
  };
  event->tool = either("tool_name", "toolName");
  event->session = either("session_id", "sessionId");
  if (event->session.empty()) event->session = json.text(0, "conversation_id");
  event->agent = either("agent_id", "agent_type");
  event->call = either("tool_use_id", "toolCallId");
  event->cwd = json.text(0, "cwd");
  event->prompt = json.text(0, "prompt");
  event->source = json.text(0, "source");
  event->input = json.find(0, "tool_input");
  if (event->input == kNoNode) event->input = json.find(0, "toolArgs");
  for (std::string_view key : {"tool_response", "tool_output", "toolResult", "tool_result", "output", "result_json"}) {
    if (event->output == kNoNode) event->output = json.find(0, key);
  }
  if (event->phase == Phase::failed_tool && event->output == kNoNode) event->output = json.find(0, "error");
  const std::string_view mode = json.text(0, "permission_mode");
  if (mode == "dontAsk") event->unattended = true;
  if (is_true(json, 0, "is_background_agent")) event->unattended = true;
  event->can_ask = can_ask(event->host);
  if (event->host == Host::copilot) event->camel = json.find(0, "hook_event_name") == kNoNode;

  const bool before = event->phase == Phase::before_tool || event->phase == Phase::permission;
  // Parameters that are JSON inside a string (Copilot's older events, Cursor's MCP events), and Cursor's outputs.
  for (std::uint32_t* value : {&event->input, &event->output}) {
    if (*value == kNoNode || json[*value].kind != JsonKind::string) continue;
    const std::uint32_t parsed = nested_document(json, json[*value].text);
    if (parsed != kNoNode) {
      *value = parsed;
    } else if (before && value == &event->input && !json.text(0, "toolArgs").empty()) {
      event->readable = false;  // Copilot has no parameters that are plain text
    }
  }
  if (before && event->input != kNoNode) {
    flatten(json, event->input, "input", 0xffffffffu, event);
    for (std::string_view key : {"cwd", "workdir", "working_directory", "dir_path", "directory"}) {
      if (event->folder.empty()) event->folder = json.text(event->input, key);
    }
  }
  if (event->host == Host::cursor) read_cursor(json, event);
  if (before && !holds_call(*event)) event->readable = false;
  return true;
}

}  // namespace events

}  // namespace tipstaff::hook
