// Editors, archivers and copiers: what they run. Files that are copied are in shell/redirections/copied_files.hpp.
#pragma once

#include "tipstaff/gate/shell/programs/finders.hpp"

namespace tipstaff::gate::shell {

// vim -c '!cmd', +'!cmd'; ed and ex with commands on their input.
inline void ShellReader::run_editor(Invocation& in) noexcept {
  Nested options;
  options.via = via::kEvaluated;
  const auto command = [&](Word word, string_view text) noexcept {
    while (!text.empty() && (text[0] == ':' || text[0] == '+' || is_blank(text[0]))) text.remove_prefix(1);
    const string_view language = text.substr(0, text.find(' '));
    if (language.size() < text.size() && one_of(language, "py py3 python python3 pyx ruby perl")) {
      word.text = text.substr(language.size() + 1);
      return code_word(in, word, options, language == "ruby" ? Dialect::ruby : language == "perl" ? Dialect::perl : Dialect::python);
    }
    if (one_of(language, "lua luado tcl")) return read_texts_of(in, text, word.span, word.flags);
    if (holds(text, '(') && !starts_with(text, "call system(") && one_of(text.substr(0, text.find_first_of("( ")), "call echo let eval silent silent! lua=")) {
      read_texts_of(in, text, word.span, word.flags);  // call delete("x", "rf"), echo system("rm x")
    }
    std::size_t sign = text.find('!');
    if (starts_with(text, "silent")) sign = text.find("!", starts_with(text, "silent!") ? 7 : 6);
    if (starts_with(text, "call system(") || starts_with(text, "!")) sign = text.find_first_of("!(");
    if (sign == string_view::npos) return;
    // Only a command whose name is all before the sign: q!, wq! and w! save or leave.
    const string_view before = trim(text.substr(0, sign));
    const bool runs = before.empty() || one_of(before, "silent silent! exe execute r read w %! % term terminal :") ||
                      before.find_first_not_of("0123456789,$%.'<>") == string_view::npos ||
                      starts_with(text, "call system(");
    if (!runs || sign + 1 >= text.size()) return;
    string_view code = text.substr(sign + 1);
    if (starts_with(text, "call system(")) {
      code = trim(code);
      if (code.size() > 3) code = code.substr(1, code.size() - 3);
    }
    word.text = code;
    code_word(in, word, options, Dialect::shell);
  };
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word word = argument(in, i);
    const string_view text = word.text;
    const bool letters = text.size() > 1 && text[0] == '-' && text[1] != '-';
    if (((letters && (text.back() == 'c' || (text == "-e" && tree_.command(in.command).program == "dc"))) || text == "--cmd") &&
        i + 1 < in.count) {
      command(argument(in, i + 1), text_of(in, i + 1));
      ++i;
    } else if (one_of(text, "-S -l -u") && i + 1 < in.count && one_of(tree_.command(in.command).program, "vim vi nvim ex view gvim")) {
      Stream file = in.input;  // a file of such commands; -l: of Lua
      if (text_of(in, i + 1) != "-" && text_of(in, i + 1) != "/dev/stdin") {
        file.kind = Stream::file;
        file.text = text_of(in, i + 1);
        file.span = argument(in, i + 1).span;
      }
      if (file.kind == Stream::file) file = load(file, in.cwd);
      ++i;
      if (file.kind != Stream::known) continue;
      if (text == "-l") {
        read_texts_of(in, file.text, file.span, file.flags);
        continue;
      }
      Word line;
      line.span = file.span;
      for (string_view rest = file.text; !rest.empty();) {
        const std::size_t newline = rest.find('\n');
        if (const string_view one = trim(rest.substr(0, newline)); !one.empty()) command(line, one);
        rest.remove_prefix(newline == string_view::npos ? rest.size() : newline + 1);
      }
    } else if (letters && text[1] == 'c') {
      command(word, text.substr(2));
    } else if (text.size() > 1 && text[0] == '+') {
      command(word, text.substr(1));
    }
  }
  if (in.input.kind != Stream::known) return;
  string_view rest = in.input.text;
  while (!rest.empty()) {
    std::size_t newline = rest.find('\n');
    if (newline == string_view::npos) newline = rest.size();
    const string_view line = trim(rest.substr(0, newline));
    if (!line.empty() && line[0] == '!') {
      Word word;
      word.span = in.input.span;
      command(word, line);
    }
    rest.remove_prefix(newline < rest.size() ? newline + 1 : newline);
  }
}

inline void ShellReader::run_tar(Invocation& in) noexcept {
  Nested options;
  options.via = via::kEvaluated;
  const bool splits = one_of(tree_.command(in.command).program, "split gsplit");  // --filter: what each piece is written to
  for (std::uint32_t i = 1; i < in.count; ++i) {
    Word word = argument(in, i);
    const string_view text = word.text;
    const std::size_t equals = text.find('=');
    if (starts_with(text, "--checkpoint-action") ) {
      string_view action = equals != string_view::npos ? text.substr(equals + 1)
                           : i + 1 < in.count ? text_of(in, i + 1) : string_view();
      if (!starts_with(action, "exec=")) continue;
      word.text = action.substr(5);
    } else if (starts_with(text, "--to-command") || starts_with(text, "--use-compress-program") ||
               starts_with(text, "--rsh-command") || starts_with(text, "--info-script") ||
               starts_with(text, "--new-volume-script") || (splits && starts_with(text, "--fil"))) {
      word.text = equals != string_view::npos ? text.substr(equals + 1)
                  : i + 1 < in.count ? text_of(in, i + 1) : string_view();
    } else if (text == "-I" && i + 1 < in.count) {
      word = argument(in, i + 1);
    } else {
      continue;
    }
    code_word(in, word, options, Dialect::shell);
  }
}

inline void ShellReader::run_rsync(Invocation& in) noexcept {
  run_copy(in);
  Word code;
  Nested options;
  options.via = via::kEvaluated;
  if (find_option(in, '\0', "--rsh", &code) != kNone) code_word(in, code, options, Dialect::shell);
  for (std::uint32_t i = 1; i + 1 < in.count; ++i) {
    if (text_of(in, i) == "-e") code_word(in, argument(in, i + 1), options, Dialect::shell);
  }
  options.via |= via::kRemote;
  if (find_option(in, '\0', "--rsync-path", &code) != kNone) code_word(in, code, options, Dialect::shell);
}

// tmux new-session 'code', tmux send-keys 'code' Enter; screen -dm command, screen -X stuff 'code'.
inline void ShellReader::run_terminal(Invocation& in) noexcept {
  Nested options;
  options.via = via::kEvaluated | via::kBackground;
  if (program_name(argument(in, 0)) == "screen") {
    for (std::uint32_t i = 1; i + 1 < in.count; ++i) {
      if (text_of(in, i) != "stuff") continue;
      Word keys = argument(in, i + 1);
      if (holds(keys.text, '\\')) keys.text = decode_escapes(tree_, keys.text, Escapes::ansi_c);
      return code_word(in, keys, options, Dialect::shell);
    }
    std::uint32_t at = after_options(in, 1, "SctTehpspX", "");
    return run_inner(in, at, via::kBackground);
  }
  std::uint32_t at = after_options(in, 1, "cfLSTI", "");
  if (at >= in.count) return;
  const string_view verb = text_of(in, at);
  if (one_of(verb, "new new-session neww new-window splitw split-window respawn-pane respawnp respawn-window "
                   "popup display-popup run-shell run pipe-pane if-shell")) {
    at = after_options(in, at + 1, one_of(verb, "popup display-popup") ? "bcdehsStTwxy" : "cefFlnstxy", "");
  } else if (verb == "send-keys" || verb == "send") {
    at = after_options(in, at + 1, "tN", "");
  } else {
    return;
  }
  if (at >= in.count) return;
  // Several words are run as they are; keys, and what a shell is asked to run, are text.
  if (at + 1 < in.count && !one_of(verb, "send-keys send run-shell run if-shell pipe-pane")) return run_inner(in, at, via::kBackground);
  std::uint32_t count = in.count - at;
  // What ends it, as keys: Enter, C-m.
  while (count > 1 && one_of(text_of(in, at + count - 1), "Enter C-m ENTER KPEnter")) --count;
  Word word = argument(in, at);
  if (count > 1) {
    std::uint16_t flags = 0;
    word.text = joined(in.first + at, count, &flags);
    word.flags = flags;
  }
  code_word(in, word, options, Dialect::shell);
}

// GNU sed: the command e, the flag e of s, and w FILE.
inline void ShellReader::run_sed(Invocation& in) noexcept {
  bool scripts = false;
  const auto script = [&](const Word& word) noexcept {
    const string_view text = word.text;
    const auto after = [text](std::size_t at, char mark) noexcept {  // what ends with a mark
      while (at < text.size() && text[at] != mark) at += text[at] == '\\' ? 2 : 1;
      return at < text.size() ? at + 1 : text.size();
    };
    const auto write = [&](string_view file) noexcept {
      Word path = word;
      path.text = trim(file);
      emit_file("@write", path, false, in.command, in.via, in.cwd);
    };
    const auto evaluate = [&](string_view piece) noexcept {
      Word code = word;
      code.text = piece;
      Nested options;
      options.via = via::kEvaluated;
      if (starts_with(piece, "&") && in.input.kind == Stream::known) return nested_stream(in, in.input, options, Dialect::shell);  // what is read is run
      code_word(in, code, options, Dialect::shell);
    };
    for (std::size_t at = 0; (at = text.find_first_not_of("0123456789,$ !;{}\n\t~+", at)) < text.size();) {
      const char c = text[at];
      const std::size_t line = text.find('\n', at), stop = line == string_view::npos ? text.size() : line;
      if (c == '/' || (c == '\\' && at + 1 < text.size())) {  // an address
        at = c == '/' ? after(at + 1, '/') : after(at + 2, text[at + 1]);
      } else if ((c == 'e' || c == 'w' || c == 'W') && at + 2 < text.size() && text[at + 1] == ' ') {
        c == 'e' ? evaluate(text.substr(at + 2, stop - at - 2)) : write(text.substr(at + 2, stop - at - 2));
        at = stop;
      } else if ((c == 's' || c == 'y') && at + 1 < text.size()) {
        const std::size_t middle = after(at + 2, text[at + 1]), end = after(middle, text[at + 1]);
        std::size_t flag = end;
        if (c == 's' && (end >= text.size() ? text.back() == text[at + 1] && end > middle : true)) {
          while (flag < text.size() && (ascii::is_letter(text[flag]) || is_digit(text[flag])) && text[flag] != 'w') ++flag;
          const string_view flags = text.substr(end, flag - end);
          if (holds(flags, 'e')) evaluate(text.substr(middle, end - 1 - middle));
          if (flag + 1 < text.size() && text[flag] == 'w' && text[flag + 1] == ' ') {
            const std::size_t last = text.find('\n', flag);
            write(text.substr(flag + 2, last == string_view::npos ? last : last - flag - 2));
            flag = last == string_view::npos ? text.size() : last;
          }
        }
        at = flag;
      } else if (c == '#' || ((c == 'a' || c == 'i' || c == 'c' || c == 'r' || c == 'R') && at + 1 < text.size())) {
        at = stop;  // a comment, a text, a file that is read
      } else if (c == 'b' || c == 't' || c == 'T' || c == ':') {
        at = text.find_first_of(";}\n", at);  // a label
      } else {
        ++at;
      }
    }
  };
  bool in_place = false, quiet = false;
  int kept = -1;  // of the lines of each file
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if ((text == "-e" || text == "--expression") && i + 1 < in.count) {
      kept = scripts ? -1 : lines_kept(text_of(in, i + 1), quiet);
      scripts = true;
      script(argument(in, ++i));
    } else if (starts_with(text, "--expression=")) {
      scripts = true;
      Word word = argument(in, i);
      word.text.remove_prefix(13);
      script(word);
    } else if (text == "-f" || text == "--file") {
      scripts = true;
      ++i;
    } else if (text.size() > 1 && text[0] == '-') {
      if (text == "--quiet" || text == "--silent") quiet = true;
      if (text == "--in-place") in_place = true;
      if (text[1] == '-') continue;
      in_place = in_place || text.back() == 'i';  // -i.bak keeps what was there
      quiet = quiet || holds(text.substr(0, text.find('i')), 'n');
      if (in_place && i + 1 < in.count && text_of(in, i + 1).empty() && i + 3 < in.count) ++i;  // BSD: -i ''
    } else {
      if (!scripts) {
        kept = lines_kept(text, quiet);
        script(argument(in, i++));
      }
      // Of a long file next to nothing is left.
      for (; in_place && kept >= 0 && kept < 4 && i < in.count; ++i) emit_file("@write", argument(in, i), false, in.command, in.via, in.cwd, true);
      return;
    }
  }
}

}  // namespace tipstaff::gate::shell
