// Reads cmd.exe and batch files.
//
// `del /s` and `rd /s` are `rm -r`, with -f where they are quiet or forced; `move` is `mv`, `copy` `cp`, `type` `@read`.
// Windows' own tools keep their names and words (format, diskpart, vssadmin, reg ...); other programs are read as the
// shell would start them.
#pragma once

#include "tipstaff/gate/tree/known_texts.hpp"
#include "tipstaff/gate/tree/quoting.hpp"
#include "tipstaff/gate/tree/variables.hpp"

namespace tipstaff::gate::cmd {

inline constexpr std::string_view kTools =
    "format diskpart reg vssadmin bcdedit cipher takeown icacls cacls schtasks wmic net sc taskkill shutdown wbadmin fsutil bootrec "
    "attrib robocopy xcopy netsh wevtutil certutil bitsadmin mshta regsvr32 rundll32 dism manage-bde chkdsk label mountvol subst logoff "
    "compact defrag at runas";

class Batch {
 public:
  Batch(Reader& reader, const Code& code, const Frame& frame) noexcept
      : reader_(reader), tree_(*reader.tree), code_(code), frame_(frame), text_(code.text) {}

  void read() noexcept {
    while (at_ < text_.size()) {
      const std::size_t before = at_;
      statement(0);
      if (at_ == before) ++at_;
    }
  }

 private:
  static constexpr std::uint32_t kWords = 128, kVariables = 96, kGiven = 9, kCalls = 16, kWritten = 24, kLevels = 32;
  struct Loop {
    static constexpr std::uint32_t kMost = 16;
    char kind = 0;       // the letter of its switch
    bool whole = false;  // whole lines, not their first word
    Known root, items[kMost];
    std::uint32_t count = 0;
  };
  struct Written {
    std::string_view path;
    Known text;
  };

  char peek(std::size_t ahead = 0) const noexcept { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  void skip_blanks() noexcept {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '^' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
        at_ += peek(1) == '\n' ? 2 : 3;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == ',' || c == ';' || c == '=') {
        ++at_;
      } else {
        return;
      }
    }
  }
  void skip_line() noexcept {
    while (at_ < text_.size() && text_[at_] != '\n') ++at_;
  }

  // --- words ---

  static std::uint16_t flags_of(std::string_view text) noexcept {
    std::uint16_t flags = 0;
    if (ascii::holds_any(text, "*?")) flags |= word_flag::kGlob;
    if (text.find(kUnknownPart) != std::string_view::npos) flags |= word_flag::kUnknown;
    return flags;
  }
  bool ends_command() const noexcept {
    const char c = peek();
    return c == '\n' || c == '&' || c == '|' || (c == ')' && depth_ > 0);
  }

  // --- commands ---

  void statement(std::uint32_t level) noexcept {
    while (at_ < text_.size() && (ascii::is_space(peek()) || peek() == '@' || peek() == '&' || peek() == '|' || peek() == ';' || peek() == ',' || peek() == '=')) ++at_;
    if (at_ >= text_.size()) return;
    if (peek() == ':') return skip_line();  // a label, or a comment
    if (peek() == '(') {
      ++at_;
      ++depth_;
      const bool outer = in_group_;
      in_group_ = true;
      if (!outer) printed_ = Known{};
      while (at_ < text_.size() && peek() != ')') {
        const std::size_t before = at_;
        deeper(level);
        while (at_ < text_.size() && ascii::is_space(peek())) ++at_;
        if (at_ == before) ++at_;
      }
      if (at_ < text_.size()) ++at_;
      --depth_;
      in_group_ = outer;
      targeted_ = false;
      redirections(at_);
      if (targeted_ && !printed_.text.empty()) remember(printed_);
      return;
    }
    if (peek() == ')') {
      ++at_;
      return;
    }
    const std::size_t start = at_;
    redirections(start);
    Known name;
    if (!word(&name)) return;
    // del/s, cd\, echo.
    std::string_view base = program_name(tree_, name.text);
    const std::size_t slash = name.text.find('/');
    if (slash != std::string_view::npos && slash > 0 && ascii::one_of(name.text.substr(0, slash), "del erase rd rmdir format dir copy")) {
      base = program_name(tree_, name.text.substr(0, slash));
      at_ = start;
      while (at_ < text_.size() && peek() != '/') ++at_;
    }
    if (ascii::one_of(base, "rem")) return skip_line();
    if (ascii::one_of(base, "if")) return condition(level);
    if (ascii::one_of(base, "for")) return loop(level);
    if (ascii::equals(base, "call")) {
      skip_blanks();
      if (peek() == ':') return call_label(level, start);
    }
    if (ascii::one_of(base, "else do call")) return deeper(level);
    if (ascii::one_of(base, "echo") || ascii::starts_with(name.text, "echo.")) return echo(start);
    if (ascii::one_of(base, "set")) return assignment();
    if (ascii::one_of(base, "goto exit") && given_ != nullptr) returns_ = true;
    if (ascii::one_of(base, "goto exit setlocal endlocal title color pause prompt break shift ver vol")) return rest_is_text(start);
    run(name, base, start);
  }

  void deeper(std::uint32_t level) noexcept {
    if (level < kLevels) return statement(level + 1);
    tree_.add_uncertainty(Unresolved::depth, code_.at(at_, at_), frame_.carrier);
    at_ = text_.size();
  }
  // What is only printed; redirections after it count.
  void rest_is_text(std::size_t start) noexcept {
    Known ignored;
    while (true) {
      redirections(start);
      if (!word(&ignored)) return;
    }
  }
  void redirections(std::size_t start) noexcept {
    for (;;) {
      skip_blanks();
      std::size_t i = at_;
      if (i + 1 < text_.size() && ascii::is_digit(text_[i]) && (text_[i + 1] == '>' || text_[i + 1] == '<')) ++i;
      if (i >= text_.size() || (text_[i] != '>' && text_[i] != '<')) return;
      const bool reads = text_[i] == '<';
      at_ = i + 1;
      const bool append = peek() == '>';
      if (append) ++at_;
      if (peek() == '&') {
        at_ += 2;
        if (at_ > text_.size()) at_ = text_.size();
        continue;
      }
      Known target;
      if (!word(&target)) return;
      if (!reads) target_ = target, targeted_ = true, appended_ = append;
      CommandWriter writer(reader_, frame_, Dialect::cmd, reads ? "@read" : "@write", code_.at(start, at_));
      if (append) writer.flag("--append");
      writer.known(target, word_flag::kPseudo);
      writer.end();
    }
  }
  void assignment() noexcept {
    // The name ends at the sign, and all after it is the value.
    while (at_ < text_.size() && ascii::is_blank(peek())) ++at_;
    const bool quoted = peek() == '"';
    if (quoted) ++at_;
    if (peek() == '/') return rest_is_text(at_);
    const std::size_t begin = at_;
    while (at_ < text_.size() && peek() != '=' && !ends_command()) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (peek() != '=') return;
    ++at_;
    const std::size_t value = at_;
    while (at_ < text_.size() && !(quoted ? peek() == '"' || peek() == '\n' : ends_command())) ++at_;
    std::string_view text = text_.substr(value, at_ - value);
    while (!text.empty() && (text.back() == '\r')) text.remove_suffix(1);
    if (quoted && peek() == '"') ++at_;
    Known known{text, code_.at(value, value + text.size()), code_.verbatim, flags_of(text)};
    if (ascii::holds_any(text, "%!^")) {
      Draft draft(tree_);
      for (std::size_t k = value; k < value + text.size();) {
        if (text_[k] == '%' || text_[k] == '!') {
          k += variable(k, value + text.size(), text_[k], &draft, &known.flags);
        } else {
          if (text_[k] == '^' && !quoted && k + 1 < value + text.size()) ++k;
          draft.put(text_.substr(k++, 1));
        }
      }
      known.text = draft.keep();
      known.verbatim = false;
      known.flags |= flags_of(known.text);
    }
    bind(name, known);
  }
  void condition(std::uint32_t level) noexcept {
    Known part;
    for (std::uint32_t i = 0; i < 6; ++i) {
      skip_blanks();
      if (peek() == '(') break;
      const std::size_t before = at_;
      if (!word(&part)) return;
      if (ascii::one_of(part.text, "/i not")) continue;
      if (ascii::one_of(part.text, "exist defined errorlevel cmdextversion")) {
        word(&part);
        break;
      }
      if (part.text.find("==") != std::string_view::npos) break;
      // left == right, left equ right
      skip_blanks();
      const std::size_t after = at_;
      if (before > 0 && text_.substr(before, after - before).find("==") != std::string_view::npos) {
        word(&part);
        break;
      }
      word(&part);
      if (ascii::one_of(part.text, "equ neq lss leq gtr geq ==")) word(&part);
      break;
    }
    deeper(level);
  }
  static bool is_switch(std::string_view text) noexcept {
    if (text.size() > 2 && text[0] == '/' && text[1] == '/') text.remove_prefix(1);  // Git Bash: //s, to keep it from becoming a path
    if (text.size() < 2 || text[0] != '/') return false;
    return text.size() == 2 || text[2] == '/' || text[2] == ':' || (text.size() == 3 && text[1] == 'a');
  }

  static bool ends_as_folder(std::string_view path) noexcept { return !path.empty() && (path.back() == '\\' || path.back() == '/'); }

  // Loops, labels, and batch files that are written: cmd/loops.hpp.
  void loop(std::uint32_t level) noexcept;
  void items_of(Loop* loop) noexcept;
  Known listing(std::string_view command, Span span) noexcept;
  void call_label(std::uint32_t level, std::size_t start) noexcept;
  void echo(std::size_t start) noexcept;
  void remember(const Known& text) noexcept;
  bool run_written(std::string_view path) noexcept;

  // Words and variables: cmd/words.hpp.
  const Known* find(std::string_view name) const noexcept { return variables_.find(name); }
  void bind(std::string_view name, const Known& value) noexcept {
    variables_.bind(name, value, true, [](const Known&) noexcept { return false; });
  }
  static bool is_path(std::string_view name) noexcept;
  bool word(Known* out) noexcept;
  void put_cut(Draft* draft, std::string_view text, std::string_view how) noexcept;
  std::size_t variable(std::size_t k, std::size_t end, char mark, Draft* draft, std::uint16_t* flags) noexcept;

  // Commands: cmd/commands.hpp.
  void run(const Known& name, std::string_view base, std::size_t start) noexcept;
  void run_words(const Known& name, std::string_view base, const Known* words, std::uint32_t n, Span span) noexcept;
  void remove(std::string_view base, const Known* words, std::uint32_t n, Span span) noexcept;
  void files(std::string_view program, const Known* words, std::uint32_t n, Span span) noexcept;

  Reader& reader_;
  Tree& tree_;
  const Code& code_;
  Frame frame_;
  std::string_view text_;
  std::size_t at_ = 0;
  std::uint32_t depth_ = 0;
  Variables<Known, kVariables, true> variables_;
  const Known* given_ = nullptr;  // to the label that is called
  std::uint32_t given_count_ = 0, calls_ = 0, written_count_ = 0;
  Written written_[kWritten];
  Known printed_, target_, piped_;  // what a group has printed, where a command's output goes, what comes down a pipe
  bool in_group_ = false, targeted_ = false, appended_ = false, is_piped_ = false, returns_ = false;
};

}  // namespace tipstaff::gate::cmd
