// The texts in code of languages that have no reader of their own: the names before them, what they are joined to, what is written to files.
#pragma once

#include <initializer_list>

#include "tipstaff/gate/shell/language/reader.hpp"

namespace tipstaff::gate::shell {

// The letters of the name before `at`, with nothing but blanks, brackets and one label (atPath:) between.
inline string_view name_before(string_view text, std::size_t at) noexcept {
  std::size_t start = at;
  for (int round = 0; round < 2; ++round) {
    bool label = false;
    while (at > 0 && (holds(" \t\n([{=", text[at - 1]) || text[at - 1] == ':')) {
      label = label || text[at - 1] == ':';
      --at;
    }
    if (at > 1 && text[at - 1] == '*' && is_name_byte(text[at - 2])) --at;  // Guile's system*
    start = at;
    while (start > 0 && (is_name_byte(text[start - 1]) || text[start - 1] == '-' || text[start - 1] == '!')) --start;
    // atPath: belongs to the name before its bracket.
    if (!label || start == 0 || (text[start - 1] != '(' && text[start - 1] != ' ')) break;
    if (round == 0) at = start;
  }
  return text.substr(start, at - start);
}

// Tcl quotes with braces: {rm -rf x} is one word.
inline string_view unbraced(Tree& tree, string_view text) noexcept {
  if (!holds(text, '{') || holds(text, '\'')) return text;
  std::size_t room = 0;
  char* out = tree.draft(&room);
  if (room < text.size()) {
    tree.set_full();
    return text;
  }
  int depth = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool opens = text[i] == '{' && depth++ == 0, closes = text[i] == '}' && depth > 0 && --depth == 0;
    out[i] = opens || closes ? '\'' : text[i];
  }
  return tree.keep(text.size());
}

// Texts that a program of such a language gives names to: local place = "/".
struct NamedTexts {
  static constexpr std::uint32_t kMost = 8;
  string_view name[kMost], text[kMost];
  std::uint32_t count = 0;

  const string_view* find(string_view wanted) const noexcept {
    for (std::uint32_t i = count; i-- > 0;) {
      if (name[i] == wanted) return &text[i];
    }
    return nullptr;
  }
};

// What is put after a text that ends before `at`, as in "rm " .. place .. "/x": joined to it. Returns where it ends.
inline std::size_t concatenated(Tree& tree, string_view code, std::size_t at, const NamedTexts& names, string_view* text) noexcept {
  for (int parts = 0; parts < 8 && text->size() <= 4096; ++parts) {
    std::size_t next = at;
    while (next < code.size() && holds(" \t\n", code[next])) ++next;
    std::size_t sign = 0;
    for (const string_view mark : {string_view(".."), string_view("<>"), string_view("++"), string_view("+"), string_view("*"), string_view("&"), string_view("~"), string_view("^")}) {
      if (sign == 0 && starts_with(code.substr(next), mark)) sign = mark.size();
    }
    if (sign == 0) return at;
    next += sign;
    while (next < code.size() && holds(" \t\n", code[next])) ++next;
    if (next >= code.size()) return at;
    string_view piece = string_view("\x01", 1);
    if (code[next] == '"' || code[next] == '\'') {
      const std::size_t close = code.find(code[next], next + 1);
      if (close == string_view::npos) return at;
      piece = code.substr(next + 1, close - next - 1);
      next = close + 1;
    } else if (is_name_start(code[next])) {
      const std::size_t begin = next;
      while (next < code.size() && (is_name_byte(code[next]) || code[next] == '.') && !starts_with(code.substr(next), "..")) ++next;
      if (const string_view* const known = names.find(code.substr(begin, next - begin))) piece = *known;
    } else {
      return at;
    }
    *text = tree.join(tree.join(tree.copy(""), *text), piece);
    at = next;
  }
  return at;
}

inline bool holds_text(string_view text, string_view part) noexcept { return text.find(part) != string_view::npos; }

inline bool holds_any(string_view text, std::initializer_list<string_view> parts) noexcept {
  for (const string_view part : parts)
    if (holds_text(text, part)) return true;
  return false;
}

// A second argument that is an empty text: , "")
inline bool begins_with_nothing(string_view text) noexcept {
  while (!text.empty() && holds(", \t", text[0])) text.remove_prefix(1);
  return starts_with(text, "\"\"") || starts_with(text, "''");
}

// What a text of code writes at all, looked for once.
struct Writes {
  explicit Writes(string_view text) noexcept
      : channels(holds_any(text, {"output_", "rintf"})), ports(holds_any(text, {"(display", "(write", "(print", "(format", "(newline", "(princ"})),
        files(holds_any(text, {"fprintf", "fwrite", "fputs", "fdisp"})) {}
  bool channels, ports, files;
};

// A file that is opened for writing, where nothing is written: open_out "x", (call-with-output-file "x" ...), fopen("x", "w").
inline bool opens_for_nothing(const Writes& writes, string_view before, string_view name, string_view after) noexcept {
  if (one_of(name, "open_out open_out_bin")) return !writes.channels;
  if (one_of(name, "call-with-output-file with-output-to-file open-output-file")) return !writes.ports && !holds_text(after.substr(0, 160), "printf");
  if (name == "fopen") return starts_with(after, ",") && holds_text(after.substr(0, 6), "w") && !writes.files;
  if (one_of(name, "File file")) return starts_with(after, ").withWriter{}") || starts_with(after, ").withWriter {}") || starts_with(after, ").newWriter()");
  const string_view near = before.substr(before.size() < 40 ? 0 : before.size() - 40);
  return holds_text(near, "with-open-file") && holds_text(after.substr(0, 80), ":supersede") && !writes.ports;
}

}  // namespace tipstaff::gate::shell
