// Reads the command lines that most are: simple commands of plain and quoted words, set apart by && || ; | & and lines.
//
// What it reads, it reads as the shell's reader would: the tree that comes out is the same one. All else it leaves to
// that reader: expansions, redirections other than to nowhere, compound commands, and programs that carry something.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "tipstaff/gate/plain_programs.hpp"
#include "tipstaff/gate/tools.hpp"
#include "tipstaff/gate/word_signs.hpp"

namespace tipstaff::gate::plain {

// What a byte is to this reader.
namespace kind {
constexpr std::uint8_t kText = 0;
constexpr std::uint8_t kGlob = 1;   // * ? [: part of a word
constexpr std::uint8_t kQuote = 2;  // ' or "
constexpr std::uint8_t kEnd = 3;    // ends a word: a blank, an operator, a line's end
constexpr std::uint8_t kOther = 4;  // not for this reader
}  // namespace kind

constexpr std::array<std::uint8_t, 256> make_kinds() {
  std::array<std::uint8_t, 256> kinds{};
  for (const char c : {'*', '?', '['}) kinds[static_cast<unsigned char>(c)] = kind::kGlob;
  for (const char c : {'\'', '"'}) kinds[static_cast<unsigned char>(c)] = kind::kQuote;
  for (const char c : {' ', '\t', '\r', '\n', ';', '&', '|'}) kinds[static_cast<unsigned char>(c)] = kind::kEnd;
  for (const char c : {'\0', kUnknownPart, '\\', '$', '`', '(', ')', '<', '>', '{'}) {
    kinds[static_cast<unsigned char>(c)] = kind::kOther;
  }
  return kinds;
}
inline constexpr std::array<std::uint8_t, 256> kKinds = make_kinds();
inline std::uint8_t kind_of(char c) noexcept { return kKinds[static_cast<unsigned char>(c)]; }

// The class of a letter as a bit, and the highest bit alone for what is not plain text.
constexpr std::uint32_t kNoText = std::uint32_t{1} << kWordEnd;
constexpr std::array<std::uint32_t, 256> make_text_bits() {
  std::array<std::uint32_t, 256> bits{};
  for (int c = 0; c < 256; ++c) bits[c] = kKinds[c] == kind::kText ? kLetterBits[c] : kNoText;
  return bits;
}
inline constexpr std::array<std::uint32_t, 256> kTextBits = make_text_bits();

// What ends text in quotes, or is not for this reader.
namespace in_quotes {
constexpr std::uint8_t kSingle = 1;
constexpr std::uint8_t kDouble = 2;
}  // namespace in_quotes

constexpr std::array<std::uint8_t, 256> make_in_quotes() {
  std::array<std::uint8_t, 256> stops{};
  for (const char c : {'"', '$', '`', '\\'}) stops[static_cast<unsigned char>(c)] = in_quotes::kDouble;
  for (const char c : {'\0', kUnknownPart}) stops[static_cast<unsigned char>(c)] = in_quotes::kSingle | in_quotes::kDouble;
  stops['\''] = in_quotes::kSingle;
  return stops;
}
inline constexpr std::array<std::uint8_t, 256> kInQuotes = make_in_quotes();

// What a byte of a program's name tells: letters alone are nothing but a name.
namespace in_name {
constexpr std::uint8_t kSign = 1;   // a digit, a dot, a dash: some such names are other programs'
constexpr std::uint8_t kSlash = 2;
constexpr std::uint8_t kOther = 4;  // not for this reader: capitals, what assignments have, versions of packages
}  // namespace in_name

constexpr std::array<std::uint8_t, 256> make_names() {
  std::array<std::uint8_t, 256> names{};
  for (int c = 0; c < 256; ++c) names[c] = (c >= 'a' && c <= 'z') || c == '_' ? 0 : (c >= 'A' && c <= 'Z') ? in_name::kOther : in_name::kSign;
  names['/'] = in_name::kSlash | in_name::kSign;
  for (const char c : {'=', '+', '@'}) names[static_cast<unsigned char>(c)] = in_name::kOther;
  return names;
}
inline constexpr std::array<std::uint8_t, 256> kNames = make_names();

class PlainReader {
 public:
  // Longer texts are rare, and read by the shell's reader, which watches its limits.
  static constexpr std::size_t kLongest = 2048, kLongestPlace = 1024, kRoom = 256 * 1024;

  PlainReader(Tree& tree, const Surroundings& around, string_view text) noexcept
      : tree_(tree), around_(around), begin_(text.data()), end_(text.data() + text.size()), pos_(text.data()), last_end_(end_) {
    while (last_end_ > begin_ && kind_of(last_end_[-1]) != kind::kEnd) --last_end_;
    if (last_end_ > begin_) --last_end_;
  }

  // False where the text is not for this reader; the tree is then empty again.
  bool read() noexcept {
    if (fits() && read_all()) return true;
    tree_.clear();
    return false;
  }

 private:
  bool fits() const noexcept {
    std::size_t room = 0;
    tree_.draft(&room);
    const auto size = static_cast<std::size_t>(end_ - begin_);
    return size != 0 && size <= kLongest && around_.cwd.size() <= kLongestPlace && room >= kRoom &&
           tree_.free_words() >= 2 * kLongest;
  }
  Span span(const char* from, const char* to) const noexcept {
    return {static_cast<std::uint32_t>(from - begin_), static_cast<std::uint32_t>(to - begin_)};
  }
  static bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }

  bool read_all() noexcept {
    const Span whole = span(begin_, end_);
    if (may_be_statement() && tools::starts_like_sql({begin_, whole.end})) return false;
    Node root;
    root.span = whole;
    Node code = root;
    code.kind = NodeKind::code;
    code.parent = tree_.add_node(root);
    node_ = tree_.add_node(code);
    bool wanted = false;  // a command must follow
    for (;;) {
      while (pos_ < end_ && (is_blank(*pos_) || *pos_ == '\n' || (*pos_ == ';' && !wanted))) ++pos_;
      if (pos_ == end_) return !wanted && !tree_.full();
      if (!read_command()) return false;
      const char c = pos_ < end_ ? *pos_ : '\n';
      const char next = pos_ + 1 < end_ ? pos_[1] : '\n';
      wanted = false;
      if ((c == '&' || c == '|') && next == c) {
        pos_ += 2;
        via_ = via::kConditional;
        pipe_from_ = kNone;
        wanted = true;
      } else if (c == '|') {
        if (next == '&') return false;
        ++pos_;
        pipe_from_ = tree_.command_count() - 1;
        wanted = true;
      } else {
        if (c == '&') {
          if (next == '>') return false;
          for (std::uint32_t i = first_; i < tree_.command_count(); ++i) tree_.command(i).via |= via::kBackground;
        }
        if (pos_ < end_) ++pos_;
        via_ = 0;
        pipe_from_ = kNone;
        first_ = tree_.command_count();
      }
    }
  }

  // SQL's verbs begin with one of these pairs.
  bool may_be_statement() const noexcept {
    const char* p = begin_;
    while (p < end_ && ascii::is_space(*p)) ++p;
    if (end_ - p < 2) return false;
    switch (ascii::lower(p[0])) {
      case 'd': return ascii::lower(p[1]) == 'r' || ascii::lower(p[1]) == 'e';
      case 't': return ascii::lower(p[1]) == 'r';
      case 'a': return ascii::lower(p[1]) == 'l';
      case 'u': return ascii::lower(p[1]) == 'p';
      case 'i': return ascii::lower(p[1]) == 'n';
      case 'c':
      case 'g': return ascii::lower(p[1]) == 'r';
      case 'r':
      case 'm': return ascii::lower(p[1]) == 'e';
      case 'w': return ascii::lower(p[1]) == 'i';
      case 'p': return ascii::lower(p[1]) == 'u';
      default: return false;
    }
  }

  // One command up to what ends it.
  bool read_command() noexcept {
    const char* const start = pos_;
    if (*start == '!' || *start == '}') return false;
    // No text has more words than half its bytes, and the tree has room for them.
    const std::uint32_t first = tree_.word_count();
    Word* const words = static_cast<Word*>(tree_.next_word());
    std::uint32_t count = 0;
    letters_ = kNoText;
    const char* p = start;
    const char* last = start;
    bool to_nowhere = false;
    while (p < end_) {
      const char c = *p;
      if (kind_of(c) == kind::kEnd) {
        if (!is_blank(c)) break;
        ++p;
        continue;
      }
      if (c <= '>' && c != '-' && (c == '>' || c == '1' || c == '2' || c == '#')) {
        if (c == '#') return false;
        if (const std::size_t size = passes_over(p); size != 0) {
          if (count == 0) return false;
          to_nowhere = to_nowhere || p[size - 1] != '1';
          last = p += size;
          continue;
        }
      }
      const char* const from = p;
      p = end_of_text(p);
      std::uint8_t ended = p == end_ ? kind::kEnd : kind_of(*p);
      std::uint16_t flags = 0;
      if (ended != kind::kEnd) {
        if (count == 0) return false;
        while (p < end_ && (ended = kind_of(*p)) <= kind::kGlob) {
          if (ended == kind::kGlob) flags = word_flag::kGlob;
          letters_ |= kLetterBits[static_cast<unsigned char>(*p++)];
        }
        if (p == end_) ended = kind::kEnd;
      }
      if (*from == '~') return false;
      if (ended == kind::kEnd) {
        new (words + count) Word{{from, static_cast<std::size_t>(p - from)}, span(from, p), flags};
      } else {
        Word* const word = new (words + count) Word;
        if (ended != kind::kQuote || flags != 0 || !read_quotes(from, &p, word)) return false;
        word->flags = word_flag::kQuoted;
        word->span = span(from, p);
      }
      ++count;
      last = p;
      if (p < end_ && *p == ' ') ++p;
    }
    pos_ = p;
    if (count == 0) return false;
    tree_.take_words(count);
    return take(start, last, first, count, to_nowhere);
  }

  // The words as a command, where its program does nothing but what rules judge.
  bool take(const char* start, const char* last, std::uint32_t first, std::uint32_t count, bool to_nowhere) noexcept {
    const Word* const words = tree_.words() + first;
    const string_view written = words[0].text;
    const string_view name = program_name(written);
    if (name.empty()) return false;
    const shell::Program& program = shell::find_program(name);
    if (program.name.empty() && kReserved.has(name)) return false;
    // What is called by its path may be a script of the repository.
    if (name.size() != written.size() && program.name.empty() && around_.read_file != nullptr) return false;
    const Call call{program, name, words + 1, count - 1, around_};
    if (!does_nothing(call)) return false;
    const bool piped = pos_ < end_ && *pos_ == '|' && !(pos_ + 1 < end_ && pos_[1] == '|');
    if ((piped || to_nowhere) && !prints_unknown(call, pipe_from_ != kNone)) return false;
    return add(start, last, first, count, name);
  }

  bool add(const char* start, const char* last, std::uint32_t first, std::uint32_t count, string_view name) noexcept {
    Command command;
    command.program = name;
    command.name = tree_.words()[first];
    command.first_word = first + 1;
    command.word_count = count - 1;
    command.cwd = around_.cwd;
    command.pipe_from = pipe_from_;
    command.via = via_;
    command.span = span(start, last);
    command.letters = letters_;
    Node node;
    node.kind = NodeKind::command;
    node.span = command.span;
    node.parent = node_;
    command.node = tree_.add_node(node);
    const std::uint32_t index = tree_.add_command(command);
    if (index == kNone || command.node == kNone) return false;
    tree_.node(command.node).command = index;
    if (pipe_from_ != kNone) tree_.command(pipe_from_).pipe_to = index;
    return true;
  }

  // The bytes of a redirection that changes nothing: 2>&1, or to /dev/null. 0 where there is none.
  std::size_t passes_over(const char* p) const noexcept {
    const string_view rest(p, static_cast<std::size_t>(end_ - p));
    if (rest[0] != '>' && (rest.size() < 2 || rest[1] != '>')) return 0;
    for (const string_view known : {string_view("2>&1"), string_view("2>/dev/null"), string_view(">/dev/null"),
                                    string_view("> /dev/null"), string_view("2> /dev/null"), string_view("1>/dev/null")}) {
      if (!shell::starts_with(rest, known)) continue;
      const bool ends = rest.size() == known.size() || kind_of(rest[known.size()]) == kind::kEnd;
      return ends ? known.size() : 0;
    }
    return 0;
  }

  // The end of the plain text at `p`. Before the last blank of all it needs no look at the end.
  const char* end_of_text(const char* p) noexcept {
    std::uint32_t letters = letters_;
    if (p < last_end_) {
      for (std::uint32_t bit; (bit = kTextBits[static_cast<unsigned char>(*p)]) != kNoText; ++p) letters |= bit;
    } else {
      for (std::uint32_t bit; p < end_ && (bit = kTextBits[static_cast<unsigned char>(*p)]) != kNoText; ++p) letters |= bit;
    }
    letters_ = letters;
    return p;
  }

  // The rest of a word from its first quote on.
  bool read_quotes(const char* start, const char** at, Word* word) noexcept {
    const char* p = *at;
    string_view text(start, static_cast<std::size_t>(p - start));
    bool built = false;
    const auto put = [&](string_view part) noexcept {
      if (text.empty()) {
        text = part;
      } else if (!part.empty()) {
        if (!built) text = tree_.copy(text);
        built = true;
        text = tree_.join(text, part);
      }
    };
    while (p < end_ && kind_of(*p) != kind::kEnd) {
      const char* const from = p;
      const std::uint8_t kind = kind_of(*p);
      if (kind == kind::kQuote) {
        const char quote = *p++;
        const char* const inside = p;
        const std::uint8_t stop = quote == '"' ? in_quotes::kDouble : in_quotes::kSingle;
        while (p < end_ && (kInQuotes[static_cast<unsigned char>(*p)] & stop) == 0) ++p;
        if (p == end_ || *p != quote) return false;
        // A quoted tilde is no home directory, and nothing in quotes a word all the same.
        if (p == inside || (text.empty() && *inside == '~')) return false;
        put({inside, static_cast<std::size_t>(p - inside)});
        letters_ |= letters_of({inside, static_cast<std::size_t>(p - inside)});
        ++p;
        continue;
      }
      p = end_of_text(p);
      if (p == from) return false;
      put({from, static_cast<std::size_t>(p - from)});
    }
    word->text = text;
    *at = p;
    return !tree_.full();
  }

  // The base name of a program, as the shell's reader takes it; empty where that needs more than to cut it off.
  static string_view program_name(string_view name) noexcept {
    std::uint8_t seen = 0;
    for (const char c : name) seen |= kNames[static_cast<unsigned char>(c)];
    if (seen == 0) return name;
    if ((seen & in_name::kOther) != 0) return {};
    if ((seen & in_name::kSlash) != 0) {
      if (shell::starts_with(name, "/etc/")) return {};
      name = name.substr(name.rfind('/') + 1);
      if (name.empty()) return {};
    }
    if (name.size() < 4) return name;
    if (shell::ends_with(name, ".exe") || begins(name, "git-")) return {};
    const bool versioned = (name.size() > 7 && begins(name, "python") && shell::is_digit(name[6])) || (begins(name, "php") && shell::is_digit(name[3])) ||
                           (name.size() > 4 && shell::is_digit(name[4]) && (begins(name, "perl") || begins(name, "ruby")));
    return versioned ? string_view() : name;
  }

  Tree& tree_;
  const Surroundings& around_;
  const char* const begin_;
  const char* const end_;
  const char* pos_;
  const char* last_end_;  // the last byte that ends a word, or the beginning
  std::uint32_t node_ = kNone;
  std::uint32_t via_ = 0;
  std::uint32_t pipe_from_ = kNone;
  std::uint32_t letters_ = 0;  // of the command that is read, with its name and the ends of words
  std::uint32_t first_ = 0;  // command of the list that `&` sends to the background
};

// Reads shell code that is plain; false, and an empty tree, where it is not.
inline bool read_plain(Tree& tree, const Surroundings& around, string_view text) noexcept {
  return PlainReader(tree, around, text).read();
}

}  // namespace tipstaff::gate::plain
