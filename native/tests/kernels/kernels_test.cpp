// All kernels on every instruction set, against loops that state what they compute. Built under the
// address and undefined-behaviour sanitizers: every buffer is a heap block of exactly its size, so a
// read past an end traps.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tipstaff/dispatch.hpp"
#include "tipstaff/similarity/jaccard.hpp"

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
    std::printf("%s: %d checks\n", isa_name(isa), checks - before);
  }
  test_jaccard(random);
  std::printf("all %d checks hold\n", checks);
  return 0;
}
