// Arguments as the shell text that means them: one reader knows all that programs can start.
#pragma once

#include "tipstaff/gate/tree/command_writer.hpp"

namespace tipstaff::gate {

class QuotedWords {
 public:
  explicit QuotedWords(Tree& tree) noexcept : tree_(tree), out_(tree.draft(&room_)) {}

  void word(std::string_view text, bool glob = false) noexcept {
    if (size_ > 0) put(' ');
    bool plain = !text.empty() && text[0] != '~' && text[0] != '#';
    for (const char c : text) {
      plain = plain && (ascii::is_name(c) || c == kUnknownPart || std::string_view("/.-+:,@%").find(c) != std::string_view::npos ||
                        (glob && (c == '*' || c == '?')));
    }
    if (plain && (size_ > 0 || text.find('=') == std::string_view::npos)) {
      for (const char c : text) put(c);
      return;
    }
    put('\'');
    for (const char c : text) {
      if (c == '\'') {
        all("'\\''");
      } else if (c == kUnknownPart) {
        all("'\"\x01\"'");  // is outside of the quotes that make all else literal
      } else {
        put(c);
      }
    }
    put('\'');
  }
  // Text that is code already.
  void code(std::string_view text) noexcept {
    if (size_ > 0) put(' ');
    all(text);
  }
  bool fits() const noexcept { return size_ <= room_; }
  std::string_view keep() noexcept { return tree_.keep(size_); }

 private:
  void put(char c) noexcept {
    if (size_ < room_) out_[size_] = c;
    ++size_;
  }
  void all(std::string_view text) noexcept {
    for (const char c : text) put(c);
  }

  Tree& tree_;
  std::size_t room_ = 0;
  char* out_;
  std::size_t size_ = 0;
};

// Reads a program and its arguments as the shell would.
inline void read_words(Reader& reader, const Frame& frame, const Known* items, std::uint32_t count, Span span) noexcept {
  if (count == 0) return;
  QuotedWords quoted(*reader.tree);
  for (std::uint32_t i = 0; i < count; ++i) quoted.word(items[i].text, (items[i].flags & word_flag::kGlob) != 0);
  if (!quoted.fits()) return reader.tree->set_full();
  read_code(reader, Dialect::shell, Code{quoted.keep(), span, false}, frame);
}

}  // namespace tipstaff::gate
