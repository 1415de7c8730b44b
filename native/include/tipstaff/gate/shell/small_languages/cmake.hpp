// cmake -P SCRIPT: the files that a script removes and the programs that it starts. cmake -E: commands that it runs.
#pragma once

#include "tipstaff/gate/tree/known_texts.hpp"
#include "tipstaff/gate/tree/quoting.hpp"
#include "tipstaff/gate/shell/small_languages/make.hpp"

namespace tipstaff::gate::shell {

// A script cut into commands and their arguments.
class CmakeText {
 public:
  static constexpr std::uint32_t kMost = 48;

  CmakeText(Tree& tree, string_view home, string_view text) noexcept : tree_(tree), home_(home), text_(text) {}

  // The next command; false at the end.
  bool next() noexcept {
    count_ = 0;
    while (at_ < text_.size()) {
      blanks();
      const std::size_t begin = at_;
      while (at_ < text_.size() && is_name_byte(text_[at_])) ++at_;
      name_ = text_.substr(begin, at_ - begin);
      blanks();
      if (name_.empty() || at_ >= text_.size() || text_[at_] != '(') {
        if (at_ == begin) ++at_;
        continue;
      }
      ++at_;
      arguments();
      return true;
    }
    return false;
  }
  bool is(string_view name) const noexcept { return same_word(name_, name); }
  std::uint32_t count() const noexcept { return count_; }
  string_view operator[](std::uint32_t i) const noexcept { return i < count_ ? arguments_[i] : string_view(); }
  void set(string_view name, string_view value) noexcept {
    const std::uint32_t slot = set_count_ < kNames ? set_count_++ : kNames - 1;
    names_[slot] = name;
    values_[slot] = value;
  }

 private:
  static constexpr std::uint32_t kNames = 16;

  void blanks() noexcept {
    while (at_ < text_.size()) {
      if (text_[at_] == '#') {
        const std::size_t end = text_.find('\n', at_);
        at_ = end == string_view::npos ? text_.size() : end;
      } else if (is_blank(text_[at_]) || text_[at_] == '\n') {
        ++at_;
      } else {
        return;
      }
    }
  }
  void arguments() noexcept {
    std::uint32_t depth = 1;
    while (at_ < text_.size()) {
      blanks();
      if (at_ >= text_.size()) return;
      const char c = text_[at_];
      if (c == '(' || c == ')') {
        ++at_;
        if (c == '(') ++depth;
        else if (--depth == 0) return;
        continue;
      }
      std::size_t begin = at_, end = at_;
      if (c == '"') {
        begin = ++at_;
        while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
        end = at_ < text_.size() ? at_ : text_.size();
        at_ = end < text_.size() ? end + 1 : end;
      } else if (starts_with(text_.substr(at_), "[[")) {
        begin = at_ + 2;
        end = text_.find("]]", begin);
        if (end == string_view::npos) end = text_.size();
        at_ = end + 2 < text_.size() ? end + 2 : text_.size();
      } else {
        while (at_ < text_.size() && !is_blank(text_[at_]) && !holds("\n()\"#", text_[at_])) ++at_;
        end = at_;
      }
      if (count_ < kMost) arguments_[count_++] = expanded(text_.substr(begin, end - begin));
      else arguments_[kMost - 1] = kUnknown;
    }
  }
  // ${NAME} and $ENV{NAME}, as far as they are known.
  string_view expanded(string_view text) noexcept {
    if (!holds(text, '$')) return text;
    string_view made = tree_.copy("");
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t dollar = text.find('$', i), open = dollar == string_view::npos ? dollar : text.find('{', dollar);
      const std::size_t close = open == string_view::npos ? open : text.find('}', open);
      if (close == string_view::npos) return tree_.join(made, text.substr(i));
      made = tree_.join(made, text.substr(i, dollar - i));
      const string_view name = text.substr(open + 1, close - open - 1);
      string_view value = kUnknown;
      if (text.substr(dollar, open - dollar) == "$ENV") {
        if (name == "HOME") value = home_.empty() ? string_view("~") : home_;
      } else {
        for (std::uint32_t n = set_count_; n-- > 0 && value == kUnknown;) {
          if (names_[n] == name) value = values_[n];
        }
      }
      made = tree_.join(made, value);
      i = close + 1;
    }
    return made;
  }

  Tree& tree_;
  string_view home_, text_, name_;
  std::size_t at_ = 0;
  string_view arguments_[kMost], names_[kNames], values_[kNames];
  std::uint32_t count_ = 0, set_count_ = 0;
};

inline void ShellReader::read_cmake(Invocation& in, string_view text, Span span, bool builds) noexcept {
  CmakeText script(tree_, reader_.surroundings->home, text);
  // A script (-P) has the folder where it runs for these.
  if (builds) for (const string_view name : {string_view("CMAKE_BINARY_DIR"), string_view("CMAKE_CURRENT_BINARY_DIR"), string_view("PROJECT_BINARY_DIR")}) script.set(name, "/tmp/build");
  Nested options;
  options.via = via::kScript | via::kInterpreter;
  Stream nothing;
  options.input = &nothing;
  // Arguments from `first` on, after words that stand for the command.
  const auto run_words = [&](string_view program, std::uint32_t first, std::uint32_t stop) noexcept {
    QuotedWords words(tree_);
    if (!program.empty()) words.code(program);
    for (std::uint32_t i = first; i < stop; ++i) words.word(script[i]);
    if (!words.fits()) return tree_.set_full();
    const string_view code = words.keep();
    if (!code.empty()) nested(in, code, span, options);
  };
  while (script.next() && !tree_.full()) {
    if (script.is("set") && script.count() == 2) {
      script.set(script[0], script[1]);
    } else if (script.is("file") && script.count() > 1) {
      if (script[0] == "REMOVE_RECURSE") run_words("rm -r -f --", 1, script.count());
      if (script[0] == "REMOVE") run_words("rm -f --", 1, script.count());
      if (script[0] == "RENAME") run_words("mv", 1, 3);
      if (one_of(script[0], "WRITE APPEND")) run_words(script[0] == "WRITE" ? "true >" : "true >>", 1, 2);
    } else if (script.is("execute_process")) {
      constexpr string_view kEnds = "COMMAND WORKING_DIRECTORY TIMEOUT RESULT_VARIABLE RESULTS_VARIABLE OUTPUT_VARIABLE ERROR_VARIABLE INPUT_FILE "
                                    "OUTPUT_FILE ERROR_FILE OUTPUT_QUIET ERROR_QUIET COMMAND_ECHO COMMAND_ERROR_IS_FATAL OUTPUT_STRIP_TRAILING_WHITESPACE";
      for (std::uint32_t i = 0; i < script.count(); ++i) {
        if (script[i] != "COMMAND") continue;
        std::uint32_t stop = i + 1;
        while (stop < script.count() && !one_of(script[stop], kEnds)) ++stop;
        run_words({}, i + 1, stop);
      }
    }
  }
}

inline void ShellReader::run_cmake(Invocation& in) noexcept {
  for (std::uint32_t i = 1; i < in.count; ++i) {
    const string_view text = text_of(in, i);
    if (text == "-E") {
      if (i + 1 >= in.count) return;
      const string_view verb = text_of(in, i + 1);
      std::uint32_t command = i + 2;
      if (verb == "chdir") {
        if (command >= in.count) return;
        const string_view cwd = in.cwd;
        in.cwd = resolve(in.cwd, text_of(in, command));
        run_inner(in, command + 1, 0);
        in.cwd = cwd;
      } else if (verb == "time" || verb == "env") {
        while (verb == "env" && command < in.count && (holds(text_of(in, command), '=') || starts_with(text_of(in, command), "--"))) ++command;
        run_inner(in, command, 0);
      }
      return;
    }
    if (text != "-P" || i + 1 >= in.count) continue;
    Stream file;
    file.kind = Stream::file;
    file.text = text_of(in, i + 1);
    file.span = argument(in, i + 1).span;
    // A script that cannot be read is let through, as those of other build tools are.
    const Stream script = load(file, in.cwd);
    if (script.kind == Stream::remote) uncertain(Unresolved::remote_code, file.span, in.command);
    if (script.kind == Stream::known && !looks_binary(script.text)) read_cmake(in, script.text, file.span);
    return;
  }
}

}  // namespace tipstaff::gate::shell
