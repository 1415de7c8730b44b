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
  if (end_ - from < 4 || from[0] != '$' || from[1] != '(' || defines_names()) return nullptr;
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
  if (p >= end_ || *p != ' ' || defines_names()) return nullptr;
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

// The arguments of the function of make from `start` to `end`. Where it is in the place of a program, those that make puts there are commands:
// $(if $(X),rm a,rm b), $(foreach d,$(DIRS),make -C $(d);), $(call quiet,rm a). Of others only what they substitute matters.
inline void ShellReader::read_make_arguments(const char* start, const char* end, bool program, bool words) noexcept {
  const string_view name = make_function_name(start, end);
  const std::uint32_t first = !program || words ? 1 : name == "foreach" ? 2 : name == "if" ? 1 : one_of(name, "or and") ? 0 : kNone;
  const char* from = start + 2 + name.size() + 1;
  int depth = 0;
  std::uint32_t index = 0;
  for (const char* p = from;; ++p) {
    depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
    if (depth >= 0 && (*p != ',' || depth != 0)) continue;
    string_view text = trim(string_view(from, static_cast<std::size_t>(p - from)));
    while (text.size() > 1 && holds("@-+", text[0]) && (is_name_start(text[1]) || text[1] == '$')) text.remove_prefix(1);
    if (text.size() > 2 && text.find('"', 1) == text.size() - 1 && text[0] == '"') text = text.substr(1, text.size() - 2);  // $(call run,"rm -rf x")
    const bool joins = text.find_first_of(";|&") != string_view::npos;
    const bool runs = program && first != kNone && index >= first && (joins || begins_command(text) || (!words && starts_with(text, "$(")));
    const bool substitutes = text.find("$(") != string_view::npos || holds(text, '`');
    if (runs || substitutes) {
      Nested options;
      options.via = via::kConditional;
      Invocation in = for_carried_code();
      nested(in, runs ? tree_.copy(text) : tree_.join(tree_.join(tree_.copy(": \""), text), "\""), in.span, options);
    }
    if (depth < 0) break;
    from = p + 1;
    ++index;
  }
}

// What variables hold by custom: $(RM), $(MAKE), $(am__rm_rf).
inline string_view known_make_program(string_view name) noexcept {
  if (name == "MAKE") return "make";
  if (name == "SHELL") return "sh";
  if (one_of(name, "RM RM_F am__rm_f")) return "rm -f";
  return one_of(name, "RM_RF RMRF RM_R am__rm_rf") ? "rm -rf" : "";
}

// A variable of make: the working directory, what its name says, nothing where it is the whole word, or not known. In the place of a
// program it is called by its name.
inline void ShellReader::give_make_reference(string_view name, string_view before, bool quoted, bool program, bool ends, eval::Value* value) noexcept {
  if (name.size() > 1) name = name.substr(0, name.find(':'));  // $(OBJS:.o=.d)
  eval::Store& store = run().store();
  const auto give = [&](string_view text, std::uint16_t flags = 0) noexcept {
    value->text = store.intern(text);
    value->origin = flags;
  };
  value->text = eval::kUnset;
  if (one_of(name, "CURDIR PWD") && !session_.cwd.empty()) return give(session_.cwd);
  if (const string_view known = known_make_program(name); !known.empty()) return give(known);
  if (program && ends && before.empty()) return give(name, word_flag::kPseudo);
  if (one_of(name, "X E EXT") || ends_with(name, "EXE") || ends_with(name, "EXEEXT") || ends_with(name, "SUFFIX")) return;
  if (one_of(name, "DEPDIR am__dirstamp")) return give(name == "DEPDIR" ? ".deps" : ".dirstamp");
  if (one_of(name, "O OBJEXT OBJ") && ends_with(before, "*.")) return give("o");  // *.$(OBJEXT)
  if (ends_with(name, "_EXT") && ends_with(before, ".")) return give("so");       // *.$(SHARED_EXT)
  if (one_of(name, "TMPDIR TMP TEMP")) return give(name == "TMP" && ends && before.empty() ? "/tmp/made" : "/tmp");  // a recipe's own
  // dd of=$(IMG): an image that is made.
  if (before == "of=" && (ends_with(name, "IMG") || ends_with(name, "IMAGE") || ends_with(name, "ISO"))) return give("disk.img");
  // ./$(PROG): what was built here, by whatever name.
  if (ends && one_of(before, "./ ./build/ build/") && is_name(name)) return give(name);
  if (names_built(name)) return give("build");
  if (!quoted && before.empty() && ends && !names_make_folder(name) && name[0] != '_') return;
  // Where things are installed; of one project's own folders the last part is its name.
  const bool first = before.empty() || before == kUnknown;
  const bool own = ascii::one_of(name, "docdir htmldir pkgdatadir pkglibdir pkgincludedir pkglibexecdir pkgconfdir pkgsysconfdir");
  const bool shared = ascii::one_of(name, "destdir prefix exec_prefix bindir sbindir libdir libexecdir includedir datadir datarootdir mandir man1dir man3dir "
                                          "man5dir man7dir man8dir infodir sysconfdir localstatedir localedir manprefix install_root buildroot appdir icondir");
  value->text = own ? store.intern("\x01/package") : eval::kOther;
  value->origin = first && (own || shared) ? word_flag::kInstalled : 0;
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

// ./$(objdir)config.status, "$(LUA)": a program by variables of make, as any that is named.
inline bool ShellReader::is_make_program(const Invocation& in) noexcept {
  const string_view text = source_of(argument(in, 0).span);
  bool any = false;
  end_ = text.data() + text.size();
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

}  // namespace tipstaff::gate::shell
