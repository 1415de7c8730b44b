// The secrets scanner under the sanitizers: every finder gives the same findings, damaged tables and
// torn texts lead nowhere outside, and no input takes more than linear time. Tables and texts are heap
// blocks of exactly their size.
#include "tipstaff/secrets/scanner.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tipstaff/dispatch.hpp"

namespace {

using namespace tipstaff;
using namespace tipstaff::secrets;

int checks = 0;

void check(bool holds, const char* what) {
  ++checks;
  if (holds) return;
  std::fprintf(stderr, "FAILED: %s\n", what);
  std::exit(1);
}

struct Block {
  explicit Block(const std::string& bytes) : memory(new Byte[bytes.size() + 1]), size(bytes.size()) {
    if (size != 0) std::memcpy(memory.get() + 1, bytes.data(), size);
  }
  const Byte* data() const { return memory.get() + 1; }
  std::unique_ptr<Byte[]> memory;
  std::size_t size;
};

std::string shipped_table() {
  std::ifstream file(TIPSTAFF_PACKS "/secrets.bin", std::ios::binary);
  check(file.good(), "the shipped table is there");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Finding> find(const Table& table, const std::string& text, LiteralFinder finder, bool wary) {
  const Block block(text);
  std::vector<Finding> out(4);
  std::size_t count = scan(table, block.data(), block.size, finder, wary, out.data(), out.size());
  if (count > out.size()) {
    out.resize(count);
    check(scan(table, block.data(), block.size, finder, wary, out.data(), out.size()) == count, "counts twice alike");
  }
  out.resize(resolve(out.data(), count));
  for (std::size_t i = 0; i < out.size(); ++i) {
    check(out[i].start < out[i].end && out[i].end <= text.size(), "a finding is within");
    check(i == 0 || out[i - 1].end <= out[i].start, "findings are in order and apart");
  }
  return out;
}

std::vector<Finding> find_by_all(const Table& table, const std::string& text, bool wary) {
  const std::vector<Finding> expected = find(table, text, find_literals_portable, wary);
  for (int isa = 0; isa < isa_count; ++isa) {
    if (!isa_available(static_cast<Isa>(isa))) continue;
    const std::vector<Finding> found = find(table, text, literal_finder(static_cast<Isa>(isa)), wary);
    check(found.size() == expected.size(), "finders agree");
    for (std::size_t i = 0; i < found.size(); ++i) {
      check(found[i].start == expected[i].start && found[i].end == expected[i].end && found[i].rule == expected[i].rule,
            "finders agree on each");
    }
  }
  return expected;
}

// Every finder marks the same positions as encoded, in any block of a text.
void check_marks(const Table& table, const std::string& text, std::size_t begin) {
  const Block block(text);
  const std::size_t end = std::min(text.size(), begin + literal_block);
  const std::unique_ptr<BlockMatches[]> positions(new BlockMatches[2]);
  find_literals_portable.block(table.windows(), block.data(), begin, end, text.size(), &positions[0]);
  // Those of either kind may come one after the other.
  std::sort(positions[0].marks, positions[0].marks + positions[0].n_marks);
  for (int isa = 0; isa < isa_count; ++isa) {
    if (!isa_available(static_cast<Isa>(isa))) continue;
    const LiteralFinder finder = literal_finder(static_cast<Isa>(isa));
    finder.block(table.windows(), block.data(), begin, end, text.size(), &positions[1]);
    check(positions[1].n_marks == positions[0].n_marks, "finders mark as many positions");
    std::sort(positions[1].marks, positions[1].marks + positions[1].n_marks);
    check(std::equal(positions[0].marks, positions[0].marks + positions[0].n_marks, positions[1].marks), "and the same");
    std::vector<std::uint16_t> alone(literal_block + literal_slack);
    const std::size_t count = finder.literals(table.windows(), block.data(), begin, end, text.size(), alone.data());
    check(count == positions[1].n_literals, "a finder of both finds as many literals");
    check(std::equal(alone.begin(), alone.begin() + static_cast<std::ptrdiff_t>(count), positions[1].literals), "the same");
  }
}

std::string random_of(std::mt19937& random, const char* alphabet, std::size_t size) {
  const std::size_t count = std::strlen(alphabet);
  std::string out;
  for (std::size_t i = 0; i < size; ++i) out += alphabet[random() % count];
  return out;
}

const char* const base62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

}  // namespace

int main() {
  const std::string bytes = shipped_table();
  const Block image(bytes);
  Table table;
  check(Table::open(image.data(), image.size, &table) == Fault::none, "the shipped table opens");
  std::mt19937 random(11);

  // What is known to be one, at each position of a vector and of a block.
  const std::string key = "AKIA" + random_of(random, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16);
  for (std::size_t shift = 0; shift < 140; ++shift) {
    const std::string text = std::string(shift, ' ') + key + std::string(shift % 7, '\n');
    const std::vector<Finding> found = find_by_all(table, text, false);
    check(found.size() == 1 && found[0].start == shift && found[0].end == shift + 20, "a key at any position");
    std::string masked = text;
    mask(table, reinterpret_cast<Byte*>(&masked[0]), found.data(), found.size());
    check(masked.compare(shift, 20, "AKIA" + std::string(16, '*')) == 0, "masking shows the prefix alone");
  }

  // Made of what the reader of assignments looks at.
  const std::vector<std::string> signs = {
      "password", "token", "api_key", "secret", "\"", "'", "\\\"", "=", ":", " ", "\n", "value", "://", "@", "&", "%3D",
      "\\u0022", "-----BEGIN RSA PRIVATE KEY-----", "-----END ", "!!", "|", ">", "<", "(", "{", "$", "login ", "--",
      "%2F", "%4", "\\/", "\\u002f", "cGFzc3dvcmQ9YTFiMmMzZDRlNWY2", "==", "cGFzc3dvcmQ9YTFiMmMzZDRlNWY2cGFzc3dvcmQ9YTFiMmMzZDRl",
      "\xc3\xa9", "\xf0\x9f", "\\n", "A1b2C3d4E5", "eyJ", ".", "ghp_", "sk-", "Basic ", "\r\n", "\t", "&quot;"};
  for (int i = 0; i < 4000; ++i) {
    std::string text;
    for (std::size_t n = random() % 24; n > 0; --n) {
      text += random() % 5 == 0 ? random_of(random, base62, random() % 50) : signs[random() % signs.size()];
    }
    find_by_all(table, text, i % 2 == 0);
  }

  // Runs of base64 about as long as matter, and escapes, over the borders of vectors and blocks.
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 70, 'x');
    while (text.size() < (i % 8 == 0 ? 2 * literal_block + 300 : 500)) {
      text += random_of(random, base62, random() % 3 == 0 ? 20 + random() % 8 : random() % 80);
      text += random_of(random, " %\\/u27|\xa5\xdc\n-", 1 + random() % 3);
    }
    check_marks(table, text, 0);
    check_marks(table, text, random() % text.size());
    check_marks(table, text.substr(0, random() % text.size()), 0);
  }

  // What would be quadratic if anything were: a million bytes of each.
  for (const std::string& piece : {std::string("token="), std::string("\"'"), std::string("-----BEGIN RSA PRIVATE KEY-----"),
                                   std::string("a"), std::string("eyJ"), std::string("://a:"), std::string("password: \\\""),
                                   std::string("ghp_"), std::string("sk-ant-api03-"), std::string("Basic "),
                                   std::string("token:!!"), std::string("&token=a"), std::string("LS0tLS1CRUdJTi"),
                                   std::string("+fm2_"), std::string("%41"), std::string("\\/"), std::string("a%2Fpassword%3D"),
                                   std::string("Z2hwX2s3"), std::string("\\\\")}) {
    std::string text;
    while (text.size() < 300000) text += piece;
    find(table, text, literal_finder(Isa::portable), false);
  }

  // Damage: what opens leads nowhere outside.
  const std::string text = "token=" + random_of(random, base62, 40) + " " + key + " https://a:b1c2d3e4f5@h.io eyJ";
  int opened = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string bad = bytes;
    for (int n = 0; n < 3; ++n) bad[16 + random() % (i % 3 == 0 ? 112 : bad.size() - 16)] = static_cast<char>(random());
    const Block block(bad);
    Table other;
    if (Table::open(block.data(), block.size, &other) != Fault::none) continue;
    ++opened;
    find(other, text, find_literals_portable, true);
  }
  check(opened > 100, "some damage opens");
  for (const std::size_t size : {std::size_t{0}, std::size_t{50}, std::size_t{128}, bytes.size() - 1}) {
    const Block block(bytes.substr(0, size));
    check(Table::open(block.data(), block.size, &table) != Fault::none, "a torn table does not open");
  }
  std::printf("%d checks\n", checks);
  return 0;
}
