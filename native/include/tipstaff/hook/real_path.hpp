// realpath() of POSIX over the few system calls that it needs, for a program without a C library.
#ifndef TIPSTAFF_HOOK_REAL_PATH_HPP
#define TIPSTAFF_HOOK_REAL_PATH_HPP

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>

namespace tipstaff::hook {

// A path without links, `.` and `..`, of which every part exists. Bounded memory, at most 40 links.
//
// `System` has
//   long read_link(const char* path, char* to, std::size_t size)   bytes, or an error below 0
//   bool is_folder(const char* path)
//   bool working_folder(char* to, std::size_t size)                ended by 0
template <class System>
class RealPath {
 public:
  explicit RealPath(System system) noexcept : system_(system) {}

  // 0, or an error of errno.h. `to` takes PATH_MAX bytes.
  int find(const char* path, char* to) noexcept {
    const std::size_t bytes = std::strlen(path);
    if (bytes == 0) return ENOENT;
    if (bytes >= PATH_MAX) return ENAMETOOLONG;
    std::memcpy(rest_, path, bytes + 1);
    to_ = to;
    to_[0] = '/';
    size_ = 1;
    if (path[0] != '/') {
      if (!system_.working_folder(to_, PATH_MAX)) return ENOENT;
      size_ = std::strlen(to_);
    }
    to_[size_] = 0;
    bool as_folder = false;
    int links = 0;
    for (std::size_t at = 0;;) {
      while (rest_[at] == '/') ++at;
      const char* const name = rest_ + at;
      while (rest_[at] != 0 && rest_[at] != '/') ++at;
      const auto size = static_cast<std::size_t>(rest_ + at - name);
      if (size == 0) break;
      as_folder = rest_[at] == '/';
      const bool here = size == 1 && name[0] == '.';
      const bool above = size == 2 && name[0] == '.' && name[1] == '.';
      if (here || above) {
        if (!system_.is_folder(to_)) return ENOTDIR;
        if (above) leave();
        continue;
      }
      const std::size_t parent = size_;
      if (!enter(name, size)) return ENAMETOOLONG;
      const long got = system_.read_link(to_, target_, sizeof target_);
      if (got == -EINVAL) continue;  // it exists, and is no link
      if (got < 0) return static_cast<int>(-got);
      const auto length = static_cast<std::size_t>(got);
      const std::size_t left = std::strlen(rest_ + at) + 1;
      if (++links > kMostLinks) return ELOOP;
      if (length + left > PATH_MAX) return ENAMETOOLONG;
      std::memmove(rest_ + length, rest_ + at, left);
      std::memcpy(rest_, target_, length);
      at = 0;
      size_ = length != 0 && target_[0] == '/' ? 1 : parent;
      to_[size_] = 0;
    }
    return as_folder && !system_.is_folder(to_) ? ENOTDIR : 0;
  }

 private:
  static constexpr int kMostLinks = 40;

  void leave() noexcept {
    while (size_ > 1 && to_[size_ - 1] != '/') --size_;
    if (size_ > 1) --size_;
    to_[size_] = 0;
  }

  bool enter(const char* name, std::size_t bytes) noexcept {
    const std::size_t apart = size_ > 1 ? 1 : 0;
    if (size_ + apart + bytes >= PATH_MAX) return false;
    if (apart != 0) to_[size_++] = '/';
    std::memcpy(to_ + size_, name, bytes);
    size_ += bytes;
    to_[size_] = 0;
    return true;
  }

  System system_;
  char* to_ = nullptr;  // what is resolved
  std::size_t size_ = 0;
  char rest_[PATH_MAX];
  char target_[PATH_MAX];
};

}  // namespace tipstaff::hook

#endif
