// Whole words of a command, a path or the name of a host, compared without regard to case.
#ifndef TIPSTAFF_SECRETS_TRIALS_WORDS_HPP
#define TIPSTAFF_SECRETS_TRIALS_WORDS_HPP

#include <cstddef>
#include <cstring>

#include "tipstaff/secrets/values.hpp"

namespace tipstaff::secrets {

namespace trials {

inline Bytes unquoted(Bytes word) noexcept {
  while (word.size > 0 && one_of(word[0], "\"'`")) word = word.part(1, word.size);
  while (word.size > 0 && one_of(word[word.size - 1], "\"'`")) --word.size;
  return word;
}
inline bool is_word(Bytes text, const char* word) noexcept {
  const std::size_t n = std::strlen(word);
  if (text.size != n) return false;
  for (std::size_t i = 0; i < n; ++i)
    if (lower(text[i]) != static_cast<Byte>(word[i])) return false;
  return true;
}
template <std::size_t count>
bool is_any(Bytes text, const char* const (&words)[count]) noexcept {
  for (const char* const word : words)
    if (is_word(text, word)) return true;
  return false;
}
inline bool ends_with(Bytes text, const char* word) noexcept {
  const std::size_t n = std::strlen(word);
  return text.size >= n && is_word(text.part(text.size - n, text.size), word);
}

}  // namespace trials

}  // namespace tipstaff::secrets

#endif
