// Reads the command lines that most are: simple commands of plain and quoted words, set apart by && || ; | & and lines.
//
// What it reads, it reads as the shell's reader would: the tree that can be made of it is the same one. All else it
// leaves to that reader: expansions, redirections other than to nowhere, compound commands, and programs that carry
// something.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "tipstaff/gate/rules/image.hpp"
#include "tipstaff/gate/rules/outline.hpp"
#include "tipstaff/gate/shell/short/bytes.hpp"
#include "tipstaff/gate/shell/short/programs.hpp"
#include "tipstaff/gate/tool_fields.hpp"
#include "tipstaff/gate/rules/word_signs.hpp"

namespace tipstaff::gate::plain {

// What ends text in quotes, or is not for this reader.
namespace in_quotes {
constexpr std::uint8_t kSingle = 1;
constexpr std::uint8_t kDouble = 2;
}  // namespace in_quotes

constexpr std::array<std::uint8_t, 256> make_in_quotes() {
  std::array<std::uint8_t, 256> stops{};
  for (const char c : {'"', '$', '`', '\\'}) stops[static_cast<unsigned char>(c)] = in_quotes::kDouble;
  for (const char c : {'\0', '\r', kUnknownPart}) stops[static_cast<unsigned char>(c)] = in_quotes::kSingle | in_quotes::kDouble;
  stops['\''] = in_quotes::kSingle;
  return stops;
}
inline constexpr std::array<std::uint8_t, 256> kInQuotes = make_in_quotes();

// The pairs of letters with which SQL's verbs begin: for each class of the first one bits of the second one's.
constexpr std::array<std::uint32_t, 32> make_statement_pairs() {
  std::array<std::uint32_t, 32> pairs{};
  for (const char* pair : {"dr", "de", "tr", "al", "up", "in", "cr", "gr", "re", "me", "wi", "pu"}) {
    pairs[letter_class(pair[0])] |= std::uint32_t{1} << letter_class(pair[1]);
  }
  return pairs;
}
inline constexpr std::array<std::uint32_t, 32> kStatementPairs = make_statement_pairs();

inline bool may_be_statement(string_view text) noexcept {
  std::size_t at = 0;
  while (at < text.size() && ascii::is_space(text[at])) ++at;
  return text.size() - at >= 2 && (kStatementPairs[letter_class(text[at])] >> letter_class(text[at + 1]) & 1) != 0;
}

// Some builtins read such a text as an expression: 'a[$(command)]'
inline bool holds_index(string_view text) noexcept {
  for (std::size_t at = text.find('['); at != string_view::npos && at + 1 < text.size(); at = text.find('[', at + 1))
    if (text[at + 1] == '$' || text[at + 1] == '`') return true;
  return false;
}

inline bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == '\r'; }
// Text all the same, but where a word begins with it.
inline bool is_rare_beginning(char c) noexcept { return c == '#' || c == '}' || c == '~'; }

// A simple command as it was read. Its words lie in the tree, the program's first.
struct Simple {
  Called called;
  Outline outline;
  const record::Spec* spec;  // who judges it keeps here what tells about its program
  Span span;
  std::uint32_t pipe_from, pipe_to;

  const Word& program() const noexcept { return outline.words[-1]; }
};

class PlainReader {
 public:
  // Longer texts are rare, and read by the shell's reader, which watches its limits.
  static constexpr std::size_t kLongest = Marks::kLongest, kLongestFolder = 1024, kRoom = 256 * 1024;
  static constexpr std::uint32_t kCommands = 32;  // and so are those of more commands

  // `tree` is empty; it is room for words, and may be built of what was read.
  PlainReader(Tree& tree, const Surroundings& around, string_view text) noexcept
      : tree_(tree), around_(around), text_(text.data()), size_(static_cast<std::uint32_t>(text.size() <= kLongest ? text.size() : 0)) {}

  // False where the text is not for this reader; the tree is then empty again.
  bool read() noexcept {
    if (fits() && read_all()) return true;
    tree_.clear();
    return false;
  }

  Simple* begin() noexcept { return reinterpret_cast<Simple*>(commands_); }
  Simple* end() noexcept { return begin() + count_; }
  // All of them, as bits.
  std::uint32_t all() const noexcept { return static_cast<std::uint32_t>((std::uint64_t{1} << count_) - 1); }

  // Makes the tree's commands, and its nodes where somebody looks at them; false where there is no room.
  bool build(bool with_nodes) noexcept {
    if (with_nodes) {
      Node* const root = tree_.new_node(kNone);
      Node* const code = tree_.new_node(kNone);
      if (root == nullptr || code == nullptr) return false;
      root->span = code->span = {0, size_};
      root->first_child = root->last_child = 1;
      code->parent = 0;
      code->kind = NodeKind::code;
    }
    for (const Simple& simple : *this) {
      Command* const command = add(simple);
      if (command == nullptr || (with_nodes && !add_node(command))) return false;
    }
    return true;
  }

 private:
  Simple& simple(std::uint32_t index) noexcept { return begin()[index]; }
  bool fits() const noexcept {
    std::size_t room = 0;
    tree_.draft(&room);
    return size_ != 0 && around_.cwd.size() <= kLongestFolder && room >= kRoom && tree_.free_words() >= 2 * kLongest;
  }
  char at(std::uint32_t place) const noexcept { return text_[place]; }
  std::uint8_t kind_at(std::uint32_t place) const noexcept { return place == size_ ? kind::kEnd : kind_of(text_[place]); }

  // Every text is read by it: calls within it would cost as much as what they do.
  [[gnu::flatten]] bool read_all() noexcept {
    marked_ = marks_.read({text_, size_});
    if (may_be_statement({text_, size_}) && tools::starts_like_sql({text_, size_})) return false;
    bool wanted = false;       // a command must follow
    std::uint32_t passed = 0;  // the marks before it are
    for (;;) {
      while (pos_ < size_ && (is_blank(at(pos_)) || at(pos_) == '\n' || (at(pos_) == ';' && !wanted))) ++pos_;
      if (pos_ != passed) marked_.pass_to(pos_);
      if (pos_ == size_) return !wanted && !tree_.full();
      if (count_ == kCommands || !read_command()) return false;
      passed = pos_;
      const char c = pos_ < size_ ? at(pos_) : '\n';
      const char next = pos_ + 1 < size_ ? at(pos_ + 1) : '\n';
      wanted = false;
      if ((c == '&' || c == '|') && next == c) {
        pos_ += 2;
        via_ = via::kConditional;
        pipe_from_ = kNone;
        wanted = true;
      } else if (c == '|') {
        if (next == '&') return false;
        ++pos_;
        pipe_from_ = count_ - 1;
        wanted = true;
      } else {
        if (c == '&') {
          if (next == '>') return false;
          for (std::uint32_t i = first_; i < count_; ++i) simple(i).outline.via |= via::kBackground;
        }
        if (pos_ < size_) ++pos_;
        via_ = 0;
        pipe_from_ = kNone;
        first_ = count_;
      }
    }
  }

  // One command up to what ends it.
  bool read_command() noexcept {
    // No text has more words than half its bytes, and the tree has room for them.
    const std::uint32_t start = pos_;
    Word* const words = static_cast<Word*>(tree_.next_word());
    Word* word = words;
    std::uint32_t from = start, last = start;
    bool to_nowhere = false;
    as_written_ = true;
    // What is written to words might be anything's, for all a compiler knows.
    Marked marked = marked_;
    const char* const text = text_;
    const std::uint32_t size = size_;
    for (;;) {
      std::uint32_t stop = marked.first();
      // Most words are plain text after a blank and before one.
      while (stop < size && text[stop] == ' ' && stop != from) {
        new (word++) Word{{text + from, stop - from}, {from, stop}, 0};
        last = stop;
        from = stop + 1;
        marked.pass();
        stop = marked.first();
      }
      std::uint16_t flags = 0;
      std::uint8_t ended = kind_at(stop);
      if (ended < kind::kBlank) {
        while (ended <= kind::kGlob) {
          if (ended == kind::kGlob) flags = word_flag::kGlob;
          else if (stop == from && is_rare_beginning(text[from])) return false;
          marked.pass();
          stop = marked.first();
          ended = kind_at(stop);
        }
        if (word == words && (flags != 0 || ended < kind::kBlank)) return false;
        if (ended == kind::kOther) {
          const std::uint32_t passed = stop - from <= 1 ? passes_over(from) : 0;
          if (passed == 0) return false;
          to_nowhere = to_nowhere || text[from + passed - 1] != '1';
          last = from += passed;
          marked.pass_to(from);
          continue;
        }
        if (ended == kind::kQuote) {
          new (word) Word;
          marked_ = marked;
          if (flags != 0 || !read_quotes(from, &stop, word)) return false;
          marked = marked_;
          word->flags = word_flag::kQuoted;
          word->span = {from, stop};
          ++word;
          last = from = stop;
          continue;
        }
      }
      if (stop != from) {
        new (word++) Word{{text + from, stop - from}, {from, stop}, flags};
        last = from = stop;
      }
      if (ended != kind::kBlank) break;
      marked.pass();
      ++from;
    }
    pos_ = from;
    marked_ = marked;
    const auto count = static_cast<std::uint32_t>(word - words);
    if (count == 0) return false;
    tree_.take_words(count);
    return take(words, count - 1, {start, last}, to_nowhere);
  }

  // The words as a command, where its program, the first of them, does nothing but what rules judge.
  bool take(const Word* words, std::uint32_t count, Span span, bool to_nowhere) noexcept {
    Simple& taken = *new (&simple(count_)) Simple;
    if (!find_called(words[0].text, around_, &taken.called)) return false;
    Outline& outline = taken.outline;
    outline.words = words + 1;
    outline.count = count;
    outline.first_hash = count != 0 ? hash_name(words[1].text) : 0;
    outline.via = via_;
    outline.as_written = as_written_;
    outline.facts = 0;
    taken.spec = nullptr;
    const Call call{*taken.called.program, taken.called.name, taken.called.hash, words + 1, count, outline.first_hash, around_, pos_ >= size_};
    if (!does_nothing(call) || says_trial(words, count)) return false;
    // mv a x/ && rm -rf x, rm -rf x && gh repo clone a/x: what was done before tells about it.
    if (count_ != 0 && count != 0 && pairs(simple(count_ - 1).called.name, taken.called.name)) return false;
    const bool piped = pos_ < size_ && at(pos_) == '|' && !(pos_ + 1 < size_ && at(pos_ + 1) == '|');
    if ((piped || to_nowhere) && !prints_unknown(call, pipe_from_ != kNone)) return false;
    taken.span = span;
    taken.pipe_from = pipe_from_;
    taken.pipe_to = kNone;
    if (pipe_from_ != kNone) {
      outline.facts = fact::kReadsPipe;
      simple(pipe_from_).outline.facts |= fact::kWritesPipe;
      simple(pipe_from_).pipe_to = count_;
    }
    ++count_;
    return true;
  }

  static bool pairs(string_view before, string_view name) noexcept {
    return (before == "mv" && name == "rm") || (before == "rm" && (name == "git" || name == "gh"));
  }

  // --env test, RAILS_ENV=test: which database is meant is for the other reader to find out.
  static bool says_trial(const Word* words, std::uint32_t count) noexcept {
    for (std::uint32_t i = 1; i <= count; ++i) {
      string_view text = words[i].text;
      if (text.size() == 9 && text == "-database") return true;
      if (text.size() < 2 || (text.back() != 't' && text.back() != 'g' && text.back() != 'i')) continue;
      const std::size_t equals = text.rfind('=');
      if (equals != string_view::npos) text.remove_prefix(equals + 1);
      else if (!shell::starts_with(words[i - 1].text, "--env")) continue;
      if (shell::one_of(text, "test testing ci")) return true;
    }
    return false;
  }

  Command* add(const Simple& simple) noexcept {
    // Filled in where it stays: what is written piece by piece and then copied at once makes the processor wait.
    Command* const command = tree_.new_command();
    if (command == nullptr) return nullptr;
    const Word& written = simple.program();
    command->program = simple.called.name;
    command->name.text = written.text;
    command->name.span = written.span;
    command->name.flags = written.flags;
    command->first_word = static_cast<std::uint32_t>(simple.outline.words - tree_.words());
    command->word_count = simple.outline.count;
    command->cwd = around_.cwd;
    command->pipe_from = simple.pipe_from;
    command->pipe_to = simple.pipe_to;
    command->via = simple.outline.via;
    command->span = simple.span;
    command->as_written = simple.outline.as_written;
    return command;
  }
  bool add_node(Command* command) noexcept {
    const std::uint32_t index = tree_.node_count();
    Node* const node = tree_.new_node(1);
    if (node == nullptr) return false;
    node->kind = NodeKind::command;
    node->span = command->span;
    node->command = tree_.command_count() - 1;
    command->node = index;
    return true;
  }

  // The bytes of a redirection that changes nothing: 2>&1, or to /dev/null. 0 where there is none.
  std::uint32_t passes_over(std::uint32_t from) const noexcept {
    const string_view rest(text_ + from, size_ - from);
    if (rest[0] != '>' && (rest.size() < 2 || rest[1] != '>')) return 0;
    for (const string_view known : {string_view("2>&1"), string_view("2>/dev/null"), string_view(">/dev/null"),
                                    string_view("> /dev/null"), string_view("2> /dev/null"), string_view("1>/dev/null")}) {
      if (!shell::starts_with(rest, known)) continue;
      const bool ends = rest.size() == known.size() || kind_of(rest[known.size()]) >= kind::kBlank;
      return ends ? static_cast<std::uint32_t>(known.size()) : 0;
    }
    return 0;
  }

  // The rest of a word from its first quote on.
  bool read_quotes(std::uint32_t start, std::uint32_t* stop, Word* word) noexcept {
    std::uint32_t p = *stop;
    string_view text(text_ + start, p - start);
    bool built = false;
    const auto put = [&](std::uint32_t from, std::uint32_t to) noexcept {
      const string_view part(text_ + from, to - from);
      if (text.empty()) {
        text = part;
      } else if (!part.empty()) {
        if (!built) text = tree_.copy(text);
        built = true;
        text = tree_.join(text, part);
      }
    };
    while (kind_at(p) < kind::kBlank) {
      const std::uint32_t from = p;
      if (kind_of(at(p)) == kind::kQuote) {
        const char quote = at(p++);
        const std::uint8_t ends = quote == '"' ? in_quotes::kDouble : in_quotes::kSingle;
        marked_.pass();
        // All that ends text in quotes ends text without them.
        while ((p = marked_.first()) < size_ && (kInQuotes[static_cast<unsigned char>(at(p))] & ends) == 0) marked_.pass();
        if (p >= size_ || p <= from || at(p) != quote) return false;
        // A quoted tilde is no home directory, and nothing in quotes a word all the same.
        if (p == from + 1 || (text.empty() && at(from + 1) == '~')) return false;
        if (quote == '\'' && holds_index(string_view(text_ + from + 1, p - from - 1))) return false;
        put(from + 1, p);
        marked_.pass();
        ++p;
        continue;
      }
      for (p = marked_.first(); p < size_ && kind_of(at(p)) <= kind::kRare; p = marked_.first()) marked_.pass();
      if (p == from) return false;
      put(from, p);
    }
    if (built) as_written_ = false;
    word->text = text;
    *stop = p;
    return !tree_.full();
  }

  Tree& tree_;
  const Surroundings& around_;
  const char* const text_;
  const std::uint32_t size_;
  std::uint32_t pos_ = 0;
  std::uint32_t via_ = 0;
  std::uint32_t pipe_from_ = kNone;
  std::uint32_t first_ = 0;  // command of the list that `&` sends to the background
  bool as_written_ = true;   // whether the words of the command are in the text as they are
  std::uint32_t count_ = 0;
  Marked marked_;
  Marks marks_;
  alignas(Simple) unsigned char commands_[kCommands * sizeof(Simple)];  // made one by one
};

// Reads shell code that is plain; false, and an empty tree, where it is not.
inline bool read_plain(Tree& tree, const Surroundings& around, string_view text) noexcept {
  PlainReader reader(tree, around, text);
  if (reader.read() && reader.build(true)) return true;
  tree.clear();
  return false;
}

}  // namespace tipstaff::gate::plain
