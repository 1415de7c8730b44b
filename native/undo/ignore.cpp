// git's ignore rules (gitignore(5)).
#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>

#include "tipstaff/undo/facts.hpp"
#include "tipstaff/undo/git.hpp"

namespace tipstaff::undo {

namespace {

constexpr std::size_t kLongest = 1 << 20;  // of a file of rules

bool in_class(std::string_view name, unsigned char c) noexcept {
  const bool lower = c >= 'a' && c <= 'z', upper = c >= 'A' && c <= 'Z', digit = c >= '0' && c <= '9';
  if (name == "alpha") return lower || upper;
  if (name == "digit") return digit;
  if (name == "alnum") return lower || upper || digit;
  if (name == "lower") return lower;
  if (name == "upper") return upper;
  if (name == "space") return c == ' ' || (c >= '\t' && c <= '\r');
  if (name == "blank") return c == ' ' || c == '\t';
  if (name == "cntrl") return c < 32 || c == 127;
  if (name == "graph") return c > 32 && c < 127;
  if (name == "print") return c >= 32 && c < 127;
  if (name == "punct") return c > 32 && c < 127 && !lower && !upper && !digit;
  if (name == "xdigit") return digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
  return false;
}

// Matches a letter with the class that begins after `[`; moves `*at` past it. 1, 0, or -1 where it is broken.
int bracket(std::string_view pattern, std::size_t* at, char letter) noexcept {
  std::size_t i = *at;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  const unsigned char c = static_cast<unsigned char>(letter);
  bool found = false;
  int before = -1;
  for (bool first = true;; first = false) {
    if (i >= pattern.size()) return -1;
    char now = pattern[i];
    if (now == ']' && !first) break;
    if (now == '[' && i + 1 < pattern.size() && pattern[i + 1] == ':') {
      const std::size_t end = pattern.find(":]", i + 2);
      if (end != std::string_view::npos) {
        found = found || in_class(pattern.substr(i + 2, end - i - 2), c);
        i = end + 2;
        before = -1;
        continue;
      }
    }
    if (now == '-' && before >= 0 && i + 1 < pattern.size() && pattern[i + 1] != ']') {
      char last = pattern[++i];
      if (last == '\\' && i + 1 < pattern.size()) last = pattern[++i];
      found = found || (c >= before && c <= static_cast<unsigned char>(last));
      before = -1;
      ++i;
      continue;
    }
    if (now == '\\') {
      if (++i >= pattern.size()) return -1;
      now = pattern[i];
    }
    before = static_cast<unsigned char>(now);
    found = found || c == before;
    ++i;
  }
  *at = i + 1;
  return found != negated ? 1 : 0;
}

bool match(std::string_view pattern, std::string_view text, bool whole, std::uint32_t* left, int depth, bool start = true) noexcept {
  if (depth == 0) return false;
  std::size_t p = 0, t = 0;
  for (;;) {
    if (*left == 0) return false;
    --*left;
    if (p == pattern.size()) return t == text.size();
    const char letter = pattern[p];
    if (letter == '*') {
      std::size_t stars = p;
      while (stars < pattern.size() && pattern[stars] == '*') ++stars;
      const bool bounded = (p == 0 ? start : pattern[p - 1] == '/') && (stars == pattern.size() || pattern[stars] == '/');
      const bool deep = whole && stars - p == 2 && bounded;
      std::string_view rest = pattern.substr(stars);
      if (deep && !rest.empty()) {  // `**/`: no folder, or any
        rest.remove_prefix(1);
        if (match(rest, text.substr(t), whole, left, depth - 1)) return true;
        for (std::size_t i = text.find('/', t); i != std::string_view::npos; i = text.find('/', i + 1))
          if (match(rest, text.substr(i + 1), whole, left, depth - 1)) return true;
        return false;
      }
      if (rest.empty()) return deep || !whole ? !deep || t < text.size() : text.find('/', t) == std::string_view::npos;
      for (std::size_t i = t;; ++i) {
        if (match(rest, text.substr(i), whole, left, depth - 1, false)) return true;
        if (i == text.size() || (whole && text[i] == '/')) return false;
      }
    }
    if (t == text.size()) return false;
    if (letter == '?') {
      if (whole && text[t] == '/') return false;
      ++p;
    } else if (letter == '[') {
      ++p;
      if (whole && text[t] == '/') return false;
      if (bracket(pattern, &p, text[t]) != 1) return false;
    } else {
      if (letter == '\\') {
        if (++p == pattern.size()) return false;
      }
      if (pattern[p] != text[t]) return false;
      ++p;
    }
    ++t;
  }
}

// Whether any of git's own settings may name another file of rules.
bool names_rules(Arena& arena, const char* path) noexcept {
  const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return false;
  char* const text = arena.take<char>(65536);
  const ssize_t got = text == nullptr ? -1 : ::read(file, text, 65536);
  ::close(file);
  for (ssize_t i = 0; i < got; ++i)
    if (text[i] >= 'A' && text[i] <= 'Z') text[i] = static_cast<char>(text[i] + 32);
  const std::string_view all(text, got > 0 ? static_cast<std::size_t>(got) : 0);
  return all.size() == 65536 || all.find("excludesfile") != std::string_view::npos || all.find("[include") != std::string_view::npos;
}

std::string_view variable(const char* name) noexcept {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string_view{} : std::string_view(value);
}

}  // namespace

bool matches(std::string_view pattern, std::string_view text, bool whole) noexcept {
  std::uint32_t left = 100000;
  return match(pattern, text, whole, &left, 64);
}

void Ignore::read(const char* path, bool follow, const Pattern** patterns, std::uint32_t* count) noexcept {
  *patterns = nullptr;
  *count = 0;
  const int file = path == nullptr ? -1 : ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follow ? 0 : O_NOFOLLOW));
  if (file < 0) return;
  struct stat about;
  char* const text = ::fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0 && static_cast<std::size_t>(about.st_size) < kLongest
                         ? arena_.take<char>(static_cast<std::size_t>(about.st_size)) : nullptr;
  std::size_t size = 0;
  if (text != nullptr)
    for (ssize_t got; size < static_cast<std::size_t>(about.st_size) && (got = ::read(file, text + size, static_cast<std::size_t>(about.st_size) - size)) > 0;)
      size += static_cast<std::size_t>(got);
  ::close(file);
  std::string_view rest(text, size);
  if (rest.substr(0, 3) == "\xef\xbb\xbf") rest.remove_prefix(3);
  std::uint32_t lines = 1;
  for (const char letter : rest) lines += letter == '\n';
  Pattern* const out = rest.empty() ? nullptr : arena_.take<Pattern>(lines);
  if (out == nullptr) return;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    while (!line.empty() && line.back() == ' ') {
      std::size_t escapes = 0;
      while (escapes + 1 < line.size() && line[line.size() - 2 - escapes] == '\\') ++escapes;
      if (escapes % 2 != 0) break;
      line.remove_suffix(1);
    }
    if (line.empty() || line[0] == '#') continue;
    Pattern pattern{};
    if (line[0] == '!') {
      pattern.negated = true;
      line.remove_prefix(1);
    }
    if (!line.empty() && line.back() == '/') {
      pattern.only_folders = true;
      line.remove_suffix(1);
    }
    pattern.whole = line.find('/') != std::string_view::npos;
    if (!line.empty() && line[0] == '/') line.remove_prefix(1);
    if (line.empty()) continue;
    pattern.text = line;
    out[(*count)++] = pattern;
  }
  *patterns = out;
}

void Ignore::open(std::string_view root, std::string_view common) noexcept {
  root_ = root;
  read(arena_.join(common, "/info/exclude"), true, &common_[0], &common_count_[0]);
  const std::string_view home = variable("HOME");
  std::string_view settings = variable("XDG_CONFIG_HOME");
  if (settings.empty()) settings = arena_.copy(home, "/.config");
  const std::size_t mark = arena_.mark();
  bool named = names_rules(arena_, arena_.join(common, "/config")) || names_rules(arena_, arena_.join(home, "/.gitconfig")) ||
               names_rules(arena_, arena_.join(settings, "/git/config")) || !variable("GIT_CONFIG_COUNT").empty() || !variable("GIT_CONFIG_GLOBAL").empty();
  if (!named && variable("GIT_CONFIG_NOSYSTEM").empty()) named = names_rules(arena_, "/etc/gitconfig");
  arena_.release(mark);
  std::string_view path;
  if (named && run_git(arena_, root, {"config", "--type=path", "--get", "core.excludesFile"}, &path) && !path.empty()) {
    while (!path.empty() && path.back() == '\n') path.remove_suffix(1);
    if (!path.empty()) return read(path[0] == '/' ? arena_.join(path) : arena_.join(root, "/", path), true, &common_[1], &common_count_[1]);
  }
  if (!settings.empty() && settings[0] == '/') read(arena_.join(settings, "/git/ignore"), true, &common_[1], &common_count_[1]);
}

Ignore::Folder* Ignore::folder(std::string_view path) noexcept {
  if (Folder* const known = folders_.find(path); known != nullptr) return known;
  Folder made;
  made.path = path;
  if (!path.empty()) {
    const std::size_t slash = path.rfind('/');
    const Folder* const up = folder(slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash));
    if (up == nullptr) return nullptr;
    made.up = up;
    made.ignored = up->ignored || matched(up, path, true);
  }
  if (!made.ignored) {
    const std::size_t mark = arena_.mark();
    const char* const file = path.empty() ? arena_.join(root_, "/.gitignore") : arena_.join(arena_.copy(root_, "/", path), "/.gitignore");
    read(file, false, &made.patterns, &made.count);
    if (made.count == 0) arena_.release(mark);
  }
  Folder* const added = folders_.add(path);
  if (added != nullptr) *added = made;
  return added;
}

bool Ignore::matched(const Folder* folder, std::string_view name, bool is_folder) const noexcept {
  // 1: ignored, 0: not, -1: nothing is about it
  const auto decide = [&](const Pattern* patterns, std::uint32_t count, std::string_view rest) noexcept {
    const std::string_view last = name_of(rest);
    while (count-- != 0) {
      const Pattern& pattern = patterns[count];
      if (pattern.only_folders && !is_folder) continue;
      if (pattern.whole ? matches(pattern.text, rest, true) : matches(pattern.text, last, false)) return pattern.negated ? 0 : 1;
    }
    return -1;
  };
  for (const Folder* at = folder; at != nullptr; at = at->up) {
    const int found = decide(at->patterns, at->count, at->path.empty() ? name : name.substr(at->path.size() + 1));
    if (found >= 0) return found == 1;
  }
  for (int i = 0; i < 2; ++i)
    if (const int found = decide(common_[i], common_count_[i], name); found >= 0) return found == 1;
  return false;
}

bool Ignore::covers(std::string_view name, bool is_folder) noexcept {
  const std::size_t slash = name.rfind('/');
  const Folder* const up = folder(slash == std::string_view::npos ? std::string_view{} : name.substr(0, slash));
  return up != nullptr && (up->ignored || matched(up, name, is_folder));
}

}  // namespace tipstaff::undo
