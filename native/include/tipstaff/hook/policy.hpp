// The compiled policy of a repository: where its file is, whether it is complete, safe and as new as its sources.
#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string_view>

#include "tipstaff/gate/rules/image.hpp"
#include "tipstaff/gate/rules/open_image.hpp"
#include "tipstaff/hook/state.hpp"

namespace tipstaff::hook {

constexpr char kPolicyMagic[9] = "TIPSPLCY";
constexpr std::uint32_t kPolicyVersion = 2;

// The program's own rules, and what they are known by: another version of this package has another edition.
struct BuiltIn {
  const unsigned char* data;
  std::size_t bytes;
  std::uint64_t edition;
};

// The head of a policy file; what follows are its parts, each at a multiple of 64 bytes.
struct PolicyHead {
  char magic[8];
  std::uint32_t version;
  std::uint32_t head_bytes;
  std::uint64_t file_bytes;
  std::uint32_t gates, gates_bytes;      // an image of tipstaff::gate, with its own checksum
  std::uint32_t sources, sources_bytes;  // lines `<mtime in ns> <bytes> <path>` of what it was compiled from
  std::uint32_t root, root_bytes;        // the repository
  std::uint64_t edition;                 // of the built-in rules that it was compiled with
  std::uint32_t own_rules, reserved;     // whether it holds more of the repository's own than settings
  std::uint64_t checksum;                // fast_sum() of what follows this head
};
static_assert(sizeof(PolicyHead) == 72, "the layout on disk");

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

enum class PolicyFault : std::uint8_t { none, unsafe, damaged, stale, uncompiled, outdated };

inline std::string_view name_of(PolicyFault fault) noexcept {
  switch (fault) {
    case PolicyFault::unsafe: return "the compiled policy can be changed by others";
    case PolicyFault::damaged: return "the compiled policy is damaged";
    case PolicyFault::stale: return "the compiled policy is older than its packs";
    case PolicyFault::uncompiled: return "the repository's own packs and settings are not compiled";
    case PolicyFault::outdated: return "the compiled policy is of another version of tipstaff";
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
  PolicyFault fault = PolicyFault::none;

  // Maps the policy of a repository; where it has none, or none that can be used, the built-in rules judge. Only a file
  // that nobody else may write is taken. Returns whether there is anything to judge by.
  bool open(const Path& state, std::string_view repository, const BuiltIn& built_in) noexcept {
    bool mapped = false;
    if (state.ok() && !repository.empty()) {
      Path path = state;
      path.add("/policy/").hex(fnv64(repository)).add(".policy");
      mapped = map(path, repository, built_in.edition);
    }
    if (!mapped) fault = has_own(repository) ? PolicyFault::uncompiled : PolicyFault::none;
    if (mapped && !superseded_ && fault != PolicyFault::unsafe && fault != PolicyFault::damaged) return true;
    const gate::record::Config settings = image.config;
    if (gate::open_image(built_in.data, built_in.bytes, &image, true) != gate::ImageFault::none) return false;
    if (superseded_) image.config = settings;
    return true;
  }

  // Whether another version of this package wrote what there is: it is to be compiled again.
  bool is_outdated() const noexcept { return foreign_ || fault == PolicyFault::outdated; }

 private:
  bool foreign_ = false;     // its layout is another version's
  bool superseded_ = false;  // it adds settings alone to built-in rules of another edition: they are added to these

  static bool has_own(std::string_view repository) noexcept {
    if (repository.empty()) return false;
    for (std::string_view name : {"/.tipstaff/gates.toml", "/.tipstaff/packs", "/.tipstaff/secrets"}) {
      Path path;
      if (path.add(repository).add(name).ok() && ::access(path.c_str(), F_OK) == 0) return true;
    }
    return false;
  }

  static bool private_to_owner(const struct stat& about) noexcept {
    return (about.st_uid == ::geteuid() || about.st_uid == 0) && (about.st_mode & 022) == 0;
  }

  // Returns whether there is such a file, usable or not. One whose layout is another version's is as good as none.
  bool map(const Path& path, std::string_view repository, std::uint64_t edition) noexcept {
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
          check(static_cast<const unsigned char*>(data), bytes, repository, known, edition);
          if (!known && fault == PolicyFault::none) stamp.write_to(stamp_path);
        }
      }
    }
    ::close(file);
    return !foreign_;
  }

  void check(const unsigned char* data, std::size_t bytes, std::string_view repository, bool known,
             std::uint64_t edition) noexcept {
    PolicyHead head;
    std::memcpy(&head, data, sizeof head);
    foreign_ = std::memcmp(head.magic, kPolicyMagic, 8) == 0 && head.version != kPolicyVersion;
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
    const gate::ImageFault found = gate::open_image(data + head.gates, head.gates_bytes, &image, known);
    foreign_ = found == gate::ImageFault::version;
    if (found != gate::ImageFault::none) return;
    fault = sources_are_current(sources) ? PolicyFault::none : PolicyFault::stale;
    if (head.edition == edition) return;
    superseded_ = head.own_rules == 0;
    if (!superseded_ && fault == PolicyFault::none) fault = PolicyFault::outdated;
  }
};

}  // namespace tipstaff::hook
