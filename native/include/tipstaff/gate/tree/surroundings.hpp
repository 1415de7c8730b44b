// The machine that a text would run on, as far as reading and judging need it.
#pragma once

#include <cstddef>
#include <string_view>

namespace tipstaff::gate {

class OwnPaths;

// The machine as far as reading needs it. Views must outlive the tree.
struct Surroundings {
  std::string_view cwd;         // absolute; empty where it is not known
  std::string_view repository;  // the working repository's root; empty where there is none
  std::string_view home;        // empty where it is not known
  std::string_view temporary;   // a further temporary directory ($TMPDIR), empty for none
  std::string_view state;       // the gate's own state folder; empty where it is not guarded
  std::string_view program;     // the gate's own program, likewise
  bool typed_later = false;     // the host does not show the gate what is typed into a program that runs already
  bool stash_takes_changed = false;    // `git stash` would take away a registration of the gate
  bool stash_takes_untracked = false;  // `git stash -u` would
  bool follows_links = false;   // each word is followed through links, not those alone that a rule asks about
  // Reads a file for its text: at most `capacity` bytes into `out`; returns the file's size, -1 where there is none, -2
  // where there is something that cannot be read.
  long long (*read_file)(void* self, std::string_view path, char* out, std::size_t capacity) noexcept = nullptr;
  // Resolves symbolic links of an existing path into `out`; returns its length, 0 where nothing is to be resolved.
  std::size_t (*real_path)(void* self, std::string_view path, char* out, std::size_t capacity) noexcept = nullptr;
  // Whether nothing can be written at a place that exists, which no link leads to: it is mounted read-only.
  bool (*is_read_only)(std::string_view path) noexcept = nullptr;
  // What a caller keeps of the gate's own places from one judgement to the next; null: nothing.
  OwnPaths* (*own_paths)(void* self) noexcept = nullptr;
  void* self = nullptr;
  const void* stack_end = nullptr;  // the lowest byte of the thread's stack; null where it is not known
};

}  // namespace tipstaff::gate
