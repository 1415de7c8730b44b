// The texts that echo, printf and cat print, and texts one after the other.
#pragma once

#include "tipstaff/gate/shell/programs/builtins.hpp"

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
    stream.flags = flags & word_flag::kCredential;
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
  for (std::uint32_t round = 0; round < 512 && (round == 0 || next < in.count); ++round) {
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
    if (next == before) {
      next = in.count;
      break;
    }
  }
  if (next < in.count) {  // the rest is not worth the work
    text = tree_.join(text, kUnknown);
    flags |= word_flag::kUnknown;
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

}  // namespace tipstaff::gate::shell
