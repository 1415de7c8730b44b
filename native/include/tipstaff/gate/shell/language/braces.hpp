// Brace expressions: {a,b} and {1..9}.
#pragma once

#include "tipstaff/gate/shell/language/fields.hpp"

namespace tipstaff::gate::shell {

// Whether a brace at `from` opens an expression: 0 no, 1 a list, 2 a sequence.
inline int ShellReader::brace_shape(const char* from, const char** close) noexcept {
  constexpr std::size_t kInVain = 256 * 1024;  // bytes that all of them may look ahead for nothing
  if (brace_bytes_ >= kInVain) return 0;
  int depth = 0, parens = 0;
  bool comma = false, dots = false;
  const char* p = from;
  for (; p < end_; ++p) {
    const char c = *p;
    if (c == '\\') {
      ++p;
    } else if (c == '\'' || c == '"') {
      const char* q = p + 1;
      while (q < end_ && *q != c) q += *q == '\\' && c == '"' ? 2 : 1;
      if (q >= end_) {
        p = end_;
        break;
      }
      p = q;
    } else if (c == '{') {
      ++depth;
    } else if (c == '}') {
      if (--depth == 0) {
        *close = p;
        if (!comma && !dots) brace_bytes_ += static_cast<std::size_t>(p - from);
        return comma ? 1 : dots ? 2 : 0;
      }
    } else if (c == '(') {
      if (p[-1] != '$' && parens == 0) break;
      ++parens;
    } else if (c == ')' && parens > 0) {
      --parens;
    } else if (parens == 0 && ends_word(c)) {
      break;
    } else if (depth == 1 && c == ',') {
      comma = true;
    } else if (depth == 1 && c == '.' && p + 1 < end_ && p[1] == '.' && p[-1] != '.') {
      dots = true;
    }
  }
  brace_bytes_ += static_cast<std::size_t>(p - from);
  return 0;
}

inline bool ShellReader::read_sequence(Pieces& pieces, string_view text) noexcept {
  const std::size_t dots = text.find("..");
  string_view from = text.substr(0, dots), to = text.substr(dots + 2);
  const std::size_t more = to.find("..");
  int step = 1;
  if (more != string_view::npos) {
    step = to_number(to.substr(more + 2));
    to = to.substr(0, more);
    if (step <= 0) return false;
  }
  const bool negative_from = !from.empty() && from[0] == '-', negative_to = !to.empty() && to[0] == '-';
  int a = to_number(negative_from ? from.substr(1) : from), b = to_number(negative_to ? to.substr(1) : to);
  const bool letters = a < 0 && b < 0 && from.size() == 1 && to.size() == 1;
  if (letters) {
    a = static_cast<unsigned char>(from[0]);
    b = static_cast<unsigned char>(to[0]);
  } else if (a < 0 || b < 0) {
    return false;
  }
  if (negative_from) a = -a;
  if (negative_to) b = -b;
  if ((a <= b ? b - a : a - b) / step >= static_cast<int>(limits::kExpansions)) {  // some number; of rm a{1..9999} that says enough
    add_unknown(pieces, 0, false);
    return true;
  }
  const std::uint32_t first = session_.scratch.size();
  std::uint32_t count = 0;
  for (int i = a; a <= b ? i <= b : i >= b; i += a <= b ? step : -step) {
    char digits[16];
    std::size_t n = 0;
    if (letters) {
      digits[n++] = static_cast<char>(i);
    } else {
      int v = i < 0 ? -i : i;
      char back[12];
      std::size_t k = 0;
      do back[k++] = static_cast<char>('0' + v % 10);
      while ((v /= 10) != 0);
      if (i < 0) digits[n++] = '-';
      while (k > 0) digits[n++] = back[--k];
    }
    const Value value{tree_.copy(string_view(digits, n)), 0};
    if (count == limits::kExpansions || session_.scratch.add(value) == nullptr) {
      uncertain(Unresolved::limit, span_of(pos_, pos_), frame_.carrier);
      break;
    }
    ++count;
  }
  add_piece(pieces, Piece{Piece::choice, true, 0, {}, session_.scratch.begin() + first, 0, count});
  return true;
}

// A brace expression at pos_; each of its alternatives is a small word.
inline bool ShellReader::read_braces(Pieces& pieces) noexcept {
  const char* close = nullptr;
  const int shape = brace_shape(pos_, &close);
  if (shape == 0) return false;
  if (shape == 2) {
    const string_view inside(pos_ + 1, static_cast<std::size_t>(close - pos_ - 1));
    if (!read_sequence(pieces, inside)) return false;
    pos_ = close + 1;
    return true;
  }
  if (session_.level >= kLevels || reader_.out_of_stack()) {
    give_up(Unresolved::depth, span_of(pos_, end_));
    return true;
  }
  ++session_.level;
  // What the alternatives leave must lie together, and what they use on the way must not: first all is gathered
  // after, then moved.
  constexpr std::uint32_t kAlternatives = 64;
  Raw<Value, kAlternatives> found;
  std::uint32_t count = 0;
  bool more = true;
  std::uint16_t flags = 0;
  const std::uint32_t scratch = session_.scratch.size();
  while (more && pos_ < end_) {
    ++pos_;  // the brace or the comma
    Pieces item;
    collect(item, Until::brace_item, false);
    flags |= item.flags;
    enumerate(item, false, [&](string_view text, std::uint16_t item_flags, bool) noexcept {
      if (count < kAlternatives) found[count++] = Value{text, item_flags};
    });
    session_.scratch.cut(scratch);
    more = pos_ < end_ && *pos_ == ',';
  }
  if (pos_ < end_ && *pos_ == '}') ++pos_;
  --session_.level;
  std::uint32_t kept = 0;
  while (kept < count && session_.scratch.add(found[kept]) != nullptr) ++kept;
  if (kept < count || count == kAlternatives) {
    uncertain(Unresolved::limit, span_of(pos_, pos_), frame_.carrier);
  }
  pieces.flags |= flags;
  add_piece(pieces, Piece{Piece::choice, true, flags, {}, session_.scratch.begin() + scratch, 0, kept});
  return true;
}

}  // namespace tipstaff::gate::shell
