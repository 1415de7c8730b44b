// The command that a call of a server's tool amounts to, where the tool is named after a program: kubectl_delete
// {"resourceType": "namespace", "name": "prod"} is judged as `kubectl delete namespace prod`, and run_gcloud_command
// {"args": ["compute", "instances", "delete", "vm"]} as `gcloud compute instances delete vm`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/engine.hpp"
#include "tipstaff/gate/tool_fields.hpp"
#include "tipstaff/gate/tree/ascii.hpp"

namespace tipstaff::gate::tools {

// Words of names that stand for a program.
constexpr struct {
  std::string_view word, program;
} kNamedPrograms[] = {
    {"kubectl", "kubectl"}, {"helm", "helm"},     {"docker", "docker"}, {"podman", "podman"}, {"git", "git"},
    {"terraform", "terraform"}, {"tofu", "tofu"}, {"pulumi", "pulumi"}, {"aws", "aws"},       {"gcloud", "gcloud"},
    {"az", "az"},           {"gh", "gh"},         {"glab", "glab"},     {"cypher", "cypher-shell"}, {"npm", "npm"},
    {"argocd", "argocd"},   {"vault", "vault"},   {"ansible", "ansible"}, {"heroku", "heroku"}, {"fly", "fly"},
};

// Takes the next word of a name (`delete_file`, `deleteFile`, `delete-file`) off its front; empty at its end.
inline std::string_view next_name_word(std::string_view* name) noexcept {
  std::size_t start = 0;
  while (start < name->size() && !ascii::is_letter((*name)[start])) ++start;
  std::size_t end = start;
  const auto lower = [&](std::size_t at) noexcept { return (*name)[at] >= 'a' && (*name)[at] <= 'z'; };
  while (end < name->size() && (ascii::is_letter((*name)[end]) || ascii::is_digit((*name)[end])) &&
         (end == start || lower(end) || !lower(end - 1)))
    ++end;
  const std::string_view word = name->substr(start, end - start);
  name->remove_prefix(end);
  return word;
}

// The words of a tool's name in lower case, each between underscores (`_delete_page_` of `deletePage`), so that rules match whole
// words; what does not fit is left out. Returns the length.
inline std::size_t words_of_name(std::string_view name, char* out, std::size_t room) noexcept {
  std::size_t used = 0;
  for (std::string_view word = next_name_word(&name); !word.empty() && used + word.size() + 2 <= room; word = next_name_word(&name)) {
    if (used == 0) out[used++] = '_';
    for (const char letter : word) out[used++] = ascii::lower(letter);
    out[used++] = '_';
  }
  return used;
}

// Passes the command's text to `put`, piece by piece; false where the tool is named after no program.
template <class Put>
bool write_command(const Event& event, Put put) noexcept {
  constexpr std::size_t kLongest = 400;  // what is longer is content
  constexpr std::uint32_t kMost = 64;
  std::string_view rest = bare_name(event.tool), program;
  const bool folders = has_one_verb(rest, "directory folder dir tree");
  if (folders && has_one_verb(rest, "delete remove rm rmdir")) program = "rm -r";
  if ((folders || has_one_verb(rest, "file path")) && has_one_verb(rest, "move rename mv")) program = "mv";
  // ExitWorktree {"action": "remove", "discard_changes": true}
  if (std::string_view words = rest; program.empty() && has_one_verb(words, "worktree")) {
    for (std::uint32_t i = 0; i < event.field_count && i < kMost; ++i) {
      if (!ascii::equals(event.fields[i].text, "true") || !ascii::one_of(event.fields[i].name, "discard_changes discard force")) continue;
      put("git worktree remove --force .");
      return true;
    }
  }
  const bool files = !program.empty();
  if (files) rest = {};
  while (program.empty()) {
    const std::string_view word = next_name_word(&rest);
    if (word.empty()) return false;
    for (const auto& named : kNamedPrograms)
      if (ascii::equals(word, named.word)) program = named.program;
  }
  const auto quoted = [&](std::string_view text) noexcept {
    put(" '");
    for (std::size_t i = 0; i < text.size(); ++i) text[i] == '\'' ? put("'\\''") : put(text.substr(i, 1));
    put("'");
  };
  put(program);
  for (std::string_view word = next_name_word(&rest); !word.empty(); word = next_name_word(&rest))
    if (!ascii::one_of(word, "command commands cmd cli tool query generic raw operation run execute")) put(" "), put(word);
  const std::uint32_t count = event.field_count < kMost ? event.field_count : kMost;
  for (const bool words : {true, false}) {
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::string_view name = event.fields[i].name, text = ascii::trim(event.fields[i].text);
      const bool given = files ? is_origin(name) : ascii::one_of(name, "command cmd subcommand args arguments argv cli_command");
      if (files && !is_path(name)) continue;
      if (given != words || text.empty() || text.size() > kLongest) continue;
      if (!files && ascii::one_of(name, "cwd workdir working_directory directory repo_path dir_path repo description reason")) continue;
      if (files) {
        quoted(text);
      } else if (given && event.fields[i].element == 0xffffffffu) {
        if (ascii::starts_with(text, program)) return false;  // read as it is
        put(" "), put(text);
      } else if (ascii::equals(text, "true")) {
        put(" --"), put(name);
      } else if (!given && ascii::one_of(name, "mode operation action")) {
        put(" --"), put(text);
      } else {
        quoted(text);
      }
    }
  }
  return true;
}

}  // namespace tipstaff::gate::tools
