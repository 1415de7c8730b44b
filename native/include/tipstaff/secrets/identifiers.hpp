// Names as programs write them, which are not secrets: constants, types, members, headers, algorithms.
#ifndef TIPSTAFF_SECRETS_IDENTIFIERS_HPP
#define TIPSTAFF_SECRETS_IDENTIFIERS_HPP

#include <cstddef>
#include <cstdint>

#include "tipstaff/secrets/letters.hpp"

namespace tipstaff::secrets {

inline bool is_name(Bytes data) noexcept {
  if (!is_letter(data[0]) && data[0] != '_') return false;
  for (std::size_t i = 0; i < data.size; ++i) {
    if (!is_namely(data[i]) && data[i] != '.') return false;
  }
  return true;
}

// Whether a name with dots ends with words that can be pronounced: x25519.X25519PrivateKey, a.Package.Dir.
inline bool is_member(Bytes data, std::size_t digits) noexcept {
  // Velvet329.saffronY
  if (digits >= 3 && is_upper(data[0]) && is_upper(data[data.size - 1]) && is_lower(data[data.size - 2])) return false;
  std::size_t at = data.size;
  while (at > 0 && is_letter(data[at - 1])) --at;
  const Spoken spoken(data.part(at, data.size));
  return spoken.letters >= (digits == 0 ? 3u : 6u) && 10 * spoken.pronounceable >= 7 * spoken.letters;
}

// Whether it is a name as headers have it: Access-Control-Allow-Headers.
inline bool is_header(Bytes data, const Counts& counts, std::size_t least) noexcept {
  std::size_t dashes = 0;
  for (std::size_t i = 0; i < data.size; ++i) {
    if ((i == 0 || data[i - 1] == '-') && !is_upper(data[i])) return false;
    dashes += data[i] == '-';
  }
  return dashes >= least && data[data.size - 1] != '-' && counts.digit == 0 && counts.other == dashes &&
         counts.upper == dashes + 1;
}

// Whether signs join three short parts or more, each in one case: ALICE_cf_wap-wsg_secp160r1.
inline bool is_parts(Bytes data) noexcept {
  bool lower = false, upper = false;
  std::size_t size = 0, parts = 0;
  for (std::size_t i = 0; i <= data.size; ++i) {
    if (i == data.size || data[i] == '_' || data[i] == '-') {
      if (size == 0 || size > 10 || (lower && upper) || (parts == 0 && size < 2)) return false;
      lower = upper = false;
      size = 0;
      ++parts;
      continue;
    }
    lower = lower || is_lower(data[i]);
    upper = upper || is_upper(data[i]);
    if (parts == 0 && !is_letter(data[i])) return false;
    ++size;
  }
  return true;
}

// Whether hyphens join short words, each with a number or without: AES-128-CBC, ssh-ed448.
inline bool is_algorithm(Bytes data) noexcept {
  std::size_t letters = 0, digits = 0, parts = 0, named = 0;
  bool lower = false, upper = false;
  for (std::size_t i = 0; i <= data.size; ++i) {
    if (i == data.size || data[i] == '-') {
      if (letters + digits == 0 || letters > 10 || digits > (letters > 0 ? 3u : 4u) || (lower && upper)) return false;
      named += letters >= 2;
      letters = digits = 0;
      lower = upper = false;
      ++parts;
    } else if (is_letter(data[i])) {
      if (digits > 0) return false;
      ++letters;
      lower = lower || is_lower(data[i]);
      upper = upper || is_upper(data[i]);
    } else if (is_digit(data[i])) {
      ++digits;
    } else {
      return false;
    }
  }
  return parts >= 2 && parts <= 6 && named >= 1;
}

// Whether a number and words are joined by underscores, as migrations are named: 0007_auto_20171017_2214.
inline bool is_numbered(Bytes data) noexcept {
  if (data.size < 8 || data[4] != '_' || !is_lower(data[5])) return false;
  for (std::size_t i = 0; i < data.size; ++i) {
    if (i < 4 ? !is_digit(data[i]) : !is_lower(data[i]) && !is_digit(data[i]) && data[i] != '_') return false;
  }
  return true;
}

// Whether it is the name of a field of something: ipmi.user.pwd, mysql.caps.lp.
inline bool is_field(Bytes data) noexcept {
  bool begins = true, first = true;
  for (std::size_t i = 0; i < data.size; ++i) {
    if (data[i] == '.' && !begins) {
      begins = true;
      first = false;
      continue;
    }
    if (begins ? !is_letter(data[i]) : !is_namely(data[i])) return false;
    if (first && is_upper(data[i])) return false;
    begins = false;
  }
  return !first && !begins;
}

// Whether letters in both cases and digits are of no words: cRNwa_1BgWjDV5_k.
inline bool is_jumbled(Bytes data, const Counts& counts) noexcept {
  if (counts.lower == 0 || counts.upper == 0 || counts.digit == 0) return false;
  const Spoken spoken(data);
  return 2 * spoken.pronounceable < spoken.letters;
}

// Whether a value is a name as programs write them: a constant (TR31_E0_EMV_KEY), a type or a member of a structure
// (PrivateKeyTypes, ExclusiveStartShardId), of a list a name with underscores or a path.
inline bool is_identifier(Bytes data, const Value& value, Counts counts) noexcept {
  std::size_t lines = 0, slashes = 0, dashes = 0;
  if (!value.quoted && data[0] == '%') {  // %NL80211_ATTR_MAC: a constant, as comments of C name it
    data = data.part(1, data.size);
    --counts.other;
  }
  if (data.size < 3) return false;
  for (std::size_t i = 0; i < data.size; ++i) {
    lines += data[i] == '_';
    slashes += data[i] == '/';
    dashes += data[i] == '-';
  }
  if (data.size >= 4 && data[0] == '_' && data[1] == '_' && data[data.size - 1] == '_' && data[data.size - 2] == '_') {
    return counts.other == lines;  // __name__
  }
  const bool names = is_letter(data[0]) && counts.other == lines;
  if (data[0] == '_' && data[data.size - 1] == '_' && counts.other == lines && counts.lower == 0) return true;  // _DBPASS_
  if (lines >= 3 && counts.other == lines && counts.upper == 0) {  // s3_us_east_1_regional_endpoint
    const Spoken spoken(data);
    if (10 * spoken.pronounceable >= 8 * spoken.letters && spoken.letters >= 8) return true;
  }
  if (lines >= 2 && counts.other == lines + dashes && is_parts(data)) return true;
  if (names && counts.lower == 0 && lines >= (value.strict ? 1u : 2u) && 3 * counts.digit <= data.size) return true;
  if (names && lines == 0 && counts.digit == 0 && counts.upper >= 2 && counts.lower >= 3 * counts.upper) return true;
  if (names && lines == 0 && counts.upper >= 2 && is_lower(data[data.size - 2])) {
    static constexpr const char* kEndings[] = {"Key", "Keys", "Type", "Types", "Token", "Tokens", "Secret", "Secrets"};
    for (const char* const end : kEndings) {
      std::size_t size = 0;
      while (end[size] != 0) ++size;
      if (data.size < size + 6) continue;
      bool same = true;
      for (std::size_t i = 0; i < size; ++i) same = same && data[data.size - size + i] == static_cast<Byte>(end[i]);
      if (same) return true;
    }
  }
  if (!value.quoted && is_name(data) && is_member(data, counts.digit)) {
    for (std::size_t i = 0; i < data.size; ++i) {
      if (data[i] == '.') return true;
    }
  }
  if (!value.strict) return false;
  if (is_field(data) || is_algorithm(data) || is_numbered(data)) return true;
  return is_header(data, counts, 1) || (counts.other == lines && lines >= 2 && 5 * counts.digit <= data.size && !is_jumbled(data, counts)) ||
         (data[0] == '/' && counts.digit == 0 && counts.other == lines + slashes);
}

// Whether hyphens, two or more, join words and numbers, each whole: files-api-2025-04-14.
inline bool is_dated(Bytes data) noexcept {
  std::size_t start = 0, dashes = 0;
  bool pronounceable = false;
  for (std::size_t i = 0; i <= data.size; ++i) {
    if (i < data.size && data[i] != '-') {
      if (!is_lower(data[i]) && !is_digit(data[i])) return false;
      if (i > start && is_digit(data[i]) != is_digit(data[i - 1])) return false;
      continue;
    }
    if (i == start) return false;
    pronounceable = pronounceable || (i - start >= 4 && is_lower(data[start]) && is_pronounceable(data.part(start, i)));
    dashes += i < data.size;
    start = i + 1;
  }
  return pronounceable && dashes >= 2;
}

// Whether a value reads as the name of something: Name.Builtin.Pseudo, one of a list of names (ad_dc_ntvfs:local).
inline bool is_name_like(Bytes data, std::size_t digits, bool strict, bool word) noexcept {
  bool names = true, joint = false, small = true;
  for (std::size_t i = 0; i < data.size; ++i) {
    const Byte c = data[i];
    small = small && (is_lower(c) || one_of(c, "_.:-"));
    names = names && ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_');
    joint = joint || c == '.' || c == ':' || c == '_';
  }
  if (strict && ((names && (digits == 0 || (digits == 1 && is_wordy(data)))) || (small && joint))) return true;
  return word && digits == 0 && data.size < 48 && joint;
}

}  // namespace tipstaff::secrets

#endif
