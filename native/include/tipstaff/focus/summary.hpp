// A request on one line.
#ifndef TIPSTAFF_FOCUS_SUMMARY_HPP
#define TIPSTAFF_FOCUS_SUMMARY_HPP

#include <cstdint>
#include <cstring>

#include "tipstaff/focus/bytes.hpp"

namespace tipstaff {
namespace focus {

// Whether `collapse` would change nothing: ASCII, no white space but single spaces inside.
static inline bool is_line(ByteView text) noexcept {
  const std::int64_t n = text.size;
  Bytes x = text.data;
  if (n == 0) return true;
  unsigned wrong = static_cast<unsigned>(x[0] == ' ') | static_cast<unsigned>(x[n - 1] == ' ') |
                   static_cast<unsigned>(x[0] < ' ') | static_cast<unsigned>(x[0] >> 7);
  for (std::int64_t i = 1; i < n; ++i) {
    wrong |= static_cast<unsigned>(x[i] < ' ') | static_cast<unsigned>(x[i] >> 7) |
             (static_cast<unsigned>(x[i] == ' ') & static_cast<unsigned>(x[i - 1] == ' '));
  }
  return wrong == 0;
}

// The text's characters with each run of white space as one space, none at the ends: at most `room`
// bytes and `limit` characters. Tells whether there is more.
static inline bool collapse(ByteView text, unsigned char* out, std::int64_t limit, std::int64_t* size) noexcept {
  Bytes x = text.data;
  const Bytes end = x + text.size;
  std::int64_t characters = 0;
  unsigned char* write = out;
  bool gap = false;
  while (x < end) {
    int width = 1;
    bool blank = classes.of[*x] == space;
    if (*x >= 0x80) {
      std::uint32_t code;
      width = decode(x, end, &code);
      blank = is_wide_space(code);
    }
    if (blank) {
      gap = write != out;
    } else {
      const std::int64_t needed = gap ? 2 : 1;
      if (characters + needed > limit) {
        *size = write - out;
        return true;
      }
      if (gap) *write++ = ' ';
      for (int i = 0; i < width; ++i) *write++ = x[i];
      characters += needed;
      gap = false;
    }
    x += width;
  }
  *size = write - out;
  return false;
}

}  // namespace focus
}  // namespace tipstaff

#endif
