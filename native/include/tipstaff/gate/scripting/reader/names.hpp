// Names of programs, what their dots reach, and what is called.
#pragma once

#include "tipstaff/gate/scripting/reader/reader.hpp"

namespace tipstaff::gate::program {

// A module's member by its dotted name, as the tables have it.
inline Value ScriptReader::member(const Value& whole, std::string_view name) noexcept {
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
  if (!left.empty()) std::memcpy(out, left.data(), left.size());
  out[left.size()] = '.';
  std::memcpy(out + left.size() + 1, name.data(), name.size());
  return object(tree_.keep(left.size() + name.size() + 1));
}

inline Value ScriptReader::named() noexcept {
  const Token name = token_;
  advance();
  Value value;
  const Value* found = memory_.find(name.text);
  if (language_ == Language::perl && name.text == "_" && (name.sigil == '@' || (name.sigil == '$' && token_.is("[")))) {
    found = memory_.find("@_");
  } else if (language_ == Language::perl && name.sigil == 0 && name.text == "shift" && take_argument(&value)) {
    return value;
  }
  if (found != nullptr && (name.sigil != 0 || language_ != Language::perl || found->kind == Value::function)) {
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
  subject_ = variable;
  Value result = trailers(value, name.start);
  if (token_.start != before) {
    result.simple = false;
  } else {
    assigned_ = variable;
    if (value.kind == Value::function && !token_.is("=")) functions_[value.first].escapes = true;
  }
  return result;
}

inline Value ScriptReader::special(const Token& name) noexcept {
  const Span at = span(name.start, name.stop);
  if (language_ == Language::node && ascii::one_of(name.text, "__dirname")) return working(at);
  if (language_ == Language::php && name.text == "__DIR__") return working(at);
  return object(name.text);
}

inline Value ScriptReader::trailers(Value value, std::size_t start) noexcept {
  for (std::uint32_t i = 0; i < 4096; ++i) {
    if (token_.kind == Kind::text && token_.quote == '`' && language_ == Language::node) {
      value = tagged(value);
      continue;
    }
    if (token_.kind == Kind::name || token_.kind == Kind::text || token_.kind == Kind::words || token_.kind == Kind::shell ||
        token_.kind == Kind::number) {
      if (token_.is_name("do") && block()) return value;
      if (!takes_bare_arguments(value)) return value;
      value = bare_call(value, start);
      if (language_ == Language::ruby && value.kind == Value::process) block_value_ = value;
      continue;
    }
    if (((language_ == Language::perl && (token_.is("{") || token_.is("["))) || (language_ == Language::ruby && token_.is("*"))) && takes_bare_arguments(value)) {
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
      if (language_ == Language::ruby && (value.is_several() || (value.known.flags & word_flag::kTemporary) != 0)) block_value_ = items_of(value);
      if (language_ == Language::ruby && value.kind == Value::process) block_value_ = value;
      continue;
    }
    if (token_.is("[")) {
      if (token_.line && brackets_ == 0) return value;
      value = index(value, start);
      continue;
    }
    if (token_.is("{") && block()) return Value{};
    if (language_ == Language::perl && token_.is("{") && value.simple && value.kind != Value::object) {
      mapping();
      value = Value{};
      continue;
    }
    return value;
  }
  return value;
}

inline Value ScriptReader::special_member(const Value& value, Span at) noexcept {
  if (value.kind != Value::object) return value;
  const std::string_view name = value.known.text;
  if (ascii::one_of(name, "process.env.home process.env.userprofile")) return home(at);
  if (ascii::one_of(name, "process.env.pwd")) return working(at);
  if (ascii::one_of(name, "process.env.tmpdir process.env.temp process.env.tmp")) return temporary(at);
  if (ascii::equals(name, "plumbum.local.env.home") || ascii::equals(name, "plumbum.local.cwd")) {
    Value path = ascii::ends_with(name, "home") ? home(at) : working(at);
    path.kind = Value::path;
    return path;
  }
  if (ascii::equals(name, "os.curdir")) return fixed(".", at);
  if (ascii::equals(name, "os.sep") || ascii::equals(name, "path.sep")) return fixed("/", at);
  if (ascii::starts_with(name, "process.env.")) return environment(fixed(name.substr(12), at), at);
  if (ascii::equals(name, "os.dup2")) return value;
  return value;
}

inline Value ScriptReader::no_arguments(const Value& value, std::size_t start) noexcept {
  const Action action = find_call(language_, value.known.text);
  if (action == Action::home || action == Action::working || action == Action::temporary) {
    return act(action, Arguments(), from(start), value.known.text);
  }
  return value;
}

inline Value ScriptReader::call(const Value& callee, std::size_t start) noexcept {
  if (level_ >= kLevels || reader_.out_of_stack()) return too_deep();
  const Level level(level_);
  std::string_view name = callee.kind == Value::object ? callee.known.text : std::string_view();
  const std::string_view own = method_;
  method_ = {};
  if (callee.kind == Value::function) {
    Arguments arguments;
    arguments_of(&arguments);
    return call_function(callee.first, arguments);
  }
  if (callee.kind == Value::text && language_ == Language::php && !callee.known.is_unknown()) {
    name = callee.known.text;  // a function by its name
  } else if (callee.kind != Value::object && callee.kind != Value::unknown && own.empty()) {
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
  if (language_ == Language::perl && ascii::one_of(last, "find finddepth")) bind_found();
  const std::string_view handle = action == Action::open && language_ == Language::perl ? handle_ahead() : std::string_view();
  Arguments arguments;
  command_key_ = {};
  options_are_words_ = is_python() && base == "sh";
  arguments_of(&arguments);
  options_are_words_ = false;
  const Span at = from(start);
  if (is_python() && ascii::one_of(name, "fileinput.input fileinput.fileinput") && (arguments.bits & option::kInPlace) != 0) {
    emit_one("@write", at, arguments.at(0), writes_nothing() ? "--empty" : std::string_view());
    return Value{};
  }
  if (is_python() && name == "os.open" && opens_to_write(start)) {
    emit_one("@write", at, arguments.at(0));
    return Value{};
  }
  if (language_ == Language::node && ascii::equals(last, "then") && callee.kind == Value::object && arguments.at(0).kind == Value::function) {
    return call_function(arguments.at(0).first, single(object(base)));  // import("fs").then(m => ...)
  }
  if (ascii::equals(name, "os.dup2") || ascii::equals(last, "dup2")) duplicates_ = duplicates_ || connects_;
  if (language_ == Language::ruby && ascii::one_of(last, "send public_send __send__ const_get method") && arguments.count > 0) {
    const Value& what = arguments.at(0);  // x.send(:system, "...")
    if (what.kind == Value::object || (what.kind == Value::text && !what.known.is_unknown())) {
      const Value whole = base.empty() || base == "Object" ? object(what.known.text) : member(object(base), what.known.text);
      if (ascii::one_of(last, "method const_get") || whole.kind != Value::object) return whole;
      Arguments inner;
      for (std::uint32_t i = 1; i < arguments.count; ++i) inner.value[inner.count++] = arguments.at(i);
      inner.written = inner.count;
      return act(find_call(language_, whole.known.text), inner, at, whole.known.text);
    }
  }
  if (!base.empty() && ascii::one_of(last, "items values copy") && is_environment(object(base))) return whole_environment(object(base), at);
  if (const Value found = member_by_text(base, last, arguments); found.kind == Value::object) return found;
  if (const Value* done = called_through(base, last, arguments, at)) return *done;
  if (action == Action::none && name.empty() && (own.empty() || ascii::one_of(own, "call invoke __invoke")) && is_feared_command(arguments.at(0))) {
    run_shell(arguments.at(0), at);
    return Value{};
  }
  if (callee.kind == Value::unknown && own.empty() && kept_count_ > 0) return call_kept(arguments, at);
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
  if (opens_memory(name, last, arguments)) return object("memory-database");
  if (ascii::starts_with(name, "memory-database")) return object(ascii::one_of(last, "cursor execute executescript begin connect prepare") ? base : std::string_view("memory-database"));
  if (is_python() && ascii::one_of(name, "fabric.connection fabric.serialgroup fabric.threadinggroup fabric.group invoke.context invoke.context.context")) {
    return object("fabric.connection");
  }
  if (mongo_ || language_ == Language::python) {
    if (const Value* done = store_method(base, last, arguments, at)) return *done;
  }
  if (action == Action::none) {
    const Value result = plain_call(name, last, base, arguments, at);
    if (callee.kind == Value::object && ascii::equals(name, "sh")) return Value{};
    return result;
  }
  const Value result = act(action, arguments, at, name);
  if (result.kind == Value::process && !handle.empty()) memory_.bind(handle, result);
  return result;
}

// A database that lives in memory only, or in a file below a temporary folder: what is done to it is nobody's loss.
inline bool ScriptReader::opens_memory(std::string_view name, std::string_view last, const Arguments& arguments) const noexcept {
  if (!ascii::one_of(name, "sqlite3.connect duckdb.connect sqlalchemy.create_engine create_engine better-sqlite3 sqlite3.database node:sqlite.databasesync bun:sqlite.database duckdb.database pdo dbi.connect sqlite3 mongomock.mongoclient fakeredis.fakeredis fakeredis.fakestrictredis") && !ascii::one_of(last, "create_engine databasesync")) return false;
  if (ascii::one_of(name, "mongomock.mongoclient fakeredis.fakeredis fakeredis.fakestrictredis")) return true;
  const std::string_view path = arguments.at(0).kind == Value::text ? arguments.at(0).known.text : std::string_view("?");
  return path == "sqlite://" || path.find(":memory:") != std::string_view::npos || (arguments.written == 0 && ascii::starts_with(name, "duckdb")) ||
         (arguments.at(0).known.flags & word_flag::kTemporary) != 0 || ((ascii::starts_with(path, "/tmp/") || ascii::starts_with(path, "sqlite:////tmp/")) && path.find("..") == std::string_view::npos);
}

// os.open(path, os.O_WRONLY | os.O_TRUNC)
inline bool ScriptReader::opens_to_write(std::size_t start) const noexcept {
  const std::string_view text = lexer_.text().substr(start, previous_stop_ > start ? previous_stop_ - start : 0);
  return text.find("O_WRONLY") != std::string_view::npos || text.find("O_RDWR") != std::string_view::npos;
}

// Methods whose names alone tell, whatever they are called on.
inline Action ScriptReader::unknown_method(std::string_view last, std::string_view base) const noexcept {
  if (language_ == Language::node) {
    if (ascii::one_of(last, "execfile spawn")) return Action::run;
    if (ascii::one_of(last, "rmsync unlinksync rmdirsync")) return Action::remove_by_options;
    if (ascii::equals(last, "exec") && ascii::one_of(base, "cp child_process childprocess proc shell sh require")) return Action::shell;
    if (ascii::equals(last, "rm") && ascii::one_of(base, "promises fsp fsx")) return Action::remove_by_options;
  }
  if (language_ == Language::node && base == "shell") return Action::none;
  return kMethodTable.find(kMethods, last);
}

// What is neither in a table nor a method that tells.
inline Value ScriptReader::plain_call(std::string_view name, std::string_view last, std::string_view base, const Arguments& arguments, Span at) noexcept {
  if (language_ == Language::python && (base == "sh" || base == "plumbum.cmd" || base == "local.cmd")) {  // sh.rm("-rf", "/")
    Known items[Arguments::kMost + 1];
    std::uint32_t n = 0;
    items[n++] = Known{last, at, false, 0};
    for (std::uint32_t i = 0; i < arguments.count; ++i) items[n++] = known_or_blank(arguments.at(i), at);
    run_words(items, n, at);
    return Value{};
  }
  if (language_ == Language::perl && ascii::one_of(name, kStarts)) {
    std::uint32_t first = 0;  // open3(*IN, *OUT, *ERR, "rm", "x")
    while (first + 1 < arguments.count && !arguments.at(first).is_text() && arguments.at(first).kind != Value::list) ++first;
    const Value& what = arguments.named.kind == Value::list ? arguments.named : arguments.at(first);
    if (what.kind == Value::list) return run_list(what, at), Value{};
    Known items[Arguments::kMost];
    std::uint32_t n = 0;
    for (std::uint32_t i = first; i < arguments.count && arguments.at(i).is_text(); ++i) items[n++] = arguments.at(i).known;
    if (n == 1) run_code(Dialect::shell, items[0]);
    if (n > 1) run_words(items, n, at);
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
  if (language_ == Language::php && (ascii::one_of(name, "reflectionfunction") || ascii::ends_with(name, "fromCallable")) && arguments.at(0).kind == Value::text) return object(arguments.at(0).known.text);
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
    } else if (function.kind == Value::function && ascii::starts_with(name, "array_")) {
      return call_function(function.first, single(items_of(arguments.at(swapped ? 0 : 1))));
    }
    return Value{};
  }
  if (is_python() && ascii::equals(name, "map") && arguments.has_file) return content_of(arguments.file);
  if (is_python() && ascii::equals(name, "map") && arguments.at(0).kind == Value::object) {
    Arguments inner;
    inner.value[0] = items_of(arguments.at(1));
    inner.count = inner.written = 1;
    const Action action = find_call(language_, arguments.at(0).known.text);
    return action != Action::none ? gathered(act(action, inner, at, arguments.at(0).known.text)) : Value{};
  }
  if (is_python() && ascii::equals(name, "vars") && arguments.at(0).kind == Value::object) return arguments.at(0);
  if (is_python() && ascii::one_of(name, "globals locals vars")) return object("builtins");
  if (is_python() && ascii::starts_with(name, "get_ipython")) {
    const bool line = ascii::equals(last, "run_line_magic"), cell = ascii::equals(last, "run_cell_magic");
    if ((line || cell) && arguments.at(0).kind == Value::text && ascii::one_of(arguments.at(0).known.text, "sx system sc bash sh")) {
      run_shell(arguments.at(line ? 1 : 2), at);
    }
    return base.empty() ? object(name) : Value{};
  }
  if (is_python() && ascii::equals(name, "enumerate")) {
    Value items = arguments.at(0);
    items.bits |= option::kNumbered;
    return items;
  }
  if (is_python() && ascii::one_of(name, "codecs.decode codecs.encode") && arguments.at(1).kind == Value::text) {
    const std::string_view encoding = arguments.at(1).known.text;
    if (ascii::one_of(encoding, "rot13 rot_13")) return turned_by_13(arguments.at(0));
    if (ascii::equals(name, "codecs.decode")) return decoded(arguments.at(0), ascii::starts_with(encoding, "hex"));
  }
  if (language_ == Language::perl && ascii::equals(name, "pack") && arguments.at(0).kind == Value::text && ascii::starts_with(arguments.at(0).known.text, "h")) {
    return decoded(arguments.at(1), true);
  }

  if (ascii::one_of(name, "sprintf format") && language_ != Language::python && arguments.at(0).kind == Value::text) {
    return filled(arguments.at(0), arguments.at(1), at);
  }
  if (language_ == Language::php && ascii::one_of(name, "fwrite fputs") && arguments.at(0).kind == Value::process) {
    feed(arguments.at(0), arguments.at(1), at);
    return Value{};
  }
  if (const Value* done = known_by_name(last, arguments, at)) return *done;
  run_statement(last, arguments);
  hand_over(last, arguments, at);
  if (ascii::one_of(last, "partial promisify pify denodeify") && (arguments.at(0).kind == Value::object || arguments.at(0).kind == Value::function)) return arguments.at(0);
  if (connects_ && ascii::one_of(last, "send sendall sendto") && arguments.has_file && is_environment(content_of(arguments.file))) return act(Action::send, arguments, at, name);
  if (ascii::one_of(last, "post put patch") && (arguments.has_file || (arguments.bits & option::kSends) != 0)) {
    return act(Action::send, arguments, at, name);
  }
  if (arguments.remote) {
    Value value;
    value.kind = Value::remote;
    return value;
  }
  return arguments.has_file && arguments.count == 1 ? content_of(arguments.file) : Value{};
}

}  // namespace tipstaff::gate::program
