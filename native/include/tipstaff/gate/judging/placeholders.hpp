// Lines of instructions that end in what a person is to put there: NAME=<Port:Box>, add <package>.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/command.hpp"

namespace tipstaff::gate {

// Whether the line at `span` ends so and leaves nothing else open: a shell starts nothing of it.
inline bool ends_in_placeholder(std::string_view text, Span span) noexcept {
  if (text.empty() || span.start > text.size()) return false;
  constexpr std::size_t kLongest = 512;  // of a line; each uncertainty looks at its own
  if (span.start > kLongest) {
    text.remove_prefix(span.start - kLongest);
    span.start = static_cast<std::uint32_t>(kLongest);
    if (text.substr(0, kLongest).find('\n') == std::string_view::npos) return false;
  }
  const bool cut = text.size() > span.start + kLongest;
  text = text.substr(0, span.start + kLongest);
  std::size_t end = text.find('\n', span.start), start = text.rfind('\n', span.start == 0 ? 0 : span.start - 1);
  if (end == std::string_view::npos) {
    if (cut) return false;
    end = text.size();
  }
  start = start == std::string_view::npos || start >= end ? 0 : start + 1;
  std::string_view line = text.substr(start, end - start);
  while (!line.empty() && ascii::is_space(line.back())) line.remove_suffix(1);
  const std::size_t open = line.rfind('<');
  if (line.size() < 4 || line.back() != '>' || open == std::string_view::npos || (open > 0 && line[open - 1] == '<')) return false;
  std::string_view inside = line.substr(open + 1, line.size() - open - 2);
  if (inside.size() > 2 && inside[0] == '%' && inside.back() == '%') inside = inside.substr(1, inside.size() - 2);
  if (!inside.empty() && (inside[0] == '=' || inside[0] == ' ')) inside.remove_prefix(1);
  if (inside.empty()) return false;
  for (const char c : inside)
    if (!ascii::is_letter(c) && !ascii::is_digit(c) && std::string_view(" _.,:-").find(c) == std::string_view::npos) return false;
  return line.substr(0, open).find_first_of("'\"`(){};&|<>\\") == std::string_view::npos;
}

}  // namespace tipstaff::gate
