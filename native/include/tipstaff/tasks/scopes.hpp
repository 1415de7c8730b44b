// Whether the scopes of a rule hold a path that a task names, over scopes that tipstaff.guidance.hook.scopes compiled.
//
// Globs are taken apart where they are compiled; what is here is folders, each the characters, stars and sets of one
// name. tipstaff/globs.py says what globs mean. The time is that of a look at each path for each stretch between two
// `**`, the leftmost that fits being as good as any other; nothing is tried twice.
#ifndef TIPSTAFF_TASKS_SCOPES_HPP
#define TIPSTAFF_TASKS_SCOPES_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tipstaff/text/letters.hpp"
#include "tipstaff/text/text.hpp"

namespace tipstaff {

// Numbers of 32 bits that are at any address; there are zeros after the last.
struct Numbers {
  const unsigned char* data = nullptr;
  std::uint32_t count = 0;

  std::uint32_t operator[](std::uint32_t at) const noexcept {
    std::uint32_t found = 0;
    if (at < count) std::memcpy(&found, data + std::size_t{at} * 4, 4);
    return found;
  }
};

namespace globs {

constexpr std::uint32_t kStar = 0x8000'0000, kOne = 0x8000'0001;
constexpr std::uint32_t kSet = 0x8100'0000, kOthers = 0x0080'0000, kRanges = 0xffff;  // pairs (first, last) follow

inline std::uint32_t character(std::string_view text, std::size_t& at) noexcept {
  if (static_cast<unsigned char>(text[at]) < 0x80) return static_cast<unsigned char>(text[at++]);
  auto next = static_cast<std::int64_t>(at);
  const std::uint32_t code = decode_utf8({reinterpret_cast<const unsigned char*>(text.data()), static_cast<std::int64_t>(text.size())}, next);
  at = static_cast<std::size_t>(next);
  return code;
}

// How many numbers one item takes.
inline std::uint32_t item_size(std::uint32_t item) noexcept { return (item & 0xff00'0000) == kSet ? 1 + 2 * (item & kRanges) : 1; }

inline bool fits(const Numbers& all, std::uint32_t at, std::uint32_t code) noexcept {
  const std::uint32_t item = all[at];
  if (item == kOne) return true;
  if ((item & 0xff00'0000) != kSet) return item == code;
  bool inside = false;
  for (std::uint32_t i = 0; i < (item & kRanges) && !inside; ++i) inside = code >= all[at + 1 + 2 * i] && code <= all[at + 2 + 2 * i];
  return inside != ((item & kOthers) != 0);
}

// Whether the name of a file or folder is what the items at `at` say, `size` numbers.
inline bool matches_name(const Numbers& all, std::uint32_t at, std::uint32_t size, std::string_view name) noexcept {
  const std::uint32_t end = at + size;
  std::size_t t = 0, mark = 0;
  std::uint32_t star = 0;
  bool starred = false;
  while (t < name.size()) {
    if (at < end && all[at] == kStar) {
      star = ++at;
      mark = t;
      starred = true;
      continue;
    }
    std::size_t next = t;
    if (at < end && fits(all, at, character(name, next))) {
      at += item_size(all[at]);
      t = next;
      continue;
    }
    if (!starred) return false;
    at = star;
    character(name, mark);
    t = mark;
  }
  while (at < end && all[at] == kStar) ++at;
  return at >= end;
}

// A path's next folder from `at`, which moves to the one after it, or past the end.
inline std::string_view folder(std::string_view path, std::size_t& at) noexcept {
  std::size_t end = path.find('/', at);
  if (end == std::string_view::npos) end = path.size();
  const std::string_view found = path.substr(at, end - at);
  at = end + 1;
  return found;
}

// One glob without braces: number of folders, whether it covers what is below, how many numbers follow; then for each
// folder how many numbers it takes, 0 for `**`, and those.
struct Plain {
  const Numbers& all;
  std::uint32_t first, count;
  bool open_end;

  // Matches the folders of a stretch that begins at `part`, from `at` on; moves both after it.
  bool stretch(std::string_view path, std::uint32_t parts, std::uint32_t part, std::size_t& at) const noexcept {
    for (std::uint32_t i = 0; i < parts; ++i) {
      if (at >= path.size()) return false;
      const std::uint32_t size = all[part];
      if (!matches_name(all, part + 1, size, folder(path, at))) return false;
      part += 1 + size;
    }
    return true;
  }

  bool matches(std::string_view path) const noexcept {
    std::uint32_t part = first, left = count;
    std::size_t at = 0;
    bool anchored = true;
    while (left > 0) {
      if (part >= all.count) return false;
      if (all[part] == 0) {
        anchored = false;
        ++part;
        --left;
        if (left == 0) return true;  // `**` at the end: what was found so far is enough
        continue;
      }
      std::uint32_t parts = 0, following = part;
      while (parts < left && all[following] != 0) {
        following += 1 + all[following];
        ++parts;
      }
      const bool last = parts == left;
      const bool ends = last && !open_end;          // it must end where the path does
      const bool more = !last && left > parts + 1;  // something must follow
      std::size_t start = at;
      if (!anchored && ends) {
        // The folders at the path's end.
        std::size_t folders = 0;
        for (std::size_t i = at; i < path.size(); ++i) folders += path[i] == '/';
        folders += at < path.size();
        if (folders < parts) return false;
        for (std::size_t skip = folders - parts; skip > 0; --skip) folder(path, start);
      }
      for (;;) {
        std::size_t next = start;
        if (stretch(path, parts, part, next) && (!more || next < path.size()) && (!ends || next >= path.size())) {
          at = next;
          break;
        }
        if (anchored || ends || start >= path.size()) return false;
        folder(path, start);
        if (start >= path.size()) return false;
      }
      part = following;
      left -= parts;
      anchored = false;
    }
    return true;
  }
};

// Folders that a glob begins with, each with a slash after it, the plain text after them, and that at its end.
struct Extent {
  std::string_view folders, partial, ending;
};

inline bool starts_with(std::string_view text, std::string_view start) noexcept { return text.substr(0, start.size()) == start; }
inline bool ends_with(std::string_view text, std::string_view end) noexcept {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

inline bool meet(Extent left, Extent right) noexcept {
  if (left.folders.size() > right.folders.size()) {
    const Extent other = left;
    left = right;
    right = other;
  }
  if (!starts_with(right.folders, left.folders)) return false;
  if (left.folders.size() == right.folders.size()) {
    if (!starts_with(left.partial, right.partial) && !starts_with(right.partial, left.partial)) return false;
  } else {
    const std::string_view rest = right.folders.substr(left.folders.size());
    if (!starts_with(rest.substr(0, rest.find('/')), left.partial)) return false;
  }
  return ends_with(left.ending, right.ending) || ends_with(right.ending, left.ending);
}

// A path that is a glob itself: a task may name `src/**/*.ts`, or `users/{id}`.
class PathGlob {
 public:
  static constexpr std::size_t kMost = 1024;

  // Whether it is one that can be used.
  bool read(std::string_view path) noexcept {
    if (path.size() > kMost || path.find_first_of("*?{}") == std::string_view::npos || path.find('\0') != std::string_view::npos) return false;
    bare_ = path[0] == '!';
    std::size_t size = 0, opened[8];
    std::uint32_t depth = 0;
    for (const char c : path.substr(bare_ ? 1 : 0)) {
      if (c == '{') {
        if (depth == 8) return false;
        opened[depth++] = size;
      } else if (c == '}') {
        if (depth == 0) return false;
        // Counted alternatives (`{1..3}`) are not taken apart here.
        if (std::string_view(text_ + opened[depth - 1], size - opened[depth - 1]).find("..") != std::string_view::npos) return false;
        --depth;
      } else {
        text_[size++] = c;
      }
    }
    if (depth != 0 || size == 0) return false;
    extent_of({text_, size});
    return true;
  }

  Extent extent() const noexcept { return bare_ ? Extent{} : extent_; }

 private:
  void extent_of(std::string_view glob) noexcept {
    extent_ = {};
    if (glob.find('/') == std::string_view::npos) {
      // A name at any depth; nothing is certain but its end.
      if (glob != "**" && glob != "*") extent_.ending = ending_of(glob);
      if (glob.find_first_of("*?") == std::string_view::npos) extent_.ending = {};
      return;
    }
    std::size_t at = 0, literal = 0;
    std::string_view last, magic;
    bool found = false;
    while (at < glob.size()) {
      last = folder(glob, at);
      if (found) continue;
      if (last.find_first_of("*?") == std::string_view::npos) {
        literal = at;
      } else {
        magic = last;
        found = true;
      }
    }
    if (!found) {  // folders alone: the last one too
      text_[glob.size()] = '/';
      extent_.folders = {glob.data(), glob.size() + 1};
      return;
    }
    extent_.folders = glob.substr(0, literal);
    extent_.partial = magic.substr(0, magic.find_first_of("*?"));
    if (last != "**" && last.find_first_of("*?") != std::string_view::npos) extent_.ending = ending_of(last);
  }

  static std::string_view ending_of(std::string_view name) noexcept { return name.substr(name.find_last_of("*?") + 1); }

  char text_[kMost + 1];
  Extent extent_;
  bool bare_ = false;
};

// The scopes of a rule: how many globs; for each whether it takes out (`!`), how many plain globs it stands for, and those;
// then how many extents, and for each the paths and lengths of its texts.
inline bool holds(const Numbers& all, std::uint32_t at, std::string_view strings, std::string_view path, const PathGlob* glob) noexcept {
  bool seen = false, included = false;
  for (std::uint32_t globs = all[at++]; globs > 0 && at < all.count; --globs) {
    const bool out = all[at] != 0;
    std::uint32_t plain = all[at + 1];
    bool matched = false;
    for (at += 2; plain > 0 && at < all.count; --plain) {
      if (!matched) matched = Plain{all, at + 3, all[at], all[at + 1] != 0}.matches(path);
      if (all[at + 2] >= all.count - at) return false;
      at += 3 + all[at + 2];
      if (at >= all.count) return false;
    }
    if (out) {
      if (!matched) continue;
      included = false;
      seen = true;
      for (--globs; globs > 0 && at < all.count; --globs) {  // taken out; on to the extents
        std::uint32_t rest = all[at + 1];
        for (at += 2; rest > 0 && at < all.count; --rest) {
          if (all[at + 2] >= all.count - at) return false;
          at += 3 + all[at + 2];
        }
      }
      break;
    }
    seen = true;
    included = included || matched;
  }
  if (!seen || included) return true;
  if (glob == nullptr) return false;
  const auto text = [&](std::uint32_t where) noexcept {
    const std::uint32_t start = all[where], size = all[where + 1];
    return start <= strings.size() && size <= strings.size() - start ? strings.substr(start, size) : std::string_view{};
  };
  for (std::uint32_t extents = all[at++]; extents > 0 && at < all.count; --extents, at += 6)
    if (meet({text(at), text(at + 2), text(at + 4)}, glob->extent())) return true;
  return false;
}

}  // namespace globs

}  // namespace tipstaff

#endif
