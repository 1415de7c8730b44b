// Scopes against paths, compiled here from globs without braces. That they hold what the Python matcher says is tested
// from there.
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "checking.hpp"
#include "tipstaff/tasks/scopes.hpp"

namespace {

using namespace tipstaff;
using test::checks;
using test::expect;
using test::failures;

struct Scopes {
  std::vector<std::uint32_t> numbers;
  std::string strings;

  // Folders of one glob; `[ab]` is a set of single characters, `[!ab]` all others.
  void plain(const std::string& glob, bool below) {
    std::vector<std::uint32_t> body;
    std::uint32_t folders = 0;
    for (std::size_t at = 0; at <= glob.size(); ++folders) {
      std::size_t end = glob.find('/', at);
      if (end == std::string::npos) end = glob.size();
      const std::string name = glob.substr(at, end - at);
      at = end + 1;
      std::vector<std::uint32_t> items;
      for (std::size_t i = 0; name != "**" && i < name.size(); ++i) {
        if (name[i] == '*') {
          items.push_back(globs::kStar);
        } else if (name[i] == '?') {
          items.push_back(globs::kOne);
        } else if (name[i] == '[') {
          const std::size_t close = name.find(']', i);
          const bool others = name[i + 1] == '!';
          const std::string members = name.substr(i + 1 + (others ? 1 : 0), close - i - 1 - (others ? 1 : 0));
          items.push_back(globs::kSet | (others ? globs::kOthers : 0) | static_cast<std::uint32_t>(members.size()));
          for (const char c : members) items.insert(items.end(), 2, static_cast<unsigned char>(c));
          i = close;
        } else {
          items.push_back(static_cast<unsigned char>(name[i]));
        }
      }
      body.push_back(static_cast<std::uint32_t>(items.size()));
      body.insert(body.end(), items.begin(), items.end());
    }
    numbers.insert(numbers.end(), {folders, below ? 1u : 0u, static_cast<std::uint32_t>(body.size())});
    numbers.insert(numbers.end(), body.begin(), body.end());
  }
  void glob(const std::string& text, bool below, bool out = false) {
    numbers.insert(numbers.end(), {out ? 1u : 0u, 1u});
    plain(text, below);
  }
  void extent(const std::string& folders, const std::string& partial, const std::string& ending) {
    for (const std::string& one : {folders, partial, ending}) {
      numbers.push_back(static_cast<std::uint32_t>(strings.size()));
      numbers.push_back(static_cast<std::uint32_t>(one.size()));
      strings += one;
    }
  }

  bool holds(const std::string& path) const {
    const std::size_t bytes = numbers.size() * 4;
    std::unique_ptr<unsigned char[]> exact(new unsigned char[bytes]);
    std::memcpy(exact.get(), numbers.data(), bytes);
    globs::PathGlob glob;
    return globs::holds({exact.get(), static_cast<std::uint32_t>(numbers.size())}, 0, strings, path, glob.read(path) ? &glob : nullptr);
  }
};

bool covers(const std::string& glob, bool below, const std::string& path) {
  Scopes scopes;
  scopes.numbers = {1};
  scopes.glob(glob, below);
  scopes.numbers.push_back(0);
  return scopes.holds(path);
}

void single_globs() {
  const struct {
    const char* glob;
    bool below;
    const char* path;
    bool covered;
  } cases[] = {
      {"src/api", true, "src/api", true}, {"src/api", true, "src/api/x/y.ts", true}, {"src/api", true, "src/apis", false},
      {"src/*.ts", false, "src/a.ts", true}, {"src/*.ts", false, "src/a/b.ts", false}, {"src/*.ts", false, "src/a.ts/b", false},
      {"src/**", true, "src", true}, {"src/**", true, "src/a/b", true}, {"src/**", true, "srcs", false},
      {"**/a.ts", true, "a.ts", true}, {"**/a.ts", true, "x/y/a.ts", true}, {"**/a.ts", true, "x/a.tsx", false},
      {"**/*.ts", false, "x/y/a.ts", true}, {"**/*.ts", false, "a.ts", true}, {"**/*.ts", false, "a.ts/b", false},
      {"src/**/*.ts", false, "src/a.ts", true}, {"src/**/*.ts", false, "src/x/y/a.ts", true}, {"src/**/*.ts", false, "web/a.ts", false},
      {"a/**/b/**/c", true, "a/x/b/y/c/d", true}, {"a/**/b/**/c", true, "a/b/c", true}, {"a/**/b/**/c", true, "a/c/b", false},
      {"**/b/**", true, "a/b", true}, {"**/b/**", true, "a/c", false}, {"**/b/*", false, "b", false}, {"**/b/*", false, "x/b/y", true},
      {"a*b?c", false, "axxbyc", true}, {"a*b?c", false, "abbc", true}, {"a*b?c", false, "abc", false}, {"**", true, "x", true},
      {"[ab]x", false, "ax", true}, {"[ab]x", false, "cx", false}, {"[!ab]x", false, "cx", true}, {"[!ab]x", false, "ax", false},
      {"?", false, "\xc3\xa9", true}, {"?", false, "ab", false}, {"*", false, "ab", true}, {"*/x", true, "a/x", true},
  };
  for (const auto& one : cases) expect(covers(one.glob, one.below, one.path) == one.covered, std::string(one.glob) + " " + one.path);
  std::string deep, pattern = "**";
  for (int i = 0; i < 2000; ++i) deep += "a/";
  for (int i = 0; i < 100; ++i) pattern += "/a/**/a/b/**";
  expect(!covers(pattern, true, deep + "c"), "a deep path ends");
}

void whole_scopes() {
  Scopes scopes;
  scopes.numbers = {3};
  scopes.glob("src/**", true);
  scopes.glob("src/old", true, true);
  scopes.glob("docs", true);
  scopes.numbers.push_back(2);
  scopes.extent("src/", "", "");
  scopes.extent("docs/", "", "");
  expect(scopes.holds("src/a") && scopes.holds("docs/x") && !scopes.holds("src/old/a") && !scopes.holds("web"), "what is taken out is out");
  expect(scopes.holds("src/*/b") && scopes.holds("**/*.ts") && !scopes.holds("web/*.ts") && scopes.holds("{src}/old/*"), "globs as places");
  expect(scopes.holds("!web/*") && !scopes.holds("web/{1..3}") && !scopes.holds("web/{a") && !scopes.holds("web/}a*"), "odd places");
  Scopes others;
  others.numbers = {1};
  others.glob("old/**", true, true);
  others.numbers.push_back(1);
  others.extent("", "", "");
  expect(others.holds("new/a") && !others.holds("old/a"), "all but one folder");
  Scopes ends;
  ends.numbers = {2, 0, 0};
  ends.glob("**/*.ts", false);
  ends.numbers.push_back(1);
  ends.extent("", "", ".ts");
  expect(!ends.holds("src/*.py") && ends.holds("src/*.ts") && ends.holds("src/*") && !ends.holds("a.py"), "ends of names");
  // Damaged in any number it is read without harm.
  for (std::size_t at = 0; at < scopes.numbers.size(); ++at) {
    for (const std::uint32_t value : {0u, 1u, 7u, 0x7fffffffu, 0xffffffffu, globs::kStar, globs::kSet | 0xffffu}) {
      Scopes damaged = scopes;
      damaged.numbers[at] = value;
      (void)damaged.holds("src/old/a");
      (void)damaged.holds("src/*/a.ts");
      ++checks;
    }
  }
}

}  // namespace

int main() {
  single_globs();
  whole_scopes();
  std::printf("%d checks, %d wrong\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
