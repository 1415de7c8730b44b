// Reads PowerShell.
//
// Cmdlets come out under their full names in lower case with their parameters spelled out (`-r` is `-recurse`), aliases
// resolved. Those that do what a shell's commands do are those commands: Remove-Item is `rm` with -r and -f, Move-Item
// `mv`, Copy-Item `cp`, Set-Content and its kin `@write`, Get-Content `@read`. What comes down a pipeline to a cmdlet
// that acts on it are its last words, flagged kAppended. Other programs are read as the shell would start them.
#pragma once

#include "tipstaff/gate/quoting.hpp"
#include "tipstaff/gate/shell_bytes.hpp"

namespace tipstaff::gate::powershell {

struct Value {
  enum Kind : std::uint8_t { unknown, text, list, remote, block };
  Kind kind = unknown;
  std::uint16_t count = 0;
  std::uint32_t first = 0;          // items of a list
  std::size_t start = 0, stop = 0;  // a script block's inside
  Known known;
  bool bare = false;                // a word as a command takes it

  bool is_text() const noexcept { return kind == text; }
};

struct Alias {
  std::string_view names, cmdlet;
};
inline constexpr Alias kAliases[] = {
    {"ri rm del rd rmdir erase remove-item", "remove-item"},
    {"gci ls dir get-childitem", "get-childitem"},
    {"gi get-item rvpa resolve-path gl", "get-item"},
    {"gc cat type get-content", "get-content"},
    {"sc set-content ac add-content out-file tee-object tee export-csv epcsv export-clixml", "set-content"},
    {"clc clear-content", "clear-content"},
    {"ni new-item", "new-item"},
    {"cp copy cpi copy-item", "copy-item"},
    {"mv move mi move-item", "move-item"},
    {"ren rni rename-item", "rename-item"},
    {"kill spps stop-process", "stop-process"},
    {"spsv stop-service", "stop-service"},
    {"iex invoke-expression", "invoke-expression"},
    {"icm invoke-command", "invoke-command"},
    {"iwr curl wget invoke-webrequest", "invoke-webrequest"},
    {"irm invoke-restmethod", "invoke-restmethod"},
    {"saps start start-process", "start-process"},
    {"% foreach foreach-object", "foreach-object"},
    {"? where where-object", "where-object"},
    {"rp remove-itemproperty", "remove-itemproperty"},
    {"clp clear-itemproperty", "clear-itemproperty"},
    {"sp set-itemproperty", "set-itemproperty"},
    {"cd chdir sl set-location pushd push-location", "set-location"},
    {"echo write write-output write-host write-verbose write-error write-warning write-debug out-host oh", "write-output"},
    {"select select-object sort sort-object measure measure-object ft format-table fl format-list fw group group-object "
     "out-null out-string convertto-json convertfrom-json test-path split-path get-date get-process gps ps get-service gsv get-help man get-command gcm "
     "get-member gm import-module ipmo get-location pwd gal get-alias compare-object diff start-sleep sleep select-string sls write-progress "
     "get-variable gv new-object join-path param cls clear-host clear get-host read-host",
     "reads"},
};
inline constexpr std::string_view kParameters =
    "recurse force confirm whatif path literalpath filter include exclude driveletter number erroraction verbose name id argumentlist "
    "filepath verb scriptblock computername executionpolicy uri outfile infile method body headers destination value encoding append "
    "nonewline itemtype target removedata removeoem noprofile command encodedcommand scope file credential wait passthru inputobject process "
    "stream depth directory hidden usebasicparsing windowstyle property begin end full";
inline constexpr std::string_view kSwitches =
    "recurse force whatif confirm verbose append nonewline wait passthru usebasicparsing removedata removeoem noprofile directory hidden file_ "
    "asjob nonewwindow full";

class PowerShell {
 public:
  PowerShell(Reader& reader, const Code& code, const Frame& frame) noexcept
      : reader_(reader), tree_(*reader.tree), code_(code), frame_(frame), text_(code.text), end_(code.text.size()) {}

  void read() noexcept {
    while (at_ < end_) {
      statements('\0');
      if (at_ < end_) ++at_;  // a bracket that nothing opened
    }
    if (connects_ && evaluates_) {
      CommandWriter writer(reader_, frame_, Dialect::powershell, "nc", connect_span_);
      writer.flag("-e").flag("powershell").known(unknown_text(connect_span_), word_flag::kPseudo);
      writer.end();
    }
    if (open_) tree_.add_uncertainty(Unresolved::syntax, code_.origin, frame_.carrier);
  }

 private:
  static constexpr std::uint32_t kItems = 96, kVariables = 48, kArguments = 24, kLevels = 40;
  struct Variable {
    std::string_view name;
    Value value;
  };
  struct Argument {
    std::string_view parameter;  // spelled out where known, as written else; empty: by its place
    Value value;
    bool has_value = false, off = false;
    Span span;
  };
  struct Level {
    explicit Level(std::uint32_t& level) noexcept : level_(level) { ++level_; }
    ~Level() { --level_; }
    std::uint32_t& level_;
  };

  char peek(std::size_t ahead = 0) const noexcept { return at_ + ahead < end_ ? text_[at_ + ahead] : '\0'; }
  Span from(std::size_t start) const noexcept { return code_.at(start, at_ > start ? at_ : start); }
  static bool same(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (ascii::lower(a[i]) != ascii::lower(b[i])) return false;
    }
    return true;
  }

  // --- values ---

  static Value text_value(const Known& known) noexcept {
    Value value;
    value.kind = Value::text;
    value.known = known;
    value.known.flags = static_cast<std::uint16_t>(value.known.flags & ~word_flag::kUnknown);
    if (known.text.find(kUnknownPart) != std::string_view::npos) value.known.flags |= word_flag::kUnknown;
    if (known.text.find_first_of("*?") != std::string_view::npos) value.known.flags |= word_flag::kGlob;
    return value;
  }
  Known blank(Span span) const noexcept { return unknown_text(span); }
  Known known_or_blank(const Value& value, Span span) const noexcept { return value.is_text() ? value.known : blank(span); }
  Value list_of(const Known* items, std::uint32_t count) noexcept {
    Value list;
    list.kind = Value::list;
    list.first = item_count_;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (item_count_ == kItems) return Value{};
      items_[item_count_++] = items[i];
      ++list.count;
    }
    return list;
  }
  Known joined(const Known& a, std::string_view between, const Known& b) noexcept {
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    const std::size_t size = a.text.size() + between.size() + b.text.size();
    if (size > room) {
      tree_.set_full();
      return blank(a.span);
    }
    char* at = out;
    for (const std::string_view part : {a.text, between, b.text}) {
      if (!part.empty()) std::memcpy(at, part.data(), part.size());
      at += part.size();
    }
    return Known{tree_.keep(size), a.span, false, static_cast<std::uint16_t>(a.flags | b.flags)};
  }
  const Value* find(std::string_view name) const noexcept {
    for (std::uint32_t i = 0; i < variable_count_; ++i) {
      if (same(variables_[i].name, name)) return &variables_[i].value;
    }
    return nullptr;
  }
  void bind(std::string_view name, const Value& value) noexcept {
    for (std::uint32_t i = 0; i < variable_count_; ++i) {
      if (same(variables_[i].name, name)) {
        variables_[i].value = value;
        return;
      }
    }
    if (variable_count_ < kVariables) variables_[variable_count_++] = Variable{name, value};
  }

  // --- white space, comments ---

  void skip_blanks(bool lines) noexcept {
    while (at_ < end_) {
      const char c = text_[at_];
      if (c == '`' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
        at_ += peek(1) == '\n' ? 2 : 3;
      } else if (c == '<' && peek(1) == '#') {
        const std::size_t close = text_.find("#>", at_);
        if (close == std::string_view::npos || close >= end_) open_ = true;
        at_ = close == std::string_view::npos || close >= end_ ? end_ : close + 2;
      } else if (c == '#' && (at_ == 0 || ascii::is_space(text_[at_ - 1]) || std::string_view(";({|").find(text_[at_ - 1]) != std::string_view::npos)) {
        while (at_ < end_ && text_[at_] != '\n') ++at_;
      } else if (ascii::is_space(c) && (lines || c != '\n')) {
        ++at_;
      } else {
        return;
      }
    }
  }

  // --- statements ---

  void statements(char close) noexcept {
    if (level_ >= kLevels) {
      if (!said_depth_) tree_.add_uncertainty(Unresolved::depth, code_.at(at_, at_), frame_.carrier);
      said_depth_ = true;
      at_ = end_;
      return;
    }
    const Level level(level_);
    while (at_ < end_) {
      skip_blanks(true);
      const char c = peek();
      if (at_ >= end_ || (close != '\0' && c == close)) return;
      if (c == ';' || c == ',' || c == '=') {
        ++at_;
        continue;
      }
      if ((c == '&' && peek(1) == '&') || (c == '|' && peek(1) == '|')) {
        at_ += 2;
        continue;
      }
      if (c == ')' || c == '}' || c == ']') {
        if (close == '\0') return;
        ++at_;
        continue;
      }
      const std::size_t before = at_;
      statement();
      if (at_ == before) ++at_;
    }
  }

  std::string_view keyword() const noexcept {
    std::size_t i = at_;
    while (i < end_ && ascii::is_letter(text_[i])) ++i;
    return text_.substr(at_, i - at_);
  }

  void statement() noexcept {
    const std::string_view word = keyword();
    const char after = at_ + word.size() < end_ ? text_[at_ + word.size()] : ' ';
    const bool ends = ascii::is_space(after) || after == '(' || after == '{' || after == ';';
    if (ends && ascii::one_of(word, "if elseif else while do until try catch finally switch for return throw begin process end exit trap in")) {
      at_ += word.size();
      skip_blanks(true);
      const bool conditional = ascii::one_of(word, "if elseif while switch for until");
      if (conditional && peek() == '(') parenthesis();
      skip_blanks(true);
      if (peek() == '{') block_here();
      return;
    }
    if (ends && ascii::equals(word, "foreach")) {
      const std::size_t start = at_;
      at_ += word.size();
      skip_blanks(true);
      if (peek() == '(') return each();
      at_ = start;
    }
    if (ends && ascii::one_of(word, "function filter")) {
      at_ += word.size();
      skip_blanks(false);
      while (at_ < end_ && !ascii::is_space(text_[at_]) && text_[at_] != '{' && text_[at_] != '(') ++at_;
      skip_blanks(true);
      if (peek() == '(') parenthesis();
      skip_blanks(true);
      if (peek() == '{') {
        const Frame outer = frame_;
        frame_.via |= via::kFunction;
        block_here();
        frame_ = outer;
      }
      return;
    }
    if (ends && ascii::equals(word, "param")) {
      at_ += word.size();
      skip_blanks(true);
      if (peek() == '(') parenthesis();
      return;
    }
    pipeline();
  }

  // foreach ($x in list) { ... }: the name stands for every item.
  void each() noexcept {
    ++at_;
    skip_blanks(true);
    std::string_view name;
    if (peek() == '$') {
      const std::size_t start = ++at_;
      while (at_ < end_ && (ascii::is_name(text_[at_]) || text_[at_] == ':')) ++at_;
      name = text_.substr(start, at_ - start);
    }
    skip_blanks(true);
    if (ascii::equals(keyword(), "in")) at_ += 2;
    const Value items = pipeline();
    skip_blanks(true);
    while (at_ < end_ && peek() != ')') {
      const std::size_t before = at_;
      pipeline();
      skip_blanks(true);
      if (at_ == before) ++at_;
    }
    if (peek() == ')') ++at_;
    if (!name.empty()) bind(name, items);
    skip_blanks(true);
    if (peek() == '{') block_here();
  }
  void block_here() noexcept {  // at the opening brace
    ++at_;
    statements('}');
    if (peek() == '}') {
      ++at_;
    } else {
      open_ = true;
    }
  }
  Value parenthesis() noexcept {  // at the opening parenthesis
    if (level_ >= kLevels) {
      statements('\0');
      return Value{};
    }
    const Level level(level_);
    ++at_;
    skip_blanks(true);
    Value value;
    bool first = true;
    while (at_ < end_ && peek() != ')') {
      const std::size_t before = at_;
      skip_blanks(true);
      if (peek() == ';' || peek() == ',') {
        ++at_;
        continue;
      }
      if (peek() == ')') break;
      const std::string_view word = keyword();
      if (ascii::one_of(word, "if foreach while switch try for")) {
        statement();
        value = Value{};
      } else {
        const Value next = pipeline();
        value = first ? next : Value{};
      }
      first = false;
      if (at_ == before) ++at_;
    }
    if (peek() == ')') {
      ++at_;
    } else {
      open_ = true;
    }
    return value;
  }

  // --- pipelines ---

  Value pipeline() noexcept {
    Value value;
    bool piped = false;
    for (;;) {
      skip_blanks(piped);
      value = element(value, piped);
      skip_blanks(false);
      if (peek() == '|' && peek(1) != '|') {
        ++at_;
        piped = true;
        skip_blanks(true);
        if (at_ >= end_) return value;
        continue;
      }
      if (peek() == '&' && peek(1) != '&') ++at_;  // in the background
      return value;
    }
  }

  Value element(const Value& input, bool piped) noexcept {
    const std::size_t start = at_;
    const char c = peek();
    if (c == '&' || (c == '.' && ascii::is_space(peek(1)))) {
      ++at_;
      skip_blanks(false);
      if (peek() == '{') {
        block_here();
        arguments_away();
        return Value{};
      }
      const Value target = argument_word();
      if (target.kind == Value::block) {
        run_block(target);
        return Value{};
      }
      return command(target, start, input, piped);
    }
    if (c == '$' && assignment()) return Value{};
    if (c == '[' && typed_assignment()) return Value{};
    if (c == '$' || c == '"' || c == '\'' || c == '(' || c == '@' || c == '[' || c == '{' || ascii::is_digit(c) || c == '!' || (c == '-' && !ascii::is_letter(peek(1)))) {
      if (c == '{') {
        block_here();
        return Value{};
      }
      if (c == '!') {
        ++at_;
        return Value{};
      }
      const Value value = expression();
      redirections();
      return value;
    }
    if (c == '+' || c == '*' || c == '/' || c == '<') {
      ++at_;
      return Value{};
    }
    const Value name = argument_word();
    return command(name, start, input, piped);
  }

  bool assignment() noexcept {
    std::size_t i = at_ + 1;
    if (i < end_ && text_[i] == '{') {
      while (i < end_ && text_[i] != '}' && text_[i] != '\n') ++i;
      ++i;
    } else {
      while (i < end_ && (ascii::is_name(text_[i]) || text_[i] == ':')) ++i;
    }
    const std::string_view name = text_.substr(at_ + 1, i - at_ - 1);
    while (i < end_ && (ascii::is_blank(text_[i]))) ++i;
    const bool more = i + 1 < end_ && (text_[i] == '+' || text_[i] == '-') && text_[i + 1] == '=';
    if (i >= end_ || (!more && (text_[i] != '=' || (i + 1 < end_ && text_[i + 1] == '=')))) return false;
    at_ = i + (more ? 2 : 1);
    skip_blanks(true);
    Value value = pipeline();
    if (more) {
      const Value* before = find(name);
      if (before != nullptr && before->is_text() && value.is_text()) {
        value = text_value(joined(before->known, {}, value.known));
      } else {
        value = Value{};
      }
    }
    bind(name, value);
    return true;
  }
  bool typed_assignment() noexcept {
    const std::size_t close = text_.substr(at_, 96).find(']');
    if (close == std::string_view::npos) return false;
    std::size_t i = at_ + close + 1;
    while (i < end_ && ascii::is_blank(text_[i])) ++i;
    if (i >= end_ || text_[i] != '$') return false;
    const std::size_t before = at_;
    at_ = i;
    if (assignment()) return true;
    at_ = before;
    return false;
  }

  void redirections() noexcept {
    for (;;) {
      skip_blanks(false);
      std::size_t i = at_;
      if (i < end_ && (ascii::is_digit(text_[i]) || text_[i] == '*') && i + 1 < end_ && text_[i + 1] == '>') ++i;
      if (i >= end_ || text_[i] != '>') return;
      const std::size_t start = at_;
      at_ = i + 1;
      const bool append = peek() == '>';
      if (append) ++at_;
      if (peek() == '&') {
        at_ += 2;
        continue;
      }
      skip_blanks(false);
      if (at_ >= end_) return;
      const Value target = argument_word();
      CommandWriter writer(reader_, frame_, Dialect::powershell, "@write", from(start));
      if (append) writer.flag("--append");
      writer.known(known_or_blank(target, from(start)), word_flag::kPseudo);
      writer.end();
    }
  }

  // --- expressions ---

  Value expression() noexcept {
    if (level_ >= kLevels) {
      statements('\0');
      return Value{};
    }
    const Level level(level_);
    Value value = primary();
    for (;;) {
      skip_blanks(false);
      const char c = peek();
      const std::size_t start = at_;
      if (c == '+') {
        at_ += peek(1) == '=' ? 2 : 1;
        skip_blanks(true);
        const Value right = primary();
        value = value.is_text() || right.is_text() ? text_value(joined(known_or_blank(value, from(start)), {}, known_or_blank(right, from(start)))) : Value{};
      } else if (c == ',') {
        Known items[16];
        std::uint32_t n = 0;
        items[n++] = known_or_blank(value, from(start));
        while (peek() == ',') {
          ++at_;
          skip_blanks(true);
          const Value next = primary();
          if (n < 16) items[n++] = known_or_blank(next, from(start));
          skip_blanks(false);
        }
        value = list_of(items, n);
      } else if (c == '-' && ascii::is_letter(peek(1))) {
        ++at_;
        const std::string_view name = keyword();
        at_ += name.size();
        skip_blanks(true);
        const bool unary_join = ascii::equals(name, "join");
        const Value right = primary();
        if (unary_join) {
          value = joined_list(value, known_or_blank(right, from(start)));
        } else if (ascii::equals(name, "f")) {
          value = formatted(value, right);
        } else if (ascii::one_of(name, "replace ireplace creplace")) {
          skip_blanks(false);
          if (peek() == ',') {
            ++at_;
            skip_blanks(true);
            value = replaced(value, right, primary());
          } else {
            value = Value{};
          }
        } else if (!ascii::equals(name, "as")) {
          value = Value{};
        }
      } else if (c == '*' || c == '/' || c == '%' || c == '=') {
        if (c == '%' && (peek(1) == '{' || ascii::is_space(peek(1)))) return value;
        ++at_;
        skip_blanks(true);
        primary();
        value = Value{};
      } else {
        return value;
      }
    }
  }

  Value primary() noexcept {
    const std::size_t start = at_;
    const char c = peek();
    Value value;
    if (c == '"' || c == '\'') {
      value = text_value(quoted());
    } else if (c == '@' && (peek(1) == '"' || peek(1) == '\'')) {
      value = text_value(here_string());
    } else if (c == '@' && peek(1) == '(') {
      ++at_;
      value = parenthesis();
    } else if (c == '@' && peek(1) == '{') {
      ++at_;
      block_here();
    } else if (c == '$' && peek(1) == '(') {
      ++at_;
      value = parenthesis();
    } else if (c == '$') {
      value = variable();
    } else if (c == '(') {
      value = parenthesis();
    } else if (c == '{') {
      value.kind = Value::block;
      value.start = at_ + 1;
      at_ = matching('{', '}');
      value.stop = at_ > value.start ? at_ - 1 : value.start;
    } else if (c == '[') {
      return type();
    } else if (c == '-' || c == '!' || c == '+') {
      while (peek() == '-' || peek() == '!' || peek() == '+') ++at_;
      if (at_ >= end_ || ascii::is_space(peek()) || level_ >= kLevels) return value;
      const Level level(level_);
      return primary();
    } else if (ascii::is_digit(c)) {
      while (at_ < end_ && (ascii::is_name(text_[at_]) || (text_[at_] == '.' && ascii::is_digit(peek(1))))) ++at_;
      value = text_value(Known{text_.substr(start, at_ - start), from(start), code_.verbatim, 0});
    } else if (c == '`' || ascii::is_name_start(c)) {
      return argument_word();
    } else if (at_ < end_ && std::string_view(");|},]&\n").find(c) == std::string_view::npos) {
      ++at_;
      return value;
    } else {
      return value;
    }
    return members(value, start);
  }

  // [type]::Method(...), [char]114, [IO.File]::Delete('x')
  Value type() noexcept {
    const std::size_t start = at_;
    const std::size_t close = text_.substr(at_, 128).find(']');
    if (close == std::string_view::npos || at_ + close >= end_) {
      ++at_;
      return Value{};
    }
    std::string_view name = text_.substr(at_ + 1, close - 1);
    if (ascii::starts_with(name, "system.")) name.remove_prefix(7);
    at_ += close + 1;
    skip_blanks(false);
    if (peek() == ':' && peek(1) == ':') {
      at_ += 2;
      const std::size_t begin = at_;
      while (at_ < end_ && ascii::is_name(text_[at_])) ++at_;
      const std::string_view method = text_.substr(begin, at_ - begin);
      if (peek() == '(') return members(static_method(name, method, start), start);
      return members(Value{}, start);
    }
    if (at_ >= end_ || std::string_view(");|},\n").find(peek()) != std::string_view::npos) return Value{};
    if (level_ >= kLevels) return Value{};
    const Level level(level_);
    Value value = primary();
    if (ascii::equals(name, "char") && value.is_text()) return character(value);
    if (ascii::one_of(name, "string scriptblock char[]")) return value;
    return value;
  }
  Value character(const Value& number) noexcept {
    std::uint32_t code = 0;
    const std::string_view text = number.known.text;
    const bool hex = ascii::starts_with(text, "0x");
    for (const char c : text.substr(hex ? 2 : 0).substr(0, 6)) {
      const int digit = ascii::hex_value(c);
      if (digit < 0 || (!hex && digit > 9)) return number;
      code = code * (hex ? 16u : 10u) + static_cast<std::uint32_t>(digit);
    }
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    if (room < 4 || code < 2 || code > 0x10FFFF) return Value{};
    return text_value(Known{tree_.keep(shell::put_code_point(code, out)), number.known.span, false, 0});
  }
  // The arguments of a method, at the opening parenthesis.
  std::uint32_t method_arguments(Value* values, std::uint32_t most) noexcept {
    ++at_;
    std::uint32_t n = 0;
    skip_blanks(true);
    while (at_ < end_ && peek() != ')') {
      const std::size_t before = at_;
      Value value = primary_sum();
      if (n < most) values[n++] = value;
      skip_blanks(true);
      if (peek() == ',') ++at_;
      skip_blanks(true);
      if (at_ == before) ++at_;
    }
    if (peek() == ')') ++at_;
    return n;
  }
  Value primary_sum() noexcept {
    if (level_ >= kLevels) {
      statements('\0');
      return Value{};
    }
    const Level level(level_);
    Value value = primary();
    skip_blanks(false);
    while (peek() == '+') {
      const std::size_t start = at_++;
      skip_blanks(true);
      const Value right = primary();
      value = text_value(joined(known_or_blank(value, from(start)), {}, known_or_blank(right, from(start))));
      skip_blanks(false);
    }
    return value;
  }

  Value static_method(std::string_view type, std::string_view method, std::size_t start) noexcept {
    Value arguments[4];
    const std::uint32_t n = method_arguments(arguments, 4);
    const Span span = from(start);
    const bool file = ascii::one_of(type, "io.file"), directory = ascii::one_of(type, "io.directory");
    if ((file || directory) && ascii::equals(method, "delete")) {
      one("rm", span, arguments[0], directory && n > 1 ? "-r" : std::string_view());
    } else if (file && ascii::starts_with(method, "write")) {
      one("@write", span, arguments[0]);
    } else if (file && ascii::starts_with(method, "append")) {
      one("@write", span, arguments[0], "--append");
    } else if (file && (ascii::starts_with(method, "read") || ascii::starts_with(method, "open"))) {
      one("@read", span, arguments[0]);
      seen_file_ = known_or_blank(arguments[0], span);
      has_file_ = true;
    } else if ((file || directory) && ascii::equals(method, "move")) {
      CommandWriter writer(reader_, frame_, Dialect::powershell, "mv", span);
      writer.known(known_or_blank(arguments[0], span), word_flag::kPseudo).known(known_or_blank(arguments[1], span), word_flag::kPseudo);
      writer.end();
    } else if (ascii::equals(type, "diagnostics.process") && ascii::equals(method, "start")) {
      start_program(arguments[0], arguments[1], span);
    } else if (ascii::equals(type, "convert") && ascii::equals(method, "frombase64string")) {
      return decoded(arguments[0]);
    } else if (ascii::equals(method, "getstring") || ascii::one_of(method, "concat tostring unescapedatastring")) {
      return narrowed(arguments[0]);
    } else if (ascii::equals(type, "scriptblock") && ascii::equals(method, "create")) {
      evaluate(arguments[0], span);
    } else if (ascii::equals(type, "environment") && ascii::equals(method, "getenvironmentvariable")) {
      if (arguments[0].is_text() && ascii::one_of(arguments[0].known.text, "userprofile home")) return text_value(Known{"$env:userprofile", span, false, 0});
    } else if (ascii::equals(type, "environment") && ascii::equals(method, "getfolderpath")) {
      if (arguments[0].is_text() && ascii::equals(arguments[0].known.text, "userprofile")) return text_value(Known{"$env:userprofile", span, false, 0});
    } else if (ascii::equals(type, "io.path") && ascii::equals(method, "combine")) {
      return text_value(joined(known_or_blank(arguments[0], span), "\\", known_or_blank(arguments[1], span)));
    }
    return Value{};
  }

  Value decoded(const Value& value) noexcept {
    std::string_view out;
    if (!value.is_text() || value.known.is_unknown() || !shell::decode_base64(tree_, value.known.text, &out)) return Value{};
    if (out.find(kUnknownPart) != std::string_view::npos) return Value{};
    decoded_ = true;
    return text_value(Known{out, value.known.span, false, 0});
  }
  // UTF-16 of plain text as one byte each.
  Value narrowed(const Value& value) noexcept {
    if (!value.is_text()) return value;
    const std::string_view text = value.known.text;
    if (text.size() < 2 || text[1] != '\0') return value;
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    if (room < text.size() / 2) return Value{};
    std::size_t n = 0;
    for (std::size_t i = 0; i + 1 < text.size(); i += 2) out[n++] = text[i + 1] == '\0' && text[i] != kUnknownPart ? text[i] : '?';
    return text_value(Known{tree_.keep(n), value.known.span, false, 0});
  }

  // .Member, .Method(...), ::Member, [index]
  Value members(Value value, std::size_t start) noexcept {
    for (;;) {
      if (peek() == '[' && value.kind != Value::block) {
        ++at_;
        while (at_ < end_ && peek() != ']' && peek() != '\n') {
          const std::size_t before = at_;
          expression();
          if (at_ == before) ++at_;
        }
        if (peek() == ']') ++at_;
        if (value.kind != Value::remote) value = Value{};
        continue;
      }
      const bool dot = (peek() == '.' && ascii::is_name_start(peek(1))) || (peek() == '?' && peek(1) == '.');
      if (!dot && !(peek() == ':' && peek(1) == ':')) return value;
      at_ += peek() == '.' ? 1 : 2;
      const std::size_t begin = at_;
      while (at_ < end_ && ascii::is_name(text_[at_])) ++at_;
      const std::string_view name = text_.substr(begin, at_ - begin);
      if (peek() == '(') {
        value = method(value, name, start);
      } else if (!ascii::one_of(name, "fullname path name pspath content value directoryname tostring rawcontent")) {
        if (value.kind != Value::remote) value = Value{};
      }
    }
  }
  Value method(const Value& self, std::string_view name, std::size_t start) noexcept {
    Value arguments[4];
    const std::uint32_t n = method_arguments(arguments, 4);
    const Span span = from(start);
    if (ascii::one_of(name, "downloadstring downloaddata getstringasync")) {
      Value value;
      value.kind = Value::remote;
      return value;
    }
    if (ascii::equals(name, "downloadfile")) {
      one("@write", span, arguments[1]);
    } else if (ascii::equals(name, "uploadfile")) {
      one("@send", span, arguments[n > 1 ? n - 1 : 0]);
    } else if (ascii::one_of(name, "uploadstring uploaddata uploadvalues postasync")) {
      CommandWriter writer(reader_, frame_, Dialect::powershell, "@send", span);
      if (has_file_) writer.known(seen_file_, word_flag::kPseudo);
      writer.end();
      has_file_ = false;
    } else if (ascii::equals(name, "delete")) {
      one("rm", span, self, n > 0 ? "-r" : std::string_view());
    } else if (ascii::equals(name, "kill")) {
      CommandWriter writer(reader_, frame_, Dialect::powershell, "stop-process", span);
      writer.end();
    } else if (ascii::one_of(name, "run exec shellexecute create") && arguments[0].is_text()) {
      Frame frame = frame_;
      frame.via |= via::kEvaluated;
      if (n > 1 && arguments[1].is_text() && ascii::equals(name, "shellexecute")) {
        start_program(arguments[0], arguments[1], span);
      } else {
        read_code(reader_, Dialect::cmd, arguments[0].known.code(), frame);
      }
    } else if (ascii::one_of(name, "invoke invokescript newscriptblock addscript")) {
      if (self.kind == Value::block) run_block(self);
      if (n > 0) evaluate(arguments[0], span);
    } else if (ascii::one_of(name, "tostring trim tolower toupper trimend trimstart replace insert")) {
      if (ascii::equals(name, "replace")) return replaced(self, arguments[0], arguments[1]);
      return self;
    } else if (ascii::equals(name, "getstring")) {
      return narrowed(arguments[0]);
    } else if (ascii::one_of(name, "foreach where") && arguments[0].kind == Value::block) {
      bind("_", self);
      run_block(arguments[0]);
    } else if (ascii::equals(name, "connect")) {
      note_connection(span);
    }
    return Value{};
  }

  Value joined_list(const Value& list, const Known& separator) noexcept {
    if (list.is_text()) return list;
    if (list.kind != Value::list || list.count == 0) return Value{};
    Known all = items_[list.first];
    for (std::uint32_t i = 1; i < list.count; ++i) all = joined(all, separator.text, items_[list.first + i]);
    return text_value(all);
  }
  // '{1}{0}' -f 'a','b'
  Value formatted(const Value& format, const Value& with) noexcept {
    if (!format.is_text()) return Value{};
    Known items[16];
    std::uint32_t n = 0;
    if (with.kind == Value::list) {
      for (; n < with.count && n < 16; ++n) items[n] = items_[with.first + n];
    } else {
      items[n++] = known_or_blank(with, format.known.span);
    }
    skip_blanks(false);
    while (peek() == ',') {
      const std::size_t start = at_++;
      skip_blanks(true);
      const Value next = primary();
      if (n < 16) items[n++] = known_or_blank(next, from(start));
      skip_blanks(false);
    }
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    std::size_t size = 0;
    const std::string_view text = format.known.text;
    for (std::size_t i = 0; i < text.size(); ++i) {
      std::string_view put = text.substr(i, 1);
      if (text[i] == '{' && i + 2 < text.size() && ascii::is_digit(text[i + 1])) {
        const std::uint32_t which = static_cast<std::uint32_t>(text[i + 1] - '0');
        const std::size_t close = text.substr(i, 32).find('}');
        if (close != std::string_view::npos) {
          put = which < n ? items[which].text : std::string_view("\x01", 1);
          i += close;
        }
      }
      if (room < size + put.size() || size + put.size() > 65536) return Value{};
      if (!put.empty()) std::memcpy(out + size, put.data(), put.size());
      size += put.size();
    }
    return text_value(Known{tree_.keep(size), format.known.span, false, 0});
  }
  Value replaced(const Value& self, const Value& what, const Value& with) noexcept {
    if (!self.is_text() || !what.is_text() || what.known.text.empty()) return Value{};
    const std::string_view text = self.known.text, old = what.known.text, put_in = with.is_text() ? with.known.text : std::string_view();
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    std::size_t n = 0;
    for (std::size_t i = 0; i < text.size();) {
      const bool here = ascii::lower(text[i]) == ascii::lower(old[0]) && i + old.size() <= text.size() && same(text.substr(i, old.size()), old);
      const std::string_view put = here ? put_in : text.substr(i, 1);
      if (room < n + put.size() || n + put.size() > 65536) return Value{};
      if (!put.empty()) std::memcpy(out + n, put.data(), put.size());
      n += put.size();
      i += here ? old.size() : 1;
    }
    return text_value(Known{tree_.keep(n), self.known.span, false, 0});
  }

  // --- texts ---

  // $name, $env:NAME, ${name}, $_: leaves `at_` behind it.
  Value variable() noexcept {
    const std::size_t start = at_++;
    std::size_t begin = at_;
    std::string_view name;
    if (peek() == '{') {
      begin = ++at_;
      while (at_ < end_ && peek() != '}') ++at_;
      name = text_.substr(begin, at_ - begin);
      if (at_ < end_) ++at_;
    } else if (peek() == '$' || peek() == '?' || peek() == '^') {
      ++at_;
      return Value{};
    } else {
      while (at_ < end_ && (ascii::is_name(text_[at_]) || (text_[at_] == ':' && at_ + 1 < end_ && ascii::is_name(text_[at_ + 1])))) ++at_;
      name = text_.substr(begin, at_ - begin);
    }
    const Span span = from(start);
    for (const std::string_view scope : {"script:", "global:", "local:", "private:", "using:"}) {
      if (ascii::starts_with(name, scope)) name.remove_prefix(scope.size());
    }
    if (const Value* value = find(name)) return *value;
    static constexpr std::string_view kPlaces[] = {
        "$env:userprofile", "$env:home", "$env:systemroot", "$env:windir", "$env:temp", "$env:tmp", "$env:tmpdir", "$env:systemdrive", "$env:homedrive",
        "$env:homepath", "$env:appdata", "$env:localappdata", "$env:programfiles", "$env:programdata", "$env:public", "$home", "$pwd"};
    for (const std::string_view place : kPlaces) {
      if (ascii::equals(name, place.substr(1))) return text_value(Known{place, span, false, 0});
    }
    if (ascii::equals(name, "null")) return text_value(Known{"$null", span, false, 0});
    if (ascii::one_of(name, "true false")) return text_value(Known{ascii::equals(name, "true") ? "$true" : "$false", span, false, 0});
    Value value = text_value(blank(span));
    value.known.flags |= word_flag::kMayBeEmpty;
    if (ascii::starts_with(name, "env:")) value.known.flags |= word_flag::kEnvironment;
    if (ascii::one_of(name, "_ psitem args input psscriptroot pscommandpath myinvocation matches")) {
      value.known.flags = word_flag::kUnknown;
    }
    return value;
  }

  static char unescaped(char c) noexcept {
    switch (c) {
      case 'n': return '\n';
      case 't': return '\t';
      case 'r': return '\r';
      case '0': return '\0';
      default: return c;
    }
  }

  // A quoted text at `at_`.
  Known quoted() noexcept {
    const char quote = peek();
    const std::size_t begin = ++at_;
    std::size_t i = begin;
    bool plain = true;
    while (i < end_) {
      if (text_[i] == quote) {
        if (i + 1 < end_ && text_[i + 1] == quote) {
          plain = false;
          i += 2;
          continue;
        }
        break;
      }
      if (quote == '"' && (text_[i] == '`' || text_[i] == '$')) {
        plain = false;
        if (text_[i] == '`') ++i;
        if (i < end_ && text_[i] == '$' && i + 1 < end_ && text_[i + 1] == '(') {
          const std::size_t keep = at_;
          at_ = i + 1;
          i = matching('(', ')');
          at_ = keep;
          continue;
        }
      }
      ++i;
    }
    if (i >= end_) {
      open_ = true;
      i = end_;
    }
    const Known known = plain ? Known{text_.substr(begin, i - begin), code_.at(begin, i), code_.verbatim, 0} : filled(begin, i, quote);
    at_ = i < end_ ? i + 1 : end_;
    return known;
  }
  Known here_string() noexcept {
    const char quote = peek(1);
    at_ += 2;
    while (at_ < end_ && text_[at_] != '\n') ++at_;
    if (at_ < end_) ++at_;
    const std::size_t begin = at_;
    const char close[3] = {'\n', quote, '@'};
    const std::size_t first = begin > 0 ? begin - 1 : 0;
    std::size_t stop = text_.find(std::string_view(close, 3), first);
    if (stop == std::string_view::npos || stop >= end_) {
      open_ = true;
      stop = end_;
    }
    const std::size_t last = stop < begin ? begin : stop;
    const Known known = quote == '"' ? filled(begin, last, '\0') : Known{text_.substr(begin, last - begin), code_.at(begin, last), code_.verbatim, 0};
    at_ = stop + 3 < end_ ? stop + 3 : end_;
    return known;
  }
  // What stands from `begin` to `stop` with escapes undone and variables put in.
  Known filled(std::size_t begin, std::size_t stop, char quote) noexcept {
    Known values[8];
    std::uint32_t count = 0;
    const std::size_t keep_at = at_, keep_end = end_;
    if (quote != '\'') {  // first what is inserted: it may be code
      std::size_t i = begin;
      while (i < stop) {
        if (text_[i] == '`') {
          i += 2;
          continue;
        }
        if (text_[i] == '$' && i + 1 < stop && (ascii::is_name_start(text_[i + 1]) || text_[i + 1] == '{' || text_[i + 1] == '(')) {
          at_ = i;
          end_ = stop;
          Value value;
          if (text_[i + 1] == '(') {
            ++at_;
            value = parenthesis();
          } else {
            value = variable();
          }
          end_ = keep_end;
          if (count < 8) values[count++] = known_or_blank(value, code_.at(i, i));
          i = at_ > i ? at_ : i + 1;
          continue;
        }
        ++i;
      }
    }
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    std::size_t n = 0;
    std::uint32_t next = 0;
    std::uint16_t flags = 0;
    const auto put = [&](std::string_view piece) noexcept {
      if (room < n + piece.size()) return tree_.set_full();
      if (!piece.empty()) std::memcpy(out + n, piece.data(), piece.size());
      n += piece.size();
    };
    for (std::size_t i = begin; i < stop;) {
      if (quote != '\'' && text_[i] == '`' && i + 1 < stop) {
        const char c = unescaped(text_[i + 1]);
        put(std::string_view(&c, 1));
        i += 2;
      } else if (quote != '\0' && text_[i] == quote && i + 1 < stop && text_[i + 1] == quote) {
        put(text_.substr(i, 1));
        i += 2;
      } else if (quote != '\'' && text_[i] == '$' && i + 1 < stop && (ascii::is_name_start(text_[i + 1]) || text_[i + 1] == '{' || text_[i + 1] == '(')) {
        std::size_t k = i + 1;
        if (text_[k] == '(') {
          const std::size_t keep = at_;
          at_ = k;
          k = matching('(', ')');
          at_ = keep;
          if (k > stop) k = stop;
        } else if (text_[k] == '{') {
          while (k < stop && text_[k] != '}') ++k;
          if (k < stop) ++k;
        } else {
          while (k < stop && (ascii::is_name(text_[k]) || (text_[k] == ':' && k + 1 < stop && ascii::is_name(text_[k + 1])))) ++k;
        }
        if (next < count) {
          put(values[next].text);
          flags |= values[next].flags;
        } else {
          put(std::string_view("\x01", 1));
        }
        ++next;
        i = k;
      } else {
        put(text_.substr(i, 1));
        ++i;
      }
    }
    at_ = keep_at;
    Known known{tree_.keep(n), code_.at(begin, stop), false, flags};
    known.flags = static_cast<std::uint16_t>(known.flags & ~word_flag::kUnknown);
    if (known.text.find(kUnknownPart) != std::string_view::npos) known.flags |= word_flag::kUnknown;
    return known;
  }

  // The place behind the bracket that closes the one at `at_`.
  std::size_t matching(char open, char close) noexcept {
    std::uint32_t depth = 0;
    std::size_t i = at_;
    while (i < end_) {
      const char c = text_[i];
      if (c == '`') {
        i += 2;
        continue;
      }
      if (c == '\'' || c == '"') {
        std::size_t k = i + 1;
        while (k < end_ && text_[k] != c) k += text_[k] == '`' && c == '"' ? 2 : 1;
        i = k < end_ ? k + 1 : end_;
        continue;
      }
      if (c == open) ++depth;
      if (c == close && --depth == 0) return i + 1;
      ++i;
    }
    open_ = true;
    return end_;
  }

  // One word as a command takes it: bare text, quotes, variables, in any mixture.
  Value argument_word() noexcept {
    const char c = peek();
    if (c == '(' || c == '{' || (c == '@' && (peek(1) == '(' || peek(1) == '{' || peek(1) == '"' || peek(1) == '\''))) return primary();
    const std::size_t start = at_;
    Known all;
    bool first = true, simple = true, is_bare = true;
    Value only;
    while (at_ < end_) {
      const char d = peek();
      if (ascii::is_space(d) || std::string_view(";|&(){},").find(d) != std::string_view::npos) break;
      if ((d == '>' || d == '<') && at_ > start) break;
      Value part;
      if (d == '"' || d == '\'') {
        part = text_value(quoted());
        is_bare = false;
      } else if (d == '$' && peek(1) == '(') {
        ++at_;
        part = parenthesis();
        is_bare = false;
      } else if (d == '$' && (ascii::is_name_start(peek(1)) || peek(1) == '{' || peek(1) == '$')) {
        const std::size_t begin = at_;
        part = members(variable(), begin);
        is_bare = false;
      } else {
        const std::size_t begin = at_;
        bool escaped = false;
        while (at_ < end_ && !ascii::is_space(peek()) && std::string_view(";|&(){},\"'$><").find(peek()) == std::string_view::npos) {
          if (peek() == '`') {
            escaped = true;
            ++at_;
            if (at_ >= end_) break;
          }
          ++at_;
        }
        if (at_ == begin) ++at_;
        if (at_ > end_) at_ = end_;
        part = text_value(escaped ? filled(begin, at_, '\0') : Known{text_.substr(begin, at_ - begin), code_.at(begin, at_), code_.verbatim, 0});
      }
      if (first) {
        only = part;
        all = known_or_blank(part, from(start));
      } else {
        simple = false;
        all = joined(all, {}, known_or_blank(part, from(start)));
      }
      first = false;
    }
    Value value = simple ? only : text_value(all);
    value.bare = is_bare;
    if (!simple) value.known.span = from(start);
    return value;
  }

  // --- commands: powershell_commands.hpp ---

  Value command(const Value& name, std::size_t start, const Value& input, bool piped) noexcept;
  std::uint32_t take_arguments(Argument* out) noexcept;
  void arguments_away() noexcept;
  void run_block(const Value& block) noexcept;
  void evaluate(const Value& code, Span span) noexcept;
  void start_program(const Value& program, const Value& arguments, Span span) noexcept;
  void one(std::string_view program, Span span, const Value& value, std::string_view flag = {}) noexcept;
  void words(CommandWriter* writer, const Value& value, Span span, std::uint16_t flags = 0) noexcept;
  void note_connection(Span span) noexcept {
    connects_ = true;
    connect_span_ = span;
  }
  void remove_item(const Argument* given, std::uint32_t count, const Value& input, bool piped, Span span) noexcept;
  Value children(const Argument* given, std::uint32_t count, Span span) noexcept;
  void plain(std::string_view cmdlet, const Argument* given, std::uint32_t count, const Value& input, bool piped, Span span) noexcept;
  void external(const Value& name, const Argument* given, std::uint32_t count, Span span) noexcept;

  Reader& reader_;
  Tree& tree_;
  const Code& code_;
  Frame frame_;
  std::string_view text_;
  std::size_t at_ = 0, end_ = 0;
  Known items_[kItems];
  Variable variables_[kVariables];
  std::uint32_t item_count_ = 0, variable_count_ = 0, level_ = 0;
  Known seen_file_;
  Span connect_span_;
  bool open_ = false, said_depth_ = false, connects_ = false, evaluates_ = false, decoded_ = false, has_file_ = false;
};

}  // namespace tipstaff::gate::powershell
