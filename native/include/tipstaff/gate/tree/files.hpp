// Reads the files that a command names, for Surroundings: regular files only, never waiting, never more than asked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/surroundings.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#endif

namespace tipstaff::gate::files {

#if defined(__unix__) || defined(__APPLE__)

inline bool terminated(std::string_view path, char* out, std::size_t capacity) noexcept {
  if (path.empty() || path.size() >= capacity || path.find('\0') != std::string_view::npos) return false;
  std::memcpy(out, path.data(), path.size());
  out[path.size()] = 0;
  return true;
}

inline long long read(void*, std::string_view path, char* out, std::size_t capacity) noexcept {
  char name[4097];
  if (!terminated(path, name, sizeof name)) return -1;
  const int file = ::open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG ? -1 : -2;
  struct stat about;
  if (::fstat(file, &about) != 0 || !S_ISREG(about.st_mode)) {
    const bool folder = S_ISDIR(about.st_mode);
    ::close(file);
    return folder ? -1 : -2;
  }
  std::size_t used = 0;
  while (used < capacity) {
    const ssize_t got = ::read(file, out + used, capacity - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      ::close(file);
      return -2;
    }
    if (got == 0) break;
    used += static_cast<std::size_t>(got);
  }
  ::close(file);
  return static_cast<long long>(about.st_size) > static_cast<long long>(used) ? static_cast<long long>(about.st_size)
                                                                              : static_cast<long long>(used);
}

inline std::size_t real_path(void*, std::string_view path, char* out, std::size_t capacity) noexcept {
  char name[4097], resolved[PATH_MAX];
  if (!terminated(path, name, sizeof name) || ::realpath(name, resolved) == nullptr) return 0;
  const std::size_t length = std::strlen(resolved);
  if (length > capacity) return 0;
  std::memcpy(out, resolved, length);
  return length;
}

inline bool is_read_only(std::string_view path) noexcept {
  char name[4097], real[4097];
  return terminated(path, name, sizeof name) && real_path(nullptr, path, real, sizeof real) == path.size() &&
         std::memcmp(real, name, path.size()) == 0 && ::access(name, W_OK) != 0 && errno == EROFS;
}

inline void open(Surroundings* surroundings) noexcept {
  surroundings->read_file = read;
  surroundings->is_read_only = is_read_only;
  surroundings->real_path = real_path;
}

#else

inline void open(Surroundings*) noexcept {}

#endif

}  // namespace tipstaff::gate::files
