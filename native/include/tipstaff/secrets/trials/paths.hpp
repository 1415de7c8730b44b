// Paths of tests, fixtures and examples.
#ifndef TIPSTAFF_SECRETS_TRIALS_PATHS_HPP
#define TIPSTAFF_SECRETS_TRIALS_PATHS_HPP

#include <cstddef>
#include <cstring>

#include "tipstaff/secrets/trials/words.hpp"

namespace tipstaff::secrets {

namespace trials {

inline constexpr std::size_t kLongestPath = 512, kMostParts = 64;

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

}  // namespace trials

}  // namespace tipstaff::secrets

#endif
