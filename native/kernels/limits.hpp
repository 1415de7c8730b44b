// What a machine can do at best with vectors of one width: the loops of LimitKernels.
#ifndef TIPSTAFF_LIMITS_HPP
#define TIPSTAFF_LIMITS_HPP

#include <cstdint>
#include <cstring>

#include "tipstaff/machine_limits.hpp"

namespace tipstaff {

// Four sums side by side hide the latency of one.
template <class Integers>
static std::uint64_t read_bytes(const unsigned char* data, std::int64_t size) noexcept {
  constexpr std::int64_t width = sizeof(Integers);
  Integers sums[4] = {};
  std::int64_t i = 0;
  for (; i + 4 * width <= size; i += 4 * width) {
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j) {
      Integers read;
      std::memcpy(&read, data + i + j * width, sizeof read);
      sums[j] ^= read;
    }
  }
  std::uint64_t words[sizeof sums / 8];
  std::memcpy(words, sums, sizeof sums);
  std::uint64_t sum = 0;
  for (const std::uint64_t word : words) sum ^= word;
  for (; i < size; ++i) sum ^= data[i];
  return sum;
}

// Enough chains to hide the latency of a multiply-add on two ports.
constexpr int limit_chains = 12;

template <class Floats, class MultiplyAdd>
static float multiply_add_with(std::int64_t rounds, MultiplyAdd multiply_add) noexcept {
  constexpr int lanes = sizeof(Floats) / sizeof(float);
  Floats x[limit_chains];
  for (int j = 0; j < limit_chains; ++j) x[j] = Floats{} + static_cast<float>(j);
  const Floats factor = Floats{} + 0.999f, addend = Floats{} + 0.001f;
  for (std::int64_t i = 0; i < rounds; ++i) {
#pragma GCC unroll 12
    for (int j = 0; j < limit_chains; ++j) x[j] = multiply_add(x[j], factor, addend);
  }
  float sum = 0;
  for (const Floats& chain : x) {
    float values[lanes];
    std::memcpy(values, &chain, sizeof values);
    for (const float value : values) sum += value;
  }
  return sum;
}

}  // namespace tipstaff

#endif
