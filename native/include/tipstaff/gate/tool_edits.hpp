// How many lines a tool call changes, by its fields.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/engine.hpp"
#include "tipstaff/gate/tool_fields.hpp"

namespace tipstaff::gate::tools {

inline std::uint32_t count_lines(std::string_view text) noexcept {
  if (text.empty()) return 0;
  std::uint32_t lines = text.back() == '\n' ? 0 : 1;
  for (char letter : text) lines += letter == '\n';
  return lines;
}

// Lines removed and added between two texts, without those that both begin or end with.
inline std::uint32_t edited_lines(std::string_view before, std::string_view after) noexcept {
  std::size_t same = 0, line = 0;
  const std::size_t shortest = before.size() < after.size() ? before.size() : after.size();
  while (same < shortest && before[same] == after[same]) {
    if (before[same] == '\n') line = same + 1;
    ++same;
  }
  if (same == before.size() && same == after.size()) return 0;
  before.remove_prefix(line);
  after.remove_prefix(line);
  std::size_t tail = 0, kept = 0;
  while (tail < before.size() && tail < after.size() &&
         before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) {
    ++tail;
    if (before[before.size() - tail] == '\n') kept = tail - 1;
  }
  before.remove_suffix(kept);
  after.remove_suffix(kept);
  return count_lines(before) + count_lines(after);
}

inline std::uint32_t patched_lines(std::string_view patch) noexcept {
  std::uint32_t lines = 0;
  for (std::size_t at = 0; at < patch.size();) {
    std::size_t end = patch.find('\n', at);
    if (end == std::string_view::npos) end = patch.size();
    const std::string_view line = patch.substr(at, end - at);
    if (!line.empty() && (line[0] == '+' || line[0] == '-') && line.substr(0, 4) != "+++ " && line.substr(0, 4) != "--- ") ++lines;
    at = end + 1;
  }
  return lines;
}

// Lines that a call changes, by its own fields; patches count added and removed lines.
inline std::uint32_t changed_lines(const Event& event, ToolClass kind) noexcept {
  if (kind != ToolClass::write && kind != ToolClass::shell) return 0;
  std::uint64_t lines = 0;
  std::string_view former;
  for (std::uint32_t i = 0; i < event.field_count; ++i) {
    const Field& field = event.fields[i];
    if ((is_patch(field.name) || is_command(field.name)) && looks_like_patch(field.text)) {
      lines += patched_lines(field.text);
    } else if (kind == ToolClass::write && is_former(field.name)) {
      if (!former.empty()) lines += edited_lines(former, {});
      former = field.text;
    } else if (kind == ToolClass::write && is_content(field.name)) {
      lines += edited_lines(former, field.text);
      former = {};
    }
  }
  if (!former.empty()) lines += edited_lines(former, {});
  return lines > 0xfffffffeu ? 0xfffffffeu : static_cast<std::uint32_t>(lines);
}

}  // namespace tipstaff::gate::tools
