// Cuts a text into words, and words into the pieces of a table or into n-grams.
//
// Words are lower-case runs of a-z and 0-9, cut by greedy longest match. A word that falls into three
// pieces or more is not one that the table knows, and its hash chooses signs, so that it can at least
// meet itself. Words of other scripts have no pieces: hashes of their character n-grams choose signs.
#ifndef TIPSTAFF_TOKENS_WORDPIECE_SPLITTER_HPP
#define TIPSTAFF_TOKENS_WORDPIECE_SPLITTER_HPP

#include <cstdint>

#include "tipstaff/text/letters.hpp"
#include "tipstaff/tokens/wordpiece_table.hpp"

namespace tipstaff {

// Cuts texts into pieces and n-grams. A sink has piece(number) and gram(hash).
template <class Sink>
class WordPieceSplitter {
 public:
  WordPieceSplitter(const WordPieces& table, Sink& sink) noexcept : table_(table), sink_(sink) {}

  void split(ByteView text) noexcept {
    std::int64_t at = 0;
    while (at < text.size) {
      const unsigned char byte = text.data[at];
      if (byte < 0x80) {
        ++at;
        take_ascii(byte, text, at);
      } else {
        take(classify_beyond_ascii(decode_utf8(text, at)));
      }
    }
    end_word();
  }

 private:
  static constexpr int room = 256;
  static constexpr std::int64_t pieces_of_unknown = 3;
  static constexpr std::uint32_t edge = ' ';

  static bool is_lower(unsigned char byte) noexcept {
    return static_cast<std::uint32_t>(byte) - 'a' < 26u;
  }

  // `next` is where the text continues.
  void take_ascii(unsigned char byte, ByteView text, std::int64_t next) noexcept {
    const std::uint32_t c = byte;
    if (is_lower(byte)) {
      push(byte);
      before_letter_ = Letter::lower;
    } else if (c - '0' < 10u) {
      push(byte);
      before_letter_ = Letter::lower;
      has_digit_ = true;
    } else if (c - 'A' < 26u) {
      // camelCase, and HTTPServer but not APIs.
      if (before_letter_ == Letter::lower ||
          (before_letter_ == Letter::upper && next + 1 < text.size && is_lower(text.data[next]) &&
           is_lower(text.data[next + 1]))) {
        end_word();
      }
      push(static_cast<unsigned char>(byte + 32));
      before_letter_ = Letter::upper;
    } else if (byte == '\'') {
      before_letter_ = Letter::joiner;
    } else {
      end_word();
    }
  }

  void take(Character character) noexcept {
    switch (character.kind) {
      case Letter::border: end_word(); return;
      case Letter::folded:
        push(static_cast<unsigned char>(character.code));
        has_digit_ = has_digit_ || character.code < 'a';
        if (character.second != 0) push(character.second);
        break;
      case Letter::alphabetic: push_foreign(character.code, Letter::alphabetic); break;
      case Letter::ideograph: push_foreign(character.code, Letter::ideograph); break;
      default: break;
    }
    before_letter_ = Letter::joiner;
  }

  void push(unsigned char letter) noexcept {
    if (script_ != Letter::border) end_foreign();
    if (size_ == room) {
      // All pieces that can no longer grow go; what is left is shorter than the longest piece.
      const int used = match(size_ - table_.longest);
      size_ -= used;
      std::memmove(word_, word_ + used, static_cast<std::size_t>(size_));
    }
    word_[size_++] = letter;
    latin_hash_ = fnv_step(latin_hash_, letter);
  }

  void end_word() noexcept {
    if (size_ > 0) {
      match(size_ - 1);
      if (pieces_ >= pieces_of_unknown && !has_digit_) sink_.gram(latin_hash_);
      size_ = 0;
      pieces_ = 0;
      continues_ = false;
      has_digit_ = false;
      latin_hash_ = word_basis;
    }
    if (script_ != Letter::border) end_foreign();
    before_letter_ = Letter::border;
  }

  // Matches pieces that start at `last` or before, and returns where the rest begins.
  int match(int last) noexcept {
    int start = 0;
    while (start <= last) {
      const int left = size_ - start < table_.longest ? size_ - start : table_.longest;
      std::uint64_t hashes[max_piece_length];
      std::uint64_t hash = continues_ ? continuation_basis : fnv_basis;
      for (int i = 0; i < left; ++i) hashes[i] = hash = fnv_step(hash, word_[start + i]);
      int size = left;
      for (; size > 0; --size) {
        const std::int64_t number = find_piece(table_, hashes[size - 1], word_ + start, size, continues_);
        if (number >= 0) {
          sink_.piece(number);
          ++pieces_;
          break;
        }
      }
      // A character without a piece is passed over, and what follows continues the word.
      start += size > 0 ? size : 1;
      continues_ = true;
    }
    return start;
  }

  void push_foreign(std::uint32_t code, Letter script) noexcept {
    if (size_ > 0 || (script_ != Letter::border && script_ != script)) end_word();
    if (script == Letter::ideograph) {
      sink_.gram(fnv_step(single_basis, code));
      if (script_ == script) sink_.gram(fnv_step(fnv_step(pair_basis, before_), code));
      before_ = code;
    } else {
      if (script_ == Letter::border) {
        whole_ = word_basis;
        before_ = edge;
      } else {
        sink_.gram(fnv_step(fnv_step(fnv_step(trigram_basis, earlier_), before_), code));
      }
      earlier_ = before_;
      before_ = code;
      whole_ = fnv_step(whole_, code);
    }
    script_ = script;
  }

  void end_foreign() noexcept {
    if (script_ == Letter::alphabetic) {
      sink_.gram(fnv_step(fnv_step(fnv_step(trigram_basis, earlier_), before_), edge));
      sink_.gram(whole_);
    }
    script_ = Letter::border;
  }

  const WordPieces& table_;
  Sink& sink_;
  unsigned char word_[room];
  int size_ = 0;
  std::int64_t pieces_ = 0;  // of the word under way, as are the next four
  bool continues_ = false;
  bool has_digit_ = false;
  std::uint64_t latin_hash_ = word_basis;
  Letter before_letter_ = Letter::border;  // the ASCII letter just before, if there was one
  Letter script_ = Letter::border;  // of the word of another script under way
  std::uint32_t earlier_ = edge;
  std::uint32_t before_ = edge;
  std::uint64_t whole_ = 0;
};

}  // namespace tipstaff

#endif
