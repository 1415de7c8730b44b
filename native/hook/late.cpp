// The answer that is given where the time is up or the program fails.
#include "tipstaff/hook/late.hpp"

#include <sys/time.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "tipstaff/hook/worker.hpp"

namespace tipstaff::hook::late {

namespace {

constexpr int kQueuedMs = 5000;  // while other processes have the processors, at most

alignas(16) char handler_stack[65536];  // macOS asks for 32 KiB at least
pid_t first_process, judging_process;
Answer own;
Answer* shared = &own;

// What both processes were ready to run and did not, as others had the processors, since this was last asked.
int queued_ms() noexcept {
  static std::uint64_t before;
  const std::uint64_t now = worker::queued_ns(first_process) + worker::queued_ns(judging_process);
  const std::uint64_t more = now > before ? now - before : 0;
  before += more;
  return more > std::uint64_t{kQueuedMs} * 1000000u ? kQueuedMs : static_cast<int>(more / 1000000u);
}

bool set_signal_stack() noexcept {
  stack_t stack;
  std::memset(&stack, 0, sizeof stack);
  stack.ss_sp = handler_stack;
  stack.ss_size = sizeof handler_stack;
  return ::sigaltstack(&stack, nullptr) == 0;
}

}  // namespace

Answer& answer() noexcept { return *shared; }

void share() noexcept {
  if (void* const seen = tipstaff_seen_by_both(shared, sizeof *shared); seen != nullptr) shared = static_cast<Answer*>(seen);
}

void forget(int status) noexcept {
  shared->bytes = 0;
  shared->status = status;
}

void note_first_process() noexcept { first_process = ::getpid(); }
void note_judging_process(pid_t judging) noexcept { judging_process = judging; }

void start_timer(int milliseconds) noexcept {
  itimerval timer;
  std::memset(&timer, 0, sizeof timer);
  timer.it_value.tv_sec = milliseconds / 1000;
  timer.it_value.tv_usec = milliseconds % 1000 * 1000;
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

void give(int signal) {
  if (::getpid() != first_process) ::_exit(2);  // the first process answers
  static int extra_ms;
  if (const int queued = signal == SIGALRM && judging_process > 0 ? queued_ms() : 0; queued > 0 && extra_ms < kQueuedMs) {
    extra_ms += queued;
    start_timer(queued);  // a loaded machine is no reason to refuse a call
    return;
  }
  if (signal == SIGALRM && shared->more_ms > 0) {
    start_timer(shared->more_ms);
    shared->more_ms = 0;
    return;
  }
  if (judging_process > 0) ::kill(judging_process, SIGKILL);
  const sig_atomic_t status = shared->status;
  // A status of 2 without words on standard error is no refusal for every host.
  ssize_t ignored = status != 0 ? ::write(STDERR_FILENO, kReason.data(), kReason.size()) : 0;
  ignored += ::write(STDOUT_FILENO, shared->reply, static_cast<std::size_t>(shared->bytes));
  (void)ignored;
  ::_exit(status);
}

void take_signal_stack() noexcept { set_signal_stack(); }

void take_signals() noexcept {
  const bool own_stack = set_signal_stack();
  struct sigaction action;
  std::memset(&action, 0, sizeof action);
  action.sa_handler = give;
  action.sa_flags = own_stack ? SA_ONSTACK : 0;
  for (int signal : {SIGALRM, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) ::sigaction(signal, &action, nullptr);
  // A reader that went away and a file that may not grow are recognised by errors; they must not end the program.
  action.sa_handler = SIG_IGN;
  for (int signal : {SIGPIPE, SIGXFSZ}) ::sigaction(signal, &action, nullptr);
}

}  // namespace tipstaff::hook::late
