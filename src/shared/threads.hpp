// Work that is shared by several threads, each with a stack of a stated size.
#ifndef TIPSTAFF_THREADS_HPP
#define TIPSTAFF_THREADS_HPP

#include <pthread.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <vector>

namespace tipstaff {

// What the deepest text that the readers follow takes, twice.
inline constexpr std::size_t thread_stack_bytes = std::size_t{2} << 20;

// Where this thread's stack ends, null where nobody says. Asked once a thread.
inline const void* own_stack_end() noexcept {
  struct Stack {
    const void* end = nullptr;
    Stack() noexcept {
#if defined(__APPLE__)
      const auto* top = static_cast<const char*>(pthread_get_stackaddr_np(pthread_self()));
      end = top - pthread_get_stacksize_np(pthread_self());
#elif defined(__linux__)
      pthread_attr_t attributes;
      if (pthread_getattr_np(pthread_self(), &attributes) != 0) return;
      void* lowest = nullptr;
      std::size_t bytes = 0;
      if (pthread_attr_getstack(&attributes, &lowest, &bytes) == 0) end = lowest;
      pthread_attr_destroy(&attributes);
#endif
    }
  };
  thread_local const Stack stack;
  return stack.end;
}

// Calls `work` on up to `count` threads, this one among them, and waits for all. `work` takes its share from what all of
// them share, so that fewer threads do the same: where the system has no more of them, those that started continue. What one
// of them throws is thrown here, once all are done.
template <class Work>
void run_on_threads(std::size_t count, const Work& work) {
  struct Shared {
    const Work& work;
    std::atomic<bool> failed{false};
    std::exception_ptr error;

    void run() noexcept {
      try {
        work();
      } catch (...) {
        if (!failed.exchange(true)) error = std::current_exception();
      }
    }
  };
  Shared shared{work};
  std::vector<pthread_t> others;
  if (count > 1) others.reserve(count - 1);
  pthread_attr_t attributes;
  if (count > 1 && pthread_attr_init(&attributes) == 0) {
    pthread_attr_setstacksize(&attributes, thread_stack_bytes);
    for (std::size_t i = 1; i < count; ++i) {
      pthread_t thread;
      const auto start = [](void* self) -> void* {
        static_cast<Shared*>(self)->run();
        return nullptr;
      };
      if (pthread_create(&thread, &attributes, start, &shared) != 0) break;
      others.push_back(thread);
    }
    pthread_attr_destroy(&attributes);
  }
  shared.run();
  for (const pthread_t thread : others) pthread_join(thread, nullptr);
  if (shared.failed) std::rethrow_exception(shared.error);
}

}  // namespace tipstaff

#endif
