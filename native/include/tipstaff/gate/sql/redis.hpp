// Reads commands of Redis.
//
//   redis COMMAND [ARGUMENT...]   of commands that lose, change or move more than the keys that they write;
//                                 those that a script calls as well
#pragma once

#include "tipstaff/gate/tree/command_writer.hpp"

namespace tipstaff::gate {

namespace redis {

constexpr std::string_view kNotable =
    "flushall flushdb config del unlink keys shutdown eval eval_ro evalsha script debug swapdb rename renamenx restore migrate "
    "slaveof replicaof cluster save bgsave bgrewriteaof client acl module move function failover monitor fcall "
    "ltrim zremrangebyrank zremrangebyscore xtrim psync sync reset expire pexpire getdel hdel";

// One word from `at` on; quotes as redis-cli knows them. False at the line's end.
inline bool next_word(std::string_view line, std::size_t* at, std::size_t* start, std::size_t* stop, bool* quoted) noexcept {
  std::size_t i = *at;
  while (i < line.size() && ascii::is_space(line[i])) ++i;
  if (i >= line.size()) return false;
  *quoted = line[i] == '"' || line[i] == '\'';
  if (*quoted) {
    const char quote = line[i++];
    *start = i;
    while (i < line.size() && line[i] != quote) i += line[i] == '\\' && i + 1 < line.size() ? 2 : 1;
    if (i > line.size()) i = line.size();
    *stop = i;
    *at = i < line.size() ? i + 1 : i;
  } else {
    *start = i;
    while (i < line.size() && !ascii::is_space(line[i])) ++i;
    *stop = *at = i;
  }
  return true;
}

inline std::string_view canonical(std::string_view word) noexcept {
  for (std::size_t start = 0; start < kNotable.size();) {
    std::size_t end = kNotable.find(' ', start);
    if (end == std::string_view::npos) end = kNotable.size();
    if (ascii::equals(word, kNotable.substr(start, end - start))) return kNotable.substr(start, end - start);
    start = end + 1;
  }
  return {};
}

// redis.call('FLUSHALL') and the like inside a script.
inline void read_script(Reader& reader, const Code& code, std::size_t start, std::size_t stop, const Frame& frame) noexcept {
  const std::string_view text = code.text;
  for (std::size_t at = text.find("call", start); at != std::string_view::npos && at < stop; at = text.find("call", at + 4)) {
    std::size_t i = at + 4;
    while (i < stop && (ascii::is_blank(text[i]) || text[i] == '(' || text[i] == '\\')) ++i;
    if (i >= stop || (text[i] != '\'' && text[i] != '"')) continue;
    const std::size_t begin = ++i;
    while (i < stop && ascii::is_letter(text[i])) ++i;
    const std::string_view name = canonical(text.substr(begin, i - begin));
    if (name.empty()) continue;
    CommandWriter writer(reader, frame, Dialect::redis, "redis", code.at(begin, i));
    writer.flag(name);
    writer.end();
  }
}

inline void read_line(Reader& reader, const Code& code, std::size_t from, std::size_t to, const Frame& frame) noexcept {
  const std::string_view line = code.text.substr(from, to - from);
  std::size_t at = 0, start = 0, stop = 0;
  bool quoted = false;
  if (!next_word(line, &at, &start, &stop, &quoted)) return;
  if (start < line.size() && ascii::is_digit(line[start]) && !next_word(line, &at, &start, &stop, &quoted)) return;  // "5 PING" runs it five times
  const std::size_t begin = start;
  const std::string_view first = line.substr(start, stop - start);
  if (first.size() == 1 && first[0] == kUnknownPart) {
    reader.tree->add_uncertainty(Unresolved::code, code.at(from + start, from + stop), frame.carrier);
    return;
  }
  const std::string_view name = canonical(first);
  if (name.empty()) return;
  std::size_t after = at, last = stop;
  while (next_word(line, &after, &start, &stop, &quoted)) last = stop;
  CommandWriter writer(reader, frame, Dialect::redis, "redis", code.at(from + begin, from + last));
  writer.flag(name);
  after = at;
  for (std::uint32_t words = 0; words < 64 && next_word(line, &after, &start, &stop, &quoted); ++words) {
    const std::string_view word = line.substr(start, stop - start);
    writer.word(word, code.at(from + start, from + stop),
                static_cast<std::uint16_t>((quoted ? word_flag::kQuoted : 0) |
                                           (word.find(kUnknownPart) != std::string_view::npos ? word_flag::kUnknown : 0)));
  }
  writer.end();
  if (ascii::starts_with(name, "eval") || name == "script" || name == "function") {
    read_script(reader, code, from + at, from + last, frame);
  }
}

}  // namespace redis

void read_redis(Reader& reader, const Code& code, const Frame& frame) noexcept {
  for (std::size_t start = 0; start < code.text.size();) {
    std::size_t end = code.text.find('\n', start);
    if (end == std::string_view::npos) end = code.text.size();
    redis::read_line(reader, code, start, end, frame);
    start = end + 1;
  }
}

}  // namespace tipstaff::gate
