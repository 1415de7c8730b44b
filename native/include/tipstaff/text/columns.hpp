// A column of texts, and what is read from each: the values of its words, and the words themselves.
#ifndef TIPSTAFF_TEXT_COLUMNS_HPP
#define TIPSTAFF_TEXT_COLUMNS_HPP

#include <cstdint>
#include <cstring>
#include <vector>

#include "tipstaff/text/words.hpp"

namespace tipstaff {

// Strings one after another: text i is data[offsets[i] .. offsets[i + 1]).
struct TextColumn {
  const std::int32_t* offsets;
  std::int64_t count;
  ByteView data;

  ByteView operator[](std::int64_t i) const noexcept {
    return {data.data + offsets[i], offsets[i + 1] - offsets[i]};
  }
};

// The first text whose offsets are not in order within the data, -1 for none.
static inline std::int64_t misplaced(const TextColumn& texts) noexcept {
  if (texts.offsets[0] < 0) return 0;
  for (std::int64_t i = 0; i < texts.count; ++i) {
    if (texts.offsets[i + 1] < texts.offsets[i] || texts.offsets[i + 1] > texts.data.size) return i;
  }
  return -1;
}

// The values of all words of a text, joined bit by bit. `lower` has room for the text and its padding.
static inline std::uint64_t text_value(const Lexicon& lexicon, ByteView raw, unsigned char* lower) noexcept {
  const ByteView text = lowered(raw, false, lower);
  std::uint64_t value = 0;
  std::int64_t at = 0;
  ByteView word{nullptr, 0};
  while (next_token(text, false, at, word) == Token::word) value |= value_of(lexicon, word);
  return value;
}

// For each text the joined values of its first `max_words` words, and all its words in lower case, a
// space between two: those of text i end at ends[i + 1] of `joined`. May throw std::bad_alloc.
static inline void read_column(const Lexicon& lexicon, const TextColumn& texts, std::int64_t max_words,
                               std::vector<std::uint64_t>* values, std::vector<unsigned char>* joined,
                               std::vector<std::int64_t>* ends) {
  const auto size = static_cast<std::size_t>(texts.data.size);
  std::vector<unsigned char> lower(size + padding);
  joined->resize(2 * size);  // a word has a letter of its own, and takes one space at most
  values->assign(static_cast<std::size_t>(texts.count), 0);
  ends->assign(1, 0);
  ends->reserve(static_cast<std::size_t>(texts.count) + 1);
  std::int64_t out = 0;
  for (std::int64_t i = 0; i < texts.count; ++i) {
    const ByteView text = lowered(texts[i], false, lower.data());
    std::uint64_t value = 0;
    std::int64_t at = 0;
    ByteView word{nullptr, 0};
    for (std::int64_t k = 0; next_token(text, false, at, word) == Token::word; ++k) {
      if (k < max_words) value |= value_of(lexicon, word);
      if (k > 0) (*joined)[static_cast<std::size_t>(out++)] = ' ';
      std::memcpy(joined->data() + out, word.data, static_cast<std::size_t>(word.size));
      out += word.size;
    }
    (*values)[static_cast<std::size_t>(i)] = value;
    ends->push_back(out);
  }
}

}  // namespace tipstaff

#endif
