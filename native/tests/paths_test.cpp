// Paths and the classes that rules judge them by: a table, for one machine that is described here.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "tipstaff/gate/paths.hpp"

namespace {

using namespace tipstaff::gate;
using namespace tipstaff::gate::path_class;

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

struct Case {
  const char* text;
  const char* expected;
  std::uint16_t flags = 0;
};

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

constexpr std::uint16_t G = word_flag::kGlob;
constexpr std::uint16_t U = word_flag::kUnknown;
constexpr std::uint16_t E = word_flag::kUnknown | word_flag::kMayBeEmpty;
constexpr std::uint16_t T = word_flag::kUnknown | word_flag::kTemporary;

constexpr Case kPosix[] = {
    // root
    {"/", "sibling home-root root"},
    {"//", "sibling home-root root"},
    {"/./", "sibling home-root root"},
    {"/.", "sibling home-root root"},
    {"/..", "sibling home-root root"},
    {"/../..", "sibling home-root root"},
    {"/usr/..", "sibling home-root root"},
    {"/*", "sibling home-root root glob", G},
    {"/.*", "sibling home-root root glob", G},
    {"/**", "sibling home-root root glob", G},
    {"/*/", "sibling home-root root glob", G},
    {"/*/*", "sibling home-root root glob", G},
    {"/{,.}*", "outside glob", G},
    {"./../../../", "sibling home-root root"},
    {"../../..", "sibling home-root root"},
    {"/home/dev/proj/../../..", "sibling home-root root"},
    {"/proc/self/root", "sibling home-root root"},
    {"/proc/self/root/etc/passwd", "system"},
    {"/mnt/c", "root"},
    {"/c/", "root"},
    {"/mnt/c/Windows/System32", "system"},
    {"/mnt/c/Users/dev", "home home-root"},
    {"C:/", "root"},
    {"C:\\", "root"},
    {"c:", "root"},
    {"C:\\Windows", "system"},
    // home
    {"~", "sibling home home-root"},
    {"~/", "sibling home home-root"},
    {"~/.", "sibling home home-root"},
    {"~/*", "sibling home home-root glob", G},
    {"~/.*", "sibling home home-root glob", G},
    {"..", "sibling home home-root"},
    {"../", "sibling home home-root"},
    {"../.", "sibling home home-root"},
    {"../*", "sibling home home-root glob", G},
    {"$HOME", "sibling home home-root"},
    {"${HOME}", "sibling home home-root"},
    {"$HOME/", "sibling home home-root"},
    {"%USERPROFILE%", "sibling home home-root"},
    {"$env:USERPROFILE", "sibling home home-root"},
    {"/home/dev", "sibling home home-root"},
    {"/home", "sibling home-root system"},
    {"/home/", "sibling home-root system"},
    {"/home/*", "sibling home-root system glob", G},
    {"/home/bob", "home home-root"},
    {"~bob", "home home-root"},
    {"~root", "home home-root"},
    {"/root", "home home-root"},
    {"/root/.cache/pip", "build home"},
    {"/Users/ann", "home home-root"},
    {"/Users/ann/Library/Caches/pip", "build home"},
    {"/Users", "home-root system"},
    {"/home/d*", "sibling home home-root glob", G},
    {"/h*", "sibling home-root system glob", G},
    {"/home/\x01", "home home-root", U},
    {"~/Documents", "sibling home"},
    {"~/.config/nvim", "home"},
    {"~/.cache/pip", "build home"},
    {"~/.npm/_cacache", "build home"},
    {"../..", "sibling home-root system"},
    // the repository
    {".", "repo repo-root"},
    {"./", "repo repo-root"},
    {"./*", "repo repo-root glob", G},
    {"*", "repo repo-root glob", G},
    {"**", "repo repo-root glob", G},
    {"*.*", "repo repo-root glob", G},
    {"../proj", "repo repo-root"},
    {"/home/dev/proj", "repo repo-root"},
    {"/home/dev/proj/", "repo repo-root"},
    {"../pro*", "repo repo-root sibling home glob", G},
    {"src", "repo"},
    {"src/", "repo"},
    {"./src/../src/a.py", "repo"},
    {"src/*.py", "repo glob", G},
    {"*.py", "repo glob", G},
    {"src/*", "repo glob", G},
    {".git", "repo vcs"},
    {".git/", "repo vcs"},
    {".git/objects", "repo vcs"},
    {".g*", "repo vcs wiring secrets glob", G},
    {"sub/.git", "repo vcs"},
    {"~/proj/src", "repo"},
    {"src/\x01", "repo", U},
    {"./\x01", "repo", U},
    {"./\x01", "repo repo-root", E},
    {"\x01*", "repo repo-root unknown glob", static_cast<std::uint16_t>(E | G)},
    // what a build makes again
    {"node_modules", "repo build"},
    {"./node_modules/", "repo build"},
    {"packages/a/node_modules", "repo build"},
    {"node_modules/*", "repo build glob", G},
    {"**/__pycache__", "repo build glob", G},
    {"dist", "repo build"},
    {"dist/*", "repo build glob", G},
    {"target/debug", "repo build"},
    {"./coverage", "repo build"},
    {".venv", "repo build"},
    {"venv", "repo build"},
    {"build/lib", "repo build"},
    {".next/cache", "repo build"},
    {"tmp/x", "repo build"},
    {"logs", "repo build"},
    {"pkg.egg-info", "repo build"},
    {"*.egg-info", "repo build glob", G},
    {"*.pyc", "repo build glob", G},
    {"bin", "repo build"},
    {"obj", "repo build"},
    {".mypy_cache", "repo build"},
    {"cmake-build-debug", "repo build"},
    {"builder", "repo"},
    {"distribution", "repo"},
    {"build*", "repo glob", G},
    {"/home/dev/other-project/build", "sibling home"},
    {"../other/node_modules", "sibling home"},
    {"build/\x01", "repo build", E},
    {"/build", "outside"},
    // temporary
    {"/tmp/x", "temp"},
    {"/tmp", "temp outside"},
    {"/tmp/*", "temp outside glob", G},
    {"/tmp/build-7f3a.log", "temp"},
    {"/tmp/../etc", "system"},
    {"/tmp/..", "sibling home-root root"},
    {"/var/tmp/x", "temp"},
    {"/private/tmp/x", "temp"},
    {"/private/var/folders/ab/cd/T/x", "temp"},
    {"/var/folders/ab/cd/T/x", "temp"},
    {"/dev/shm/x", "temp"},
    {"/scratch/x", "temp"},
    {"/scratch", "temp outside"},
    {"$TMPDIR/x", "temp"},
    {"/tmp/\x01", "temp", U},
    {"/tmp/\x01", "temp", E},
    {"\x01", "temp", T},
    {"\x01/x", "temp", T},
    {"\x01/*", "temp glob", static_cast<std::uint16_t>(T | G)},
    {"\x01/..", "unknown", T},
    {"/temporary", "outside"},
    // beside the repository
    {"../other", "sibling home"},
    {"../.config", "home"},
    {"../other/src", "sibling home"},
    // system
    {"/etc", "system"},
    {"/etc/*", "system glob", G},
    {"/etc/hosts", "system"},
    {"/usr/local/lib", "system"},
    {"/boot", "system"},
    {"/var/log", "system"},
    {"/e?c", "system glob", G},
    {"/[eu]*", "home-root system glob", G},
    {"/srv", "system"},
    {"/Library/x", "system"},
    {"/System", "system"},
    {"/opt/x", "system"},
    {"/mnt", "system"},
    {"/mnt/data", "outside"},
    {"/data", "outside"},
    {"/proc/sysrq-trigger", "system device"},
    {"/sys/class", "system"},
    // devices
    {"/dev/sda", "device"},
    {"/dev/sda1", "device"},
    {"/dev/sd\x01", "device", U},
    {"/dev/sd*", "device glob", G},
    {"/dev/nvme0n1", "device"},
    {"/dev/nvme0n1p2", "device"},
    {"/dev/disk2", "device"},
    {"/dev/rdisk2", "device"},
    {"/dev/disk/by-id/x", "device"},
    {"/dev/mapper/vg-root", "device"},
    {"/dev/mmcblk0", "device"},
    {"/dev/vda", "device"},
    {"/dev/loop0", "device"},
    {"/dev/md0", "device"},
    {"/dev/dm-0", "device"},
    {"/dev/mem", "device"},
    {"\\\\.\\PhysicalDrive0", "device"},
    {"\\\\.\\C:", "device"},
    {"/dev/null", "null"},
    {"/dev/zero", "null"},
    {"/dev/stdout", "null"},
    {"/dev/fd/3", "null"},
    {"/dev/tty", "null"},
    {"/dev/tcp/203.0.113.7/4444", "outside remote"},
    {"/dev", "system device"},
    {"/dev/*", "system device glob", G},
    {"-", "null"},
    // wiring
    {".claude/settings.json", "repo wiring"},
    {".claude/settings.local.json", "repo wiring"},
    {".claude/hooks/gate.sh", "repo wiring"},
    {".claude/hooks", "repo wiring"},
    {".claude", "repo wiring"},
    {".claude/", "repo wiring"},
    {".claude/*", "repo wiring glob", G},
    {".claude/*.json", "repo wiring glob", G},
    {".claude/commands/x.md", "repo"},
    {".claude/agents", "repo"},
    {".cl*", "repo wiring glob", G},
    {"~/.claude/settings.json", "home wiring"},
    {"~/.claude", "home wiring"},
    {"$HOME/.claude/settings.json", "home wiring"},
    {".codex/hooks.json", "repo wiring"},
    {"~/.codex/config.toml", "home wiring"},
    {".gemini/settings.json", "repo wiring"},
    {".cursor/hooks.json", "repo wiring"},
    {".cursor", "repo wiring"},
    {".cursor/rules/a.mdc", "repo"},
    {".github/hooks/x.json", "repo wiring"},
    {".github/workflows/ci.yml", "repo"},
    {"~/.copilot/hooks/a.json", "home wiring"},
    {".tipstaff", "repo wiring"},
    {".tipstaff/packs/local.toml", "repo wiring"},
    {".tipstaff/spool", "repo wiring"},
    {"~/.config/tipstaff/keys", "home wiring"},
    {".git/hooks", "repo vcs wiring"},
    {".git/hooks/pre-commit", "repo vcs wiring"},
    {".husky/pre-push", "repo wiring"},
    {".pre-commit-config.yaml", "repo"},
    {"/etc/claude-code/managed-settings.json", "system wiring"},
    {"/etc/cursor/hooks.json", "system wiring"},
    {"/Library/Application Support/ClaudeCode/managed-settings.json", "system wiring"},
    {".CLAUDE/Settings.json", "repo wiring"},
    {".venv/lib/python3.11/site-packages/tipstaff/gates", "repo build wiring"},
    {".//.claude/./settings.json", "repo wiring"},
    {"src/../.claude/settings.json", "repo wiring"},
    {"settings.json", "repo"},
    // secrets
    {"~/.ssh", "home secrets"},
    {"~/.ssh/id_ed25519", "home secrets"},
    {"~/.ssh/id_rsa.pub", "home"},
    {"~/.ssh/known_hosts", "home"},
    {"~/.ssh/config", "home"},
    {"~/.ssh/authorized_keys", "home secrets"},
    {"~/.ssh/*", "home secrets glob", G},
    {"~/.aws", "home secrets"},
    {"~/.aws/credentials", "home secrets"},
    {"~/.aws/config", "home secrets"},
    {"~/.config/gcloud/credentials.db", "home secrets database"},
    {"~/.azure/accessTokens.json", "home secrets"},
    {"~/.kube/config", "home secrets"},
    {".env", "repo secrets"},
    {".env.local", "repo secrets"},
    {".env.production", "repo secrets"},
    {".env*", "repo secrets glob", G},
    {".env.example", "repo"},
    {".env.sample", "repo"},
    {".env.template", "repo"},
    {".env.dist", "repo"},
    {"config/prod.env", "repo secrets"},
    {"server.pem", "repo secrets"},
    {"*.pem", "repo secrets glob", G},
    {"tls/server.key", "repo secrets"},
    {"src/id_rsa_parser.py", "repo secrets"},
    {"~/.netrc", "home secrets"},
    {".npmrc", "repo secrets"},
    {"~/.pypirc", "home secrets"},
    {"~/.docker/config.json", "home secrets"},
    {"~/.git-credentials", "home secrets"},
    {"/etc/shadow", "system secrets"},
    {"/etc/passwd", "system"},
    {"~/Library/Keychains/login.keychain-db", "sibling home secrets"},
    {"~/.gnupg", "home secrets"},
    {"~/.gnupg/secring.gpg", "home secrets"},
    {"service-account-prod.json", "repo secrets"},
    {"vault.kdbx", "repo secrets"},
    {"infra/terraform.tfstate", "repo secrets"},
    {"~/.cargo/credentials.toml", "home secrets"},
    {"/proc/self/environ", "system secrets"},
    {"~/.config/gh/hosts.yml", "home secrets"},
    {"environment.ts", "repo"},
    {"src/env.py", "repo"},
    {"key.ts", "repo"},
    {"keys.json", "repo"},
    {"file:///home/dev/.ssh/id_rsa", "home secrets"},
    // databases
    {"production.sqlite3", "repo database"},
    {"app.db", "repo database"},
    {"data/x.mdb", "repo database"},
    {"/var/lib/mysql/ibdata1", "system database"},
    // unknown
    {"\x01", "unknown", U},
    {"\x01", "unknown", E},
    {"\x01/build", "unknown", U},
    {"\x01/build", "unknown", E},
    {"\x01/*", "home-root root unknown glob", static_cast<std::uint16_t>(E | G)},
    {"\x01/", "home-root root unknown", E},
    {"\x01/..", "home-root root unknown", E},
    {"\x01/*", "unknown glob", static_cast<std::uint16_t>(U | G)},
    {"\x01/.env", "secrets unknown", U},
    {"\x01/.claude/settings.json", "wiring unknown", U},
    {"/\x01", "sibling home-root root unknown", E},
    {"/\x01", "unknown", U},
    {"~/\x01", "sibling home home-root", E},
    {"~/\x01", "sibling home", U},
    {"", "unknown"},
    // elsewhere
    {"s3://bucket/x", "outside remote"},
    {"https://example.com/x", "outside remote"},
    // symbolic links
    {"link-to-root/", "sibling home-root root"},
    {"link-to-root/etc", "system"},
    {"link-to-root", "repo"},
    {"link-to-home/*", "sibling home home-root glob", G},
    {"link-to-home/.ssh/id_rsa", "home secrets"},
    {"build-link/", "temp"},
    {"/tmp/innocent/hosts", "system"},
    {"/tmp/innocent", "temp"},
    {"/checkout/src", "repo"},
};

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
    {"node_modules", "unknown"},
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
