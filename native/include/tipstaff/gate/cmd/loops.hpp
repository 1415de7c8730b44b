// What cmd.exe reads more than once: loops, for each of what they run over; labels, for each call; batch files that the
// same code writes.
#pragma once

#include "tipstaff/gate/cmd/reader.hpp"

namespace tipstaff::gate::cmd {

// for [/d | /r root | /f "options" | /l] %i in (set) do command: after `for`.
inline void Batch::loop(std::uint32_t level) noexcept {
  std::string_view name;
  Loop loop;
  for (bool found = false; !found;) {
    skip_blanks();
    if (at_ >= text_.size() || ends_command()) return;
    const std::size_t start = at_;
    bool in_quotes = false;
    while (at_ < text_.size() && text_[at_] != '\n' && (in_quotes || (!ascii::is_space(text_[at_]) && text_[at_] != '('))) {
      if (text_[at_++] == '"') in_quotes = !in_quotes;
    }
    if (at_ == start) return;
    std::string_view part = text_.substr(start, at_ - start);
    if (ascii::equals(part, "in")) {
      found = true;
    } else if (part[0] == '%' && part.size() > 1) {
      name = part.substr(part.size() - 1);
    } else if (part.size() == 2 && part[0] == '/') {
      loop.kind = ascii::lower(part[1]);
    } else if (loop.kind == 'f') {
      loop.whole = part.find("tokens=*") != std::string_view::npos || part.find("delims=\"") != std::string_view::npos;
    } else {
      if (part.size() > 1 && part[0] == '"') part = part.substr(1, part.size() - 2);
      loop.root = Known{part, code_.at(start, at_), false, 0};
      note_unknown(&loop.root);
    }
  }
  skip_blanks();
  if (peek() != '(') return;
  ++at_;
  items_of(&loop);
  if (level >= kLevels) return deeper(level);
  const std::size_t body = at_;
  for (std::uint32_t i = 0; i < loop.count; ++i) {
    if (!name.empty()) bind(name, loop.items[i]);
    at_ = body;
    statement(level + 1);
    const std::size_t size = at_ - body + 16;
    if (i + 1 == loop.count) return;
    if (size > reader_.nested_bytes) {  // no more of them are followed
      tree_.add_uncertainty(Unresolved::limit, code_.at(body, at_), frame_.carrier);
      return;
    }
    reader_.nested_bytes -= size;
  }
}

// What a loop runs over, after its bracket.
inline void Batch::items_of(Loop* loop) noexcept {
  const std::size_t start = at_;
  const auto add = [loop](const Known& item) noexcept {
    if (loop->count < Loop::kMost) loop->items[loop->count++] = item;
  };
  bool more = false;
  ++depth_;
  while (at_ < text_.size() && peek() != ')') {
    const std::size_t before = at_;
    Known item;
    if (word(&item)) {
      if (loop->count + 1 == Loop::kMost) more = true;
      if (loop->count + 1 < Loop::kMost) add(item);
    }
    if (peek() == '|' || peek() == '&' || peek() == '\n') ++at_;
    if (at_ == before) ++at_;
  }
  --depth_;
  const std::size_t stop = at_;
  if (at_ < text_.size()) ++at_;
  const Span span = code_.at(start, stop);
  const std::string_view set = ascii::trim(text_.substr(start, stop - start));
  const std::size_t inner = static_cast<std::size_t>(set.data() - text_.data()) + 1;
  const bool quoted = set.size() > 2 && set.back() == set[0];
  if (loop->kind == 'f') {
    loop->count = 0;
    const std::string_view inside = quoted ? set.substr(1, set.size() - 2) : std::string_view();
    if (quoted && (set[0] == '\'' || set[0] == '`')) {  // what a command prints
      read_code(reader_, Dialect::cmd, Code{inside, code_.at(inner, inner + inside.size()), code_.verbatim}, frame_);
      add(listing(inside, span));
    } else if (quoted && set[0] == '"') {
      const std::size_t size = loop->whole ? inside.size() : inside.find(' ');
      Known text{inside.substr(0, size), span, false, 0};
      note_unknown(&text);
      add(text);
    } else {
      add(unknown_text(span));
    }
  } else if (loop->kind == 'r') {
    for (std::uint32_t i = 0; i < loop->count; ++i) {
      if (!loop->root.text.empty()) loop->items[i] = joined(tree_, loop->root, ends_as_folder(loop->root.text) ? "" : "\\", loop->items[i]);
      loop->items[i].flags |= word_flag::kGlob;
    }
  } else if (loop->kind == 'l') {
    if (loop->count > 1) loop->count = 1;
  }
  if (more || loop->count == 0) add(unknown_text(span));
}

// What `dir` prints, as a glob; of other commands nothing is known.
inline Known Batch::listing(std::string_view command, Span span) noexcept {
  std::size_t at = 0;
  std::string_view folder;
  bool first = true, below = false;
  while (at < command.size()) {
    while (at < command.size() && ascii::is_space(command[at])) ++at;
    std::size_t stop = at;
    bool in_quotes = false;
    while (stop < command.size() && (in_quotes || !ascii::is_space(command[stop]))) {
      if (command[stop++] == '"') in_quotes = !in_quotes;
    }
    std::string_view part = command.substr(at, stop - at);
    at = stop;
    if (part.empty()) break;
    if (first && !ascii::equals(part, "dir")) return unknown_text(span);
    if (!first && part[0] == '/') {
      if (ascii::equals(part, "/s")) below = true;
    } else if (!first && part.find_first_of("%!|>&") != std::string_view::npos) {
      return unknown_text(span);
    } else if (!first) {
      if (part.size() > 1 && part[0] == '"') part = part.substr(1, part.size() - 2);
      folder = part;
    }
    first = false;
  }
  Known all{"*", span, false, word_flag::kGlob};
  if (folder.empty() || !below) return all;
  Known root{folder, span, false, word_flag::kGlob};
  note_unknown(&root);
  if (folder.find('*') != std::string_view::npos) return root;
  return joined(tree_, root, ends_as_folder(folder) ? "" : "\\", all);
}

// call :label arguments: at the colon.
inline void Batch::call_label(std::uint32_t level, std::size_t start) noexcept {
  ++at_;
  const std::size_t begin = at_;
  while (at_ < text_.size() && !ascii::is_space(text_[at_]) && text_[at_] != '&' && text_[at_] != '|') ++at_;
  const std::string_view label = text_.substr(begin, at_ - begin);
  Known given[kGiven];
  std::uint32_t n = 0;
  Known next;
  for (;;) {
    redirections(start);
    if (!word(&next)) break;
    if (n < kGiven) given[n++] = next;
  }
  std::size_t line = 0, body = std::string_view::npos;
  if (++calls_ > kCalls) return;  // what the label's lines do is met where they are
  while (line < text_.size()) {
    std::size_t end = text_.find('\n', line);
    if (end == std::string_view::npos) end = text_.size();
    std::string_view written = ascii::trim(text_.substr(line, end - line));
    if (written.size() > 1 && written[0] == ':' && same_word(ascii::trim(written.substr(1)), label)) {
      body = end;
      break;
    }
    line = end + 1;
  }
  if (body == std::string_view::npos || level >= 8 || text_.size() > reader_.nested_bytes) return;
  reader_.nested_bytes -= text_.size();
  const std::size_t after = at_;
  const Known* const outer = given_;
  const std::uint32_t outer_count = given_count_, outer_depth = depth_;
  given_ = given;
  given_count_ = n;
  depth_ = 0;
  at_ = body;
  returns_ = false;
  while (at_ < text_.size() && !returns_) {
    const std::size_t before = at_;
    statement(level + 1);
    if (at_ == before) ++at_;
  }
  returns_ = false;
  given_ = outer;
  given_count_ = outer_count;
  depth_ = outer_depth;
  at_ = after;
}

// echo text [> file]: what it prints may be a batch file, or go to an interpreter. Behind the name.
inline void Batch::echo(std::size_t start) noexcept {
  targeted_ = false;
  if (at_ < text_.size() && ascii::is_blank(peek())) ++at_;
  std::size_t begin = std::string_view::npos, stop = at_;
  for (;;) {
    redirections(start);
    const std::size_t before = at_;
    Known part;
    if (!word(&part)) break;
    if (begin == std::string_view::npos) begin = before;
    stop = at_;
  }
  if (begin == std::string_view::npos) begin = stop;
  const std::string_view line = text_.substr(begin, stop - begin);
  Known text{line, code_.at(begin, stop), code_.verbatim, 0};
  note_unknown(&text);
  printed_ = in_group_ && !printed_.text.empty() ? joined(tree_, printed_, "\n", text) : text;
  if (targeted_) remember(text);
  if (peek() == '|' && peek(1) != '|') {
    piped_ = text;
    is_piped_ = true;
  }
}
// A batch file was written: its lines are known where it runs.
inline void Batch::remember(const Known& text) noexcept {
  const std::string_view path = target_.text;
  if (!ascii::ends_with(path, ".bat") && !ascii::ends_with(path, ".cmd") && !ascii::ends_with(path, ".ps1")) return;
  for (std::uint32_t i = 0; i < written_count_; ++i) {
    if (!same_word(written_[i].path, path)) continue;
    written_[i].text = appended_ ? joined(tree_, written_[i].text, "\n", text) : text;
    return;
  }
  if (written_count_ < kWritten) {
    written_[written_count_++] = Written{path, text};
  } else {
    tree_.add_uncertainty(Unresolved::limit, target_.span, frame_.carrier);
  }
}
// Runs what the same code has written. False: it has not.
inline bool Batch::run_written(std::string_view path) noexcept {
  while (path.size() > 2 && path[0] == '.' && (path[1] == '\\' || path[1] == '/')) path.remove_prefix(2);
  for (std::uint32_t i = 0; i < written_count_; ++i) {
    const Written& file = written_[i];
    const std::string_view stem = file.path.substr(0, file.path.rfind('.'));
    if (!same_word(file.path, path) && !same_word(stem, path)) continue;
    Frame frame = frame_;
    frame.via |= via::kScript;
    read_code(reader_, ascii::ends_with(file.path, ".ps1") ? Dialect::powershell : Dialect::cmd, file.text.code(), frame);
    return true;
  }
  return false;
}

}  // namespace tipstaff::gate::cmd
