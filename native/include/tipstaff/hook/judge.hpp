// One event of a host, judged: what the engine found, what a person allowed, what is said about it.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/engine.hpp"
#include "tipstaff/gate/files.hpp"
#include "tipstaff/hook/approvals.hpp"
#include "tipstaff/hook/event.hpp"
#include "tipstaff/hook/guidance.hpp"
#include "tipstaff/hook/json.hpp"
#include "tipstaff/hook/reply.hpp"
#include "tipstaff/hook/state.hpp"

namespace tipstaff::hook {

struct Situation {
  Json* json = nullptr;
  const gate::Image* image = nullptr;
  PolicyFault fault = PolicyFault::none;
  const Path* state = nullptr;
  std::string_view cwd;
  std::string_view repository;
  std::uint64_t now_s = 0;
};

struct Judgement {
  static constexpr std::size_t kReasonBytes = 4096;
  static constexpr std::uint32_t kSaid = 4;  // findings that the reason speaks of

  Reply reply;
  gate::Verdict verdict;
  Subject subject{};
  bool has_subject = false;
  bool approved = false;
  char reason[kReasonBytes];
  char context[48 * 1024];  // hosts cut what is longer
};

namespace judging {

using gate::Decision;

inline Decision worse(Decision one, Decision other) noexcept { return one > other ? one : other; }

// What the calls of one session did so far, in a file that one call at a time may hold.
class Run {
 public:
  gate::FlowState flow;

  void open(const Path& state, const HookEvent& event) noexcept {
    if (event.session.empty() || !state.ok()) return;
    Path path = state;
    path.add("/runs/").hex(fnv64(event.session) ^ (fnv64(name_of(event.host)) << 1)).add(".flow");
    file_ = open_state(path, O_RDWR | O_CREAT);
    if (file_ < 0) return;
    struct stat about;
    if (::fstat(file_, &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != ::geteuid()) return close();
    if (::flock(file_, LOCK_EX) != 0) return close();
    gate::FlowState kept;
    if (::pread(file_, &kept, sizeof kept, 0) == static_cast<ssize_t>(sizeof kept) && kept.valid()) {
      flow = kept;
      was_ = kept;
    }
  }

  void save() noexcept {
    if (file_ < 0) return;
    if (std::memcmp(&flow, &was_, sizeof flow) != 0) {
      const ssize_t ignored = ::pwrite(file_, &flow, sizeof flow, 0);
      (void)ignored;
    }
    close();
  }

 private:
  void close() noexcept {
    ::close(file_);
    file_ = -1;
  }

  int file_ = -1;
  gate::FlowState was_;
};

inline std::string_view gate_name(gate::Gate gate) noexcept {
  switch (gate) {
    case gate::Gate::allowlist: return "tool-allowlist";
    case gate::Gate::diff_size: return "diff-size";
    case gate::Gate::secrets: return "secrets";
    default: return "destructive-ops";
  }
}

// Text of a finding's place, short, on one line, without the bytes that steer a terminal.
inline void quote(std::string_view text, Writer& out) noexcept {
  constexpr std::size_t kLongest = 96;
  const bool cut = text.size() > kLongest;
  std::size_t end = cut ? kLongest : text.size();
  while (cut && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  out.raw("`");
  for (std::size_t i = 0; i < end; ++i) {
    const unsigned char byte = static_cast<unsigned char>(text[i]);
    const char plain = byte < 0x20 || byte == 0x7f ? ' ' : text[i];
    out.raw({&plain, 1});
  }
  out.raw(cut ? " ...`" : "`");
}

inline void say_finding(const HookEvent& event, const gate::Image& image, const gate::Finding& finding, Writer& out) noexcept {
  if (finding.rule != gate::kNothing) {
    const gate::record::Rule& rule = image.rules[finding.rule];
    out.raw(image.text(rule.reason));
    out.raw(" [").raw(image.text(rule.id)).raw("]");
    if (finding.field < event.field_count) {
      const std::string_view text = event.fields[finding.field].text;
      if (finding.focus.start < finding.focus.end && finding.focus.end <= text.size()) {
        out.raw(" in ");
        quote(text.substr(finding.focus.start, finding.focus.end - finding.focus.start), out);
      }
    }
    const std::string_view safer = image.text(rule.safer);
    if (!safer.empty()) out.raw(" Safer: ").raw(safer);
    if (rule.because != gate::kNothing) out.raw(" (relaxed here: ").raw(image.text(rule.because)).raw(")");
    return;
  }
  switch (finding.gate) {
    case gate::Gate::allowlist:
      out.raw("The tool ");
      quote(event.tool, out);
      out.raw(" is not among the tools that the policy allows.");
      return;
    case gate::Gate::diff_size:
      out.raw(finding.uncertain ? "This run has changed more lines than the policy likes; this call changes "
                                : "This call changes ");
      out.number(finding.classes).raw(" lines. Safer: smaller steps, each with its tests.");
      return;
    case gate::Gate::secrets: out.raw("A secret stands in the call. Safer: read it from the environment or a vault."); return;
    default: out.raw("Something in this call is only known when it runs."); return;
  }
}

inline void say(const HookEvent& event, const Situation& situation, Judgement* judgement) noexcept {
  Writer out(judgement->reason, Judgement::kReasonBytes - 512);
  Reply& reply = judgement->reply;
  const gate::Verdict& verdict = judgement->verdict;
  if (situation.fault != PolicyFault::none && reply.decision != Decision::allow) {
    out.raw("tipstaff: ").raw(name_of(situation.fault)).raw(situation.fault == PolicyFault::stale
        ? "; a person should run `tipstaff compile`. "
        : ", so its built-in rules judged; a person should run `tipstaff install`. ");
  }
  std::uint32_t said = 0;
  for (Decision level : {Decision::block, Decision::confirm, Decision::warn}) {
    for (std::uint32_t i = 0; i < verdict.count && said < Judgement::kSaid; ++i) {
      if (verdict.findings[i].decision != level) continue;
      if (said++ != 0) out.raw(" ");
      say_finding(event, *situation.image, verdict.findings[i], out);
    }
  }
  if (reply.decision == Decision::confirm && judgement->has_subject && !out.full()) {
    Writer more(judgement->reason + out.size(), Judgement::kReasonBytes - out.size());
    if (out.size() != 0) more.raw(" ");
    more.raw(replies::stops(event, reply) ? "A person must allow this first, in a terminal: `tipstaff approve "
                                          : "Or a person allows exactly this once, in a terminal: `tipstaff approve ");
    more.raw(judgement->subject.code_view()).raw("`, and then the same call is tried again.");
    reply.reason = {judgement->reason, out.size() + more.size()};
    return;
  }
  reply.reason = out.view();
  if (reply.reason.empty() && reply.decision != Decision::allow) reply.reason = "tipstaff's policy stops this call.";
}

inline void leave_for_a_person(const HookEvent& event, const Situation& situation, const Judgement& judgement) noexcept {
  char memory[8192];
  Writer out(memory, sizeof memory);
  out.raw("{\"code\":").string(judgement.subject.code_view()).raw(",\"subject\":").string(judgement.subject.hex_view());
  out.raw(",\"asked\":").number(situation.now_s).raw(",\"host\":").string(name_of(event.host));
  out.raw(",\"tool\":").string(event.tool).raw(",\"cwd\":").string(situation.cwd);
  out.raw(",\"reason\":").string(judgement.reply.reason).raw(",\"fields\":{");
  std::size_t whole = out.size();
  for (std::uint32_t i = 0; i < event.field_count && i < 16; ++i) {
    const std::size_t before = out.size();
    if (i != 0) out.raw(",");
    out.string(event.fields[i].name).raw(":").string(event.fields[i].text.substr(0, 2048));
    if (out.full() || out.size() + 64 > sizeof memory) {
      out.truncate(before);
      break;
    }
    whole = out.size();
  }
  out.truncate(whole);
  out.raw("}}\n");
  approvals::leave(*situation.state, judgement.subject, out.view());
}

inline void before_tool(const HookEvent& event, const Situation& situation, gate::Tree& tree, Judgement* judgement) noexcept {
  gate::Settings settings;
  settings.config = situation.image->config;
  settings.unattended = event.unattended;
  gate::Surroundings around;
  around.cwd = situation.cwd;
  around.repository = situation.repository;
  around.home = environment("HOME");
  around.temporary = environment("TMPDIR");
  gate::files::open(&around);
  gate::Event call;
  call.tool = event.tool.empty() ? std::string_view("Shell") : event.tool;
  call.fields = event.fields;
  call.field_count = event.field_count;

  Run run;
  run.open(*situation.state, event);
  gate::evaluate(*situation.image, settings, call, around, tree, &run.flow, &judgement->verdict);
  run.save();

  Reply& reply = judgement->reply;
  reply.decision = judgement->verdict.decision;
  reply.unattended = event.unattended;
  const auto on_error = static_cast<Decision>(situation.image->config.on_error);
  if (situation.fault != PolicyFault::none || event.fields_left_out) reply.decision = worse(reply.decision, on_error);
  if (reply.decision == Decision::confirm && situation.state->ok()) {
    judgement->subject = subject_of(event, situation.cwd);
    judgement->has_subject = true;
    judgement->approved = approvals::take(*situation.state, judgement->subject, situation.now_s);
    if (judgement->approved) {
      reply.decision = Decision::warn;
      reply.reason = "A person allowed exactly this call, once.";
      return;
    }
  }
  say(event, situation, judgement);
  if (reply.decision == Decision::confirm && judgement->has_subject && event.phase == Phase::before_tool)
    leave_for_a_person(event, situation, *judgement);
}

}  // namespace judging

inline void judge(const HookEvent& event, const Situation& situation, gate::Tree& tree, Judgement* judgement) noexcept {
  switch (event.phase) {
    case Phase::before_tool:
    case Phase::permission: return judging::before_tool(event, situation, tree, judgement);
    case Phase::prompt:
    case Phase::session_start: {
      Writer out(judgement->context, sizeof judgement->context);
      guidance::answer(event, *situation.state, situation.repository, situation.now_s, out);
      judgement->reply.context = out.view();
      return;
    }
    default: return;
  }
}

// Appends what was decided to the spool, for the ledger to take in. Texts of the call stay out of it: only what was
// decided, by which rules, and the hash of the call.
inline void record(const HookEvent& event, const Situation& situation, const Judgement& judgement, std::uint64_t us) noexcept {
  if (!situation.state->ok() || event.phase == Phase::other) return;
  char memory[4096];
  Writer out(memory, sizeof memory - 2);
  out.raw("{\"v\":1,\"at\":").number(situation.now_s).raw(",\"us\":").number(us);
  out.raw(",\"host\":").string(name_of(event.host)).raw(",\"event\":").string(event.name.substr(0, 64));
  out.raw(",\"session\":").string(event.session.substr(0, 128)).raw(",\"agent\":").string(event.agent.substr(0, 128));
  out.raw(",\"cwd\":").string(situation.cwd.substr(0, 1024)).raw(",\"tool\":").string(event.tool.substr(0, 128));
  out.raw(",\"decision\":").string(gate::engine::name_of(judgement.reply.decision));
  if (judgement.approved) out.raw(",\"approved\":").string(judgement.subject.code_view());
  if (judgement.has_subject) out.raw(",\"subject\":").string(judgement.subject.hex_view());
  if (situation.fault != PolicyFault::none) out.raw(",\"policy\":").string(name_of(situation.fault));
  out.raw(",\"rules\":[");
  bool first = true;
  for (std::uint32_t i = 0; i < judgement.verdict.count && i < 16; ++i) {
    const gate::Finding& finding = judgement.verdict.findings[i];
    if (!first) out.raw(",");
    first = false;
    out.string(finding.rule != gate::kNothing ? situation.image->text(situation.image->rules[finding.rule].id)
                                              : judging::gate_name(finding.gate));
  }
  out.raw("]}\n");
  if (out.full()) return;
  Path path = *situation.state;
  append_line(path.add("/spool.jsonl"), out.view());
}

}  // namespace tipstaff::hook
