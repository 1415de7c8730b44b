// tipstaff-hook: one event on standard input, the host's reply on standard output. No interpreter starts.
//
//   tipstaff-hook [--host claude|codex|gemini|cursor|copilot|qwen|opencode] [--event NAME] [--unattended] [--version]
//
// It never answers with silence where it could not judge: without a policy, with a damaged one, with an event that it
// cannot read or after 200 ms, the policy's on_error decides, and the reason says so.

#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tipstaff/gate/engine.hpp"
#include "tipstaff/gate/rules/open_image.hpp"
#include "tipstaff/gate/tree/files.hpp"
#include "tipstaff/hook/approvals.hpp"
#include "tipstaff/hook/compiling.hpp"
#include "tipstaff/hook/event.hpp"
#include "tipstaff/hook/json.hpp"
#include "tipstaff/hook/judge.hpp"
#include "tipstaff/hook/late.hpp"
#include "tipstaff/hook/registrations.hpp"
#include "tipstaff/hook/reply.hpp"
#include "tipstaff/hook/state.hpp"
#include "tipstaff/hook/worker.hpp"

#ifndef TIPSTAFF_VERSION
#define TIPSTAFF_VERSION "0"
#endif

extern "C" const unsigned char tipstaff_built_in_policy[];
extern "C" const unsigned char tipstaff_built_in_policy_end[];
extern "C" const unsigned char tipstaff_built_in_secrets[];
extern "C" const unsigned char tipstaff_built_in_secrets_end[];

namespace {

using namespace tipstaff::hook;
using tipstaff::gate::Decision;
namespace gate = tipstaff::gate;

constexpr std::size_t kInputBytes = 1 << 20;         // what most events take; longer ones get memory of their own
constexpr std::size_t kLongestInput = 64u << 20;     // beyond it an event is not judged
constexpr std::size_t kTreeBytes = gate::tree_bytes::kSmall;
constexpr std::size_t kReplyBytes = 1 << 17;
constexpr std::uint32_t kJsonNodes = 1 << 12;        // likewise
constexpr std::uint32_t kMostJsonNodes = 1 << 22;
constexpr std::uint32_t kFields = 1 << 12;
constexpr int kCeilingMs = 190;                      // a host sees the answer within 200
constexpr int kArrivalMs = 3000;                     // for an event that does not come; hosts wait for longer

// Zero pages cost nothing until they are touched.
char input_memory[kInputBytes];
alignas(JsonNode) unsigned char json_memory[kJsonNodes * sizeof(JsonNode)];
alignas(gate::Field) unsigned char field_memory[kFields * sizeof(gate::Field)];
alignas(16) unsigned char tree_memory[kTreeBytes];
char reply_memory[kReplyBytes];
HookEvent event;
Judgement judgement;

int reply_pipe = -1;  // where the answer goes; to the host itself where there is no second process

void put(int file, std::string_view text) noexcept { write_whole(file, text); }

struct Options {
  Host host = Host::unknown;
  std::string_view event;
  bool unattended = false;
};

int usage(std::string_view wrong) noexcept {
  put(STDERR_FILENO, "tipstaff-hook: ");
  put(STDERR_FILENO, wrong);
  put(STDERR_FILENO,
      "; usage: tipstaff-hook [--host claude|codex|gemini|cursor|copilot|qwen|opencode] [--event NAME] [--unattended] < EVENT\n");
  return 2;  // every host takes 2 for a refusal: a wrong registration shows at once
}

// Reads all of standard input; null where it is too long or cannot be read.
char* read_input(std::size_t* bytes) noexcept {
  char* memory = input_memory;
  std::size_t capacity = kInputBytes, used = 0;
  for (;;) {
    if (used == capacity) {
      if (capacity >= kLongestInput) return nullptr;
      const std::size_t wanted = capacity * 4 < kLongestInput ? capacity * 4 : kLongestInput;
      void* more = ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (more == MAP_FAILED) return nullptr;
      std::memcpy(more, memory, used);
      if (memory != input_memory) ::munmap(memory, capacity);
      memory = static_cast<char*>(more);
      capacity = wanted;
    }
    const ssize_t got = ::read(STDIN_FILENO, memory + used, capacity - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return nullptr;
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  *bytes = used;
  return memory;
}

// What an event is taken for that cannot be read: a tool's call, where the command line does not say otherwise.
void assume(const Options& options) noexcept {
  gate::Field* const fields = event.fields;
  event = HookEvent{};
  event.fields = fields;
  event.field_room = kFields;
  event.host = options.host;
  event.phase = options.event.empty() ? Phase::before_tool : events::phase_of(options.event);
  event.name = !options.event.empty() ? options.event : options.host == Host::gemini ? "BeforeTool" : "PreToolUse";
  event.can_ask = can_ask(options.host) && options.host != Host::cursor;
  event.camel = options.host == Host::copilot;
}

// Gives the answer, to the host or to the process that the host waits for.
int answer(int status, std::string_view error, std::string_view reply) noexcept {
  if (reply_pipe >= 0) {
    worker::hand_over(reply_pipe, status, error, reply);
    return status;
  }
  late::start_timer(0);
  late::forget(status);
  put(STDERR_FILENO, error);
  put(STDOUT_FILENO, reply);
  return status;
}

// Answers an event of an unknown shape: by the host where it is known, else by the exit status that all of them know.
int answer_unreadable(const Options& options, Decision on_error, std::string_view why) noexcept {
  char memory[256];
  Writer error(memory, sizeof memory);
  error.raw("tipstaff-hook: ").raw(why).raw("\n");
  const bool refuses = on_error == Decision::block || on_error == Decision::confirm;
  if (options.host == Host::unknown) return answer(refuses ? 2 : 0, error.view(), {});
  assume(options);
  Reply reply;
  reply.decision = on_error;
  reply.unattended = options.unattended;
  reply.reason = why;
  Writer out(reply_memory, kReplyBytes);
  replies::write(event, reply, out);
  return answer(0, error.view(), out.view());
}

std::uint64_t now_ns(clockid_t clock) noexcept {
  timespec at;
  ::clock_gettime(clock, &at);
  return static_cast<std::uint64_t>(at.tv_sec) * 1000000000u + static_cast<std::uint64_t>(at.tv_nsec);
}

// Makes ready what is answered if the time is up or the program fails from here on.
void prepare_late(const Options& options, Decision on_error, const Json* json = nullptr) noexcept {
  Reply reply;
  reply.decision = on_error;
  reply.unattended = options.unattended;
  reply.reason = late::kReason;
  late::Answer& ready = late::answer();
  ready.bytes = 0;
  ready.status = on_error == Decision::block || on_error == Decision::confirm ? 2 : 0;
  if (event.host == Host::unknown) return;
  if (json != nullptr && event.phase == Phase::after_tool && event.output != kNoNode) withhold(event, *json, &reply);
  Writer out(ready.reply, sizeof ready.reply);
  replies::write(event, reply, out);
  if (out.full()) return;
  ready.bytes = static_cast<sig_atomic_t>(out.size());
  ready.status = 0;
}

// The rules and the secret table in this program, known by their checksums and the version: policy_file.py has the same.
BuiltIn built_in_rules() noexcept {
  constexpr std::size_t kImageSum = 16, kTableSum = 88;
  std::uint64_t image, table;
  std::memcpy(&image, tipstaff_built_in_policy + kImageSum, sizeof image);
  std::memcpy(&table, tipstaff_built_in_secrets + kTableSum, sizeof table);
  return {tipstaff_built_in_policy, static_cast<std::size_t>(tipstaff_built_in_policy_end - tipstaff_built_in_policy),
          image ^ table ^ fnv64(TIPSTAFF_VERSION)};
}

// Where the stack ends, null where it has no limit. Arguments and environment take up to a quarter of it.
const void* stack_end() noexcept {
  struct rlimit limit;
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return nullptr;
  return static_cast<const char*>(__builtin_frame_address(0)) - limit.rlim_cur / 4 * 3;
}

void* more_memory(std::size_t bytes) noexcept {
  void* more = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return more == MAP_FAILED ? nullptr : more;
}

// The folder that a call itself names, as an absolute path; the session's where it names none.
std::string_view folder_of_call(std::string_view cwd, std::string_view named, char* memory, std::size_t room) noexcept {
  if (named.empty() || named[0] == '/') return named.empty() ? cwd : named;
  if (cwd.empty() || named[0] == '~' || cwd.size() + named.size() + 1 > room) return {};
  std::memcpy(memory, cwd.data(), cwd.size());
  memory[cwd.size()] = '/';
  std::memcpy(memory + cwd.size() + 1, named.data(), named.size());
  return {memory, cwd.size() + 1 + named.size()};
}

// Where the policy is looked for: the project that the host says it works in, since a call may have left it.
std::string_view project_folder(Host host, std::string_view cwd, char* memory, std::size_t room) noexcept {
  const char* const name = host == Host::claude ? "CLAUDE_PROJECT_DIR" : host == Host::cursor ? "CURSOR_PROJECT_DIR"
                           : host == Host::gemini ? "GEMINI_PROJECT_DIR" : host == Host::copilot ? "COPILOT_PROJECT_DIR"
                           : host == Host::qwen ? "QWEN_PROJECT_DIR" : nullptr;
  if (name != nullptr) {
    const std::string_view project = environment(name);
    if (!project.empty() && project[0] == '/') return project;
  }
  if (!cwd.empty()) return cwd;
  return ::getcwd(memory, room) != nullptr ? std::string_view(memory) : std::string_view{};
}

// An event as it was read, before any file was.
struct Call {
  Options options;
  Json* json;
  char* input;
  std::size_t bytes;
  std::uint64_t started;
  bool parsed, read;
};
Call call;

// Judges the call, answers, and writes down what was decided; returns the exit status.
int judge_call(const void* stack_end) noexcept {
  const Path state = state_folder();
  char here[kPathBytes], folder_memory[kPathBytes];
  const std::string_view cwd = event.cwd.empty() || event.cwd[0] != '/' ? std::string_view{} : event.cwd;
  const std::string_view work = project_folder(event.host, cwd, here, sizeof here);
  const std::string_view project = repository_of(work);
  // Claude Code's registration, started by Copilot (without its arguments): one answer to each call is enough.
  if (call.read && call.options.host == Host::unknown && event.host == Host::copilot && !event.camel &&
      environment("COPILOT_CLI") == "1" && registrations::copilot_has_own(project)) {
    answer(0, {}, {});
    return 0;
  }
  Policy policy;
  if (!policy.open(state, project, built_in_rules()))
    return answer_unreadable(call.options, Decision::block, "the program's own policy is damaged");
  const gate::Image& image = policy.image;
  const auto on_error = static_cast<Decision>(image.config.on_error);
  if (!call.read) {
    return answer_unreadable(call.options, on_error, call.parsed ? "the event is of no known host; name it with --host"
                                                       : "the event is not one JSON document");
  }
  const bool masks = (image.config.switches >> static_cast<unsigned>(gate::Gate::secrets) & 1) != 0;
  prepare_late(call.options, on_error, masks ? call.json : nullptr);

  std::size_t longest = 0;
  for (std::uint32_t i = 0; i < event.field_count; ++i)
    if (event.fields[i].text.size() > longest) longest = event.fields[i].text.size();
  unsigned char* tree_bytes = tree_memory;
  std::size_t tree_size = kTreeBytes;
  if (const std::size_t wanted = gate::tree_bytes::for_text(longest); wanted > kTreeBytes) {
    if (void* more = more_memory(wanted); more != nullptr) {
      tree_bytes = static_cast<unsigned char*>(more);
      tree_size = wanted;
    }
  }
  gate::Tree tree(tree_bytes, tree_size);

  Situation situation;
  situation.json = call.json;
  situation.image = &image;
  situation.fault = policy.fault;
  situation.state = &state;
  situation.secrets = image.secrets;
  situation.own_secrets = situation.secrets.empty();
  if (situation.own_secrets)
    situation.secrets = {reinterpret_cast<const char*>(tipstaff_built_in_secrets),
                         static_cast<std::size_t>(tipstaff_built_in_secrets_end - tipstaff_built_in_secrets)};
  situation.cwd = cwd;
  situation.folder = folder_of_call(cwd, event.folder, folder_memory, sizeof folder_memory);
  if (work != cwd) situation.repository = repository_of(cwd);
  if (situation.repository.empty()) situation.repository = project;
  char program[PATH_MAX];
  if (const std::size_t size = gate::files::real_path(nullptr, "/proc/self/exe", program, sizeof program); size != 0)
    situation.program = {program, size};
  situation.now_s = now_ns(CLOCK_REALTIME) / 1000000000u;
  situation.version = TIPSTAFF_VERSION;
  situation.compiles_again = policy.is_outdated() && compiling::ask(state, project, situation.now_s);
  situation.input = call.input;
  situation.input_bytes = call.bytes;
  situation.stack_end = stack_end;
  judge(event, situation, tree, &judgement);

  char* reply_bytes = reply_memory;
  std::size_t reply_size = kReplyBytes;
  const std::size_t wanted = judgement.reply.output.size() + 6 * (judgement.reply.replacement.size() + judgement.reply.context.size()) + kReplyBytes;
  if (wanted > 2 * kReplyBytes) {  // every byte may need an escape of six
    if (void* more = more_memory(wanted); more != nullptr) {
      reply_bytes = static_cast<char*>(more);
      reply_size = wanted;
    }
  }
  Writer out(reply_bytes, reply_size);
  replies::write(event, judgement.reply, out);
  if (out.full()) {  // of a reply that is too long the decision must not be lost
    judgement.reply.context = judgement.reply.output = judgement.reply.replacement = {};
    replies::write(event, judgement.reply, out);
  }
  answer(0, {}, out.view());
  record(event, situation, judgement, (now_ns(CLOCK_MONOTONIC) - call.started) / 1000);
  compiling::start();
  return 0;
}

// The second process: what a mount that does not answer may hold.
void judge_apart(const void* own_stack_end) noexcept {
  late::take_signal_stack();
  // Whoever reads these would wait for this process as well.
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(file);
  ::_exit(judge_call(own_stack_end != nullptr ? own_stack_end : stack_end()));
}

// Waits for the second process and passes its answer on, as long as there is time.
int answer_for(int from, pid_t process) noexcept {
  worker::Head head;
  const bool answered = worker::pass_on(
      from, &head, [] { late::start_timer(0); },
      [&head] {
        late::forget(static_cast<int>(head.status));
        late::start_timer(kCeilingMs);  // for what is written down; the answer is out
      });
  if (!answered) late::give(0);
  worker::await_end(from, process);
  return static_cast<int>(head.status);
}

}  // namespace

int main(int count, char** arguments) {
  const std::uint64_t started = now_ns(CLOCK_MONOTONIC);
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument == "--version") {
      put(STDOUT_FILENO, "tipstaff-hook " TIPSTAFF_VERSION "\n");
      return 0;
    }
    if (argument == "--unattended") {
      options.unattended = true;
    } else if ((argument == "--host" || argument == "--event") && i + 1 < count) {
      const std::string_view value = arguments[++i];
      if (argument == "--event") {
        options.event = value;
      } else if ((options.host = host_named(value)) == Host::unknown) {
        return usage("--host is not one of the known hosts");
      }
    } else {
      return usage("an unknown option, or one without its value");
    }
  }
  if (environment("TIPSTAFF_UNATTENDED") == "1") options.unattended = true;
  // Copilot runs Claude Code's registrations as well: the event says which of the two it is.
  if (options.host == Host::claude && environment("COPILOT_CLI") == "1") options.host = Host::unknown;

  event.fields = reinterpret_cast<gate::Field*>(field_memory);
  late::note_first_process();
  late::share();
  assume(options);
  prepare_late(options, Decision::confirm);
  late::take_signals();  // the answer that they give is there
  late::start_timer(kArrivalMs);
  std::size_t bytes = 0;
  char* const input = read_input(&bytes);
  if (input == nullptr) return answer_unreadable(options, Decision::block, "the event is longer than 64 MiB, or cannot be read");
  late::start_timer(kCeilingMs);

  JsonNode* nodes = reinterpret_cast<JsonNode*>(json_memory);
  std::uint32_t node_room = kJsonNodes;
  if (bytes > 2 * kJsonNodes) {  // every second byte may begin a value
    node_room = bytes / 2 + 2 < kMostJsonNodes ? static_cast<std::uint32_t>(bytes / 2 + 2) : kMostJsonNodes;
    nodes = static_cast<JsonNode*>(more_memory(node_room * sizeof(JsonNode)));
    if (nodes == nullptr) return answer_unreadable(options, Decision::block, "there is no memory to read the event");
  }
  Json json(nodes, node_room);
  const bool parsed = json.parse(input, bytes);
  if (json.count() > kFields) {
    if (void* more = more_memory(json.count() * sizeof(gate::Field)); more != nullptr) {
      event.fields = static_cast<gate::Field*>(more);
      event.field_room = json.count();
    }
  }
  {
    gate::Field* const fields = event.fields;
    const std::uint32_t room = event.field_room;
    event = HookEvent{};
    event.fields = fields;
    event.field_room = room;
  }
  const bool read = parsed && events::read_event(json, options.host, options.event, &event);
  if (options.unattended) event.unattended = true;
  call = {options, &json, input, bytes, started, parsed, read};
  if (read) prepare_late(options, Decision::confirm, &json);
  int ends[2];
  if (::pipe(ends) != 0) return judge_call(stack_end());
  reply_pipe = ends[1];
  const pid_t judging_process = tipstaff_start_worker(judge_apart);
  late::note_judging_process(judging_process);
  if (judging_process < 0) {
    reply_pipe = -1;
    return judge_call(stack_end());
  }
  ::close(ends[1]);
  return answer_for(ends[0], judging_process);
}
