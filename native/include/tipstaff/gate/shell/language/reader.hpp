// The reader of a shell's text: the evaluator runs it in every way that may happen, and each call becomes commands of the tree,
// by what its program does with its words.
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
      : reader_(reader), tree_(*reader.tree), session_(session), code_(code), frame_(frame) {}

  void read() noexcept;
  // Reads no code, but what a file that was written would run later.
  void read_started(string_view path, const Code& content) noexcept {
    Stream stream;
    stream.kind = Stream::known;
    stream.text = content.text;
    start([&]() noexcept { run_at_startup(path, stream, content.origin); });
  }

 private:
  // Nested code inherits these.
  struct Nested {
    std::uint32_t via = 0;
    const Stream* input = nullptr;
    bool subshell = true;
    bool program = false;  // a shell that is started: it knows what is exported
    Positional positional;
    bool has_positional = false;
    std::uint32_t tail_first = 0, tail_count = 0;  // words that follow the last command: an alias's arguments
  };

  enum class Status : std::uint8_t { unknown, success, failure };

  // shell/language/sink.hpp: what the evaluator calls
  template <typename Body>
  void start(Body&& body) noexcept;
  static eval::Answer on_call(void* self, eval::Store& store, const eval::Call& call) noexcept;
  eval::Answer take_call(const eval::Call& call) noexcept;
  static const eval::Judge kJudge;
  std::uint32_t gate_via(std::uint16_t via) const noexcept;
  Span span_at(syntax::Span span) const noexcept { const syntax::Span origin = run().origin_of(span).span; return {origin.start, origin.end}; }
  Word word_of(const eval::Word& word, Span otherwise) noexcept;
  Stream stream_of(const eval::Set& set, bool piped) noexcept;
  Stream stream_of(const eval::Value& value) noexcept;
  eval::Value value_of(const Stream& stream) noexcept;
  void take_redirections(const eval::Call& call, bool says, Redirections* out) noexcept;
  bool was_seen(std::uint64_t hash) noexcept;
  void set_place(const eval::State& state, std::uint16_t via) noexcept;
  bool sets_from_surroundings(string_view name, eval::Value* value) noexcept;
  void read_foreign(std::uint32_t node, string_view before, bool program, eval::Value* value) noexcept;
  void note_assigned(eval::State& state, eval::TextId name, std::uint32_t node, bool alone) noexcept;
  eval::Value load_value(const eval::Value& file) noexcept;
  Stream load_secretly(const Stream& file) noexcept;
  void take_substituted(std::uint32_t node, const eval::Value& printed, std::uint32_t head, eval::Value* path) noexcept;
  eval::Evaluator& run() const noexcept { return *session_.run; }
  static const char* foreign_end(void* self, const char* from, const char* end) noexcept;
  const char* powershell_end(const char* from) const noexcept;
  void find_tight_bomb() noexcept;
  static const char* prefix_end(void* self, const char* from, const char* end) noexcept;
  bool defines_names() const noexcept { return defines_; }

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

  Status expected_status(const Invocation& in) noexcept;
  bool is_certain(string_view folder) const noexcept;
  // shell/redirections/redirections.hpp, shell/redirections/here_documents.hpp
  bool uses_descriptors() noexcept;
  std::size_t descriptors_until() noexcept;
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

  // shell/small_languages/make_words.hpp
  bool in_recipe() const noexcept;
  const char* make_reference_end(const char* from) const noexcept;
  const char* make_function_end(const char* from) const noexcept;
  void give_make_reference(string_view name, string_view before, bool quoted, bool program, bool ends, eval::Value* value) noexcept;
  void read_make_arguments(const char* start, const char* end, bool program, bool words) noexcept;
  bool is_make_program(const Invocation& in) noexcept;

  // shell/language/foreign.hpp
  const char* template_end(const char* from, string_view* text) const noexcept;
  const char* pipeline_expression_end(const char* from) const noexcept;
  void give_pipeline_expression(string_view written, string_view before, eval::Value* value) noexcept;

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
  void show_secret(const Invocation& in) noexcept;
  bool run_from_path(Invocation& in) noexcept;
  void read_shell_file(Invocation& in) noexcept;
  bool is_folder_target(const Invocation& in, const Word& target) const noexcept;
  void note_deletion(const Invocation& in) noexcept;
  void note_target(const Invocation& in) noexcept;
  void emit_collisions(string_view loop) noexcept;
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

  // shell/programs/builtins.hpp
  void run_builtin(Invocation& in, const Program& program) noexcept;
  void declare(const Invocation& in) noexcept;
  void run_read(Invocation& in) noexcept;
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
    if (!verbatim_ || !code_.verbatim || span.start < code_.origin.start || span.end < span.start) return {};
    const std::size_t from = span.start - code_.origin.start;
    if (from + (span.end - span.start) > code_.text.size()) return {};
    return code_.text.substr(from, span.end - span.start);
  }
  // Text that is part of another: where it stands there, if it does byte by byte.
  Code code_for(string_view text, Span span) const noexcept {
    const string_view around = source_of(span);
    const std::size_t at = text.empty() ? string_view::npos : around.find(text);
    if (at == string_view::npos) return {text, span, false};
    const auto from = static_cast<std::uint32_t>(span.start + at);
    return {text, {from, static_cast<std::uint32_t>(from + text.size())}, true};
  }
  void uncertain(Unresolved reason, Span span, std::uint32_t command = kNone) noexcept {
    if (reason == Unresolved::limit) {
      if (limit_reported_) return;
      limit_reported_ = true;
    }
    tree_.add_uncertainty(reason, span, command);
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
  Frame frame_;               // of the command that is read
  std::uint32_t base_via_ = 0;  // how the text came to be run
  bool verbatim_ = true;      // the command stands in the text as it was given
  const char* looked_in_ = nullptr;  // the text of which the next is known
  bool descriptors_used_ = false;
  std::size_t descriptors_until_ = string_view::npos;  // not looked for
  enum class Recipe : std::uint8_t { unasked, no, yes };
  mutable Recipe recipe_ = Recipe::unasked;  // whether the text is of a makefile, once that was asked
  bool defines_ = false;                     // the text defines functions or aliases
  const char* begin_ = nullptr;
  const char* end_ = nullptr;                // of the text that a foreign part is looked for in
  std::uint32_t fed_from_ = kNone;  // the first command of >( ... ) that is not tied to what writes to it yet
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
  bool stopped_ = false;
  bool limit_reported_ = false;
  // Calls that were taken, by what they say: a command that is met again in the same way is not said again.
  static constexpr std::uint32_t kSeen = 128;
  std::uint64_t seen_[kSeen] = {};
  Raw<eval::Answer, kSeen> answers_;
};

}  // namespace tipstaff::gate::shell
