// The hash by which names are found: of programs, options, subcommands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tipstaff::gate {

namespace hashing {

// Bytes of a text as a number, the first one lowest.
constexpr std::uint64_t byte_at(const char* p, int place) noexcept {
  return std::uint64_t{static_cast<unsigned char>(p[place])} << (8 * place);
}
constexpr std::uint64_t four(const char* p) noexcept { return byte_at(p, 0) | byte_at(p, 1) | byte_at(p, 2) | byte_at(p, 3); }
constexpr std::uint64_t eight(const char* p) noexcept {
  return byte_at(p, 0) | byte_at(p, 1) | byte_at(p, 2) | byte_at(p, 3) | byte_at(p, 4) | byte_at(p, 5) | byte_at(p, 6) | byte_at(p, 7);
}

}  // namespace hashing

// Of the first and the last eight bytes of a name, at most, and of how many it has; letter case does not count.
// tipstaff.gates.image.layout has the same.
constexpr std::uint32_t hash_name(std::string_view name) noexcept {
  std::uint64_t first = 0, last = 0;
  const std::size_t n = name.size();
  const char* const data = name.data();
  if (n >= 8) {
    first = hashing::eight(data);
    last = hashing::eight(data + n - 8);
  } else if (n >= 4) {
    first = hashing::four(data);
    last = hashing::four(data + n - 4);
  } else if (n != 0) {
    first = static_cast<unsigned char>(data[0]);
    last = static_cast<std::uint64_t>(static_cast<unsigned char>(data[n / 2])) << 8 | static_cast<unsigned char>(data[n - 1]);
  }
  constexpr std::uint64_t kSmall = 0x2020202020202020u;
  std::uint64_t hash = ((first | kSmall) ^ n) * 0x9e3779b97f4a7c15u;
  hash = (hash ^ hash >> 32 ^ (last | kSmall)) * 0xd6e8feb86659fd93u;
  return static_cast<std::uint32_t>(hash >> 32);
}

}  // namespace tipstaff::gate
