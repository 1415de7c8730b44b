// Prefix-filtered set similarity join (Chaudhuri et al. 2006; Bayardo et al. 2007).
#include "tipstaff/similarity/jaccard.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tipstaff {

namespace {

struct Posting {
  std::uint32_t token;
  std::int32_t set;
};

// Stable least-significant-byte radix sort by token: four linear passes, fewer where a byte is
// the same everywhere.
void sort_by_token(std::vector<Posting>* postings) {
  std::vector<Posting> other(postings->size());
  for (int shift = 0; shift < 32; shift += 8) {
    std::size_t starts[257] = {};
    for (const Posting& posting : *postings) ++starts[((posting.token >> shift) & 255) + 1];
    bool single = false;
    for (int i = 1; i <= 256; ++i) single |= starts[i] == postings->size();
    if (single) continue;
    for (int i = 1; i <= 256; ++i) starts[i] += starts[i - 1];
    for (const Posting& posting : *postings) {
      other[starts[(posting.token >> shift) & 255]++] = posting;
    }
    postings->swap(other);
  }
}

std::int64_t ceil_share(double threshold, std::int64_t size) {
  // The margin keeps a product that rounding has pushed over an integer from rising by one.
  return static_cast<std::int64_t>(std::ceil(threshold * static_cast<double>(size) - 1e-9));
}

}  // namespace

JaccardResult jaccard_pairs(const std::uint32_t* tokens, std::int64_t n_tokens,
                            const std::int64_t* offsets, std::int64_t n_sets, double threshold,
                            std::int64_t max_pairs, std::int64_t work_limit,
                            std::vector<JaccardPair>* pairs) {
  pairs->clear();
  if (n_sets <= 0) return {JaccardStatus::complete, 0};
  if (offsets[0] < 0) return {JaccardStatus::bad_offsets, 0};
  for (std::int64_t set = 0; set < n_sets; ++set) {
    const std::int64_t start = offsets[set];
    const std::int64_t end = offsets[set + 1];
    if (end < start || end > n_tokens) return {JaccardStatus::bad_offsets, set};
    for (std::int64_t i = start + 1; i < end; ++i) {
      if (tokens[i - 1] >= tokens[i]) return {JaccardStatus::bad_set, set};
    }
  }

  // Rank tokens from rare to common and rewrite each set as ascending ranks.
  const std::int64_t base = offsets[0];
  const auto total = static_cast<std::size_t>(offsets[n_sets] - base);
  std::vector<Posting> postings;
  postings.reserve(total);
  for (std::int64_t set = 0; set < n_sets; ++set) {
    for (std::int64_t i = offsets[set]; i < offsets[set + 1]; ++i) {
      postings.push_back({tokens[i], static_cast<std::int32_t>(set)});
    }
  }
  sort_by_token(&postings);
  std::vector<Posting> groups;  // token: how many sets have it; set: where its run starts
  for (std::size_t i = 0; i < total;) {
    std::size_t end = i + 1;
    while (end < total && postings[end].token == postings[i].token) ++end;
    groups.push_back({static_cast<std::uint32_t>(end - i), static_cast<std::int32_t>(i)});
    i = end;
  }
  sort_by_token(&groups);
  std::vector<std::uint32_t> ranks(total);
  std::vector<std::int64_t> fill(static_cast<std::size_t>(n_sets));
  for (std::int64_t set = 0; set < n_sets; ++set) {
    fill[static_cast<std::size_t>(set)] = offsets[set] - base;
  }
  // Visiting tokens in rank order appends ascending ranks to every set.
  for (std::size_t rank = 0; rank < groups.size(); ++rank) {
    const auto start = static_cast<std::size_t>(groups[rank].set);
    for (std::size_t i = start; i < start + groups[rank].token; ++i) {
      const auto position = static_cast<std::size_t>(fill[static_cast<std::size_t>(postings[i].set)]++);
      ranks[position] = static_cast<std::uint32_t>(rank);
    }
  }

  // Sets by size, smallest first: an indexed set is never larger than the one that asks.
  std::vector<Posting> order(static_cast<std::size_t>(n_sets));
  for (std::int64_t set = 0; set < n_sets; ++set) {
    order[static_cast<std::size_t>(set)] = {
        static_cast<std::uint32_t>(offsets[set + 1] - offsets[set]),
        static_cast<std::int32_t>(set)};
  }
  sort_by_token(&order);

  // A token's postings are a linked list through `entries`, newest (largest) set first, so that the
  // walk ends at the first set that is too small.
  struct Entry {
    std::int32_t set;
    std::int32_t size;
    std::int32_t position;  // of the token within the set
    std::int64_t next;
  };
  std::vector<std::int64_t> heads(groups.size(), -1);
  std::vector<Entry> entries;
  entries.reserve(total);
  std::vector<std::int32_t> seen_by(static_cast<std::size_t>(n_sets), -1);
  std::int64_t work = 0;
  bool stopped = false;
  for (const Posting& current : order) {
    const auto size = static_cast<std::int64_t>(current.token);
    if (size == 0) continue;
    const std::uint32_t* mine = ranks.data() + (offsets[current.set] - base);
    const std::int64_t smallest = ceil_share(threshold, size);
    const std::int64_t prefix = size - smallest + 1;
    for (std::int64_t p = 0; p < prefix && !stopped; ++p) {
      for (std::int64_t at = heads[mine[p]]; at >= 0;) {
        const Entry entry = entries[static_cast<std::size_t>(at)];
        at = entry.next;
        if (++work > work_limit) {
          stopped = true;
          break;
        }
        if (entry.size < smallest) break;
        std::int32_t& mark = seen_by[static_cast<std::size_t>(entry.set)];
        if (mark == current.set) continue;
        mark = current.set;
        const std::uint32_t* other = ranks.data() + (offsets[entry.set] - base);
        // inter / (a + b - inter) >= t; the test below is exact, this only ends hopeless merges.
        const std::int64_t needed = static_cast<std::int64_t>(
            std::ceil(threshold / (1.0 + threshold) * static_cast<double>(size + entry.size) -
                      1e-6));
        // This is the first token that the two share: nothing before it counts.
        std::int64_t i = p;
        std::int64_t j = entry.position;
        std::int64_t shared = 0;
        while (i < size && j < entry.size) {
          const std::int64_t left = std::min(size - i, entry.size - j);
          if (shared + left < needed) break;
          const std::uint32_t a = mine[i];
          const std::uint32_t b = other[j];
          shared += a == b;
          i += a <= b;
          j += b <= a;
        }
        work += i - p + j - entry.position;
        const std::int64_t joined = size + entry.size - shared;
        if (static_cast<double>(shared) / static_cast<double>(joined) >= threshold) {
          if (static_cast<std::int64_t>(pairs->size()) >= max_pairs) {
            stopped = true;
            break;
          }
          pairs->push_back({std::min(current.set, entry.set), std::max(current.set, entry.set),
                            static_cast<std::int32_t>(shared)});
        }
      }
    }
    if (stopped) break;
    for (std::int64_t p = 0; p < prefix; ++p) {
      entries.push_back({current.set, static_cast<std::int32_t>(size), static_cast<std::int32_t>(p),
                         heads[mine[p]]});
      heads[mine[p]] = static_cast<std::int64_t>(entries.size()) - 1;
    }
  }
  std::sort(pairs->begin(), pairs->end(), [](const JaccardPair& a, const JaccardPair& b) {
    return a.first != b.first ? a.first < b.first : a.second < b.second;
  });
  return {stopped ? JaccardStatus::stopped : JaccardStatus::complete, 0};
}

}  // namespace tipstaff
