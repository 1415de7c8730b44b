// Ed25519 by the formulas of RFC 8032: numbers below 2^255 - 19 in sixteen parts of 16 bits, points in extended coordinates.
#include "tipstaff/hook/sha256.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tipstaff::hook {

namespace {

// SHA-512 (FIPS 180-4).
class Sha512 {
 public:
  void update(std::string_view text) noexcept {
    total_ += text.size();
    while (!text.empty()) {
      const std::size_t room = sizeof block_ - used_, taken = text.size() < room ? text.size() : room;
      std::memcpy(block_ + used_, text.data(), taken);
      used_ += taken;
      text.remove_prefix(taken);
      if (used_ == sizeof block_) compress();
    }
  }
  void finish(unsigned char* out) noexcept {
    const std::uint64_t bits = total_ * 8;
    block_[used_++] = 0x80;
    if (used_ > 112) {
      std::memset(block_ + used_, 0, sizeof block_ - used_);
      compress();
    }
    std::memset(block_ + used_, 0, 120 - used_);
    for (int i = 0; i < 8; ++i) block_[120 + i] = static_cast<unsigned char>(bits >> (56 - 8 * i));
    compress();
    for (int i = 0; i < 64; ++i) out[i] = static_cast<unsigned char>(state_[i / 8] >> (56 - 8 * (i % 8)));
  }

 private:
  static std::uint64_t turn(std::uint64_t word, int by) noexcept { return word >> by | word << (64 - by); }
  void compress() noexcept {
    static constexpr std::uint64_t kRound[80] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc, 0x3956c25bf348b538,
    0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118, 0xd807aa98a3030242, 0x12835b0145706fbe,
    0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2, 0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235,
    0xc19bf174cf692694, 0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5, 0x983e5152ee66dfab,
    0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4, 0xc6e00bf33da88fc2, 0xd5a79147930aa725,
    0x06ca6351e003826f, 0x142929670a0e6e70, 0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed,
    0x53380d139d95b3df, 0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30, 0xd192e819d6ef5218,
    0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8, 0x19a4c116b8d2d0c8, 0x1e376c085141ab53,
    0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8, 0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373,
    0x682e6ff3d6b2b8a3, 0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b, 0xca273eceea26619c,
    0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178, 0x06f067aa72176fba, 0x0a637dc5a2c898a6,
    0x113f9804bef90dae, 0x1b710b35131c471b, 0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc,
    0x431d67c49c100d4c, 0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
    };
    std::uint64_t w[80];
    for (int i = 0; i < 16; ++i) {
      w[i] = 0;
      for (int j = 0; j < 8; ++j) w[i] = w[i] << 8 | block_[8 * i + j];
    }
    for (int i = 16; i < 80; ++i)
      w[i] = w[i - 16] + w[i - 7] + (turn(w[i - 15], 1) ^ turn(w[i - 15], 8) ^ w[i - 15] >> 7) + (turn(w[i - 2], 19) ^ turn(w[i - 2], 61) ^ w[i - 2] >> 6);
    std::uint64_t s[8];
    std::memcpy(s, state_, sizeof s);
    for (int i = 0; i < 80; ++i) {
      const std::uint64_t one = s[7] + (turn(s[4], 14) ^ turn(s[4], 18) ^ turn(s[4], 41)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + kRound[i] + w[i];
      const std::uint64_t two = (turn(s[0], 28) ^ turn(s[0], 34) ^ turn(s[0], 39)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
      std::memmove(s + 1, s, 7 * sizeof *s);
      s[4] += one;
      s[0] = one + two;
    }
    for (int i = 0; i < 8; ++i) state_[i] += s[i];
    used_ = 0;
  }

  std::uint64_t state_[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
  };
  unsigned char block_[128];
  std::size_t used_ = 0;
  std::uint64_t total_ = 0;
};

// A number modulo 2^255 - 19.
struct Number {
  std::int64_t part[16];
};

constexpr Number kZero = {{0}}, kOne = {{1}};
constexpr Number kD = {{0x78a3, 0x1359, 0x4dca, 0x75eb, 0xd8ab, 0x4141, 0x0a4d, 0x0070, 0xe898, 0x7779, 0x4079, 0x8cc7, 0xfe73, 0x2b6f, 0x6cee, 0x5203}};
constexpr Number kTwiceD = {{0xf159, 0x26b2, 0x9b94, 0xebd6, 0xb156, 0x8283, 0x149a, 0x00e0, 0xd130, 0xeef3, 0x80f2, 0x198e, 0xfce7, 0x56df, 0xd9dc, 0x2406}};
constexpr Number kRootOfMinusOne = {{0xa0b0, 0x4a0e, 0x1b27, 0xc4ee, 0xe478, 0xad2f, 0x1806, 0x2f43, 0xd7a7, 0x3dfb, 0x0099, 0x2b4d, 0xdf0b, 0x4fc1, 0x2480, 0x2b83}};
constexpr Number kBaseX = {{0xd51a, 0x8f25, 0x2d60, 0xc956, 0xa7b2, 0x9525, 0xc760, 0x692c, 0xdc5c, 0xfdd6, 0xe231, 0xc0a4, 0x53fe, 0xcd6e, 0x36d3, 0x2169}};
constexpr Number kBaseY = {{0x6658, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666, 0x6666}};
constexpr Number kBaseXY = {{0xdda3, 0xa5b7, 0x8ab3, 0x6dde, 0x52f5, 0x7751, 0x9f80, 0x20f0, 0xe37d, 0x64ab, 0x4e8e, 0x66ea, 0x7665, 0xd78b, 0x5f0f, 0x6787}};
constexpr unsigned char kOrder[32] = {0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10};

void carry(Number* a) noexcept {
  for (int i = 0; i < 16; ++i) {
    const std::int64_t over = a->part[i] >> 16;
    a->part[i] -= over * 65536;
    if (i < 15) a->part[i + 1] += over;
    else a->part[0] += 38 * over;
  }
}

Number operator+(const Number& a, const Number& b) noexcept {
  Number sum;
  for (int i = 0; i < 16; ++i) sum.part[i] = a.part[i] + b.part[i];
  return sum;
}
Number operator-(const Number& a, const Number& b) noexcept {
  Number rest;
  for (int i = 0; i < 16; ++i) rest.part[i] = a.part[i] - b.part[i];
  return rest;
}
Number operator*(const Number& a, const Number& b) noexcept {
  std::int64_t wide[31] = {0};
  for (int i = 0; i < 16; ++i)
    for (int j = 0; j < 16; ++j) wide[i + j] += a.part[i] * b.part[j];
  Number product;
  for (int i = 0; i < 16; ++i) product.part[i] = wide[i] + (i < 15 ? 38 * wide[i + 16] : 0);
  carry(&product);
  carry(&product);
  return product;
}

// To a power whose bits are all ones from `top` down, but for those at `without` and `also_without`.
Number power(const Number& a, int top, int without, int also_without) noexcept {
  Number result = a;
  for (int bit = top - 1; bit >= 0; --bit) {
    result = result * result;
    if (bit != without && bit != also_without) result = result * a;
  }
  return result;
}

// The one encoding of a number: below 2^255 - 19, little-endian.
void encode(const Number& from, unsigned char* out) noexcept {
  Number a = from;
  for (int i = 0; i < 3; ++i) carry(&a);
  for (int round = 0; round < 2; ++round) {
    Number less;
    less.part[0] = a.part[0] - 0xffed;
    for (int i = 1; i < 16; ++i) {
      less.part[i] = a.part[i] - (i < 15 ? 0xffff : 0x7fff) - (less.part[i - 1] >> 16 & 1);
      less.part[i - 1] &= 0xffff;
    }
    const bool below = (less.part[15] >> 16 & 1) != 0;
    less.part[15] &= 0xffff;
    if (!below) a = less;
  }
  for (int i = 0; i < 16; ++i) {
    out[2 * i] = static_cast<unsigned char>(a.part[i] & 0xff);
    out[2 * i + 1] = static_cast<unsigned char>(a.part[i] >> 8 & 0xff);
  }
}

bool equal(const Number& a, const Number& b) noexcept {
  unsigned char one[32], other[32];
  encode(a, one);
  encode(b, other);
  return std::memcmp(one, other, sizeof one) == 0;
}
bool is_odd(const Number& a) noexcept {
  unsigned char bytes[32];
  encode(a, bytes);
  return (bytes[0] & 1) != 0;
}

struct Point {
  Number x, y, z, t;
};
constexpr Point kNeutral = {kZero, kOne, kOne, kZero};

// Of any two points, the same as well.
Point operator+(const Point& p, const Point& q) noexcept {
  const Number a = (p.y - p.x) * (q.y - q.x), b = (p.x + p.y) * (q.x + q.y), c = p.t * q.t * kTwiceD, zz = p.z * q.z;
  const Number d = zz + zz, e = b - a, f = d - c, g = d + c, h = b + a;
  return {e * f, h * g, g * f, e * h};
}

void encode(const Point& p, unsigned char* out) noexcept {
  const Number inverse = power(p.z, 254, 2, 4);  // to 2^255 - 21
  encode(p.y * inverse, out);
  out[31] = static_cast<unsigned char>(out[31] | (is_odd(p.x * inverse) ? 0x80 : 0));
}

// The negative of a point; false where the bytes are no point's, or not the one encoding of it.
bool decode_negative(const unsigned char* bytes, Point* out) noexcept {
  Number y;
  for (int i = 0; i < 16; ++i) y.part[i] = bytes[2 * i] | bytes[2 * i + 1] << 8;
  y.part[15] &= 0x7fff;
  unsigned char same[32];
  encode(y, same);
  same[31] = static_cast<unsigned char>(same[31] | (bytes[31] & 0x80));
  if (std::memcmp(same, bytes, sizeof same) != 0) return false;
  const Number yy = y * y, over = yy - kOne, under = yy * kD + kOne;
  const Number third = under * under * under, seventh = third * third * under;
  Number x = over * third * power(over * seventh, 251, 1, 1);  // to 2^252 - 3
  if (!equal(x * x * under, over)) x = x * kRootOfMinusOne;
  if (!equal(x * x * under, over)) return false;
  const bool odd = (bytes[31] & 0x80) != 0;
  if (odd && equal(x, kZero)) return false;
  if (is_odd(x) == odd) x = kZero - x;
  *out = {x, y, kOne, x * y};
  return true;
}

bool is_below_order(const unsigned char* bytes) noexcept {
  for (int i = 31; i >= 0; --i)
    if (bytes[i] != kOrder[i]) return bytes[i] < kOrder[i];
  return false;
}

// A number of 64 bytes modulo the order of the base, little-endian: bit by bit, since it happens once.
void reduce(const unsigned char* wide, unsigned char* out) noexcept {
  std::memset(out, 0, 32);
  for (int bit = 511; bit >= 0; --bit) {
    unsigned over = wide[bit / 8] >> bit % 8 & 1u;
    for (int i = 0; i < 32; ++i) {
      const unsigned twice = static_cast<unsigned>(out[i]) << 1 | over;
      out[i] = static_cast<unsigned char>(twice);
      over = twice >> 8;
    }
    if (is_below_order(out)) continue;
    int borrow = 0;
    for (int i = 0; i < 32; ++i) {
      const int rest = out[i] - kOrder[i] - borrow;
      borrow = rest < 0 ? 1 : 0;
      out[i] = static_cast<unsigned char>(rest);
    }
  }
}

}  // namespace

bool verify_ed25519(std::string_view key, std::string_view message, std::string_view signature) noexcept {
  if (key.size() != 32 || signature.size() != 64) return false;
  const auto* const s = reinterpret_cast<const unsigned char*>(signature.data()) + 32;
  Point negative;
  if (!is_below_order(s) || !decode_negative(reinterpret_cast<const unsigned char*>(key.data()), &negative)) return false;
  Point eighth = negative + negative;
  eighth = eighth + eighth;
  eighth = eighth + eighth;
  if (equal(eighth.x, kZero)) return false;
  Sha512 hash;
  hash.update(signature.substr(0, 32));
  hash.update(key);
  hash.update(message);
  unsigned char wide[64], h[32], found[32];
  hash.finish(wide);
  reduce(wide, h);
  const Point base = {kBaseX, kBaseY, kOne, kBaseXY}, both = base + negative;
  Point sum = kNeutral;
  for (int bit = 255; bit >= 0; --bit) {  // s times the base, and h times the key's negative
    sum = sum + sum;
    const bool one = (s[bit / 8] >> bit % 8 & 1) != 0, other = (h[bit / 8] >> bit % 8 & 1) != 0;
    if (one || other) sum = sum + (one && other ? both : one ? base : negative);
  }
  encode(sum, found);
  return std::memcmp(found, signature.data(), sizeof found) == 0;
}

}  // namespace tipstaff::hook
