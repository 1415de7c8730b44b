// Where a path lies: the class that rules judge it by.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <string_view>

#include "tipstaff/gate/tree/command.hpp"
#include "tipstaff/gate/tree/surroundings.hpp"
#include "tipstaff/gate/paths/build_names.hpp"
#include "tipstaff/gate/paths/folder_classes.hpp"
#include "tipstaff/gate/paths/installed.hpp"
#include "tipstaff/gate/paths/names.hpp"
#include "tipstaff/gate/paths/parts.hpp"
#include "tipstaff/gate/paths/surrounding_paths.hpp"

namespace tipstaff::gate {

namespace path_detail {

inline std::uint32_t by_names(const PathParts& path) noexcept {
  using namespace path_class;
  std::uint32_t bits = 0;
  if (is_wiring(path)) bits |= kWiring;
  if (is_secret(path)) bits |= kSecrets;
  if (is_database(path)) bits |= kDatabase;
  if (is_file(path)) bits |= kFile;
  for (std::uint32_t i = 0; i < path.count; ++i) {
    // What a package manager fetched is no repository of anybody's.
    if (i > 2 && path.names(i - 3, "bundler") && path.names(i - 2, "gems") && i + 1 == path.count && !path.has_glob(path.part[i - 2]) && path.names(i, ".git")) continue;
    if (path.names(i, ".git") && !path.is_everything(path.part[i])) bits |= kVcs;
  }
  return bits;
}

// The classes of a path with a known base, after symbolic links.
inline std::uint32_t classify_known(const SurroundingPaths& paths, const PathParts& repository, PathParts path) noexcept {
  using namespace path_class;
  std::uint32_t bits = 0;
  while (path.count > 0 && path.is_everything(path.part[path.count - 1])) {
    --path.count;
    bits |= kGlob;
  }
  const bool within = bits != 0;  // all that is in the folder, not the folder
  for (std::uint32_t i = 0; i < path.count; ++i) {
    if (path.has_glob(path.part[i])) bits |= kGlob;
  }
  const Relation to_home = paths.has_home ? relate(path, paths.home) : Relation::other;
  if (paths.has_repository) {
    const Relation relation = relate(path, repository);
    const std::uint32_t depth = repository.count;
    if (relation == Relation::same || relation == Relation::inside) {
      bits |= kRepository;
      if (relation == Relation::same) bits |= kRepositoryRoot;
      if (relation == Relation::inside && is_build(path, depth)) bits |= kBuild;
      if (to_home == Relation::same) bits |= kHomeRoot | kHome;  // the home directory is the repository
      if (to_home == Relation::holds) bits |= kHomeRoot;
      if (depth == 0) bits |= classify_folder(path);
      // A pattern above the repository may name its neighbours as well.
      for (std::uint32_t i = 0; i < depth; ++i) {
        if (path.has_glob(path.part[i])) return bits | kSibling | classify_folder(path);
      }
      return bits;
    }
    if (relation == Relation::holds) {
      bits |= kSibling;
    } else if (depth > 1) {
      PathParts parent = repository;
      --parent.count;
      if (relate(path, parent) == Relation::inside) {
        const bool parent_is_home = paths.has_home && relate(parent, paths.home) == Relation::same;
        const std::uint32_t place = classify_folder(parent);
        const bool hidden = path.part[depth - 1][0] == '.';
        if ((place & (kTemporary | kOutside)) != (kTemporary | kOutside) &&
            !(hidden && (parent_is_home || (place & kHomeRoot) != 0))) {
          bits |= kSibling;
        }
      }
    }
  }
  // Of two that lie within each other the inner one counts: a home below /tmp is a home.
  const Relation home_to_temporary =
      paths.has_temporary && paths.has_home ? relate(paths.home, paths.temporary) : Relation::other;
  const bool home_is_inner = home_to_temporary == Relation::inside || home_to_temporary == Relation::same;
  if (paths.has_temporary && !(home_is_inner && to_home != Relation::other)) {
    const Relation relation = relate(path, paths.temporary);
    if (relation == Relation::inside) return bits | kTemporary;
    if (relation == Relation::same) return bits | kTemporary | kOutside;
  }
  if (to_home == Relation::same) return bits | kHome | kHomeRoot;
  if (to_home == Relation::inside) {
    const std::uint32_t depth = paths.home.count;
    if (is_remade_in_project(path, depth)) return bits | kBuild;
    if (is_home_cache(path, depth) || (path.count > depth + 1 && is_remade(path))) bits |= kBuild;
    std::uint32_t place = classify_folder(path);
    if ((classify_folder(paths.home) & kTemporary) != 0) place &= ~kTemporary;
    return bits | kHome | (place & (kTemporary | kSystem | kHomeRoot));
  }
  if (to_home == Relation::holds) bits |= kHomeRoot;
  if (within && (holds_documents(path) || holds_settings(path))) bits |= kOutside;
  // On this machine; on another one nobody knows whose it is.
  if (paths.has_repository && is_work_output(path)) bits |= kBuild;
  return bits | classify_folder(path);
}

}  // namespace path_detail

// The paths of one event, taken apart when a path is first asked about: most events have none. `around` must outlive it.
class KnownPaths {
 public:
  explicit KnownPaths(const Surroundings& around) noexcept : around_(around) {}
  KnownPaths(const KnownPaths&) = delete;
  KnownPaths& operator=(const KnownPaths&) = delete;

  const Surroundings& around() const noexcept { return around_; }
  const path_detail::SurroundingPaths& paths() noexcept { return known().paths; }
  // The repository as symbolic links lead to it.
  const PathParts& repository() noexcept {
    Known& all = known();
    if (all.has_followed) return all.repository;
    all.has_followed = true;
    const PathParts& lexical = all.paths.repository;
    if (!all.paths.has_repository || !path_detail::real_parts(around_, lexical, true, all.memory, sizeof all.memory, &all.repository))
      all.repository = lexical;
    return all.repository;
  }

 private:
  struct Known {
    path_detail::SurroundingPaths paths;
    PathParts repository;
    bool has_followed = false;
    char memory[4096];  // what the repository is of

    Known() noexcept {}
  };

  Known& known() noexcept {
    if (known_ == nullptr) known_ = know(new (room_) Known);
    return *known_;
  }
  Known* know(Known* all) const noexcept {
    using namespace path_class;
    std::string_view repository = around_.repository;
    if (repository.empty() && !around_.cwd.empty()) {  // then the working directory is what is worked on
      PathParts working;
      path_detail::take_path(around_.cwd, &working);
      const std::uint32_t bits = path_detail::classify_folder(working);
      const bool is_home = !around_.home.empty() && around_.home == around_.cwd;
      if ((bits & (kRoot | kHomeRoot | kSystem | kDevice)) == 0 && !is_home && !(bits & kTemporary && bits & kOutside)) {
        repository = around_.cwd;
      }
    }
    const auto take = [](std::string_view place, PathParts* out) noexcept {
      if (!place.empty()) path_detail::take_path(place, out);
      return !place.empty();
    };
    all->paths.has_repository = take(repository, &all->paths.repository);
    all->paths.has_home = take(around_.home, &all->paths.home);
    all->paths.has_temporary = take(around_.temporary, &all->paths.temporary);
    return all;
  }

  const Surroundings& around_;
  Known* known_ = nullptr;
  alignas(Known) unsigned char room_[sizeof(Known)];
};

namespace path_detail {

inline bool is_read_only(const Surroundings& around, const PathParts& path) noexcept {
  char text[4096];
  std::size_t size = 0;
  for (std::uint32_t i = 0; i < path.count; ++i) {
    const std::string_view part = path.part[i];
    if (size + 1 + part.size() > sizeof text || path.has_glob(part) || PathParts::is_unknown(part)) return false;
    text[size++] = '/';
    std::memcpy(text + size, part.data(), part.size());
    size += part.size();
  }
  return around.is_read_only != nullptr && around.is_read_only({text, size});
}

inline std::uint32_t classify_text(KnownPaths& known, const Command& command, std::string_view text, const Word& word,
                                   bool remote) noexcept {
  using namespace path_class;
  const Surroundings& surroundings = known.around();
  const bool windows = command.dialect == Dialect::powershell || command.dialect == Dialect::cmd;
  PathParts path;
  path.glob = word.has(word_flag::kGlob);
  take_path_apart(text, command.cwd, remote ? std::string_view() : surroundings.home, windows,
                  word.has(word_flag::kTemporary), &path);
  // What the beginning and the end of a very long path tell holds, but not that it is harmless.
  const std::uint32_t named = by_names(path) | (path.too_long ? kUnknown : 0u);
  switch (path.base) {
    case PathBase::unknown:
      if (word.has(word_flag::kInstalled) && path.climbs == 0 && is_installed_entry(path)) return named | kOutside | kBuild;
      return named | kUnknown | (path.climbs == 0 && is_remade(path) ? kBuild : 0u);
    case PathBase::temporary: return named | (path.climbs > 0 ? kUnknown : kTemporary);
    case PathBase::relative: {
      // In a container the working directory is that of an application.
      const bool container = (command.via & via::kContainer) != 0 && (command.via & via::kRemote) == 0;
      const bool build = path.climbs == 0 && (is_remade(path) || (container && is_build(path, 0)));
      return named | kUnknown | (path.climbs > 0 ? kSibling : 0u) | (build ? kBuild : 0u);
    }
    default: break;
  }
  if (remote) {
    const std::uint32_t at = application_depth(path);
    const bool container = (command.via & via::kContainer) != 0 && (command.via & via::kRemote) == 0;
    return named | classify_known(SurroundingPaths(), PathParts(), path) | (container && at != 0 && is_build(path, at) ? kBuild : 0u);
  }
  const SurroundingPaths& paths = known.paths();
  std::uint32_t bits = named | classify_known(paths, paths.repository, path);
  // The history of something that was copied into the repository is none of the repository's own.
  if ((bits & kVcs) != 0 && (bits & kRepository) != 0 && (bits & (kGlob | kUnknown)) != (kGlob | kUnknown)) {
    const std::uint32_t depth = paths.repository.count;
    const bool below = path.count > depth + 1 && !path.has_glob(path.part[depth]) && !path.names(depth, ".git");
    if (below && !PathParts::is_unknown(path.part[depth])) bits &= ~kVcs;
    // What was cloned for one submodule.
    const bool module = path.count > depth + 2 && path.names(depth, ".git") && path.names(depth + 1, "modules");
    if (module && (bits & (kGlob | kUnknown)) == 0) bits &= ~kVcs;
  }
  if (path.too_long) return bits & ~(kBuild | kTemporary);
  if (surroundings.real_path == nullptr) return bits;

  // What these do to a symbolic link is done to the link.
  const bool follow_last =
      path.ends_in_slash || !ascii::one_of(command.program, "rm rmdir unlink mv @delete git shred trash del erase");
  char memory[4096];
  PathParts real;
  if (real_parts(surroundings, path, follow_last, memory, sizeof memory, &real)) {
    const std::uint32_t seen = classify_known(paths, known.repository(), real);
    // The place is that of what is reached; a name that tells something is recognised by either.
    bits = named | seen | by_names(real) | (bits & kGlob);
  } else if ((bits & kWiring) != 0 && path.count != 0 && is_read_only(surroundings, path)) {
    bits = (bits & ~kWiring) | kReadOnly;
  }
  return bits;
}

}  // namespace path_detail

// Returns the classes of a path-like word as the command that carries it would see it. Linear in the word.
inline std::uint32_t classify_path(KnownPaths& known, const Command& command, const Word& word) noexcept {
  using namespace path_class;
  const std::string_view text = word.text;
  const bool windows = command.dialect == Dialect::powershell || command.dialect == Dialect::cmd;
  const std::uint32_t glob = (word.has(word_flag::kGlob) ? kGlob : 0u) | (word.has(word_flag::kCredential) ? kCredential : 0u);
  if (text == "-") return kNullDevice;
  if (windows && ascii::one_of(text, "nul $null con")) return kNullDevice;
  if (text.empty() || text.size() > 4096) return kUnknown;
  const bool remote = (command.via & (via::kRemote | via::kContainer)) != 0 && !word.has(word_flag::kHostPath);
  const std::uint32_t elsewhere = remote ? kRemote : 0;

  if (const std::size_t scheme = text.find("://");
      scheme != std::string_view::npos && scheme > 0 && scheme < 16 && !ascii::starts_with(text, "file://")) {
    bool letters = true;
    for (const char c : text.substr(0, scheme)) letters = letters && (ascii::is_name(c) || c == '+' || c == '-');
    if (letters) return kOutside | kRemote | glob;
  }
  if (const std::size_t colon = text.find(':'); windows && colon != std::string_view::npos && colon > 1 && colon < 12) {
    const std::string_view drive = text.substr(0, colon);
    if (ascii::one_of(drive, "hklm hkcu hkcr hku hkcc registry")) return kSystem;
    if (ascii::one_of(drive, "env function alias variable cert wsman temp")) return kOutside;
  }
  std::uint32_t bits = path_detail::classify_text(known, command, text, word, remote);

  // The same without an unknown part at its beginning or its end, where that may be nothing.
  if (word.has(word_flag::kMayBeEmpty) && !word.has(word_flag::kTemporary)) {
    std::size_t start = 0;
    while (start < text.size() && text[start] == kUnknownPart) ++start;
    if (start > 0 && start < text.size()) {
      const std::uint32_t left = path_detail::classify_text(known, command, text.substr(start), word, remote);
      bits |= left & (kRoot | kHomeRoot | kRepositoryRoot | (left & kRepositoryRoot ? kRepository : 0u));
    }
    std::size_t end = text.size();
    while (end > 0 && (text[end - 1] == kUnknownPart || text[end - 1] == '*')) --end;
    if (start == 0 && end > 0 && end < text.size() && text.find(kUnknownPart, end) != std::string_view::npos &&
        (text[end - 1] == '/' || (windows && text[end - 1] == '\\'))) {
      const std::uint32_t left = path_detail::classify_text(known, command, text.substr(0, end), word, remote);
      bits |= left & ~((left & kTemporary) != 0 ? kOutside : 0u) & ~((bits & kUnknown) != 0 ? kBuild : 0u);
    }
  }
  return bits | glob | elsewhere;
}
inline std::uint32_t classify_path(const Surroundings& surroundings, const Command& command, const Word& word) noexcept {
  KnownPaths known(surroundings);
  return classify_path(known, command, word);
}

}  // namespace tipstaff::gate
