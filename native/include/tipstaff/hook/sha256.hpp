// What approvals are bound and signed with: SHA-256 (FIPS 180-4), HMAC (RFC 2104) over it, and the verification of Ed25519
// (RFC 8032), which needs no secret.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tipstaff::hook {

struct Digest {
  unsigned char bytes[32];
};

// What hashes by blocks of 64 bytes have in common: after the text a bit, zeros, and how many bits it had.
template <class Hash>
class Blocks {
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

 protected:
  // Ends the text, and writes the state's first words.
  void finish(const std::uint32_t* state, unsigned char* out, int bytes) noexcept {
    const std::uint64_t bits = total_ * 8;
    block_[used_++] = 0x80;
    if (used_ > 56) {
      std::memset(block_ + used_, 0, sizeof block_ - used_);
      compress();
    }
    std::memset(block_ + used_, 0, 56 - used_);
    for (int i = 0; i < 8; ++i) block_[56 + i] = static_cast<unsigned char>(bits >> (56 - 8 * i));
    compress();
    for (int i = 0; i < bytes; ++i) out[i] = static_cast<unsigned char>(state[i / 4] >> (24 - 8 * (i % 4)));
  }
  static void read_words(const unsigned char* block, std::uint32_t* words) noexcept {
    for (int i = 0; i < 16; ++i)
      words[i] = static_cast<std::uint32_t>(block[4 * i]) << 24 | static_cast<std::uint32_t>(block[4 * i + 1]) << 16 |
                 static_cast<std::uint32_t>(block[4 * i + 2]) << 8 | block[4 * i + 3];
  }

 private:
  void compress() noexcept {
    static_cast<Hash*>(this)->compress(block_);
    used_ = 0;
  }

  unsigned char block_[64] = {};
  std::size_t used_ = 0;
  std::uint64_t total_ = 0;
};

class Sha256 : public Blocks<Sha256> {
 public:
  Digest finish() noexcept {
    Digest digest;
    Blocks::finish(state_, digest.bytes, 32);
    return digest;
  }

 private:
  friend class Blocks<Sha256>;
  static std::uint32_t turn(std::uint32_t word, int by) noexcept { return word >> by | word << (32 - by); }

  void compress(const unsigned char* block) noexcept {
    static constexpr std::uint32_t kRound[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
        0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
        0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
        0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
        0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
        0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
        0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
    std::uint32_t w[64];
    read_words(block, w);
    for (int i = 16; i < 64; ++i) {
      const std::uint32_t a = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
      const std::uint32_t b = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
      w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    std::uint32_t s[8];
    std::memcpy(s, state_, sizeof s);
    for (int i = 0; i < 64; ++i) {
      const std::uint32_t e = turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25);
      const std::uint32_t one = s[7] + e + ((s[4] & s[5]) ^ (~s[4] & s[6])) + kRound[i] + w[i];
      const std::uint32_t a = turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22);
      const std::uint32_t two = a + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
      std::memmove(s + 1, s, 7 * sizeof s[0]);
      s[4] += one;
      s[0] = one + two;
    }
    for (int i = 0; i < 8; ++i) state_[i] += s[i];
  }

  std::uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
};

inline Digest hmac_sha256(std::string_view key, std::string_view message) noexcept {
  unsigned char block[64] = {};
  if (key.size() > sizeof block) {
    Sha256 shorter;
    shorter.update(key);
    const Digest digest = shorter.finish();
    std::memcpy(block, digest.bytes, sizeof digest.bytes);
  } else if (!key.empty()) {
    std::memcpy(block, key.data(), key.size());
  }
  unsigned char pad[64];
  const auto padded = [&](unsigned char with) noexcept {
    for (std::size_t i = 0; i < sizeof pad; ++i) pad[i] = static_cast<unsigned char>(block[i] ^ with);
    return std::string_view(reinterpret_cast<const char*>(pad), sizeof pad);
  };
  Sha256 inner, outer;
  inner.update(padded(0x36));
  inner.update(message);
  const Digest first = inner.finish();
  outer.update(padded(0x5c));
  outer.update({reinterpret_cast<const char*>(first.bytes), sizeof first.bytes});
  return outer.finish();
}

// Compares without telling by the time where two texts differ.
inline bool equal_secretly(std::string_view left, std::string_view right) noexcept {
  if (left.size() != right.size()) return false;
  unsigned char differ = 0;
  for (std::size_t i = 0; i < left.size(); ++i) differ |= static_cast<unsigned char>(left[i] ^ right[i]);
  return differ == 0;
}

// Whether a message is what the holder of a key signed. `key` has 32 bytes, `signature` 64: of any other size, of an
// encoding that is not the one of its value, and of a key of small order none is valid. Its time depends on what is public.
bool verify_ed25519(std::string_view key, std::string_view message, std::string_view signature) noexcept;

inline void write_hex(const Digest& digest, char* out) noexcept {
  for (int i = 0; i < 32; ++i) {
    out[2 * i] = "0123456789abcdef"[digest.bytes[i] >> 4];
    out[2 * i + 1] = "0123456789abcdef"[digest.bytes[i] & 15];
  }
}

// Reads bytes from as many pairs of hexadecimal digits; false where they are anything else.
inline bool read_bytes(std::string_view text, unsigned char* out, std::size_t bytes) noexcept {
  if (text.size() != 2 * bytes) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
    out[i / 2] = static_cast<unsigned char>(out[i / 2] << 4 | (c <= '9' ? c - '0' : c - 'a' + 10));
  }
  return true;
}

}  // namespace tipstaff::hook
