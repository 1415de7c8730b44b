// What the bytes of a value are made of: kinds of letters, repeats, entropy, pieces that can be pronounced.
#ifndef TIPSTAFF_SECRETS_LETTERS_HPP
#define TIPSTAFF_SECRETS_LETTERS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tipstaff/secrets/bytes.hpp"
#include "tipstaff/secrets/words.hpp"

namespace tipstaff::secrets {

// A value, and how it is in the text; see the Python twin.
struct Value {
  std::size_t start = 0;
  std::size_t end = 0;
  bool quoted = false;
  bool tight = false;
  bool ends_line = false;
  bool strict = false;
  bool wrapped = false;
  bool prose = false;
};

inline bool is_hexadecimal(Bytes data) noexcept {
  for (std::size_t i = 0; i < data.size; ++i) {
    if (!is_hex(data[i])) return false;
  }
  return true;
}

struct Counts {
  std::size_t lower = 0, upper = 0, digit = 0, other = 0, distinct = 0, changes = 0;
};

inline Counts counts_of(Bytes data) noexcept {
  Counts counts;
  std::uint64_t seen[4] = {0, 0, 0, 0};
  int last = -1;
  for (std::size_t i = 0; i < data.size; ++i) {
    const Byte c = data[i];
    int kind = 3;
    if (is_lower(c)) {
      kind = 0;
      ++counts.lower;
    } else if (is_upper(c)) {
      kind = 1;
      ++counts.upper;
    } else if (is_digit(c)) {
      kind = 2;
      ++counts.digit;
    } else {
      ++counts.other;
    }
    counts.changes += last >= 0 && last != kind;
    last = kind;
    seen[c >> 6] |= std::uint64_t{1} << (c & 63);
  }
  for (const std::uint64_t word : seen) counts.distinct += static_cast<std::size_t>(__builtin_popcountll(word));
  return counts;
}

// Whether the entropy of the first 1024 bytes is at least `least`, in 1/65536 bits per byte.
inline bool entropy_holds(Bytes data, std::uint32_t least, const Knowledge& known) noexcept {
  const std::size_t size = data.size < log_count - 1 ? data.size : log_count - 1;
  if (least == 0 || size == 0) return least == 0;
  std::uint16_t histogram[256] = {};
  for (std::size_t i = 0; i < size; ++i) ++histogram[data[i]];
  std::uint64_t spent = 0;
  for (const std::uint16_t n : histogram) {
    if (n != 0) spent += n * known.log(n);
  }
  const std::uint64_t whole = size * known.log(size);
  return whole >= spent && whole - spent >= std::uint64_t{least} * size;
}

inline bool is_repeated(Bytes data) noexcept {
  const std::size_t size = data.size;
  std::size_t longest = 1;
  std::size_t run = 1;
  for (std::size_t i = 1; i < size; ++i) {
    run = data[i] == data[i - 1] ? run + 1 : 1;
    if (run > longest) longest = run;
  }
  if ((longest >= 6 && 4 * longest >= size) || longest >= 12) return true;
  if (size < 4) return false;
  for (std::size_t period = 1; period <= 32 && 2 * period <= size; ++period) {
    if (std::memcmp(data.data, data.data + period, size - period) == 0) return true;
  }
  return false;
}

inline bool is_sequence(Bytes data) noexcept {
  std::size_t longest = 1, run = 1, down = 0, counted = 0;
  for (std::size_t i = 1; i < data.size; ++i) {
    const int step = data[i] - data[i - 1];
    run = step == 1 ? run + 1 : 1;
    down = step == -1 ? down + 1 : 0;
    if (run > longest) longest = run;
    counted += run == 4 || down == 3 ? 4 : run > 4 || down > 3;
  }
  // Six that count up over a third of it, or runs of four up or down that make it whole: 1234abcd8765.
  return (longest >= 6 && 3 * longest >= data.size) || counted == data.size;
}

inline bool is_pronounceable(Bytes piece) noexcept {
  std::size_t vowels = 0;
  std::size_t run = 0;
  std::size_t longest = 0;
  bool last = false;
  for (std::size_t i = 0; i < piece.size; ++i) {
    if ((piece[i] | 0x20) == 'q' && !(i + 1 < piece.size && (piece[i + 1] | 0x20) == 'u')) return false;
    const bool vowel = is_vowel(piece[i]);
    vowels += vowel;
    run = vowel == last ? run + 1 : 1;
    last = vowel;
    if (run > longest) longest = run;
  }
  return vowels > 0 && longest <= 4 && 6 * vowels >= piece.size;
}

// Where the piece of a name ends that begins with the letter at `at`: capitals, or a word.
inline std::size_t piece_end(Bytes data, std::size_t at) noexcept {
  const std::size_t start = at++;
  if (is_upper(data[start]) && at < data.size && is_upper(data[at])) {
    while (at < data.size && is_upper(data[at])) ++at;
  } else {
    while (at < data.size && is_lower(data[at])) ++at;
  }
  return at;
}

// How many letters there are, and how many of them are in pieces of three or more that can be pronounced.
struct Spoken {
  std::size_t letters = 0, pronounceable = 0, digits = 0;

  explicit Spoken(Bytes data) noexcept {
    for (std::size_t at = 0; at < data.size;) {
      if (!is_letter(data[at])) {
        digits += is_digit(data[at++]);
        continue;
      }
      const std::size_t start = at;
      at = piece_end(data, at);
      letters += at - start;
      if (at - start >= 3 && is_pronounceable(data.part(start, at))) pronounceable += at - start;
    }
  }
};

// That a capital begins a word is not a change of kinds.
inline bool is_wordy(Bytes data) noexcept {
  std::size_t capitals = 0;
  for (std::size_t i = 0; i + 1 < data.size; ++i) capitals += is_upper(data[i]) && is_lower(data[i + 1]);
  if (3 * (counts_of(data).changes - capitals) >= data.size) return false;
  const Spoken spoken(data);
  return 5 * spoken.digits <= data.size && spoken.letters > 0 && 10 * spoken.pronounceable >= 7 * spoken.letters;
}

inline constexpr std::size_t least_random = 16, most_random = 256;

// Whether letters and digits follow each other so unlike they do in names that the value is random beyond doubt: the sum
// of the odds of its pairs (packs/secrets/words.toml) is below -1/2 nat a byte.
inline bool is_random(Bytes data, const Counts& counts, const Knowledge& known) noexcept {
  if (data.size < least_random || data.size > most_random || 5 * counts.other > data.size) return false;
  const Words odds = known.list(letter_odds);
  const auto of = [&](Byte row, std::size_t column, std::size_t columns) noexcept {
    const std::uint32_t number = odds.first(row);
    if (number >= odds.first(row + 1u)) return 0;
    const Bytes word = odds.word(number);
    return word.size == columns + 1 ? int{word[column + 1]} - 'n' : 0;
  };
  const auto kind_of = [](Byte c) noexcept -> std::size_t { return is_lower(c) ? 0 : is_upper(c) ? 1 : is_digit(c) ? 2 : 3; };
  int sum = 0;
  std::size_t last = kind_of(data[0]);
  for (std::size_t i = 1; i < data.size; ++i) {
    const std::size_t kind = kind_of(data[i]);
    if (last < 3 && kind < 3) {
      sum += of(static_cast<Byte>('0' + last), kind, 3);
      // After a small letter, a capital begins the next word.
      if (last < 2 && kind < 2 && (last != 0 || kind != 1)) sum += of(lower(data[i - 1]), lower(data[i]) - std::size_t{'a'}, 26);
    }
    last = kind;
  }
  return sum + static_cast<int>(data.size) <= 0;
}

// Whether words that begin with capitals, and numbers, are one name: Curve25519Public, azuread.AzureADOAuth2.
inline bool is_compound(Bytes data, const Counts& counts) noexcept {
  if (counts.upper < 2 || counts.lower < counts.upper) return false;
  for (std::size_t i = 0; i < data.size; ++i) {
    if (!is_namely(data[i]) && data[i] != '.') return false;
  }
  const Spoken spoken(data);
  return spoken.letters >= 8 && 10 * spoken.pronounceable >= 9 * spoken.letters;
}

}  // namespace tipstaff::secrets

#endif
