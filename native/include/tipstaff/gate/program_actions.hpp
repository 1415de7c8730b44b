// Says as commands what a program's calls do.
#pragma once

#include "tipstaff/gate/program_calls.hpp"
#include "tipstaff/gate/quoting.hpp"
#include "tipstaff/gate/shell_bytes.hpp"

namespace tipstaff::gate::program {

class Actions {
 public:
  Actions(Reader& reader, const Code& code, const Frame& frame, Language language, Dialect dialect) noexcept
      : reader_(reader), tree_(*reader.tree), code_(code), frame_(frame), language_(language), dialect_(dialect) {
    frame_.via |= via::kInterpreter;
  }

 protected:
  using string_view = std::string_view;

  // --- values ---

  static Value text_value(const Known& known) noexcept {
    Value value;
    value.kind = Value::text;
    value.known = known;
    if (known.text.find(kUnknownPart) != string_view::npos) value.known.flags |= word_flag::kUnknown;
    return value;
  }
  static Value fixed(string_view text, Span span, std::uint16_t flags = 0) noexcept {
    return text_value(Known{text, span, false, flags});
  }
  static Value object(string_view name) noexcept {
    Value value;
    value.kind = Value::object;
    value.known.text = name;
    return value;
  }
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
  Known known_or_blank(const Value& value, Span span) const noexcept {
    if (value.is_text()) return value.known;
    return unknown_text(span);
  }

  // Two texts as one; unknown parts stay where they are.
  Known joined(const Known& a, string_view between, const Known& b) noexcept {
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    const std::size_t size = a.text.size() + between.size() + b.text.size();
    const Span span{a.span.start < b.span.start ? a.span.start : b.span.start, a.span.end > b.span.end ? a.span.end : b.span.end};
    if (size > room || size > 65536) {
      if (size > room) tree_.set_full();
      return unknown_text(span);
    }
    char* at = out;
    for (const string_view part : {a.text, between, b.text}) {
      if (!part.empty()) std::memcpy(at, part.data(), part.size());
      at += part.size();
    }
    return Known{tree_.keep(size), span, false, static_cast<std::uint16_t>(a.flags | b.flags)};
  }
  Value add(const Value& a, const Value& b, Span span) noexcept {
    if (a.kind == Value::list && b.kind == Value::list) {
      Value sum = a;
      sum.first = memory_.item_count();
      sum.count = 0;
      for (const Value* part : {&a, &b}) {
        for (std::uint32_t i = 0; i < part->count; ++i) {
          if (memory_.add_item(Known(memory_.item(part->first + i)))) ++sum.count;
        }
      }
      return sum;
    }
    if (a.kind == Value::list || b.kind == Value::list) return Value{};
    if (a.kind == Value::any || b.kind == Value::any) return add_each(a, b, span);
    if (!a.is_text() && !b.is_text()) return Value{};
    return text_value(joined(known_or_blank(a, span), {}, known_or_blank(b, span)));
  }
  Value add_each(const Value& a, const Value& b, Span span) noexcept {
    const Value& many = a.kind == Value::any ? a : b;
    const Value& one = a.kind == Value::any ? b : a;
    const Known other = one.kind == Value::any ? unknown_text(span) : known_or_blank(one, span);
    Value sum;
    sum.kind = Value::any;
    const std::uint32_t count = many.count;
    Known made[8];
    std::uint32_t n = 0;
    for (; n < count && n < 8; ++n) {
      const Known item = memory_.item(many.first + n);
      made[n] = a.kind == Value::any ? joined(item, {}, other) : joined(other, {}, item);
    }
    sum.first = memory_.item_count();
    for (std::uint32_t i = 0; i < n; ++i) {
      if (memory_.add_item(made[i])) ++sum.count;
    }
    return sum;
  }
  // Paths are joined: an absolute one begins anew.
  Value join(const Value& a, const Value& b, Span span) noexcept {
    const Known right = known_or_blank(b, span);
    if (!right.text.empty() && (right.text[0] == '/' || right.text[0] == '~')) return text_value(right);
    const Known left = known_or_blank(a, span);
    if (left.text.empty()) return text_value(right);
    const bool slash = left.text.back() == '/' || left.text.back() == '\\';
    return text_value(joined(left, slash ? string_view() : string_view("/"), right));
  }
  // Either of two; what is not known stays one of them.
  Value either(const Value& a, const Value& b, Span span) noexcept {
    if (!a.is_text() && !b.is_text()) return a.kind != Value::unknown ? a : b;
    Value value;
    value.kind = Value::any;
    value.first = memory_.item_count();
    for (const Value* one : {&a, &b}) {
      if (memory_.add_item(known_or_blank(*one, span))) ++value.count;
    }
    return value;
  }
  Value reversed(const Value& value) noexcept {
    if (!value.is_text() || value.known.is_unknown()) return Value{};
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    const string_view text = value.known.text;
    if (text.size() > room) {
      tree_.set_full();
      return Value{};
    }
    for (std::size_t i = 0; i < text.size(); ++i) out[i] = text[text.size() - 1 - i];
    return fixed(tree_.keep(text.size()), value.known.span, value.known.flags);
  }
  Value decoded(const Value& value, bool hex) noexcept {
    if (!value.is_text() || value.known.is_unknown()) return Value{};
    string_view text;
    const bool fine = hex ? shell::decode_hex(tree_, value.known.text, &text) : shell::decode_base64(tree_, value.known.text, &text);
    if (!fine || text.find(kUnknownPart) != string_view::npos) return Value{};
    Value result = fixed(text, value.known.span);
    decoded_ = true;
    return result;
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

  void run_code(Dialect dialect, const Known& text, std::uint32_t more = 0) noexcept {
    Frame frame = frame_;
    frame.via |= more;
    if (decoded_) frame.via |= via::kDecoded;
    if (text.is_blank()) {
      tree_.add_uncertainty(Unresolved::code, text.span, frame.carrier);
      return;
    }
    if (dialect == Dialect::shell) note_shell(text.text);
    read_code(reader_, dialect, text.code(), frame);
  }
  // A value that a shell gets.
  void run_shell(const Value& value, Span span) noexcept {
    if (value.is_text()) {
      Known text = value.known;
      if (text.is_blank()) text.span = span;
      run_code(Dialect::shell, text);
    } else if (value.kind == Value::any) {
      for (std::uint32_t i = 0; i < value.count; ++i) run_code(Dialect::shell, memory_.item(value.first + i));
    } else if (value.kind == Value::list) {
      run_list(value, span);
    } else {
      tree_.add_uncertainty(value.kind == Value::remote ? Unresolved::remote_code : Unresolved::code, span, frame_.carrier);
    }
  }

  void run_words(const Known* items, std::uint32_t count, Span span) noexcept {
    Frame frame = frame_;
    if (decoded_) frame.via |= via::kDecoded;
    if (count == 1 || (count == 2 && items[1].text == "-i")) note_shell(items[0].text);
    read_words(reader_, frame, items, count, span);
  }
  void run_list(const Value& list, Span span) noexcept {
    if (list.count == 0) {
      tree_.add_uncertainty(Unresolved::program, span, frame_.carrier);
      return;
    }
    Known items[64];
    std::uint32_t n = 0;
    for (; n < list.count && n < 64; ++n) items[n] = memory_.item(list.first + n);
    run_words(items, n, span);
  }

  // What a reverse shell is made of.
  void note_shell(string_view text) noexcept {
    std::size_t end = 0;
    while (end < text.size() && !ascii::is_space(text[end])) ++end;
    std::size_t start = end;
    while (start > 0 && text[start - 1] != '/' && text[start - 1] != '\\') --start;
    const string_view program = text.substr(start, end - start);
    if (!ascii::one_of(program, "sh bash zsh dash ksh ash cmd cmd.exe powershell powershell.exe pwsh")) return;
    string_view rest = ascii::trim(text.substr(end));
    if (rest.empty() || ascii::starts_with(rest, "-i") || rest[0] == '<' || rest[0] == '>' || rest[0] == '0') shell_span_ = code_.origin, has_shell_ = true;
  }
  void finish_reverse_shell() noexcept {
    if (!connects_ || !(has_shell_ || duplicates_)) return;
    CommandWriter writer(reader_, frame_, dialect_, "nc", connect_span_);
    writer.flag("-e").flag("/bin/sh").known(unknown_text(connect_span_), word_flag::kPseudo);
    writer.end();
  }

  // --- one call ---

  // `name` for messages of methods; returns what the call gives.
  Value act(Action action, const Arguments& arguments, Span span, string_view name) noexcept {
    const Value& first = arguments.at(0);
    const Value& second = arguments.at(1);
    switch (action) {
      case Action::none:
      case Action::end:
      case Action::import:
      case Action::get_member:
        return Value{};
      case Action::shell:
        if (arguments.written == 0) return Value{};
        if (language_ == Language::perl || language_ == Language::ruby || language_ == Language::php) return run_several(arguments, span);
        if (first.kind == Value::list && (arguments.bits & option::kShell) != 0 && first.count > 0) {
          run_code(Dialect::shell, memory_.item(first.first));
          return Value{};
        }
        run_shell(first, span);
        return Value{};
      case Action::run: return run(arguments, span);
      case Action::run_each: return run_several(arguments, span);
      case Action::exec_list: return run_from(arguments, 0, span);
      case Action::spawn_list: return run_from(arguments, 1, span);
      case Action::exec_vector:
      case Action::spawn_vector: {
        const std::uint32_t path = action == Action::spawn_vector ? 1 : 0;
        Known items[64];
        std::uint32_t n = 0;
        items[n++] = known_or_blank(arguments.at(path), span);
        const Value& list = arguments.at(path + 1);
        for (std::uint32_t i = 1; i < list.count && n < 64 && list.kind == Value::list; ++i) items[n++] = memory_.item(list.first + i);
        if (list.kind != Value::list) items[n++] = unknown_text(span);
        run_words(items, n, span);
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
        emit_write(first, arguments, span);
        return Value{};
      case Action::append: emit_one("@write", span, first, "--append"); return Value{};
      case Action::read: {
        emit_read(span, first);
        Value content;
        content.kind = Value::content;
        content.known = known_or_blank(first, span);
        return content;
      }
      case Action::open: return open(arguments, span);
      case Action::move: emit("mv", span, {}, {}, arguments.value, arguments.count < 2 ? arguments.count : 2); return Value{};
      case Action::copy: emit("cp", span, "-r", {}, arguments.value, arguments.count < 2 ? arguments.count : 2); return Value{};
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
      case Action::truncate: emit_one("truncate", span, first, "-s", "0"); return Value{};
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
      case Action::connect:
        connects_ = true;
        connect_span_ = span;
        return object("socket");
      case Action::evaluate:
        // A function is what these mostly get.
        if (ascii::one_of(name, "settimeout setinterval") && !first.is_text()) return Value{};
        return evaluate(arguments, span);
      case Action::decode_base64: return decoded(first, false);
      case Action::decode_hex: return decoded(first, true);
      case Action::reverse: return reversed(first);
      case Action::code_point: return code_points(arguments, span);
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
      case Action::walk: {
        Value value;
        value.kind = Value::walk;
        value.known = known_or_blank(first, span);
        return value;
      }
      case Action::sql:
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

  // Text that an interface to a database gets: read where it begins as a statement does.
  void read_statement(const Value& value) noexcept {
    if (value.kind == Value::any) {
      for (std::uint32_t i = 0; i < value.count; ++i) read_statement(text_value(memory_.item(value.first + i)));
      return;
    }
    if (!value.is_text()) return;
    string_view text = ascii::trim(value.known.text);
    std::size_t end = 0;
    while (end < text.size() && ascii::is_letter(text[end])) ++end;
    const string_view verb = text.substr(0, end);
    const bool comment = text.size() > 1 && ((text[0] == '-' && text[1] == '-') || (text[0] == '/' && text[1] == '*'));
    if (!comment && !ascii::one_of(verb, "drop truncate delete update alter with grant revoke merge replace begin set select insert create "
                                         "exec execute call do copy attach detach vacuum explain load use kill shutdown purge reset flush rename pragma")) {
      return;
    }
    Frame frame = frame_;
    read_code(reader_, Dialect::sql, value.known.code(), frame);
  }

 private:
  Value mode_of(const Value& value) noexcept {  // 0o777, 0777
    if (value.kind != Value::number && !value.is_text()) return value;
    Value mode = value;
    string_view& text = mode.known.text;
    if (text.size() > 2 && text[0] == '0' && (text[1] == 'o' || text[1] == 'O')) {
      text.remove_prefix(2);
    } else if (text == "511") {  // 0o777 in decimal
      text = "777";
    }
    while (text.size() > 3 && text[0] == '0') text.remove_prefix(1);
    return mode;
  }
  Value remove(const Arguments& arguments, Span span, string_view flag, string_view second) noexcept {
    const bool many = language_ != Language::python && language_ != Language::node;
    std::uint32_t count = many ? arguments.count : arguments.count < 1 ? 0 : 1;
    if (count == 0) {
      emit_one("rm", span, fixed(string_view("\x01", 1), span, word_flag::kUnknown), flag, second);
      return Value{};
    }
    emit("rm", span, flag, second, arguments.value, count);
    return Value{};
  }
  Value run_several(const Arguments& arguments, Span span) noexcept {
    std::uint32_t first = 0;
    if (arguments.at(0).kind == Value::options && arguments.count > 1) first = 1;  // Ruby's environment
    if (arguments.count == first + 1 || (arguments.count == first + 2 && arguments.at(first + 1).kind == Value::options) ||
        (language_ == Language::php && arguments.count > 0)) {
      run_shell(arguments.at(first), span);
      return Value{};
    }
    Known items[64];
    std::uint32_t n = 0;
    for (std::uint32_t i = first; i < arguments.count && n < 64; ++i) {
      const Value& value = arguments.at(i);
      if (value.kind == Value::options) continue;
      if (value.kind == Value::list) {
        for (std::uint32_t k = 0; k < value.count && n < 64; ++k) items[n++] = memory_.item(value.first + k);
      } else {
        items[n++] = known_or_blank(value, span);
      }
    }
    run_words(items, n, span);
    return Value{};
  }
  Value run_from(const Arguments& arguments, std::uint32_t path, Span span) noexcept {
    Known items[16];
    std::uint32_t n = 0;
    items[n++] = known_or_blank(arguments.at(path), span);
    for (std::uint32_t i = path + 2; i < arguments.count && n < 16; ++i) items[n++] = known_or_blank(arguments.at(i), span);
    run_words(items, n, span);
    return Value{};
  }
  // subprocess.run(list), spawn(program, list), Deno.Command(program, {args}), Bun.spawn({cmd})
  Value run(const Arguments& arguments, Span span) noexcept {
    const Value& first = arguments.at(0);
    if (first.kind == Value::list) {
      if ((arguments.bits & option::kShell) != 0 && language_ == Language::python && first.count > 0) {
        run_code(Dialect::shell, memory_.item(first.first));
      } else {
        run_list(first, span);
      }
      return Value{};
    }
    const Value* list = arguments.at(1).kind == Value::list ? &arguments.at(1) : nullptr;
    if (list == nullptr && arguments.named.kind == Value::list && first.kind != Value::options) list = &arguments.named;
    if (list == nullptr && first.kind == Value::options && first.count > 0) {
      Value command = first;
      command.kind = Value::list;
      run_list(command, span);
      return Value{};
    }
    if (list != nullptr && language_ != Language::python && (first.is_text() || first.kind == Value::unknown || first.kind == Value::object)) {
      Known items[64];
      std::uint32_t n = 0;
      if ((arguments.bits & option::kShell) != 0 && first.is_text()) {  // all of it is one text then
        Known text = first.known;
        for (std::uint32_t i = 0; i < list->count; ++i) text = joined(text, " ", memory_.item(list->first + i));
        run_code(Dialect::shell, text);
        return Value{};
      }
      items[n++] = first.is_text() ? first.known : unknown_text(span);
      for (std::uint32_t i = 0; i < list->count && n < 64; ++i) items[n++] = memory_.item(list->first + i);
      run_words(items, n, span);
      return Value{};
    }
    if (first.is_text()) {
      if (first.known.is_blank()) {
        tree_.add_uncertainty(Unresolved::program, span, frame_.carrier);
        return Value{};
      }
      if (arguments.written > 1 && arguments.at(1).kind == Value::unknown && language_ != Language::python && (arguments.bits & option::kShell) == 0) {
        const Known items[2] = {first.known, unknown_text(span)};  // its arguments are not known
        run_words(items, 2, span);
        return Value{};
      }
      run_code(Dialect::shell, first.known);
      return Value{};
    }
    if (arguments.written > 0) tree_.add_uncertainty(Unresolved::program, span, frame_.carrier);
    return Value{};
  }

  void emit_write(const Value& path, const Arguments& arguments, Span span) noexcept {
    emit_one("@write", span, path);
    if (arguments.remote) fetched_ = true;
  }
  Value open(const Arguments& arguments, Span span) noexcept {
    std::uint32_t at = 0;
    if (language_ == Language::perl) at = 1;
    const Value& path = arguments.at(at);
    const Value& mode = arguments.at(at + 1);
    if (language_ == Language::perl) return open_perl(arguments, span);
    if (language_ == Language::ruby && path.is_text() && !path.known.text.empty() && path.known.text[0] == '|') {
      Known command = path.known;
      command.text.remove_prefix(1);
      if (command.verbatim) ++command.span.start;
      run_code(Dialect::shell, command);
      return Value{};
    }
    const string_view how = mode.kind == Value::text ? mode.known.text : string_view();
    Value content;
    content.kind = Value::content;
    content.known = known_or_blank(path, span);
    if (!path.is_text() && path.kind != Value::any) return content;
    if (how.find_first_of("wxc+") != string_view::npos) {
      emit_one("@write", span, path);
    } else if (how.find('a') != string_view::npos) {
      emit_one("@write", span, path, "--append");
    } else {
      emit_read(span, path);
    }
    return content;
  }
  // open(F, "cmd |"), open(F, "-|", "cmd", ...), open(F, ">", path), open(F, ">path")
  Value open_perl(const Arguments& arguments, Span span) noexcept {
    const Value& how = arguments.at(1);
    if (!how.is_text()) return Value{};
    Known text = how.known;
    const string_view mode = ascii::trim(text.text);
    if (arguments.count > 2) {
      if (mode.find('|') != string_view::npos) {
        Known items[8];
        std::uint32_t n = 0;
        for (std::uint32_t i = 2; i < arguments.count && n < 8; ++i) items[n++] = known_or_blank(arguments.at(i), span);
        if (n == 1) {
          run_code(Dialect::shell, items[0]);
        } else {
          run_words(items, n, span);
        }
      } else if (mode.find("&") != string_view::npos) {
        duplicates_ = duplicates_ || connects_;
      } else if (!mode.empty() && mode[0] == '<') {
        emit_read(span, arguments.at(2));
      } else {
        emit_one("@write", span, arguments.at(2), mode.substr(0, 2) == ">>" ? "--append" : string_view());
      }
      return Value{};
    }
    if (mode.empty()) return Value{};
    const auto part = [&](std::size_t skip, std::size_t drop) noexcept {
      Known piece = text;
      piece.verbatim = false;
      piece.text = ascii::trim(mode.substr(skip, mode.size() - skip - drop));
      return piece;
    };
    if (mode.size() > 1 && mode[1] == '&') {
      duplicates_ = duplicates_ || connects_;
    } else if (mode.back() == '|') {
      run_code(Dialect::shell, part(0, 1));
    } else if (mode[0] == '|') {
      run_code(Dialect::shell, part(1, 0));
    } else if (mode[0] == '>') {
      const std::size_t skip = mode.size() > 1 && mode[1] == '>' ? 2 : 1;
      emit_one("@write", span, text_value(part(skip, 0)), skip == 2 ? "--append" : string_view());
    } else {
      emit_read(span, text_value(part(mode[0] == '<' ? 1 : 0, 0)));
    }
    return Value{};
  }
  bool posts(string_view name, const Arguments& arguments) const noexcept {
    if (ascii::ends_with(name, ".post") || ascii::ends_with(name, ".put") || ascii::ends_with(name, ".patch")) return true;
    if (ascii::ends_with(name, ".request") && arguments.at(0).kind == Value::text) {
      return ascii::one_of(arguments.at(0).known.text, "post put patch");
    }
    return ascii::equals(name, "urllib.request.urlopen") && arguments.written > 1 && (arguments.bits & option::kSends) != 0;
  }
  Value send(const Arguments& arguments, Span span) noexcept {
    CommandWriter writer(reader_, frame_, dialect_, "@send", span);
    if (arguments.has_file) writer.known(arguments.file, word_flag::kPseudo);
    writer.end();
    Value value;
    value.kind = Value::remote;
    return value;
  }
  Value evaluate(const Arguments& arguments, Span span) noexcept {
    if (arguments.written == 0) return Value{};
    // The last text is the code: new Function("a", "return a"), create_function('$a', '...').
    const Value& value = arguments.at(arguments.count > 1 && arguments.at(1).kind == Value::text && language_ != Language::python ? arguments.count - 1 : 0);
    if (value.kind == Value::options || value.kind == Value::list || value.kind == Value::number) return Value{};
    if (value.is_text()) {
      if (value.known.is_blank()) {
        tree_.add_uncertainty(Unresolved::code, span, frame_.carrier);
        return Value{};
      }
      Frame frame = frame_;
      frame.via |= via::kEvaluated | (decoded_ ? via::kDecoded : 0u);
      read_code(reader_, dialect_, value.known.code(), frame);
      return value;
    }
    if (value.kind == Value::remote || arguments.remote) {
      tree_.add_uncertainty(Unresolved::remote_code, span, frame_.carrier);
    } else if (value.kind == Value::content) {
      tree_.add_uncertainty(Unresolved::script, span, frame_.carrier);
    } else {
      tree_.add_uncertainty(Unresolved::code, span, frame_.carrier);
    }
    return Value{};
  }
  Value code_points(const Arguments& arguments, Span span) noexcept {
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    std::size_t n = 0;
    for (std::uint32_t i = 0; i < arguments.count; ++i) {
      const Value& value = arguments.at(i);
      std::uint32_t code = 0;
      if (value.kind != Value::number || room < n + 4) return Value{};
      const string_view text = value.known.text;
      const bool hex = text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
      for (const char c : text.substr(hex ? 2 : 0).substr(0, 7)) {
        const int digit = ascii::hex_value(c);
        if (digit < 0 || (!hex && digit > 9)) return Value{};
        code = code * (hex ? 16u : 10u) + static_cast<std::uint32_t>(digit);
      }
      if (code == static_cast<unsigned char>(kUnknownPart) || code == 0 || code > 0x10FFFF) return Value{};
      n += shell::put_code_point(code, out + n);
    }
    return fixed(tree_.keep(n), span);
  }

 protected:
  Reader& reader_;
  Tree& tree_;
  const Code& code_;
  Frame frame_;
  Language language_;
  Dialect dialect_;
  Memory memory_;
  Span connect_span_, shell_span_;
  bool connects_ = false, duplicates_ = false, has_shell_ = false, decoded_ = false, fetched_ = false;
};

}  // namespace tipstaff::gate::program
