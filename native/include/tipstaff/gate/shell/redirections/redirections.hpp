// Redirections and here-strings.
#pragma once

#include "tipstaff/gate/shell/language/functions.hpp"
#include "tipstaff/gate/shell/redirections/here_documents.hpp"
#include "tipstaff/gate/shell/redirections/written_files.hpp"

namespace tipstaff::gate::shell {

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

// Whether `<word` at `from`, of letters alone, is closed by the `>` at `mark`, with further words between them at most.
inline bool ShellReader::names_placeholder(const Word& from, const char* mark) const noexcept {
  if (from.text.empty() || !code_.verbatim) return false;
  const char* const begin = code_.text.data() + (from.span.start - code_.origin.start);
  if (begin <= code_.text.data() || begin > mark || begin[-1] != '<' || mark == begin) return false;
  for (const char* p = begin; p < mark; ++p) {
    if (!is_name_byte(*p) && *p != '-' && *p != ' ' && *p != '/') return false;
  }
  return mark[-1] != ' ';
}

inline void ShellReader::read_redirection(Redirections& out) noexcept {
  const char* const mark = pos_;
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
  Redirection made{Redirection::read, false, Word{}, descriptor};
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
    if (next == '>') {
      ++p;
      if (p < end_ && *p == ' ') ++p;
      const string_view opened(p, static_cast<std::size_t>(end_ - p));
      // A device that is opened so is written to; an address is both, and judged by what uses it.
      if (starts_with(opened, "/dev/") && !starts_with(opened, "/dev/tcp/") && !starts_with(opened, "/dev/udp/")) made.kind = Redirection::write;
    }
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
  // gh pr view <number>, ls <owner>/<name>: a placeholder of a text. No shell takes the line, or finds the file.
  const bool placeholder = kind == '>' && out.count != 0 && out.items[out.count - 1].kind == Redirection::read &&
                           names_placeholder(out.items[out.count - 1].target, mark);
  const bool duplicate = both && p[-1] == '&';
  made.target = read_one_word();
  const string_view target = made.target.text;
  if (duplicate && kind == '>' && source_of(made.target.span).find("COPROC") != string_view::npos) {
    out.feeds = true;
    return;
  }
  if (duplicate && (target == "-" || to_number(target) >= 0 || (ends_with(target, "-") && target.size() < 4))) return;
  if ((code_.verbatim && one_of(trim(string_view(p, static_cast<std::size_t>(pos_ - p))), ". ..")) || (placeholder && (target.empty() || target == "/"))) return;  // nobody writes into a folder
  if (target.empty() && kind == '>' && pos_ < end_ && *pos_ == '<') return;  // > <file>: no shell takes it
  if (target.empty() && pos_ > p && pos_[-1] == ')') return;  // > $(NAME) of a recipe
  if (target.empty() && kind == '<' && mark > code_.text.data() && mark[-1] == '$') return;  // $< of a recipe
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

// Whether it is certain that nothing is written.
inline bool empties(const Stream& output) noexcept {
  return output.kind == Stream::none || (output.kind == Stream::known && trim(output.text).empty()) ||
         (output.kind == Stream::file && output.text == "/dev/null");
}

// Whether the text uses an open file by its number: >&3, <&3, /dev/fd/3, read -u 3.
inline bool ShellReader::uses_descriptors() noexcept {
  if (looked_in_ == code_.text.data()) return descriptors_used_;  // looked for once
  const string_view text = code_.text;
  looked_in_ = text.data();
  descriptors_used_ = text.find("/fd/") != string_view::npos || text.find(" -u") != string_view::npos;
  for (std::size_t at = text.find('&'); at != string_view::npos && !descriptors_used_; at = text.find('&', at + 1)) {
    const char after = at + 1 < text.size() ? text[at + 1] : ' ';
    descriptors_used_ = at != 0 && (text[at - 1] == '>' || text[at - 1] == '<') && !holds("12-/", after);
  }
  return descriptors_used_;
}

inline void ShellReader::emit_redirections(const Redirections& redirections, std::uint32_t carrier, std::uint32_t via,
                                           const Stream& output) noexcept {
  for (std::uint32_t i = 0; i < redirections.count; ++i) {
    const Redirection& item = redirections.items[i];
    const string_view target = item.target.text;
    if (target == "/dev/null" || target == "/dev/stderr" || target == "/dev/stdout" || target == "/dev/stdin") continue;
    if (item.kind == Redirection::read && (item.target.flags & word_flag::kPseudo) != 0) continue;
    const bool append = item.kind == Redirection::append;
    // Of several files only the last one gets what is printed.
    bool last = true;
    for (std::uint32_t k = i + 1; k < redirections.count; ++k) last = last && !(redirections.items[k].kind != Redirection::read && redirections.items[k].output);
    // Whether somebody listens there is all that is asked: (exec 3<>/dev/tcp/db/5432), echo > /dev/tcp/db/5432
    if (starts_with(target, "/dev/tcp/") || starts_with(target, "/dev/udp/")) {
      const bool asks = redirections.shell_itself ? redirections.idle && redirections.passing && item.descriptor > 2 && !uses_descriptors()
                        : item.kind == Redirection::read ? redirections.idle && (via & via::kSubstitution) == 0
                                                         : item.output && last && empties(output);
      emit_file(item.kind == Redirection::read ? "@read" : "@write", item.target, append && !asks, carrier, via, session_.cwd, asks);
      continue;
    }
    const bool empty = item.kind == Redirection::write && (item.output ? empties(output) || !last : redirections.idle && (item.descriptor != 2 || carrier == frame_.carrier));
    emit_file(item.kind == Redirection::read ? "@read" : "@write", item.target, append, carrier, via, session_.cwd, empty);
    if (item.kind != Redirection::read && item.output) {
      remember_file(session_.cwd, target, output, append);
      run_at_startup(target, output, item.target.span);
    }
  }
}

}  // namespace tipstaff::gate::shell
