// Writes what is kept: contents, manifest, pins, and only then the name that counts.
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

#if defined(__linux__)
#include <sys/ioctl.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#else
#include <sys/mount.h>
#include <sys/param.h>
#endif

#include "tipstaff/hook/json.hpp"
#include "tipstaff/hook/state.hpp"
#include "tipstaff/undo/git.hpp"
#include "tipstaff/undo/keep.hpp"
#include "tipstaff/undo/sha1.hpp"

namespace tipstaff::undo {

namespace {

constexpr std::size_t kPacked = 256 << 10;

std::uint64_t now_ms() noexcept {
  timespec at;
  ::clock_gettime(CLOCK_MONOTONIC, &at);
  return static_cast<std::uint64_t>(at.tv_sec) * 1000 + static_cast<std::uint64_t>(at.tv_nsec) / 1000000;
}

// Decimal digits after a text.
struct Decimal {
  char text[24];
  std::size_t size = 0;
  explicit Decimal(std::uint64_t value) noexcept {
    char digits[24];
    do digits[size++] = static_cast<char>('0' + value % 10);
    while ((value /= 10) != 0);
    for (std::size_t i = 0; i < size; ++i) text[i] = digits[size - 1 - i];
  }
  std::string_view view() const noexcept { return {text, size}; }
};

// Text and bytes that go to a file in large parts, and their checksum.
class Out {
 public:
  Out(int file, char* memory, std::size_t bytes) noexcept : file_(file), memory_(memory), room_(bytes) {}

  Out& raw(std::string_view text) noexcept {
    sum_.update(text.data(), text.size());
    total_ += text.size();
    while (!text.empty() && !failed_) {
      if (used_ == room_) flush();
      const std::size_t taken = text.size() < room_ - used_ ? text.size() : room_ - used_;
      std::memcpy(memory_ + used_, text.data(), taken);
      used_ += taken;
      text.remove_prefix(taken);
    }
    return *this;
  }
  Out& number(std::uint64_t value) noexcept { return raw(Decimal(value).view()); }
  // Bytes that are no UTF-8 become the halves of surrogate pairs that Python's file names have.
  Out& string(std::string_view text) noexcept {
    raw("\"");
    std::size_t from = 0;
    for (std::size_t at = 0; at < text.size();) {
      const unsigned char byte = static_cast<unsigned char>(text[at]);
      const std::size_t size = byte < 0x80 ? 1 : hook::Writer::sequence(text, at);
      if (size != 0 && byte >= 0x20 && byte != '"' && byte != '\\' && byte != 0x7f) {
        at += size;
        continue;
      }
      raw(text.substr(from, at - from));
      const char code[6] = {'\\', 'u', size == 0 ? 'd' : '0', size == 0 ? 'c' : '0', "0123456789abcdef"[byte >> 4], "0123456789abcdef"[byte & 15]};
      raw({code, 6});
      from = ++at;
    }
    return raw(text.substr(from)).raw("\"");
  }
  Out& hex(const unsigned char* bytes, std::size_t size) noexcept {
    raw("\"");
    for (std::size_t i = 0; i < size; ++i) {
      const char pair[2] = {"0123456789abcdef"[bytes[i] >> 4], "0123456789abcdef"[bytes[i] & 15]};
      raw({pair, 2});
    }
    return raw("\"");
  }
  void flush() noexcept {
    if (!failed_) failed_ = !hook::write_whole(file_, {memory_, used_});
    used_ = 0;
  }
  bool failed() const noexcept { return failed_; }
  std::uint64_t total() const noexcept { return total_; }
  std::uint32_t sum() const noexcept { return sum_.value(); }
  void start() noexcept {
    sum_ = Crc32();
    total_ = 0;
  }

 private:
  int file_;
  char* memory_;
  std::size_t room_, used_ = 0;
  std::uint64_t total_ = 0;
  Crc32 sum_;
  bool failed_ = false;
};

bool is_same(const struct stat& one, const struct stat& other) noexcept {
  return one.st_ino == other.st_ino && one.st_dev == other.st_dev && one.st_size == other.st_size && modified_ns(one) == modified_ns(other);
}

bool shares_blocks(int from, int to) noexcept {
#if defined(__linux__)
  constexpr unsigned long kClone = 0x40049409;  // FICLONE
  return ::ioctl(to, kClone, from) == 0;
#else
  (void)from, (void)to;
  return false;
#endif
}

// By extents, so that holes stay holes. 1: whole, 0: it cannot be, -1: the time is up.
int copy_extents(int from, int to, off_t size, char* memory, std::size_t room, std::uint64_t deadline_ms) noexcept {
  if (::ftruncate(to, size) != 0) return 0;
  for (off_t at = 0; at < size;) {
#if defined(SEEK_DATA)
    const off_t data = ::lseek(from, at, SEEK_DATA);
    if (data < 0 && errno == ENXIO) break;  // a hole up to the end
    const off_t hole = data < 0 ? -1 : ::lseek(from, data, SEEK_HOLE);
    if (data >= 0) at = data;
    off_t end = hole > at ? hole : size;
#else
    off_t end = size;
#endif
    if (end > size) end = size;
    while (at < end) {
      if (now_ms() > deadline_ms) return -1;
      const std::size_t wanted = end - at < (8 << 20) ? static_cast<std::size_t>(end - at) : 8u << 20;
      ssize_t done = -1;
#if defined(__linux__)
      off_t source = at, target = at;
      done = ::copy_file_range(from, &source, to, &target, wanted, 0);
#endif
      if (done < 0) {
        done = ::pread(from, memory, wanted < room ? wanted : room, at);
        for (ssize_t put = 0; done > 0 && put < done;) {
          const ssize_t some = ::pwrite(to, memory + put, static_cast<std::size_t>(done - put), at + put);
          if (some <= 0) return 0;
          put += some;
        }
      }
      if (done < 0) return 0;
      if (done == 0) return 1;  // it became shorter
      at += done;
    }
  }
  return 1;
}

// What a move takes along: all that is no folder, by its path below what is moved.
struct Listed {
  std::string_view name;
  struct stat about;
  Listed* next;
};

void list_files(Arena& arena, std::string_view path, std::string_view below, Listed** first, std::uint32_t* count, int depth) noexcept {
  struct stat about;
  const std::string_view whole = below.empty() ? arena.copy(path) : arena.copy(path, "/", below);
  if (whole.data() == nullptr || depth > 256 || ::lstat(whole.data(), &about) != 0) return;
  if (!S_ISDIR(about.st_mode)) {
    Listed* const made = arena.take<Listed>();
    if (made == nullptr) return;
    *made = {below, about, *first};
    *first = made;
    ++*count;
    return;
  }
  const int folder = ::open(whole.data(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  const char** names = nullptr;
  std::uint32_t found = 0;
  const bool read = read_names(arena, folder, &names, &found);
  ::close(folder);
  for (std::uint32_t i = 0; read && i < found; ++i)
    list_files(arena, path, below.empty() ? arena.copy(names[i] + 1) : arena.copy(below, "/", names[i] + 1), first, count, depth + 1);
}

void write_listing(Arena& arena, Out& out, Listed* first, std::uint32_t count) noexcept {
  Listed** const all = arena.take<Listed*>(count + 1);
  if (all == nullptr) return;
  for (std::uint32_t i = 0; first != nullptr; first = first->next) all[i++] = first;
  std::sort(all, all + count, [](const Listed* one, const Listed* other) noexcept { return one->name < other->name; });
  for (std::uint32_t i = 0; i < count; ++i)
    out.raw(i == 0 ? "[" : ", [").string(all[i]->name).raw(", ").number(static_cast<std::uint64_t>(all[i]->about.st_size)).raw(", ").number(modified_ns(all[i]->about)).raw("]");
}

bool sync_folder(const char* path) noexcept {
  const int folder = ::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return false;
  const bool done = ::fsync(folder) == 0;
  ::close(folder);
  return done;
}

// Files of the same tick as the index are compared by git; a copy of it must not look younger.
bool take_times(int file, const struct stat& about) noexcept {
#if defined(__APPLE__)
  const timespec times[2] = {about.st_mtimespec, about.st_mtimespec};
#else
  const timespec times[2] = {about.st_mtim, about.st_mtim};
#endif
  return ::futimens(file, times) == 0;
}

std::uint64_t born_ns(const char* path) noexcept {
#if defined(__linux__) && defined(STATX_BTIME)
  struct statx about;
  if (::statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_BTIME, &about) != 0 || (about.stx_mask & STATX_BTIME) == 0) return 0;
  return static_cast<std::uint64_t>(about.stx_btime.tv_sec) * 1000000000u + about.stx_btime.tv_nsec;
#else
  (void)path;
  return 0;
#endif
}

}  // namespace

bool Keep::too_late() const noexcept { return deadline_ms_ != 0 && now_ms() > deadline_ms_; }

// Contents of one file: packed into `keep`, or a file of its own.
bool Keep::write_one(Entry& entry, std::string_view half, int keep) noexcept {
  const auto fail = [&](std::string_view why) noexcept {
    refuse(Outcome::unseen, why, entry.path);
    return false;
  };
  const int file = ::open(entry.path.data(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return fail("it cannot be read");
  struct stat about, after;
  bool done = ::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_ino == entry.about.st_ino && about.st_dev == entry.about.st_dev;
  std::string_view why = done ? std::string_view{} : "it was replaced while it was read";
  if (done && about.st_size <= static_cast<off_t>(kPacked)) {
    const std::size_t mark = arena_.mark();
    char* const text = arena_.take<char>(kPacked + 1);
    if (text == nullptr) why = "there is no memory to copy it";
    std::size_t size = 0;
    for (int tries = 0; why.empty(); ++tries) {
      size = 0;
      for (ssize_t got; size <= kPacked && (got = ::pread(file, text + size, kPacked + 1 - size, static_cast<off_t>(size))) != 0;) {
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
          why = "it cannot be read";
          break;
        }
        size += static_cast<std::size_t>(got);
      }
      if (::fstat(file, &after) == 0 && is_same(about, after) && size <= kPacked) break;
      if (tries == 1 || size > kPacked) {
        entry.torn = true;
        if (size > kPacked) size = kPacked;
        break;
      }
      about = after;
    }
    if (why.empty()) {
      Crc32 sum;
      sum.update(text, size);
      entry.crc = sum.value();
      entry.at = written_;
      entry.about = about;
      entry.about.st_size = static_cast<off_t>(size);
      if (hook::write_whole(keep, {text, size})) written_ += size;
      else why = "the disk is full";
    }
    if (text != nullptr) arena_.release(mark);
  } else if (done) {
    const char* const name = arena_.join(half, "/", Decimal(files_).view());
    entry.file = static_cast<std::int32_t>(files_);
    const int out = name == nullptr ? -1 : ::open(name, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (out < 0) {
      why = "the disk is full, or the state folder cannot be written";
    } else {
      ++files_;
      bool whole = shares_blocks(file, out);
      // Programs that only take a name away leave the contents as they are: a second name holds them.
      if (!whole && entry.how == 'd' && about.st_nlink == 1 && about.st_uid == ::geteuid() && ::unlink(name) == 0) {
        entry.linked = whole = ::link(entry.path.data(), name) == 0;
        if (!whole) {
          const int again = ::open(name, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
          if (again < 0) why = "the disk is full, or the state folder cannot be written";
          else ::close(again);
        }
      }
      const std::size_t mark = arena_.mark();
      char* const memory = whole ? nullptr : arena_.take<char>(1 << 20);
      const int target = whole ? -1 : ::open(name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
      for (int tries = 0; !whole && why.empty(); ++tries) {
        const int copied = memory == nullptr || target < 0 ? 0 : copy_extents(file, target, about.st_size, memory, 1 << 20, deadline_ms_);
        if (copied <= 0) why = copied < 0 ? "it takes longer than a call may wait" : "the disk is full";
        if (::fstat(file, &after) != 0 || is_same(about, after)) break;
        if (tries == 1) {
          entry.torn = true;
          break;
        }
        about = after;
      }
      entry.about = about;
      if (why.empty() && !entry.linked && ::fsync(target >= 0 ? target : out) != 0) why = "the disk is full";
      if (target >= 0) ::close(target);
      if (memory != nullptr) arena_.release(mark);
      ::close(out);
    }
  }
  ::close(file);
  if (why.empty() && about.st_nlink > 1) {  // its other names stay; undo makes this one theirs again
    const char* const name = arena_.join(half, "/same", Decimal(sames_).view());
    if (name != nullptr && ::link(entry.path.data(), name) == 0) entry.same = static_cast<std::int32_t>(sames_++);
  }
  return why.empty() ? true : fail(why);
}

bool Keep::write_contents(std::string_view half) noexcept {
  const int keep = ::open(arena_.join(half, "/keep"), O_CREAT | O_EXCL | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (keep < 0) {
    refuse(Outcome::unseen, "the state folder cannot be written", half);
    return false;
  }
  bool done = true;
  for (std::uint32_t i = 0; i < entry_count_ && done; ++i) {
    if (entry(i).how == 0) continue;
    if (too_late()) {
      refuse(Outcome::too_much, "it takes longer than a call may wait", entry(i).path);
      done = false;
    } else {
      done = write_one(entry(i), half, keep);
    }
  }
  ::close(keep);
  return done;
}

// A copy of the index, and a tree of it, since `git write-tree` takes the lock of the one that it works on.
bool Keep::write_index(std::string_view half) noexcept {
  const int from = ::open(arena_.join(git_->git_folder, "/index"), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (from < 0) return true;
  struct stat about;
  const char* const path = arena_.join(half, "/index");
  const int to = path == nullptr ? -1 : ::open(path, O_CREAT | O_EXCL | O_RDWR | O_NOFOLLOW | O_CLOEXEC, 0600);
  const std::size_t mark = arena_.mark();
  char* const memory = arena_.take<char>(1 << 16);
  const bool done = to >= 0 && memory != nullptr && ::fstat(from, &about) == 0 && copy_extents(from, to, about.st_size, memory, 1 << 16, deadline_ms_ + 1000) == 1 && take_times(to, about) && ::fsync(to) == 0;
  if (memory != nullptr) arena_.release(mark);
  ::close(from);
  if (to >= 0) ::close(to);
  if (!done) {
    refuse(Outcome::unseen, "git's index cannot be copied", half);
    return false;
  }
  has_index_ = true;
  if (git_->index.is_broken()) return true;
  bool staged = false, conflicts = false;
  for (const Index::Entry& one : git_->index) {
    const std::string_view name = one.view();
    const std::size_t slash = name.rfind('/');
    conflicts = conflicts || one.special;
    staged = staged || !git_->index.is_tree(slash == std::string_view::npos ? std::string_view{} : name.substr(0, slash));
  }
  if (!staged) return true;
  std::string_view tree;
  if (!conflicts && run_git(arena_, git_->root, {"write-tree"}, &tree, path)) return pin(tree.substr(0, tree.find('\n'))) < Outcome::too_much;
  std::uint32_t count = 0;
  for (const Index::Entry& one : git_->index) {  // no tree can be written: each object gets a pin
    const std::string_view name = one.view();
    const std::size_t slash = name.rfind('/');
    if (!one.special && git_->index.is_tree(slash == std::string_view::npos ? std::string_view{} : name.substr(0, slash))) continue;
    char* const hex = arena_.take<char>(2 * git_->index.object_bytes());
    if (hex == nullptr || ++count > 1000) break;
    for (std::size_t i = 0; i < git_->index.object_bytes(); ++i) {
      hex[2 * i] = "0123456789abcdef"[one.object()[i] >> 4];
      hex[2 * i + 1] = "0123456789abcdef"[one.object()[i] & 15];
    }
    if (pin({hex, 2 * git_->index.object_bytes()}) >= Outcome::too_much) return false;
  }
  return true;
}

// References to what git would drop, as files where they are files. What git has lost already gets none.
bool Keep::write_pins(std::string_view id) noexcept {
  if (pins_ == 0) return true;
  std::string_view asked, found;
  const std::size_t size = git_->index.object_bytes() * 2;
  char* const lines = arena_.take<char>((size + 1) * pins_);
  if (lines == nullptr) return false;
  std::size_t used = 0;
  for (const Text* one = pin_first_; one != nullptr && used + one->text.size() < (size + 1) * pins_; one = one->next) {
    if (!one->text.empty()) std::memcpy(lines + used, one->text.data(), one->text.size());
    used += one->text.size();
    lines[used++] = '\n';
  }
  asked = {lines, used};
  if (!run_git(arena_, git_->root, {"cat-file", "--batch-check=%(objecttype)"}, &found, nullptr, asked)) {
    refuse(Outcome::unseen, "git does not answer", git_->root);
    return false;
  }
  Text** at = &pin_first_;
  pins_ = 0;
  while (*at != nullptr) {
    const std::size_t end = found.find('\n');
    const bool missing = found.substr(0, end).find("missing") != std::string_view::npos;
    found = end == std::string_view::npos ? std::string_view{} : found.substr(end + 1);
    if (missing) *at = (*at)->next;
    else ++pins_, at = &(*at)->next;
  }
  if (git_->by_program) {
    char* const text = arena_.take<char>(pins_ * (id.size() + size + 64));
    if (text == nullptr) return false;
    std::size_t bytes = 0, i = 0;
    for (const Text* one = pin_first_; one != nullptr; one = one->next, ++i) {
      const std::string_view parts[] = {"create refs/tipstaff/", id, "/", Decimal(i).view(), " ", one->text, "\n"};
      for (const std::string_view part : parts) {
        if (!part.empty()) std::memcpy(text + bytes, part.data(), part.size());
        bytes += part.size();
      }
    }
    if (run_git(arena_, git_->root, {"update-ref", "--stdin"}, nullptr, nullptr, {text, bytes})) return true;
    refuse(Outcome::unseen, "what git would drop cannot be pinned", git_->root);
    return false;
  }
  const std::string_view folder = arena_.copy(arena_.copy(git_->common, "/refs/tipstaff/"), id);
  bool done = folder.data() != nullptr && (::mkdir(arena_.join(git_->common, "/refs/tipstaff"), 0777) == 0 || errno == EEXIST) && ::mkdir(folder.data(), 0777) == 0;
  for (const Text* one = pin_first_; one != nullptr && done; one = one->next, ++pins_written_) {
    const char* const name = arena_.join(folder, "/", Decimal(pins_written_).view());
    const char* const lock = name == nullptr ? nullptr : arena_.join(name, ".lock");
    const int file = lock == nullptr ? -1 : ::open(lock, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
    done = file >= 0 && hook::write_whole(file, one->text) && hook::write_whole(file, "\n") && ::fsync(file) == 0;
    if (file >= 0) ::close(file);
    done = done && ::rename(lock, name) == 0;
    if (file >= 0 && !done) ::unlink(lock);
  }
  if (done) done = sync_folder(folder.data());
  if (!done) refuse(Outcome::unseen, "what git would drop cannot be pinned", git_->root);
  return done;
}

bool Keep::write_manifest(int keep, std::string_view command, std::string_view session, std::string_view root, std::uint64_t time, std::string_view id) noexcept {
  char* const memory = arena_.take<char>(1 << 16);
  if (memory == nullptr) return false;
  Out out(keep, memory, 1 << 16);
  out.raw("{\"version\": 1, \"command\": ").string(command.substr(0, 4096)).raw(", \"session\": ").string(session);
  out.raw(", \"time\": ").number(time).raw(", \"root\": ").string(root).raw(", \"moves\": [");
  for (const Text* one = move_first_; one != nullptr; one = one->next) {
    out.raw(one == move_first_ ? "[" : ", [").string(one->text).raw(", ").string(one->more).raw(", [");
    Listed* first = nullptr;
    std::uint32_t count = 0;
    list_files(arena_, one->text, {}, &first, &count, 0);
    write_listing(arena_, out, first, count);
    out.raw("]]");
  }
  out.raw("], \"absent\": [");
  for (const Text* one = absent_first_; one != nullptr; one = one->next) out.raw(one == absent_first_ ? "" : ", ").string(one->text);
  out.raw("], \"counts\": {");
  bool first = true;
  for (std::uint32_t i = 0; i < kClasses; ++i) {
    if (counts_[i] == 0) continue;
    out.raw(first ? "" : ", ").string(name_of(static_cast<Class>(i))).raw(": ").number(counts_[i]);
    first = false;
  }
  out.raw("}, \"git\": ");
  if (git_ == nullptr) {
    out.raw("null");
  } else {
    char head[4200];
    const int file = ::open(arena_.join(git_->git_folder, "/HEAD"), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const ssize_t got = file < 0 ? 0 : ::read(file, head, sizeof head);
    if (file >= 0) ::close(file);
    std::string_view branch(head, got > 0 ? static_cast<std::size_t>(got) : 0);
    branch = branch.substr(0, 5) == "ref: " ? branch.substr(5, branch.find('\n') - 5) : std::string_view{};
    out.raw("{\"root\": ").string(git_->root).raw(", \"dir\": ").string(git_->git_folder).raw(", \"common\": ").string(git_->common);
    out.raw(", \"head\": ").string(branch).raw(", \"refs\": {");
    for (const Text* one = ref_first_; one != nullptr; one = one->next) out.raw(one == ref_first_ ? "" : ", ").string(one->text).raw(": ").string(one->more);
    const auto texts = [&out](std::string_view key, const Text* one) noexcept {
      out.raw("}, \"").raw(key).raw("\": {");
      for (const char* comma = ""; one != nullptr; one = one->next, comma = ", ") out.raw(comma).string(one->text).raw(": ").string(one->more);
    };
    texts("logs", log_first_);
    texts("sections", section_first_);
    out.raw("}, \"stashes\": [");
    for (const Text* one = stash_first_; one != nullptr; one = one->next) out.raw(one == stash_first_ ? "[" : ", [").string(one->text).raw(", ").string(one->more).raw("]");
    out.raw("], \"index\": ").raw(has_index_ ? "true" : "false").raw(", \"pins\": ");
    if (pins_ == 0) out.raw("\"\"");
    else out.raw("\"refs/tipstaff/").raw(id).raw("/\"");
    out.raw(", \"pinned\": [");
    for (const Text* one = pin_first_; one != nullptr; one = one->next) out.raw(one == pin_first_ ? "" : ", ").string(one->text);
    out.raw("]}");
  }
  out.raw(", \"files\": [");
  for (std::uint32_t i = 0; i < entry_count_; ++i) {
    const Entry& one = entry(i);
    out.raw(i == 0 ? "\n{\"path\": " : ",\n{\"path\": ").string(one.path).raw(", \"class\": ").string(name_of(one.kind));
    out.raw(", \"mode\": ").number(one.about.st_mode).raw(", \"uid\": ").number(one.about.st_uid).raw(", \"gid\": ").number(one.about.st_gid);
    out.raw(", \"mtime\": ").number(modified_ns(one.about)).raw(", \"size\": ").number(static_cast<std::uint64_t>(one.about.st_size));
    out.raw(", \"ino\": ").number(one.about.st_ino).raw(", \"dev\": ").number(one.about.st_dev).raw(", \"nlink\": ").number(one.about.st_nlink);
    out.raw(", \"birth\": ").number(born_ns(one.path.data()));
#if defined(__linux__)
    char names[4096], value[4096];
    const ssize_t listed = ::llistxattr(one.path.data(), names, sizeof names);
    bool any = false;
    for (ssize_t at = 0; at < listed;) {
      const std::string_view name = names + at;
      at += static_cast<ssize_t>(name.size()) + 1;
      const ssize_t size = ::lgetxattr(one.path.data(), name.data(), value, sizeof value);
      if (size < 0) continue;
      out.raw(any ? ", " : ", \"xattrs\": {").string(name).raw(": ").hex(reinterpret_cast<const unsigned char*>(value), static_cast<std::size_t>(size));
      any = true;
    }
    if (any) out.raw("}");
#endif
    if (S_ISLNK(one.about.st_mode) && one.object == nullptr) out.raw(", \"link\": ").string(one.link);
    if (one.object != nullptr && one.kind == Class::unchanged)
      out.raw(", \"object\": ").hex(one.object, one.repository->index.object_bytes()).raw(", \"repository\": ").string(one.repository->root);
    if (one.how != 0) {
      out.raw(", \"how\": ").string(one.how == 'd' ? "delete" : one.how == 'r' ? "replace" : "write");
      if (one.file >= 0) out.raw(", \"file\": ").string(Decimal(static_cast<std::uint64_t>(one.file)).view());
      else out.raw(", \"at\": ").number(one.at).raw(", \"crc\": ").number(one.crc);
      if (one.linked) out.raw(", \"linked\": true");
      if (one.same >= 0) out.raw(", \"same\": \"same").number(static_cast<std::uint64_t>(one.same)).raw("\"");
      if (one.torn) out.raw(", \"torn\": true");
    }
    out.raw("}");
  }
  out.raw("]}");
  unsigned char trailer[24];
  const std::uint64_t size = out.total();
  const std::uint32_t sum = out.sum();
  std::memcpy(trailer, "tipkeep1", 8);
  for (int i = 0; i < 8; ++i) trailer[8 + i] = static_cast<unsigned char>(size >> (8 * i));
  for (int i = 0; i < 4; ++i) trailer[16 + i] = static_cast<unsigned char>(sum >> (8 * i));
  Crc32 own;
  own.update(trailer, 20);
  for (int i = 0; i < 4; ++i) trailer[20 + i] = static_cast<unsigned char>(own.value() >> (8 * i));
  out.raw({reinterpret_cast<const char*>(trailer), 24});
  out.flush();
  if (out.failed()) refuse(Outcome::unseen, "the disk is full", root);
  return !out.failed();
}

namespace {

// STATE/undo/.after-<hash of the session>: the keep, git's two folders, and the references, one a line.
const char* after_file(Arena& arena, std::string_view state, std::string_view session) noexcept {
  char hex[16];
  hook::Writer(hex, sizeof hex).hex(hook::fnv64(session));
  return arena.join(state, "/undo/.after-", {hex, 16});
}

}  // namespace

void Keep::ask_for_after(std::string_view state, std::string_view session, std::string_view folder) noexcept {
  if (git_ == nullptr || refs_ == 0 || git_->by_program || session.empty()) return;
  const char* const path = after_file(arena_, state, session);
  const int file = path == nullptr ? -1 : ::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  char* const memory = arena_.take<char>(4096);
  if (file >= 0 && memory != nullptr) {
    Out out(file, memory, 4096);
    out.raw(folder).raw("\n").raw(git_->git_folder).raw("\n").raw(git_->common).raw("\n");
    for (const Text* one = ref_first_; one != nullptr; one = one->next) out.raw(one->text).raw("\n");
    out.flush();
  }
  if (file >= 0) ::close(file);
}

void write_after(std::string_view state, std::string_view session) noexcept {
  if (session.empty()) return;
  Arena arena(std::size_t{64} << 20);
  const char* const path = after_file(arena, state, session);
  const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  char* const text = arena.take<char>(1 << 20);
  if (file < 0 || text == nullptr) return;
  const ssize_t got = ::read(file, text, 1 << 20);
  ::close(file);
  ::unlink(path);
  std::string_view rest(text, got > 0 ? static_cast<std::size_t>(got) : 0), head[3];
  const auto line = [&rest]() noexcept {
    const std::size_t end = rest.find('\n');
    const std::string_view found = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    return found;
  };
  for (std::string_view& one : head) one = line();
  const char* const made = arena.join(head[0], "/.after");
  char* const memory = arena.take<char>(4096);
  const int to = made == nullptr || memory == nullptr ? -1 : ::open(made, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (to < 0) return;
  Out out(to, memory, 4096);
  out.raw("{");
  for (bool first = true; !rest.empty(); first = false) {
    const std::string_view name = line();
    out.raw(first ? "" : ", ").string(name).raw(": ").string(reference_in(arena, head[1], head[2], name));
  }
  out.raw("}");
  out.flush();
  ::close(to);
  if (!out.failed()) ::rename(made, arena.join(head[0], "/after"));
}

void Keep::remove_half(std::string_view half, std::string_view id) noexcept {
  for (const std::string_view name : {std::string_view("/keep"), std::string_view("/index")}) ::unlink(arena_.join(half, name));
  for (std::uint32_t i = 0; i < files_; ++i) ::unlink(arena_.join(half, "/", Decimal(i).view()));
  for (std::uint32_t i = 0; i < sames_; ++i) ::unlink(arena_.join(half, "/same", Decimal(i).view()));
  ::rmdir(half.data());
  if (git_ == nullptr || pins_ == 0) return;
  const std::string_view folder = arena_.copy(arena_.copy(git_->common, "/refs/tipstaff/"), id);
  for (std::uint32_t i = 0; i < pins_written_; ++i) ::unlink(arena_.join(folder, "/", Decimal(i).view()));
  ::rmdir(folder.data());
}

bool Keep::finish(std::string_view state, std::string_view command, std::string_view session, std::string_view working, std::string_view root, std::string_view* folder) noexcept {
  *folder = {};
  if (is_empty()) return true;
  if (root.empty())
    if (Repository* const own = facts_.repository(place(working, true)); own != nullptr) root = own->root;
  if (root.empty() && git_ != nullptr) root = git_->root;
  if (root.empty() && entry_count_ != 0)
    if (Repository* const own = facts_.repository(folder_of(entry(0).path)); own != nullptr) root = own->root;
  if (root.empty() && move_first_ != nullptr)
    if (Repository* const own = facts_.repository(folder_of(move_first_->text)); own != nullptr) root = own->root;
  deadline_ms_ = now_ms() + limits_.milliseconds;
  unsigned char digest[20];
  Sha1 sha1;
  sha1.update(root);
  sha1.finish(digest);
  char hex[16];
  for (int i = 0; i < 8; ++i) hex[2 * i] = "0123456789abcdef"[digest[i] >> 4], hex[2 * i + 1] = "0123456789abcdef"[digest[i] & 15];
  const std::string_view store = arena_.copy(state, "/undo/", {hex, 16});
  struct statfs disk;
  if (store.data() == nullptr || !hook::make_folders(store.data())) {
    refuse(Outcome::unseen, "the state folder cannot be written", state);
    return false;
  }
  if (::statfs(store.data(), &disk) != 0 || static_cast<std::uint64_t>(disk.f_bavail) * static_cast<std::uint64_t>(disk.f_bsize) < bytes_ + limits_.free) {
    refuse(Outcome::too_much, "the disk is nearly full", state);
    return false;
  }
  timespec at;
  ::clock_gettime(CLOCK_REALTIME, &at);
  const std::uint64_t time = static_cast<std::uint64_t>(at.tv_sec) * 1000000000u + static_cast<std::uint64_t>(at.tv_nsec);
  // What the last such keep of this repository has is not copied again.
  const char* const seen = only_inside() ? arena_.join(state, "/undo/.seen-", {hex, 16}) : nullptr;
  std::uint64_t sum = entry_count_;
  if (seen != nullptr) {
    for (std::uint32_t i = 0; i < entry_count_; ++i) {
      const Entry& one = entry(i);
      for (const std::uint64_t part : {hash_of(one.path), std::uint64_t{one.about.st_ino}, static_cast<std::uint64_t>(one.about.st_size), modified_ns(one.about), std::uint64_t{one.about.st_mode}})
        sum = (sum ^ part) * 0x100000001b3u + (sum >> 31);
    }
    char line[256];
    const int file = ::open(seen, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    const ssize_t got = file < 0 ? 0 : ::read(file, line, sizeof line);
    if (file >= 0) ::close(file);
    const std::string_view text(line, got > 0 ? static_cast<std::size_t>(got) : 0);
    const std::size_t space = text.find(' ');
    if (space != std::string_view::npos && text.substr(space + 1) == Decimal(sum).view()) {
      const std::string_view former = arena_.copy(store, "/", text.substr(0, space));
      if (former.data() != nullptr && ::access(former.data(), F_OK) == 0) {
        *folder = former;
        return true;
      }
    }
  }
  const std::string_view begin = arena_.copy(Decimal(time).view(), "-", Decimal(static_cast<std::uint64_t>(::getpid())).view());
  const std::string_view id = arena_.copy(begin, "-", Decimal(bytes_).view());
  const std::string_view half = arena_.copy(store, "/.", id), whole = arena_.copy(store, "/", id);
  if (whole.data() == nullptr || ::mkdir(half.data(), 0700) != 0) {
    refuse(Outcome::unseen, "the state folder cannot be written", state);
    return false;
  }
  bool done = write_contents(half) && (!index_ || write_index(half)) && write_pins(id);
  if (done) {
    const int keep = ::open(arena_.join(half, "/keep"), O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC);
    done = keep >= 0 && write_manifest(keep, command, session, root, time, id);
    // What git alone would give back needs no flush.
    const bool flush = kept_files_ != 0 || pins_ != 0 || has_index_ || lost_files_ != 0;
    if (done && flush && ::fsync(keep) != 0) {
      done = false;
      refuse(Outcome::unseen, "the disk is full", state);
    }
    if (keep >= 0) ::close(keep);
    done = done && (!flush || sync_folder(half.data())) && !arena_.full() && ::rename(half.data(), whole.data()) == 0;
    if (done && flush) sync_folder(store.data());
  }
  if (!done) {
    refuse(Outcome::unseen, "the state folder cannot be written", state);
    remove_half(half, id);
    return false;
  }
  if (seen != nullptr) {
    const int file = ::open(seen, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (file >= 0) {
      hook::write_whole(file, arena_.copy(id, " ", Decimal(sum).view()));
      ::close(file);
    }
  }
  ask_for_after(state, session, whole);
  *folder = whole;
  return true;
}

}  // namespace tipstaff::undo
