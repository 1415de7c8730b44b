// What the hook asks of a system, where there is a C library: a worker (a fork), the entries of a folder.
#include "tipstaff/hook/worker.hpp"

#include <sys/mman.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include "tipstaff/hook/compiling.hpp"
#include "tipstaff/hook/pruning.hpp"
#include "tipstaff/undo/git.hpp"

extern "C" {

extern char** environ;

pid_t tipstaff_start_worker(void (*work)(const void* stack_end)) noexcept {
  const pid_t process = ::fork();
  if (process != 0) return process;
  work(nullptr);
  ::_exit(0);
}

void* tipstaff_seen_by_both(void* own, std::size_t bytes) noexcept {
  void* shared = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) return nullptr;
  std::memcpy(shared, own, bytes);
  return shared;
}

void tipstaff_start_apart(const char* const* arguments) noexcept {
  if (::fork() != 0) return;
  ::setsid();
  for (int file = 0; file < 64; ++file) ::close(file);
  for (int file = 0; file < 3; ++file) ::open("/dev/null", O_RDWR);
  ::execve(arguments[0], const_cast<char* const*>(arguments), environ);
  ::_exit(127);
}

const char* const* tipstaff_environment() noexcept { return environ; }

long tipstaff_spawn(const char* path, const char* const* arguments, const char* const* variables, int input, int output) noexcept {
  const pid_t process = ::fork();
  if (process != 0) return process;
  ::dup2(input, 0);
  ::dup2(output, 1);
  ::close(2);
  ::open("/dev/null", O_RDWR);
  ::execve(path, const_cast<char* const*>(arguments), const_cast<char* const*>(variables));
  ::_exit(127);
}

long tipstaff_read_folder(int folder, void* to, std::size_t bytes) noexcept {
#if defined(__linux__)
  return ::syscall(SYS_getdents64, folder, to, bytes);
#else
  (void)folder, (void)to, (void)bytes;
  return 0;
#endif
}

}  // extern "C"
