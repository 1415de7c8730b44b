// The focus scan reads no byte that is not there and gives spans inside its text, on texts of heap
// blocks of exactly their size, at odd addresses, valid UTF-8 or not.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>

#include "checking.hpp"
#include "tipstaff/focus.hpp"

namespace {

using namespace tipstaff;
using test::check;
using test::Block;
using test::checks;

Focus scanned(Span text, unsigned wanted) {
  Focus found = {};
  found.path_limit = max_focus_paths;
  found.symbol_limit = max_focus_symbols;
  focus::scan(&found, 0, text, wanted);
  return found;
}

std::string text_of(Span span) { return {reinterpret_cast<const char*>(span.data), static_cast<std::size_t>(span.size)}; }

void check_inside(const Span* spans, int count, Span text) {
  for (int i = 0; i < count; ++i) {
    check(spans[i].size > 0 && spans[i].data >= text.data && spans[i].data + spans[i].size <= text.data + text.size,
          "a span lies within its text");
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
  for (const char c : {'a', '`', '"', '/', '.', ':', '_', ' ', '\xC3'}) check_text(std::string(100'000, c));
  std::printf("%d checks\n", checks);
  return 0;
}
