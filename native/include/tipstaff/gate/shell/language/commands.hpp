// From words to commands: a program with its arguments, and what it runs in turn.
#pragma once

#include "tipstaff/gate/shell/language/environment_programs.hpp"
#include "tipstaff/gate/shell/redirections/emptied_files.hpp"

namespace tipstaff::gate::shell {

// `if $VERBOSE; then`: a variable that this text does not set, alone as a condition, holds true or false by custom.
inline bool ShellReader::is_flag(const Invocation& in) noexcept {
  if (!run().in_condition() || in.count != 1 || in.pipe_from != kNone || in.carrier != frame_.carrier) return false;
  string_view text = source_of(argument(in, 0).span);
  if (text.size() > 1 && text[0] == '"' && text.back() == '"') text = text.substr(1, text.size() - 2);
  if (text.size() < 2 || text[0] != '$') return false;
  text.remove_prefix(1);
  if (text[0] == '{') {
    if (text.back() != '}') return false;
    text = text.substr(1, text.size() - 2);
    const std::size_t otherwise = text.find(":-");
    if (otherwise != string_view::npos && one_of(text.substr(otherwise + 2), "true false")) text = text.substr(0, otherwise);
  }
  return is_name(text) && session_.find(text) == nullptr;
}

// for t in ./tests/test_*; do $t; done: which file of the repository it is does not matter, as with any that is named.
inline bool ShellReader::is_own_program(const Invocation& in) noexcept {
  const Word& name = argument(in, 0);
  const string_view place = reader_.surroundings->cwd, text = name.text;
  const bool here = starts_with(text, "./") && name.has(word_flag::kUnknown);  // ./$PROG
  if ((!here && (!name.has(word_flag::kGlob) || name.has(word_flag::kUnknown))) || text.empty() || text[0] == '/' || text[0] == '~') return false;
  const bool below = place.size() > 5 && starts_with(in.cwd, place) && (in.cwd.size() == place.size() || in.cwd[place.size()] == '/');
  return below && (in.via & (via::kRemote | via::kContainer)) == 0 && holds(text, '/') && text.find("..") == string_view::npos;
}

// ${{ matrix.run }} x of a pipeline, $Name = 'x' and $env:NAME="x" of PowerShell: no shell starts a program there. What a
// pattern names in a container are arguments of its own program: docker run IMAGE scripts/*.sh
inline bool ShellReader::is_written_for_others(const Invocation& in) noexcept {
  const Word& name = argument(in, 0);
  // docker run IMAGE "$@": the words that the recipe or the script was called with, for a program of the image.
  if ((in.via & via::kContainer) != 0 && name.text == kUnknown && in.count == 1 && one_of(source_of(name.span), "$@ \"$@\" $* ${@} \"${@}\"")) return true;
  // docker run IMAGE $CMD: in a container that is made for it and sees nothing of this machine.
  if ((in.via & via::kFresh) != 0 && (in.via & via::kContainer) != 0 && name.text == kUnknown && session_.mounts.size() == 0) return true;
  if (name.text.empty() || name.has(word_flag::kQuoted)) return false;
  if (source_of(name.span).find("${{") != string_view::npos) return true;
  if (starts_with(name.text, "{[")) return true;  // {[testenv]commands} of tox
  // yarn test:unit:$SUITE, docker run IMAGE https://$HOST: a script of a package by its name, an address.
  const std::size_t colon = name.text.find(':');
  if (colon != string_view::npos && colon > 1 && is_name(name.text.substr(0, colon))) return true;
  if (name.text[0] == kUnknownPart && name.has(word_flag::kEnvironment)) {
    return (in.count > 2 && name.text.size() == 1 && text_of(in, 1) == "=") || (name.text.size() > 1 && name.text[1] == ':');
  }
  return (in.via & via::kContainer) != 0 && name.has(word_flag::kGlob) && !name.has(word_flag::kUnknown);
}

inline void ShellReader::run(Invocation& in) noexcept {
  if (session_.level >= kLevels || reader_.out_of_stack()) {
    uncertain(Unresolved::depth, in.span, in.carrier);
    return;
  }
  if ((in.via & via::kContainer) != 0 && session_.mounts.size() != 0) {
    // Paths below a mount are the host's, and so are those seen from a directory that is one.
    const auto below_mount = [&](string_view text) noexcept { return !in.cwd.empty() && !text.empty() && text[0] != '-' && text[0] != '/'; };
    bool mapped = false;
    for (std::uint32_t i = 1; i < in.count && !mapped; ++i) {
      const string_view text = text_of(in, i);
      mapped = below_mount(text);
      for (std::uint32_t m = 0; m < session_.mounts.size(); ++m) {
        mapped = mapped || starts_with(text, session_.mounts[m].inside);
      }
    }
    if (mapped) {
      const std::uint32_t first = tree_.word_count();
      for (std::uint32_t i = 0; i < in.count; ++i) {
        Word word = argument(in, i);
        if (i > 0 && below_mount(word.text)) word.flags |= word_flag::kHostPath;
        for (std::uint32_t m = 0; m < session_.mounts.size() && i > 0 && !word.has(word_flag::kHostPath); ++m) {
          const Mount& mount = session_.mounts[m];
          const std::size_t n = mount.inside.size();
          if (starts_with(word.text, mount.inside) && (word.text.size() == n || word.text[n] == '/' || n == 1)) {
            string_view rest = n == 1 ? word.text : word.text.substr(n);
            string_view host = mount.host;
            if (host == "/" && !rest.empty()) host = {};
            word.text = tree_.join(tree_.copy(host), rest);
            if (word.text.empty()) word.text = "/";
            word.flags |= word_flag::kHostPath;
            break;
          }
        }
        if (tree_.add_word(word) == kNone) return;
      }
      in.first = first;
    }
  }
  takes_conventional_name(in);
  const Word name = argument(in, 0);
  Trial environment = Trial::unsaid;
  if (session_.names_environment) {
    take_from_environment(in, program_name(name));
    environment = trial_environment();
    in.via = environment == Trial::said ? in.via | via::kTrial : in.via & ~via::kTrial;
  }
  Command command;
  command.program = program_name(name);
  command.name = name;
  command.first_word = in.first + 1;
  command.word_count = in.count - 1;
  command.cwd = in.cwd;
  command.carrier = in.carrier;
  command.pipe_from = in.pipe_from;
  const Trial words = trial_words(in);
  if (words == Trial::said && command.program == "wrangler") in.via |= via::kTrial;
  command.via = environment == Trial::denied || words == Trial::denied ? in.via & ~via::kTrial
                : words == Trial::said                                 ? in.via | via::kTrial
                                                                       : in.via;
  command.span = in.span;
  command.dialect = Dialect::shell;
  if (in.input.kind == Stream::known || in.input.kind == Stream::paths ||
      (in.input.kind == Stream::unknown && (in.input.flags & word_flag::kCredential) != 0)) {
    command.has_input = true;
    command.input.text = in.input.text;
    command.input.span = in.input.span;
    command.input.flags = in.input.flags;
  }
  command.node = add_node(NodeKind::command, in.span, in.node);
  in.command = in.tail = tree_.add_command(command);
  if (in.command == kNone) return;
  if (command.node != kNone) {
    tree_.node(command.node).command = in.command;
    in.node = command.node;
  }
  if (command.program.empty() && is_own_program(in)) {
    in.output.kind = Stream::unknown;
    return;
  }
  // $SUDO rm: what may be nothing leaves the next word in its place.
  const auto run_next = [&]() noexcept {
    if (in.count < 2) return;
    const string_view next = program_name(argument(in, 1));
    bool feared = find_program(next).handler != Handler::none;
    for (const string_view other : kFeared) feared = feared || other == next;
    if (feared) run_inner(in, 1, 0);
  };
  if (command.program.empty()) {
    if (!name.text.empty() || name.has(word_flag::kUnknown)) {
      if (!is_written_for_others(in) && !is_make_program(in) && bare_make_variable(in).empty())
        uncertain(is_flag(in) ? Unresolved::flag : is_of_environment(in) ? Unresolved::environment : Unresolved::program, name.span, in.command);
      if (name.text == kUnknown && !name.has(word_flag::kQuoted)) run_next();
      in.output.kind = Stream::unknown;
    }
    return;
  }
  if (name.has(word_flag::kPseudo) && find_program(command.program).name.empty()) run_next();  // $(Q) rm
  if (in.calls_function) {
    // A function that starts itself beside itself.
    if (in.calls_itself && (in.pipe_from != kNone || in.want_output || (in.via & via::kBackground) != 0))
      emit_file("@fork-bomb", argument(in, 0), false, in.command, in.via & ~via::kDefinition, in.cwd);
    return;
  }
  if (run_under_other_name(in, command.program)) return;
  if (in.no_builtins && command.program == "cd") return;
  if (session_.files.size() != 0 && run_from_path(in)) return;
  if (one_of(command.program, "mv cp install convert magick")) note_target(in);
  if (one_of(command.program, "rm git gh") && in.count > 2 && (command.program == "rm" || text_of(in, command.program == "git" ? 1 : 2) == "clone")) note_deletion(in);
  if (session_.files.size() != 0 || !session_.secret_file.text.empty()) {
    if (one_of(command.program, "echo printf print") || prints_its_files(command.program)) show_secret(in);
  }
  const bool plus = one_of(command.program, "g++ c++ clang++");
  const Program& program = find_program(plus ? string_view("gcc") : command.program);
  const std::uint32_t files = session_.files.size();  // that were there before it
  if (program.handler != Handler::none) {
    dispatch(in, program);
  } else if (in.want_output) {
    find_output(in, program);
  }
  if (program.name.empty()) {
    if (holds(name.text, '/')) run_path(in);
    run_carried(in);
  }
  if (command.program == "mkdir" && (in.via & (via::kRemote | via::kContainer)) == 0) {
    for (std::uint32_t i = 1; i < in.count; ++i) {
      const string_view text = text_of(in, i);
      const string_view folder = !text.empty() && text[0] != '-' ? resolve(in.cwd, text) : string_view();
      if (!folder.empty() && session_.made_count < Session::kMadeFolders) session_.made_folders[session_.made_count++] = folder;
    }
  }
  clean_folders(in, command.program);
  if (files != 0) run_loaded(in, command.program, files);
}

// What was read from a file of secrets is printed: read x < .env; echo "$x". A copy of one, too: cp .env /tmp/x; cat /tmp/x
inline void ShellReader::show_secret(const Invocation& in) noexcept {
  const bool prints = one_of(tree_.command(in.command).program, "echo printf print");
  const bool taken = redirected_ || (in.via & via::kSubstitution) != 0 || in.want_output;
  if (prints && (taken || session_.secret_file.text.empty())) return;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word word = argument(in, i);
    if (prints) {
      if (!word.has(word_flag::kCredential) || word.has(word_flag::kEnvironment)) continue;
      return emit_file("@tool-read", session_.secret_file, false, in.command, in.via, in.cwd);
    }
    if (word.text.empty() || word.text[0] == '-' || session_.files.size() == 0) continue;
    const WrittenFile* const copied = session_.find_file(resolve(in.cwd, word));
    if (copied == nullptr || copied->content.kind != Stream::file) continue;
    Word origin = word;
    origin.text = copied->content.text;
    emit_file("@tool-read", origin, false, in.command, in.via, in.cwd);
  }
}

// PATH=./w:$PATH git status, where this text wrote w/git: that file is what runs.
inline bool ShellReader::run_from_path(Invocation& in) noexcept {
  const Variable* const path = session_.find("PATH");
  const string_view name = text_of(in, 0);
  if (path == nullptr || holds(name, '/') || name.empty()) return false;
  bool ran = false;
  for (std::uint32_t k = 0; k < path->count && k < 4; ++k) {
    string_view rest = session_.values(*path)[k].text;
    for (std::uint32_t steps = 0; !rest.empty() && steps < 8; ++steps) {
      const std::size_t colon = rest.find(':');
      const string_view folder = rest.substr(0, colon);
      rest.remove_prefix(colon == string_view::npos ? rest.size() : colon + 1);
      if (folder.empty() || holds(folder, kUnknownPart)) break;
      const string_view file = resolve(in.cwd, tree_.join(tree_.join(tree_.copy(folder), "/"), name));
      const WrittenFile* const written = file.empty() ? nullptr : session_.find_file(file);
      if (written == nullptr) continue;
      const Stream content = written->content;
      Nested options;
      options.program = true;
      options.via = via::kScript;
      nested_stream(in, content, options, Dialect::shell);
      ran = true;
      break;
    }
  }
  return ran;
}

// What a shell reads before anything else: BASH_ENV, where this text wrote that file.
inline void ShellReader::read_shell_file(Invocation& in) noexcept {
  const Variable* const file = session_.find("BASH_ENV");
  if (file == nullptr || file->exported == Exported::no || file->count == 0) return;
  const WrittenFile* const written = session_.find_file(resolve(in.cwd, session_.values(*file)[0].text));
  if (written == nullptr || written->content.kind != Stream::known) return;
  const Stream content = written->content;
  Nested options;
  options.program = true;
  options.via = via::kScheduled | via::kEvaluated;
  nested_stream(in, content, options, Dialect::shell);
}

// Whether what files are moved to is a folder, as far as can be known; where it is not, each replaces the one before it.
inline bool ShellReader::is_folder_target(const Invocation& in, const Word& target) const noexcept {
  const string_view text = target.text;
  if (text.empty() || text.back() == '/' || text.back() == '.' || target.has(word_flag::kGlob) || text == kUnknown) return true;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view option = tree_.word(in.first + i).text;
    if (one_of(option, "-t --target-directory -n --no-clobber -i --interactive -b --backup -d") || starts_with(option, "--backup") || starts_with(option, "--target-directory=")) return true;
  }
  return false;
}

// mv "$f" one.mov in a loop, xargs -I{} mv {} one.mov: the name is the same for every item.
inline void ShellReader::note_target(const Invocation& in) noexcept {
  if (in.count < 3) return;
  const Word target = argument(in, in.count - 1);
  if (target.has(word_flag::kAppended) || is_folder_target(in, target) || starts_with(target.text, "-")) return;
  // "$TO/lib" is mostly a folder, "$TO/one.mov" is none.
  if (target.has(word_flag::kUnknown) && (base_name(target.text).find_last_of('.') == string_view::npos || base_name(target.text).find_last_of('.') == 0)) return;
  const string_view place = target.has(word_flag::kUnknown) ? string_view() : resolve(in.cwd, target);
  if (!place.empty() && is_certain(place)) return;
  bool appended = false, varies = false;
  for (std::uint32_t i = 1; i + 1 < in.count; ++i) {
    appended = appended || argument(in, i).has(word_flag::kAppended);
    varies = varies || holds(source_of(argument(in, i).span), '$') || argument(in, i).has(word_flag::kGlob);
  }
  if ((in.via & via::kArgumentsAdded) != 0) {
    if (appended) emit_file("@collide", target, false, in.command, in.via, in.cwd);
    return;
  }
  if (loops_ == 0 || !varies || in.carrier != frame_.carrier || target_count_ == kMostTargets) return;
  targets_[target_count_++] = Target{target, in.command, in.via, in.cwd};
}

// At the end of a loop: names that no variable of it is in.
inline void ShellReader::emit_collisions(string_view loop) noexcept {
  for (std::uint32_t i = 0; i < target_count_; ++i) {
    const Target target = targets_[i];
    const string_view source = source_of(target.word.span);
    // A substitution, a sum, a name that the loop sets: it differs from item to item.
    bool differs = source.empty() || source.find("$(") != string_view::npos || holds(source, '`') || holds(source, '[') != (source.find("BASH_REMATCH") != string_view::npos);
    for (std::size_t at = source.find('$'); at != string_view::npos && !differs; at = source.find('$', at + 1)) {
      std::size_t begin = at + 1, end = begin;
      if (begin < source.size() && source[begin] == '{') end = ++begin;
      while (end < source.size() && is_name_byte(source[end])) ++end;
      const string_view name = source.substr(begin, end - begin);
      differs = name.empty() || name == "RANDOM";
      for (std::size_t found = loop.find(name); found != string_view::npos && !differs; found = loop.find(name, found + 1)) {
        const char before = found == 0 ? ' ' : loop[found - 1], after = found + name.size() < loop.size() ? loop[found + name.size()] : ' ';
        differs = !is_name_byte(before) && !is_name_byte(after) && before != '$' && before != '{';
      }
    }
    if (!differs) emit_file("@collide", target.word, false, target.carrier, target.via, target.cwd);
  }
  target_count_ = 0;
}

// mv x/*.png x/log && rm -rf x: what was moved there just before goes with it. rm -rf x && git clone .../x: a checkout does.
inline void ShellReader::note_deletion(const Invocation& in) noexcept {
  if (in.command == 0 || in.command == kNone) return;
  const Command before = tree_.command(in.command - 1);
  const bool moves = tree_.command(in.command).program == "rm";
  if (before.word_count == 0 || before.carrier != in.carrier || before.program != (moves ? "mv" : "rm")) return;
  const Word last = tree_.word(before.first_word + before.word_count - 1);
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word word = argument(in, i);
    if (word.text.empty() || word.text[0] == '-') continue;
    if (moves) {
      const string_view deleted = resolve(in.cwd, word), moved = resolve(before.cwd, last);
      if (!deleted.empty() && starts_with(moved, deleted) && (moved.size() == deleted.size() || moved[deleted.size()] == '/'))
        emit_file("@delete-moved", word, false, in.command, in.via, in.cwd);
      continue;
    }
    string_view name = base_name(word.text);
    if (ends_with(name, ".git")) name.remove_suffix(4);
    const string_view deleted = i > 1 && holds(word.text, '/') && !name.empty() ? resolve(before.cwd, last) : string_view();
    if (!deleted.empty() && deleted == resolve(in.cwd, name)) {
      emit_file("@delete-checkout", last, false, in.command, in.via, before.cwd);
      return;
    }
  }
}

inline void ShellReader::dispatch(Invocation& in, const Program& program) noexcept {
  // Its own output first: what it carries may replace it.
  if (in.want_output) find_output(in, program);
  switch (program.handler) {
    case Handler::none: return;
    case Handler::prefix: return in.direct && one_of(program.name, "command builtin") ? void() : run_prefix(in, program);
    case Handler::env: {
      const Session::Mark mark = session_.enter();
      run_env(in);
      session_.leave(mark);
      return;
    }
    case Handler::code_option: return run_code_option(in, program);
    case Handler::option_code: return run_option_code(in, program);
    case Handler::rest: return run_rest(in, program);
    case Handler::joined: return run_joined(in, program);
    case Handler::shell: return run_shell(in);
    case Handler::eval: {
      if (!in.direct || in.count != 2 || trim(text_of(in, 1)) != kUnknown) return;
      // What a program is there to print; what comes from the network.
      if (argument(in, 1).has(word_flag::kNetwork)) uncertain(Unresolved::remote_code, argument(in, 1).span, in.command);
      in.reads_names = argument(in, 1).has(word_flag::kNetwork) || argument(in, 1).has(word_flag::kTrusted);
      return;
    }
    case Handler::source: return in.no_builtins ? void() : run_source(in);
    case Handler::builtin: return in.no_builtins && program.name != "read" ? void() : run_builtin(in, program);
    case Handler::xargs: return run_xargs(in);
    case Handler::parallel: return run_parallel(in);
    case Handler::find: return run_find(in);
    case Handler::fd: return run_fd(in);
    case Handler::ssh: {
      const Session::Mark mark = session_.enter();
      forget_environment();
      run_ssh(in);
      session_.leave(mark);
      return;
    }
    case Handler::container: return run_container(in);
    case Handler::kubectl: {
      const Session::Mark mark = session_.enter();
      forget_environment();
      run_kubectl(in);
      session_.leave(mark);
      return;
    }
    case Handler::git: return run_git(in);
    case Handler::make: return run_make(in);
    case Handler::cmake: return run_cmake(in);
    case Handler::socket: return run_socket(in);
    case Handler::package: return run_package_script(in);
    case Handler::just: return run_just(in);
    case Handler::at: return run_at(in);
    case Handler::crontab: return run_crontab(in);
    case Handler::editor: return run_editor(in);
    case Handler::tar: return run_tar(in);
    case Handler::rsync: return run_rsync(in);
    case Handler::terminal: return run_terminal(in);
    case Handler::sed: return run_sed(in);
    case Handler::tee: return run_tee(in);
    case Handler::download: return run_download(in);
    case Handler::copy: return run_copy(in);
    case Handler::patch: return run_patch(in, 1);
    case Handler::python: return run_interpreter(in, Dialect::python);
    case Handler::node: return run_interpreter(in, Dialect::node);
    case Handler::perl: return run_interpreter(in, Dialect::perl);
    case Handler::ruby: return run_interpreter(in, Dialect::ruby);
    case Handler::php: return run_interpreter(in, Dialect::php);
    case Handler::awk: return run_awk(in);
    case Handler::inline_code: return run_inline(in);
    case Handler::sql: return run_sql(in, program);
    case Handler::redis: return run_redis(in);
    case Handler::mongo: return run_mongo(in);
    case Handler::powershell: return run_powershell(in);
    case Handler::cmd: return run_cmd(in);
    case Handler::tool: return run_tool(in, program);
    case Handler::cloud: return run_cloud(in);
    case Handler::elsewhere: return run_elsewhere(in, program);
    case Handler::playbook: return run_playbook(in);
    case Handler::compiler: return run_compiler(in);
    case Handler::build: return run_build(in);
    case Handler::alias: return run_stored_alias(in, program);
  }
}

// On another machine this one's working directory tells nothing.
inline bool leaves_machine(std::uint32_t before, std::uint32_t added) noexcept {
  return (added & via::kRemote) != 0 && (before & via::kRemote) == 0;
}

// Runs the words of `outer` from `offset` on as a command that it carries.
inline void ShellReader::run_inner(Invocation& outer, std::uint32_t offset, std::uint32_t via) noexcept {
  if (offset >= outer.count) return;
  run_copied(outer, outer.first + offset, outer.count - offset, via, nullptr);
}

inline void ShellReader::run_copied(Invocation& outer, std::uint32_t first, std::uint32_t count, std::uint32_t via,
                                    const Stream* input) noexcept {
  if (count == 0 || first == kNone) return;
  Invocation inner;
  inner.first = first;
  inner.count = count;
  inner.span = {tree_.word(first).span.start, outer.span.end};
  if (inner.span.end < inner.span.start) inner.span = outer.span;
  inner.node = outer.node;
  inner.carrier = outer.command;
  inner.via = outer.via | via;
  inner.cwd = leaves_machine(outer.via, via) ? string_view() : outer.cwd;
  inner.input = input != nullptr ? *input : outer.input;
  inner.pipe_from = outer.pipe_from;
  inner.want_output = outer.want_output;
  // Most of what runs other words starts a program by them.
  const string_view by = tree_.command(outer.command).program;
  inner.no_builtins = outer.no_builtins || !one_of(by, "command builtin noglob nocorrect time xargs") || via != 0;
  ++session_.level;
  run(inner);
  --session_.level;
  if (inner.tail != kNone) outer.tail = inner.tail;
  outer.output = inner.output;
}

// The first operand from `from` on, after options and their values.
inline std::uint32_t ShellReader::after_options(const Invocation& in, std::uint32_t from, string_view short_values,
                                                string_view long_values) noexcept {
  std::uint32_t i = from;
  while (i < in.count) {
    const string_view text = text_of(in, i);
    if (text.size() < 2 || text[0] != '-') return i;
    if (text == "--") return i + 1;
    ++i;
    if (text[1] == '-' || one_of(text, long_values)) {
      if (one_of(text, long_values)) ++i;
      continue;
    }
    for (std::size_t k = 1; k < text.size(); ++k) {
      if (!holds(short_values, text[k])) continue;
      if (k + 1 == text.size()) ++i;
      break;
    }
  }
  return i < in.count ? i : in.count;
}

// An option with a value: -x VALUE, -xVALUE, --name VALUE, --name=VALUE. Returns its index, or kNone.
inline std::uint32_t ShellReader::find_option(const Invocation& in, char letter, string_view name,
                                              Word* value) noexcept {
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word& word = argument(in, i);
    const string_view text = word.text;
    if (text == "--") return kNone;
    if (text.size() < 2 || text[0] != '-') continue;
    if (!name.empty() && starts_with(text, name)) {
      if (text.size() == name.size()) {
        if (i + 1 >= in.count) return kNone;
        *value = argument(in, i + 1);
        return i;
      }
      if (text[name.size()] == '=') {
        *value = word;
        value->text.remove_prefix(name.size() + 1);
        return i;
      }
    }
    if (letter == '\0' || text[1] == '-') continue;
    const std::size_t at = text.find(letter, 1);
    if (at == string_view::npos) continue;
    if (at + 1 < text.size()) {
      *value = word;
      value->text.remove_prefix(at + 1);
      return i;
    }
    if (i + 1 >= in.count) return kNone;
    *value = argument(in, i + 1);
    return i;
  }
  return kNone;
}

}  // namespace tipstaff::gate::shell
