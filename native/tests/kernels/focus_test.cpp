// The focus scan reads no byte that is not there and gives spans inside its text, on texts of heap
// blocks of exactly their size, at odd addresses, valid UTF-8 or not.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "checking.hpp"
#include "tipstaff/focus/scanner.hpp"
#include "tipstaff/focus/summary.hpp"
#include "tipstaff/focus/words.hpp"

namespace {

using namespace tipstaff;
using test::check;
using test::Block;
using test::checks;

Focus scanned_by(Isa isa, ByteView text, unsigned wanted) {
  Focus found = {};
  found.path_limit = max_focus_paths;
  found.symbol_limit = max_focus_symbols;
  focus_scan(isa)(&found, 0, text, wanted);
  return found;
}

bool same(const ByteView* left, const ByteView* right, int count) {
  for (int i = 0; i < count; ++i) {
    if (left[i].data != right[i].data || left[i].size != right[i].size) return false;
  }
  return true;
}

// What the portable scan finds, and that every other finds the same.
Focus scanned(ByteView text, unsigned wanted) {
  const Focus found = scanned_by(Isa::portable, text, wanted);
  for (const Isa isa : {Isa::avx2, Isa::avx512, Isa::avx512_vnni}) {
    if (!isa_available(isa)) continue;
    const Focus other = scanned_by(isa, text, wanted);
    check(other.n_paths == found.n_paths && same(other.paths, found.paths, found.n_paths), "the same paths");
    check(other.n_marked == found.n_marked && same(other.marked, found.marked, found.n_marked), "the same marked symbols");
    check(other.n_bare == found.n_bare && same(other.bare, found.bare, found.n_bare), "the same bare symbols");
    check(other.signals == found.signals, "the same signals");
  }
  return found;
}

std::string text_of(ByteView span) { return {reinterpret_cast<const char*>(span.data), static_cast<std::size_t>(span.size)}; }

void check_inside(const ByteView* spans, int count, ByteView text) {
  for (int i = 0; i < count; ++i) {
    check(spans[i].size > 0 && spans[i].data >= text.data && spans[i].data + spans[i].size <= text.data + text.size,
          "a span is within its text");
  }
}

void check_text(const std::string& bytes) {
  const Block block(bytes);
  for (unsigned wanted = 0; wanted <= 3; ++wanted) {
    const Focus found = scanned(block.span(), wanted);
    check_inside(found.paths, found.n_paths, block.span());
    check_inside(found.marked, found.n_marked, block.span());
    check_inside(found.bare, found.n_bare, block.span());
  }
  unsigned char summary[4 * 162];
  std::int64_t size = -1;
  focus::collapse(block.span(), summary, 160, &size);
  check(size >= 0 && size <= 4 * 160, "a summary fits");
}

}  // namespace

int main() {
  const Block block("fix `Foo::bar` in src/a.py:3, call load_config() and the next steps to docs/x.md");
  const Focus found = scanned(block.span(), 3);
  check(found.n_paths == 2 && text_of(found.paths[0]) == "src/a.py" && text_of(found.paths[1]) == "docs/x.md", "paths");
  check(found.n_marked == 1 && text_of(found.marked[0]) == "Foo::bar", "marked symbols");
  check(found.n_bare == 1 && text_of(found.bare[0]) == "load_config", "bare symbols");
  check(found.signals == (focus_changes | focus_plans), "signals");

  std::mt19937 random(7);
  static const char* const pieces[] = {"word", " ", " ", "\n", ".", "/", "\\", "`", "\"", "'", ":", "::", "()", "(", "<T>", "a.py",
                                       "next", "step", "class", "Aa", "AB", "_", "-", "@", "#", "://", "\xC3\x89", "\xE6\xBC\xA2",
                                       "\xF0\x9F\x9A\x80", "\xE3\x80\x82", "\xC3", "\xE6\xBC", "\xF0\x9F", "\x80", "\xFF", "\xED\xA0\x80"};
  constexpr std::size_t n_pieces = sizeof pieces / sizeof pieces[0];
  for (int round = 0; round < 4000; ++round) {
    std::string text;
    const unsigned length = random() % 60;
    for (unsigned i = 0; i < length; ++i) text += pieces[random() % n_pieces];
    check_text(text);
    std::string noise;
    for (unsigned i = 0; i < length * 3; ++i) noise += static_cast<char>(random() % 256);
    check_text(noise);
  }
  // Every listed word, in either case and with anything after it, in the midst of prose.
  for (const focus::KindWord& kind : focus::kind_words) {
    const std::string word(kind.word, kind.size);
    for (unsigned at = 0; at < 70; ++at) {
      std::string shouted = word;
      for (char& letter : shouted) letter = static_cast<char>(letter - ('a' - 'A'));
      const std::string before = std::string("then they went on with it and the rest of the day was as good as any of us had it").substr(at % 8, at);
      for (const std::string& form : {word, shouted, word + "\xC3\xA9", word + "z", word + ".", word + "_"}) {
        check_text(before + " " + form + " and so on, as the day was long enough for all of it and more: steps to go on with");
      }
    }
  }
  for (const char c : {'a', '`', '"', '/', '.', ':', '_', ' ', '\xC3'}) check_text(std::string(100'000, c));
  std::printf("%d checks\n", checks);
  return 0;
}
