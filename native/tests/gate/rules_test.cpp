// Globs and findings: the parts of matching that need no image.
#include <cstdio>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tipstaff/gate/rules/trial.hpp"

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

  // Two letters side by side are found wherever they are, in any case, and classes of many letters may always be there.
  for (std::size_t size = 0; size < 70; ++size) {
    for (std::size_t at = 0; at + 1 < size; ++at) {
      std::string text(size, 'x');
      text[at] = at % 2 == 0 ? 'k' : 'K';
      text[at + 1] = '/';
      const std::unique_ptr<char[]> block(new char[size]);  // of exactly its size
      std::memcpy(block.get(), text.data(), size);
      const std::string_view given(block.get(), size);
      check(may_hold_pair(given, letter_class('k'), letter_class('/')), "a pair is found");
      check(!may_hold_pair(given, letter_class('/'), letter_class('k')), "and not the other way round");
      check(may_hold_pair(given, letter_class('k'), letter_class('7')) && may_hold_pair(given, kWordEnd, letter_class('q')), "many letters");
    }
    check(!may_hold_pair(std::string(size, 'x'), letter_class('k'), letter_class('/')), "and where there is none, none");
  }

  // Sets of letters of which none is missing, of any number of sets that are looked at together.
  std::mt19937 random(11);
  for (std::uint32_t count = 0; count <= kSetsAtOnce + 5; ++count) {
    std::vector<std::uint32_t> sets(count);
    for (std::uint32_t& set : sets) set = random() & random() & random();
    const std::uint32_t missing = random() & random();
    std::uint64_t without = 0;
    for (std::uint32_t i = 0; i < count && i < kSetsAtOnce; ++i)
      if ((sets[i] & missing) == 0) without |= std::uint64_t{1} << i;
    check(sets_without(sets.data(), count, missing) == without, "sets without missing letters");
    check(sets_without(sets.data(), count, 0) == (count < 64 ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0}), "none is missing");
  }

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
