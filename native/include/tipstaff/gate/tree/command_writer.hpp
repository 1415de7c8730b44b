// Adds commands to a tree, word by word: what the readers of all dialects but the shell's share.
#pragma once

#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/dialects.hpp"
#include "tipstaff/gate/tree/raw.hpp"

namespace tipstaff::gate {

// A text that a reader knows, in whole or in part, and where it came from.
struct Known {
  std::string_view text;
  Span span;
  bool verbatim = false;    // text is byte by byte what is at span
  std::uint16_t flags = 0;  // of word_flag; kUnknown where the text holds kUnknownPart

  bool is_unknown() const noexcept { return (flags & word_flag::kUnknown) != 0; }
  // Nothing of it is known.
  bool is_blank() const noexcept { return text.size() == 1 && text[0] == kUnknownPart; }
  Code code() const noexcept { return Code{text, span, verbatim}; }
};

inline Known unknown_text(Span span) noexcept {
  static constexpr char kBlank[] = {kUnknownPart};
  return Known{std::string_view(kBlank, 1), span, false, word_flag::kUnknown};
}

// A list while it is put together. What there is no room for is one item that is not known.
template <std::uint32_t N>
class Items {
 public:
  void add(const Known& item) noexcept {
    if (count_ < N) {
      new (&items_[count_++]) Known(item);
    } else {
      items_[N - 1] = unknown_text(item.span);
    }
  }
  const Known* begin() const noexcept { return &items_[0]; }
  const Known* end() const noexcept { return &items_[0] + count_; }
  std::uint32_t size() const noexcept { return count_; }

 private:
  Raw<Known, N> items_;
  std::uint32_t count_ = 0;
};

// One command while it is written. Words of two commands must not mix: end() one before the next begins.
class CommandWriter {
 public:
  CommandWriter(Reader& reader, const Frame& frame, Dialect dialect, std::string_view program, Span span,
                bool pseudo = true) noexcept
      : reader_(reader), frame_(frame) {
    command_.program = program;
    command_.name.text = program;
    command_.name.span = span;
    command_.name.flags = pseudo ? word_flag::kPseudo : 0;
    command_.first_word = reader.tree->word_count();
    command_.cwd = frame.cwd;
    command_.carrier = frame.carrier;
    command_.via = frame.via;
    command_.dialect = dialect;
    command_.span = span;
  }
  CommandWriter(const CommandWriter&) = delete;
  CommandWriter& operator=(const CommandWriter&) = delete;

  Command& command() noexcept { return command_; }

  CommandWriter& word(std::string_view text, Span span, std::uint16_t flags = 0) noexcept {
    Word word;
    word.text = text;
    word.span = span;
    word.flags = flags;
    if (reader_.tree->add_word(word) != kNone) ++command_.word_count;
    return *this;
  }
  CommandWriter& flag(std::string_view text) noexcept { return word(text, command_.span, word_flag::kPseudo); }
  CommandWriter& known(const Known& text, std::uint16_t more = 0) noexcept {
    return word(text.text, text.span, static_cast<std::uint16_t>(text.flags | more));
  }
  std::uint32_t words() const noexcept { return command_.word_count; }

  // Returns the command's index, kNone where the tree is full.
  std::uint32_t end() noexcept {
    Node node;
    node.kind = NodeKind::command;
    node.dialect = command_.dialect;
    node.span = command_.span;
    node.parent = frame_.node;
    command_.node = reader_.tree->add_node(node);
    const std::uint32_t index = reader_.tree->add_command(command_);
    if (index != kNone && command_.node != kNone) reader_.tree->node(command_.node).command = index;
    return index;
  }

 private:
  Reader& reader_;
  const Frame& frame_;
  Command command_;
};

// The last part of a program's path, in lower case and without .exe; kept in the tree only where that changes it.
inline std::string_view program_name(Tree& tree, std::string_view path) noexcept {
  std::size_t start = 0;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if ((path[i] == '/' || path[i] == '\\') && i + 1 < path.size()) start = i + 1;
  }
  std::string_view name = path.substr(start);
  for (const std::string_view suffix : {".exe", ".com", ".cmd", ".bat"}) {
    if (name.size() > suffix.size() && ascii::ends_with(name, suffix)) {
      name.remove_suffix(suffix.size());
      break;
    }
  }
  bool changes = false;
  for (const char c : name) changes = changes || c != ascii::lower(c);
  if (!changes) return name;
  std::size_t room = 0;
  char* out = tree.draft(&room);
  if (room < name.size()) {
    tree.set_full();
    return {};
  }
  for (std::size_t i = 0; i < name.size(); ++i) out[i] = ascii::lower(name[i]);
  return tree.keep(name.size());
}

// Reads a file that code includes as code of `dialect`; says so where that cannot be done.
inline void read_included(Reader& reader, Dialect dialect, const Known& path, Frame frame) noexcept {
  Tree& tree = *reader.tree;
  const Surroundings& surroundings = *reader.surroundings;
  if (path.is_unknown() || surroundings.read_file == nullptr || path.text.empty()) {
    tree.add_uncertainty(Unresolved::script, path.span, frame.carrier);
    return;
  }
  std::string_view full = path.text;
  if (full[0] != '/' && !frame.cwd.empty()) {
    std::size_t room = 0;
    char* out = tree.draft(&room);
    if (room < frame.cwd.size() + 1 + full.size()) return tree.set_full();
    std::memcpy(out, frame.cwd.data(), frame.cwd.size());
    out[frame.cwd.size()] = '/';
    std::memcpy(out + frame.cwd.size() + 1, full.data(), full.size());
    full = tree.keep(frame.cwd.size() + 1 + full.size());
  }
  std::size_t room = 0;
  char* out = tree.draft(&room);
  const std::size_t capacity = room < limits::kScriptBytes ? room : limits::kScriptBytes;
  const long long size = surroundings.read_file(surroundings.self, full, out, capacity);
  if (size < 0) {
    tree.add_uncertainty(Unresolved::script, path.span, frame.carrier);
    return;
  }
  if (static_cast<unsigned long long>(size) > capacity) {
    tree.add_uncertainty(Unresolved::script_size, path.span, frame.carrier);
    return;
  }
  frame.via |= via::kScript;
  read_code(reader, dialect, Code{tree.keep(static_cast<std::size_t>(size)), path.span, false}, frame);
}

}  // namespace tipstaff::gate
