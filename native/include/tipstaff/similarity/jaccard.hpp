// All pairs of token sets whose Jaccard similarity reaches a threshold.
#ifndef TIPSTAFF_SIMILARITY_JACCARD_HPP
#define TIPSTAFF_SIMILARITY_JACCARD_HPP

#include <cstdint>
#include <vector>

namespace tipstaff {

struct JaccardPair {
  std::int32_t first;   // first < second
  std::int32_t second;
  std::int32_t shared;  // size of the intersection
};

enum class JaccardStatus : int {
  complete = 0,
  stopped = 1,     // at max_pairs or at the limit of work: the pairs found are right, some may miss
  bad_offsets = 2,  // not ascending, or beyond the tokens
  bad_set = 3,     // a set's tokens are not strictly ascending
};

struct JaccardResult {
  JaccardStatus status;
  std::int64_t where;  // the set at fault
};

// Sets are strictly ascending runs tokens[offsets[i] .. offsets[i + 1]). Two empty sets do not pair.
//
// Sets that reach threshold t share a token among the first size - ceil(t size) + 1 of each, when
// tokens are ordered from rare to common; and their sizes differ by no more than a factor t. So each
// set is only compared with sets of fitting size that share one of its rare tokens. `work_limit`
// bounds the index entries and tokens looked at; past it the search stops. Pairs come in order.
// May throw std::bad_alloc.
JaccardResult jaccard_pairs(const std::uint32_t* tokens, std::int64_t n_tokens,
                            const std::int64_t* offsets, std::int64_t n_sets, double threshold,
                            std::int64_t max_pairs, std::int64_t work_limit,
                            std::vector<JaccardPair>* pairs);

}  // namespace tipstaff

#endif
