// Build tools that are given code by an option: a file of their own language that is made or fetched just now, a program in
// a property, a task's text; and programs that write a script of what they would delete.
#pragma once

#include "tipstaff/gate/shell/language/reader.hpp"

namespace tipstaff::gate::shell {

// The options that name a file whose tasks are run.
struct TaskFile {
  string_view programs, options;
};
inline constexpr TaskFile kTaskFiles[] = {
    {"just", "-f --justfile"}, {"ant", "-f -file -buildfile"}, {"gradle", "-I --init-script -b --build-file -c --settings-file"}, {"rake", "-f --rakefile -r --require"}, {"mvn", "-f --file"}, {"task go-task", "-t --taskfile"},
};

// task --list, just --list, just -n NAME: what tasks there are, or would do. What task says of them as JSON runs their checks.
inline bool ShellReader::only_shows_tasks(const Invocation& in, string_view program) noexcept {
  const bool just = program == "just";
  bool shows = false;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (text == "--" || (just && (text.empty() || text[0] != '-'))) break;
    if (one_of(text, "--json -j --status --evaluate -c --command")) return false;
    if (!just && one_of(text, "--summary --dry -n")) {  // variables are computed for these, by commands after sh:
      for (std::uint32_t k = 0; k < session_.files.size(); ++k)
        if (const Stream& content = session_.files[k].content; content.kind != Stream::known || content.text.find("sh:") != string_view::npos) return false;
    }
    shows = shows || one_of(text, just ? "--list -l --summary --show -s --dump --variables --groups --dry-run -n" : "--list -l --list-all -a --summary --dry -n");
  }
  return shows;
}

// just -f <(curl ...), gradle -I FILE, where FILE was loaded from the network before.
inline void ShellReader::read_task_files(Invocation& in, string_view program) noexcept {
  for (const TaskFile& known : kTaskFiles) {
    if (!one_of(program, known.programs)) continue;
    for (std::uint32_t i = 1; i < in.count; ++i) {
      Word value = argument(in, i);
      const std::size_t equals = value.text.find('=');
      if (!one_of(value.text.substr(0, equals), known.options)) continue;
      if (equals != string_view::npos) value.text.remove_prefix(equals + 1);
      else if (i + 1 < in.count) value = argument(in, ++i);
      else return;
      Stream file;
      file.kind = Stream::file;
      file.text = value.text;
      file.span = value.span;
      const Stream content = one_of(value.text, "- /dev/stdin") ? in.input : load(file, in.cwd);
      if (content.kind == Stream::remote) uncertain(Unresolved::remote_code, value.span, in.command);
      else if (content.kind == Stream::known) read_loaded(in, content, program == "rake" ? Dialect::ruby : program == "gradle" ? Dialect::make : Dialect::prose);
    }
  }
}

inline void ShellReader::run_build(Invocation& in) noexcept {
  const string_view program = tree_.command(in.command).program;
  Nested options;
  options.via = via::kEvaluated;
  if (program == "rake") {
    for (const string_view name : {string_view("--execute"), string_view("--execute-continue"), string_view("--execute-print")}) {
      const char letter = name.size() == 9 ? 'e' : name.size() == 18 ? 'E' : 'p';
      if (Word code; find_option(in, letter, name, &code) != kNone) code_word(in, code, options, Dialect::ruby);
    }
  } else if (program == "mvn") {
    // exec:exec -Dexec.executable=PROGRAM -Dexec.args=WORDS
    string_view line, words;
    for (std::uint32_t i = 1; i < in.count; ++i) {
      const string_view text = text_of(in, i);
      if (starts_with(text, "-Dexec.executable=")) line = text.substr(18);
      else if (starts_with(text, "-Dexec.args=")) words = text.substr(12);
      else if (starts_with(text, "-Dexec.commandlineArgs=")) words = text.substr(23);
    }
    Word code;
    code.span = in.span;
    code.text = words.empty() ? line : tree_.join(tree_.join(tree_.copy(line), " "), words);
    if (!line.empty()) code_word(in, code, options, Dialect::shell);
  } else if (program == "rmlint") {
    // -o sh:FILE, -O sh:FILE: a script that deletes what was found, which only shows when it runs.
    Stream content = known_output("rm -rf \"$DUPLICATE\"\n", in.span, 0);
    for (std::uint32_t i = 1; i < in.count; ++i)
      if (const std::size_t at = text_of(in, i).find("sh:"); at != string_view::npos && text_of(in, i).size() > at + 3) remember_file(in.cwd, text_of(in, i).substr(at + 3), content, false);
    remember_file(in.cwd, "rmlint.sh", content, false);
  }
  read_task_files(in, program);
  if (holds(argument(in, 0).text, '/')) run_path(in);
  run_carried(in);
}

// curl -K FILE, curl --config -: options, one a line, as `name = "value"` or as they are written in commands. They are read
// as words of the command. False where they are not known.
inline bool ShellReader::read_curl_options(Invocation& in) noexcept {
  constexpr std::uint32_t kLines = 64;
  std::uint32_t from = kNone, to = kNone;
  Word file;
  for (std::uint32_t i = 1; i < in.count && from == kNone; ++i) {
    file = argument(in, i);
    if (one_of(file.text, "-K --config") && i + 1 < in.count) file = argument(in, i + 1), from = i, to = i + 2;
    else if (starts_with(file.text, "--config=")) file.text.remove_prefix(9), from = i, to = i + 1;
    else if (starts_with(file.text, "-K") && file.text.size() > 2) file.text.remove_prefix(2), from = i, to = i + 1;
  }
  if (from == kNone) return false;
  Stream source;
  source.kind = Stream::file;
  source.text = file.text;
  source.span = file.span;
  const Stream content = file.text == "-" ? in.input : load(source, in.cwd);
  if (content.kind != Stream::known) return false;
  const std::uint32_t first = tree_.word_count();
  for (std::uint32_t i = 0; i < in.count; ++i)
    if ((i < from || i >= to) && tree_.add_word(argument(in, i)) == kNone) return false;
  string_view rest = content.text;
  for (std::uint32_t lines = 0; !rest.empty() && lines < kLines; ++lines) {
    const std::size_t newline = rest.find('\n');
    string_view line = trim(rest.substr(0, newline));
    rest = newline == string_view::npos ? string_view() : rest.substr(newline + 1);
    if (line.empty() || line[0] == '#') continue;
    const std::size_t end = line.find_first_of(" \t=:");
    const string_view written = line.substr(0, end);
    Word option;
    option.span = file.span;
    option.text = written[0] == '-' ? written : tree_.join(tree_.copy("--"), written);
    if (tree_.add_word(option) == kNone) return false;
    string_view value = end == string_view::npos ? string_view() : line.substr(end);
    while (!value.empty() && holds(" \t=:", value[0])) value.remove_prefix(1);
    if (value.empty()) continue;
    option.text = unquoted_value(value);
    option.flags = holds(option.text, kUnknownPart) ? word_flag::kUnknown : 0;
    if (tree_.add_word(option) == kNone) return false;
  }
  const Stream none;
  run_copied(in, first, tree_.word_count() - first, via::kEvaluated, &none);
  return true;
}

// What a compiler prints of the project's own sources: esbuild x.ts | node. Not of what came from the network.
inline Stream ShellReader::output_of_compiler(const Invocation& in) noexcept {
  Stream out;
  out.kind = in.input.kind == Stream::none ? Stream::trusted : in.input.kind == Stream::remote ? Stream::remote : Stream::unknown;
  out.span = in.span;
  for (std::uint32_t i = 1; i < in.count && out.kind == Stream::trusted; ++i) {
    const string_view text = text_of(in, i);
    if (text.empty() || text[0] == '-') continue;
    Stream file;
    file.kind = Stream::file;
    file.text = text;
    const string_view path = resolve(in.cwd, text);
    const bool temporary = starts_with(path, "/tmp/") || starts_with(path, "/var/tmp/") || (starts_with(path, "/dev/") && text != "/dev/stdout");
    if (argument(in, i).has(word_flag::kUnknown) || text.find("://") != string_view::npos || temporary) out.kind = Stream::unknown;
    else if (session_.files.size() != 0 && load(file, in.cwd).kind == Stream::remote) out.kind = Stream::remote;
  }
  return out;
}

}  // namespace tipstaff::gate::shell
