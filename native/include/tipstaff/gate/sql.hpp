// Reads SQL of all servers, and the commands of their clients. Redis is in stores.hpp.
//
// Statements come out as `sql VERB OBJECT NAME flags`; what only reads, inserts or creates does not come out at all:
//   drop OBJECT NAME       OBJECT is one word: table, database, schema, view, user, role, index, function ...
//   truncate table NAME
//   delete table NAME      --where, --always-true, --limit, --join
//   update table NAME      the same
//   merge table NAME       --delete, --update
//   replace table NAME     REPLACE INTO, CREATE OR REPLACE TABLE
//   alter OBJECT NAME      --drop, --rename, --password, --superuser, --disable, --delete
//   grant|revoke PRIVILEGE NAME   --all, --public, --grant-option; PRIVILEGE is `role` where a role is granted
//   create user|role|login|extension|language NAME   --superuser
//   attach|detach|restore database PATH
//   set global|password NAME, reset|purge|flush OBJECT, kill session, shutdown server, vacuum full NAME,
//   rename|lock table NAME, pragma NAME, exec NAME
// and the flags --if-exists, --cascade, --temporary, --force. What a procedure, a trigger or a function holds has
// via::kDefinition. Programs that a server or a client starts, and files that they read or write, are commands of
// their own (code of the shell, @read, @write).
#pragma once

#include "tipstaff/gate/sql_client.hpp"
#include "tipstaff/gate/sql_condition.hpp"
#include "tipstaff/gate/stores.hpp"

namespace tipstaff::gate {

namespace sql {

constexpr std::string_view kObjects =
    "table database schema view index user role function procedure trigger sequence type domain extension server "
    "tablespace column constraint partition keyspace login collection bucket stage warehouse stream task pipe share "
    "publication subscription policy rule event aggregate operator cast conversion language synonym package dictionary "
    "catalog statistics owned group measurement series transform graph assembly credential certificate profile cluster "
    "resource tables databases privileges hosts logs query binary master slave replica all system session server";

// The word of `list` that `token` is, in lower case; empty where it is none.
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
  std::size_t start = 0, stop = 0;
  std::uint32_t depth = 0;
  bool where = false, always_true = false, limit = false, join = false, sets = false, deletes = false;
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
  void emit(std::string_view verb, std::string_view object, const Known& name, std::size_t start, const Flags& flags = {}) noexcept {
    const Frame frame = here();
    const std::size_t stop = at_.previous().stop > start ? at_.previous().stop : start;
    CommandWriter writer(reader_, frame, Dialect::sql, "sql", at_.span(start, stop));
    writer.flag(verb);
    if (!object.empty()) writer.flag(object);
    if (!name.text.empty()) writer.known(name, word_flag::kPseudo);
    if (flags.if_exists) writer.flag("--if-exists");
    if (flags.cascade) writer.flag("--cascade");
    if (flags.temporary || (!name.text.empty() && name.text[0] == '#')) writer.flag("--temporary");
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
    if (pending.verb == "update" && !pending.sets) return;  // FOR UPDATE and its kin
    if (pending.verb == "merge" && !pending.deletes && !pending.sets) return;
    const Frame frame = here();
    CommandWriter writer(reader_, frame, Dialect::sql, "sql",
                         at_.span(pending.start, pending.stop > pending.start ? pending.stop : pending.start));
    writer.flag(pending.verb).flag("table").known(pending.name, word_flag::kPseudo);
    if (!pending.name.text.empty() && pending.name.text[0] == '#') writer.flag("--temporary");
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

  bool drop(bool opens) noexcept {
    const std::size_t start = token().start;
    if (!opens && at_.previous().is_one_of("on grant for before after or revoke with")) return false;
    const Token next = at_.peek();
    if (!next.is_one_of("temporary temp unlogged materialized foreign external concurrently unique clustered all graph") &&
        canonical(next, kObjects).empty() && !(opens && next.kind == Kind::word && next.text.find(kUnknownPart) != std::string_view::npos)) {
      return false;
    }
    at_.advance();
    Flags flags;
    while (token().is_one_of("temporary temp unlogged materialized foreign external unique clustered all")) {
      if (token().is_one_of("temporary temp")) flags.temporary = true;
      if (token().is("all")) break;
      at_.advance();
    }
    std::string_view object = canonical(token(), kObjects);
    if (object.empty()) object = "table";
    if (object == "all") object = "schema";
    at_.advance();
    if (object == "user" && token().is("mapping")) object = "mapping";
    if (object == "event" && token().is("trigger")) at_.advance();
    at_.skip_words("mapping objects concurrently class family data wrapper files");
    flags.if_exists = if_exists();
    at_.skip_word("by");
    Known names[kNames];
    std::uint32_t count = 0;
    const auto write_all = [&]() noexcept {
      for (std::uint32_t i = 0; i < count; ++i) emit("drop", object, names[i], start, flags);
      count = 0;
    };
    do {
      if (token().is_mark(',')) at_.advance();
      const Known name = at_.take_name();
      if (name.text.empty()) break;
      if (count == kNames) write_all();
      names[count++] = name;
      if (token().is_mark('(')) at_.skip_parentheses();
    } while (token().is_mark(','));
    if (count == 0) names[count++] = unknown_text(at_.span(start, at_.previous().stop));
    for (;;) {
      if (token().is("cascade")) flags.cascade = true;
      if (token().is("force")) flags.force = true;
      if (!at_.skip_words("cascade restrict force purge constraints with including contents and datafiles sync")) break;
    }
    write_all();
    return true;
  }

  bool truncate(bool opens) noexcept {
    const std::size_t start = token().start;
    const Token next = at_.peek();
    if (next.is_mark('(') || (!opens && !next.is("table"))) return false;
    if (!next.is_one_of("table only") && next.kind != Kind::word && next.kind != Kind::name && next.kind != Kind::mark) return false;
    at_.advance();
    Flags flags;
    at_.skip_words("table only database");
    flags.if_exists = if_exists();
    Known names[kNames];
    std::uint32_t count = 0;
    do {
      if (token().is_mark(',')) at_.advance();
      at_.skip_word("only");
      const Known name = at_.take_name();
      if (name.text.empty()) break;
      if (token().is_mark('*')) at_.advance();
      if (count < kNames) names[count++] = name;
    } while (token().is_mark(','));
    if (count == 0) names[count++] = unknown_text(at_.span(start, at_.previous().stop));
    while (token().is_one_of("restart continue identity cascade restrict reuse drop storage")) {
      if (token().is("cascade")) flags.cascade = true;
      at_.advance();
    }
    for (std::uint32_t i = 0; i < count; ++i) emit("truncate", "table", names[i], start, flags);
    return true;
  }

  void skip_top(Pending* pending) noexcept {
    if (!token().is("top")) return;
    at_.advance();
    if (token().is_mark('(')) {
      at_.skip_parentheses();
    } else if (token().kind == Kind::number) {
      at_.advance();
    }
    pending->limit = true;
  }

  bool remove(bool opens) noexcept {
    Pending* outer = open_here();
    if (outer != nullptr && outer->verb == "merge" && at_.previous().is("then")) {
      outer->deletes = true;
      at_.advance();
      return true;
    }
    const Token next = at_.peek();
    const bool known = next.is("from") || next.is_one_of("low_priority quick ignore top only");
    const bool named = next.kind == Kind::word || next.kind == Kind::name || next.is_mark('@') || next.is_mark('#');
    if (!known && !(opens && named)) return false;
    if (next.is_one_of("on of or to cascade set") || (!opens && at_.previous().is_one_of("on for or before after instead"))) return false;
    Pending pending;
    pending.verb = "delete";
    pending.start = token().start;
    pending.depth = at_.depth();
    at_.advance();
    at_.skip_words("low_priority quick ignore");
    skip_top(&pending);
    at_.skip_words("from only");
    pending.name = at_.take_name();
    if (token().is("from")) {  // DELETE t FROM t JOIN ..., or a column of Cassandra's
      at_.advance();
      const Known table = at_.take_name();
      if (pending.name.text.empty()) pending.name = table;
    }
    if (pending.name.text.empty()) pending.name = unknown_text(at_.span(pending.start, at_.previous().stop));
    push(pending);
    return true;
  }

  bool update(bool opens) noexcept {
    Pending* outer = open_here();
    if (outer != nullptr && outer->verb == "merge" && at_.previous().is("then")) {
      outer->sets = true;
      at_.advance();
      return true;
    }
    const Token next = at_.peek();
    if (next.is_one_of("set of on cascade statistics nowait skip") || (!opens && next.is("or")) ||
        at_.previous().is_one_of("on for do key before after or of instead no") || at_.previous().is_mark(',')) {
      return false;
    }
    if (next.kind != Kind::word && next.kind != Kind::name && !next.is_mark('@') && !next.is_mark('#') && !next.is_mark('%') &&
        !next.is_mark('{') && !next.is_mark('$')) {
      return false;
    }
    Pending pending;
    pending.verb = "update";
    pending.start = token().start;
    pending.depth = at_.depth();
    at_.advance();
    if (opens && token().is("or")) {  // UPDATE OR REPLACE t
      at_.advance();
      at_.advance();
    }
    at_.skip_words("low_priority ignore only");
    skip_top(&pending);
    pending.name = at_.take_name();
    push(pending);
    return true;
  }

  bool merge() noexcept {
    Pending pending;
    pending.verb = "merge";
    pending.start = token().start;
    pending.depth = at_.depth();
    at_.advance();
    at_.skip_words("into only");
    pending.name = at_.take_name();
    push(pending);
    return true;
  }

  bool replace() noexcept {
    if (at_.peek().is_mark('(')) return false;
    const std::size_t start = token().start;
    at_.advance();
    at_.skip_words("low_priority delayed into");
    const Known name = at_.take_name();
    if (!name.text.empty()) emit("replace", "table", name, start);
    return true;
  }

  bool alter() noexcept {
    const std::size_t start = token().start;
    const std::string_view object = canonical(at_.peek(), kObjects);
    if (object.empty()) return false;
    at_.advance();
    at_.advance();
    Flags flags;
    flags.if_exists = if_exists();
    at_.skip_word("only");
    const Known name = object == "system" ? Known{} : at_.take_name();
    while (!at_.at_end() && !token().is_mark(';') && token().kind != Kind::meta && !token().is("go")) {
      if (token().is("drop") && !at_.peek().is_one_of("not default identity expression")) {
        if (at_.peek().is_one_of("table database") && object != "publication" && object != "extension") break;
        flags.drop = true;
      }
      if (token().is("truncate")) flags.drop = true;
      if (token().is("rename")) flags.rename = true;
      if (token().is_one_of("password identified")) flags.password = true;
      if (token().is_one_of("superuser sysadmin bypassrls")) flags.superuser = true;
      if (token().is_one_of("disable offline single_user")) flags.disable = true;
      if (token().is("delete") && (at_.peek().is("where") || object == "stage")) flags.deletes = true;
      if (token().is("cascade")) flags.cascade = true;
      at_.advance();
    }
    emit("alter", object, name, start, flags);
    return true;
  }

  bool grant(std::string_view verb) noexcept {
    const std::size_t start = token().start;
    at_.advance();
    std::string_view privilege = canonical(token(), "all select insert update delete truncate create drop alter execute usage "
                                                    "super file shutdown process reload connect references control superuser");
    Known name;
    Flags flags;
    if (privilege.empty()) {
      privilege = "role";
      name = at_.take_name();
    }
    while (!at_.at_end() && !token().is_mark(';') && token().kind != Kind::meta && !token().is("go")) {
      if (token().is("all")) flags.all = true;
      if (token().is("public") && at_.previous().is_one_of("to from")) flags.is_public = true;
      if (token().is("option") && at_.previous().is_one_of("grant admin")) flags.grant_option = true;
      if (token().is("on") && name.text.empty()) {
        at_.advance();
        at_.skip_words("all table tables database schema in sequence sequences function functions");
        name = at_.take_name();
        continue;
      }
      at_.advance();
    }
    emit(verb, privilege, name, start, flags);
    return true;
  }

  bool create() noexcept {
    const std::size_t start = token().start;
    at_.advance();
    bool replaces = false;
    for (std::uint32_t i = 0; i < 12 && token().kind != Kind::end && !token().is_mark(';'); ++i) {
      if (token().is("replace")) replaces = true;
      if (token().is_one_of("function procedure proc trigger event rule package task")) {
        defining_ = true;
        texts_ = Texts::definition;
        return true;
      }
      const std::string_view object = canonical(token(), "table user role login extension language");
      if (!object.empty()) {
        if (object == "table" && !replaces) return true;
        at_.advance();
        Flags flags;
        flags.if_exists = if_exists();
        const Known name = at_.take_name();
        if (object != "table") {
          while (!at_.at_end() && !token().is_mark(';') && token().kind != Kind::meta && !token().is("go")) {
            if (token().is("superuser")) flags.superuser = true;
            at_.advance();
          }
        }
        emit(object == "table" ? "replace" : "create", object, name, start, flags);
        return true;
      }
      if (canonical(token(), kObjects) != std::string_view()) return true;
      at_.advance();
    }
    return true;
  }

  // EXPLAIN says what would be done; EXPLAIN ANALYZE does it.
  bool explain() noexcept {
    at_.advance();
    bool runs = false;
    for (;;) {
      if (token().is_one_of("analyze analyse")) {
        runs = true;
      } else if (token().is_mark('(')) {
        const std::uint32_t inside = at_.depth();
        while (!at_.at_end() && !token().is_mark(';') && !(token().is_mark(')') && at_.depth() == inside)) {
          if (token().is_one_of("analyze analyse")) runs = !at_.peek().is_one_of("false off");
          at_.advance();
        }
      } else if (!token().is_one_of("verbose extended partitions query plan costs buffers")) {
        break;
      }
      at_.advance();
    }
    if (runs) return statement(true);
    while (!at_.at_end() && !token().is_mark(';') && token().kind != Kind::meta) at_.advance();
    return true;
  }

  bool execute() noexcept {
    const std::size_t start = token().start;
    const bool prepares = token().is("prepare");
    texts_ = Texts::code;
    at_.advance();
    if (prepares || token().is_mark('(') || token().kind == Kind::text || token().is("immediate")) return true;
    const Token name = token();
    if (name.is_one_of("as at_execute procedure function")) return true;
    const Known what = at_.take_name();
    if (what.text.empty()) return true;
    const std::size_t dot = what.text.rfind('.');
    const std::string_view last = dot == std::string_view::npos ? what.text : what.text.substr(dot + 1);
    note_function(last);
    if (texts_ == Texts::code && !ascii::equals(last, "sp_executesql") && !ascii::equals(last, "format")) {
      emit("exec", what.text, Known{}, start);
      if (ascii::equals(last, "sp_configure")) texts_ = Texts::data;
    }
    return true;
  }

  // ATTACH DATABASE 'x' AS y, RESTORE DATABASE x ...
  bool whole(std::string_view verb, bool optional) noexcept {
    const std::size_t start = token().start;
    const Token next = at_.peek();
    if (optional && next.kind == Kind::end) return false;
    at_.advance();
    at_.skip_words("database log filelistonly headeronly verifyonly from as");
    emit(verb, "database", at_.take_name(), start);
    return true;
  }

  bool administer() noexcept {
    const Token verb = token();
    const std::size_t start = verb.start;
    at_.advance();
    if (verb.is("load")) return true;  // LOAD DATA: its INFILE is met later
    if (verb.is("shutdown")) {
      emit("shutdown", "server", Known{}, start);
    } else if (verb.is("kill")) {
      at_.skip_words("query connection hard soft");
      emit("kill", "session", at_.take_name(), start);
    } else if (verb.is("vacuum")) {
      bool full = false;
      if (token().is_mark('(')) {
        const std::uint32_t inside = at_.depth();
        while (!at_.at_end() && !(token().is_mark(')') && at_.depth() == inside)) {
          full = full || token().is("full");
          at_.advance();
        }
        at_.advance();
      }
      full = full || token().is("full");
      at_.skip_words("full freeze verbose analyze");
      if (full) emit("vacuum", "full", at_.take_name(), start);
    } else if (verb.is("set")) {
      if (token().is_one_of("global persist persist_only password")) {
        const bool password = token().is("password");
        at_.advance();
        emit("set", password ? "password" : "global", password ? Known{} : at_.take_name(), start);
      } else if (token().is_mark('@') && at_.peek().is_mark('@')) {
        const Known name = at_.take_name();
        if (name.span.end > name.span.start) emit("set", "global", name, start);
      }
    } else if (verb.is("pragma")) {
      emit("pragma", {}, at_.take_name(), start);
    } else {
      const std::string_view name = canonical(verb, "reset purge flush rename lock");
      std::string_view object = canonical(token(), kObjects);
      if (object.empty() && token().is("recyclebin")) object = "recyclebin";
      if (object.empty()) return true;
      at_.advance();
      emit(name, object, name == "rename" || name == "lock" ? at_.take_name() : Known{}, start);
    }
    return true;
  }

  // --- what stands inside statements ---

  void note_function(std::string_view name) noexcept {
    if (ascii::equals(name, "xp_cmdshell")) texts_ = Texts::cmd;
    if (ascii::one_of(name, "sys_exec sys_eval sys_system lib_mysqludf_sys system_exec os_command")) texts_ = Texts::shell;
    if (ascii::one_of(name, "dblink dblink_exec sp_executesql query_to_xml exec_sql")) texts_ = Texts::code;
    if (ascii::one_of(name, "pg_read_file pg_read_binary_file load_file readfile lo_import pg_ls_dir read_text read_blob")) texts_ = Texts::read;
    if (ascii::one_of(name, "writefile lo_export pg_file_write")) texts_ = Texts::write;
  }

  void inside() noexcept {
    const Token now = token();
    if (now.kind == Kind::text) {
      text(now);
    } else if (now.kind == Kind::word) {
      word(now);
    } else if (now.is_mark(')') && at_.depth() > 0) {
      flush_from(at_.depth());
      if (texts_ == Texts::read || texts_ == Texts::write) texts_ = Texts::data;
    }
    if (!moved_) at_.advance();
    moved_ = false;
  }

  void text(const Token& now) noexcept {
    const Texts meaning = texts_;
    switch (meaning) {
      case Texts::data: return;
      case Texts::graph: return;
      case Texts::cmd:
        run(Dialect::cmd, at_.contents(now), via::kInterpreter);
        texts_ = Texts::data;
        return;
      case Texts::shell:
      case Texts::program:
        run(Dialect::shell, at_.contents(now), via::kInterpreter);
        texts_ = Texts::data;
        return;
      case Texts::code:
      case Texts::definition: {
        // A body in another language is told by what stands around it.
        Dialect dialect = body_;
        if (dialect == Dialect::sql && at_.peek().is("language")) {
          Lexer after(at_.code().text.substr(now.stop), false);
          after.next();
          const Token language = after.next();
          dialect = language_of(language);
        }
        if (meaning == Texts::definition && now.quote != '$' && !at_.previous().is("as")) return;
        run(dialect, at_.contents(now));
        return;
      }
      case Texts::copy: return;
      case Texts::copy_to:
      case Texts::write:
        emit_file("@write", at_.contents(now));
        texts_ = Texts::data;
        return;
      case Texts::copy_from:
      case Texts::read:
        emit_file("@read", at_.contents(now));
        texts_ = Texts::data;
        return;
    }
  }
  static Dialect language_of(const Token& language) noexcept {
    if (ascii::starts_with(language.text, "plpython")) return Dialect::python;
    if (ascii::starts_with(language.text, "plperl")) return Dialect::perl;
    if (ascii::starts_with(language.text, "plv8") || language.is("js") || language.is("javascript")) return Dialect::node;
    if (ascii::one_of(language.text, "plsh plbash")) return Dialect::shell;
    return Dialect::sql;
  }

  void word(const Token& now) noexcept {
    Pending* open = open_here();
    if (now.is("where") && open != nullptr && !open->where) {
      open->where = true;
      at_.advance();
      const std::uint32_t place = pending_count_ - 1;
      const Truth truth = Condition(at_).read();
      if (place < pending_count_) pending_[place].always_true = truth == Truth::always;
      moved_ = true;
      return;
    }
    if (open != nullptr) {
      if (now.is_one_of("limit rows")) open->limit = true;
      if (now.is_one_of("join using")) open->join = open->verb != "merge";
      if (now.is("set") && open->verb == "update") open->sets = true;
      if (now.is_one_of("select insert exec execute declare print if use create alter grant") && open->verb != "merge" &&
          open->depth == 0) {
        flush(0);
        if (now.is_one_of("exec execute alter grant create")) {
          moved_ = statement(true);
          return;
        }
      }
    }
    if (now.is("language")) {
      body_ = language_of(at_.peek());
    } else if (now.is_one_of("begin case")) {
      if (defining_) ++blocks_;
    } else if (now.is("end")) {
      if (blocks_ > 0 && !at_.peek().is_one_of("if loop while repeat for")) --blocks_;
    } else if (now.is("infile")) {
      texts_ = Texts::read;
    } else if (now.is_one_of("outfile dumpfile")) {
      texts_ = Texts::write;
    } else if (texts_ == Texts::copy && at_.depth() == 0 && now.is("to")) {
      texts_ = Texts::copy_to;
    } else if (texts_ == Texts::copy && at_.depth() == 0 && now.is("from")) {
      texts_ = Texts::copy_from;
    } else if ((texts_ == Texts::copy_to || texts_ == Texts::copy_from) && now.is("program")) {
      texts_ = Texts::program;
    } else if (now.is_one_of("exec execute") && !at_.previous().is_one_of("grant on")) {
      const Token next = at_.peek();
      if (next.kind == Kind::text || next.is_mark('(') || next.is("immediate") || next.is("format")) texts_ = Texts::code;
      else if (next.is_one_of("master xp_cmdshell sp_executesql")) texts_ = Texts::code;
    } else if (now.is("pg_terminate_backend")) {
      emit("kill", "session", Known{}, now.start);
    } else if (now.is("load_extension") && at_.peek().is_mark('(')) {
      emit("exec", "load_extension", Known{}, now.start);
    } else if (texts_ == Texts::graph && now.is("delete") && at_.peek().kind == Kind::word) {
      const std::size_t start = now.start;
      at_.advance();
      emit("delete", "node", at_.take_name(), start);
      moved_ = true;
    } else {
      note_function(now.text);
    }
  }

  // What the texts of a statement are to the server.
  enum class Texts : std::uint8_t { data, code, definition, shell, cmd, copy, copy_to, copy_from, program, read, write, graph };
  static constexpr std::uint32_t kPending = 8;
  static constexpr std::uint32_t kNames = 16;

  Reader& reader_;
  const Frame& frame_;
  Cursor at_;
  Pending pending_[kPending];
  std::uint32_t pending_count_ = 0;
  std::uint32_t blocks_ = 0;  // BEGIN and CASE that are open in a definition
  Texts texts_ = Texts::data;
  Dialect body_ = Dialect::sql;
  bool begins_ = true, defining_ = false, moved_ = false;
};

// Whether a backslash escapes in texts: it does for MySQL. Where nobody says which server it is, whatever leaves the
// code whole.
inline bool escapes_with_backslash(const Reader& reader, const Code& code, const Frame& frame) noexcept {
  if (frame.carrier != kNone && frame.carrier < reader.tree->command_count()) {
    const std::string_view client = reader.tree->command(frame.carrier).program;
    if (ascii::one_of(client, "mysql mariadb")) return true;
  }
  if (code.text.find('\\') == std::string_view::npos) return false;
  for (const bool backslashes : {false, true}) {
    Lexer lexer(code.text, backslashes);
    while (lexer.next().kind != Kind::end) {
    }
    if (!lexer.is_open()) return backslashes;
  }
  return false;
}

}  // namespace sql

inline void read_sql(Reader& reader, const Code& code, const Frame& frame) noexcept {
  if (code.text.size() == 1 && code.text[0] == kUnknownPart) {
    reader.tree->add_uncertainty(Unresolved::code, code.origin, frame.carrier);
    return;
  }
  sql::Statements(reader, code, frame, sql::escapes_with_backslash(reader, code, frame)).read();
}

}  // namespace tipstaff::gate
