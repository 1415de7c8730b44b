// Reads PowerShell.
//
// Cmdlets come out under their full names in lower case with their parameters spelled out (`-r` is `-recurse`), aliases
// resolved. Those that do what a shell's commands do are those commands: Remove-Item is `rm` with -r and -f, Move-Item
// `mv`, Copy-Item `cp`, Set-Content and the like `@write`, Get-Content `@read`. What comes down a pipeline to a cmdlet
// that acts on it are its last words, flagged kAppended. Other programs are read as the shell would start them.
#pragma once

#include "tipstaff/gate/powershell/names.hpp"
#include "tipstaff/gate/powershell/values.hpp"
#include "tipstaff/gate/tree/quoting.hpp"

namespace tipstaff::gate::powershell {

class PowerShell : private Values {
 public:
  PowerShell(Reader& reader, const Code& code, const Frame& frame) noexcept
      : Values(*reader.tree), reader_(reader), code_(code), frame_(frame), text_(code.text), end_(code.text.size()) {
    shells_words_ = (frame_.via & via::kShellsWords) != 0;
    frame_.via &= ~via::kShellsWords;
  }

  void read() noexcept {
    while (at_ < end_) {
      statements('\0');
      if (at_ < end_) ++at_;  // a bracket that nothing opened
    }
    finish_functions();
    if (connects_ && evaluates_) {
      CommandWriter writer(reader_, frame_, Dialect::powershell, "nc", connect_span_);
      writer.flag("-e").flag("powershell").known(unknown_text(connect_span_), word_flag::kPseudo);
      writer.end();
    }
    if (open_) tree_.add_uncertainty(Unresolved::syntax, code_.origin, frame_.carrier);
  }

 private:
  static constexpr std::uint32_t kArguments = 64, kLevels = 40, kFunctions = 32, kCalls = 48;
  struct Argument {
    std::string_view parameter;  // spelled out where known, as written else; empty: by its place
    Value value;
    bool has_value = false, off = false;
    Span span;
  };

  struct Function {
    std::string_view name;
    std::size_t parameters = 0, body = 0, body_stop = 0;  // where they are written; no parameters: 0
    std::uint32_t first_command = 0, last_command = 0;    // of the first reading
    bool running = false, called = false, escapes = false;
  };

  char peek(std::size_t ahead = 0) const noexcept { return at_ + ahead < end_ ? text_[at_ + ahead] : '\0'; }
  Span from(std::size_t start) const noexcept { return code_.at(start, at_ > start ? at_ : start); }

  // --- commands: powershell/commands.hpp ---

  Value command(const Value& name, std::size_t start, const Value& input, bool piped) noexcept;
  static bool is_everything(const Value& value) noexcept { return value.is_text() && value.known.text == "*"; }
  std::uint32_t take_arguments(Argument* out) noexcept;
  void too_many(std::size_t start) noexcept {
    if (last_excess_ != start) tree_.add_uncertainty(Unresolved::limit, from(start), frame_.carrier);
    last_excess_ = start;
  }
  void arguments_away() noexcept;
  void run_block(const Value& block) noexcept;
  void evaluate(const Value& code, Span span) noexcept;
  void start_program(const Value& program, const Value& arguments, Span span) noexcept;
  void one(std::string_view program, Span span, const Value& value, std::string_view flag = {}) noexcept;
  void words(CommandWriter* writer, const Value& value, Span span, std::uint16_t flags = 0) noexcept;
  void note_connection(Span span) noexcept {
    connects_ = true;
    connect_span_ = span;
  }
  void remove_item(const Argument* given, std::uint32_t count, const Value& input, bool piped, Span span) noexcept;
  Value children(const Argument* given, std::uint32_t count, Span span) noexcept;
  void plain(std::string_view cmdlet, const Argument* given, std::uint32_t count, const Value& input, bool piped, Span span) noexcept;
  void external(const Value& name, const Argument* given, std::uint32_t count, Span span) noexcept;

  // Statements and pipelines: powershell/statements.hpp.
  void skip_blanks(bool lines) noexcept;
  void statements(char close) noexcept;
  std::string_view keyword() const noexcept;
  void statement() noexcept;
  void each() noexcept;
  void block_here() noexcept;
  Value parenthesis() noexcept;
  Value pipeline() noexcept;
  Value element(const Value& input, bool piped) noexcept;
  bool assignment() noexcept;
  bool is_strange() const noexcept;
  bool typed_assignment() noexcept;
  std::size_t type_end() const noexcept;
  void redirections() noexcept;

  // Expressions: powershell/expressions.hpp.
  Value expression() noexcept;
  Value format(const Value& text, const Value& with) noexcept;
  Value primary() noexcept;
  Value type() noexcept;
  std::uint32_t method_arguments(Value* values, std::uint32_t most) noexcept;
  Value primary_sum() noexcept;
  Value static_method(std::string_view type, std::string_view method, std::size_t start) noexcept;
  Value members(Value value, std::size_t start) noexcept;
  Value method(const Value& self, std::string_view name, std::size_t start) noexcept;

  // What the script names itself: powershell/functions.hpp.
  void define() noexcept;
  Function* function_of(std::string_view name) noexcept;
  bool call(Function* function, const Argument* given, std::uint32_t count) noexcept;
  void bind_parameters() noexcept;
  void finish_functions() noexcept;
  std::string_view resolved(std::string_view name) const noexcept;
  void alias(const Value* name, const Value* value) noexcept;
  Value table() noexcept;
  std::uint32_t splat(Argument* out, std::uint32_t count) noexcept;

  // Words: powershell/words.hpp.
  Value variable() noexcept;
  static char unescaped(char c) noexcept;
  Known quoted() noexcept;
  Known here_string() noexcept;
  Known filled(std::size_t begin, std::size_t stop, char quote) noexcept;
  std::size_t matching(char open, char close) noexcept;
  Value argument_word() noexcept;

  Reader& reader_;
  const Code& code_;
  Frame frame_;
  std::string_view text_;
  std::size_t at_ = 0, end_ = 0;
  std::size_t last_excess_ = std::string_view::npos;  // where a command has more arguments than there is room for
  std::uint32_t level_ = 0, function_count_ = 0, calls_ = 0, called_count_ = 0;
  Function functions_[kFunctions];
  const Argument* called_with_ = nullptr;  // arguments of the function whose body is read
  Known seen_file_;
  Span connect_span_;
  bool open_ = false, depth_reported_ = false, connects_ = false, evaluates_ = false, has_file_ = false, shells_words_ = false;
};

}  // namespace tipstaff::gate::powershell
