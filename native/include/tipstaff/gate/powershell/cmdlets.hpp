// What PowerShell's cmdlets do, and what other programs it starts.
#pragma once

#include "tipstaff/gate/powershell/reader.hpp"

namespace tipstaff::gate::powershell {

// A program and its arguments in one text, as Start-Process has them.
inline void PowerShell::start_program(const Value& program, const Value& arguments, Span span) noexcept {
  if (!program.is_text() || program.known.is_blank()) {
    tree_.add_uncertainty(Unresolved::program, span, frame_.carrier);
    return;
  }
  Known line = program.known;
  if (arguments.kind == Value::list) {
    Items<kArguments + 1> items;
    items.add(program.known);
    for (std::uint32_t i = 0; i < arguments.count; ++i) items.add(items_[arguments.first + i]);
    read_words(reader_, frame_, items.begin(), items.size(), span);
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
      // A switch takes no value: what is after it is a path.
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
  if (filter.kind == Value::list) {  // -Include bin,obj
    Known found[kListed];
    std::uint32_t n = 0;
    for (; n < filter.count && n < kListed; ++n) found[n] = text_value(joined(base, "/", items_[filter.first + n])).known;
    if (n == filter.count) return list_of(found, n);
    filter = Value{};
  }
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
  Items<2 * kArguments + 1> items;
  items.add(name.known);
  for (std::uint32_t i = 0; i < count; ++i) {
    const Argument& argument = given[i];
    if (!argument.parameter.empty()) {
      items.add(joined(Known{"-", argument.span, false, 0}, {}, Known{argument.parameter, argument.span, false, 0}));
      if (!argument.has_value) continue;
    }
    if (argument.value.kind == Value::list) {
      for (std::uint32_t k = 0; k < argument.value.count; ++k) items.add(items_[argument.value.first + k]);
    } else if (argument.value.kind == Value::block) {
      items.add(Known{text_.substr(argument.value.start, argument.value.stop - argument.value.start), argument.span, false, 0});
    } else {
      items.add(known_or_blank(argument.value, argument.span));
    }
  }
  read_words(reader_, frame_, items.begin(), items.size(), span);
}

}  // namespace tipstaff::gate::powershell
