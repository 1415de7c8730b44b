// All kernels on every instruction set, against loops that state what they compute. Built under the
// address and undefined-behaviour sanitizers: every buffer is a heap block of exactly its size, so a
// read past an end traps, and rows start at odd addresses.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tipstaff/dispatch.hpp"
#include "tipstaff/similarity/jaccard.hpp"
#include "tipstaff/scoring/quantize.hpp"

namespace {

using namespace tipstaff;

int checks = 0;

void check(bool holds, const char* what, Isa isa) {
  ++checks;
  if (holds) return;
  std::fprintf(stderr, "FAILED on %s: %s\n", isa_name(isa), what);
  std::exit(1);
}

// A heap block of exactly `size` bytes after `shift` bytes, so that its address is odd when wanted.
class Block {
 public:
  Block(std::size_t size, std::size_t shift) : memory_(new unsigned char[size + shift]), shift_(shift) {}
  Block(const void* data, std::size_t size, std::size_t shift) : Block(size, shift) {
    if (size > 0) std::memcpy(memory_ + shift, data, size);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block() { delete[] memory_; }
  unsigned char* data() const { return memory_ + shift_; }

 private:
  unsigned char* memory_;
  std::size_t shift_;
};

// 64-byte aligned scratch of exactly `size` bytes.
class Scratch {
 public:
  explicit Scratch(std::int64_t size)
      : memory_(static_cast<unsigned char*>(
            std::aligned_alloc(64, static_cast<std::size_t>(round_up(size, 64))))) {}
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ~Scratch() { std::free(memory_); }
  unsigned char* data() const { return memory_; }

 private:
  unsigned char* memory_;
};

std::vector<float> unit_rows(std::mt19937& random, std::int64_t n, std::int64_t d) {
  std::normal_distribution<float> normal;
  std::vector<float> rows(static_cast<std::size_t>(n * d));
  for (std::int64_t row = 0; row < n; ++row) {
    float* x = rows.data() + row * d;
    double squares = 0;
    for (std::int64_t i = 0; i < d; ++i) {
      x[i] = normal(random) + 0.5f;
      squares += static_cast<double>(x[i]) * x[i];
    }
    for (std::int64_t i = 0; i < d; ++i) x[i] = static_cast<float>(x[i] / std::sqrt(squares));
  }
  return rows;
}

struct Found {
  explicit Found(std::int64_t size)
      : rows(static_cast<std::size_t>(size)),
        scores(static_cast<std::size_t>(size)),
        cosines(static_cast<std::size_t>(size)) {}
  Best best(std::int64_t k) { return {k, rows.data(), scores.data(), cosines.data()}; }
  bool equals(const Found& other, std::int64_t count) const {
    const auto size = static_cast<std::size_t>(count) * 4;
    return count == 0 || (std::memcmp(rows.data(), other.rows.data(), size) == 0 &&
                          std::memcmp(scores.data(), other.scores.data(), size) == 0 &&
                          std::memcmp(cosines.data(), other.cosines.data(), size) == 0);
  }
  std::vector<std::int32_t> rows;
  std::vector<float> scores;
  std::vector<float> cosines;
};

// Scores by definition in double, and that `found` holds the k best of them in order.
void check_best(const Rows& rows, const Query& query, const Boosts& boosts, std::int64_t k,
                const std::int32_t* found, const float* scores, std::int64_t count, Isa isa) {
  std::vector<double> all(static_cast<std::size_t>(rows.n), -1.0);
  std::int64_t passing = 0;
  for (std::int64_t row = 0; row < rows.n; ++row) {
    const unsigned risk = rows.risks[row];
    if (risk >= 8 || ((query.risk_filter >> risk) & 1) == 0 || (rows.mask != nullptr && rows.mask[row] == 0)) continue;
    ++passing;
    double dot = 0;
    for (std::int64_t i = 0; i < rows.dimensions; ++i) {
      dot += static_cast<double>(load_as<float>(rows.vectors + (row * rows.dimensions + i) * 4)) *
             static_cast<double>(load_as<float>(query.vector + i * 4));
    }
    all[static_cast<std::size_t>(row)] = static_cast<double>(
        with_boosts(clamp_cosine(static_cast<float>(dot)), load_as<std::uint16_t>(rows.intents + row * 2),
                    rows.risks[row], query.intents, boosts));
  }
  check(count == (k < passing ? k : passing), "number of entries", isa);
  double last = 10;
  for (std::int64_t i = 0; i < count; ++i) {
    const double score = static_cast<double>(scores[i]);
    double& expected = all[static_cast<std::size_t>(found[i])];
    check(std::fabs(expected - score) < 3e-6, "score", isa);
    check(score <= last && (i == 0 || score < last || found[i] > found[i - 1]), "order", isa);
    last = score;
    expected = -2;
  }
  for (const double score : all) check(count == 0 || score <= last + 6e-6, "a better row was left out", isa);
}

void test_scoring(Isa isa, std::int64_t n, std::int64_t d, std::int64_t k, std::size_t shift,
                  std::mt19937& random) {
  const ScoreKernels* kernels = score_kernels(isa);
  const auto size = static_cast<std::size_t>(n);
  const auto width = static_cast<std::size_t>(d) * 4;
  const std::vector<float> vectors = unit_rows(random, n, d);
  constexpr std::int64_t m = 67;
  const std::vector<float> queries = unit_rows(random, m, d);
  std::vector<std::uint16_t> intents(size);
  std::vector<std::uint8_t> risks(size);
  std::vector<std::uint8_t> mask(size);
  for (std::size_t i = 0; i < size; ++i) {
    intents[i] = static_cast<std::uint16_t>(random());
    risks[i] = static_cast<std::uint8_t>(random() % 6);
    mask[i] = random() % 4 != 0;
  }
  std::vector<std::uint16_t> query_intents(m);
  std::vector<std::uint8_t> filters(m);
  for (std::size_t i = 0; i < m; ++i) {
    query_intents[i] = static_cast<std::uint16_t>(random());
    filters[i] = i % 3 == 0 ? 0xff : static_cast<std::uint8_t>(random());
  }
  const Block row_block(vectors.data(), size * width, shift);
  const Block query_block(queries.data(), m * width, shift);
  const Block one_block(queries.data(), width, shift);
  const Block intent_block(intents.data(), size * 2, shift);
  const Block risk_block(risks.data(), size, shift);
  const Block mask_block(mask.data(), size, shift);
  const Block query_intent_block(query_intents.data(), m * 2, shift);
  const Block filter_block(filters.data(), m, shift);
  const Boosts boosts{0.15f, 0.05f, 0.10f};

  std::vector<std::int8_t> codes(size * static_cast<std::size_t>(d));
  std::vector<float> scales(size);
  std::vector<float> errors(size);
  std::vector<float> mean(static_cast<std::size_t>(d));
  std::vector<double> sums(static_cast<std::size_t>(d));
  check(quantize_rows(row_block.data(), n, d, codes.data(), scales.data(), errors.data(), mean.data(),
                      sums.data()) == -1,
        "quantize_rows", isa);
  const Block code_block(codes.data(), codes.size(), shift);
  const Block scale_block(scales.data(), size * 4, shift);
  const Block error_block(errors.data(), size * 4, shift);
  const Block mean_block(mean.data(), width, shift);
  const QuantizedRows small{reinterpret_cast<const std::int8_t*>(code_block.data()), scale_block.data(),
                            error_block.data(), mean_block.data()};

  for (const bool masked : {false, true}) {
    const Rows rows{row_block.data(), intent_block.data(),
                    risk_block.data(), masked ? mask_block.data() : nullptr, n, d};
    for (const std::uint8_t filter : {std::uint8_t{0xff}, std::uint8_t{0x14}, std::uint8_t{0}}) {
      const Query query{one_block.data(), query_intents[0], filter};
      Found found(k);
      const std::int64_t count = kernels->topk_f32(rows, query, boosts, found.best(k));
      check_best(rows, query, boosts, k, found.rows.data(), found.scores.data(), count, isa);
      Found again(k);
      const Scratch scratch(i8_scratch_bytes(d, k));
      std::int64_t exact = 0;
      const std::int64_t i8_count =
          kernels->topk_i8(rows, small, query, boosts, again.best(k), scratch.data(), &exact);
      check(i8_count == count && found.equals(again, count), "int8 equals float32", isa);
      check(exact <= n, "rows scored exactly", isa);
    }
    for (const std::int64_t asked : {std::int64_t{0}, std::int64_t{1}, std::int64_t{64}, m}) {
      const QueryBatch batch{query_block.data(), query_intent_block.data(), filter_block.data(), asked};
      Found found(k * asked);
      std::vector<std::int64_t> counts(static_cast<std::size_t>(asked));
      const Scratch scratch(batch_scratch_bytes(d));
      kernels->topk_f32_batch(rows, batch, boosts, found.best(k), counts.data(), scratch.data());
      for (std::int64_t q = 0; q < asked; ++q) {
        const auto i = static_cast<std::size_t>(q);
        const Query query{query_block.data() + i * width, query_intents[i], filters[i]};
        check_best(rows, query, boosts, k, found.rows.data() + q * k, found.scores.data() + q * k,
                   counts[i], isa);
      }
    }
  }
}

// A candidate buffer that runs full: rows alike, so that no interval excludes any.
void test_giving_up(Isa isa) {
  constexpr std::int64_t n = 9000;
  constexpr std::int64_t d = 5;
  std::vector<float> vectors(n * d, 0.4f);
  const std::vector<std::uint16_t> intents(n);
  const std::vector<std::uint8_t> risks(n);
  const auto* bytes = reinterpret_cast<const unsigned char*>(vectors.data());
  std::vector<std::int8_t> codes(n * d);
  std::vector<float> scales(n);
  std::vector<float> errors(n);
  std::vector<float> mean(d);
  std::vector<double> sums(d);
  vectors[7] = 0.5f;
  quantize_rows(bytes, n, d, codes.data(), scales.data(), errors.data(), mean.data(), sums.data());
  const QuantizedRows small{codes.data(), reinterpret_cast<unsigned char*>(scales.data()),
                            reinterpret_cast<unsigned char*>(errors.data()),
                            reinterpret_cast<unsigned char*>(mean.data())};
  const Rows rows{bytes, reinterpret_cast<const unsigned char*>(intents.data()), risks.data(), nullptr, n, d};
  const Query query{bytes + 10 * d * 4, 0, 0xff};
  Found found(3);
  const Scratch scratch(i8_scratch_bytes(d, 3));
  std::int64_t exact = 0;
  const std::int64_t count =
      score_kernels(isa)->topk_i8(rows, small, query, {0, 0, 0}, found.best(3), scratch.data(), &exact);
  check(count == 3 && exact == n, "all rows are scored", isa);
  check(found.rows[0] == 1 && found.rows[1] == 0 && found.rows[2] == 2, "rows in order", isa);
}

void embed_by_definition(const std::string& lowered, std::int64_t d, float* out) {
  std::uint32_t hash = 0;
  for (const char c : lowered) hash = hash * 31u + static_cast<unsigned char>(c);
  double squares = 0;
  for (std::int64_t i = 0; i < d; ++i) {
    const auto argument = static_cast<std::int32_t>(hash * static_cast<std::uint32_t>(i + 1));
    out[i] = static_cast<float>((std::sin(static_cast<double>(argument)) + 1) / 2);
    squares += static_cast<double>(out[i]) * out[i];
  }
  for (std::int64_t i = 0; i < d; ++i) out[i] = static_cast<float>(out[i] / std::sqrt(squares));
}

void test_hash(Isa isa, std::mt19937& random) {
  const HashKernels* kernels = hash_kernels(isa);
  for (const std::int64_t d : {1, 3, 8, 63, 64, 65, 384, 391}) {
    std::vector<std::string> lowered;
    std::string data;
    std::vector<std::int64_t> offsets{0};
    for (int row = 0; row < 21; ++row) {
      std::string text;
      const auto length = row == 20 ? 7 : random() % 120;
      for (unsigned i = 0; i < length; ++i) text += static_cast<char>(random() % 128);
      if (row == 5) text = "\t \n";
      std::string expected = text;
      const char* const space = " \t\n\v\f\r";
      expected.erase(0, std::min(expected.find_first_not_of(space), expected.size()));
      expected.erase(expected.find_last_not_of(space) + 1);
      for (char& c : expected) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
      }
      lowered.push_back(expected);
      data += row == 9 ? "\xc3\xa9" : text;
      offsets.push_back(static_cast<std::int64_t>(data.size()));
      if (row == 9) continue;
      const auto width = static_cast<std::size_t>(d) * 4;
      const Block bytes(text.data(), text.size(), 1);
      const Block out(width, 0);
      std::vector<float> wanted(static_cast<std::size_t>(d));
      embed_by_definition(expected, d, wanted.data());
      kernels->embed_ascii({bytes.data(), static_cast<std::int64_t>(text.size())}, d,
                           reinterpret_cast<float*>(out.data()));
      check(std::memcmp(out.data(), wanted.data(), width) == 0, "embed_ascii", isa);
      std::string units;
      for (const char c : expected) units += std::string{c, '\0'};
      const Block unit_block(units.data(), units.size(), 1);
      kernels->embed_utf16le({unit_block.data(), static_cast<std::int64_t>(units.size())}, d,
                             reinterpret_cast<float*>(out.data()));
      check(std::memcmp(out.data(), wanted.data(), width) == 0, "embed_utf16le", isa);
    }
    const auto n = static_cast<std::int64_t>(lowered.size());
    const Block data_block(data.data(), data.size(), 1);
    const ByteView span{data_block.data(), static_cast<std::int64_t>(data.size())};
    std::vector<std::int32_t> narrow(offsets.begin(), offsets.end());
    const Block wide_block(offsets.data(), offsets.size() * 8, 3);
    const Block narrow_block(narrow.data(), narrow.size() * 4, 3);
    for (const int offset_bytes : {4, 8}) {
      const Block out(static_cast<std::size_t>(n * d) * 4, 0);
      std::vector<std::int64_t> foreign(static_cast<std::size_t>(n));
      auto* vectors = reinterpret_cast<float*>(out.data());
      const unsigned char* bounds = offset_bytes == 4 ? narrow_block.data() : wide_block.data();
      check(kernels->embed_column(bounds, offset_bytes, span, n, d, vectors, foreign.data()) == 1 &&
                foreign[0] == 9,
            "rows that are not ASCII", isa);
      for (std::int64_t row = 0; row < n; ++row) {
        if (row == 9) continue;
        std::vector<float> wanted(static_cast<std::size_t>(d));
        embed_by_definition(lowered[static_cast<std::size_t>(row)], d, wanted.data());
        check(std::memcmp(vectors + row * d, wanted.data(), wanted.size() * 4) == 0, "embed_column", isa);
      }
      const ByteView shorter{span.data, span.size - 1};
      check(kernels->embed_column(bounds, offset_bytes, shorter, n, d, vectors, foreign.data()) == -n,
            "offsets beyond the data", isa);
      check(kernels->embed_column(bounds, offset_bytes, span, 0, d, nullptr, nullptr) == 0, "no rows", isa);
    }
  }
}

void test_jaccard(std::mt19937& random) {
  for (const double threshold : {0.1, 0.5, 0.75, 1.0}) {
    for (const int n : {0, 1, 2, 90}) {
      std::vector<std::uint32_t> tokens;
      std::vector<std::int64_t> offsets{0};
      for (int set = 0; set < n; ++set) {
        for (std::uint32_t token = 0; token < 25; ++token) {
          if (random() % 4 == 0) tokens.push_back(token * 171717171u / 25u);
        }
        offsets.push_back(static_cast<std::int64_t>(tokens.size()));
      }
      const auto total = static_cast<std::int64_t>(tokens.size());
      std::vector<JaccardPair> pairs;
      const JaccardResult result = jaccard_pairs(tokens.data(), total, offsets.data(), n, threshold,
                                                 1 << 20, std::int64_t{1} << 40, &pairs);
      check(result.status == JaccardStatus::complete, "complete", Isa::portable);
      std::size_t next = 0;
      for (int a = 0; a < n; ++a) {
        for (int b = a + 1; b < n; ++b) {
          std::int64_t shared = 0;
          const auto i = static_cast<std::size_t>(a);
          const auto j = static_cast<std::size_t>(b);
          for (auto x = offsets[i]; x < offsets[i + 1]; ++x) {
            for (auto y = offsets[j]; y < offsets[j + 1]; ++y) {
              shared += tokens[static_cast<std::size_t>(x)] == tokens[static_cast<std::size_t>(y)];
            }
          }
          const auto joined = offsets[i + 1] - offsets[i] + offsets[j + 1] - offsets[j] - shared;
          if (joined == 0 || static_cast<double>(shared) / static_cast<double>(joined) < threshold) continue;
          check(next < pairs.size() && pairs[next].first == a && pairs[next].second == b &&
                    pairs[next].shared == shared,
                "pair", Isa::portable);
          ++next;
        }
      }
      check(next == pairs.size(), "number of pairs", Isa::portable);
      const JaccardResult stopped =
          jaccard_pairs(tokens.data(), total, offsets.data(), n, threshold, 1, 50, &pairs);
      check(pairs.size() <= 1 && (n < 90 || stopped.status == JaccardStatus::stopped || threshold == 1.0),
            "limits", Isa::portable);
    }
  }
}

}  // namespace

int main() {
  std::mt19937 random(20240229);
  for (int i = 0; i < isa_count; ++i) {
    const auto isa = static_cast<Isa>(i);
    if (!isa_available(isa)) {
      std::printf("%s: not on this machine\n", isa_name(isa));
      continue;
    }
    const int before = checks;
    test_hash(isa, random);
    test_giving_up(isa);
    for (const std::int64_t n : {0, 1, 3, 4, 5, 15, 16, 17, 37}) {
      for (const std::int64_t d : {1, 7, 15, 16, 17, 63, 64, 65, 130, 384}) {
        for (const std::int64_t k : {0, 1, 5, 50}) test_scoring(isa, n, d, k, (n + d) % 4, random);
      }
    }
    // To both sides of where few rows end, and of the most that are wanted of them.
    for (const std::int64_t n : {500, 2048, 2049}) {
      for (const std::int64_t k : {1, 13, 32, 33}) test_scoring(isa, n, 70, k, 1, random);
    }
    for (const std::int64_t d : {1, 63, 64, 65, 192, 256}) test_scoring(isa, 2091, d, 13, static_cast<std::size_t>(d % 4), random);
    test_scoring(isa, 20011, 7, 5, 1, random);
    std::printf("%s: %d checks\n", isa_name(isa), checks - before);
  }
  test_jaccard(random);
  std::printf("all %d checks hold\n", checks);
  return 0;
}
