// Texts that readers make of texts that they know: joined, replaced in, decoded. What is not known of them stays where
// it is (kUnknownPart).
#pragma once

#include "tipstaff/gate/tree/command_writer.hpp"
#include "tipstaff/gate/shell/language/bytes.hpp"

namespace tipstaff::gate {

constexpr std::size_t kLongestMade = 65536;  // of what programs make of texts; of longer ones nothing is known
constexpr std::size_t kLongestSought = 256;  // in a text

// Text that is built in the tree's memory, piece by piece; nothing else may be kept there meanwhile.
class Draft {
 public:
  explicit Draft(Tree& tree) noexcept : tree_(tree), out_(tree.draft(&room_)) {}
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  // False where there is no room, which the tree then says as well.
  bool put(std::string_view piece) noexcept {
    if (room_ - size_ < piece.size()) {
      tree_.set_full();
      return false;
    }
    if (!piece.empty()) std::memcpy(out_ + size_, piece.data(), piece.size());
    size_ += piece.size();
    return true;
  }
  bool put_unknown() noexcept { return put(std::string_view("\x01", 1)); }
  std::size_t size() const noexcept { return size_; }
  bool is_long() const noexcept { return size_ > kLongestMade; }
  std::string_view keep() noexcept { return tree_.keep(size_); }

 private:
  Tree& tree_;
  std::size_t room_ = 0;
  char* out_;
  std::size_t size_ = 0;
};

// A list's or a text's nesting while it is read: readers go only so deep.
struct Level {
  explicit Level(std::uint32_t& level) noexcept : level_(level) { ++level_; }
  ~Level() { --level_; }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;

 private:
  std::uint32_t& level_;
};

// Names that do not heed letter case.
inline bool same_word(std::string_view a, std::string_view b) noexcept {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (ascii::lower(a[i]) != ascii::lower(b[i])) return false;
  }
  return true;
}

inline Span both(Span a, Span b) noexcept { return {a.start < b.start ? a.start : b.start, a.end > b.end ? a.end : b.end}; }

// Sets or takes away kUnknown as the text says.
inline void note_unknown(Known* known) noexcept {
  known->flags = static_cast<std::uint16_t>(known->flags & ~word_flag::kUnknown);
  if (known->text.find(kUnknownPart) != std::string_view::npos) known->flags |= word_flag::kUnknown;
}

inline Known joined(Tree& tree, const Known& a, std::string_view between, const Known& b) noexcept {
  const Span span = both(a.span, b.span);
  if (a.text.size() + between.size() + b.text.size() > kLongestMade) return unknown_text(span);
  Draft draft(tree);
  if (!draft.put(a.text) || !draft.put(between) || !draft.put(b.text)) return unknown_text(span);
  return Known{draft.keep(), span, false, static_cast<std::uint16_t>(a.flags | b.flags)};
}

// `text` with each `what` in it as `with`; false where what comes out is not known.
inline bool replace_in(Tree& tree, std::string_view text, std::string_view what, std::string_view with, bool fold,
                       std::string_view* out) noexcept {
  if (what.empty() || what.size() > kLongestSought) return false;
  const auto same = [fold](char a, char b) noexcept { return fold ? ascii::lower(a) == ascii::lower(b) : a == b; };
  Draft draft(tree);
  for (std::size_t i = 0; i < text.size();) {
    std::size_t k = 0;
    while (k < what.size() && i + k < text.size() && same(text[i + k], what[k])) ++k;
    const bool here = k == what.size();
    if (!draft.put(here ? with : text.substr(i, 1)) || draft.is_long()) return false;
    i += here ? what.size() : 1;
  }
  *out = draft.keep();
  return true;
}

// "114" and "0x72" as the character of that number; false if no text may hold it.
inline bool put_character(Draft& draft, std::string_view number) noexcept {
  const bool hex = ascii::starts_with(number, "0x");
  const std::string_view digits = number.substr(hex ? 2 : 0);
  std::uint32_t code = 0;
  if (digits.size() > 7) return false;
  for (const char c : digits) {
    const int digit = ascii::hex_value(c);
    if (digit < 0 || (!hex && digit > 9)) return false;
    code = code * (hex ? 16u : 10u) + static_cast<std::uint32_t>(digit);
  }
  if (code <= static_cast<unsigned char>(kUnknownPart) || code > 0x10FFFF) return false;
  char bytes[4];
  return draft.put(std::string_view(bytes, write_utf8(code, bytes)));
}

// Base64, or hexadecimal digits, decoded; false if `text` is not valid or the result has no room.
inline bool decode(Tree& tree, std::string_view text, bool hex, std::string_view* out) noexcept {
  return (hex ? shell::decode_hex(tree, text, out) : shell::decode_base64(tree, text, out)) &&
         out->find(kUnknownPart) == std::string_view::npos;
}

}  // namespace tipstaff::gate
