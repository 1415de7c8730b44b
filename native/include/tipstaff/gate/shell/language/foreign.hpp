// What others put into a shell's text before or after a shell sees it: variables and functions of make, expressions of
// pipelines, variables of PowerShell.
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
    if (dots ? !names_make_folder(name)
             : (!capitals || (small && name.find('_') == string_view::npos)) && name[0] != '_' && !one_of(name, "verbose gen_verbose cc cxx mkinstalldirs mkdir_p install_sh") && !names_make_folder(name))
      return nullptr;
  }
  if (p < end_ && *p == ':') {
    while (p < end_ && p - from < kLongest && *p != ')' && *p != '(' && !ascii::is_space(*p)) ++p;
  }
  return p < end_ && *p == ')' ? p + 1 : nullptr;
}

// $(patsubst %.c,%.o,$(SOURCES)): a function of make, by names that no program has; $(if $(X),y,z) is no condition of a shell, which
// has a semicolon. Returns its end, or null.
inline const char* ShellReader::make_function_end(const char* from) const noexcept {
  constexpr std::ptrdiff_t kLongest = 1024;
  const char* p = from + 2;
  while (p < end_ && p - from < 16 && ((*p >= 'a' && *p <= 'z') || *p == '-')) ++p;
  if (p >= end_ || *p != ' ') return nullptr;
  const string_view name(from + 2, static_cast<std::size_t>(p - from - 2));
  const bool condition = name == "if";
  if ((!condition && !one_of(name, "call foreach subst patsubst filter filter-out findstring wildcard addprefix addsuffix notdir abspath lastword firstword wordlist word or")) ||
      session_.functions.size() != 0 || session_.aliases.size() != 0) {
    return nullptr;
  }
  int depth = 1;
  bool comma = false;
  for (; p < end_ && p - from < kLongest; ++p) {
    if (*p == '(') ++depth;
    if (*p == ',' && depth == 1) comma = true;
    if (condition && (*p == ';' || *p == '`')) return nullptr;
    if (*p == ')' && --depth == 0) return condition && !comma ? nullptr : p + 1;
  }
  return nullptr;
}

// What a function of make gives: files of a folder of what is built, or nobody knows.
inline void ShellReader::add_make_function(Pieces& pieces, const char* end, bool quoted) noexcept {
  const string_view whole(pos_, static_cast<std::size_t>(end - pos_));
  pos_ = end;
  for (const string_view function : {"$(addprefix $(", "$(wildcard $("}) {
    if (!starts_with(whole, function)) continue;
    const string_view rest = whole.substr(function.size());
    if (names_built(rest.substr(0, rest.find(')'))) && rest.find("..") == string_view::npos) return add_literal(pieces, "build/*", word_flag::kGlob, quoted);
  }
  add_unknown(pieces, 0, quoted);
}

// The variable up to `end`: the working directory, what its name says, nothing where it is the whole word, or not known.
inline void ShellReader::add_make_reference(Pieces& pieces, const char* end, bool quoted) noexcept {
  const string_view name(pos_ + 2, static_cast<std::size_t>(end - pos_ - 3));
  pos_ = end;
  if (quoted) pieces.quoted = true;
  if (one_of(name, "CURDIR PWD") && !session_.cwd.empty()) return add_literal(pieces, session_.cwd, 0, quoted);
  if (one_of(name, "RM MAKE SHELL")) return add_text(pieces, name == "RM" ? "rm -f" : name == "MAKE" ? "make" : "sh", 0, quoted);
  if (one_of(name, "X E EXT") || ends_with(name, "EXE") || ends_with(name, "EXEEXT") || ends_with(name, "SUFFIX")) return;
  if (ends_with(name, "_EXT") && pieces.count == 1 && ends_with(pieces.items[0].text, ".")) return add_literal(pieces, "so", 0, quoted);  // *.$(SHARED_EXT)
  if (one_of(name, "TMPDIR TMP TEMP")) return add_literal(pieces, "/tmp", 0, quoted);
  const bool ends = end == end_ || ends_word(*end);
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
  if (one_of(word.text, "RM MAKE SHELL")) {
    pos_ = name;
    return false;
  }
  word.flags = word_flag::kPseudo;
  word.span = span_of(start, pos_);
  tree_.push_pending(word);
  return true;
}

// $(Q)-rm x, $(Q)if ...: what makes a recipe silent, before a sign of make's or a word of the grammar.
inline bool ShellReader::skip_make_prefix() noexcept {
  const char* const start = pos_;
  const char* const end = make_reference_end(pos_);
  if (end == nullptr || end >= end_) return false;
  pos_ = end;
  while (pos_ < end_ && (*pos_ == '-' || *pos_ == '@')) ++pos_;
  if (pos_ < end_ && ((pos_ != end && (is_name_start(*pos_) || *pos_ == '$' || *pos_ == '(')) || *pos_ == '[' || *pos_ == '(' ||
                      one_of(peek_plain(), "if for while until case")))
    return true;
  pos_ = start;
  return false;
}

// {{justfile_directory()}} or {{ .BUILD_DIR }}: what a task's runner puts in before a shell sees it, where its name tells what it is.
inline bool ShellReader::read_template(Pieces& pieces) noexcept {
  constexpr std::ptrdiff_t kFar = 64;
  if (end_ - pos_ < 6 || pos_[1] != '{') return false;
  const char* p = pos_ + 2;
  while (p < end_ && p - pos_ < kFar && *p != '}' && *p != '{' && *p != '\n') ++p;
  if (p + 1 >= end_ || *p != '}' || p[1] != '}') return false;
  string_view name(pos_ + 2, static_cast<std::size_t>(p - pos_ - 2));
  while (!name.empty() && (is_blank(name.front()) || name.front() == '.')) name.remove_prefix(1);
  while (!name.empty() && is_blank(name.back())) name.remove_suffix(1);
  if (one_of(name, "justfile_directory() justfile_dir() invocation_directory() invocation_dir() source_directory() ROOT_DIR TASKFILE_DIR USER_WORKING_DIR")) {
    if (session_.cwd.empty()) return false;
    add_literal(pieces, session_.cwd, 0, false);
  } else if (is_name(name) && names_built(name)) {
    add_literal(pieces, "build", 0, false);
  } else {
    return false;
  }
  pos_ = p + 2;
  return true;
}

// ${{ matrix.x || 'y' }}: what a pipeline puts in before a shell sees it; a shell refuses it. Returns whether it ends.
inline bool ShellReader::read_pipeline_expression(Pieces& pieces, bool quoted) noexcept {
  constexpr std::ptrdiff_t kFar = 512;
  for (const char* p = pos_ + 3; p + 1 < end_ && p - pos_ < kFar && *p != '\n'; ++p) {
    if (p[0] != '}' || p[1] != '}') continue;
    pos_ = p + 2;
    if (quoted) pieces.quoted = true;
    add_unknown(pieces, 0, quoted);
    return true;
  }
  return false;
}

// Variables, calls and escapes of PowerShell that a shell's double quotes hold: powershell -Command "... { $_.Id }". The shell
// would put in nothing or an error for those that it does not know, and other hosts hand them on: they are left for the reader of
// PowerShell, which asks about variables in the place of a program that it does not know either.
inline bool ShellReader::leave_to_powershell(Pieces& pieces) noexcept {
  const char* p = pos_ + 1;
  if (p >= end_) return false;
  if (*pos_ == '`') {
    if (!one_of(string_view(p, 1), "n r t") || (p + 1 < end_ && is_name_byte(p[1]))) return false;
    pos_ += 2;
    add_literal(pieces, string_view(pos_ - 2, 2), 0, true);
    return true;
  }
  const auto name_at = [this](const char* from) noexcept {
    const char* stop = from;
    while (stop < end_ && is_name_byte(*stop)) ++stop;
    return string_view(from, static_cast<std::size_t>(stop - from));
  };
  if (is_name_start(*p)) {
    const string_view name = name_at(p);
    Value value;
    if (session_.find(name) != nullptr || known_parameter(name, &value)) return false;
    pos_ = p + name.size();
    add_literal(pieces, string_view(p - 1, name.size() + 1), 0, true);
    return true;
  }
  if (*p != '(') return false;
  const char* q = p + 1;
  while (q < end_ && *q == ' ') ++q;
  if (q >= end_) return false;
  bool theirs = *q == '[';
  if (*q == '$' && q + 1 < end_ && is_name_start(q[1])) {
    const string_view name = name_at(q + 1);
    const char* const after = q + 1 + name.size();
    theirs = after < end_ && (*after == '.' || *after == '[' || *after == ':') && session_.find(name) == nullptr;
  } else if (*q >= 'A' && *q <= 'Z') {  // a cmdlet: verb, hyphen, noun
    const string_view verb = name_at(q);
    const char* const after = q + verb.size();
    theirs = after + 1 < end_ && *after == '-' && after[1] >= 'A' && after[1] <= 'Z';
  }
  if (!theirs) return false;
  int depth = 0;
  for (q = p; q < end_; ++q) {
    if (*q == '(') ++depth;
    if (*q == ')' && --depth == 0) break;
    if (*q == '"') return false;
  }
  if (q >= end_) return false;
  pos_ = q + 1;
  add_literal(pieces, string_view(p - 1, static_cast<std::size_t>(q - p) + 2), 0, true);
  return true;
}

}  // namespace tipstaff::gate::shell
