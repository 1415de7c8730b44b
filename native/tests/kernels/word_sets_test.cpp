// The index of word sets against every pair by definition, while sets come and go; texts are heap
// blocks of exactly their size.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "checking.hpp"
#include "tipstaff/similarity/word_sets.hpp"

namespace {

using namespace tipstaff;
using test::check;
using test::checks;

struct Known {
  std::set<std::string> words;
  std::int64_t mark;
};

std::set<std::string> words_of(const std::string& text) {
  std::set<std::string> found;
  std::string word;
  for (const char letter : text + " ") {
    const auto c = static_cast<unsigned char>(letter);
    if (c >= 128 || std::isalnum(c) != 0 || c == '_') {
      word += static_cast<char>(c < 128 ? std::tolower(c) : c);
    } else if (!word.empty()) {
      found.insert(word);
      word.clear();
    }
  }
  return found;
}

WordMatch by_definition(const std::vector<Known>& sets, const std::set<std::string>& query,
                        double threshold, std::int64_t earliest, std::int64_t latest) {
  WordMatch best{-1, 0, 1};
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (sets[i].mark < earliest || sets[i].mark > latest) continue;
    int shared = 0;
    for (const std::string& word : query) shared += static_cast<int>(sets[i].words.count(word));
    const int joined = static_cast<int>(query.size() + sets[i].words.size()) - shared;
    if (joined == 0 || shared == 0 || static_cast<double>(shared) / joined < threshold) continue;
    if (shared * best.joined > best.shared * joined) best = {static_cast<int>(i), shared, joined};
  }
  return best;
}

// A heap block of exactly the text's size: a read past its end is seen.
struct Block {
  explicit Block(const std::string& text) : bytes(new unsigned char[text.size()]), size(text.size()) {
    std::copy(text.begin(), text.end(), bytes);
  }
  ~Block() { delete[] bytes; }
  ByteView span() const { return {bytes, static_cast<std::int64_t>(size)}; }
  unsigned char* bytes;
  std::size_t size;
};

void histories(double threshold, unsigned vocabulary, unsigned seed) {
  std::mt19937 random(seed);
  WordSetIndex index(threshold, seed * 77u);
  std::vector<Known> sets;
  std::vector<std::string> texts;
  const char* between[] = {" ", ", ", "-", "  ", "\n"};
  for (int step = 0; step < 1500; ++step) {
    std::string text;
    if (!texts.empty() && random() % 2 == 0) {
      text = texts[random() % texts.size()] + " more" + std::to_string(random() % 5);
    } else {
      for (unsigned n = random() % 14; n > 0; --n) {
        const unsigned rank = static_cast<unsigned>(vocabulary / (1.0 + random() % vocabulary));
        text += (random() % 2 ? "Word" : "word") + std::to_string(rank) + between[random() % 5];
        if (random() % 9 == 0) text += "\xE6\x97\xA5\xE6\x9C\xAC a_long_word_of_more_than_8_letters ";
      }
    }
    const Block block(text);
    const std::set<std::string> words = words_of(text);
    const std::int64_t earliest = static_cast<std::int64_t>(random() % 60);
    const std::int64_t latest = earliest + static_cast<std::int64_t>(random() % 60);
    const WordMatch expected = by_definition(sets, words, threshold, earliest, latest);
    const auto mark = static_cast<std::int64_t>(random() % 100);
    const WordMatch found = random() % 3 == 0 ? index.find(block.span(), earliest, latest)
                                              : index.find_or_add(block.span(), mark, earliest, latest);
    if (expected.slot >= 0) {
      check(found.slot == expected.slot && found.shared == expected.shared &&
                found.joined == expected.joined, "the best is found");
    } else if (found.slot >= 0) {
      check(found.slot == static_cast<int>(sets.size()) && found.shared == 0, "a new set has the next slot");
      sets.push_back({words, mark});
      texts.push_back(text);
    }
    if (!sets.empty() && random() % 10 == 0) {
      const std::size_t slot = random() % sets.size();
      if (random() % 3 == 0) {
        index.remove(static_cast<std::int32_t>(slot));
        sets[slot] = {{}, -1};
      } else if (sets[slot].mark >= 0) {
        sets[slot].mark = mark;
        index.set_mark(static_cast<std::int32_t>(slot), mark);
      }
    }
    check(index.size() == static_cast<int>(sets.size()), "slots are counted");
  }
}

}  // namespace

int main() {
  unsigned seed = 1;
  for (const double threshold : {0.3, 0.5, 2.0 / 3.0, 1.0}) {
    for (const unsigned vocabulary : {12u, 60u, 2000u}) histories(threshold, vocabulary, seed++);
  }
  // The longest text: words of one letter, all different after a while.
  std::string longest;
  for (int i = 0; longest.size() < static_cast<std::size_t>(WordSetIndex::max_text_bytes) - 8; ++i) {
    longest += std::to_string(i) + " ";
  }
  WordSetIndex index(0.5, 0);
  const Block block(longest);
  check(index.add(block.span(), 5) == 0, "a long text is taken");
  check(index.find(block.span(), 0, 9).slot == 0, "a long text is found");
  check(index.find(block.span(), 6, 9).slot == -1, "outside its window it is not");
  std::printf("%d checks hold\n", checks);
  return 0;
}
