// PowerShell and cmd, started from a shell.
#pragma once

#include "tipstaff/gate/shell/programs/git.hpp"

namespace tipstaff::gate::shell {

inline void ShellReader::run_powershell(Invocation& in) noexcept {
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word word = argument(in, i);
    string_view text = word.text;
    if (text.empty()) continue;
    if (text[0] != '-' && text[0] != '/') {
      if (ends_with(text, ".ps1")) {
        run_script(in, i, Dialect::powershell, 0);
        return;
      }
      // Windows PowerShell takes bare words for a command.
      Word code = word;
      std::uint16_t flags = 0;
      code.text = joined(in.first + i, in.count - i, &flags);
      code.flags = flags;
      Nested options;
      if (const string_view source = source_of(code.span); !source.empty() && source[0] == '"') options.via = via::kShellsWords;
      return code_word(in, code, options, Dialect::powershell);
    }
    text.remove_prefix(1);
    char name[24];
    std::size_t n = 0;
    for (; n < text.size() && n < sizeof name; ++n) name[n] = lower(text[n]);
    const string_view option(name, n);
    const auto is = [&](string_view full, std::size_t least) noexcept {
      return option.size() >= least && starts_with(full, option);
    };
    if (option == "-") continue;
    if (option == "c" || is("command", 3)) {
      if (i + 1 >= in.count) return;
      if (text_of(in, i + 1) == "-") return nested_stream(in, in.input, Nested{}, Dialect::powershell);
      Word code = argument(in, i + 1);
      std::uint16_t flags = 0;
      if (i + 2 < in.count) code.text = joined(in.first + i + 1, in.count - i - 1, &flags);
      code.flags |= flags;
      Nested options;
      if (const string_view source = source_of(code.span); !source.empty() && source[0] == '"') options.via = via::kShellsWords;
      return code_word(in, code, options, Dialect::powershell);
    }
    if (option == "e" || option == "ec" || is("encodedcommand", 2)) {
      if (i + 1 >= in.count) return;
      Word code = argument(in, i + 1);
      string_view decoded;
      if (code.has(word_flag::kUnknown) || !decode_base64(tree_, code.text, &decoded)) {
        uncertain(Unresolved::code, code.span, in.command);
        return;
      }
      // UTF-16: the high bytes of plain text are zero.
      std::size_t room = 0;
      char* out = tree_.draft(&room);
      if (room < decoded.size()) return tree_.set_full();
      std::size_t kept = 0;
      for (std::size_t k = 0; k + 1 < decoded.size(); k += 2) out[kept++] = decoded[k + 1] == 0 ? decoded[k] : '?';
      code.text = tree_.keep(kept);
      code.flags |= word_flag::kDecoded;
      return code_word(in, code, Nested{}, Dialect::powershell);
    }
    if (option == "f" || is("file", 1)) {
      if (i + 1 < in.count) run_script(in, i + 1, Dialect::powershell, 0);
      return;
    }
    if (is("executionpolicy", 2) || option == "ep" || is("windowstyle", 1) || is("version", 1) ||
        is("workingdirectory", 2) || is("configurationname", 3) || is("inputformat", 2) || is("outputformat", 1)) {
      ++i;
    }
  }
  if (in.input.kind != Stream::none && in.input.kind != Stream::unknown) {
    nested_stream(in, in.input, Nested{}, Dialect::powershell);
  }
}

inline void ShellReader::run_cmd(Invocation& in) noexcept {
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (text.size() < 2 || (text[0] != '/' && text[0] != '-')) continue;
    // Git's own shell writes //c, to keep /c from becoming a path.
    const char letter = lower(text.back());
    if ((letter != 'c' && letter != 'k') || i + 1 >= in.count) continue;
    Word code = argument(in, i + 1);
    std::uint16_t flags = 0;
    if (i + 2 < in.count) code.text = joined(in.first + i + 1, in.count - i - 1, &flags);
    code.flags |= flags;
    return code_word(in, code, Nested{}, Dialect::cmd);
  }
}

}  // namespace tipstaff::gate::shell
