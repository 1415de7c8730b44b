// Reads programs as far as their calls and the values that reach them go. Statements are not understood: expressions
// are, wherever they are. One pass; what is nested too deeply is said to be so.
#pragma once

#include "tipstaff/gate/scripting/actions/actions.hpp"

namespace tipstaff::gate::program {

class ScriptReader : private Actions {
 public:
  ScriptReader(Reader& reader, const Code& code, const Frame& frame, Language language, Dialect dialect, bool mongo = false) noexcept
      : Actions(reader, code, frame, language, dialect), lexer_(code.text, language), mongo_(mongo) {}

  void read() noexcept {
    advance();
    while (token_.kind != Kind::end) {
      const std::size_t before = token_.start;
      statement();
      if (token_.kind != Kind::end && token_.start == before) advance();
    }
    finish_functions();
    finish_reverse_shell();
    if (memory_.lost_names()) tree_.add_uncertainty(Unresolved::code, code_.origin, frame_.carrier);
    if (lexer_.is_open()) tree_.add_uncertainty(Unresolved::syntax, code_.origin, frame_.carrier);
  }

 private:
  // Perl's ways to start a program with a list, or with a list for what it reads and writes.
  static constexpr std::string_view kStarts = "run start harness run3 open3 open2 runx run_forked ipc.run.start ipc.run.harness ipc.run3.run3 ipc.open3.open3 ipc.open2.open2 ipc.cmd.run";
  static constexpr std::uint32_t kLevels = 40, kFunctions = 32, kCalls = 64, kAheadTokens = 1 << 16;

  // A function, and where its parts are written; the commands of its first reading.
  struct Function {
    std::size_t parameters = 0, parameters_stop = 0, body = 0, body_stop = 0;
    std::uint32_t first_command = 0, last_command = 0, first_open = 0, last_open = 0;
    bool is_lambda = false, running = false, called = false, escapes = false;
  };
  // Variables that parameters hide.
  struct Kept {
    static constexpr std::uint32_t kMost = Arguments::kMost;
    std::string_view name[kMost];
    Value value[kMost];
    std::uint32_t count = 0;
  };
  // A `for` that was read before what it is done for.
  struct Seen {
    std::size_t start = 0;
    Lexer lexer;
    Token token;
    std::size_t stop = 0;
    bool environment = false;  // its list is the environment
  };

  // What is read of a bracket's outside goes on after it.
  struct Outside {
    Seen seen;
    bool one_list;
  };
  Outside enter_bracket() noexcept {
    const Outside outside{seen_, one_list_};
    seen_.start = seen_.stop = 0;
    one_list_ = false;
    if (is_python()) look_ahead();
    advance();
    ++brackets_;
    return outside;
  }
  void leave_bracket(const Outside& outside) noexcept {
    seen_ = outside.seen;
    one_list_ = outside.one_list;
  }

  void advance() noexcept {
    previous_stop_ = token_.stop;
    token_ = lexer_.next();
  }
  Token peek() const noexcept {
    Lexer ahead = lexer_;
    return ahead.next();
  }
  bool skip(std::string_view mark) noexcept {
    if (!token_.is(mark)) return false;
    advance();
    return true;
  }
  Span span(std::size_t start, std::size_t stop) const noexcept { return code_.at(start, stop); }
  Span from(std::size_t start) const noexcept { return span(start, previous_stop_ > start ? previous_stop_ : start); }
  bool lines_end() const noexcept { return language_ == Language::python || language_ == Language::ruby || mongo_; }
  bool at_line() const noexcept { return brackets_ == 0 && token_.line && lines_end(); }
  bool is_python() const noexcept { return language_ == Language::python; }

  // --- names, members and calls ---

  Action bare_action(const Value& value) const noexcept { return find_call(language_, value.known.text); }

  // Statements: scripting/statements.hpp.
  void statement() noexcept;
  void import_modules() noexcept;
  void import_from() noexcept;
  void with_resource() noexcept;
  static std::string_view module_name(std::string_view text) noexcept;
  void import_node() noexcept;
  void names_of(const Value& whole) noexcept;
  void destructure() noexcept;
  bool shell_line() noexcept;

  // Loops and functions: scripting/loops.hpp, scripting/functions.hpp.
  bool loop() noexcept;
  Value below(const Value& walk) noexcept;
  Value items_of(const Value& value) noexcept;
  void bind_callback(const Value& items) noexcept;
  void for_each_after(Arguments* arguments) noexcept;
  void bind_found() noexcept;
  void look_ahead() noexcept;
  bool pass_seen() noexcept;
  Value gathered(Value each) noexcept;
  bool block() noexcept;
  void begins(Function* function) const noexcept;
  void ends(Function* function) const noexcept;
  bool is_mentioned(std::string_view name) noexcept;
  void settle(std::string_view name, const Function& function) noexcept;
  Value defined(const Function& function) noexcept;
  void bind_parameters(const Arguments& arguments, Kept* kept) noexcept;
  Value read_body(const Function& function, const Arguments& arguments) noexcept;
  Value call_function(std::uint32_t index, const Arguments& arguments) noexcept;
  void finish_functions() noexcept;
  void pass_parameters(Function* function) noexcept;
  static std::size_t block_end(std::string_view text, std::size_t at, std::size_t depth) noexcept;
  void define_python() noexcept;
  Value define_lambda() noexcept;
  Value define_braced() noexcept;
  Value define_short() noexcept;
  Value braced_body(Function* function) noexcept;
  Value define_arrow(std::size_t start, std::size_t stop) noexcept;
  Value expression_body(Function* function) noexcept;
  void keep_for_later(const Value& value) noexcept;
  Value call_kept(const Arguments& arguments, Span at) noexcept;
  Value whole_environment(const Value& value, Span at) noexcept;
  static Value content_of(const Known& file) noexcept {
    Value content;
    content.kind = Value::content;
    content.known = file;
    return content;
  }
  bool holds_environment(const Value& value) const noexcept { return value.kind == Value::content && is_environment(value); }
  bool is_environment(const Value& value) const noexcept;
  Value member_by_text(std::string_view base, std::string_view last, const Arguments& arguments) noexcept;
  static bool is_feared_command(const Value& value) noexcept;
  const Value* called_through(std::string_view base, std::string_view last, const Arguments& arguments, Span at) noexcept;
  const Value* known_by_name(std::string_view last, const Arguments& arguments, Span at) noexcept;
  static bool is_statement(std::string_view text) noexcept;
  void run_statement(std::string_view last, const Arguments& arguments) noexcept;
  void hand_over(std::string_view last, const Arguments& arguments, Span at) noexcept;

  // Functions of Ruby and Perl: scripting/subroutines.hpp.
  Token ruby_end() noexcept;
  Value ended_body(Function* function) noexcept;
  void define_ruby() noexcept;
  Value define_stabby() noexcept;
  Value define_block() noexcept;
  Value define_perl() noexcept;
  Value list_of(const Arguments& arguments) noexcept;
  bool take_argument(Value* value) noexcept;
  bool take_list_apart() noexcept;

  // Programs that are started, and what they get: scripting/pipes.hpp.
  std::string_view handle_ahead() const noexcept;
  bool print_to_process() noexcept;
  const Value* process_method(const Value& self, std::string_view name, const Arguments& arguments, Span at) noexcept;

  // Expressions: scripting/expressions.hpp.
  Value expression() noexcept;
  static Value bound(Value value) noexcept;
  Value too_deep() noexcept;
  Value unary() noexcept;
  Value primary() noexcept;
  Value group(std::string_view close) noexcept;
  Value mapping() noexcept;
  void option_value(Value* options, std::string_view key, const Value& value) noexcept;
  Value index(const Value& self, std::size_t start) noexcept;

  // Names, members and calls: scripting/names.hpp.
  Value member(const Value& whole, std::string_view name) noexcept;
  Value named() noexcept;
  Value special(const Token& name) noexcept;
  Value trailers(Value value, std::size_t start) noexcept;
  Value special_member(const Value& value, Span at) noexcept;
  bool takes_bare_arguments(const Value& value) const noexcept;
  Value bare_call(const Value& value, std::size_t start) noexcept;
  Value no_arguments(const Value& value, std::size_t start) noexcept;
  void add_option(Arguments* arguments, std::string_view key, const Value& value, Span at) noexcept;
  void argument(Arguments* arguments) noexcept;
  void arguments_of(Arguments* arguments) noexcept;
  Value call(const Value& callee, std::size_t start) noexcept;
  bool opens_memory(std::string_view name, std::string_view last, const Arguments& arguments) const noexcept;
  bool opens_to_write(std::size_t start) const noexcept;
  Action unknown_method(std::string_view last, std::string_view base) const noexcept;
  Value plain_call(std::string_view name, std::string_view last, std::string_view base, const Arguments& arguments, Span at) noexcept;

  // Methods: scripting/methods.hpp.
  bool names_development() const noexcept;
  const Value* store_method(std::string_view base, std::string_view last, const Arguments& arguments, Span at) noexcept;
  Value method(const Value& self, std::string_view name, std::size_t start) noexcept;
  Value attribute(const Value& self, std::string_view name, std::size_t start) noexcept;
  const Value* path_method(const Value& self, std::string_view name, const Arguments& arguments, Span at) noexcept;
  static Arguments single(const Value& value) noexcept;
  Value text_method(const Value& self, std::string_view name, const Arguments& arguments, Span at) noexcept;

  // Quoted texts: scripting/strings.hpp.
  Value tagged(const Value& tag) noexcept;
  Known text_of(const Token& token) noexcept;
  bool insertion(std::string_view text, std::size_t i, std::size_t* stop, std::size_t* code, std::size_t* code_end) const noexcept;
  void interpolate(const Token& token, Value* inserted, std::uint32_t* count) noexcept;
  Value part_value(std::size_t start, std::size_t end) noexcept;
  std::size_t unescape(const Token& token, std::string_view text, std::size_t i, char* bytes, std::size_t* made) const noexcept;

  // Functions that do harm, and are put somewhere to be called later: {"x": os.system}, self.run = os.system.
  static constexpr std::uint32_t kKept = 4;
  std::string_view kept_[kKept];
  std::uint32_t kept_count_ = 0;
  Lexer lexer_;
  Token token_;
  std::size_t previous_stop_ = 0;
  std::uint32_t level_ = 0, brackets_ = 0;
  std::string_view assigned_, star_module_, method_, last_name_, command_key_;
  Value block_value_, result_, returned_;
  Known file_seen_, input_seen_;
  Function functions_[kFunctions];
  std::uint32_t function_count_ = 0, calls_ = 0, ahead_tokens_ = 0;
  std::size_t next_for_ = 0;
  Seen seen_;
  std::string_view subject_;
  static constexpr std::uint32_t kMentions = 4096;
  std::uint8_t mentions_[kMentions] = {};  // how often the code has names of each hash, up to twice
  bool counted_ = false;
  bool options_are_words_ = false, one_list_ = false, expects_colon_ = false;
  bool over_environment_ = false;
  bool mongo_ = false, depth_reported_ = false, negative_ = false, has_file_seen_ = false, has_input_seen_ = false;
};

}  // namespace tipstaff::gate::program
