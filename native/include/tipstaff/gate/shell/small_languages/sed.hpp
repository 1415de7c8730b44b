// What sed makes of a text that is known, for the scripts that replace: s/from/to/, y/abc/xyz/, p, and addresses that are
// numbers. Patterns may hold single bytes, dots, sets, anchors and repetitions of these; where more is in a script
// nothing is known.
#pragma once

#include "tipstaff/gate/shell/programs/prints.hpp"

namespace tipstaff::gate::shell {

constexpr std::size_t kLongestFiltered = 4096;  // what is known of longer texts is not worth the work

// Whether a byte is of a class like [:alpha:].
inline bool in_class(string_view name, char c) noexcept {
  const bool low = c >= 'a' && c <= 'z', up = c >= 'A' && c <= 'Z', digit = is_digit(c), graph = c > ' ' && c < 127;
  if (name == "lower") return low;
  if (name == "upper") return up;
  if (name == "alpha") return low || up;
  if (name == "digit") return digit;
  if (name == "alnum") return low || up || digit;
  if (name == "space") return c == ' ' || (c >= '\t' && c <= '\r');
  if (name == "blank") return c == ' ' || c == '\t';
  if (name == "punct") return graph && !low && !up && !digit;
  if (name == "cntrl") return static_cast<unsigned char>(c) < ' ' || c == 127;
  if (name == "print") return graph || c == ' ';
  if (name == "graph") return graph;
  if (name == "xdigit") return ascii::hex_value(c) >= 0;
  return false;
}

// A pattern cut into atoms, each with how often it may be.
class Pattern {
 public:
  static constexpr std::uint32_t kMost = 32;

  // False where the pattern holds more than is followed.
  bool parse(string_view text, bool extended) noexcept {
    count_ = 0;
    begins_ = starts_with(text, "^");
    if (begins_) text.remove_prefix(1);
    for (std::size_t i = 0; i < text.size();) {
      const char c = text[i];
      if (c == '$' && i + 1 == text.size()) {
        ends_ = true;
        break;
      }
      if (count_ == kMost) return false;
      Atom& atom = atoms_[count_];
      atom = Atom{};
      if (c == '[') {
        std::size_t close = i + 1;
        if (close < text.size() && text[close] == '^') ++close;
        if (close < text.size() && text[close] == ']') ++close;
        while (close < text.size() && text[close] != ']') {
          if (text[close] == '[' && close + 1 < text.size() && text[close + 1] == ':') {
            close = text.find(":]", close + 2);
            if (close == string_view::npos) return false;
            ++close;
          }
          ++close;
        }
        if (close >= text.size()) return false;
        atom.kind = Atom::set;
        atom.text = text.substr(i + 1, close - i - 1);
        i = close + 1;
      } else if (c == '\\') {
        if (i + 1 >= text.size()) return false;
        const char e = text[i + 1];
        if (!extended && holds("(){}|?+<>", e)) return false;
        if (holds("wWsSbBdD`'123456789", e)) return false;
        atom.text = e == 'n' ? string_view("\n") : e == 't' ? string_view("\t") : text.substr(i + 1, 1);
        i += 2;
      } else if (extended && holds("(){}|+?", c)) {
        return false;
      } else {
        if (c == '.') atom.kind = Atom::any;
        atom.text = text.substr(i, 1);
        ++i;
      }
      if (i < text.size() && (text[i] == '*' || (extended && (text[i] == '+' || text[i] == '?')))) {
        atom.least = text[i] == '+' ? 1 : 0;
        atom.many = text[i] != '?';
        ++i;
      } else {
        atom.least = 1;
      }
      if (i < text.size() && (text[i] == '*' || (extended && holds("+?{", text[i])))) return false;
      ++count_;
    }
    return true;
  }

  // Where the pattern fits at `at`, the longest way: the end; npos where it does not. `work` is what may still be spent.
  std::size_t match(string_view text, std::size_t at, std::size_t* work) const noexcept {
    if (begins_ && at != 0) return string_view::npos;
    return match_from(text, at, 0, work);
  }
  bool begins() const noexcept { return begins_; }

 private:
  struct Atom {
    enum Kind : std::uint8_t { byte, any, set };
    Kind kind = byte;
    std::uint8_t least = 1;
    bool many = false;
    string_view text;

    bool fits(char c) const noexcept {
      if (kind == any) return true;
      if (kind == byte) return text[0] == c;
      string_view rest = text;
      const bool other = starts_with(rest, "^");
      if (other) rest.remove_prefix(1);
      bool found = false;
      for (std::size_t i = 0; i < rest.size(); ++i) {
        if (rest[i] == '[' && i + 1 < rest.size() && rest[i + 1] == ':') {
          const std::size_t close = rest.find(":]", i);
          if (close == string_view::npos) break;
          found = found || in_class(rest.substr(i + 2, close - i - 2), c);
          i = close + 1;
        } else if (i + 2 < rest.size() && rest[i + 1] == '-') {
          found = found || (c >= rest[i] && c <= rest[i + 2]);
          i += 2;
        } else {
          found = found || c == rest[i];
        }
      }
      return found != other;
    }
  };

  std::size_t match_from(string_view text, std::size_t at, std::uint32_t index, std::size_t* work) const noexcept {
    if (*work == 0) return string_view::npos;
    --*work;
    if (index == count_) return !ends_ || at == text.size() ? at : string_view::npos;
    const Atom& atom = atoms_[index];
    const std::size_t most = atom.many ? text.size() - at : 1;
    std::size_t taken = 0;
    while (taken < most && at + taken < text.size() && atom.fits(text[at + taken])) ++taken;
    *work -= taken < *work ? taken : *work;
    for (;; --taken) {
      if (taken < atom.least) return string_view::npos;
      const std::size_t end = match_from(text, at + taken, index + 1, work);
      if (end != string_view::npos || taken == 0) return end;
    }
  }

  Raw<Atom, kMost> atoms_;
  std::uint32_t count_ = 0;
  bool begins_ = false, ends_ = false;
};

// The end of the part of a script that `mark` closes; npos where nothing does.
inline std::size_t script_part(string_view script, std::size_t from, char mark) noexcept {
  for (std::size_t i = from; i < script.size(); ++i) {
    if (script[i] == '\\') ++i;
    else if (script[i] == '\n') return string_view::npos;
    else if (script[i] == mark) return i;
  }
  return string_view::npos;
}

constexpr std::size_t kLongestEdited = 2 * kLongestFiltered;

// One s command over one line, into `out`, which has room for kLongestEdited bytes.
inline bool substitute(string_view line, const Pattern& pattern, string_view with, bool all, std::size_t* work, char* out,
                       string_view* made) noexcept {
  std::size_t n = 0;
  const auto put = [&](string_view piece) noexcept {
    if (kLongestEdited - n < piece.size()) return false;
    if (!piece.empty()) std::memcpy(out + n, piece.data(), piece.size());
    n += piece.size();
    return true;
  };
  std::size_t at = 0;
  bool done = false;
  while (at <= line.size()) {
    const std::size_t end = done && !all ? string_view::npos : pattern.match(line, at, work);
    if (*work == 0) return false;
    if (end == string_view::npos || (done && pattern.begins())) {
      if (at < line.size() && !put(line.substr(at, 1))) return false;
      ++at;
      continue;
    }
    done = true;
    for (std::size_t i = 0; i < with.size(); ++i) {
      string_view piece = with.substr(i, 1);
      if (with[i] == '&') {
        piece = line.substr(at, end - at);
      } else if (with[i] == '\\') {
        if (++i >= with.size() || is_digit(with[i]) || holds("ULElu", with[i])) return false;
        piece = with[i] == 'n' ? string_view("\n") : with[i] == 't' ? string_view("\t") : with.substr(i, 1);
      }
      if (!put(piece)) return false;
    }
    if (end == at) {
      if (at < line.size() && !put(line.substr(at, 1))) return false;
      ++at;
    } else {
      at = end;
    }
  }
  *made = string_view(out, n);
  return true;
}

inline bool ShellReader::edit_stream(string_view text, const Invocation& in, string_view* made) noexcept {
  string_view scripts[8];
  std::uint32_t count = 0;
  bool extended = false, quiet = false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view word = text_of(in, i);
    if (word == "-E" || word == "-r" || word == "--regexp-extended") extended = true;
    else if (word == "-n" || word == "--quiet" || word == "--silent") quiet = true;
    else if (word == "-u" || word == "-z") return false;
    else if ((word == "-e" || word == "--expression") && i + 1 < in.count && count < 8) scripts[count++] = text_of(in, ++i);
    else if (count == 0 && !word.empty() && word[0] != '-') scripts[count++] = word;
    else return false;
  }
  if (count == 0) return false;
  // Each try costs a step; all that a text may spend is what may be read deeper.
  std::size_t work = reader_.nested_bytes < 65536 ? reader_.nested_bytes : 65536;
  const std::size_t given = work;
  char all[kLongestEdited], spaces[2][kLongestEdited];  // a line is edited from one space to the other
  std::size_t size = 0, space = 0;
  bool good = true, any = false;
  int number = 0;
  for (std::size_t at = 0; at < text.size() && good;) {
    std::size_t end = text.find('\n', at);
    if (end == string_view::npos) end = text.size();
    string_view line = text.substr(at, end - at);
    const bool last = end + 1 >= text.size();
    ++number;
    bool gone = false, printed = false;
    for (std::uint32_t s = 0; s < count && good && !gone; ++s) {
      const string_view script = scripts[s];
      std::size_t i = 0;
      while (i < script.size() && good && !gone) {
        if (is_blank(script[i]) || script[i] == ';' || script[i] == '\n') {
          ++i;
          continue;
        }
        bool here = true;
        if (is_digit(script[i]) || script[i] == '$') {
          std::size_t stop = i;
          while (stop < script.size() && is_digit(script[stop])) ++stop;
          here = script[i] == '$' ? last : to_number(script.substr(i, stop - i)) == number;
          i = script[i] == '$' ? i + 1 : stop;
          if (i >= script.size() || script[i] == ',') good = false;
        }
        if (!good) break;
        const char command = script[i];
        if (command == 'p' || command == 'd') {
          if (++i < script.size() && !holds("; \n", script[i])) good = false;
          if (here && command == 'd') gone = true;
          if (here && command == 'p') {
            if (!quiet) good = false;
            printed = true;
          }
          continue;
        }
        if ((command != 's' && command != 'y') || i + 1 >= script.size()) {
          good = false;
          break;
        }
        const char mark = script[i + 1];
        const std::size_t middle = script_part(script, i + 2, mark);
        const std::size_t stop = middle == string_view::npos ? middle : script_part(script, middle + 1, mark);
        if (stop == string_view::npos) {
          good = false;
          break;
        }
        string_view from = script.substr(i + 2, middle - i - 2), with = script.substr(middle + 1, stop - middle - 1);
        std::size_t after = stop + 1;
        bool every = false, prints = false;
        while (after < script.size() && !holds("; \n", script[after])) {
          if (script[after] == 'g' && command == 's') every = true;
          else if (script[after] == 'p' && command == 's' && quiet) prints = true;
          else good = false;
          ++after;
        }
        i = after;
        if (!here || !good) continue;
        if (command == 'y') {
          unsigned char map[256];
          for (int c = 0; c < 256; ++c) map[c] = static_cast<unsigned char>(c);
          good = from.size() == with.size() && !holds(from, '\\') && !holds(with, '\\');
          for (std::size_t k = 0; k < from.size() && good; ++k) map[static_cast<unsigned char>(from[k])] = static_cast<unsigned char>(with[k]);
          char* const out = spaces[space ^= 1];
          for (std::size_t k = 0; k < line.size() && good; ++k) out[k] = static_cast<char>(map[static_cast<unsigned char>(line[k])]);
          if (good) line = string_view(out, line.size());
          continue;
        }
        // A mark that is escaped is itself.
        if (!holds("/|,#:@!%_~", mark)) good = false;
        Pattern pattern;
        good = good && pattern.parse(from, extended);
        const string_view before = line;
        good = good && substitute(line, pattern, with, every, &work, spaces[space ^= 1], &line);
        if (prints && line != before) printed = true;
      }
    }
    if (good && !gone && (!quiet || printed)) {
      good = kLongestEdited - size > line.size();
      if (good && any) all[size++] = '\n';
      if (good && !line.empty()) std::memcpy(all + size, line.data(), line.size());
      if (good) size += line.size();
      any = true;
    }
    at = end + 1;
  }
  reader_.nested_bytes -= given - work;
  if (!good) return false;
  *made = tree_.copy(string_view(all, size));
  return !tree_.full();
}

// How many lines a script of one command leaves of a file at most: 1,$d, 1!d, 3q, -n '$p'. -1 where that depends on the file.
inline int lines_kept(string_view script, bool quiet) noexcept {
  const auto skip = [&script](string_view bytes) noexcept {
    const std::size_t at = script.find_first_not_of(bytes);
    script.remove_prefix(at == string_view::npos ? script.size() : at);
  };
  constexpr int kLast = 1 << 30;
  const auto address = [&script]() noexcept {  // a number, kLast, 0 for none, -1 for a pattern
    int number = 0;
    if (starts_with(script, "$")) return script.remove_prefix(1), kLast;
    if (starts_with(script, "/")) {
      const std::size_t close = script_part(script, 1, '/');
      return script.remove_prefix(close == string_view::npos ? script.size() : close + 1), -1;
    }
    for (; !script.empty() && is_digit(script[0]) && number < 1 << 20; script.remove_prefix(1)) number = number * 10 + (script[0] - '0');
    return number;
  };
  while (!script.empty() && holds("; \n}", script.back())) script.remove_suffix(1);
  skip(" \n");
  const int from = address();
  int to = from;
  skip(" ");
  if (starts_with(script, ",")) {
    script.remove_prefix(1);
    to = address();
  }
  skip(" ");
  const bool others = starts_with(script, "!");
  skip("! {");
  const bool ranged = from > 0 && to >= from;
  const int lines = !ranged ? -1 : to == from ? 1 : to == kLast ? -1 : to - from + 1;
  if (quiet) {
    if (script.empty() || script == "d" || script == "q" || script == "Q") return 0;
    if (one_of(script, "p;q p;Q")) return 1;
    return script != "p" || others ? -1 : lines;
  }
  if (script == "d") {
    if (from == 0) return 0;
    if (others) return lines;
    return ranged && to == kLast && from != kLast ? from - 1 : -1;
  }
  if ((script == "q" || script == "Q") && !others) {
    if (from < 0 || from == kLast) return -1;
    return from + (script == "q" ? from == 0 : from == 0 ? 0 : -1);
  }
  return -1;
}

}  // namespace tipstaff::gate::shell
