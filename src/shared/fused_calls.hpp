// What _fused.pyx calls: the templates of fused.hpp with the kernels of one instruction set.
#ifndef TIPSTAFF_FUSED_CALLS_HPP
#define TIPSTAFF_FUSED_CALLS_HPP

#include <new>

#include "tipstaff/dispatch.hpp"
#include "tipstaff/scoring/fused_find.hpp"

namespace tipstaff {

constexpr std::int64_t MOST_TERMS = QueryWords::kMost;

struct SearchMemory {
  FusedQuery query;
  FusedScratch scratch;
  SignScratch signs;
};

// One search's memory: of fixed size, and what may be among the best where signs choose.
inline std::int64_t search_bytes(std::int64_t candidates) noexcept {
  return static_cast<std::int64_t>(sizeof(SearchMemory)) + estimate_room(candidates) * static_cast<std::int64_t>(sizeof(Estimate));
}

inline std::int64_t all_terms(const Lexicon& lexicon, ByteView text, std::uint64_t* out, std::int64_t room) noexcept {
  QueryWords words;
  words.read(text);
  std::int64_t n = 0;
  read_terms(lexicon, words, [&](std::uint64_t term, std::uint64_t) noexcept {
    if (n < room) out[n++] = term;
  });
  return n;
}

// Signs choose where `candidates` is above 0. `memory` is aligned to 64 bytes. Of an index without dimensions the table is not
// read.
inline FusedAnswer search(const WordPieceKernels& pieces, const FusedKernels& kernels, const WordPieces& table,
                          const Lexicon& lexicon, const FusedIndex& index, ByteView task, ByteView kinds, ByteView path,
                          const FusedExtras& extras, std::int64_t candidates, unsigned char* memory,
                          const Best& best) noexcept {
  auto* own = new (memory) SearchMemory;
  const auto embed = [&](ByteView text, float* out) noexcept {
    if (index.head.dimensions > 0) pieces.embed(table, text, out);
  };
  read_query(index, lexicon, task, kinds, path, embed, &own->query);
  own->signs.candidates = candidates;
  own->signs.found = reinterpret_cast<Estimate*>(memory + sizeof(SearchMemory));
  return kernels.find(index, own->query, extras, &own->scratch, best, candidates > 0 ? &own->signs : nullptr);
}

}  // namespace tipstaff

#endif
