// The gate's own state folder and program on this machine, as paths and as symbolic links lead to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tipstaff/gate/paths/surrounding_paths.hpp"

namespace tipstaff::gate {

// Found when first asked for. A caller may keep it from one judgement to the next, and forgets it after a second: who
// changes a link on the way there must move a folder that holds them, which is itself judged.
class OwnPaths {
 public:
  struct OwnPath {
    PathParts lexical, real;
    bool known = false, has_real = false;

    // How a path lies to it, and how many parts it has itself.
    path_detail::Relation relation(const PathParts& path, std::uint32_t* depth) const noexcept {
      path_detail::Relation found = path_detail::relate(path, lexical);
      *depth = lexical.count;
      if (found == path_detail::Relation::other && has_real) {
        found = path_detail::relate(path, real);
        *depth = real.count;
      }
      return found;
    }

   private:
    friend class OwnPaths;
    std::size_t bytes = 0;
    char text[1024], memory[4096];  // what the parts are of
  };

  // Of surroundings that have a state folder, or a program.
  const OwnPath& state(const Surroundings& around) noexcept { return known(&state_, around.state, around); }
  const OwnPath& program(const Surroundings& around) noexcept { return known(&program_, around.program, around); }

  // Whether names below a folder lead to none of them; false where nobody asked yet.
  bool has_folder(std::string_view cwd) const noexcept {
    return cwd.size() == folder_bytes_ && std::memcmp(folder_, cwd.data(), cwd.size()) == 0;
  }
  bool is_apart() const noexcept { return is_apart_; }
  // Notes it of one folder, in the room of the last one.
  void note_folder(std::string_view cwd, bool is_apart) noexcept {
    if (cwd.size() > sizeof folder_) return;
    std::memcpy(folder_, cwd.data(), cwd.size());
    folder_bytes_ = cwd.size();
    is_apart_ = is_apart;
  }

  void forget() noexcept {
    state_.known = program_.known = false;
    folder_bytes_ = 0;
  }
  // Forgets what was found of others than those of `around`, or without following links where it does. Before it is asked.
  void serve(const Surroundings& around) noexcept {
    const bool follows = around.real_path != nullptr;
    if (follows == follows_ && is_of(state_, around.state) && is_of(program_, around.program)) return;
    forget();
    follows_ = follows;
    take(&state_, around.state);
    take(&program_, around.program);
  }

 private:
  static constexpr std::size_t kLonger = ~std::size_t{0};  // than can be kept: it is that of nobody else

  static bool is_of(const OwnPath& own, std::string_view path) noexcept {
    return path.size() == own.bytes && std::memcmp(path.data(), own.text, own.bytes) == 0;
  }
  static void take(OwnPath* own, std::string_view path) noexcept {
    own->bytes = path.size() <= sizeof own->text ? path.size() : kLonger;
    if (own->bytes != kLonger && !path.empty()) std::memcpy(own->text, path.data(), path.size());
  }
  const OwnPath& known(OwnPath* own, std::string_view path, const Surroundings& around) noexcept {
    if (own->known) return *own;
    own->known = true;
    own->lexical = PathParts();
    path_detail::take_path(own->bytes == kLonger ? path : std::string_view(own->text, own->bytes), &own->lexical);
    own->has_real = path_detail::real_parts(around, own->lexical, true, own->memory, sizeof own->memory, &own->real);
    return *own;
  }

  OwnPath state_, program_;
  std::size_t folder_bytes_ = 0;  // 0: none
  bool is_apart_ = false, follows_ = false;
  char folder_[256];
};

}  // namespace tipstaff::gate
