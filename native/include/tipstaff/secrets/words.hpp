// Lists of words, and what else judging reads of a table.
#ifndef TIPSTAFF_SECRETS_WORDS_HPP
#define TIPSTAFF_SECRETS_WORDS_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tipstaff/secrets/bytes.hpp"

namespace tipstaff::secrets {

// One list of words, sorted by first byte, in lower case.
struct Words {
  const Byte* index;  // u16[257]
  const Byte* words;  // all words of the table: u32 position, u16 length, u16 list
  const Byte* names;

  // Number of the list's first word that begins with `byte` or a later one.
  std::uint32_t first(std::uint32_t byte) const noexcept { return load16(index + 2 * byte); }
  Bytes word(std::uint32_t number) const noexcept {
    const Byte* x = words + 8 * std::size_t{number};
    return {names + load32(x), load16(x + 4)};
  }
  // Whether a word of the list begins at `text` and ends within it.
  bool begins(Bytes text) const noexcept {
    if (text.size == 0) return false;
    const std::uint32_t byte = lower(text[0]);
    for (std::uint32_t n = first(byte), end = first(byte + 1); n < end; ++n) {
      const Bytes known = word(n);
      if (known.size > text.size) continue;
      std::size_t i = 1;
      while (i < known.size && lower(text[i]) == known[i]) ++i;
      if (i == known.size) return true;
    }
    return false;
  }
  // Length of the longest word that begins at `text`, 0 for none.
  std::size_t longest(Bytes text) const noexcept {
    if (text.size == 0) return 0;
    std::size_t most = 0;
    const std::uint32_t byte = lower(text[0]);
    for (std::uint32_t n = first(byte), end = first(byte + 1); n < end; ++n) {
      const Bytes known = word(n);
      if (known.size <= text.size && known.size > most && std::memcmp(known.data, text.data, known.size) == 0) {
        most = known.size;
      }
    }
    return most;
  }
  bool within(Bytes text) const noexcept {
    for (std::size_t at = 0; at < text.size; ++at) {
      if (begins(text.part(at, text.size))) return true;
    }
    return false;
  }
  bool equals(Bytes text) const noexcept {
    if (text.size == 0) return false;
    const std::uint32_t byte = lower(text[0]);
    for (std::uint32_t n = first(byte), end = first(byte + 1); n < end; ++n) {
      const Bytes known = word(n);
      if (known.size != text.size) continue;
      std::size_t i = 1;
      while (i < known.size && lower(text[i]) == known[i]) ++i;
      if (i == known.size) return true;
    }
    return false;
  }
  bool ends(Bytes text) const noexcept {
    for (std::uint32_t n = first(0), end = first(256); n < end; ++n) {
      const Bytes known = word(n);
      if (known.size > text.size) continue;
      const Byte* tail = text.data + (text.size - known.size);
      std::size_t i = 0;
      while (i < known.size && lower(tail[i]) == known[i]) ++i;
      if (i == known.size) return true;
    }
    return false;
  }
};

// Numbers of the lists.
enum List : std::uint32_t {
  placeholder = 0,
  plain_value,
  about_after,
  about_before,
  secret_names,
  references,
  file_endings,
  known_passwords,
  introducers,
  obvious,
  trial_values,
  local_hosts,
  trial_paths,
  sample_hosts,
  letter_odds,
  vector_names,
  source_endings,
  vector_labels,
  field_names,
  holders,
  copulas,
  wallet_words,
  wallet_samples,
  joined_copulas,
  foreign_names,
  fixed_lists,
};

enum Judge : Byte { judge_none = 0, judge_password, judge_secret, judge_token, judge_quoted, judge_unquoted };

inline constexpr std::uint32_t log_count = 1025;

// What judging reads of a table.
struct Knowledge {
  const Byte* lists;
  const Byte* words;
  const Byte* names;
  const Byte* logs;  // u32[1025]: logarithms to base 2, in 1/65536

  Words list(std::uint32_t number) const noexcept { return {lists + 514 * std::size_t{number}, words, names}; }
  std::uint64_t log(std::size_t n) const noexcept { return load32(logs + 4 * n); }
};

}  // namespace tipstaff::secrets

#endif
