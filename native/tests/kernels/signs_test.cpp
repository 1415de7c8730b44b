// Sign rows: the same on every instruction set, exact where all rows are candidates, near where they are not.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "tipstaff/dispatch.hpp"

using namespace tipstaff;

namespace {

int failures = 0;

void check(bool holds, const char* what, Isa isa) {
  if (holds) return;
  std::fprintf(stderr, "%s: %s\n", isa_name(isa), what);
  ++failures;
}

struct Found {
  explicit Found(std::int64_t k)
      : rows(static_cast<std::size_t>(k)), scores(rows.size()), cosines(rows.size()) {}
  Best best() { return Best{static_cast<std::int64_t>(rows.size()), rows.data(), scores.data(), cosines.data()}; }
  std::vector<std::int32_t> rows;
  std::vector<float> scores;
  std::vector<float> cosines;
};

void test(std::int64_t n, std::int64_t d, std::int64_t k, std::int64_t candidates, std::mt19937& random) {
  std::normal_distribution<float> normal;
  const auto size = static_cast<std::size_t>(n);
  const auto width = static_cast<std::size_t>(d);
  std::vector<float> vectors((size + 1) * width);
  for (std::size_t row = 0; row <= size; ++row) {
    float squares = 0;
    for (std::size_t i = 0; i < width; ++i) {
      vectors[row * width + i] = normal(random);
      squares += vectors[row * width + i] * vectors[row * width + i];
    }
    for (std::size_t i = 0; i < width; ++i) vectors[row * width + i] /= std::sqrt(squares);
  }
  std::vector<float> mean(width, 0.01f);
  std::vector<std::uint16_t> intents(size);
  std::vector<std::uint8_t> risks(size);
  std::vector<std::uint8_t> mask(size);
  for (std::size_t i = 0; i < size; ++i) {
    intents[i] = static_cast<std::uint16_t>(random());
    risks[i] = static_cast<std::uint8_t>(random() % 6);
    mask[i] = random() % 3 != 0;
  }
  // Sizes to the byte: the sanitizer sees what is read beyond.
  std::vector<unsigned char> bits(static_cast<std::size_t>(sign_bytes(n, d)));
  std::vector<float> factors(size);
  std::vector<float> space(static_cast<std::size_t>(rotation_floats(d)));
  const auto* bytes = reinterpret_cast<const unsigned char*>(vectors.data());
  const auto* mean_bytes = reinterpret_cast<const unsigned char*>(mean.data());
  sign_rows(bytes, n, d, mean_bytes, bits.data(), factors.data(), space.data());
  const SignRows signs{bits.data(), reinterpret_cast<const unsigned char*>(factors.data()), mean_bytes};
  const auto room = static_cast<std::size_t>(round_up(sign_scratch_bytes(d, candidates), 64));
  auto* scratch = static_cast<unsigned char*>(std::aligned_alloc(64, room));
  const Query query{bytes + size * width * 4, 5, 0xff};
  const Boosts boosts{0.03f, 0.01f, 0.02f};
  std::vector<std::int32_t> first;
  for (const bool masked : {false, true}) {
    const Rows rows{bytes, reinterpret_cast<const unsigned char*>(intents.data()), risks.data(),
                    masked ? mask.data() : nullptr, n, d};
    first.clear();
    for (int number = 0; number < isa_count; ++number) {
      const auto isa = static_cast<Isa>(number);
      if (!isa_available(isa)) continue;
      Found exact(k);
      Found near(k);
      const std::int64_t count = score_kernels(isa)->topk_f32(rows, query, boosts, exact.best());
      std::int64_t scored = 0;
      const std::int64_t found = sign_kernels(isa)->topk_signs(rows, signs, query, boosts, near.best(), candidates,
                                                               scratch, &scored);
      check(found == count, "as many entries", isa);
      check(scored <= candidates, "no more rows scored than asked for", isa);
      std::int64_t shared = 0;
      for (std::int64_t i = 0; i < count; ++i) {
        for (std::int64_t j = 0; j < found; ++j) {
          const auto a = static_cast<std::size_t>(i);
          const auto b = static_cast<std::size_t>(j);
          if (exact.rows[a] != near.rows[b]) continue;
          ++shared;
          check(exact.scores[a] == near.scores[b] && exact.cosines[a] == near.cosines[b], "the same bits", isa);
        }
      }
      if (candidates >= n) check(shared == count, "exact where all are candidates", isa);
      else check(shared * 10 >= count * 7, "most of the best are found", isa);
      near.rows.resize(static_cast<std::size_t>(found));
      if (first.empty()) first = near.rows;
      check(first == near.rows, "the same rows on every set", isa);
    }
  }
  std::free(scratch);
}

}  // namespace

int main() {
  std::mt19937 random(7);
  for (const std::int64_t d : {1, 5, 8, 64, 100, 256, 384, 2048}) {
    for (const std::int64_t n : {1, 31, 64, 65, 200}) test(n, d, 5, 256, random);
  }
  test(20000, 64, 5, 4000, random);
  test(5000, 256, 10, 1500, random);
  return failures == 0 ? 0 : 1;
}
