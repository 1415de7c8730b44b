// Runs a fuzz target without libFuzzer: `target SECONDS [SEED] [FILE ...]`.
//
// Inputs are made from the files that are named and from words that matter to the readers, by copying, cutting, repeating
// and flipping. The target checks what must hold and aborts where it does not; an input that makes it abort, or that
// takes more than a second, is written to the file `crash-SEED` in the working folder before it runs.
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <unistd.h>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kWords[] = {
    "rm -rf /", "git push --force origin main", "$(", "`", "${x:-", "}", ")", "<<EOF\n", "EOF\n", "<<<", "'", "\"", "\\", "$'\\x72'",
    "| sh", "&& ", "; ", "\n", "for i in a b; do ", "done", "if true; then ", "fi", "case x in a) ", ";; esac", "f() { ", "} ",
    "xargs ", "sudo ", "env -i ", "bash -c '", "eval ", "python3 -c \"", "import os; os.system('", "')", "DROP TABLE t;", "DELETE FROM t",
    "-- ", "/*", "*/", "{\"a\":[", "]}", "\\u0041", "\\ud800", "null", "true", "-1e9", "*** Begin Patch\n", "*** End Patch\n", "@@ -1 +1 @@\n",
    "+line\n", "-line\n", "Remove-Item -Recurse ", "%PATH%", "^", "{a,b}", "[a-z]*", "~", "$HOME", "> /dev/sda", "2>&1", "&", "|&", "((", "))",
    "[[ ", " ]]", "#", "\r\n", "\xff\xfe", "\xf0\x9f\x98\x80", "password = ", "token: ", "-----BEGIN ", "PRIVATE KEY-----", "=", ":", "://u:p@",
};

using Random = std::mt19937_64;

std::size_t below(Random& random, std::size_t bound) { return bound == 0 ? 0 : random() % bound; }

void change(std::string& text, const std::vector<std::string>& seeds, Random& random) {
  const std::size_t at = below(random, text.size() + 1);
  switch (below(random, 9)) {
    case 0:
    case 1: text.insert(at, kWords[below(random, std::size(kWords))]); break;
    case 2: text.erase(at, 1 + below(random, 16)); break;
    case 3:
      if (!text.empty()) text[below(random, text.size())] ^= static_cast<char>(1 << below(random, 8));
      break;
    case 4: text.insert(at, text.substr(below(random, text.size() + 1), below(random, 64))); break;
    case 5: {
      const std::string& other = seeds[below(random, seeds.size())];
      const std::size_t from = below(random, other.size() + 1);
      text.insert(at, other.substr(from, 1 + below(random, 200)));
      break;
    }
    case 6: {
      const std::string word = kWords[below(random, std::size(kWords))];
      std::string many;
      for (std::size_t i = below(random, 300); i > 0; --i) many += word;
      text.insert(at, many);
      break;
    }
    case 7: text.insert(at, 1, static_cast<char>(random())); break;
    default: text.resize(at); break;
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 2) {
    std::fprintf(stderr, "usage: %s SECONDS [SEED] [FILE ...]\n", arguments[0]);
    return 2;
  }
  const double seconds = std::atof(arguments[1]);
  const unsigned long long seed = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
  Random random(seed);
  std::vector<std::string> seeds;
  for (int i = 3; i < count; ++i) {
    std::ifstream file(arguments[i], std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  for (const char* word : kWords) seeds.emplace_back(word);
  const std::string crash = "crash-" + std::to_string(seed);
  const auto start = Clock::now();
  const auto spent = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  unsigned long long runs = 0;
  while (spent() < seconds) {
    std::string text = seeds[below(random, seeds.size())];
    for (std::size_t i = 1 + below(random, 12); i > 0; --i) change(text, seeds, random);
    if (text.size() > (1u << 16)) text.resize(1u << 16);
    std::FILE* file = std::fopen(crash.c_str(), "wb");
    if (file != nullptr) {
      std::fwrite(text.data(), 1, text.size(), file);
      std::fclose(file);
    }
    ::alarm(20);  // an input that hangs ends the run, and is in the file
    const auto before = Clock::now();
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
    const double took = std::chrono::duration<double>(Clock::now() - before).count();
    if (took > 5.0) {
      std::fprintf(stderr, "%zu bytes took %.1f s: see %s\n", text.size(), took, crash.c_str());
      return 1;
    }
    ++runs;
  }
  std::remove(crash.c_str());
  std::printf("%llu inputs in %.0f s, seed %llu: nothing found\n", runs, spent(), seed);
  return 0;
}
