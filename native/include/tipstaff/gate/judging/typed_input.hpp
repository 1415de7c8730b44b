// Programs that read their input from a terminal: what is typed into them later is not in their command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/command.hpp"

namespace tipstaff::gate {
namespace engine {

// `< build.sh`, but not `< /dev/stdin`, which is what is typed.
inline bool is_given_input(std::string_view text) noexcept {
  const std::size_t at = text.find('<');
  if (at == std::string_view::npos) return false;
  std::string_view from = text.substr(at + 1);
  while (!from.empty() && (from[0] == ' ' || from[0] == '"' || from[0] == '\'')) from.remove_prefix(1);
  if (from.find('<') != std::string_view::npos) return true;
  for (const std::string_view typed : {"/dev/stdin", "/dev/tty", "/dev/fd/0", "/proc/self/fd/0", "&0"})
    if (ascii::starts_with(from, typed)) return false;
  return true;
}

// python manage.py shell, php artisan tinker
inline bool asks_in_framework(const Command& command, const Word* words) noexcept {
  if (command.word_count < 2) return false;
  if (command.program == "php") return ascii::ends_with(words[0].text, "artisan") && ascii::one_of(words[1].text, "tinker db");
  if (!ascii::starts_with(command.program, "python") || !ascii::ends_with(words[0].text, "manage.py")) return false;
  if (!ascii::one_of(words[1].text, "shell shell_plus dbshell")) return false;
  for (std::uint32_t i = 2; i < command.word_count; ++i)
    if (ascii::one_of(words[i].text, "-c --command --help") || ascii::starts_with(words[i].text, "--command=")) return false;
  return true;
}

// Recorders, consoles, debuggers and editors, which run what is typed as well.
inline bool tool_waits(const Command& command, const Word* words) noexcept {
  const std::string_view program = command.program;
  const std::string_view first = command.word_count != 0 ? words[0].text : std::string_view();
  if (program == "rails") return ascii::one_of(first, "c console db dbconsole");
  if (program == "php") return first.empty() || ascii::one_of(first, "-a --interactive") || asks_in_framework(command, words);
  const bool debugger = ascii::one_of(program, "gdb lldb");
  std::uint32_t operands = 0;
  for (std::uint32_t i = 0; i < command.word_count; ++i) {
    const std::string_view word = words[i].text;
    if (ascii::one_of(word, "--version --help -version -h --batch -batch --headless --command --eval --script -es") || word == "-V") return false;
    if (program == "script" && word.size() > 1 && word[0] == '-' && word[1] != '-' && word.find_first_of("cpd") != std::string_view::npos) return false;
    if (ascii::starts_with(word, "--command=") || (debugger && program == "lldb" && word == "-b")) return false;
    // +wq, -c ':%s/a/b/ | wq'
    if (!debugger && !word.empty() && (word[0] == '+' || (i != 0 && words[i - 1].text == "-c")) && word.find_first_of("qx") != std::string_view::npos) return false;
    operands += word.empty() || word[0] != '-' ? 1 : 0;
  }
  return program != "script" || operands <= 1;
}

// Subcommands that open a session, if no command for it follows: by program, and by what its first operands are.
struct Session {
  std::string_view program, first, second;  // second: empty for any
};
inline constexpr Session kSessions[] = {
    {"tmux", "attach", ""}, {"tmux", "attach-session", ""}, {"tmux", "a", ""}, {"tmux", "new", ""}, {"tmux", "new-session", ""}, {"poetry", "shell", ""}, {"pipenv", "shell", ""}, {"hatch", "shell", ""},
    {"pixi", "shell", ""}, {"devbox", "shell", ""}, {"nix", "develop", ""}, {"nix", "shell", ""}, {"flask", "shell", ""}, {"wp", "shell", ""}, {"django-admin", "shell", ""}, {"django-admin", "dbshell", ""},
    {"sbt", "console", ""}, {"bundle", "console", ""}, {"dotnet", "fsi", ""}, {"vagrant", "ssh", ""}, {"minikube", "ssh", ""}, {"multipass", "shell", ""}, {"toolbox", "enter", ""}, {"distrobox", "enter", ""},
    {"limactl", "shell", ""}, {"lxc", "shell", ""}, {"incus", "shell", ""}, {"docker", "attach", ""}, {"podman", "attach", ""}, {"kubectl", "attach", ""}, {"adb", "shell", ""}, {"heroku", "ps:exec", ""},
    {"heroku", "pg:psql", ""}, {"heroku", "redis:cli", ""}, {"pscale", "shell", ""}, {"turso", "db", "shell"}, {"fly", "ssh", "console"}, {"flyctl", "ssh", "console"}, {"fly", "postgres", "connect"},
    {"flyctl", "postgres", "connect"}, {"gcloud", "compute", "ssh"}, {"gcloud", "sql", "connect"}, {"aws", "ssm", "start-session"}, {"machinectl", "shell", ""},
};
constexpr std::string_view kSessionPrograms =
    "tmux screen byobu nix-shell newgrp telnet ftp sftp lftp sqlplus cqlsh duckdb clickhouse-client usql pgcli mycli litecli cypher-shell";

inline bool opens_session(const Command& command, const Word* words) noexcept {
  const bool alone = ascii::one_of(command.program, kSessionPrograms);
  std::string_view operand[2];
  std::uint32_t operands = 0;
  bool other = false;
  for (std::uint32_t i = 0; i < command.word_count; ++i) {
    const std::string_view word = words[i].text;
    if (word.empty() || word[0] != '-') {
      if (operands < 2) operand[operands] = word;
      other = other || (!word.empty() && word[0] == '@');
      ++operands;
    } else if (ascii::one_of(word.substr(0, word.find('=')), "-- -c -C -e -f -b -q -d -D -S -X -ls -list -wipe --run --command --query --execute --eval --file --batch --help --version --print") ||
               ascii::starts_with(word, "-d")) {
      other = true;
    }
  }
  if (other) return false;
  for (const Session& one : kSessions) {
    if (one.program != command.program || one.first != operand[0]) continue;
    if (!one.second.empty() && one.second != operand[1]) continue;
    // Of these, more words are a command.
    const std::uint32_t most = ascii::one_of(command.program, "adb minikube") ? 1 : ascii::one_of(command.program, "limactl machinectl") ? 2 : 3;
    return operands <= most || !ascii::one_of(command.program, "adb minikube limactl machinectl tmux");
  }
  return alone && (command.program == "tmux" || command.program == "screen" ? operands == 0 : operands <= 1);
}

// A shell, an interpreter or a client that reads what is typed: nothing else is given to it, by words or as its input.
inline bool waits_for_input(const Command& command, const Word* words, std::string_view text) noexcept {
  const std::string_view program = command.program;
  const bool shell = ascii::one_of(program, "bash sh zsh dash ksh mksh fish ash csh tcsh nu xonsh elvish pwsh powershell cmd");
  const bool language = ascii::one_of(program, "python python2 python3 ipython bpython ptpython node ts-node tsx deno bun irb pry ghci iex erl "
                                               "lua luajit r julia octave scala jshell clj ocaml utop tclsh perl ruby expect");
  const bool client = ascii::one_of(program, "ssh su sudo psql mysql mariadb sqlite3 redis-cli mongosh mongo");
  const bool tool = ascii::one_of(program, "script rails php gdb lldb vim vi view nvim ed red ex emacs nano");
  if (command.has_input || command.pipe_from != kNone) return false;
  if (!shell && !language && !client && !tool) return opens_session(command, words);
  if (command.span.start < command.span.end && command.span.end <= text.size() &&
      is_given_input(text.substr(command.span.start, command.span.end - command.span.start)))
    return false;
  if (tool) return tool_waits(command, words);
  if (asks_in_framework(command, words)) return true;
  const std::string_view valued = program == "ssh" ? "BbcDEeFIiJLlmopRSw" : program == "sudo" ? "ugpCDRT" : client && program != "su" ? "hpPUudnDa" : "";
  std::uint32_t operands = 0;
  std::uint32_t flags = 0;  // of an interpreter, before what it runs and none of which takes a word
  bool asks_for_shell = program != "sudo";
  for (std::uint32_t i = 0; i < command.word_count; ++i) {
    const std::string_view word = words[i].text;
    if (word.size() < 2 || word[0] != '-') {
      if (word != "-") ++operands;
      continue;
    }
    if (word[1] == '-') {
      const std::string_view name = word.substr(0, word.find('='));
      if (ascii::one_of(name, "--command --execute --eval --print --file --version --help --list --validate --check --test")) return false;
      if (ascii::one_of(word, "--rcfile --init-file --user --host --port --dbname --username --database")) ++i;
      asks_for_shell = asks_for_shell || ascii::one_of(word, "--login --shell");
      continue;
    }
    if (((word[1] == 'V' && program != "expect") || word == "-h") && (shell || language)) return false;
    if (language && operands == 0 && i == flags && ascii::one_of(program, "python python2 python3 ipython node lua luajit")) {
      if (word.find('i') != std::string_view::npos) return true;
      ++flags;
    }
    if (language && (word == "-v" || (word.size() > 2 && std::string_view("cepmE").find(word[1]) != std::string_view::npos))) return false;
    if (program == "ssh" && word.find_first_of("NfWOQGV") != std::string_view::npos) return false;
    if (ascii::one_of(program, "sudo su") && word.find_first_of("clvkKeV") != std::string_view::npos && word != "-l") return false;
    if (client && !ascii::one_of(program, "ssh su sudo") && word.find_first_of("cefl") == 1) return false;
    asks_for_shell = asks_for_shell || word.find_first_of("is") != std::string_view::npos;
    if (word.size() == 2 && valued.find(word[1]) != std::string_view::npos) ++i;
  }
  if (program == "su") return true;
  if (ascii::one_of(program, "ssh sqlite3")) return operands <= 1;
  if (ascii::one_of(program, "psql mysql mariadb mongosh mongo")) return operands <= 2;
  return (operands == 0 && asks_for_shell) || (ascii::one_of(program, "deno bun") && operands == 1 && words[0].text == "repl");
}

}  // namespace engine
}  // namespace tipstaff::gate
