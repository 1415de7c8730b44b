// What commands print, as far as it is certain.
#pragma once

#include "tipstaff/gate/shell/programs/filters.hpp"
#include "tipstaff/gate/shell/programs/found_names.hpp"
#include "tipstaff/gate/shell/redirections/silent.hpp"

namespace tipstaff::gate::shell {

// head -c 0, tail -n 0.
inline bool ShellReader::prints_nothing(const Invocation& in) noexcept {
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (one_of(text, "-c0 -n0 -0 --bytes=0 --lines=0") || (one_of(text, "-c -n --bytes --lines") && i + 1 < in.count && text_of(in, i + 1) == "0")) return true;
  }
  return false;
}

// Words with which tools print settings for `eval "$(TOOL WORD)"`: those of tools that do little else, and of others the
// one word beside their name. What is given to a tool, it may print.
struct SettingsWord {
  std::string_view program, word;
};
inline constexpr SettingsWord kSettingsWords[] = {
    {"hub", "alias"}, {"cargo", "llvm-cov"}, {"conda", "hook"}, {"conda", "shell.bash"}, {"mamba", "hook"}, {"micromamba", "hook"}, {"poetry", "activate"},
    {"pdm", "activate"}, {"gh", "copilot"}, {"perl", "-Mlocal::lib"}, {"dpkg-buildflags", "--export=sh"}, {"dbus-launch", "--sh-syntax"},
};
inline constexpr std::string_view kSettingsTools =
    "goenv plenv phpenv swiftenv crenv exenv luaenv tfenv anyenv ndenv oh-my-posh mcfly fasd jump navi scmpuff devbox crc pkgx proto vfox rtx aftman "
    "tmuxifier pazi carapace granted swiftly juliaup";
// _MY_TOOL_COMPLETE=bash_source my-tool: how tools made with click are asked.
inline bool ShellReader::asks_for_completion(string_view program) noexcept {
  char name[64] = "_";
  constexpr string_view kEnd = "_COMPLETE";
  if (program.size() + kEnd.size() + 1 > sizeof name) return false;
  std::size_t size = 1;
  for (const char c : program) {
    const char letter = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c == '-' ? '_' : c;
    if (!is_name_byte(letter)) return false;
    name[size++] = letter;
  }
  std::memcpy(name + size, kEnd.data(), kEnd.size());
  const Variable* const found = session_.find({name, size + kEnd.size()});
  if (found == nullptr || found->count != 1) return false;
  return one_of(session_.values(*found)[0].text, "bash_source zsh_source fish_source source source_bash source_zsh source_fish");
}

inline bool ShellReader::prints_shell_settings(const Invocation& in) noexcept {
  if (in.input.kind != Stream::none) return false;
  for (std::uint32_t i = 1; i < in.count; ++i)
    if (text_of(in, i) == "-e") return false;
  for (std::uint32_t i = 1; i < in.count && i < 4; ++i) {
    if (one_of(text_of(in, i).substr(0, text_of(in, i).find('=')), "completion completions shellenv shell-hook --completion --completions --bash-completion-script --zsh-completion-script "
                               "--print-completion-script --show-completion --generate-shell-completion completion-script")) return true;
    for (const SettingsWord& known : kSettingsWords)
      if (i < 3 && text_of(in, 0) == known.program && text_of(in, i) == known.word) return true;
  }
  if (in.count == 1 && asks_for_completion(text_of(in, 0))) return true;
  return in.count > 1 && one_of(text_of(in, 0), kSettingsTools) && one_of(text_of(in, 1), "init env hook activate oc-env podman-env virtualenv-init --init");
}

// What prints the folder in which a tool keeps what it fetches or makes again: rm -rf $(brew --cache).
struct CacheQuery {
  std::string_view program, words;
};
inline constexpr CacheQuery kCacheQueries[] = {
    {"brew", "--cache"}, {"go", "env GOCACHE"}, {"go", "env GOMODCACHE"}, {"pip", "cache dir"}, {"pip3", "cache dir"}, {"npm", "config get cache"},
    {"yarn", "cache dir"}, {"yarn", "config get cacheFolder"}, {"pnpm", "store path"}, {"uv", "cache dir"}, {"poetry", "config cache-dir"},
    {"composer", "config cache-dir"}, {"ccache", "-k cache_dir"}, {"bazel", "info output_base"}, {"golangci-lint", "cache dir"}, {"deno", "info --cache"},
};
inline void ShellReader::prints_cache_folder(const Invocation& in, Stream* out) noexcept {
  const string_view home = reader_.surroundings->home;
  if (home.empty() || in.count < 2 || in.count > 4 || !one_of(text_of(in, 0), "brew go pip pip3 npm yarn pnpm uv poetry composer ccache bazel golangci-lint deno")) return;
  for (const CacheQuery& known : kCacheQueries) {
    if (text_of(in, 0) != known.program) continue;
    std::size_t at = 0;
    for (std::uint32_t i = 1; i < in.count && at < known.words.size(); ++i) {
      const std::size_t space = known.words.find(' ', at), end = space == string_view::npos ? known.words.size() : space;
      if (text_of(in, i) != known.words.substr(at, end - at)) break;
      at = end + 1;
      if (i + 1 == in.count && at > known.words.size()) *out = known_output(tree_.join(home, "/.cache/tool"), in.span, 0);
    }
  }
}

// docker ps -q --filter label=x: the containers of one label, name or image are as good as named; so are images that nothing uses.
inline bool ShellReader::prints_filtered_list(const Invocation& in, Stream* out) noexcept {
  if (in.count == 2 && text_of(in, 0) == "brew" && text_of(in, 1) == "--prefix") {
    *out = known_output("/opt/homebrew", in.span, 0);
    return true;
  }
  if (in.count == 2 && one_of(text_of(in, 0), "npm pnpm") && text_of(in, 1) == "root") {
    *out = known_output("node_modules", in.span, 0);
    return true;
  }
  if (in.count < 4 || !one_of(program_name(argument(in, 0)), "docker podman nerdctl finch")) return false;
  const bool group = one_of(text_of(in, 1), "container image network");
  if (!(group ? one_of(text_of(in, 2), "ls list ps") : one_of(text_of(in, 1), "ps images"))) return false;
  string_view filter;
  for (std::uint32_t i = 2; i < in.count; ++i) {
    string_view text = text_of(in, i);
    if (one_of(text, "-f --filter") && i + 1 < in.count) text = text_of(in, ++i);
    else if (starts_with(text, "--filter=")) text.remove_prefix(9);
    else continue;
    text = text.substr(0, text.find(kUnknownPart));
    const std::size_t value = text.find('=') + 1;
    if (one_of(text, "dangling=true status=exited status=created status=dead") ||
        (one_of(text.substr(0, value), "label= name= ancestor= network= reference= publish=") && text.size() > value + 2 && text.find_first_of("*^.?", value) > value + 2))
      filter = text;
  }
  if (filter.empty()) return false;
  *out = known_output(filter, in.span, 0);
  return true;
}

// What turns a text around or writes it in other letters keeps a secret one: rev <<< "$TOKEN".
inline void ShellReader::find_output(Invocation& in, const Program& program) noexcept {
  make_output(in, program);
  const bool turns = program.output == Output::reverse || program.output == Output::translate || program.output == Output::hex || program.output == Output::same || one_of(program.name, "base64 gbase64 fold sed tac cat gzip");
  if (turns) in.output.flags |= in.input.flags & word_flag::kCredential;
}

inline void ShellReader::make_output(Invocation& in, const Program& program) noexcept {
  Stream& out = in.output;
  out = Stream{};
  out.kind = Stream::unknown;
  out.span = in.span;
  const auto first_operand = [&]() noexcept { return after_options(in, 1, "", ""); };
  if (prints_nothing_by_options(in)) {
    out.kind = Stream::none;
    return;
  }
  switch (program.output) {
    case Output::unknown:
      if (in.input.kind == Stream::remote) out.kind = Stream::remote;
      if (prints_shell_settings(in)) out.kind = Stream::trusted;
      if (in.count == 2 && text_of(in, 0) == "printenv" && names_credential(text_of(in, 1))) out.flags |= word_flag::kCredential;
      prints_cache_folder(in, &out);
      prints_filtered_list(in, &out);
      return;
    case Output::empty: out.kind = Stream::none; return;
    case Output::compiled: out = output_of_compiler(in); return;
    case Output::echo: out = output_of_echo(in); return;
    case Output::printf:
      out = in.count > 1 && text_of(in, 1) == "-v" ? Stream{} : output_of_printf(in);
      return;
    case Output::cat: out = output_of_cat(in); return;
    case Output::same: out = in.input; return;
    case Output::remote: out.kind = Stream::remote; return;
    case Output::trusted:
      out.kind = Stream::trusted;
      prints_cache_folder(in, &out);
      prints_filtered_list(in, &out);
      return;
    case Output::filter:
      if (one_of(program.name, "head tail") && prints_nothing(in)) {
        out = known_output("", in.span, 0);
        return;
      }
      if (in.input.kind == Stream::remote || in.input.kind == Stream::paths) out = in.input;
      if (in.input.kind == Stream::known) {
        string_view made;
        if (filtered(in.input.text, in, program.name, &made)) {
          out = in.input;
          out.text = made;
        } else if ((program.name == "head" || program.name == "tail") && in.count == 1) {
          out = in.input;
        }
      }
      return;
    case Output::translate: {
      if (in.input.kind == Stream::remote || in.input.kind == Stream::paths) out = in.input;
      const string_view text = flat(in.input, in);
      string_view made;
      if (!text.empty() && translate(text, in, &made)) {
        out.kind = Stream::known;
        out.text = made;
        out.decoded = true;
      }
      return;
    }
    case Output::base64: {
      bool decode = false;
      std::uint32_t operand = kNone;
      for (std::uint32_t i = 1; i < in.count; ++i) {
        const string_view text = text_of(in, i);
        if (text == "-d" || text == "-D" || text == "--decode" || text == "-di" || text == "-id") decode = true;
        else if (text.size() > 0 && text[0] != '-' && program.name != "openssl") operand = i;
      }
      if (!decode) return;
      out.decoded = true;
      if (in.input.kind == Stream::remote) out.kind = Stream::remote;
      Stream source = in.input;
      if (operand != kNone) {
        source = Stream{};
        source.kind = Stream::file;
        source.text = text_of(in, operand);
      }
      const string_view text = flat(source, in);
      string_view decoded;
      if (!text.empty() && !holds(text, kUnknownPart) && decode_base64(tree_, text, &decoded)) {
        out.kind = Stream::known;
        out.text = decoded;
      }
      return;
    }
    case Output::hex: {
      bool reverse = false;
      for (std::uint32_t i = 1; i < in.count; ++i) {
        const string_view text = text_of(in, i);
        if (text.size() > 1 && text[0] == '-' && holds(text, 'r')) reverse = true;
      }
      if (!reverse) return;
      out.decoded = true;
      const string_view text = flat(in.input, in);
      string_view decoded;
      if (!text.empty() && decode_hex(tree_, text, &decoded)) {
        out.kind = Stream::known;
        out.text = decoded;
      }
      return;
    }
    case Output::reverse: {
      const string_view text = flat(in.input, in);
      std::size_t room = 0;
      char* made = tree_.draft(&room);
      if (text.empty() || room < text.size()) return;
      std::size_t from = 0;
      while (from < text.size()) {
        std::size_t newline = text.find('\n', from);
        if (newline == string_view::npos) newline = text.size();
        for (std::size_t k = from; k < newline; ++k) made[k] = text[newline - 1 - (k - from)];
        if (newline < text.size()) made[newline] = '\n';
        from = newline + 1;
      }
      out.kind = Stream::known;
      out.text = tree_.keep(text.size());
      out.decoded = true;
      return;
    }
    case Output::pwd:
      if (!in.cwd.empty()) out = known_output(in.cwd, in.span, 0);
      return;
    case Output::dirname:
    case Output::basename: {
      const std::uint32_t i = first_operand();
      if (i >= in.count || argument(in, i).has(word_flag::kUnknown)) return;
      string_view path = text_of(in, i);
      if (program.output == Output::basename) {
        path = base_name(path);
      } else {
        while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
        const std::size_t slash = path.rfind('/');
        path = slash == string_view::npos ? string_view(".") : path.substr(0, slash == 0 ? 1 : slash);
      }
      out = known_output(path, in.span, argument(in, i).flags);
      return;
    }
    case Output::realpath: {
      const std::uint32_t i = first_operand();
      if (i >= in.count) return;
      const string_view path = resolve(in.cwd, text_of(in, i));
      if (!path.empty()) out = known_output(path, in.span, argument(in, i).flags);
      return;
    }
    case Output::mktemp: {
      std::uint16_t flags = word_flag::kTemporary | word_flag::kUnknown;
      out = known_output(kUnknown, in.span, flags);
      return;
    }
    case Output::which: {
      std::uint32_t i = 1;
      bool asks = program.name != "command";
      for (; i < in.count && text_of(in, i).size() > 1 && text_of(in, i)[0] == '-'; ++i) asks = true;
      if (!asks || i >= in.count) return;
      string_view found = text_of(in, i);
      if (!found.empty() && !holds(found, '/') && !holds(found, kUnknownPart)) found = tree_.join(tree_.copy("/usr/bin/"), found);
      out = known_output(found, argument(in, i).span, argument(in, i).flags);
      return;
    }
    case Output::git:
      for (std::uint32_t i = 1; i + 1 < in.count; ++i) {
        if (text_of(in, i) == "rev-parse" && text_of(in, i + 1) == "--show-toplevel") {
          const string_view root = reader_.surroundings->repository;
          if (!root.empty()) out = known_output(root, in.span, 0);
          return;
        }
      }
      for (std::uint32_t i = 1; i < in.count; ++i) {
        if (text_of(in, i) != "ls-files") continue;
        out.kind = Stream::paths;
        out.text = ".";
        for (std::uint32_t k = i + 1; k < in.count; ++k) {
          if (!text_of(in, k).empty() && text_of(in, k)[0] != '-') out.text = text_of(in, k);
        }
        return;
      }
      return;
    case Output::find: {
      out.kind = Stream::paths;
      string_view roots;
      std::uint32_t i = 1;
      const bool fd = program.handler == Handler::fd;
      if (fd) {
        // fd PATTERN [PATH...]
        i = after_options(in, 1, "tedEgSjcx", "--type --max-depth --extension --exclude --threads --color");
        if (i < in.count) ++i;
      }
      for (; i < in.count; ++i) {
        const string_view text = text_of(in, i);
        if (text == "-H" || text == "-L" || text == "-P") continue;
        if (text.empty() || text[0] == '-' || text[0] == '(' || text[0] == '!') break;
        if (argument(in, i).has(word_flag::kUnknown)) out.flags |= argument(in, i).flags;
        roots = roots.empty() ? text : tree_.join(tree_.join(roots, "\n"), text);
      }
      out.text = roots.empty() ? string_view(".") : roots;
      if (const string_view names = fd ? found_by_fd(in) : found_by_name(in); !names.empty()) out.text = names;
      return;
    }
    case Output::list: {
      out.kind = Stream::paths;
      string_view roots;
      for (std::uint32_t i = 1; i < in.count; ++i) {
        const string_view text = text_of(in, i);
        if (text.empty() || text[0] == '-') continue;
        if (argument(in, i).has(word_flag::kUnknown)) out.flags |= argument(in, i).flags;
        roots = roots.empty() ? text : tree_.join(tree_.join(roots, "\n"), text);
      }
      out.text = roots.empty() ? string_view(".") : roots;
      return;
    }
    case Output::yes:
      out = in.count > 1 ? output_of_echo(in) : known_output("y", in.span, 0);
      return;
  }
}

}  // namespace tipstaff::gate::shell
