// What is done in a process of its own that nobody waits for: compiling a repository's rules again after an upgrade, and
// tidying what is kept for undo.
//
//   STATE/compiler            the interpreter by which this package last compiled anything
//   STATE/undo/.untidied      something was kept since it was last tidied
//   STATE/compiling/<16 hex>  for a repository: empty while it is compiled, then gone, or why it could not be
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/hook/state.hpp"

extern "C" {
// Starts a program in a session of its own, with none of this one's files; its arguments end with a null.
void tipstaff_start_apart(const char* const* arguments) noexcept;
}

namespace tipstaff::hook::compiling {

// Asks for a repository to be compiled again by `start`; returns whether that is under way, false where it cannot be or
// has failed within the last hour.
bool ask(const Path& state, std::string_view repository, std::uint64_t now_s) noexcept;

// Notes that something was kept; asks for it to be tidied by `start`, where that was so many seconds ago.
void note_kept(const Path& state) noexcept;
void ask_to_tidy(const Path& state, std::uint64_t now_s, std::uint64_t least_s) noexcept;

// Starts what was asked for; the answer is out by then.
void start() noexcept;

}  // namespace tipstaff::hook::compiling
