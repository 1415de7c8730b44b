// The fused search over indexes made at random: the same on every instruction set, as a loop that states it; by signs exact
// where all rows are candidates, near where they are not.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <vector>

#include "tipstaff/dispatch.hpp"
#include "tipstaff/scoring/fused_find.hpp"

using namespace tipstaff;

namespace {

int failures = 0;

void check(bool holds, const char* what, Isa isa) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", isa_name(isa), what);
  ++failures;
}

class Blob {
 public:
  explicit Blob(const FusedHead& head) : bytes_(sizeof head) { std::memcpy(bytes_.data(), &head, sizeof head); }
  template <class T>
  void add(const std::vector<T>& section) {
    bytes_.resize((bytes_.size() + 63) / 64 * 64);
    const auto* from = reinterpret_cast<const unsigned char*>(section.data());
    bytes_.insert(bytes_.end(), from, from + section.size() * sizeof(T));
  }
  // At an odd address and of exactly its size: the sanitizer sees what is read beyond.
  const unsigned char* finish() {
    const std::uint64_t size = bytes_.size();
    std::memcpy(bytes_.data() + 8, &size, sizeof size);
    bytes_.insert(bytes_.begin(), 0);
    bytes_.shrink_to_fit();
    return bytes_.data() + 1;
  }
  std::int64_t size() const { return static_cast<std::int64_t>(bytes_.size()) - 1; }

 private:
  std::vector<unsigned char> bytes_;
};

struct Found {
  explicit Found(std::int64_t k) : rows(static_cast<std::size_t>(k)), scores(rows.size()), meanings(rows.size()) {}
  Best best() { return Best{static_cast<std::int64_t>(rows.size()), rows.data(), scores.data(), meanings.data()}; }
  std::vector<std::int32_t> rows;
  std::vector<float> scores;
  std::vector<float> meanings;
};

void test(std::int64_t n, std::int64_t d, std::int64_t k, std::int64_t candidates, std::mt19937& random) {
  const auto size = static_cast<std::size_t>(n), width = static_cast<std::size_t>(d);
  std::normal_distribution<float> normal(0.0f, 40.0f);
  const auto code = [&]() { return static_cast<std::int8_t>(std::clamp(normal(random), -127.0f, 127.0f)); };
  std::vector<std::int8_t> rows(size * width);
  for (auto& one : rows) one = code();
  std::vector<float> scales(size), priors(size), bonus(size);
  std::vector<std::uint16_t> intents(size);
  std::vector<unsigned char> mask(size);
  for (std::size_t i = 0; i < size; ++i) {
    scales[i] = 0.0005f + 0.000001f * static_cast<float>(random() % 100);
    priors[i] = 0.001f * static_cast<float>(random() % 100);
    bonus[i] = 0.001f * static_cast<float>(random() % 100);
    intents[i] = static_cast<std::uint16_t>(random() % 16);
    mask[i] = random() % 3 != 0;
  }
  const std::vector<std::uint64_t> terms{3, 5, 9};
  const std::vector<float> weights{1.0f, 2.0f, 3.0f};
  std::vector<std::uint32_t> starts{0}, posting_rows;
  std::vector<float> postings;
  for (int term = 0; term < 3; ++term) {
    for (std::uint32_t row = 0; row < n; ++row) {
      if (random() % 4 != 0) continue;
      posting_rows.push_back(row);
      postings.push_back(0.1f * static_cast<float>(random() % 30));
    }
    starts.push_back(static_cast<std::uint32_t>(posting_rows.size()));
  }
  std::vector<float> mean(width), factors(size), space(static_cast<std::size_t>(rotation_floats(d)));
  std::vector<unsigned char> bits(static_cast<std::size_t>(sign_bytes(n, d)));
  sign_rows(rows.data(), reinterpret_cast<const unsigned char*>(scales.data()), n, d, mean.data(), factors.data(), bits.data(),
            space.data());
  FusedHead head{};
  std::memcpy(head.magic, "TSFUSED2", 8);
  head.n = head.n_signs = static_cast<std::uint32_t>(n);
  head.dimensions = static_cast<std::uint32_t>(d);
  head.n_terms = 3;
  head.n_postings = static_cast<std::uint32_t>(postings.size());
  head.spread = 1.0f;
  Blob blob(head);
  blob.add(rows);
  blob.add(scales);
  blob.add(priors);
  blob.add(intents);
  blob.add(terms);
  blob.add(weights);
  blob.add(starts);
  blob.add(posting_rows);
  blob.add(postings);
  blob.add(std::vector<float>{});
  blob.add(std::vector<std::uint32_t>{0});
  blob.add(std::vector<std::uint64_t>{});
  if (n > 0) blob.add(mean);
  blob.add(factors);
  blob.add(bits);
  const unsigned char* data = blob.finish();
  FusedIndex index;
  check(open_fused({data, blob.size()}, &index), "the index opens", Isa::portable);
  check(!open_fused({data, blob.size() - 1}, &index), "a cut one does not", Isa::portable);
  if (!open_fused({data, blob.size()}, &index)) return;

  auto query = std::make_unique<FusedQuery>();
  query->own.clear();
  query->terms.clear();
  query->own.add(5, 1.0f);
  for (const std::uint64_t term : {5, 9, 77}) query->terms.add(term, term == 5 ? 1.0f : 0.5f);
  for (std::size_t i = 0; i < width; ++i) query->codes[i] = code();
  query->scale = 0.01f;
  query->read = TaskRead{};
  auto scratch = std::make_unique<FusedScratch>();
  auto signs = std::make_unique<SignScratch>();
  std::vector<Estimate> room(static_cast<std::size_t>(estimate_room(candidates)));
  signs->found = room.data();
  signs->candidates = candidates;
  for (const bool masked : {false, true}) {
    const FusedExtras extras{masked ? mask.data() : nullptr, nullptr, masked ? reinterpret_cast<unsigned char*>(bonus.data()) : nullptr, 4,
                             0.05f};
    // As it is stated: all scores, in order.
    std::vector<float> words(size);
    float most = 3.0f;
    for (std::size_t term = 1; term < 3; ++term) {
      for (std::uint32_t p = starts[term]; p < starts[term + 1]; ++p) words[posting_rows[p]] += (term == 1 ? 1.0f : 0.5f) * postings[p];
    }
    for (std::size_t i = 0; i < size; ++i) most = !masked || mask[i] != 0 ? std::max(most, words[i]) : most;
    std::vector<std::pair<float, std::int32_t>> stated;
    for (std::size_t i = 0; i < size; ++i) {
      if (masked && mask[i] == 0) continue;
      std::int32_t product = 0;
      for (std::size_t j = 0; j < width; ++j) product += rows[i * width + j] * query->codes[j];
      float score = scales[i] * query->scale * static_cast<float>(product) + 0.3f / most * words[i] + priors[i];
      score += (intents[i] & 4) != 0 ? 0.05f : 0.0f;
      if (masked) score += bonus[i];
      stated.emplace_back(-score, static_cast<std::int32_t>(i));
    }
    std::sort(stated.begin(), stated.end());
    const auto count = std::min<std::int64_t>(k, static_cast<std::int64_t>(stated.size()));
    std::vector<std::int32_t> first;
    for (int number = 0; number < isa_count; ++number) {
      const auto isa = static_cast<Isa>(number);
      if (!isa_available(isa)) continue;
      const FusedKernels* kernels = fused_kernels(isa);
      Found exact(k), near(k);
      const FusedAnswer all = kernels->find(index, *query, extras, scratch.get(), exact.best(), nullptr);
      const FusedAnswer some = kernels->find(index, *query, extras, scratch.get(), near.best(), signs.get());
      check(all.found == count && some.found == count, "as many entries", isa);
      std::int64_t shared = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        const auto at = static_cast<std::size_t>(i);
        check(exact.rows[at] == stated[at].second && exact.scores[at] == -stated[at].first, "rows and scores as stated", isa);
        for (std::int64_t j = 0; j < some.found; ++j) {
          const auto other = static_cast<std::size_t>(j);
          if (exact.rows[at] != near.rows[other]) continue;
          ++shared;
          check(exact.scores[at] == near.scores[other] && exact.meanings[at] == near.meanings[other], "the same bits", isa);
        }
      }
      if (candidates >= n) check(shared == count && all.relevance == some.relevance, "exact where all are candidates", isa);
      else check(shared * 10 >= count * 7, "most of the best are found", isa);
      if (first.empty()) first = near.rows;
      check(first == near.rows, "the same rows on every set", isa);
    }
  }
}

}  // namespace

int main() {
  std::mt19937 random(7);
  for (const std::int64_t d : {16, 48, 64, 112, 256, 1024}) {
    for (const std::int64_t n : {0, 1, 31, 64, 65, 200}) test(n, d, 5, 256, random);
  }
  test(20000, 64, 5, 4000, random);
  test(4096, 256, 10, 1500, random);
  test(9000, 256, 10, 2500, random);
  test(70, 16, 0, 8, random);
  return failures == 0 ? 0 : 1;
}
