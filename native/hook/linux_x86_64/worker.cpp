// Starts the worker that judges (hook/worker.hpp) as a process that shares this one's memory.
#include "tipstaff/hook/worker.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include "calls.hpp"
#include "tipstaff/hook/compiling.hpp"
#include "tipstaff/undo/git.hpp"

using namespace tipstaff::hook::linux_x86_64;

extern "C" {

// clone() with a stack of the worker's own and all memory in common: a tenth of what a fork takes. Files and signal
// handlers are the worker's own.
long tipstaff_clone(long flags, void* stack) noexcept;
__asm__(
    ".text\n"
    ".type tipstaff_clone, @function\n"
    "tipstaff_clone:\n"
    "  xor %edx, %edx\n"
    "  xor %r10d, %r10d\n"
    "  xor %r8d, %r8d\n"
    "  mov $56, %eax\n"
    "  syscall\n"
    "  test %rax, %rax\n"
    "  jz 1f\n"
    "  ret\n"
    "1: xor %ebp, %ebp\n"
    "  pop %rax\n"
    "  pop %rdi\n"
    "  call *%rax\n"
    "  hlt\n"
    ".size tipstaff_clone, . - tipstaff_clone\n");

}  // extern "C"

namespace {

// The processors that a process may run on.
struct Processors {
  unsigned long bits[128] = {};
  long bytes = 0;  // how many of them the kernel has

  bool read() noexcept { return (bytes = call(sched_getaffinity_call, 0, sizeof bits, number(bits))) > 0; }
  void take() const noexcept { call(sched_setaffinity_call, 0, bytes, number(bits)); }
};

Processors former_processors;
void (*worker_work)(const void* stack_end);

// A new process is put on another processor, with nothing of this one's memory in its caches, and waking the two costs as
// much as judging. So it begins on this one, and is free again from its first step on.
void stay_on_this_processor() noexcept {
  unsigned here = 0;
  if (!former_processors.read() || call(getcpu_call, number(&here), 0, 0) != 0) return;
  Processors one;
  one.bytes = former_processors.bytes;
  if (here / 8 >= static_cast<unsigned long>(one.bytes)) return;
  one.bits[here / 64] = 1ul << here % 64;
  one.take();
}

void begin_work(const void* stack_end) noexcept {
  if (former_processors.bytes > 0) former_processors.take();
  worker_work(stack_end);
}

}  // namespace

extern "C" {

pid_t tipstaff_start_worker(void (*work)(const void* stack_end)) noexcept {
  constexpr std::size_t kStackBytes = std::size_t{8} << 20, kGuardBytes = 4096;
  void* const memory = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return -1;
  call(mprotect_call, number(memory), kGuardBytes, PROT_NONE);
  auto* const top = reinterpret_cast<const void**>(static_cast<char*>(memory) + kStackBytes);
  worker_work = work;
  top[-2] = reinterpret_cast<const void*>(begin_work);
  top[-1] = static_cast<char*>(memory) + kStackBytes / 4;
  stay_on_this_processor();
  constexpr long kSharesMemory = 0x100;
  const pid_t process = static_cast<pid_t>(checked(tipstaff_clone(kSharesMemory | SIGCHLD, top - 2)));
  if (process < 0 && former_processors.bytes > 0) former_processors.take();
  return process;
}

void* tipstaff_seen_by_both(void* own, std::size_t) noexcept { return own; }

void tipstaff_start_apart(const char* const* arguments) noexcept {
  if (call(fork_call) != 0) return;
  call(setsid_call);
  for (long file = 0; file < 64; ++file) call(close_call, file);
  for (int file = 0; file < 3; ++file) open("/dev/null", O_RDWR);
  call(execve_call, number(arguments[0]), number(arguments), number(environment));
  _exit(127);
}

const char* const* tipstaff_environment() noexcept { return environment; }

long tipstaff_spawn(const char* path, const char* const* arguments, const char* const* variables, int input, int output) noexcept {
  const long process = call(fork_call);
  if (process != 0) return process;
  call(dup2_call, input, 0);
  call(dup2_call, output, 1);
  call(close_call, 2);
  open("/dev/null", O_RDWR);
  call(execve_call, number(path), number(arguments), number(variables));
  _exit(127);
}

}  // extern "C"
