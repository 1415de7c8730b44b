// Commands of SQL clients, which are between statements: psql's \!, mysql's system, sqlite's .shell, sqlcmd's !!.
#pragma once

#include "tipstaff/gate/sql/cursor.hpp"

namespace tipstaff::gate::sql {

class ClientCommands {
 public:
  ClientCommands(Reader& reader, Cursor& cursor, const Frame& frame) noexcept
      : reader_(reader), at_(cursor), frame_(frame) {}

  // A backslash and a name, wherever it is. True: it ends a statement, as \g does.
  bool backslash() noexcept {
    const std::string_view name = at_.token().text;
    if (name == "!") {
      shell(at_.rest_of_line());
      return false;
    }
    if (ascii::one_of(name, "i ir include include_relative") || name == ".") {
      include(at_.rest_of_line());
      return true;
    }
    if (ascii::equals(name, "copy")) {
      copy(at_.rest_of_line());
      return true;
    }
    if (name == "gexec") {
      reader_.tree->add_uncertainty(Unresolved::code, at_.span(at_.token().start, at_.token().stop), frame_.carrier);
      at_.advance();
      return true;
    }
    if (ascii::one_of(name, "o out w write g gx t")) {
      const bool ends = name[0] == 'g' || name[0] == 'G';
      if (name == "t") {
        at_.advance();
        return false;
      }
      output(at_.rest_of_line('\\'));
      return ends;
    }
    if (name == "P") {
      shell(at_.rest_of_line());
      return false;
    }
    // What these print or hold is no statement.
    if (ascii::one_of(name, "echo qecho warn prompt title h help set pset encoding c connect d dt du l r setenv timing if elif")) {
      at_.rest_of_line('\\');
      return true;
    }
    at_.advance();
    return true;
  }

  // What begins a statement and is one of a client's own commands. False: it is none.
  bool word() noexcept {
    const Token& token = at_.token();
    if (token.kind == Kind::mark) return mark(token.text[0]);
    if (token.kind != Kind::word) return false;
    const std::string_view name = token.text;
    if (ascii::one_of(name, "system host ho")) {
      shell(at_.rest_of_line());
    } else if (ascii::equals(name, "source")) {
      include(at_.rest_of_line());
    } else if (ascii::one_of(name, "tee spool")) {
      output(at_.rest_of_line());
    } else if (ascii::equals(name, "pager")) {
      shell(at_.rest_of_line());
    } else if (ascii::one_of(name, "delimiter prompt rem remark print whenever")) {
      at_.rest_of_line();
    } else {
      return false;
    }
    return true;
  }

 private:
  bool mark(char first) noexcept {
    if (first == '!') {  // sqlcmd's !! and SQL*Plus's !
      if (at_.peek().is_mark('!')) at_.advance();
      shell(at_.rest_of_line());
      return true;
    }
    if (first == ':') {
      const Token next = at_.peek();
      if (next.is_mark('!')) {
        at_.advance();
        return mark('!');
      }
      if (!next.is_one_of("r on setvar connect out error perftrace xml listvar help list reset serverlist ed quit")) return false;
      at_.advance();
      const bool includes = at_.token().is("r"), writes = at_.token().is_one_of("out error perftrace");
      const Known rest = at_.rest_of_line();
      if (includes) include(rest);
      if (writes) file("@write", rest);
      return true;
    }
    if (first == '#') {  // a comment of MySQL's, after a statement
      at_.rest_of_line();
      return true;
    }
    if (first == '@' && at_.peek().kind == Kind::word && at_.peek().start == at_.token().stop) {
      include(at_.rest_of_line());
      return true;
    }
    if (first == '.') return dot();
    return false;
  }

  bool dot() noexcept {
    const Token name = at_.peek();
    if (name.kind != Kind::word || name.start != at_.token().stop) return false;
    at_.advance();
    const Known rest = at_.rest_of_line();
    if (ascii::one_of(name.text, "shell system sh")) {
      shell(rest);
    } else if (ascii::equals(name.text, "read")) {
      include(rest);
    } else if (ascii::one_of(name.text, "output once save backup clone log trace excel")) {
      output(last_word(rest));
    } else if (ascii::equals(name.text, "open") && rest.text.find("-new") != std::string_view::npos) {
      output(last_word(rest));  // the database begins empty
    } else if (ascii::equals(name.text, "import")) {
      const Known path = option_free(rest);
      if (!path.text.empty() && path.text[0] == '|') {
        output(path);
      } else {
        file("@read", path);
      }
    } else if (ascii::equals(name.text, "load")) {
      simple("exec", "load_extension", rest);
    } else if (ascii::equals(name.text, "restore")) {
      simple("restore", "database", rest);
    }
    return true;
  }

  static Known unquoted(Known text) noexcept {
    const std::string_view t = text.text;
    if (t.size() >= 2 && (t[0] == '\'' || t[0] == '"') && t.back() == t[0]) {
      text.text = t.substr(1, t.size() - 2);
      if (text.verbatim) text.span = {text.span.start + 1, text.span.end - 1};
    }
    return text;
  }
  static Known piece(const Known& text, std::size_t start, std::size_t size) noexcept {
    Known part = text;
    part.text = text.text.substr(start, size);
    if (text.verbatim) {
      part.span.start = static_cast<std::uint32_t>(text.span.start + start);
      part.span.end = static_cast<std::uint32_t>(part.span.start + part.text.size());
    }
    return unquoted(part);
  }
  static Known last_word(const Known& text) noexcept {
    if (text.text.find('|') != std::string_view::npos) return text;
    const std::size_t blank = text.text.find_last_of(" \t");
    return blank == std::string_view::npos ? unquoted(text) : piece(text, blank + 1, std::string_view::npos);
  }
  // The first word that is no option; all of a quoted one.
  static Known option_free(const Known& text) noexcept {
    std::size_t i = 0;
    const std::string_view t = text.text;
    while (i < t.size()) {
      while (i < t.size() && ascii::is_blank(t[i])) ++i;
      std::size_t end = i;
      if (i < t.size() && (t[i] == '"' || t[i] == '\'')) {
        end = t.find(t[i], i + 1);
        end = end == std::string_view::npos ? t.size() : end + 1;
      } else {
        while (end < t.size() && !ascii::is_blank(t[end])) ++end;
      }
      if (i < t.size() && t[i] != '-') return piece(text, i, end - i);
      i = end;
    }
    return piece(text, t.size(), 0);
  }

  void shell(Known text) noexcept {
    while (!text.text.empty() && text.text.back() == ';') {
      text.text.remove_suffix(1);
      if (text.verbatim) --text.span.end;
    }
    if (text.text.empty()) return;
    if (text.is_blank()) {
      reader_.tree->add_uncertainty(Unresolved::code, text.span, frame_.carrier);
      return;
    }
    Frame frame = frame_;
    frame.via |= via::kInterpreter;
    read_code(reader_, Dialect::shell, text.code(), frame);
  }
  void include(Known path) noexcept {
    path = unquoted(path);
    while (!path.text.empty() && path.text.back() == ';') path.text.remove_suffix(1);
    if (path.text.empty()) return;
    if (path.text[0] == '|') return output(path);
    read_included(reader_, Dialect::sql, path, frame_);
  }
  void output(Known target) noexcept {
    target = unquoted(target);
    if (!target.text.empty() && target.text[0] == '|') {
      std::size_t start = 1;
      while (start < target.text.size() && ascii::is_blank(target.text[start])) ++start;
      return shell(piece(target, start, std::string_view::npos));
    }
    if (target.text.empty() || ascii::one_of(target.text, "off stdout")) return;
    file("@write", target);
  }
  void file(std::string_view program, const Known& path) noexcept {
    if (path.text.empty()) return;
    CommandWriter writer(reader_, frame_, Dialect::sql, program, path.span);
    writer.known(path, word_flag::kPseudo);
    writer.end();
  }
  void simple(std::string_view verb, std::string_view object, const Known& name) noexcept {
    CommandWriter writer(reader_, frame_, Dialect::sql, "sql", name.span);
    writer.flag(verb).flag(object).known(name, word_flag::kPseudo);
    writer.end();
  }
  // \copy t from program 'x', \copy (select ...) to 'file': COPY, but done by the client.
  void copy(const Known& rest) noexcept {
    if (rest.text.empty()) return;
    Cursor cursor(reader_, rest_code(rest), false);
    bool program = false, writes = false, reads = false;
    for (; !cursor.at_end(); cursor.advance()) {
      const Token& token = cursor.token();
      if (cursor.depth() > 0) continue;
      if (token.is("to")) writes = true;
      if (token.is("from")) reads = true;
      if (token.is("program") && (reads || writes)) program = true;
      if (token.kind == Kind::text && (reads || writes)) {
        const Known text = cursor.contents(token);
        if (program) {
          shell(text);
        } else {
          file(writes ? "@write" : "@read", text);
        }
        return;
      }
    }
  }
  const Code& rest_code(const Known& rest) noexcept {
    copy_ = rest.code();
    return copy_;
  }

  Reader& reader_;
  Cursor& at_;
  const Frame& frame_;
  Code copy_;
};

}  // namespace tipstaff::gate::sql
