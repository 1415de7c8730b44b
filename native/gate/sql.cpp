// Reads SQL of all servers, and the commands of their clients. Redis is in sql/redis.hpp.
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
#include "tipstaff/gate/sql/administration.hpp"
#include "tipstaff/gate/sql/changes.hpp"
#include "tipstaff/gate/sql/texts.hpp"
#include "tipstaff/gate/sql/redis.hpp"

namespace tipstaff::gate {

namespace sql {

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

void read_sql(Reader& reader, const Code& code, const Frame& frame) noexcept {
  if (code.text.size() == 1 && code.text[0] == kUnknownPart) {
    reader.tree->add_uncertainty(Unresolved::code, code.origin, frame.carrier);
    return;
  }
  sql::Statements(reader, code, frame, sql::escapes_with_backslash(reader, code, frame)).read();
}

}  // namespace tipstaff::gate
