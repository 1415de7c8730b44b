// SHA-1 (FIPS 180-4), by which git names its objects, and CRC-32 (RFC 1952), by which what was kept is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tipstaff/hook/sha256.hpp"

namespace tipstaff::undo {

class Sha1 : public hook::Blocks<Sha1> {
 public:
  void finish(unsigned char* out) noexcept { Blocks::finish(state_, out, 20); }

 private:
  friend class hook::Blocks<Sha1>;
  static std::uint32_t turn(std::uint32_t word, int by) noexcept { return word << by | word >> (32 - by); }
  void compress(const unsigned char* block) noexcept {
    std::uint32_t w[80];
    read_words(block, w);
    for (int i = 16; i < 80; ++i) w[i] = turn(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    std::uint32_t a = state_[0], b = state_[1], c = state_[2], d = state_[3], e = state_[4];
    for (int i = 0; i < 80; ++i) {
      const std::uint32_t f = i < 20 ? (b & c) | (~b & d) : i < 40 ? b ^ c ^ d : i < 60 ? (b & c) | (b & d) | (c & d) : b ^ c ^ d;
      const std::uint32_t k = i < 20 ? 0x5a827999 : i < 40 ? 0x6ed9eba1 : i < 60 ? 0x8f1bbcdc : 0xca62c1d6;
      const std::uint32_t next = turn(a, 5) + f + e + k + w[i];
      e = d, d = c, c = turn(b, 30), b = a, a = next;
    }
    state_[0] += a, state_[1] += b, state_[2] += c, state_[3] += d, state_[4] += e;
  }

  std::uint32_t state_[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
};

class Crc32 {
 public:
  void update(const void* data, std::size_t bytes) noexcept {
    const Tables& tables = all();
    const unsigned char* at = static_cast<const unsigned char*>(data);
    std::uint32_t sum = ~value_;
    for (; bytes >= 8; bytes -= 8, at += 8) {
      const std::uint32_t low = sum ^ (at[0] | at[1] << 8 | at[2] << 16 | static_cast<std::uint32_t>(at[3]) << 24);
      sum = tables.of[7][low & 255] ^ tables.of[6][low >> 8 & 255] ^ tables.of[5][low >> 16 & 255] ^ tables.of[4][low >> 24] ^
            tables.of[3][at[4]] ^ tables.of[2][at[5]] ^ tables.of[1][at[6]] ^ tables.of[0][at[7]];
    }
    for (; bytes != 0; --bytes) sum = tables.of[0][(sum ^ *at++) & 255] ^ sum >> 8;
    value_ = ~sum;
  }
  std::uint32_t value() const noexcept { return value_; }

 private:
  struct Tables {
    std::uint32_t of[8][256];
    constexpr Tables() : of() {
      for (std::uint32_t i = 0; i < 256; ++i) {
        std::uint32_t sum = i;
        for (int bit = 0; bit < 8; ++bit) sum = (sum & 1) != 0 ? sum >> 1 ^ 0xedb88320u : sum >> 1;
        of[0][i] = sum;
      }
      for (std::uint32_t i = 0; i < 256; ++i)
        for (int k = 1; k < 8; ++k) of[k][i] = of[k - 1][i] >> 8 ^ of[0][of[k - 1][i] & 255];
    }
  };
  static const Tables& all() noexcept {
    static constexpr Tables tables;
    return tables;
  }
  std::uint32_t value_ = 0;
};

}  // namespace tipstaff::undo
