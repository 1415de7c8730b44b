// Word pieces and the sum of their rows: a text's vector from a static table.
//
//   vector = norm(sum over pieces of scale * codes + sum over grams of gram_scale * signs)
//
// Words are lower-case runs of a-z and 0-9, cut by greedy longest match. A word that falls into three
// pieces or more is not one that the table knows, and its hash chooses signs, so that it can at least
// meet itself. Words of other scripts have no pieces: hashes of their character n-grams choose signs.
// Additions go in the text's order,
// products and sums are rounded one by one in float32, and the norm is a sum of doubles in eight
// lanes, so a text has the same bits on every machine and instruction set.
#ifndef TIPSTAFF_TOKENS_WORDPIECE_HPP
#define TIPSTAFF_TOKENS_WORDPIECE_HPP

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tipstaff/text/letters.hpp"
#include "tipstaff/text/text.hpp"

namespace tipstaff {

inline constexpr std::int64_t wordpiece_header_bytes = 128;
inline constexpr std::uint32_t max_wordpiece_dimensions = 1024;
inline constexpr std::uint32_t max_piece_length = 32;

// A table as it lies in its file, all of it inside `size` bytes (see open_wordpieces). Little-endian:
//   0 magic[8], 8 version, 12 dimensions, 16 pieces, 20 slots, 24 longest piece, 28 f32 gram scale,
//   32 u64 file size, 40 u64 offsets of codes, scales, slots, starts, names, 80 u64 bytes of names,
//   88 u64 xxh3 of all after the header, 96 u64 xxh3 of the 96 bytes before.
struct WordPieces {
  const std::int8_t* codes;     // [pieces][dimensions]
  const unsigned char* scales;  // float32[pieces]
  const unsigned char* slots;   // uint32[slots], a power of two: tag << 16 | piece + 1, 0 is free
  const unsigned char* starts;  // uint32[pieces + 1]: piece i is names[starts[i]] to names[starts[i + 1]]
  const unsigned char* names;   // continuations begin with ##
  std::int64_t dimensions;
  std::int64_t n_pieces;
  std::uint64_t slot_mask;
  std::int64_t names_size;
  int longest;
  float gram_scale;
};

enum class WordPieceFault : int {
  none = 0,
  too_short,
  magic,
  version,
  dimensions,
  pieces,
  slots,
  longest,
  size,
  section,
};

template <class T>
static inline T load_field(const unsigned char* x) noexcept {
  T value;
  std::memcpy(&value, x, sizeof value);
  return value;
}

// Lays `table` over the bytes of a file. All sections are inside; what they hold is checked as it is
// read, so that no file, however damaged, leads outside.
static inline WordPieceFault open_wordpieces(Span file, WordPieces* table) noexcept {
  static constexpr unsigned char magic[8] = {0x89, 'T', 'W', 'P', '\r', '\n', 0x1A, '\n'};
  if (file.size < wordpiece_header_bytes) return WordPieceFault::too_short;
  const unsigned char* x = file.data;
  if (std::memcmp(x, magic, sizeof magic) != 0) return WordPieceFault::magic;
  if (load_field<std::uint32_t>(x + 8) != 1) return WordPieceFault::version;
  const auto dimensions = load_field<std::uint32_t>(x + 12);
  const auto pieces = load_field<std::uint32_t>(x + 16);
  const auto slots = load_field<std::uint32_t>(x + 20);
  const auto longest = load_field<std::uint32_t>(x + 24);
  if (dimensions == 0 || dimensions % 16 != 0 || dimensions > max_wordpiece_dimensions) {
    return WordPieceFault::dimensions;
  }
  if (pieces == 0 || pieces >= 0xFFFF) return WordPieceFault::pieces;
  if (slots <= pieces || slots > (1u << 20) || (slots & (slots - 1)) != 0) return WordPieceFault::slots;
  if (longest == 0 || longest > max_piece_length) return WordPieceFault::longest;
  if (load_field<std::uint64_t>(x + 32) != static_cast<std::uint64_t>(file.size)) {
    return WordPieceFault::size;
  }
  const auto names_size = load_field<std::uint64_t>(x + 80);
  const std::uint64_t sizes[5] = {std::uint64_t{pieces} * dimensions, std::uint64_t{pieces} * 4,
                                  std::uint64_t{slots} * 4, (std::uint64_t{pieces} + 1) * 4, names_size};
  const auto whole = static_cast<std::uint64_t>(file.size);
  const unsigned char* sections[5];
  for (int i = 0; i < 5; ++i) {
    const auto offset = load_field<std::uint64_t>(x + 40 + 8 * i);
    if (offset < static_cast<std::uint64_t>(wordpiece_header_bytes) || offset > whole ||
        sizes[i] > whole - offset) {
      return WordPieceFault::section;
    }
    sections[i] = x + offset;
  }
  table->codes = reinterpret_cast<const std::int8_t*>(sections[0]);
  table->scales = sections[1];
  table->slots = sections[2];
  table->starts = sections[3];
  table->names = sections[4];
  table->dimensions = dimensions;
  table->n_pieces = pieces;
  table->slot_mask = slots - 1;
  table->names_size = static_cast<std::int64_t>(names_size);
  table->longest = static_cast<int>(longest);
  table->gram_scale = load_field<float>(x + 28);
  return WordPieceFault::none;
}

inline constexpr std::uint64_t fnv_basis = 0xCBF29CE484222325u;
// Bases of continuations, and of the kinds of n-grams.
inline constexpr std::uint64_t continuation_basis = 0x84222325CBF29CE4u;
inline constexpr std::uint64_t word_basis = 0x9E3779B97F4A7C15u;
inline constexpr std::uint64_t trigram_basis = 0xC2B2AE3D27D4EB4Fu;
inline constexpr std::uint64_t single_basis = 0x165667B19E3779F9u;
inline constexpr std::uint64_t pair_basis = 0x27D4EB2F165667C5u;

static inline std::uint64_t fnv_step(std::uint64_t hash, std::uint32_t value) noexcept {
  return (hash ^ value) * fnv_prime;
}

// The piece of `size` characters whose FNV-1a is `hash`, or -1.
static inline std::int64_t find_piece(const WordPieces& table, std::uint64_t hash,
                                      const unsigned char* piece, int size,
                                      bool continuation) noexcept {
  hash ^= hash >> 32;
  const auto tag = static_cast<std::uint32_t>(hash >> 48);
  // A full table would not end the walk; a sound one ends it after a few steps.
  for (std::uint64_t step = 0; step <= table.slot_mask; ++step) {
    const std::uint64_t position = (hash + step) & table.slot_mask;
    const auto slot = load_field<std::uint32_t>(table.slots + 4 * position);
    if (slot == 0) return -1;
    if (slot >> 16 != tag) continue;
    const std::int64_t number = static_cast<std::int64_t>(slot & 0xFFFF) - 1;
    if (number < 0 || number >= table.n_pieces) continue;
    const std::int64_t start = load_field<std::uint32_t>(table.starts + 4 * number);
    const std::int64_t end = load_field<std::uint32_t>(table.starts + 4 * number + 4);
    const int marks = continuation ? 2 : 0;
    if (end > table.names_size || end - start != size + marks) continue;
    const unsigned char* name = table.names + start;
    if (continuation && (name[0] != '#' || name[1] != '#')) continue;
    if (std::memcmp(name + marks, piece, static_cast<std::size_t>(size)) == 0) return number;
  }
  return -1;
}

// Cuts texts into pieces and n-grams. A sink has piece(number) and gram(hash).
template <class Sink>
class WordPieceSplitter {
 public:
  WordPieceSplitter(const WordPieces& table, Sink& sink) noexcept : table_(table), sink_(sink) {}

  void split(Span text) noexcept {
    std::int64_t at = 0;
    while (at < text.size) {
      const unsigned char byte = text.data[at];
      if (byte < 0x80) {
        ++at;
        take_ascii(byte, text, at);
      } else {
        take(classify_beyond_ascii(decode_utf8(text, at)));
      }
    }
    end_word();
  }

 private:
  static constexpr int room = 256;
  static constexpr std::int64_t pieces_of_unknown = 3;
  static constexpr std::uint32_t edge = ' ';

  static bool is_lower(unsigned char byte) noexcept {
    return static_cast<std::uint32_t>(byte) - 'a' < 26u;
  }

  // `next` is where the text continues.
  void take_ascii(unsigned char byte, Span text, std::int64_t next) noexcept {
    const std::uint32_t c = byte;
    if (is_lower(byte)) {
      push(byte);
      before_letter_ = Letter::lower;
    } else if (c - '0' < 10u) {
      push(byte);
      before_letter_ = Letter::lower;
      has_digit_ = true;
    } else if (c - 'A' < 26u) {
      // camelCase, and HTTPServer but not APIs.
      if (before_letter_ == Letter::lower ||
          (before_letter_ == Letter::upper && next + 1 < text.size && is_lower(text.data[next]) &&
           is_lower(text.data[next + 1]))) {
        end_word();
      }
      push(static_cast<unsigned char>(byte + 32));
      before_letter_ = Letter::upper;
    } else if (byte == '\'') {
      before_letter_ = Letter::joiner;
    } else {
      end_word();
    }
  }

  void take(Character character) noexcept {
    switch (character.kind) {
      case Letter::border: end_word(); return;
      case Letter::folded:
        push(static_cast<unsigned char>(character.code));
        has_digit_ = has_digit_ || character.code < 'a';
        if (character.second != 0) push(character.second);
        break;
      case Letter::alphabetic: push_foreign(character.code, Letter::alphabetic); break;
      case Letter::ideograph: push_foreign(character.code, Letter::ideograph); break;
      default: break;
    }
    before_letter_ = Letter::joiner;
  }

  void push(unsigned char letter) noexcept {
    if (script_ != Letter::border) end_foreign();
    if (size_ == room) {
      // All pieces that can no longer grow go; what is left is shorter than the longest piece.
      const int used = match(size_ - table_.longest);
      size_ -= used;
      std::memmove(word_, word_ + used, static_cast<std::size_t>(size_));
    }
    word_[size_++] = letter;
    latin_hash_ = fnv_step(latin_hash_, letter);
  }

  void end_word() noexcept {
    if (size_ > 0) {
      match(size_ - 1);
      if (pieces_ >= pieces_of_unknown && !has_digit_) sink_.gram(latin_hash_);
      size_ = 0;
      pieces_ = 0;
      continues_ = false;
      has_digit_ = false;
      latin_hash_ = word_basis;
    }
    if (script_ != Letter::border) end_foreign();
    before_letter_ = Letter::border;
  }

  // Matches pieces that start at `last` or before, and returns where the rest begins.
  int match(int last) noexcept {
    int start = 0;
    while (start <= last) {
      const int left = size_ - start < table_.longest ? size_ - start : table_.longest;
      std::uint64_t hashes[max_piece_length];
      std::uint64_t hash = continues_ ? continuation_basis : fnv_basis;
      for (int i = 0; i < left; ++i) hashes[i] = hash = fnv_step(hash, word_[start + i]);
      int size = left;
      for (; size > 0; --size) {
        const std::int64_t number = find_piece(table_, hashes[size - 1], word_ + start, size, continues_);
        if (number >= 0) {
          sink_.piece(number);
          ++pieces_;
          break;
        }
      }
      // A character without a piece is passed over, and what follows continues the word.
      start += size > 0 ? size : 1;
      continues_ = true;
    }
    return start;
  }

  void push_foreign(std::uint32_t code, Letter script) noexcept {
    if (size_ > 0 || (script_ != Letter::border && script_ != script)) end_word();
    if (script == Letter::ideograph) {
      sink_.gram(fnv_step(single_basis, code));
      if (script_ == script) sink_.gram(fnv_step(fnv_step(pair_basis, before_), code));
      before_ = code;
    } else {
      if (script_ == Letter::border) {
        whole_ = word_basis;
        before_ = edge;
      } else {
        sink_.gram(fnv_step(fnv_step(fnv_step(trigram_basis, earlier_), before_), code));
      }
      earlier_ = before_;
      before_ = code;
      whole_ = fnv_step(whole_, code);
    }
    script_ = script;
  }

  void end_foreign() noexcept {
    if (script_ == Letter::alphabetic) {
      sink_.gram(fnv_step(fnv_step(fnv_step(trigram_basis, earlier_), before_), edge));
      sink_.gram(whole_);
    }
    script_ = Letter::border;
  }

  const WordPieces& table_;
  Sink& sink_;
  unsigned char word_[room];
  int size_ = 0;
  std::int64_t pieces_ = 0;  // of the word under way, as are the next four
  bool continues_ = false;
  bool has_digit_ = false;
  std::uint64_t latin_hash_ = word_basis;
  Letter before_letter_ = Letter::border;  // the ASCII letter just before, if there was one
  Letter script_ = Letter::border;  // of the word of another script under way
  std::uint32_t earlier_ = edge;
  std::uint32_t before_ = edge;
  std::uint64_t whole_ = 0;
};

// The next of a SplitMix64 sequence.
static inline std::uint64_t splitmix64(std::uint64_t& state) noexcept {
  std::uint64_t x = state += 0x9E3779B97F4A7C15u;
  x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9u;
  x = (x ^ x >> 27) * 0x94D049BB133111EBu;
  return x ^ x >> 31;
}

// Writes a sum at length 1; of nothing, or of rows that cancel out or overflow, zeros. `dimensions` is
// a multiple of 8; `out` may be `sum`. Returns the sum's length, 0 where zeros are written.
static inline double write_unit(const float* sum, std::int64_t dimensions, float* out) noexcept {
  double lane[8] = {};
  for (std::int64_t i = 0; i < dimensions; i += 8) {
    for (int j = 0; j < 8; ++j) {
      const double value = sum[i + j];
      lane[j] += value * value;
    }
  }
  const double squares = ((lane[0] + lane[4]) + (lane[2] + lane[6])) +
                         ((lane[1] + lane[5]) + (lane[3] + lane[7]));
  const bool usable = squares > 0 && squares <= 1e60;
  const double length = usable ? std::sqrt(squares) : 0.0;
  const double inverse = usable ? 1.0 / length : 0.0;
  for (std::int64_t i = 0; i < dimensions; ++i) {
    out[i] = usable ? static_cast<float>(static_cast<double>(sum[i]) * inverse) : 0.0f;
  }
  return length;
}

// rows[i] = norm(rows[i] + weight * others[positions[i]]). Returns n_rows, or -1 - row for the first
// row whose position is not one of the `n_others`. No row is written then.
static inline std::int64_t blend_rows(float* rows, std::int64_t n_rows, std::int64_t dimensions,
                                      const float* others, std::int64_t n_others,
                                      const unsigned char* positions, float weight) noexcept {
  for (std::int64_t row = 0; row < n_rows; ++row) {
    const std::int64_t position = load_field<std::int32_t>(positions + 4 * row);
    if (position < 0 || position >= n_others) return -1 - row;
  }
  for (std::int64_t row = 0; row < n_rows; ++row) {
    const std::int64_t position = load_field<std::int32_t>(positions + 4 * row);
    float* x = rows + row * dimensions;
    const float* other = others + position * dimensions;
    for (std::int64_t i = 0; i < dimensions; ++i) x[i] += weight * other[i];
    write_unit(x, dimensions, x);
  }
  return n_rows;
}

template <class S>
class RowSum {
 public:
  explicit RowSum(const WordPieces& table) noexcept : table_(table) {
    std::memset(sum_, 0, static_cast<std::size_t>(table.dimensions) * sizeof(float));
  }

  void piece(std::int64_t number) noexcept {
    const std::int8_t* row = table_.codes + number * table_.dimensions;
    for (std::int64_t i = 0; i < table_.dimensions; i += 64) __builtin_prefetch(row + i);
    waiting_[n_waiting_++] = number;
    if (n_waiting_ == room) add_waiting();
  }

  void gram(std::uint64_t hash) noexcept {
    add_waiting();
    std::uint64_t state = hash;
    std::uint64_t bits = 0;
    alignas(64) std::int8_t signs[max_wordpiece_dimensions];
    for (std::int64_t i = 0; i < table_.dimensions; ++i) {
      if (i % 64 == 0) bits = splitmix64(state);
      signs[i] = static_cast<std::int8_t>(1 - 2 * static_cast<int>(bits >> (i % 64) & 1));
    }
    add(table_.gram_scale, signs);
  }

  // Returns the sum's length.
  double write(float* out) noexcept {
    add_waiting();
    return write_unit(sum_, table_.dimensions, out);
  }

 private:
  // Enough rows on their way to hide that the table lies in memory.
  static constexpr int room = 16;

  void add(float scale, const std::int8_t* codes) noexcept {
    for (std::int64_t i = 0; i < table_.dimensions; i += 16) {
      for (int j = 0; j < 16; ++j) sum_[i + j] += scale * static_cast<float>(codes[i + j]);
    }
  }

  void add_waiting() noexcept {
    for (int i = 0; i < n_waiting_; ++i) {
      const std::int64_t number = waiting_[i];
      add(load_field<float>(table_.scales + 4 * number), table_.codes + number * table_.dimensions);
    }
    n_waiting_ = 0;
  }

  const WordPieces& table_;
  alignas(64) float sum_[max_wordpiece_dimensions];
  std::int64_t waiting_[room];
  int n_waiting_ = 0;
};

struct WordPieceKernels {
  // Embeds UTF-8 into out[dimensions]. Bytes that are not UTF-8 end words.
  void (*embed)(const WordPieces& table, Span text, float* out) noexcept;
  // Embeds rows of a string column, out[n_rows][dimensions]; offset_bytes is 4 or 8. Returns n_rows,
  // or -1 - row for the first row whose offsets do not lie in the data. `lengths`, unless null, gets those of the sums
  // before they are brought to length 1: how much a word's rows say by themselves.
  std::int64_t (*embed_column)(const WordPieces& table, const unsigned char* offsets, int offset_bytes,
                               Span data, std::int64_t n_rows, float* out, float* lengths) noexcept;
};

template <class S>
static double sum_words(const WordPieces& table, Span text, float* out) noexcept {
  RowSum<S> sum(table);
  WordPieceSplitter<RowSum<S>>(table, sum).split(text);
  return sum.write(out);
}

template <class S>
static void embed_words(const WordPieces& table, Span text, float* out) noexcept {
  sum_words<S>(table, text, out);
}

template <class S>
static std::int64_t embed_word_column(const WordPieces& table, const unsigned char* offsets,
                                      int offset_bytes, Span data, std::int64_t n_rows,
                                      float* out, float* lengths) noexcept {
  const auto offset_at = [&](std::int64_t row) noexcept -> std::int64_t {
    return offset_bytes == 4 ? load_field<std::int32_t>(offsets + row * 4)
                             : load_field<std::int64_t>(offsets + row * 8);
  };
  std::int64_t start = n_rows > 0 ? offset_at(0) : 0;
  for (std::int64_t row = 0; row < n_rows; ++row) {
    const std::int64_t end = offset_at(row + 1);
    if (start < 0 || end < start || end > data.size) return -1 - row;
    const double length = sum_words<S>(table, Span{data.data + start, end - start}, out + row * table.dimensions);
    if (lengths != nullptr) lengths[row] = static_cast<float>(length);
    start = end;
  }
  return n_rows;
}

template <class S>
constexpr WordPieceKernels make_wordpiece_kernels() noexcept {
  return WordPieceKernels{&embed_words<S>, &embed_word_column<S>};
}

}  // namespace tipstaff

#endif
