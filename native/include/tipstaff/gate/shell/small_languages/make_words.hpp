// Variables and functions of make in a recipe that is read as a shell's text: $(CC), $(RM) $(OBJS), $(call quiet,CC).
#pragma once

#include "tipstaff/gate/shell/language/reader.hpp"

namespace tipstaff::gate::shell {

// Whether a variable is named as those are that hold what is built, or its folder.
inline bool names_built(string_view name) noexcept {
  char small[32];
  if (name.empty() || name.size() > sizeof small) return false;
  for (std::size_t i = 0; i < name.size(); ++i) small[i] = lower(name[i]);
  const string_view folded(small, name.size());
  for (const string_view built : {"build", "obj", "out", "dist", "gen", "cache", "coverage", "venv", "target_dir", "tmp"}) {
    if (starts_with(folded, built) || ends_with(folded, built)) return true;
    if ((ends_with(folded, "dir") || ends_with(folded, "tree")) && folded.find(built) != string_view::npos) return true;
  }
  return false;
}

// Whether a variable of make is named as its programs' users name folders: $(objtree), $(top_builddir), $(dir.doc).
inline bool names_make_folder(string_view name) noexcept {
  if (one_of(name, "prefix exec_prefix")) return true;
  if (ascii::one_of(name, "dir vdir mkdir rmdir lndir tree pstree") || name.find('-') == 0) return false;
  return ends_with(name, "dir") || ends_with(name, "tree") || starts_with(name, "dir.");
}

// $(venv_file), $(build_path): what is built, by a name of a recipe.
inline bool names_built_file(string_view name) noexcept {
  return (ends_with(name, "_file") || ends_with(name, "_files") || ends_with(name, "_path")) && names_built(name);
}

// Whether a text holds what only a recipe has: $(CC), $$x.
inline bool holds_make_words(string_view text) noexcept {
  for (std::size_t at = text.find('$'); at < text.size() && at + 2 < text.size(); at = text.find('$', at + 1)) {
    const char next = text[at + 1], third = text[at + 2];
    const char before = at == 0 ? ' ' : text[at - 1];
    if (next == '$' && (is_name_start(third) || third == '{') && !is_name_byte(before) && !holds(".-/$", before)) return true;
    if (next != '(' || third < 'A' || third > 'Z') continue;
    if (starts_with(text.substr(at + 2), "AM_V_")) return true;
    std::size_t end = at + 3;
    while (end < text.size() && (is_digit(text[end]) || text[end] == '_' || (text[end] >= 'A' && text[end] <= 'Z'))) ++end;
    if (end > at + 3 && end < text.size() && text[end] == ')') return true;
  }
  return false;
}

inline bool ShellReader::in_recipe() const noexcept {
  if (recipe_ == Recipe::unasked) recipe_ = holds_make_words(code_.text) ? Recipe::yes : Recipe::no;
  return recipe_ == Recipe::yes;
}

// $(LINK.c), $(COMPILE.S): the variables of make's own rules.
inline bool names_own_rule(string_view name) noexcept {
  const std::size_t dot = name.find('.');
  for (std::size_t i = 0; i < dot && i < name.size(); ++i)
    if (name[i] < 'A' || name[i] > 'Z') return false;
  return dot != string_view::npos && dot > 2;
}

// $(NAME), $(AM_V_at) or $(NAME:.c=.o), in capitals, $(builddir), $(@D) or $(1): a variable of make, in a recipe. A shell knows no such
// program, and puts nothing there. Returns its end; null where it may be a command.
inline const char* ShellReader::make_reference_end(const char* from) const noexcept {
  constexpr std::ptrdiff_t kLongest = 128;
  if (end_ - from < 4 || from[0] != '$' || from[1] != '(' || session_.functions.size() != 0 || session_.aliases.size() != 0) return nullptr;
  const char* p = from + 2;
  bool capitals = false, small = false, dots = false;
  int nested = 0;
  for (; p < end_ && p - from < kLongest; ++p) {
    if (*p == '$' && p + 1 < end_ && p[1] == '(' && p > from + 2) ++p, ++nested;  // $(CFLAGS_$(BOARD))
    else if (*p == '$' && p + 1 < end_ && (p[1] == '@' || p[1] == '*')) ++p;
    else if (*p == ')' && nested > 0) --nested;
    else if (*p == '.' || *p == '-') dots = true;
    else if (!is_name_byte(*p)) break;
    else capitals = capitals || (*p >= 'A' && *p <= 'Z'), small = small || (*p >= 'a' && *p <= 'z');
  }
  string_view name(from + 2, static_cast<std::size_t>(p - from - 2));
  const bool automatic = name.empty() && p < end_ && one_of(string_view(p, 1), "@ ^ + * % <");
  if (automatic) {
    const bool file = *p == '<';
    if (++p < end_ && !file && (*p == 'D' || *p == 'F')) ++p;
  } else if (!name.empty() && name.find_first_not_of("0123456789") == string_view::npos) {
    if (name.size() != 1) return nullptr;
  } else {
    if (name.empty() || nested != 0 || is_digit(name[0]) || name == "HOME") return nullptr;
    if (p >= end_ || (*p != ')' && *p != ':')) return nullptr;
    const bool usual = dots ? names_make_folder(name) || names_own_rule(name)
                            : (capitals && (!small || name.find('_') != string_view::npos)) || name[0] == '_' || starts_with(name, "am__") ||
                                  one_of(name, "verbose gen_verbose cc cxx mkinstalldirs mkdir_p install_sh objects objs deps depfiles dep_files") || names_make_folder(name) || names_built_file(name);
    if (!usual && (dots || !in_recipe())) return nullptr;
  }
  if (p < end_ && *p == ':') {
    int inner = 0;  // $(OBJS:%.$(O)=%.d)
    for (; p < end_ && p - from < kLongest && !ascii::is_space(*p) && (*p != ')' || inner > 0); ++p) {
      if (*p == '(' && p[-1] != '$') return nullptr;
      inner += *p == '(' ? 1 : *p == ')' ? -1 : 0;
    }
  }
  return p < end_ && *p == ')' ? p + 1 : nullptr;
}

// Whether make reads $(eval ...) as lines of its own, which set a variable: X := y. A shell's eval knows no such command.
inline bool sets_make_variable(string_view text) noexcept {
  if (starts_with(text, "$(call ") || starts_with(text, "include ") || starts_with(text, "export ") || starts_with(text, "override ")) return true;
  std::size_t at = 0;
  while (at < text.size() && (is_name_byte(text[at]) || holds("$@.-", text[at]))) ++at;
  const std::size_t named = at;
  while (at < text.size() && is_blank(text[at])) ++at;
  if (named == 0 || at + 1 >= text.size()) return false;
  return text[at] == '=' ? at > named : holds(":?+", text[at]) && (text[at + 1] == '=' || text[at + 1] == ':');
}

inline string_view make_function_name(const char* from, const char* end) noexcept {
  const char* p = from + 2;
  while (p < end && p - from < 16 && ((*p >= 'a' && *p <= 'z') || *p == '-')) ++p;
  return {from + 2, static_cast<std::size_t>(p - from - 2)};
}

// $(patsubst %.c,%.o,$(SOURCES)): a function of make, by names that no program has; $(if $(X),y,z) is no condition of a shell, which
// has a semicolon. Returns its end, or null.
inline const char* ShellReader::make_function_end(const char* from) const noexcept {
  constexpr std::ptrdiff_t kLongest = 1024;
  const string_view name = make_function_name(from, end_);
  const char* p = from + 2 + name.size();
  if (p >= end_ || *p != ' ' || session_.functions.size() != 0 || session_.aliases.size() != 0) return nullptr;
  const bool condition = name == "if";
  const string_view text(p + 1, static_cast<std::size_t>(end_ - p - 1));
  if (condition ? !starts_with(text, "$(")
                : name == "eval" ? !sets_make_variable(text.substr(0, 256))
                                 : !one_of(name, "call strip foreach subst patsubst filter filter-out findstring wildcard addprefix addsuffix notdir abspath lastword firstword wordlist word or and error warning info origin flavor"))
    return nullptr;
  int depth = 1;
  bool comma = false;
  for (; p < end_ && p - from < kLongest; ++p) {
    if (*p == '(') ++depth;
    if (*p == ',' && depth == 1) comma = true;
    if (condition && !comma && depth == 1 && (*p == ';' || *p == '`')) return nullptr;
    if (*p == ')' && --depth == 0) return condition && !comma ? nullptr : p + 1;
  }
  return nullptr;
}

// Commands that a text holds in parentheses after a dollar sign, or in back-ticks: only what they do matters.
inline void ShellReader::read_make_text(string_view text) noexcept {
  const char* const outer = end_;
  pos_ = text.data();
  end_ = pos_ + text.size();
  const std::uint32_t scratch = session_.scratch.size();
  while (pos_ < end_ && !stopped_) {
    Pieces ignored;
    if (*pos_ == '$' && pos_ + 1 < end_ && pos_[1] == '(') read_dollar(ignored, true);
    else if (*pos_ == '`') read_back_ticks(ignored, true);
    else ++pos_;
  }
  session_.scratch.cut(scratch);
  end_ = outer;
}

// The arguments of the function of make up to `end`. Where it is in the place of a program, those that make puts there are commands:
// $(if $(X),rm a,rm b), $(foreach d,$(DIRS),make -C $(d);), $(call quiet,rm a). `words`: other arguments of a call are its words.
inline void ShellReader::read_make_arguments(const char* end, bool program, bool words) noexcept {
  const char* const start = pos_;
  if (session_.level >= kLevels || reader_.out_of_stack()) return give_up(Unresolved::depth, span_of(start, end));
  ++session_.level;
  const string_view name = make_function_name(start, end);
  const std::uint32_t first = !program || words ? 1 : name == "foreach" ? 2 : name == "if" ? 1 : one_of(name, "or and") ? 0 : kNone;
  const char* from = start + 2 + name.size() + 1;
  int depth = 0;
  std::uint32_t index = 0;
  for (const char* p = from; !stopped_; ++p) {
    depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
    if (depth >= 0 && (*p != ',' || depth != 0)) continue;
    string_view text = trim(string_view(from, static_cast<std::size_t>(p - from)));
    while (text.size() > 1 && holds("@-+", text[0]) && (is_name_start(text[1]) || text[1] == '$')) text.remove_prefix(1);
    if (text.size() > 2 && text.find('"', 1) == text.size() - 1 && text[0] == '"') text = text.substr(1, text.size() - 2);  // $(call run,"rm -rf x")
    const bool joins = text.find_first_of(";|&") != string_view::npos;
    if (program && first != kNone && index >= first && (joins || begins_command(text) || (!words && starts_with(text, "$(")))) {
      Nested options;
      options.via = via::kConditional;
      Invocation in = for_carried_code();
      nested(in, text, span_of(text.data(), text.data() + text.size()), options);
    } else if (words && index > 0 && text.find('\'') == string_view::npos) {
      const char* const outer = end_;
      pos_ = text.data();
      end_ = pos_ + text.size();
      while (pos_ < end_ && !stopped_) {
        if (is_blank(*pos_) || (class_of(*pos_) & byte_class::kOperator) != 0 || *pos_ == '\n') ++pos_;
        else read_word();
      }
      end_ = outer;
    } else if (!words || index > 0) {
      read_make_text(text);
    }
    if (depth < 0) break;
    from = p + 1;
    ++index;
  }
  --session_.level;
  if (!stopped_) pos_ = end;
}

// What variables hold by custom: $(RM), $(MAKE), $(am__rm_rf).
inline string_view known_make_program(string_view name) noexcept {
  if (name == "MAKE") return "make";
  if (name == "SHELL") return "sh";
  if (one_of(name, "RM RM_F am__rm_f")) return "rm -f";
  return one_of(name, "RM_RF RMRF RM_R am__rm_rf") ? "rm -rf" : "";
}

// What a function of make gives: files of a folder of what is built, or nobody knows.
inline void ShellReader::add_make_function(Pieces& pieces, const char* end, bool quoted) noexcept {
  const string_view whole(pos_, static_cast<std::size_t>(end - pos_));
  read_make_arguments(end, false, false);
  if (stopped_) return;
  for (const string_view function : {"$(addprefix $(", "$(wildcard $("}) {
    if (!starts_with(whole, function)) continue;
    const string_view rest = whole.substr(function.size());
    if (names_built(rest.substr(0, rest.find(')'))) && rest.find("..") == string_view::npos) return add_literal(pieces, "build/*", word_flag::kGlob, quoted);
  }
  add_unknown(pieces, 0, quoted);
}

// The variable up to `end`: the working directory, what its name says, nothing where it is the whole word, or not known.
inline void ShellReader::add_make_reference(Pieces& pieces, const char* end, bool quoted) noexcept {
  string_view name(pos_ + 2, static_cast<std::size_t>(end - pos_ - 3));
  if (name.size() > 1) name = name.substr(0, name.find(':'));  // $(OBJS:.o=.d)
  pos_ = end;
  if (quoted) pieces.quoted = true;
  if (one_of(name, "CURDIR PWD") && !session_.cwd.empty()) return add_literal(pieces, session_.cwd, 0, quoted);
  if (const string_view known = known_make_program(name); !known.empty()) return add_text(pieces, known, 0, quoted);
  if (one_of(name, "X E EXT") || ends_with(name, "EXE") || ends_with(name, "EXEEXT") || ends_with(name, "SUFFIX")) return;
  if (one_of(name, "DEPDIR am__dirstamp")) return add_literal(pieces, name == "DEPDIR" ? ".deps" : ".dirstamp", 0, quoted);
  if (one_of(name, "O OBJEXT OBJ") && pieces.count == 1 && ends_with(pieces.items[0].text, "*.")) return add_literal(pieces, "o", 0, quoted);  // *.$(OBJEXT)
  if (ends_with(name, "_EXT") && pieces.count == 1 && ends_with(pieces.items[0].text, ".")) return add_literal(pieces, "so", 0, quoted);  // *.$(SHARED_EXT)
  const bool ends = end == end_ || ends_word(*end);
  if (one_of(name, "TMPDIR TMP TEMP")) return add_literal(pieces, name == "TMP" && ends && pieces.count == 0 ? "/tmp/made" : "/tmp", 0, quoted);  // a recipe's own
  // dd of=$(IMG): an image that is made.
  if (pieces.count == 1 && pieces.items[0].text == "of=" && (ends_with(name, "IMG") || ends_with(name, "IMAGE") || ends_with(name, "ISO")))
    return add_literal(pieces, "disk.img", 0, quoted);
  // ./$(PROG): what was built here, by whatever name.
  if (ends && pieces.count == 1 && one_of(pieces.items[0].text, "./ ./build/ build/") && is_name(name)) return add_literal(pieces, name, 0, quoted);
  if (names_built(name)) return add_literal(pieces, "build", 0, quoted);
  if (!quoted && pieces.count == 0 && ends && !names_make_folder(name) && name[0] != '_') return;
  // Where things are installed; of one project's own folders the last part is its name.
  const bool first = pieces.count == 0 || ((pieces.flags & word_flag::kInstalled) != 0 && pieces.count == 1);
  const bool own = ascii::one_of(name, "docdir htmldir pkgdatadir pkglibdir pkgincludedir pkglibexecdir pkgconfdir pkgsysconfdir");
  const bool shared = ascii::one_of(name, "destdir prefix exec_prefix bindir sbindir libdir libexecdir includedir datadir datarootdir mandir man1dir man3dir "
                                          "man5dir man7dir man8dir infodir sysconfdir localstatedir localedir manprefix install_root buildroot appdir icondir");
  add_unknown(pieces, first && (own || shared) ? word_flag::kInstalled : 0, quoted);
  if (own) add_literal(pieces, "/package", 0, quoted);
}

// $(CC) -c x.c: the program of a recipe is called by its variable, in lower case. $(Q)rm x: rm is what a shell would run.
// Returns whether a word was read.
inline bool ShellReader::read_make_program() noexcept {
  const char* const start = pos_;
  const char* name = pos_;
  for (const char* end = make_reference_end(pos_); end != nullptr; end = make_reference_end(pos_)) name = pos_, pos_ = end;
  if (pos_ != end_ && !ends_word(*pos_)) {
    if (!is_name_start(*pos_)) pos_ = start;  // $(BIN)/tool
    return false;
  }
  Word word;
  word.text = string_view(name + 2, static_cast<std::size_t>(pos_ - name - 3));
  word.text = word.text.substr(0, word.text.find(':'));
  if (!known_make_program(word.text).empty()) {
    pos_ = name;
    return false;
  }
  word.flags = word_flag::kPseudo;
  word.span = span_of(start, pos_);
  tree_.push_pending(word);
  return true;
}

// $(if $(shell command -v podman),podman,docker) run x: the program that is taken where the condition holds.
inline string_view named_by_condition(const char* from, const char* end) noexcept {
  int depth = 0;
  const char* start = nullptr;
  for (const char* p = from + 1; p < end; ++p) {
    depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
    if (!(depth == 1 && *p == ',') && depth != 0) continue;
    if (start == nullptr) {
      start = p + 1;
      continue;
    }
    const string_view text = trim(string_view(start, static_cast<std::size_t>(p - start)));
    if (text.empty() || !is_name_start(text[0])) return {};
    for (const char c : text)
      if (!is_name_byte(c) && c != '-' && c != '.') return {};
    return text;
  }
  return {};
}

// $(call quiet,CC) -c x.c: a function of make in the place of a program; $(if $(V),,@)rm x: rm is what a shell would run.
// $(shell mkdir -p out) alone gives nothing that would run. Returns whether it was read.
inline bool ShellReader::read_make_function() noexcept {
  const char* const start = pos_;
  constexpr string_view kShell = "$(shell ";
  if (starts_with(string_view(pos_, static_cast<std::size_t>(end_ - pos_)), kShell) && session_.functions.size() == 0 && session_.aliases.size() == 0) {
    pos_ += kShell.size();
    const Stream stream = read_substitution();
    if (stopped_) return true;
    const bool given = stream.kind != Stream::unknown && stream.kind != Stream::none;
    const char* next = pos_;
    while (next < end_ && is_blank(*next)) ++next;
    if (!given && (next == end_ || *next == '\n' || (class_of(*next) & byte_class::kOperator) != 0)) return skipped_ = true;
    const std::uint32_t scratch = session_.scratch.size();
    Pieces pieces;
    add_stream(pieces, stream, false);
    collect(pieces, Until::word, false);
    push_words(pieces, span_of(start, pos_));
    session_.scratch.cut(scratch);
    return true;
  }
  const char* const end = make_function_end(start);
  if (end == nullptr) return false;
  const string_view function = make_function_name(start, end);
  if (function == "if" && end < end_ && is_blank(*end)) {
    if (const string_view program = named_by_condition(start, end); !program.empty()) {
      read_make_arguments(end, true, false);
      if (stopped_) return true;
      Word word;
      word.text = program;
      word.span = span_of(start, end);
      tree_.push_pending(word);
      return true;
    }
  }
  const bool called = function == "call" && (end == end_ || ends_word(*end));
  if (called) {
    const char* p = start + 2 + function.size() + 1;
    while (p < end && is_blank(*p)) ++p;
    const char* const name = p;
    while (p < end && (is_name_byte(*p) || *p == '-' || *p == '.')) ++p;
    Word word;
    word.text = string_view(name, static_cast<std::size_t>(p - name));
    if (word.text.empty()) word.text = function;
    word.flags = word_flag::kPseudo;
    word.span = span_of(start, end);
    tree_.push_pending(word);
  }
  read_make_arguments(end, true, called);
  if (stopped_) return true;
  while (pos_ + 1 < end_ && (*pos_ == '-' || *pos_ == '@') && (is_name_start(pos_[1]) || pos_[1] == '$' || pos_[1] == '(')) ++pos_;
  return skipped_ = true;
}

// ./$(objdir)config.status, "$(LUA)": a program by variables of make, as any that is named.
inline bool ShellReader::is_make_program(const Invocation& in) noexcept {
  const string_view text = source_of(argument(in, 0).span);
  bool any = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '`') return false;
    if (text[at] != '$') continue;
    if (at + 1 < text.size() && text[at + 1] == '{' && text.find('}', at) != string_view::npos) {  // ${CROSS}$(CC)
      at = text.find('}', at);
      any = any || in_recipe();
      continue;
    }
    const char* const end = make_reference_end(text.data() + at);
    if (end == nullptr) return false;
    any = true;
    at = static_cast<std::size_t>(end - text.data()) - 1;
  }
  return any;
}

// $(Q)-rm x, $(Q)if ..., $(if $(V),,@)for ...: what makes a recipe silent, before a sign of make's or a word of the grammar.
inline bool ShellReader::skip_make_prefix() noexcept {
  const char* const start = pos_;
  constexpr string_view kWords = "if for while until case";
  const char* const end = make_reference_end(pos_);
  if (end == nullptr || end >= end_) return false;
  pos_ = end;
  while (pos_ < end_ && (*pos_ == '-' || *pos_ == '@')) ++pos_;
  if (pos_ < end_ && ((pos_ != end && (is_name_start(*pos_) || *pos_ == '$' || *pos_ == '(')) || *pos_ == '[' || *pos_ == '(' || one_of(peek_plain(), kWords)))
    return true;
  if (pos_ == end) {
    while (pos_ < end_ && is_blank(*pos_)) ++pos_;
    if (pos_ < end_ && one_of(peek_plain(), kWords)) return true;
  }
  pos_ = start;
  return false;
}

}  // namespace tipstaff::gate::shell
