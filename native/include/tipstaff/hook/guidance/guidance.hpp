// The rules that matter, handed to the model by the hook: the constitution when a session starts, the rules for a prompt
// when it is sent, and both again after the host has compacted the window.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/hook/event.hpp"
#include "tipstaff/hook/json.hpp"
#include "tipstaff/hook/state.hpp"

namespace tipstaff::hook::guidance {

// Writes the text for the model at this event; nothing where there is none.
void answer(const HookEvent& event, const Path& state, std::string_view repository, std::string_view version,
            std::uint64_t now_s, Writer& out) noexcept;

}  // namespace tipstaff::hook::guidance
