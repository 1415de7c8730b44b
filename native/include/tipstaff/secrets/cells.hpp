// Values in tables that a name in a cell announces: Markdown, CSV, what database clients print.
//
// The cell to the right of the name is looked at, and the
// column below it, over a bounded stretch.
#ifndef TIPSTAFF_SECRETS_CELLS_HPP
#define TIPSTAFF_SECRETS_CELLS_HPP

#include <cstddef>

#include "tipstaff/secrets/names.hpp"
#include "tipstaff/secrets/values.hpp"

namespace tipstaff::secrets {

inline constexpr std::size_t header_reach = 512, table_reach = 2048, table_rows = 32;

inline bool is_separator(Byte c) noexcept { return one_of(c, "|\t,;"); }
inline bool is_cell_mark(Byte c) noexcept { return one_of(c, "\"'`* "); }
inline bool is_header_byte(Byte c) noexcept {
  return is_namely(c) || is_cell_mark(c) || one_of(c, ".-#") || c >= 0x80;
}

// A table around a name: where the name's cell begins and ends, and what parts cells.
struct Cell {
  std::size_t left, right;
  Byte separator;
  bool first;  // of its line
};

// Reads the cell of the name in [start, end); false where it is in none, or is about a secret and none itself.
inline bool read_cell(Bytes text, std::size_t start, std::size_t end, const Knowledge& known, Cell* out) noexcept {
  while (start < end && !is_namely(text[start]) && text[start] < 0x80) ++start;
  while (end > start && !is_namely(text[end - 1]) && text[end - 1] < 0x80) --end;
  const std::size_t size = text.size;
  if (end < size && is_letter(text[end]) && (is_lower(text[end]) || !(end > 0 && is_lower(text[end - 1])))) return false;
  const std::size_t least = start > header_reach ? start - header_reach : 0;
  const std::size_t most = least_of(size, end + header_reach);
  std::size_t left = start, right = end;
  while (left > least && is_header_byte(text[left - 1])) --left;
  const Byte before = left > 0 ? text[left - 1] : Byte{'\n'};
  if (!is_line(before) && !is_separator(before)) return false;
  while (right < most && is_header_byte(text[right])) ++right;
  const Byte after = byte_at(text, right, '\n');
  const Byte separator = is_separator(after) ? after : before;
  if (!is_separator(separator) || (!is_line(before) && before != separator)) return false;
  if (!is_line(after) && after != separator) return false;
  for (std::size_t i = end; i < right; ++i) {
    if (text[i] == '.') return false;  // token.py,sha256=x
  }
  if (right - left > 64 || (left == least && least > 0) || (right == most && most < size)) return false;
  if (parts_hold(text.part(end, right), known.list(about_after)) ||
      parts_hold(text.part(left, start), known.list(about_before))) {
    return false;
  }
  *out = {left, right, separator, is_line(before)};
  return true;
}

inline bool strip_cell(Bytes text, std::size_t start, std::size_t end, Value* out) noexcept {
  while (start < end && is_cell_mark(text[start])) ++start;
  while (end > start && is_cell_mark(text[end - 1])) --end;
  *out = {start, end, false, true, true, false, false, true};
  if (start < end && text[end - 1] == ',' && end < text.size && is_line(text[end])) return false;  // types: | int\n| str,
  return start < end;
}

// Where a cell ends: separators within quotes are not its end.
inline std::size_t cell_end(Bytes text, std::size_t at, std::size_t limit, Byte separator) noexcept {
  bool quoted = at < limit && text[at] == '"';
  if (quoted) ++at;
  for (; at < limit && !is_line(text[at]); ++at) {
    if (quoted) {
      quoted = text[at] != '"';
    } else if (text[at] == separator) {
      break;
    }
  }
  return at;
}

// The cell to the right of a name.
inline bool next_cell(Bytes text, const Cell& cell, Value* out) noexcept {
  const std::size_t limit = least_of(text.size, cell.right + header_reach);
  if (byte_at(text, cell.right) != cell.separator || (cell.separator != '|' && !cell.first)) return false;
  std::size_t at = cell.right + 1;
  while (cell.separator == '|' && at < limit && text[at] == '|') ++at;  // || name || x ||
  if (cell.separator == ',' && byte_at(text, at) == ' ') return false;  // arguments of a call
  const std::size_t end = cell_end(text, at, limit, cell.separator);
  return (end < limit || limit == text.size) && strip_cell(text, at, end, out);
}

// Whether the line before the one at `at` is a row of a table in Markdown, and no rule.
inline bool follows_row(Bytes text, std::size_t at) noexcept {
  if (at == 0 || text[at] != '|') return false;
  std::size_t line = at - 1;
  while (line > 0 && at - 1 - line < header_reach && !is_line(text[line - 1])) --line;
  if (line > 0 && !is_line(text[line - 1])) return false;
  return text[line] == '|' && !one_of(text[line + 1], "-+=:");
}

// The cells below a name in a line that only names columns; `take` is given each.
template <typename Take>
inline void cells_below(Bytes text, const Cell& cell, Take take) noexcept {
  const std::size_t least = cell.left > header_reach ? cell.left - header_reach : 0;
  const std::size_t most = least_of(text.size, cell.right + header_reach);
  std::size_t column = 0;
  std::size_t left = cell.left, at = cell.right;
  for (; left > least && !is_line(text[left - 1]); --left) {
    if (text[left - 1] != cell.separator && !is_header_byte(text[left - 1])) return;
    column += text[left - 1] == cell.separator;
  }
  std::size_t columns = column;
  for (; at < most && !is_line(text[at]); ++at) {
    if (text[at] != cell.separator && !is_header_byte(text[at])) return;
    columns += text[at] == cell.separator;
  }
  if ((left == least && least > 0) || at == most || (cell.separator == '|' && follows_row(text, left))) return;
  if (cell.separator != '|' && text[at - 1] == cell.separator) return;  // a list over several lines
  const bool indented = cell.separator == '\t' && text[left] == '\t';
  const std::size_t limit = least_of(text.size, at + table_reach);
  for (std::size_t row = 0; row < table_rows; ++row) {
    if (byte_at(text, at) == '\r') ++at;
    if (at >= limit || text[at] != '\n') return;
    const std::size_t line = ++at;
    if (indented && byte_at(text, line) == '\t') return;  // lines of a program
    std::size_t count = 0, start = at, end = at, stop = at;
    for (;; at = stop + 1, ++count) {
      stop = cell_end(text, at, limit, cell.separator);
      if (count == column) {
        start = at;
        end = stop;
      }
      if (stop >= limit || text[stop] != cell.separator) break;
    }
    at = stop;
    if (stop == limit && limit < text.size) return;
    std::size_t ruled = line;  // |---|---|, +------+
    while (ruled < stop && one_of(text[ruled], "-+=|: \t")) ++ruled;
    if (ruled == stop && line < stop) continue;
    if (count != columns) return;
    Value value;
    if (strip_cell(text, start, end, &value)) take(value);
  }
}

}  // namespace tipstaff::secrets

#endif
