// Literals by vectors of 64 bytes: tables of 64 classes of bytes give the thirty-two buckets of each.
#include <immintrin.h>

#include "kernels.hpp"

namespace tipstaff {

// Drops the candidates that the sieve of all literals or those of short and of long ones do not hold, sixteen at once;
// all have eight bytes.
static inline std::size_t keep_sieved(const LiteralWindows& windows, const unsigned char* text, std::uint16_t* out,
                                      std::size_t count) noexcept {
  const __m512i zero = _mm512_setzero_si512();
  const __m512i factor = _mm512_set1_epi32(static_cast<int>(2654435761u));
  const __m512i other = _mm512_set1_epi32(static_cast<int>(2246822519u));
  const __m512i low = _mm512_set1_epi32(0x20202020);
  const unsigned char* const few = windows.sieve + sieve_bits / 8;
  const unsigned char* const long_ones = few + sieve_bits / 8;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < count; i += 16) {
    const __mmask16 lanes = count - i >= 16 ? 0xFFFF : static_cast<__mmask16>((1u << (count - i)) - 1);
    const __m256i positions = _mm256_maskz_loadu_epi16(lanes, out + i);
    const __m512i wide = _mm512_cvtepu16_epi32(positions);
    const __m512i four = _mm512_mask_i32gather_epi32(zero, lanes, wide, text, 1);
    const __m512i following = _mm512_mask_i32gather_epi32(zero, lanes, wide, text + 4, 1);
    const __m512i two = _mm512_and_si512(_mm512_or_si512(following, low), _mm512_set1_epi32(0xFFFF));
    const __m512i one = _mm512_srli_epi32(_mm512_mullo_epi32(four, factor), 32 - sieve_log);
    const __m512i again = _mm512_srli_epi32(_mm512_mullo_epi32(four, other), 32 - sieve_log);
    const __m512i six = _mm512_srli_epi32(_mm512_add_epi32(_mm512_mullo_epi32(_mm512_or_si512(four, low), factor),
                                                           _mm512_mullo_epi32(two, other)),
                                          32 - sieve_log);
    const __m512i any_word = _mm512_mask_i32gather_epi32(zero, lanes, _mm512_srli_epi32(one, 5), windows.sieve, 4);
    const __m512i few_word = _mm512_mask_i32gather_epi32(zero, lanes, _mm512_srli_epi32(again, 5), few, 4);
    const __m512i six_word = _mm512_mask_i32gather_epi32(zero, lanes, _mm512_srli_epi32(six, 5), long_ones, 4);
    const __m512i last = _mm512_set1_epi32(31);
    const __m512i bits = _mm512_or_si512(_mm512_srlv_epi32(few_word, _mm512_and_si512(again, last)),
                                         _mm512_srlv_epi32(six_word, _mm512_and_si512(six, last)));
    const __m512i both = _mm512_and_si512(bits, _mm512_srlv_epi32(any_word, _mm512_and_si512(one, last)));
    const __mmask16 held = _mm512_mask_test_epi32_mask(lanes, both, _mm512_set1_epi32(1));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + kept), _mm256_maskz_compress_epi16(held, positions));
    kept += static_cast<std::size_t>(__builtin_popcount(held));
  }
  return kept;
}

// The class of each byte, in its low six bits: letters know no case, controls are as blanks.
static inline __m512i classes_of(__m512i bytes) noexcept {
  const __m512i letter = _mm512_srli_epi16(_mm512_and_si512(bytes, _mm512_set1_epi8(0x40)), 1);
  return _mm512_andnot_si512(letter, _mm512_max_epu8(bytes, _mm512_set1_epi8(0x20)));
}

// Which classes are of signs of base64, in the highest bit.
struct SignClasses {
  alignas(64) unsigned char of[64] = {};
  constexpr SignClasses() noexcept {
    for (int letter = 1; letter <= 26; ++letter) of[letter] = 0x80;
    for (int digit = '/'; digit <= '9'; ++digit) of[digit] = 0x80;
    of[static_cast<int>('+')] = 0x80;
  }
};

static constexpr SignClasses sign_classes;

inline constexpr std::size_t block_vectors = literal_block / 64;

// What is learnt of a block's vectors in one walk: the classes of all bytes, and what may be encoded.
struct BlockVectors {
  alignas(64) unsigned char classes[literal_block + 64];
  // Bits of the signs of base64, after those of the vector before the block; and where an escape may begin.
  alignas(64) std::uint64_t signs[block_vectors + 8];
  alignas(64) std::uint64_t escapes[block_vectors + 8];
};

// Which of 64 bytes are signs of base64. What is not ASCII is not one.
static inline std::uint64_t signs_of(__m512i bytes, __m512i classes) noexcept {
  const __m512i sign = _mm512_load_si512(sign_classes.of);
  return _mm512_movepi8_mask(_mm512_andnot_si512(bytes, _mm512_permutexvar_epi8(classes, sign)));
}

template <bool marked>
static void read_block(const unsigned char* text, std::size_t vectors, BlockVectors* out) noexcept {
  const __m512i percent = _mm512_set1_epi8('%');
  const __m512i slash = _mm512_set1_epi8('\\');
  // One vector more: the windows of the last reach into it.
  for (std::size_t i = 0; i <= vectors; ++i) {
    const __m512i bytes = _mm512_loadu_si512(text + 64 * i);
    const __m512i classes = classes_of(bytes);
    _mm512_store_si512(out->classes + 64 * i, classes);
    if constexpr (marked) {
      out->signs[i + 1] = signs_of(bytes, classes);
      out->escapes[i] = _kor_mask64(_mm512_cmpeq_epi8_mask(bytes, percent), _mm512_cmpeq_epi8_mask(bytes, slash));
    }
  }
}

// Where escapes begin in the vector at `at`, after which there is a byte.
static inline std::uint64_t escapes_at(const unsigned char* at) noexcept {
  const auto is = [](__m512i x, char byte) noexcept { return _mm512_cmpeq_epi8_mask(x, _mm512_set1_epi8(byte)); };
  const __m512i bytes = _mm512_loadu_si512(at);
  const __m512i next = _mm512_loadu_si512(at + 1);
  const __m512i digit = _mm512_sub_epi8(next, _mm512_set1_epi8('2'));
  return (is(bytes, '%') & _mm512_cmple_epu8_mask(digit, _mm512_set1_epi8('7' - '2'))) |
         (is(bytes, '\\') & (is(next, '/') | is(next, 'u')));
}

// Writes the marks of a block's whole vectors.
static std::size_t search_marks(const unsigned char* text, std::size_t begin, std::size_t vectors, BlockVectors* block,
                                std::uint16_t* out) noexcept {
  block->signs[0] = signs_before(text, begin);
  for (std::size_t i = vectors; i % 8 != 0; ++i) block->signs[i + 1] = block->escapes[i] = 0;
  std::size_t count = 0;
  for (std::size_t first = 0; first < vectors; first += 8) {
    // Eight vectors at once: few of them have anything.
    const __m512i ones = _mm512_set1_epi64(0x0101010101010101);
    const __m512i highest = _mm512_set1_epi64(static_cast<long long>(0x8080808080808080u));
    const auto full = [&](__m512i x) noexcept {
      return _mm512_ternarylogic_epi64(_mm512_sub_epi64(_mm512_ternarylogic_epi64(x, x, x, 0x55), ones), x, highest, 0x80);
    };
    const __m512i groups = full(_mm512_loadu_si512(block->signs + 1 + first));
    const __m512i older = full(_mm512_loadu_si512(block->signs + first));
    const __m512i across = _mm512_srli_epi64(_mm512_and_si512(older, _mm512_slli_epi64(older, 8)), 63);
    const __m512i pairs = _mm512_and_si512(
        groups, _mm512_or_si512(_mm512_slli_epi64(groups, 8), _mm512_srli_epi64(older, 56)));
    const __m512i any = _mm512_or_si512(_mm512_or_si512(across, pairs), _mm512_load_si512(block->escapes + first));
    for (unsigned lanes = _mm512_test_epi64_mask(any, any); lanes != 0; lanes &= lanes - 1) {
      const std::size_t i = first + static_cast<std::size_t>(__builtin_ctz(lanes));
      std::uint64_t found = first_long_runs(block->signs[i + 1], block->signs[i]);
      if (block->escapes[i] != 0) found |= escapes_at(text + begin + 64 * i);
      count = write_positions(found, 64 * i, out, count);
    }
  }
  return count;
}

// Writes the candidates of a block's whole vectors.
static std::size_t search_windows(const LiteralWindows& windows, const unsigned char* text, const BlockVectors& block,
                                  std::size_t vectors, std::uint16_t* out) noexcept {
  __m512i table[literal_groups][wide_window];
  for (std::size_t group = 0; group < literal_groups; ++group) {
    for (std::size_t position = 0; position < wide_window; ++position) {
      table[group][position] = _mm512_loadu_si512(windows.wide + (group * literal_window + position) * 64);
    }
  }
  alignas(64) unsigned char order[64];
  for (unsigned char i = 0; i < 64; ++i) order[i] = i;
  const __m512i numbers = _mm512_load_si512(order);
  __m512i shift = _mm512_setzero_si512();
  std::size_t count = 0;
  for (std::size_t at = 0; at < 64 * vectors; at += 64) {
    const unsigned char* const here = block.classes + at;
    // The block after this one comes meanwhile.
    __builtin_prefetch(text + at + literal_block);
    const __m512i first = _mm512_load_si512(here);
    __m512i taken[literal_groups];
#pragma GCC unroll 4
    for (std::size_t group = 0; group < literal_groups; ++group) {
      taken[group] = _mm512_permutexvar_epi8(first, table[group][0]);
    }
#pragma GCC unroll 2
    for (std::size_t position = 1; position < wide_window; position += 2) {
      const __m512i one = _mm512_loadu_si512(here + position);
      const __m512i other = _mm512_loadu_si512(here + position + 1);
#pragma GCC unroll 4
      for (std::size_t group = 0; group < literal_groups; ++group) {
        taken[group] =
            _mm512_ternarylogic_epi32(taken[group], _mm512_permutexvar_epi8(one, table[group][position]),
                                      _mm512_permutexvar_epi8(other, table[group][position + 1]), 0x80);
      }
    }
    const __m512i any = _mm512_or_si512(_mm512_or_si512(taken[0], taken[1]), _mm512_or_si512(taken[2], taken[3]));
    const std::uint64_t hits = _mm512_test_epi8_mask(any, any);
    const auto number = static_cast<std::size_t>(__builtin_popcountll(hits));
    const __m512i packed = _mm512_maskz_compress_epi8(hits, numbers);
    _mm512_storeu_si512(out + count,
                        _mm512_add_epi16(_mm512_cvtepu8_epi16(_mm512_castsi512_si256(packed)), shift));
    if (number > 32) {
      _mm512_storeu_si512(out + count + 32,
                          _mm512_add_epi16(_mm512_cvtepu8_epi16(_mm512_extracti64x4_epi64(packed, 1)), shift));
    }
    count += number;
    shift = _mm512_add_epi16(shift, _mm512_set1_epi16(64));
  }
  return keep_sieved(windows, text, out, count);
}

template <bool marked>
static inline void search(const LiteralWindows& windows, const unsigned char* text, std::size_t begin, std::size_t end,
                          std::size_t size, std::uint16_t* literals, std::size_t* n_literals, std::uint16_t* marks,
                          std::size_t* n_marks) noexcept {
  std::size_t vectors = 0;
  BlockVectors block;
  std::size_t count = 0;
  std::size_t n = 0;
  if (begin + 64 <= end && begin + 128 <= size) {
    vectors = ((end < size - 64 ? end : size - 64) - begin) / 64;
    read_block<marked>(text + begin, vectors, &block);
    count = search_windows(windows, text + begin, block, vectors, literals);
    if constexpr (marked) n = search_marks(text, begin, vectors, &block, marks);
  }
  std::size_t at = begin + 64 * vectors;
  *n_literals = finish_literals(windows, text, begin, at, end, size, literals, count);
  if constexpr (marked) {
    // Marks need one byte after a vector alone: a short text has one more.
    for (; at + 64 <= end && at + 65 <= size; at += 64) {
      const __m512i bytes = _mm512_loadu_si512(text + at);
      const std::uint64_t signs = signs_of(bytes, classes_of(bytes));
      n = write_positions(first_long_runs(signs, signs_before(text, at)) | escapes_at(text + at), at - begin, marks, n);
    }
    *n_marks = finish_marks(text, begin, at, end, size, marks, n);
  }
}

static std::size_t search_literals(const LiteralWindows& windows, const unsigned char* text, std::size_t begin,
                                   std::size_t end, std::size_t size, std::uint16_t* out) noexcept {
  std::size_t count = 0;
  search<false>(windows, text, begin, end, size, out, &count, nullptr, nullptr);
  return count;
}

static void search_block(const LiteralWindows& windows, const unsigned char* text, std::size_t begin, std::size_t end,
                         std::size_t size, BlockMatches* out) noexcept {
  search<true>(windows, text, begin, end, size, out->literals, &out->n_literals, out->marks, &out->n_marks);
}

const LiteralFinder find_literals_avx512 = {search_literals, search_block};

}  // namespace tipstaff
