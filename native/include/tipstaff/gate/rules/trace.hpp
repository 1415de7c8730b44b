// What is reported of the rules that were tried.
#pragma once

#include <cstdint>

#include "tipstaff/gate/rules/image.hpp"

namespace tipstaff::gate::rules {

// Says what happened with each rule that was looked at; for `gate --explain`.
struct Trace {
  void (*tried)(void* self, std::uint32_t command, std::uint32_t rule, bool held, Decision decision) noexcept = nullptr;
  void* self = nullptr;
};

}  // namespace tipstaff::gate::rules
