// What filters make of a text that is known: tr, cut, head, tail, and what else passes lines on. sed is in shell/small_languages/sed.hpp.
#pragma once

#include "tipstaff/gate/shell/small_languages/sed.hpp"

namespace tipstaff::gate::shell {

// A set of bytes as tr writes it: single ones, ranges, escapes and classes. Returns their number, 0 where it is not followed.
inline std::size_t bytes_of_set(string_view set, unsigned char* out) noexcept {
  std::size_t n = 0;
  const auto put = [&](int c) noexcept {
    if (n < 256) out[n++] = static_cast<unsigned char>(c);
  };
  for (std::size_t k = 0; k < set.size(); ++k) {
    unsigned char c = static_cast<unsigned char>(set[k]);
    if (c == '[' && k + 1 < set.size() && set[k + 1] == ':') {
      const std::size_t close = set.find(":]", k + 2);
      if (close == string_view::npos) return 0;
      const string_view name = set.substr(k + 2, close - k - 2);
      if (!one_of(name, "lower upper alpha digit alnum space blank punct cntrl print graph xdigit")) return 0;
      for (int b = 0; b < 128; ++b) {
        if (in_class(name, static_cast<char>(b))) put(b);
      }
      k = close + 1;
      continue;
    }
    if (c == '[' && k + 2 < set.size() && (set[k + 1] == '=' || set[k + 2] == '*')) return 0;
    if (c == '\\' && k + 1 < set.size()) {
      const char e = set[++k];
      if (e >= '0' && e <= '7') {
        int value = 0;
        std::size_t digits = 0;
        for (; digits < 3 && k < set.size() && set[k] >= '0' && set[k] <= '7'; ++digits, ++k) value = value * 8 + (set[k] - '0');
        --k;
        c = static_cast<unsigned char>(value);
      } else {
        c = static_cast<unsigned char>(e == 'n' ? '\n' : e == 't' ? '\t' : e == 'r' ? '\r' : e);
      }
    }
    if (k + 2 < set.size() && set[k + 1] == '-' && set[k + 2] != '\\' && set[k + 2] != '[') {
      for (int b = c; b <= static_cast<unsigned char>(set[k + 2]); ++b) put(b);
      k += 2;
    } else {
      put(c);
    }
  }
  return n;
}

inline bool ShellReader::translate(string_view text, const Invocation& in, string_view* made) noexcept {
  std::uint32_t i = 1;
  bool remove = false, squeeze = false, others = false;
  for (; i < in.count && text_of(in, i).size() > 1 && text_of(in, i)[0] == '-'; ++i) {
    const string_view option = text_of(in, i);
    if (option[1] == '-' || option.find_first_not_of("dscCt", 1) != string_view::npos) return false;
    remove = remove || holds(option, 'd');
    squeeze = squeeze || holds(option, 's');
    others = others || holds(option, 'c') || holds(option, 'C');
  }
  const std::uint32_t sets = in.count - i;
  if (i >= in.count || sets > 2 || (remove && squeeze) || (remove && sets != 1) || (!remove && !squeeze && sets != 2)) return false;
  unsigned char from[256], to[256];
  std::size_t n = bytes_of_set(text_of(in, i), from);
  const std::size_t m = sets == 2 ? bytes_of_set(text_of(in, i + 1), to) : 0;
  if (n == 0 || (sets == 2 && m == 0)) return false;
  if (others) {
    bool there[256] = {};
    for (std::size_t k = 0; k < n; ++k) there[from[k]] = true;
    n = 0;
    for (int c = 0; c < 256 && n < 256; ++c) {
      if (!there[c]) from[n++] = static_cast<unsigned char>(c);
    }
  }
  short map[256];
  bool last[256] = {};  // of which only one in a row stays
  for (int c = 0; c < 256; ++c) map[c] = static_cast<short>(c);
  for (std::size_t k = 0; k < n; ++k) {
    if (remove) map[from[k]] = -1;
    else if (sets == 2) map[from[k]] = to[k < m ? k : m - 1];
  }
  if (squeeze) {
    for (std::size_t k = 0; k < (sets == 2 ? m : n); ++k) last[sets == 2 ? to[k] : from[k]] = true;
  }
  std::size_t room = 0;
  char* out = tree_.draft(&room);
  if (room < text.size()) return false;
  std::size_t kept = 0;
  for (const char c : text) {
    const short put = map[static_cast<unsigned char>(c)];
    if (put < 0 || (last[put] && kept > 0 && static_cast<unsigned char>(out[kept - 1]) == put)) continue;
    out[kept++] = static_cast<char>(put);
  }
  *made = tree_.keep(kept);
  return true;
}

// cut -d: -f2, cut -c1-3: the parts of each line that are listed, in their order.
inline bool ShellReader::cut_lines(string_view text, const Invocation& in, string_view* made) noexcept {
  char delimiter = '\t';
  string_view list;
  bool fields = false, only = false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view word = text_of(in, i);
    if (word == "-s" || word == "--only-delimited") {
      only = true;
      continue;
    }
    string_view value;
    char kind = 0;
    if (word.size() >= 2 && word[0] == '-' && word[1] != '-') {
      kind = word[1];
      value = word.substr(2);
      if (value.empty()) {
        if (++i >= in.count) return false;
        value = text_of(in, i);
      }
    } else if (starts_with(word, "--delimiter=")) {
      kind = 'd', value = word.substr(12);
    } else if (starts_with(word, "--fields=")) {
      kind = 'f', value = word.substr(9);
    } else if (starts_with(word, "--characters=")) {
      kind = 'c', value = word.substr(13);
    }
    if (kind == 'd' && value.size() == 1) delimiter = value[0];
    else if (kind == 'f') fields = true, list = value;
    else if (kind == 'c' || kind == 'b') list = value;
    else return false;
  }
  struct Range {
    int first, last;
  };
  Range ranges[16];
  std::uint32_t count = 0;
  while (!list.empty()) {
    if (count == 16) return false;
    const std::size_t comma = list.find(',');
    const string_view part = list.substr(0, comma);
    list = comma == string_view::npos ? string_view() : list.substr(comma + 1);
    const std::size_t dash = part.find('-');
    const string_view low = part.substr(0, dash), high = dash == string_view::npos ? low : part.substr(dash + 1);
    const int first = low.empty() ? 1 : to_number(low), last = high.empty() ? 1 << 30 : to_number(high);
    if (first < 1 || last < first || (low.empty() && high.empty())) return false;
    ranges[count++] = Range{first, last};
  }
  if (count == 0) return false;
  const auto listed = [&](int place) noexcept {
    for (std::uint32_t r = 0; r < count; ++r) {
      if (place >= ranges[r].first && place <= ranges[r].last) return true;
    }
    return false;
  };
  std::size_t room = 0;
  char* out = tree_.draft(&room);
  if (room < text.size() + 1) return false;
  std::size_t kept = 0;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = text.find('\n', at);
    if (end == string_view::npos) end = text.size();
    const string_view line = text.substr(at, end - at);
    const bool delimited = fields && holds(line, delimiter);
    if (fields && !delimited) {
      for (std::size_t k = 0; k < line.size() && !only; ++k) out[kept++] = line[k];
    } else {
      int place = 1;
      bool any = false, begins = true;
      for (const char c : line) {
        if (fields && c == delimiter) {
          ++place;
          begins = true;
          continue;
        }
        if (listed(place)) {
          if (fields && begins && any) out[kept++] = delimiter;
          out[kept++] = c;
          any = true;
        }
        begins = false;
        if (!fields) ++place;
      }
    }
    if (end < text.size() && !(only && fields && !delimited)) out[kept++] = '\n';
    at = end + 1;
  }
  *made = tree_.keep(kept);
  return true;
}

// head -n 2, head -c3, tail -1, tail -n +2.
inline bool ShellReader::cut_end(string_view text, const Invocation& in, bool head, string_view* made) noexcept {
  string_view amount = "10";
  bool bytes = false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view word = text_of(in, i);
    if (word.size() < 2 || word[0] != '-') return false;
    if (word[1] == 'n' || word[1] == 'c') {
      bytes = word[1] == 'c';
      amount = word.substr(2);
      if (amount.empty()) {
        if (++i >= in.count) return false;
        amount = text_of(in, i);
      }
    } else if (starts_with(word, "--lines=") || starts_with(word, "--bytes=")) {
      bytes = word[2] == 'b';
      amount = word.substr(8);
    } else if (is_digit(word[1])) {
      amount = word.substr(1);
    } else {
      return false;
    }
  }
  const bool from = !head && starts_with(amount, "+");
  const int number = to_number(from ? amount.substr(1) : amount);
  if (number < 0 || (from && number == 0)) return false;
  const std::size_t wanted = static_cast<std::size_t>(from ? number - 1 : number);
  if (bytes) {
    const std::size_t n = wanted < text.size() ? wanted : text.size();
    *made = head ? text.substr(0, n) : from ? text.substr(n) : text.substr(text.size() - n);
    return true;
  }
  std::size_t at = 0;
  if (head || from) {
    for (std::size_t lines = 0; lines < wanted && at < text.size(); ++lines) {
      at = text.find('\n', at);
      at = at == string_view::npos ? text.size() : at + 1;
    }
    *made = head ? text.substr(0, at) : text.substr(at);
    return true;
  }
  at = text.size();
  if (at > 0 && text[at - 1] == '\n') --at;
  for (std::size_t lines = 0; at > 0; --at) {
    if (text[at - 1] == '\n' && ++lines == wanted) break;
  }
  *made = wanted == 0 ? string_view() : text.substr(at);
  return true;
}

// What a filter prints of a text that is known as a whole.
inline bool ShellReader::filtered(string_view text, const Invocation& in, string_view program, string_view* made) noexcept {
  if (text.size() > kLongestFiltered || holds(text, kUnknownPart)) return false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    if (argument(in, i).has(word_flag::kUnknown)) return false;
  }
  if (program == "cut") return cut_lines(text, in, made);
  if (program == "head" || program == "tail") return cut_end(text, in, program == "head", made);
  if (program == "sed" || program == "gsed") return edit_stream(text, in, made);
  if (one_of(program, "sort uniq tac shuf")) {
    // One line comes out as it went in.
    *made = text;
    return in.count == 1 && text.find('\n', 0) >= text.size() - (text.empty() ? 0 : 1);
  }
  return false;
}

}  // namespace tipstaff::gate::shell
