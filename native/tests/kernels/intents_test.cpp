// The reading of intents over a small lexicon, paths, and prompts beyond ASCII. That they say what the Python twins say
// is tested from there.
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "checking.hpp"
#include "tipstaff/tasks/intents.hpp"
#include "tipstaff/tasks/paths.hpp"
#include "tipstaff/tasks/letters.hpp"

namespace {

using namespace tipstaff;
using test::checks;
using test::expect;
using test::failures;

// Bytes at their exact size, so that whoever reads past them is caught.
struct Exact {
  explicit Exact(const std::string& text) : bytes(new unsigned char[text.size()]), size(text.size()) {
    std::memcpy(bytes.get(), text.data(), size);
  }
  ByteView span() const { return {bytes.get(), static_cast<std::int64_t>(size)}; }
  std::unique_ptr<unsigned char[]> bytes;
  std::size_t size;
};

template <class T>
void append(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

struct Entry {
  const char* word;
  IntentKind kind;
  std::uint8_t intent, weight, flags;
  const char* then = nullptr;  // the second word of a phrase that begins here, which is a sign
};

std::string lexicon_of(const std::vector<Entry>& entries) {
  const double weights[] = {0.0, 1.0, 0.5, 2.0};
  std::string words, phrases, letters;
  std::vector<std::uint16_t> slots(64, 0xffff);
  std::uint16_t number = 0;
  const auto number_of = [&](const char* wanted) {
    for (std::uint16_t i = 0; i < entries.size(); ++i)
      if (std::strcmp(entries[i].word, wanted) == 0) return i;
    return std::uint16_t{0};
  };
  std::uint16_t phrase_count = 0;
  for (const Entry& one : entries) {
    IntentWord word{};
    word.entry = {static_cast<std::uint8_t>(one.kind), one.intent, one.intent, one.weight, one.weight, one.weight,
                 static_cast<std::uint16_t>(number + 1)};
    if (one.kind == IntentKind::control) word.entry.verb_weight = one.weight == 1 ? 1 : 0;
    word.text = static_cast<std::uint32_t>(letters.size());
    word.size = static_cast<std::uint8_t>(std::strlen(one.word));
    word.flags = one.flags;
    if (one.then != nullptr) {
      IntentPhrase phrase{};
      phrase.entry = {static_cast<std::uint8_t>(IntentKind::sign), 7, 7, 3, 3, 3, static_cast<std::uint16_t>(100 + number)};
      phrase.size = 1;
      phrase.words[0] = number_of(one.then);
      word.phrase_count = 1;
      word.phrases = phrase_count++;
      append(phrases, phrase);
    }
    append(words, word);
    letters += one.word;
    std::uint32_t hash = IntentLexicon::kHashStart;
    for (const char* c = one.word; *c != 0; ++c) hash = IntentLexicon::hashed(hash, static_cast<unsigned char>(*c));
    std::size_t slot = (hash ^ hash >> 15) & 63;
    while (slots[slot] != 0xffff) slot = (slot + 1) & 63;
    slots[slot] = number++;
  }
  std::string out("TIN1\r\n\x1a\n", 8);
  for (const std::size_t count : {slots.size(), entries.size(), std::size_t{phrase_count}, std::size_t{4}, letters.size(), std::size_t{256}})
    append(out, static_cast<std::uint32_t>(count));
  for (const double weight : weights) append(out, weight);
  for (const std::uint16_t slot : slots) append(out, slot);
  return out + words + phrases + letters;
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all = {
      {"fix", IntentKind::verb, 0, 1, 0},
      {"test", IntentKind::noun, 5, 1, 0},
      {"docs", IntentKind::noun, 6, 1, 0},
      {"the", IntentKind::none, 0, 0, kIntentDeterminer},
      {"please", IntentKind::none, 0, 0, kIntentLeader},
      {",", IntentKind::control, 0, 1, kIntentLeader},
      {":", IntentKind::control, 0, 1, kIntentLeader | kIntentColon},
      {"in", IntentKind::control, 0, 2, 0},
      {"roll", IntentKind::silent, 0, 0, 0, "out"},
      {"out", IntentKind::none, 0, 0, 0},
      {"\xe4\xbf\xae\xe5\xa4\x8d", IntentKind::verb, 0, 1, kIntentInside},          // a stem without blanks
      {"\xd0\xb8\xd1\x81\xd0\xbf\xd1\x80", IntentKind::verb, 0, 1, kIntentOpening},  // a stem with endings
  };
  return all;
}

void intents_are_read() {
  const std::string bytes = lexicon_of(entries());
  const Exact data(bytes);
  IntentLexicon lexicon;
  expect(lexicon.open(data.span()) && lexicon.check(), "a lexicon opens");
  const auto intent = [&](const std::string& text) {
    const Exact exact(text);
    return read_intent(lexicon, exact.span(), false).intent;
  };
  expect(intent("") == kGeneralIntent && intent("\n ,;.") == kGeneralIntent && intent("nothing here") == kGeneralIntent, "nothing speaks");
  expect(intent("fix the test") == 0 && intent("Please, FIX the test") == 0, "a leading verb says most");
  expect(intent("Docs: x") == 6 && intent("fixTest") == 0 && intent("test in docs") == 5, "nouns, humps and what follows a preposition");
  expect(intent("roll out") == 7 && intent("roll") == kGeneralIntent && intent("roll. out") == kGeneralIntent, "phrases");
  expect(intent(std::string(1000, 'x') + " test") == 5, "long words are unknown");
  const double sure = confidence_of(read_intent(lexicon, Exact("fix").span(), false));
  expect(sure > 0.9 && sure < 1.0 && confidence_of({}) == 0.0, "confidence");
  // Damaged in any byte it is refused, or read without harm.
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string changed = bytes;
      changed[at] = value;
      const Exact damaged(changed);
      IntentLexicon other;
      if (!other.open(damaged.span()) || !other.check()) continue;
      const Exact task("please fix the test, roll out the docs in test: x");
      expect(read_intent(other, task.span(), false).intent <= kGeneralIntent, "a damaged lexicon");
    }
    const Exact cut(bytes.substr(0, at));
    IntentLexicon other;
    expect(!other.open(cut.span()), "a lexicon that was cut");
  }
}

void prompts_beyond_ascii() {
  const Exact data(lexicon_of(entries()));
  IntentLexicon lexicon;
  lexicon.open(data.span());
  const auto words = [&](const std::string& text) {
    const Exact exact(text);
    std::vector<unsigned char> first(2 * text.size() + 4), second(4 * text.size() + 12);
    const ByteView letters = letters_for_intent(exact.span(), first.data());
    expect(letters.size <= static_cast<std::int64_t>(first.size()), "letters have room");
    const ByteView apart = stems_apart(lexicon, letters, second.data());
    expect(apart.size <= static_cast<std::int64_t>(second.size()), "stems have room");
    std::string found, part;
    for (std::int64_t i = 0; i <= apart.size; ++i) {
      const char c = i < apart.size ? static_cast<char>(apart.data[i]) : ' ';
      if (c != ' ') part += c;
      if (c == ' ' && !part.empty()) found += (found.empty() ? "" : " ") + part, part.clear();
    }
    return found;
  };
  expect(words("\xc3\x89t\xc3\xa9 \xc3\x84rger") == "ete arger", "accents go");
  expect(words("don\xe2\x80\x99t \xe2\x80\x9c" "FixIt\xe2\x80\x9d") == "don t fix it", "quotation marks part words");
  expect(words("a\xe3\x80\x82" "b. c") == "a,b, c", "marks end clauses");
  expect(words("\xe8\xaf\xb7\xe4\xbf\xae\xe5\xa4\x8d\xe5\x90\xa7") == "\xe8\xaf\xb7 \xe4\xbf\xae\xe5\xa4\x8d \xe5\x90\xa7", "stems are set apart");
  expect(words("\xd0\x98\xd1\x81\xd0\xbf\xd1\x80\xd0\xb0\xd0\xb2\xd1\x8c") == "\xd0\xb8\xd1\x81\xd0\xbf\xd1\x80", "endings go");
  expect(words("\xff\xc3") == "" && words("\xf0\x9f\x9a\x80") == "", "what is no letter goes");
  expect(words("\xc3\x9f\xc3\x98") == "\xc3\x9f\xc3\xb8", "single letters stay");
}

std::string paths_of(const std::string& text) {
  const Exact exact(text);
  std::vector<char> memory(2 * static_cast<std::size_t>(TaskPaths::kMostBytes));
  TaskPaths paths;
  find_paths({reinterpret_cast<const char*>(exact.bytes.get()), exact.size}, memory.data(), &paths);
  std::string found;
  for (std::uint32_t i = 0; i < paths.count; ++i) found += (i > 0 ? " " : "") + std::string(paths.of[i]);
  return found;
}

void paths_are_found() {
  const struct {
    const char *text, *paths;
  } cases[] = {
      {"", ""}, {"see src/app.py:12, please", "src/app.py"}, {"and/or read/write", ""}, {"a `src/api` and (./web/) too", "src/api web"},
      {"billing.ledger.post a::b::cd x#yz", "billing/ledger/post a/b/cd x/yz"}, {"e.g. i.e. v1.2 3.5 www.x.org a@b.co http://x/y.ts", ""},
      {"app.py app.py lib\\x.rs \\x.y", "app.py lib/x.rs x.y"}, {"node.js, example.com. x.io", "node.js"}, {"/etc/../x ../y.ts", ""},
      {"./. .// :: . # / // \\", ""}, {".env *.ts src/**/*.ts", ".env *.ts src/**/*.ts"}, {"src/\xc3\xa9.ts\xc2\xa0" "b.py", "src/\xc3\xa9.ts b.py"},
      {"a.b1 b.c1 c.d1 d.e1 e.f1 f.g1 g.h1 h.i1 i.j1", "a.b1 b.c1 c.d1 d.e1 e.f1 f.g1 g.h1 h.i1"},
  };
  for (const auto& one : cases) expect(paths_of(one.text) == one.paths, std::string(one.text) + ": " + paths_of(one.text));
  expect(paths_of(std::string(16377, 'a') + " x/y.ts") == "x/y.ts" && paths_of(std::string(16390, 'a') + " x/y.ts").empty(), "the beginning counts");
  expect(paths_of(std::string(8192, '/')).empty(), "slashes alone");
  std::string many;
  for (int i = 0; i < 8192; ++i) many += "a/";
  expect(paths_of(many).size() == 16383, "a long path has room");
}

}  // namespace

int main() {
  intents_are_read();
  prompts_beyond_ascii();
  paths_are_found();
  std::printf("%d checks, %d wrong\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
