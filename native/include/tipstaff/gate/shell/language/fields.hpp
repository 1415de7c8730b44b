// What the parts of a word become: one text, or several words.
#pragma once

#include "tipstaff/gate/shell/language/words.hpp"

namespace tipstaff::gate::shell {

// Calls sink(text, flags, quoted) for each text that the parts make. With `split`, parts fall apart into words.
template <typename Sink>
inline void ShellReader::enumerate(const Pieces& pieces, bool split, Sink&& sink) noexcept {
  if (pieces.count == 1 && pieces.items[0].kind == Piece::literal) {
    sink(pieces.items[0].text, pieces.flags, pieces.quoted);
    return;
  }
  std::uint32_t total = 1;
  std::uint16_t common = 0;
  for (std::uint32_t i = 0; i < pieces.count; ++i) {
    const Piece& piece = pieces.items[i];
    if (piece.kind == Piece::choice) {
      if (piece.count != 0) total *= piece.count;
      if (total > limits::kExpansions) {
        uncertain(Unresolved::limit, span_of(pos_, pos_), frame_.carrier);
        total = limits::kExpansions;
        break;
      }
    } else {
      common |= piece.flags;
    }
  }
  common &= static_cast<std::uint16_t>(~word_flag::kLaterTurn);
  common |= pieces.flags & (word_flag::kQuoted | word_flag::kTemporary);
  for (std::uint32_t round = 0; round < total && !tree_.full(); ++round) {
    // The last choice turns fastest.
    std::uint32_t chosen[Pieces::kMost];
    std::uint32_t rest = round;
    std::uint16_t later = 0;
    for (std::uint32_t i = pieces.count; i-- > 0;) {
      const Piece& piece = pieces.items[i];
      if (piece.kind == Piece::choice && piece.count != 0) {
        chosen[i] = rest % piece.count;
        rest /= piece.count;
        if (chosen[i] != 0) later |= piece.flags & word_flag::kLaterTurn;
      }
    }
    string_view word;
    const std::uint16_t shared = common | later;
    std::uint16_t flags = shared;
    bool there = pieces.quoted, any = false;
    const auto add = [&](string_view text) noexcept {
      word = tree_.join(word, text);
      there = there || !text.empty();
    };
    const auto next = [&]() noexcept {
      if (there) sink(word, flags, pieces.quoted);
      any = any || there;
      word = {};
      flags = shared;
      there = false;
    };
    const auto add_split = [&](string_view text) noexcept {
      std::size_t at = 0;
      while (at < text.size()) {
        std::size_t stop = at;
        while (stop < text.size() && !session_.separates(text[stop])) ++stop;
        if (stop != at) add(text.substr(at, stop - at));
        if (stop == text.size()) return;
        next();
        at = stop + 1;
      }
    };
    for (std::uint32_t i = 0; i < pieces.count; ++i) {
      const Piece& piece = pieces.items[i];
      switch (piece.kind) {
        case Piece::literal: add(piece.text); break;
        case Piece::split:
          if (split) add_split(piece.text);
          else add(piece.text);
          break;
        case Piece::choice:
          if (piece.count == 0) break;
          flags |= piece.values[chosen[i]].flags & static_cast<std::uint16_t>(~word_flag::kLaterTurn);
          if (split && !piece.quoted) add_split(piece.values[chosen[i]].text);
          else add(piece.values[chosen[i]].text);
          break;
        case Piece::fields:
        case Piece::arguments:
          for (std::uint32_t k = 0; k < piece.count; ++k) {
            const bool word_of_tree = piece.kind == Piece::arguments;
            if (k > 0) {
              if (split) next();
              else add(" ");
            }
            add(word_of_tree ? tree_.word(piece.first + k).text : piece.values[k].text);
            flags |= (word_of_tree ? tree_.word(piece.first + k).flags : piece.values[k].flags) & static_cast<std::uint16_t>(~word_flag::kLaterTurn);
            there = there || piece.quoted;
          }
          if (piece.count == 0 && pieces.count == 1) there = false;
          break;
      }
    }
    if (there || !split) sink(word, flags, pieces.quoted);
  }
}

inline void ShellReader::push_words(const Pieces& pieces, Span span) noexcept {
  if (pieces.count == 0 && !pieces.quoted) return;
  Word word;
  word.span = span;
  bool first = true;  // what a value that is nothing leaves out is no turn
  enumerate(pieces, true, [&](string_view text, std::uint16_t flags, bool) noexcept {
    word.text = text;
    word.flags = flags & (kPublicFlags | (first ? 0 : word_flag::kLaterTurn));
    first = false;
    tree_.push_pending(word);
  });
}

// The parts as one text: the first of several possibilities.
inline Value ShellReader::one_text(const Pieces& pieces) noexcept {
  Value value;
  bool first = true;
  enumerate(pieces, false, [&](string_view text, std::uint16_t flags, bool) noexcept {
    if (first) value = Value{text, flags};
    first = false;
  });
  return value;
}

}  // namespace tipstaff::gate::shell
