// Looks at what a call would lose.
#include "tipstaff/undo/keep.hpp"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

#include "tipstaff/undo/git.hpp"

namespace tipstaff::undo {

namespace {

constexpr std::uint32_t bit(Class kind) noexcept { return 1u << static_cast<std::uint32_t>(kind); }
constexpr std::uint32_t kAll = 0xffffffffu;
// What git would not give back, other than what a tool makes again.
constexpr std::uint32_t kAtRisk = bit(Class::staged) | bit(Class::changed) | bit(Class::untracked) | bit(Class::ignored);
constexpr int kDepth = 256;
constexpr off_t kAppended = 1 << 20;

Outcome worse(Outcome one, Outcome other) noexcept { return one > other ? one : other; }

bool is_hex(std::string_view text) noexcept {
  if (text.size() != 40 && text.size() != 64) return false;
  for (const char letter : text)
    if (!((letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f'))) return false;
  return true;
}

// A small file of git's; empty where there is none.
std::string_view read_file(Arena& arena, const char* path) noexcept {
  const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  struct stat about;
  if (file < 0) return {};
  char* text = nullptr;
  std::size_t size = 0;
  if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0 && about.st_size < (off_t{64} << 20))
    text = arena.take<char>(static_cast<std::size_t>(about.st_size) + 1);
  if (text != nullptr)
    for (ssize_t got; size < static_cast<std::size_t>(about.st_size) && (got = ::read(file, text + size, static_cast<std::size_t>(about.st_size) - size)) > 0;)
      size += static_cast<std::size_t>(got);
  ::close(file);
  return {text, size};
}

}  // namespace

Outcome Keep::refuse(Outcome outcome, std::string_view why, std::string_view path) noexcept {
  if (why_.empty()) {
    why_ = why;
    why_path_ = path;
  }
  return outcome;
}

// The path with its folders, or with `follow` all of it, as links lead there; empty where nothing is there.
std::string_view Keep::place(std::string_view path, bool follow) noexcept {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  const char* const text = arena_.join(path);
  char found[PATH_MAX];
  struct stat about;
  if (text == nullptr || path.empty() || path[0] != '/' || ::lstat(text, &about) != 0) return {};
  const std::string_view name = name_of(path);
  if (follow || name == "." || name == ".." || path == "/") return ::realpath(text, found) == nullptr ? std::string_view{} : arena_.copy(found);
  if (::realpath(arena_.join(folder_of(path)), found) == nullptr) return {};
  const std::string_view folder = found;
  return arena_.copy(folder == "/" ? std::string_view{} : folder, "/", name);
}

Keep::Entry* Keep::note(std::string_view path, const struct stat& about, Class kind) noexcept {
  const std::uint32_t block = entry_count_ >> 10;
  if (block >= 64 || entry_count_ >= 2 * limits_.files) return nullptr;
  if (entries_[block] == nullptr && (entries_[block] = arena_.take<Entry>(1024)) == nullptr) return nullptr;
  std::uint32_t* const place = seen_.add(path);
  if (place == nullptr) return nullptr;
  Entry& made = entry(*place = entry_count_++);
  made.path = path;
  made.about = about;
  made.kind = kind;
  made.file = made.same = -1;
  return &made;
}

Outcome Keep::add(std::string_view path, char how, std::uint32_t classes, bool walks) noexcept {
  struct stat about;
  if (path.empty() || ::lstat(path.data(), &about) != 0) {
    if (path.empty() || errno == ENOENT || errno == ENOTDIR) return arena_.full() ? refuse(Outcome::too_much, "there is no memory to look at it", path) : Outcome::nothing;
    return refuse(Outcome::unseen, "it cannot be seen", path);
  }
  if (++walked_ > limits_.walk) return refuse(Outcome::too_much, "there are more files than are looked at", path);
  if (std::uint32_t* const known = seen_.find(path); known != nullptr) {
    Entry& entry = this->entry(*known);
    if (entry.how == 'd' && how != 'd') entry.how = how;  // its contents may change before the name goes
    return entry.kind == Class::unchanged || entry.kind == Class::folder ? Outcome::nothing : Outcome::kept;
  }
  if (S_ISDIR(about.st_mode)) return walks ? add_folder(path, about, how, classes) : Outcome::nothing;
  Repository* repository = nullptr;
  Class kind = facts_.of(path, about, &repository);
  if (kind == Class::outside && takes_all_) kind = Class::untracked;
  if ((classes & bit(kind)) == 0) return kind == Class::outside ? Outcome::outside : Outcome::nothing;
  if (kind == Class::outside) return refuse(Outcome::outside, "it is in no repository", path);
  if (kind == Class::unchanged && gone_count_ != 0)
    for (std::uint32_t i = 0; i < gone_count_; ++i)
      if (is_below(repository->git_folder, gone_[i])) kind = Class::changed;  // what has it goes as well
  ++counts_[static_cast<std::uint32_t>(kind)];
  if (kind == Class::regenerated) return Outcome::nothing;
  if (lenient_ && S_ISREG(about.st_mode) && (bytes_ + static_cast<std::uint64_t>(about.st_size) > limits_.bytes || kept_files_ >= limits_.files)) {
    ++left_out_;
    left_out_bytes_ += static_cast<std::uint64_t>(about.st_size);
    refuse(Outcome::too_much, "it is more than is kept for one call", path);
    return Outcome::too_much;
  }
  Entry* const made = note(path, about, kind);
  if (made == nullptr) return refuse(Outcome::too_much, "there are more files than are kept for one call", path);
  made->repository = repository;
  if (kind == Class::unchanged) {
    const Index::Entry* const entry = repository->index.find(path.substr(repository->root == "/" ? 1 : repository->root.size() + 1));
    if (entry != nullptr) made->object = entry->object();
    return Outcome::nothing;
  }
  if (S_ISLNK(about.st_mode)) {
    char target[PATH_MAX];
    const ssize_t size = ::readlink(path.data(), target, sizeof target);
    if (size < 0) return refuse(Outcome::unseen, "it cannot be read", path);
    made->link = arena_.copy({target, static_cast<std::size_t>(size)});
  } else if (S_ISREG(about.st_mode)) {
    const std::uint64_t size = static_cast<std::uint64_t>(about.st_size), blocks = static_cast<std::uint64_t>(about.st_blocks) * 512;
    made->how = how;
    bytes_ += size <= 256u << 10 || size < blocks ? size : blocks;
    lost_bytes_ += size;
    if (++kept_files_ > limits_.files) return refuse(Outcome::too_much, "there are more files than are kept for one call", path);
    if (bytes_ > limits_.bytes) return refuse(Outcome::too_much, "it is more than is kept for one call", path);
    if (::access(path.data(), R_OK) != 0) return refuse(Outcome::unseen, "it cannot be read", path);
  } else if (!S_ISFIFO(about.st_mode)) {
    return refuse(Outcome::unseen, "it is a device or a socket", path);
  }
  if (lost_files_++ == 0) first_lost_ = path;
  if (modified_ns(about) > newest_ns_) newest_ns_ = modified_ns(about);
  return Outcome::kept;
}

Outcome Keep::add_folder(std::string_view path, const struct stat& about, char how, std::uint32_t classes, bool is_root) noexcept {
  const bool all = classes == kAll;
  // A whole repository that is in none goes with all that git has.
  if (!takes_all_ && facts_.repository(all ? folder_of(path) : path) == nullptr) return refuse(Outcome::outside, "it is in no repository", path);
  if (name_of(path) == ".git" && !all) return Outcome::nothing;
  bool precious_only = false;
  const bool cleans = how == 'd' && !all && !is_root;
  if (Repository* const own = facts_.repository(path); cleans && own != nullptr && own->root == path && facts_.repository(folder_of(path)) != nullptr) {
    if (nested_ < 2) return Outcome::nothing;
    if (gone_count_ < 64) gone_[gone_count_++] = path;
    return add(path, 'd', kAll, true);
  }
  if (Repository* const own = facts_.repository(path); own != nullptr && path.size() > own->root.size()) {
    const std::string_view name = path.substr(own->root == "/" ? 1 : own->root.size() + 1);
    const Ignore::Folder* const known = own->ignore.folder(name);
    precious_only = known != nullptr && known->ignored && facts_.is_regenerated(*own, name);
    if (precious_only && !all) return Outcome::nothing;
    if (cleans && !own->index.holds_below(name) && note(path, about, Class::folder) == nullptr) return refuse(Outcome::too_much, "there are more files than are kept for one call", path);
  }
  if (all && !precious_only) {
    if (note(path, about, Class::folder) == nullptr) return refuse(Outcome::too_much, "there are more files than are kept for one call", path);
  }
  std::uint32_t depth = 0;
  for (const char letter : path) depth += letter == '/';
  if (depth > kDepth) return refuse(Outcome::too_much, "it is nested deeper than what is looked at", path);
  const int folder = ::open(path.data(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return refuse(Outcome::unseen, "it cannot be read", path);
  const char** names = nullptr;
  std::uint32_t count = 0;
  const bool whole = read_names(arena_, folder, &names, &count);
  ::close(folder);
  if (!whole) return refuse(Outcome::unseen, "it cannot be read", path);
  Outcome worst = Outcome::nothing;
  for (std::uint32_t i = 0; i < count && (worst < Outcome::too_much || (lenient_ && walked_ <= limits_.walk)); ++i) {
    const std::string_view name = names[i] + 1;
    if (precious_only && names[i][0] == 8 && !is_precious(name)) {  // a regular file, which a tool makes again
      ++counts_[static_cast<std::uint32_t>(Class::regenerated)];
      if (++walked_ > limits_.walk) return refuse(Outcome::too_much, "there are more files than are looked at", path);
      continue;
    }
    worst = worse(worst, add(arena_.copy(path, "/", name), how, classes, true));
  }
  return worst;
}

// One file or all below a folder go to another name; what that had is replaced.
Outcome Keep::look_at_move(const Effect& effect) noexcept {
  const std::string_view from = place(effect.a, false);
  if (from.empty()) return Outcome::absent;
  std::string_view to = place(effect.b, false);
  struct stat about;
  if (!to.empty() && ::stat(to.data(), &about) == 0 && S_ISDIR(about.st_mode)) to = place(arena_.copy(effect.b, "/", name_of(from)), false);
  std::string_view target = to;
  if (target.empty()) {
    const bool into = ::stat(arena_.join(effect.b), &about) == 0 && S_ISDIR(about.st_mode);
    const std::string_view folder = place(into ? effect.b : folder_of(effect.b), true);
    target = folder.empty() ? folder : arena_.copy(folder, "/", name_of(into ? from : effect.b));
  }
  if (target.empty() || from == target) return Outcome::nothing;
  if (!takes_all_ && (facts_.repository(folder_of(from)) == nullptr || facts_.repository(folder_of(target)) == nullptr))
    return refuse(Outcome::outside, "it leaves or enters no repository", from);
  add_move(from, target);
  return to.empty() ? Outcome::nothing : add(to, 'r', kAll, false);
}

void Keep::add_absent(std::string_view path) noexcept { absent_ += append(&absent_end_, arena_.copy(path)); }
void Keep::add_move(std::string_view from, std::string_view to) noexcept { moves_ += append(&move_end_, arena_.copy(from), arena_.copy(to)); }

std::string_view Keep::reference(std::string_view name) noexcept {
  if (!git_->by_program) return reference_in(arena_, git_->git_folder, git_->common, name);
  std::string_view found;
  if (!run_git(arena_, git_->root, {"rev-parse", "-q", "--verify", arena_.join(name)}, &found)) return {};
  return found.substr(0, found.find('\n'));
}

std::string_view reference_in(Arena& arena, std::string_view git_folder, std::string_view common, std::string_view name) noexcept {
  for (int depth = 0; depth < 6; ++depth) {
    const bool own = name.substr(0, 5) != "refs/" || name.substr(0, 14) == "refs/worktree/" || name.substr(0, 12) == "refs/bisect/";
    std::string_view text = read_file(arena, arena.join(own ? git_folder : common, "/", name));
    text = text.substr(0, text.find('\n'));
    if (text.substr(0, 5) == "ref: ") {
      name = text.substr(5);
      continue;
    }
    if (is_hex(text)) return text;
    std::string_view packed = read_file(arena, arena.join(common, "/packed-refs"));
    while (!packed.empty()) {
      const std::size_t end = packed.find('\n');
      const std::string_view line = packed.substr(0, end), object = line.substr(0, line.find(' '));
      packed = end == std::string_view::npos ? std::string_view{} : packed.substr(end + 1);
      if (is_hex(object) && object.size() < line.size() && line.substr(object.size() + 1) == name) return object;
    }
    return {};
  }
  return {};
}

Outcome Keep::pin(std::string_view object) noexcept {
  if (!is_hex(object) || object.find_first_not_of('0') == std::string_view::npos || pinned_.find(object) != nullptr) return Outcome::nothing;
  if (pins_ >= 2000) return refuse(Outcome::too_much, "git would drop more than is kept for one call", git_->root);
  pinned_.add(object);
  pins_ += append(&pin_end_, object);
  return Outcome::kept;
}

// All references below a folder of theirs.
Outcome Keep::add_references(std::string_view below, int depth) noexcept {
  Outcome worst = Outcome::nothing;
  const std::string_view path = arena_.copy(git_->common, "/", below);
  const int folder = path.data() == nullptr || depth == 0 ? -1 : ::open(path.data(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  const char** names = nullptr;
  std::uint32_t count = 0;
  if (folder >= 0) {
    if (!read_names(arena_, folder, &names, &count)) count = 0;
    ::close(folder);
  }
  for (std::uint32_t i = 0; i < count && worst < Outcome::too_much; ++i) {
    const std::string_view name = arena_.copy(below, names[i] + 1), whole = arena_.copy(git_->common, "/", name);
    struct stat about;
    if (whole.data() == nullptr || ::lstat(whole.data(), &about) != 0) continue;
    worst = worse(worst, S_ISDIR(about.st_mode) ? add_references(arena_.copy(name, "/"), depth - 1) : add_reference(name));
  }
  if (depth != 16) return worst;
  std::string_view packed = read_file(arena_, arena_.join(git_->common, "/packed-refs"));
  while (!packed.empty() && worst < Outcome::too_much) {
    const std::size_t end = packed.find('\n'), space = packed.find(' ');
    const std::string_view line = packed.substr(0, end);
    packed = end == std::string_view::npos ? std::string_view{} : packed.substr(end + 1);
    if (space < line.size() && is_hex(line.substr(0, space)) && line.substr(space + 1, below.size()) == below) worst = worse(worst, add_reference(line.substr(space + 1)));
  }
  return worst;
}

Outcome Keep::add_reference(std::string_view name) noexcept {
  if (refs_seen_.find(name) != nullptr) return Outcome::nothing;
  const std::string_view object = reference(name);
  if (object.empty()) return Outcome::nothing;
  refs_seen_.add(name);
  refs_ += append(&ref_end_, arena_.copy(name), object);
  return worse(Outcome::kept, pin(object));
}

// What `git branch -D` takes away beside the reference.
void Keep::note_branch(std::string_view name) noexcept {
  constexpr std::size_t kLongest = 1 << 20;
  if (git_->by_program) return;
  const std::string_view log = read_file(arena_, arena_.join(git_->common, "/logs/", name)), branch = name.substr(11);
  if (!log.empty() && log.size() < kLongest) append(&log_end_, name, log);
  std::string_view config = read_file(arena_, arena_.join(git_->common, "/config"));
  const std::string_view head = arena_.copy("[branch \"", branch, "\"]");
  while (!config.empty()) {
    std::size_t end = config.find('\n');
    const std::string_view line = config.substr(0, end);
    config = end == std::string_view::npos ? std::string_view{} : config.substr(end + 1);
    if (line.substr(0, head.size()) != head) continue;
    for (end = 0; end < config.size() && config[end] != '[';) end = config.find('\n', end) == std::string_view::npos ? config.size() : config.find('\n', end) + 1;
    append(&section_end_, name, config.substr(0, end));
  }
}

// Lines `OLD NEW NAME <MAIL> SECONDS ZONE\tMESSAGE`, the newest last.
Outcome Keep::add_stashes(std::int32_t number) noexcept {
  const std::string_view log = read_file(arena_, arena_.join(git_->common, "/logs/refs/stash"));
  std::uint32_t lines = 0;
  for (const char letter : log) lines += letter == '\n';
  std::string_view* const all = arena_.take<std::string_view>(lines + 1);
  if (all == nullptr) return refuse(Outcome::too_much, "there is no memory to look at it", git_->root);
  std::string_view rest = log;
  std::uint32_t count = 0;
  while (!rest.empty() && count <= lines) {
    const std::size_t end = rest.find('\n');
    all[count++] = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  }
  Outcome worst = Outcome::nothing;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (number >= 0 && static_cast<std::uint32_t>(number) != i) continue;
    const std::string_view line = all[count - 1 - i];
    const std::size_t space = line.find(' '), tab = line.find('\t');
    if (space == std::string_view::npos) continue;
    const std::string_view object = line.substr(space + 1, line.find(' ', space + 1) - space - 1);
    const Outcome pinned = pin(object);
    worst = worse(worst, pinned);
    if (pinned >= Outcome::too_much) return pinned;
    if (refs_seen_.find(object) != nullptr) continue;
    refs_seen_.add(object);
    stashes_ += append(&stash_end_, object, tab == std::string_view::npos ? std::string_view{} : line.substr(tab + 1));
  }
  return worst;
}

Outcome Keep::add_reflogs(std::string_view path, int depth) noexcept {
  const int folder = depth == 0 ? -1 : ::open(path.data(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return Outcome::nothing;
  const char** names = nullptr;
  std::uint32_t count = 0;
  const bool whole = read_names(arena_, folder, &names, &count);
  ::close(folder);
  if (!whole) return refuse(Outcome::unseen, "it cannot be read", path);
  Outcome worst = Outcome::nothing;
  for (std::uint32_t i = 0; i < count && worst < Outcome::too_much; ++i) {
    const std::string_view name = arena_.copy(path, "/", names[i] + 1);
    struct stat about;
    if (name.data() == nullptr || ::lstat(name.data(), &about) != 0) continue;
    if (S_ISDIR(about.st_mode)) {
      worst = worse(worst, add_reflogs(name, depth - 1));
      continue;
    }
    std::string_view rest = read_file(arena_, name.data());
    while (!rest.empty() && worst < Outcome::too_much) {
      const std::size_t end = rest.find('\n');
      const std::string_view line = rest.substr(0, end);
      rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
      const std::size_t space = line.find(' ');
      if (space == std::string_view::npos) continue;
      worst = worse(worst, pin(line.substr(0, space)));
      worst = worse(worst, pin(line.substr(space + 1, line.find(' ', space + 1) - space - 1)));
    }
  }
  return worst;
}

// What stands where git needs a folder goes as well: a link, a file.
Outcome Keep::add_ways(std::string_view root, std::string_view name, std::string_view* last) noexcept {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string_view::npos || name.substr(0, slash) == *last) return Outcome::nothing;
  *last = name.substr(0, slash);
  for (std::size_t at = name.find('/'); at != std::string_view::npos; at = name.find('/', at + 1)) {
    const std::size_t mark = arena_.mark();
    const std::string_view path = arena_.copy(root, "/", name.substr(0, at));
    struct stat about;
    if (path.data() == nullptr || ::lstat(path.data(), &about) != 0) return Outcome::nothing;
    if (!S_ISDIR(about.st_mode)) return add(path, 'r', kAll, false);
    arena_.release(mark);
  }
  return Outcome::nothing;
}

Outcome Keep::look_at_git(const Effect& effect) noexcept {
  using Kind = Effect::Kind;
  Repository* const repository = facts_.repository(place(effect.folder, true));
  if (repository == nullptr) return Outcome::outside;
  const bool takes_git = effect.kind != Kind::worktree && effect.kind != Kind::untracked && effect.kind != Kind::ignored && effect.kind != Kind::incoming;
  if (takes_git) {
    if (git_ != nullptr && git_ != repository) return refuse(Outcome::unseen, "it is about more than one repository", repository->root);
    git_ = repository;
  }
  const std::string_view root = repository->root == "/" ? std::string_view{} : repository->root;
  std::string_view below;  // of the root
  if (!effect.a.empty() && (effect.kind == Kind::worktree || effect.kind == Kind::untracked || effect.kind == Kind::ignored)) {
    std::string_view path = place(effect.a, false);
    if (path.empty()) path = effect.a;  // a name that was deleted
    if (!is_below(path, repository->root)) return Outcome::nothing;
    below = path.size() == repository->root.size() ? std::string_view{} : path.substr(root.size() + 1);
  }
  Outcome worst = Outcome::nothing;
  std::string_view way;  // the folder of the name before
  switch (effect.kind) {
    case Kind::worktree:
      if (repository->index.is_broken()) return refuse(Outcome::unseen, "git's index cannot be read", repository->root);
      for (const Index::Entry* entry = below.empty() ? repository->index.begin() : repository->index.from(below); entry != repository->index.end() && worst < Outcome::too_much; ++entry) {
        const std::string_view name = entry->view();
        if (!below.empty() && !is_below(name, below)) {
          if (name.substr(0, below.size()) != below) break;
          continue;
        }
        worst = worse(worst, add_ways(root, name, &way));
        worst = worse(worst, add(arena_.copy(root, "/", name), 'r', kAtRisk, false));
      }
      return worst;
    case Kind::untracked:
    case Kind::ignored: {
      const std::uint32_t classes = bit(Class::untracked) | (effect.kind == Kind::ignored ? bit(Class::ignored) : 0u);
      nested_ = effect.number < 0 ? 1 : effect.number;
      if (below.empty()) {
        // The root stays, and what is above it does not matter.
        const std::string_view all = arena_.copy(repository->root);
        struct stat about;
        worst = ::lstat(all.data(), &about) == 0 ? add_folder(all, about, 'd', classes, true) : Outcome::nothing;
      } else {
        worst = add(arena_.copy(root, "/", below), 'd', classes, true);
      }
      nested_ = 2;
      return worst;
    }
    case Kind::incoming: {
      std::string_view names;
      if (!run_git(arena_, repository->root, {"diff-index", "--cached", "--name-only", "--no-renames", "-z", arena_.join(effect.a)}, &names)) return Outcome::nothing;  // git would refuse as well
      while (!names.empty() && worst < Outcome::too_much) {
        const std::size_t end = names.find('\0');
        worst = worse(worst, add_ways(root, names.substr(0, end), &way));
        worst = worse(worst, add(arena_.copy(root, "/", names.substr(0, end)), 'r', kAll, false));
        names = end == std::string_view::npos ? std::string_view{} : names.substr(end + 1);
      }
      return worst;
    }
    case Kind::index:
      index_ = true;
      worst = add_reference("HEAD");  // an undo gives the index back where HEAD is what it was
      return worst >= Outcome::too_much ? worst : Outcome::nothing;
    case Kind::ref:
      if (!effect.a.empty() && effect.a.back() == '/') {
        if (git_->by_program) return refuse(Outcome::unseen, "its references are not files", git_->root);
        worst = add_references(effect.a, 16);
        return worst >= Outcome::too_much ? worst : Outcome::nothing;
      }
      worst = add_reference(effect.a);
      if (worst == Outcome::kept && effect.a.substr(0, 11) == "refs/heads/") note_branch(arena_.copy(effect.a));
      loses_commits_ = loses_commits_ || worst == Outcome::kept;
      return worst;
    case Kind::head: {
      const std::string_view text = read_file(arena_, arena_.join(git_->git_folder, "/HEAD"));
      worst = add_reference("HEAD");
      if (text.substr(0, 5) == "ref: ") worst = worse(worst, add_reference(text.substr(5, text.find('\n') - 5)));
      return worst >= Outcome::too_much ? worst : Outcome::nothing;
    }
    case Kind::stash: return add_stashes(effect.number);
    case Kind::reflogs:
      worst = add_reflogs(arena_.copy(git_->git_folder, "/logs"), 16);
      if (git_->common != git_->git_folder) worst = worse(worst, add_reflogs(arena_.copy(git_->common, "/logs"), 16));
      loses_commits_ = loses_commits_ || worst == Outcome::kept;
      return worst;
    default: return Outcome::nothing;
  }
}

Outcome Keep::look(const Effect& effect) noexcept {
  using Kind = Effect::Kind;
  switch (effect.kind) {
    case Kind::remove: {
      const std::string_view path = place(effect.a, false);
      if (path.empty()) return arena_.full() ? refuse(Outcome::too_much, "there is no memory to look at it", effect.a) : Outcome::absent;
      if (gone_count_ < 64) gone_[gone_count_++] = path;
      return add(path, 'd', kAll, true);
    }
    case Kind::write: {
      const std::string_view path = place(effect.a, true);
      struct stat about;  // of what something is added to, only what is small is kept: none of it is lost
      if (effect.number == 1 && !path.empty() && ::lstat(path.data(), &about) == 0 && about.st_size > kAppended) return Outcome::nothing;
      return path.empty() ? Outcome::absent : add(path, 'w', kAll, false);
    }
    case Kind::replace:
    case Kind::below: {
      const std::string_view path = place(effect.a, false);
      if (path.empty()) return Outcome::absent;
      return effect.kind == Kind::replace ? add(path, 'r', kAll, false) : add(path, 'r', kAtRisk, true);
    }
    case Kind::move: return look_at_move(effect);
    case Kind::elsewhere: return refuse(Outcome::unseen, "it works on a repository that is named in another way than by its folder", effect.folder);
    case Kind::inside: {
      Repository* const repository = facts_.repository(place(effect.folder, true));
      if (repository == nullptr) return Outcome::outside;
      if (inside_ == repository) return inside_outcome_;
      inside_ = repository;
      inside_from_ = entry_count_;
      lenient_ = true;
      inside_outcome_ = add(arena_.copy(repository->root), 'w', kAtRisk, true);
      lenient_ = false;
      inside_count_ = entry_count_ - inside_from_;
      return inside_outcome_;
    }
    default: return look_at_git(effect);
  }
}

}  // namespace tipstaff::undo
