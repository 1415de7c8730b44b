// Whether what only its name calls a secret belongs to a trial: a value that everybody knows, a service on this machine,
// a file of tests. The lists of values, hosts and words of paths are the table's (packs/secrets/words.toml).
#ifndef TIPSTAFF_SECRETS_TRIALS_HPP
#define TIPSTAFF_SECRETS_TRIALS_HPP

#include <cstddef>

#include "tipstaff/secrets/trials/command_line.hpp"
#include "tipstaff/secrets/trials/hosts.hpp"
#include "tipstaff/secrets/trials/paths.hpp"
#include "tipstaff/secrets/trials/words.hpp"
#include "tipstaff/secrets/values.hpp"

namespace tipstaff::secrets {

namespace trials {

inline constexpr std::size_t kLongestValue = 96, kFarthest = 1u << 15;

inline bool is_known_value(const Knowledge& known, Bytes value) noexcept {
  const Words words = known.list(trial_values);
  if (words.within(value)) return true;
  Byte folded[kLongestValue];
  const std::size_t n = value.size < sizeof folded ? value.size : sizeof folded;
  for (std::size_t i = 0; i < n; ++i) folded[i] = unmasked(value[i]);
  return words.within({folded, n});
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
