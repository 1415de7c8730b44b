// What symbolic links lead to, kept for one judgement: the words of a command share their folders, and rules ask again.
#ifndef TIPSTAFF_REAL_PATHS_HPP
#define TIPSTAFF_REAL_PATHS_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tipstaff/gate/paths/own_paths.hpp"
#include "tipstaff/gate/tree/files.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <cerrno>
#include <unistd.h>
#endif

namespace tipstaff::gate {

// The gate's own places, as one thread found them within the last second.
class KeptOwnPaths {
 public:
  OwnPaths& fresh() noexcept {
    const Clock::time_point now = Clock::now();
    if (now - since_ >= std::chrono::seconds(1)) {
      since_ = now;
      paths_.forget();
    }
    return paths_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  OwnPaths paths_;
  Clock::time_point since_{};
};

// Each folder on the way is asked about once: one system call for a part of a path that no earlier path had. A judgement
// takes milliseconds at most; what changes on the disk meanwhile could as well change before its command runs.
class RealPaths {
 public:
  explicit RealPaths(KeptOwnPaths& own) noexcept : own_(own) {}

  // Lets `around` ask here. It must not outlive this object.
  void serve(Surroundings* around) noexcept {
#if defined(__unix__) || defined(__APPLE__)
    self_ = around->self;
    real_path_ = around->real_path;
    read_file_ = around->read_file;
    around->own_paths = own_paths;
    around->self = this;
    if (around->real_path == nullptr) return;
    around->real_path = find;
    if (around->read_file != nullptr) around->read_file = read;
#else
    (void)around;
#endif
  }

 private:
  static constexpr std::size_t kBytes = 255;  // of a path; longer ones are resolved as a whole
  static constexpr std::uint32_t kEntries = 16;
  struct Entry {
    std::uint8_t path_bytes, real_bytes;  // no real bytes: there is nothing
    char path[kBytes], real[kBytes];
  };

#if defined(__unix__) || defined(__APPLE__)
  static std::size_t find(void* self, std::string_view path, char* out, std::size_t capacity) noexcept {
    RealPaths& known = *static_cast<RealPaths*>(self);
    const auto whole = [&]() noexcept { return known.real_path_(known.self_, path, out, capacity); };
    if (path.size() > kBytes || !is_plain(path)) return whole();
    char real[kBytes + 1];
    std::size_t size = 0;
    for (std::size_t start = 0; start < path.size();) {
      std::size_t end = path.find('/', start + 1);
      if (end == std::string_view::npos) end = path.size();
      const std::string_view prefix = path.substr(0, end);
      if (const Entry* entry = known.entry(prefix); entry != nullptr) {
        size = entry->real_bytes;
        std::memcpy(real, entry->real, size);
      } else {
        if (size + (end - start) > kBytes) return whole();
        std::memcpy(real + size, path.data() + start, end - start);
        size += end - start;
        real[size] = 0;
        char link;
        if (::readlink(real, &link, 1) >= 0)
          size = known.real_path_(known.self_, prefix, real, kBytes);
        else if (errno != EINVAL)  // EINVAL: it is there, and not a link
          size = 0;
        known.note(prefix, {real, size});
      }
      if (size == 0) return 0;
      start = end;
    }
    if (size > capacity) return 0;
    std::memcpy(out, real, size);
    return size;
  }

  // Absolute, without empty parts and without those that are dots.
  static bool is_plain(std::string_view path) noexcept {
    if (path.size() < 2 || path[0] != '/' || path.back() == '/' || path.find('\0') != std::string_view::npos) return false;
    for (std::size_t at = 0; at != std::string_view::npos; at = path.find('/', at + 1)) {
      const std::string_view rest = path.substr(at + 1);
      const std::string_view part = rest.substr(0, rest.find('/'));
      if (part.empty() || part == "." || part == "..") return false;
    }
    return true;
  }

  const Entry* entry(std::string_view path) const noexcept {
    const std::uint32_t held = count_ < kEntries ? count_ : kEntries;
    for (std::uint32_t i = 0; i < held; ++i)
      if (path == std::string_view(entries_[i].path, entries_[i].path_bytes)) return &entries_[i];
    return nullptr;
  }
  void note(std::string_view path, std::string_view real) noexcept {
    Entry& entry = entries_[count_++ % kEntries];
    entry.path_bytes = static_cast<std::uint8_t>(path.size());
    entry.real_bytes = static_cast<std::uint8_t>(real.size());
    std::memcpy(entry.path, path.data(), path.size());
    std::memcpy(entry.real, real.data(), real.size());
  }

  static OwnPaths* own_paths(void* self) noexcept { return &static_cast<RealPaths*>(self)->own_.fresh(); }
  static long long read(void* self, std::string_view path, char* out, std::size_t capacity) noexcept {
    const RealPaths& known = *static_cast<RealPaths*>(self);
    return known.read_file_(known.self_, path, out, capacity);
  }
#endif

  Entry entries_[kEntries];  // the first `count_` are written
  std::uint32_t count_ = 0;
  KeptOwnPaths& own_;
  // Who is asked.
  void* self_ = nullptr;
  decltype(Surroundings::real_path) real_path_ = nullptr;
  decltype(Surroundings::read_file) read_file_ = nullptr;
};

}  // namespace tipstaff::gate

#endif
