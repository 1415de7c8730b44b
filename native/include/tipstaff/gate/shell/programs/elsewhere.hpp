// Tools whose words are a command for another machine, a device or an application's own shell: heroku run, adb shell,
// fly ssh console -C, gh codespace ssh; and those that are given code of another dialect: rails runner, mix run -e.
#pragma once

#include "tipstaff/gate/shell/programs/scripts.hpp"
#include "tipstaff/gate/shell/programs/tool_files.hpp"
#include "tipstaff/gate/shell/tables/verbs.hpp"

namespace tipstaff::gate::shell {

// Where the words of a verb end, or kNone where they are not there. Options may be before and between them.
inline std::uint32_t ShellReader::after_verb(const Invocation& in, string_view verb, string_view short_values, string_view long_values) noexcept {
  std::uint32_t at = after_options(in, 1, short_values, long_values);
  while (!verb.empty()) {
    const std::size_t blank = verb.find(' ');
    const string_view word = verb.substr(0, blank);
    if (at >= in.count || text_of(in, at) != word) return kNone;
    verb = blank == string_view::npos ? string_view() : verb.substr(blank + 1);
    ++at;
    if (!verb.empty()) at = after_options(in, at, short_values, long_values);
  }
  return at;
}

inline void ShellReader::run_elsewhere(Invocation& in, const Program& program) noexcept {
  for (const RemoteVerb& known : kRemoteVerbs) {
    if (known.tool != program.name) continue;
    std::uint32_t at = after_verb(in, known.verb, known.short_values, known.long_values);
    if (at == kNone) continue;
    Invocation remote = in;
    if ((known.via & via::kRemote) != 0) remote.cwd = {};
    Nested options;
    options.via = known.via | via::kEvaluated;
    Word code;
    if ((!known.option.empty() || known.letter != '\0') && find_option(in, known.letter, known.option, &code) != kNone) {
      return code_word(remote, code, options, Dialect::shell);
    }
    if (!known.option.empty()) return;
    at = after_options(in, at, known.short_values, known.long_values);
    for (std::uint8_t skipped = 0; skipped < known.operands && at < in.count && text_of(in, at) != "--"; ++skipped) ++at;
    at = after_options(in, at, known.short_values, known.long_values);
    if (at < in.count && text_of(in, at) == "--") ++at;
    if (at >= in.count) {
      if (in.input.kind != Stream::none && in.input.kind != Stream::unknown) nested_stream(remote, in.input, options, Dialect::shell);
      return;
    }
    const Word word = rest_of(in, at);
    if (one_of(program.name, "winrs psexec psexec64 paexec")) return code_word(remote, word, options, Dialect::cmd);
    if (at + 1 >= in.count) return code_word(remote, word, options, Dialect::shell);  // all of it in quotes
    if ((known.via & via::kContainer) != 0 || known.via == 0) return run_inner(remote, at, known.via);
    code_word(remote, word, options, Dialect::shell);
    if (has_quoted_code(in, at)) run_inner(remote, at, known.via);
    return;
  }
  for (const CodeVerb& known : kCodeVerbs) {
    if (known.tool != program.name) continue;
    const std::uint32_t at = after_verb(in, known.verb, "earsdp", "--environment --settings --app --database --path --url --file --schema --execute_");
    if (at == kNone) continue;
    Nested options;
    options.via = via::kInterpreter | via::kEvaluated;
    Word code;
    if ((!known.option.empty() || known.letter != '\0')) {
      if (find_option(in, known.letter, known.option, &code) != kNone) return code_word(in, code, options, known.dialect);
    } else {
      const std::uint32_t given = after_options(in, at, "earsdp", "--environment --settings --app --database --path --url --file --schema");
      if (given < in.count && text_of(in, given) != "-") {
        const string_view text = text_of(in, given);
        if (ends_with(text, ".rb") || ends_with(text, ".php") || ends_with(text, ".py")) {
          run_script(in, given, known.dialect, 0);
          return;
        }
        const bool last = known.dialect == Dialect::sql && given + 1 < in.count;
        return code_word(in, argument(in, last ? in.count - 1 : given), options, known.dialect);
      }
    }
    if (in.input.kind == Stream::known || (in.input.kind != Stream::none && (known.letter == 0 || !known.verb.empty()))) nested_stream(in, in.input, options, known.dialect);
    return;
  }
}

// What ansible-console is fed: a line is the name of a module with its words, or a command for all hosts.
inline void ShellReader::run_console(Invocation& in) noexcept {
  if (in.input.kind != Stream::known) return;
  Invocation remote = in;
  remote.cwd = {};
  Nested options;
  options.via = via::kRemote | via::kEvaluated;
  for (string_view rest = in.input.text; !rest.empty();) {
    const std::size_t newline = rest.find('\n');
    string_view line = trim(rest.substr(0, newline));
    rest = newline == string_view::npos ? string_view() : rest.substr(newline + 1);
    if (line.empty() || line[0] == '#') continue;
    if (line[0] == '!') line = trim(line.substr(1));
    const std::size_t blank = line.find(' ');
    const bool module = blank != string_view::npos && one_of(line.substr(0, blank), "shell command raw script");
    Word task = argument(in, 0);
    task.span = in.input.span;
    task.text = module ? trim(line.substr(blank + 1)) : line;
    if (!module && holds_any(line, {"state=absent"})) task.text = "ansible-playbook -e state=absent";
    if (one_of(line.substr(0, blank), "cd verbosity become list exit forks check diff remote_user become_user")) continue;
    code_word(remote, task, options, Dialect::shell);
  }
}

// A playbook that this text wrote, or that can be read: its shell, command, raw and script tasks.
inline void ShellReader::run_playbook(Invocation& in) noexcept {
  if (program_name(argument(in, 0)) == "ansible-console") return run_console(in);
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word word = argument(in, i);
    const bool from_input = word.text == "/dev/stdin" || word.text == "-";
    if (!from_input && !ends_with(word.text, ".yml") && !ends_with(word.text, ".yaml") && !ends_with(word.text, ".json")) continue;
    if (i > 1 && one_of(text_of(in, i - 1), "-i --inventory -e --extra-vars --vault-password-file")) continue;
    Stream file;
    file.kind = Stream::file;
    file.text = word.text;
    file.span = word.span;
    const Stream content = from_input ? in.input : load(file, in.cwd);
    if (content.kind != Stream::known) continue;
    // What this very text takes away: a user, a folder, a package.
    const string_view path = resolve(in.cwd, word.text);
    if ((from_input || session_.find_file(path.empty() ? word.text : path) != nullptr) && holds_any(content.text, {"state: absent", "\"absent\"", "state=absent"})) {
      Word task = word;
      task.text = "ansible-playbook -e state=absent";
      code_word(in, task, Nested{}, Dialect::shell);
    }
    Invocation remote = in;
    remote.cwd = {};
    Nested options;
    options.via = via::kRemote | via::kScript;
    string_view rest = content.text;
    while (!rest.empty()) {
      const std::size_t newline = rest.find('\n');
      string_view line = trim(rest.substr(0, newline));
      rest = newline == string_view::npos ? string_view() : rest.substr(newline + 1);
      if (starts_with(line, "- ")) line = trim(line.substr(2));
      for (const string_view prefix : {string_view("ansible.builtin."), string_view("ansible.windows."), string_view("win_"), string_view("local_action: ")}) {
        if (starts_with(line, prefix)) line = trim(line.substr(prefix.size()));
      }
      const std::size_t colon = line.find(": ");
      if (colon == string_view::npos || !one_of(line.substr(0, colon), "shell command raw cmd script")) continue;
      string_view code = trim(line.substr(colon + 2));
      if (code.size() > 1 && (code[0] == '"' || code[0] == '\'') && code.back() == code[0]) code = code.substr(1, code.size() - 2);
      if (code.empty() || code[0] == '|' || code[0] == '>') continue;
      Word task = word;
      task.text = code;
      code_word(remote, task, options, Dialect::shell);
    }
  }
}

// A source that this very text wrote or feeds to a compiler: what it would run and delete once it is started.
inline void ShellReader::run_compiler(Invocation& in) noexcept {
  if (program_name(argument(in, 0)) == "java" && run_jar(in)) return;
  bool from_input = false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    if (one_of(text_of(in, i), "-fsyntax-only -E -M -MM")) return;  // nothing is made that could be started
  }
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word word = argument(in, i);
    if (word.text == "-" || word.text == "/dev/stdin") from_input = true;
    if (word.text.empty() || word.text[0] == '-' || session_.files.size() == 0) continue;
    const string_view path = resolve(in.cwd, word.text);
    const WrittenFile* const written = session_.find_file(path.empty() ? word.text : path);
    if (written != nullptr && written->content.kind == Stream::known) read_texts_of(in, written->content.text, word.span, 0);
  }
  if (from_input && in.input.kind == Stream::known) read_texts_of(in, in.input.text, in.input.span, 0);
}

enum class Started : std::uint8_t { nothing, shell, git, unit, python, ruby, texts, lines, tasks, launch };

inline Started started_by(string_view path) noexcept {
  const std::size_t slash = path.rfind('/');
  const string_view name = slash == string_view::npos ? path : path.substr(slash + 1);
  if (one_of(name, ".bashrc .bash_profile .bash_login .bash_logout .profile .zshrc .zprofile .zshenv .zlogin .zlogout .kshrc .cshrc .tcshrc .envrc "
                   "rc.local config.fish .xinitrc .xprofile .xsession .bash_aliases .zsh_aliases bashrc zshrc profile")) {
    return Started::shell;
  }
  if (ends_with(path, ".ssh/rc")) return Started::shell;
  for (const string_view folder : {"/etc/profile.d/", "/fish/conf.d/", "/fish/functions/", "/etc/cron.daily/", "/etc/cron.hourly/", "/etc/cron.weekly/", "/etc/cron.monthly/", "/dispatcher.d/",
                                   "/update-motd.d/", "/etc/init.d/", "/system-sleep/", "/initramfs-tools/", "/plasma-workspace/env/"})
    if (path.find(folder) != string_view::npos) return Started::shell;
  if (name == ".gitconfig" || (name == "config" && (ends_with(path, ".git/config") || ends_with(path, "/git/config")))) return Started::git;
  if (ends_with(name, ".service") || ends_with(name, ".desktop")) return Started::unit;
  if (one_of(name, "sitecustomize.py usercustomize.py") || ends_with(name, ".pth")) return Started::python;
  if (one_of(name, ".irbrc .pryrc")) return Started::ruby;
  if (ends_with(name, ".plist")) return Started::launch;
  if (one_of(name, ".emacs init.el .Rprofile Rprofile.site startup.jl .iex.exs .ghci .guile .sbclrc init.lua .hammerspoon .wezterm.lua")) return Started::texts;
  if (one_of(name, ".psqlrc .sqliterc .gdbinit .lldbinit .tmux.conf tmux.conf .screenrc .xbindkeysrc sxhkdrc .lftprc devcontainer.json .lessfilter .procmailrc .forward") ||
      ends_with(name, ".rules") || ends_with(path, "/i3/config") || ends_with(path, "/sway/config") || ends_with(path, ".ssh/config") || path.find("/logrotate.d/") != string_view::npos ||
      path.find("/apt.conf.d/") != string_view::npos || ends_with(name, ".hook")) return Started::lines;
  if (one_of(name, ".vimrc .gvimrc .exrc .nvimrc init.vim vimrc _vimrc")) return Started::texts;
  if (ends_with(path, ".vscode/tasks.json")) return Started::tasks;
  return Started::nothing;
}

// The words of ProgramArguments in a list of launchd's are a command.
inline void ShellReader::run_launch_list(Invocation& in, string_view text, Span span) noexcept {
  std::size_t at = text.find("<key>Program");
  if (at == string_view::npos || !holds_any(text.substr(at), {"<array>"})) return;
  const std::size_t end = text.find("</array>", at);
  string_view line = tree_.copy("");
  for (at = text.find("<string>", at); at < end && at != string_view::npos; at = text.find("<string>", at)) {
    at += 8;
    const std::size_t close = text.find("</string>", at);
    if (close == string_view::npos) return;
    const string_view word = text.substr(at, close - at);
    const bool quotes = holds(word, ' ') && !holds(word, '\'');
    line = tree_.join(tree_.join(tree_.join(line, quotes ? " '" : " "), word), quotes ? "'" : "");
    at = close;
  }
  Nested options;
  options.via = via::kScheduled | via::kScript;
  options.subshell = true;
  nested(in, line, span, options);
}

// What a file would run later, unasked: a shell's start-up file at the next login, with what its aliases stand for; git's
// configuration at the next call of an alias or a filter; a unit when its manager starts it.
inline void ShellReader::run_at_startup(string_view path, const Stream& content, Span span) noexcept {
  if (content.kind != Stream::known || content.text.empty()) return;
  const Started kind = started_by(path);
  if (kind == Started::nothing) return;
  Invocation in = for_carried_code(span);
  in.cwd = reader_.surroundings->home;
  Nested options;
  options.via = via::kScheduled | via::kScript;
  options.subshell = true;
  if (kind == Started::python) return other_dialect(in, Dialect::python, content.text, span, via::kScheduled | via::kScript);
  if (kind == Started::ruby) return other_dialect(in, Dialect::ruby, content.text, span, via::kScheduled | via::kScript);
  if (kind == Started::texts) {
    for (std::size_t at = content.text.find('!'); at != string_view::npos; at = content.text.find('!', at + 1)) {  // vim: !rm x, autocmd VimEnter * !rm x
      if (at > 0 && !holds(" \n:", content.text[at - 1])) continue;
      const string_view line = content.text.substr(at + 1, content.text.find('\n', at) - at - 1);
      if (!begins_command(line)) continue;
      nested(in, line, span, options);
      at += line.size();
    }
    return read_texts_of(in, content.text, span, 0);
  }
  if (kind == Started::lines) return read_loaded(in, content, Dialect::prose);
  if (kind == Started::launch) return run_launch_list(in, content.text, span);
  if (kind == Started::tasks) {  // when the folder is opened
    if (holds_any(content.text, {"folderOpen"})) read_loaded(in, content, Dialect::prose);
    return;
  }
  if (kind == Started::shell) {
    nested(in, content.text, span, options);
    // alias NAME='CODE': only called later, and by the name of something harmless.
    for (std::size_t at = content.text.find("alias "); at != string_view::npos; at = content.text.find("alias ", at + 6)) {
      const std::size_t equals = content.text.find('=', at);
      if (equals == string_view::npos || equals + 2 >= content.text.size()) break;
      const char quote = content.text[equals + 1];
      if (quote != '\'' && quote != '"') continue;
      const std::size_t close = content.text.find(quote, equals + 2);
      if (close == string_view::npos) break;
      // alias ls='rm -rf': what is given to the name comes after it.
      nested(in, tree_.join(tree_.join(tree_.copy(""), content.text.substr(equals + 2, close - equals - 2)), " \x01"), span, options);
    }
    return;
  }
  // NAME = VALUE, a line each.
  string_view rest = content.text;
  while (!rest.empty()) {
    std::size_t end = rest.find('\n');
    if (end == string_view::npos) end = rest.size();
    const string_view line = trim(rest.substr(0, end));
    rest.remove_prefix(end < rest.size() ? end + 1 : end);
    const std::size_t equals = line.find('=');
    if (line.empty() || line[0] == '#' || line[0] == ';' || equals == string_view::npos) continue;
    const string_view name = trim(line.substr(0, equals));
    string_view code = trim(line.substr(equals + 1));
    if (kind == Started::git) {
      if (code.size() > 1 && (code[0] == '"' || code[0] == '\'') && code.back() == code[0]) code = code.substr(1, code.size() - 2);
      const bool shell = !code.empty() && code[0] == '!';
      if (!shell && !ascii::one_of(name, "fsmonitor sshcommand pager editor textconv clean smudge process command driver external askpass program cmd")) continue;
      if (shell) code.remove_prefix(1);
    } else {
      if (!starts_with(name, "Exec")) continue;
      while (!code.empty() && holds("-@+!:|", code[0])) code.remove_prefix(1);
    }
    if (!code.empty()) nested(in, code, span, options);
  }
}

// A script of package.json that runs without being named: at the next install, or at the steps that everyone takes.
inline void ShellReader::run_stored_script(Invocation& in, string_view name, string_view code, Span span) noexcept {
  if (starts_with(name, "post")) name.remove_prefix(4);
  else if (starts_with(name, "pre") && !one_of(name, "prepare prepack prepublish prepublishOnly")) name.remove_prefix(3);
  if (!one_of(name, "install prepare prepack pack prepublish prepublishOnly dependencies test build start dev lint")) return;
  Nested options;
  options.via = via::kScheduled | via::kScript;
  options.subshell = true;
  nested(in, code, span, options);
}

// npm pkg set scripts.NAME=CODE: what `npm run NAME` runs from then on.
inline void ShellReader::set_package_scripts(Invocation& in, std::uint32_t from) noexcept {
  string_view json = tree_.copy("{\"scripts\":{");
  bool any = false;
  for (std::uint32_t i = from; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    const std::size_t equals = text.find('=');
    if (!starts_with(text, "scripts.") || equals == string_view::npos || equals <= 8) continue;
    const string_view code = text.substr(equals + 1);
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    if (room < 2 * code.size() + 1) return tree_.set_full();
    std::size_t kept = 0;
    for (const char c : code) {
      if (c == '"' || c == '\\') out[kept++] = '\\';
      out[kept++] = c;
    }
    const string_view escaped = tree_.keep(kept);
    run_stored_script(in, text.substr(8, equals - 8), code, argument(in, i).span);
    json = tree_.join(json, any ? ",\"" : "\"");
    json = tree_.join(tree_.join(tree_.join(json, text.substr(8, equals - 8)), "\":\""), escaped);
    json = tree_.join(json, "\"");
    any = true;
  }
  if (!any) return;
  Stream content;
  content.kind = Stream::known;
  content.text = tree_.join(json, "}}");
  content.span = in.span;
  remember_file(in.cwd, "package.json", content, false);
}

// gh alias set NAME '!CODE': what is stored is code for a shell.
inline void ShellReader::run_stored_alias(Invocation& in, const Program& program) noexcept {
  if (in.count < 5 || text_of(in, 1) != "alias" || text_of(in, 2) != "set") return run_elsewhere(in, program);
  const bool shell = [&] {
    for (std::uint32_t i = 3; i < in.count; ++i)
      if (one_of(text_of(in, i), "-s --shell")) return true;
    return false;
  }();
  Nested options;
  options.via = via::kEvaluated;
  for (std::uint32_t i = 4; i < in.count; ++i) {
    Word code = argument(in, i);
    if (starts_with(code.text, "!")) {
      code.text.remove_prefix(1);
    } else if (code.text.empty() || code.text[0] == '-') {
      continue;
    } else if (!shell) {  // words for gh itself
      if (i != 4) continue;
      code.text = tree_.join(tree_.copy("gh "), code.text);
    }
    code_word(in, code, options, Dialect::shell);
  }
}

}  // namespace tipstaff::gate::shell
