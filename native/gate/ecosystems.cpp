// Whether a path is what the tools of an ecosystem make, where another word or command of the same text shows that ecosystem.
#include "tipstaff/gate/paths/ecosystems.hpp"

#include "tipstaff/gate/rules/globs.hpp"
#include "tipstaff/gate/rules/made.hpp"
#include "tipstaff/gate/tree/ascii.hpp"

namespace tipstaff::gate::rules {
namespace {

using std::string_view;

constexpr std::uint32_t kNear = 16;      // commands before and after the one that deletes
constexpr std::uint32_t kLooked = 48;    // words of one command
constexpr std::size_t kLongest = 256;    // letters of a path

// Calls `use` with each word of a list until it returns true; returns whether it did.
template <typename Use>
bool any_of(string_view list, Use use) noexcept {
  while (!list.empty()) {
    const std::size_t end = list.find(' ');
    if (use(list.substr(0, end))) return true;
    if (end == string_view::npos) break;
    list.remove_prefix(end + 1);
  }
  return false;
}

// Stars of the text are letters like others: *.vcd is what *.vcd stands for, and * is not.
bool fits(string_view pattern, string_view name) noexcept {
  if (pattern.back() != '*' && pattern.back() != ascii::lower(name.back())) return false;
  if (pattern.front() != '*' && pattern.front() != ascii::lower(name.front())) return false;
  return matches_general(pattern, name);
}

string_view first_part(string_view* path) noexcept {
  const std::size_t slash = path->find('/');
  const string_view part = path->substr(0, slash);
  path->remove_prefix(slash == string_view::npos ? path->size() : slash + 1);
  return part;
}

// Whether a path as `readable` gives it is what a pattern of a .gitignore names, or lies below that.
bool covers(string_view pattern, string_view path) noexcept {
  if (pattern.find('/') != string_view::npos) {
    if (pattern[0] == '/') pattern.remove_prefix(1);
    while (!pattern.empty()) {
      const string_view wanted = first_part(&pattern), part = first_part(&path);
      if (part.empty() || !fits(wanted, part)) return false;
    }
    return true;
  }
  while (!path.empty()) {
    const string_view part = first_part(&path);
    if (part.empty()) return false;
    if (fits(pattern, part)) return true;
    // In folders of sources only endings count: src/x.pb.go, not src/results.
    if (pattern[0] != '*' && ascii::one_of(part, "src source sources lib app test tests spec docs data")) return false;
  }
  return false;
}

// The path below the folder where the command runs; nothing where it is elsewhere, or not all of it is known.
string_view readable(string_view text) noexcept {
  while (text.size() > 2 && text[0] == '.' && text[1] == '/') text.remove_prefix(2);
  while (text.size() > 1 && text.back() == '/') text.remove_suffix(1);
  if (text.empty() || text.size() > kLongest || text[0] == '/' || text[0] == '~' || text[0] == '-') return {};
  if (text.find("..") != string_view::npos && !ascii::starts_with(text, "..rcheck")) return {};
  if (text.find("//") != string_view::npos || text.find("/./") != string_view::npos || text.find_first_of("{}()|\\$:") != string_view::npos) return {};
  for (const char c : text)
    if (static_cast<unsigned char>(c) < ' ') return {};
  return text;
}

bool shows(const Ecosystem& ecosystem, const Tree& tree, const Command& command) noexcept {
  const Word* const words = tree.arguments(command);
  const std::uint32_t count = command.word_count < kLooked ? command.word_count : kLooked;
  for (std::uint32_t i = 0; i < count; ++i) {
    if (words[i].has(word_flag::kUnknown)) continue;
    const string_view path = readable(words[i].text);
    if (!path.empty() && any_of(ecosystem.signs, [path](string_view sign) noexcept { return covers(sign, path); })) return true;
  }
  return false;
}

bool is_tool(const Ecosystem& ecosystem, const Tree& tree, const Command& command) noexcept {
  if (command.program.empty()) return false;
  return any_of(ecosystem.programs, [&](string_view tool) noexcept {
    const std::size_t colon = tool.find(':');
    if (!fits(tool.substr(0, colon), command.program)) return false;
    if (colon == string_view::npos) return true;
    const Word* const words = tree.arguments(command);
    string_view verbs = tool.substr(colon + 1);
    for (std::uint32_t i = 0; i < command.word_count && i < kLooked; ++i) {
      if (words[i].text.empty() || words[i].text[0] == '-') continue;
      const std::size_t end = verbs.find(':');
      if (!ascii::equals(words[i].text, verbs.substr(0, end))) return false;
      if (end == string_view::npos) return true;
      verbs.remove_prefix(end + 1);
    }
    return false;
  });
}

}  // namespace

bool MadeBefore::of_ecosystem(const Word& word, string_view below) const noexcept {
  if (word.has(word_flag::kUnknown)) return false;
  const string_view path = readable(below);
  if (path.empty()) return false;
  const std::uint32_t from = index > kNear ? index - kNear : 0;
  const std::uint32_t to = tree.command_count() - index > kNear ? index + kNear : tree.command_count();
  for (const Ecosystem& ecosystem : kEcosystems) {
    if (!any_of(ecosystem.outputs, [path](string_view output) noexcept { return covers(output, path); })) continue;
    for (std::uint32_t i = from; i < to; ++i) {
      const Command& other = tree.command(i);
      if ((i == index || ascii::one_of(other.program, "rm rimraf del-cli")) ? shows(ecosystem, tree, other) : is_tool(ecosystem, tree, other)) return true;
    }
  }
  return false;
}

}  // namespace tipstaff::gate::rules
