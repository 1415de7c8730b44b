// The gate engine: one tool call in, one verdict out. No heap, no exceptions; the caller owns all memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/findings.hpp"
#include "tipstaff/gate/flow.hpp"
#include "tipstaff/gate/rules/image.hpp"
#include "tipstaff/gate/rules/trace.hpp"
#include "tipstaff/gate/tool_fields.hpp"
#include "tipstaff/gate/tree/command.hpp"
#include "tipstaff/gate/tree/surroundings.hpp"
#include "tipstaff/gate/tree/tree.hpp"
#include "tipstaff/undo/effects.hpp"

namespace tipstaff::gate {

// What a caller may set apart from the image.
struct Settings {
  record::Config config{};
  bool unattended = false;

  Decision uncertain() const noexcept {
    return static_cast<Decision>(unattended ? config.uncertain_unattended : config.uncertain_interactive);
  }
  bool on(Gate gate) const noexcept { return (config.switches >> static_cast<std::uint32_t>(gate)) & 1; }
};

struct Event {
  std::string_view tool;  // empty: a command, in the first field
  const Field* fields = nullptr;
  std::uint32_t field_count = 0;
  Dialect dialect = Dialect::shell;  // of commands
};

namespace engine {

inline std::string_view name_of(Decision decision) noexcept {
  switch (decision) {
    case Decision::warn: return "warn";
    case Decision::confirm: return "require-confirmation";
    case Decision::block: return "block";
    default: return "allow";
  }
}

}  // namespace engine

// Judges one event. `tree` is room to work in; it holds what was read last where `trace` asks how that was judged.
// `flow`, `trace` and `effects`, to which what the call would do to files is added, may be null.
void evaluate(const Image& image, const Settings& settings, const Event& event, const Surroundings& surroundings, Tree& tree,
              FlowState* flow, Verdict* verdict, const rules::Trace* trace = nullptr, undo::Effects* effects = nullptr) noexcept;

// The decision for each of `count` commands of a dialect, as numbers.
void decide(const Image& image, const Settings& settings, const Surroundings& surroundings, Dialect dialect,
            const std::string_view* commands, std::size_t count, Tree& tree, unsigned char* decisions) noexcept;

// Whether a glob of the allowlist holds a tool: `*` anywhere stands for any letters, and letter case counts.
bool tool_allowed(std::string_view glob, std::string_view tool) noexcept;

// Lines that a call changes, by its own fields; patches count added and removed lines.
std::uint32_t changed_lines(const Event& event) noexcept;

}  // namespace tipstaff::gate
