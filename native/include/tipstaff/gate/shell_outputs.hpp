// What commands print, as far as it is certain.
#pragma once

#include "tipstaff/gate/shell_builtins.hpp"

namespace tipstaff::gate::shell {

inline Stream ShellReader::known_output(string_view text, Span span, std::uint16_t flags) noexcept {
  Stream stream;
  stream.kind = Stream::known;
  stream.text = text;
  stream.span = span;
  stream.flags = static_cast<std::uint16_t>(flags & kPublicFlags & ~(word_flag::kQuoted | word_flag::kGlob));
  stream.decoded = (flags & word_flag::kDecoded) != 0;
  return stream;
}

// Adds what comes after.
inline void ShellReader::append(Stream& to, const Stream& more) noexcept {
  if (more.kind == Stream::none) return;
  if (to.kind == Stream::none) {
    to = more;
    return;
  }
  to.decoded = to.decoded || more.decoded;
  to.flags |= more.flags;
  if (to.kind == more.kind && (to.kind == Stream::known || to.kind == Stream::paths)) {
    if (!to.text.empty() && to.text.back() != '\n') to.text = tree_.join(to.text, "\n");
    to.text = tree_.join(to.text, more.text);
    return;
  }
  if (to.kind == Stream::remote || more.kind == Stream::remote) {
    to.kind = Stream::remote;
    return;
  }
  if (to.kind == Stream::known && (more.kind == Stream::unknown || more.kind == Stream::file)) {
    // What is known stays worth reading; the rest is a gap in it.
    to.text = tree_.join(tree_.join(to.text, "\n"), kUnknown);
    to.flags |= word_flag::kUnknown;
    return;
  }
  if (more.kind == Stream::known && to.kind != Stream::trusted) {
    to.text = tree_.join(tree_.join(tree_.copy(kUnknown), "\n"), more.text);
    to.kind = Stream::known;
    to.flags |= word_flag::kUnknown;
    return;
  }
  to.kind = Stream::unknown;
}

// A stream as text, where it is one.
inline string_view ShellReader::flat(const Stream& stream, const Invocation& in) noexcept {
  if (stream.kind == Stream::known) return stream.text;
  if (stream.kind == Stream::file) {
    const Stream loaded = load(stream, in.cwd);
    if (loaded.kind == Stream::known) return loaded.text;
  }
  return {};
}

// What find finds below a place nearby where it is asked for names alone: ./*.pyc for `find . -name '*.pyc'`, a line
// for each. Empty where more than names decides, or where the place is not below the directory that it is run in.
inline string_view ShellReader::found_by_name(const Invocation& in) noexcept {
  string_view lines;
  std::uint32_t begin = 1;
  while (begin < in.count && one_of(text_of(in, begin), "-H -L -P")) ++begin;
  std::uint32_t end = begin;
  while (end < in.count) {
    const string_view text = text_of(in, end);
    if (text.empty() || text[0] == '-' || text == "(" || text == "!") break;
    if (text[0] == '/' || text[0] == '~' || starts_with(text, "..") || argument(in, end).has(word_flag::kUnknown)) return {};
    ++end;
  }
  for (std::uint32_t i = end; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (one_of(text, "! -not -regex -iregex -path -ipath -wholename") || text == ",") return {};
    if (one_of(text, "-exec -execdir -ok -okdir")) break;
    if (!one_of(text, "-name -iname") || i + 1 >= in.count) continue;
    const string_view name = text_of(in, ++i);
    if (argument(in, i).has(word_flag::kUnknown) || name.find_first_not_of("*?.") == string_view::npos) return {};
    for (std::uint32_t k = begin; k < end || k == begin; ++k) {
      const string_view place = end > begin ? text_of(in, k) : string_view(".");
      if (!lines.empty()) lines = tree_.join(lines, "\n");
      else lines = tree_.copy("");
      lines = tree_.join(tree_.join(tree_.join(lines, place), "/"), name);
    }
  }
  return lines;
}

inline Stream ShellReader::output_of_echo(const Invocation& in) noexcept {
  std::uint32_t i = 1;
  bool escapes = false;
  for (; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (text.size() < 2 || text[0] != '-' || text.find_first_not_of("neE", 1) != string_view::npos) break;
    if (holds(text, 'e')) escapes = true;
    if (holds(text, 'E')) escapes = false;
  }
  if (i >= in.count) return known_output("\n", in.span, 0);
  std::uint16_t flags = 0;
  string_view text = in.count - i == 1 ? as_text(argument(in, i)) : joined(in.first + i, in.count - i, &flags);
  flags |= argument(in, i).flags;
  if (text == kUnknown) {
    Stream stream;
    stream.kind = (flags & word_flag::kNetwork) != 0 ? Stream::remote
                  : (flags & word_flag::kTrusted) != 0 ? Stream::trusted : Stream::unknown;
    stream.span = in.span;
    return stream;
  }
  if (escapes && holds(text, '\\')) {
    text = decode_escapes(tree_, text, Escapes::echo);
    flags |= word_flag::kDecoded;
  }
  return known_output(text, in.count - i == 1 ? argument(in, i).span : in.span, flags);
}

inline Stream ShellReader::output_of_printf(const Invocation& in) noexcept {
  std::uint32_t i = 1;
  if (i < in.count && text_of(in, i) == "--") ++i;
  if (i >= in.count) return Stream{};
  const Word format_word = argument(in, i);
  std::uint16_t flags = format_word.flags;
  const string_view format = format_word.text;
  if (!holds(format, '%') && !holds(format, '\\')) {
    return format == kUnknown ? Stream{Stream::unknown, false, flags, {}, in.span}
                              : known_output(format, format_word.span, flags);
  }
  ++i;
  string_view text = tree_.copy("");
  std::uint32_t next = i;
  bool escaped = false;
  // The format is used again as long as words are left.
  for (std::uint32_t round = 0; round < 64 && (round == 0 || next < in.count); ++round) {
    const std::uint32_t before = next;
    std::size_t at = 0;
    while (at < format.size()) {
      std::size_t stop = format.find_first_of("%\\", at);
      if (stop == string_view::npos) stop = format.size();
      text = tree_.join(text, format.substr(at, stop - at));
      at = stop;
      if (at >= format.size()) break;
      if (format[at] == '\\') {
        std::size_t end = at + 1;
        while (end < format.size() && format[end] != '%') ++end;
        escaped = true;
        // The piece is decoded at the end of what is built, so the text built so far must not move.
        const string_view decoded = decode_escapes(tree_, format.substr(at, end - at), Escapes::printf);
        text = tree_.join(text, decoded);
        at = end;
        continue;
      }
      ++at;
      while (at < format.size() && (is_digit(format[at]) || holds("-+ #.*", format[at]))) ++at;
      if (at >= format.size()) break;
      const char kind = format[at++];
      if (kind == '%') {
        text = tree_.join(text, "%");
        continue;
      }
      if (next >= in.count) continue;
      const Word& word = argument(in, next++);
      flags |= word.flags;
      if (kind == 'b') {
        escaped = true;
        text = tree_.join(text, decode_escapes(tree_, word.text, Escapes::echo));
      } else if (kind == 'c') {
        text = tree_.join(text, word.text.substr(0, 1));
      } else if ((kind == 'x' || kind == 'X' || kind == 'o') && to_number(word.text) >= 0) {
        char digits[16];
        std::size_t n = 0;
        const int base = kind == 'o' ? 8 : 16;
        int value = to_number(word.text);
        do digits[15 - n++] = "0123456789abcdef"[value % base];
        while ((value /= base) != 0);
        text = tree_.join(text, tree_.copy(string_view(digits + 16 - n, n)));
      } else {
        text = tree_.join(text, as_text(word));
      }
    }
    if (next == before) break;
  }
  if (escaped) flags |= word_flag::kDecoded;
  // What was only a newline at the end was not hidden by escapes.
  if (format.find("\\x") == string_view::npos && format.find_first_of("01234567") == string_view::npos) {
    flags &= static_cast<std::uint16_t>(~word_flag::kDecoded);
  }
  return known_output(text, in.span, flags);
}

inline Stream ShellReader::output_of_cat(const Invocation& in) noexcept {
  Stream all;
  std::uint32_t files = 0;
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const Word& word = argument(in, i);
    if (word.text.size() > 1 && word.text[0] == '-') continue;
    ++files;
    Stream one;
    if (word.text == "-" || word.text == "/dev/stdin") {
      one = in.input;
    } else {
      one.kind = word.has(word_flag::kUnknown) ? Stream::unknown : Stream::file;
      one.text = word.text;
      one.span = word.span;
    }
    if (one.kind == Stream::file && (files > 1 || i + 1 < in.count)) one = load(one, in.cwd);
    append(all, one);
  }
  if (files == 0) {
    all = in.input;
    if (all.kind == Stream::none) all.kind = Stream::unknown;  // what the whole text is given
  }
  return all;
}

// tr: sets of bytes and ranges; classes like [:upper:] are not followed.
inline bool ShellReader::translate(string_view text, const Invocation& in, string_view* made) noexcept {
  std::uint32_t i = 1;
  bool remove = false;
  for (; i < in.count && text_of(in, i).size() > 1 && text_of(in, i)[0] == '-'; ++i) {
    if (text_of(in, i) != "-d") return false;
    remove = true;
  }
  const auto expand = [&](string_view set, unsigned char* out) noexcept {
    std::size_t n = 0;
    for (std::size_t k = 0; k < set.size() && n < 256; ++k) {
      if (set[k] == '[' || set[k] == '\\') return std::size_t{0};
      if (k + 2 < set.size() && set[k + 1] == '-') {
        for (int c = static_cast<unsigned char>(set[k]); c <= static_cast<unsigned char>(set[k + 2]) && n < 256; ++c) {
          out[n++] = static_cast<unsigned char>(c);
        }
        k += 2;
      } else {
        out[n++] = static_cast<unsigned char>(set[k]);
      }
    }
    return n;
  };
  unsigned char from[256], to[256];
  if (i >= in.count || in.count - i != (remove ? 1u : 2u)) return false;
  const std::size_t n = expand(text_of(in, i), from), m = remove ? 1 : expand(text_of(in, i + 1), to);
  if (n == 0 || m == 0) return false;
  short map[256];
  for (int c = 0; c < 256; ++c) map[c] = static_cast<short>(c);
  for (std::size_t k = 0; k < n; ++k) map[from[k]] = remove ? -1 : to[k < m ? k : m - 1];
  std::size_t room = 0;
  char* out = tree_.draft(&room);
  if (room < text.size()) return false;
  std::size_t kept = 0;
  for (const char c : text) {
    const short put = map[static_cast<unsigned char>(c)];
    if (put >= 0) out[kept++] = static_cast<char>(put);
  }
  *made = tree_.keep(kept);
  return true;
}

inline void ShellReader::find_output(Invocation& in, const Program& program) noexcept {
  Stream& out = in.output;
  out = Stream{};
  out.kind = Stream::unknown;
  out.span = in.span;
  const auto first_operand = [&]() noexcept { return after_options(in, 1, "", ""); };
  switch (program.output) {
    case Output::unknown:
      if (in.input.kind == Stream::remote) out.kind = Stream::remote;
      for (std::uint32_t i = 1; i < in.count && i < 4; ++i) {
        if (one_of(text_of(in, i), "completion completions shellenv shell-hook --completion")) out.kind = Stream::trusted;
      }
      return;
    case Output::empty: out.kind = Stream::none; return;
    case Output::echo: out = output_of_echo(in); return;
    case Output::printf:
      out = in.count > 1 && text_of(in, 1) == "-v" ? Stream{} : output_of_printf(in);
      return;
    case Output::cat: out = output_of_cat(in); return;
    case Output::same: out = in.input; return;
    case Output::remote: out.kind = Stream::remote; return;
    case Output::trusted: out.kind = Stream::trusted; return;
    case Output::filter:
      if (in.input.kind == Stream::remote || in.input.kind == Stream::paths) out = in.input;
      if (in.input.kind == Stream::known && (program.name == "head" || program.name == "tail") && in.count == 1) {
        out = in.input;
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
      if (const string_view names = fd ? string_view() : found_by_name(in); !names.empty()) out.text = names;
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
