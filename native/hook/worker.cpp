// What the hook asks of a system, where there is a C library: a worker (a fork), the entries of a folder.
#include "tipstaff/hook/worker.hpp"

#include <sys/mman.h>
#if defined(__linux__)
#include <sys/syscall.h>
#endif

#include "tipstaff/hook/pruning.hpp"

extern "C" {

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

long tipstaff_read_folder(int folder, void* to, std::size_t bytes) noexcept {
#if defined(__linux__)
  return ::syscall(SYS_getdents64, folder, to, bytes);
#else
  (void)folder, (void)to, (void)bytes;
  return 0;
#endif
}

}  // extern "C"
