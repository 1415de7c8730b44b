// The verdict by evidence: what a call would lose is looked at and kept, and what is not lost is not asked about.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/engine.hpp"
#include "tipstaff/gate/proof.hpp"
#include "tipstaff/hook/json.hpp"
#include "tipstaff/undo/effects.hpp"
#include "tipstaff/undo/keep.hpp"

namespace tipstaff::gate {

class Evidence {
 public:
  explicit Evidence(const record::Config& config) noexcept : facts_(arena_), effects_(arena_), keep_(arena_, facts_, limits_of(config)) {}

  undo::Effects& effects() noexcept { return effects_; }
  // From here on it is asked whether the call is proven to read alone; to be called before it is evaluated.
  void ask_for_proof(const Surroundings& around) noexcept;
  bool is_proven(const Event& event, const Verdict& verdict) const noexcept;
  // Looks at what the effects would lose, and changes the verdict: findings about what is kept, or not lost, go; what
  // cannot be kept is asked about. Nothing is written.
  void judge(const Image& image, const Settings& settings, const Surroundings& around, Verdict* verdict) noexcept;
  bool keeps() const noexcept { return wanted_ && !keep_.is_empty(); }
  // Keeps it; false where that cannot be, and nothing is left behind.
  bool keep(std::string_view state, std::string_view command, std::string_view session, std::string_view working) noexcept;
  std::string_view id() const noexcept { return undo::name_of(folder_); }

  // What is lost, in words; nothing where all of it would come back from git.
  bool loses() const noexcept { return keep_.loses(); }
  void say_lost(std::uint64_t now_ns, hook::Writer& out) const noexcept;
  void say_why(hook::Writer& out) const noexcept;

  // The facts of the call, one a line, without what ends it.
  void say_facts(std::uint64_t now_ns, hook::Writer& out) const noexcept;

 private:
  static undo::Limits limits_of(const record::Config& config) noexcept;
  undo::Arena arena_;
  undo::Facts facts_;
  undo::Effects effects_;
  undo::Keep keep_;
  std::string_view folder_;
  bool wanted_ = false;
};

}  // namespace tipstaff::gate
