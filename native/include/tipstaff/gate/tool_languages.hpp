// In which language the code of a tool call is: by the tool's name, its fields, and the code itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/engine.hpp"
#include "tipstaff/gate/tool_fields.hpp"
#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/command.hpp"

namespace tipstaff::gate::languages {

// Text that is typed, without the keys that end it.
inline std::string_view typed(std::string_view text) noexcept {
  for (const std::string_view key : {"Enter", "C-m", "<Enter>", "{Enter}", "{ENTER}", "\\n", "\\r"})
    if (text.size() > key.size() && text.substr(text.size() - key.size()) == key) text.remove_suffix(key.size());
  return text;
}

// A server's `command` is its own language where the server is a store: mcp__redis__command.
inline Dialect of_server(const Event& event, Dialect otherwise) noexcept {
  if (!ascii::starts_with(event.tool, "mcp_")) return otherwise;
  const std::string_view server = event.tool.substr(0, event.tool.size() - tools::bare_name(event.tool).size());
  if (tools::has_one_verb(server, "redis valkey dragonfly")) return Dialect::redis;
  if (tools::has_one_verb(server, "mongo mongodb")) return Dialect::mongo;
  if (tools::has_one_verb(server, "postgres postgresql mysql mariadb sqlite duckdb clickhouse bigquery snowflake supabase sql")) return Dialect::sql;
  return otherwise;
}

// By what a field says, the tool's name, or the code itself.
inline Dialect of_code(const Event& event, std::string_view tool, std::string_view text) noexcept {
  const auto named = [](std::string_view name, Dialect* out) noexcept {
    if (tools::has_one_verb(name, "python py jupyter ipython")) *out = Dialect::python;
    else if (tools::has_one_verb(name, "javascript js node typescript ts deno bun browser")) *out = Dialect::node;
    else if (tools::has_one_verb(name, "bash sh shell zsh")) *out = Dialect::shell;
    else if (tools::has_one_verb(name, "powershell pwsh")) *out = Dialect::powershell;
    else if (tools::has_one_verb(name, "ruby")) *out = Dialect::ruby;
    else if (tools::has_one_verb(name, "perl")) *out = Dialect::perl;
    else if (tools::has_one_verb(name, "php")) *out = Dialect::php;
    else if (tools::has_one_verb(name, "sql postgres mysql sqlite database")) *out = Dialect::sql;
    else return false;
    return true;
  };
  Dialect found = Dialect::python;
  for (std::uint32_t i = 0; i < event.field_count; ++i)
    if (ascii::one_of(event.fields[i].name, "language lang runtime kernel interpreter") && named(event.fields[i].text, &found)) return found;
  if (named(tool, &found)) return found;
  if (text.substr(0, 2) == "#!") return text.substr(0, text.find('\n')).find("sh") != std::string_view::npos ? Dialect::shell : found;
  return text.find("require(") != std::string_view::npos || text.find("=>") != std::string_view::npos ? Dialect::node : found;
}

// By a file's name, or the first line of its text; prose where it is no script.
inline Dialect of_script(std::string_view path, std::string_view text) noexcept {
  const auto ends = [path](std::string_view ending) noexcept { return ascii::ends_with(path, ending); };
  if (ends(".sh") || ends(".bash") || ends(".zsh")) return Dialect::shell;
  if (ends(".py")) return Dialect::python;
  if (ends(".js") || ends(".mjs") || ends(".cjs") || ends(".ts")) return Dialect::node;
  if (ends(".rb")) return Dialect::ruby;
  if (ends(".pl")) return Dialect::perl;
  if (ends(".ps1")) return Dialect::powershell;
  if (ends(".bat") || ends(".cmd")) return Dialect::cmd;
  if (ends(".sql")) return Dialect::sql;
  if (text.substr(0, 2) != "#!") return Dialect::prose;
  const std::string_view line = text.substr(0, text.find('\n'));
  const auto names = [line](std::string_view name) noexcept { return line.find(name) != std::string_view::npos; };
  return names("python") ? Dialect::python
         : names("node") ? Dialect::node
         : names("perl") ? Dialect::perl
         : names("ruby") ? Dialect::ruby
                         : Dialect::shell;
}

}  // namespace tipstaff::gate::languages
