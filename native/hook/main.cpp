// tipstaff-hook: one event on standard input, the host's reply on standard output. No interpreter starts.
//
//   tipstaff-hook [--host claude|codex|gemini|cursor|copilot] [--event NAME] [--unattended] [--version]
//
// It never answers with silence where it could not judge: without a policy, with a damaged one, with an event that it
// cannot read or after 200 ms, the policy's on_error decides, and the reason says so.

#include <signal.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "tipstaff/gate/engine.hpp"
#include "tipstaff/gate/files.hpp"
#include "tipstaff/hook/approvals.hpp"
#include "tipstaff/hook/event.hpp"
#include "tipstaff/hook/json.hpp"
#include "tipstaff/hook/judge.hpp"
#include "tipstaff/hook/reply.hpp"
#include "tipstaff/hook/state.hpp"

#ifndef TIPSTAFF_VERSION
#define TIPSTAFF_VERSION "0"
#endif

extern "C" const unsigned char tipstaff_default_policy[];
extern "C" const unsigned char tipstaff_default_policy_end[];

namespace {

using namespace tipstaff::hook;
using tipstaff::gate::Decision;
namespace gate = tipstaff::gate;

constexpr std::size_t kInputBytes = 1 << 20;         // what most events take; longer ones get memory of their own
constexpr std::size_t kLongestInput = 64u << 20;     // beyond it an event is not judged
constexpr std::size_t kTreeBytes = 1 << 20;
constexpr std::size_t kLongTreeBytes = 16u << 20;
constexpr std::size_t kReplyBytes = 1 << 17;
constexpr std::uint32_t kJsonNodes = 1 << 15;
constexpr int kCeilingMs = 200;

// Zero pages cost nothing until they are touched.
char input_memory[kInputBytes];
alignas(JsonNode) unsigned char json_memory[kJsonNodes * sizeof(JsonNode)];
alignas(gate::Field) unsigned char field_memory[HookEvent::kFields * sizeof(gate::Field)];
alignas(16) unsigned char tree_memory[kTreeBytes];
char reply_memory[kReplyBytes];
HookEvent event;
Judgement judgement;

// What is answered when the time is up or the program fails; ready before the judging starts, as a handler may not make
// it. A host takes a hook that dies for one that has nothing against the call.
char late_reply[1024];
alignas(16) char handler_stack[16384];
volatile sig_atomic_t late_bytes = 0;
volatile sig_atomic_t late_status = 0;

void on_time_up(int) {
  const ssize_t ignored = ::write(STDOUT_FILENO, late_reply, static_cast<std::size_t>(late_bytes));
  (void)ignored;
  ::_exit(late_status);
}

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
      "; usage: tipstaff-hook [--host claude|codex|gemini|cursor|copilot] [--event NAME] [--unattended] < EVENT\n");
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

// Answers an event of an unknown shape: by the host where it is known, else by the exit status that all of them know.
int answer_unreadable(const Options& options, Decision on_error, std::string_view why) noexcept {
  put(STDERR_FILENO, "tipstaff-hook: ");
  put(STDERR_FILENO, why);
  put(STDERR_FILENO, "\n");
  const bool refuses = on_error == Decision::block || on_error == Decision::confirm;
  if (options.host == Host::unknown) return refuses ? 2 : 0;
  event.host = options.host;
  event.phase = options.event.empty() ? Phase::before_tool : events::phase_of(options.event);
  event.name = !options.event.empty() ? options.event : options.host == Host::gemini ? "BeforeTool" : "PreToolUse";
  event.can_ask = options.host != Host::codex && options.host != Host::cursor;
  Reply reply;
  reply.decision = on_error;
  reply.unattended = options.unattended;
  reply.reason = why;
  Writer out(reply_memory, kReplyBytes);
  replies::write(event, reply, out);
  put(STDOUT_FILENO, out.view());
  return 0;
}

std::uint64_t now_ns(clockid_t clock) noexcept {
  timespec at;
  ::clock_gettime(clock, &at);
  return static_cast<std::uint64_t>(at.tv_sec) * 1000000000u + static_cast<std::uint64_t>(at.tv_nsec);
}

void prepare_ceiling(const Options& options, Decision on_error) noexcept {
  Reply reply;
  reply.decision = on_error;
  reply.unattended = options.unattended;
  reply.reason = "tipstaff could not judge this call: it took more than 200 ms, or the program failed. A person is needed, or a shorter call.";
  Writer out(late_reply, sizeof late_reply);
  replies::write(event, reply, out);
  if (out.full()) out.clear();
  late_bytes = static_cast<sig_atomic_t>(out.size());
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = on_time_up;
  action.sa_flags = SA_ONSTACK;
  stack_t stack;
  std::memset(&stack, 0, sizeof stack);
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof handler_stack;
  ::sigaltstack(&stack, nullptr);
  for (int signal : {SIGALRM, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) ::sigaction(signal, &action, nullptr);
  itimerval timer;
  std::memset(&timer, 0, sizeof timer);
  timer.it_value.tv_usec = kCeilingMs * 1000;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
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
        return usage("--host takes a host that it knows");
      }
    } else {
      return usage("an option that it does not know or that lacks its value");
    }
  }
  if (environment("TIPSTAFF_UNATTENDED") == "1") options.unattended = true;

  gate::Image built_in;
  const auto built_in_bytes = static_cast<std::size_t>(tipstaff_default_policy_end - tipstaff_default_policy);
  std::size_t bytes = 0;
  char* const input = read_input(&bytes);
  if (input == nullptr) return answer_unreadable(options, Decision::block, "the event is longer than 64 MiB, or cannot be read");
  event.fields = reinterpret_cast<gate::Field*>(field_memory);
  Json json(reinterpret_cast<JsonNode*>(json_memory), kJsonNodes);
  const bool parsed = json.parse(input, bytes);
  if (!parsed || !events::read_event(json, options.host, options.event, &event)) {
    if (gate::open_image(tipstaff_default_policy, built_in_bytes, &built_in, true) != gate::ImageFault::none)
      return answer_unreadable(options, Decision::block, "the program's own policy is damaged");
    return answer_unreadable(options, static_cast<Decision>(built_in.config.on_error),
                             parsed ? "the event is of no host that it knows; name it with --host"
                                    : "the event is not one JSON document");
  }
  if (options.unattended) event.unattended = true;

  const Path state = state_folder();
  const std::string_view cwd = event.cwd.empty() || event.cwd[0] != '/' ? std::string_view{} : event.cwd;
  const std::string_view repository = repository_of(cwd);
  Policy policy;
  policy.open(state, repository);
  const bool own = policy.fault == PolicyFault::none || policy.fault == PolicyFault::stale;
  if (!own && gate::open_image(tipstaff_default_policy, built_in_bytes, &built_in, true) != gate::ImageFault::none)
    return answer_unreadable(options, Decision::block, "the program's own policy is damaged");
  const gate::Image& image = own ? policy.image : built_in;
  const auto on_error = static_cast<Decision>(image.config.on_error);
  prepare_ceiling(options, on_error);

  std::size_t longest = 0;
  for (std::uint32_t i = 0; i < event.field_count; ++i)
    if (event.fields[i].text.size() > longest) longest = event.fields[i].text.size();
  unsigned char* tree_bytes = tree_memory;
  std::size_t tree_size = kTreeBytes;
  if (longest > 64 * 1024) {
    void* more = ::mmap(nullptr, kLongTreeBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more != MAP_FAILED) {
      tree_bytes = static_cast<unsigned char*>(more);
      tree_size = kLongTreeBytes;
    }
  }
  gate::Tree tree(tree_bytes, tree_size);

  Situation situation;
  situation.json = &json;
  situation.image = &image;
  situation.fault = policy.fault;
  situation.state = &state;
  situation.cwd = cwd;
  situation.repository = repository;
  situation.now_s = now_ns(CLOCK_REALTIME) / 1000000000u;
  judge(event, situation, tree, &judgement);

  char* reply_bytes = reply_memory;
  std::size_t reply_size = kReplyBytes;
  const std::size_t wanted = 6 * (judgement.reply.output.size() + judgement.reply.context.size()) + kReplyBytes;
  if (wanted > 2 * kReplyBytes) {  // every byte may need an escape of six
    void* more = ::mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (more != MAP_FAILED) {
      reply_bytes = static_cast<char*>(more);
      reply_size = wanted;
    }
  }
  Writer out(reply_bytes, reply_size);
  replies::write(event, judgement.reply, out);
  itimerval off;
  std::memset(&off, 0, sizeof off);
  ::setitimer(ITIMER_REAL, &off, nullptr);
  if (out.full()) {  // of a reply that is too long the decision must not be lost
    judgement.reply.context = judgement.reply.output = {};
    replies::write(event, judgement.reply, out);
  }
  put(STDOUT_FILENO, out.view());
  record(event, situation, judgement, (now_ns(CLOCK_MONOTONIC) - started) / 1000);
  return 0;
}
