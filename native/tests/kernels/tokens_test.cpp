// Token features: every instruction set counts what a byte-by-byte count gives, wherever blocks end.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "checking.hpp"
#include "tipstaff/dispatch.hpp"

namespace {

using namespace tipstaff;
using test::check;

std::uint32_t state = 12345;
std::uint32_t random_below(std::uint32_t n) {
  state = state * 1664525u + 1013904223u;
  return (state >> 8) % n;
}

// Bytes in runs, as texts have them; with `wild`, any bytes at all.
std::vector<unsigned char> made(std::size_t size, bool wild) {
  static const char* const parts[] = {"word", " ", "  ", "Camel", "HTTP", "12", "3456789", "\n", "\n\n", "\t\t",
                                      "----", "::", ");", "rhythm", "\xD0\xA0\xD1\x83\xD1\x81", "\xD1\x97",
                                      "\xE3\x81\x82", "\xE3\x82\xAB\xE3\x83\x8A", "\xE6\xBC\xA2\xE5\xAD\x97",
                                      "\xED\x95\x9C\xEA\xB8\x80", "\xF0\x9F\x98\x80", "\xC3\xA9", "\xE2\x80\x94"};
  std::vector<unsigned char> text;
  while (text.size() < size) {
    if (wild) {
      text.push_back(static_cast<unsigned char>(random_below(256)));
      continue;
    }
    for (const char* p = parts[random_below(23)]; *p != 0; ++p) text.push_back(static_cast<unsigned char>(*p));
  }
  text.resize(size);
  return text;
}

// A few of the features, counted the slow way.
void count_slowly(const std::vector<unsigned char>& text, std::int64_t* out) {
  const auto is_letter = [&](std::size_t i) {
    return (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z');
  };
  std::int64_t run = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    run = is_letter(i) ? run + 1 : 0;
    out[0] += run >= 1;
    out[1] += run >= 2;
    out[2] += run >= 3;
    out[3] += run >= 4;
    out[4] += run >= 8;
    out[5] += run >= 1 && i > 0 && text[i - 1] == ' ';
  }
}

}  // namespace

int main() {
  for (int round = 0; round < 2000; ++round) {
    const std::size_t size = random_below(round % 10 == 0 ? 1000 : 200);
    const std::vector<unsigned char> text = made(size, round % 2 == 0);
    const ByteView span{text.data(), static_cast<std::int64_t>(size)};
    std::int64_t expected[token_features];
    token_kernels(Isa::portable)->count_features(span, expected);
    std::int64_t slowly[6] = {};
    count_slowly(text, slowly);
    for (int j = 0; j < 6; ++j) check(slowly[j] == expected[j], "portable differs from the slow count", j);
    for (int i = 1; i < isa_count; ++i) {
      const Isa isa = static_cast<Isa>(i);
      if (!isa_available(isa)) continue;
      std::int64_t found[token_features];
      token_kernels(isa)->count_features(span, found);
      for (int j = 0; j < token_features; ++j) check(found[j] == expected[j], isa_name(isa), j);
    }
  }
  std::int64_t none[token_features];
  token_kernels(Isa::portable)->count_features(ByteView{nullptr, 0}, none);
  for (int j = 0; j < token_features; ++j) check(none[j] == 0, "the empty text has no features", j);
  std::puts("token features agree");
  return 0;
}
