// One pass over the bytes, by recursive descent: lists, commands, words. Words of every kind are read by `parts`.
#include "tipstaff/syntax/shell.hpp"

#include "tipstaff/syntax/shell/builtins.hpp"

namespace tipstaff::syntax {
namespace {

using std::string_view;
using std::uint32_t;
using std::uint8_t;

// Where a word ends, and what is special in it.
enum class Stop : uint8_t {
  word,         // a word of a command
  value,        // the value of an assignment
  test,         // a word within [[ ]]
  regex,        // the right side of =~
  alternative,  // of an extended glob: up to | or )
  operand,      // of ${x:-...}: up to }
  pattern,      // of ${x/...}: up to / or }
  offset,       // of ${x:...}: up to : or }
  subscript,    // up to ]
  quoted,       // up to "
  range,        // up to the end of what is read: here-documents, arithmetic
};

constexpr char kLineEnd = '\v';  // what is left of another system's, where a host wants it to be a blank
constexpr bool is_blank(char c) noexcept { return c == ' ' || c == '\t' || c == kLineEnd; }
constexpr bool ends_word(char c) noexcept {
  return is_blank(c) || c == '\n' || c == ';' || c == '&' || c == '|' || c == '(' || c == ')' || c == '<' || c == '>';
}
constexpr bool is_glob_prefix(char c) noexcept { return c == '?' || c == '*' || c == '+' || c == '@' || c == '!'; }

class Parser {
 public:
  Parser(Tree& tree, uint32_t start, uint32_t size, const Options& options) noexcept
      : tree_(tree), text_(tree.base()), pos_(start), end_(start + size), last_(start + size), shell_(options.shell), globs_(options.extended_globs), options_(options) {}

  Parsed read() noexcept {
    Parsed result;
    result.root = add(Kind::list, pos_);
    if (result.root == kNone) return {kNone, Status::full, pos_};
    Children lines{result.root};
    uint32_t line_end = kNone;  // the last child of complete lines
    skip_lines();
    while (status_ == Status::complete && pos_ < end_) {
      const uint32_t before = pos_;
      if (options_.reads_on && passes_mistake()) continue;
      if (!list_item(lines)) {
        if (!recovers(before)) break;
        continue;
      }
      if (pos_ >= end_ || text_[pos_] == '\n') line_end = lines.last;
      skip_lines();
      if (at_closing() && !options_.reads_on) fail(Status::wrong);
    }
    if (status_ == Status::complete && pending_count_ != 0) read_documents();
    if (status_ != Status::complete) {
      // A shell reads a line, runs it, reads on: what is before the line with the error has run.
      if (line_end == kNone) {
        tree_.at(result.root).first_child = kNone;
      } else {
        tree_.at(line_end).next = kNone;
      }
    }
    tree_.at(result.root).span.end = pos_;
    if (status_ == Status::complete) status_ = mistake_;
    result.status = status_;
    result.stopped = pos_;
    return result;
  }

 private:
  // Reading on: closings of what is not open, operators without a left side.
  bool passes_mistake() noexcept {
    if (is('&') || is('|') || is(';')) {
      ++pos_;
      skip_lines();
      return true;
    }
    string_view word = plain_word();
    for (const string_view continued : {"do\\\n", "then\\\n", "else\\\n"})
      if (word.empty() && string_view(text_ + pos_, end_ - pos_).substr(0, continued.size()) == continued) word = continued.substr(0, continued.size() - 2);
    uint32_t size = is(')') ? 1 : 0;
    if (word == "then" || word == "else" || word == "elif" || word == "fi" || word == "do" || word == "done" || word == "esac" || word == "}")
      size = static_cast<uint32_t>(word.size());
    if (size == 0) return false;
    note(Status::wrong);
    pos_ += size;
    skip_lines();
    return true;
  }
  // After an error: the rest of the line is left out.
  bool recovers(uint32_t before) noexcept {
    if (!options_.reads_on || (status_ != Status::wrong && status_ != Status::open)) return false;
    note(status_);
    status_ = Status::complete;
    pending_count_ = 0;
    level_ = 0;
    end_ = last_;
    if (pos_ <= before) pos_ = before + 1;
    while (pos_ < end_ && text_[pos_] != '\n') ++pos_;
    skip_lines();
    return true;
  }
  void note(Status status) noexcept {
    if (mistake_ == Status::complete) mistake_ = status;
  }
  struct Children {
    uint32_t parent;
    uint32_t last = kNone;
  };
  struct Level {
    explicit Level(Parser& parser) noexcept : parser_(parser) {
      if (++parser_.level_ > kLevels) parser_.fail(Status::depth);
    }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;
    ~Level() { --parser_.level_; }
    Parser& parser_;
  };

  bool fail(Status status) noexcept {
    if (status_ == Status::complete) status_ = status;
    return false;
  }
  bool failed() const noexcept { return status_ != Status::complete; }
  // Something is missing here: more text, if it ends here.
  bool missing() noexcept {
    if (options_.reads_on && pos_ >= end_) return missing_end();
    return fail(pos_ >= end_ ? Status::open : Status::wrong);
  }
  // A word of the grammar that is not there.
  bool missing_word() noexcept {
    if (!options_.reads_on) return missing();
    note(pos_ >= end_ ? Status::open : Status::wrong);
    return true;
  }
  bool missing_end() noexcept {
    if (!options_.reads_on) return fail(Status::open);
    note(Status::open);
    return true;
  }

  uint32_t add(Kind kind, uint32_t start, uint32_t end = 0, uint8_t flags = 0) noexcept {
    Node node;
    node.kind = kind;
    node.flags = flags;
    node.shell = shell_;
    node.span = {start, end > start ? end : start};
    const uint32_t index = tree_.add(node);
    if (index == kNone) fail(Status::full);
    return index;
  }
  void append(Children& children, uint32_t child) noexcept {
    if (child == kNone) return;
    if (children.last == kNone) {
      tree_.at(children.parent).first_child = child;
    } else {
      tree_.at(children.last).next = child;
    }
    children.last = child;
    tree_.at(children.parent).span.end = tree_[child].span.end;
  }
  void add_to(Children& children, Kind kind, uint32_t start, uint32_t end, uint8_t flags = 0) noexcept {
    append(children, add(kind, start, end, flags));
  }
  uint32_t close(uint32_t node) noexcept {
    if (failed() || node == kNone) return kNone;
    tree_.at(node).span.end = pos_;
    return node;
  }

  char at(uint32_t offset) const noexcept { return pos_ + offset < end_ ? text_[pos_ + offset] : '\0'; }
  bool is(char c) const noexcept { return pos_ < end_ && text_[pos_] == c; }
  bool is(char a, char b) const noexcept { return is(a) && at(1) == b; }
  bool take(char c) noexcept {
    if (!is(c)) return false;
    ++pos_;
    return true;
  }

  // Blanks, continued lines and a comment.
  void skip_blanks() noexcept {
    for (;;) {
      if (pos_ < end_ && is_blank(text_[pos_])) {
        ++pos_;
      } else if (is('\\', '\n')) {
        pos_ += 2;
      } else if (options_.reads_on && is('\\', kLineEnd) && at(2) == '\n') {
        pos_ += 3;
      } else {
        break;
      }
    }
    if (!is('#')) return;
    while (pos_ < end_ && text_[pos_] != '\n') ++pos_;
  }
  void skip_lines() noexcept {
    for (;;) {
      skip_blanks();
      if (!take('\n')) return;
      if (pending_count_ != 0) read_documents();
    }
  }

  // The word at this place if it is nothing but plain bytes, else nothing.
  string_view plain_word() const noexcept {
    uint32_t i = pos_;
    while (i < end_) {
      const char c = text_[i];
      if ((c == '<' || c == '>') && i + 1 < end_ && text_[i + 1] == '(' && shell_ != Shell::dash) return {};
      if (ends_word(c)) break;
      if (c == '\\' && i + 2 < end_ && text_[i + 1] == '\n' && ends_word(text_[i + 2])) break;  // do\ and the line goes on
      if (c == '\'' || c == '"' || c == '\\' || c == '$' || c == '`') return {};
      ++i;
    }
    return {text_ + pos_, i - pos_};
  }
  bool keyword(string_view word) noexcept {
    skip_blanks();
    if (plain_word() != word) return false;
    pos_ += static_cast<uint32_t>(word.size());
    return true;
  }
  bool at_closing() const noexcept {
    if (is(')') || is(';', ';') || (is(';', '&') && shell_ != Shell::dash)) return true;
    const string_view word = plain_word();
    return word == "then" || word == "else" || word == "elif" || word == "fi" || word == "do" || word == "done" || word == "esac" ||
           (word == "in" && !options_.reads_on) || word == "}";
  }

  // ---- lists

  // One and-or list with what ends it.
  bool list_item(Children& list) noexcept {
    const uint32_t node = and_or();
    if (failed()) return false;
    if (node == kNone) return pos_ >= end_ || fail(Status::wrong);
    skip_blanks();
    if (is('&') && at(1) != '&') {
      const uint32_t back = add(Kind::background, tree_[node].span.start);
      if (back == kNone) return false;
      Children inner{back};
      append(inner, node);
      ++pos_;
      append(list, back);
      return true;
    }
    append(list, node);
    if (is(';') && at(1) != ';' && !(at(1) == '&' && shell_ != Shell::dash)) {
      ++pos_;
      skip_blanks();
      return true;
    }
    if (pos_ >= end_ || is('\n') || at_closing()) return true;
    if (options_.reads_on && node != kNone) return true;
    return fail(Status::wrong);
  }

  uint32_t list(bool may_be_empty) noexcept {
    const uint32_t node = add(Kind::list, pos_);
    if (node == kNone) return kNone;
    Children children{node};
    skip_lines();
    while (!failed() && pos_ < end_ && !at_closing()) {
      if (options_.reads_on && (is('&') || is('|') || is(';'))) {
        ++pos_;
        skip_lines();
        continue;
      }
      if (!list_item(children)) return kNone;
      skip_lines();
    }
    if (failed()) return kNone;
    if (children.last == kNone && !may_be_empty) return options_.reads_on || missing() ? node : kNone;
    return node;
  }

  uint32_t and_or() noexcept {
    uint32_t node = pipeline();
    for (;;) {
      if (failed() || node == kNone) return kNone;
      skip_blanks();
      const bool is_and = is('&', '&');
      if (!is_and && !is('|', '|')) return node;
      pos_ += 2;
      skip_lines();
      const uint32_t both = add(is_and ? Kind::and_if : Kind::or_if, tree_[node].span.start);
      if (both == kNone) return kNone;
      Children sides{both};
      append(sides, node);
      append(sides, pipeline());
      node = both;
    }
  }

  // time -v is a program.
  bool is_timed_by_options() const noexcept {
    uint32_t i = pos_ + 4;
    while (i < end_ && is_blank(text_[i])) ++i;
    return i + 1 < end_ && text_[i] == '-' && text_[i + 1] != 'p' && text_[i + 1] != '-';
  }
  // After `!` and `time` nothing need follow.
  bool at_pipeline_end() noexcept {
    skip_blanks();
    return pos_ >= end_ || is('\n') || is(';');
  }

  uint32_t pipeline() noexcept {
    const Level level(*this);
    if (failed()) return kNone;
    skip_blanks();
    const uint32_t start = pos_;
    const string_view word = plain_word();
    if (word == "!" && !(at(1) == '(' && globs_)) {
      ++pos_;
      const uint32_t node = add(Kind::negated, start, pos_);
      if (node == kNone) return kNone;
      Children inner{node};
      if (!at_pipeline_end()) append(inner, pipeline());
      else if (shell_ == Shell::dash) missing();
      return failed() ? kNone : node;
    }
    if (word == "time" && shell_ != Shell::dash && !(options_.reads_on && is_timed_by_options())) {
      pos_ += 4;
      const uint32_t node = add(Kind::timed, start, pos_);
      if (node == kNone) return kNone;
      keyword("-p");
      keyword("--");
      Children inner{node};
      if (!at_pipeline_end()) append(inner, pipeline());
      return failed() ? kNone : node;
    }
    uint32_t first = command();
    if (failed() || first == kNone) return kNone;
    skip_blanks();
    if (!is('|') || at(1) == '|') return first;
    const uint32_t node = add(Kind::pipeline, start);
    if (node == kNone) return kNone;
    Children stages{node};
    append(stages, first);
    while (is('|') && at(1) != '|') {
      ++pos_;
      if (shell_ != Shell::dash && take('&')) tree_.at(stages.last).flags |= flag::kErrorToo;
      skip_lines();
      append(stages, plain_word() == "!" && shell_ != Shell::zsh ? (missing(), kNone) : command());
      if (failed()) return kNone;
      skip_blanks();
    }
    return node;
  }

  // ---- commands

  uint32_t command() noexcept {
    const Level level(*this);
    if (failed()) return kNone;
    skip_blanks();
    if (pos_ >= end_ && options_.reads_on) return kNone;
    if (pos_ >= end_) return missing(), kNone;
    if (options_.prefix != nullptr) {
      while (const char* const behind = pos_ < end_ ? options_.prefix(options_.self, text_ + pos_, text_ + end_) : nullptr) pos_ = static_cast<uint32_t>(behind - text_);
      if (pos_ >= end_) return kNone;
    }
    if (is('(')) {
      if (at(1) == '(' && shell_ != Shell::dash) {
        const uint32_t close_at = arithmetic_end(pos_ + 2);
        if (close_at != kNone) {
          const uint32_t node = add(Kind::arithmetic, pos_);
          pos_ += 2;
          range(node, close_at);
          pos_ = close_at + 2;
          return redirected(node);
        }
      }
      const uint32_t node = add(Kind::subshell, pos_++);
      if (node == kNone) return kNone;
      Children inner{node};
      append(inner, list(false));
      if (!failed() && !take(')')) missing_word();
      return redirected(node);
    }
    const string_view word = plain_word();
    if (!word.empty()) {
      const uint32_t start = pos_;
      if (word == "{") return ++pos_, group(start);
      if (word == "if") return pos_ += 2, if_clause(start);
      if (word == "while" || word == "until") return pos_ += 5, loop(start, word == "while" ? Kind::while_loop : Kind::until_loop);
      if (word == "for") return pos_ += 3, for_loop(start, Kind::for_loop);
      if (word == "select" && shell_ != Shell::dash) return pos_ += 6, for_loop(start, Kind::select_loop);
      if (word == "case") return pos_ += 4, case_clause(start);
      if (word == "function" && shell_ != Shell::dash) return pos_ += 8, keyword_function(start);
      if (word == "coproc" && shell_ != Shell::dash) return pos_ += 6, coprocess(start);
      if (word == "[[" && shell_ != Shell::dash) return pos_ += 2, test_command(start);
      if (at_closing() || (word == "]]" && shell_ != Shell::dash && !options_.reads_on)) return fail(Status::wrong), kNone;
    }
    return simple();
  }

  // What may follow a compound command.
  uint32_t redirected(uint32_t node) noexcept {
    if (failed() || node == kNone) return kNone;
    Children children{node};
    for (uint32_t i = tree_[node].first_child; i != kNone; i = tree_[i].next) children.last = i;
    tree_.at(node).span.end = pos_;
    for (;;) {
      skip_blanks();
      if (!at_redirection()) break;
      append(children, redirection());
      if (failed()) return kNone;
    }
    return node;
  }

  bool expect(string_view word) noexcept {
    if (failed()) return false;
    return keyword(word) || missing_word();
  }

  uint32_t group(uint32_t start) noexcept {
    const uint32_t node = add(Kind::group, start);
    if (node == kNone) return kNone;
    Children inner{node};
    append(inner, list(false));
    expect("}");
    return redirected(node);
  }

  uint32_t if_clause(uint32_t start) noexcept {
    const uint32_t node = add(Kind::if_clause, start);
    if (node == kNone) return kNone;
    Children inner{node};
    for (;;) {
      append(inner, list(false));
      if (!expect("then")) return kNone;
      append(inner, list(false));
      if (failed()) return kNone;
      if (keyword("elif")) continue;
      if (keyword("else")) {
        const uint32_t other = list(false);
        if (failed()) return kNone;
        tree_.at(other).flags |= flag::kElse;
        append(inner, other);
      }
      expect("fi");
      return redirected(node);
    }
  }

  uint32_t loop(uint32_t start, Kind kind) noexcept {
    const uint32_t node = add(kind, start);
    if (node == kNone) return kNone;
    Children inner{node};
    append(inner, list(false));
    body(inner, false);
    return redirected(node);
  }

  void body(Children& inner, bool braces) noexcept {
    if (failed()) return;
    skip_lines();
    if (braces && shell_ != Shell::dash && keyword("{")) {
      append(inner, list(false));
      expect("}");
      return;
    }
    if (!expect("do")) return;
    append(inner, list(false));
    expect("done");
  }

  uint32_t for_loop(uint32_t start, Kind kind) noexcept {
    skip_blanks();
    if (is('(', '(') && kind == Kind::for_loop && shell_ != Shell::dash) return counting_loop(start);
    const uint32_t node = add(kind, start);
    if (node == kNone) return kNone;
    Children inner{node};
    const uint32_t name_start = pos_;
    const uint32_t name = word(Stop::word);
    if (failed()) return kNone;
    if (name == kNone) return missing(), kNone;
    tree_.at(name).kind = Kind::name;
    tree_.at(name).first_child = kNone;
    tree_.at(name).span = {name_start, pos_};
    append(inner, name);
    skip_lines();
    if (keyword("in")) {
      tree_.at(node).flags |= flag::kIn;
      for (;;) {
        skip_blanks();
        if (pos_ >= end_) return missing(), kNone;
        if (is('\n') || is(';')) break;
        const uint32_t item = word(Stop::word);
        if (failed()) return kNone;
        if (item == kNone) return missing(), kNone;
        append(inner, item);
      }
    }
    if (is(';') && at(1) != ';') ++pos_;
    body(inner, true);
    return redirected(node);
  }

  uint32_t counting_loop(uint32_t start) noexcept {
    const uint32_t close_at = arithmetic_end(pos_ + 2);
    if (close_at == kNone) return missing(), kNone;
    const uint32_t node = add(Kind::counting_loop, start);
    if (node == kNone) return kNone;
    Children inner{node};
    pos_ += 2;
    for (int i = 0; i < 3; ++i) {
      uint32_t stop = pos_;
      if (i < 2) {
        while (stop < close_at && text_[stop] != ';') ++stop;
        if (stop == close_at) return fail(Status::wrong), kNone;
      } else {
        stop = close_at;
        for (uint32_t k = pos_; k < stop; ++k)
          if (text_[k] == ';') return fail(Status::wrong), kNone;
      }
      const uint32_t part = add(Kind::arithmetic, pos_);
      range(part, stop);
      append(inner, part);
      pos_ = stop + 1;
    }
    pos_ = close_at + 2;
    skip_blanks();
    if (is(';') && at(1) != ';') ++pos_;
    body(inner, true);
    return redirected(node);
  }

  uint32_t case_clause(uint32_t start) noexcept {
    const uint32_t node = add(Kind::case_clause, start);
    if (node == kNone) return kNone;
    Children inner{node};
    skip_blanks();
    const uint32_t subject = word(Stop::word);
    if (failed()) return kNone;
    if (subject == kNone) return missing(), kNone;
    append(inner, subject);
    skip_lines();
    if (!expect("in")) return kNone;
    for (;;) {
      skip_lines();
      if (failed()) return kNone;
      if (keyword("esac")) return redirected(node);
      const uint32_t item = add(Kind::case_item, pos_);
      if (item == kNone) return kNone;
      Children parts{item};
      if (take('(')) skip_blanks();
      for (;;) {
        const uint32_t pattern = word(Stop::word);
        if (failed()) return kNone;
        if (pattern == kNone) return missing(), kNone;
        append(parts, pattern);
        skip_blanks();
        if (is('|') && at(1) != '|') {
          ++pos_;
          skip_blanks();
          continue;
        }
        if (!take(')')) return missing(), kNone;
        break;
      }
      append(parts, list(true));
      if (failed()) return kNone;
      append(inner, item);
      if (is(';', ';')) {
        pos_ += 2;
        if (shell_ != Shell::dash && take('&')) tree_.at(item).flags |= flag::kTestsOn;
      } else if (is(';', '&') && shell_ != Shell::dash) {
        pos_ += 2;
        tree_.at(item).flags |= flag::kFallsOn;
      } else {
        if (!expect("esac")) return kNone;
        return redirected(node);
      }
    }
  }

  uint32_t function(uint32_t start, Span name, bool any_command) noexcept {
    const uint32_t node = add(Kind::function, start);
    if (node == kNone) return kNone;
    Children inner{node};
    add_to(inner, Kind::name, name.start, name.end);
    skip_lines();
    const string_view word = plain_word();
    const bool compound = is('(') || word == "{" || word == "if" || word == "while" || word == "until" || word == "for" || word == "case" ||
                          word == "select" || word == "[[";
    if (!compound && !any_command) return missing(), kNone;
    append(inner, command());
    return failed() ? kNone : node;
  }

  uint32_t keyword_function(uint32_t start) noexcept {
    skip_blanks();
    const uint32_t name_start = pos_;
    const uint32_t name = word(Stop::word);
    if (failed()) return kNone;
    if (name == kNone) return missing(), kNone;
    const Span span{name_start, pos_};
    skip_blanks();
    if (is('(')) {
      const uint32_t before = pos_++;
      skip_blanks();
      if (!take(')')) pos_ = before;  // function f ( list )
    }
    return function(start, span, shell_ == Shell::zsh);
  }

  uint32_t coprocess(uint32_t start) noexcept {
    const uint32_t node = add(Kind::coprocess, start);
    if (node == kNone) return kNone;
    Children inner{node};
    skip_blanks();
    const uint32_t before = pos_;
    const string_view name = plain_word();
    const auto is_compound = [this] {
      const string_view word = plain_word();
      return is('(') || word == "{" || word == "if" || word == "while" || word == "until" || word == "for" || word == "case" || word == "select";
    };
    if (!name.empty() && !is_compound()) {
      pos_ += static_cast<uint32_t>(name.size());
      skip_blanks();
      if (is_compound()) {
        tree_.at(node).flags |= flag::kNamed;
        add_to(inner, Kind::name, before, before + static_cast<uint32_t>(name.size()));
      } else {
        pos_ = before;
      }
    }
    append(inner, command());
    return failed() ? kNone : node;
  }

  // Whether a redirection begins here, with its descriptor.
  bool at_redirection() const noexcept {
    uint32_t i = pos_;
    if (i >= end_) return false;
    if (is_digit(text_[i])) {
      while (i < end_ && is_digit(text_[i])) ++i;
    } else if (text_[i] == '{' && shell_ != Shell::dash) {
      ++i;
      if (i >= end_ || !is_name_start(text_[i])) return false;
      while (i < end_ && (is_name_byte(text_[i]))) ++i;
      if (i >= end_ || text_[i] != '}') return false;
      ++i;
    } else if (text_[i] == '&' && i + 1 < end_ && text_[i + 1] == '>' && shell_ != Shell::dash) {
      return true;
    }
    if (i >= end_ || (text_[i] != '<' && text_[i] != '>')) return false;
    return !(i + 1 < end_ && text_[i + 1] == '(' && shell_ != Shell::dash && i == pos_);
  }

  uint32_t redirection() noexcept {
    const uint32_t node = add(Kind::redirection, pos_);
    if (node == kNone) return kNone;
    Children inner{node};
    const uint32_t start = pos_;
    while (pos_ < end_ && text_[pos_] != '<' && text_[pos_] != '>' && text_[pos_] != '&') ++pos_;
    if (pos_ != start) add_to(inner, Kind::name, start, pos_);
    Redirect kind = Redirect::output;
    bool document = false;
    if (take('&')) {
      ++pos_;
      kind = take('>') ? Redirect::all_append : Redirect::all_output;
    } else if (take('>')) {
      kind = take('>') ? Redirect::append : take('|') ? Redirect::clobber : take('&') ? Redirect::to_descriptor : Redirect::output;
    } else {
      ++pos_;
      if (is('<', '<') && shell_ != Shell::dash) {
        pos_ += 2;
        kind = Redirect::here_string;
      } else if (take('<')) {
        kind = Redirect::here_document;
        document = true;
        if (take('-')) tree_.at(node).flags |= flag::kStripsTabs;
      } else {
        kind = take('>') ? Redirect::both : take('&') ? Redirect::from_descriptor : Redirect::input;
      }
    }
    tree_.at(node).aux = static_cast<uint8_t>(kind);
    skip_blanks();
    const uint32_t target = word(Stop::word);
    if (failed()) return kNone;
    if (target == kNone) return options_.reads_on || missing() ? node : kNone;
    append(inner, target);
    if (document) {
      for (uint32_t i = tree_[target].first_child; i != kNone; i = tree_[i].next)
        if (tree_[i].kind != Kind::literal && tree_[i].kind != Kind::tilde && tree_[i].kind != Kind::parameter &&
            tree_[i].kind != Kind::command_substitution && tree_[i].kind != Kind::back_quoted)
          tree_.at(node).flags |= flag::kPlainText;
      if (pending_count_ == kPending) return fail(Status::wrong), kNone;  // bash has as many
      pending_[pending_count_++] = node;
    }
    return node;
  }

  // ---- here-documents

  // Whether a line is the delimiter as it is written, without its quotes.
  bool is_delimiter(Span written, uint32_t from, uint32_t to) const noexcept {
    char quote = '\0';
    for (uint32_t i = written.start; i < written.end; ++i) {
      char c = text_[i];
      if (quote == '\0' && (c == '\'' || c == '"')) {
        quote = c;
        continue;
      }
      if (quote != '\0' && c == quote) {
        quote = '\0';
        continue;
      }
      if (quote == '\0' && c == '$' && i + 1 < written.end && (text_[i + 1] == '\'' || text_[i + 1] == '"')) continue;
      if (c == '\\' && quote != '\'' && i + 1 < written.end && (quote == '\0' || text_[i + 1] == '"' || text_[i + 1] == '\\' || text_[i + 1] == '$' || text_[i + 1] == '`')) {
        c = text_[++i];
        if (c == '\n') continue;
      }
      if (from == to || text_[from] != c) return false;
      ++from;
    }
    return from == to;
  }

  // The bodies of what was announced in the line that just ended.
  void read_documents() noexcept {
    const uint32_t count = pending_count_;
    pending_count_ = 0;
    for (uint32_t k = 0; k < count && !failed(); ++k) {
      const uint32_t node = pending_[k];
      const bool plain = tree_[node].has(flag::kPlainText), strips = tree_[node].has(flag::kStripsTabs);
      uint32_t word_at = tree_[node].first_child;
      if (word_at != kNone && tree_[word_at].kind == Kind::name) word_at = tree_[word_at].next;
      if (word_at == kNone) continue;
      const Span delimiter = tree_[word_at].span;
      const uint32_t start = pos_;
      uint32_t body_end = end_, next = end_;
      bool continued = false;
      for (uint32_t line = pos_; line < end_;) {
        uint32_t stop = line;
        while (stop < end_ && text_[stop] != '\n') ++stop;
        uint32_t from = line;
        if (strips)
          while (from < stop && text_[from] == '\t') ++from;
        uint32_t to = stop;
        while (options_.reads_on && to > from && text_[to - 1] == kLineEnd) --to;
        if (!continued && is_delimiter(delimiter, from, to)) {
          body_end = line;
          next = stop < end_ ? stop + 1 : stop;
          break;
        }
        if (!plain) {
          uint32_t slashes = stop;
          while (slashes > line && text_[slashes - 1] == '\\') --slashes;
          continued = (stop - slashes) % 2 != 0;
        }
        line = stop + 1;
      }
      const uint32_t body = add(Kind::word, start, body_end);
      if (body == kNone) return;
      tree_.at(word_at).next = body;
      pos_ = start;
      if (plain) {
        Children inner{body};
        if (body_end > start) add_to(inner, Kind::single_quoted, start, body_end);
      } else {
        // What is wrong within it shows when the command runs.
        const uint32_t before = tree_.size();
        range(body, body_end);
        if (status_ == Status::open || status_ == Status::wrong) {
          status_ = Status::complete;
          tree_.cut(before);
          tree_.at(body).first_child = kNone;
          tree_.at(body).flags |= flag::kBad;
          pending_count_ = 0;
        }
      }
      if (failed()) return;
      tree_.at(body).span = {start, body_end};
      pos_ = next;
    }
  }

  // ---- simple commands

  bool at_command_end() const noexcept {
    if (pos_ >= end_) return true;
    const char c = text_[pos_];
    return c == '\n' || c == ';' || c == '|' || c == ')' || (c == '&' && !(at(1) == '>' && shell_ != Shell::dash));
  }

  uint32_t simple() noexcept {
    const uint32_t node = add(Kind::simple, pos_);
    if (node == kNone) return kNone;
    Children inner{node};
    uint32_t words = 0;
    bool declares = false, turns_globs_on = false;
    for (;;) {
      skip_blanks();
      if (at_redirection()) {
        append(inner, redirection());
        if (failed()) return kNone;
        continue;
      }
      if (at_command_end()) break;
      if (is('(')) {
        if (words != 1 || tree_[node].first_child != inner.last) {
          if (options_.reads_on && inner.last != kNone) return node;
          return fail(Status::wrong), kNone;
        }
        const Span name = tree_[inner.last].span;
        const uint32_t open_at = pos_++;
        skip_blanks();
        if (!take(')')) {
          if (!options_.reads_on) return missing(), kNone;
          pos_ = open_at;  // a (b): two commands
          return node;
        }
        return function(name.start, name, shell_ != Shell::bash);
      }
      if (words == 0 || declares) {
        const uint32_t assigned = assignment(words != 0);
        if (failed()) return kNone;
        if (assigned != kNone) {
          append(inner, assigned);
          continue;
        }
      }
      const uint32_t from = pos_;
      const uint32_t next = word(Stop::word);
      if (failed()) return kNone;
      if (next == kNone) return missing(), kNone;
      append(inner, next);
      const string_view written(text_ + from, pos_ - from);
      if (words++ == 0) {
        const BuiltinRow* const row = find_builtin(written);
        declares = row != nullptr && (row->flags & builtin_flag::kDeclares) != 0 && !(shell_ == Shell::dash && (row->flags & builtin_flag::kBash) != 0);
        turns_globs_on = row != nullptr && row->which == Builtin::shopt;
      } else if (turns_globs_on && written == "extglob") {
        globs_ = shell_ == Shell::bash;  // -u, too: what is not turned off is a pattern, and no error
      }
    }
    if (inner.last == kNone) return pos_ >= end_ && options_.reads_on ? (missing(), node) : (missing(), kNone);
    return failed() ? kNone : node;
  }

  // NAME=, NAME+=, NAME[...]= and what follows; nothing is taken where there is none.
  uint32_t assignment(bool argument) noexcept {
    uint32_t i = pos_;
    if (i >= end_ || !is_name_start(text_[i])) return kNone;
    while (i < end_ && is_name_byte(text_[i])) ++i;
    if (i >= end_) return kNone;
    const uint32_t start = pos_, name_end = i;
    const uint32_t before = tree_.size();
    uint32_t index = kNone;
    if (text_[i] == '[' && shell_ != Shell::dash) {
      index = add(Kind::subscript, i + 1);
      if (index == kNone) return kNone;
      pos_ = i + 1;
      Children inner{index};
      if (!parts(inner, Stop::subscript, false) || failed()) return kNone;
      if (!take(']')) {
        if (options_.reads_on) return pos_ = start, tree_.cut(before), kNone;
        return missing_end(), kNone;
      }
      tree_.at(index).span.end = pos_ - 1;
      i = pos_;
    }
    uint8_t flags = argument ? flag::kArgument : uint8_t{0};
    if (i + 1 < end_ && text_[i] == '+' && text_[i + 1] == '=' && shell_ != Shell::dash) {
      flags |= flag::kAppends;
      ++i;
    }
    if (i >= end_ || text_[i] != '=') {
      pos_ = start;
      tree_.cut(before);
      return kNone;
    }
    pos_ = i + 1;
    const uint32_t node = add(Kind::assignment, start, pos_, flags);
    if (node == kNone) return kNone;
    Children inner{node};
    add_to(inner, Kind::name, start, name_end);
    if (index != kNone) append(inner, index);
    if (is('(') && shell_ != Shell::dash) {
      if (index != kNone) return fail(Status::wrong), kNone;
      append(inner, array());
    } else {
      declared_ = argument;  // braces make several words of an argument
      const uint32_t value = word(Stop::value);
      declared_ = false;
      append(inner, value);
    }
    return failed() ? kNone : close(node);
  }

  uint32_t array() noexcept {
    const Level level(*this);
    if (failed()) return kNone;
    const uint32_t node = add(Kind::array, pos_++);
    if (node == kNone) return kNone;
    Children inner{node};
    for (;;) {
      skip_lines();
      if (take(')')) return close(node);
      if (pos_ >= end_) return missing_end() ? node : kNone;
      if (options_.reads_on && (is('(') || is('&') || is('|') || is(';') || is('<') || is('>')) && !((is('<') || is('>')) && at(1) == '(')) {
        ++pos_;
        continue;
      }
      if (is('[')) {
        // [subscript]=value
        const uint32_t start = pos_, before = tree_.size();
        const uint32_t item = add(Kind::assignment, start), index = add(Kind::subscript, start + 1);
        if (item == kNone || index == kNone) return kNone;
        ++pos_;
        Children parts_of{index}, item_of{item};
        if (parts(parts_of, Stop::subscript, false) && is(']') && (at(1) == '=' || (at(1) == '+' && at(2) == '='))) {
          tree_.at(index).span.end = pos_;
          append(item_of, index);
          if (at(1) == '+') {
            tree_.at(item).flags |= flag::kAppends;
            ++pos_;
          }
          pos_ += 2;
          append(item_of, word(Stop::value));
          append(inner, close(item));
          if (failed()) return kNone;
          continue;
        }
        if (failed()) return kNone;
        pos_ = start;
        tree_.cut(before);
      }
      const uint32_t next = word(Stop::word);
      if (failed()) return kNone;
      if (next == kNone) return missing(), kNone;
      append(inner, next);
    }
  }

  // ---- [[ ]]

  uint32_t test_command(uint32_t start) noexcept {
    const uint32_t node = add(Kind::test, start);
    if (node == kNone) return kNone;
    Children inner{node};
    append(inner, test_or());
    if (failed()) return kNone;
    skip_lines();
    if (!keyword("]]")) return missing(), kNone;
    return redirected(node);
  }

  uint32_t test_or() noexcept {
    uint32_t left = test_and();
    for (;;) {
      skip_lines();
      if (failed() || !is('|', '|')) return left;
      pos_ += 2;
      left = test_both(Kind::test_or, left, test_and());
    }
  }
  uint32_t test_and() noexcept {
    uint32_t left = test_term();
    for (;;) {
      skip_lines();
      if (failed() || !is('&', '&')) return left;
      pos_ += 2;
      left = test_both(Kind::test_and, left, test_term());
    }
  }
  uint32_t test_both(Kind kind, uint32_t left, uint32_t right) noexcept {
    if (failed() || left == kNone) return kNone;
    const uint32_t node = add(kind, tree_[left].span.start);
    if (node == kNone) return kNone;
    Children inner{node};
    append(inner, left);
    append(inner, right);
    return node;
  }

  static bool is_unary(string_view word) noexcept {
    return word.size() == 2 && word[0] == '-' && string_view("abcdefghknoprstuvwxzGLNORS").find(word[1]) != string_view::npos;
  }
  static bool is_binary(string_view word) noexcept {
    return word == "=" || word == "==" || word == "!=" || word == "=~" || word == "-eq" || word == "-ne" || word == "-lt" || word == "-le" ||
           word == "-gt" || word == "-ge" || word == "-nt" || word == "-ot" || word == "-ef";
  }

  uint32_t test_term() noexcept {
    const Level level(*this);
    if (failed()) return kNone;
    skip_lines();
    const uint32_t start = pos_;
    if (take('(')) {
      const uint32_t inner = test_or();
      if (failed()) return kNone;
      if (!take(')')) return missing(), kNone;
      return inner;
    }
    const string_view plain = plain_word();
    if (plain == "!") {
      ++pos_;
      const uint32_t node = add(Kind::test_not, start);
      if (node == kNone) return kNone;
      Children inner{node};
      append(inner, test_term());
      return node;
    }
    if (plain == "]]") return fail(Status::wrong), kNone;
    if (is_unary(plain)) {
      pos_ += 2;
      const uint32_t node = add(Kind::test_unary, start);
      if (node == kNone) return kNone;
      Children inner{node};
      add_to(inner, Kind::name, start, pos_);
      skip_blanks();
      if (plain_word() == "]]") return fail(Status::wrong), kNone;
      const uint32_t operand = word(Stop::test);
      if (failed()) return kNone;
      if (operand == kNone) return missing(), kNone;
      append(inner, operand);
      return node;
    }
    const uint32_t left = word(Stop::test);
    if (failed()) return kNone;
    if (left == kNone) return missing(), kNone;
    skip_blanks();
    const string_view after = plain_word();
    const uint32_t operator_at = pos_;
    if (is('<') || is('>')) {
      ++pos_;
    } else if (is_binary(after)) {
      pos_ += static_cast<uint32_t>(after.size());
    } else {
      skip_lines();
      if (pos_ < end_ && !is('&', '&') && !is('|', '|') && !is(')') && plain_word() != "]]") return fail(Status::wrong), kNone;
      const uint32_t node = add(Kind::test_unary, start);
      if (node == kNone) return kNone;
      Children inner{node};
      append(inner, left);
      return node;
    }
    const uint32_t node = add(Kind::test_binary, start);
    if (node == kNone) return kNone;
    Children inner{node};
    append(inner, left);
    add_to(inner, Kind::name, operator_at, pos_);
    skip_blanks();
    if (plain_word() == "]]") return fail(Status::wrong), kNone;
    const bool was = globs_;
    globs_ = globs_ || after == "==" || after == "=" || after == "!=";
    const uint32_t right = word(after == "=~" ? Stop::regex : Stop::test);
    globs_ = was;
    if (failed()) return kNone;
    if (right == kNone) return missing(), kNone;
    append(inner, right);
    return node;
  }

  // ---- words

  // A word that begins here, kNone where none does.
  uint32_t word(Stop stop) noexcept {
    const uint32_t start = pos_;
    const uint32_t node = add(Kind::word, start);
    if (node == kNone) return kNone;
    Children inner{node};
    if (!parts(inner, stop, false) || failed()) return kNone;
    if (pos_ == start) {
      tree_.cut(node);
      return kNone;
    }
    tree_.at(node).span.end = pos_;
    return node;
  }
  // An operand: a word that may be empty.
  void operand(Children& to, Stop stop, bool quoted) noexcept {
    if (failed()) return;
    const uint32_t node = add(Kind::word, pos_);
    if (node == kNone) return;
    Children inner{node};
    if (!parts(inner, stop, quoted)) return;
    tree_.at(node).span.end = pos_;
    append(to, node);
  }
  // Everything up to `stop` as parts of a quoted text.
  void range(uint32_t node, uint32_t stop) noexcept {
    if (failed() || node == kNone) return;
    const uint32_t after = end_;
    end_ = stop;
    Children inner{node};
    parts(inner, Stop::range, true);
    end_ = after;
    if (!failed()) pos_ = stop;
    tree_.at(node).span.end = stop;
  }

  bool is_end(char c, Stop stop) const noexcept {
    switch (stop) {
      case Stop::word:
      case Stop::value:
        if (!ends_word(c)) return false;
        return !((c == '<' || c == '>') && at(1) == '(' && shell_ != Shell::dash);
      case Stop::test: return ends_word(c) && !((c == '<' || c == '>') && at(1) == '(');
      case Stop::regex: return is_blank(c) || c == '\n' || c == ')';
      case Stop::alternative: return c == '|' || c == ')';
      case Stop::operand: return c == '}';
      case Stop::pattern: return c == '}' || c == '/';
      case Stop::offset: return c == '}' || c == ':';
      case Stop::subscript: return c == ']';
      case Stop::quoted: return c == '"';
      case Stop::range: return false;
    }
    return true;
  }

  // Reads parts up to where `stop` says, which is not taken. `quoted`: within double quotes.
  bool parts(Children& out, Stop stop, bool quoted) noexcept {
    const bool in_word = stop == Stop::word || stop == Stop::value || stop == Stop::test || stop == Stop::regex || stop == Stop::alternative;
    const bool braces = (stop == Stop::word || (stop == Stop::value && declared_)) && shell_ != Shell::dash;
    declared_ = false;
    const uint32_t first = pos_;
    uint32_t run = pos_;  // where the literal that is being read began
    uint32_t open[kBraces], open_count = 0, brackets = 0;
    const auto flush = [&] {
      if (pos_ > run) add_to(out, Kind::literal, run, pos_, quoted ? flag::kQuoted : uint8_t{0});
    };
    const auto single = [&](Kind kind) {  // a byte that may get a meaning later
      flush();
      const uint32_t node = add(Kind::literal, pos_, pos_ + 1);
      append(out, node);
      run = ++pos_;
      (void)kind;
      return node;
    };
    while (pos_ < end_ && !failed()) {
      const char c = text_[pos_];
      // Brackets within a pattern and in subscripts belong to it.
      if (stop == Stop::subscript && c == '[') ++brackets;
      if (stop == Stop::subscript && c == ']' && brackets != 0) {
        --brackets;
        ++pos_;
        continue;
      }
      if (stop == Stop::pattern && c == '/' && pos_ == first) {
        ++pos_;
        continue;
      }
      if (is_end(c, stop)) break;
      switch (c) {
        case '\\': {
          const char after = at(1);
          if (after == '\n') {
            flush();
            pos_ += 2;
            run = pos_;
            continue;
          }
          const bool special = !quoted || after == '$' || after == '`' || after == '\\' || (after == '"' && stop != Stop::range) ||
                               (after == '}' && stop != Stop::quoted && stop != Stop::range);
          if (!special || pos_ + 1 >= end_) {
            ++pos_;
            continue;
          }
          flush();
          add_to(out, Kind::escape, pos_, pos_ + 2, quoted ? flag::kQuoted : uint8_t{0});
          pos_ += 2;
          run = pos_;
          continue;
        }
        case '\'': {
          if (quoted) break;
          flush();
          const uint32_t start = ++pos_;
          while (pos_ < end_ && text_[pos_] != '\'') ++pos_;
          if (pos_ >= end_ && !missing_end()) return false;
          add_to(out, Kind::single_quoted, start, pos_);
          if (pos_ < end_) ++pos_;
          run = pos_;
          continue;
        }
        case '"': {
          if (stop == Stop::range) break;
          flush();
          const uint32_t start = pos_++;
          const uint32_t node = add(Kind::double_quoted, start);
          if (node == kNone) return false;
          Children inner{node};
          if (!parts(inner, Stop::quoted, true)) return false;
          if (!take('"') && !missing_end()) return false;
          tree_.at(node).span.end = pos_;
          append(out, node);
          run = pos_;
          continue;
        }
        case '`': {
          flush();
          const uint32_t start = ++pos_;
          while (pos_ < end_ && text_[pos_] != '`') pos_ += text_[pos_] == '\\' && pos_ + 1 < end_ ? 2 : 1;
          if (pos_ >= end_) {
            pos_ = end_;
            if (!missing_end()) return false;
          }
          add_to(out, Kind::back_quoted, start, pos_, quoted ? flag::kQuoted : uint8_t{0});
          if (pos_ < end_) ++pos_;
          run = pos_;
          continue;
        }
        case '$':
          flush();
          run = pos_;
          if (foreign(out, quoted)) {
            run = pos_;
            continue;
          }
          if (!dollar(out, quoted, stop)) return false;
          if (pos_ == run) {
            ++pos_;  // a dollar sign alone
          } else {
            run = pos_;
          }
          continue;
        case '<':
        case '>':
          if (quoted || at(1) != '(' || shell_ == Shell::dash || stop == Stop::regex) break;
          flush();
          {
            const uint32_t node = add(Kind::process_substitution, pos_, 0, c == '>' ? flag::kOutput : uint8_t{0});
            pos_ += 2;
            substituted(out, node);
          }
          run = pos_;
          continue;
        case '~':
          if (quoted || !(stop == Stop::word || stop == Stop::value || stop == Stop::test || stop == Stop::operand)) break;
          if (pos_ != first && !(stop == Stop::value && text_[pos_ - 1] == ':') && !(stop == Stop::word && is_assigned(first, pos_))) break;
          flush();
          {
            const uint32_t start = pos_++;
            while (pos_ < end_ && (is_name_byte(text_[pos_]) || text_[pos_] == '-' || text_[pos_] == '+' || text_[pos_] == '.')) ++pos_;
            const char after = at(0);
            const bool whole = pos_ >= end_ || ends_word(after) || after == '/' || after == ':' || (stop == Stop::operand && after == '}');
            add_to(out, whole ? Kind::tilde : Kind::literal, start, pos_);
          }
          run = pos_;
          continue;
        case '{':
          if (!quoted && at(1) == '{') {
            flush();
            run = pos_;
            if (foreign(out, quoted)) {
              run = pos_;
              continue;
            }
          }
          if (!braces || open_count == kBraces) break;
          open[open_count++] = single(Kind::brace_open);
          continue;
        case ',':
          if (!braces || open_count == 0 || open[open_count - 1] == kNone) break;
          {
            // Commas of one brace are chained by their spans' ends until it closes.
            const uint32_t node = single(Kind::brace_comma);
            if (node == kNone) return false;
            Node& opened = tree_.at(open[open_count - 1]);
            tree_.at(node).first_child = opened.first_child;
            opened.first_child = node;
          }
          continue;
        case '}':
          if (!braces || open_count == 0) break;
          {
            const uint32_t opened = open[--open_count];
            const uint32_t node = single(Kind::brace_close);
            if (node == kNone || opened == kNone) return false;
            close_brace(opened, node);
          }
          continue;
        case '(':
          if (stop == Stop::regex) {
            // Blanks within its brackets belong to it.
            flush();
            uint32_t depth = 0, at_byte = pos_;
            for (; at_byte < end_; ++at_byte) {
              const char b = text_[at_byte];
              if (b == '\\') ++at_byte;
              else if (b == '(') ++depth;
              else if (b == ')' && --depth == 0) break;
              else if (b == '$' || b == '`' || b == '"' || b == '\'') break;
            }
            if (at_byte < end_ && depth == 0) {
              pos_ = at_byte + 1;
              add_to(out, Kind::literal, run, pos_);
              run = pos_;
              continue;
            }
            run = pos_++;
            ++brackets;
            continue;
          }
          break;
        default:
          if (in_word && !quoted && globs_ && is_glob_prefix(c) && at(1) == '(' && stop != Stop::regex) {
            flush();
            if (!extended_glob(out)) return false;
            run = pos_;
            continue;
          }
          break;
      }
      if (stop == Stop::regex && c == ')' && brackets != 0) --brackets;
      ++pos_;
    }
    if (failed()) return false;
    flush();
    const bool needs_end = stop != Stop::word && stop != Stop::value && stop != Stop::test && stop != Stop::regex && stop != Stop::range;
    if (needs_end && pos_ >= end_) return missing_end();
    for (uint32_t i = 0; i < open_count; ++i) forget_brace(open[i]);
    return true;
  }

  // After a name and an equals sign: --prefix=~/x is no assignment, and bash leaves its tilde alone.
  bool is_assigned(uint32_t first, uint32_t at_byte) const noexcept {
    if (at_byte == first || (text_[at_byte - 1] != '=' && text_[at_byte - 1] != ':') || !is_name_start(text_[first])) return false;
    uint32_t i = first;
    while (i < at_byte && is_name_byte(text_[i])) ++i;
    return i < at_byte && text_[i] == '=';
  }

  void forget_brace(uint32_t opened) noexcept {
    if (opened == kNone) return;
    uint32_t comma = tree_[opened].first_child;
    tree_.at(opened).first_child = kNone;
    while (comma != kNone) {
      const uint32_t before = tree_[comma].first_child;
      tree_.at(comma).first_child = kNone;
      comma = before;
    }
  }
  void close_brace(uint32_t opened, uint32_t closed) noexcept {
    const bool commas = tree_[opened].first_child != kNone;
    const bool sequence = !commas && is_sequence(string_view(text_ + tree_[opened].span.end, tree_[closed].span.start - tree_[opened].span.end));
    for (uint32_t comma = tree_[opened].first_child; comma != kNone;) {
      const uint32_t before = tree_[comma].first_child;
      tree_.at(comma).kind = Kind::brace_comma;
      tree_.at(comma).first_child = kNone;
      comma = before;
    }
    tree_.at(opened).first_child = kNone;
    if (!commas && !sequence) return;
    tree_.at(opened).kind = Kind::brace_open;
    if (sequence) tree_.at(opened).flags |= flag::kSequence;
    tree_.at(closed).kind = Kind::brace_close;
  }
  // 1..3, a..e, 1..10..2
  static bool is_sequence(string_view text) noexcept {
    if (text.size() > 64) return false;
    uint32_t numbers = 0;
    bool letters = false;
    std::size_t i = 0;
    for (;;) {
      std::size_t start = i;
      if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
      const std::size_t digits = i;
      while (i < text.size() && is_digit(text[i])) ++i;
      if (i == digits) {
        if (i != start || i >= text.size() || numbers > 1 || (numbers == 1 && !letters)) return false;
        if (!((text[i] >= 'a' && text[i] <= 'z') || (text[i] >= 'A' && text[i] <= 'Z'))) return false;
        letters = true;
        ++i;
      } else if (numbers == 1 && letters) {
        return false;
      }
      ++numbers;
      if (i == text.size()) return numbers == 2 || numbers == 3;
      if (numbers == 3 || i + 1 >= text.size() || text[i] != '.' || text[i + 1] != '.') return false;
      i += 2;
    }
  }

  bool extended_glob(Children& out) noexcept {
    const Level level(*this);
    if (failed()) return false;
    const uint32_t node = add(Kind::extended_glob, pos_);
    if (node == kNone) return false;
    tree_.at(node).aux = static_cast<uint8_t>(text_[pos_]);
    Children inner{node};
    pos_ += 2;
    for (;;) {
      operand(inner, Stop::alternative, false);
      if (failed()) return false;
      if (take('|')) continue;
      if (!take(')') && !missing_end()) return false;
      tree_.at(node).span.end = pos_;
      append(out, node);
      return true;
    }
  }

  void substituted(Children& out, uint32_t node) noexcept {
    const Level level(*this);
    if (failed() || node == kNone) return;
    Children inner{node};
    const uint32_t outer = pending_count_;
    append(inner, list(true));
    if (failed()) return;
    if (!take(')') && !missing_word()) return;
    // A here-document whose body does not follow before the bracket ends there.
    if (pending_count_ > outer) pending_count_ = outer;
    tree_.at(node).span.end = pos_;
    append(out, node);
  }

  // Where the arithmetic that begins at `from` ends: at "))". kNone where it is two brackets of other things.
  uint32_t arithmetic_end(uint32_t from) const noexcept {
    uint32_t depth = 0;
    for (uint32_t i = from; i < end_; ++i) {
      switch (text_[i]) {
        case '\\': ++i; break;
        case '\'':
          for (++i; i < end_ && text_[i] != '\'';) ++i;
          break;
        case '"':
        case '`': {
          const char quote = text_[i];
          for (++i; i < end_ && text_[i] != quote; ++i)
            if (text_[i] == '\\') ++i;
          break;
        }
        case '(': ++depth; break;
        case ')':
          if (depth == 0) return i + 1 < end_ && text_[i + 1] == ')' ? i : kNone;
          --depth;
          break;
        default: break;
      }
    }
    return kNone;
  }

  bool foreign(Children& out, bool quoted) noexcept {
    if (options_.foreign == nullptr) return false;
    const char* const end = options_.foreign(options_.self, text_ + pos_, text_ + end_);
    if (end == nullptr) return false;
    const uint32_t start = pos_;
    pos_ = static_cast<uint32_t>(end - text_);
    add_to(out, Kind::foreign, start, pos_, quoted ? flag::kQuoted : uint8_t{0});
    return true;
  }

  // What begins with a dollar sign; takes nothing where it stands for itself.
  bool dollar(Children& out, bool quoted, Stop stop) noexcept {
    const uint32_t start = pos_;
    const char c = at(1);
    const uint8_t flags = quoted ? flag::kQuoted : uint8_t{0};
    if (c == '(') {
      const Level level(*this);
      if (failed()) return false;
      if (at(2) == '(') {
        const uint32_t close_at = arithmetic_end(pos_ + 3);
        if (close_at != kNone) {
          const uint32_t node = add(Kind::arithmetic_expansion, start, 0, flags);
          pos_ += 3;
          range(node, close_at);
          if (failed()) return false;
          pos_ = close_at + 2;
          append(out, node);
          return true;
        }
      }
      const uint32_t node = add(Kind::command_substitution, start, 0, flags);
      pos_ += 2;
      substituted(out, node);
      return !failed();
    }
    if (c == '[' && shell_ != Shell::dash) {
      const Level level(*this);
      if (failed()) return false;
      uint32_t stop_at = pos_ + 2, depth = 0;
      for (; stop_at < end_; ++stop_at) {
        if (text_[stop_at] == '[') ++depth;
        if (text_[stop_at] == ']' && depth-- == 0) break;
      }
      if (stop_at >= end_) {
        if (options_.reads_on) return true;
        pos_ = end_;
        return missing_end();
      }
      const uint32_t node = add(Kind::arithmetic_expansion, start, 0, flags);
      pos_ += 2;
      range(node, stop_at);
      if (failed()) return false;
      pos_ = stop_at + 1;
      append(out, node);
      return true;
    }
    if (c == '{') return braced(out, quoted);
    if (c == '\'' && !quoted && shell_ != Shell::dash) {
      pos_ += 2;
      const uint32_t from = pos_;
      while (pos_ < end_ && text_[pos_] != '\'') pos_ += text_[pos_] == '\\' && pos_ + 1 < end_ ? 2 : 1;
      if (pos_ >= end_) {
        pos_ = end_;
        if (!missing_end()) return false;
      }
      add_to(out, Kind::ansi_quoted, from, pos_);
      if (pos_ < end_) ++pos_;
      return true;
    }
    if (c == '"' && !quoted && shell_ != Shell::dash && stop != Stop::range) {
      ++pos_;  // $"...": the quoted text, translated
      const uint32_t node = add(Kind::double_quoted, pos_++);
      if (node == kNone) return false;
      Children inner{node};
      if (!parts(inner, Stop::quoted, true)) return false;
      if (!take('"')) return missing_end();
      tree_.at(node).span.end = pos_;
      append(out, node);
      return true;
    }
    uint32_t end = pos_ + 1;
    if (is_name_start(c)) {
      while (end < end_ && is_name_byte(text_[end])) ++end;
    } else if (is_digit(c) || (c != '\0' && string_view("@*#?-$!").find(c) != string_view::npos)) {
      ++end;
    } else {
      return true;
    }
    const uint32_t node = add(Kind::parameter, start, end, flags);
    if (node == kNone) return false;
    Children inner{node};
    add_to(inner, Kind::name, start + 1, end);
    pos_ = end;
    append(out, node);
    return true;
  }

  bool braced(Children& out, bool quoted) noexcept {
    const Level level(*this);
    if (failed()) return false;
    const uint32_t node = add(Kind::parameter, pos_, 0, quoted ? flag::kQuoted : uint8_t{0});
    if (node == kNone) return false;
    Children inner{node};
    pos_ += 2;
    const auto special = [](char c) { return c != '\0' && string_view("@*#?-$!").find(c) != string_view::npos; };
    if (is('#') && at(1) != '}' && (is_name_byte(at(1)) || (special(at(1)) && at(2) == '}'))) {
      tree_.at(node).flags |= flag::kLength;
      ++pos_;
    } else if (is('!') && (is_name_byte(at(1)) || ((at(1) == '@' || at(1) == '*' || at(1) == '#') && at(2) == '}'))) {
      tree_.at(node).flags |= flag::kIndirect;
      ++pos_;
    }
    uint32_t name_end = pos_;
    if (name_end < end_ && is_name_start(text_[name_end])) {
      while (name_end < end_ && is_name_byte(text_[name_end])) ++name_end;
    } else if (name_end < end_ && is_digit(text_[name_end])) {
      while (name_end < end_ && is_digit(text_[name_end])) ++name_end;
    } else if (name_end < end_ && special(text_[name_end])) {
      ++name_end;
    }
    if (name_end == pos_) {
      tree_.at(node).flags |= flag::kBad;
      operand(inner, Stop::operand, quoted);
      return finish_braced(out, node);
    }
    add_to(inner, Kind::name, pos_, name_end);
    pos_ = name_end;
    if (is('[')) {
      const uint32_t index = add(Kind::subscript, ++pos_);
      if (index == kNone) return false;
      Children in_index{index};
      if (!parts(in_index, Stop::subscript, false)) return false;
      tree_.at(index).span.end = pos_;
      if (pos_ < end_) ++pos_;
      append(inner, index);
    }
    edit(inner, node, quoted);
    return finish_braced(out, node);
  }
  bool finish_braced(Children& out, uint32_t node) noexcept {
    if (failed()) return false;
    if (!take('}') && !missing_end()) return false;
    tree_.at(node).span.end = pos_;
    append(out, node);
    return true;
  }

  // The operator of ${name...} and its operands. In those of patterns single quotes quote even within double quotes.
  void edit(Children& inner, uint32_t node, bool quoted) noexcept {
    if (is('}') || pos_ >= end_) return;
    const char c = text_[pos_];
    const auto set = [&](Edit edit, uint32_t bytes) {
      tree_.at(node).aux = static_cast<uint8_t>(edit);
      pos_ += bytes;
    };
    const bool colon = c == ':';
    const char operation = colon ? at(1) : c;
    const Edit by_value = operation == '-' ? Edit::fallback : operation == '=' ? Edit::assign : operation == '?' ? Edit::fail : operation == '+' ? Edit::alternative : Edit::none;
    if (by_value != Edit::none) {
      if (colon) tree_.at(node).flags |= flag::kColon;
      set(by_value, colon ? 2 : 1);
      operand(inner, Stop::operand, quoted);
      return;
    }
    const bool twice = at(1) == c;
    switch (c) {
      case '%':
        set(twice ? Edit::cut_longest_suffix : Edit::cut_shortest_suffix, twice ? 2 : 1);
        operand(inner, Stop::operand, false);
        return;
      case '#':
        set(twice ? Edit::cut_longest_prefix : Edit::cut_shortest_prefix, twice ? 2 : 1);
        operand(inner, Stop::operand, false);
        return;
      case '^':
        set(twice ? Edit::upper_all : Edit::upper_first, twice ? 2 : 1);
        operand(inner, Stop::operand, false);
        return;
      case ',':
        set(twice ? Edit::lower_all : Edit::lower_first, twice ? 2 : 1);
        operand(inner, Stop::operand, false);
        return;
      case '/': {
        const char kind = at(1);
        set(kind == '/' ? Edit::replace_all : kind == '#' ? Edit::replace_prefix : kind == '%' ? Edit::replace_suffix : Edit::replace_first,
            kind == '/' || kind == '#' || kind == '%' ? 2 : 1);
        operand(inner, Stop::pattern, false);
        if (!failed() && take('/')) operand(inner, Stop::operand, false);
        return;
      }
      case ':':
        set(Edit::substring, 1);
        operand(inner, Stop::offset, quoted);
        if (!failed() && take(':')) operand(inner, Stop::operand, quoted);
        return;
      case '@':
        if (tree_[node].has(flag::kIndirect) && at(1) == '}') {
          set(Edit::names, 1);
          return;
        }
        set(Edit::transform, 1);
        operand(inner, Stop::operand, false);
        return;
      case '*':
        if (tree_[node].has(flag::kIndirect) && at(1) == '}') {
          set(Edit::names, 1);
          return;
        }
        [[fallthrough]];
      default:
        tree_.at(node).flags |= flag::kBad;
        operand(inner, Stop::operand, quoted);
    }
  }

  static constexpr uint32_t kPending = 16, kBraces = 24;
  Tree& tree_;
  const char* const text_;
  uint32_t pos_, end_;
  const uint32_t last_;
  const Shell shell_;
  bool globs_;
  const Options options_;
  Status mistake_ = Status::complete;
  bool declared_ = false;
  int level_ = 0;
  Status status_ = Status::complete;
  uint32_t pending_[kPending];
  uint32_t pending_count_ = 0;
};

}  // namespace

Parsed parse_shell(Tree& tree, uint32_t start, uint32_t size, const Options& options) noexcept {
  return Parser(tree, start, size, options).read();
}

std::size_t decode_ansi(string_view text, char* out) noexcept {
  std::size_t size = 0;
  const auto hex = [](char c) -> int {
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i++];
    if (c != '\\' || i == text.size()) {
      out[size++] = c;
      continue;
    }
    const char kind = text[i++];
    const auto number = [&](std::size_t digits) {
      uint32_t value = 0;
      for (std::size_t k = 0; k < digits && i < text.size() && hex(text[i]) >= 0; ++k) value = value * 16 + static_cast<uint32_t>(hex(text[i++]));
      return value;
    };
    switch (kind) {
      case 'a': out[size++] = '\a'; break;
      case 'b': out[size++] = '\b'; break;
      case 'e':
      case 'E': out[size++] = '\x1b'; break;
      case 'f': out[size++] = '\f'; break;
      case 'n': out[size++] = '\n'; break;
      case 'r': out[size++] = '\r'; break;
      case 't': out[size++] = '\t'; break;
      case 'v': out[size++] = '\v'; break;
      case '\\':
      case '\'':
      case '"':
      case '?': out[size++] = kind; break;
      case 'c':
        if (i < text.size()) out[size++] = static_cast<char>(text[i++] & 0x1f);
        break;
      case 'x':
      case 'u':
      case 'U': {
        const std::size_t before = i;
        const uint32_t value = number(kind == 'x' ? 2 : kind == 'u' ? 4 : 8);
        if (i == before) {
          out[size++] = '\\';
          out[size++] = kind;
          break;
        }
        if (value == 0) return size;
        if (kind == 'x' || value < 0x80) {
          out[size++] = static_cast<char>(value);
        } else if (value < 0x800) {
          out[size++] = static_cast<char>(0xc0 | (value >> 6));
          out[size++] = static_cast<char>(0x80 | (value & 0x3f));
        } else if (value < 0x10000) {
          out[size++] = static_cast<char>(0xe0 | (value >> 12));
          out[size++] = static_cast<char>(0x80 | ((value >> 6) & 0x3f));
          out[size++] = static_cast<char>(0x80 | (value & 0x3f));
        } else {
          out[size++] = static_cast<char>(0xf0 | ((value >> 18) & 7));
          out[size++] = static_cast<char>(0x80 | ((value >> 12) & 0x3f));
          out[size++] = static_cast<char>(0x80 | ((value >> 6) & 0x3f));
          out[size++] = static_cast<char>(0x80 | (value & 0x3f));
        }
        break;
      }
      default:
        if (kind >= '0' && kind <= '7') {
          uint32_t value = static_cast<uint32_t>(kind - '0');
          for (int k = 0; k < 2 && i < text.size() && text[i] >= '0' && text[i] <= '7'; ++k) value = value * 8 + static_cast<uint32_t>(text[i++] - '0');
          if ((value & 0xff) == 0) return size;
          out[size++] = static_cast<char>(value);
          break;
        }
        out[size++] = '\\';
        out[size++] = kind;
    }
  }
  return size;
}

}  // namespace tipstaff::syntax
