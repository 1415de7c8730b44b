// Statements that administer a server: rights, definitions, settings, sessions, code that is executed.
#pragma once

#include "tipstaff/gate/sql/statements.hpp"

namespace tipstaff::gate::sql {

inline bool Statements::grant(std::string_view verb) noexcept {
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

inline bool Statements::create() noexcept {
  const std::size_t start = token().start;
  at_.advance();
  bool replaces = false, temporary = false;
  for (std::uint32_t i = 0; i < 12 && token().kind != Kind::end && !token().is_mark(';'); ++i) {
    if (token().is("replace")) replaces = true;
    if (token().is_one_of("temp temporary")) temporary = true;
    if ((token().is("event") && !at_.peek().is("trigger")) || token().is("task")) return true;  // the server does what it holds by itself, soon
    if (token().is_one_of("function procedure proc trigger event rule package task")) {
      defining_ = true;
      texts_ = Texts::definition;
      return true;
    }
    const std::string_view object = canonical(token(), "table user role login extension language");
    if (!object.empty()) {
      if (object == "table" && !replaces && !temporary) return true;
      at_.advance();
      Flags flags;
      flags.if_exists = if_exists();
      const Known name = at_.take_name();
      if (object == "table" && temporary) {
        if (temporary_count_ < kNames) temporary_[temporary_count_++] = name.text;
        return true;
      }
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
inline bool Statements::explain() noexcept {
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

inline bool Statements::execute() noexcept {
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
    emit("exec", {}, what, start);
    if (ascii::equals(last, "sp_configure")) texts_ = Texts::data;
  }
  return true;
}

// ATTACH DATABASE 'x' AS y, RESTORE DATABASE x ...
inline bool Statements::whole(std::string_view verb, bool optional) noexcept {
  const std::size_t start = token().start;
  const Token next = at_.peek();
  if (optional && next.kind == Kind::end) return false;
  at_.advance();
  if (token().is_one_of("filelistonly headeronly verifyonly labelonly rewindonly")) return true;  // of SQL Server: they show what a backup holds
  at_.skip_words("database log from as");
  emit(verb, "database", at_.take_name(), start);
  return true;
}

inline bool Statements::administer() noexcept {
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

}  // namespace tipstaff::gate::sql
