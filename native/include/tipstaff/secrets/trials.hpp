// Whether what only its name calls a secret belongs to a trial: a value that everybody knows, a service on this machine,
// a file of tests. The lists of values, hosts and words of paths are the table's (packs/secrets/words.toml).
#ifndef TIPSTAFF_SECRETS_TRIALS_HPP
#define TIPSTAFF_SECRETS_TRIALS_HPP

#include <cstddef>
#include <cstring>

#include "tipstaff/secrets/values.hpp"

namespace tipstaff::secrets {

namespace trials {

inline constexpr std::size_t kLongestValue = 96, kLongestPath = 512, kFarthest = 1u << 15, kMostParts = 64;

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

inline Bytes unquoted(Bytes word) noexcept {
  while (word.size > 0 && one_of(word[0], "\"'`")) word = word.part(1, word.size);
  while (word.size > 0 && one_of(word[word.size - 1], "\"'`")) --word.size;
  return word;
}
inline bool is_word(Bytes text, const char* word) noexcept {
  const std::size_t n = std::strlen(word);
  if (text.size != n) return false;
  for (std::size_t i = 0; i < n; ++i)
    if (lower(text[i]) != static_cast<Byte>(word[i])) return false;
  return true;
}
template <std::size_t count>
bool is_any(Bytes text, const char* const (&words)[count]) noexcept {
  for (const char* const word : words)
    if (is_word(text, word)) return true;
  return false;
}
inline bool ends_with(Bytes text, const char* word) noexcept {
  const std::size_t n = std::strlen(word);
  return text.size >= n && is_word(text.part(text.size - n, text.size), word);
}

// Which hosts a command says: those of this machine, and others.
class Hosts {
 public:
  Hosts(const Knowledge& known, Bytes value) noexcept : known_(known), value_(value) {}
  bool are_local() const noexcept { return local_ && !foreign_; }

  // localhost, localhost:5432, [::1]:5432, one:1,two:2
  void take_host(Bytes hosts) noexcept {
    for (std::size_t at = 0; at < hosts.size;) {
      std::size_t end = at;
      if (hosts[at] == '[') {
        ++at;
        while (end < hosts.size && hosts[end] != ']') ++end;
      } else {
        while (end < hosts.size && !ends_host(hosts[end])) ++end;
      }
      const Bytes host = hosts.part(at, end < at ? at : end);
      const std::size_t after = end;
      while (end < hosts.size && (hosts[end] == ']' || hosts[end] == ':' || is_digit(hosts[end]))) ++end;
      if (after + 2 < hosts.size && hosts[after] == ':' && hosts[after + 1] == '/') return;  // the next address
      bool number = true;
      for (std::size_t i = 0; i < host.size; ++i) number = number && is_digit(host[i]);
      if (!number || host.size > 6) (is_local_host(known_, host) ? local_ : foreign_) = true;
      if (end >= hosts.size || hosts[end] != ',') return;
      at = end + 1;
    }
  }

  // scheme://user:password@host,host/
  void take_addresses(Bytes line) noexcept {
    for (std::size_t at = 0; at + 2 < line.size; ++at) {
      if (line[at] != ':' || line[at + 1] != '/' || line[at + 2] != '/') continue;
      std::size_t from = at + 3, stop = from;
      while (stop < line.size && line[stop] > ' ' && line[stop] != '/' && !one_of(line[stop], "\"'`")) ++stop;
      for (std::size_t i = from; i < stop; ++i)
        if (line[i] == '@') from = i + 1;
      take_host(line.part(from, stop));
      at = stop > at ? stop - 1 : at;
    }
  }

  // A word of a command line. What is text of several words counts only where the secret is in it.
  void take_word(Bytes word) noexcept {
    const bool holds = word.data <= value_.data && value_.data + value_.size <= word.data + word.size;
    if (holds) {
      take_text(word);
      return;
    }
    for (std::size_t i = 0; i < word.size; ++i)
      if (is_space(word[i])) {
        last_ = {word.data, 0};
        return;
      }
    take_piece(unquoted(word));
  }

  // A line of a text, or a word that the secret is in: -h localhost, host=localhost;, "host": "localhost".
  void take_text(Bytes text) noexcept {
    std::size_t begin = 0;
    for (std::size_t at = 0; at <= text.size; ++at) {
      if (at < text.size && text[at] == '#' && (at == 0 || is_space(text[at - 1]))) break;
      if (at < text.size && !is_space(text[at]) && !one_of(text[at], ";,&{}()|")) continue;
      Bytes piece = text.part(begin, at);
      begin = at + 1;
      if (piece.size == 0 || (piece.data <= value_.data && value_.data < piece.data + piece.size)) continue;
      take_piece(unquoted(piece));
    }
    last_ = {text.data, 0};
  }

 private:
  static bool is_host_name(Bytes name) noexcept {
    name = unquoted(name);
    if (ends_with(name, "localhost")) return false;
    return ends_with(name, "host") || ends_with(name, "hostname") || ends_with(name, "hostaddr") || is_word(name, "server") || ends_with(name, "data source");
  }
  void take_piece(Bytes word) noexcept {
    const Bytes last = last_;
    last_ = word;
    if (word.size == 0) return;
    if (is_any(last, {"-h", "--host", "--hostname", "--server"}) || (last.size > 0 && last[last.size - 1] == ':' && is_host_name(last.part(0, last.size - 1)))) {
      if (word[0] != '-') take_host(word);
      return;
    }
    std::size_t at = 0;
    while (at < word.size && word[at] != '=' && word[at] != ':') ++at;
    if (at + 2 < word.size && word[at] == ':' && word[at + 1] == '/' && word[at + 2] == '/') return;  // an address
    if (at > 0 && at < word.size && is_host_name(word.part(0, at))) {
      take_host(unquoted(word.part(at + 1, word.size)));
      return;
    }
    if (word[0] == '-') {
      if (word.size > 4 && word[1] == 'h') {
        const Bytes host = word.part(2, word.size);
        if (is_local_host(known_, host)) local_ = true;
        else if (dots_of(host) > 0) foreign_ = true;
      }
      return;
    }
    for (std::size_t i = word.size; i-- > 1;) {
      if (word[i] != '@') continue;
      // An address of mail in a form: "email": "me@acme.com", email=me@acme.com.
      const bool field = at < i || (last.size > 0 && last[last.size - 1] == ':');
      if (!field && !is_any(last, {"-u", "-U", "--user", "--username", "--email"})) take_host(unquoted(word.part(i + 1, word.size)));
      return;
    }
    if (at < word.size && word[at] == '=') return;
    std::size_t end = 0;
    while (end < word.size && !ends_host(word[end])) ++end;
    if (end == 0 || word[0] == '.') return;
    const Bytes host = word.part(0, end);
    // Names of services count in addresses alone.
    if (host.size > 3 && one_of(host[0], "l10") && is_local_host(known_, host)) {
      local_ = true;
      return;
    }
    const std::size_t dots = dots_of(host);
    if (is_digit(host[0]) ? dots == 3 : dots > 1 ? !is_file(host) : dots == 1 && end < word.size && one_of(word[end], ":/")) foreign_ = true;
  }
  static std::size_t dots_of(Bytes host) noexcept {
    std::size_t dots = 0;
    for (std::size_t i = 0; i < host.size; ++i) dots += host[i] == '.' ? 1 : 0;
    return dots;
  }
  bool is_file(Bytes host) const noexcept {
    return known_.list(file_endings).ends(host) && !ends_with(host, ".com") && !ends_with(host, ".io") && !ends_with(host, ".org") &&
           !ends_with(host, ".net") && !ends_with(host, ".internal") && !ends_with(host, ".sh");
  }

  const Knowledge& known_;
  Bytes value_, last_{nullptr, 0};
  bool local_ = false, foreign_ = false;
};

// tests, test, conftest: whole words of the names on a path, below the root of the repository. What says "prod" is for none.
inline bool is_trial_path(const Knowledge& known, Bytes path, Bytes root) noexcept {
  if (path.size == 0 || path.size > kLongestPath) return false;
  Byte text[kLongestPath];
  for (std::size_t i = 0; i < path.size; ++i) text[i] = path[i] == '\\' ? Byte{'/'} : path[i];
  path = {text, path.size};
  while (root.size > 1 && root[root.size - 1] == '/') --root.size;
  const bool below = root.size > 1 && path.size > root.size && path[root.size] == '/' && std::memcmp(path.data, root.data, root.size) == 0;
  if (below) path = path.part(root.size + 1, path.size);
  const bool absolute = !below && (path[0] == '/' || path[0] == '~' || (path.size > 1 && path[1] == ':'));
  Bytes parts[kMostParts];
  std::size_t count = 0;
  for (std::size_t at = 0; at < path.size;) {
    std::size_t end = at;
    while (end < path.size && path[end] != '/') ++end;
    const Bytes part = path.part(at, end);
    at = end + 1;
    if (part.size == 0 || (part.size == 1 && part[0] == '.')) continue;
    if (part.size == 2 && part[0] == '.' && part[1] == '.') {
      count -= count > 0 ? 1 : 0;
      continue;
    }
    if (count == kMostParts) return false;
    parts[count++] = part;
  }
  std::size_t first = 0;
  bool temporary = false;
  if (absolute && count > 0) {
    // A home, or a place for temporary files, and the folder of the project in it.
    if (parts[0].size == 2 && parts[0][1] == ':') ++first;
    if (first < count && is_any(parts[first], {"var", "private"})) ++first;
    if (first < count && is_any(parts[first], {"home", "users"})) ++first;
    else if (first < count && is_word(parts[first], "tmp")) temporary = first + 2 == count;
    first += 2;
    if (temporary) first = count - 1;
  }
  bool trial = temporary, compose = false;
  for (std::size_t n = first; n < count; ++n) {
    const Bytes part = parts[n];
    trial = trial || known.list(trial_paths).equals(part);
    for (std::size_t at = 0; at < part.size;) {
      std::size_t end = at;
      while (end < part.size && is_alnum(part[end]) && !(end > at && is_upper(part[end]) && !is_upper(part[end - 1]))) ++end;
      const Bytes word = part.part(at, end);
      at = end > at ? end : end + 1;
      if (ends_with(word, "prod") || is_any(word, {"production", "prd", "live"})) return false;
      trial = trial || known.list(trial_paths).equals(word);
      compose = n + 1 == count && (compose || is_word(word, "compose"));
    }
    if (n + 1 == count && compose && (ends_with(part, ".yml") || ends_with(part, ".yaml"))) trial = true;
  }
  return trial;
}

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

// Whether the pipeline writes what it was given into files of tests: echo and printf what they are given, cat and tee a
// here-document.
inline bool writes_trial_files(const Knowledge& known, Bytes text, const Place& place, Bytes root) noexcept {
  bool program = true, tee = false, piped = false, errors = false, output = false;
  std::size_t files = 0;
  Bytes word{text.data, 0};
  for (std::size_t at = place.begin;;) {
    const Sign sign = next_word(text, &at, &word);
    if (sign == Sign::end) return files != 0;
    if (sign == Sign::pipe) {
      program = piped = true;
      tee = false;
    } else if (sign == Sign::output || sign == Sign::errors) {
      (sign == Sign::output ? output : errors) = true;
    } else {
      const Bytes name = unquoted(word);
      if (errors || (output && is_word(name, "/dev/null"))) {
        errors = output = false;
      } else if (output || (tee && !program && word[0] != '-')) {
        output = false;
        if (!is_trial_path(known, name, root)) return false;
        ++files;
      } else if (program && !is_any(name, {"sudo", "command", "then", "do", "else", "{", "!"})) {
        program = false;
        tee = is_word(name, "tee");
        if (!tee && (piped || (place.body ? !is_word(name, "cat") : !is_any(name, {"echo", "printf", "print"})))) return false;
      }
    }
  }
}

}  // namespace trials

// `path`: the file that the text is for; empty for a command, which may say one. `root`: the folder of the repository, or
// the one that the call works in; what is above it says nothing.
inline bool is_trial(const Knowledge& known, Bytes text, std::size_t start, std::size_t end, Bytes path, Bytes root) noexcept {
  if (start >= end || end > text.size) return false;
  const Bytes value = text.part(start, end);
  if (trials::is_known_value(known, value)) return true;
  if (path.size != 0 && trials::is_trial_path(known, path, root)) return true;
  if (start > trials::kFarthest) return false;
  const trials::Place place = trials::place_of(text, start);
  std::size_t first = start, last = end;
  while (first > 0 && text[first - 1] != '\n') --first;
  while (last < text.size && text[last] != '\n' && last - end < 4096) ++last;
  trials::Hosts hosts(known, value);
  hosts.take_addresses(text.part(first, last));
  if (!place.known) return false;
  // What follows is bounded: a pipeline that goes on for longer is read to there.
  const Bytes near = text.part(0, least_of(text.size, end + 4096));
  Bytes word{text.data, 0};
  bool begins = true, variable = false;
  for (std::size_t at = place.begin;;) {
    const trials::Sign sign = trials::next_word(near, &at, &word);
    if (sign == trials::Sign::word) {
      if (begins) variable = trials::is_word(word, "export") || (word.data <= value.data && value.data < word.data + word.size);
      begins = false;
      hosts.take_word(word);
    } else if (sign == trials::Sign::end) {
      // A variable is for the commands after it: export PGPASSWORD=...; psql -h localhost
      while (at < near.size && one_of(near[at], ";&|")) ++at;
      if (!variable || place.body || at >= last || at >= near.size || near[at] == '\n' || near[at] == '#') break;
    }
  }
  if (place.body) hosts.take_text(text.part(first, last));
  if (hosts.are_local()) return true;
  // What a substitution runs is not what is written.
  const std::size_t from = place.body ? first : place.begin;
  for (std::size_t at = from; at < start; ++at)
    if (text[at] == '`' || (text[at] == '(' && at > from && one_of(text[at - 1], "$<>"))) return false;
  return path.size == 0 && trials::writes_trial_files(known, near, place, root);
}

}  // namespace tipstaff::secrets

#endif
