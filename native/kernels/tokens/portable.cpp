// Token features in plain C++: eight bytes at a time in an integer.
#include "../tables.hpp"

namespace {

using namespace tipstaff;

struct PortableBytes {
  struct Block {
    std::uint64_t words[8];
  };
  static constexpr std::uint64_t ones = 0x0101010101010101u;
  static constexpr std::uint64_t low7 = 0x7F7F7F7F7F7F7F7Fu;

  static Block load(const unsigned char* bytes) noexcept {
    Block block;
    for (int j = 0; j < 8; ++j) {
      std::uint64_t word = 0;
      // Written so that the order of bytes is the same on every machine; compilers make it one load.
      for (int k = 0; k < 8; ++k) word |= static_cast<std::uint64_t>(bytes[j * 8 + k]) << (8 * k);
      block.words[j] = word;
    }
    return block;
  }
  // The top bit of each byte, as eight bits.
  static std::uint64_t gather(std::uint64_t tops) noexcept {
    return (tops >> 7) * 0x0102040810204080u >> 56;
  }
  template <class Test>
  static std::uint64_t each(const Block& block, const Test& tops) noexcept {
    std::uint64_t mask = 0;
    for (int j = 0; j < 8; ++j) mask |= gather(tops(block.words[j])) << (8 * j);
    return mask;
  }
  static std::uint64_t zero_bytes(std::uint64_t x) noexcept {
    return ~(((x & low7) + low7) | x | low7);
  }
  static std::uint64_t equal(const Block& block, unsigned char byte) noexcept {
    return each(block, [byte](std::uint64_t x) noexcept { return zero_bytes(x ^ ones * byte); });
  }
  // Bytes from `first` to `first + more`; more < 0x80 and both ends on the same side of 0x80.
  static std::uint64_t within(const Block& block, unsigned char first, unsigned char more) noexcept {
    const auto low = static_cast<unsigned char>(first & 0x7F);
    const std::uint64_t side = (first & 0x80) != 0 ? ~low7 : 0;
    return each(block, [=](std::uint64_t x) noexcept {
      const std::uint64_t seven = x & low7;
      const std::uint64_t reaches = seven + ones * static_cast<unsigned char>(0x80 - low);
      const std::uint64_t passes = seven + ones * static_cast<unsigned char>(0x7F - low - more);
      return reaches & ~passes & ~(x ^ side) & ~low7;
    });
  }
  static std::uint64_t high(const Block& block) noexcept {
    return each(block, [](std::uint64_t x) noexcept { return x & ~low7; });
  }
  static std::uint64_t vowels(const Block& block) noexcept {
    return each(block, [](std::uint64_t x) noexcept {
      const std::uint64_t y = x | ones * 0x20u;
      return zero_bytes(y ^ ones * 'a') | zero_bytes(y ^ ones * 'e') | zero_bytes(y ^ ones * 'i') |
             zero_bytes(y ^ ones * 'o') | zero_bytes(y ^ ones * 'u');
    });
  }
  static std::uint64_t same_as_before(const Block& block, const unsigned char*,
                                      unsigned char preceding) noexcept {
    std::uint64_t mask = 0;
    std::uint64_t carried = preceding;
    for (int j = 0; j < 8; ++j) {
      const std::uint64_t x = block.words[j];
      mask |= gather(zero_bytes(x ^ (x << 8 | carried))) << (8 * j);
      carried = x >> 56;
    }
    return mask;
  }

  struct Vector {
    std::uint64_t lanes[8];
  };
  template <class Combine>
  static Vector lanewise(const Combine& combine) noexcept {
    Vector out;
    for (int j = 0; j < 8; ++j) out.lanes[j] = combine(j);
    return out;
  }
  static Vector at(const std::uint64_t* masks) noexcept {
    return lanewise([=](int j) noexcept { return masks[j]; });
  }
  static void put(std::uint64_t* masks, const Vector& x) noexcept {
    for (int j = 0; j < 8; ++j) masks[j] = x.lanes[j];
  }
  template <int distance>
  static Vector shifted(const token_detail::MaskRow& row) noexcept {
    const std::uint64_t* masks = row.masks;
    return lanewise([=](int j) noexcept { return masks[j] << distance | masks[j - 1] >> (64 - distance); });
  }
  static Vector both(const Vector& a, const Vector& b) noexcept {
    return lanewise([&](int j) noexcept { return a.lanes[j] & b.lanes[j]; });
  }
  static Vector either(const Vector& a, const Vector& b) noexcept {
    return lanewise([&](int j) noexcept { return a.lanes[j] | b.lanes[j]; });
  }
  static Vector without(const Vector& a, const Vector& b) noexcept {
    return lanewise([&](int j) noexcept { return a.lanes[j] & ~b.lanes[j]; });
  }
  static void count(std::uint64_t* counts, const Vector& x) noexcept {
    for (int j = 0; j < 8; ++j) counts[j] += popcount(x.lanes[j]);
  }
  static std::uint64_t popcount(std::uint64_t x) noexcept {
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    return ((x + (x >> 4)) & 0x0F0F0F0F0F0F0F0Fu) * ones >> 56;
  }
};

}  // namespace

namespace tipstaff {
const TokenKernels portable_token = make_token_kernels<PortableBytes>();
}  // namespace tipstaff
