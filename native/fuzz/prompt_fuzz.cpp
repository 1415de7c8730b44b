// Reads any bytes as a prompt: what it asks for and what it names, and its paths as globs. The words are those of a
// lexicon of nothing but the marks, so that every path is taken and none of it depends on a file.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "tipstaff/tasks/scopes.hpp"
#include "tipstaff/tasks/intents.hpp"
#include "tipstaff/tasks/paths.hpp"
#include "tipstaff/tasks/letters.hpp"

namespace {

using namespace tipstaff;

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// Opens the input as a lexicon, and reads the rest of it by that: a damaged one must be refused or do no harm.
void as_lexicon(ByteView text) {
  std::string bytes(reinterpret_cast<const char*>(text.data), static_cast<std::size_t>(text.size));
  if (bytes.size() >= 8) std::memcpy(&bytes[0], "TIN1\r\n\x1a\n", 8);
  IntentLexicon lexicon;
  const ByteView span{reinterpret_cast<const unsigned char*>(bytes.data()), static_cast<std::int64_t>(bytes.size())};
  if (lexicon.open(span) && lexicon.check()) must(read_intent(lexicon, text, false).intent <= kGeneralIntent, "an intent has a number");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const ByteView text{data, static_cast<std::int64_t>(size)};
  as_lexicon(text);

  std::string empty("TIN1\r\n\x1a\n", 8);
  for (const std::uint32_t count : {1u, 0u, 0u, 1u, 0u, 1u}) empty.append(reinterpret_cast<const char*>(&count), 4);
  empty.append(8, '\0');
  empty.append(2, '\xff');
  IntentLexicon lexicon;
  must(lexicon.open({reinterpret_cast<const unsigned char*>(empty.data()), static_cast<std::int64_t>(empty.size())}) && lexicon.check(),
       "a lexicon of nothing opens");
  std::vector<unsigned char> letters(2 * size + 4), apart(4 * size + 12);
  const ByteView first = letters_for_intent(text, letters.data());
  must(first.size <= static_cast<std::int64_t>(letters.size()), "letters have room");
  const ByteView second = stems_apart(lexicon, first, apart.data());
  must(second.size <= static_cast<std::int64_t>(apart.size()), "stems have room");
  must(read_intent(lexicon, second, true).intent == kGeneralIntent, "a lexicon of nothing gives no intent");

  std::vector<char> memory(2 * static_cast<std::size_t>(TaskPaths::kMostBytes));
  TaskPaths paths;
  find_paths({reinterpret_cast<const char*>(data), size}, memory.data(), &paths);
  must(paths.count <= TaskPaths::kMost, "paths have room");
  const std::vector<std::uint32_t> numbers(data, data + size);
  for (std::uint32_t i = 0; i < paths.count; ++i) {
    must(!paths.of[i].empty() && paths.of[i].find("//") == std::string_view::npos, "a path has no empty folder");
    globs::PathGlob glob;
    const globs::PathGlob* const given = glob.read(paths.of[i]) ? &glob : nullptr;
    (void)globs::holds({reinterpret_cast<const unsigned char*>(numbers.data()), static_cast<std::uint32_t>(numbers.size())}, 0, "src/web",
                       paths.of[i], given);
  }
  return 0;
}
