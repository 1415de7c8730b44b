// The process that judges, apart from the one that the host waits for.
//
// A file system that does not answer (a network mount, FUSE) holds whoever asks it, and no signal ends that, not even
// SIGKILL. So the program touches no file itself: a second process reads the files and judges, and hands its answer over
// by a pipe. Where none comes in time the first one answers, and leaves the other to the system.
#pragma once

#include <fcntl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tipstaff/hook/state.hpp"

extern "C" {
// Starts a process that does the work and ends; returns its number, or -1 where that cannot be. `stack_end` is where its
// stack ends, null where it continues with that of its parent. Instead of fork() it may share this process's memory.
pid_t tipstaff_start_worker(void (*work)(const void* stack_end)) noexcept;
// Returns memory that both see: `own`, where all memory is shared, else a copy of it; null where there is none.
void* tipstaff_seen_by_both(void* own, std::size_t bytes) noexcept;
}

namespace tipstaff::hook::worker {

// What goes through the pipe: this, what goes to standard error, the reply.
struct Head {
  std::uint32_t status = 0, error_bytes = 0;
  std::uint64_t reply_bytes = 0;
};

inline bool hand_over(int pipe, int status, std::string_view error, std::string_view reply) noexcept {
  Head head;
  head.status = static_cast<std::uint32_t>(status);
  head.error_bytes = static_cast<std::uint32_t>(error.size());
  head.reply_bytes = reply.size();
  char small[sizeof head + 2048];  // most answers in one write
  std::memcpy(small, &head, sizeof head);
  if (error.size() + reply.size() > sizeof small - sizeof head)
    return write_whole(pipe, {small, sizeof head}) && write_whole(pipe, error) && write_whole(pipe, reply);
  if (!error.empty()) std::memcpy(small + sizeof head, error.data(), error.size());
  if (!reply.empty()) std::memcpy(small + sizeof head + error.size(), reply.data(), reply.size());
  return write_whole(pipe, {small, sizeof head + error.size() + reply.size()});
}

inline ssize_t read_some(int pipe, char* to, std::size_t room) noexcept {
  for (;;) {
    const ssize_t got = ::read(pipe, to, room);
    if (got >= 0 || errno != EINTR) return got;
  }
}

// Passes the worker's answer on to the host; false where it ended without one. `answered` is called once the answer has
// begun to come (nothing of it waits for files then), `done` when all of it is out.
template <class Answered, class Done>
bool pass_on(int pipe, Head* head, Answered answered, Done done) noexcept {
  char memory[16384];
  std::size_t used = 0;
  while (used < sizeof *head) {
    const ssize_t got = read_some(pipe, memory + used, sizeof memory - used);
    if (got <= 0) return false;
    used += static_cast<std::size_t>(got);
  }
  answered();
  std::memcpy(head, memory, sizeof *head);
  std::uint64_t error = head->error_bytes, reply = head->reply_bytes;
  std::string_view part(memory + sizeof *head, used - sizeof *head);
  for (;;) {
    const std::string_view of_error = part.substr(0, error);
    part.remove_prefix(of_error.size());
    write_whole(STDERR_FILENO, of_error);
    write_whole(STDOUT_FILENO, part);
    error -= of_error.size();
    reply -= part.size() < reply ? part.size() : reply;
    if (error + reply == 0) break;
    const ssize_t got = read_some(pipe, memory, sizeof memory);
    if (got <= 0) break;
    part = {memory, static_cast<std::size_t>(got)};
  }
  done();
  return true;
}

// How long a process has been ready to run while others had the processors, 0 where the system does not say. For signal
// handlers: a process that a mount holds is not ready, and nothing here waits for it.
inline std::uint64_t queued_ns(pid_t process) noexcept {
  char text[64] = "/proc/";
  char digits[20];
  int count = 0;
  for (auto left = static_cast<std::uint32_t>(process); left > 0; left /= 10) digits[count++] = static_cast<char>('0' + left % 10);
  char* at = text + 6;
  while (count > 0) *at++ = digits[--count];
  std::memcpy(at, "/schedstat", 11);
  const int file = ::open(text, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  const ssize_t got = read_some(file, text, sizeof text);
  ::close(file);
  // Nanoseconds on a processor, nanoseconds ready, slices.
  std::uint64_t ready = 0;
  int field = 0;
  for (ssize_t i = 0; i < got && field < 2; ++i) {
    if (text[i] == ' ') ++field;
    else if (field == 1 && text[i] >= '0' && text[i] <= '9') ready = ready * 10 + static_cast<unsigned>(text[i] - '0');
  }
  return ready;
}

// Waits until the worker has written down what it has to, and is gone.
inline void await_end(int pipe, pid_t process) noexcept {
  char byte;
  while (read_some(pipe, &byte, 1) > 0) {
  }
  int status;
  ::waitpid(process, &status, 0);
}

}  // namespace tipstaff::hook::worker
