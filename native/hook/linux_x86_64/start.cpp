// The program's start without a C library.
//
// A static glibc asks the processor about its caches and tables before main(): in a virtual machine each
// question is an exit to the host, and together they take longer than everything that a hook does. The
// program starts here instead.
#include <elf.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "calls.hpp"

using namespace tipstaff::hook::linux_x86_64;

namespace {

// What compilers reach through the register fs: the block's own address, and the guard of the stack 40 bytes on.
struct alignas(16) ThreadBlock {
  ThreadBlock* self;
  std::uint64_t unused[4];
  std::uint64_t guard;
};
ThreadBlock thread_block;

// Sets the stack's guard from the kernel's random bytes, and makes what is only written before the start read-only.
// Nothing before it may have a guard of its own.
void harden(const Elf64_auxv_t* about) noexcept {
  const Elf64_Phdr* segments = nullptr;
  std::uint64_t count = 0;
  thread_block.self = &thread_block;
  for (; about->a_type != AT_NULL; ++about) {
    if (about->a_type == AT_RANDOM) __builtin_memcpy(&thread_block.guard, reinterpret_cast<const void*>(about->a_un.a_val), 8);
    if (about->a_type == AT_PHDR) segments = reinterpret_cast<const Elf64_Phdr*>(about->a_un.a_val);
    if (about->a_type == AT_PHNUM) count = about->a_un.a_val;
  }
  thread_block.guard &= ~std::uint64_t{0xff};  // a text that runs over ends at the first byte
  constexpr long kSetFs = 0x1002;
  call(arch_prctl_call, kSetFs, number(&thread_block));
  for (std::uint64_t i = 0; i < count; ++i) {
    if (segments[i].p_type != PT_GNU_RELRO) continue;
    const std::uint64_t first = segments[i].p_vaddr & ~std::uint64_t{4095};
    const std::uint64_t last = (segments[i].p_vaddr + segments[i].p_memsz) & ~std::uint64_t{4095};
    if (last > first) call(mprotect_call, static_cast<long>(first), static_cast<long>(last - first), PROT_READ);
  }
}

// The signal's handler answers the host.
[[noreturn]] void abort_program() noexcept {
  call(kill_call, call(getpid_call), SIGABRT);
  _exit(2);
}

}  // namespace

extern "C" {

int program(int, char**) __asm__("main");

__asm__(
    ".text\n"
    ".globl _start\n"
    ".type _start, @function\n"
    "_start:\n"
    "  xor %ebp, %ebp\n"
    "  mov %rsp, %rdi\n"
    "  and $-16, %rsp\n"
    "  call tipstaff_start\n"
    "  hlt\n"
    ".size _start, . - _start\n");

using Initialiser = void (*)(int, char**, char**);
extern Initialiser __init_array_start[] __attribute__((visibility("hidden")));
extern Initialiser __init_array_end[] __attribute__((visibility("hidden")));

__attribute__((used)) void tipstaff_start(long* stack) noexcept {
  const int count = static_cast<int>(*stack);
  char** const arguments = reinterpret_cast<char**>(stack + 1);
  environment = arguments + count + 1;
  char** end = environment;
  while (*end != nullptr) ++end;
  harden(reinterpret_cast<const Elf64_auxv_t*>(end + 1));
  for (Initialiser* one = __init_array_start; one != __init_array_end; ++one) (*one)(count, arguments, environment);
  _exit(program(count, arguments));
}

// The guard of the stack was written over.
[[noreturn]] void __stack_chk_fail() { abort_program(); }

}  // extern "C"

namespace std {

// What a header calls where a text is cut outside its borders.
__attribute__((noreturn)) void __throw_out_of_range_fmt(const char*, ...) { abort_program(); }
// What headers call that were compiled with _GLIBCXX_ASSERTIONS.
#if defined(_GLIBCXX_ASSERTIONS) && defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE >= 12
[[noreturn]] void __glibcxx_assert_fail(const char*, int, const char*, const char*) noexcept { abort_program(); }
#endif

}  // namespace std
