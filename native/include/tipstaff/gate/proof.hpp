// Whether a call is proven to read alone: every part of it is understood, reads only, stays in the repository or in what is
// public on the machine, sends nothing, shows no secret, and runs nothing that the repository configures.
//
// What is not listed here is not proven. A proof is of what is there now: paths are followed, patterns are expanded.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/surroundings.hpp"
#include "tipstaff/gate/tree/tree.hpp"
#include "tipstaff/undo/facts.hpp"
#include "tipstaff/undo/memory.hpp"

namespace tipstaff::gate {

class Proof {
 public:
  Proof(undo::Arena& arena, undo::Facts& facts, const Surroundings& around) noexcept;
  Proof(const Proof&) = delete;
  Proof& operator=(const Proof&) = delete;

  // Takes what a text of a call was read as; each of them must hold.
  void take(const Tree& tree, std::string_view text) noexcept;
  bool holds() const noexcept { return taken_ != 0 && !failed_; }

 private:
  friend struct ProvenCommand;
  bool is_plain(std::string_view text) const noexcept;
  // What shows contents must name no secret; an empty path is not known.
  bool may_read(std::string_view path, bool contents) noexcept;
  bool has_file(std::string_view name) noexcept;
  bool is_inside(std::string_view path) noexcept;
  // Whether no secret is below a folder. hidden, ignored: whether such files count; `glob`: those alone that it matches.
  bool has_no_secret(std::string_view folder, bool hidden, bool ignored, std::string_view glob, std::uint32_t* left) noexcept;
  bool is_own_program(const Word& name, std::string_view program) noexcept;
  // Whether git runs nothing here that the repository configures.
  bool is_git_plain(bool looks_at_files) noexcept;
  bool tracks_secrets() noexcept;

  undo::Arena& arena_;
  undo::Facts& facts_;
  const Surroundings& around_;
  undo::Repository* repository_ = nullptr;
  std::uint32_t taken_ = 0;
  bool failed_ = false;
  signed char git_ = -1, git_files_ = -1, tracked_ = -1;
};

}  // namespace tipstaff::gate
