// The pipeline of a command line that a secret is in, word by word.
#ifndef TIPSTAFF_SECRETS_TRIALS_COMMAND_LINE_HPP
#define TIPSTAFF_SECRETS_TRIALS_COMMAND_LINE_HPP

#include <cstddef>
#include <cstring>

#include "tipstaff/secrets/trials/words.hpp"

namespace tipstaff::secrets {

namespace trials {

// Where something is on a command line: the pipeline that it belongs to, and whether it is in a here-document of it.
struct Place {
  std::size_t begin = 0;
  bool body = false, known = true;
};

inline Place place_of(Bytes text, std::size_t start) noexcept {
  Place place;
  Bytes mark{nullptr, 0};
  std::size_t opener = 0;
  Byte quote = 0;
  bool first = true;  // of a word
  for (std::size_t at = 0; at < start; ++at) {
    const Byte c = text[at];
    const Byte next = at + 1 < text.size ? text[at + 1] : Byte{0};
    if (quote != 0) {
      if (c == '\\' && quote == '"') ++at;
      else if (c == quote) quote = 0;
      continue;
    }
    const bool begins = first;
    first = is_space(c) || one_of(c, ";&|()");
    if (c == '\\') {
      ++at;
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '#' && begins) {
      while (at < start && text[at] != '\n') ++at;
      if (at >= start) place.known = false;
      --at;
    } else if (c == '<' && next == '<') {
      std::size_t from = at + 2;
      if (from < text.size && text[from] == '<') {
        at += 2;
        continue;
      }
      if (from < text.size && text[from] == '-') ++from;
      while (from < text.size && (is_blank(text[from]) || one_of(text[from], "\"'\\"))) ++from;
      std::size_t end = from;
      while (end < text.size && is_namely(text[end])) ++end;
      if (end == from || is_digit(text[from])) continue;
      if (mark.size != 0) place.known = false;
      mark = text.part(from, end);
      opener = place.begin;
      at = end < text.size && one_of(text[end], "\"'") ? end : end - 1;
    } else if (c == '\n') {
      place.begin = at + 1;
      if (mark.size == 0) continue;
      bool ended = false;
      while (!ended && at < start) {
        std::size_t from = at + 1;
        while (from < text.size && text[from] == '\t') ++from;
        std::size_t end = from;
        while (end < text.size && text[end] != '\n') ++end;
        const std::size_t stop = end > from && text[end - 1] == '\r' ? end - 1 : end;
        ended = stop - from == mark.size && std::memcmp(text.data + from, mark.data, mark.size) == 0;
        at = end;
      }
      mark.size = 0;
      if (at >= start) {
        place.begin = opener;
        place.body = true;
        return place;
      }
      place.begin = at + 1;
    } else if (c == ';' || (c == '|' && next == '|') || (c == '&' && next != '>' && (at == 0 || !one_of(text[at - 1], "><|")))) {
      place.begin = at + 1;
      if (next == c) place.begin = ++at + 1;
    }
  }
  return place;
}

enum class Sign : Byte { end, word, pipe, output, errors };

// The next word or sign of a pipeline.
inline Sign next_word(Bytes text, std::size_t* at, Bytes* word) noexcept {
  for (; *at < text.size; ++*at) {
    const Byte c = text[*at];
    const Byte next = *at + 1 < text.size ? text[*at + 1] : Byte{0};
    if (c == '\\' && next == '\n') {
      ++*at;
      continue;
    }
    if (c == '<' && next == '<' && *at + 2 < text.size && text[*at + 2] != '<') {  // the mark of a here-document
      *at += text[*at + 2] == '-' ? 3 : 2;
      while (*at < text.size && is_blank(text[*at])) ++*at;
      while (*at < text.size && (is_namely(text[*at]) || one_of(text[*at], "\"'\\"))) ++*at;
      --*at;
      continue;
    }
    if ((is_space(c) && c != '\n') || one_of(c, "()<")) continue;
    if (c == '\n' || c == ';' || c == '#' || (c == '&' && next != '>') || (c == '|' && next == '|')) return Sign::end;
    if (c == '|') {
      *at += next == '&' ? 2 : 1;
      return Sign::pipe;
    }
    std::size_t from = *at;
    if (is_digit(c) && next == '>') ++*at;
    if (text[*at] == '&') ++*at;
    if (text[*at] == '>') {
      ++*at;
      while (*at < text.size && one_of(text[*at], ">|")) ++*at;
      if (*at < text.size && text[*at] == '&') {  // >&2
        ++*at;
        while (*at < text.size && (is_digit(text[*at]) || text[*at] == '-')) ++*at;
        --*at;
        continue;
      }
      return c == '2' ? Sign::errors : Sign::output;
    }
    *at = from;
    Byte quote = 0;
    for (; *at < text.size; ++*at) {
      const Byte x = text[*at];
      if (x == '\\' && quote != '\'') ++*at;
      else if (quote != 0) quote = x == quote ? Byte{0} : quote;
      else if (x == '"' || x == '\'') quote = x;
      else if (is_space(x) || one_of(x, ";&|<>()")) break;
    }
    if (*at > text.size) *at = text.size;
    *word = text.part(from, *at);
    return Sign::word;
  }
  return Sign::end;
}

}  // namespace trials

}  // namespace tipstaff::secrets

#endif
