// Tables of words against the lists that they are made of.
#include <cstdio>
#include <string>
#include <string_view>

#include "tipstaff/gate/paths/build_names.hpp"
#include "tipstaff/gate/tree/word_table.hpp"

using namespace tipstaff::gate;

namespace {

constexpr std::string_view kLists[] = {"rm rmdir unlink", "cp mv rm", "a ab abc abcd abcdefgh abcdefghi"};
constexpr auto kListOf = [](std::uint32_t list) constexpr noexcept { return kLists[list]; };
constexpr WordTable<32> kTable(3, kListOf);
static_assert(kTable.find("rm", kListOf) == 0, "the first list that has a word counts");
static_assert(kTable.find("MV", kListOf) == 1, "letter case does not count");
static_assert(kTable.find("abcdefghi", kListOf) == 2);
static_assert(kTable.find("", kListOf) == kTable.kNowhere && kTable.find("rm rmdir", kListOf) == kTable.kNowhere);

}  // namespace

int main() {
  int failures = 0, checks = 0;
  const auto check = [&](std::string_view word) {
    ++checks;
    const bool found = kBuildTable.find(word, kBuildList) != kBuildTable.kNowhere;
    if (found == ascii::one_of(word, kBuildNames)) return;
    ++failures;
    std::fprintf(stderr, "word table: %.*s\n", static_cast<int>(word.size()), word.data());
  };
  for (std::size_t start = 0; start < kBuildNames.size();) {
    const std::size_t end = kBuildNames.find(' ', start) == std::string_view::npos ? kBuildNames.size() : kBuildNames.find(' ', start);
    std::string word(kBuildNames.substr(start, end - start));
    check(word);
    for (const std::string& near : {word + "x", "x" + word, word.substr(1), word.substr(0, word.size() - 1), word + word}) check(near);
    for (char& letter : word) {
      const char kept = letter;
      letter = static_cast<char>(letter ^ 0x20);  // another case, or another sign
      check(word);
      letter = kept;
    }
    start = end + 1;
  }
  std::fprintf(stderr, "word table: %d checks, %d failures\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
