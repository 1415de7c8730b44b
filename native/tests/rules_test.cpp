// Globs and findings: the parts of matching that need no image.
#include <cstdio>
#include <memory>
#include <string>

#include "tipstaff/gate/rules.hpp"

using namespace tipstaff::gate;

namespace {
int failures = 0;
void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "rules: %s\n", what);
  ++failures;
}
}  // namespace

int main() {
  using rules::matches_general;
  check(matches_general("a*b?c", "axxbyc") && !matches_general("a*b?c", "axxbc"), "stars and marks");
  check(matches_general("\\*", "*") && !matches_general("\\*", "x") && matches_general("/\\?", "/?"), "escaped ones are plain");
  check(matches_general("*", "") && matches_general("", "") && !matches_general("", "x"), "empty ones");
  check(matches_general("main", "MAIN"), "letter case does not count");
  check(rules::contains_folded("xxPRODxx", "prod") && !rules::contains_folded("pro", "prod"), "parts");
  check(rules::is_off("false") && rules::is_off("None") && !rules::is_off("true"), "values that switch an option off");

  auto verdict = std::make_unique<Verdict>();
  for (std::uint32_t i = 0; i < 100; ++i) {
    Finding finding;
    finding.rule = i;
    finding.decision = i == 99 ? Decision::block : Decision::warn;
    verdict->add(finding);
  }
  bool kept = false;
  for (std::uint32_t i = 0; i < verdict->count; ++i) kept = kept || verdict->findings[i].rule == 99;
  check(verdict->count == Verdict::kFindings && verdict->left_out == 36, "what has no room is counted");
  check(kept && verdict->decision == Decision::block, "the most severe one is kept");
  Finding again;
  again.rule = 99;
  again.decision = Decision::warn;
  verdict->add(again);
  check(verdict->count == Verdict::kFindings && verdict->decision == Decision::block, "one finding counts once");
  return failures == 0 ? 0 : 1;
}
