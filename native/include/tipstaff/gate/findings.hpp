// What the gates found in one event.
#pragma once

#include <cstdint>

#include "tipstaff/gate/tree/command.hpp"
#include "tipstaff/gate/rules/image.hpp"

namespace tipstaff::gate {

struct Finding {
  std::uint32_t rule = kNothing;  // kNothing: said by a gate that has no rules
  Decision decision = Decision::allow;
  Gate gate = Gate::destructive;
  Span span;                       // the command
  Span focus;                      // the word that decided, else as span
  std::uint32_t command = kNone;
  std::uint32_t classes = 0;       // of the path that decided; lines that were changed, from the diff-size gate
  std::uint32_t field = 0;         // the field of the tool call that the spans are about
  bool uncertain = false;          // the policy decided, because something could not be known
};

struct Verdict {
  static constexpr std::uint32_t kFindings = 64;
  Finding findings[kFindings];
  std::uint32_t count = 0;
  std::uint32_t left_out = 0;  // findings for which there was no room; never the most severe ones
  Decision decision = Decision::allow;
  std::uint32_t marks = 0;

  void clear() noexcept {
    count = left_out = marks = 0;
    decision = Decision::allow;
  }
  void add(const Finding& finding) noexcept {
    if (finding.decision > decision) decision = finding.decision;
    for (std::uint32_t i = 0; i < count; ++i) {
      Finding& other = findings[i];
      if (other.rule == finding.rule && other.gate == finding.gate && other.span.start == finding.span.start &&
          other.span.end == finding.span.end) {
        if (finding.decision > other.decision) other = finding;
        return;
      }
    }
    if (count < kFindings) {
      findings[count++] = finding;
      return;
    }
    ++left_out;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (findings[i].decision < finding.decision) {
        findings[i] = finding;
        return;
      }
    }
  }
};

}  // namespace tipstaff::gate
