// Methods of what is no module: texts, paths, lists, contents of files, stores that a driver reaches.
#pragma once

#include "tipstaff/gate/scripting/reader/reader.hpp"

namespace tipstaff::gate::program {

// mongosh app-dev --eval CODE: the client is given a database of development or of tests, by its name.
inline bool ScriptReader::names_development() const noexcept {
  if (frame_.carrier == kNone) return false;
  const Command& client = tree_.command(frame_.carrier);
  if (!ascii::one_of(client.program, "mongo mongosh") || client.word_count == 0) return false;
  std::string_view name = tree_.word(client.first_word).text;
  if (name.empty() || name[0] == '-' || name.find("prod") != std::string_view::npos || name.find("live") != std::string_view::npos) return false;
  name = name.substr(name.rfind('/') + 1);
  name = name.substr(0, name.find('?'));
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = name.find_first_of("_-.", at);
    const std::string_view part = name.substr(at, end == std::string_view::npos ? end : end - at);
    if (ascii::one_of(part, "dev devel development local test tests testing ci scratch sandbox demo tmp temp")) return true;
    at = end == std::string_view::npos ? name.size() : end + 1;
  }
  return false;
}

// Stores that are reached through a driver: MongoDB and Redis. Null: none of theirs.
inline const Value* ScriptReader::store_method(std::string_view base, std::string_view last, const Arguments& arguments, Span at) noexcept {
  static constexpr Value kDone{};
  const bool on_database = mongo_ && (ascii::starts_with(base, "db") || base.empty() || ascii::starts_with(base, "rs") || ascii::starts_with(base, "sh"));
  std::string_view verb;
  for (const std::string_view known :
       {"dropdatabase", "drop_database", "drop_collection", "dropcollection", "deletemany", "delete_many", "remove", "deleteone", "updatemany",
        "update_many", "drop", "dropindexes", "dropindex", "shutdownserver", "dropuser", "dropallusers", "dropallroles", "flushall", "flushdb",
        "findoneanddelete", "bulkwrite", "renamecollection", "fsynclock", "createuser"}) {
    if (ascii::equals(last, known)) verb = known;
  }
  if (mongo_ && on_database && ascii::equals(last, "aggregate")) {  // [{$match: ...}, {$out: "users"}] over db.users
    const std::string_view own = base.substr(base.rfind('.') + 1), text = lexer_.text();
    const std::size_t out = text.find("$out");
    if (std::size_t name = out == std::string_view::npos ? out : text.find(own, out); name != std::string_view::npos && name - out < 40 && !own.empty() && !ascii::is_letter(text[out + 4])) verb = "drop";
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
  if (verb == "dropdatabase" && names_development()) writer.flag("--development");
  writer.end();
  return &kDone;
}

// A method of something that is not a module: texts, paths, contents, lists.
inline Value ScriptReader::method(const Value& self, std::string_view name, std::size_t start) noexcept {
  if (level_ >= kLevels || reader_.out_of_stack()) return too_deep();
  const Level level(level_);
  if (language_ == Language::node && name.size() > 4 && ascii::ends_with(name, "sync")) name.remove_suffix(4);
  const bool each = ascii::one_of(name, "foreach map each filter flatmap some every each_entry then") && self.is_several();
  if (each) bind_callback(items_of(self));
  const std::string_view subject = subject_;
  Arguments arguments;
  arguments_of(&arguments);
  const Span at = from(start);
  if (self.kind == Value::process) {
    if (const Value* done = process_method(self, name, arguments, at)) return *done;
  }
  if (self.kind == Value::function && ascii::one_of(name, "call yield apply __call__")) return call_function(self.first, arguments);
  if (self.kind == Value::list && ascii::one_of(name, "append push extend add unshift") && arguments.count > 0) {
    Value more = ascii::equals(name, "extend") && arguments.at(0).kind == Value::list ? arguments.at(0) : as_list(arguments, 0);
    if (more.kind == Value::list) memory_.bind(subject, add(self, more, at));
    return Value{};
  }
  if (each && arguments.at(0).kind == Value::object) {  // paths.forEach(fs.unlinkSync), paths.each(&File.method(:delete))
    const Action action = find_call(language_, arguments.at(0).known.text);
    if (action != Action::none) return act(action, single(items_of(self)), at, arguments.at(0).known.text);
    if (const Value* done = path_method(items_of(self), arguments.at(0).known.text, Arguments(), at)) return *done;
  }
  if (each && arguments.at(0).kind == Value::function) {
    if (functions_[arguments.at(0).first].escapes) call_function(arguments.at(0).first, single(items_of(self)));
    return self;
  }
  if (language_ == Language::ruby && ascii::one_of(name, "each map each_entry each_with_index reverse_each") && self.is_several()) block_value_ = items_of(self);
  if (self.kind == Value::path || (self.is_text() && ascii::one_of(name, "unlink rmdir write_text write_bytes rmtree rmtree_p"))) {
    if (const Value* done = path_method(self, name, arguments, at)) return *done;
  }
  if (self.is_text()) return text_method(self, name, arguments, at);
  if (self.kind == Value::content && ascii::one_of(name, "write writelines") && (arguments.at(0).bits & option::kScrambled) != 0) {
    emit_one("@write", at, text_value(self.known), "--empty");
  }
  if (self.kind == Value::content && ascii::one_of(name, "write writelines") && arguments.remote) note_saved({}, self.known.text);
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

inline Value ScriptReader::attribute(const Value& self, std::string_view name, std::size_t start) noexcept {
  if (self.kind == Value::process) {
    if (ascii::one_of(name, "stdin buffer")) return self;
    if (language_ == Language::ruby && !token_.line && ascii::one_of(name, "puts write print") && (token_.kind == Kind::text || token_.kind == Kind::name)) {
      const Value text = expression();
      feed(self, text, from(start));
    }
    return Value{};
  }
  if (language_ == Language::ruby) {
    if (ascii::one_of(name, "each map each_entry each_with_index reverse_each") && self.is_several()) {
      block_value_ = items_of(self);
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
  if (self.is_text() && ascii::one_of(name, "path full_path")) return self;
  if (self.is_text() && ascii::equals(name, "name")) return self.kind == Value::path && self.is_several() ? within({}, from(start)) : self;
  return Value{};
}

inline const Value* ScriptReader::path_method(const Value& self, std::string_view name, const Arguments& arguments, Span at) noexcept {
  if (ascii::equals(name, "unlink") || (ascii::equals(name, "delete") && language_ == Language::ruby && self.kind == Value::path)) {
    emit_one("rm", at, self);
  } else if (ascii::one_of(name, "rmtree rmtree_p remove_tree removetree") || (self.kind == Value::path && (ascii::one_of(name, "delete remove") || (ascii::equals(name, "rmdir") && (arguments.bits & option::kRecursive) != 0)))) {
    emit_one("rm", at, self, "-r", "-f");
  } else if (ascii::equals(name, "rmdir")) {
    emit_one("rmdir", at, self);
  } else if (ascii::one_of(name, "write_text write_bytes")) {
    const bool empty = arguments.written != 0 && ((arguments.at(0).kind == Value::text && arguments.at(0).known.text.empty()) || (arguments.at(0).bits & option::kScrambled) != 0);
    emit_one("@write", at, self, empty ? std::string_view("--empty") : std::string_view());
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

inline Arguments ScriptReader::single(const Value& value) noexcept {
  Arguments arguments;
  arguments.value[0] = value;
  arguments.count = arguments.written = 1;
  return arguments;
}

inline Value ScriptReader::text_method(const Value& self, std::string_view name, const Arguments& arguments, Span at) noexcept {
  if (ascii::one_of(name, "decode encode strip trim lstrip rstrip tostring to_s trimend trimstart freeze chomp dup tolowercase lower "
                          "downcase normalize valueof getpathname getrealpath shellescape as_posix expandtabs str concat_")) {
    if (ascii::equals(name, "decode") && arguments.at(0).kind == Value::text) {
      if (ascii::one_of(arguments.at(0).known.text, "base64")) return decoded(self, false);
      if (ascii::one_of(arguments.at(0).known.text, "hex")) return decoded(self, true);
    }
    return self;
  }
  if (ascii::equals(name, "reverse")) return reversed(self);
  if (ascii::equals(name, "format")) return filled(self, arguments.at(0), at);
  if (ascii::equals(name, "join") && is_python() && arguments.has_file) return whole_environment(content_of(arguments.file), at);
  if (ascii::equals(name, "join") && is_python()) return joined_list(arguments.at(0), self, at);
  if (ascii::one_of(name, "split")) return words_in(Known{self.known.text, at, false, 0});
  if (ascii::one_of(name, "concat")) return add(self, arguments.at(0), at);
  if (ascii::one_of(name, "unpack1 unpack")) return decoded(self, false);
  if (ascii::one_of(name, "replace gsub sub replaceall")) return replaced(self, arguments.at(0), arguments.at(1), at);
  if (ascii::equals(name, "then")) return self;
  return Value{};
}

}  // namespace tipstaff::gate::program
