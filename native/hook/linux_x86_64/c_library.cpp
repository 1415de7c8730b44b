// The C library's functions that the hook program calls, and no others, with the names and the meaning of POSIX; where a
// function is missing the program does not link.

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "calls.hpp"
#include "tipstaff/hook/memory.hpp"
#include "tipstaff/hook/pruning.hpp"
#include "tipstaff/hook/real_path.hpp"

using namespace tipstaff::hook::linux_x86_64;

namespace memory = tipstaff::hook::memory;

namespace {

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

void _exit(int status) {
  for (;;) {
    call(exit_group_call, status);
    call(exit_call, status);
  }
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
  return checked(call(read_call, file, number(to), static_cast<long>(size)));
}
ssize_t write(int file, const void* from, std::size_t size) {
  return checked(call(write_call, file, number(from), static_cast<long>(size)));
}
ssize_t pread(int file, void* to, std::size_t size, off_t at) {
  return checked(call(pread_call, file, number(to), static_cast<long>(size), at));
}
off_t lseek(int file, off_t at, int from) noexcept { return checked(call(lseek_call, file, at, from)); }
ssize_t pwrite(int file, const void* from, std::size_t size, off_t at) {
  return checked(call(pwrite_call, file, number(from), static_cast<long>(size), at));
}
int open(const char* path, int flags, ...) {
  unsigned mode = 0;
  if ((flags & O_CREAT) != 0) {
    __builtin_va_list more;
    __builtin_va_start(more, flags);
    mode = __builtin_va_arg(more, unsigned);
    __builtin_va_end(more);
  }
  return static_cast<int>(checked(call(openat_call, AT_FDCWD, number(path), flags, static_cast<long>(mode))));
}
int close(int file) { return static_cast<int>(checked(call(close_call, file))); }
int stat(const char* __restrict path, struct stat* __restrict to) noexcept {
  return static_cast<int>(checked(call(newfstatat_call, AT_FDCWD, number(path), number(to))));
}
int fstat(int file, struct stat* to) noexcept { return static_cast<int>(checked(call(fstat_call, file, number(to)))); }
// What the headers of a glibc before 2.33 make of the two.
int __xstat(int, const char* path, struct stat* to) noexcept { return stat(path, to); }
int __fxstat(int, int file, struct stat* to) noexcept { return fstat(file, to); }
int access(const char* path, int mode) noexcept { return static_cast<int>(checked(call(access_call, number(path), mode))); }
int mkdir(const char* path, mode_t mode) noexcept { return static_cast<int>(checked(call(mkdir_call, number(path), mode))); }
int rename(const char* from, const char* to) noexcept {
  return static_cast<int>(checked(call(rename_call, number(from), number(to))));
}
int unlink(const char* path) noexcept { return static_cast<int>(checked(call(unlink_call, number(path)))); }
int lstat(const char* __restrict path, struct stat* __restrict to) noexcept {
  return static_cast<int>(checked(call(newfstatat_call, AT_FDCWD, number(path), number(to), AT_SYMLINK_NOFOLLOW)));
}
int __lxstat(int, const char* path, struct stat* to) noexcept { return lstat(path, to); }
int statx(int folder, const char* __restrict path, int flags, unsigned mask, struct statx* __restrict to) noexcept {
  return static_cast<int>(checked(call(statx_call, folder, number(path), flags, static_cast<long>(mask), number(to))));
}
int statfs(const char* path, struct statfs* to) noexcept { return static_cast<int>(checked(call(statfs_call, number(path), number(to)))); }
int rmdir(const char* path) noexcept { return static_cast<int>(checked(call(rmdir_call, number(path)))); }
int link(const char* from, const char* to) noexcept { return static_cast<int>(checked(call(link_call, number(from), number(to)))); }
ssize_t readlink(const char* __restrict path, char* __restrict to, std::size_t size) noexcept {
  return checked(call(readlink_call, number(path), number(to), static_cast<long>(size)));
}
int ftruncate(int file, off_t size) noexcept { return static_cast<int>(checked(call(ftruncate_call, file, size))); }
int futimens(int file, const timespec* times) noexcept { return static_cast<int>(checked(call(utimensat_call, file, 0, number(times), 0))); }
int fsync(int file) { return static_cast<int>(checked(call(fsync_call, file))); }
ssize_t copy_file_range(int from, off64_t* from_at, int to, off64_t* to_at, std::size_t size, unsigned flags) {
  return checked(call(copy_file_range_call, from, number(from_at), to, number(to_at), static_cast<long>(size), static_cast<long>(flags)));
}
// Three arguments, of which the last is a number here.
int tipstaff_ioctl(int file, unsigned long what, long value) noexcept __asm__("ioctl");
int tipstaff_ioctl(int file, unsigned long what, long value) noexcept {
  return static_cast<int>(checked(call(ioctl_call, file, static_cast<long>(what), value)));
}
ssize_t llistxattr(const char* path, char* names, std::size_t size) noexcept {
  return checked(call(llistxattr_call, number(path), number(names), static_cast<long>(size)));
}
ssize_t lgetxattr(const char* path, const char* name, void* value, std::size_t size) noexcept {
  return checked(call(lgetxattr_call, number(path), number(name), number(value), static_cast<long>(size)));
}
int flock(int file, int how) noexcept { return static_cast<int>(checked(call(flock_call, file, how))); }
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
  return reinterpret_cast<void*>(checked(call(mmap_call, number(at), static_cast<long>(size), protection, flags, file, offset)));
}
int munmap(void* at, std::size_t size) noexcept {
  return static_cast<int>(checked(call(munmap_call, number(at), static_cast<long>(size))));
}
int clock_gettime(clockid_t clock, timespec* to) noexcept {
  return static_cast<int>(checked(call(clock_gettime_call, clock, number(to))));
}
int nanosleep(const timespec* time, timespec* left) {
  return static_cast<int>(checked(call(nanosleep_call, number(time), number(left))));
}
int tipstaff_setitimer(int which, const itimerval* value, itimerval* former) noexcept __asm__("setitimer");
int tipstaff_setitimer(int which, const itimerval* value, itimerval* former) noexcept {
  return static_cast<int>(checked(call(setitimer_call, which, number(value), number(former))));
}
int sigaltstack(const stack_t* __restrict stack, stack_t* __restrict former) noexcept {
  return static_cast<int>(checked(call(sigaltstack_call, number(stack), number(former))));
}
[[noreturn]] void tipstaff_returns_from_signal() noexcept;
__asm__(
    ".text\n"
    ".type tipstaff_returns_from_signal, @function\n"
    "tipstaff_returns_from_signal:\n"
    "  mov $15, %eax\n"  // rt_sigreturn
    "  syscall\n"
    ".size tipstaff_returns_from_signal, . - tipstaff_returns_from_signal\n");
// Without the former action, which nobody here asks for.
int sigaction(int signal, const struct sigaction* __restrict action, struct sigaction* __restrict) noexcept {
  KernelAction wanted;
  wanted.handler = action->sa_handler;
  wanted.flags = static_cast<unsigned long>(action->sa_flags) | kRestorer;
  wanted.restorer = tipstaff_returns_from_signal;
  __builtin_memcpy(&wanted.mask, &action->sa_mask, sizeof wanted.mask);
  return static_cast<int>(checked(call(rt_sigaction_call, signal, number(&wanted), 0, sizeof wanted.mask)));
}
int tipstaff_getrlimit(int which, struct rlimit* to) noexcept __asm__("getrlimit");
int tipstaff_getrlimit(int which, struct rlimit* to) noexcept {
  return static_cast<int>(checked(call(getrlimit_call, which, number(to))));
}
pid_t getpid() noexcept { return static_cast<pid_t>(call(getpid_call)); }
uid_t geteuid() noexcept { return static_cast<uid_t>(call(geteuid_call)); }

int kill(pid_t process, int signal) noexcept { return static_cast<int>(checked(call(kill_call, process, signal))); }
int poll(pollfd* files, nfds_t count, int milliseconds) {
  return static_cast<int>(checked(call(poll_call, number(files), static_cast<long>(count), milliseconds)));
}
int pipe2(int* ends, int flags) noexcept { return static_cast<int>(checked(call(pipe2_call, number(ends), flags))); }
int pipe(int* ends) noexcept { return static_cast<int>(checked(call(pipe_call, number(ends)))); }
pid_t waitpid(pid_t process, int* status, int how) {
  return static_cast<pid_t>(checked(call(wait4_call, process, number(status), how)));
}

long tipstaff_read_folder(int folder, void* to, std::size_t bytes) noexcept {
  return call(getdents64_call, folder, number(to), static_cast<long>(bytes));
}

char* getenv(const char* name) noexcept {
  const std::size_t size = memory::length(name);
  for (char** one = environment; *one != nullptr; ++one) {
    std::size_t same = 0;
    while (same < size && (*one)[same] == name[same]) ++same;
    if (same == size && (*one)[size] == '=') return *one + size + 1;
  }
  return nullptr;
}

}  // extern "C"
