// What is reported of a judgement: to the host and its model, and to the person who is asked.
#include "tipstaff/hook/reasons.hpp"

#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tipstaff/hook/approvals.hpp"
#include "tipstaff/hook/event.hpp"
#include "tipstaff/hook/json.hpp"
#include "tipstaff/hook/reply.hpp"
#include "tipstaff/hook/state.hpp"

namespace tipstaff::hook::reasons {

namespace {

using gate::Decision;

// Text of a finding's place, short, on one line, without the bytes that steer a terminal.
void quote(std::string_view text, Writer& out) noexcept {
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

void say_secret(const HookEvent& event, const Judgement& judgement, Writer& out) noexcept {
  out.raw(judgement.secrets == 1 ? "A secret (" : "Secrets (").raw(judgement.secret.rule);
  out.raw(judgement.secrets == 1 ? ") is in " : ") are in ");
  if (judgement.secret_field < event.field_count) {
    out.raw("the call's ");
    quote(event.fields[judgement.secret_field].name, out);
  } else {
    out.raw("the name of a field");
  }
  out.raw(". Safer: keep it in the environment or a secret store, and name it there.");
}

void say_finding(const HookEvent& event, const gate::Image& image, const gate::Finding& finding,
                        const Judgement& judgement, std::uint64_t now_ns, Writer& out) noexcept {
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
    out.raw(".");
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
      out.raw(finding.uncertain ? "This run has changed more lines than the policy allows; this call changes "
                                : "This call changes ");
      out.number(finding.classes).raw(" lines. Safer: smaller steps, each with its tests.");
      return;
    case gate::Gate::secrets: say_secret(event, judgement, out); return;
    case gate::Gate::evidence:
      if (finding.uncertain) judgement.evidence->say_why(out);
      else judgement.evidence->say_lost(now_ns, out);
      out.raw(".");
      return;
    default: out.raw("Something in this call is only known when it runs."); return;
  }
}

// The findings by how bad they are: decision, then severity.
std::uint32_t worst_first(const Situation& situation, const gate::Verdict& verdict, std::uint32_t* order) noexcept {
  const auto rank = [&](const gate::Finding& finding) noexcept {
    const std::uint32_t severity = finding.rule != gate::kNothing ? situation.image->rules[finding.rule].severity : 2;
    return static_cast<std::uint32_t>(finding.decision) * 8 + severity;
  };
  for (std::uint32_t i = 0; i < verdict.count; ++i) {
    std::uint32_t at = i;
    for (; at > 0 && rank(verdict.findings[order[at - 1]]) < rank(verdict.findings[i]); --at) order[at] = order[at - 1];
    order[at] = i;
  }
  return verdict.count;
}

// Whether a worse finding says the same about the same text: two rules may share their words.
bool is_repeated(const gate::Image& image, const gate::Verdict& verdict, const std::uint32_t* order, std::uint32_t at) noexcept {
  const gate::Finding& finding = verdict.findings[order[at]];
  for (std::uint32_t i = 0; finding.rule != gate::kNothing && i < at; ++i) {
    const gate::Finding& other = verdict.findings[order[i]];
    if (other.rule != gate::kNothing && other.field == finding.field && other.focus.start == finding.focus.start &&
        other.focus.end == finding.focus.end &&
        image.text(image.rules[other.rule].reason) == image.text(image.rules[finding.rule].reason))
      return true;
  }
  return false;
}

void show_fields(const HookEvent& event, const Situation& situation, Writer& out) noexcept {
  if (event.input != kNoNode) return write_json(*situation.json, event.input, out);
  out.raw("{");
  for (std::uint32_t i = 0; i < event.field_count; ++i) {
    if (i != 0) out.raw(",");
    out.string(event.fields[i].name).raw(":").string(event.fields[i].text);
  }
  out.raw("}");
}

// Replaces what was written from `start` on by a number that is used once and its sum with a stream of the key, in
// hexadecimal digits; tipstaff/store/waiting.py reads it.
bool seal(std::string_view key, const Subject& subject, std::size_t start, Writer& out) noexcept {
  if (out.full()) return false;
  timespec now;
  ::clock_gettime(CLOCK_REALTIME, &now);
  char block[128];
  Writer nonce(block, sizeof block);
  nonce.raw("tipstaff-sealed-1 ").hex(static_cast<std::uint64_t>(now.tv_sec) * 1000000000u + static_cast<std::uint64_t>(now.tv_nsec));
  nonce.hex(static_cast<std::uint64_t>(::getpid())).raw(subject.hex_view().substr(0, 16));
  const std::size_t nonce_bytes = nonce.size() - 18, head = nonce.size(), bytes = out.size() - start;
  if (!out.grow(nonce_bytes + bytes)) return false;
  char* const text = out.data() + start;
  // From the end on, since each byte becomes two.
  Digest stream;
  for (std::size_t i = bytes; i-- > 0;) {
    if (i + 1 == bytes || i % 32 == 31) {
      Writer counter(block + head, sizeof block - head);
      counter.hex(static_cast<std::uint64_t>(i / 32));
      stream = hmac_sha256(key, {block, head + 16});
    }
    const unsigned char byte = static_cast<unsigned char>(static_cast<unsigned char>(text[i]) ^ stream.bytes[i % 32]);
    text[nonce_bytes + 2 * i] = "0123456789abcdef"[byte >> 4];
    text[nonce_bytes + 2 * i + 1] = "0123456789abcdef"[byte & 15];
  }
  std::memcpy(text, block + 18, nonce_bytes);
  return true;
}

// Writes what a person looks at: all of the call, or false.
bool show_call(const HookEvent& event, const Situation& situation, const Judgement& judgement, Writer& out) noexcept {
  out.raw("{\"code\":").string(judgement.subject.code_view()).raw(",\"subject\":").string(judgement.subject.hex_view());
  out.raw(",\"asked\":").number(situation.now_s).raw(",\"host\":").string(hook::name_of(event.host));
  out.raw(",\"tool\":").string(event.tool).raw(",\"cwd\":").string(situation.cwd);
  out.raw(",\"reason\":").string(judgement.reply.reason).raw(",\"findings\":[");
  std::uint32_t order[gate::Verdict::kFindings];
  const std::uint32_t count = worst_first(situation, judgement.verdict, order);
  bool first = true;
  for (std::uint32_t i = 0; i < count; ++i) {
    const gate::Finding& finding = judgement.verdict.findings[order[i]];
    if (finding.decision == gate::Decision::allow || finding.rule == gate::kNothing) continue;
    if (is_repeated(*situation.image, judgement.verdict, order, i)) continue;
    const gate::record::Rule& rule = situation.image->rules[finding.rule];
    out.raw(first ? "{\"rule\":" : ",{\"rule\":").string(situation.image->text(rule.id));
    out.raw(",\"reason\":").string(situation.image->text(rule.reason)).raw("}");
    first = false;
  }
  out.raw("],");
  char key[64];
  Path path = *situation.state;
  const long key_bytes = read_private(path.add("/key"), key, sizeof key);
  if (key_bytes >= 32 && judgement.original.exchange()) {  // as it would run; for whoever has the key alone
    out.raw("\"sealed\":\"");
    const std::size_t start = out.size();
    show_fields(event, situation, out);
    judgement.original.exchange();
    if (!seal({key, static_cast<std::size_t>(key_bytes)}, judgement.subject, start, out)) return false;
    out.raw("\"");
  } else {
    out.raw("\"fields\":");
    show_fields(event, situation, out);
  }
  out.raw(",\"scripts\":[");
  for (std::uint32_t i = 0; i < judgement.files.count(); ++i) {
    const ReadFiles::File& file = judgement.files[i];
    char hex[64];
    write_hex(file.digest, hex);
    out.raw(i == 0 ? "{\"path\":" : ",{\"path\":").string(file.path_view());
    out.raw(",\"bytes\":").number(file.bytes).raw(",\"sha256\":").string({hex, sizeof hex}).raw("}");
  }
  out.raw("]}\n");
  return !out.full();
}

}  // namespace

std::string_view name_of(gate::Gate gate) noexcept {
  switch (gate) {
    case gate::Gate::allowlist: return "tool-allowlist";
    case gate::Gate::diff_size: return "diff-size";
    case gate::Gate::secrets: return "secrets";
    case gate::Gate::evidence: return "evidence";
    default: return "destructive-ops";
  }
}

void say(const HookEvent& event, const Situation& situation, Judgement* judgement) noexcept {
  Writer out(judgement->reason, Judgement::kReasonBytes - 512);
  Reply& reply = judgement->reply;
  const gate::Verdict& verdict = judgement->verdict;
  if (situation.fault != PolicyFault::none && reply.decision != Decision::allow) {
    const bool built_in = situation.fault == PolicyFault::unsafe || situation.fault == PolicyFault::damaged;
    out.raw("tipstaff: ").raw(hook::name_of(situation.fault)).raw(built_in ? ", so its built-in rules judged" : "");
    out.raw(situation.compiles_again ? "; it is being compiled again. " : "; a person should run `tipstaff compile`. ");
  }
  if (!event.readable) out.raw("Not all that this call would do can be read. ");
  std::uint32_t reported = 0;
  std::uint32_t order[gate::Verdict::kFindings];
  const std::uint32_t count = worst_first(situation, verdict, order);
  for (std::uint32_t i = 0; i < count && reported < Judgement::kReported; ++i) {
    const gate::Finding& finding = verdict.findings[order[i]];
    if (finding.decision == Decision::allow || is_repeated(*situation.image, verdict, order, i)) continue;
    if (reported++ != 0) out.raw(" ");
    say_finding(event, *situation.image, finding, *judgement, situation.now_s * 1000000000u, out);
  }
  if (judgement->evidence != nullptr && !judgement->evidence->id().empty() && judgement->evidence->loses() && reply.decision != Decision::block) {
    const std::size_t from = out.size();
    if (from != 0 && out.view().back() != ' ') out.raw(" ");
    judgement->evidence->say_lost(situation.now_s * 1000000000u, out);
    out.raw("; kept as it was: `tipstaff undo` brings it back.");
    if (reply.decision == Decision::allow) reply.decision = Decision::warn;
    if (event.host != Host::codex && event.host != Host::cursor) reply.context = out.view().substr(from);
  }
  if (reply.decision == Decision::confirm && judgement->has_subject && !out.full()) {
    Writer more(judgement->reason + out.size(), Judgement::kReasonBytes - out.size());
    if (out.size() != 0 && out.view().back() != ' ') more.raw(" ");
    more.raw(replies::stops(event, reply) ? "A person must allow this first, in a terminal: `tipstaff approve "
                                          : "Or a person allows exactly this once, in a terminal: `tipstaff approve ");
    more.raw(judgement->subject.code_view()).raw("`, and then the same call is tried again.");
    reply.reason = {judgement->reason, out.size() + more.size()};
    return;
  }
  reply.reason = out.view();
  while (!reply.reason.empty() && reply.reason.back() == ' ') reply.reason.remove_suffix(1);
  if (reply.reason.empty() && reply.decision != Decision::allow) reply.reason = "tipstaff's policy stops this call.";
}

bool leave_for_a_person(const HookEvent& event, const Situation& situation, const Judgement& judgement) noexcept {
  const std::size_t wanted = 12 * situation.input_bytes + 128 * 1024;  // every byte may need an escape of six, each of two digits
  if (situation.input_bytes > Original::kLongest) return false;
  void* memory = ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  Writer out(static_cast<char*>(memory), wanted);
  const bool kept = show_call(event, situation, judgement, out) && approvals::leave(*situation.state, judgement.subject, out.view());
  ::munmap(memory, wanted);
  return kept;
}

}  // namespace tipstaff::hook::reasons
