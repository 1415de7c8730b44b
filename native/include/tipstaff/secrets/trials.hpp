// Whether what only its name calls a secret belongs to a trial: a value that everybody knows, a service on this machine,
// a file of tests. The lists of values, hosts and paths are the table's (packs/secrets/words.toml).
#ifndef TIPSTAFF_SECRETS_TRIALS_HPP
#define TIPSTAFF_SECRETS_TRIALS_HPP

#include <cstddef>

#include "tipstaff/secrets/values.hpp"

namespace tipstaff::secrets {

namespace trials {

inline constexpr std::size_t kLongestValue = 96, kLongestPath = 512;

inline bool is_known_value(const Knowledge& known, Bytes value) noexcept {
  const Words words = known.list(trial_values);
  if (words.within(value)) return true;
  Byte folded[kLongestValue];
  const std::size_t n = value.size < sizeof folded ? value.size : sizeof folded;
  for (std::size_t i = 0; i < n; ++i) folded[i] = unmasked(value[i]);
  return words.within({folded, n});
}

inline bool ends_host(Byte c) noexcept {
  return c <= ' ' || c == '/' || c == ':' || c == '?' || c == '#' || c == '"' || c == '\'' || c == '`' || c == ')' || c == ',' ||
         c == ';' || c == '&' || c == '|' || c == '<' || c == '>' || c == '\\' || c == ']' || c == '}';
}
inline bool is_local_host(const Knowledge& known, Bytes host) noexcept {
  const Words words = known.list(local_hosts);
  if (words.equals(host)) return true;
  // *.localhost, *.test: a dot, and a word of the list that begins with one.
  for (std::size_t at = host.size; at-- > 1;)
    if (host[at] == '.') return words.equals(host.part(at, host.size));
  return false;
}

// The line says a host of this machine, and none of another one.
inline bool is_local(const Knowledge& known, Bytes line) noexcept {
  bool local = false;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= line.size; ++at) {
    if (at < line.size && line[at] == ':' && at + 2 < line.size && line[at + 1] == '/' && line[at + 2] == '/') {
      std::size_t from = at + 3, stop = from;
      while (stop < line.size && line[stop] > ' ' && line[stop] != '/' && line[stop] != '"' && line[stop] != '\'' && line[stop] != '`') ++stop;
      for (std::size_t i = from; i < stop; ++i)
        if (line[i] == '@') from = i + 1;
      std::size_t host = from;
      if (host < stop && line[host] == '[') {
        while (host < stop && line[host] != ']') ++host;
        host = host < stop ? host + 1 : host;
      } else {
        while (host < stop && !ends_host(line[host])) ++host;
      }
      if (host > from) {
        if (!is_local_host(known, line.part(from, host))) return false;
        local = true;
      }
      begin = at = host;
      if (at >= line.size) break;
      continue;
    }
    if (at == line.size || ends_host(line[at]) || line[at] == '=' || line[at] == '@' || line[at] == '(') {
      // A word: localhost:8080, -h 127.0.0.1. Names of services count in addresses alone.
      const Bytes word = line.part(begin, at);
      local = local || (word.size > 3 && (word[0] == 'l' || word[0] == '1' || word[0] == '0') && is_local_host(known, word));
      begin = at + 1;
    }
  }
  return local;
}

inline bool is_trial_path(const Knowledge& known, Bytes path) noexcept {
  if (path.size == 0) return false;
  Byte whole[kLongestPath];
  const std::size_t n = path.size < sizeof whole - 1 ? path.size : sizeof whole - 1;
  whole[0] = '/';
  for (std::size_t i = 0; i < n; ++i) whole[i + 1] = path[path.size - n + i] == '\\' ? Byte{'/'} : path[path.size - n + i];
  return known.list(trial_paths).within({whole, n + 1});
}

// The file that a command writes what is at `start` into: what follows the last `>` before it, or `tee`.
inline Bytes written_file(Bytes text, std::size_t start) noexcept {
  for (std::size_t at = start; at-- > 0;) {
    std::size_t from = 0;
    if (text[at] == '>') from = at + 1;
    else if (text[at] == 'e' && at >= 2 && text[at - 1] == 'e' && text[at - 2] == 't' && at + 1 < start && text[at + 1] == ' ') from = at + 1;
    if (from == 0) continue;
    while (from < start && (text[from] == ' ' || text[from] == '"' || text[from] == '\'')) ++from;
    std::size_t stop = from;
    while (stop < start && text[stop] > ' ' && text[stop] != '"' && text[stop] != '\'' && text[stop] != ';' && text[stop] != '<' && text[stop] != '|') ++stop;
    if (stop > from && text[from] != '&') return text.part(from, stop);
  }
  return {text.data, 0};
}

}  // namespace trials

// `path`: the file that the text is for; empty for a command, which may say one.
inline bool is_trial(const Knowledge& known, Bytes text, std::size_t start, std::size_t end, Bytes path) noexcept {
  if (start >= end || end > text.size) return false;
  if (trials::is_known_value(known, text.part(start, end))) return true;
  std::size_t first = start, last = end;
  while (first > 0 && text[first - 1] != '\n' && start - first < 4096) --first;
  while (last < text.size && text[last] != '\n' && last - end < 4096) ++last;
  if (trials::is_local(known, text.part(first, last))) return true;
  return trials::is_trial_path(known, path.size != 0 ? path : trials::written_file(text, start));
}

}  // namespace tipstaff::secrets

#endif
