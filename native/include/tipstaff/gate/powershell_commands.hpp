// What PowerShell's cmdlets do, and what other programs it starts.
#pragma once

#include "tipstaff/gate/powershell_reader.hpp"

namespace tipstaff::gate::powershell {

// The first of `list` that `name` begins, so that the commonest come first; empty where there is none.
inline std::string_view spelled_out(std::string_view name, std::string_view list) noexcept {
  if (name.empty()) return {};
  for (std::size_t start = 0; start < list.size();) {
    std::size_t end = list.find(' ', start);
    if (end == std::string_view::npos) end = list.size();
    const std::string_view word = list.substr(start, end - start);
    if (word.size() >= name.size() && ascii::equals(name, word.substr(0, name.size()))) return word;
    start = end + 1;
  }
  return {};
}

inline std::string_view cmdlet_of(std::string_view name) noexcept {
  for (const Alias& alias : kAliases) {
    if (ascii::one_of(name, alias.names)) return alias.cmdlet;
  }
  return {};
}

inline void PowerShell::words(CommandWriter* writer, const Value& value, Span span, std::uint16_t flags) noexcept {
  if (value.kind == Value::list) {
    for (std::uint32_t i = 0; i < value.count; ++i) writer->known(text_value(items_[value.first + i]).known, flags);
  } else {
    writer->known(known_or_blank(value, span), flags);
  }
}
inline void PowerShell::one(std::string_view program, Span span, const Value& value, std::string_view flag) noexcept {
  CommandWriter writer(reader_, frame_, Dialect::powershell, program, span);
  if (!flag.empty()) writer.flag(flag);
  words(&writer, value, span, word_flag::kPseudo);
  writer.end();
}

// The arguments up to the command's end. A parameter takes the value behind it unless it is a switch.
inline std::uint32_t PowerShell::take_arguments(Argument* out) noexcept {
  std::uint32_t n = 0;
  Argument spill;
  bool pending = false;  // the last parameter waits for its value
  for (;;) {
    redirections();
    const char c = peek();
    if (at_ >= end_ || c == '\n' || c == ';' || c == '|' || c == ')' || c == '}' || (c == '&' && (peek(1) == '&' || ascii::is_space(peek(1)) || peek(1) == '\0'))) {
      return n;
    }
    const std::size_t start = at_;
    if (c == ',') {
      ++at_;
      skip_blanks(true);
      const Value next = argument_word();
      if (n == 0) continue;
      Argument& last = out[n - 1];
      Known both[16];
      std::uint32_t k = 0;
      if (last.value.kind == Value::list) {
        for (std::uint32_t i = 0; i < last.value.count && k < 15; ++i) both[k++] = items_[last.value.first + i];
      } else {
        both[k++] = known_or_blank(last.value, from(start));
      }
      both[k++] = known_or_blank(next, from(start));
      last.value = list_of(both, k);
      continue;
    }
    std::size_t stop = at_ + 1;
    while (stop < end_ && (ascii::is_name(text_[stop]) || text_[stop] == '-')) ++stop;
    const char after = stop < end_ ? text_[stop] : ' ';
    const bool parameter = c == '-' && (ascii::is_letter(peek(1)) || peek(1) == '-') &&
                           (ascii::is_space(after) || after == ':' || std::string_view(";|)}&,").find(after) != std::string_view::npos);
    if (parameter) {
      Argument& argument = n < kArguments ? out[n] : spill;
      argument = Argument();
      argument.parameter = text_.substr(at_ + 1, stop - at_ - 1);
      at_ = stop;
      if (after == ':') {  // -Confirm:$false
        ++at_;
        argument.value = argument_word();
        argument.has_value = true;
        argument.off = argument.value.is_text() && ascii::one_of(argument.value.known.text, "$false 0");
      }
      argument.span = from(start);
      const std::string_view full = spelled_out(argument.parameter, kParameters);
      pending = after != ':' && !full.empty() && !ascii::one_of(full, kSwitches);
      if (n < kArguments) ++n;
      continue;
    }
    const Value value = argument_word();
    if (at_ == start) ++at_;
    Argument& argument = n < kArguments ? out[n] : spill;
    if (pending && n > 0) {
      out[n - 1].value = value;
      out[n - 1].has_value = true;
      pending = false;
      continue;
    }
    argument = Argument();
    argument.value = value;
    argument.has_value = true;
    argument.span = from(start);
    if (n < kArguments) ++n;
  }
}

inline void PowerShell::arguments_away() noexcept {
  Argument ignored[kArguments];
  const std::uint32_t n = take_arguments(ignored);
  for (std::uint32_t i = 0; i < n; ++i) {
    if (ignored[i].value.kind == Value::block) run_block(ignored[i].value);
  }
}

inline void PowerShell::run_block(const Value& block) noexcept {
  if (level_ >= kLevels) return;
  const std::size_t at = at_, end = end_;
  at_ = block.start;
  end_ = block.stop;
  while (at_ < end_) {
    statements('\0');
    if (at_ < end_) ++at_;
  }
  at_ = at;
  end_ = end;
}

// Text that becomes code.
inline void PowerShell::evaluate(const Value& code, Span span) noexcept {
  evaluates_ = true;
  if (code.kind == Value::remote) {
    tree_.add_uncertainty(Unresolved::remote_code, span, frame_.carrier);
    return;
  }
  if (code.kind == Value::block) return run_block(code);
  if (!code.is_text() || code.known.is_blank()) {
    tree_.add_uncertainty(Unresolved::code, span, frame_.carrier);
    return;
  }
  Frame frame = frame_;
  frame.via |= via::kEvaluated | (decoded_ ? via::kDecoded : 0u);
  read_code(reader_, Dialect::powershell, code.known.code(), frame);
}

// A program and its arguments in one text, as Start-Process has them.
inline void PowerShell::start_program(const Value& program, const Value& arguments, Span span) noexcept {
  if (!program.is_text() || program.known.is_blank()) {
    tree_.add_uncertainty(Unresolved::program, span, frame_.carrier);
    return;
  }
  Known line = program.known;
  if (arguments.kind == Value::list) {
    Known items[kArguments + 1];
    std::uint32_t n = 0;
    items[n++] = program.known;
    for (std::uint32_t i = 0; i < arguments.count && n <= kArguments; ++i) items[n++] = items_[arguments.first + i];
    read_words(reader_, frame_, items, n, span);
    return;
  }
  if (arguments.is_text()) line = joined(line, " ", arguments.known);
  line.span = span;
  line.verbatim = false;
  read_code(reader_, Dialect::cmd, line.code(), frame_);
}

inline void PowerShell::remove_item(const Argument* given, std::uint32_t count, const Value& input, bool piped, Span span) noexcept {
  bool recurse = false, force = false, dry = false, named = false;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string_view parameter = given[i].parameter;
    if (parameter.empty() || given[i].off) continue;
    const std::string_view full = spelled_out(parameter, "recurse force whatif confirm path literalpath filter include exclude erroraction");
    if (full == "recurse" || ascii::equals(parameter, "rf") || ascii::equals(parameter, "fr")) recurse = true;
    if (full == "force" || parameter == "f" || ascii::equals(parameter, "rf") || ascii::equals(parameter, "fr")) force = true;
    if (full == "whatif" || ascii::equals(parameter, "wi")) dry = true;
  }
  CommandWriter writer(reader_, frame_, Dialect::powershell, "rm", span);
  for (std::uint32_t i = 0; i < count; ++i) {  // rd /s /q, as cmd has it
    const Argument& argument = given[i];
    if (!argument.parameter.empty() || !argument.value.is_text() || !argument.value.bare) continue;
    if (ascii::one_of(argument.value.known.text, "/s /s/q")) recurse = true;
    if (ascii::one_of(argument.value.known.text, "/q /f /s/q")) force = true;
  }
  if (recurse) writer.flag("-r");
  if (force) writer.flag("-f");
  if (dry) writer.flag("--dry-run");
  for (std::uint32_t i = 0; i < count; ++i) {
    const Argument& argument = given[i];
    const std::string_view full = spelled_out(argument.parameter, "recurse force whatif confirm path literalpath filter include exclude erroraction");
    const bool is_path = argument.parameter.empty() || full == "path" || full == "literalpath";
    if (!is_path || !argument.has_value) {
      // A switch takes no value: what stands behind it is a path.
      continue;
    }
    if (argument.value.is_text() && argument.value.bare && ascii::one_of(argument.value.known.text, "/s /q /f /a /s/q")) continue;
    words(&writer, argument.value, argument.span);
    named = true;
  }
  if (piped) {
    words(&writer, input, span, word_flag::kAppended);
  } else if (!named) {
    writer.known(unknown_text(span), word_flag::kPseudo);
  }
  writer.end();
}

// The paths that Get-ChildItem gives: all that is in its folder, or what its filters leave.
inline Value PowerShell::children(const Argument* given, std::uint32_t count, Span span) noexcept {
  Value folder, filter;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::string_view full = spelled_out(given[i].parameter, "recurse force path literalpath filter include exclude directory file depth hidden");
    if (!given[i].has_value) continue;
    if (given[i].parameter.empty() || full == "path" || full == "literalpath") {
      if (folder.kind == Value::unknown) {
        folder = given[i].value;
      } else if (given[i].parameter.empty()) {
        filter = given[i].value;
      }
    } else if (full == "filter" || full == "include") {
      filter = given[i].value;
    }
  }
  if (folder.kind == Value::list) return folder;
  const Known base = folder.is_text() ? folder.known : folder.kind == Value::unknown ? Known{".", span, false, 0} : unknown_text(span);
  if (base.flags & word_flag::kGlob) return text_value(base);
  const Known what = filter.is_text() ? filter.known : Known{"*", span, false, word_flag::kGlob};
  const bool slash = !base.text.empty() && (base.text.back() == '\\' || base.text.back() == '/');
  return text_value(joined(base, slash ? std::string_view() : std::string_view("/"), what));
}

// A cmdlet under its own name.
inline void PowerShell::plain(std::string_view cmdlet, const Argument* given, std::uint32_t count, const Value& input, bool piped, Span span) noexcept {
  CommandWriter writer(reader_, frame_, Dialect::powershell, cmdlet, span, false);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Argument& argument = given[i];
    if (!argument.parameter.empty()) {
      const std::string_view full = spelled_out(argument.parameter, kParameters);
      if (argument.off) continue;
      std::string_view name = full;
      if (name.empty()) {
        name = program_name(tree_, argument.parameter);
      }
      writer.word(joined(Known{"-", argument.span, false, 0}, {}, Known{name, argument.span, false, 0}).text, argument.span,
                  name.find(kUnknownPart) != std::string_view::npos ? word_flag::kUnknown : std::uint16_t{0});
      if (!argument.has_value) continue;
    }
    if (argument.value.kind == Value::block) continue;
    words(&writer, argument.value, argument.span);
  }
  if (piped) words(&writer, input, span, word_flag::kAppended);
  writer.end();
}

// Any other program, as the shell would start it.
inline void PowerShell::external(const Value& name, const Argument* given, std::uint32_t count, Span span) noexcept {
  Known items[2 * kArguments + 1];
  std::uint32_t n = 0;
  items[n++] = name.known;
  for (std::uint32_t i = 0; i < count && n < 2 * kArguments; ++i) {
    const Argument& argument = given[i];
    if (!argument.parameter.empty()) {
      items[n++] = joined(Known{"-", argument.span, false, 0}, {}, Known{argument.parameter, argument.span, false, 0});
      if (!argument.has_value) continue;
    }
    if (argument.value.kind == Value::list) {
      for (std::uint32_t k = 0; k < argument.value.count && n < 2 * kArguments; ++k) items[n++] = items_[argument.value.first + k];
    } else if (argument.value.kind == Value::block) {
      items[n++] = Known{text_.substr(argument.value.start, argument.value.stop - argument.value.start), argument.span, false, 0};
    } else {
      items[n++] = known_or_blank(argument.value, argument.span);
    }
  }
  read_words(reader_, frame_, items, n, span);
}

inline Value PowerShell::command(const Value& name, std::size_t start, const Value& input, bool piped) noexcept {
  Argument given[kArguments];
  // A pipeline's input is what the block's `$_` is.
  if (piped) bind("_", input);
  const std::uint32_t count = take_arguments(given);
  const Span span = from(start);
  if (!name.is_text() || name.known.text.empty()) {
    if (name.kind == Value::unknown && count > 0) tree_.add_uncertainty(Unresolved::program, span, frame_.carrier);
    return Value{};
  }
  if (name.known.is_blank()) {
    tree_.add_uncertainty(Unresolved::program, span, frame_.carrier);
    return Value{};
  }
  const std::string_view written = name.known.text;
  const std::string_view base = program_name(tree_, written);
  std::string_view cmdlet = cmdlet_of(base);
  const auto value_of = [&](std::string_view parameter, std::uint32_t place) noexcept -> const Value* {
    std::uint32_t at = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (given[i].parameter.empty()) {
        if (at++ == place) return &given[i].value;
      } else if (spelled_out(given[i].parameter, kParameters) == parameter && given[i].has_value) {
        return &given[i].value;
      }
    }
    return nullptr;
  };
  const auto has = [&](std::string_view parameter) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!given[i].parameter.empty() && spelled_out(given[i].parameter, kParameters) == parameter && !given[i].off) return true;
    }
    return false;
  };
  for (std::uint32_t i = 0; i < count; ++i) {  // blocks that any cmdlet gets may run
    if (given[i].value.kind != Value::block) continue;
    const Frame outer = frame_;
    if (cmdlet == "invoke-command" && has("computername")) frame_.via |= via::kRemote;
    run_block(given[i].value);
    frame_ = outer;
  }
  if (cmdlet == "remove-item") {
    remove_item(given, count, input, piped, span);
  } else if (cmdlet == "get-childitem") {
    return children(given, count, span);
  } else if (cmdlet == "get-item") {
    const Value* path = value_of("path", 0);
    return path != nullptr ? *path : Value{};
  } else if (cmdlet == "get-content") {
    const Value* path = value_of("path", 0);
    if (path == nullptr) path = value_of("literalpath", 99);
    if (path != nullptr) {
      one("@read", span, *path);
      seen_file_ = known_or_blank(*path, span);
      has_file_ = true;
    }
    Value content;
    return content;
  } else if (cmdlet == "set-content") {
    const Value* path = value_of("path", 0);
    if (path == nullptr) path = value_of("filepath", 0);
    if (path == nullptr) path = value_of("literalpath", 99);
    if (path != nullptr) one("@write", span, *path, ascii::one_of(base, "ac add-content") || has("append") ? "--append" : std::string_view());
  } else if (cmdlet == "clear-content") {
    const Value* path = value_of("path", 0);
    CommandWriter writer(reader_, frame_, Dialect::powershell, "truncate", span);
    writer.flag("-s").flag("0");
    words(&writer, path != nullptr ? *path : input, span);
    writer.end();
  } else if (cmdlet == "new-item") {
    const Value* path = value_of("path", 0);
    const Value* type = value_of("itemtype", 99);
    if (path != nullptr && (type == nullptr || !type->is_text() || !ascii::one_of(type->known.text, "directory dir"))) one("@write", span, *path);
  } else if (cmdlet == "copy-item" || cmdlet == "move-item" || cmdlet == "rename-item") {
    CommandWriter writer(reader_, frame_, Dialect::powershell, cmdlet == "copy-item" ? "cp" : "mv", span);
    if (has("recurse")) writer.flag("-r");
    if (has("force")) writer.flag("-f");
    const Value* path = value_of("path", 0);
    const Value* destination = value_of("destination", path != nullptr && !has("path") ? 1 : 0);
    if (piped && destination == nullptr) destination = path, path = nullptr;
    words(&writer, path != nullptr ? *path : input, span);
    if (destination != nullptr && destination != path) words(&writer, *destination, span);
    writer.end();
  } else if (cmdlet == "invoke-expression") {
    const Value* code = value_of("command", 0);
    evaluate(code != nullptr ? *code : piped ? input : Value{}, span);
  } else if (cmdlet == "invoke-webrequest" || cmdlet == "invoke-restmethod") {
    plain(cmdlet, given, count, Value{}, false, span);
    const Value* method = value_of("method", 99);
    const Value* file = value_of("infile", 99);
    const Value* out = value_of("outfile", 99);
    const Value* body = value_of("body", 99);
    if (out != nullptr) one("@write", span, *out);
    if (file != nullptr) {
      one("@send", span, *file);
    } else if (body != nullptr || piped || (method != nullptr && method->is_text() && ascii::one_of(method->known.text, "post put patch"))) {
      CommandWriter writer(reader_, frame_, Dialect::powershell, "@send", span);
      if (has_file_) writer.known(seen_file_, word_flag::kPseudo);
      writer.end();
    }
    Value value;
    value.kind = Value::remote;
    return value;
  } else if (cmdlet == "start-process") {
    const Value* program = value_of("filepath", 0);
    const Value* arguments = value_of("argumentlist", program != nullptr && !has("filepath") ? 1 : 0);
    const Value* verb = value_of("verb", 99);
    const Frame outer = frame_;
    if (verb != nullptr && verb->is_text() && ascii::equals(verb->known.text, "runas")) frame_.via |= via::kSudo;
    if (program != nullptr) start_program(*program, arguments != nullptr && arguments != program ? *arguments : Value{}, span);
    frame_ = outer;
  } else if (cmdlet == "set-location") {
    const Value* path = value_of("path", 0);
    frame_.cwd = {};
    if (path != nullptr && path->is_text() && !path->known.is_unknown()) {
      const std::string_view place = path->known.text;
      if (!place.empty() && (place[0] == '/' || (place.size() > 2 && place[1] == ':'))) frame_.cwd = place;
      if (ascii::one_of(place, "~ $home $env:userprofile")) frame_.cwd = reader_.surroundings->home;
    }
  } else if (cmdlet == "foreach-object" || cmdlet == "where-object") {
    return cmdlet == "where-object" ? input : Value{};
  } else if (cmdlet == "reads") {
    if (ascii::equals(base, "new-object")) {
      for (std::uint32_t i = 0; i < count; ++i) {
        if (given[i].value.is_text() && ascii::ends_with(given[i].value.known.text, "tcpclient")) note_connection(span);
      }
      return Value{};
    }
    if (ascii::equals(base, "join-path") && count >= 2) {
      const Value* first = value_of("path", 0);
      const Value* second = value_of("childpath", 1);
      if (first != nullptr && second != nullptr && first->is_text()) {
        return text_value(joined(first->known, "/", known_or_blank(*second, span)));
      }
      return Value{};
    }
    if (ascii::one_of(base, "select select-object sort sort-object select-string sls") && piped) return input;
    if (ascii::one_of(base, "pwd get-location")) return text_value(Known{"$pwd", span, false, 0});
  } else if (cmdlet == "write-output") {
    if (ascii::one_of(base, "echo write write-output") && count > 0 && given[0].parameter.empty()) return given[0].value;
  } else if (!cmdlet.empty()) {
    plain(cmdlet, given, count, input, piped, span);
  } else if (ascii::ends_with(written, ".ps1")) {
    read_included(reader_, Dialect::powershell, name.known, frame_);
  } else if (base.find('-') != std::string_view::npos && base[0] != '-' && ascii::is_letter(base[0]) &&
             ascii::one_of(base.substr(0, base.find('-')),
                           "add approve backup block checkpoint clear close complete compress confirm connect convert copy debug deny disable "
                           "disconnect dismount edit enable enter exit expand export find format get grant group hide import initialize install "
                           "invoke join limit lock measure merge mount move new open optimize out ping pop protect publish push read receive "
                           "redo register remove rename repair request reset resize resolve restart restore resume revoke save search select "
                           "send set show skip split start step stop submit suspend switch sync test trace unblock undo uninstall unlock "
                           "unprotect unpublish unregister update use wait watch write")) {
    plain(base, given, count, input, piped, span);
  } else {
    external(name, given, count, span);
  }
  return Value{};
}

}  // namespace tipstaff::gate::powershell
