// What is handed to a reader: code, where it comes from, what it inherits, and the tree that it writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/command.hpp"
#include "tipstaff/gate/tree/surroundings.hpp"
#include "tipstaff/gate/tree/tree.hpp"

namespace tipstaff::eval {
class Evaluator;
}

namespace tipstaff::gate {

// Text of a dialect, and where it is in the text that was given.
struct Code {
  std::string_view text;
  Span origin;
  bool verbatim = true;  // text is byte by byte what is at origin; else every place in it maps to origin

  Span at(std::size_t start, std::size_t end) const noexcept {
    if (!verbatim) return origin;
    return {static_cast<std::uint32_t>(origin.start + start), static_cast<std::uint32_t>(origin.start + end)};
  }
};

// What a reader inherits from the code around its own.
struct Frame {
  std::uint32_t node = kNone;
  std::uint32_t carrier = kNone;
  std::uint32_t via = 0;
  std::uint32_t depth = 0;
  std::string_view cwd;
};

namespace limits {
constexpr std::uint32_t kDepth = 24;
constexpr std::size_t kScriptBytes = 256 * 1024;
constexpr std::uint32_t kWords = 4096;      // of one command, as many as a tree of 1 MiB holds
constexpr std::uint32_t kExpansions = 256;  // words that one word may become
constexpr std::size_t kNestedBytes = 4 * 1024 * 1024;  // text that is read again or deeper, all of it together
constexpr std::size_t kMadeBytes = 1024 * 1024;        // code that programs put together, all of it together
constexpr std::size_t kStackBytes = 112 * 1024;        // what a level takes until it asks again, twice
}  // namespace limits

// What all readers of one text share.
struct Reader {
  Tree* tree;
  const Surroundings* surroundings;
  std::size_t nested_bytes = limits::kNestedBytes;  // what is left of them
  std::size_t made_bytes = limits::kMadeBytes;
  eval::Evaluator* evaluator = nullptr;  // of the shell's texts that are read into the tree

  // Whether no more levels fit on the stack: asked wherever reading goes one deeper.
  bool out_of_stack() const noexcept {
    const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
    const auto end = reinterpret_cast<std::uintptr_t>(surroundings->stack_end);
    return end != 0 && here < end + limits::kStackBytes;
  }
};

}  // namespace tipstaff::gate
