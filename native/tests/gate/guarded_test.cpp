// What tells at once that a text or a word leads to nothing that is guarded, against taking every path apart.
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "tipstaff/gate/paths/guarded.hpp"

using namespace tipstaff::gate;

namespace {

int checks = 0, failures = 0;
void check(bool holds, std::string_view text, std::string_view cwd, const char* what) {
  ++checks;
  if (holds) return;
  std::fprintf(stderr, "guarded: %.*s in %.*s: %s\n", static_cast<int>(text.size()), text.data(), static_cast<int>(cwd.size()), cwd.data(), what);
  ++failures;
}

// Looks for links and finds none: then every word is taken apart.
std::size_t no_links(void*, std::string_view, char*, std::size_t) noexcept { return 0; }

struct Machine {
  Surroundings around;
  std::unique_ptr<KnownPaths> places;
  std::unique_ptr<GuardedPaths> guarded;

  Machine(std::string_view cwd, std::string_view state, std::string_view program, bool looks) {
    around.cwd = cwd;
    around.home = "/home/dev";
    around.state = state;
    around.program = program;
    if (looks) {
      around.follows_links = true;
      around.real_path = no_links;
    }
    places = std::make_unique<KnownPaths>(around);
    guarded = std::make_unique<GuardedPaths>(*places);
  }
};

constexpr std::string_view kFolders[] = {"", "/", "/home", "/home/dev", "/home/dev/proj", "/home/dev/.local", "/home/dev/.local/state/tipstaff",
                                         "/home/dev/proj/.claude", "/home/dev/proj/.github", "/opt", "/opt/gate/bin", "/srv/*/x", "C:/Users/dev"};
constexpr std::string_view kStarts[] = {"", "-C", "-I", "--file=", "if=", "@", "a:", "x,", "a=b:", "-v=", "https://", "file://", "x=file://"};
constexpr std::string_view kPaths[] = {
    "~", "~/", "~/.local", "~/.local/state/tipstaff/key", "~2", "~dev", "~root/x", "x~", "HEAD~2", "/", "//", "/.", "/*", "/home", "/home/", "/home/dev",
    "/homework", "/home-old", "/home.bak", "/HOME/dev", "/home/dev/.local/state/tipstaff", "/home/dev/.local/state/tipstaff/spool.jsonl", "/h*", "/hom?/dev",
    "/opt", "/opt/gate/bin/tipstaff-hook", "/optional", "/usr/bin/env", "/usr/../home", "/usr/./lib", "/mnt/c/Users", "/c/Users", "/proc/self/root/home", "/x",
    ".", "..", "../", "../..", "./x", "../.local/state", "a/../../.local", "a..b", "main..HEAD", "a.", "a/", "a/.", "a/..", "a/b/c", ".claude", ".claude/settings.json",
    "a/.claude/settings.json", "settings.json", ".github", "hooks", ".github/hooks/x.json", ".config/opencode/plugin", ".env", "node_modules/@types/x", "a/-b",
    "tipstaff", "tipstaff-hook", "state", "state/tipstaff", ".local", "bin", "bin/tipstaff-hook", "*", ".*", "?laude", "[.]claude", "src/*.py",
    "$HOME/x", "%USERPROFILE%", "C:/Users", "C:\\Users", "c:", "a\\b", "\x01", "\x01/x", "x\x01", "/\x01/dev", "plain", "two.dots.py", "a=b", "a,b:c@d"};

}  // namespace

int main() {
  constexpr std::string_view kOwn[][2] = {{"/home/dev/.local/state/tipstaff", "/opt/gate/bin/tipstaff-hook"},
                                          {"/home/dev/.local/state/tipstaff", ""},
                                          {"", "/opt/gate/bin/tipstaff-hook"},
                                          {"/home/dev/kept", "/opt/gate/bin/judge"},
                                          {"C:/Users/dev/kept", "C:/tools/tipstaff-hook.exe"}};
  for (const auto& own : kOwn) {
    for (const std::string_view cwd : kFolders) {
      Machine quick(cwd, own[0], own[1], false), slow(cwd, own[0], own[1], true);
      for (const std::string_view start : kStarts) {
        for (const std::string_view path : kPaths) {
          const std::string text = std::string(start) + std::string(path);
          if (text.empty()) continue;
          Command command;
          command.program = "ls";
          command.cwd = cwd;
          Word word;
          word.text = text;
          if (text.find_first_of("*?[") != std::string::npos) word.flags = word_flag::kGlob;
          const Guarded found = slow.guarded->find(command, word);
          check(quick.guarded->find(command, word) == found, text, cwd, "a word is not what it leads to");
          // Not in the text: what %NAME% stands for, which drive is mounted where, and that the folder is a host's.
          if (found == Guarded::none || text.find('%') != std::string::npos || cwd.find("/.") != std::string_view::npos) continue;
          if (!own[0].empty() && own[0][0] == 'C' && text.find("C:") == std::string::npos) continue;
          for (const char* const after : {"", " x", " && ls", "\n"})
            check(quick.guarded->may_be_in("ls " + text + after), text, cwd, "a text does not show that it leads there");
        }
      }
    }
  }
  // What another's judgement kept is not taken for this one's.
  OwnPaths kept;
  Machine one("/home/dev", "/home/dev/kept", "", false), other("/home/dev", "/srv/kept", "", false);
  kept.serve(one.around);
  check(kept.state(one.around).lexical.part[0] == "home", "/home/dev/kept", "", "the state folder is another");
  kept.note_folder("/srv", true);
  kept.serve(one.around);
  check(kept.has_folder("/srv"), "/srv", "", "what was noted is forgotten");
  kept.serve(other.around);
  check(!kept.has_folder("/srv") && kept.state(other.around).lexical.part[0] == "srv", "/srv/kept", "", "what was kept is of another state folder");

  std::fprintf(stderr, "guarded: %d checks, %d failures\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
