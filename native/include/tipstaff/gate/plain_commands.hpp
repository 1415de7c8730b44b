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

#include "tipstaff/gate/plain_bytes.hpp"
#include "tipstaff/gate/plain_programs.hpp"
#include "tipstaff/gate/tools.hpp"

namespace tipstaff::gate::plain {

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
  static constexpr std::size_t kLongest = Marks::kLongest, kLongestPlace = 1024, kRoom = 256 * 1024;

  PlainReader(Tree& tree, const Surroundings& around, string_view text) noexcept
      : tree_(tree), around_(around), begin_(text.data()), end_(text.data() + text.size()), pos_(text.data()) {}

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
  std::uint8_t kind_at(const char* p) const noexcept { return p == end_ ? kind::kEnd : kind_of(*p); }
  static bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }

  bool read_all() noexcept {
    marked_ = marks_.read({begin_, static_cast<std::size_t>(end_ - begin_)});
    const Span whole = span(begin_, end_);
    if (may_be_statement() && tools::starts_like_sql({begin_, whole.end})) return false;
    Node* const root = tree_.new_node(kNone);
    Node* const code = tree_.new_node(kNone);
    if (root == nullptr || code == nullptr) return false;
    root->span = code->span = whole;
    root->first_child = root->last_child = 1;
    code->parent = 0;
    code->kind = NodeKind::code;
    node_ = 1;
    bool wanted = false;  // a command must follow
    for (;;) {
      while (pos_ < end_ && (is_blank(*pos_) || *pos_ == '\n' || (*pos_ == ';' && !wanted))) ++pos_;
      marked_.pass_to(pos_);
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
    if (*start == '!') return false;
    // No text has more words than half its bytes, and the tree has room for them.
    const std::uint32_t first = tree_.word_count();
    Word* const words = static_cast<Word*>(tree_.next_word());
    Word* word = words;
    const char* p = start;
    const char* last = start;
    bool to_nowhere = false;
    Marked marked = marked_;
    as_written_ = true;
    for (;;) {
      const char* stop = marked.first();
      const char* const from = p;
      std::uint16_t flags = 0;
      std::uint8_t ended = kind_at(stop);
      if (ended < kind::kBlank) {
        while (ended == kind::kRare || ended == kind::kGlob) {
          if (ended == kind::kGlob) flags = word_flag::kGlob;
          else if (stop == from && *from != '%') return false;
          marked.pass();
          stop = marked.first();
          ended = kind_at(stop);
        }
        if (word == words && (flags != 0 || ended < kind::kBlank)) return false;
        if (ended == kind::kOther) {
          const std::size_t size = stop - from <= 1 ? passes_over(from) : 0;
          if (size == 0) return false;
          to_nowhere = to_nowhere || from[size - 1] != '1';
          last = p = from + size;
          marked.pass_to(p);
          continue;
        }
        if (ended == kind::kQuote) {
          new (word) Word;
          marked_ = marked;
          if (flags != 0 || !read_quotes(from, &stop, word)) return false;
          marked = marked_;
          word->flags = word_flag::kQuoted;
          word->span = span(from, stop);
          ++word;
          last = p = stop;
          continue;
        }
      }
      if (stop != from) {
        new (word++) Word{{from, static_cast<std::size_t>(stop - from)}, span(from, stop), flags};
        last = p = stop;
      }
      if (ended != kind::kBlank) break;
      marked.pass();
      ++p;
    }
    pos_ = p;
    marked_ = marked;
    const auto count = static_cast<std::uint32_t>(word - words);
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
    // Filled in where they stay: what is written piece by piece and then copied at once makes the processor wait.
    const std::uint32_t index = tree_.command_count(), node_index = tree_.node_count();
    Command* const command = tree_.new_command();
    Node* const node = tree_.new_node(node_);
    if (command == nullptr || node == nullptr) return false;
    const Word& written = tree_.words()[first];
    command->program = name;
    command->name.text = written.text;
    command->name.span = written.span;
    command->name.flags = written.flags;
    command->first_word = first + 1;
    command->word_count = count - 1;
    command->cwd = around_.cwd;
    command->node = node_index;
    command->pipe_from = pipe_from_;
    command->via = via_;
    command->span = node->span = span(start, last);
    command->as_written = as_written_;
    node->kind = NodeKind::command;
    node->command = index;
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
      const bool ends = rest.size() == known.size() || kind_of(rest[known.size()]) >= kind::kBlank;
      return ends ? known.size() : 0;
    }
    return 0;
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
    while (kind_at(p) < kind::kBlank) {
      const char* const from = p;
      if (kind_of(*p) == kind::kQuote) {
        const char quote = *p++;
        const char* const inside = p;
        const std::uint8_t stop = quote == '"' ? in_quotes::kDouble : in_quotes::kSingle;
        marked_.pass();
        // All that ends text in quotes ends text without them.
        while ((p = marked_.first()) < end_ && (kInQuotes[static_cast<unsigned char>(*p)] & stop) == 0) marked_.pass();
        if (p == end_ || *p != quote) return false;
        // A quoted tilde is no home directory, and nothing in quotes a word all the same.
        if (p == inside || (text.empty() && *inside == '~')) return false;
        put({inside, static_cast<std::size_t>(p - inside)});
        marked_.pass();
        ++p;
        continue;
      }
      for (p = marked_.first(); p < end_ && kind_of(*p) == kind::kRare; p = marked_.first()) marked_.pass();
      if (p == from) return false;
      put({from, static_cast<std::size_t>(p - from)});
    }
    if (built) as_written_ = false;
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
  std::uint32_t node_ = kNone;
  std::uint32_t via_ = 0;
  std::uint32_t pipe_from_ = kNone;
  bool as_written_ = true;   // whether the words stand in the text as they are
  std::uint32_t first_ = 0;  // command of the list that `&` sends to the background
  Marked marked_;
  Marks marks_;
};

// Reads shell code that is plain; false, and an empty tree, where it is not.
inline bool read_plain(Tree& tree, const Surroundings& around, string_view text) noexcept {
  return PlainReader(tree, around, text).read();
}

}  // namespace tipstaff::gate::plain
