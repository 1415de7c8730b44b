// Reads programs as far as their calls and the values that reach them go. Statements are not understood: expressions
// are, wherever they stand. One pass; what is nested too deeply is said to be so.
#pragma once

#include "tipstaff/gate/program_actions.hpp"

namespace tipstaff::gate::program {

class Program : private Actions {
 public:
  Program(Reader& reader, const Code& code, const Frame& frame, Language language, Dialect dialect, bool mongo = false) noexcept
      : Actions(reader, code, frame, language, dialect), lexer_(code.text, language), mongo_(mongo) {}

  void read() noexcept {
    advance();
    while (token_.kind != Kind::end) {
      const std::size_t before = token_.start;
      statement();
      if (token_.kind != Kind::end && token_.start == before) advance();
    }
    finish_reverse_shell();
    if (lexer_.is_open()) tree_.add_uncertainty(Unresolved::syntax, code_.origin, frame_.carrier);
  }

 private:
  static constexpr std::uint32_t kLevels = 40;

  struct Level {
    explicit Level(std::uint32_t& level) noexcept : level_(level) { ++level_; }
    ~Level() { --level_; }
    std::uint32_t& level_;
  };

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

  // --- statements ---

  void statement() noexcept {
    if (token_.kind == Kind::name && token_.sigil == 0) {
      if (is_python()) {
        if (token_.is_name("import")) return import_modules();
        if (token_.is_name("from")) return import_from();
      }
      if (language_ == Language::node && token_.is_name("import") && !peek().is("(")) return import_node();
      if (token_.is_one_of("const let var") && language_ == Language::node) {
        advance();
        if (token_.is("{")) return destructure();
        return;
      }
      if (token_.is_one_of("for foreach async") && loop()) return;
      if (token_.is_name("new")) return advance();
      if (mongo_ && token_.is_one_of("show use it help exit")) {
        advance();
        while (token_.kind != Kind::end && !token_.line) advance();
        return;
      }
    }
    if (token_.kind == Kind::mark && !token_.is("(") && !token_.is("[") && !token_.is("{") && !token_.is("-") && !token_.is("!") &&
        !token_.is("\\") && !token_.is("&") && !token_.is("@")) {
      return advance();
    }
    expression();
  }

  // import a.b as c, d
  void import_modules() noexcept {
    advance();
    while (token_.kind == Kind::name) {
      const std::size_t start = token_.start;
      const std::string_view top = token_.text;
      advance();
      std::size_t stop = previous_stop_;
      while (token_.is(".") && !token_.line) {
        advance();
        if (token_.kind == Kind::name) advance();
        stop = previous_stop_;
      }
      if (token_.is_name("as")) {
        advance();
        memory_.bind(token_.text, object(lexer_.text().substr(start, stop - start)));
        advance();
      } else {
        memory_.bind(top, object(top));
      }
      if (!skip(",")) return;
    }
  }
  // from a.b import c as d, e
  void import_from() noexcept {
    advance();
    const std::size_t start = token_.start;
    while ((token_.kind == Kind::name && !token_.is_name("import")) || token_.is(".") || token_.is("...") || token_.is("..")) advance();
    const std::string_view module = lexer_.text().substr(start, previous_stop_ > start ? previous_stop_ - start : 0);
    if (!token_.is_name("import")) return;
    advance();
    const bool grouped = skip("(");
    if (token_.is("*")) {
      star_module_ = module;
      return advance();
    }
    while (token_.kind == Kind::name && (grouped || !token_.line)) {
      const std::string_view name = token_.text;
      advance();
      std::string_view local = name;
      if (token_.is_name("as")) {
        advance();
        local = token_.text;
        advance();
      }
      memory_.bind(local, member(object(module), name));
      if (!skip(",")) break;
    }
    if (grouped) skip(")");
  }
  static std::string_view module_name(std::string_view text) noexcept {
    if (ascii::starts_with(text, "node:")) text.remove_prefix(5);
    if (text == "fs/promises") return "fs";
    return text;
  }
  // import a, {b as c}, * as d from "module"
  void import_node() noexcept {
    advance();
    Lexer ahead = lexer_;
    Token token = token_;
    std::string_view module;
    for (int i = 0; i < 64 && token.kind != Kind::end && !token.is(";"); ++i, token = ahead.next()) {
      if (token.kind == Kind::text) {
        module = module_name(token.text);
        break;
      }
    }
    while (token_.kind != Kind::end && token_.kind != Kind::text && !token_.is(";")) {
      if (token_.is("{")) {
        names_of(object(module));
        continue;
      }
      if (token_.kind == Kind::name && !token_.is_one_of("from as")) memory_.bind(token_.text, object(module));
      advance();
    }
    if (token_.kind == Kind::text) advance();
  }
  // {a, b: c, d as e} of a module: binds them. At the opening brace.
  void names_of(const Value& whole) noexcept {
    advance();
    while (token_.kind == Kind::name) {
      const std::string_view name = token_.text;
      std::string_view local = name;
      advance();
      if (token_.is(":") || token_.is_name("as")) {
        advance();
        if (token_.kind == Kind::name) local = token_.text;
        advance();
      }
      memory_.bind(local, whole.kind == Value::object ? member(whole, name) : Value{});
      if (token_.is("=")) {
        advance();
        expression();
      }
      if (!skip(",")) break;
    }
    skip("}");
  }
  // const {a, b: c} = require("module")
  void destructure() noexcept {
    Lexer ahead = lexer_;
    Token token = ahead.next();
    for (int i = 0; i < 128 && token.kind != Kind::end && !token.is("}"); ++i) token = ahead.next();
    const Token sign = ahead.next();
    if (!token.is("}") || !sign.is("=")) return advance();
    // What is taken apart stands behind it: read that first, then the names.
    const Lexer names_lexer = lexer_;
    const Token names_token = token_;
    lexer_ = ahead;
    advance();
    const Value whole = expression();
    const Lexer after_lexer = lexer_;
    const Token after_token = token_;
    const std::size_t stop = previous_stop_;
    lexer_ = names_lexer;
    token_ = names_token;
    names_of(whole);
    lexer_ = after_lexer;
    token_ = after_token;
    previous_stop_ = stop;
  }

  // for x in list, for (const x of list), for my $x (list), foreach ($list as $x)
  bool loop() noexcept {
    if (token_.is_name("async")) return false;
    const bool each = token_.is_name("foreach");
    advance();
    std::string_view name;
    if (language_ == Language::php) {
      if (!each || !skip("(")) return true;
      ++brackets_;
      const Value value = expression();
      --brackets_;
      if (token_.is_name("as")) {
        advance();
        Token last = token_;
        while (token_.kind == Kind::name || token_.is("=>")) {
          last = token_;
          advance();
        }
        memory_.bind(last.text, items_of(value));
      }
      return true;
    }
    const bool grouped = language_ == Language::node && token_.is("(");
    if (grouped) advance();
    while (token_.is_one_of("const let var my our await each")) advance();
    const bool tuple = is_python() && token_.is("(");
    if (tuple) advance();
    if (token_.kind != Kind::name) {
      if (language_ == Language::perl && token_.is("(")) {  // for (list) { ... $_ ... }
        const Value value = expression();
        memory_.bind("_", items_of(value));
      }
      return true;
    }
    name = token_.text;
    advance();
    std::uint32_t names = 1;
    while (token_.is(",") && is_python()) {
      advance();
      if (token_.kind == Kind::name) {
        memory_.bind(token_.text, Value{});
        advance();
      }
      ++names;
    }
    if (tuple) skip(")");
    if (language_ == Language::perl) {
      memory_.bind(name, items_of(expression()));
      return true;
    }
    if (!token_.is_one_of("in of")) {
      if (token_.is("=")) {
        advance();
        memory_.bind(name, expression());
      }
      return true;
    }
    advance();
    Value value = expression();
    if (value.kind == Value::walk) {
      value = names > 1 ? fixed(value.known.text, value.known.span, value.known.flags) : Value{};
    } else if (names > 1) {
      value = Value{};
    }
    memory_.bind(name, items_of(value));
    return true;
  }
  static Value items_of(const Value& value) noexcept {
    Value each = value;
    if (each.kind == Value::list) each.kind = each.count == 0 ? Value::unknown : Value::any;
    if (each.kind == Value::content || each.kind == Value::options || each.kind == Value::object) return Value{};
    return each;
  }

  // --- expressions ---

  Value expression() noexcept {
    if (level_ >= kLevels) return too_deep();
    const Level level(level_);
    const std::size_t start = token_.start;
    Value value = unary();
    for (;;) {
      if (token_.kind == Kind::end || at_line()) break;
      if (token_.kind == Kind::name) {
        if (token_.sigil != 0) break;
        if (is_python() && token_.is_name("if")) {  // a if condition else b
          advance();
          expression();
          if (!token_.is_name("else")) break;
          advance();
          const Value other = expression();
          value = either(value, other, from(start));
          continue;
        }
        if (is_python() && token_.is_name("for")) {  // a comprehension
          loop();
          value = Value{};
          continue;
        }
        if (token_.is_one_of("or and xor")) {
          const bool other = token_.is_name("or");
          advance();
          const Value right = unary();
          if (other && is_python()) value = either(value, right, from(start));
          continue;
        }
        if (token_.is_one_of("in not is instanceof of x eq ne lt gt le ge cmp")) {
          advance();
          if (token_.is_one_of("in not")) advance();
          unary();
          value = Value{};
          continue;
        }
        break;
      }
      if (token_.kind != Kind::mark) break;
      if (token_.is("+") || (token_.is(".") && (language_ == Language::perl || language_ == Language::php))) {
        advance();
        value = add(value, unary(), from(start));
      } else if (token_.is("/") && (value.kind == Value::path || is_python())) {
        advance();
        const Value right = unary();
        const bool path = value.kind == Value::path || right.kind == Value::path;
        value = path ? join(value, right, from(start)) : Value{};
        if (path) value.kind = Value::path;
      } else if (token_.is("%") && value.kind == Value::text && (is_python() || language_ == Language::ruby)) {
        advance();
        value = filled(value, unary(), from(start));
      } else if (token_.is("=") || token_.is(":=") || token_.is("+=") || token_.is(".=") || token_.is("||=") || token_.is("?\?=")) {
        const bool more = token_.is("+=") || token_.is(".=");
        const bool simple = value.simple;
        const std::string_view name = assigned_;
        const Value before = value;
        advance();
        Value right = expression();
        if (more) right = add(before.kind == Value::object ? Value{} : before, right, from(start));
        if (simple) memory_.bind(name, bound(right));
        value = right;
      } else if (token_.is("?")) {
        advance();
        const Value left = expression();
        if (skip(":")) {
          const Value right = expression();
          value = either(left, right, from(start));
        } else {
          value = Value{};
        }
      } else if (token_.is("||") || token_.is("??")) {
        advance();
        const Value right = unary();
        value = value.kind == Value::unknown || value.is_text() ? either(value, right, from(start)) : value;
      } else if (token_.is("&&")) {
        advance();
        value = unary();
      } else if (token_.is("=>") && language_ == Language::node) {  // a function
        advance();
        if (token_.is("{")) return Value{};
        expression();
        value = Value{};
      } else if (token_.is("==") || token_.is("===") || token_.is("!=") || token_.is("!==") || token_.is("<") || token_.is(">") ||
                 token_.is("<=") || token_.is(">=") || token_.is("-") || token_.is("*") || token_.is("/") || token_.is("%") ||
                 token_.is("=~") || token_.is("!~") || token_.is("|") || token_.is("&") || token_.is("<<") || token_.is(">>") ||
                 token_.is("**") || token_.is("^") || token_.is("..") || token_.is("-=")) {
        const bool times = token_.is("*") && value.is_text();
        advance();
        const Value right = unary();
        value = times && right.kind == Value::number && right.known.text == "1" ? value : Value{};
      } else {
        break;
      }
      value.simple = false;
    }
    return value;
  }
  // A variable of a list is one; a path's object stays one.
  static Value bound(Value value) noexcept {
    value.simple = false;
    return value;
  }

  Value too_deep() noexcept {
    if (!said_depth_) tree_.add_uncertainty(Unresolved::depth, span(token_.start, token_.stop), frame_.carrier);
    said_depth_ = true;
    if (token_.kind != Kind::end) advance();
    return Value{};
  }

  Value unary() noexcept {
    for (std::uint32_t i = 0; i < 64; ++i) {
      if (token_.kind == Kind::mark) {
        if (token_.is("-") && language_ == Language::perl && peek().kind == Kind::name) {
          advance();
          if (token_.text.size() == 1) advance();  // -e $file
          continue;
        }
        if (token_.is("!") || token_.is("-") || token_.is("~") || token_.is("&") || token_.is("*") || token_.is("**") || token_.is("\\") ||
            token_.is("+") || token_.is("...") || token_.is("@") || token_.is("::")) {
          negative_ = token_.is("-");
          advance();
          continue;
        }
      } else if (token_.is_one_of("new await not yield return typeof void delete throw raise const let var my our local print echo puts async "
                                  "function_ lambda_ assert_ then do_ else elif elsif if unless while until use_ begin p pp static public")) {
        if (is_python() && token_.is_one_of("delete throw new puts echo p pp my our local void then static public begin")) break;
        if (language_ != Language::ruby && token_.is_one_of("p pp puts begin then")) break;
        if (peek().is("=") || peek().is(".")) break;
        if (token_.line && i > 0 && lines_end()) break;
        advance();
        continue;
      }
      break;
    }
    const Value value = primary();
    negative_ = false;
    return value;
  }

  Value primary() noexcept {
    const std::size_t start = token_.start;
    Value value;
    switch (token_.kind) {
      case Kind::end: return value;
      case Kind::text: {
        value = text_value(text_of(token_));
        advance();
        while (token_.kind == Kind::text && !at_line() && (is_python() || language_ == Language::ruby)) {
          const Value next = text_value(text_of(token_));
          advance();
          value = add(value, next, from(start));
        }
        break;
      }
      case Kind::shell:
        run_code(Dialect::shell, text_of(token_));
        advance();
        break;
      case Kind::words:
        value = words_of(token_);
        advance();
        break;
      case Kind::pattern: advance(); return trailers(value, start);
      case Kind::number:
        value.kind = Value::number;
        value.known = Known{token_.text, span(token_.start, token_.stop), code_.verbatim, 0};
        if (negative_ && start > 0) {
          value.known.text = lexer_.text().substr(start - 1, token_.stop - start + 1);
          if (value.known.text[0] != '-') value.known.text.remove_prefix(1);
        }
        advance();
        break;
      case Kind::name: return named();
      case Kind::mark:
        if (token_.is("(")) {
          value = group(")");
        } else if (token_.is("[")) {
          value = group("]");
          if (value.kind != Value::list) value = Value{};
        } else if (token_.is("{")) {
          value = mapping();
        } else if (token_.is("$") || token_.is("%")) {
          advance();  // ${ ... }, @{ ... }
          return value;
        } else if (!token_.is(")") && !token_.is("]") && !token_.is("}") && !token_.is(",") && !token_.is(";") && !token_.is(":") &&
                   !token_.is("=")) {
          advance();
          return value;
        } else {
          return value;
        }
        break;
    }
    return trailers(value, start);
  }

  // ( ... ) and [ ... ]: one value in parentheses is itself, else a list.
  Value group(std::string_view close) noexcept {
    const bool square = close == "]";
    advance();
    ++brackets_;
    Known items[48];
    std::uint32_t n = 0, written = 0;
    Value only;
    bool comma = false, spliced = false, comprehension = false;
    while (token_.kind != Kind::end && !token_.is(close)) {
      const std::size_t before = token_.start;
      if (skip(",")) {
        comma = true;
        continue;
      }
      if (token_.is(";") || token_.is("}") || (token_.is(")") && square) || (token_.is("]") && !square)) break;
      const std::size_t start = token_.start;
      only = expression();
      ++written;
      if (is_python() && token_.is_name("for")) comprehension = true;
      if ((only.kind == Value::list || only.kind == Value::any) && (spliced || language_ == Language::perl)) {
        for (std::uint32_t i = 0; i < only.count && n < 48; ++i) items[n++] = memory_.item(only.first + i);
      } else if (n < 48) {
        items[n++] = known_or_blank(only, from(start));
      }
      if (token_.start == before) advance();
    }
    --brackets_;
    skip(close);
    if (!square && written == 1 && !comma) return only;
    if (comprehension) return Value{};
    Value list;
    list.kind = Value::list;
    list.first = memory_.item_count();
    for (std::uint32_t i = 0; i < n; ++i) {
      if (!memory_.add_item(items[i])) {
        list.kind = Value::unknown;  // no room: what is in it is not known
        break;
      }
      ++list.count;
    }
    if (written == 0) list.bits |= option::kEmpty;
    return list;
  }

  // { key: value, ... } or a block of statements: calls in it are met, some of its keys matter.
  Value mapping() noexcept {
    advance();
    Value value;
    value.kind = Value::options;
    if (language_ == Language::ruby && token_.is("|")) {  // a block's own names
      advance();
      while (token_.kind == Kind::name || token_.is(",")) {
        if (token_.kind == Kind::name && block_value_.kind == Value::any) memory_.bind(token_.text, block_value_);
        advance();
      }
      skip("|");
    }
    block_value_ = Value{};
    ++brackets_;
    const std::uint32_t outer = brackets_;
    if (language_ != Language::python) brackets_ = 0;  // lines end in blocks
    bool empty = true;
    while (token_.kind != Kind::end && !token_.is("}")) {
      empty = false;
      const std::size_t before = token_.start;
      const std::string_view key = token_.kind == Kind::name || token_.kind == Kind::text ? token_.text : std::string_view();
      const Token next = key.empty() ? Token() : peek();
      if (next.is(":") || next.is("=>")) {
        if (mongo_ && command_key_.empty()) command_key_ = program_name(tree_, key);
        advance();
        advance();
        option_value(&value, key, expression());
      } else {
        statement();
      }
      skip(",");
      if (token_.start == before && token_.kind != Kind::end) advance();
    }
    brackets_ = outer - 1;
    skip("}");
    if (empty) value.bits |= option::kEmpty;
    return value;
  }
  void option_value(Value* options, std::string_view key, const Value& value) noexcept {
    const bool off = value.kind == Value::object && ascii::one_of(value.known.text, "false none null undefined nil");
    if (off) return;
    if (ascii::one_of(key, "recursive")) options->bits |= option::kRecursive;
    if (ascii::one_of(key, "force")) options->bits |= option::kForce;
    if (ascii::one_of(key, "shell")) options->bits |= option::kShell;
    if (ascii::one_of(key, "body data json files form formdata content multipart")) options->bits |= option::kSends;
    if (ascii::one_of(key, "method") && value.is_text() && ascii::one_of(value.known.text, "post put patch")) options->bits |= option::kSends;
    if (ascii::one_of(key, "args cmd argv") && value.kind == Value::list) {
      options->first = value.first;
      options->count = value.count;
    }
    if (value.kind == Value::content) {
      file_seen_ = value.known;
      has_file_seen_ = true;
    }
  }

  // --- names, members and calls ---

  // A module's member by its dotted name, as the tables have it.
  Value member(const Value& whole, std::string_view name) noexcept {
    if (whole.kind != Value::object) return Value{};
    const std::string_view left = whole.known.text;
    if (language_ == Language::node) {
      if (name == "promises" || name == "default") return whole;
      if (name.size() > 4 && ascii::ends_with(name, "sync") && name[name.size() - 4] == 'S') name.remove_suffix(4);
      if (left == "globalThis" || left == "window" || left == "global") return object(name);
    }
    if (left == "Kernel" || left == "CORE" || left == "builtins" || left == "__builtins__" || left == "self") return object(name);
    if (left.size() + name.size() > 95) return Value{};
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    if (room < left.size() + name.size() + 1) {
      tree_.set_full();
      return Value{};
    }
    std::memcpy(out, left.data(), left.size());
    out[left.size()] = '.';
    std::memcpy(out + left.size() + 1, name.data(), name.size());
    return object(tree_.keep(left.size() + name.size() + 1));
  }

  Value named() noexcept {
    const Token name = token_;
    advance();
    Value value;
    const Value* found = memory_.find(name.text);
    if (found != nullptr && (name.sigil != 0 || language_ != Language::perl)) {
      value = *found;
    } else if (name.sigil == 0 || name.sigil == ':') {
      value = special(name);
    }
    if (language_ == Language::node && value.kind == Value::object && found == nullptr) {
      std::string_view text = value.known.text;
      if (text.size() > 4 && ascii::ends_with(text, "sync") && text[text.size() - 4] == 'S') value.known.text.remove_suffix(4);
    }
    if (value.kind == Value::object && value.known.text.empty()) value.known.text = name.text;
    value.simple = true;
    const std::string_view variable = name.text;
    if (name.sigil != 0 && name.sigil != ':' && token_.is("{") && language_ == Language::perl && name.text == "ENV") {
      advance();
      const Value key = token_.kind == Kind::name ? fixed(token_.text, span(token_.start, token_.stop)) : expression();
      if (token_.kind == Kind::name) advance();
      skip("}");
      return trailers(environment(key, from(name.start)), name.start);
    }
    const std::size_t before = token_.start;
    Value result = trailers(value, name.start);
    if (token_.start != before) {
      result.simple = false;
    } else {
      assigned_ = variable;
    }
    return result;
  }
  Value special(const Token& name) noexcept {
    const Span at = span(name.start, name.stop);
    if (language_ == Language::node && ascii::one_of(name.text, "__dirname")) return working(at);
    if (language_ == Language::php && name.text == "__DIR__") return working(at);
    return object(name.text);
  }

  Value trailers(Value value, std::size_t start) noexcept {
    for (std::uint32_t i = 0; i < 4096; ++i) {
      if (token_.kind == Kind::text && token_.quote == '`' && language_ == Language::node) {
        value = tagged(value);
        continue;
      }
      if (token_.kind == Kind::name || token_.kind == Kind::text || token_.kind == Kind::words || token_.kind == Kind::shell ||
          token_.kind == Kind::number) {
        if (!takes_bare_arguments(value)) return value;
        value = bare_call(value, start);
        continue;
      }
      if (token_.kind != Kind::mark) return value;
      const bool concatenates = language_ == Language::perl || language_ == Language::php;
      if ((token_.is(".") && !concatenates) || token_.is("?.") || token_.is("->") || token_.is("::") || token_.is("&.")) {
        if (token_.is(".") && token_.line && brackets_ == 0 && is_python()) return value;
        advance();
        if (token_.kind == Kind::mark && (token_.is("(") || token_.is("["))) continue;
        if (token_.is("{") || token_.is("@") || token_.is("$")) {  // ->{key}, ->@*
          if (token_.is("{")) {
            mapping();
          } else {
            advance();
          }
          value = Value{};
          continue;
        }
        if (token_.kind != Kind::name) return value;
        const Token name = token_;
        advance();
        if (value.kind == Value::object) {
          value = special_member(member(value, name.text), from(start));
          if (value.kind == Value::unknown) method_ = name.text;
          last_name_ = name.text;
          if (!token_.is("(") && language_ == Language::ruby && !takes_bare_arguments(value)) value = no_arguments(value, start);
          continue;
        }
        if (token_.is("(")) {
          value = method(value, name.text, start);
        } else {
          value = attribute(value, name.text, start);
        }
        continue;
      }
      if (token_.is("(")) {
        if (token_.line && lines_end() && brackets_ == 0) return value;
        value = call(value, start);
        continue;
      }
      if (token_.is("[")) {
        if (token_.line && brackets_ == 0) return value;
        value = index(value, start);
        continue;
      }
      if (language_ == Language::ruby && token_.is("{") && block_value_.kind == Value::any) {
        mapping();
        return Value{};
      }
      if (language_ == Language::perl && token_.is("{") && value.simple && value.kind != Value::object) {
        mapping();
        value = Value{};
        continue;
      }
      return value;
    }
    return value;
  }

  Value special_member(const Value& value, Span at) noexcept {
    if (value.kind != Value::object) return value;
    const std::string_view name = value.known.text;
    if (ascii::one_of(name, "process.env.home process.env.userprofile")) return home(at);
    if (ascii::one_of(name, "process.env.pwd")) return working(at);
    if (ascii::one_of(name, "process.env.tmpdir process.env.temp process.env.tmp")) return temporary(at);
    if (ascii::equals(name, "os.curdir")) return fixed(".", at);
    if (ascii::equals(name, "os.sep") || ascii::equals(name, "path.sep")) return fixed("/", at);
    if (ascii::starts_with(name, "process.env.")) return environment(fixed(name.substr(12), at), at);
    if (ascii::equals(name, "os.dup2")) return value;
    return value;
  }

  // Ruby and Perl call without parentheses.
  bool takes_bare_arguments(const Value& value) const noexcept {
    if (language_ != Language::perl && language_ != Language::ruby) return false;
    if (value.kind != Value::object || token_.line) return false;
    if (token_.kind == Kind::mark || token_.kind == Kind::end || token_.kind == Kind::pattern) return false;
    if (token_.kind == Kind::name && token_.sigil == 0 &&
        token_.is_one_of("if unless and or while until for foreach do then x eq ne lt gt cmp rescue in end")) {
      return false;
    }
    return bare_action(value) != Action::none;
  }
  Action bare_action(const Value& value) const noexcept { return find_call(language_, value.known.text); }
  Value bare_call(const Value& value, std::size_t start) noexcept {
    const Action action = bare_action(value);
    Arguments arguments;
    const std::string_view name = value.known.text;
    if (language_ == Language::perl && token_.kind == Kind::name && token_.sigil == 0 && action == Action::open) {
      arguments.count = arguments.written = 1;  // a bareword for the file
      advance();
      skip(",");
    }
    while (token_.kind != Kind::end && !token_.is(";") && !token_.is("}") && !token_.is(")") && !token_.is("]")) {
      if (token_.line && lines_end() && brackets_ == 0) break;
      if (token_.is_one_of("if unless and or while until for foreach do rescue")) break;
      const std::size_t before = token_.start;
      argument(&arguments);
      if (!skip(",") && !skip("=>")) break;
      if (token_.start == before) break;
    }
    for_each_after(&arguments);
    return act(action, arguments, from(start), name);
  }
  // Perl: unlink for ("a", "b"); unlink $_ for glob("*")
  void for_each_after(Arguments* arguments) noexcept {
    if (language_ != Language::perl || !token_.is_one_of("for foreach")) return;
    advance();
    const Value list = items_of(expression());
    for (std::uint32_t i = 0; i < arguments->count; ++i) {
      if (arguments->value[i].kind == Value::unknown) arguments->value[i] = list;
    }
    if (arguments->count == 0) {
      arguments->value[0] = list;
      arguments->count = arguments->written = 1;
    }
  }
  Value no_arguments(const Value& value, std::size_t start) noexcept {
    const Action action = find_call(language_, value.known.text);
    if (action == Action::home || action == Action::working || action == Action::temporary) {
      return act(action, Arguments(), from(start), value.known.text);
    }
    return value;
  }

  void argument(Arguments* arguments) noexcept {
    std::string_view key;
    if (token_.kind == Kind::name && (is_python() || language_ == Language::ruby || language_ == Language::php || language_ == Language::perl)) {
      const Token next = peek();
      const bool named = (is_python() && next.is("=")) || (language_ == Language::ruby && next.is(":")) ||
                         (token_.sigil != '$' && next.is("=>"));
      if (named) {
        key = token_.text;
        advance();
        advance();
      }
    }
    has_file_seen_ = false;
    const std::size_t start = token_.start;
    const Value value = expression();
    if (token_.start == start && token_.kind != Kind::end) advance();
    if (has_file_seen_ || value.kind == Value::content) {
      arguments->file = value.kind == Value::content ? value.known : file_seen_;
      arguments->has_file = true;
      has_file_seen_ = false;
    }
    if (value.kind == Value::remote) arguments->remote = true;
    if (!key.empty()) {
      Value options;
      option_value(&options, key, value);
      arguments->bits |= options.bits;
      if (options.count > 0) {
        arguments->named = options;
        arguments->named.kind = Value::list;
      }
      if (ascii::one_of(key, "mode") && arguments->count == 1 && value.is_text()) {
        arguments->value[arguments->count++] = value;
      }
      if (ascii::one_of(key, "path args file filename query sql statement") && arguments->count == 0) {
        arguments->value[arguments->count++] = value;
        ++arguments->written;
      }
      has_file_seen_ = false;
      return;
    }
    ++arguments->written;
    if (value.kind == Value::options) {
      arguments->bits |= value.bits;
      if (value.count > 0) {
        arguments->named = value;
        arguments->named.kind = Value::list;
      }
    }
    if (arguments->count < Arguments::kMost) arguments->value[arguments->count++] = value;
  }
  void arguments_of(Arguments* arguments) noexcept {  // at the opening parenthesis
    advance();
    ++brackets_;
    while (token_.kind != Kind::end && !token_.is(")")) {
      const std::size_t before = token_.start;
      if (token_.is("]") || (token_.is("}") && level_ < 2)) break;
      argument(arguments);
      skip(",");
      if (token_.start == before && token_.kind != Kind::end && !token_.is(")")) advance();
    }
    --brackets_;
    skip(")");
  }

  Value call(const Value& callee, std::size_t start) noexcept {
    if (level_ >= kLevels) return too_deep();
    const Level level(level_);
    std::string_view name = callee.kind == Value::object ? callee.known.text : std::string_view();
    const std::string_view own = method_;
    method_ = {};
    if (callee.kind != Value::object && callee.kind != Value::unknown && own.empty()) {
      Arguments ignored;
      arguments_of(&ignored);
      return Value{};
    }
    Action action = name.empty() ? Action::none : find_call(language_, name);
    if (action == Action::none && !star_module_.empty() && name.find('.') == std::string_view::npos && !name.empty()) {
      const Value whole = member(object(star_module_), name);
      if (whole.kind == Value::object) {
        action = find_call(language_, whole.known.text);
        if (action != Action::none) name = whole.known.text;
      }
    }
    const std::size_t dot = name.rfind('.');
    const std::string_view last = dot == std::string_view::npos ? name.empty() ? own : name : name.substr(dot + 1);
    const bool is_method = dot != std::string_view::npos || name.empty();
    const std::string_view base = dot == std::string_view::npos ? std::string_view() : name.substr(0, dot);
    if (action == Action::none && is_method) action = unknown_method(last, base);
    Arguments arguments;
    command_key_ = {};
    arguments_of(&arguments);
    const Span at = from(start);
    if (ascii::equals(name, "os.dup2") || ascii::equals(last, "dup2")) duplicates_ = duplicates_ || connects_;
    switch (action) {
      case Action::import:
        if (arguments.at(0).kind == Value::text) {
          return language_ == Language::node ? object(module_name(arguments.at(0).known.text)) : object(arguments.at(0).known.text);
        }
        return Value{};
      case Action::get_member:
        if (arguments.at(1).kind == Value::text && arguments.at(0).kind == Value::object) {
          return member(arguments.at(0), arguments.at(1).known.text);
        }
        return Value{};
      default: break;
    }
    if (mongo_ || language_ == Language::python) {
      if (const Value* done = store_method(base, last, arguments, at)) return *done;
    }
    if (action == Action::none) {
      const Value result = plain_call(name, last, base, arguments, at);
      if (callee.kind == Value::object && ascii::equals(name, "sh")) return Value{};
      return result;
    }
    return act(action, arguments, at, name);
  }

  // Methods whose names alone tell, whatever they are called on.
  Action unknown_method(std::string_view last, std::string_view base) const noexcept {
    if (language_ == Language::node) {
      if (ascii::one_of(last, "execfile spawn")) return Action::run;
      if (ascii::one_of(last, "rmsync unlinksync rmdirsync")) return Action::remove_by_options;
      if (ascii::equals(last, "exec") && ascii::one_of(base, "cp child_process childprocess proc shell sh require")) return Action::shell;
      if (ascii::equals(last, "rm") && ascii::one_of(base, "promises fsp fsx")) return Action::remove_by_options;
    }
    if (language_ == Language::node && base == "shell") return Action::none;
    return find_call(kMethods, last);
  }

  // What is neither in a table nor a method that tells.
  Value plain_call(std::string_view name, std::string_view last, std::string_view base, const Arguments& arguments, Span at) noexcept {
    if (language_ == Language::python && (base == "sh" || base == "plumbum.cmd" || base == "local.cmd")) {  // sh.rm("-rf", "/")
      Known items[Arguments::kMost + 1];
      std::uint32_t n = 0;
      items[n++] = Known{last, at, false, 0};
      for (std::uint32_t i = 0; i < arguments.count; ++i) items[n++] = known_or_blank(arguments.at(i), at);
      run_words(items, n, at);
      return Value{};
    }
    if (language_ == Language::node && (base == "shelljs" || base == "shell") && ascii::one_of(last, "rm mv cp chmod")) {
      CommandWriter writer(reader_, frame_, dialect_, last == "rm" ? "rm" : last == "mv" ? "mv" : last == "cp" ? "cp" : "chmod", at);
      for (std::uint32_t i = 0; i < arguments.count; ++i) words(&writer, arguments.at(i), at);
      writer.end();
      return Value{};
    }
    if (language_ == Language::node && ascii::equals(name, "buffer.from")) {
      const Value& encoding = arguments.at(1);
      if (encoding.kind == Value::text && ascii::one_of(encoding.known.text, "base64 base64url")) return decoded(arguments.at(0), false);
      if (encoding.kind == Value::text && ascii::equals(encoding.known.text, "hex")) return decoded(arguments.at(0), true);
      return arguments.at(0);
    }
    if (language_ == Language::php && ascii::one_of(name, "array_map array_walk call_user_func call_user_func_array")) {
      const bool swapped = ascii::equals(name, "array_walk");
      const Value& function = arguments.at(swapped ? 1 : 0);
      if (function.kind == Value::text) {
        Arguments inner;
        inner.value[0] = arguments.at(swapped ? 0 : 1);
        if (inner.value[0].kind == Value::list) inner.value[0].kind = Value::any;
        inner.count = inner.written = 1;
        const Action action = find_call(language_, function.known.text);
        if (action != Action::none) return act(action, inner, at, function.known.text);
      }
      return Value{};
    }
    if (language_ == Language::python && ascii::equals(name, "map") && arguments.at(0).kind == Value::object) {
      Arguments inner;
      inner.value[0] = items_of(arguments.at(1));
      inner.count = inner.written = 1;
      const Action action = find_call(language_, arguments.at(0).known.text);
      if (action != Action::none) return act(action, inner, at, arguments.at(0).known.text);
      return Value{};
    }
    if (is_python() && ascii::one_of(name, "globals locals vars")) return object("builtins");
    if (ascii::one_of(name, "sprintf format") && language_ != Language::python && arguments.at(0).kind == Value::text) {
      return filled(arguments.at(0), arguments.at(1), at);
    }
    if (ascii::one_of(last, "post put patch") && (arguments.has_file || (arguments.bits & option::kSends) != 0)) {
      return act(Action::send, arguments, at, name);
    }
    if (arguments.remote) {
      Value value;
      value.kind = Value::remote;
      return value;
    }
    if (arguments.has_file && arguments.count == 1) {
      Value value;
      value.kind = Value::content;
      value.known = arguments.file;
      return value;
    }
    return Value{};
  }

  // Stores that are reached through a driver: MongoDB and Redis. Null: none of theirs.
  const Value* store_method(std::string_view base, std::string_view last, const Arguments& arguments, Span at) noexcept {
    static constexpr Value kDone{};
    const bool on_database = mongo_ && (ascii::starts_with(base, "db") || base.empty() || ascii::starts_with(base, "rs") || ascii::starts_with(base, "sh"));
    std::string_view verb;
    for (const std::string_view known :
         {"dropdatabase", "drop_database", "drop_collection", "dropcollection", "deletemany", "delete_many", "remove", "deleteone", "updatemany",
          "update_many", "drop", "dropindexes", "dropindex", "shutdownserver", "dropuser", "dropallusers", "dropallroles", "flushall", "flushdb",
          "findoneanddelete", "bulkwrite", "renamecollection", "fsynclock", "createuser"}) {
      if (ascii::equals(last, known)) verb = known;
    }
    const bool command = ascii::one_of(last, "admincommand runcommand command");
    if (verb.empty() && !command) return nullptr;
    if (!mongo_ && !ascii::one_of(verb, "drop_database drop_collection delete_many update_many flushall flushdb dropdatabase")) return nullptr;
    if (mongo_ && !on_database && verb.empty()) return nullptr;
    if (verb == "flushall" || verb == "flushdb") {
      CommandWriter writer(reader_, frame_, dialect_, "redis", at);
      writer.flag(verb);
      writer.end();
      return &kDone;
    }
    if (verb == "drop_database") verb = "dropdatabase";
    if (verb == "delete_many") verb = "deletemany";
    if (verb == "update_many") verb = "updatemany";
    if (verb == "drop_collection") verb = "drop";
    if (command) {
      if (!command_key_.empty() && mongo_) {
        CommandWriter writer(reader_, frame_, dialect_, "mongo", at);
        writer.flag(command_key_);
        writer.end();
      }
      return &kDone;
    }
    CommandWriter writer(reader_, frame_, dialect_, "mongo", at);
    writer.flag(verb);
    const std::size_t dot = base.rfind('.');
    std::string_view collection = dot == std::string_view::npos ? std::string_view() : base.substr(dot + 1);
    if (collection.empty() && arguments.at(0).kind == Value::text) {
      writer.known(arguments.at(0).known, word_flag::kPseudo);
    } else if (!collection.empty()) {
      writer.flag(collection);
    }
    const Value& filter = arguments.at(0);
    const bool all = arguments.written == 0 || ((filter.bits & option::kEmpty) != 0 && (filter.kind == Value::options || filter.kind == Value::list));
    if (all && ascii::one_of(verb, "deletemany remove updatemany")) writer.flag("--all");
    writer.end();
    return &kDone;
  }

  // A method of something that is not a module: texts, paths, contents, lists.
  Value method(const Value& self, std::string_view name, std::size_t start) noexcept {
    if (level_ >= kLevels) return too_deep();
    const Level level(level_);
    if (language_ == Language::node && name.size() > 4 && ascii::ends_with(name, "sync")) name.remove_suffix(4);
    if (ascii::one_of(name, "foreach map each") && (self.kind == Value::list || self.kind == Value::any)) {
      bind_callback(items_of(self));
    }
    Arguments arguments;
    arguments_of(&arguments);
    const Span at = from(start);
    if (language_ == Language::ruby && ascii::one_of(name, "each map each_entry") && self.count > 0) block_value_ = items_of(self);
    if (self.kind == Value::path || (self.is_text() && ascii::one_of(name, "unlink rmdir write_text write_bytes rmtree"))) {
      if (const Value* done = path_method(self, name, arguments, at)) return *done;
    }
    if (self.is_text()) return text_method(self, name, arguments, at);
    if (self.kind == Value::content || self.kind == Value::remote) {
      if (self.kind == Value::remote && ascii::equals(name, "then") && arguments.at(0).kind == Value::object &&
          ascii::one_of(arguments.at(0).known.text, "eval function")) {
        tree_.add_uncertainty(Unresolved::remote_code, at, frame_.carrier);
      }
      return self;
    }
    if (self.kind == Value::list && ascii::equals(name, "join")) {
      const Value separator = arguments.count == 0 ? fixed(language_ == Language::node ? "," : "", at) : arguments.at(0);
      return joined_list(self, separator, at);
    }
    if (self.kind == Value::any || self.kind == Value::list) {
      if (ascii::one_of(name, "reverse")) return self;
      return ascii::one_of(name, "copy slice concat to_a values sort") ? self : Value{};
    }
    const Action action = unknown_method(name, {});
    if (action == Action::none) {
      if (mongo_ || is_python()) {
        if (const Value* done = store_method({}, name, arguments, at)) return *done;
      }
      return plain_call({}, name, {}, arguments, at);
    }
    return act(action, arguments, at, name);
  }
  // list.forEach(p => ...), list.map(function (p) ...): the name gets the items. At the opening parenthesis.
  void bind_callback(const Value& items) noexcept {
    Lexer ahead = lexer_;
    Token token = ahead.next();
    while (token.is("(") || token.is_name("function") || token.is_name("async")) token = ahead.next();
    if (token.kind == Kind::name) memory_.bind(token.text, items);
  }
  Value attribute(const Value& self, std::string_view name, std::size_t start) noexcept {
    if (language_ == Language::ruby) {
      if (ascii::one_of(name, "each map each_entry") && self.count > 0) {
        block_value_ = items_of(self);
        if (token_.is_name("do")) {
          advance();
          if (skip("|")) {
            while (token_.kind == Kind::name || token_.is(",")) {
              if (token_.kind == Kind::name) memory_.bind(token_.text, block_value_);
              advance();
            }
            skip("|");
          }
          block_value_ = Value{};
        }
        return self;
      }
      if (self.kind == Value::path || self.is_text()) {
        if (const Value* done = path_method(self, name, Arguments(), from(start))) return *done;
      }
      if (self.is_text()) return text_method(self, name, Arguments(), from(start));
    }
    if (self.kind == Value::path && ascii::equals(name, "parent")) {
      return join(self, fixed("..", from(start)), from(start));
    }
    if (self.kind == Value::content || self.kind == Value::remote) return self;
    if (ascii::equals(name, "name") && self.is_text()) return self;
    return Value{};
  }

  const Value* path_method(const Value& self, std::string_view name, const Arguments& arguments, Span at) noexcept {
    if (ascii::equals(name, "unlink") || (ascii::equals(name, "delete") && language_ == Language::ruby && self.kind == Value::path)) {
      emit_one("rm", at, self);
    } else if (ascii::equals(name, "rmtree")) {
      emit_one("rm", at, self, "-r", "-f");
    } else if (ascii::equals(name, "rmdir")) {
      emit_one("rmdir", at, self);
    } else if (ascii::one_of(name, "write_text write_bytes")) {
      emit_one("@write", at, self);
    } else if (ascii::one_of(name, "read_text read_bytes")) {
      emit_read(at, self);
      result_ = Value{};
      result_.kind = Value::content;
      result_.known = self.known;
      return &result_;
    } else if (ascii::equals(name, "open")) {
      Arguments shifted;
      shifted.value[0] = self;
      shifted.value[1] = arguments.at(0);
      shifted.count = shifted.written = 2;
      result_ = act(Action::open, shifted, at, name);
      return &result_;
    } else if (ascii::one_of(name, "rename replace") && self.kind == Value::path) {
      const Value both[2] = {self, arguments.at(0)};
      emit("mv", at, {}, {}, both, 2);
    } else if (ascii::equals(name, "chmod")) {
      Arguments shifted;
      shifted.value[0] = self;
      shifted.value[1] = arguments.at(0);
      shifted.count = shifted.written = 2;
      act(Action::change_mode, shifted, at, name);
    } else if (ascii::one_of(name, "joinpath join")) {
      if (self.kind != Value::path) return nullptr;
      result_ = self;
      for (std::uint32_t i = 0; i < arguments.count; ++i) result_ = join(result_, arguments.at(i), at);
      result_.kind = Value::path;
      return &result_;
    } else if (ascii::one_of(name, "expanduser resolve absolute as_posix realpath expand_path to_s")) {
      result_ = act(Action::expand, single(self), at, name);
      result_.kind = Value::path;
      return &result_;
    } else if (ascii::one_of(name, "iterdir glob rglob children each_child")) {
      const Known all{"*", at, false, word_flag::kGlob};
      const Known pattern = arguments.at(0).is_text() ? arguments.at(0).known : all;
      result_ = join(self, text_value(pattern), at);
      result_.known.flags |= word_flag::kGlob;
      result_.kind = Value::path;
      return &result_;
    } else {
      return nullptr;
    }
    result_ = Value{};
    return &result_;
  }
  static Arguments single(const Value& value) noexcept {
    Arguments arguments;
    arguments.value[0] = value;
    arguments.count = arguments.written = 1;
    return arguments;
  }

  Value text_method(const Value& self, std::string_view name, const Arguments& arguments, Span at) noexcept {
    if (ascii::one_of(name, "decode encode strip trim lstrip rstrip tostring to_s trimend trimstart freeze chomp dup tolowercase lower "
                            "downcase normalize valueof shellescape as_posix expandtabs str concat_")) {
      if (ascii::equals(name, "decode") && arguments.at(0).kind == Value::text) {
        if (ascii::one_of(arguments.at(0).known.text, "base64")) return decoded(self, false);
        if (ascii::one_of(arguments.at(0).known.text, "hex")) return decoded(self, true);
      }
      return self;
    }
    if (ascii::equals(name, "reverse")) return reversed(self);
    if (ascii::equals(name, "format")) return filled(self, arguments.at(0), at);
    if (ascii::equals(name, "join") && is_python()) return joined_list(arguments.at(0), self, at);
    if (ascii::one_of(name, "split")) return split(self, at);
    if (ascii::one_of(name, "concat")) return add(self, arguments.at(0), at);
    if (ascii::one_of(name, "unpack1 unpack")) return decoded(self, false);
    if (ascii::one_of(name, "replace gsub sub replaceall")) return replaced(self, arguments, at);
    if (ascii::equals(name, "then")) return self;
    return Value{};
  }

  // --- texts ---

  Value joined_list(const Value& list, const Value& separator, Span at) noexcept {
    if ((list.kind != Value::list && list.kind != Value::any) || !separator.is_text()) return Value{};
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    std::size_t n = 0;
    std::uint16_t flags = separator.known.flags;
    for (std::uint32_t i = 0; i < list.count; ++i) {
      const Known& item = memory_.item(list.first + i);
      if (room < n + item.text.size() + separator.known.text.size()) {
        tree_.set_full();
        return Value{};
      }
      if (i > 0 && !separator.known.text.empty()) {
        std::memcpy(out + n, separator.known.text.data(), separator.known.text.size());
        n += separator.known.text.size();
      }
      if (!item.text.empty()) std::memcpy(out + n, item.text.data(), item.text.size());
      n += item.text.size();
      flags |= item.flags;
    }
    return text_value(Known{tree_.keep(n), at, false, flags});
  }
  // "a b c".split(): at blanks only.
  Value split(const Value& self, Span at) noexcept {
    Value list;
    list.kind = Value::list;
    list.first = memory_.item_count();
    const std::string_view text = self.known.text;
    std::size_t i = 0;
    while (i < text.size()) {
      while (i < text.size() && ascii::is_space(text[i])) ++i;
      std::size_t end = i;
      while (end < text.size() && !ascii::is_space(text[end])) ++end;
      if (end > i) {
        Known part{text.substr(i, end - i), at, false, 0};
        if (part.text.find(kUnknownPart) != std::string_view::npos) part.flags = word_flag::kUnknown;
        if (!memory_.add_item(part)) return Value{};
        ++list.count;
      }
      i = end;
    }
    return list;
  }
  Value replaced(const Value& self, const Arguments& arguments, Span at) noexcept {
    const Value& from_value = arguments.at(0);
    const Value& to_value = arguments.at(1);
    if (from_value.kind != Value::text || to_value.kind != Value::text || from_value.known.text.empty()) return text_value(unknown_text(at));
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    std::size_t n = 0;
    const std::string_view text = self.known.text, what = from_value.known.text, with = to_value.known.text;
    for (std::size_t i = 0; i < text.size();) {
      const bool here = text[i] == what[0] && text.substr(i, what.size()) == what;
      const std::string_view put = here ? with : text.substr(i, 1);
      if (room < n + put.size() || n + put.size() > 65536) return Value{};
      if (!put.empty()) std::memcpy(out + n, put.data(), put.size());
      n += put.size();
      i += here ? what.size() : 1;
    }
    return text_value(Known{tree_.keep(n), at, false, self.known.flags});
  }
  // "... %s ...", "... {} ...": the first place is filled with what is known, the others are not known.
  Value filled(const Value& self, const Value& with, Span at) noexcept {
    const Known value = with.kind == Value::list && with.count > 0 ? memory_.item(with.first) : known_or_blank(with, at);
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    std::size_t n = 0;
    std::uint32_t place = 0;
    const std::string_view text = self.known.text;
    for (std::size_t i = 0; i < text.size();) {
      std::string_view put = text.substr(i, 1);
      std::size_t step = 1;
      bool filled = false;
      if (text[i] == '%' && i + 1 < text.size()) {
        if (text[i + 1] == '%') {
          step = 2;
        } else if (text[i + 1] == 's' || text[i + 1] == 'd' || text[i + 1] == 'r') {
          step = 2;
          filled = true;
        } else if (text[i + 1] == '(') {
          const std::size_t close = text.substr(i, 64).find(')');
          if (close != std::string_view::npos) {
            step = close + 2;
            filled = true;
          }
        }
      } else if (text[i] == '{') {
        const std::size_t close = text.substr(i, 64).find('}');
        if (close != std::string_view::npos && text.substr(i, close).find(' ') == std::string_view::npos) {
          step = close + 1;
          filled = true;
        }
      }
      if (filled) {
        const bool many = with.kind == Value::list && place < with.count;
        put = many ? memory_.item(with.first + place).text : place == 0 ? value.text : std::string_view("\x01", 1);
        ++place;
      }
      if (room < n + put.size() || n + put.size() > 65536) return Value{};
      if (!put.empty()) std::memcpy(out + n, put.data(), put.size());
      n += put.size();
      i += step;
    }
    return text_value(Known{tree_.keep(n), at, false, 0});
  }

  Value words_of(const Token& token) noexcept {
    Value list;
    list.kind = Value::list;
    list.first = memory_.item_count();
    const std::string_view text = token.text;
    for (std::size_t i = 0; i < text.size();) {
      while (i < text.size() && ascii::is_space(text[i])) ++i;
      std::size_t end = i;
      while (end < text.size() && !ascii::is_space(text[end])) ++end;
      if (end > i) {
        if (!memory_.add_item(Known{text.substr(i, end - i), span(token.inner + i, token.inner + end), code_.verbatim, 0})) return Value{};
        ++list.count;
      }
      i = end;
    }
    return list;
  }

  // $`...`, Bun.$`...`, execa`...`, sql`...`
  Value tagged(const Value& tag) noexcept {
    const Known text = text_of(token_);
    const std::size_t start = token_.start;
    advance();
    const std::string_view name = tag.kind == Value::object ? tag.known.text : std::string_view();
    const std::size_t dot = name.rfind('.');
    const std::string_view last = dot == std::string_view::npos ? name : name.substr(dot + 1);
    if (last == "$" || ascii::one_of(last, "execa sh bash")) {
      run_code(Dialect::shell, text);
    } else if (ascii::one_of(last, "sql $queryraw $executeraw query raw")) {
      read_statement(text_value(text));
    } else if (ascii::equals(name, "string.raw")) {
      return text_value(text);
    }
    (void)start;
    return Value{};
  }

  Value index(const Value& self, std::size_t start) noexcept {
    // text[::-1]
    const Token second = peek();
    if (is_python() && self.is_text() && (second.is("::") || second.is(":"))) {
      advance();
      bool minus = false, colon = false;
      while (token_.kind != Kind::end && !token_.is("]") && (token_.kind == Kind::number || token_.is(":") || token_.is("::") || token_.is("-"))) {
        if (token_.is("::")) colon = true;
        if (token_.is("-")) minus = true;
        advance();
      }
      skip("]");
      return minus && colon ? reversed(self) : Value{};
    }
    advance();
    ++brackets_;
    const Value key = expression();
    while (token_.kind != Kind::end && !token_.is("]") && !token_.is(";") && !token_.is(")") && !token_.is("}")) {
      const std::size_t before = token_.start;
      if (!skip(",") && !skip(":")) expression();
      if (token_.start == before) advance();
    }
    --brackets_;
    skip("]");
    const Span at = from(start);
    if (self.kind == Value::object) {
      if (ascii::one_of(self.known.text, "os.environ environ env process.env os.environb")) return environment(key, at);
      if (language_ == Language::ruby && self.known.text == "Dir" && key.is_text()) {
        Value pattern = key;
        pattern.known.flags |= word_flag::kGlob;
        return pattern;
      }
      if (key.kind == Value::text && !key.known.is_unknown()) {
        return ascii::one_of(self.known.text, "globals locals vars") ? object(key.known.text) : special_member(member(self, key.known.text), at);
      }
      return Value{};
    }
    if (self.kind == Value::content || self.kind == Value::remote) return self;
    if (self.kind == Value::list && key.kind == Value::number && key.known.text.size() < 4) {
      std::uint32_t i = 0;
      for (const char c : key.known.text) {
        if (!ascii::is_digit(c)) return Value{};
        i = i * 10 + static_cast<std::uint32_t>(c - '0');
      }
      if (i < self.count) return text_value(memory_.item(self.first + i));
    }
    return Value{};
  }

  // What a text holds when its escapes are undone and what it interpolates is put in, as far as that is known.
  Known text_of(const Token& token) noexcept {
    Known known{token.text, span(token.inner, token.inner + token.text.size()), code_.verbatim, 0};
    const bool escapes = token.text.find('\\') != std::string_view::npos && !(token.raw && is_python());
    const bool opens = token.interpolates && token.text.find_first_of(language_ == Language::python ? "{" : language_ == Language::node ? "$"
                                                                      : language_ == Language::ruby ? "#" : "$@") != std::string_view::npos;
    if (!escapes && !opens) {
      if (known.text.find(kUnknownPart) != std::string_view::npos) known.flags |= word_flag::kUnknown;
      return known;
    }
    Value inserted[6];
    std::uint32_t count = 0;
    if (opens) interpolate(token, inserted, &count);
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    std::size_t n = 0;
    std::uint32_t next = 0;
    const std::string_view text = token.text;
    const auto put = [&](std::string_view piece) noexcept {
      if (room < n + piece.size()) return tree_.set_full();
      if (!piece.empty()) std::memcpy(out + n, piece.data(), piece.size());
      n += piece.size();
    };
    for (std::size_t i = 0; i < text.size();) {
      if (text[i] == '\\' && i + 1 < text.size()) {
        char bytes[4];
        std::size_t made = 0;
        i = unescape(token, text, i, bytes, &made);
        put(std::string_view(bytes, made));
        continue;
      }
      std::size_t stop = 0;
      if (opens && insertion(text, i, &stop, nullptr, nullptr)) {
        const Value* value = next < 6 ? &inserted[next] : nullptr;
        if (next < count && value != nullptr && (value->is_text())) {
          put(value->known.text);
          known.flags |= value->known.flags;
        } else {
          put(std::string_view("\x01", 1));
          if (value != nullptr && value->kind == Value::unknown) known.flags |= value->known.flags;
        }
        ++next;
        i = stop;
        continue;
      }
      if (is_python() && token.interpolates && (text[i] == '{' || text[i] == '}') && i + 1 < text.size() && text[i + 1] == text[i]) ++i;
      put(text.substr(i, 1));
      ++i;
    }
    known.text = tree_.keep(n);
    known.verbatim = false;
    known.flags = static_cast<std::uint16_t>(known.flags & ~word_flag::kUnknown);
    if (known.text.find(kUnknownPart) != std::string_view::npos) known.flags |= word_flag::kUnknown;
    return known;
  }

  // Whether something is inserted at `i`: its end, and the code or the name of it.
  bool insertion(std::string_view text, std::size_t i, std::size_t* stop, std::size_t* code, std::size_t* code_end) const noexcept {
    std::size_t open = 0;
    const char c = text[i], next = i + 1 < text.size() ? text[i + 1] : '\0';
    if (language_ == Language::python && c == '{' && next != '{') open = i + 1;
    if (language_ == Language::node && c == '$' && next == '{') open = i + 2;
    if (language_ == Language::ruby && c == '#' && next == '{') open = i + 2;
    if (language_ == Language::php && ((c == '{' && next == '$') || (c == '$' && next == '{'))) open = i + (c == '{' ? 1 : 2);
    if (language_ == Language::perl && (c == '$' || c == '@') && (next == '{' || (next == '[' && false))) open = i + 2;
    if (open != 0) {
      const std::size_t end = Lexer::skip_code(text, open, text.size(), '{', '}');
      if (end == text.size() && (text.empty() || text.back() != '}')) return false;
      *stop = end;
      if (code != nullptr) {
        *code = open;
        *code_end = end - 1;
      }
      return true;
    }
    if ((language_ == Language::perl && (c == '$' || c == '@')) || (language_ == Language::php && c == '$')) {
      std::size_t end = i + 1;
      if (end < text.size() && ascii::is_name_start(text[end])) {
        while (end < text.size() && ascii::is_name(text[end])) ++end;
      } else {
        return false;
      }
      const std::size_t name_end = end;
      if (end < text.size() && (text[end] == '{' || text[end] == '[')) {
        const std::size_t close = text.substr(end, 64).find(text[end] == '{' ? '}' : ']');
        if (close != std::string_view::npos) end += close + 1;
      }
      *stop = end;
      if (code != nullptr) {
        *code = i;
        *code_end = end > name_end ? end : name_end;
      }
      return true;
    }
    return false;
  }
  void interpolate(const Token& token, Value* inserted, std::uint32_t* count) noexcept {
    const std::string_view text = token.text;
    std::uint32_t failed = 0;
    for (std::size_t i = 0; i < text.size();) {
      if (text[i] == '\\') {
        i += 2;
        continue;
      }
      std::size_t stop = 0, code = 0, code_end = 0;
      if (failed >= 4 || !insertion(text, i, &stop, &code, &code_end)) {
        if (text[i] == '{' || text[i] == '$') failed += std::string_view(&text[i], 1) == "{" ? 1 : 0;
        if (is_python() && i + 1 < text.size() && text[i] == '{' && text[i + 1] == '{') {
          ++i;
          if (failed > 0) --failed;
        }
        ++i;
        continue;
      }
      const Value value = part_value(token.inner + code, token.inner + code_end);
      if (*count < 6) inserted[(*count)++] = value;
      i = stop;
    }
  }
  // The value of a part of the text, read as code.
  Value part_value(std::size_t start, std::size_t end) noexcept {
    if (level_ >= kLevels) return too_deep();
    const Level level(level_);
    const Lexer outer = lexer_;
    const Token token = token_;
    const std::size_t stop = previous_stop_;
    const std::uint32_t brackets = brackets_;
    lexer_ = outer.part(start, end);
    brackets_ = 1;
    advance();
    Value value = expression();
    while (token_.kind != Kind::end) {  // a format, or more than one expression
      const std::size_t before = token_.start;
      if (token_.is(":") && is_python()) break;
      expression();
      if (token_.start == before) advance();
    }
    lexer_ = outer;
    token_ = token;
    previous_stop_ = stop;
    brackets_ = brackets;
    return value;
  }

  // One escape at `i`; returns the place behind it.
  std::size_t unescape(const Token& token, std::string_view text, std::size_t i, char* bytes, std::size_t* made) const noexcept {
    const char e = text[i + 1];
    const auto one = [&](char c, std::size_t step) noexcept {
      bytes[0] = c;
      *made = 1;
      return i + step;
    };
    if (token.raw && language_ != Language::node && language_ != Language::python) {  // '...': only the quote and the backslash
      if (e == '\\' || e == token.quote) return one(e, 2);
      return one('\\', 1);
    }
    switch (e) {
      case 'n': return one('\n', 2);
      case 't': return one('\t', 2);
      case 'r': return one('\r', 2);
      case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': {
        std::uint32_t value = 0;
        std::size_t k = i + 1;
        for (; k < text.size() && k < i + 4 && text[k] >= '0' && text[k] <= '7'; ++k) value = value * 8 + static_cast<std::uint32_t>(text[k] - '0');
        return one(static_cast<char>(value == 1 ? '?' : value & 255), k - i);
      }
      case 'x': case 'u': case 'U': {
        std::size_t k = i + 2;
        std::uint32_t value = 0;
        const bool braced = k < text.size() && text[k] == '{';
        if (braced) ++k;
        const std::size_t most = k + (braced ? 6 : e == 'x' ? 2 : e == 'u' ? 4 : 8);
        const std::size_t first = k;
        while (k < text.size() && k < most && ascii::hex_value(text[k]) >= 0) {
          value = value * 16 + static_cast<std::uint32_t>(ascii::hex_value(text[k++]));
        }
        if (k == first || value > 0x10FFFF) return one(e, 2);
        if (braced && k < text.size() && text[k] == '}') ++k;
        if (value == 1) value = '?';
        *made = shell::put_code_point(value, bytes);
        return k;
      }
      case '\n':
        *made = 0;
        return i + 2;
      default: break;
    }
    if (is_python() && e != '\\' && e != '\'' && e != '"') return one('\\', 1);
    return one(e, 2);
  }

  Lexer lexer_;
  Token token_;
  std::size_t previous_stop_ = 0;
  std::uint32_t level_ = 0, brackets_ = 0;
  std::string_view assigned_, star_module_, method_, last_name_, command_key_;
  Value block_value_, result_;
  Known file_seen_;
  bool mongo_ = false, said_depth_ = false, negative_ = false, has_file_seen_ = false;
};

}  // namespace tipstaff::gate::program
