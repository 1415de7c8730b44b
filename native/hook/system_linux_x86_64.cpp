// What the hook program needs of a system, without a C library: start, system calls, bytes.
//
// A static glibc asks the processor about its caches and tables before main(): in a virtual machine each
// question is an exit to the host, and together they take longer than everything that a hook does. The
// program starts here instead. Only what it calls is here, with the names and the meaning of POSIX; where
// a function is missing the program does not link.
//
// Linux on x86-64. Numbers and structures of the kernel's interface are its documented, stable ones; the
// headers' own (stat, itimerval, stack_t, timespec) are the same there.

#include <errno.h>
#include <fcntl.h>
#include <elf.h>
#include <limits.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tipstaff/hook/memory.hpp"
#include "tipstaff/hook/pruning.hpp"
#include "tipstaff/hook/real_path.hpp"
#include "tipstaff/hook/worker.hpp"

#undef errno

namespace {

namespace memory = tipstaff::hook::memory;

int last_error;
char** environment;

enum Number : long {
  read_call = 0, write_call = 1, close_call = 3, fstat_call = 5, mmap_call = 9, mprotect_call = 10,
  lseek_call = 8, munmap_call = 11, rt_sigaction_call = 13, pread_call = 17, pwrite_call = 18, access_call = 21, pipe_call = 22,
  nanosleep_call = 35, setitimer_call = 38, getpid_call = 39, exit_call = 60, wait4_call = 61, kill_call = 62, flock_call = 73, getcwd_call = 79,
  rename_call = 82, mkdir_call = 83, unlink_call = 87, readlink_call = 89, getrlimit_call = 97, geteuid_call = 107,
  sigaltstack_call = 131, arch_prctl_call = 158, sched_setaffinity_call = 203, sched_getaffinity_call = 204,
  clock_gettime_call = 228, exit_group_call = 231, getdents64_call = 217, openat_call = 257, newfstatat_call = 262,
  getcpu_call = 309,
};

inline long call(Number number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) noexcept {
  long result;
  register long fourth __asm__("r10") = d;
  register long fifth __asm__("r8") = e;
  register long sixth __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(static_cast<long>(number)), "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
}

template <class Pointer>
inline long number(Pointer* pointer) noexcept {
  return reinterpret_cast<long>(pointer);
}

// -1 and an error, or what the kernel gave.
inline long told(long result) noexcept {
  if (result >= 0 || result < -4095) return result;
  last_error = static_cast<int>(-result);
  return -1;
}

// The kernel's sigaction, which is not the headers'.
struct KernelAction {
  void (*handler)(int);
  unsigned long flags;
  void (*restorer)();
  std::uint64_t mask;
};
constexpr unsigned long kRestorer = 0x04000000;

unsigned char* bytes_of(void* memory) noexcept { return static_cast<unsigned char*>(memory); }
const unsigned char* bytes_of(const void* memory) noexcept { return static_cast<const unsigned char*>(memory); }

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

struct System {
  long read_link(const char* path, char* to, std::size_t size) const noexcept {
    return call(readlink_call, number(path), number(to), static_cast<long>(size));
  }
  bool is_folder(const char* path) const noexcept {
    struct stat about;
    return call(newfstatat_call, AT_FDCWD, number(path), number(&about)) == 0 && S_ISDIR(about.st_mode);
  }
  bool working_folder(char* to, std::size_t size) const noexcept {
    // Where the folder lies outside what this process can reach, the name does not begin with a slash.
    return call(getcwd_call, number(to), static_cast<long>(size)) > 0 && to[0] == '/';
  }
};

}  // namespace

extern "C" {

int program(int, char**) __asm__("main");

[[noreturn]] void tipstaff_returns_from_signal() noexcept;
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
    ".size _start, . - _start\n"
    ".type tipstaff_returns_from_signal, @function\n"
    "tipstaff_returns_from_signal:\n"
    "  mov $15, %eax\n"  // rt_sigreturn
    "  syscall\n"
    ".size tipstaff_returns_from_signal, . - tipstaff_returns_from_signal\n");

using Initialiser = void (*)(int, char**, char**);
extern Initialiser __init_array_start[] __attribute__((visibility("hidden")));
extern Initialiser __init_array_end[] __attribute__((visibility("hidden")));

void _exit(int status) {
  for (;;) {
    call(exit_group_call, status);
    call(exit_call, status);
  }
}

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

int* __errno_location() noexcept { return &last_error; }

// -- bytes --------------------------------------------------------------------------------------------

void* memcpy(void* __restrict to, const void* __restrict from, std::size_t size) noexcept {
  memory::copy(bytes_of(to), bytes_of(from), size);
  return to;
}
void* memmove(void* to, const void* from, std::size_t size) noexcept {
  memory::move(bytes_of(to), bytes_of(from), size);
  return to;
}
void* memset(void* to, int byte, std::size_t size) noexcept {
  memory::fill(bytes_of(to), static_cast<unsigned char>(byte), size);
  return to;
}
int memcmp(const void* left, const void* right, std::size_t size) noexcept {
  return memory::compare(bytes_of(left), bytes_of(right), size);
}
// What clang makes of a comparison of which only equality is asked.
int bcmp(const void* left, const void* right, std::size_t size) noexcept {
  return memory::compare(bytes_of(left), bytes_of(right), size);
}
// The headers of C++ declare it twice, for constant and for other bytes.
void* found_byte(const void* text, int byte, std::size_t size) noexcept __asm__("memchr");
void* found_byte(const void* text, int byte, std::size_t size) noexcept {
  return const_cast<unsigned char*>(memory::find(bytes_of(text), static_cast<unsigned char>(byte), size));
}
std::size_t strlen(const char* text) noexcept { return memory::length(text); }
char* found_letter(const char* text, int letter) noexcept __asm__("strchr");
char* found_letter(const char* text, int letter) noexcept {
  const std::size_t size = memory::length(text) + 1;
  const unsigned char* found = memory::find(reinterpret_cast<const unsigned char*>(text), static_cast<unsigned char>(letter), size);
  return found == nullptr ? nullptr : const_cast<char*>(text) + (found - reinterpret_cast<const unsigned char*>(text));
}

// -- files --------------------------------------------------------------------------------------------

ssize_t read(int file, void* to, std::size_t size) {
  return told(call(read_call, file, number(to), static_cast<long>(size)));
}
ssize_t write(int file, const void* from, std::size_t size) {
  return told(call(write_call, file, number(from), static_cast<long>(size)));
}
ssize_t pread(int file, void* to, std::size_t size, off_t at) {
  return told(call(pread_call, file, number(to), static_cast<long>(size), at));
}
off_t lseek(int file, off_t at, int from) noexcept { return told(call(lseek_call, file, at, from)); }
ssize_t pwrite(int file, const void* from, std::size_t size, off_t at) {
  return told(call(pwrite_call, file, number(from), static_cast<long>(size), at));
}
int open(const char* path, int flags, ...) {
  unsigned mode = 0;
  if ((flags & O_CREAT) != 0) {
    __builtin_va_list more;
    __builtin_va_start(more, flags);
    mode = __builtin_va_arg(more, unsigned);
    __builtin_va_end(more);
  }
  return static_cast<int>(told(call(openat_call, AT_FDCWD, number(path), flags, static_cast<long>(mode))));
}
int close(int file) { return static_cast<int>(told(call(close_call, file))); }
int stat(const char* __restrict path, struct stat* __restrict to) noexcept {
  return static_cast<int>(told(call(newfstatat_call, AT_FDCWD, number(path), number(to))));
}
int fstat(int file, struct stat* to) noexcept { return static_cast<int>(told(call(fstat_call, file, number(to)))); }
// What the headers of a glibc before 2.33 make of the two.
int __xstat(int, const char* path, struct stat* to) noexcept { return stat(path, to); }
int __fxstat(int, int file, struct stat* to) noexcept { return fstat(file, to); }
int access(const char* path, int mode) noexcept { return static_cast<int>(told(call(access_call, number(path), mode))); }
int mkdir(const char* path, mode_t mode) noexcept { return static_cast<int>(told(call(mkdir_call, number(path), mode))); }
int rename(const char* from, const char* to) noexcept {
  return static_cast<int>(told(call(rename_call, number(from), number(to))));
}
int unlink(const char* path) noexcept { return static_cast<int>(told(call(unlink_call, number(path)))); }
int flock(int file, int how) noexcept { return static_cast<int>(told(call(flock_call, file, how))); }
char* getcwd(char* to, std::size_t size) noexcept {
  if (System{}.working_folder(to, size)) return to;
  last_error = ENOENT;
  return nullptr;
}
char* realpath(const char* __restrict path, char* __restrict to) noexcept {
  tipstaff::hook::RealPath<System> way{System{}};
  const int error = way.find(path, to);
  if (error == 0) return to;
  last_error = error;
  return nullptr;
}

// -- memory, time, signals, the process ---------------------------------------------------------------

void* mmap(void* at, std::size_t size, int protection, int flags, int file, off_t offset) noexcept {
  return reinterpret_cast<void*>(told(call(mmap_call, number(at), static_cast<long>(size), protection, flags, file, offset)));
}
int munmap(void* at, std::size_t size) noexcept {
  return static_cast<int>(told(call(munmap_call, number(at), static_cast<long>(size))));
}
int clock_gettime(clockid_t clock, timespec* to) noexcept {
  return static_cast<int>(told(call(clock_gettime_call, clock, number(to))));
}
int nanosleep(const timespec* time, timespec* left) {
  return static_cast<int>(told(call(nanosleep_call, number(time), number(left))));
}
int tipstaff_setitimer(int which, const itimerval* value, itimerval* former) noexcept __asm__("setitimer");
int tipstaff_setitimer(int which, const itimerval* value, itimerval* former) noexcept {
  return static_cast<int>(told(call(setitimer_call, which, number(value), number(former))));
}
int sigaltstack(const stack_t* __restrict stack, stack_t* __restrict former) noexcept {
  return static_cast<int>(told(call(sigaltstack_call, number(stack), number(former))));
}
// Without the former action, which nobody here asks for.
int sigaction(int signal, const struct sigaction* __restrict action, struct sigaction* __restrict) noexcept {
  KernelAction wanted;
  wanted.handler = action->sa_handler;
  wanted.flags = static_cast<unsigned long>(action->sa_flags) | kRestorer;
  wanted.restorer = tipstaff_returns_from_signal;
  __builtin_memcpy(&wanted.mask, &action->sa_mask, sizeof wanted.mask);
  return static_cast<int>(told(call(rt_sigaction_call, signal, number(&wanted), 0, sizeof wanted.mask)));
}
int tipstaff_getrlimit(int which, struct rlimit* to) noexcept __asm__("getrlimit");
int tipstaff_getrlimit(int which, struct rlimit* to) noexcept {
  return static_cast<int>(told(call(getrlimit_call, which, number(to))));
}
pid_t getpid() noexcept { return static_cast<pid_t>(call(getpid_call)); }
uid_t geteuid() noexcept { return static_cast<uid_t>(call(geteuid_call)); }

int kill(pid_t process, int signal) noexcept { return static_cast<int>(told(call(kill_call, process, signal))); }
int pipe(int* ends) noexcept { return static_cast<int>(told(call(pipe_call, number(ends)))); }
pid_t waitpid(pid_t process, int* status, int how) {
  return static_cast<pid_t>(told(call(wait4_call, process, number(status), how)));
}

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
  const pid_t process = static_cast<pid_t>(told(tipstaff_clone(kSharesMemory | SIGCHLD, top - 2)));
  if (process < 0 && former_processors.bytes > 0) former_processors.take();
  return process;
}

long tipstaff_read_folder(int folder, void* to, std::size_t bytes) noexcept {
  return call(getdents64_call, folder, number(to), static_cast<long>(bytes));
}

void* tipstaff_seen_by_both(void* own, std::size_t) noexcept { return own; }

char* getenv(const char* name) noexcept {
  const std::size_t size = memory::length(name);
  for (char** one = environment; *one != nullptr; ++one) {
    std::size_t same = 0;
    while (same < size && (*one)[same] == name[same]) ++same;
    if (same == size && (*one)[size] == '=') return *one + size + 1;
  }
  return nullptr;
}

// The guard of the stack was written over.
[[noreturn]] void __stack_chk_fail() {
  call(kill_call, call(getpid_call), SIGABRT);
  _exit(2);
}

}  // extern "C"

namespace std {

// What a header calls where a text is cut outside its borders: the signal's handler answers the host.
__attribute__((noreturn)) void __throw_out_of_range_fmt(const char*, ...) {
  call(kill_call, call(getpid_call), SIGABRT);
  _exit(2);
}
// What headers call that were compiled with _GLIBCXX_ASSERTIONS.
#if defined(_GLIBCXX_ASSERTIONS) && defined(_GLIBCXX_RELEASE) && _GLIBCXX_RELEASE >= 12
[[noreturn]] void __glibcxx_assert_fail(const char*, int, const char*, const char*) noexcept {
  call(kill_call, call(getpid_call), SIGABRT);
  _exit(2);
}
#endif

}  // namespace std
