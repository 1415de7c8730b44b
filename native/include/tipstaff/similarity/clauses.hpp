// What the clauses of a text say: each a polarity about a topic.
//
// kernels/formats/clauses.py states the same in Python, and what the roles mean.
#ifndef TIPSTAFF_SIMILARITY_CLAUSES_HPP
#define TIPSTAFF_SIMILARITY_CLAUSES_HPP

#include <algorithm>
#include <cstdint>

#include "tipstaff/text/words.hpp"

namespace tipstaff {

// Roles of a word, as tipstaff.kernels.formats.roles numbers them.
constexpr std::uint64_t role_bit(int bit) noexcept { return std::uint64_t{1} << bit; }
constexpr std::uint64_t forbids = role_bit(0), forbids_outright = role_bit(1), obliges = role_bit(2),
                        permits = role_bit(3), permits_outright = role_bit(4),
                        subordinates = role_bit(5), negates = role_bit(6), turns = role_bit(7),
                        breaks = role_bit(8), pairs = role_bit(9), necessary = role_bit(10),
                        content = role_bit(11), lifts = role_bit(12), commands = role_bit(13),
                        reverses = role_bit(14), prefers = role_bit(15), grammar = role_bit(16),
                        function_word = role_bit(17), imperative = role_bit(18),
                        auxiliary = role_bit(19), addressed = role_bit(20), is_form = role_bit(21),
                        not_form = role_bit(22), polite = role_bit(23), need_form = role_bit(24),
                        over_word = role_bit(25), not_word = role_bit(26);
// The first and the second words of pairs: "instead of", "rather than", "so that", "and never".
constexpr int pair_first = 28, pair_second = 32;
constexpr unsigned breaking_pairs = 15, reversing_pairs = 3;

enum class Polarity : std::int8_t { forbid = -1, require = 1, permit = 2, lift = 3 };

constexpr int max_clauses = 4;
constexpr int max_tokens = 128;

struct Clause {
  Polarity polarity;
  bool explicit_;           // a modal or a negation says so, and not the verb's mood alone
  bool directive;           // tells somebody what to do
  bool negative_condition;  // the condition under which it holds is negated
  int begin, end;           // its topic in Clauses::topics: ascending hashes of stems, each once
};

struct Clauses {
  int count = 0;
  Clause clauses[max_clauses];
  std::uint64_t topics[max_tokens];
};

namespace detail {

// What is known of the clause that is being read.
struct Reading {
  std::uint64_t seen = 0;  // roles of its main words
  bool started = false, directs = false;
  int outside = 0;  // negations in conditions
  int negations = 0;
  bool condition = false, subordinate = false;
  bool has_main = false;
  std::uint64_t main = 0;  // roles of its last main word
};

static inline Clause finished(const Reading& clause, bool flip, bool flip_directs, int begin,
                              int end) noexcept {
  const std::uint64_t seen = clause.seen;
  // "never merge without review" requires the review; two negations side by side are two bans.
  const bool negated = clause.negations > 0 && (seen & reverses) == 0;
  const bool obliged = (seen & obliges) != 0;
  Clause result{Polarity::require,
                obliged || clause.negations > 0 || flip,
                clause.directs || (seen & commands) != 0 || flip_directs,
                clause.outside % 2 == 1,
                begin,
                end};
  if ((seen & lifts) != 0 && (clause.negations > 0 || (seen & permits) != 0)) {
    result.polarity = Polarity::lift;
    result.directive = true;
  } else if (negated != flip) {
    result.polarity = Polarity::forbid;
  } else if ((seen & permits) != 0 && clause.negations == 0 && !obliged) {
    result.polarity = Polarity::permit;
  }
  return result;
}

}  // namespace detail

// Reads the clauses of a text that was lowered without its emphasis marks.
static inline void read_clauses(const Lexicon& lexicon, ByteView text, Clauses* out) noexcept {
  detail::Reading clause;
  bool flip = false, flip_directs = false, comma = false;
  std::uint64_t before = 0;
  int begin = 0, end = 0;
  out->count = 0;
  std::int64_t at = 0;
  bool more = true;
  for (int read = 0; more; ++read) {
    ByteView word{nullptr, 0};
    Token token = read < max_tokens ? next_token(text, true, at, word) : Token::none;
    if (token == Token::none) {
      more = false;
      token = Token::stop;  // the text's end ends its last clause
    }
    if (token == Token::comma) {
      comma = true;
      clause.condition = false;
      continue;
    }
    const Meaning found = token == Token::word ? look_up(lexicon, word) : Meaning{true, grammar, 0};
    const std::uint64_t role = found.value;
    const unsigned pair = static_cast<unsigned>(before >> pair_first) &
                          static_cast<unsigned>(role >> pair_second) & breaking_pairs;
    if ((role & grammar) == 0) {
      out->topics[end++] = stem_hash(lexicon, word, found);
      if (!clause.condition && !clause.subordinate) {
        if (!clause.started && (role & imperative) != 0) clause.directs = true;
        clause.started = clause.has_main = true;
        clause.main = role;
      }
    } else {
      bool stop = token == Token::stop;
      if ((role & (turns | pairs)) != 0) {
        const bool preferred = (role & over_word) != 0 && (clause.seen & prefers) != 0;
        stop = preferred || pair != 0 || ((role & turns) != 0 && (comma || (role & breaks) != 0));
      }
      if (stop) {
        if (end > begin) {
          std::sort(out->topics + begin, out->topics + end);
          end = static_cast<int>(std::unique(out->topics + begin, out->topics + end) - out->topics);
          const Clause result = detail::finished(clause, flip, flip_directs, begin, end);
          out->clauses[out->count++] = result;
          if (out->count == max_clauses) return;
          flip = flip_directs = false;
          // "tabs rather than spaces" directs as much as its first half.
          if ((role & over_word) != 0 || (pair & reversing_pairs) != 0) {
            flip = true;
            flip_directs = result.directive;
          }
          begin = end;
        } else {  // "Never: hardcode secrets": the negation belongs to what follows
          flip = flip_directs = flip != (clause.negations > 0);
        }
        clause = {};
      }
      if ((role & content) != 0) out->topics[end++] = stem_hash(lexicon, word, found);
      if ((role & subordinates) != 0) {
        if (end == begin && !clause.has_main) {
          clause.condition = true;
        } else if (!clause.condition) {
          clause.subordinate = true;
        }
      }
      if (clause.condition || clause.subordinate) {
        clause.outside += (role & negates) != 0;
      } else if (token == Token::word) {
        bool directs;
        if ((role & forbids) != 0) {
          ++clause.negations;
          directs = (role & forbids_outright) != 0 || !clause.has_main || (clause.main & auxiliary) != 0;
        } else if ((role & permits) != 0) {
          directs = (role & permits_outright) != 0 || (before & addressed) != 0;
        } else {
          directs = !clause.started && (role & imperative) != 0;
        }
        clause.directs |= directs;
        if ((role & necessary) != 0 && (before & is_form) != 0) {
          clause.seen |= obliges | commands;  // "is required"
        }
        if (((role & necessary) != 0 && (before & not_form) != 0) ||
            ((role & not_word) != 0 && (before & need_form) != 0)) {
          clause.seen |= lifts;
        }
        clause.seen |= role;
        if ((role & polite) == 0) clause.started = true;
        clause.has_main = true;
        clause.main = role;
      }
    }
    comma = false;
    before = role;
  }
}

}  // namespace tipstaff

#endif
