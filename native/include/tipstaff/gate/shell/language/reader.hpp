// The reader of one shell text: it reads, expands and runs in its head, in one pass over the bytes.
//
// A reader stands for one text; nested texts (eval, bash -c, functions, scripts) get readers of their own over the
// same session. Substitutions are read where they are, so that no byte is looked for twice.
#pragma once

#include "tipstaff/gate/tree/dialects.hpp"
#include "tipstaff/gate/shell/language/invocation.hpp"
#include "tipstaff/gate/shell/language/session.hpp"
#include "tipstaff/gate/tree/trials.hpp"

namespace tipstaff::gate::shell {

struct Program;

inline bool leaves_database(string_view text) noexcept;

constexpr std::uint32_t kLevels = 2 * limits::kDepth;  // groups, substitutions and nested texts, together

class ShellReader {
 public:
  ShellReader(Reader& reader, Session& session, const Code& code, const Frame& frame) noexcept
      : reader_(reader), tree_(*reader.tree), session_(session), code_(code), frame_(frame),
        pos_(code.text.data()), end_(code.text.data() + code.text.size()), level_(session.level) {}

  void read() noexcept;
  // Reads no code, but what a file that was written would run later.
  void read_started(string_view path, const Code& content) noexcept {
    Stream stream;
    stream.kind = Stream::known;
    stream.text = content.text;
    run_at_startup(path, stream, content.origin);
  }

 private:
  enum class Until : std::uint8_t { word, quote, operand, brace_item, pattern, end };
  // Nested code inherits these.
  struct Nested {
    std::uint32_t via = 0;
    const Stream* input = nullptr;
    bool subshell = true;
    bool program = false;  // a shell that is started: it knows what is exported
    Capture* capture = nullptr;
    Positional positional;
    bool has_positional = false;
    std::uint32_t tail_first = 0, tail_count = 0;  // words that follow the last command: an alias's arguments
  };

  // Whether what follows in a list runs: not after break, continue and return, nor after exit and exec.
  enum class Ends : std::uint8_t { no, construct, shell };
  enum class Status : std::uint8_t { unknown, success, failure };
  struct Branches {
    std::uint32_t count = 0;  // that do not end the shell
    Folders folders;
  };

  // shell/language/grammar.hpp
  std::uint32_t read_list(std::uint32_t stops) noexcept;
  std::uint32_t read_and_or(std::uint32_t stops) noexcept;
  std::uint32_t read_pipeline(std::uint32_t stops, Session::Mark& mark) noexcept;
  bool ends_with_failure() const noexcept;
  std::uint32_t read_command(std::uint32_t stops) noexcept;
  std::uint32_t keyword_stop(string_view word) noexcept;
  string_view peek_plain() const noexcept;
  void skip_blanks() noexcept;
  void skip_lines() noexcept;
  void pass_newline() noexcept;
  bool at_operator(char c) const noexcept { return pos_ < end_ && *pos_ == c; }

  // shell/language/simple.hpp, shell/language/assignments.hpp
  bool writes_to_descriptors() noexcept;
  bool uses_descriptors() noexcept;
  void read_simple() noexcept;
  void run_alternatives(Invocation& in) noexcept;
  void run_turns(Invocation& in) noexcept;
  bool read_assignment(std::uint32_t mark) noexcept;
  bool declares(std::uint32_t mark) noexcept;
  void read_index(string_view text) noexcept;
  void read_code_variable(string_view name, const Value& value, Span span) noexcept;
  bool read_option_variable(string_view name, const Value& value, Span span) noexcept;
  Trial trial_environment() noexcept;
  Trial trial_words(const Invocation& in) noexcept;
  void set_for_command(string_view name, const Value& value) noexcept;
  void forget_environment() noexcept;
  void take_from_environment(Invocation& in, string_view program) noexcept;
  bool is_trial_database(const Invocation& in) noexcept;
  bool speaks_to_started(const Invocation& in, std::uint32_t end) noexcept;
  bool has_option(const Invocation& in, std::uint32_t from, char letter, string_view valued, string_view names) noexcept;
  bool prints_nothing_by_options(const Invocation& in) noexcept;
  bool is_trial_store(const Invocation& in, std::uint32_t end) noexcept;

  // shell/language/compound.hpp
  void read_compound(NodeKind kind, void (ShellReader::*body)() noexcept) noexcept;
  void read_group() noexcept;
  void read_subshell() noexcept;
  template <typename Body>
  void in_subshell(Body&& body) noexcept;
  template <typename Body>
  std::uint32_t read_turns(std::ptrdiff_t header, Body&& body) noexcept;
  std::uint32_t read_condition(std::uint32_t stops, Folders* otherwise) noexcept;
  void close_possible(const Session::Mark& mark) noexcept;
  std::uint32_t read_branch(Branches& branches, const Session::Mark& around, const Folders& otherwise, std::uint32_t stops) noexcept;
  void end_branches(const Branches& branches, const Session::Mark& mark, bool exhaustive, Ends ends) noexcept;
  void take_over(const ShellReader& inner) noexcept;
  Status expected_status(const Invocation& in) noexcept;
  bool keeps_state(const Invocation& in) noexcept;
  bool is_certain(string_view folder) const noexcept;
  void read_if() noexcept;
  void read_while() noexcept;
  void read_for() noexcept;
  void read_case() noexcept;
  void read_double_bracket() noexcept;
  void read_double_paren() noexcept;
  bool expect_keyword(string_view word) noexcept;

  // shell/language/functions.hpp
  void read_function(string_view name) noexcept;
  void read_coproc() noexcept;
  bool run_keyword(string_view word, Span span, std::uint32_t via, std::uint32_t* command) noexcept;
  bool read_tight_bomb(string_view name) noexcept;

  // shell/redirections/redirections.hpp, shell/redirections/here_documents.hpp
  void read_redirection(Redirections& out) noexcept;
  void read_here_document(Redirections& out, bool strip_tabs) noexcept;
  Word read_one_word() noexcept;
  bool names_placeholder(const Word& from, const char* mark) const noexcept;
  void emit_redirections(const Redirections& redirections, std::uint32_t carrier, std::uint32_t via,
                         const Stream& output) noexcept;
  void emit_file(string_view program, const Word& path, bool append, std::uint32_t carrier, std::uint32_t via,
                 string_view cwd, bool empty = false) noexcept;

  // shell/redirections/emptied_files.hpp
  bool reads_before(const Invocation& in, const Word& target) const noexcept;
  bool is_new_pipe(const Word& target, std::uint32_t before) const noexcept;
  bool empties_what_it_reads(const Invocation& in, const Redirections& redirections) noexcept;

  // shell/redirections/written_files.hpp
  string_view resolve(string_view cwd, string_view path) noexcept;
  string_view resolve(string_view cwd, const Word& word) noexcept;
  void remember_file(string_view cwd, string_view path, const Stream& content, bool append) noexcept;

  // shell/language/words.hpp
  void read_word() noexcept;
  void collect(Pieces& pieces, Until until, bool quoted) noexcept;
  void add_literal(Pieces& pieces, string_view text, std::uint16_t flags, bool quoted) noexcept;
  void add_piece(Pieces& pieces, const Piece& piece) noexcept;
  void add_text(Pieces& pieces, string_view text, std::uint16_t flags, bool quoted) noexcept;
  void add_unknown(Pieces& pieces, std::uint16_t flags, bool quoted) noexcept;
  void add_stream(Pieces& pieces, const Stream& stream, bool quoted) noexcept;
  void read_tilde(Pieces& pieces) noexcept;
  bool read_braces(Pieces& pieces) noexcept;
  bool read_sequence(Pieces& pieces, string_view text) noexcept;
  int brace_shape(const char* from, const char** close) noexcept;
  bool read_extended_glob(Pieces& pieces) noexcept;

  // shell/language/fields.hpp
  template <typename Sink>
  void enumerate(const Pieces& pieces, bool split, Sink&& sink) noexcept;
  void push_words(const Pieces& pieces, Span span) noexcept;
  Value one_text(const Pieces& pieces) noexcept;

  // shell/language/parameters.hpp, shell/language/edits.hpp
  void read_dollar(Pieces& pieces, bool quoted) noexcept;
  void read_prompt(const Value& value, Span span) noexcept;
  void read_parameter(Pieces& pieces, bool quoted) noexcept;
  void add_parameter(Pieces& pieces, string_view name, bool quoted, bool may_be_empty) noexcept;
  string_view referred(string_view name) noexcept;
  bool known_parameter(string_view name, Value* value) noexcept;
  void add_variable(Pieces& pieces, const Variable& variable, bool quoted) noexcept;
  void add_choice(Pieces& pieces, const Value* values, std::uint32_t count, bool quoted) noexcept;
  void add_values(Pieces& pieces, const Value* values, std::uint32_t count, bool quoted) noexcept;
  std::uint32_t all_texts(const Pieces& pieces, Value* out) noexcept;
  Value edited(Value value, string_view operation, string_view operand, bool known_operand) noexcept;

  // shell/language/substitutions.hpp
  void read_arithmetic(Pieces& pieces, const char* close, std::size_t closing, bool quoted) noexcept;
  const char* arithmetic_end(const char* from) const noexcept;
  Stream read_substitution() noexcept;
  Stream load_secretly(const Stream& file) noexcept;
  void read_back_ticks(Pieces& pieces, bool quoted) noexcept;
  void read_process_substitution(Pieces& pieces) noexcept;

  // shell/small_languages/make_words.hpp
  bool in_recipe() const noexcept;
  const char* make_reference_end(const char* from) const noexcept;
  const char* make_function_end(const char* from) const noexcept;
  void add_make_reference(Pieces& pieces, const char* end, bool quoted) noexcept;
  void add_make_function(Pieces& pieces, const char* end, bool quoted) noexcept;
  void read_make_text(string_view text) noexcept;
  void read_make_arguments(const char* end, bool program, bool words) noexcept;
  bool skip_make_prefix() noexcept;
  bool read_make_program() noexcept;
  bool read_make_function() noexcept;
  bool is_make_program(const Invocation& in) noexcept;

  // shell/language/foreign.hpp
  bool read_template(Pieces& pieces) noexcept;
  bool read_pipeline_expression(Pieces& pieces, bool quoted) noexcept;
  bool leave_to_powershell(Pieces& pieces) noexcept;

  // shell/language/names.hpp
  string_view program_name(const Word& word) noexcept;
  bool run_under_other_name(Invocation& in, string_view program) noexcept;
  bool ends_found(Invocation& in) noexcept;
  bool kills_all_listed(const Invocation& in) noexcept;

  // shell/language/commands.hpp
  bool is_flag(const Invocation& in) noexcept;
  bool is_of_environment(const Invocation& in) noexcept;
  static bool is_extended(string_view code, string_view* left) noexcept;
  bool is_own_program(const Invocation& in) noexcept;
  string_view bare_make_variable(const Invocation& in) noexcept;
  bool takes_conventional_name(Invocation& in) noexcept;
  bool drops_prefix(Invocation& in) noexcept;
  bool is_given_command(const Invocation& in, std::uint32_t at) noexcept;
  bool is_written_for_others(const Invocation& in) noexcept;
  void run(Invocation& in) noexcept;
  void read_indexes(Invocation& in) noexcept;
  void show_secret(const Invocation& in) noexcept;
  bool run_from_path(Invocation& in) noexcept;
  void read_shell_file(Invocation& in) noexcept;
  bool is_folder_target(const Invocation& in, const Word& target) const noexcept;
  void note_deletion(const Invocation& in) noexcept;
  void note_target(const Invocation& in) noexcept;
  void emit_collisions(const char* from) noexcept;
  void end_list(const Invocation& in, string_view program) noexcept;
  void run_inner(Invocation& outer, std::uint32_t offset, std::uint32_t via) noexcept;
  void run_copied(Invocation& outer, std::uint32_t first, std::uint32_t count, std::uint32_t via,
                  const Stream* input) noexcept;
  void dispatch(Invocation& in, const Program& program) noexcept;
  Word& argument(const Invocation& in, std::uint32_t i) noexcept { return tree_.word(in.first + i); }
  string_view text_of(const Invocation& in, std::uint32_t i) noexcept { return tree_.word(in.first + i).text; }
  std::uint32_t after_options(const Invocation& in, std::uint32_t from, string_view short_values,
                              string_view long_values) noexcept;
  std::uint32_t find_option(const Invocation& in, char letter, string_view name, Word* value) noexcept;

  // shell/language/nested.hpp
  void nested(Invocation& in, string_view text, Span span, const Nested& options) noexcept;
  void nested_stream(Invocation& in, const Stream& stream, Nested options, Dialect dialect) noexcept;
  void other_dialect(Invocation& in, Dialect dialect, string_view text, Span span, std::uint32_t via) noexcept;
  void code_word(Invocation& in, const Word& word, const Nested& options, Dialect dialect) noexcept;
  string_view joined(std::uint32_t first, std::uint32_t count, std::uint16_t* flags) noexcept;
  Word rest_of(const Invocation& in, std::uint32_t at) noexcept;
  Frame inner_frame(const Invocation& in, std::uint32_t via) const noexcept;
  Invocation for_carried_code(Span span = {}, std::uint32_t via = 0) const noexcept;
  void read_texts_before(Invocation& in, const Nested& options) noexcept;
  void read_texts_in(Invocation& in, string_view text, Span span, const Nested& options) noexcept;
  bool call_function(Invocation& in) noexcept;
  bool call_alias(Invocation& in) noexcept;

  // shell/programs/builtins.hpp
  void run_builtin(Invocation& in, const Program& program) noexcept;
  void change_directory(const Invocation& in, bool push) noexcept;
  void declare(const Invocation& in) noexcept;
  void run_set(const Invocation& in) noexcept;
  void run_read(Invocation& in) noexcept;
  void run_eval(Invocation& in) noexcept;
  void run_trap(bool last = true) noexcept;
  void run_source(Invocation& in) noexcept;
  void run_shell(Invocation& in) noexcept;

  // shell/programs/wrappers.hpp and its neighbours
  void run_prefix(Invocation& in, const Program& program) noexcept;
  bool sets_printed_variables(const Invocation& in, std::uint32_t at) noexcept;
  void run_env(Invocation& in) noexcept;
  void run_code_option(Invocation& in, const Program& program) noexcept;
  void run_joined(Invocation& in, const Program& program) noexcept;
  void run_xargs(Invocation& in) noexcept;
  void run_parallel(Invocation& in) noexcept;
  void run_find(Invocation& in) noexcept;
  void run_daemon(Invocation& in, std::uint32_t at) noexcept;
  void run_rest(Invocation& in, const Program& program) noexcept;
  void run_option_code(Invocation& in, const Program& program) noexcept;
  void run_found_by_rest(Invocation& in, std::uint32_t begin, std::uint32_t end, std::uint32_t action) noexcept;
  void run_fd(Invocation& in) noexcept;
  void run_ssh(Invocation& in) noexcept;
  bool has_quoted_code(const Invocation& in, std::uint32_t from) noexcept;
  void run_container(Invocation& in) noexcept;
  void run_kubectl(Invocation& in) noexcept;
  void run_git(Invocation& in) noexcept;
  void run_editor(Invocation& in) noexcept;
  void run_tar(Invocation& in) noexcept;
  void run_rsync(Invocation& in) noexcept;
  void run_terminal(Invocation& in) noexcept;
  void run_sed(Invocation& in) noexcept;
  void run_at(Invocation& in) noexcept;
  void run_crontab(Invocation& in) noexcept;
  void run_tee(Invocation& in) noexcept;
  void run_download(Invocation& in) noexcept;
  void read_statements(Invocation& in) noexcept;
  void run_copy(Invocation& in) noexcept;
  void run_patch(Invocation& in, std::uint32_t from) noexcept;
  void run_powershell(Invocation& in) noexcept;
  void run_cmd(Invocation& in) noexcept;
  void run_tool(Invocation& in, const Program& program) noexcept;
  void run_cloud(Invocation& in) noexcept;
  std::uint32_t split_words(string_view text, std::uint16_t flags, Span span, bool lines) noexcept;
  void push_roots(const Stream& stream, Span span, bool lines) noexcept;

  // shell/programs/inline.hpp
  void run_inline(Invocation& in) noexcept;
  void read_texts_of(Invocation& in, string_view text, Span span, std::uint16_t flags) noexcept;

  // shell/programs/unread_deletions.hpp
  bool path_of_expression(string_view code, string_view expression, Word* path) noexcept;
  void delete_unread(Invocation& in, string_view text, Span span) noexcept;

  // Commands for elsewhere, code for applications, stored code: programs/elsewhere.hpp.
  std::uint32_t after_verb(const Invocation& in, string_view verb, string_view short_values, string_view long_values) noexcept;
  void run_elsewhere(Invocation& in, const Program& program) noexcept;
  void run_playbook(Invocation& in) noexcept;
  void run_console(Invocation& in) noexcept;
  bool run_jar(Invocation& in) noexcept;
  bool run_tool_file(Invocation& in, std::uint32_t at) noexcept;
  bool run_as(Invocation& in, std::uint32_t at, string_view name) noexcept;
  void run_compiler(Invocation& in) noexcept;
  void run_at_startup(string_view path, const Stream& content, Span span) noexcept;
  void run_launch_list(Invocation& in, string_view text, Span span) noexcept;
  void set_package_scripts(Invocation& in, std::uint32_t from) noexcept;
  void run_stored_script(Invocation& in, string_view name, string_view code, Span span) noexcept;
  void run_stored_alias(Invocation& in, const Program& program) noexcept;

  // shell/small_languages/build_tools.hpp
  bool only_shows_tasks(const Invocation& in, string_view program) noexcept;
  void read_task_files(Invocation& in, string_view program) noexcept;
  void run_build(Invocation& in) noexcept;
  bool read_curl_options(Invocation& in) noexcept;
  Stream output_of_compiler(const Invocation& in) noexcept;

  // shell/programs/carried.hpp
  void run_carried(Invocation& in) noexcept;
  void run_loaded(Invocation& in, string_view program, std::uint32_t files) noexcept;
  void generate(Invocation& in, string_view text) noexcept;
  void read_loaded(Invocation& in, const Stream& content, Dialect dialect) noexcept;

  // shell/programs/clients.hpp
  void run_interpreter(Invocation& in, Dialect dialect) noexcept;
  bool only_in_memory(const Invocation& in) noexcept;
  void run_module(Invocation& in, std::uint32_t at) noexcept;
  void run_awk(Invocation& in) noexcept;
  void run_sql(Invocation& in, const Program& program) noexcept;
  void run_redis(Invocation& in) noexcept;
  void run_socket(Invocation& in) noexcept;
  void run_mongo(Invocation& in) noexcept;

  // scripts.hpp
  Stream load(const Stream& file, string_view cwd) noexcept;
  bool run_script(Invocation& in, std::uint32_t index, Dialect dialect, std::uint32_t via) noexcept;
  void run_path(Invocation& in) noexcept;
  void run_package_script(Invocation& in) noexcept;
  void run_just(Invocation& in) noexcept;

  // shell/small_languages/, shell/tables/cleaned_folders.hpp
  void run_make(Invocation& in) noexcept;
  void run_cmake(Invocation& in) noexcept;
  void read_cmake(Invocation& in, string_view text, Span span, bool builds = false) noexcept;
  void read_macros(Invocation& in, string_view text, Span span) noexcept;
  void run_expect(Invocation& in, const Nested& options) noexcept;
  void clean_folders(Invocation& in, string_view program) noexcept;

  // shell/programs/prints.hpp, shell/small_languages/sed.hpp, shell/programs/filters.hpp
  Stream output_of_echo(const Invocation& in) noexcept;
  Stream output_of_printf(const Invocation& in) noexcept;
  Stream output_of_cat(const Invocation& in) noexcept;
  Stream known_output(string_view text, Span span, std::uint16_t flags) noexcept;
  string_view flat(const Stream& stream, const Invocation& in) noexcept;
  void append(Stream& to, const Stream& more) noexcept;
  bool translate(string_view text, const Invocation& in, string_view* made) noexcept;
  bool cut_lines(string_view text, const Invocation& in, string_view* made) noexcept;
  bool cut_end(string_view text, const Invocation& in, bool head, string_view* made) noexcept;
  bool filtered(string_view text, const Invocation& in, string_view program, string_view* made) noexcept;
  bool edit_stream(string_view text, const Invocation& in, string_view* made) noexcept;

  // shell/programs/outputs.hpp
  void starts_of_find(const Invocation& in, std::uint32_t* begin, std::uint32_t* end) noexcept;
  string_view found_by_name(const Invocation& in) noexcept;
  string_view found_by_fd(const Invocation& in) noexcept;
  string_view fd_pattern(string_view pattern) noexcept;
  bool prints_nothing(const Invocation& in) noexcept;
  bool asks_for_completion(string_view program) noexcept;
  bool prints_shell_settings(const Invocation& in) noexcept;
  bool prints_filtered_list(const Invocation& in, Stream* out) noexcept;
  void prints_cache_folder(const Invocation& in, Stream* out) noexcept;
  void find_output(Invocation& in, const Program& program) noexcept;
  void make_output(Invocation& in, const Program& program) noexcept;

  // The text of a span, as it is written; empty where it is not of this text.
  string_view source_of(Span span) const noexcept {
    if (!code_.verbatim || span.start < code_.origin.start || span.end < span.start) return {};
    const std::size_t from = span.start - code_.origin.start;
    if (from + (span.end - span.start) > code_.text.size()) return {};
    return code_.text.substr(from, span.end - span.start);
  }
  Span span_of(const char* from, const char* to) const noexcept {
    return code_.at(static_cast<std::size_t>(from - code_.text.data()), static_cast<std::size_t>(to - code_.text.data()));
  }
  bool within(string_view text) const noexcept {
    const auto at = reinterpret_cast<std::uintptr_t>(text.data());
    const auto begin = reinterpret_cast<std::uintptr_t>(code_.text.data());
    return at >= begin && at + text.size() <= begin + code_.text.size();
  }
  Code code_for(string_view text, Span span) const noexcept {
    if (code_.verbatim && within(text)) return {text, span_of(text.data(), text.data() + text.size()), true};
    return {text, span, false};
  }
  void uncertain(Unresolved reason, Span span, std::uint32_t command = kNone) noexcept {
    if (reason == Unresolved::limit) {
      if (limit_reported_) return;
      limit_reported_ = true;
    }
    tree_.add_uncertainty(reason, span, command);
  }
  // Ends the reading of this text where a limit is reached.
  void give_up(Unresolved reason, Span span) noexcept {
    if (!stopped_) uncertain(reason, span, frame_.carrier);
    stopped_ = true;
    pos_ = end_;
  }
  std::uint32_t add_node(NodeKind kind, Span span, std::uint32_t parent, bool is_code = true) noexcept {
    Node node;
    node.kind = kind;
    node.span = span;
    node.parent = parent;
    node.is_code = is_code;
    return tree_.add_node(node);
  }

  Reader& reader_;
  Tree& tree_;
  Session& session_;
  Code code_;
  Frame frame_;
  const char* pos_;
  const char* end_;
  std::uint32_t level_;  // the session's when this text began
  const char* line_end_ = nullptr;  // the newline after which here-documents are that were read already
  const char* resume_ = nullptr;    // where the text continues after them
  const char* looked_in_ = nullptr;  // the text of which the next is known
  bool descriptors_used_ = false;
  enum class Recipe : std::uint8_t { unasked, no, yes };
  mutable Recipe recipe_ = Recipe::unasked;  // whether the text is of a makefile, once that was asked
  bool skipped_ = false;                     // a function of make is in the place of the command that is read
  const char* last_descriptor_ = nullptr;  // where the text last writes to an open file by its number, once that was asked
  Stream input_;
  std::uint32_t pipe_from_ = kNone;
  Stream output_;              // of the command that was read last
  std::uint32_t head_ = kNone;  // its outermost command
  std::uint32_t tail_ = kNone;  // its innermost command
  Capture* capture_ = nullptr;
  std::uint32_t tail_first_ = 0, tail_count_ = 0;
  bool fed_ = false;  // some command of >( ... ) is not tied to what writes to it yet
  std::size_t brace_bytes_ = 0;
  bool condition_ = false;  // between if, while, until and what depends on it
  bool merge_ = false;  // after break, continue, return: an assignment adds a possibility
  Status status_ = Status::unknown;  // of the command that was read last
  Ends ends_ = Ends::no;             // what follows in this list does not run
  bool fork_ = false;                // the last command was a `cd` alone: where it failed, the shell is in `failed_`
  // In a loop: what was written to a name that is the same for each item, as far as it was seen.
  struct Target {
    Word word;
    std::uint32_t carrier, via;
    string_view cwd;
  };
  static constexpr std::uint32_t kMostTargets = 4;
  Raw<Target, kMostTargets> targets_;
  std::uint32_t target_count_ = 0, loops_ = 0;
  bool redirected_ = false;          // what the command prints goes to a file
  string_view removed_;              // by the command before
  bool certain_ = false;             // it cannot fail, as far as is known
  Folders failed_, moved_;
  Folders left_;                     // where it is after break, continue and return
  bool has_left_ = false;
  bool stopped_ = false;
  bool for_powershell_ = false;  // a word of this command starts PowerShell
  bool limit_reported_ = false;
  // A trap of this text's own level: it runs when all else has run, with the values of then.
  Raw<Invocation, 1> trap_;
  Word trap_code_;
  bool has_trap_ = false;
  bool traps_each_ = false;  // it is run at commands, not at the end alone
  std::uint32_t trap_runs_ = 0;
  bool had_trap_ = false;  // one was set when the text ended
};

}  // namespace tipstaff::gate::shell
