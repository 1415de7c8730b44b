// What the hook keeps outside every repository, owner-only: the compiled policy, approvals, the state of runs, the spool.
//
//   STATE/policy/<16 hex>.policy   one for each repository, by the hash of its root; default.policy for the rest
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
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "tipstaff/gate/rules/image.hpp"
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

// -- the policy -------------------------------------------------------------------------------------------------------

constexpr char kPolicyMagic[9] = "TIPSPLCY";
constexpr std::uint32_t kPolicyVersion = 1;

// The head of a policy file; what follows are its parts, each at a multiple of 64 bytes.
struct PolicyHead {
  char magic[8];
  std::uint32_t version;
  std::uint32_t head_bytes;
  std::uint64_t file_bytes;
  std::uint32_t gates, gates_bytes;      // an image of tipstaff::gate, with its own checksum
  std::uint32_t sources, sources_bytes;  // lines `<mtime in ns> <bytes> <path>` of what it was compiled from
  std::uint32_t root, root_bytes;        // the repository
  std::uint64_t checksum;                // fast_sum() of what follows this head
};
static_assert(sizeof(PolicyHead) == 56, "policy files lie on disk as they are");

// Four sums side by side, so that a third of a megabyte costs some ten microseconds. It finds damage; that nobody else
// wrote the file is the business of its owner and mode.
inline std::uint64_t fast_sum(const unsigned char* data, std::size_t bytes) noexcept {
  constexpr std::uint64_t kPrime = 0x9e3779b97f4a7c15u;
  std::uint64_t a = bytes, b = bytes ^ kPrime, c = ~static_cast<std::uint64_t>(bytes), d = kPrime;
  const auto step = [](std::uint64_t lane, const unsigned char* at) noexcept {
    std::uint64_t word;
    std::memcpy(&word, at, 8);
    lane = (lane ^ word) * kPrime;
    return lane ^ lane >> 29;
  };
  for (; bytes >= 32; data += 32, bytes -= 32) {
    a = step(a, data);
    b = step(b, data + 8);
    c = step(c, data + 16);
    d = step(d, data + 24);
  }
  unsigned char rest[32] = {};
  if (bytes != 0) std::memcpy(rest, data, bytes);
  std::uint64_t sum = 0;
  for (const std::uint64_t lane : {step(a, rest), step(b, rest + 8), step(c, rest + 16), step(d, rest + 24)})
    sum = (sum ^ lane) * kPrime;
  return sum ^ sum >> 32;
}

enum class PolicyFault : std::uint8_t { none, missing, unsafe, damaged, stale, uncompiled };

inline std::string_view name_of(PolicyFault fault) noexcept {
  switch (fault) {
    case PolicyFault::missing: return "there is no compiled policy";
    case PolicyFault::unsafe: return "the compiled policy can be changed by others";
    case PolicyFault::damaged: return "the compiled policy is damaged";
    case PolicyFault::stale: return "the compiled policy is older than its packs";
    case PolicyFault::uncompiled: return "the repository's own packs and settings are not compiled";
    default: return "";
  }
}

#if defined(__APPLE__)
inline const timespec& written_at(const struct stat& about) noexcept { return about.st_mtimespec; }
inline const timespec& changed_at(const struct stat& about) noexcept { return about.st_ctimespec; }
#else
inline const timespec& written_at(const struct stat& about) noexcept { return about.st_mtim; }
inline const timespec& changed_at(const struct stat& about) noexcept { return about.st_ctim; }
#endif

// What the system knew of a policy file when every byte of it was last checked. Whoever writes to the file, by whatever
// name, changes it; so most calls need not read a third of a megabyte to know that it is whole.
struct Stamp {
  char magic[8] = {'T', 'I', 'P', 'S', 'S', 'E', 'E', 'N'};
  std::uint64_t layout = std::uint64_t{gate::kImageVersion} << 32 | kPolicyVersion;  // what this program can read
  std::uint64_t device, inode, bytes, written_ns, changed_ns;

  explicit Stamp(const struct stat& about) noexcept
      : device(static_cast<std::uint64_t>(about.st_dev)), inode(static_cast<std::uint64_t>(about.st_ino)),
        bytes(static_cast<std::uint64_t>(about.st_size)), written_ns(nanoseconds(written_at(about))),
        changed_ns(nanoseconds(changed_at(about))) {}

  bool is_in(const Path& path) const noexcept {
    if (!path.ok()) return false;
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return false;
    unsigned char kept[sizeof(Stamp)];
    const bool same = ::read(file, kept, sizeof kept) == static_cast<ssize_t>(sizeof kept) &&
                      std::memcmp(kept, this, sizeof kept) == 0;
    ::close(file);
    return same;
  }

  void write_to(const Path& path) const noexcept {
    if (!path.ok()) return;
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
    if (file < 0) return;
    const ssize_t ignored = ::write(file, this, sizeof *this);  // half a stamp is not valid
    (void)ignored;
    ::close(file);
  }

  static std::uint64_t nanoseconds(const timespec& at) noexcept {
    return static_cast<std::uint64_t>(at.tv_sec) * 1000000000u + static_cast<std::uint64_t>(at.tv_nsec);
  }
};

// Whether what a file was compiled from is still as it was.
inline bool sources_are_current(std::string_view sources) noexcept {
  while (!sources.empty()) {
    const std::size_t end = sources.find('\n');
    const std::string_view line = sources.substr(0, end);
    sources = end == std::string_view::npos ? std::string_view{} : sources.substr(end + 1);
    std::size_t at = 0;
    std::uint64_t numbers[2] = {0, 0};
    for (std::uint64_t& number : numbers) {
      while (at < line.size() && line[at] >= '0' && line[at] <= '9') number = number * 10 + static_cast<unsigned>(line[at++] - '0');
      if (at < line.size() && line[at] == ' ') ++at;
    }
    Path path;
    if (!path.add(line.substr(at)).ok()) continue;
    struct stat about;
    const bool there = ::stat(path.c_str(), &about) == 0;
    // "0 0" stands for a file or folder that was not there.
    if (!there && numbers[0] == 0 && numbers[1] == 0) continue;
    if (!there) return false;
    const std::uint64_t changed = Stamp::nanoseconds(written_at(about));
    const std::uint64_t size = S_ISDIR(about.st_mode) ? 0 : static_cast<std::uint64_t>(about.st_size);
    if (changed != numbers[0] || size != numbers[1]) return false;
  }
  return true;
}

class Policy {
 public:
  gate::Image image;
  PolicyFault fault = PolicyFault::missing;

  // Maps the policy of a repository, or the default one. Only a file that nobody else may write is taken.
  void open(const Path& state, std::string_view repository) noexcept {
    if (!state.ok()) return;
    if (!repository.empty()) {
      Path path = state;
      path.add("/policy/").hex(fnv64(repository)).add(".policy");
      if (map(path, repository)) return;
    }
    Path path = state;
    path.add("/policy/default.policy");
    map(path, {});
    // The default policy knows nothing of what a repository says for itself.
    if (fault == PolicyFault::none && has_own(repository)) fault = PolicyFault::uncompiled;
  }

  // Whether its rules can be judged by; those of a fault otherwise only say less than they should.
  bool usable() const noexcept {
    return fault == PolicyFault::none || fault == PolicyFault::stale || fault == PolicyFault::uncompiled;
  }

 private:
  static bool has_own(std::string_view repository) noexcept {
    if (repository.empty()) return false;
    for (std::string_view name : {"/.tipstaff/gates.toml", "/.tipstaff/packs"}) {
      Path path;
      if (path.add(repository).add(name).ok() && ::access(path.c_str(), F_OK) == 0) return true;
    }
    return false;
  }

  static bool private_to_owner(const struct stat& about) noexcept {
    return (about.st_uid == ::geteuid() || about.st_uid == 0) && (about.st_mode & 022) == 0;
  }

  // Returns whether there is such a file, usable or not.
  bool map(const Path& path, std::string_view repository) noexcept {
    if (!path.ok()) return false;
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (file < 0) {
      if (errno == ENOENT || errno == ENOTDIR) return false;
      fault = PolicyFault::unsafe;
      return true;
    }
    struct stat about, folder;
    Path above = path;
    above.cut(path.view().rfind('/'));
    const bool safe = ::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && private_to_owner(about) &&
                      ::stat(above.c_str(), &folder) == 0 && private_to_owner(folder);
    if (!safe) {
      fault = PolicyFault::unsafe;
    } else {
      fault = PolicyFault::damaged;
      const auto bytes = static_cast<std::size_t>(about.st_size);
      if (bytes >= sizeof(PolicyHead) && bytes <= (std::size_t{1} << 30)) {
        void* data = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file, 0);
        if (data != MAP_FAILED) {
          const Stamp stamp(about);
          Path stamp_path = path;
          stamp_path.add(".checked");
          const bool known = stamp.is_in(stamp_path);
          check(static_cast<const unsigned char*>(data), bytes, repository, known);
          if (!known && fault == PolicyFault::none) stamp.write_to(stamp_path);
        }
      }
    }
    ::close(file);
    return true;
  }

  void check(const unsigned char* data, std::size_t bytes, std::string_view repository, bool known) noexcept {
    PolicyHead head;
    std::memcpy(&head, data, sizeof head);
    const auto inside = [&](std::uint32_t at, std::uint32_t count) noexcept {
      return at >= sizeof head && at <= bytes && count <= bytes - at;
    };
    if (std::memcmp(head.magic, kPolicyMagic, 8) != 0 || head.version != kPolicyVersion ||
        head.head_bytes != sizeof head || head.file_bytes != bytes || !inside(head.gates, head.gates_bytes) ||
        !inside(head.sources, head.sources_bytes) || !inside(head.root, head.root_bytes) || head.gates % 8 != 0 ||
        !inside(head.gates, 64))
      return;
    const std::string_view sources(reinterpret_cast<const char*>(data) + head.sources, head.sources_bytes);
    const std::string_view root(reinterpret_cast<const char*>(data) + head.root, head.root_bytes);
    if (root != repository) return;
    if (!known && fast_sum(data + sizeof head, bytes - sizeof head) != head.checksum) return;
    if (gate::open_image(data + head.gates, head.gates_bytes, &image, known) != gate::ImageFault::none) return;
    fault = sources_are_current(sources) ? PolicyFault::none : PolicyFault::stale;
  }
};

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
// that is cut short (a full disk) the rest is given up, and the line is closed if there is room for that.
inline bool append_line(const Path& path, std::string_view line) noexcept {
  const int file = open_state(path, O_WRONLY | O_APPEND | O_CREAT);
  if (file < 0) return false;
  struct stat about;
  bool done = ::fstat(file, &about) == 0 && S_ISREG(about.st_mode);
  if (done) {
    ssize_t put;
    do {
      put = ::write(file, line.data(), line.size());
    } while (put < 0 && errno == EINTR);
    done = put == static_cast<ssize_t>(line.size());
    if (!done && put > 0) write_whole(file, "\n");
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
