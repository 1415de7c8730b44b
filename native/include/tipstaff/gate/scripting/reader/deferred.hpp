// Functions that are called elsewhere than where they are named: kept in lists and mappings, bound, called through others;
// and what calls do that only their last name tells.
#pragma once

#include "tipstaff/gate/scripting/libraries/verbs.hpp"
#include "tipstaff/gate/scripting/reader/reader.hpp"

namespace tipstaff::gate::program {

inline void ScriptReader::keep_for_later(const Value& value) noexcept {
  if (value.kind != Value::object || kept_count_ == kKept || !does_harm(find_call(language_, value.known.text))) return;
  kept_[kept_count_++] = value.known.text;
}

// A call of what is not known, with texts, where functions that do harm were kept: it may be any of them.
inline Value ScriptReader::call_kept(const Arguments& arguments, Span at) noexcept {
  const Value& first = arguments.at(0);
  Value result;
  for (std::uint32_t i = 0; i < kept_count_ && (first.is_text() || first.is_several()); ++i) result = act(find_call(language_, kept_[i]), arguments, at, kept_[i]);
  return result;
}

constexpr std::string_view kEnvironmentFile = "/proc/self/environ";

inline bool ScriptReader::is_environment(const Value& value) const noexcept {
  if (value.kind == Value::content) return value.known.text == kEnvironmentFile;
  return value.kind == Value::object && ascii::one_of(value.known.text, "os.environ os.environb process.env environ deno.env.toobject bun.env");
}

// The environment as a whole is what a file of secrets is.
inline Value ScriptReader::whole_environment(const Value& value, Span at) noexcept {
  if (!is_environment(value)) return value;
  Value content;
  content.kind = Value::content;
  content.known = Known{kEnvironmentFile, at, false, 0};
  return content;
}

// os.__getattribute__("system"), os.__dict__.get("system"), Reflect.get(fs, "rmSync"). Unknown: none of them.
inline Value ScriptReader::member_by_text(std::string_view base, std::string_view last, const Arguments& arguments) noexcept {
  const Value& name = arguments.at(0);
  if (language_ == Language::node && base == "Reflect" && last == "get" && name.kind == Value::object && arguments.at(1).kind == Value::text) return member(name, arguments.at(1).known.text);
  if (!is_python() || name.kind != Value::text || name.known.is_unknown() || base.empty()) return Value{};
  if (ascii::one_of(last, "__getattribute__ __getattr__")) return member(object(base), name.known.text);
  constexpr std::string_view kDict = ".__dict__";
  if (last == "get" && ascii::ends_with(base, kDict)) return member(object(base.substr(0, base.size() - kDict.size())), name.known.text);
  return Value{};
}

// The text of a command that is handed to a function of which only its computation is known: table[x]("rm -rf y").
inline bool ScriptReader::is_feared_command(const Value& value) noexcept {
  if (value.kind != Value::text) return false;
  const std::string_view text = ascii::trim(value.known.text);
  const std::size_t blank = text.find(' ');
  return blank != std::string_view::npos && ascii::one_of(text.substr(0, blank), "rm sudo dd shred mkfs wipefs chmod chown find truncate mv kill killall pkill systemctl shutdown git curl wget bash sh");
}

// f.call(null, x), f.apply(null, [x]), f.bind(null, x), Reflect.apply(f, null, [x]), f.__call__(x). Null: none of them.
inline const Value* ScriptReader::called_through(std::string_view base, std::string_view last, const Arguments& arguments, Span at) noexcept {
  const bool reflected = base == "Reflect" && last == "apply";
  const bool php = language_ == Language::php, ruby = language_ == Language::ruby;
  if (!reflected && !ascii::one_of(last, language_ == Language::node ? "call apply bind" : ruby ? "call yield" : php ? "invoke __invoke invokeargs" : "__call__")) return nullptr;
  const std::string_view function = !reflected ? base : arguments.at(0).kind == Value::object ? arguments.at(0).known.text : std::string_view();
  const Action action = function.empty() ? Action::none : find_call(language_, function);
  if (action == Action::none) return nullptr;
  Arguments inner;
  inner.bits = arguments.bits;
  const std::uint32_t first = reflected ? 2 : language_ == Language::node ? 1 : 0;
  const Value& list = arguments.at(first);
  if (last == "apply" && list.kind == Value::list) {
    for (std::uint32_t i = 0; i < list.count; ++i) inner.add(text_value(memory_.item(list.first + i)));
  } else {
    for (std::uint32_t i = first; i < arguments.count; ++i) inner.value[inner.count++] = arguments.at(i);
  }
  inner.written = inner.count;
  result_ = inner.count > 0 ? act(action, inner, at, function) : object(function);
  return &result_;
}

// A text that is a statement of SQL, handed to what by its name runs one: execute_string, db.run, client.command.
inline void ScriptReader::run_statement(std::string_view last, const Arguments& arguments) noexcept {
  if (!arguments.at(0).is_text() && !arguments.at(1).is_text()) return;
  if (!is_statement(ascii::trim(arguments.at(0).known.text)) && !is_statement(ascii::trim(arguments.at(1).known.text))) return;
  if (!ascii::one_of(last, "run do batch send perform")) {
    bool runs = false;
    for (const std::string_view part : {"exec", "query", "sql", "statement", "command", "script"}) runs = runs || find_folded(last, part) != std::string_view::npos;
    if (!runs) return;
  }
  for (std::uint32_t i = 0; i < arguments.count && i < 2; ++i) {
    const std::string_view text = arguments.at(i).is_text() ? ascii::trim(arguments.at(i).known.text) : std::string_view();
    if (is_statement(text)) read_statement(arguments.at(i));
  }
}

// Whether a text is a statement by its first words, and no title: DROP TABLE, DELETE FROM, UPDATE ... SET.
inline bool ScriptReader::is_statement(std::string_view text) noexcept {
  const std::size_t end = text.find_first_of(" \t\n");
  if (end == std::string_view::npos) return false;
  const std::string_view verb = text.substr(0, end), rest = ascii::trim(text.substr(end));
  const std::string_view object = rest.substr(0, rest.find_first_of(" \t\n;("));
  if (ascii::equals(verb, "truncate") || ascii::equals(object, "$$") || (ascii::one_of(verb, "grant revoke") && ascii::equals(object, "all"))) return true;
  if (ascii::equals(verb, "update")) return find_folded(rest, " set ") != std::string_view::npos;
  if (ascii::one_of(verb, "with begin")) return rest.find(';') != std::string_view::npos || rest.find('(') != std::string_view::npos;
  return ascii::one_of(verb, "drop delete alter merge create revoke grant") &&
         ascii::one_of(object, "table tables database schema index view user role from into keyspace function procedure trigger type sequence materialized external temporary warehouse stream "
                               "measurement series bucket or owned select insert column constraint extension policy publication subscription tablespace");
}

// Calls that are known by their last name. Null: another call.
inline const Value* ScriptReader::known_by_name(std::string_view last, const Arguments& arguments, Span at) noexcept {
  result_ = Value{};
  if (is_python() && ascii::equals(last, "methodcaller") && arguments.at(0).kind == Value::text) {  // methodcaller("system", "rm x")(os)
    Arguments inner;
    for (std::uint32_t i = 1; i < arguments.count; ++i) inner.value[inner.count++] = arguments.at(i);
    inner.written = inner.count;
    for (const std::string_view module : {"os", "subprocess", "shutil"}) {
      const Value whole = member(object(module), arguments.at(0).known.text);
      if (inner.count > 0 && whole.kind == Value::object) act(find_call(language_, whole.known.text), inner, at, whole.known.text);
    }
    return &result_;
  }
  if (ascii::one_of(last, "urandom token_bytes randbytes randombytes random_bytes encrypt")) {
    result_.bits = option::kScrambled;
    return &result_;
  }
  if (arguments.named.kind == Value::list && arguments.named.count > 0 && ascii::one_of(last, "stream exec_create execcreate exec_run create_exec ws_exec")) {
    run_list(arguments.named, at);  // a program in a container
    return &result_;
  }
  if (ascii::equals(last, "unlink") && arguments.at(0).is_text() && arguments.at(0).known.text.find('/') != std::string_view::npos) emit_one("rm", at, arguments.at(0));
  return nullptr;
}

}  // namespace tipstaff::gate::program
