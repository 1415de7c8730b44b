// The worker where there is a C library: a fork. Programs without one bring their own (system_linux_x86_64.cpp).
#include "tipstaff/hook/worker.hpp"

#include <sys/mman.h>

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

}  // extern "C"
