// git's index: what it follows, and whether a file is as it was.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tipstaff/hook/sha256.hpp"
#include "tipstaff/undo/facts.hpp"
#include "tipstaff/undo/git.hpp"
#include "tipstaff/undo/sha1.hpp"

namespace tipstaff::undo {

namespace {

constexpr std::size_t kStatBytes = 40;
constexpr off_t kLongest = off_t{1} << 30, kLongestHashed = 64 << 20;

std::uint32_t number_at(const unsigned char* at) noexcept {
  return static_cast<std::uint32_t>(at[0]) << 24 | static_cast<std::uint32_t>(at[1]) << 16 | static_cast<std::uint32_t>(at[2]) << 8 | at[3];
}

int order(std::string_view left, std::string_view right) noexcept {
  const std::size_t same = left.size() < right.size() ? left.size() : right.size();
  const int found = same == 0 ? 0 : std::memcmp(left.data(), right.data(), same);
  return found != 0 ? found : left.size() < right.size() ? -1 : left.size() > right.size() ? 1 : 0;
}

// The numbers and letters of `git ls-files --debug`, one after another.
struct Listing {
  std::string_view text;
  bool whole = true;

  void skip(std::string_view wanted) noexcept {
    if (text.substr(0, wanted.size()) == wanted) text.remove_prefix(wanted.size());
    else whole = false;
  }
  std::uint64_t number(int base = 10) noexcept {
    std::uint64_t value = 0;
    std::size_t used = 0;
    for (; used < text.size(); ++used) {
      const char letter = text[used];
      const int digit = letter >= '0' && letter <= '9' ? letter - '0' : letter >= 'a' && letter <= 'f' ? letter - 'a' + 10 : 99;
      if (digit >= base) break;
      value = value * static_cast<unsigned>(base) + static_cast<unsigned>(digit);
    }
    if (used == 0) whole = false;
    text.remove_prefix(used);
    return value;
  }
};

void put(unsigned char* at, std::uint64_t value) noexcept {
  for (int i = 0; i < 4; ++i) at[i] = static_cast<unsigned char>(value >> (24 - 8 * i));
}

}  // namespace

Index::~Index() {
  if (data_ != nullptr) ::munmap(const_cast<unsigned char*>(data_), bytes_);
}

void Index::open(std::string_view root, std::string_view git_folder, std::size_t object_bytes) noexcept {
  object_bytes_ = object_bytes;
  const char* const path = arena_.join(git_folder, "/index");
  const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) {
    struct stat about;
    broken_ = path == nullptr || ::stat(path, &about) == 0;
    return;
  }
  struct stat about;
  void* found = MAP_FAILED;
  if (::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size >= 12 && about.st_size <= kLongest)
    found = ::mmap(nullptr, bytes_ = static_cast<std::size_t>(about.st_size), PROT_READ, MAP_PRIVATE, file, 0);
  ::close(file);
  broken_ = true;
  if (found == MAP_FAILED) return;
  data_ = static_cast<const unsigned char*>(found);
  written_ns_ = modified_ns(about);
  bool special = false;
  if (!read()) {
    count_ = 0;
    return;
  }
  if (read_extensions(extensions_, &special)) broken_ = special && !read_listing(root);
  if (broken_) count_ = 0;
}

bool Index::read() noexcept {
  const std::uint32_t version = number_at(data_ + 4), count = number_at(data_ + 8);
  if (std::memcmp(data_, "DIRC", 4) != 0 || version < 2 || version > 4 || count > bytes_ / (kStatBytes + object_bytes_)) return false;
  entries_ = arena_.take<Entry>(count);
  if (entries_ == nullptr) return false;
  const std::size_t head = kStatBytes + object_bytes_ + 2;
  std::size_t at = 12;
  std::string_view name;  // version 4 gives each name as a change of the one before
  for (count_ = 0; count_ < count; ++count_) {
    const std::size_t start = at;
    if (at + head + 2 > bytes_) return false;
    const std::uint32_t flags = static_cast<std::uint32_t>(data_[at + head - 2]) << 8 | data_[at + head - 1];
    at += head;
    std::uint32_t more = 0;
    if ((flags & 0x4000) != 0) {
      more = static_cast<std::uint32_t>(data_[at]) << 8 | data_[at + 1];
      at += 2;
    }
    if (version == 4) {
      std::size_t dropped = 0;
      for (bool first = true;; first = false) {
        if (at >= bytes_) return false;
        const unsigned char byte = data_[at++];
        dropped = first ? byte & 127 : (dropped + 1) << 7 | (byte & 127);
        if ((byte & 128) == 0) break;
      }
      const void* const end = at < bytes_ ? std::memchr(data_ + at, 0, bytes_ - at) : nullptr;
      if (end == nullptr || dropped > name.size()) return false;
      const std::size_t added = static_cast<std::size_t>(static_cast<const unsigned char*>(end) - (data_ + at));
      name = arena_.copy(name.substr(0, name.size() - dropped), {reinterpret_cast<const char*>(data_) + at, added});
      if (name.data() == nullptr) return false;
      at += added + 1;
    } else {
      std::size_t size = flags & 0xfff;
      if (size == 0xfff) {
        const void* const end = std::memchr(data_ + at, 0, bytes_ - at);
        if (end == nullptr) return false;
        size = static_cast<std::size_t>(static_cast<const unsigned char*>(end) - (data_ + at));
      }
      if (size >= bytes_ - at || data_[at + size] != 0) return false;
      name = {reinterpret_cast<const char*>(data_) + at, size};
      at = start + ((at + size - start + 8) & ~std::size_t{7});
    }
    entries_[count_] = {name.data(), data_ + start, static_cast<std::uint32_t>(name.size()), (flags & 0x3000) != 0 || (more & 0x2000) != 0};
  }
  extensions_ = at;
  return true;
}

bool Index::read_extensions(std::size_t at, bool* special) noexcept {
  while (at + 8 + object_bytes_ <= bytes_) {
    const std::size_t size = number_at(data_ + at + 4);
    if (size > bytes_ - at - 8) return false;
    if (std::memcmp(data_ + at, "link", 4) == 0 || std::memcmp(data_ + at, "sdir", 4) == 0) *special = true;
    if (std::memcmp(data_ + at, "TREE", 4) == 0) read_trees({reinterpret_cast<const char*>(data_) + at + 8, size});
    at += 8 + size;
  }
  return true;
}

// In pre-order: `NAME\0COUNT SUBTREES\n`, and an object's name where the count is not negative.
void Index::read_trees(std::string_view text) noexcept {
  constexpr int kDepth = 128;
  std::uint32_t rest[kDepth];  // subtrees that are still to come, of each folder that is open
  std::string_view paths[kDepth];
  int depth = 0;
  while (!text.empty()) {
    const std::size_t zero = text.find('\0'), line = text.find('\n', zero == std::string_view::npos ? 0 : zero);
    if (zero == std::string_view::npos || line == std::string_view::npos) return;
    const bool valid = text[zero + 1] != '-';
    std::uint32_t subtrees = 0;
    for (std::size_t i = text.find(' ', zero) + 1; i < line && text[i] >= '0' && text[i] <= '9'; ++i)
      subtrees = subtrees * 10 + static_cast<std::uint32_t>(text[i] - '0');
    const std::string_view name = text.substr(0, zero), above = depth == 0 ? std::string_view{} : paths[depth - 1];
    const std::string_view path = above.empty() ? name : arena_.copy(above, "/", name);
    text.remove_prefix(line + 1);
    if (valid) {
      text.remove_prefix(text.size() < object_bytes_ ? text.size() : object_bytes_);
      trees_.add(path);
    }
    if (depth != 0) --rest[depth - 1];
    if (subtrees != 0) {
      if (depth == kDepth) return;
      rest[depth] = subtrees;
      paths[depth++] = path;
    }
    while (depth != 0 && rest[depth - 1] == 0) --depth;
    if (depth == 0) return;
  }
}

// MODE OBJECT STAGE\tNAME\0 and five lines of numbers.
bool Index::read_listing(std::string_view root) noexcept {
  Listing rest;
  if (!run_git(arena_, root, {"ls-files", "-z", "-s", "--debug"}, &rest.text)) return false;
  std::uint32_t room = 0;
  for (const char letter : rest.text) room += letter == '\0';
  entries_ = arena_.take<Entry>(room);
  if (entries_ == nullptr && room != 0) return false;
  for (count_ = 0; !rest.text.empty(); ++count_) {
    unsigned char* const data = arena_.take<unsigned char>(kStatBytes + object_bytes_);
    if (data == nullptr || count_ == room) return false;
    put(data + 24, rest.number(8));
    rest.skip(" ");
    for (std::size_t i = 0; i < object_bytes_; ++i) {
      Listing pair{rest.text.substr(0, 2)};
      data[kStatBytes + i] = static_cast<unsigned char>(pair.number(16));
      if (!pair.whole || rest.text.size() < 2) return false;
      rest.text.remove_prefix(2);
    }
    rest.skip(" ");
    const std::uint64_t stage = rest.number();
    rest.skip("\t");
    const std::size_t zero = rest.text.find('\0');
    if (zero == std::string_view::npos) return false;
    entries_[count_] = {rest.text.data(), data, static_cast<std::uint32_t>(zero), stage != 0};
    rest.text.remove_prefix(zero + 1);
    const auto two = [&](std::string_view first, std::string_view second, std::uint64_t* a, std::uint64_t* b) noexcept {
      rest.skip(first);
      *a = rest.number();
      rest.skip(second);
      *b = rest.number();
    };
    std::uint64_t a, b;
    two("  ctime: ", ":", &a, &b);
    two("\n  mtime: ", ":", &a, &b);
    put(data + 8, a);
    put(data + 12, b);
    two("\n  dev: ", "\tino: ", &a, &b);
    two("\n  uid: ", "\tgid: ", &a, &b);
    rest.skip("\n  size: ");
    put(data + 36, rest.number());
    rest.skip("\tflags: ");
    const std::uint64_t flags = rest.number(16);
    rest.skip("\n");
    if ((flags & 0x20000000) != 0) entries_[count_].special = true;  // add -N
    if (!rest.whole) return false;
  }
  return true;
}

const Index::Entry* Index::from(std::string_view text) const noexcept {
  std::uint32_t low = 0, high = count_;
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    if (order(entries_[middle].view(), text) < 0) low = middle + 1;
    else high = middle;
  }
  return entries_ + low;
}

const Index::Entry* Index::find(std::string_view name) const noexcept {
  const Entry* const found = from(name);
  return found != end() && found->view() == name ? found : nullptr;
}

bool Index::holds_below(std::string_view folder) const noexcept {
  // `folder/` sorts after `folder-x`, so its place is asked for by its first letters and the slash.
  char text[4097];
  if (folder.size() >= sizeof text) return true;
  if (!folder.empty()) std::memcpy(text, folder.data(), folder.size());
  text[folder.size()] = '/';
  const Entry* const found = from({text, folder.size() + 1});
  return found != end() && found->size > folder.size() && is_below(found->view(), folder);
}

bool Index::same_object(const Entry& entry, const char* path, const struct stat& about) const noexcept {
  if (about.st_size > kLongestHashed) return false;
  char head[32] = "blob ", digits[20];
  std::size_t used = 5, count = 0;
  for (std::uint64_t size = static_cast<std::uint64_t>(about.st_size); count == 0 || size != 0; size /= 10) digits[count++] = static_cast<char>('0' + size % 10);
  while (count != 0) head[used++] = digits[--count];
  head[used++] = 0;
  Sha1 sha1;
  hook::Sha256 sha256;
  const auto update = [&](std::string_view text) noexcept {
    if (object_bytes_ == 20) sha1.update(text);
    else sha256.update(text);
  };
  update({head, used});
  std::uint64_t total = 0;
  char part[16384];
  if (S_ISLNK(about.st_mode)) {
    const ssize_t size = ::readlink(path, part, sizeof part);
    if (size < 0) return false;
    update({part, static_cast<std::size_t>(size)});
    total = static_cast<std::uint64_t>(size);
  } else {
    const int file = ::open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0) return false;
    for (ssize_t got; (got = ::read(file, part, sizeof part)) > 0;) {
      update({part, static_cast<std::size_t>(got)});
      total += static_cast<std::uint64_t>(got);
    }
    ::close(file);
  }
  if (total != static_cast<std::uint64_t>(about.st_size)) return false;
  unsigned char digest[32];
  if (object_bytes_ == 20) sha1.finish(digest);
  else std::memcpy(digest, sha256.finish().bytes, 32);
  return std::memcmp(digest, entry.object(), object_bytes_) == 0;
}

Class Index::state(std::string_view name, const char* path, const struct stat& about) noexcept {
  if (broken_) return Class::changed;
  const Entry* const entry = find(name);
  if (entry == nullptr) return Class::untracked;
  const std::uint32_t mode = entry->mode();
  if (entry->special || (mode & S_IFMT) != (about.st_mode & S_IFMT)) return Class::changed;
  if (S_ISREG(about.st_mode) && ((about.st_mode & 0100) != 0) != ((mode & 0100) != 0)) return Class::changed;
  const std::uint64_t modified = std::uint64_t{entry->number(8)} * 1000000000u + entry->number(12);
  const bool same = modified == modified_ns(about) && entry->number(36) == static_cast<std::uint32_t>(about.st_size) && modified < written_ns_;
  if (!same && !same_object(*entry, path, about)) return Class::changed;  // one of the same tick is compared, as git does
  const std::size_t slash = name.rfind('/');
  return is_tree(slash == std::string_view::npos ? std::string_view{} : name.substr(0, slash)) ? Class::unchanged : Class::staged;
}

}  // namespace tipstaff::undo
