// What the shell itself runs: eval, source, cd, export, set, read, trap; and shells called by name.
#pragma once

#include "tipstaff/gate/shell/language/nested.hpp"

namespace tipstaff::gate::shell {

// Whether a folder is there for certain: this one, those above it, some of every system, what this text made.
inline bool ShellReader::is_certain(string_view folder) const noexcept {
  const Surroundings& place = *reader_.surroundings;
  if (one_of(folder, "/ /tmp /var/tmp /usr /etc /var /root /home") || starts_with(folder, "/tmp/made-by-mktemp")) return true;
  for (const string_view known : {place.cwd, place.home, place.repository, place.temporary})
    if (!folder.empty() && starts_with(known, folder) && (known.size() == folder.size() || known[folder.size()] == '/')) return true;
  for (std::uint32_t i = 0; i < session_.made_count; ++i) {
    const string_view made = session_.made_folders[i];
    if (starts_with(made, folder) && (made.size() == folder.size() || made[folder.size()] == '/')) return true;
  }
  char byte;
  return place.read_file != nullptr && !folder.empty() && place.read_file(place.self, folder, &byte, 0) == -2;
}

// export, declare, local, readonly: what a name holds by now may be options of a program.
inline void ShellReader::declare(const Invocation& in) noexcept {
  if (text_of(in, 0) == "export" || (in.count > 1 && text_of(in, 1) == "-x")) session_.exports = true, session_.unexported = {};
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word word = argument(in, i);
    if (!is_name(word.text)) continue;
    if (const Variable* const given = session_.find(word.text); given != nullptr && given->count != 0) read_option_variable(word.text, session_.values(*given)[0], word.span);
  }
}

// read x y: what is known of the input, line by line, may be in x.
inline void ShellReader::run_read(Invocation& in) noexcept {
  const std::uint32_t from = after_options(in, 1, "adinNptu", "");
  Stream input = in.input;
  if (input.kind == Stream::file) input = load_secretly(input);
  Raw<Value, Session::kAlternatives> found;
  std::uint32_t count = 0;
  if (input.kind == Stream::known || input.kind == Stream::paths) {
    std::uint16_t flags = input.flags;
    if (input.kind == Stream::paths) flags |= word_flag::kGlob | word_flag::kAppended;
    string_view rest = input.text;
    while (!rest.empty()) {
      std::size_t newline = rest.find('\n');
      if (newline == string_view::npos) newline = rest.size();
      const string_view line = trim(rest.substr(0, newline));
      rest.remove_prefix(newline < rest.size() ? newline + 1 : newline);
      if (line.empty()) continue;
      if (count == Session::kAlternatives) {
        found[count - 1] = Value{kUnknown, word_flag::kUnknown};
        break;
      }
      found[count++] = Value{line, flags};
    }
  }
  if (count == 0) {
    std::uint16_t flags = word_flag::kUnknown | word_flag::kMayBeEmpty;
    if (input.kind == Stream::remote) flags |= word_flag::kNetwork;
    flags |= input.flags & word_flag::kCredential;
    found[count++] = Value{kUnknown, flags};
  }
  const bool one = from + 1 >= in.count;
  for (std::uint32_t i = from; i < in.count; ++i) {
    const string_view name = text_of(in, i);
    if (!is_name(name)) continue;
    if (one) {
      session_.set(name, found.data(), count, false, false);
      continue;
    }
    // Several names: each takes a word of the line, the last one the rest.
    Raw<Value, Session::kAlternatives> parts;
    std::uint32_t n = 0;
    for (std::uint32_t k = 0; k < count; ++k) {
      string_view line = found[k].text;
      for (std::uint32_t skip = from; skip < i; ++skip) {
        std::size_t blank = 0;
        while (blank < line.size() && !session_.separates(line[blank])) ++blank;
        line = trim(line.substr(blank < line.size() ? blank + 1 : blank));
      }
      if (i + 1 < in.count) {
        std::size_t blank = 0;
        while (blank < line.size() && !session_.separates(line[blank])) ++blank;
        line = line.substr(0, blank);
      }
      // What is before the last name's part, as `IFS== read -r name value` has it, is a name.
      const std::uint16_t kept = i + 1 < in.count ? static_cast<std::uint16_t>(~word_flag::kCredential) : static_cast<std::uint16_t>(~0u);
      parts[n++] = Value{found[k].text == kUnknown ? kUnknown : line, static_cast<std::uint16_t>(found[k].flags & kept)};
    }
    session_.set(name, parts.data(), n, false, false);
  }
  if (from >= in.count) session_.set("REPLY", found.data(), count, false, false);
}

inline void ShellReader::run_builtin(Invocation& in, const Program& program) noexcept {
  const string_view name = program.name;
  if (name == "export" || name == "declare" || name == "typeset" || name == "local" || name == "readonly") return declare(in);
  if (name == "set") {
    session_.exports = session_.exports || (in.count > 1 && (text_of(in, 1) == "-a" || text_of(in, 1) == "-o"));
    return;
  }
  if (name == "read") {
    in.reads_names = true;
    return run_read(in);
  }
  if (name == "mapfile" || name == "readarray") {
    in.reads_names = true;
    Word code;
    if (find_option(in, 'C', "", &code) != kNone) code_word(in, code, Nested{}, Dialect::shell);
    const string_view last = in.count > 1 && is_name(text_of(in, in.count - 1)) ? text_of(in, in.count - 1) : string_view("MAPFILE");
    Stream input = in.input;
    if (input.kind == Stream::file) input = load_secretly(input);
    Raw<Value, Session::kAlternatives> found;
    std::uint32_t count = 0;
    string_view rest = input.kind == Stream::known ? input.text : string_view();
    while (!rest.empty() && count < Session::kAlternatives) {
      std::size_t newline = rest.find('\n');
      if (newline == string_view::npos) newline = rest.size();
      found[count++] = Value{rest.substr(0, newline), input.flags};
      rest.remove_prefix(newline < rest.size() ? newline + 1 : newline);
    }
    if (count == 0 || !rest.empty()) {
      count = count == 0 ? 1 : count;
      found[count - 1] = Value{kUnknown, static_cast<std::uint16_t>(word_flag::kUnknown | word_flag::kMayBeEmpty | (input.flags & word_flag::kCredential))};
    }
    session_.set(last, found.data(), count, true, false);
    return;
  }
  if (name == "hash") {
    // hash -p /bin/rm ls: from then on ls is rm.
    if (in.count > 3 && text_of(in, 1) == "-p") {
      eval::Store& store = run().store();
      store.put(*session_.now, eval::key_of(eval::Key::alias, store.intern(text_of(in, 3))), store.one(store.intern(text_of(in, 2))));
    }
    return;
  }
  if (name == "printf") {
    // printf -v name format ...
    if (in.count > 3 && text_of(in, 1) == "-v" && is_name(text_of(in, 2))) {
      Invocation shorter = in;
      shorter.first += 2;
      shorter.count -= 2;
      const Stream made = output_of_printf(shorter);
      Value value{made.text, made.flags};
      if (made.kind != Stream::known) value = Value{kUnknown, word_flag::kUnknown};
      session_.set(text_of(in, 2), &value, 1, false, false);
      in.reads_names = true;
    }
  }
}

// source FILE [words]
inline void ShellReader::run_source(Invocation& in) noexcept {
  if (in.count < 2) return;
  in.reads_names = true;
  const Word word = argument(in, 1);
  Nested options;
  options.subshell = false;
  if (in.count > 2) {
    options.has_positional = true;
    options.positional = Positional{in.first + 2, in.count - 2, true, {}};
  }
  if (word.text == "/dev/stdin" || word.text == "-" || word.text == "/proc/self/fd/0" || word.text == "/dev/fd/0") {
    options.via = via::kEvaluated;
    return nested_stream(in, in.input, options, Dialect::shell);
  }
  if (word.has(word_flag::kUnknown)) {
    uncertain(Unresolved::script, word.span, in.command);
    return;
  }
  // What each login of this machine reads, unless this text wrote it.
  const bool login = one_of(word.text, "/etc/profile /etc/bashrc /etc/bash.bashrc /etc/environment /etc/os-release") ||
                     (starts_with(word.text, "/etc/profile.d/") && word.text.find("..") == string_view::npos);
  if (login && (in.via & (via::kRemote | via::kContainer)) == 0 && session_.find_file(word.text) == nullptr) return;
  Stream file;
  file.kind = Stream::file;
  file.text = word.text;
  file.span = word.span;
  options.via = via::kScript;
  nested_stream(in, file, options, Dialect::shell);
}

// sh, bash and other shells: -c CODE, a script, or what comes in.
inline void ShellReader::run_shell(Invocation& in) noexcept {
  bool code = false, from_input = false, no_run = false;
  std::uint32_t i = 1;
  for (; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (text.empty() || (text[0] != '-' && text[0] != '+') || text == "-") break;
    if (text == "--") {
      ++i;
      break;
    }
    if (text.size() == 1) continue;  // `+` alone says nothing
    if (text[1] == '-') {
      if (text == "--rcfile" || text == "--init-file") {
        Stream file;
        file.kind = Stream::file;
        file.text = i + 1 < in.count ? text_of(in, i + 1) : string_view();
        file.span = in.span;
        if (!file.text.empty()) nested_stream(in, file, Nested{}, Dialect::shell);
        ++i;
      }
      if (text == "--help" || text == "--version") return;
      if (text == "--command") code = true;  // fish
      continue;
    }
    for (std::size_t k = 1; k < text.size(); ++k) {
      if (text[k] == 'c' && text[0] == '-') code = true;
      if (text[k] == 's' && text[0] == '-') from_input = true;
      if (text[k] == 'n' && text[0] == '-') no_run = true;
    }
    if ((text.back() == 'o' || text.back() == 'O') && i + 1 < in.count) {
      if (text_of(in, i + 1) == "noexec") no_run = text[0] == '-';
      ++i;
    }
  }
  if (no_run) {
    in.output = Stream{};
    return;
  }
  read_shell_file(in);
  Nested options;
  options.program = true;
  if (code) {
    if (i >= in.count) return;
    const Word word = argument(in, i);
    options.via = via::kEvaluated;
    options.has_positional = true;
    options.positional = Positional{in.first + i + 2, i + 2 < in.count ? in.count - i - 2 : 0, true,
                                    i + 1 < in.count ? text_of(in, i + 1) : string_view()};
    options.input = &in.input;
    return code_word(in, word, options, Dialect::shell);
  }
  if (i < in.count && !from_input && !one_of(text_of(in, i), "- /dev/stdin /dev/fd/0 /proc/self/fd/0")) {
    run_script(in, i, Dialect::shell, 0);
    return;
  }
  options.via = via::kEvaluated;
  if (i < in.count) {
    options.has_positional = true;
    options.positional = Positional{in.first + i, in.count - i, true, {}};
  }
  nested_stream(in, in.input, options, Dialect::shell);
}

}  // namespace tipstaff::gate::shell
