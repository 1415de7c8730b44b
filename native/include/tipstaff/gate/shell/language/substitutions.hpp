// What is put in for commands and sums: $(command), `command`, <(command), $((1 + 1)).
#pragma once

#include "tipstaff/gate/paths/names.hpp"
#include "tipstaff/gate/paths/parts.hpp"
#include "tipstaff/gate/shell/language/parameters.hpp"

namespace tipstaff::gate::shell {

// Where $(( or (( ends: at its "))"; null where it does not, and the parentheses are groups.
inline const char* ShellReader::arithmetic_end(const char* from) const noexcept {
  int depth = 0;
  for (const char* p = from; p < end_; ++p) {
    const char c = *p;
    if (c == '(') {
      ++depth;
    } else if (c == ')') {
      if (depth == 0) return p + 1 < end_ && p[1] == ')' ? p : nullptr;
      --depth;
    } else if (c == '\'' || c == '"' || c == '\\' || c == '\n' || c == ';') {
      // Quotes may be in arithmetic; what decides is whether it looks like a command.
      if (c == ';' && depth == 0) return nullptr;
      if (c == '\\') ++p;
    }
  }
  return nullptr;
}

// Arithmetic from pos_ to `close`: only what it substitutes matters.
inline void ShellReader::read_arithmetic(Pieces& pieces, const char* close, std::size_t closing,
                                         bool quoted) noexcept {
  const char* const begin = pos_;
  const string_view inside = trim(string_view(begin, static_cast<std::size_t>(close - begin)));
  if (to_number(inside) >= 0) {
    pos_ = close + closing;
    return add_literal(pieces, inside, 0, quoted);
  }
  if (inside.find_first_of("$`") != string_view::npos) {
    if (session_.level >= kLevels || reader_.out_of_stack()) return give_up(Unresolved::depth, span_of(begin, end_));
    ++session_.level;
    const char* const end = end_;
    end_ = close;
    Pieces ignored;
    const std::uint32_t scratch = session_.scratch.size();
    collect(ignored, Until::end, true);
    session_.scratch.cut(scratch);
    end_ = end;
    --session_.level;
  }
  if (stopped_) {
    pos_ = end_;
    return;
  }
  pos_ = close + closing;
  add_unknown(pieces, 0, quoted);
}

// What $(cat FILE) is; of a key or a credential it is marked as one, whatever it is.
inline Stream ShellReader::load_secretly(const Stream& file) noexcept {
  PathParts path;
  take_path_apart(file.text, session_.cwd, reader_.surroundings->home, false, false, &path);
  Stream content = load(file, session_.cwd);
  if (!path.too_long && is_secret(path)) content.flags |= word_flag::kCredential;
  return content;
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
             : (!capitals || (small && name.find('_') == string_view::npos)) && !one_of(name, "verbose gen_verbose") && !names_make_folder(name))
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
  if (one_of(name, "X E") || ends_with(name, "EXE") || ends_with(name, "EXEEXT") || ends_with(name, "SUFFIX")) return;
  if (one_of(name, "TMPDIR TMP TEMP")) return add_literal(pieces, "/tmp", 0, quoted);
  const bool ends = end == end_ || ends_word(*end);
  if (!quoted && pieces.count == 0 && ends && !names_make_folder(name)) return;
  // ./$(PROG): what was built here, by whatever name.
  if (ends && pieces.count == 1 && one_of(pieces.items[0].text, "./ ./build/ build/") && is_name(name)) return add_literal(pieces, name, 0, quoted);
  if (names_built(name)) return add_literal(pieces, "build", 0, quoted);
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

// The commands of $( ... ), read where they are; pos_ is after the parenthesis.
inline Stream ShellReader::read_substitution() noexcept {
  const char* const start = pos_;
  if (session_.level >= kLevels || reader_.out_of_stack()) {
    give_up(Unresolved::depth, span_of(start, end_));
    return {};
  }
  ++session_.level;
  Capture capture;
  Capture* const outer_capture = capture_;
  const Frame outer_frame = frame_;
  const Stream outer_output = output_, outer_input = input_;
  const std::uint32_t outer_head = head_, outer_tail = tail_, outer_from = pipe_from_;
  const bool outer_merge = merge_;
  capture_ = &capture;
  pipe_from_ = kNone;
  merge_ = false;
  frame_.via |= via::kSubstitution;
  frame_.node = add_node(NodeKind::substitution, span_of(start, start), frame_.node);
  const std::uint32_t node = frame_.node;
  const Session::Mark mark = session_.enter();
  const std::uint32_t ended = read_list(stop::kParen);
  session_.leave(mark);
  if (node != kNone) tree_.node(node).span = span_of(start, pos_);
  if (ended != stop::kParen && !stopped_) uncertain(Unresolved::syntax, span_of(start, pos_), frame_.carrier);
  frame_ = outer_frame;
  capture_ = outer_capture;
  output_ = outer_output;
  input_ = outer_input;
  head_ = outer_head;
  tail_ = outer_tail;
  pipe_from_ = outer_from;
  merge_ = outer_merge;
  --session_.level;
  if (capture.stream.kind == Stream::file) return load_secretly(capture.stream);
  return capture.stream;
}

// `commands`: its text loses one level of backslashes, so it is read as a text of its own.
inline void ShellReader::read_back_ticks(Pieces& pieces, bool quoted) noexcept {
  const char* const start = pos_ + 1;
  const char* p = start;
  bool escapes = false;
  while (p < end_ && *p != '`') {
    if (*p == '\\') {
      escapes = true;
      ++p;
    }
    ++p;
  }
  if (p >= end_) {
    p = end_;
    uncertain(Unresolved::syntax, span_of(start, end_), frame_.carrier);
  }
  const string_view inside(start, static_cast<std::size_t>(p - start));
  pos_ = p < end_ ? p + 1 : end_;
  string_view text = inside;
  const Span span = span_of(start, p);
  if (escapes) {
    std::size_t room = 0;
    char* out = tree_.draft(&room);
    if (room < inside.size()) {
      tree_.set_full();
      return give_up(Unresolved::limit, span);
    }
    std::size_t n = 0;
    for (std::size_t i = 0; i < inside.size(); ++i) {
      char c = inside[i];
      if (c == '\\' && i + 1 < inside.size() &&
          (inside[i + 1] == '`' || inside[i + 1] == '\\' || inside[i + 1] == '$' ||
           (quoted && inside[i + 1] == '"'))) {
        c = inside[++i];
      }
      out[n++] = c;
    }
    text = tree_.keep(n);
  }
  Capture capture;
  Nested options;
  options.via = via::kSubstitution;
  options.capture = &capture;
  Invocation in;
  in.node = frame_.node;
  in.carrier = frame_.carrier;
  in.via = frame_.via;
  in.cwd = session_.cwd;
  in.command = frame_.carrier;
  nested(in, text, span, options);
  const Stream stream =
      capture.stream.kind == Stream::file ? load_secretly(capture.stream) : capture.stream;
  add_stream(pieces, stream, quoted);
}

// <(commands): a file whose content is what they write. >(commands): a file that they read.
inline void ShellReader::read_process_substitution(Pieces& pieces) noexcept {
  const bool output = *pos_ == '>';
  if (pos_ + 1 >= end_ || pos_[1] != '(') return;
  pos_ += 2;
  const Stream outer = input_;
  if (output && input_.kind == Stream::none) input_.kind = Stream::unknown;
  const std::uint32_t made = tree_.command_count();
  Stream stream = read_substitution();
  input_ = outer;
  if (stopped_) return;
  if (output && made < tree_.command_count()) {
    tree_.command(made).fed = true;
    fed_ = true;
  }
  constexpr string_view kPrefix = "/dev/fd/63.";
  const char digits[] = {static_cast<char>('0' + session_.made_files / 10 % 10),
                         static_cast<char>('0' + session_.made_files % 10)};
  ++session_.made_files;
  string_view path = tree_.copy(kPrefix);
  path = tree_.join(path, string_view(digits, 2));
  if (!output) {
    if (stream.kind == Stream::none) stream.kind = Stream::unknown;
    remember_file({}, path, stream, false);
  }
  add_literal(pieces, path, word_flag::kPseudo | word_flag::kTemporary, false);
}

}  // namespace tipstaff::gate::shell
