// The text kernels under the sanitizers: texts and tables are heap blocks of exactly their size, so a
// read past an end traps. What the kernels should say is tested against their Python twins.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "checking.hpp"
#include "tipstaff/similarity/opposed.hpp"

namespace {

using namespace tipstaff;
using test::check;

// A heap block of exactly the bytes of a string.
class Exact {
 public:
  explicit Exact(const std::string& text) : memory_(new unsigned char[text.size()]), size_(text.size()) {
    if (size_ > 0) std::memcpy(memory_, text.data(), size_);
  }
  Exact(const Exact&) = delete;
  Exact& operator=(const Exact&) = delete;
  ~Exact() { delete[] memory_; }
  ByteView span() const { return {memory_, static_cast<std::int64_t>(size_)}; }

 private:
  unsigned char* memory_;
  std::size_t size_;
};

struct Word {
  const char* text;
  std::uint64_t value;
};

std::string lexicon_of(const std::vector<Word>& words, std::uint64_t n_slots) {
  std::vector<LexiconEntry> slots(n_slots, LexiconEntry{});
  for (const Word& word : words) {
    const auto size = static_cast<std::int64_t>(std::strlen(word.text));
    const std::uint64_t hash = fnv({reinterpret_cast<const unsigned char*>(word.text), size});
    std::uint64_t parts[3] = {};
    std::memcpy(parts, word.text, static_cast<std::size_t>(size));
    std::uint64_t slot = lexicon_slot(parts, n_slots - 1);
    while (slots[slot].word[0] != 0) slot = (slot + 1) % n_slots;
    std::memcpy(slots[slot].word, word.text, static_cast<std::size_t>(size));
    slots[slot].value = word.value;
    slots[slot].stem = hash;
  }
  std::string bytes("TLX1\r\n\x1a\n", 8);
  bytes.append(reinterpret_cast<const char*>(&n_slots), 8);
  bytes.append(reinterpret_cast<const char*>(slots.data()), slots.size() * sizeof(LexiconEntry));
  return bytes;
}

const std::vector<Word> words = {
    {"never", grammar | function_word | forbids | forbids_outright | negates | turns},
    {"always", grammar | function_word | obliges | commands | turns},
    {"not", grammar | function_word | forbids | negates | turns | not_word},
    {"may", grammar | function_word | permits},
    {"if", grammar | function_word | subordinates},
    {"unless", grammar | function_word | turns | breaks},
    {"instead", grammar | function_word | turns | (std::uint64_t{1} << pair_first)},
    {"of", grammar | function_word | pairs | (std::uint64_t{1} << pair_second)},
    {"use", grammar | function_word | imperative},
    {"log", imperative},
    {"don't", grammar | function_word | forbids | forbids_outright | negates},
};

std::vector<TextPair> opposed(const Lexicon& lexicon, const std::vector<std::string>& texts, bool* complete,
                              std::int64_t limit) {
  std::string joined;
  std::vector<std::int32_t> offsets = {0};
  for (const std::string& text : texts) {
    joined += text;
    offsets.push_back(static_cast<std::int32_t>(joined.size()));
  }
  const Exact data(joined);
  const TextColumn column{offsets.data(), static_cast<std::int64_t>(texts.size()), data.span()};
  check(misplaced(column) == -1, "a sound column");
  std::vector<TextPair> pairs;
  *complete = opposed_texts(lexicon, column, limit, &pairs);
  std::vector<std::uint32_t> topics;
  std::vector<std::int64_t> bounds;
  read_topics(lexicon, column, 16, &topics, &bounds);
  check(bounds.size() == texts.size() + 1, "a topic for each text");
  std::vector<std::uint64_t> values;
  std::vector<unsigned char> kept;
  std::vector<std::int64_t> ends;
  read_column(lexicon, column, 8, &values, &kept, &ends);
  check(values.size() == texts.size() && ends.back() <= static_cast<std::int64_t>(kept.size()), "a value for each");
  return pairs;
}

}  // namespace

int main() {
  const Exact table(lexicon_of(words, 32));
  Lexicon lexicon;
  check(open_lexicon(table.span(), &lexicon), "a lexicon opens");
  for (std::int64_t size = 0; size < table.span().size; size += 7) {
    const Exact part(std::string(reinterpret_cast<const char*>(table.span().data), static_cast<std::size_t>(size)));
    Lexicon unused;
    check(!open_lexicon(part.span(), &unused), "a part of a lexicon is not one");
  }
  bool complete = false;
  const std::vector<TextPair> one = {{0, 1}};
  check(opposed(lexicon, {"never use tabs here", "Use tabs here"}, &complete, 1'000) == one && complete, "a ban");
  check(opposed(lexicon, {"use tabs here", "don't use tabs here"}, &complete, 1'000) == one, "the other way round");
  check(opposed(lexicon, {"never use tabs here", "never use tabs here"}, &complete, 1'000).empty(), "no ban");
  check(opposed(lexicon, {}, &complete, 0).empty() && complete, "no texts");
  opposed(lexicon, {"never use tabs here", "use tabs here"}, &complete, 0);
  check(!complete, "a limit of work");

  // Any bytes, words of the table among them, in blocks of exactly their size.
  std::mt19937 random(7);
  const std::string marks = " ,;:.!?-'*`\n\t09azAZ\x80\xff_";
  for (int round = 0; round < 3'000; ++round) {
    std::vector<std::string> texts;
    for (unsigned n = random() % 6; n > 0; --n) {
      std::string text;
      for (unsigned length = random() % 60; length > 0; --length) {
        const unsigned kind = random() % 4;
        if (kind == 0) {
          text += words[random() % words.size()].text;
        } else if (kind == 1) {
          text += marks[random() % marks.size()];
        } else if (kind == 2) {
          text += ' ';
        } else {
          text += static_cast<char>(random() % 256);
        }
      }
      if (random() % 50 == 0) text = std::string(5'000, 'x') + text;
      texts.push_back(text);
    }
    opposed(lexicon, texts, &complete, 10'000);
    for (const std::string& text : texts) {
      const Exact exact(text);
      std::vector<unsigned char> lower(text.size() + padding);
      text_value(lexicon, exact.span(), lower.data());
      regular_stem(exact.span());
    }
  }
  // A table without an empty slot, as no maker writes it.
  const Exact full(lexicon_of({words.begin(), words.begin() + 8}, 8));
  check(open_lexicon(full.span(), &lexicon), "a full lexicon opens");
  const Exact unknown("unknown");
  std::vector<unsigned char> lower(static_cast<std::size_t>(unknown.span().size + padding));
  check(!look_up(lexicon, lowered(unknown.span(), false, lower.data())).known, "a search in a full lexicon ends");
  std::puts("text kernels: all checks hold");
  return 0;
}
