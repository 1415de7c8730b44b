// What the calls of one session did, kept between them.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "tipstaff/gate/flow.hpp"
#include "tipstaff/hook/event.hpp"
#include "tipstaff/hook/state.hpp"

namespace tipstaff::hook::judging {

// What the calls of one session did so far, in a file that one call at a time may hold.
class Run {
 public:
  gate::FlowState flow;

  void open(const Path& state, const HookEvent& event) noexcept {
    if (event.session.empty() || !state.ok()) return;
    Path path = state;
    path.add("/runs/").hex(fnv64(event.session) ^ (fnv64(name_of(event.host)) << 1)).add(".flow");
    file_ = open_state(path, O_RDWR | O_CREAT);
    if (file_ < 0) return;
    struct stat about;
    if (::fstat(file_, &about) != 0 || !S_ISREG(about.st_mode) || about.st_uid != ::geteuid()) return close();
    lock();
    gate::FlowState kept;
    if (::pread(file_, &kept, sizeof kept, 0) == static_cast<ssize_t>(sizeof kept) && kept.valid()) {
      flow = kept;
      was_ = kept;
    }
  }

  void save() noexcept {
    if (file_ < 0) return;
    if (std::memcmp(&flow, &was_, sizeof flow) != 0) {
      const ssize_t ignored = ::pwrite(file_, &flow, sizeof flow, 0);
      (void)ignored;
    }
    close();
  }

 private:
  // Never waits for long: whoever holds the file may hang. Then two calls may write at once, and the later one stays.
  void lock() noexcept {
    for (int i = 0; i < kTries && ::flock(file_, LOCK_EX | LOCK_NB) != 0; ++i) {
      if (errno != EWOULDBLOCK && errno != EINTR) return;
      const timespec pause{0, 500'000};
      ::nanosleep(&pause, nullptr);
    }
  }

  static constexpr int kTries = 40;  // 20 ms

  void close() noexcept {
    ::close(file_);
    file_ = -1;
  }

  int file_ = -1;
  gate::FlowState was_;
};

}  // namespace tipstaff::hook::judging
