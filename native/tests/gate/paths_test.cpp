// Paths and the classes that rules judge them by: a table, for one machine that is described here.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "gate/path_cases.hpp"
#include "tipstaff/gate/paths/classes.hpp"

namespace {

using namespace tipstaff::gate;
using namespace tipstaff::gate::path_class;
using namespace tipstaff::gate::test;

int failures = 0;
int checks = 0;

struct Name {
  std::uint32_t bit;
  const char* name;
};
constexpr Name kNames[] = {
    {kRepository, "repo"}, {kRepositoryRoot, "repo-root"}, {kVcs, "vcs"}, {kBuild, "build"}, {kTemporary, "temp"},
    {kSibling, "sibling"}, {kHome, "home"}, {kHomeRoot, "home-root"}, {kSystem, "system"}, {kRoot, "root"},
    {kDevice, "device"}, {kNullDevice, "null"}, {kWiring, "wiring"}, {kSecrets, "secrets"}, {kUnknown, "unknown"},
    {kOutside, "outside"}, {kDatabase, "database"}, {kGlob, "glob"}, {kRemote, "remote"},
};

std::string describe(std::uint32_t bits) {
  std::string text;
  for (const Name& name : kNames) {
    if ((bits & name.bit) == 0) continue;
    if (!text.empty()) text += ' ';
    text += name.name;
  }
  return text;
}

// Links of the machine: each place, and what it leads to.
constexpr const char* kLinks[][2] = {
    {"/home/dev/proj/link-to-root", "/"},
    {"/home/dev/proj/link-to-home", "/home/dev"},
    {"/home/dev/proj/build-link", "/tmp/out"},
    {"/tmp/innocent", "/etc"},
    {"/checkout", "/home/dev/proj"},
};

std::size_t real_path(void*, std::string_view path, char* out, std::size_t capacity) noexcept {
  for (const auto& link : kLinks) {
    const std::string_view from = link[0], to = link[1];
    if (path == from || (path.size() > from.size() && path.substr(0, from.size()) == from && path[from.size()] == '/')) {
      const std::string_view rest = path.substr(from.size());
      if (to.size() + rest.size() > capacity) return 0;
      std::memcpy(out, to.data(), to.size());
      if (!rest.empty()) std::memcpy(out + to.size(), rest.data(), rest.size());
      return to.size() + rest.size();
    }
  }
  return 0;
}

void check_case(const Surroundings& surroundings, const Command& command, const Case& sample) {
  // A heap copy of exactly that size lets the sanitiser see reads past the end.
  const std::size_t size = std::strlen(sample.text);
  char* copy = new char[size + 1];
  std::memcpy(copy, sample.text, size);
  Word word;
  word.text = std::string_view(copy, size);
  word.flags = sample.flags;
  const std::string found = describe(classify_path(surroundings, command, word));
  ++checks;
  if (found != sample.expected) {
    ++failures;
    std::fprintf(stderr, "%s (cwd %.*s): found '%s', expected '%s'\n", sample.text, static_cast<int>(command.cwd.size()),
                 command.cwd.data(), found.c_str(), sample.expected);
  }
  delete[] copy;
}

template <std::size_t N>
void check_all(const Surroundings& surroundings, const Command& command, const Case (&cases)[N]) {
  for (const Case& sample : cases) check_case(surroundings, command, sample);
}

constexpr Case kWindows[] = {
    {"C:\\", "sibling home-root root"},
    {"C:\\*", "sibling home-root root glob", G},
    {"C:\\*.*", "sibling home-root root glob", G},
    {"c:/", "sibling home-root root"},
    {"D:\\", "root"},
    {"C:", "sibling home-root root"},
    {"\\", "sibling home-root root"},
    {"\\*", "sibling home-root root glob", G},
    {"C:\\Windows", "system"},
    {"c:\\windows\\system32", "system"},
    {"C:\\Program Files\\x", "system"},
    {"C:\\Program Files (x86)", "system"},
    {"C:\\ProgramData", "system"},
    {"C:\\Users", "sibling home-root system"},
    {"C:\\Users\\dev", "sibling home home-root"},
    {"C:\\Users\\dev\\*", "sibling home home-root glob", G},
    {"C:\\Users\\bob", "home home-root"},
    {"C:\\users\\DEV\\Documents", "sibling home"},
    {"%USERPROFILE%", "sibling home home-root"},
    {"%USERPROFILE%\\Desktop", "sibling home"},
    {"%UserProfile%\\*", "sibling home home-root glob", G},
    {"$env:USERPROFILE", "sibling home home-root"},
    {"$env:USERPROFILE\\.ssh", "home secrets"},
    {"$HOME", "sibling home home-root"},
    {"~", "sibling home home-root"},
    {"%SystemRoot%\\System32", "system"},
    {"%windir%", "system"},
    {"%SystemDrive%\\", "sibling home-root root"},
    {"%TEMP%\\x", "temp"},
    {"$env:TEMP\\x", "temp"},
    {"C:\\Users\\dev\\AppData\\Local\\Temp\\x", "temp sibling home"},
    {"C:\\Temp\\x", "temp"},
    {"C:\\Windows\\Temp\\x", "temp"},
    {"C:\\data", "outside"},
    {"\\\\server\\share\\x", "outside remote"},
    {"\\\\.\\PhysicalDrive0", "device"},
    {"\\\\?\\C:\\Windows", "system"},
    {"nul", "null"},
    {"NUL", "null"},
    {"$null", "null"},
    {"HKLM:\\Software", "system"},
    {"Microsoft.PowerShell.Core\\FileSystem::C:\\", "sibling home-root root"},
    {".", "repo repo-root"},
    {".\\src", "repo"},
    {"SRC\\..", "repo repo-root"},
    {"..", "sibling home home-root"},
    {"..\\other", "sibling home"},
    {"node_modules", "repo build"},
    {".\\node_modules\\x", "repo build"},
    {"bin", "repo build"},
    {"C:\\USERS\\DEV\\PROJ", "repo repo-root"},
    {".claude\\settings.json", "repo wiring"},
    {".env", "repo secrets"},
    {".git\\config", "repo vcs"},
    {"\x01\\*", "home-root root unknown glob", static_cast<std::uint16_t>(E | G)},
    {"C:\\Windows\\System32\\config\\SAM", "system secrets"},
};

constexpr Case kNowhere[] = {
    {".", "unknown"},
    {"src", "unknown"},
    {"node_modules", "build unknown"},
    {"*", "unknown glob", G},
    {"..", "sibling unknown"},
    {"../../x", "sibling unknown"},
    {".env", "secrets unknown"},
    {".git", "vcs unknown"},
    {"/", "root"},
    {"~", "home home-root"},
    {"~/x", "home"},
    {"~/..", "home-root system"},
    {"/etc", "system"},
    {"/tmp/x", "temp"},
    {"/home/dev", "home home-root"},
};

constexpr Case kAtRoot[] = {
    {"*", "sibling home-root root glob", G},
    {".", "sibling home-root root"},
    {"etc", "system"},
    {"./*", "sibling home-root root glob", G},
    {"home", "sibling home-root system"},
};

constexpr Case kFar[] = {
    {"/srv", "system remote"},
    {"/", "root remote"},
    {"~", "home home-root remote"},
    {"build", "home remote"},
    {"/home/dev/proj", "home remote"},
    {"/var/www", "system remote"},
};

void check_bounds() {
  Surroundings surroundings;
  Command command;
  // Long and deep words end, and are not called harmless.
  std::string deep;
  for (int i = 0; i < 400; ++i) deep += "a/";
  check_case(surroundings, command, {deep.c_str(), "unknown"});
  std::string up = "/tmp/x";
  for (int i = 0; i < 400; ++i) up += "/./..";
  check_case(surroundings, command, {up.c_str(), "root"});
  const std::string stars = "/" + std::string(2000, '*') + "c";
  Word word;
  word.text = stars;
  word.flags = word_flag::kGlob;
  ++checks;
  if ((classify_path(surroundings, command, word) & kSystem) == 0) {
    ++failures;
    std::fprintf(stderr, "a long pattern must be taken to name all it can\n");
  }
}

}  // namespace

int main() {
  Surroundings posix;
  posix.cwd = "/home/dev/proj";
  posix.repository = "/home/dev/proj";
  posix.home = "/home/dev";
  posix.temporary = "/scratch";
  posix.real_path = real_path;
  Command command;
  command.program = "rm";
  command.cwd = "/home/dev/proj";
  check_all(posix, command, kPosix);
  command.cwd = "/";
  check_all(posix, command, kAtRoot);
  command.cwd = "/home/dev/proj";
  command.via = via::kRemote;
  check_all(posix, command, kFar);
  posix.repository = {};  // the working directory is then what is worked on
  command.via = 0;
  check_case(posix, command, {"build", "repo build"});

  // A write goes through the link.
  posix.repository = "/home/dev/proj";
  command.program = "@write";
  check_case(posix, command, {"link-to-home", "sibling home home-root"});

  // A repository below a temporary directory is a repository.
  posix.repository = posix.cwd = command.cwd = "/tmp/work/proj";
  check_case(posix, command, {"src", "repo"});
  check_case(posix, command, {"../other", "temp sibling"});
  check_case(posix, command, {"..", "temp sibling"});
  posix.repository = posix.cwd = command.cwd = "/home/dev";
  check_case(posix, command, {"~", "repo repo-root home home-root"});

  Surroundings windows;
  windows.cwd = windows.repository = "C:\\Users\\dev\\proj";
  windows.home = "C:\\Users\\dev";
  Command cmdlet;
  cmdlet.program = "rm";
  cmdlet.dialect = Dialect::powershell;
  cmdlet.cwd = windows.cwd;
  check_all(windows, cmdlet, kWindows);

  Surroundings nowhere;
  Command somewhere;
  somewhere.program = "rm";
  check_all(nowhere, somewhere, kNowhere);
  check_bounds();
  std::printf("%d checks, %d failures\n", checks, failures);
  return failures == 0 ? 0 : 1;
}
