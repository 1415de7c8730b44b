// What the hook keeps outside every repository, owner-only: the compiled policy, approvals, the state of runs, the spool.
//
//   STATE/policy/<16 hex>.policy   one for each repository, by the hash of its root
//   STATE/key                      32 random bytes that approvals are signed with
//   STATE/pending/<CODE>           calls that wait for a person
//   STATE/approvals/<CODE>         calls that a person allowed, once
//   STATE/runs/<16 hex>.flow       what the calls of one session did so far
//   STATE/spool.jsonl              one line for each call
//
// STATE is $TIPSTAFF_STATE, else $XDG_STATE_HOME/tipstaff, else $HOME/.local/state/tipstaff.
#pragma once

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "tipstaff/hook/json.hpp"

namespace tipstaff::hook {

constexpr std::size_t kPathBytes = 4096;

inline std::uint64_t fnv64(std::string_view text) noexcept {
  std::uint64_t sum = 0xcbf29ce484222325u;
  for (char letter : text) sum = (sum ^ static_cast<unsigned char>(letter)) * 0x100000001b3u;
  return sum;
}

// A path that is built in place, with its closing zero.
class Path {
 public:
  Path() noexcept { text_[0] = 0; }
  Path& add(std::string_view part) noexcept {
    if (part.size() >= sizeof text_ - size_ || part.find('\0') != std::string_view::npos) {
      whole_ = false;
      return *this;
    }
    std::memcpy(text_ + size_, part.data(), part.size());
    size_ += part.size();
    text_[size_] = 0;
    return *this;
  }
  Path& hex(std::uint64_t value) noexcept {
    char digits[16];
    Writer(digits, sizeof digits).hex(value);
    return add({digits, sizeof digits});
  }
  void cut(std::size_t size) noexcept {
    size_ = size;
    text_[size_] = 0;
  }
  const char* c_str() const noexcept { return text_; }
  std::string_view view() const noexcept { return {text_, size_}; }
  std::size_t size() const noexcept { return size_; }
  bool ok() const noexcept { return whole_ && size_ != 0; }

 private:
  char text_[kPathBytes];
  std::size_t size_ = 0;
  bool whole_ = true;
};

inline std::string_view environment(const char* name) noexcept {
  const char* value = std::getenv(name);
  return value != nullptr ? std::string_view(value) : std::string_view{};
}

inline Path state_folder() noexcept {
  Path path;
  if (const std::string_view own = environment("TIPSTAFF_STATE"); !own.empty() && own[0] == '/') return path.add(own);
  if (const std::string_view base = environment("XDG_STATE_HOME"); !base.empty() && base[0] == '/')
    return path.add(base).add("/tipstaff");
  if (const std::string_view home = environment("HOME"); !home.empty() && home[0] == '/')
    return path.add(home).add("/.local/state/tipstaff");
  return path;
}

// Makes a folder and those above it, for the owner alone.
inline bool make_folders(const char* path) noexcept {
  char part[kPathBytes];
  const std::size_t bytes = std::strlen(path);
  if (bytes == 0 || bytes >= sizeof part) return false;
  std::memcpy(part, path, bytes + 1);
  for (std::size_t i = 1; i <= bytes; ++i) {
    if (part[i] != '/' && part[i] != 0) continue;
    const char kept = part[i];
    part[i] = 0;
    if (::mkdir(part, 0700) != 0 && errno != EEXIST) return false;
    part[i] = kept;
  }
  return true;
}

// Returns the root of the repository that holds a folder: the nearest one with a .git, else empty.
inline std::string_view repository_of(std::string_view folder) noexcept {
  char path[kPathBytes];
  if (folder.empty() || folder[0] != '/' || folder.size() + 6 > sizeof path) return {};
  std::memcpy(path, folder.data(), folder.size());
  std::size_t size = folder.size();
  while (size > 1 && path[size - 1] == '/') --size;
  while (size > 1) {
    std::memcpy(path + size, "/.git", 6);
    if (::access(path, F_OK) == 0) return folder.substr(0, size);
    while (size > 1 && path[size - 1] != '/') --size;
    while (size > 1 && path[size - 1] == '/') --size;
  }
  return {};
}

// -- files ------------------------------------------------------------------------------------------------------------

// Opens a file below the state folder for writing, making its folder where it is missing; -1 where that fails.
inline int open_state(const Path& path, int flags) noexcept {
  if (!path.ok()) return -1;
  flags |= O_CLOEXEC | O_NOFOLLOW | O_NOCTTY | O_NONBLOCK;
  int file = ::open(path.c_str(), flags, 0600);
  if (file < 0 && errno == ENOENT && (flags & O_CREAT) != 0) {
    Path folder = path;
    folder.cut(path.view().rfind('/'));
    if (make_folders(folder.c_str())) file = ::open(path.c_str(), flags, 0600);
  }
  return file;
}

inline bool write_whole(int file, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t put = ::write(file, text.data(), text.size());
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

// Appends one line in one write to a file opened for appending, so that lines of many processes never mix. Of a line
// that is cut short (a full disk) the rest is given up, and its last byte becomes the line's end: there is no room for one
// more, and the next line must not go on where this one stops. What a writer that was killed, or a machine that stopped,
// left without an end is ended first; where two do that at once, an empty line is between theirs.
inline bool append_line(const Path& path, std::string_view line) noexcept {
  const int file = open_state(path, O_RDWR | O_APPEND | O_CREAT);
  if (file < 0) return false;
  struct stat about;
  bool done = ::fstat(file, &about) == 0 && S_ISREG(about.st_mode);
  char last = '\n';
  if (done && about.st_size > 0 && ::pread(file, &last, 1, about.st_size - 1) == 1 && last != '\n') {
    // While another process writes a line over two pages, its size grows in steps: that one is not torn.
    struct stat now;
    const bool torn = ::fstat(file, &now) == 0 && now.st_size == about.st_size;
    if (torn) done = ::write(file, "\n", 1) == 1;
  }
  if (done) {
    ssize_t put;
    do {
      put = ::write(file, line.data(), line.size());
    } while (put < 0 && errno == EINTR);
    done = put == static_cast<ssize_t>(line.size());
    const off_t end = !done && put > 0 ? ::lseek(file, 0, SEEK_CUR) : 0;
    const int again = end > 0 ? open_state(path, O_WRONLY) : -1;  // pwrite appends to what is open for appending
    if (again >= 0) {
      if (::pwrite(again, "\n", 1, end - 1) != 1) done = false;
      ::close(again);
    }
  }
  ::close(file);
  return done;
}

// Reads a small file of the owner's; returns its bytes, or -1 where it is missing, longer, or open to others.
inline long read_private(const Path& path, char* out, std::size_t capacity) noexcept {
  if (!path.ok()) return -1;
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return -1;
  struct stat about;
  long used = -1;
  if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_uid == ::geteuid() && (about.st_mode & 077) == 0 &&
      about.st_size >= 0 && static_cast<std::size_t>(about.st_size) <= capacity) {
    used = 0;
    while (static_cast<std::size_t>(used) < capacity) {
      const ssize_t got = ::read(file, out + used, capacity - static_cast<std::size_t>(used));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) break;
      used += got;
    }
  }
  ::close(file);
  return used;
}

}  // namespace tipstaff::hook
