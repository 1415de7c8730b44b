// Reads POSIX shell and bash: what a command line would run, with all that it carries.
//
// syntax/shell.cpp, eval/                what the text is, and what it would call, in every way that may happen
// shell/language/bytes.hpp               what bytes mean, and encodings
// shell/language/session.hpp             what a text leaves for later commands; its variables, where a command runs
// shell/language/reader.hpp              the reader: its parts are in the headers below
// shell/language/invocation.hpp          what they pass on
// shell/language/sink.hpp                calls of the evaluator become commands
// shell/language/foreign.hpp             {{x}}, ${{ x }}              shell/small_languages/make_words.hpp  $(CC), $(call x,y)
// shell/language/variables.hpp           variables whose text is run  shell/programs/builtins.hpp       read, source, bash -c
// shell/redirections/                    > x, files that are written, copied and then used, sort x > x
// shell/programs/table.hpp      the table of programs              shell/language/names.hpp          what a program is called
// shell/language/commands.hpp      from words to commands             shell/language/nested.hpp         code that a command carries or calls
// shell/programs/prints.hpp        what echo, printf, cat print       shell/programs/filters.hpp        what filters make of it
// shell/small_languages/sed.hpp           what sed makes of it
// shell/programs/outputs.hpp       what other commands print
// shell/programs/wrappers.hpp      sudo, env, ssh, watch              shell/programs/finders.hpp        xargs, find, parallel
// shell/programs/code_options.hpp  su -c, xterm -e, watch
// shell/programs/editors.hpp       vim, tar, sed                      shell/programs/git.hpp            git
// shell/programs/carriers.hpp      docker, at, poetry run
// shell/programs/inline.hpp        one-liners of rare languages, PowerShell and cmd
// shell/programs/carried.hpp       commands of unknown tools, files that are loaded by name
// shell/programs/clients.hpp       interpreters, SQL clients, Redis over nc
// shell/programs/scripts.hpp       scripts
// shell/small_languages/           makefiles, cmake -P, m4, expect
// shell/tables/                    words of tools, tools that clean folders
#include <cstring>

#include "tipstaff/gate/shell/language/bytes.hpp"
#include "tipstaff/gate/shell/language/commands.hpp"
#include "tipstaff/gate/shell/language/foreign.hpp"
#include "tipstaff/gate/shell/small_languages/make_words.hpp"
#include "tipstaff/gate/shell/language/names.hpp"
#include "tipstaff/gate/shell/language/nested.hpp"
#include "tipstaff/gate/shell/language/reader.hpp"
#include "tipstaff/gate/shell/language/session.hpp"
#include "tipstaff/gate/shell/language/sink.hpp"
#include "tipstaff/gate/shell/language/variables.hpp"
#include "tipstaff/gate/shell/programs/builtins.hpp"
#include "tipstaff/gate/shell/small_languages/build_tools.hpp"
#include "tipstaff/gate/shell/programs/carried.hpp"
#include "tipstaff/gate/shell/programs/carriers.hpp"
#include "tipstaff/gate/shell/programs/clients.hpp"
#include "tipstaff/gate/shell/programs/code_options.hpp"
#include "tipstaff/gate/shell/programs/editors.hpp"
#include "tipstaff/gate/shell/programs/filters.hpp"
#include "tipstaff/gate/shell/programs/finders.hpp"
#include "tipstaff/gate/shell/programs/git.hpp"
#include "tipstaff/gate/shell/programs/inline.hpp"
#include "tipstaff/gate/shell/programs/outputs.hpp"
#include "tipstaff/gate/shell/programs/prints.hpp"
#include "tipstaff/gate/shell/programs/scripts.hpp"
#include "tipstaff/gate/shell/small_languages/sed.hpp"
#include "tipstaff/gate/shell/programs/table.hpp"
#include "tipstaff/gate/shell/programs/wrappers.hpp"
#include "tipstaff/gate/shell/redirections/copied_files.hpp"
#include "tipstaff/gate/shell/redirections/emptied_files.hpp"
#include "tipstaff/gate/shell/redirections/redirections.hpp"
#include "tipstaff/gate/shell/redirections/written_files.hpp"
#include "tipstaff/gate/shell/small_languages/cmake.hpp"
#include "tipstaff/gate/shell/small_languages/expect.hpp"
#include "tipstaff/gate/shell/small_languages/m4.hpp"
#include "tipstaff/gate/shell/small_languages/make.hpp"
#include "tipstaff/gate/shell/tables/cleaned_folders.hpp"

namespace tipstaff::gate {

void read_shell(Reader& reader, const Code& code, const Frame& frame) noexcept {
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
  // @for x in ...: a line of a recipe. A shell would look for a program of that name.
  if (frame.carrier == kNone && text.verbatim && text.text.size() > 2 && text.text[0] == '@' &&
      (ascii::is_letter(text.text[1]) || std::string_view("$[({").find(text.text[1]) != std::string_view::npos)) {
    text.text.remove_prefix(1);
    ++text.origin.start;
  }
  shell::Session session;
  session.level = 2 * frame.depth < shell::kLevels ? 2 * frame.depth : shell::kLevels - 1;
  session.cwd = frame.cwd;
  session.home = reader.surroundings->home;
  shell::ShellReader(reader, session, text, frame).read();
}

void read_started_file(Reader& reader, std::string_view path, const Code& content, const Frame& frame) noexcept {
  shell::Session session;
  session.cwd = frame.cwd;
  session.home = reader.surroundings->home;
  shell::ShellReader(reader, session, content, frame).read_started(path, content);
}

bool is_started_file(std::string_view path) noexcept { return shell::started_by(path) != shell::Started::nothing; }

}  // namespace tipstaff::gate
