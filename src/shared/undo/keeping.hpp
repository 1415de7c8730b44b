// Calls of undo's native half from Python.
#ifndef TIPSTAFF_UNDO_KEEPING_HPP
#define TIPSTAFF_UNDO_KEEPING_HPP

#include <cstdint>
#include <string>
#include <vector>

#include "tipstaff/undo/keep.hpp"

namespace tipstaff::undo {

struct Asked {
  int kind = 0;
  std::string a, b, folder;
  std::int32_t number = -1;
};
struct Request {
  std::vector<Asked> effects;
  std::vector<std::string> absent, moved_from, moved_to;
  std::string state, command, session, working, root;
  std::uint64_t bytes = 0, free = 0;
  std::uint32_t files = 0, walk = 0, milliseconds = 0;
};
struct Answer {
  bool done = false;
  std::string folder, why, path;
  std::uint32_t lost_files = 0;
  std::uint64_t lost_bytes = 0;
};

inline void keep(const Request& request, Answer* answer) {
  Arena arena;
  Facts facts(arena);
  Limits limits{request.bytes, request.free, request.files, request.walk, request.milliseconds};
  Keep keep(arena, facts, limits);
  if (!request.root.empty()) keep.take_all();
  for (const std::string& path : request.absent) keep.add_absent(path);
  for (std::size_t i = 0; i < request.moved_from.size(); ++i) keep.add_move(request.moved_from[i], request.moved_to[i]);
  Outcome worst = Outcome::nothing;
  for (const Asked& asked : request.effects) {
    Effect effect;
    effect.kind = static_cast<Effect::Kind>(asked.kind);
    effect.a = asked.a;
    effect.b = asked.b;
    effect.folder = asked.folder;
    effect.number = asked.number;
    if (const Outcome outcome = keep.look(effect); outcome > worst) worst = outcome;
  }
  std::string_view folder;
  answer->done = worst <= Outcome::absent && keep.finish(request.state, request.command, request.session, request.working, request.root, &folder);
  answer->folder = folder;
  answer->why = keep.why();
  answer->path = keep.why_path();
  answer->lost_files = keep.lost_files();
  answer->lost_bytes = keep.lost_bytes();
}

// -1 where nothing is there.
inline void classes(const std::vector<std::string>& paths, std::vector<int>* found) {
  Arena arena;
  Facts facts(arena);
  for (const std::string& path : paths) {
    struct stat about;
    Repository* repository = nullptr;
    const std::string_view own = arena.copy(path);
    found->push_back(own.data() == nullptr || ::lstat(path.c_str(), &about) != 0 ? -1 : static_cast<int>(facts.of(own, about, &repository)));
  }
}

}  // namespace tipstaff::undo

#endif
