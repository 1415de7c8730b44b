// Programs that variables name which nothing in the text sets: $GIT push by convention, $SCCACHE_PATH --show-stats by the environment.
#pragma once

#include "tipstaff/gate/shell/language/names.hpp"

namespace tipstaff::gate::shell {

namespace environment_programs {

// Variables that hold any command at all, or one that destroys or sends. $GOTESTSUM_CMD says which one it is.
constexpr string_view kCommand = "cmd command";
constexpr string_view kAnyCommand =
    "cmds commands payload code script scripts eval exec run args argv line input output result action actions step task job hook hooks tool prog program app "
    "clean cleanup remove delete destroy drop wipe purge prune rm kill stop reset uninstall teardown down deploy publish release push upload rollback undo migrate shutdown "
    "sudo su ssh remote prod production sql query psql mysql mongo redis kubectl helm terraform ansible aws gcloud az git docker podman shell sh bash zsh";
// Words of arguments that delete, send or run other code.
constexpr string_view kHarm =
    "delete del rm remove drop destroy wipe purge prune clean reset kill terminate uninstall push publish deploy apply exec eval truncate flush shutdown reboot halt format "
    "erase undo rollback revert restore down rmi nuke force recursive hard overwrite unlink shred rf fr sync upload release mirror migrate yes";

inline bool any_word(string_view text, string_view words) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && (ascii::is_letter(text[end]) || ascii::is_digit(text[end]))) ++end;
    if (end > at && ascii::one_of(text.substr(at, end - at), words)) return true;
    at = end + 1;
  }
  return false;
}

// An argument that says of no harm: no other code, no path outside the folder, no word of kHarm.
inline bool is_tame(string_view text) noexcept {
  if (text.find_first_of(" \t\n;|&`$<>") != string_view::npos || text.find("..") != string_view::npos) return false;
  if (!text.empty() && (text[0] == '/' || text[0] == '~')) return false;
  if (text.find("://") != string_view::npos) return false;
  if (text.size() > 1 && text[0] == '-' && text[1] != '-' && text.size() < 5 && text.find_first_of("rRfFdDy") != string_view::npos) return false;
  return !any_word(text, kHarm);
}

}  // namespace environment_programs

// Whether the environment names the program, and nothing destructive is given to it.
inline bool ShellReader::is_of_environment(const Invocation& in) noexcept {
  using namespace environment_programs;
  const Word& name = argument(in, 0);
  if (name.text != kUnknown || !name.has(word_flag::kEnvironment)) return false;
  const string_view text = ascii::variable_in(source_of(name.span));
  if (text.size() < 3 || !is_name(text) || session_.find(text) != nullptr || any_word(text, kAnyCommand) || ascii::one_of(text, kCommand)) return false;
  for (const char c : text)
    if (ascii::is_letter(c) && ascii::lower(c) == c) return false;  // the environment's are written in capitals
  if (in.input.kind != Stream::none && in.input.kind != Stream::unknown) return false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word& word = argument(in, i);
    if (word.has(word_flag::kUnknown) ? word.text != kUnknown : !is_tame(word.text)) return false;
  }
  return true;
}

// CXX="$CXX -Wall", CC="${CCACHE} gcc": a variable of the environment with options, or before a program, which is what is left to judge.
inline bool ShellReader::is_extended(string_view code, string_view* left) noexcept {
  if (code.size() < 3 || code[0] != kUnknownPart || code[1] != ' ') return false;
  string_view rest = trim(code.substr(2));
  if (!rest.empty() && rest[0] != '-') {
    *left = rest;
    return true;
  }
  *left = {};
  while (!rest.empty()) {
    const std::size_t end = rest.find(' ');
    const string_view word = rest.substr(0, end);
    if (!(word.size() == 1 && word[0] == kUnknownPart) && !environment_programs::is_tame(word)) return false;
    rest = end == string_view::npos ? string_view() : trim(rest.substr(end));
  }
  return true;
}

// How variables are named after programs. Without a name of its own, a program's is the variable's, with _ for -.
struct Convention {
  string_view program, name;
};
constexpr std::size_t kLongestConvention = 24;
inline constexpr Convention kConventions[] = {
    {"rm", ""}, {"git", ""}, {"sudo", ""}, {"docker", ""}, {"podman", ""}, {"kubectl", ""}, {"helm", ""}, {"terraform", ""}, {"tofu", ""}, {"psql", ""}, {"mysql", ""},
    {"python", ""}, {"python3", ""}, {"pip", ""}, {"pip3", ""}, {"node", ""}, {"npm", ""}, {"npx", ""}, {"yarn", ""}, {"pnpm", ""}, {"bun", ""}, {"deno", ""}, {"ruby", ""},
    {"perl", ""}, {"php", ""}, {"composer", ""}, {"make", ""}, {"find", ""}, {"rsync", ""}, {"aws", ""}, {"gcloud", ""}, {"az", ""}, {"gh", ""}, {"go", ""}, {"cargo", ""},
    {"poetry", ""}, {"uv", ""}, {"tox", ""}, {"bundle", ""}, {"oc", ""}, {"kind", ""}, {"kustomize", ""}, {"minikube", ""}, {"redis-cli", ""}, {"mongosh", ""},
    {"ansible-playbook", ""}, {"golangci-lint", ""}, {"controller-gen", ""}, {"protoc", ""}, {"ssh", ""}, {"scp", ""},
    {"docker-compose", ""}, {"docker-compose", "compose"}, {"docker-compose", "dc"}, {"podman-compose", ""}, {"docker", "container-tool"}, {"docker", "container-engine"},
    {"docker", "container-runtime"}, {"docker", "container-cli"}, {"docker", "oci-bin"}, {"npm", "npm-execpath"}, {"node", "npm-node-execpath"}, {"node", "nodejs"}, {"python", "py"},
    {"python", "venv-python"}, {"python", "python-interpreter"}, {"terraform", "tf"}, {"aws", "aws-cli"}, {"gcloud", "gcloud-cli"},
};

// $(pip) install x: in a recipe, a variable in small letters. A shell would run the output of a program that is given nothing:
// no more than that program could do itself, as long as it does not print what others wrote.
inline string_view ShellReader::bare_make_variable(const Invocation& in) noexcept {
  const Word& written = argument(in, 0);
  if (written.text != kUnknown || defines_names()) return {};
  string_view name = source_of(written.span);
  if (!starts_with(name, "$(") || name.back() != ')' || name.size() < 4) return {};
  name = name.substr(2, name.size() - 3);
  // $(check_deps) alone, by a name that says of no code.
  if (in.count < 2 && (name.find('_') == string_view::npos || environment_programs::any_word(name, environment_programs::kAnyCommand) || environment_programs::any_word(name, "cmd command get fetch find pick choose next load read cat print show"))) return {};
  if (!is_name(name) || one_of(name, "pbpaste xclip xsel fzf sk peco gum rofi dmenu zenity fortune gmail mail history")) return {};
  const Program& known = find_program(name);
  const bool interpreter = one_of(name, "python python3 pip pip3 go npm node yarn cargo docker podman kubectl helm terraform make git");
  return interpreter || (known.handler == Handler::none && known.output == Output::unknown) ? name : string_view();
}

// ${BUILD_OPTS} go build, $TEST_ENV make check: assignments or nothing before a program that is named; ${E}mkdir -p x, where make's users
// silence a recipe. Returns whether they were dropped, so that the program is what is left.
inline bool ShellReader::drops_prefix(Invocation& in) noexcept {
  const Word& written = argument(in, 0);
  if (written.text.empty() || written.text[0] != kUnknownPart || !written.has(word_flag::kEnvironment) || written.has(word_flag::kQuoted)) return false;
  string_view name = ascii::variable_in(source_of(written.span));
  if (written.text.size() == 1) {
    if (in.count < 2 || !is_name(name) || session_.find(name) != nullptr) return false;
    const std::size_t last = name.rfind('_');
    if (last == string_view::npos || !one_of(name.substr(last + 1), "ENV ENVS OPTS VARS FLAGS ENVIRONMENT")) return false;
    const Word& next = argument(in, 1);
    const string_view program = program_name(next);
    if (next.text != program || find_program(program).name.empty()) return false;
    ++in.first, --in.count;
    return true;
  }
  const string_view source = source_of(written.span);
  const std::size_t close = source.find('}');
  if (!starts_with(source, "${") || close == string_view::npos || source.substr(close + 1) != written.text.substr(1)) return false;
  name = source.substr(2, close - 2);
  if (!one_of(name, "E Q V AT ECHO SILENT QUIET") || session_.find(name) != nullptr || !is_name(written.text.substr(1))) return false;
  Word known = written;
  known.text.remove_prefix(1);
  known.flags = 0;
  const std::uint32_t first = tree_.word_count();
  if (tree_.add_word(known) == kNone) return false;
  for (std::uint32_t i = 1; i < in.count; ++i)
    if (tree_.add_word(argument(in, i)) == kNone) return false;
  in.first = first;
  return true;
}

// $GIT push, "${SUDO}" make install: a variable that this text does not set and that is named after a program is that program.
inline bool ShellReader::takes_conventional_name(Invocation& in) noexcept {
  if (drops_prefix(in)) return true;
  const Word& written = argument(in, 0);
  const bool of_make = written.has(word_flag::kPseudo);  // $(DC)
  string_view name = written.text;
  const string_view bare = of_make ? string_view() : bare_make_variable(in);
  if (!bare.empty()) {
    name = bare;
  } else if (!of_make) {
    if (name.size() != 1 || name[0] != kUnknownPart || !written.has(word_flag::kEnvironment)) return false;
    name = ascii::variable_in(source_of(written.span));
    if (name.size() > 2 && name.find(":-") == name.size() - 2) name.remove_suffix(2);
  }
  for (const string_view ending : {"_BIN", "_CMD", "_EXE", "_COMMAND"})
    if (ends_with(name, ending)) name.remove_suffix(ending.size());
  if (name.empty() || name.size() > kLongestConvention) return false;
  char folded[kLongestConvention];
  for (std::size_t i = 0; i < name.size(); ++i) folded[i] = name[i] == '_' ? '-' : ascii::lower(name[i]);
  const string_view small(folded, name.size());
  if (of_make && name.find('_') == string_view::npos && !one_of(small, "dc compose")) return false;  // read by its own letters
  for (const Convention& known_as : kConventions) {
    if (small != (known_as.name.empty() ? known_as.program : known_as.name)) continue;
    const string_view program = known_as.program;
    Word known = written;
    known.text = program;
    known.flags = 0;
    const std::uint32_t first = tree_.word_count();
    if (tree_.add_word(known) == kNone) return false;
    std::uint32_t count = 1;
    if (program == "rm") {  // as make has it
      known.text = "-f";
      if (tree_.add_word(known) == kNone) return false;
      ++count;
    }
    for (std::uint32_t i = 1; i < in.count; ++i, ++count)
      if (tree_.add_word(argument(in, i)) == kNone) return false;
    in.first = first;
    in.count = count;
    return true;
  }
  return false;
}

}  // namespace tipstaff::gate::shell
