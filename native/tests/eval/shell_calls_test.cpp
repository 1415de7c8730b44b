// The evaluator of shell texts: patterns, states that fork and join, and that its work is bounded.
#include <memory>
#include <string>
#include <vector>

#include "checking.hpp"
#include "tipstaff/eval/call.hpp"
#include "tipstaff/eval/patterns.hpp"

namespace {

using namespace tipstaff::eval;
using tipstaff::test::check;
using tipstaff::test::expect;

struct Seen {
  std::string words;
  std::size_t calls = 0;
};

Answer on_call(void* self, Store& store, const Call& call) noexcept {
  auto* seen = static_cast<Seen*>(self);
  ++seen->calls;
  if (call.count == 0 || store.text(call.words[0].text) != "p" || seen->words.size() > 4096) return {};
  for (std::uint32_t i = 0; i < call.count; ++i) seen->words += std::string(i == 0 ? "" : " ") + std::string(store.text(call.words[i].text));
  seen->words += '\n';
  return {};
}

Seen seen_in(const std::string& text, unsigned* unresolved = nullptr) {
  const std::size_t bytes = memory_for(text.size());
  std::unique_ptr<unsigned char[]> memory(new unsigned char[bytes]);
  Seen seen;
  Start start;
  start.folder = "/w";
  start.home = "/home/dev";
  start.closed_environment = true;
  const unsigned bits = evaluate(text, start, {&seen, on_call}, memory.get(), bytes);
  if (unresolved != nullptr) *unresolved = bits;
  return seen;
}

std::string repeated(const std::string& text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

int main() {
  check(matches("a*[b-d]?", "axxcz") == Match::yes && matches("a\\*", "ab") == Match::no, "patterns");
  check(matches("*", "\x01") == Match::yes && matches("/tmp*", "/\x01") == Match::perhaps && matches("a*", "b\x01") == Match::no, "unknown parts");

  std::vector<unsigned char> memory(1 << 16);
  Store store(memory.data(), memory.size());
  State a;
  a.live = true;
  State b = a;
  const std::uint64_t x = key_of(Key::variable, store.intern("x"));
  store.put(a, x, store.one(store.intern("1")));
  store.put(b, x, store.one(store.intern("2")));
  const State both = store.join(a, b);
  check(store.get(both, x).count == 2 && store.get(store.join(both, State{}), x).count == 2, "states join");
  check(store.same(store.join(a, b), store.join(b, a)) && !store.same(a, b), "joined states are the same");

  // A text, and the words of its calls of p.
  static const char* const kRows[][2] = {
      {"x=1 & p $x", "p\n"},
      {"if a; then x=1; else x=2; fi; p $x", "p 1\np 2\n"},
      {"x='a b'; p $x \"$x\"", "p a b a b\n"},
      {"p {a,b}{1..2} ~", "p a1 a2 b1 b2 /home/dev\n"},
      {"p \"${x:-a}\" ${y:+b} ${HOME##*/} ${HOME/home/h}", "p a dev /h/dev\n"},
      {"f() { p \"$@\" $#; }; f a 'b c'", "p a b c 2\n"},
      {"x=$(echo a; echo b); p \"$x\"", "p a\nb\n"},
      {"while read l; do p $l; done", "p \x01\np \x01\n"},
  };
  for (const auto& row : kRows) {
    const Seen seen = seen_in(row[0]);
    expect(seen.words == row[1], std::string(row[0]) + " is " + seen.words);
  }

  // Twice the text makes at most a little more than twice the calls.
  for (const char* piece : {"p a; ", "cd a && ", "x=$x$x; ", "f() { f; f; }; f; ", "if a; then x=1; fi; ", "for i in a b; do ", "$(", "while a; do ", "x=1 y=$x p $y | ", "eval \"a $x\"; "}) {
    const std::size_t once = seen_in(repeated(piece, 200) + "p").calls, twice = seen_in(repeated(piece, 400) + "p").calls;
    expect(twice <= 2.2 * static_cast<double>(once) + 5000, std::string(piece) + " makes " + std::to_string(once) + " and " + std::to_string(twice));
  }
  return tipstaff::test::failures == 0 ? 0 : 1;
}
