// What is at a path, and whether git would give it back: from git's index and ignore rules, without running anything that a
// repository configures.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/undo/memory.hpp"

namespace tipstaff::undo {

enum class Class : std::uint8_t {
  unchanged,    // git has it: the object of the index, in a folder that was written as a tree
  staged,       // as in the index, its folder not written as a tree yet
  changed,      // in the index and different, or not known
  untracked,    // not in the index, no ignore rule
  ignored,      // an ignore rule, and nothing says that a tool makes it again
  regenerated,  // ignored, below a folder that a tool marked as its own
  repository,   // below the .git of a repository
  folder,
  outside,      // in no repository
};
constexpr std::uint32_t kClasses = 9;
std::string_view name_of(Class of) noexcept;

// git's index, versions 2 to 4 (Documentation/gitformat-index); split and sparse ones as `git ls-files` tells them.
class Index {
 public:
  struct Entry {
    const char* name;
    const unsigned char* data;  // as in the file: ctime, mtime, dev, ino, mode, uid, gid, size, object
    std::uint32_t size;         // of the name
    bool special;               // unmerged, or only announced (add -N)
    std::string_view view() const noexcept { return {name, size}; }
    std::uint32_t number(std::size_t at) const noexcept {
      return static_cast<std::uint32_t>(data[at]) << 24 | static_cast<std::uint32_t>(data[at + 1]) << 16 |
             static_cast<std::uint32_t>(data[at + 2]) << 8 | data[at + 3];
    }
    std::uint32_t mode() const noexcept { return number(24); }
    const unsigned char* object() const noexcept { return data + 40; }
  };

  explicit Index(Arena& arena) noexcept : arena_(arena), trees_(arena) {}
  Index(const Index&) = delete;
  Index& operator=(const Index&) = delete;
  ~Index();

  // Where there is no index it is empty; one that cannot be read makes all files changed.
  void open(std::string_view root, std::string_view git_folder, std::size_t object_bytes) noexcept;
  const Entry* begin() const noexcept { return entries_; }
  const Entry* end() const noexcept { return entries_ + count_; }
  const Entry* find(std::string_view name) const noexcept;
  // The first entry that does not come before a text.
  const Entry* from(std::string_view text) const noexcept;
  bool holds_below(std::string_view folder) const noexcept;
  bool is_tree(std::string_view folder) noexcept { return trees_.find(folder) != nullptr; }
  bool is_broken() const noexcept { return broken_; }
  std::size_t object_bytes() const noexcept { return object_bytes_; }
  // unchanged, staged, changed or untracked; `path` is the file's, terminated by a zero.
  Class state(std::string_view name, const char* path, const struct stat& about) noexcept;

 private:
  bool read() noexcept;
  bool read_extensions(std::size_t at, bool* special) noexcept;
  void read_trees(std::string_view text) noexcept;
  bool read_listing(std::string_view root) noexcept;
  bool same_object(const Entry& entry, const char* path, const struct stat& about) const noexcept;

  Arena& arena_;
  const unsigned char* data_ = nullptr;
  std::size_t bytes_ = 0, object_bytes_ = 20, extensions_ = 0;
  std::uint64_t written_ns_ = 0;
  Entry* entries_ = nullptr;
  std::uint32_t count_ = 0;
  bool broken_ = false;
  Table<bool> trees_;
};

// .gitignore of each folder, info/exclude, core.excludesFile: the nearest folder first, the last line wins.
class Ignore {
 public:
  struct Pattern {
    std::string_view text;
    bool negated, only_folders, whole;  // whole: of the path below its folder, not of a name alone
  };
  struct Folder {
    std::string_view path;  // below the root
    const Folder* up = nullptr;
    const Pattern* patterns = nullptr;
    std::uint32_t count = 0;
    bool ignored = false;
    signed char marked = -1;  // whether a tool marked it as its own; -1: not looked at
  };

  explicit Ignore(Arena& arena) noexcept : arena_(arena), folders_(arena) {}
  void open(std::string_view root, std::string_view common) noexcept;
  // `name` is below the root, and outlives this.
  bool covers(std::string_view name, bool is_folder) noexcept;
  Folder* folder(std::string_view path) noexcept;

 private:
  void read(const char* path, bool follow, const Pattern** patterns, std::uint32_t* count) noexcept;
  bool matched(const Folder* folder, std::string_view name, bool is_folder) const noexcept;

  Arena& arena_;
  std::string_view root_;
  const Pattern* common_[2] = {};
  std::uint32_t common_count_[2] = {};
  Table<Folder> folders_;
};

// Whether a text is matched by a pattern as git's ignore rules and shells' globs have it: `*`, `?`, `[...]`, and with
// `whole` letters of `*` that are no slash and `**` for folders.
bool matches(std::string_view pattern, std::string_view text, bool whole) noexcept;

struct Repository {
  std::string_view root, git_folder, common;
  bool sha256 = false, by_program = false;  // by_program: references are no files
  Index index;
  Ignore ignore;
  Repository(Arena& arena) noexcept : index(arena), ignore(arena) {}
};

// The facts of one call: each index and each ignore file is read once.
class Facts {
 public:
  explicit Facts(Arena& arena) noexcept : arena_(arena), found_(arena), roots_(arena) {}
  ~Facts();
  Facts(const Facts&) = delete;
  Facts& operator=(const Facts&) = delete;

  // The nearest repository at or above an absolute folder without links; null where there is none.
  Repository* repository(std::string_view folder) noexcept;
  // The class of what is there at an absolute path, whose folders are no links and which ends in a zero.
  Class of(std::string_view path, const struct stat& about, Repository** repository) noexcept;
  // Whether a folder was marked by a tool as its own and git follows nothing in it.
  bool is_regenerated(Repository& repository, std::string_view folder) noexcept;
  Arena& arena() noexcept { return arena_; }

 private:
  bool is_made_again(Repository& repository, std::string_view name) noexcept;

  Arena& arena_;
  Table<Repository*> found_, roots_;
  Repository* last_ = nullptr;
  std::string_view last_folder_;
  Repository* all_[64] = {};
  std::uint32_t count_ = 0;
};

// Names that hold what nobody can make again: keys, databases, settings with secrets.
bool is_precious(std::string_view name) noexcept;

// Each name in a folder, without `.` and `..`: `take(name, kind)`, the kind as in <dirent.h>. False where it cannot be read.
bool read_names(Arena& arena, int folder, const char*** names, std::uint32_t* count) noexcept;

}  // namespace tipstaff::undo
