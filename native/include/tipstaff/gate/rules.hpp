// Matches the commands of a tree against the rules of a policy image. Linear in the words of a command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tipstaff/gate/ascii.hpp"
#include "tipstaff/gate/commands.hpp"
#include "tipstaff/gate/image.hpp"
#include "tipstaff/gate/paths.hpp"

namespace tipstaff::gate {

struct Finding {
  std::uint32_t rule = kNothing;  // kNothing: said by a gate that has no rules
  Decision decision = Decision::allow;
  Gate gate = Gate::destructive;
  Span span;                       // the command
  Span focus;                      // the word that decided, else as span
  std::uint32_t command = kNone;
  std::uint32_t classes = 0;       // of the path that decided; lines that were changed, from the diff-size gate
  std::uint32_t field = 0;         // the field of the tool call that the spans speak of
  bool uncertain = false;          // the policy decided, because something could not be known
};

struct Verdict {
  static constexpr std::uint32_t kFindings = 64;
  Finding findings[kFindings];
  std::uint32_t count = 0;
  std::uint32_t left_out = 0;  // findings for which there was no room; never the most severe ones
  Decision decision = Decision::allow;
  std::uint32_t marks = 0;

  void clear() noexcept {
    count = left_out = marks = 0;
    decision = Decision::allow;
  }
  void add(const Finding& finding) noexcept {
    if (finding.decision > decision) decision = finding.decision;
    for (std::uint32_t i = 0; i < count; ++i) {
      Finding& other = findings[i];
      if (other.rule == finding.rule && other.gate == finding.gate && other.span.start == finding.span.start &&
          other.span.end == finding.span.end) {
        if (finding.decision > other.decision) other = finding;
        return;
      }
    }
    if (count < kFindings) {
      findings[count++] = finding;
      return;
    }
    ++left_out;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (findings[i].decision < finding.decision) {
        findings[i] = finding;
        return;
      }
    }
  }
};

namespace rules {

using ascii::lower;

// Whether `text` is `name`, which is in lower case.
inline bool equal_folded(std::string_view text, std::string_view name) noexcept { return ascii::equals(text, name); }
inline bool starts_folded(std::string_view text, std::string_view start) noexcept { return ascii::starts_with(text, start); }

// `*` and `?`, a backslash before a star that is one. Linear in the text for the image's short globs.
inline bool matches_general(std::string_view glob, std::string_view text) noexcept {
  std::size_t g = 0, t = 0, star = std::string_view::npos, mark = 0;
  while (t < text.size()) {
    if (g < glob.size() && glob[g] == '*') {
      star = ++g;
      mark = t;
      continue;
    }
    if (g < glob.size()) {
      const bool escaped = glob[g] == '\\' && g + 1 < glob.size();
      const char wanted = escaped ? glob[g + 1] : glob[g];
      if ((wanted == '?' && !escaped) || lower(text[t]) == wanted) {
        g += escaped ? 2 : 1;
        ++t;
        continue;
      }
    }
    if (star == std::string_view::npos) return false;
    g = star;
    t = ++mark;
  }
  while (g < glob.size() && glob[g] == '*') ++g;
  return g == glob.size();
}

inline bool contains_folded(std::string_view text, std::string_view part) noexcept {
  if (part.empty()) return true;
  if (text.size() < part.size()) return false;
  for (std::size_t i = 0; i + part.size() <= text.size(); ++i)
    if (lower(text[i]) == part[0] && equal_folded(text.substr(i, part.size()), part)) return true;
  return false;
}

inline bool matches(const Image& image, const record::Glob& glob, std::string_view text) noexcept {
  const std::string_view pattern = image.text(glob.text);
  switch (static_cast<GlobKind>(glob.kind)) {
    case GlobKind::literal: return equal_folded(text, pattern);
    case GlobKind::prefix: return starts_folded(text, pattern);
    case GlobKind::suffix:
      return text.size() >= pattern.size() && equal_folded(text.substr(text.size() - pattern.size()), pattern);
    case GlobKind::contains: return contains_folded(text, pattern);
    case GlobKind::general: return matches_general(pattern, text);
    case GlobKind::anything: return true;
  }
  return false;
}

inline bool matches_any(const Image& image, std::uint32_t first, std::uint32_t count, std::string_view text) noexcept {
  const std::uint32_t begins = text.empty() ? 0 : static_cast<unsigned char>(lower(text.front()));
  const std::uint32_t ends = text.empty() ? 0 : static_cast<unsigned char>(lower(text.back()));
  for (std::uint32_t i = first; i < first + count; ++i) {
    const record::Glob& glob = image.globs[i];
    // Most are told apart by length and one letter.
    if (text.size() < glob.least) continue;
    if (glob.edge != 0 && glob.edge != (glob.kind == static_cast<std::uint32_t>(GlobKind::suffix) ? ends : begins)) continue;
    if (matches(image, glob, text)) return true;
  }
  return false;
}

struct Bits {
  std::uint64_t half[2] = {0, 0};
  void set(std::uint32_t bit) noexcept { half[bit >> 6] |= std::uint64_t{1} << (bit & 63); }
  bool has(std::uint32_t bit) const noexcept { return (half[bit >> 6] >> (bit & 63)) & 1; }
  bool meets(const record::Mask& mask) const noexcept {
    return ((half[0] & (mask.bits[0] | std::uint64_t{mask.bits[1]} << 32)) |
            (half[1] & (mask.bits[2] | std::uint64_t{mask.bits[3]} << 32))) != 0;
  }
};
inline bool in_mask(const record::Mask& mask, std::uint32_t bit) noexcept { return (mask.bits[bit >> 5] >> (bit & 31)) & 1; }

enum class WordKind : std::uint8_t { positional, option, value, terminator };
constexpr std::uint32_t kWords = 4096;  // as many as a tree of 1 MiB holds; what lies beyond is read as positional
constexpr std::uint8_t kNoBit = 255;
constexpr std::uint32_t kUnclassified = 0xffffffffu;

// How the words of one command were read.
struct Parsed {
  const Word* words = nullptr;
  std::uint32_t count = 0;
  Bits present, sure;  // sure: spelled out, or abbreviated without another meaning
  const record::Bucket* bucket = nullptr;
  std::uint32_t positionals = 0;
  WordKind kind[kWords];
  std::uint8_t bit[kWords];        // of an option that carries its value, and of a value
  std::uint16_t value_at[kWords];  // where the value begins in an option that carries it
  mutable std::uint32_t classes[kWords];  // of the words as paths; kUnclassified until a rule asks

  WordKind kind_of(std::uint32_t index) const noexcept { return index < kWords ? kind[index] : WordKind::positional; }
};

inline bool is_off(std::string_view value) noexcept {
  return equal_folded(value, "false") || value == "0" || equal_folded(value, "no") || equal_folded(value, "off") ||
         equal_folded(value, "none") || equal_folded(value, "$false");
}

class Options {
 public:
  Options(const Image& image, const record::Spec& spec, Parsed* parsed) noexcept
      : image_(image), spec_(spec), parsed_(parsed), style_(static_cast<OptionStyle>(spec.style)) {}

  void read() noexcept {
    bool ended = style_ == OptionStyle::operands;
    std::uint32_t waiting = kNoBit;  // the option whose value the next word is
    for (std::uint32_t i = 0; i < parsed_->count; ++i) {
      const std::string_view text = parsed_->words[i].text;
      WordKind kind = WordKind::positional;
      std::uint8_t bit = kNoBit;
      std::uint16_t value_at = 0;
      if (waiting != kNoBit) {
        kind = WordKind::value;
        bit = static_cast<std::uint8_t>(waiting);
        waiting = kNoBit;
      } else if (!ended && text == "--") {
        ended = true;
        kind = WordKind::terminator;
        if (const record::Flag* flag = exact("--")) set(flag->bit, true);
      } else if (!ended && is_option(text)) {
        kind = WordKind::option;
        waiting = option(text, &bit, &value_at);
      } else if (parsed_->positionals++ == 0) {
        enter(text);
      }
      if (i < kWords) {
        parsed_->kind[i] = kind;
        parsed_->bit[i] = bit;
        parsed_->value_at[i] = value_at;
        parsed_->classes[i] = kUnclassified;
      }
    }
  }

 private:
  bool is_option(std::string_view text) const noexcept {
    if (text.size() < 2) return false;
    if (text[0] == '-') return true;
    if (style_ == OptionStyle::slash && text[0] == '/') return slash_is_option(text);
    return style_ == OptionStyle::powershell && text.size() > 3 && text.substr(0, 3) == "\xe2\x80\x93";  // an en dash
  }
  // `/s`, `/s/q`, `/a:h`; a path begins with a slash as well.
  bool slash_is_option(std::string_view text) const noexcept {
    std::size_t at = 1;
    while (at <= text.size()) {
      std::size_t end = text.find('/', at);
      if (end == std::string_view::npos) end = text.size();
      const std::string_view part = text.substr(at, end - at), name = part.substr(0, part.find(':'));
      if (name.empty() || (name.size() > 2 && exact(name) == nullptr)) return false;
      at = end + 1;
    }
    return true;
  }

  const record::Flag& flag(std::uint32_t index) const noexcept { return image_.flags[spec_.flags + index]; }
  const record::Flag* letter(char name) const noexcept {
    for (std::uint32_t i = 0; i < spec_.short_count; ++i)
      if (flag(i).letter == static_cast<unsigned char>(name)) return &flag(i);
    return nullptr;
  }
  const record::Flag* exact(std::string_view name) const noexcept {
    if (spec_.short_count == spec_.flag_count) return nullptr;
    const std::uint32_t hash = hash_name(name);
    for (std::uint32_t i = spec_.short_count; i < spec_.flag_count; ++i)
      if (flag(i).hash == hash && equal_folded(name, image_.text(flag(i).name))) return &flag(i);
    return nullptr;
  }
  void set(std::uint32_t bit, bool sure) noexcept {
    parsed_->present.set(bit);
    if (sure) parsed_->sure.set(bit);
  }
  bool takes_value(std::uint32_t bit) const noexcept {
    if (spec_.values_any != kNothing && in_mask(image_.masks[spec_.values_any], bit)) return true;
    if (parsed_->positionals == 0) {
      return spec_.values_before != kNothing && in_mask(image_.masks[spec_.values_before], bit);
    }
    return parsed_->bucket != nullptr && parsed_->bucket->values != kNothing &&
           in_mask(image_.masks[parsed_->bucket->values], bit);
  }
  void enter(std::string_view subcommand) noexcept {
    if (spec_.bucket_count == 0) return;
    const std::uint32_t hash = hash_name(subcommand), last = spec_.bucket_count - 1;
    for (std::uint32_t at = hash & last;; at = (at + 1) & last) {
      const record::Bucket& bucket = image_.buckets[spec_.buckets + at];
      if (bucket.name == kNothing) return;
      if (bucket.hash == hash && equal_folded(subcommand, image_.text(bucket.name))) {
        parsed_->bucket = &bucket;
        return;
      }
    }
  }

  // Reads one option word; returns the bit of the option whose value the next word is.
  std::uint32_t option(std::string_view text, std::uint8_t* bit, std::uint16_t* value_at) noexcept {
    switch (style_) {
      case OptionStyle::gnu:
        return text.size() > 2 && text[1] == '-' ? named(text, 0, '=', true, bit, value_at) : bundle(text, bit, value_at);
      case OptionStyle::go: return named(text, text[1] == '-' ? 2 : 1, '=', false, bit, value_at);
      case OptionStyle::single: return named(text, 0, '=', false, bit, value_at);
      case OptionStyle::powershell: return named(text, text[0] == '-' ? 1 : 3, ':', true, bit, value_at);
      case OptionStyle::slash: return slashes(text, bit, value_at);
      case OptionStyle::operands: break;
    }
    return kNoBit;
  }
  std::uint32_t bundle(std::string_view text, std::uint8_t* bit, std::uint16_t* value_at) noexcept {
    for (std::size_t i = 1; i < text.size(); ++i) {
      const record::Flag* found = letter(text[i]);
      if (found == nullptr) continue;
      set(found->bit, true);
      if (!takes_value(found->bit)) continue;
      if (i + 1 == text.size()) return found->bit;
      *bit = static_cast<std::uint8_t>(found->bit);
      *value_at = static_cast<std::uint16_t>(i + 1 < 65535 ? i + 1 : 65535);
      return kNoBit;
    }
    return kNoBit;
  }
  std::uint32_t named(std::string_view text, std::size_t skip, char sign, bool abbreviated, std::uint8_t* bit,
                      std::uint16_t* value_at) noexcept {
    const std::size_t at = text.find(sign, 1);
    const std::string_view name = text.substr(skip, at == std::string_view::npos ? at : at - skip);
    const bool carries = at != std::string_view::npos;
    const bool off = carries && is_off(text.substr(at + 1));
    const record::Flag* found = exact(name);
    // A one-letter option of a program that knows no bundles.
    if (found == nullptr && style_ != OptionStyle::gnu && style_ != OptionStyle::powershell) {
      const std::size_t dashes = style_ == OptionStyle::single ? 1 : 0;
      if (name.size() == dashes + 1) found = letter(name[dashes]);
    }
    std::uint32_t last = kNoBit;
    if (found != nullptr) {
      last = found->bit;
      if (!off) set(last, true);
    } else if (abbreviated && name.size() >= (style_ == OptionStyle::gnu ? 4u : 1u)) {
      std::uint32_t meanings = 0;
      for (std::uint32_t i = spec_.short_count; i < spec_.flag_count; ++i) {
        const std::string_view full = image_.text(flag(i).name);
        if (full.size() <= name.size() || full[name.size() - 1] != lower(name.back())) continue;
        if (!equal_folded(name, full.substr(0, name.size()))) continue;
        if (meanings++ == 0 || flag(i).bit != last) last = flag(i).bit;
        if (!off) parsed_->present.set(last);
      }
      if (meanings == 1 && !off) parsed_->sure.set(last);
    }
    if (last == kNoBit) return kNoBit;
    if (carries) {
      *bit = static_cast<std::uint8_t>(last);
      *value_at = static_cast<std::uint16_t>(at + 1 < 65535 ? at + 1 : 65535);
      return kNoBit;
    }
    return takes_value(last) ? last : kNoBit;
  }
  std::uint32_t slashes(std::string_view text, std::uint8_t* bit, std::uint16_t* value_at) noexcept {
    std::size_t at = 1;
    std::uint32_t waiting = kNoBit;
    while (at <= text.size()) {
      std::size_t end = text.find('/', at);
      if (end == std::string_view::npos) end = text.size();
      const std::string_view part = text.substr(at, end - at), name = part.substr(0, part.find(':'));
      const record::Flag* found = name.size() == 1 ? letter(lower(name[0])) : exact(name);
      if (found != nullptr) {
        set(found->bit, true);
        if (name.size() < part.size()) {
          *bit = static_cast<std::uint8_t>(found->bit);
          *value_at = static_cast<std::uint16_t>(at + name.size() + 1);
        } else if (takes_value(found->bit)) {
          waiting = found->bit;
        }
      }
      at = end + 1;
    }
    return waiting;
  }

  const Image& image_;
  const record::Spec& spec_;
  Parsed* parsed_;
  OptionStyle style_;
};

// Answers one rule about one command.
class Matcher {
 public:
  Matcher(const Image& image, const Surroundings& surroundings, const Tree& tree, const Command& command,
          std::uint32_t index, const Parsed& parsed) noexcept
      : image_(image), surroundings_(surroundings), tree_(tree), command_(command), index_(index), parsed_(parsed) {}

  bool holds(const record::Instance& rule) noexcept {
    skip_ = 0;
    if (!group(image_.groups[rule.base])) return false;
    const std::uint32_t skip = skip_;
    bool any = rule.any_count == 0;
    for (std::uint32_t i = 0; i < rule.any_count && !any; ++i) {
      skip_ = skip;
      any = group(image_.groups[rule.any + i]);
    }
    if (!any) return false;
    const std::uint32_t kept = skip_;
    for (std::uint32_t i = 0; i < rule.unless_count; ++i) {
      skip_ = skip;
      if (group(image_.groups[rule.unless + i])) return false;
    }
    skip_ = kept;
    return true;
  }

  // Decides a rule that holds: its own decision, or the worst of its table over the chosen paths.
  void decide(const record::Instance& rule, Finding* finding) noexcept {
    const record::Rule& named = image_.rules[rule.rule];
    finding->decision = static_cast<Decision>(named.decision);
    if (rule.table == kNothing) return;
    finding->decision = Decision::allow;
    bool chosen = false;
    select(rule.selectors, rule.selector_count, [&](const Word& word) noexcept {
      chosen = true;
      judge(rule.table, word, finding);
      return false;
    });
    if (!chosen && rule.missing != kNothing) {
      Word word;
      word.text = image_.text(rule.missing);
      word.span = command_.span;
      word.flags = word_flag::kPseudo;
      judge(rule.table, word, finding);
    }
  }

 private:
  static constexpr std::uint32_t kChain = 64;  // how far pipes and carriers are followed

  void judge(std::uint32_t table, const Word& word, Finding* finding) noexcept {
    std::uint32_t classes = classes_of(command_, word);
    // What a search finds below the repository's root is not the root.
    if (word.has(word_flag::kAppended) && (classes & path_class::kRepositoryRoot) != 0) {
      classes = (classes & ~path_class::kRepositoryRoot) | path_class::kGlob;
    }
    const record::Table& rows = image_.tables[table];
    for (std::uint32_t r = rows.first; r < rows.first + rows.count; ++r) {
      if (!fits(image_.rows[r], classes)) continue;
      const auto decision = static_cast<Decision>(image_.rows[r].decision);
      if (worse(decision, finding->decision)) {
        finding->decision = decision;
        finding->focus = word.span;
        finding->classes = classes;
      }
      return;
    }
  }
  // What the policy decides of the uncertain stands above a warning and below a block.
  static int rank(Decision decision) noexcept {
    switch (decision) {
      case Decision::warn: return 1;
      case Decision::confirm: return 2;
      case Decision::uncertain: return 3;
      case Decision::block: return 4;
      default: return 0;
    }
  }
  static bool worse(Decision left, Decision right) noexcept { return rank(left) > rank(right); }

  bool fits(const record::Row& row, std::uint32_t classes) const noexcept {
    for (std::uint32_t t = row.first; t < row.first + row.count; ++t) {
      const record::Term& term = image_.terms[t];
      if ((classes & term.require) == term.require && (classes & term.forbid) == 0) return true;
    }
    return false;
  }
  bool of_classes(std::uint32_t table, const Command& command, const Word& word) const noexcept {
    const record::Table& rows = image_.tables[table];
    return rows.count != 0 && fits(image_.rows[rows.first], classes_of(command, word));
  }
  // Several rules ask about one word; it is looked at once.
  std::uint32_t classes_of(const Command& command, const Word& word) const noexcept {
    // A chosen word is a copy: it is one of the command's own where its text is.
    if (&command == &command_) {
      const std::uint32_t count = parsed_.count < kWords ? parsed_.count : kWords;
      for (std::uint32_t i = last_asked_; i < count; ++i) {
        const Word& own = parsed_.words[i];
        if (own.text.data() != word.text.data() || own.text.size() != word.text.size()) continue;
        last_asked_ = i;
        if (parsed_.classes[i] == kUnclassified) parsed_.classes[i] = classify_path(surroundings_, command, word);
        return parsed_.classes[i];
      }
      if (last_asked_ != 0) {
        last_asked_ = 0;
        return classes_of(command, word);
      }
    }
    return classify_path(surroundings_, command, word);
  }

  bool positional(std::uint32_t index) const noexcept { return parsed_.kind_of(index) == WordKind::positional; }

  // Calls `use` with each chosen word until it returns true; returns whether it did.
  template <typename Use>
  bool select(std::uint32_t first, std::uint32_t count, Use use) noexcept {
    for (std::uint32_t s = first; s < first + count; ++s)
      if (select_one(image_.selectors[s], use)) return true;
    return false;
  }
  template <typename Use>
  bool select_one(const record::Selector& selector, Use use) noexcept {
    const auto kind = static_cast<SelectorKind>(selector.kind);
    const auto give = [&](Word word, std::size_t from) noexcept {
      word.text = word.text.substr(from < word.text.size() ? from : word.text.size());
      if (selector.strip != 0) {
        const std::size_t at = word.text.find(static_cast<char>(selector.strip));
        if (at == std::string_view::npos) return false;
        word.text.remove_prefix(at + 1);
      }
      return bool(use(word));
    };
    if (kind == SelectorKind::input) return command_.has_input && give(command_.input, 0);
    const std::uint32_t total = parsed_.positionals;
    std::uint32_t seen = 0;
    for (std::uint32_t i = 0; i < parsed_.count; ++i) {
      const Word& word = parsed_.words[i];
      const bool operand = positional(i);
      const std::uint32_t number = seen;
      if (operand) ++seen;
      switch (kind) {
        case SelectorKind::args:
          if (operand && number >= skip_ && give(word, 0)) return true;
          break;
        case SelectorKind::first:
          if (operand && number == skip_) return give(word, 0);
          break;
        case SelectorKind::last:
          if (operand && number >= skip_ && number + 1 == total) return give(word, 0);
          break;
        case SelectorKind::rest:
          if (operand && number > skip_ && give(word, 0)) return true;
          break;
        case SelectorKind::init:
          if (operand && number >= skip_ && number + 1 < total && give(word, 0)) return true;
          break;
        case SelectorKind::option:
          if (i < kWords && parsed_.bit[i] != kNoBit && in_mask(image_.masks[selector.mask], parsed_.bit[i]) &&
              give(word, parsed_.kind[i] == WordKind::value ? 0 : parsed_.value_at[i]))
            return true;
          break;
        case SelectorKind::key: {
          const std::string_view name = image_.text(selector.text);
          if (word.text.size() > name.size() && word.text[name.size()] == '=' && starts_folded(word.text, name) &&
              give(word, name.size() + 1))
            return true;
          break;
        }
        case SelectorKind::words:
          if (give(word, 0)) return true;
          break;
        case SelectorKind::input: break;
      }
    }
    return false;
  }

  const Word* nth(std::uint32_t number) const noexcept {
    std::uint32_t seen = 0;
    for (std::uint32_t i = 0; i < parsed_.count; ++i)
      if (positional(i) && seen++ == number) return &parsed_.words[i];
    return nullptr;
  }
  bool any_program(std::uint32_t first, std::uint32_t count, std::uint32_t start,
                   std::uint32_t Command::*next) const noexcept {
    for (std::uint32_t steps = 0; start != kNone && steps < kChain; ++steps) {
      const Command& other = tree_.command(start);
      if (matches_any(image_, first, count, other.program)) return true;
      start = other.*next;
    }
    return false;
  }
  bool reads_path(std::uint32_t table, const Command& command) const noexcept {
    const Word* words = tree_.arguments(command);
    if (command.program == "echo" || command.program == "printf") {
      // What they print is text, no path; it may be a credential all the same.
      for (std::uint32_t i = 0; i < command.word_count; ++i)
        if (words[i].has(word_flag::kCredential) && of_classes(table, command, words[i])) return true;
      return false;
    }
    for (std::uint32_t i = 0; i < command.word_count; ++i)
      if (!words[i].text.empty() && words[i].text[0] != '-' && of_classes(table, command, words[i])) return true;
    return false;
  }
  // Commands that feed this one: before it in the pipeline, or inside its words.
  bool reads_paths(std::uint32_t table) const noexcept {
    std::uint32_t at = command_.pipe_from;
    for (std::uint32_t steps = 0; at != kNone && steps < kChain; ++steps) {
      const Command& other = tree_.command(at);
      if (reads_path(table, other) || feeds(table, at)) return true;
      at = other.pipe_from;
    }
    return feeds(table, index_);
  }
  bool feeds(std::uint32_t table, std::uint32_t index) const noexcept {
    const Span span = tree_.command(index).span;
    const auto inside = [&](const Command& other) noexcept {
      return other.span.start >= span.start && other.span.end <= span.end;
    };
    for (std::uint32_t i = index + 1; i < tree_.command_count() && inside(tree_.command(i)); ++i)
      if (fed_by(table, tree_.command(i))) return true;
    for (std::uint32_t i = index; i-- > 0 && inside(tree_.command(i));)
      if (fed_by(table, tree_.command(i))) return true;
    return false;
  }
  bool fed_by(std::uint32_t table, const Command& other) const noexcept {
    // The environment holds secrets too.
    const bool substituted = (other.via & via::kSubstitution) != 0;
    if (substituted && other.word_count == 0 && (other.program == "env" || other.program == "printenv")) return true;
    return (other.program == "@read" || substituted) && reads_path(table, other);
  }

  bool group(const record::Group& conditions) noexcept {
    for (std::uint32_t i = conditions.first; i < conditions.first + conditions.count; ++i)
      if (!condition(image_.conditions[i])) return false;
    return true;
  }
  bool subcommand(const record::Condition& c) noexcept {
    for (std::uint32_t s = c.a; s < c.a + c.b; ++s) {
      const record::Sequence& sequence = image_.sequences[s];
      std::uint32_t met = 0;
      for (std::uint32_t i = 0; i < parsed_.count && met < sequence.count; ++i) {
        if (!positional(i)) continue;
        if (!matches(image_, image_.globs[sequence.first + met], parsed_.words[i].text)) break;
        ++met;
      }
      if (met == sequence.count) {
        skip_ = met;
        return true;
      }
    }
    return false;
  }
  bool condition(const record::Condition& c) noexcept {
    const auto any = [&](std::string_view text) noexcept { return matches_any(image_, c.a, c.b, text); };
    switch (static_cast<ConditionKind>(c.kind)) {
      case ConditionKind::subcommand: return subcommand(c);
      case ConditionKind::flags_any: return parsed_.present.meets(image_.masks[c.a]);
      case ConditionKind::flags_none: return !parsed_.sure.meets(image_.masks[c.a]);
      case ConditionKind::value:
        for (std::uint32_t i = 0; i < parsed_.count && i < kWords; ++i) {
          if (parsed_.bit[i] == kNoBit || !in_mask(image_.masks[c.c], parsed_.bit[i])) continue;
          std::string_view text = parsed_.words[i].text;
          if (parsed_.kind[i] != WordKind::value) text.remove_prefix(parsed_.value_at[i] < text.size() ? parsed_.value_at[i] : text.size());
          if (any(text)) return true;
        }
        return false;
      case ConditionKind::first: {
        const Word* word = nth(skip_);
        return word != nullptr && any(word->text);
      }
      case ConditionKind::second: {
        const Word* word = nth(skip_ + 1);
        return word != nullptr && any(word->text);
      }
      case ConditionKind::last: {
        const Word* word = parsed_.positionals > skip_ ? nth(parsed_.positionals - 1) : nullptr;
        return word != nullptr && any(word->text);
      }
      case ConditionKind::args_any:
      case ConditionKind::args_none:
      case ConditionKind::args_all: {
        const bool all = static_cast<ConditionKind>(c.kind) == ConditionKind::args_all;
        std::uint32_t seen = 0, met = 0;
        for (std::uint32_t i = 0; i < parsed_.count; ++i) {
          if (!positional(i) || seen++ < skip_) continue;
          if (any(parsed_.words[i].text)) {
            ++met;
            if (!all) break;
          }
        }
        if (all) return met != 0 && met + skip_ == seen;
        return (met != 0) == (static_cast<ConditionKind>(c.kind) == ConditionKind::args_any);
      }
      case ConditionKind::words_any:
        for (std::uint32_t i = 0; i < parsed_.count; ++i)
          if (any(parsed_.words[i].text)) return true;
        return false;
      case ConditionKind::count: {
        const std::uint32_t count = parsed_.positionals > skip_ ? parsed_.positionals - skip_ : 0;
        return (count >= c.a || (c.a > count && (command_.via & via::kArgumentsAdded) != 0)) && count <= c.b;
      }
      case ConditionKind::paths:
        return select(c.a, c.b, [&](const Word& word) noexcept { return of_classes(c.c, command_, word); });
      case ConditionKind::via_any: return (command_.via & c.a) != 0;
      case ConditionKind::via_none: return (command_.via & c.a) == 0;
      case ConditionKind::reads_from: return any_program(c.a, c.b, command_.pipe_from, &Command::pipe_from);
      case ConditionKind::writes_to: return any_program(c.a, c.b, command_.pipe_to, &Command::pipe_to);
      case ConditionKind::inside: return any_program(c.a, c.b, command_.carrier, &Command::carrier);
      case ConditionKind::reads_paths: return reads_paths(c.a);
      case ConditionKind::unknown_args: {
        bool unknown = false;
        std::uint32_t seen = 0;
        for (std::uint32_t i = 0; i < parsed_.count && !unknown; ++i)
          unknown = positional(i) && seen++ >= skip_ &&
                    (parsed_.words[i].flags & (word_flag::kUnknown | word_flag::kAppended)) != 0;
        return unknown == (c.a != 0);
      }
      case ConditionKind::input: return command_.has_input && any(command_.input.text);
      case ConditionKind::dialects: return (c.a >> static_cast<std::uint32_t>(command_.dialect)) & 1;
    }
    return false;
  }

  const Image& image_;
  const Surroundings& surroundings_;
  const Tree& tree_;
  const Command& command_;
  std::uint32_t index_;
  const Parsed& parsed_;
  std::uint32_t skip_ = 0;  // positionals that belong to the subcommand
  mutable std::uint32_t last_asked_ = 0;
};

// Says what happened with each rule that was looked at; for `gate --explain`.
struct Trace {
  void (*tried)(void* self, std::uint32_t command, std::uint32_t rule, bool held, Decision decision) noexcept = nullptr;
  void* self = nullptr;
};

struct Judging {
  const Image* image;
  const Surroundings* surroundings;
  const Tree* tree;
  Verdict* verdict;
  Decision uncertain;   // what the policy says of the uncertain
  Parsed* parsed;       // room to work in
  const Trace* trace = nullptr;
};

inline void try_rules(const Judging& judging, const Command& command, std::uint32_t index, Matcher& matcher,
                      const std::uint32_t* list, std::uint32_t count) noexcept {
  const Image& image = *judging.image;
  for (std::uint32_t i = 0; i < count; ++i) {
    const record::Instance& instance = image.instances[list[i]];
    Finding finding;
    finding.rule = instance.rule;
    finding.span = finding.focus = command.span;
    finding.command = index;
    const bool held = matcher.holds(instance);
    if (held) {
      matcher.decide(instance, &finding);
      if (finding.decision == Decision::uncertain) {
        finding.decision = judging.uncertain;
        finding.uncertain = true;
      }
      const record::Rule& rule = image.rules[instance.rule];
      if (finding.decision != Decision::allow) judging.verdict->marks |= rule.marks;
      if (finding.decision == Decision::mark) finding.decision = Decision::allow;
      // A rule that a repository made weaker is named even where it says nothing any more.
      if (finding.decision != Decision::allow || rule.because != kNothing) judging.verdict->add(finding);
    }
    if (judging.trace != nullptr && judging.trace->tried != nullptr)
      judging.trace->tried(judging.trace->self, index, instance.rule, held, finding.decision);
  }
}

// Runs the rules of one program over one command of the tree (or one that a caller made up, with its words).
inline void judge_command(const Judging& judging, const Command& command, std::uint32_t index, const Word* words,
                          std::uint32_t word_count) noexcept {
  const Image& image = *judging.image;
  const record::Spec* spec = image.find(command.program.empty() ? std::string_view("@unknown") : command.program);
  if (spec == nullptr && image.shared.count == 0) return;
  Parsed& parsed = *judging.parsed;
  parsed.words = words;
  parsed.count = word_count;
  parsed.present = parsed.sure = Bits{};
  parsed.bucket = nullptr;
  parsed.positionals = 0;
  static constexpr record::Spec kPlain{0, 0, 0, 0, 0, 0, 0, 0, kNothing, kNothing, kNothing};
  const record::Spec& used = spec != nullptr ? *spec : kPlain;
  Options(image, used, &parsed).read();
  if (used.harmless != kNothing && parsed.sure.meets(image.masks[used.harmless])) return;
  if (parsed.bucket != nullptr && parsed.bucket->harmless != kNothing &&
      parsed.sure.meets(image.masks[parsed.bucket->harmless]))
    return;
  Matcher matcher(image, *judging.surroundings, *judging.tree, command, index, parsed);
  if (parsed.bucket != nullptr)
    try_rules(judging, command, index, matcher, image.lists.items + parsed.bucket->rules, parsed.bucket->rule_count);
  try_rules(judging, command, index, matcher, image.lists.items + used.rules, used.rule_count);
  try_rules(judging, command, index, matcher, image.shared.items, image.shared.count);
}

}  // namespace rules

}  // namespace tipstaff::gate
