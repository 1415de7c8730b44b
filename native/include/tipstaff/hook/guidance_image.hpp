// How the compiled rules of a repository lie on disk; tipstaff.guidance.hook.image writes them.
#pragma once

#include <cstdint>

namespace tipstaff::hook {

constexpr char kGuidanceMagic[9] = "TIPSGUID";
constexpr std::uint32_t kGuidanceVersion = 2;

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
  double floor;                 // cosine below which no rule speaks of a prompt
  double wordless_floor;        // the same where the prompt shares no word with any of the best rules
  double least_share;           // of the best cosine, that a further rule needs
  double in_place;              // boosts: for a rule whose scopes hold a place that the prompt names
  float intent, critical, high;
  std::uint32_t reserved;
  Piece root, constitution, hash, table, sources, rows, rules, conflicts, words, strings, scopes, intents, stems;
  std::uint64_t table_digest;   // as the table's own header says it
};
static_assert(sizeof(GuidanceHead) == 200, "guidance files lie on disk as they are");

struct GuidanceRule {
  Piece id, text, place;        // in `strings`
  std::uint32_t flags;          // as RuleFlag says
  std::int32_t priority;
  std::uint32_t from, until;    // days as 20261231, 0 for none
  std::uint32_t conflicts, conflict_count;
  std::uint32_t words, word_count;  // hashes of the stems of the words that it is about
  std::uint32_t intents;        // bits
  std::uint32_t scopes;         // where its scopes begin, kEverywhere for none
};
static_assert(sizeof(GuidanceRule) == 64, "guidance files lie on disk as they are");

enum RuleFlag : std::uint32_t { kAgainstLaw = 1, kCriticalRisk = 2, kHighRisk = 4, kOfConstitution = 8, kHiddenRule = 16 };
constexpr std::uint32_t kEverywhere = 0xffff'ffffu;

}  // namespace tipstaff::hook
