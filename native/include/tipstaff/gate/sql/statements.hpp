// Reads SQL statement by statement: what begins one, what ends it, and how what it does is said.
#pragma once

#include "tipstaff/gate/sql/client.hpp"
#include "tipstaff/gate/sql/condition.hpp"
#include "tipstaff/gate/tree/trials.hpp"

namespace tipstaff::gate::sql {

constexpr std::string_view kObjects =
    "table database schema view index user role function procedure trigger sequence type domain extension server "
    "tablespace column constraint partition keyspace login collection bucket stage warehouse stream task pipe share "
    "publication subscription policy rule event aggregate operator cast conversion language synonym package dictionary "
    "catalog statistics owned group measurement series transform graph assembly credential certificate profile cluster "
    "resource tables databases privileges hosts logs query binary master slave replica all system session server";

// The word of `list` that `token` is, in lower case; empty if it is none of them.
inline std::string_view canonical(const Token& token, std::string_view list) noexcept {
  if (token.kind != Kind::word) return {};
  for (std::size_t start = 0; start < list.size();) {
    std::size_t end = list.find(' ', start);
    if (end == std::string_view::npos) end = list.size();
    if (ascii::equals(token.text, list.substr(start, end - start))) return list.substr(start, end - start);
    start = end + 1;
  }
  return {};
}

// A DELETE, an UPDATE or a MERGE whose condition may still follow.
struct Pending {
  std::string_view verb;
  Known name;
  std::string_view table;  // its table, where the name is an alias
  std::size_t start = 0, stop = 0;
  std::uint32_t depth = 0;
  bool where = false, always_true = false, limit = false, join = false, sets = false, deletes = false,
       joins = false, uses = false, joins_itself = false;
};

struct Flags {
  bool if_exists = false, cascade = false, temporary = false, force = false, all = false, is_public = false,
       grant_option = false, drop = false, rename = false, password = false, superuser = false, disable = false,
       deletes = false;
};

class Statements {
 public:
  Statements(Reader& reader, const Code& code, const Frame& frame, bool backslashes) noexcept
      : reader_(reader), frame_(frame), at_(reader, code, backslashes) {}

  void read() noexcept {
    while (!at_.at_end()) step();
    flush(0);
    if (at_.is_open()) reader_.tree->add_uncertainty(Unresolved::syntax, at_.code().origin, frame_.carrier);
  }

 private:
  const Token& token() const noexcept { return at_.token(); }

  void step() noexcept {
    if (token().is_mark(';') || token().is("go")) {
      end_statement();
      at_.advance();
      return;
    }
    if (token().kind == Kind::meta) {
      const Frame frame = here();
      if (ClientCommands(reader_, at_, frame).backslash()) end_statement();
      return;
    }
    if (begins_) {
      const Frame frame = here();
      if (ClientCommands(reader_, at_, frame).word()) return;
      begins_ = false;
      if (statement(true)) return;
    } else if (token().kind == Kind::word && statement(false)) {
      return;
    }
    if (!begins_) inside();
  }

  void end_statement() noexcept {
    flush(0);
    begins_ = true;
    texts_ = Texts::data;
    body_ = Dialect::sql;
    if (blocks_ == 0) defining_ = false;
  }

  // --- output ---

  Frame here() const noexcept {
    Frame frame = frame_;
    if (defining_) frame.via |= via::kDefinition;
    return frame;
  }
  // DATABASE.TABLE, where a client has no schemas: it may be another database than the one of tests.
  void leave(Frame& frame, std::string_view name) const noexcept {
    if ((frame.via & via::kTrial) == 0 || frame.carrier == kNone) return;
    const std::size_t dot = name.find('.');
    if (dot == std::string_view::npos || !ascii::one_of(reader_.tree->command(frame.carrier).program, "mysql mariadb mycli clickhouse-client clickhouse")) return;
    if (!is_trial_name(name.substr(0, dot))) frame.via &= ~via::kTrial;
  }
  void emit(std::string_view verb, std::string_view object, const Known& name, std::size_t start, const Flags& flags = {}) noexcept {
    Frame frame = here();
    leave(frame, name.text);
    const std::size_t stop = at_.previous().stop > start ? at_.previous().stop : start;
    CommandWriter writer(reader_, frame, Dialect::sql, "sql", at_.span(start, stop));
    writer.flag(verb);
    if (!object.empty()) writer.flag(object);
    if (!name.text.empty()) writer.known(name, word_flag::kPseudo);
    if (flags.if_exists) writer.flag("--if-exists");
    if (flags.cascade) writer.flag("--cascade");
    if (flags.temporary || is_temporary(name.text)) writer.flag("--temporary");
    if (flags.force) writer.flag("--force");
    if (flags.all) writer.flag("--all");
    if (flags.is_public) writer.flag("--public");
    if (flags.grant_option) writer.flag("--grant-option");
    if (flags.drop) writer.flag("--drop");
    if (flags.rename) writer.flag("--rename");
    if (flags.password) writer.flag("--password");
    if (flags.superuser) writer.flag("--superuser");
    if (flags.disable) writer.flag("--disable");
    if (flags.deletes) writer.flag("--delete");
    writer.end();
  }
  // Tables of the session: MSSQL's #t, pg_temp.t, and those that the same text creates as temporary.
  bool is_temporary(std::string_view name) const noexcept {
    if (name.empty()) return false;
    if (name[0] == '#' || ascii::starts_with(name, "pg_temp.") || ascii::starts_with(name, "tempdb..#") || ascii::starts_with(name, "temp.")) return true;
    for (std::uint32_t i = 0; i < temporary_count_; ++i) {
      if (same_word(temporary_[i], name)) return true;
    }
    return false;
  }
  void emit_file(std::string_view program, const Known& path) noexcept {
    const Frame frame = here();
    CommandWriter writer(reader_, frame, Dialect::sql, program, path.span);
    writer.known(path, word_flag::kPseudo);
    writer.end();
  }
  void run(Dialect dialect, const Known& text, std::uint32_t more = via::kEvaluated) noexcept {
    Frame frame = here();
    if (text.is_blank()) {
      reader_.tree->add_uncertainty(Unresolved::code, text.span, frame.carrier);
      return;
    }
    frame.via |= more;
    read_code(reader_, dialect, text.code(), frame);
  }

  void write(const Pending& pending) noexcept {
    if (pending.verb == "update" && !pending.sets) return;  // FOR UPDATE and the like
    if (pending.verb == "merge" && !pending.deletes && !pending.sets) return;
    Frame frame = here();
    leave(frame, pending.name.text);
    leave(frame, pending.table);
    CommandWriter writer(reader_, frame, Dialect::sql, "sql",
                         at_.span(pending.start, pending.stop > pending.start ? pending.stop : pending.start));
    writer.flag(pending.verb).flag("table").known(pending.name, word_flag::kPseudo);
    if (is_temporary(pending.name.text)) writer.flag("--temporary");
    if (pending.where) writer.flag("--where");
    if (pending.always_true) writer.flag("--always-true");
    if (pending.limit) writer.flag("--limit");
    if (pending.join) writer.flag("--join");
    if (pending.verb == "merge" && pending.deletes) writer.flag("--delete");
    if (pending.verb == "merge" && pending.sets) writer.flag("--update");
    writer.end();
  }
  void flush(std::uint32_t first) noexcept {
    for (std::uint32_t i = first; i < pending_count_; ++i) {
      if (i + 1 == pending_count_) pending_[i].stop = at_.previous().stop;
      write(pending_[i]);
    }
    if (pending_count_ > first) pending_count_ = first;
  }
  void flush_from(std::uint32_t depth) noexcept {
    std::uint32_t first = pending_count_;
    while (first > 0 && pending_[first - 1].depth >= depth) --first;
    flush(first);
  }
  void push(const Pending& pending) noexcept {
    flush_from(pending.depth);
    if (pending_count_ == kPending) flush(kPending - 1);
    pending_[pending_count_++] = pending;
  }
  Pending* open_here() noexcept {
    return pending_count_ > 0 && pending_[pending_count_ - 1].depth == at_.depth() ? &pending_[pending_count_ - 1] : nullptr;
  }

  // --- statements ---

  // Reads what begins with the current word, where that is a statement we know. `first`: at a statement's beginning;
  // elsewhere only forms that nothing else has are taken, since some servers need no semicolon between statements.
  bool statement(bool first) noexcept {
    const Token verb = token();
    if (verb.kind != Kind::word) return false;
    const bool opens = first || at_.previous().is_one_of("begin then else loop do analyze verbose");
    if (verb.is("drop")) return drop(opens);
    if (verb.is("truncate")) return truncate(opens);
    if (verb.is("delete")) return remove(opens);
    if (verb.is("update")) return update(opens);
    if (!opens) return false;
    if (verb.is("merge")) return merge();
    if (verb.is("replace")) return replace();
    if (verb.is("alter")) return alter();
    if (verb.is_one_of("grant revoke")) return grant(verb.is("grant") ? "grant" : "revoke");
    if (verb.is("create")) return create();
    if (verb.is_one_of("explain describe desc")) return explain();
    if (verb.is("copy")) texts_ = Texts::copy;
    if (verb.is_one_of("exec execute call prepare")) return execute();
    if (verb.is("do")) {
      texts_ = Texts::code;
      at_.advance();
      return true;
    }
    if (verb.is_one_of("attach detach restore")) return whole(verb.is("attach") ? "attach" : verb.is("detach") ? "detach" : "restore", true);
    if (verb.is_one_of("kill shutdown reset purge flush rename lock vacuum pragma set load")) return administer();
    if (verb.is("match")) texts_ = Texts::graph;
    return false;
  }

  bool if_exists() noexcept {
    if (!token().is("if")) return false;
    at_.advance();
    at_.skip_word("not");
    return at_.skip_word("exists");
  }

  // What is changed or lost: sql/changes.hpp.
  bool drop(bool opens) noexcept;
  bool truncate(bool opens) noexcept;
  void skip_top(Pending* pending) noexcept;
  bool remove(bool opens) noexcept;
  bool update(bool opens) noexcept;
  bool merge() noexcept;
  bool replace() noexcept;
  bool alter() noexcept;

  // What is administered: sql/administration.hpp.
  bool grant(std::string_view verb) noexcept;
  bool create() noexcept;
  bool explain() noexcept;
  bool execute() noexcept;
  bool whole(std::string_view verb, bool optional) noexcept;
  bool administer() noexcept;

  // Inside of statements: sql/texts.hpp.
  void variable() noexcept;
  static bool empties_by_name(std::string_view name) noexcept;
  void note_function(std::string_view name) noexcept;
  void inside() noexcept;
  void text(const Token& now) noexcept;
  static Dialect language_of(const Token& language) noexcept;
  void word(const Token& now) noexcept;

  // --- what is inside statements ---

  // What the texts of a statement are to the server.
  enum class Texts : std::uint8_t { data, code, definition, shell, cmd, copy, copy_to, copy_from, program, read, write, graph };
  static constexpr std::uint32_t kPending = 8, kNames = 16, kTexts = 8;
  struct Variable {
    std::string_view name;
    Known text;
  };

  Reader& reader_;
  const Frame& frame_;
  Cursor at_;
  Pending pending_[kPending];
  std::string_view temporary_[kNames];
  Variable variables_[kTexts];
  std::uint32_t pending_count_ = 0, temporary_count_ = 0, text_count_ = 0;
  std::uint32_t blocks_ = 0;  // BEGIN and CASE that are open in a definition
  Texts texts_ = Texts::data;
  Dialect body_ = Dialect::sql;
  bool begins_ = true, defining_ = false, moved_ = false;
};

}  // namespace tipstaff::gate::sql
