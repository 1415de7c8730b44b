// Fuzzing the secrets scanner. With clang:
//   clang++ -std=c++17 -g -O1 -fsanitize=fuzzer,address,undefined -Inative/include native/fuzz/secrets_fuzz.cpp
// without libFuzzer, a driver of its own mutates what it is given:
//   g++ -std=c++17 -g -O1 -DTIPSTAFF_FUZZ_DRIVER -fsanitize=address,undefined -Inative/include native/fuzz/secrets_fuzz.cpp
//   ./a.out TABLE SECONDS
// That one looks with the portable finder alone; else all finders of the machine must find the same.
// The table is the shipped one, or that of the file which the environment variable TIPSTAFF_TABLE names.
#include "tipstaff/secrets/scanner.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#if !defined(TIPSTAFF_FUZZ_DRIVER)
#include "tipstaff/dispatch.hpp"
#endif

using namespace tipstaff;
using namespace tipstaff::secrets;

static std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

static std::string shipped_table() {
  if (const char* path = std::getenv("TIPSTAFF_TABLE")) return read_file(path);
  const std::string here = __FILE__;
  const std::size_t root = here.rfind("native/fuzz/");
  return read_file((here.substr(0, root) + "python/tipstaff/gates/packs/secrets/table.bin").c_str());
}

// Aborts if a finder of this machine finds anything else in a text.
static void compare_finders(const Table& table, const std::vector<Byte>& text, bool wary,
                            const std::vector<Finding>& expected) {
#if !defined(TIPSTAFF_FUZZ_DRIVER)
  std::vector<Finding> out(expected.size() + 1);
  for (int isa = 0; isa < isa_count; ++isa) {
    if (!isa_available(static_cast<Isa>(isa))) continue;
    const LiteralFinder finder = literal_finder(static_cast<Isa>(isa));
    if (scan(table, text.data(), text.size(), finder, wary, out.data(), out.size()) != expected.size()) std::abort();
    const bool same = std::equal(expected.begin(), expected.end(), out.begin(), [](const Finding& a, const Finding& b) {
      return a.start == b.start && a.end == b.end && a.rule == b.rule;
    });
    if (!same) std::abort();
  }
#else
  (void)table, (void)text, (void)wary, (void)expected;
#endif
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string bytes = shipped_table();
  Table table;
  if (Table::open(reinterpret_cast<const Byte*>(bytes.data()), bytes.size(), &table) != Fault::none) std::abort();
  const std::vector<Byte> text(data, data + size);
  std::vector<Finding> out(16);
  for (const bool wary : {false, true}) {
    std::size_t count = scan(table, text.data(), size, find_literals_portable, wary, out.data(), out.size());
    if (count > out.size()) {
      out.resize(count);
      if (scan(table, text.data(), size, find_literals_portable, wary, out.data(), count) != count) std::abort();
    }
    compare_finders(table, text, wary, {out.begin(), out.begin() + static_cast<std::ptrdiff_t>(count)});
    count = resolve(out.data(), count);
    std::size_t last = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (out[i].start < last || out[i].end <= out[i].start || out[i].end > size) std::abort();
      last = out[i].end;
    }
    std::vector<Byte> masked = text;
    mask(table, masked.data(), out.data(), count);
    count_code_points({text.data(), size}, out.data(), count);
  }
  // The input as a table: what opens must not lead outside.
  Table other;
  if (Table::open(text.data(), size, &other) == Fault::none) {
    scan(other, text.data(), size, find_literals_portable, true, out.data(), out.size());
  }
  return 0;
}

#if defined(TIPSTAFF_FUZZ_DRIVER)
int main(int argc, char** argv) {
  if (argc != 3) return 2;
  setenv("TIPSTAFF_TABLE", argv[1], 1);
  const std::string table = read_file(argv[1]);
  std::mt19937 random(1);
  // Stretches of the table hold every literal that matters.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(std::atoi(argv[2]));
  long runs = 0;
  while (std::chrono::steady_clock::now() < end) {
    std::string text;
    if (random() % 4 == 0) {
      text = table;
      for (int n = 0; n < 4; ++n) text[random() % text.size()] = static_cast<char>(random());
    } else {
      for (int n = 0; n < 12; ++n) {
        const std::size_t start = random() % table.size();
        text += table.substr(start, random() % 40);
        static const char signs[] = "=:\"'\\ \n@/.-_<>(){}&%?|";
        text += signs[random() % (sizeof signs - 1)];
        for (std::size_t i = random() % 40; i > 0; --i) text += static_cast<char>('!' + random() % 94);
      }
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    ++runs;
  }
  std::printf("%ld runs\n", runs);
  return 0;
}
#endif
