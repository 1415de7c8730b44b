// Names of calls as verbs and what they are done to: deleteBucket, begin_delete and files_delete_v2 all delete.
#pragma once

#include <array>
#include <cstdint>
#include <iterator>

#include "tipstaff/gate/tree/name_signs.hpp"

namespace tipstaff::gate::program {

// What the name of a call holds that takes something away.
inline constexpr std::string_view kTakingAway[] = {
    "delete", "drop", "destroy", "remove", "purge", "truncate", "terminate", "prune", "flush", "wipe", "clear", "reset", "revoke",
    "kill", "stop", "shutdown", "erase", "empty", "force", "nuke", "undeploy", "rollback", "downgrade", "uninstall", "clean", "deactivate",
    "disable", "deregister", "schedule_key", "schedulekey", "rewrite", "discard", "publish", "expire", "decommission", "unlink", "detach", "expunge", "undefine", "cancel", "obliterate", "update_all",
    "trash", "archive", "suspend", "unregister", "evict", "deprovision", "teardown",
};

// The pairs of letters with which they begin: most code has none of them.
constexpr std::array<std::uint32_t, 32> make_taking_pairs() {
  std::array<std::uint32_t, 32> pairs{};
  for (const std::string_view stem : kTakingAway) pairs[stem[0] & 31] |= std::uint32_t{1} << (stem[1] & 31);
  return pairs;
}
inline constexpr std::array<std::uint32_t, 32> kTakingPairs = make_taking_pairs();

// For each first letter, the stems that begin with it, a bit each.
constexpr std::array<std::uint64_t, 32> make_taking_stems() {
  static_assert(std::size(kTakingAway) <= 64);
  std::array<std::uint64_t, 32> stems{};
  for (std::size_t i = 0; i < std::size(kTakingAway); ++i) stems[kTakingAway[i][0] & 31] |= std::uint64_t{1} << i;
  return stems;
}
inline constexpr std::array<std::uint64_t, 32> kTakingStems = make_taking_stems();

inline bool begins_taking(std::string_view text) noexcept {
  if (text.empty()) return false;
  for (std::uint64_t left = kTakingStems[text[0] & 31]; left != 0; left &= left - 1)
    if (ascii::starts_with(text, kTakingAway[__builtin_ctzll(left)])) return true;
  return false;
}
inline bool holds_taking(std::string_view text) noexcept {
  for (std::size_t i = 0; i + 1 < text.size(); ++i)
    if ((kTakingPairs[text[i] & 31] >> (text[i + 1] & 31) & 1) != 0 && begins_taking(text.substr(i))) return true;
  return text == "del" || text == "rm";
}

// Where `known`, in lower case, is in a text of any letter case.
inline std::size_t find_folded(std::string_view text, std::string_view known, std::size_t at = 0) noexcept {
  for (; at + known.size() <= text.size(); ++at)
    if (ascii::lower(text[at]) == known[0] && ascii::equals(text.substr(at, known.size()), known)) return at;
  return std::string_view::npos;
}

// A call's verb, and the rest of its name after it: delete and bucket, of begin_delete_bucket and deleteBucket.
struct Verb {
  std::string_view verb, what;
};

// The length of the first word of a name: up to an underscore or a capital after a small letter.
inline std::size_t first_word(std::string_view name) noexcept {
  std::size_t end = 0;
  while (end < name.size() && ascii::is_name(name[end]) && name[end] != '_') {
    ++end;
    if (end < name.size() && name[end] >= 'A' && name[end] <= 'Z' && !(name[end - 1] >= 'A' && name[end - 1] <= 'Z')) break;
  }
  return end;
}

// Nothing where a word before it asks, answers or registers: is_deleted, on_delete, getDeleteUrl.
inline Verb verb_of(std::string_view name) noexcept {
  while (!name.empty()) {
    if (name[0] == '_' || !ascii::is_name(name[0])) {
      name.remove_prefix(1);
      continue;
    }
    const std::size_t size = first_word(name);
    const std::string_view word = name.substr(0, size);
    static constexpr Words kVerbs("delete del destroy remove rm drop purge terminate truncate wipe flush reset revoke erase empty clear clean nuke "
        "undeploy rollback downgrade uninstall deactivate disable deregister unregister discard expire decommission unlink "
        "detach expunge undefine cancel obliterate kill stop shutdown prune trash archive suspend evict deprovision "
        "teardown");
    if (kVerbs.has(word)) {
      std::string_view what = name.substr(size);
      while (!what.empty() && what[0] == '_') what.remove_prefix(1);
      return {word, what};
    }
    static constexpr Words kBefore("is can has should may on off before after pre post get set list show describe find count test mock assert expect "
        "confirm ask handle allow add create make build new no not without never when if wait undo log print format parse "
        "to from with will did was");
    if (kBefore.has(word)) {
      return {};
    }
    name.remove_prefix(size);
  }
  return {};
}

}  // namespace tipstaff::gate::program
