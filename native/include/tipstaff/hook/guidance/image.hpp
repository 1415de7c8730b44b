// The layout of a repository's compiled rules on disk; tipstaff.guidance.hook.image writes them.
#pragma once

#include <cstdint>

namespace tipstaff::hook {

constexpr char kGuidanceMagic[9] = "TIPSGUID";
constexpr std::uint32_t kGuidanceVersion = 5;

struct Piece {
  std::uint32_t at, bytes;
};

struct GuidanceHead {
  char magic[8];
  std::uint32_t version;
  std::uint32_t head_bytes;
  std::uint64_t file_bytes;
  std::uint64_t checksum;       // fast_sum() of what follows this head
  std::uint32_t rule_count;
  std::uint32_t dimensions;
  double least_share;           // of the best score, that a further rule needs
  double in_scope;              // boosts: for a rule whose scopes hold a path that the prompt names
  float intent, critical, high;
  std::uint32_t tokens;         // that the rules for a prompt may cost together
  Piece root, constitution, hash, table, sources, rules, conflicts, strings, scopes, intents, index, words;
  std::uint64_t table_digest;   // as the table's own header says it
  std::uint64_t edition;        // fnv64() of the version of tipstaff that compiled them
};
static_assert(sizeof(GuidanceHead) == 184, "the layout on disk");

struct GuidanceRule {
  Piece id, text, location;     // in `strings`
  std::uint32_t flags;          // as RuleFlag says
  std::int32_t priority;
  std::uint32_t from, until;    // days as 20261231, 0 for none
  std::uint32_t conflicts, conflict_count;
  std::uint32_t tokens, reserved;  // what its line costs
  std::uint32_t intents;        // bits
  std::uint32_t scopes;         // where its scopes begin, kEverywhere for none
};
static_assert(sizeof(GuidanceRule) == 64, "the layout on disk");

enum RuleFlag : std::uint32_t { kAgainstLaw = 1, kCriticalRisk = 2, kHighRisk = 4, kOfConstitution = 8 };
constexpr std::uint32_t kEverywhere = 0xffff'ffffu;

}  // namespace tipstaff::hook
