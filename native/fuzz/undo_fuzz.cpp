// Reads forged files of git and of undo itself, as a repository may hold them: the index, ignore rules, references, logs.
//
// The first byte says which file the others are. No git is found, so that nothing is started.
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tipstaff/hook/json.hpp"
#include "tipstaff/hook/state.hpp"
#include "tipstaff/undo/keep.hpp"

namespace {

using namespace tipstaff::undo;

constexpr const char* kFiles[] = {".git/index", ".gitignore", ".git/info/exclude", ".git/config", ".git/packed-refs", ".git/HEAD", ".git/logs/refs/stash",
                                  ".git/refs/heads/main", "inner/.git", ".git/commondir", "src/.gitignore", ".git/logs/HEAD"};
constexpr std::size_t kCount = sizeof kFiles / sizeof kFiles[0];

std::string folder_with_files() {
  char name[] = "/tmp/undo_fuzz.XXXXXX";
  if (::mkdtemp(name) == nullptr) std::abort();
  const std::string root = name;
  for (const char* folder : {"/.git", "/.git/info", "/.git/objects", "/.git/refs", "/.git/refs/heads", "/.git/logs", "/.git/logs/refs", "/src", "/inner", "/state", "/state/undo"})
    ::mkdir((root + folder).c_str(), 0700);
  std::ofstream(root + "/.git/HEAD") << "ref: refs/heads/main\n";
  for (const char* file : {"/a", "/b.py", "/src/c.o", "/src/c.c"}) std::ofstream(root + file) << "x";
  ::setenv("PATH", "/nowhere", 1);
  return root;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string root = folder_with_files();
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::size_t which = data[0] % (kCount + 2);
  if (which == kCount) {  // a pattern and a name
    const std::size_t cut = text.find('\n');
    const std::string pattern = text.substr(0, cut), name = cut == std::string::npos ? "" : text.substr(cut + 1);
    (void)matches(pattern, name, false);
    (void)matches(pattern, name, true);
    return 0;
  }
  if (which == kCount + 1) {  // what the hook noted for after the call
    char hex[16];
    tipstaff::hook::Writer(hex, sizeof hex).hex(tipstaff::hook::fnv64("s"));
    std::string head = root + "/state\n" + root + "/.git\n" + root + "/.git\n";
    std::ofstream(root + "/state/undo/.after-" + std::string(hex, 16)) << (data[size - 1] % 2 == 0 ? head + text : text);
    write_after(root + "/state", "s");
    return 0;
  }
  const std::string path = root + "/" + kFiles[which];
  std::ofstream(path) << text;
  {
    Arena arena;
    Facts facts(arena);
    Keep keep(arena, facts, Limits{});
    using Kind = Effect::Kind;
    for (const Kind kind : {Kind::worktree, Kind::untracked, Kind::ignored, Kind::index, Kind::ref, Kind::head, Kind::stash, Kind::reflogs, Kind::inside}) {
      Effect effect;
      effect.kind = kind;
      effect.folder = root;
      if (kind == Kind::ref) effect.a = "refs/heads/main";
      (void)keep.look(effect);
    }
    for (const char* name : {"/a", "/src", "/inner"}) {
      Effect effect;
      effect.kind = Kind::remove;
      const std::string whole = root + name;
      effect.a = whole;
      (void)keep.look(effect);
    }
  }
  ::unlink(path.c_str());
  if (which == 5) std::ofstream(path) << "ref: refs/heads/main\n";
  return 0;
}
