// What is inside statements: conditions, texts and what the server does with them.
#pragma once

#include "tipstaff/gate/sql/statements.hpp"

namespace tipstaff::gate::sql {

inline void Statements::note_function(std::string_view name) noexcept {
  if (ascii::equals(name, "xp_cmdshell")) texts_ = Texts::cmd;
  if (ascii::one_of(name, "sys_exec sys_eval sys_system lib_mysqludf_sys system_exec os_command")) texts_ = Texts::shell;
  if (ascii::one_of(name, "dblink dblink_exec sp_executesql query_to_xml exec_sql")) texts_ = Texts::code;
  if (ascii::one_of(name, "pg_read_file pg_read_binary_file load_file readfile lo_import pg_ls_dir read_text read_blob")) texts_ = Texts::read;
  if (ascii::one_of(name, "writefile lo_export pg_file_write")) texts_ = Texts::write;
}

inline void Statements::inside() noexcept {
  const Token now = token();
  if (now.is_mark('@') && at_.peek().kind == Kind::word && at_.peek().start == now.stop) {
    variable();
  } else if (now.kind == Kind::text) {
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

// @name = 'text' is remembered; where code is wanted, @name is the text that it holds.
inline void Statements::variable() noexcept {
  const bool runs = texts_ == Texts::code && (at_.previous().is_mark('(') || at_.previous().is_one_of("from sp_executesql immediate prepare"));
  const std::size_t start = token().start;
  at_.advance();
  const std::string_view name = token().text;
  const std::size_t stop = token().stop;
  at_.advance();
  moved_ = true;
  Variable* known = nullptr;
  for (std::uint32_t i = 0; i < text_count_; ++i) {
    if (same_word(variables_[i].name, name)) known = &variables_[i];
  }
  if (runs) {
    run(Dialect::sql, known != nullptr ? known->text : unknown_text(at_.span(start, stop)));
    return;
  }
  // DECLARE @name type(9) = 'text', SET @name = 'text', SELECT @name := 'text'
  if (at_.previous().is(name) && token().kind == Kind::word) at_.advance();
  if (token().is_mark('(')) at_.skip_parentheses();
  if (token().is_mark(':')) at_.advance();
  if (!token().is_mark('=')) return;
  at_.advance();
  Known text = token().kind == Kind::text ? at_.contents(token()) : unknown_text(at_.span(start, stop));
  if (known == nullptr && text_count_ < kTexts) {
    known = &variables_[text_count_++];
    known->name = name;
  }
  if (token().kind == Kind::text && (at_.peek().is_mark('+') || at_.peek().is_mark('|'))) text = unknown_text(text.span);
  if (known != nullptr) known->text = text;
}

inline void Statements::text(const Token& now) noexcept {
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
      // A body in another language is recognised by what is around it.
      Dialect dialect = body_;
      if (dialect == Dialect::sql && at_.peek().is("language")) {
        Lexer after(at_.code().text.substr(now.stop), false);
        after.next();
        const Token language = after.next();
        dialect = language_of(language);
      }
      if (meaning == Texts::definition && now.quote != '$' && !at_.previous().is("as")) return;
      Known text = at_.contents(now);
      if (dialect == Dialect::sql && now.quote != '$') {  // 'DRO' || 'P TABLE ' || name
        Lexer after(at_.code().text.substr(now.stop), false);
        for (Token next = after.next(); next.is_mark('|') || next.is_mark('+') || (next.kind == Kind::text && next.start > 0); next = after.next()) {
          if (next.kind == Kind::text) text = Known{at_.tree().join(at_.tree().copy(text.text), next.text), text.span, false, text.flags};
        }
      }
      run(dialect, text);
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

inline Dialect Statements::language_of(const Token& language) noexcept {
  if (ascii::starts_with(language.text, "plpython")) return Dialect::python;
  if (ascii::starts_with(language.text, "plperl")) return Dialect::perl;
  if (ascii::starts_with(language.text, "plv8") || language.is("js") || language.is("javascript")) return Dialect::node;
  if (ascii::one_of(language.text, "plsh plbash")) return Dialect::shell;
  return Dialect::sql;
}

// Functions that people write to empty a database, and those that drop parts of one.
inline bool Statements::empties_by_name(std::string_view name) noexcept {
  for (const std::string_view start : {std::string_view("truncate_table"), std::string_view("truncate_all"), std::string_view("truncate_schema"), std::string_view("drop_all"), std::string_view("drop_table"), std::string_view("drop_schema"), std::string_view("drop_chunks"), std::string_view("drop_partition"), std::string_view("delete_all"), std::string_view("wipe_"), std::string_view("purge_all"), std::string_view("reset_database"), std::string_view("pg_drop_replication")})
    if (ascii::starts_with(name, start)) return true;
  return false;
}

inline void Statements::word(const Token& now) noexcept {
  Pending* open = open_here();
  if (now.is("where") && open != nullptr && !open->where) {
    open->where = true;
    open->join = open->join || open->uses;
    at_.advance();
    const std::uint32_t place = pending_count_ - 1;
    const Truth truth = Condition(at_, open->table.empty() ? open->name.text : open->table, open->joins_itself, open->uses && !open->joins_itself).read();
    if (place < pending_count_) pending_[place].always_true = truth == Truth::always;
    moved_ = true;
    return;
  }
  if (open != nullptr) {
    if (now.is_one_of("limit rows")) open->limit = true;
    if (now.is("join")) open->joins = true;
    if (now.is("using") && !open->joins) open->uses = true;
    if (now.is_one_of("join using") && ascii::equals(at_.peek().text, open->table.empty() ? open->name.text : open->table)) open->joins_itself = true;
    if (open->joins && open->joins_itself && now.is("on")) {
      at_.advance();
      const std::uint32_t place = pending_count_ - 1;
      const bool all = Condition(at_, open->name.text, true).read() == Truth::always;
      if (place < pending_count_) pending_[place].join = !all && pending_[place].verb != "merge";
      moved_ = true;
      return;
    }
    if (open->joins && (now.is_one_of("on using") || at_.previous().is("natural"))) open->join = open->verb != "merge";  // what it joins by
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
  } else if (at_.peek().is_mark('(') && empties_by_name(now.text) && !at_.previous().is_one_of("function procedure")) {
    emit("truncate", "table", Known{}, now.start);
  } else if (now.is("load_extension") && at_.peek().is_mark('(')) {
    emit("exec", "load_extension", Known{}, now.start);
  } else if (texts_ == Texts::graph && now.is("delete") && at_.peek().kind == Kind::word) {
    const std::size_t start = now.start;
    at_.advance();
    emit("delete", "node", at_.take_name(), start);
    moved_ = true;
  } else if (now.is("job_action")) {
    texts_ = Texts::code;  // DBMS_SCHEDULER.create_job(..., job_action => 'CODE')
  } else if (now.is_one_of("cron timetable") && at_.peek().is_mark('.')) {
    texts_ = Texts::code;  // pg_cron: cron.schedule('name', '* * * * *', 'CODE')
  } else {
    note_function(now.text);
  }
}

}  // namespace tipstaff::gate::sql
