// What symbolic links lead to, kept for one judgement: the words of a command share their folders, and rules ask again.
#ifndef TIPSTAFF_REAL_PATHS_HPP
#define TIPSTAFF_REAL_PATHS_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tipstaff/gate/tree/files.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <cerrno>
#include <unistd.h>
#endif

namespace tipstaff::gate {

// The folders on the way to the gate's own state and program, as they were met within the last second: every judgement
// that looks at them asks for the same ones. Who changes a link there must move a folder that holds them, which is itself
// judged; a folder that is not there is asked about again.
class OwnFolders {
 public:
  static constexpr std::size_t kBytes = 255;

  // Forgets what is older than that. Once for a judgement.
  void begin() noexcept {
    const Clock::time_point now = Clock::now();
    if (now - since_ < std::chrono::seconds(1)) return;
    since_ = now;
    count_ = 0;
  }
  // What a folder on the way leads to; empty where that is not known.
  std::string_view find(std::string_view path) const noexcept {
    for (std::uint32_t i = 0; i < count_; ++i)
      if (path == std::string_view(entries_[i].path, entries_[i].path_bytes)) return {entries_[i].real, entries_[i].real_bytes};
    return {};
  }
  void note(std::string_view path, std::string_view real) noexcept {
    if (count_ == kEntries || real.empty()) return;
    Entry& entry = entries_[count_++];
    entry.path_bytes = static_cast<std::uint8_t>(path.size());
    entry.real_bytes = static_cast<std::uint8_t>(real.size());
    std::memcpy(entry.path, path.data(), path.size());
    std::memcpy(entry.real, real.data(), real.size());
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint32_t kEntries = 24;
  struct Entry {
    std::uint8_t path_bytes, real_bytes;
    char path[kBytes], real[kBytes];
  };

  Entry entries_[kEntries];  // the first `count_` are written
  std::uint32_t count_ = 0;
  Clock::time_point since_{};
};

// Each folder on the way is asked about once: one system call for a part of a path that no earlier path had. A judgement
// takes milliseconds at most; what changes on the disk meanwhile could as well change before its command runs.
class RealPaths {
 public:
  explicit RealPaths(OwnFolders& own) noexcept : own_(own) {}

  // Lets `around` ask here. It must not outlive this object.
  void serve(Surroundings* around) noexcept {
#if defined(__unix__) || defined(__APPLE__)
    if (around->real_path == nullptr) return;
    asked_ = *around;
    around->real_path = find;
    if (around->read_file != nullptr) around->read_file = read;
    around->self = this;
#else
    (void)around;
#endif
  }

 private:
  static constexpr std::size_t kBytes = OwnFolders::kBytes;  // of a path; longer ones are resolved as a whole
  static constexpr std::uint32_t kEntries = 16;
  struct Entry {
    std::uint8_t path_bytes, real_bytes;  // no real bytes: there is nothing
    char path[kBytes], real[kBytes];
  };

#if defined(__unix__) || defined(__APPLE__)
  static std::size_t find(void* self, std::string_view path, char* out, std::size_t capacity) noexcept {
    RealPaths& known = *static_cast<RealPaths*>(self);
    const auto whole = [&]() noexcept { return known.asked_.real_path(known.asked_.self, path, out, capacity); };
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
      } else if (const std::string_view own = known.own(prefix); !own.empty()) {
        size = own.size();
        std::memcpy(real, own.data(), size);
      } else {
        if (size + (end - start) > kBytes) return whole();
        std::memcpy(real + size, path.data() + start, end - start);
        size += end - start;
        real[size] = 0;
        char link;
        if (::readlink(real, &link, 1) >= 0)
          size = known.asked_.real_path(known.asked_.self, prefix, real, kBytes);
        else if (errno != EINVAL)  // EINVAL: it is there, and not a link
          size = 0;
        if (size != 0 && known.is_own(prefix)) known.own_.note(prefix, {real, size});
        else known.note(prefix, {real, size});
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

  // On the way to the gate's own folders.
  bool is_own(std::string_view path) const noexcept {
    for (const std::string_view place : {asked_.state, asked_.program})
      if (place.size() >= path.size() && place.substr(0, path.size()) == path && (place.size() == path.size() || place[path.size()] == '/')) return true;
    return false;
  }
  std::string_view own(std::string_view path) noexcept {
    if (!is_own(path)) return {};
    if (!began_) own_.begin();
    began_ = true;
    return own_.find(path);
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

  static long long read(void* self, std::string_view path, char* out, std::size_t capacity) noexcept {
    const RealPaths& known = *static_cast<RealPaths*>(self);
    return known.asked_.read_file(known.asked_.self, path, out, capacity);
  }
#endif

  Entry entries_[kEntries];  // the first `count_` are written
  std::uint32_t count_ = 0;
  OwnFolders& own_;
  bool began_ = false;
  Surroundings asked_;
};

}  // namespace tipstaff::gate

#endif
