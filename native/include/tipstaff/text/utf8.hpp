// Writes code points in UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tipstaff {

// Returns the bytes written, at most 4.
template <typename Byte>
inline std::size_t write_utf8(std::uint32_t c, Byte* out) noexcept {
  if (c < 0x80) return out[0] = static_cast<Byte>(c), 1;
  if (c < 0x800) return out[0] = static_cast<Byte>(0xC0 | c >> 6), out[1] = static_cast<Byte>(0x80 | (c & 63)), 2;
  std::size_t size = 0;
  if (c < 0x10000) {
    out[size++] = static_cast<Byte>(0xE0 | c >> 12);
  } else {
    out[size++] = static_cast<Byte>(0xF0 | (c >> 18 & 7));
    out[size++] = static_cast<Byte>(0x80 | (c >> 12 & 63));
  }
  out[size++] = static_cast<Byte>(0x80 | (c >> 6 & 63));
  out[size++] = static_cast<Byte>(0x80 | (c & 63));
  return size;
}

}  // namespace tipstaff
