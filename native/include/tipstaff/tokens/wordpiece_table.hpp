// The file format of a table of word pieces, and finding a piece in it.
#ifndef TIPSTAFF_TOKENS_WORDPIECE_TABLE_HPP
#define TIPSTAFF_TOKENS_WORDPIECE_TABLE_HPP

#include <cstdint>
#include <cstring>

#include "tipstaff/text/text.hpp"

namespace tipstaff {

inline constexpr std::int64_t wordpiece_header_bytes = 128;
inline constexpr std::uint32_t max_wordpiece_dimensions = 1024;
inline constexpr std::uint32_t max_piece_length = 32;

// The layout of a table, all of it inside `size` bytes (see open_wordpieces). Little-endian:
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
static inline WordPieceFault open_wordpieces(ByteView file, WordPieces* table) noexcept {
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

}  // namespace tipstaff

#endif
