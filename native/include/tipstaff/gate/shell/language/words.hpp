// Words: quotes, escapes, tildes, globs.
#pragma once

#include "tipstaff/gate/shell/language/reader.hpp"

namespace tipstaff::gate::shell {

// Internal: a text begins with a tilde that stands for an unknown home directory.
constexpr std::uint16_t kHomeTilde = 0x8000;

// Internal: a text is the name of the variable that is meant (declare -n).
constexpr std::uint16_t kReference = 0x4000;

constexpr std::uint16_t kPublicFlags = 0x3fff;

// Reads one word at pos_ and pushes what it becomes; most words hold nothing that needs work and are taken as is.
inline void ShellReader::read_word() noexcept {
  const char* const start = pos_;
  const char* p = start;
  std::uint16_t flags = 0;
  if (*start != '~') {
    for (;;) {
      while (p < end_ && (class_of(*p) & byte_class::kSpecial) == 0) ++p;
      if (p == end_ || (class_of(*p) & byte_class::kEnds) != 0) {
        if (p == start || (p < end_ && *p == '(') || (p + 1 < end_ && *p == '<' && p[1] == '(' && p[-1] == '=')) break;
        Word word;
        word.text = string_view(start, static_cast<std::size_t>(p - start));
        word.span = span_of(start, p);
        word.flags = flags;
        tree_.push_pending(word);
        pos_ = p;
        return;
      }
      if ((class_of(*p) & byte_class::kGlob) == 0) break;
      flags |= word_flag::kGlob;
      ++p;
    }
  }
  const std::uint32_t scratch = session_.scratch.size();
  Pieces pieces;
  if (*start == '~') read_tilde(pieces);
  if (pos_ < end_ && (*pos_ == '<' || *pos_ == '>')) read_process_substitution(pieces);
  collect(pieces, Until::word, false);
  // --option=<(command)
  while (!stopped_ && pos_ + 1 < end_ && pos_ > start && pos_[-1] == '=' && *pos_ == '<' && pos_[1] == '(') {
    read_process_substitution(pieces);
    collect(pieces, Until::word, false);
  }
  if (pos_ == start) ++pos_;  // always advance
  push_words(pieces, span_of(start, pos_));
  session_.scratch.cut(scratch);
}

inline void ShellReader::add_piece(Pieces& pieces, const Piece& piece) noexcept {
  if (pieces.count == Pieces::kMost) {
    // Too many parts that are not literal: the rest is not known.
    Piece& last = pieces.items[Pieces::kMost - 1];
    if ((pieces.flags & word_flag::kUnknown) == 0 || last.kind != Piece::literal) {
      uncertain(Unresolved::limit, span_of(pos_, pos_), frame_.carrier);
      last = Piece{Piece::literal, false, word_flag::kUnknown, kUnknown, nullptr, 0, 0};
    }
    pieces.flags |= word_flag::kUnknown;
    return;
  }
  pieces.flags |= piece.flags;
  pieces.items[pieces.count++] = piece;
}

inline void ShellReader::add_literal(Pieces& pieces, string_view text, std::uint16_t flags, bool quoted) noexcept {
  if (quoted) flags |= word_flag::kQuoted;
  pieces.flags |= flags;
  if (text.empty()) return;
  if (pieces.count != 0) {
    Piece& last = pieces.items[pieces.count - 1];
    if (last.kind == Piece::literal) {
      last.flags |= flags;
      if (last.text.data() + last.text.size() == text.data() && within(last.text)) {
        last.text = string_view(last.text.data(), last.text.size() + text.size());
      } else {
        last.text = tree_.join(last.text, text);
      }
      return;
    }
  }
  add_piece(pieces, Piece{Piece::literal, quoted, flags, text, nullptr, 0, 0});
}

inline void ShellReader::add_unknown(Pieces& pieces, std::uint16_t flags, bool quoted) noexcept {
  add_literal(pieces, kUnknown, static_cast<std::uint16_t>(flags | word_flag::kUnknown), quoted);
}

// A text that a variable or a substitution gave: outside of quotes it falls apart at blanks and may hold globs.
inline void ShellReader::add_text(Pieces& pieces, string_view text, std::uint16_t flags, bool quoted) noexcept {
  if (quoted) {
    pieces.quoted = true;
    return add_literal(pieces, text, flags, true);
  }
  bool blanks = false;
  for (const char c : text) {
    const std::uint8_t kind = class_of(c);
    blanks = blanks || session_.separates(c);
    if ((kind & byte_class::kGlob) != 0) flags |= word_flag::kGlob;
  }
  if (!blanks) return add_literal(pieces, text, flags, false);
  add_piece(pieces, Piece{Piece::split, false, flags, text, nullptr, 0, 0});
}

inline void ShellReader::add_stream(Pieces& pieces, const Stream& stream, bool quoted) noexcept {
  std::uint16_t flags = stream.flags;
  if (stream.decoded) flags |= word_flag::kDecoded;
  switch (stream.kind) {
    case Stream::none:
      if (quoted) pieces.quoted = true;
      return;
    case Stream::known:
    case Stream::paths: {
      string_view text = stream.text;
      while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
      if (stream.kind == Stream::paths) flags |= word_flag::kGlob | word_flag::kAppended;
      return add_text(pieces, text, flags, quoted);
    }
    case Stream::remote: flags |= word_flag::kNetwork; break;
    case Stream::trusted: flags |= word_flag::kTrusted; break;
    case Stream::unknown:
    case Stream::file: break;
  }
  if (quoted) pieces.quoted = true;
  add_unknown(pieces, static_cast<std::uint16_t>(flags | word_flag::kMayBeEmpty), quoted);
}

// Collects the parts of a word up to its end.
inline void ShellReader::collect(Pieces& pieces, Until until, bool quoted) noexcept {
  if (quoted) pieces.quoted = true;
  while (pos_ < end_) {
    const char* const start = pos_;
    const char* p = start;
    if (quoted) {
      constexpr std::uint8_t kStops = byte_class::kQuote | byte_class::kClosing;
      while (p < end_ && (class_of(*p) & kStops) == 0) ++p;
    } else {
      constexpr std::uint8_t kStops = byte_class::kSpecial | byte_class::kClosing;
      while (p < end_ && (class_of(*p) & kStops) == 0) ++p;
    }
    if (p != start) {
      pos_ = p;
      add_literal(pieces, string_view(start, static_cast<std::size_t>(p - start)), 0, quoted);
      continue;
    }
    const char c = *p;
    const string_view here(p, 1);
    switch (c) {
      case '\'': {
        if (quoted) {
          ++pos_;
          add_literal(pieces, here, 0, true);
          break;
        }
        const auto* close =
            static_cast<const char*>(std::memchr(p + 1, '\'', static_cast<std::size_t>(end_ - p - 1)));
        if (close == nullptr) {
          uncertain(Unresolved::syntax, span_of(p, end_), frame_.carrier);
          close = end_;
        }
        pieces.quoted = true;
        string_view inside(p + 1, static_cast<std::size_t>(close - p - 1));
        // A quoted tilde is a name like any other.
        if (pieces.count == 0 && !inside.empty() && inside[0] == '~' && (inside.size() == 1 || inside[1] == '/')) {
          add_literal(pieces, "./", 0, true);
        }
        pos_ = close == end_ ? end_ : close + 1;
        add_literal(pieces, inside, word_flag::kQuoted, true);
        break;
      }
      case '"': {
        if (quoted) {
          if (until == Until::quote) return;
          ++pos_;
          if (until == Until::end) {
            add_literal(pieces, here, 0, true);
          } else {
            // Quotes inside "${x:-"y"}" come and go without an effect here.
            pieces.quoted = true;
          }
          break;
        }
        ++pos_;
        if (pieces.count == 0 && pos_ < end_ && *pos_ == '~') add_literal(pieces, "./", 0, true);
        collect(pieces, Until::quote, true);
        if (pos_ < end_) {
          ++pos_;
        } else if (!stopped_) {
          uncertain(Unresolved::syntax, span_of(p, end_), frame_.carrier);
        }
        break;
      }
      case '\\': {
        if (p + 1 == end_) {
          ++pos_;
          add_literal(pieces, here, 0, true);
          break;
        }
        const char next = p[1];
        pos_ = p + 2;
        if (next == '\n') break;
        if (next == '\r' && p + 2 < end_ && p[2] == '\n') {
          ++pos_;
          break;
        }
        if (quoted && next != '$' && next != '`' && next != '\\' &&
            !(next == '"' && until != Until::end) && !(next == '}' && until == Until::operand)) {
          add_literal(pieces, string_view(p, 2), 0, true);
        } else {
          pieces.quoted = true;
          add_literal(pieces, string_view(p + 1, 1), 0, true);
        }
        break;
      }
      case kUnknownPart:
        ++pos_;
        add_literal(pieces, here, word_flag::kUnknown | word_flag::kMayBeEmpty, quoted);
        break;
      case '$':
        if (!quoted || !for_powershell_ || !leave_to_powershell(pieces)) read_dollar(pieces, quoted);
        break;
      case '`':
        if (!quoted || !for_powershell_ || !leave_to_powershell(pieces)) read_back_ticks(pieces, quoted);
        break;
      case '}':
        if (until == Until::operand || until == Until::brace_item) return;
        ++pos_;
        add_literal(pieces, here, 0, quoted);
        break;
      case ',':
        if (until == Until::brace_item) return;
        ++pos_;
        add_literal(pieces, here, 0, quoted);
        break;
      case '{':
        if (until == Until::operand || (!read_template(pieces) && !read_braces(pieces))) {
          ++pos_;
          add_literal(pieces, here, 0, false);
        }
        break;
      case '*':
      case '?':
      case '[':
        ++pos_;
        add_literal(pieces, here, word_flag::kGlob, false);
        if (pos_ < end_ && *pos_ == '(' && until == Until::word) read_extended_glob(pieces);
        break;
      default:
        // A blank or an operator.
        if (until == Until::word || until == Until::brace_item) {
          if (c == '(' && until == Until::word && read_extended_glob(pieces)) break;
          return;
        }
        if (until == Until::pattern && (c == '(' || c == ')' || c == '\n')) return;
        ++pos_;
        add_literal(pieces, here, 0, false);
    }
  }
}

// @(a|b), !(keep): taken as a glob over all names, read for what it substitutes. pos_ is at the parenthesis.
inline bool ShellReader::read_extended_glob(Pieces& pieces) noexcept {
  if (pos_ == code_.text.data() || pieces.count == 0) return false;
  const char before = pos_[-1];
  if (before != '!' && before != '@' && before != '+' && before != '*' && before != '?') return false;
  if (session_.level >= kLevels || reader_.out_of_stack()) {
    give_up(Unresolved::depth, span_of(pos_, end_));
    return true;
  }
  const char* const start = pos_++;
  ++session_.level;
  const std::uint32_t scratch = session_.scratch.size();
  int depth = 1;
  while (pos_ < end_ && depth != 0 && !stopped_ && *pos_ != '\n') {
    Pieces ignored;
    collect(ignored, Until::pattern, false);
    if (pos_ >= end_ || *pos_ == '\n') break;
    depth += *pos_ == '(' ? 1 : *pos_ == ')' ? -1 : 0;
    ++pos_;
  }
  session_.scratch.cut(scratch);
  --session_.level;
  if (depth != 0 && !stopped_) uncertain(Unresolved::syntax, span_of(start, pos_), frame_.carrier);
  Piece& last = pieces.items[pieces.count - 1];
  if (last.kind == Piece::literal && !last.text.empty()) last.text.remove_suffix(1);
  add_literal(pieces, "*", word_flag::kGlob, false);
  return true;
}

inline void ShellReader::read_tilde(Pieces& pieces) noexcept {
  const char* p = pos_ + 1;
  while (p < end_ && !ends_word(*p) && *p != '/' && *p != ':') {
    if ((class_of(*p) & byte_class::kQuote) != 0) return;
    ++p;
  }
  const string_view user(pos_ + 1, static_cast<std::size_t>(p - pos_ - 1));
  string_view place;
  if (user.empty()) {
    Value home;
    const Variable* const held = session_.find("HOME");
    if (held != nullptr && held->count > 1 && !held->array) {
      pos_ = p;
      return add_choice(pieces, session_.values(*held), held->count, true);
    }
    known_parameter("HOME", &home);
    place = home.text;
  } else if (user == "+") {
    place = session_.cwd;
  } else if (user == "-") {
    place = session_.old_cwd;
  }
  if (place.empty()) return;  // ~user stays as it is: rules know it for a home directory
  pos_ = p;
  if (place == "/") place = p < end_ && *p == '/' ? string_view() : place;
  add_literal(pieces, place, kHomeTilde, false);
}

}  // namespace tipstaff::gate::shell
