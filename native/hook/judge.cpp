// One event of a host, judged: what the engine found, what a person allowed, what is said about it.
#include "tipstaff/hook/judge.hpp"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "tipstaff/gate/engine.hpp"
#include "tipstaff/gate/patch/former.hpp"
#include "tipstaff/gate/tool_fields.hpp"
#include "tipstaff/gate/tree/files.hpp"
#include "tipstaff/hook/approvals.hpp"
#include "tipstaff/hook/compiling.hpp"
#include "tipstaff/hook/event.hpp"
#include "tipstaff/hook/guidance/guidance.hpp"
#include "tipstaff/hook/json.hpp"
#include "tipstaff/hook/late.hpp"
#include "tipstaff/hook/redaction.hpp"
#include "tipstaff/hook/registrations.hpp"
#include "tipstaff/hook/reasons.hpp"
#include "tipstaff/hook/reply.hpp"
#include "tipstaff/hook/pruning.hpp"
#include "tipstaff/hook/run.hpp"
#include "tipstaff/hook/state.hpp"

namespace tipstaff::hook {

namespace judging {
namespace {

using gate::Decision;

constexpr std::uint64_t kTidiedS = 600;
constexpr int kMoreMs = 200;        // beside what keeping may take
constexpr int kAfterwardsMs = 190;  // what looking and keeping took is not counted

Decision worse(Decision one, Decision other) noexcept { return one > other ? one : other; }

// Masks what the call names beside its parameters: a folder, a session or a tool may carry a secret as well.
void mask_names(const HookEvent& event, const Situation& situation, Redaction* redaction) noexcept {
  for (const std::string_view name : {situation.cwd, event.tool, event.session, event.agent}) redaction->mask(name, true, nullptr);
}

// Looks for secrets and masks them: all that is shown or kept of the call is shown and kept so.
void mask_secrets(const HookEvent& event, const Situation& situation, bool counts, Judgement* judgement) noexcept {
  Redaction& redaction = judgement->redaction;
  mask_names(event, situation, &redaction);
  std::string_view path;
  for (std::uint32_t i = 0; i < event.field_count && path.empty(); ++i)
    if (gate::ascii::one_of(event.fields[i].name, "file_path path filename file target_file notebook_path filepath")) path = event.fields[i].text;
  std::uint32_t severity = 0;
  // A secret that only its name tells is one of a trial in many a call: it is masked there, and does not count.
  const auto take = [&](const Redaction::Weight& weight, std::uint32_t field) noexcept {
    if (weight.counted == 0) return;
    if (judgement->secrets == 0) {
      judgement->secret = weight.first;
      judgement->secret_field = field;
    }
    judgement->secrets += weight.counted;
    if (weight.severity > severity) severity = weight.severity;
  };
  for (std::uint32_t i = 0; i < event.field_count; ++i) {
    const gate::Field& field = event.fields[i];
    // What an edit takes away is no new secret: taking it away is what is wanted. It is masked all the same.
    gate::FormerParts former(event.tool, field.name, field.text);
    Redaction::Weight weight;
    weight.root = situation.repository.empty() ? situation.folder : situation.repository;
    weight.command = gate::ascii::one_of(field.name, "command cmd commands shell_command bash shell command_line script chars argv");
    if (redaction.mask(field.text, true, &weight, path, &former) == 0)
      redaction.mask_named(field.name, field.text, true, former.whole() ? nullptr : &weight, path);
    take(weight, i);
  }
  if (event.input != kNoNode) {
    Redaction::Weight weight;
    redaction.mask_names(*situation.json, event.input, &weight);
    take(weight, event.field_count);
  }
  if (judgement->secrets == 0 || !counts) return;
  gate::Finding finding;
  finding.gate = gate::Gate::secrets;
  finding.decision = severity >= 3 ? Decision::block : severity == 2 ? Decision::confirm : Decision::warn;
  finding.field = judgement->secret_field;
  judgement->verdict.add(finding);
}

// $TMPDIR where it is below a known temporary place and holds neither the home nor the repository; else empty. Whoever
// sets it elsewhere would make a home or a repository a place where anything may be deleted.
std::string_view temporary_folder(std::string_view home, std::string_view repository) noexcept {
  std::string_view folder = environment("TMPDIR");
  while (folder.size() > 1 && folder.back() == '/') folder.remove_suffix(1);
  bool known = false;
  for (const std::string_view place : {"/tmp", "/var/tmp", "/var/folders", "/private/tmp", "/private/var/folders", "/dev/shm", "/run/user"})
    known = known || (folder.substr(0, place.size()) == place && (folder.size() == place.size() || folder[place.size()] == '/'));
  if (!known || folder.find("/..") != std::string_view::npos) return {};
  for (const std::string_view kept : {home, repository})
    if (!kept.empty() && kept.substr(0, folder.size()) == folder && (kept.size() == folder.size() || kept[folder.size()] == '/')) return {};
  return folder;
}

// Keeps what the call would lose, before anything is answered.
void keep(const HookEvent& event, const Situation& situation, Judgement* judgement) noexcept {
  gate::Evidence& evidence = *judgement->evidence;
  char memory[4096];
  Writer command(memory, sizeof memory);
  std::string_view text;
  const bool shell = gate::tools::classify(event.tool.empty() ? std::string_view("Shell") : event.tool) == gate::ToolClass::shell;
  for (std::uint32_t i = 0; i < event.field_count && text.empty(); ++i)
    if (shell ? gate::tools::is_command(event.fields[i].name) : gate::tools::is_path(event.fields[i].name)) text = event.fields[i].text;
  if (!shell) command.raw(event.tool).raw(" ");
  command.raw(text.substr(0, sizeof memory - 256));
  if (evidence.keep(situation.state->view(), command.view(), event.session, situation.folder)) return evidence.id().empty() ? void() : compiling::note_kept(*situation.state);
  gate::Finding finding;
  finding.gate = gate::Gate::evidence;
  finding.decision = Decision::confirm;
  finding.uncertain = true;
  judgement->verdict.add(finding);
  judgement->reply.decision = worse(judgement->reply.decision, Decision::confirm);
}

void before_tool(const HookEvent& event, const Situation& situation, gate::Tree& tree, Judgement* judgement) noexcept {
  gate::Settings settings;
  settings.config = situation.image->config;
  settings.unattended = event.unattended;
  gate::Surroundings around;
  around.cwd = situation.folder;
  around.repository = situation.repository;
  around.home = environment("HOME");
  around.temporary = temporary_folder(around.home, situation.repository);
  around.stack_end = situation.stack_end;
  around.state = situation.state->view();
  around.program = situation.program;
  around.follows_links = true;
  around.typed_later = event.host == Host::codex;  // its write_stdin is shown to no hook
  for (std::uint32_t i = 0; i < event.field_count; ++i) {
    if (event.fields[i].text.find("stash") == std::string_view::npos) continue;
    const registrations::Unsaved unsaved = registrations::unsaved(situation.repository);
    around.stash_takes_changed = unsaved.changed;
    around.stash_takes_untracked = unsaved.untracked;
    break;
  }
  judgement->files.open(&around);
  gate::Event call;
  call.tool = event.tool.empty() ? std::string_view("Shell") : event.tool;
  call.fields = event.fields;
  call.field_count = event.field_count;

  Run run;
  run.open(*situation.state, event);
  alignas(gate::Evidence) static unsigned char evidence_room[sizeof(gate::Evidence)];
  if (settings.on(gate::Gate::evidence) && event.phase == Phase::before_tool) judgement->evidence = new (evidence_room) gate::Evidence(settings.config);
  gate::Evidence* const evidence = judgement->evidence;
  const bool asks_for_proof = evidence != nullptr && settings.on(gate::Gate::allows_proven);
  if (asks_for_proof) evidence->ask_for_proof(around);
  gate::evaluate(*situation.image, settings, call, around, tree, &run.flow, &judgement->verdict, nullptr, evidence != nullptr ? &evidence->effects() : nullptr);
  if (evidence != nullptr) {
    late::answer().more_ms = static_cast<int>(settings.config.undo_wait_ms < 600000 ? settings.config.undo_wait_ms : 600000) + kMoreMs;
    evidence->judge(*situation.image, settings, around, &judgement->verdict);
  }
  const bool keeps = evidence != nullptr && evidence->keeps();
  if (!keeps) late::answer().more_ms = evidence != nullptr ? kAfterwardsMs : 0;
  run.save();

  Reply& reply = judgement->reply;
  const auto on_error = static_cast<Decision>(situation.image->config.on_error);
  const bool scans = judgement->redaction.open(situation.secrets, situation.own_secrets);
  const bool wants_scan = settings.on(gate::Gate::secrets);
  Decision decision = judgement->verdict.decision;
  // Rules of another version judge as well as they did before the upgrade: that is said, and nobody is asked for it.
  if (situation.fault == PolicyFault::outdated) decision = judgement->verdict.decision = worse(decision, Decision::warn);
  else if (situation.fault != PolicyFault::none) decision = worse(decision, on_error);
  if (!event.readable || (wants_scan && !scans)) decision = worse(decision, on_error);
  reply.unattended = event.unattended;
  // Before anything is masked: an approval is for the call as it is.
  // It may be for what only the secrets come to.
  const bool may_ask = (decision == Decision::confirm || keeps || (wants_scan && decision != Decision::block)) && situation.state->ok();
  subjects::Hashing hash;
  if (may_ask) {
    hash = hash_of(*situation.json, event, event.host == Host::cursor ? situation.folder : situation.cwd);
    judgement->original.keep(situation.input, situation.input_bytes);
  }
  if (wants_scan || keeps || decision != Decision::allow) mask_secrets(event, situation, wants_scan, judgement);
  reply.decision = worse(decision, judgement->verdict.decision);
  if (keeps && reply.decision != Decision::block) keep(event, situation, judgement);
  late::answer().more_ms = evidence != nullptr ? kAfterwardsMs : 0;
  if (reply.decision == Decision::confirm && may_ask && judgement->files.complete()) {
    judgement->subject = subject_of(hash, judgement->files);
    judgement->has_subject = true;
    const approvals::Answer answer = approvals::take(*situation.state, judgement->subject, event, situation.now_s);
    if (answer == approvals::Answer::allowed) {
      judgement->approved = true;
      reply.decision = Decision::warn;
      reply.reason = "A person allowed exactly this call, once.";
      return;
    }
    if (answer == approvals::Answer::refused) {
      reply.decision = Decision::block;
      reply.reason = "A person has refused exactly this call. Ask them what they want instead.";
      return;
    }
  }
  reasons::say(event, situation, judgement);
  reply.proven = asks_for_proof && reply.decision == Decision::allow && event.readable && situation.fault == PolicyFault::none && evidence->is_proven(call, judgement->verdict);
  if (reply.decision != Decision::confirm || !judgement->has_subject || event.phase != Phase::before_tool) return;
  if (reasons::leave_for_a_person(event, situation, *judgement)) return;
  // Nobody can allow what nobody can read.
  judgement->has_subject = false;
  reasons::say(event, situation, judgement);
}

// Every text below a value, one after the other.
void gather(const Json& json, std::uint32_t index, Writer& out) noexcept {
  const JsonNode& node = json[index];
  if (node.kind == JsonKind::string && !node.text.empty()) out.raw(node.text).raw("\n");
  for (std::uint32_t i = node.child; i != kNoNode; i = json[i].next) gather(json, i, out);
}

// What of a result Copilot hands to the model: its own events and those in Claude Code's words name it differently.
std::uint32_t copilot_text(const Json& json, std::uint32_t output) noexcept {
  const std::uint32_t found = json.find(output, "textResultForLlm");
  return found != kNoNode ? found : json.find(output, "text_result_for_llm");
}

// Masks the secrets of what a tool gave, in the words of each host: as the tool's own output where it takes one, else as
// the text that is in its place, else as a note beside it.
void after_tool(const HookEvent& event, const Situation& situation, Judgement* judgement) noexcept {
  gate::Settings settings;
  settings.config = situation.image->config;
  if (event.output == kNoNode || !settings.on(gate::Gate::secrets)) return;
  const Json& json = *situation.json;
  if (!judgement->redaction.open(situation.secrets, situation.own_secrets)) return withhold(event, json, &judgement->reply);
  if (judgement->redaction.mask_all(json, event.output, {}, false) == 0) return;
  judgement->secrets = judgement->redaction.distinct();  // a host may show the same output twice
  Reply& reply = judgement->reply;
  Writer reason(judgement->reason, Judgement::kReasonBytes);
  const bool masks = event.host != Host::cursor || gate::ascii::starts_with(event.tool, "mcp:");
  reason.raw("tipstaff found ").number(judgement->secrets).raw(judgement->secrets == 1 ? " secret" : " secrets");
  const bool one = judgement->secrets == 1;
  reason.raw(masks ? one ? " in the tool's output and masked it with asterisks." : " in the tool's output and masked them with asterisks."
             : one ? " in the tool's output, which this host does not let it mask. Do not repeat it anywhere."
                   : " in the tool's output, which this host does not let it mask. Do not repeat them anywhere.");
  reply.decision = Decision::warn;
  reply.reason = reason.view();
  if (!masks) {
    reply.context = reply.reason;
    return;
  }
  const std::size_t room = 6 * situation.input_bytes + 4096;  // every byte may need an escape of six
  void* memory = ::mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return withhold(event, json, &reply);
  Writer out(static_cast<char*>(memory), room);
  if (event.host == Host::gemini || event.host == Host::codex || event.host == Host::qwen) {
    out.raw(reply.reason).raw("\n\n");
    const std::uint32_t shown = json.find(event.output, "llmContent");
    gather(json, shown != kNoNode ? shown : event.output, out);
    reply.replacement = out.view();
    return;
  }
  const std::uint32_t text = copilot_text(json, event.output);
  if (event.host == Host::copilot && text != kNoNode) {
    out.raw("{\"resultType\":\"success\",\"textResultForLlm\":");
    write_json(json, text, out);
    out.raw("}");
  } else {
    write_json(json, event.output, out);
  }
  if (out.full()) return withhold(event, json, &reply);
  reply.output = out.view();
}

// A tool that failed: hosts pass its text to the model as it is. The model is asked not to repeat what is secret in it.
void failed_tool(const HookEvent& event, const Situation& situation, Judgement* judgement) noexcept {
  gate::Settings settings;
  settings.config = situation.image->config;
  if (event.output == kNoNode || !settings.on(gate::Gate::secrets)) return;
  Redaction& redaction = judgement->redaction;
  if (!redaction.open(situation.secrets, situation.own_secrets)) return;
  if (redaction.mask_all(*situation.json, event.output, {}, false) == 0) return;
  judgement->secrets = redaction.distinct();
  Writer reason(judgement->reason, Judgement::kReasonBytes);
  reason.raw("tipstaff found ").number(judgement->secrets).raw(judgement->secrets == 1 ? " secret" : " secrets");
  reason.raw(judgement->secrets == 1
                 ? " in the output of this call, which failed; this host does not let it be masked. Do not repeat it anywhere, and tell the person that it should be changed."
                 : " in the output of this call, which failed; this host does not let them be masked. Do not repeat them anywhere, and tell the person that they should be changed.");
  judgement->reply.decision = Decision::warn;
  judgement->reply.reason = judgement->reply.context = reason.view();
}

// The rules; and where a host was registered for this repository and is no more, that.
void session_start(const HookEvent& event, const Situation& situation, Judgement* judgement) noexcept {
  Writer out(judgement->context, sizeof judgement->context);
  Writer reason(judgement->reason, Judgement::kReasonBytes);
  reason.raw("tipstaff was registered for this repository and no longer is: ");
  if (registrations::lost(*situation.state, situation.repository, reason) != 0) {
    reason.raw(". Sessions of such a host are not judged; a person runs `tipstaff install --host` with its name, and commits the file.");
    judgement->reply.decision = Decision::warn;
    judgement->reply.reason = reason.view();
    out.raw(reason.view()).raw("\n\n");
  }
  guidance::answer(event, *situation.state, situation.repository, situation.version, situation.now_s, out);
  judgement->reply.context = out.view();
  while (gate::ascii::ends_with(judgement->reply.context, "\n")) judgement->reply.context.remove_suffix(1);
}

}  // namespace
}  // namespace judging

void withhold(const HookEvent& event, const Json& json, Reply* reply) noexcept {
  constexpr std::string_view kReason =
      "tipstaff could not search this output for secrets in the time that it has, so the output is withheld. "
      "Print less of it at a time.";
  reply->decision = gate::Decision::warn;
  reply->reason = kReason;
  switch (event.host) {
    case Host::gemini:
    case Host::qwen:
    case Host::codex: reply->replacement = kReason; return;
    case Host::cursor:
      if (!gate::ascii::starts_with(event.tool, "mcp:")) {
        reply->context = kReason;
        return;
      }
      reply->output = "\"[withheld by tipstaff: not searched for secrets]\"";
      return;
    case Host::copilot:
      if (judging::copilot_text(json, event.output) != kNoNode) {
        reply->output = "{\"resultType\":\"success\",\"textResultForLlm\":\"[withheld by tipstaff: not searched for secrets]\"}";
        return;
      }
      break;
    default: break;
  }
  reply->output = json[event.output].kind == JsonKind::object
                      ? "{\"stdout\":\"[withheld by tipstaff: not searched for secrets]\",\"stderr\":\"\",\"interrupted\":false}"
                      : "\"[withheld by tipstaff: not searched for secrets]\"";
}

void judge(const HookEvent& event, const Situation& situation, gate::Tree& tree, Judgement* judgement) noexcept {
  switch (event.phase) {
    case Phase::before_tool:
    case Phase::permission: return judging::before_tool(event, situation, tree, judgement);
    case Phase::session_start:
      pruning::prune(*situation.state, situation.now_s);
      compiling::ask_to_tidy(*situation.state, situation.now_s, 0);
      judging::session_start(event, situation, judgement);
      break;
    case Phase::prompt: {
      Writer out(judgement->context, sizeof judgement->context);
      guidance::answer(event, *situation.state, situation.repository, situation.version, situation.now_s, out);
      judgement->reply.context = out.view();
      break;
    }
    case Phase::after_tool:
      compiling::ask_to_tidy(*situation.state, situation.now_s, judging::kTidiedS);
      undo::write_after(situation.state->view(), event.session);
      judging::after_tool(event, situation, judgement);
      break;
    case Phase::failed_tool:
      undo::write_after(situation.state->view(), event.session);
      judging::failed_tool(event, situation, judgement);
      break;
    default: break;
  }
  if (judgement->redaction.open(situation.secrets, situation.own_secrets))
    judging::mask_names(event, situation, &judgement->redaction);
}

void record(const HookEvent& event, const Situation& situation, const Judgement& judgement, std::uint64_t us) noexcept {
  if (!situation.state->ok() || event.phase == Phase::other) return;
  char memory[16 * 1024];
  Writer out(memory, sizeof memory - 2);
  out.raw("{\"v\":1,\"at\":").number(situation.now_s).raw(",\"us\":").number(us);
  out.raw(",\"host\":").string(name_of(event.host)).raw(",\"event\":").string(event.name.substr(0, 64));
  out.raw(",\"session\":").string(event.session.substr(0, 128)).raw(",\"agent\":").string(event.agent.substr(0, 128));
  out.raw(",\"cwd\":").string(situation.cwd.substr(0, 1024)).raw(",\"tool\":").string(event.tool.substr(0, 128));
  out.raw(",\"decision\":").string(gate::engine::name_of(judgement.reply.decision));
  if (judgement.approved) out.raw(",\"approved\":").string(judgement.subject.code_view());
  if (judgement.has_subject) out.raw(",\"subject\":").string(judgement.subject.hex_view());
  if (judgement.secrets != 0) out.raw(",\"secrets\":").number(judgement.secrets);
  if (judgement.evidence != nullptr && !judgement.evidence->id().empty()) out.raw(",\"kept\":").string(judgement.evidence->id());
  if (situation.fault != PolicyFault::none) out.raw(",\"policy\":").string(name_of(situation.fault));
  out.raw(",\"rules\":[");
  bool first = true;
  for (std::uint32_t i = 0; i < judgement.verdict.count && i < 16; ++i) {
    const gate::Finding& finding = judgement.verdict.findings[i];
    if (!first) out.raw(",");
    first = false;
    out.string(finding.rule != gate::kNothing ? situation.image->text(situation.image->rules[finding.rule].id)
                                              : reasons::name_of(finding.gate));
  }
  out.raw("]}\n");
  if (out.full()) return;
  Path path = *situation.state;
  append_line(path.add("/spool.jsonl"), out.view());
}

}  // namespace tipstaff::hook
