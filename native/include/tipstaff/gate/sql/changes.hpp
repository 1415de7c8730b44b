// Statements that change or lose data: DROP, TRUNCATE, DELETE, UPDATE, MERGE, REPLACE, ALTER.
#pragma once

#include "tipstaff/gate/sql/statements.hpp"

namespace tipstaff::gate::sql {

inline bool Statements::drop(bool opens) noexcept {
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

inline bool Statements::truncate(bool opens) noexcept {
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

inline void Statements::skip_top(Pending* pending) noexcept {
  if (!token().is("top")) return;
  at_.advance();
  if (token().is_mark('(')) {
    at_.skip_parentheses();
  } else if (token().kind == Kind::number) {
    at_.advance();
  }
  pending->limit = true;
}

inline bool Statements::remove(bool opens) noexcept {
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
    pending.table = table.text;
  }
  if (pending.name.text.empty()) pending.name = unknown_text(at_.span(pending.start, at_.previous().stop));
  push(pending);
  return true;
}

inline bool Statements::update(bool opens) noexcept {
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

inline bool Statements::merge() noexcept {
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

inline bool Statements::replace() noexcept {
  if (at_.peek().is_mark('(')) return false;
  const std::size_t start = token().start;
  at_.advance();
  at_.skip_words("low_priority delayed into");
  const Known name = at_.take_name();
  if (!name.text.empty()) emit("replace", "table", name, start);
  return true;
}

inline bool Statements::alter() noexcept {
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

}  // namespace tipstaff::gate::sql
