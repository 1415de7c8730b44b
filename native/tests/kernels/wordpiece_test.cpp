// The word-piece tokeniser and embedder on every instruction set: equal bits, and no byte read that
// is not there. Tables and texts are heap blocks of exactly their size, at odd addresses, and many
// are damaged on purpose.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "checking.hpp"
#include "tipstaff/dispatch.hpp"

namespace {

using namespace tipstaff;
using test::check;
using test::Block;
using test::checks;

template <class T>
void put(std::string* out, T value) {
  out->append(reinterpret_cast<const char*>(&value), sizeof value);
}

// A table of some pieces with random rows; digests stay 0, since the kernels do not read them.
std::string make_table(const std::vector<std::string>& pieces, std::uint32_t dimensions, std::mt19937& random) {
  const auto n = static_cast<std::uint32_t>(pieces.size());
  std::uint32_t n_slots = 1;
  while (n_slots < 2 * n) n_slots *= 2;
  std::string codes;
  std::string scales;
  std::string starts;
  std::string names;
  std::vector<std::uint32_t> slots(n_slots);
  std::uint32_t longest = 0;
  for (std::uint32_t i = 0; i < n; ++i) {
    for (std::uint32_t j = 0; j < dimensions; ++j) put(&codes, static_cast<std::int8_t>(random() % 255 - 127));
    put(&scales, static_cast<float>(random() % 1000 + 1) * 1e-5f);
    put(&starts, static_cast<std::uint32_t>(names.size()));
    names += pieces[i];
    const bool continuation = pieces[i].compare(0, 2, "##") == 0;
    const std::string letters = pieces[i].substr(continuation ? 2 : 0);
    longest = std::max(longest, static_cast<std::uint32_t>(letters.size()));
    std::uint64_t hash = continuation ? continuation_basis : fnv_basis;
    for (const char letter : letters) hash = fnv_step(hash, static_cast<unsigned char>(letter));
    hash ^= hash >> 32;
    std::uint64_t slot = hash & (n_slots - 1);
    while (slots[slot] != 0) slot = (slot + 1) & (n_slots - 1);
    slots[slot] = static_cast<std::uint32_t>(hash >> 48) << 16 | (i + 1);
  }
  put(&starts, static_cast<std::uint32_t>(names.size()));
  std::string slot_bytes;
  for (const std::uint32_t slot : slots) put(&slot_bytes, slot);
  std::string out("\x89TWP\r\n\x1a\n", 8);
  put(&out, std::uint32_t{1});
  put(&out, dimensions);
  put(&out, n);
  put(&out, n_slots);
  put(&out, longest);
  put(&out, 0.03125f);
  const std::string* const sections[] = {&codes, &scales, &slot_bytes, &starts, &names};
  std::uint64_t size = static_cast<std::uint64_t>(wordpiece_header_bytes);
  for (const std::string* section : sections) size += section->size();
  put(&out, size);
  std::uint64_t offset = static_cast<std::uint64_t>(wordpiece_header_bytes);
  for (const std::string* section : sections) {
    put(&out, offset);
    offset += section->size();
  }
  put(&out, static_cast<std::uint64_t>(names.size()));
  out.resize(static_cast<std::size_t>(wordpiece_header_bytes));
  for (const std::string* section : sections) out += *section;
  return out;
}

std::vector<std::string> vocabulary() {
  std::vector<std::string> pieces = {"fix", "auth", "issue", "##ing", "##ication", "http", "server"};
  for (char letter = 'a'; letter <= 'y'; ++letter) {
    pieces.push_back(std::string(1, letter));
    pieces.push_back(std::string("##") + letter);
  }
  return pieces;
}

const std::vector<std::string>& texts() {
  static const std::vector<std::string> all = {
      "", "a", "Fix the AUTH issue", "HTTPServer APIs x", "authenticationXyz 09", "stra\xC3\x9F" "e na\xC3\xAFve \xEF\xBC\xA1",
      "\xE6\x8F\x90\xE4\xBA\xA4 \xD0\x94\xD0\xBE\xD0\xBC", "\xE6\x8F", "\xF0\x9F\x9A\x80", "\xED\xA0\x80 \xFF\xC3", "\xF4\x90\x80\x80",
      std::string(255, 'a'), std::string(256, 'b'), std::string(5000, 'z'), std::string(999, '\''), "HT", "HTt", "HTtt",
  };
  return all;
}

void test_equal_bits(std::uint32_t dimensions, std::mt19937& random) {
  const Block block(make_table(vocabulary(), dimensions, random));
  WordPieces table;
  check(open_wordpieces(block.span(), &table) == WordPieceFault::none, "a sound table opens");
  std::string data;
  std::string offsets4;
  std::string offsets8;
  put(&offsets4, std::int32_t{0});
  put(&offsets8, std::int64_t{0});
  for (const std::string& text : texts()) {
    data += text;
    put(&offsets4, static_cast<std::int32_t>(data.size()));
    put(&offsets8, static_cast<std::int64_t>(data.size()));
  }
  const Block column(data);
  const Block bounds4(offsets4);
  const Block bounds8(offsets8);
  const auto n_rows = static_cast<std::int64_t>(texts().size());
  std::vector<float> first;
  for (int i = 0; i < isa_count; ++i) {
    const auto isa = static_cast<Isa>(i);
    if (!isa_available(isa)) continue;
    const WordPieceKernels* kernels = wordpiece_kernels(isa);
    std::vector<float> rows;
    for (const std::string& text : texts()) {
      const Block exact(text);
      std::vector<float> row(dimensions, 9.0f);
      kernels->embed(table, exact.span(), row.data());
      double squares = 0;
      for (const float value : row) squares += static_cast<double>(value) * static_cast<double>(value);
      check(squares == 0 || std::fabs(squares - 1) < 1e-5, "length 1 or 0");
      rows.insert(rows.end(), row.begin(), row.end());
    }
    if (first.empty()) first = rows;
    check(std::memcmp(first.data(), rows.data(), rows.size() * sizeof(float)) == 0, "the same bits on every set");
    for (const int bytes : {4, 8}) {
      std::vector<float> batch(rows.size(), 9.0f);
      const ByteView bounds = bytes == 4 ? bounds4.span() : bounds8.span();
      std::vector<float> lengths(static_cast<std::size_t>(n_rows), 9.0f);
      check(kernels->embed_column(table, bounds.data, bytes, column.span(), n_rows, batch.data(), lengths.data()) == n_rows,
            "all rows");
      for (std::int64_t row = 0; row < n_rows; ++row) {
        const float* found = batch.data() + row * dimensions;
        const bool empty = std::all_of(found, found + dimensions, [](float value) { return value == 0; });
        check(empty == (lengths[static_cast<std::size_t>(row)] == 0), "the lengths of what is not nothing");
      }
      // The column's texts are side by side; a text that ends within a sequence borrows nothing.
      check(std::memcmp(first.data(), batch.data(), rows.size() * sizeof(float)) == 0, "a batch is its texts");
    }
  }
}

void test_bad_offsets(std::mt19937& random) {
  const Block block(make_table(vocabulary(), 16, random));
  WordPieces table;
  check(open_wordpieces(block.span(), &table) == WordPieceFault::none, "a sound table opens");
  const Block data("fix auth");
  const std::vector<std::vector<std::int32_t>> cases = {{0, 9, 9}, {-1, 2, 3}, {0, 5, 2}, {0, 8, 2147483647}};
  for (const auto& offsets : cases) {
    std::string bytes;
    for (const std::int32_t offset : offsets) put(&bytes, offset);
    const Block bounds(bytes);
    std::vector<float> out(32);
    const std::int64_t done = wordpiece_kernels(Isa::portable)->embed_column(table, bounds.span().data, 4, data.span(), 2, out.data(), nullptr);
    check(done < 0, "offsets that leave the data");
  }
}

void test_damage(std::mt19937& random) {
  const std::string good = make_table(vocabulary(), 32, random);
  for (std::size_t size = 0; size < good.size(); size += 1 + size / 16) {
    const Block cut(good.substr(0, size));
    WordPieces table;
    check(open_wordpieces(cut.span(), &table) != WordPieceFault::none, "a cut table is refused");
  }
  int opened = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bad = good;
    // Half of the rounds leave the header as it was.
    const std::size_t from = round % 2 == 0 ? 8 : static_cast<std::size_t>(wordpiece_header_bytes);
    const std::size_t until = round % 2 == 0 ? 100 : bad.size();
    for (int i = 0; i < 1 + round % 200; ++i) {
      bad[from + random() % (until - from)] = static_cast<char>(random());
    }
    const Block block(bad);
    WordPieces table;
    if (open_wordpieces(block.span(), &table) != WordPieceFault::none) continue;
    ++opened;
    std::vector<float> row(static_cast<std::size_t>(table.dimensions));
    const std::string& text = texts()[static_cast<std::size_t>(round) % texts().size()];
    const Block exact(text);
    for (int i = 0; i < isa_count; ++i) {
      if (!isa_available(static_cast<Isa>(i))) continue;
      wordpiece_kernels(static_cast<Isa>(i))->embed(table, exact.span(), row.data());
      for (const float value : row) check(std::isfinite(value), "a number");
    }
  }
  check(opened > 1000, "many damaged tables were read");
}

void test_random_texts(std::mt19937& random) {
  const Block block(make_table(vocabulary(), 16, random));
  WordPieces table;
  check(open_wordpieces(block.span(), &table) == WordPieceFault::none, "a sound table opens");
  for (int round = 0; round < 4000; ++round) {
    std::string text;
    for (int i = 0; i < round % 300; ++i) text += static_cast<char>(round % 3 == 0 ? random() : "aZz9' \xD0\x94\xE6"[random() % 9]);
    const Block exact(text);
    float rows[2][16];
    wordpiece_kernels(Isa::portable)->embed(table, exact.span(), rows[0]);
    const auto best = static_cast<Isa>(isa_available(Isa::avx512) ? 2 : isa_available(Isa::avx2) ? 1 : 0);
    wordpiece_kernels(best)->embed(table, exact.span(), rows[1]);
    check(std::memcmp(rows[0], rows[1], sizeof rows[0]) == 0, "random bytes have the same bits");
  }
}

void test_blending() {
  std::vector<float> rows(48, 0.5f);
  std::vector<float> others(32, 0.0f);
  const std::int32_t positions[3] = {0, 1, 1};
  const auto* position_bytes = reinterpret_cast<const unsigned char*>(positions);
  check(blend_rows(rows.data(), 3, 16, others.data(), 2, position_bytes, 0.3f) == 3, "all rows blended");
  for (const float value : rows) check(std::fabs(value - 0.25f) < 1e-6f, "length 1");
  check(blend_rows(rows.data(), 3, 16, others.data(), 1, position_bytes, 0.3f) == -2, "a position that is not there");
}

}  // namespace

int main() {
  std::mt19937 random(20240229);
  for (const std::uint32_t dimensions : {16u, 48u, 256u, 1024u}) test_equal_bits(dimensions, random);
  test_bad_offsets(random);
  test_damage(random);
  test_random_texts(random);
  test_blending();
  std::printf("all %d checks hold\n", checks);
  return 0;
}
