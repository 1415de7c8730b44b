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

// Calls `visit(path, seconds)` for the files of a folder of the state, and returns how many there are.
template <class Visit>
std::uint32_t each_file(const Path& state, std::string_view name, Visit visit) noexcept {
  Path folder = state;
  if (!folder.add("/").add(name).ok()) return 0;
  const int file = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return 0;
  alignas(8) char memory[32768];
  std::uint32_t seen = 0, files = 0;
  for (long got; seen < kMost && (got = tipstaff_read_folder(file, memory, sizeof memory)) > 0;) {
    for (long at = 0; at + static_cast<long>(kNameAt) < got;) {
      Entry entry;
      std::memcpy(&entry, memory + at, kNameAt);
      if (entry.bytes <= kNameAt || at + entry.bytes > got) break;
      Path path = folder;
      path.add("/").add(memory + at + kNameAt);
      struct stat about;
      ++seen;
      if (path.ok() && ::stat(path.c_str(), &about) == 0 && S_ISREG(about.st_mode)) {
        ++files;
        visit(path, static_cast<std::uint64_t>(about.st_mtime));
      }
      at += entry.bytes;
    }
  }
  ::close(file);
  return files;
}

inline void prune_folder(const Path& state, std::string_view name, std::uint64_t now_s) noexcept {
  each_file(state, name, [now_s](const Path& path, std::uint64_t written_s) noexcept {
    if (written_s + kKeptS < now_s) ::unlink(path.c_str());
  });
}

// Takes the oldest file away where there are more than `most`: whoever adds one at a time keeps no more.
inline void keep_newest(const Path& state, std::string_view name, std::uint32_t most) noexcept {
  Path oldest;
  std::uint64_t since = ~std::uint64_t{0};
  const std::uint32_t files = each_file(state, name, [&](const Path& path, std::uint64_t written_s) noexcept {
    if (written_s >= since) return;
    since = written_s;
    oldest = path;
  });
  if (files > most && oldest.ok()) ::unlink(oldest.c_str());
}

inline void prune(const Path& state, std::uint64_t now_s) noexcept {
  if (!state.ok()) return;
  for (const std::string_view name : {"pending", "approvals", "used", "runs"}) prune_folder(state, name, now_s);
}

}  // namespace tipstaff::hook::pruning
