// The answer that is given where the time is up or the program fails: ready before the judging starts, as a handler of
// signals may not make it. A host takes a hook that dies for one that has nothing against the call.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstddef>
#include <string_view>

namespace tipstaff::hook::late {

constexpr std::string_view kReason =
    "tipstaff could not judge this call: it took longer than it may, or the program failed. "
    "A person is needed, or a shorter call.";

struct Answer {
  volatile sig_atomic_t bytes = 0;
  volatile sig_atomic_t status = 2;
  volatile sig_atomic_t more_ms = 0;  // what keeping takes, apart from judging
  char reply[2048];
};
// In memory that both processes see, once share() was called.
Answer& answer() noexcept;
void share() noexcept;

// From here on nothing is answered a second time.
void forget(int status) noexcept;

// Gives it after so many milliseconds, and later where other processes had the processors meanwhile; 0: not at all.
void start_timer(int milliseconds) noexcept;

// This process is the one that the host waits for; `judging` is another that judges for it.
void note_first_process() noexcept;
void note_judging_process(pid_t judging) noexcept;

// Lets signals of failures and of the timer give the answer, on a stack of their own where there is one.
void take_signals() noexcept;
void take_signal_stack() noexcept;

// Gives the answer and ends the process; in any other than the first one ends that alone.
void give(int signal);

}  // namespace tipstaff::hook::late
