// Feeds the secrets scanner anything: all finders of the machine find the same, and a table that opens leads nowhere outside.
// The table is the shipped one.
#include "tipstaff/secrets/scanner.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tipstaff/dispatch.hpp"

using namespace tipstaff;
using namespace tipstaff::secrets;

static std::string read_file(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

static std::string shipped_table() {
  return read_file(TIPSTAFF_PACKS "/secrets.bin");
}

// Aborts if a finder of this machine finds anything else in a text.
static void compare_finders(const Table& table, const std::vector<Byte>& text, bool wary,
                            const std::vector<Finding>& expected) {
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
