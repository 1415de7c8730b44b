// What _fused.pyx calls: the templates of fused.hpp with the kernels of one instruction set.
#ifndef TIPSTAFF_FUSED_CALLS_HPP
#define TIPSTAFF_FUSED_CALLS_HPP

#include "tipstaff/dispatch.hpp"
#include "tipstaff/scoring/fused.hpp"

namespace tipstaff {

constexpr std::int64_t MOST_TERMS = QueryWords::kMost;

// One search's memory: the query and a number or two for each row.
inline std::int64_t search_bytes(std::int64_t n) noexcept {
  return static_cast<std::int64_t>((sizeof(FusedQuery) + 63) / 64 * 64) + (n + 1) * static_cast<std::int64_t>(sizeof(FusedRow));
}

inline std::int64_t all_terms(const Lexicon& lexicon, Span text, std::uint64_t* out, std::int64_t room) noexcept {
  QueryWords words;
  words.read(text);
  std::int64_t n = 0;
  read_terms(lexicon, words, [&](std::uint64_t term, std::uint64_t) noexcept {
    if (n < room) out[n++] = term;
  });
  return n;
}

inline FusedAnswer search(const WordPieceKernels& kernels, const WordPieces& table, const Lexicon& lexicon,
                          const FusedIndex& index, Span task, Span kinds, Span path, const FusedExtras& extras,
                          void* scratch, std::int32_t* rows, float* scores, float* meanings,
                          std::int64_t k) noexcept {
  struct Any {};
  auto* query = static_cast<FusedQuery*>(scratch);
  auto* space = reinterpret_cast<FusedRow*>(static_cast<unsigned char*>(scratch) + (sizeof(FusedQuery) + 63) / 64 * 64);
  const auto embed = [&](Span text, float* out) noexcept { kernels.embed(table, text, out); };
  read_query(index, lexicon, task, kinds, path, embed, query);
  return find_fused<Any>(index, *query, extras, space, rows, scores, meanings, k, kernels.dots);
}

}  // namespace tipstaff

#endif
