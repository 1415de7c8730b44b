// Commands of PowerShell: their arguments, blocks that they get, and which cmdlet each is.
#pragma once

#include "tipstaff/gate/powershell/reader.hpp"

namespace tipstaff::gate::powershell {

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

// The arguments up to the command's end. A parameter takes the value after it unless it is a switch.
inline std::uint32_t PowerShell::take_arguments(Argument* out) noexcept {
  const std::size_t begin = at_;
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
    if (c == '@' && ascii::is_name_start(peek(1))) {
      n = splat(out, n);
      pending = false;
      continue;
    }
    if (c == ',') {
      ++at_;
      skip_blanks(true);
      const Value next = argument_word();
      if (n == 0) continue;
      Argument& last = out[n - 1];
      if (last.value.kind != Value::list) {
        const Known first = known_or_blank(last.value, from(start));
        last.value = list_of(&first, 1);
      }
      append(&last.value, known_or_blank(next, from(start)));
      continue;
    }
    std::size_t stop = at_ + 1;
    while (stop < end_ && (ascii::is_name(text_[stop]) || text_[stop] == '-')) ++stop;
    const char after = stop < end_ ? text_[stop] : ' ';
    const bool parameter = c == '-' && (ascii::is_letter(peek(1)) || peek(1) == '-') &&
                           (ascii::is_space(after) || after == ':' || std::string_view(";|)}&,").find(after) != std::string_view::npos);
    if (parameter) {
      Argument& argument = n < kArguments ? *new (&out[n]) Argument() : spill;
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
      else too_many(begin);
      continue;
    }
    const Value value = argument_word();
    if (at_ == start) ++at_;
    if (pending && n > 0) {
      out[n - 1].value = value;
      out[n - 1].has_value = true;
      pending = false;
      continue;
    }
    Argument& argument = n < kArguments ? *new (&out[n]) Argument() : spill;
    argument.value = value;
    argument.has_value = true;
    argument.span = from(start);
    if (n < kArguments) ++n;
    else too_many(begin);
  }
}

inline void PowerShell::arguments_away() noexcept {
  Raw<Argument, kArguments> ignored;
  const std::uint32_t n = take_arguments(ignored.data());
  for (std::uint32_t i = 0; i < n; ++i) {
    if (ignored[i].value.kind == Value::block) run_block(ignored[i].value);
  }
}

inline void PowerShell::run_block(const Value& block) noexcept {
  if (level_ >= kLevels || reader_.out_of_stack()) return;
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

inline Value PowerShell::command(const Value& name, std::size_t start, const Value& input, bool piped) noexcept {
  Raw<Argument, kArguments> arguments;
  Argument* const given = arguments.data();
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
  const std::string_view written = resolved(name.known.text);
  const std::string_view base = program_name(tree_, written);
  if (Function* const function = function_of(written)) {
    if (piped) function->escapes = true;  // its process block gets the input
    if (call(function, given, count)) return Value{};
  }
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
  } else if (cmdlet == "set-alias" || (cmdlet == "set-item" && count > 0 && given[0].value.is_text() && ascii::starts_with(given[0].value.known.text, "alias:"))) {
    const Value* named = value_of("name", 0);
    const Value* stands_for = value_of("value", named != nullptr && !has("name") ? 1 : 0);
    alias(named != nullptr ? named : value_of("path", 0), stands_for);
  } else if (cmdlet == "set-item") {
    plain(cmdlet, given, count, input, piped, span);
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
    Value made;
    const Value* path = value_of("path", 0);
    const Value* type = value_of("itemtype", 99);
    const Value* name = value_of("name", 99);
    if (path != nullptr && path->is_text() && name != nullptr) made = text_value(joined(path->known, "/", known_or_blank(*name, span)));
    else if (path != nullptr) made = *path;
    if (path != nullptr && (type == nullptr || !type->is_text() || !ascii::one_of(type->known.text, "directory dir"))) one("@write", span, *path);
    return made;
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
    return cmdlet == "where-object" && !is_everything(input) ? input : Value{};
  } else if (cmdlet == "reads") {
    if (ascii::equals(base, "new-object")) {
      for (std::uint32_t i = 0; i < count; ++i) {
        if (!given[i].value.is_text()) continue;
        if (ascii::ends_with(given[i].value.known.text, "tcpclient")) note_connection(span);
        if (ascii::ends_with(given[i].value.known.text, "io.directoryinfo") || ascii::ends_with(given[i].value.known.text, "io.fileinfo")) {
          return i + 1 < count ? given[i + 1].value : Value{};
        }
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
    if (ascii::one_of(base, "get-command gcm get-alias gal") && count > 0 && given[0].value.is_text()) {
      if ((given[0].value.known.flags & word_flag::kGlob) == 0) return given[0].value;
      // Of the commands that a pattern fits, the ones that do harm.
      const std::string_view pattern = program_name(tree_, given[0].value.known.text);
      for (const std::string_view feared : {"remove-item", "invoke-expression", "format-volume", "clear-disk", "stop-computer", "restart-computer"}) {
        if (shell::matches_glob(pattern, feared)) return text_value(Known{feared, span, false, 0});
      }
      return Value{};
    }
    if (ascii::one_of(base, "get-process gps ps get-service gsv") && !piped) {
      // All of them, or those that are named: what Stop-Process after it stops.
      const Value* const named = value_of("name", 0);
      return named != nullptr ? *named : count == 0 ? text_value(Known{"*", span, false, word_flag::kGlob}) : Value{};
    }
    if (ascii::one_of(base, "select select-object select-string sls") && piped) return is_everything(input) ? Value{} : input;
    if (ascii::one_of(base, "sort sort-object") && piped) return input;
    if (ascii::one_of(base, "pwd get-location")) return text_value(Known{"$pwd", span, false, 0});
  } else if (ascii::equals(base, "new-temporaryfile")) {
    Value made = text_value(unknown_text(span));
    made.known.flags |= word_flag::kTemporary;
    return made;
  } else if (cmdlet == "write-output") {
    if (ascii::one_of(base, "echo write write-output") && count > 0 && given[0].parameter.empty()) return given[0].value;
  } else if (!cmdlet.empty()) {
    plain(cmdlet, given, count, input, piped, span);
  } else if (ascii::ends_with(written, ".ps1")) {
    read_included(reader_, Dialect::powershell, name.known, frame_);
  } else if (base.find('-') != std::string_view::npos && base[0] != '-' && ascii::is_letter(base[0]) &&
             ascii::one_of(base.substr(0, base.find('-')), kVerbs)) {
    plain(base, given, count, input, piped, span);
  } else {
    external(name, given, count, span);
  }
  return Value{};
}

}  // namespace tipstaff::gate::powershell
