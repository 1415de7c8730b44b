// Keeps what a call would lose, before it runs: contents, names and times of files, and what git would drop.
//
//   STATE/undo/<16 hex of the root>/<time ns>-<pid>-<bytes>/   exists only when whole
//     keep      contents of at most 256 KiB one after another, the manifest as JSON, its length and checksum
//     0 1 ...   larger files
//     same0 ... links to files that have other names as well
//     index     git's index, where it is an effect
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/undo/facts.hpp"
#include "tipstaff/undo/memory.hpp"

namespace tipstaff::undo {

struct Effect {
  enum class Kind : std::uint8_t {
    remove,     // a and all below it
    write,      // contents of a, through links
    replace,    // a new file under the name a
    below,      // anything at or below a, as far as git would not give it back
    move,       // a to b
    worktree,   // files of git that differ from the index, below a or all
    untracked,  // what `git clean -d` removes below a or all
    ignored,    // likewise with -x
    incoming,   // what differs between the index and the tree a: git overwrites those names whatever is there
    index,
    ref,        // the reference a
    head,
    stash,      // all, or the one of `number`
    reflogs,
    elsewhere,  // another repository of git than the one of the folder: which one is not known
    inside,     // unknown: anything in the repository of a that git would not give back
  };
  Kind kind = Kind::inside;
  std::string_view a, b;   // absolute paths, or names of git
  std::string_view folder; // of git's effects: absolute, where git works
  std::int32_t number = -1;
  std::uint32_t source = 0;  // whose effect it is, for the caller
};

// What became of one effect, the worst last. absent: nothing is there, as long as nothing else makes it first.
enum class Outcome : std::uint8_t { nothing, kept, absent, too_much, unseen, outside };

struct Limits {
  std::uint64_t bytes = std::uint64_t{256} << 20, free = std::uint64_t{512} << 20;
  std::uint32_t files = 10000, walk = 200000, milliseconds = 2000;
};

// The object that a reference leads to, where references are files; empty where there is none.
std::string_view reference_in(Arena& arena, std::string_view git_folder, std::string_view common, std::string_view name) noexcept;

// Writes what a keep's references are after its call, as the file `after` in it: for the session whose keep said so last.
void write_after(std::string_view state, std::string_view session) noexcept;

class Keep {
 public:
  struct Entry {
    std::string_view path;
    struct stat about;
    Class kind;
    char how;  // 'd', 'r', 'w' where contents are kept, else 0
    bool linked, torn;
    const unsigned char* object;
    Repository* repository;
    std::uint64_t at;
    std::uint32_t crc;
    std::int32_t file, same;
    std::string_view link;
  };
  struct Move {
    std::string_view from, to;
  };

  Keep(Arena& arena, Facts& facts, const Limits& limits) noexcept : arena_(arena), facts_(facts), limits_(limits), seen_(arena), pinned_(arena, 64), refs_seen_(arena, 64) {}
  Keep(const Keep&) = delete;
  Keep& operator=(const Keep&) = delete;

  // Looks at one effect. Nothing is written.
  Outcome look(const Effect& effect) noexcept;
  // What is taken away by an undo of this, and what an undo moved: for keeps that an undo makes.
  // Where nothing is refused for being in no repository: for keeps that an undo makes.
  void take_all() noexcept { takes_all_ = true; }
  void add_absent(std::string_view path) noexcept;
  void add_move(std::string_view from, std::string_view to) noexcept;

  // Whether there is anything to write, and whether git alone would not give it back.
  bool is_empty() const noexcept { return entry_count_ == 0 && moves_ == 0 && absent_ == 0 && pins_ == 0 && !index_ && refs_ == 0; }
  bool loses() const noexcept { return lost_files_ != 0 || stashes_ != 0 || loses_commits_; }
  std::uint32_t lost_files() const noexcept { return lost_files_; }
  std::uint32_t lost_stashes() const noexcept { return stashes_; }
  bool loses_commits() const noexcept { return loses_commits_; }
  std::uint64_t lost_bytes() const noexcept { return lost_bytes_; }
  std::uint64_t newest_ns() const noexcept { return newest_ns_; }
  // Of effects that are not known: files that are too much to be kept.
  std::uint32_t left_out() const noexcept { return left_out_; }
  std::uint64_t left_out_bytes() const noexcept { return left_out_bytes_; }
  // Whether all that is kept is at risk only, by effects that are not known.
  bool only_inside() const noexcept { return inside_count_ != 0 && inside_count_ == entry_count_ && moves_ == 0 && pins_ == 0 && !index_; }
  std::string_view first_lost() const noexcept { return first_lost_; }
  std::uint32_t count_of(Class kind) const noexcept { return counts_[static_cast<std::uint32_t>(kind)]; }
  // Why something cannot be kept; empty where all can.
  std::string_view why() const noexcept { return why_; }
  std::string_view why_path() const noexcept { return why_path_; }

  // Writes it all; false, with why(), and with nothing left behind where that cannot be. It belongs to `root`, else to the
  // repository of `working`. `folder` is where it is, empty where there was nothing to keep.
  bool finish(std::string_view state, std::string_view command, std::string_view session, std::string_view working, std::string_view root, std::string_view* folder) noexcept;

 private:
  Outcome add(std::string_view path, char how, std::uint32_t classes, bool walks) noexcept;
  Outcome add_folder(std::string_view path, const struct stat& about, char how, std::uint32_t classes, bool is_root = false) noexcept;
  Outcome add_ways(std::string_view root, std::string_view name, std::string_view* last) noexcept;
  Outcome look_at_move(const Effect& effect) noexcept;
  Outcome look_at_git(const Effect& effect) noexcept;
  Outcome add_reference(std::string_view name) noexcept;
  Outcome add_references(std::string_view below, int depth) noexcept;
  void note_branch(std::string_view name) noexcept;
  Outcome add_stashes(std::int32_t number) noexcept;
  Outcome add_reflogs(std::string_view folder, int depth) noexcept;
  Outcome pin(std::string_view object) noexcept;
  Outcome refuse(Outcome outcome, std::string_view why, std::string_view path) noexcept;
  Entry* note(std::string_view path, const struct stat& about, Class kind) noexcept;
  std::string_view place(std::string_view path, bool follow) noexcept;
  std::string_view reference(std::string_view name) noexcept;

  bool write_contents(std::string_view half) noexcept;
  bool write_one(Entry& entry, std::string_view half, int keep) noexcept;
  bool write_manifest(int keep, std::string_view command, std::string_view session, std::string_view root, std::uint64_t time, std::string_view id) noexcept;
  bool write_index(std::string_view half) noexcept;
  void ask_for_after(std::string_view state, std::string_view session, std::string_view folder) noexcept;
  bool write_pins(std::string_view id) noexcept;
  void remove_half(std::string_view half, std::string_view id) noexcept;
  bool too_late() const noexcept;

  Arena& arena_;
  Facts& facts_;
  Limits limits_;
  Table<std::uint32_t> seen_;
  Table<bool> pinned_, refs_seen_;

  struct Text { std::string_view text, more; Text* next; };
  Entry* entries_[64] = {};  // blocks of 1,024
  std::uint32_t entry_count_ = 0, kept_files_ = 0, walked_ = 0, counts_[kClasses] = {};
  std::uint64_t bytes_ = 0, written_ = 0, lost_bytes_ = 0, newest_ns_ = 0, deadline_ms_ = 0;
  std::uint32_t lost_files_ = 0, pins_ = 0, refs_ = 0, stashes_ = 0, moves_ = 0, absent_ = 0, files_ = 0, sames_ = 0, pins_written_ = 0;
  Text *pin_first_ = nullptr, **pin_end_ = &pin_first_, *ref_first_ = nullptr, **ref_end_ = &ref_first_, *stash_first_ = nullptr,
       **stash_end_ = &stash_first_, *move_first_ = nullptr, **move_end_ = &move_first_, *absent_first_ = nullptr, **absent_end_ = &absent_first_;
  // Of branches that go: their reflogs and their sections of the settings, by the name of the reference.
  Text *log_first_ = nullptr, **log_end_ = &log_first_, *section_first_ = nullptr, **section_end_ = &section_first_;
  std::string_view gone_[64];
  std::uint32_t gone_count_ = 0;
  Repository* git_ = nullptr;
  bool index_ = false, has_index_ = false, loses_commits_ = false;
  std::string_view why_, why_path_, first_lost_;
  // Of effects that are not known: the repository, what was found in it, and what is too much to be kept.
  Repository* inside_ = nullptr;
  Outcome inside_outcome_ = Outcome::nothing;
  std::uint32_t inside_from_ = 0, inside_count_ = 0, left_out_ = 0;
  std::uint64_t left_out_bytes_ = 0;
  bool lenient_ = false, takes_all_ = false;
  std::int32_t nested_ = 2;  // below it nested repositories are left alone, as `git clean` does without two -f

  Entry& entry(std::uint32_t i) noexcept { return entries_[i >> 10][i & 1023]; }
  bool append(Text*** end, std::string_view text, std::string_view more = {}) noexcept {
    Text* const made = arena_.take<Text>();
    if (made == nullptr) return false;
    *made = {text, more, nullptr};
    **end = made;
    *end = &made->next;
    return true;
  }
};

}  // namespace tipstaff::undo
