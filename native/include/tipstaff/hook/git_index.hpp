// Whether a file of a repository is as it was committed last, from git's index alone: no process is started, and no object
// is read. Layout: Documentation/gitformat-index of git, versions 2 to 4.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string_view>

#include "tipstaff/hook/state.hpp"

namespace tipstaff::hook {

enum class Kept : std::uint8_t { untracked, changed, committed };

class GitIndex {
 public:
  GitIndex() noexcept = default;
  GitIndex(const GitIndex&) = delete;
  GitIndex& operator=(const GitIndex&) = delete;
  ~GitIndex() {
    if (data_ != nullptr) ::munmap(const_cast<unsigned char*>(data_), bytes_);
  }

  // False where there is no index that can be read.
  bool open(std::string_view repository) noexcept {
    Path path;
    if (!folder_of(repository, &path) || !path.add("/index").ok()) return false;
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return false;
    struct stat about;
    void* found = MAP_FAILED;
    if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size >= 12 && about.st_size <= kLongest)
      found = ::mmap(nullptr, bytes_ = static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
    ::close(file);
    if (found == MAP_FAILED) return false;
    data_ = static_cast<const unsigned char*>(found);
    version_ = number(4);
    return std::memcmp(data_, "DIRC", 4) == 0 && version_ >= 2 && version_ <= 4;
  }

  // How the file at `path` below the repository is kept; `about` is what the system says of it now. What cannot be known
  // counts as changed.
  Kept state_of(std::string_view path, const struct stat& about) const noexcept {
    const std::uint32_t count = number(8);
    std::size_t at = 12;
    char name[kPathBytes];  // version 4 gives each name as a change of the one before
    std::size_t size = 0;
    Kept found = Kept::untracked;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (at + 62 > bytes_) return Kept::changed;
      const std::size_t entry = at;
      const std::uint32_t flags = number(at + 60) >> 16;
      at += 62 + ((flags & 0x4000) != 0 ? 2u : 0u);
      if (version_ == 4) {
        std::size_t dropped = 0;
        for (;;) {
          if (at >= bytes_) return Kept::changed;
          const unsigned char byte = data_[at++];
          dropped = dropped << 7 | (byte & 127);
          if ((byte & 128) == 0) break;
          ++dropped;
        }
        if (dropped > size) return Kept::changed;
        size -= dropped;
      } else {
        size = 0;
      }
      const void* const end = at < bytes_ ? std::memchr(data_ + at, 0, bytes_ - at) : nullptr;
      if (end == nullptr) return Kept::changed;
      const std::size_t more = static_cast<std::size_t>(static_cast<const unsigned char*>(end) - (data_ + at));
      if (size + more > sizeof name) return Kept::changed;
      std::memcpy(name + size, data_ + at, more);
      size += more;
      at = version_ == 4 ? at + more + 1 : entry + ((at + more - entry + 8) & ~std::size_t{7});
      if (std::string_view(name, size) == path) {
        const bool same = number(entry + 8) == static_cast<std::uint32_t>(written_at(about).tv_sec) &&
                          number(entry + 12) == static_cast<std::uint32_t>(written_at(about).tv_nsec) &&
                          number(entry + 36) == static_cast<std::uint32_t>(about.st_size);
        found = same && (flags & 0x3000) == 0 ? Kept::committed : Kept::changed;
      }
    }
    if (found != Kept::committed) return found;
    const std::size_t slash = path.rfind('/');
    return is_tree(at, slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash)) ? Kept::committed
                                                                                                    : Kept::changed;
  }

 private:
  static constexpr off_t kLongest = off_t{256} << 20;
  static constexpr int kDepth = 64;

  std::uint32_t number(std::size_t at) const noexcept {
    return static_cast<std::uint32_t>(data_[at]) << 24 | static_cast<std::uint32_t>(data_[at + 1]) << 16 |
           static_cast<std::uint32_t>(data_[at + 2]) << 8 | data_[at + 3];
  }

  // REPOSITORY/.git, or where the file of that name leads: a worktree or a submodule.
  static bool folder_of(std::string_view repository, Path* path) noexcept {
    if (!path->add(repository).add("/.git").ok()) return false;
    struct stat about;
    if (::stat(path->c_str(), &about) != 0) return false;
    if (S_ISDIR(about.st_mode)) return true;
    const int file = ::open(path->c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return false;
    char text[kPathBytes];
    const ssize_t got = ::read(file, text, sizeof text);
    ::close(file);
    std::string_view line(text, got > 0 ? static_cast<std::size_t>(got) : 0);
    if (line.substr(0, 8) != "gitdir: ") return false;
    line = line.substr(8, line.find_first_of("\r\n") - 8);
    path->cut(line.substr(0, 1) == "/" ? 0 : repository.size());
    if (line.substr(0, 1) != "/") path->add("/");
    return path->add(line).ok();
  }

  // Whether a folder of the index is a tree that was written: adding to it takes the mark away until the next commit.
  bool is_tree(std::size_t at, std::string_view folder) const noexcept {
    while (at + 8 <= bytes_) {
      const std::size_t size = number(at + 4);
      if (size > bytes_ - at - 8) return false;
      if (std::memcmp(data_ + at, "TREE", 4) == 0)
        return holds_tree({reinterpret_cast<const char*>(data_) + at + 8, size}, folder);
      at += 8 + size;
    }
    return false;
  }

  // The entries are in pre-order: `NAME\0COUNT SUBTREES\n`, and an object's name where the count is not negative.
  static bool holds_tree(std::string_view text, std::string_view folder) noexcept {
    std::uint32_t rest[kDepth];  // subtrees that are still to come, of each folder that is open
    bool on_way[kDepth];
    std::size_t matched[kDepth];  // bytes of `folder` that lead to it
    int depth = 0;
    while (!text.empty()) {
      const std::size_t zero = text.find('\0'), line = text.find('\n');
      if (zero == std::string_view::npos || line == std::string_view::npos || line < zero) return false;
      const std::string_view name = text.substr(0, zero);
      const bool negative = text[zero + 1] == '-';
      std::uint32_t subtrees = 0;
      for (std::size_t i = text.find(' ', zero) + 1; i < line && text[i] >= '0' && text[i] <= '9'; ++i)
        subtrees = subtrees * 10 + static_cast<std::uint32_t>(text[i] - '0');
      text = text.substr(line + 1);
      if (!negative) text = text.substr(text.size() < 20 ? text.size() : 20);
      bool way = depth == 0;
      std::size_t upto = 0;
      if (depth != 0 && on_way[depth - 1]) {
        const std::size_t from = matched[depth - 1] == 0 ? 0 : matched[depth - 1] + 1;
        way = folder.substr(from < folder.size() ? from : folder.size(), name.size()) == name &&
              (from + name.size() == folder.size() || (from + name.size() < folder.size() && folder[from + name.size()] == '/'));
        upto = from + name.size();
      }
      if (way && upto == folder.size()) return !negative;
      if (depth != 0) --rest[depth - 1];
      if (subtrees != 0) {
        if (depth == kDepth) return false;
        rest[depth] = subtrees;
        on_way[depth] = way;
        matched[depth++] = upto;
      }
      while (depth != 0 && rest[depth - 1] == 0) --depth;
      if (depth == 0) return false;
    }
    return false;
  }

  const unsigned char* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::uint32_t version_ = 0;
};

}  // namespace tipstaff::hook
