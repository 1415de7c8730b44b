// The functions on bytes that compilers and headers call by name, for a program without a C library.
//
// SSE2, which every x86-64 processor has. None reads or writes outside what it was given. Short texts,
// which is what a hook has, take a few instructions; long ones the processor's own string moves.
#ifndef TIPSTAFF_HOOK_MEMORY_HPP
#define TIPSTAFF_HOOK_MEMORY_HPP

#include <emmintrin.h>

#include <cstddef>
#include <cstdint>

namespace tipstaff::hook::memory {

// From here on the processor's string moves are the faster.
inline constexpr std::size_t kLong = 512;

template <class Number>
inline Number load(const unsigned char* from) noexcept {
  Number number;
  __builtin_memcpy(&number, from, sizeof number);
  return number;
}
template <class Number>
inline void store(unsigned char* to, Number number) noexcept {
  __builtin_memcpy(to, &number, sizeof number);
}
inline __m128i load16(const unsigned char* from) noexcept { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); }
inline void store16(unsigned char* to, __m128i bytes) noexcept { _mm_storeu_si128(reinterpret_cast<__m128i*>(to), bytes); }

// Up to 32 bytes: all are read before any is written, so the two may overlap.
inline void move_short(unsigned char* to, const unsigned char* from, std::size_t size) noexcept {
  if (size >= 16) {
    const __m128i first = load16(from), last = load16(from + size - 16);
    store16(to, first);
    store16(to + size - 16, last);
  } else if (size >= 8) {
    const auto first = load<std::uint64_t>(from), last = load<std::uint64_t>(from + size - 8);
    store(to, first);
    store(to + size - 8, last);
  } else if (size >= 4) {
    const auto first = load<std::uint32_t>(from), last = load<std::uint32_t>(from + size - 4);
    store(to, first);
    store(to + size - 4, last);
  } else if (size != 0) {
    const unsigned char first = from[0], middle = from[size / 2], last = from[size - 1];
    to[0] = first;
    to[size / 2] = middle;
    to[size - 1] = last;
  }
}

// Copies forwards; right where the target begins before the source, or they do not overlap.
inline void copy(unsigned char* to, const unsigned char* from, std::size_t size) noexcept {
  if (size <= 32) return move_short(to, from, size);
  if (size >= kLong) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
    return;
  }
  const __m128i last = load16(from + size - 16);
  for (std::size_t at = 0; at + 16 < size; at += 16) store16(to + at, load16(from + at));
  store16(to + size - 16, last);
}

inline void move(unsigned char* to, const unsigned char* from, std::size_t size) noexcept {
  const std::size_t apart = static_cast<std::size_t>(to - from);  // wraps where the target begins first
  if (apart >= size) return copy(to, from, size);
  if (size <= 32) return move_short(to, from, size);
  const __m128i first = load16(from);
  for (std::size_t at = size; at > 16; at -= 16) store16(to + at - 16, load16(from + at - 16));
  store16(to, first);
}

inline void fill(unsigned char* to, unsigned char byte, std::size_t size) noexcept {
  if (size >= kLong) {
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(byte) : "memory");
    return;
  }
  if (size >= 16) {
    const __m128i bytes = _mm_set1_epi8(static_cast<char>(byte));
    for (std::size_t at = 0; at + 16 < size; at += 16) store16(to + at, bytes);
    store16(to + size - 16, bytes);
    return;
  }
  const std::uint64_t bytes = byte * std::uint64_t{0x0101010101010101};
  if (size >= 8) {
    store(to, bytes);
    store(to + size - 8, bytes);
  } else if (size >= 4) {
    store(to, static_cast<std::uint32_t>(bytes));
    store(to + size - 4, static_cast<std::uint32_t>(bytes));
  } else {
    for (std::size_t at = 0; at < size; ++at) {
      to[at] = byte;
      __asm__ volatile("");  // or the compiler makes it a call of what calls this
    }
  }
}

inline unsigned differences(const unsigned char* left, const unsigned char* right) noexcept {
  const int same = _mm_movemask_epi8(_mm_cmpeq_epi8(load16(left), load16(right)));
  return static_cast<unsigned>(same) ^ 0xFFFFu;
}

// Below 0, 0 or above 0, by the first byte in which they differ.
inline int compare(const unsigned char* left, const unsigned char* right, std::size_t size) noexcept {
  std::size_t at = 0;
  if (size >= 16) {
    for (;; at = at + 32 <= size ? at + 16 : size - 16) {
      if (const unsigned differing = differences(left + at, right + at); differing != 0) {
        at += static_cast<unsigned>(__builtin_ctz(differing));
        return left[at] - right[at];
      }
      if (at + 16 >= size) return 0;
    }
  }
  if (size >= 8) {
    const auto one = load<std::uint64_t>(left), other = load<std::uint64_t>(right);
    if (one == other) at = size - 8;  // what is left has eight bytes, some of them seen
  } else if (size >= 4) {
    if (load<std::uint32_t>(left) == load<std::uint32_t>(right)) at = size - 4;
  }
  for (; at < size; ++at)
    if (left[at] != right[at]) return left[at] - right[at];
  return 0;
}

// The first of a byte; null where there is none.
inline const unsigned char* find(const unsigned char* text, unsigned char byte, std::size_t size) noexcept {
  std::size_t at = 0;
  const __m128i wanted = _mm_set1_epi8(static_cast<char>(byte));
  for (; at + 16 <= size; at += 16) {
    const int found = _mm_movemask_epi8(_mm_cmpeq_epi8(load16(text + at), wanted));
    if (found != 0) return text + at + __builtin_ctz(static_cast<unsigned>(found));
  }
  for (; at < size; ++at)
    if (text[at] == byte) return text + at;
  return nullptr;
}

inline std::size_t length(const char* text) noexcept {
  std::size_t size = 0;
  while (text[size] != 0) {
    ++size;
    __asm__ volatile("");  // likewise
  }
  return size;
}

}  // namespace tipstaff::hook::memory

#endif
