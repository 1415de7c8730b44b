// Takes away what is in the state folder and is of no use any more: calls that nobody answered, runs that ended, marks of
// answers that have expired.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "tipstaff/hook/state.hpp"

extern "C" {
// Fills memory with the next entries of an open folder, as Linux's getdents64 does; 0 at the end, or where it cannot be.
long tipstaff_read_folder(int folder, void* to, std::size_t bytes) noexcept;
}

namespace tipstaff::hook::pruning {

constexpr std::uint64_t kKeptS = 7 * 24 * 3600;  // an answer counts for a day at most
constexpr std::uint32_t kMost = 2000;            // files looked at in one folder: the next session continues

// An entry as the kernel writes it; its name follows.
struct Entry {
  std::uint64_t inode;
  std::int64_t next;
  std::uint16_t bytes;
  std::uint8_t type;
};
constexpr std::size_t kNameAt = 19;

inline void prune_folder(const Path& state, std::string_view name, std::uint64_t now_s) noexcept {
  Path folder = state;
  if (!folder.add("/").add(name).ok()) return;
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return;
  alignas(8) char memory[32768];
  std::uint32_t seen = 0;
  for (long got; seen < kMost && (got = tipstaff_read_folder(file, memory, sizeof memory)) > 0;) {
    for (long at = 0; at + static_cast<long>(kNameAt) < got;) {
      Entry entry;
      std::memcpy(&entry, memory + at, kNameAt);
      if (entry.bytes <= kNameAt || at + entry.bytes > got) break;
      Path path = folder;
      path.add("/").add(memory + at + kNameAt);
      struct stat about;
      ++seen;
      if (path.ok() && ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode) &&
          static_cast<std::uint64_t>(about.st_mtime) + kKeptS < now_s)
        ::unlink(path.c_str());
      at += entry.bytes;
    }
  }
  ::close(file);
}

inline void prune(const Path& state, std::uint64_t now_s) noexcept {
  if (!state.ok()) return;
  for (const std::string_view name : {"pending", "approvals", "used", "runs"}) prune_folder(state, name, now_s);
}

}  // namespace tipstaff::hook::pruning
