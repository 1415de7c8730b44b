// How a path lies to the paths of a machine, and where symbolic links lead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tipstaff/gate/paths/parts.hpp"
#include "tipstaff/gate/tree/surroundings.hpp"

namespace tipstaff::gate::path_detail {

enum class Relation : std::uint8_t { other, same, inside, holds };

// How `path` lies to the directory `place`; patterns in `path` are taken for all that they can name.
inline Relation relate(const PathParts& path, const PathParts& place) noexcept {
  if (path.base != place.base || (path.base == PathBase::drive && path.drive != place.drive)) return Relation::other;
  const bool folded = path.folded || place.folded ||
                      (place.count > 0 && (place.part[0] == "Users" || place.part[0] == "Volumes"));
  const std::uint32_t shared = path.count < place.count ? path.count : place.count;
  for (std::uint32_t i = 0; i < shared; ++i) {
    if (path.part[i] == place.part[i]) continue;
    const std::string_view name = place.part[i];
    if (path.has_glob(path.part[i])) {
      char lower[PathParts::kLongestPattern];
      if (name.size() > sizeof lower || path.part[i].size() > PathParts::kLongestPattern) continue;
      for (std::size_t j = 0; j < name.size(); ++j) lower[j] = ascii::lower(name[j]);
      if (glob_names(path.part[i], std::string_view(lower, name.size()))) continue;
      return Relation::other;
    }
    if (!folded || path.part[i].size() != name.size()) return Relation::other;
    for (std::size_t j = 0; j < name.size(); ++j) {
      if (ascii::lower(name[j]) != ascii::lower(path.part[i][j])) return Relation::other;
    }
  }
  if (path.count == place.count) return Relation::same;
  return path.count < place.count ? Relation::holds : Relation::inside;
}

inline void take_path(std::string_view place, PathParts* out) noexcept {
  take_path_apart(place, {}, {}, PathParts::is_drive_letter(place), false, out);
}

struct SurroundingPaths {
  PathParts repository, home, temporary;
  bool has_repository = false, has_home = false, has_temporary = false;
};

// Resolves symbolic links of the deepest folder that exists; false where nothing changes.
inline bool real_parts(const Surroundings& surroundings, const PathParts& path, bool follow_last, char* memory,
                       std::size_t capacity, PathParts* out) noexcept {
  if (surroundings.real_path == nullptr || path.base != PathBase::root) return false;
  std::uint32_t known = path.count;  // parts before the first that is no plain name
  for (std::uint32_t i = 0; i < path.count; ++i) {
    if (path.has_glob(path.part[i]) || PathParts::is_unknown(path.part[i])) {
      known = i;
      break;
    }
  }
  if (known == path.count && !follow_last && known > 0) --known;
  char lexical[4096];
  for (std::uint32_t tries = 0; known > 0 && tries < 6; ++tries, --known) {
    std::size_t size = 0;
    for (std::uint32_t i = 0; i < known; ++i) {
      if (size + 1 + path.part[i].size() > sizeof lexical) return false;
      lexical[size++] = '/';
      std::memcpy(lexical + size, path.part[i].data(), path.part[i].size());
      size += path.part[i].size();
    }
    const std::size_t real =
        surroundings.real_path(surroundings.self, std::string_view(lexical, size), memory, capacity);
    if (real == 0 || real > capacity || memory[0] != '/') continue;
    if (std::string_view(memory, real) == std::string_view(lexical, size)) return false;
    *out = PathParts();
    out->base = PathBase::root;
    out->glob = path.glob;
    out->push_all(std::string_view(memory, real), false);
    for (std::uint32_t i = known; i < path.count; ++i) out->push(path.part[i]);
    out->see_through_mounts();
    return true;
  }
  return false;
}

}  // namespace tipstaff::gate::path_detail
