// git: aliases, hooks of its options, commands that it runs for each commit or submodule.
#pragma once

#include "tipstaff/gate/shell/programs/editors.hpp"

namespace tipstaff::gate::shell {

// git apply FILE, patch -i FILE, patch ORIGINAL FILE, and what they read from a pipe: files that are written and deleted.
inline void ShellReader::run_patch(Invocation& in, std::uint32_t from) noexcept {
  const bool git = tree_.command(in.command).program == "git";
  std::uint32_t operands = 0;
  const auto read = [&](string_view path, Span span) noexcept {
    Stream file;
    file.kind = Stream::file;
    file.text = path;
    file.span = span;
    const Stream content = load(file, in.cwd);
    if (content.kind == Stream::known) other_dialect(in, Dialect::patch, content.text, span, 0);
    else if (content.refused) uncertain(Unresolved::unreadable, span, in.command);
  };
  for (std::uint32_t i = from; i < in.count; ++i) {
    const Word word = argument(in, i);
    string_view text = word.text;
    if (!git && (text == "-i" || text == "--input") && i + 1 < in.count) {
      read(text_of(in, ++i), word.span);
      ++operands;
      continue;
    }
    if (!git && (starts_with(text, "--input=") || (starts_with(text, "-i") && text.size() > 2))) {
      text.remove_prefix(text[1] == 'i' ? 2 : 8);
      read(text, word.span);
      ++operands;
      continue;
    }
    if (!git && one_of(text, "-d --directory -o --output -r --reject-file -B -D -F -V -Y -z -g -p --strip --fuzz") && i + 1 < in.count) {
      ++i;
      continue;
    }
    if (git && one_of(text, "--directory --exclude --include -p -C --whitespace --patch-format") && i + 1 < in.count) {
      ++i;
      continue;
    }
    if (text.empty() || (text[0] == '-' && text.size() > 1) || text == "-") continue;
    ++operands;
    // patch ORIGINAL FILE writes its first operand, whatever the patch names.
    if (!git && operands == 1) {
      emit_file("@write", word, false, in.command, in.via, in.cwd);
      continue;
    }
    read(text, word.span);
  }
  if (operands != 0 && (git || operands > 1)) return;
  Stream input = in.input;
  if (input.kind == Stream::file) input = load(input, in.cwd);
  if (input.kind == Stream::known) other_dialect(in, Dialect::patch, input.text, in.span, 0);
}

// A program that is given files, where it deletes or empties them: with some file after it.
inline string_view with_files(Tree& tree, string_view code) noexcept {
  const string_view program = base_name(code.substr(0, code.find(' ')));
  if (!one_of(program, "rm unlink shred srm truncate cp mv ln sed perl dd rmdir trash wipe")) return code;
  return tree.join(tree.join(tree.copy(""), code), " ./*");
}

// Whether a setting's value is code: by its last part, or by the sign that begins it.
inline bool runs_setting(string_view name, string_view value) noexcept {
  if (starts_with(value, "!")) return true;
  const std::size_t dot = name.rfind('.');
  if (dot == string_view::npos) return false;
  return starts_with(name, "pager.") ||
         ascii::one_of(name.substr(dot + 1), "pager sshcommand editor fsmonitor external askpass gitproxy textconv command cmd clean smudge "
                                             "process driver difffilter packobjectshook uploadpack receivepack tocmd cccmd headercmd");
}

inline void ShellReader::run_git(Invocation& in) noexcept {
  Nested options;
  options.via = via::kEvaluated;
  std::uint32_t i = 1;
  string_view alias_name;
  Word alias_code;
  for (; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (text.empty() || text[0] != '-') break;
    if (text == "-C" && i + 1 < in.count) {
      in.cwd = resolve(in.cwd, argument(in, ++i));
      tree_.command(in.command).cwd = in.cwd;
    } else if (text == "-c" && i + 1 < in.count) {
      const Word word = argument(in, ++i);
      const std::size_t equals = word.text.find('=');
      if (equals == string_view::npos) continue;
      const string_view value = word.text.substr(equals + 1);
      Word code = word;
      if (starts_with(word.text, "alias.")) {
        alias_name = word.text.substr(6, equals - 6);
        alias_code = word;
        alias_code.text = value;
      } else if (runs_setting(word.text.substr(0, equals), value)) {
        code.text = starts_with(value, "!") ? value.substr(1) : value;
        if (one_of(word.text.substr(word.text.substr(0, equals).rfind('.') + 1, equals - word.text.substr(0, equals).rfind('.') - 1), "external editor textconv")) code.text = with_files(tree_, code.text);
        if (holds(code.text, ' ')) code_word(in, code, options, Dialect::shell);
      }
    } else if (one_of(text, "--git-dir --work-tree --namespace --exec-path --super-prefix --config-env")) {
      ++i;
    }
  }
  if (i >= in.count) return;
  const string_view verb = text_of(in, i);
  const auto run_alias = [&](Word code) noexcept {
    Nested call = options;
    call.via |= via::kFunction;
    call.subshell = true;
    call.tail_first = in.first + i + 1;
    call.tail_count = in.count - i - 1;
    if (starts_with(code.text, "!")) {
      code.text.remove_prefix(1);
    } else {
      code.text = tree_.join(tree_.copy("git "), code.text);
    }
    code_word(in, code, call, Dialect::shell);
  };
  if (!alias_name.empty() && alias_name == verb) return run_alias(alias_code);
  const std::uint32_t rest = i + 1;
  if (verb == "config") {
    for (std::uint32_t k = rest; k < in.count; ++k) {
      const string_view text = text_of(in, k);
      Word value;
      string_view name;
      if (starts_with(text, "alias.")) {
        name = text.substr(6);
        if (k + 1 >= in.count) return;
        value = argument(in, k + 1);
      } else if (k + 1 < in.count && holds(text_of(in, k + 1), ' ') && runs_setting(text, text_of(in, k + 1))) {
        Nested stored = options;
        stored.via |= via::kScheduled;
        value = argument(in, k + 1);
        if (starts_with(value.text, "!")) value.text.remove_prefix(1);
        return code_word(in, value, stored, Dialect::shell);
      } else {
        continue;
      }
      // What it would run is read now, since a later call of another run may use it, and again where it is called.
      Nested stored = options;
      stored.via |= via::kScheduled;
      Word code = value;
      if (starts_with(code.text, "!")) {
        code.text.remove_prefix(1);
        code_word(in, code, stored, Dialect::shell);
      }
      const string_view key = tree_.join(tree_.copy("git "), name);
      session_.aliases.add(Alias{key, value.text, value.span});
      return;
    }
    return;
  }
  if (one_of(verb, "log diff show archive")) {
    // The file that it writes instead of printing.
    for (std::uint32_t k = rest; k < in.count; ++k) {
      Word path = argument(in, k);
      if (path.text == "--") break;
      if (starts_with(path.text, "--output=")) path.text.remove_prefix(9);
      else if (one_of(path.text, verb == "archive" ? "--output -o" : "--output") && k + 1 < in.count) path = argument(in, ++k);
      else continue;
      emit_file("@write", path, false, in.command, in.via, in.cwd);
    }
    if (verb != "archive") return;
  }
  if (verb == "apply" || verb == "am") return run_patch(in, rest);
  if (verb == "bisect" && rest < in.count && text_of(in, rest) == "run") return run_inner(in, rest + 1, 0);
  if (verb == "submodule" && rest < in.count) {
    for (std::uint32_t k = rest; k < in.count; ++k) {
      if (text_of(in, k) != "foreach") continue;
      ++k;
      while (k < in.count && starts_with(text_of(in, k), "--")) ++k;
      if (k >= in.count) return;
      Word word = argument(in, k);
      if (k + 1 < in.count) {
        std::uint16_t flags = 0;
        word.text = joined(in.first + k, in.count - k, &flags);
        word.flags = flags;
      }
      return code_word(in, word, options, Dialect::shell);
    }
    return;
  }
  if (verb == "rebase") {
    for (std::uint32_t k = rest; k < in.count; ++k) {
      const string_view text = text_of(in, k);
      Word word = argument(in, k);
      if ((text == "--exec" || text == "-x") && k + 1 < in.count) word = argument(in, k + 1);
      else if (starts_with(text, "--exec=")) word.text.remove_prefix(7);
      else if (starts_with(text, "-x") && text.size() > 2) word.text.remove_prefix(2);
      else continue;
      code_word(in, word, options, Dialect::shell);
    }
    return;
  }
  if (verb == "filter-branch") {
    for (std::uint32_t k = rest; k + 1 < in.count; ++k) {
      if (ends_with(text_of(in, k), "-filter") && starts_with(text_of(in, k), "--")) {
        code_word(in, argument(in, k + 1), options, Dialect::shell);
      }
    }
    return;
  }
  if (verb == "difftool" || verb == "mergetool") {
    Word code;
    if (find_option(in, 'x', "--extcmd", &code) != kNone) {
      code.text = with_files(tree_, code.text);
      code_word(in, code, options, Dialect::shell);
    }
    return;
  }
  if (one_of(verb, "clone fetch pull ls-remote archive push fetch-pack")) {
    // Programs for the other side, which is this machine where the address says so.
    for (std::uint32_t k = rest; k < in.count; ++k) {
      Word code = argument(in, k);
      const string_view text = code.text;
      bool found = false;
      if (verb == "clone" && one_of(text, "-c --config") && k + 1 < in.count) {
        code = argument(in, k + 1);
        const std::size_t equals = code.text.find('=');
        if (equals == string_view::npos || !runs_setting(code.text.substr(0, equals), code.text.substr(equals + 1))) continue;
        code.text.remove_prefix(equals + 1);
        if (starts_with(code.text, "!")) code.text.remove_prefix(1);
        found = true;
      }
      for (const string_view name : {string_view("--upload-pack"), string_view("--receive-pack"), string_view("--exec"),
                                     string_view("-u")}) {
        if (name == "-u" && verb != "clone") continue;
        if (text == name && k + 1 < in.count) code = argument(in, k + 1), found = true;
        else if (name != "-u" && starts_with(text, name) && text.size() > name.size() && text[name.size()] == '=') {
          code.text.remove_prefix(name.size() + 1), found = true;
        }
      }
      if (starts_with(text, "ext::")) {
        // git-remote-ext: a percent sign before a blank is what a backslash is to a shell.
        std::size_t room = 0;
        char* out = tree_.draft(&room);
        if (room < text.size()) return tree_.set_full();
        std::size_t kept = 0;
        for (std::size_t c = 5; c < text.size(); ++c) {
          out[kept++] = text[c] == '%' && c + 1 < text.size() && text[c + 1] == ' ' ? '\\' : text[c];
        }
        code.text = tree_.keep(kept);
        found = true;
      }
      if (found && holds(code.text, ' ')) code_word(in, code, options, Dialect::shell);
    }
    return;
  }
  if (verb == "grep") {
    for (std::uint32_t k = rest; k < in.count; ++k) {
      if (starts_with(text_of(in, k), "--open-files-in-pager=")) {
        Word code = argument(in, k);
        code.text = with_files(tree_, code.text.substr(22));
        code_word(in, code, options, Dialect::shell);
      }
      if (starts_with(text_of(in, k), "-O") && text_of(in, k).size() > 2) {
        Word code = argument(in, k);
        code.text = with_files(tree_, code.text.substr(2));
        code_word(in, code, options, Dialect::shell);
      }
    }
    return;
  }
  for (std::uint32_t k = session_.aliases.size(); k-- > 0;) {
    const Alias alias = session_.aliases[k];
    if (alias.name.size() <= 4 || !starts_with(alias.name, "git ") || alias.name.substr(4) != verb) continue;
    Word code;
    code.text = alias.text;
    code.span = alias.span;
    session_.aliases[k].name = {};
    run_alias(code);
    if (k < session_.aliases.size()) session_.aliases[k].name = alias.name;
    return;
  }
}

}  // namespace tipstaff::gate::shell
