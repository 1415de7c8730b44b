// What the machine can do at best, for benchmarks to compare with: reading bytes, and multiply-adds.
#ifndef TIPSTAFF_MACHINE_LIMITS_HPP
#define TIPSTAFF_MACHINE_LIMITS_HPP

#include <cstdint>

namespace tipstaff {

struct LimitKernels {
  // Reads every byte once, in order, and does next to nothing with it.
  std::uint64_t (*read_bytes)(const unsigned char* data, std::int64_t size) noexcept;
  // Runs independent chains of float32 multiply-adds, `rounds` times; returns a value that depends
  // on all of them. Each round is flops_per_round operations, a multiply-add counting two.
  float (*multiply_add)(std::int64_t rounds) noexcept;
  std::int64_t flops_per_round;
};

}  // namespace tipstaff

#endif
