// Redirections, here-documents and here-strings; the files that a text writes and then uses.
#pragma once

#include "tipstaff/gate/shell/language/functions.hpp"

namespace tipstaff::gate::shell {

// A path seen from a directory, without . and ..; empty where it is not known.
inline string_view ShellReader::resolve(string_view cwd, string_view path) noexcept {
  if (path.empty() || holds(path, kUnknownPart)) return {};
  if (path[0] == '~' && (path.size() == 1 || path[1] == '/')) {
    cwd = reader_.surroundings->home;
    path.remove_prefix(path.size() == 1 ? 1 : 2);
    if (cwd.empty()) return {};
  } else if (path[0] == '/') {
    cwd = "/";
  } else if (cwd.empty()) {
    return {};
  }
  std::size_t room = 0;
  char* out = tree_.draft(&room);
  if (room < cwd.size() + path.size() + 2) {
    tree_.set_full();
    return {};
  }
  std::size_t n = 0;
  out[n++] = '/';
  const string_view parts[] = {cwd, path};
  for (const string_view part : parts) {
    std::size_t at = 0;
    while (at < part.size()) {
      std::size_t slash = part.find('/', at);
      if (slash == string_view::npos) slash = part.size();
      const string_view name = part.substr(at, slash - at);
      if (name == "..") {
        while (n > 1 && out[n - 1] != '/') --n;
        if (n > 1) --n;
        while (n > 1 && out[n - 1] == '/') --n;
      } else if (!name.empty() && name != ".") {
        if (n > 1) out[n++] = '/';
        std::memcpy(out + n, name.data(), name.size());
        n += name.size();
      }
      at = slash + 1;
    }
  }
  return tree_.keep(n);
}

// The one word at pos_, as a redirection takes it.
inline Word ShellReader::read_one_word() noexcept {
  skip_blanks();
  Word word;
  const std::uint32_t mark = tree_.pending();
  if (pos_ < end_ && (!ends_word(*pos_) || ((*pos_ == '<' || *pos_ == '>') && pos_ + 1 < end_ && pos_[1] == '('))) {
    read_word();
  }
  if (tree_.pending() > mark) {
    word = tree_.pending_word(mark);
  } else {
    word.span = span_of(pos_, pos_);
  }
  tree_.drop_pending(mark);
  return word;
}

inline void ShellReader::read_redirection(Redirections& out) noexcept {
  const char* p = pos_;
  int descriptor = -1;
  while (p < end_ && is_digit(*p)) descriptor = *p++ - '0';
  bool both = false;
  if (*p == '&') {
    both = true;
    ++p;
  }
  const char kind = *p++;
  const char next = p < end_ ? *p : '\0';
  Redirection made{Redirection::read, false, Word{}};
  if (kind == '<') {
    if (next == '<') {
      ++p;
      if (p < end_ && *p == '<') {
        pos_ = p + 1;
        skip_blanks();
        const char* const start = pos_;
        Pieces pieces;
        const std::uint32_t scratch = session_.scratch.size();
        if (pos_ < end_ && *pos_ == '~') read_tilde(pieces);
        collect(pieces, Until::word, false);
        const Value value = one_text(pieces);
        session_.scratch.cut(scratch);
        out.has_input = true;
        out.input = Stream{};
        out.input.kind = Stream::known;
        out.input.text = value.text;
        out.input.flags = value.flags & kPublicFlags;
        out.input.decoded = (value.flags & word_flag::kDecoded) != 0;
        if (value.text == kUnknown) {
          out.input.kind = (value.flags & word_flag::kNetwork) != 0 ? Stream::remote : Stream::unknown;
        }
        out.input.span = span_of(start, pos_);
        return;
      }
      const bool strip = p < end_ && *p == '-';
      pos_ = strip ? p + 1 : p;
      return read_here_document(out, strip);
    }
    if (next == '&') {
      pos_ = p + 1;
      read_one_word();
      return;
    }
    if (next == '>') ++p;
  } else {
    made.kind = Redirection::write;
    made.output = both || descriptor == 1 || descriptor < 0;
    if (next == '>') {
      made.kind = Redirection::append;
      ++p;
    } else if (next == '|') {
      ++p;
    } else if (next == '&') {
      ++p;
      both = true;
    }
  }
  pos_ = p;
  const bool duplicate = both && p[-1] == '&';
  made.target = read_one_word();
  const string_view target = made.target.text;
  if (duplicate && (target == "-" || to_number(target) >= 0 || (ends_with(target, "-") && target.size() < 4))) return;
  if (target.empty() && made.target.flags == 0) {
    if (!stopped_) uncertain(Unresolved::syntax, span_of(pos_, pos_), frame_.carrier);
    return;
  }
  if (made.kind == Redirection::read && descriptor <= 0) {
    out.has_input = true;
    out.input = Stream{};
    out.input.kind = Stream::file;
    out.input.text = made.target.text;
    out.input.flags = made.target.flags;
    out.input.span = made.target.span;
    if (made.target.has(word_flag::kUnknown)) out.input.kind = Stream::unknown;
  }
  if (out.count < Redirections::kMost) {
    out.items[out.count++] = made;
  } else {
    uncertain(Unresolved::limit, made.target.span, frame_.carrier);
  }
}

// << word: its text is after the end of the line.
inline void ShellReader::read_here_document(Redirections& out, bool strip_tabs) noexcept {
  skip_blanks();
  // The delimiter is not expanded; any quote in it makes the text literal.
  const char* p = pos_;
  bool literal = false;
  string_view delimiter;
  while (p < end_ && !ends_word(*p)) {
    const char c = *p;
    if (c == '\'' || c == '"') {
      literal = true;
      const char* q = p + 1;
      while (q < end_ && *q != c) ++q;
      delimiter = tree_.join(delimiter, string_view(p + 1, static_cast<std::size_t>(q - p - 1)));
      p = q < end_ ? q + 1 : q;
    } else if (c == '\\' && p + 1 < end_) {
      literal = true;
      delimiter = tree_.join(delimiter, string_view(p + 1, 1));
      p += 2;
    } else {
      const char* q = p;
      while (q < end_ && !ends_word(*q) && *q != '\'' && *q != '"' && *q != '\\') ++q;
      if (q == p) ++q;  // a backslash that ends the text
      delimiter = tree_.join(delimiter, string_view(p, static_cast<std::size_t>(q - p)));
      p = q;
    }
  }
  pos_ = p;
  if (line_end_ == nullptr || line_end_ < pos_) {
    // Where this line ends: not inside quotes, but quotes that do not close on this side of a parenthesis that was
    // opened before belong to what is around it.
    int depth = 0;
    const char* end = pos_;
    char quote = 0;
    bool loose = false;
    for (; end < end_; ++end) {
      const char c = *end;
      if (quote != 0) {
        if (c == '\\' && quote == '"') ++end;
        else if (c == quote) quote = 0;
      } else if (c == '\n') {
        break;
      } else if (loose) {
        continue;
      } else if (c == '\\') {
        ++end;
      } else if (c == '\'' || c == '"' || c == '`') {
        quote = c;
      } else if (c == '(') {
        ++depth;
      } else if (c == ')' && --depth < 0) {
        loose = true;
      }
    }
    if (end >= end_) {
      // A quote that never closes: take the line as it is.
      const auto* newline =
          static_cast<const char*>(std::memchr(pos_, '\n', static_cast<std::size_t>(end_ - pos_)));
      end = newline == nullptr ? end_ : newline;
    }
    line_end_ = end;
    resume_ = end < end_ ? end + 1 : end_;
  }
  const char* const begin = resume_;
  const char* line = begin;
  const char* body_end = end_;
  bool found = false, tabs = false;
  while (line < end_) {
    const auto* newline = static_cast<const char*>(std::memchr(line, '\n', static_cast<std::size_t>(end_ - line)));
    const char* const stop = newline == nullptr ? end_ : newline;
    const char* from = line;
    if (strip_tabs) {
      while (from < stop && *from == '\t') ++from;
      tabs = tabs || from != line;
    }
    const char* to = stop;
    while (to > from && to[-1] == '\r') --to;
    if (string_view(from, static_cast<std::size_t>(to - from)) == delimiter) {
      body_end = line;
      resume_ = newline == nullptr ? end_ : newline + 1;
      found = true;
      break;
    }
    line = newline == nullptr ? end_ : newline + 1;
  }
  if (!found) resume_ = end_;
  string_view body(begin, static_cast<std::size_t>(body_end - begin));
  const Span span = span_of(begin, body_end);
  add_node(NodeKind::here_document, span, frame_.node, false);
  out.has_input = true;
  out.input = Stream{};
  out.input.kind = Stream::known;
  out.input.span = span;
  out.input.text = body;
  if (tabs) {
    std::size_t room = 0;
    char* text = tree_.draft(&room);
    if (room < body.size()) {
      tree_.set_full();
      return;
    }
    std::size_t n = 0;
    bool line_start = true;
    for (const char c : body) {
      if (line_start && c == '\t') continue;
      line_start = c == '\n';
      text[n++] = c;
    }
    out.input.text = tree_.keep(n);
  }
  if (literal || body.find_first_of("$`\\") == string_view::npos) return;
  // Substitutions in it run.
  if (session_.level >= kLevels || reader_.out_of_stack()) return give_up(Unresolved::depth, span);
  ++session_.level;
  Pieces pieces;
  const std::uint32_t scratch = session_.scratch.size();
  if (out.input.text.data() == body.data()) {
    const char* const end = end_;
    const char* const at = pos_;
    const char* const line_end = line_end_;
    const char* const resume = resume_;
    pos_ = begin;
    end_ = body_end;
    line_end_ = resume_ = nullptr;
    collect(pieces, Until::end, true);
    end_ = end;
    pos_ = stopped_ ? end : at;
    line_end_ = line_end;
    resume_ = resume;
    if (pieces.count != 0) {
      const Value value = one_text(pieces);
      out.input.text = value.text;
      out.input.flags = static_cast<std::uint16_t>(value.flags & kPublicFlags & ~word_flag::kQuoted);
    } else {
      out.input.text = {};
    }
  } else {
    ShellReader inner(reader_, session_, Code{out.input.text, span, false}, frame_);
    inner.collect(pieces, Until::end, true);
    const Value value = inner.one_text(pieces);
    out.input.text = value.text;
    out.input.flags = static_cast<std::uint16_t>(value.flags & kPublicFlags & ~word_flag::kQuoted);
  }
  session_.scratch.cut(scratch);
  --session_.level;
}

// A pseudo command on a file.
inline void ShellReader::emit_file(string_view program, const Word& path, bool append, std::uint32_t carrier,
                                   std::uint32_t via, string_view cwd, bool empty) noexcept {
  const std::uint32_t first = tree_.add_word(path);
  if (first == kNone) return;
  Command command;
  command.program = program;
  command.name.text = program;
  command.name.span = path.span;
  command.name.flags = word_flag::kPseudo;
  command.first_word = first;
  command.word_count = 1;
  if (append || empty) {
    Word flag;
    flag.text = append ? "--append" : "--empty";
    flag.span = path.span;
    flag.flags = word_flag::kPseudo;
    if (tree_.add_word(flag) != kNone) ++command.word_count;
  }
  command.cwd = cwd;
  command.carrier = carrier;
  command.via = via;
  command.span = path.span;
  command.node = add_node(NodeKind::redirection, path.span, frame_.node);
  const std::uint32_t index = tree_.add_command(command);
  if (index != kNone && command.node != kNone) tree_.node(command.node).command = index;
}

// Programs that print what their files hold, or part of it.
inline bool prints_its_files(string_view program) noexcept {
  const Output prints = find_program(program).output;
  return prints == Output::filter || prints == Output::cat || prints == Output::base64 || prints == Output::reverse ||
         one_of(program, "jq yq gojq xmllint xmlstarlet column fmt nl paste join comm expand unexpand awk gawk sed iconv prettier tidy");
}

// mkfifo /tmp/f; cat /tmp/f | sh | nc host 9 > /tmp/f: a pipe is not emptied.
inline bool ShellReader::is_new_pipe(const Word& target, std::uint32_t before) const noexcept {
  for (std::uint32_t at = before, steps = 0; at-- > 0 && steps < 64; ++steps) {
    const Command other = tree_.command(at);
    if (!one_of(other.program, "mkfifo mknod")) continue;
    for (std::uint32_t i = 0; i < other.word_count; ++i)
      if (tree_.word(other.first_word + i).text == target.text) return true;
  }
  return false;
}

// cat FILE | sort > FILE, sed s/a/b/ FILE | tee FILE: the file is emptied while, or before, it is read.
inline bool ShellReader::reads_before(const Invocation& in, const Word& target) const noexcept {
  if (target.text.size() < 2 || target.has(word_flag::kUnknown) || starts_with(target.text, "/dev/")) return false;
  std::uint32_t at = in.pipe_from;
  for (std::uint32_t steps = 0; at != kNone && steps < 8; ++steps) {
    const Command other = tree_.command(at);
    if (other.program == "sponge") return false;  // soaks up all before it goes on
    for (std::uint32_t i = 0; i < other.word_count && prints_its_files(other.program); ++i)
      if (tree_.word(other.first_word + i).text == target.text) return !is_new_pipe(target, at);
    at = other.pipe_from;
  }
  return false;
}

// sort FILE > FILE, tr a b < FILE > FILE: the shell empties the file before the program reads it.
inline bool ShellReader::empties_what_it_reads(const Invocation& in, const Redirections& redirections) noexcept {
  if (in.command == kNone) return false;
  for (std::uint32_t i = 0; i < redirections.count && in.pipe_from != kNone; ++i) {
    const Redirection& item = redirections.items[i];
    if (item.kind == Redirection::write && item.output && reads_before(in, item.target)) return true;
  }
  const auto same = [](const Word& one, const Word& other) noexcept { return one.text.size() > 1 && one.text == other.text && !one.has(word_flag::kUnknown); };
  for (std::uint32_t i = 0; i < redirections.count; ++i) {
    const Redirection& item = redirections.items[i];
    if (item.kind != Redirection::write || !item.output || starts_with(item.target.text, "/dev/")) continue;
    for (std::uint32_t k = 0; k < redirections.count; ++k)
      if (redirections.items[k].kind == Redirection::read && same(redirections.items[k].target, item.target)) return true;
    if (!prints_its_files(tree_.command(in.command).program)) continue;
    for (std::uint32_t k = 1; k < in.count; ++k)
      if (same(argument(in, k), item.target)) return true;
  }
  return false;
}

// Whether it is certain that nothing is written.
inline bool empties(const Stream& output) noexcept {
  return output.kind == Stream::none || (output.kind == Stream::known && trim(output.text).empty()) ||
         (output.kind == Stream::file && output.text == "/dev/null");
}

inline void ShellReader::emit_redirections(const Redirections& redirections, std::uint32_t carrier, std::uint32_t via,
                                           const Stream& output) noexcept {
  for (std::uint32_t i = 0; i < redirections.count; ++i) {
    const Redirection& item = redirections.items[i];
    const string_view target = item.target.text;
    if (target == "/dev/null" || target == "/dev/stderr" || target == "/dev/stdout" || target == "/dev/stdin") continue;
    if (item.kind == Redirection::read && (item.target.flags & word_flag::kPseudo) != 0) continue;
    const bool append = item.kind == Redirection::append;
    const bool empty = item.kind == Redirection::write && item.output && empties(output);
    emit_file(item.kind == Redirection::read ? "@read" : "@write", item.target, append, carrier, via, session_.cwd, empty);
    if (item.kind != Redirection::read && item.output) {
      remember_file(session_.cwd, target, output, append);
      run_at_startup(target, output, item.target.span);
    }
  }
}

inline void ShellReader::remember_file(string_view cwd, string_view path, const Stream& content,
                                       bool append_to) noexcept {
  const string_view resolved = resolve(cwd, path);
  const string_view key = resolved.empty() ? path : resolved;
  if (key.empty()) return;
  WrittenFile file{key, content};
  if (file.content.kind == Stream::none) {
    file.content.kind = Stream::known;
    file.content.text = {};
  }
  if (append_to) {
    const WrittenFile* old = session_.find_file(key);
    Stream all;
    if (old != nullptr) {
      all = old->content;
    } else {
      Stream before;
      before.kind = Stream::file;
      before.text = key;
      all = load(before, cwd);
      // What cannot be read may not be there: what is added is all that is known.
      if (all.kind != Stream::known) all = Stream{};
    }
    append(all, content);
    file.content = all;
  }
  session_.add_file(file);
}

}  // namespace tipstaff::gate::shell
