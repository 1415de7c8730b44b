// Room for records that are written before they are read.
#pragma once

#include <cstdint>
#include <new>

namespace tipstaff::gate {

template <typename T, std::uint32_t N>
class Raw {
 public:
  T& operator[](std::uint32_t i) noexcept { return reinterpret_cast<T*>(bytes_)[i]; }
  const T& operator[](std::uint32_t i) const noexcept { return reinterpret_cast<const T*>(bytes_)[i]; }
  T* data() noexcept { return reinterpret_cast<T*>(bytes_); }

 private:
  alignas(T) unsigned char bytes_[N * sizeof(T)];
};

}  // namespace tipstaff::gate
