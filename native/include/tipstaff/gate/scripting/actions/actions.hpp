// Says as commands what a program's calls do.
#pragma once

#include "tipstaff/gate/scripting/actions/calls.hpp"
#include "tipstaff/gate/scripting/actions/texts.hpp"
#include "tipstaff/gate/tree/quoting.hpp"

namespace tipstaff::gate::program {

class Actions : protected Texts {
 public:
  Actions(Reader& reader, const Code& code, const Frame& frame, Language language, Dialect dialect) noexcept
      : Texts(*reader.tree), reader_(reader), code_(code), frame_(frame), language_(language), dialect_(dialect) {
    frame_.via |= via::kInterpreter;
  }

 protected:
  using string_view = std::string_view;

  // --- values ---

  Value home(Span span) const noexcept {
    return fixed(reader_.surroundings->home.empty() ? string_view("~") : reader_.surroundings->home, span);
  }
  Value working(Span span) const noexcept {
    return frame_.cwd.empty() ? Value{} : fixed(frame_.cwd, span);
  }
  Value temporary(Span span) const noexcept {
    Value value;
    value.kind = Value::text;
    value.known = unknown_text(span);
    value.known.flags |= word_flag::kTemporary;
    return value;
  }

  // --- commands ---

  void words(CommandWriter* writer, const Value& value, Span span) noexcept {
    if (value.is_text()) {
      writer->known(value.known, word_flag::kPseudo);
    } else if (value.kind == Value::list || value.kind == Value::any) {
      for (std::uint32_t i = 0; i < value.count; ++i) writer->known(memory_.item(value.first + i), word_flag::kPseudo);
    } else if (value.kind == Value::walk) {
      writer->known(value.known, word_flag::kPseudo);
    } else {
      writer->known(unknown_text(span), word_flag::kPseudo);
    }
  }
  void emit(string_view program, Span span, string_view flag, string_view second, const Value* values, std::uint32_t count) noexcept {
    CommandWriter writer(reader_, frame_, dialect_, program, span);
    if (!flag.empty()) writer.flag(flag);
    if (!second.empty()) writer.flag(second);
    for (std::uint32_t i = 0; i < count; ++i) words(&writer, values[i], span);
    writer.end();
  }
  void emit_one(string_view program, Span span, const Value& value, string_view flag = {}, string_view second = {}) noexcept {
    emit(program, span, flag, second, &value, 1);
  }
  void emit_read(Span span, const Value& path) noexcept { emit_one("@read", span, path); }

  // --- one call ---

  // What is in a folder, as a glob; its names where no folder is given.
  Value within(const Value& folder, Span span) noexcept {
    Value all = fixed("*", span, word_flag::kGlob);
    if (folder.kind == Value::unknown && folder.known.text.empty()) return all;
    all = join(folder, all, span);
    all.known.flags |= word_flag::kGlob;
    return all;
  }
  static constexpr bool makes_text(Action action) noexcept {
    return action == Action::code_point || action == Action::join_path || action == Action::expand || action == Action::decode_base64 ||
           action == Action::decode_hex || action == Action::reverse;
  }
  // One of several texts where one is expected.
  Value act_for_each(Action action, const Arguments& arguments, Span span, string_view name) noexcept {
    Items<kEach> made;
    const Value several = arguments.at(0);
    for (std::uint32_t i = 0; i < several.count; ++i) {
      Arguments each = arguments;
      each.value[0] = text_value(memory_.item(several.first + i));
      if (action == Action::code_point) each.value[0].kind = Value::number;
      made.add(i < kEach ? known_or_blank(act(action, each, span, name), span) : unknown_text(span));
    }
    const Value result = kept(made, Value::any);
    return result.count > 0 ? result : Value{};
  }

  // `name` for messages of methods; returns what the call gives.
  Value act(Action action, const Arguments& arguments, Span span, string_view name) noexcept {
    const Value& first = arguments.at(0);
    const Value& second = arguments.at(1);
    if (first.kind == Value::any && makes_text(action)) return act_for_each(action, arguments, span, name);
    switch (action) {
      case Action::none:
      case Action::end:
      case Action::import:
      case Action::get_member:
        return Value{};
      case Action::shell:
        if (arguments.written == 0) return Value{};
        if (language_ == Language::perl || language_ == Language::ruby || language_ == Language::php) {
          run_several(arguments, span);
          return started(arguments, span);
        }
        if (first.kind == Value::list && (arguments.bits & option::kShell) != 0 && first.count > 0) {
          run_code(Dialect::shell, memory_.item(first.first));
          return started(arguments, span);
        }
        run_shell(first, span);
        return started(arguments, span);
      case Action::run:
        run(arguments, span);
        return started(arguments, span);
      case Action::run_each:
        run_several(arguments, span);
        return started(arguments, span);
      case Action::exec_list: return run_from(arguments, 0, span);
      case Action::spawn_list: return run_from(arguments, 1, span);
      case Action::exec_vector:
      case Action::spawn_vector: {
        const std::uint32_t path = action == Action::spawn_vector ? 1 : 0;
        Items<64> items;
        items.add(known_or_blank(arguments.at(path), span));
        const Value& list = arguments.at(path + 1);
        for (std::uint32_t i = 1; i < list.count && list.kind == Value::list; ++i) items.add(memory_.item(list.first + i));
        if (list.kind != Value::list) items.add(unknown_text(span));
        run_words(items.begin(), items.size(), span);
        return Value{};
      }
      case Action::remove_tree: return remove(arguments, span, "-r", "-f");
      case Action::remove_file: return remove(arguments, span, {}, {});
      case Action::remove_by_options: {
        const bool recursive = (arguments.bits & option::kRecursive) != 0;
        if (!recursive && ascii::one_of(name, "fs.rmdir fsp.rmdir fspromises.rmdir")) {
          emit_one("rmdir", span, first);
        } else {
          emit_one("rm", span, first, recursive ? "-r" : (arguments.bits & option::kForce) ? "-f" : string_view(),
                   recursive && (arguments.bits & option::kForce) ? string_view("-f") : string_view());
        }
        return Value{};
      }
      case Action::remove_directory: emit_one("rmdir", span, first); return Value{};
      case Action::empty_directory: {
        const Value below = text_value(joined(known_or_blank(first, span), "/*", Known{{}, span, false, word_flag::kGlob}));
        emit_one("rm", span, below, "-r", "-f");
        return Value{};
      }
      case Action::write:
        if (ascii::equals(name, "fs.createwritestream") && writes_nothing() && code_.text.find("pipe") == string_view::npos) {  // .end() at once
          emit_one("@write", span, first, "--empty");
          return Value{};
        }
        emit_write(first, arguments, span);
        return Value{};
      case Action::append: emit_one("@write", span, first, "--append"); return Value{};
      case Action::read: {
        if (first.is_text() && (ascii::starts_with(first.known.text, "http") || ascii::starts_with(first.known.text, "ftp")) &&
            first.known.text.find("://") != string_view::npos) {
          Value value;
          value.kind = Value::remote;
          return value;
        }
        emit_read(span, first);
        Value content;
        content.kind = Value::content;
        content.known = known_or_blank(first, span);
        return content;
      }
      case Action::open: return open(arguments, span);
      case Action::move: emit("mv", span, {}, {}, arguments.value, arguments.count < 2 ? arguments.count : 2); return Value{};
      case Action::copy: emit("cp", span, "-r", (arguments.bits & option::kForce) != 0 ? string_view("-f") : string_view(), arguments.value, arguments.count < 2 ? arguments.count : 2); return Value{};
      case Action::change_mode: {
        const Value turned[2] = {mode_of(second), first};
        emit("chmod", span, {}, {}, turned, 2);
        return Value{};
      }
      case Action::change_mode_first: {
        Value turned[Arguments::kMost];
        for (std::uint32_t i = 0; i < arguments.count; ++i) turned[i] = i == 0 ? mode_of(arguments.at(0)) : arguments.at(i);
        emit("chmod", span, ascii::ends_with(name, "_r") ? "-R" : string_view(), {}, turned, arguments.count);
        return Value{};
      }
      case Action::change_owner: emit_one("chown", span, first); return Value{};
      case Action::kill: {
        CommandWriter writer(reader_, frame_, dialect_, "kill", span);
        if (arguments.count > 1) {
          if (second.is_text() && !second.known.is_unknown()) {
            writer.flag("-s");
            writer.known(second.known, word_flag::kPseudo);
          } else if (second.kind == Value::object) {  // signal.SIGKILL
            const std::size_t dot = second.known.text.rfind('.');
            writer.flag("-s");
            writer.flag(dot == string_view::npos ? second.known.text : second.known.text.substr(dot + 1));
          }
        }
        words(&writer, first, span);
        writer.end();
        return Value{};
      }
      case Action::kill_first: {
        CommandWriter writer(reader_, frame_, dialect_, "kill", span);
        writer.flag("-s");
        for (std::uint32_t i = 0; i < arguments.count; ++i) words(&writer, arguments.at(i), span);
        writer.end();
        return Value{};
      }
      case Action::truncate:
        if (ascii::ends_with(name, "ftruncate")) {
          if (first.kind != Value::number) return Value{};  // what was opened is judged there
          emit_one("truncate", span, fixed(tree_.join(tree_.copy("/dev/fd/"), first.known.text), span), "-s", "0");
          return Value{};
        }
        emit_one("truncate", span, first, "-s", "0");
        return Value{};
      case Action::link: emit("ln", span, "-s", {}, arguments.value, arguments.count < 2 ? arguments.count : 2); return Value{};
      case Action::send: return send(arguments, span);
      case Action::send_file: {
        Value file = first;
        if (ascii::equals(name, "storbinary")) file = arguments.has_file ? text_value(arguments.file) : second;
        if (ascii::equals(name, "upload_from_filename") || file.is_text() || arguments.has_file) emit_one("@send", span, file);
        return Value{};
      }
      case Action::request:
        if ((arguments.bits & option::kSends) != 0 || arguments.has_file || posts(name, arguments)) return send(arguments, span);
        [[fallthrough]];
      case Action::fetch: {
        Value value;
        value.kind = Value::remote;
        return value;
      }
      case Action::save: {
        if (second.is_text() && first.is_text()) note_saved(first.known.text, second.known.text);
        Value value;
        value.kind = Value::remote;
        return value;
      }
      case Action::load:
        if (arguments.remote || (first.is_text() && is_address(first.known.text))) tree_.add_uncertainty(Unresolved::remote_code, span, frame_.carrier);
        if (arguments.has_file && arguments.count == 1) {
          Value value;
          value.kind = Value::content;
          value.known = arguments.file;
          return value;
        }
        return Value{};
      case Action::load_file:
        for (std::uint32_t i = 0; i < arguments.count; ++i)
          if (arguments.at(i).is_text() && is_saved(arguments.at(i).known.text)) tree_.add_uncertainty(Unresolved::remote_code, span, frame_.carrier);
        return Value{};
      case Action::connect:
        connects_ = true;
        connect_span_ = span;
        return object("socket");
      case Action::evaluate:
        // A function is what these mostly get.
        if (ascii::one_of(name, "settimeout setinterval") && !first.is_text()) return Value{};
        if (ascii::ends_with(name, "worker_threads.worker") && !(first.is_text() && first.known.text.find('(') != string_view::npos)) return Value{};  // a file
        return evaluate(arguments, span);
      case Action::decode_base64: return decoded(first, false);
      case Action::decode_hex: return decoded(first, true);
      case Action::reverse: return reversed(first);
      case Action::code_point: return characters(arguments, span);
      case Action::join_path: {
        if (arguments.count == 0) return fixed(".", span);
        Value path = first;
        if (path.kind == Value::any && arguments.count == 1) return path;
        if (path.kind == Value::walk) path = text_value(path.known);
        for (std::uint32_t i = 1; i < arguments.count; ++i) path = join(path, arguments.at(i), span);
        if (!path.is_text()) path = text_value(unknown_text(span));
        path.kind = Value::path;
        return path;
      }
      case Action::home: {
        Value value = home(span);
        value.kind = Value::path;
        return value;
      }
      case Action::expand: {
        if (first.is_text() && !first.known.text.empty() && first.known.text[0] == '~' && !reader_.surroundings->home.empty() &&
            (first.known.text.size() == 1 || first.known.text[1] == '/')) {
          Known rest = first.known;
          rest.text.remove_prefix(1);
          return text_value(joined(Known{reader_.surroundings->home, rest.span, false, 0}, {}, rest));
        }
        return first;
      }
      case Action::working: return working(span);
      case Action::temporary: return temporary(span);
      case Action::environment: return environment(first, span);
      case Action::same: return first;
      case Action::glob: {
        Value pattern = first;
        if (pattern.is_text()) pattern.known.flags |= word_flag::kGlob;
        return pattern;
      }
      case Action::names: return within({}, span);
      case Action::entries: {
        Value value = within(first, span);
        value.kind = Value::path;
        return value;
      }
      case Action::join_text: return joined_list(as_list(arguments, 1), first, span);
      case Action::byte_list: return first.kind == Value::list ? characters(first, span) : first;
      case Action::walk: {
        Value value;
        value.kind = Value::walk;
        value.known = known_or_blank(first, span);
        return value;
      }
      case Action::sql:
        if (first.kind == Value::list && first.count > 0 && ascii::one_of(name.substr(name.rfind('.') + 1), "raw execute exec")) {  // git.raw(["reset", "--hard"]), execute(["git", ...])
          Items<64> items;
          if (!ascii::equals(memory_.item(first.first).text, "git")) {
            if (code_.text.find("git") == string_view::npos) return Value{};
            items.add(Known{"git", span, false, 0});
          }
          for (std::uint32_t i = 0; i < first.count; ++i) items.add(memory_.item(first.first + i));
          run_words(items.begin(), items.size(), span);
          return Value{};
        }
        if (first.kind == Value::text && (ascii::starts_with(first.known.text, "rm ") || ascii::starts_with(first.known.text, "sudo "))) run_shell(first, span);  // of a connection to a machine
        for (std::uint32_t i = 0; i < arguments.count && i < 2; ++i) read_statement(arguments.at(i));
        return Value{};
      case Action::parse_arguments: return first;
    }
    return Value{};
  }

  Value environment(const Value& name, Span span) noexcept {
    if (!name.is_text()) return Value{};
    const string_view key = name.known.text;
    if (ascii::one_of(key, "home userprofile")) return home(span);
    if (ascii::equals(key, "pwd")) return working(span);
    if (ascii::one_of(key, "tmpdir temp tmp")) return temporary(span);
    Value value = text_value(unknown_text(span));
    value.known.flags |= word_flag::kEnvironment | word_flag::kMayBeEmpty;
    return value;
  }

  // Programs that are started, and text that becomes code: scripting/processes.hpp.
  void run_code(Dialect dialect, const Known& text, std::uint32_t more = 0) noexcept;
  void run_shell(const Value& value, Span span) noexcept;
  void run_words(const Known* items, std::uint32_t count, Span span) noexcept;
  void run_list(const Value& list, Span span) noexcept;
  void note_shell(string_view text) noexcept;
  void finish_reverse_shell() noexcept;
  void read_statement(const Value& value) noexcept;
  Value started(const Arguments& arguments, Span span) noexcept;
  void feed(const Value& process, const Value& text, Span span) noexcept;
  static bool is_shell(string_view command) noexcept;
  static bool is_address(string_view text) noexcept { return ascii::starts_with(text, "http://") || ascii::starts_with(text, "https://") || ascii::starts_with(text, "ftp://"); }
  void note_saved(string_view address, string_view path) noexcept;
  bool is_saved(string_view path) const noexcept;
  bool runs_saved(string_view program, string_view file) const noexcept;
  bool writes_nothing() const noexcept;

 private:
  Value run_several(const Arguments& arguments, Span span) noexcept;
  Value run_from(const Arguments& arguments, std::uint32_t path, Span span) noexcept;
  Value run(const Arguments& arguments, Span span) noexcept;
  Value evaluate(const Arguments& arguments, Span span) noexcept;

  // Files, and what leaves for the network: scripting/files.hpp.
  Value mode_of(const Value& value) noexcept;
  Value remove(const Arguments& arguments, Span span, string_view flag, string_view second) noexcept;
  void emit_write(const Value& path, const Arguments& arguments, Span span) noexcept;
  Value open(const Arguments& arguments, Span span) noexcept;
  static bool begins_empty(string_view text) noexcept;
  Value open_perl(const Arguments& arguments, Span span) noexcept;
  bool posts(string_view name, const Arguments& arguments) const noexcept;
  Value send(const Arguments& arguments, Span span) noexcept;

 protected:
  Reader& reader_;
  const Code& code_;
  Frame frame_;
  Language language_;
  Dialect dialect_;
  Span connect_span_, shell_span_;
  std::uint32_t feeds_ = 0;
  bool feeds_reported_ = false;
  bool connects_ = false, duplicates_ = false, has_shell_ = false;
  static constexpr std::uint32_t kSaved = 4;
  string_view saved_[kSaved];  // files that hold what came from the network
  std::uint32_t saved_count_ = 0;
};

}  // namespace tipstaff::gate::program
