// What a tool is by its name, and what its fields mean.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/ascii.hpp"

namespace tipstaff::gate {

// One text of a tool call's parameters: the name of the field that holds it (the last name on the way to it),
// and its place where it is in a list.
struct Field {
  std::string_view name;
  std::string_view text;
  std::uint32_t element = 0xffffffffu;
};

enum class ToolClass : std::uint8_t { shell, write, remove, read, search, fetch, code, note, other };

namespace tools {

// `mcp__server__tool` and `mcp_server_tool` without server.
inline std::string_view bare_name(std::string_view tool) noexcept {
  if (ascii::starts_with(tool, "mcp__")) {
    const std::size_t at = tool.find("__", 5);
    if (at != std::string_view::npos && at + 2 < tool.size()) return tool.substr(at + 2);
  } else if (ascii::starts_with(tool, "mcp_")) {
    const std::size_t at = tool.find('_', 4);
    if (at != std::string_view::npos && at + 1 < tool.size()) return tool.substr(at + 1);
  }
  return tool;
}

// Whether one of the words that make up a name (`delete_file`, `deleteFile`, `delete-file`) begins with `verb`.
inline bool has_verb(std::string_view name, std::string_view verb) noexcept {
  for (std::size_t i = 0; i + verb.size() <= name.size(); ++i) {
    const bool edge = i == 0 || !ascii::is_letter(name[i - 1]) ||
                      (name[i] >= 'A' && name[i] <= 'Z' && !(name[i - 1] >= 'A' && name[i - 1] <= 'Z'));
    if (edge && ascii::equals(name.substr(i, verb.size()), verb)) return true;
  }
  return false;
}
inline bool has_one_verb(std::string_view name, std::string_view verbs) noexcept {
  for (std::size_t start = 0; start < verbs.size();) {
    std::size_t end = verbs.find(' ', start);
    if (end == std::string_view::npos) end = verbs.size();
    if (has_verb(name, verbs.substr(start, end - start))) return true;
    start = end + 1;
  }
  return false;
}

inline ToolClass classify(std::string_view tool) noexcept {
  // The tools that most calls are of.
  if (tool == "Bash" || tool == "shell") return ToolClass::shell;
  if (tool == "Edit" || tool == "Write") return ToolClass::write;
  if (tool == "Read") return ToolClass::read;
  if (tool == "Grep" || tool == "Glob") return ToolClass::search;
  const std::string_view name = bare_name(tool);
  if (ascii::one_of(name,
                    "bash shell sh zsh powershell pwsh cmd terminal exec run_shell_command execute_command run_command "
                    "run_terminal_cmd run_terminal_command run_in_terminal exec_command local_shell shell_command "
                    "container.exec unified_exec runcommand execute_bash bash_command run_bash shell_exec execute_shell "
                    "run_shell executecommand start_process bashtool shelltool monitor"))
    return ToolClass::shell;
  if (ascii::one_of(name, "todowrite todo_write update_plan task taskcreate exitplanmode askuserquestion think agent skill"))
    return ToolClass::note;
  if (ascii::one_of(name,
                    "write edit multiedit notebookedit create insert replace patch write_file create_file edit_file "
                    "str_replace str_replace_editor str_replace_based_edit_tool apply_patch applypatch apply_diff "
                    "search_replace write_to_file replace_in_file save_file append_file update_file edit_notebook "
                    "insert_edit_into_file replace_string_in_file multi_replace_string_in_file"))
    return ToolClass::write;
  if (ascii::one_of(name, "read view cat read_file view_file open_file notebookread read_many_files get_file_contents"))
    return ToolClass::read;
  if (ascii::one_of(name, "grep glob ls find search list_directory grep_search file_search codebase_search websearch web_search"))
    return ToolClass::search;
  if (ascii::one_of(name, "webfetch web_fetch fetch browser_navigate navigate open_url")) return ToolClass::fetch;
  if (has_one_verb(name, "shell bash terminal command")) return ToolClass::shell;
  if (has_one_verb(name, "delete remove unlink trash rm rmdir") && has_one_verb(name, "file directory folder dir path"))
    return ToolClass::remove;
  if (has_one_verb(name, "write create edit save append overwrite update put move rename copy insert replace patch modify") &&
      has_one_verb(name, "file directory folder dir path text notebook"))
    return ToolClass::write;
  if (has_one_verb(name, "search find grep list docs")) return ToolClass::search;
  if (has_one_verb(name, "read view open cat load") && has_one_verb(name, "file path text resource")) return ToolClass::read;
  if (has_one_verb(name, "python node javascript code eval repl execute run")) return ToolClass::code;
  return ToolClass::other;
}

// A searching tool that shows names of files, and nothing of what is in them.
inline bool lists_names(std::string_view name) noexcept {
  return ascii::one_of(name, "glob ls find list_directory file_search list_dir list_files search_files directory_tree");
}

inline bool is_command(std::string_view field) noexcept {
  return ascii::one_of(field, "command cmd commands shell_command bash shell command_line commandline cmdline script "
                              "run exec argv chars terminal_command bash_command cli_command cmd_string cmdstring command_string");
}
inline bool is_path(std::string_view field) noexcept {
  return ascii::one_of(field, "path file file_path filepath filename file_name target_file target_path notebook_path "
                              "absolute_path relative_path relative_workspace_path destination dest new_path old_path source_path "
                              "directory dir folder paths files uri old_name new_name to target output_path source from src dst "
                              "destination_path");
}
// The field that says where something is moved from.
inline bool is_origin(std::string_view field) noexcept {
  return ascii::one_of(field, "source source_path src from old_path old_name path");
}
inline bool is_cell(std::string_view field) noexcept {
  return ascii::one_of(field, "new_source source code content cell_content cell_source");
}
inline bool is_sql(std::string_view field) noexcept {
  return ascii::one_of(field, "sql query statement queries statements sql_query command text q");
}
// A field that holds nothing but SQL, by its name.
inline bool is_statement(std::string_view field) noexcept {
  return ascii::one_of(field, "sql sql_query sqlquery sql_statement sql_statements sqlstatement sqlstatements");
}
inline bool is_code(std::string_view field) noexcept {
  return ascii::one_of(field, "code source script expression program snippet python javascript js input function");
}
inline bool is_content(std::string_view field) noexcept {
  return ascii::one_of(field, "content contents file_text new_string new_str new_source text body code_edit file_content "
                              "insert_text replacement newstring newcode");
}
inline bool is_former(std::string_view field) noexcept {
  return ascii::one_of(field, "old_string old_str oldstring search oldcode");
}
inline bool is_patch(std::string_view field) noexcept {
  return ascii::one_of(field, "patch diff input patchtext unified_diff patch_text");
}
inline bool looks_like_patch(std::string_view text) noexcept {
  return ascii::trim(text).substr(0, 15) == "*** Begin Patch" || text.substr(0, 4) == "--- " ||
         text.substr(0, 11) == "diff --git " || text.find("\n*** Begin Patch") != std::string_view::npos;
}

// The next word of SQL from `at` on; quotes and comments are no words.
inline std::string_view sql_word(std::string_view text, std::size_t* at) noexcept {
  while (*at < text.size() && ascii::is_space(text[*at])) ++*at;
  const std::size_t start = *at;
  while (*at < text.size() && ascii::is_name(text[*at])) ++*at;
  return text.substr(start, *at - start);
}

// Whether text begins as a statement that changes something: two words must fit, for prose begins like that too.
inline bool starts_like_sql(std::string_view text) noexcept {
  std::size_t at = 0;
  const std::string_view verb = sql_word(text, &at);
  if (at >= text.size() || !ascii::is_space(text[at])) return false;
  if (verb.size() < 4 || verb.size() > 8) return false;  // as no verb below
  const std::string_view next = sql_word(text, &at);
  if (ascii::equals(verb, "drop")) {
    return ascii::one_of(next, "table database schema index view user role function procedure trigger sequence type "
                               "extension tablespace keyspace collection materialized owned column constraint domain "
                               "foreign aggregate policy publication subscription server login partition stream task "
                               "warehouse stage temporary event package synonym");
  }
  if (ascii::equals(verb, "delete")) return ascii::equals(next, "from");
  if (ascii::equals(verb, "truncate")) {
    if (next.empty()) return false;  // truncate -s 0 file
    return ascii::equals(next, "table") || at >= text.size() || ascii::is_space(text[at]) || text[at] == ';' ||
           text[at] == '.' || text[at] == ',';
  }
  if (ascii::equals(verb, "alter")) {
    return ascii::one_of(next, "table database schema user role index view system sequence type column materialized");
  }
  if (ascii::equals(verb, "update")) {
    for (int i = 0; i < 4 && at < text.size(); ++i) {
      while (at < text.size() && !ascii::is_name_start(text[at])) ++at;
      if (ascii::equals(sql_word(text, &at), "set")) return true;
    }
    return false;
  }
  if (ascii::equals(verb, "insert")) return ascii::one_of(next, "into overwrite ignore or");
  if (ascii::equals(verb, "create")) return ascii::one_of(next, "table database schema view index user role or unique temp temporary");
  if (ascii::equals(verb, "revoke") || ascii::equals(verb, "grant")) {
    return ascii::one_of(next, "all select insert update delete usage execute connect create role");
  }
  if (ascii::equals(verb, "merge")) return ascii::equals(next, "into");
  if (ascii::equals(verb, "with")) return ascii::equals(sql_word(text, &at), "as");
  return ascii::equals(verb, "purge") && ascii::one_of(next, "table recyclebin dba_recyclebin");
}

// Whether one of the statements of a text begins so: a comment hides nothing, nor does another statement before it.
inline bool holds_sql(std::string_view text) noexcept {
  bool first = true;
  for (std::size_t at = 0; at < text.size();) {
    while (at < text.size() && (ascii::is_space(text[at]) || text[at] == ';')) ++at;
    if (text.substr(at, 2) == "--" || text.substr(at, 2) == "/*") {
      const bool line = text[at] == '-';
      const std::size_t end = text.find(line ? std::string_view("\n") : std::string_view("*/"), at + 2);
      if (end == std::string_view::npos) return false;
      at = end + (line ? 1 : 2);
      continue;
    }
    if (starts_like_sql(text.substr(at, 4096))) return true;
    std::size_t word = at;
    if (first && !ascii::one_of(sql_word(text, &word), "select begin start set use explain with insert update create alter show "
                                                       "pragma declare call commit rollback"))
      return false;  // prose
    first = false;
    at = text.find(';', at);
    if (at == std::string_view::npos) return false;
  }
  return false;
}

inline bool holds_statement(std::string_view field, std::string_view text) noexcept {
  return is_statement(field) || (is_sql(field) && holds_sql(text));
}

}  // namespace tools

}  // namespace tipstaff::gate
