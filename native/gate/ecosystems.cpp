// Whether a path is what the tools of an ecosystem make, where another word or command of the same text shows that ecosystem.
#include "tipstaff/gate/paths/ecosystems.hpp"

#include "tipstaff/gate/rules/globs.hpp"
#include "tipstaff/gate/rules/made.hpp"
#include "tipstaff/gate/tree/ascii.hpp"

namespace tipstaff::gate::rules {
namespace {

using std::string_view;

constexpr std::uint32_t kNear = 8;    // commands before and after the one that deletes
constexpr std::uint32_t kOwn = 48;     // words of that one
constexpr std::uint32_t kOthers = 8;   // words of another one
constexpr std::size_t kLongest = 256;  // letters of a path
constexpr std::uint32_t kCount = sizeof kEcosystems / sizeof kEcosystems[0];
static_assert(kCount <= sizeof(Ecosystems::bits) * 8, "one bit for each");

enum class Part : std::uint8_t { programs, signs, outputs };

constexpr string_view list_of(std::uint32_t ecosystem, Part part) noexcept {
  const Ecosystem& one = kEcosystems[ecosystem];
  return part == Part::programs ? one.programs : part == Part::signs ? one.signs : one.outputs;
}

// The patterns of one list of all ecosystems, by a letter that what they match has: the first one, of *.x the last one.
template <std::uint32_t Size>
class PatternIndex {
 public:
  constexpr explicit PatternIndex(Part part) noexcept : part_(part), starts_{}, entries_{} {
    std::uint32_t counts[kBuckets] = {};
    each(part, [&](std::uint32_t, std::size_t, string_view pattern) { ++counts[bucket_of(pattern)]; });
    std::uint32_t at = 0;
    for (std::uint32_t b = 0; b < kBuckets; ++b) {
      starts_[b] = static_cast<std::uint16_t>(at);
      at += counts[b];
    }
    starts_[kBuckets] = static_cast<std::uint16_t>(at);
    std::uint32_t next[kBuckets] = {};
    each(part, [&](std::uint32_t ecosystem, std::size_t start, string_view pattern) {
      const std::uint32_t b = bucket_of(pattern);
      entries_[starts_[b] + next[b]++] = Entry{static_cast<std::uint16_t>(start), static_cast<std::uint8_t>(pattern.size()), static_cast<std::uint8_t>(ecosystem)};
    });
  }

  // Calls `use` with each pattern that may match a name, and its ecosystem.
  template <typename Use>
  void candidates(string_view name, Use use) const noexcept {
    if (name.empty()) return;
    in_bucket(letter(name.front()), use);
    in_bucket(kLetters + letter(name.back()), use);
    in_bucket(kBuckets - 1, use);
  }

 private:
  static constexpr std::uint32_t kLetters = 28, kBuckets = 2 * kLetters + 1;
  struct Entry {
    std::uint16_t start;
    std::uint8_t bytes, ecosystem;
  };

  static constexpr std::uint32_t letter(char c) noexcept {
    if (c >= 'a' && c <= 'z') return static_cast<std::uint32_t>(c - 'a');
    if (c >= 'A' && c <= 'Z') return static_cast<std::uint32_t>(c - 'A');
    return c == '.' ? 26 : 27;
  }
  static constexpr std::uint32_t bucket_of(string_view pattern) noexcept {
    if (pattern[0] == '/') pattern.remove_prefix(1);
    if (pattern[0] != '*') return letter(pattern[0]);
    // Of a path only the first part is asked for.
    pattern = pattern.substr(0, pattern.find('/'));
    return pattern.back() != '*' ? kLetters + letter(pattern.back()) : kBuckets - 1;
  }
  template <typename Use>
  static constexpr void each(Part part, Use use) {
    for (std::uint32_t e = 0; e < kCount; ++e) {
      const string_view list = list_of(e, part);
      for (std::size_t start = 0; start < list.size();) {
        std::size_t end = start;
        while (end < list.size() && list[end] != ' ') ++end;
        use(e, start, list.substr(start, end - start));
        start = end + 1;
      }
    }
  }
  template <typename Use>
  void in_bucket(std::uint32_t bucket, Use use) const noexcept {
    for (std::uint32_t i = starts_[bucket]; i < starts_[bucket + 1]; ++i)
      use(entries_[i].ecosystem, list_of(entries_[i].ecosystem, part_).substr(entries_[i].start, entries_[i].bytes));
  }

  Part part_;
  std::uint16_t starts_[kBuckets + 1];
  Entry entries_[Size];
};

// Lists are in lower case with one space between words, and no pattern is without a letter.
constexpr bool are_written_well() noexcept {
  for (std::uint32_t e = 0; e < kCount; ++e) {
    for (const Part part : {Part::programs, Part::signs, Part::outputs}) {
      const string_view list = list_of(e, part);
      std::size_t letters = 0;
      for (std::size_t i = 0; i <= list.size(); ++i) {
        if (i == list.size() || list[i] == ' ') {
          if (!list.empty() && letters == 0) return false;
          letters = 0;
        } else if (list[i] >= 'A' && list[i] <= 'Z') {
          return false;
        } else if (list[i] >= 'a' && list[i] <= 'z') {
          ++letters;
        }
      }
    }
  }
  return true;
}
static_assert(are_written_well());

constexpr std::uint32_t words_of(Part part) noexcept {
  std::uint32_t words = 0;
  for (std::uint32_t e = 0; e < kCount; ++e) {
    const string_view list = list_of(e, part);
    words += list.empty() ? 0 : 1;
    for (std::size_t i = 0; i < list.size(); ++i) words += list[i] == ' ' ? 1 : 0;
  }
  return words;
}
constexpr PatternIndex<words_of(Part::programs)> kPrograms(Part::programs);
constexpr PatternIndex<words_of(Part::signs)> kSignsOfTools(Part::signs);
constexpr PatternIndex<words_of(Part::outputs)> kOutputs(Part::outputs);

void add(std::uint32_t ecosystem, Ecosystems* found) noexcept { found->bits[ecosystem / 64] |= std::uint64_t{1} << (ecosystem % 64); }

// Stars of the text are letters like others: *.vcd is what *.vcd stands for, and * is not.
bool fits(string_view pattern, string_view name) noexcept {
  if (pattern.size() > name.size() + 2 || (pattern.back() != '*' && pattern.back() != ascii::lower(name.back()))) return false;
  return matches_general(pattern, name);
}

string_view first_part(string_view* path) noexcept {
  const std::size_t slash = path->find('/');
  const string_view part = path->substr(0, slash);
  path->remove_prefix(slash == string_view::npos ? path->size() : slash + 1);
  return part;
}

// Whether each part of a pattern is the path's from the beginning.
bool begins_with(string_view pattern, string_view path) noexcept {
  if (pattern[0] == '/') pattern.remove_prefix(1);
  while (!pattern.empty()) {
    const string_view wanted = first_part(&pattern), part = first_part(&path);
    if (part.empty() || !fits(wanted, part)) return false;
  }
  return true;
}

constexpr string_view kFoldersOfSources = "src source sources lib app test tests spec docs data";

// The ecosystems with a pattern that names a path as `readable` gives it, or a folder above it, as a .gitignore is read.
template <typename Index>
void look_up(const Index& index, string_view path, Ecosystems* found) noexcept {
  bool outermost = true, sources = false;
  for (string_view rest = path; !rest.empty(); outermost = false) {
    const string_view part = first_part(&rest);
    if (part.empty()) return;
    index.candidates(part, [&](std::uint32_t ecosystem, string_view pattern) noexcept {
      if (found->has(ecosystem)) return;
      if (pattern.find('/') != string_view::npos) {
        if (outermost && begins_with(pattern, path)) add(ecosystem, found);
      } else if ((!sources || pattern[0] == '*') && fits(pattern, part)) {
        add(ecosystem, found);
      }
    });
    // In folders of sources only endings count: src/x.pb.go, not src/results.
    sources = sources || ascii::one_of(part, kFoldersOfSources);
  }
}

// The path below the folder where the command runs; nothing where it is elsewhere, or not all of it is known.
string_view readable(string_view text) noexcept {
  while (text.size() > 2 && text[0] == '.' && text[1] == '/') text.remove_prefix(2);
  while (text.size() > 1 && text.back() == '/') text.remove_suffix(1);
  if (text.empty() || text.size() > kLongest || text[0] == '/' || text[0] == '~' || text[0] == '-') return {};
  if (text.find("..") != string_view::npos && !ascii::starts_with(text, "..rcheck")) return {};
  if (text.find("//") != string_view::npos || text.find("/./") != string_view::npos) return {};
  for (const char c : text)
    if (static_cast<unsigned char>(c) < ' ' || c == '{' || c == '}' || c == '(' || c == ')' || c == '|' || c == '\\' || c == '$' || c == ':') return {};
  return text;
}

void find_signs(const Tree& tree, const Command& command, std::uint32_t most, Ecosystems* found) noexcept {
  const Word* const words = tree.arguments(command);
  for (std::uint32_t i = 0; i < command.word_count && i < most; ++i)
    if (!words[i].has(word_flag::kUnknown)) look_up(kSignsOfTools, readable(words[i].text), found);
}

// Whether the first operands are verbs: vendor of mod:vendor.
bool has_verbs(const Tree& tree, const Command& command, string_view verbs) noexcept {
  const Word* const words = tree.arguments(command);
  for (std::uint32_t i = 0; i < command.word_count && i < kOthers; ++i) {
    if (words[i].text.empty() || words[i].text[0] == '-') continue;
    const std::size_t end = verbs.find(':');
    if (!ascii::equals(words[i].text, verbs.substr(0, end))) return false;
    if (end == string_view::npos) return true;
    verbs.remove_prefix(end + 1);
  }
  return false;
}

void find_tool(const Tree& tree, const Command& command, Ecosystems* found) noexcept {
  kPrograms.candidates(command.program, [&](std::uint32_t ecosystem, string_view tool) noexcept {
    const std::size_t colon = tool.find(':');
    if (!found->has(ecosystem) && fits(tool.substr(0, colon), command.program) && (colon == string_view::npos || has_verbs(tree, command, tool.substr(colon + 1)))) add(ecosystem, found);
  });
}

}  // namespace

Ecosystems Ecosystems::shown_by(const Tree& tree, std::uint32_t index) noexcept {
  Ecosystems found;
  const std::uint32_t from = index > kNear ? index - kNear : 0;
  const std::uint32_t to = tree.command_count() - index > kNear ? index + kNear : tree.command_count();
  for (std::uint32_t i = from; i < to; ++i) {
    const Command& other = tree.command(i);
    if (i == index) find_signs(tree, other, kOwn, &found);
    else if (ascii::one_of(other.program, "rm rimraf del-cli")) find_signs(tree, other, kOthers, &found);
    else find_tool(tree, other, &found);
  }
  return found;
}

bool Ecosystems::is_below_sources(string_view path) noexcept {
  while (!path.empty())
    if (const string_view part = first_part(&path); ascii::one_of(part, kFoldersOfSources) || ascii::one_of(part, "uploads media storage backups")) return true;
  return false;
}

Ecosystems Ecosystems::that_make(std::string_view path) noexcept {
  Ecosystems found;
  look_up(kOutputs, readable(path), &found);
  return found;
}

}  // namespace tipstaff::gate::rules
