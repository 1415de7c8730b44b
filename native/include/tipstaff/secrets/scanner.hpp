// The secrets scanner: a table of rules, and one walk over a text.
//
// The table may be anywhere, in a file or a section of an image, and holds offsets alone;
// `tipstaff.kernels.formats.secret_table` states its layout. Nothing here allocates, throws or keeps state.
//
//   Table table;
//   if (Table::open(bytes, size, &table) != Fault::none) ...
//   std::size_t found = scan(table, text, size, find_literals_portable, false, out, capacity);
//   if (found > capacity) ...   // again with more room
//   found = resolve(out, found);
#ifndef TIPSTAFF_SECRETS_SCANNER_HPP
#define TIPSTAFF_SECRETS_SCANNER_HPP

#include <cstddef>
#include <cstdint>

#include "tipstaff/secrets/bytes.hpp"
#include "tipstaff/secrets/table.hpp"
#include "tipstaff/text/literals.hpp"

namespace tipstaff::secrets {

// A secret in a text: bytes [start, end).
struct Finding {
  std::size_t start;
  std::size_t end;
  std::uint32_t rule;
  std::uint32_t priority;
};

// Finds what each rule finds for itself, in the text and in what is encoded there, overlaps and all. Writes at most
// `capacity` findings and returns how many there are. Needs about 80 KB of stack.
std::size_t scan(const Table& table, const Byte* data, std::size_t size, LiteralFinder finder, bool wary,
                 Finding* out, std::size_t capacity) noexcept;

// Puts findings in order and keeps those that do not overlap a better one; returns their number.
std::size_t resolve(Finding* findings, std::size_t count) noexcept;

// Turns the places of findings that are in order from bytes into code points.
void count_code_points(Bytes text, Finding* findings, std::size_t count) noexcept;

// Masks the findings of a text in place: all but what a rule lets be shown, and never more than half.
void mask(const Table& table, Byte* text, const Finding* findings, std::size_t count) noexcept;

}  // namespace tipstaff::secrets

#endif
