// Words of a text in lower case, what a lexicon says of them, and their stems.
//
// A text is ASCII, or UTF-8 whose words were set apart and lowered before: bytes above 127 are
// letters here.
#ifndef TIPSTAFF_TEXT_WORDS_HPP
#define TIPSTAFF_TEXT_WORDS_HPP

#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "tipstaff/text/text.hpp"

namespace tipstaff {

enum : unsigned char { letter_byte = 1, digit_byte = 2, space_byte = 4, mark_byte = 8 };

struct ByteTables {
  unsigned char kind[256];
  unsigned char lower[256];
};

constexpr ByteTables make_byte_tables() noexcept {
  ByteTables tables{};
  for (int c = 0; c < 256; ++c) {
    const bool upper = c >= 'A' && c <= 'Z';
    tables.lower[c] = static_cast<unsigned char>(upper ? c + 32 : c);
    if (upper || (c >= 'a' && c <= 'z') || c >= 0x80) tables.kind[c] = letter_byte;
    if (c >= '0' && c <= '9') tables.kind[c] = digit_byte;
    if (c == ' ' || (c >= 9 && c <= 13) || (c >= 28 && c <= 31)) tables.kind[c] = space_byte;
  }
  for (const char c : {',', ';', ':', '.', '!', '?', '-'}) {
    tables.kind[static_cast<unsigned char>(c)] = mark_byte;
  }
  return tables;
}

inline constexpr ByteTables byte_tables = make_byte_tables();

// A lowered text ends with so many zeros, so that whoever reads it, or `lexicon_word_bytes` from any
// word on, need not ask where it ends.
constexpr std::int64_t padding = 24;

// Lower-case ASCII letters; emphasis and code marks go where clauses are read. `out` has room for the
// text and its padding.
static inline ByteView lowered(ByteView text, bool without_emphasis, unsigned char* out) noexcept {
  std::int64_t size = 0;
  if (without_emphasis) {
    for (std::int64_t i = 0; i < text.size; ++i) {
      const unsigned char c = text.data[i];
      out[size] = byte_tables.lower[c];
      size += c != '*' && c != '`';
    }
  } else {
    for (; size < text.size; ++size) {
      const unsigned c = text.data[size];
      out[size] = static_cast<unsigned char>(c + (c - 'A' < 26u ? 32u : 0u));
    }
  }
  for (std::int64_t i = 0; i < padding; ++i) out[size + i] = 0;
  return {out, size};
}

enum class Token : int { none, word, comma, stop };

// The next word of a lowered text from `at`, which moves past it; with `marks` also the commas and
// stops that white space or the text's end follows; a stop may have a comma after it ("e.g.,"). A word is a run of letters and digits with
// apostrophes inside; a version number ("1.3") is one word.
static inline Token next_token(ByteView text, bool marks, std::int64_t& at, ByteView& word) noexcept {
  constexpr int in_word = letter_byte | digit_byte;
  const unsigned char* x = text.data;
  const unsigned char* kinds = byte_tables.kind;
  const std::int64_t n = text.size;
  std::int64_t i = at;
  for (;; ++i) {
    while ((kinds[x[i]] & in_word) == 0 && i < n && (!marks || kinds[x[i]] != mark_byte)) ++i;
    if (i >= n) {
      at = n;
      return Token::none;
    }
    if ((kinds[x[i]] & in_word) != 0) break;
    std::int64_t after = i + 1;
    const auto ends = [&](std::int64_t j) noexcept { return j >= n || kinds[x[j]] == space_byte; };
    if (x[i] == '-') {
      if (i == 0 || kinds[x[i - 1]] != space_byte) continue;
      if (x[after] == '-') ++after;
      if (kinds[x[after]] != space_byte) continue;
    } else if (!ends(after) && !(x[i] != ',' && x[after] == ',' && ends(after + 1))) {
      continue;
    }
    at = after;
    return x[i] == ',' ? Token::comma : Token::stop;
  }
  std::int64_t j = i;
  while (kinds[x[j]] == digit_byte) ++j;
  if (j > i && x[j] == '.' && kinds[x[j + 1]] == digit_byte) {
    while (x[j] == '.' && kinds[x[j + 1]] == digit_byte) {
      for (++j; kinds[x[j]] == digit_byte;) ++j;
    }
  } else {
    while ((kinds[x[j]] & in_word) != 0) ++j;
    while (x[j] == '\'' && (kinds[x[j + 1]] & in_word) != 0) {
      for (++j; (kinds[x[j]] & in_word) != 0;) ++j;
    }
  }
  word = {x + i, j - i};
  at = j;
  return Token::word;
}

constexpr std::uint64_t fnv_start = 0xcbf29ce484222325u;

static inline std::uint64_t fnv(ByteView bytes, std::uint64_t hash = fnv_start) noexcept {
  for (std::int64_t i = 0; i < bytes.size; ++i) hash = (hash ^ bytes.data[i]) * fnv_prime;
  return hash;
}

constexpr std::int64_t lexicon_word_bytes = 24;
static_assert(padding >= lexicon_word_bytes, "a word at a text's end is read in one go");
constexpr std::int64_t lexicon_header_bytes = 16;

// One slot of the table in a lexicon: little-endian, without gaps.
struct LexiconEntry {
  std::uint64_t word[lexicon_word_bytes / 8];  // its bytes and zeros; the first is zero where nothing is
  std::uint64_t value;
  std::uint64_t stem;  // hash of the word's stem
};
static_assert(sizeof(LexiconEntry) == 40, "as tipstaff.kernels.formats.lexicon writes it");

// Where a word is looked for first: the highest bits of a sum of products.
static inline std::uint64_t lexicon_slot(const std::uint64_t* word, std::uint64_t mask) noexcept {
  const std::uint64_t mixed = word[0] * 0x9E3779B97F4A7C15u + word[1] * 0xC2B2AE3D27D4EB4Fu +
                              word[2] * 0x165667B19E3779F9u;
  return mixed >> 44 & mask;
}

// A lexicon in memory that the caller owns: a hash table with linear probing.
struct Lexicon {
  const unsigned char* slots = nullptr;
  std::uint64_t mask = 0;
};

// False if the bytes are no lexicon.
static inline bool open_lexicon(ByteView bytes, Lexicon* lexicon) noexcept {
  if (bytes.size < lexicon_header_bytes || std::memcmp(bytes.data, "TLX1\r\n\x1a\n", 8) != 0) return false;
  std::uint64_t slots;
  std::memcpy(&slots, bytes.data + 8, 8);
  if (slots == 0 || slots > (1u << 20) || (slots & (slots - 1)) != 0) return false;
  const auto size = static_cast<std::int64_t>(slots * sizeof(LexiconEntry));
  if (bytes.size != lexicon_header_bytes + size) return false;
  *lexicon = {bytes.data + lexicon_header_bytes, slots - 1};
  return true;
}

// What a lexicon says of a word, and the hash of its stem as far as the lexicon knows it.
struct Meaning {
  bool known;
  std::uint64_t value;
  std::uint64_t stem;
};

// Of a word in a lowered text.
static inline Meaning look_up(const Lexicon& lexicon, ByteView word) noexcept {
  if (word.size > lexicon_word_bytes || word.size == 0) return {false, 0, 0};
  std::uint64_t wanted[lexicon_word_bytes / 8];
  std::memcpy(wanted, word.data, sizeof wanted);
  for (int i = 0; i < 3; ++i) {
    const std::int64_t own = word.size - 8 * i;
    if (own < 8) wanted[i] &= own <= 0 ? 0 : (std::uint64_t{1} << (8 * own)) - 1;
  }
  std::uint64_t slot = lexicon_slot(wanted, lexicon.mask);
  // A damaged table may have no empty slot.
  for (std::uint64_t tried = 0; tried <= lexicon.mask; ++tried, slot = (slot + 1) & lexicon.mask) {
    LexiconEntry entry;
    std::memcpy(&entry, lexicon.slots + slot * sizeof entry, sizeof entry);
    if (entry.word[0] == 0) break;
    if (entry.word[0] == wanted[0] && entry.word[1] == wanted[1] && entry.word[2] == wanted[2]) {
      return {true, entry.value, entry.stem};
    }
  }
  return {false, 0, 0};
}

// The value of a word; of one with apostrophes that the lexicon does not list, those of its parts.
static inline std::uint64_t value_of(const Lexicon& lexicon, ByteView word) noexcept {
  const Meaning found = look_up(lexicon, word);
  if (found.known || std::memchr(word.data, '\'', static_cast<std::size_t>(word.size)) == nullptr) {
    return found.value;
  }
  std::uint64_t value = 0;
  std::int64_t start = 0;
  for (std::int64_t i = 0; i <= word.size; ++i) {
    if (i < word.size && word.data[i] != '\'') continue;
    value |= look_up(lexicon, {word.data + start, i - start}).value;
    start = i + 1;
  }
  return value;
}

// A word's stem: its first bytes, and perhaps one letter more.
struct Stem {
  std::int64_t size;
  unsigned char more;  // 0 for none
};

static inline bool is_vowel(unsigned char c) noexcept {
  return c == 'a' || c == 'e' || c == 'i' || c == 'o' || c == 'u' || c == 'y';
}

static inline int vowel_groups(const unsigned char* word, std::int64_t size) noexcept {
  int groups = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    groups += is_vowel(word[i]) && (i == 0 || !is_vowel(word[i - 1]));
  }
  return groups;
}

static inline bool one_of(unsigned char c, const char* letters) noexcept {
  return c != 0 && std::strchr(letters, c) != nullptr;
}

// The verb that -ing or -ed was added to, given what is left of it.
static inline Stem without_suffix(const unsigned char* word, std::int64_t size) noexcept {
  const unsigned char last = word[size - 1];
  if (size > 3 && last == word[size - 2] && !one_of(last, "aeiouslfz")) return {size - 1, 0};
  if (size == 2 && !is_vowel(last)) return {size, 'e'};
  const bool single = size >= 3 && !one_of(last, "aeiouwxy") && is_vowel(word[size - 2]) &&
                      !is_vowel(word[size - 3]);
  if (single && vowel_groups(word, size) == 1) return {size, 'e'};
  return {size, 0};
}

// The stem of a lower-case word that has neither an apostrophe nor an entry in the lexicon.
static inline Stem regular_stem(ByteView text) noexcept {
  const unsigned char* word = text.data;
  std::int64_t n = text.size;
  if (n <= 3) return {n, 0};
  for (std::int64_t i = 0; i < n; ++i) {
    if (word[i] < 'a' || word[i] > 'z') return {n, 0};
  }
  const auto ends = [&](const char* suffix, std::int64_t size) noexcept {
    return n >= size && std::memcmp(word + n - size, suffix, static_cast<std::size_t>(size)) == 0;
  };
  Stem stem{n, 0};
  if (word[n - 1] == 's') {
    if (ends("ies", 3) && n > 4) {
      stem = {n - 3, 'y'};
    } else if (ends("sses", 4) || ends("xes", 3) || ends("shes", 4) || ends("zzes", 4)) {
      stem = {n - 2, 0};
    } else if (!ends("ss", 2) && !ends("us", 2) && !ends("is", 2)) {
      stem = {n - 1, 0};
    }
  } else if (ends("ing", 3)) {
    if (vowel_groups(word, n - 3) > 0) stem = without_suffix(word, n - 3);
  } else if (ends("ied", 3) && n > 4) {
    stem = {n - 3, 'y'};
  } else if (ends("ed", 2) && !ends("eed", 3) && vowel_groups(word, n - 2) > 0) {
    stem = without_suffix(word, n - 2);
  }
  // What -ing hides must be hidden everywhere: the silent e (merg(e)) and the British ll.
  const std::int64_t size = stem.size + (stem.more != 0);
  if (size > 4) {
    const unsigned char last = stem.more != 0 ? stem.more : word[stem.size - 1];
    const unsigned char before = stem.more != 0 ? word[stem.size - 1] : word[stem.size - 2];
    const bool silent = last == 'e' && before != 'e';
    if (silent || (last == 'l' && before == 'l' && vowel_groups(word, stem.size) > 1)) {
      if (stem.more != 0) {
        stem.more = 0;
      } else {
        --stem.size;
      }
    }
  }
  return stem;
}

// The hash of a word's stem; `found` is what the lexicon says of the word.
static inline std::uint64_t stem_hash(const Lexicon& lexicon, ByteView word, const Meaning& found) noexcept {
  if (found.known) return found.stem;
  if (word.size > 2 && word.data[word.size - 1] == 's' && word.data[word.size - 2] == '\'') {
    word.size -= 2;
    const Meaning bare = look_up(lexicon, word);
    if (bare.known) return bare.stem;
  }
  const Stem stem = regular_stem(word);
  const std::uint64_t hash = fnv({word.data, stem.size});
  return stem.more != 0 ? fnv({&stem.more, 1}, hash) : hash;
}

}  // namespace tipstaff

#endif
