// Which hosts a text says: those of this machine and of tests, and others.
#ifndef TIPSTAFF_SECRETS_TRIALS_HOSTS_HPP
#define TIPSTAFF_SECRETS_TRIALS_HOSTS_HPP

#include <cstddef>

#include "tipstaff/secrets/trials/words.hpp"

namespace tipstaff::secrets {

namespace trials {

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

}  // namespace trials

}  // namespace tipstaff::secrets

#endif
