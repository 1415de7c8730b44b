// How a judgement is explained: to the host and its model, and to the person who is asked.
#pragma once

#include <string_view>

#include "tipstaff/hook/judge.hpp"

namespace tipstaff::hook::reasons {

// As the ledger names a gate.
std::string_view name_of(gate::Gate gate) noexcept;

// Writes the reason of a reply whose decision is made: the worst findings, their safer ways, how a person may allow it.
void say(const HookEvent& event, const Situation& situation, Judgement* judgement) noexcept;

// Leaves the whole call where a person reads it; false where they could not be shown all that they would allow.
bool leave_for_a_person(const HookEvent& event, const Situation& situation, const Judgement& judgement) noexcept;

}  // namespace tipstaff::hook::reasons
