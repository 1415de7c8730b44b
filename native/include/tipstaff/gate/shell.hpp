// Reads POSIX shell and bash: what a command line would run, with all that it carries.
//
// shell_bytes.hpp         what bytes mean, and encodings
// shell_session.hpp       what a shell remembers
// shell_reader.hpp        the reader: its parts are in the headers below
// shell_words.hpp         quotes, globs                      shell_fields.hpp         what words fall apart into
// shell_braces.hpp        {a,b}
// shell_parameters.hpp    $x, ${x:-y}                        shell_substitutions.hpp  $(x), <(x), $((x))
// shell_grammar.hpp       lists, pipelines                   shell_simple.hpp         simple commands
// shell_assignments.hpp   x=y                                shell_compound.hpp       groups, loops
// shell_functions.hpp     functions, coprocesses             shell_redirections.hpp   files, here-documents
// shell_programs.hpp      the table of programs              shell_names.hpp          what a program is called
// shell_commands.hpp      from words to commands             shell_nested.hpp         code that a command carries
// shell_calls.hpp         functions and aliases, called      shell_builtins.hpp       cd, eval, export, bash -c
// shell_prints.hpp        what echo, printf, cat print       shell_filters.hpp        what filters make of it
// shell_sed.hpp           what sed makes of it
// shell_outputs.hpp       what other commands print
// shell_wrappers.hpp      sudo, env, ssh, watch              shell_finders.hpp        xargs, find, parallel
// shell_editors.hpp       vim, tar, sed, tee, curl           shell_git.hpp            git
// shell_windows.hpp       PowerShell and cmd                 shell_carriers.hpp       docker, at, poetry run
// shell_inline.hpp        one-liners of seldom languages
// shell_clients.hpp       interpreters, SQL clients          shell_sockets.hpp        Redis over nc
// scripts.hpp             scripts                            shell_make.hpp, shell_cmake.hpp  recipes
#pragma once

#include "tipstaff/gate/shell_cmake.hpp"

namespace tipstaff::gate {

inline void read_shell(Reader& reader, const Code& code, const Frame& frame) noexcept {
  Code text = code;
  if (!text.text.empty() && std::memchr(text.text.data(), '\0', text.text.size()) != nullptr) {
    // A shell drops these bytes and reads on.
    reader.tree->add_uncertainty(Unresolved::encoding, code.origin, frame.carrier);
    std::size_t room = 0;
    char* out = reader.tree->draft(&room);
    if (room < text.text.size()) {
      reader.tree->add_uncertainty(Unresolved::limit, code.origin, frame.carrier);
      return;
    }
    std::size_t n = 0;
    for (const char c : text.text) {
      if (c != '\0') out[n++] = c;
    }
    text.text = reader.tree->keep(n);
    text.verbatim = false;
  }
  shell::Session session;
  session.level = 2 * frame.depth < shell::kLevels ? 2 * frame.depth : shell::kLevels - 1;
  session.cwd = frame.cwd;
  shell::ShellReader(reader, session, text, frame).read();
}

}  // namespace tipstaff::gate
