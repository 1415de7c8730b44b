// Literals by vectors of 32 bytes: four bytes of eight positions are hashed at once.
#include <immintrin.h>

#include "kernels.hpp"

namespace tipstaff {

static std::size_t search_literals(const LiteralWindows& windows, const unsigned char* text, std::size_t begin,
                                   std::size_t end, std::size_t size, std::uint16_t* out) noexcept {
  // Places 0 to 3 of a half, and 4 to 7 of the other.
  const __m256i spread = _mm256_setr_epi8(0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6, 4, 5, 6, 7, 5, 6, 7, 8, 6, 7,
                                          8, 9, 7, 8, 9, 10);
  const __m256i factor = _mm256_set1_epi32(static_cast<int>(2654435761u));
  const auto* const sieve = reinterpret_cast<const int*>(windows.sieve);
  std::size_t at = begin;
  std::size_t count = 0;
  for (; at + 32 <= end && at + 48 <= size; at += 32) {
    std::uint32_t hits = 0;
#pragma GCC unroll 4
    for (int eight = 0; eight < 4; ++eight) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text + at + 8 * eight));
      const __m256i four = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(bytes), spread);
      const __m256i hash = _mm256_srli_epi32(_mm256_mullo_epi32(four, factor), 32 - sieve_log);
      const __m256i words = _mm256_i32gather_epi32(sieve, _mm256_srli_epi32(hash, 5), 4);
      // The bit of the hash goes to the sign.
      const __m256i bit = _mm256_sllv_epi32(words, _mm256_andnot_si256(hash, _mm256_set1_epi32(31)));
      hits |= static_cast<std::uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(bit))) << (8 * eight);
    }
    const auto offset = static_cast<std::uint32_t>(at - begin);
    for (; hits != 0; hits &= hits - 1) {
      out[count++] = static_cast<std::uint16_t>(offset + static_cast<std::uint32_t>(__builtin_ctz(hits)));
    }
  }
  count = keep_long(windows, text, begin, size, out, count);
  return finish_literals(windows, text, begin, at, end, size, out, count);
}

static inline __m256i within(__m256i bytes, char least, char most) noexcept {
  const __m256i moved = _mm256_sub_epi8(bytes, _mm256_set1_epi8(least));
  return _mm256_cmpeq_epi8(_mm256_min_epu8(moved, _mm256_set1_epi8(static_cast<char>(most - least))), moved);
}

static inline __m256i is_byte(__m256i bytes, char byte) noexcept {
  return _mm256_cmpeq_epi8(bytes, _mm256_set1_epi8(byte));
}

static inline std::uint32_t mask_of(__m256i bytes) noexcept {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(bytes));
}

static std::size_t search_marks(const unsigned char* text, std::size_t begin, std::size_t end, std::size_t size,
                                std::uint16_t* out) noexcept {
  std::uint64_t before = signs_before(text, begin);
  std::uint64_t older = full_groups(before);
  std::size_t at = begin;
  std::size_t count = 0;
  for (; at + 64 <= end && at + 65 <= size; at += 64) {
    std::uint64_t signs = 0;
    std::uint64_t begins = 0;
    for (int half = 0; half < 2; ++half) {
      const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at + 32 * half));
      const __m256i letter = within(_mm256_or_si256(bytes, _mm256_set1_epi8(0x20)), 'a', 'z');
      const __m256i other = _mm256_or_si256(within(bytes, '/', '9'), is_byte(bytes, '+'));
      signs |= std::uint64_t{mask_of(_mm256_or_si256(letter, other))} << (32 * half);
      begins |= std::uint64_t{mask_of(_mm256_or_si256(is_byte(bytes, '%'), is_byte(bytes, '\\')))} << (32 * half);
    }
    const std::uint64_t groups = full_groups(signs);
    std::uint64_t found = 0;
    if ((((groups << 8 | older >> 56) & groups) | (older & older << 8) >> 63) != 0) {
      found = first_long_runs(signs, before);
    }
    if (begins != 0) {
      for (int half = 0; half < 2; ++half) {
        const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at + 32 * half));
        const __m256i next = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(text + at + 1 + 32 * half));
        const __m256i percent = _mm256_and_si256(is_byte(bytes, '%'), within(next, '2', '7'));
        const __m256i slash =
            _mm256_and_si256(is_byte(bytes, '\\'), _mm256_or_si256(is_byte(next, '/'), is_byte(next, 'u')));
        found |= std::uint64_t{mask_of(_mm256_or_si256(percent, slash))} << (32 * half);
      }
    }
    before = signs;
    older = groups;
    if (found != 0) count = write_positions(found, at - begin, out, count);
  }
  return finish_marks(text, begin, at, end, size, out, count);
}

static void search_block(const LiteralWindows& windows, const unsigned char* text, std::size_t begin, std::size_t end,
                         std::size_t size, BlockMatches* out) noexcept {
  out->n_literals = search_literals(windows, text, begin, end, size, out->literals);
  out->n_marks = search_marks(text, begin, end, size, out->marks);
}

const LiteralFinder find_literals_avx2 = {search_literals, search_block};

}  // namespace tipstaff
