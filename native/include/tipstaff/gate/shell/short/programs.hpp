// Which program a command calls, and which calls add nothing to a tree but the command itself: nothing that they carry
// is run, no file is read or remembered, and nothing that follows is seen in another way because of them.
//
// A program is looked up in the table that the shell's reader uses, and one with a handler there is left to that reader
// unless its words are known to be none of the handler's business.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "tipstaff/gate/shell/programs/table.hpp"
#include "tipstaff/gate/shell/tables/verbs.hpp"

namespace tipstaff::gate::plain {

using std::string_view;

// Compares with a text of known length, without a call.
template <std::size_t N>
bool is(string_view text, const char (&known)[N]) noexcept {
  return text.size() == N - 1 && std::memcmp(text.data(), known, N - 1) == 0;
}
template <std::size_t N>
bool begins(string_view text, const char (&known)[N]) noexcept {
  return text.size() >= N - 1 && std::memcmp(text.data(), known, N - 1) == 0;
}

// Some names, found by their hash.
template <std::size_t N>
class Names {
 public:
  constexpr explicit Names(const string_view (&names)[N]) : slots_{} {
    for (std::size_t i = 0; i < N; ++i) {
      std::uint32_t at = hash_name(names[i]) % kSlots;
      while (!slots_[at].empty()) at = (at + 1) % kSlots;
      slots_[at] = names[i];
    }
  }
  bool has(string_view name) const noexcept { return has(name, hash_name(name)); }
  bool has(string_view name, std::uint32_t hash) const noexcept {
    for (std::uint32_t at = hash % kSlots; !slots_[at].empty(); at = (at + 1) % kSlots)
      if (ascii::same_bytes(slots_[at], name)) return true;
    return false;
  }

 private:
  static constexpr std::uint32_t kSlots = N < 32 ? 64 : N < 64 ? 128 : 256;
  std::array<string_view, kSlots> slots_;
};

// Words that begin something else than a simple command, and programs that are SQL's verbs as well.
inline constexpr string_view kReservedList[] = {
    "if",   "then", "elif", "else",  "fi",     "for",  "while",    "until",  "do",    "done",  "case",
    "esac", "in",   "function", "select", "coproc", "drop", "delete", "truncate", "alter", "update", "purge",
    "rd",   "rmdir",  // with switches they are those of cmd.exe
};
inline constexpr Names kReserved(kReservedList);

// What git does with its own words alone; the others may run code, or read what they are recognised by another word.
inline constexpr string_view kGitVerbList[] = {
    "add",     "blame",     "branch",     "cat-file", "checkout", "cherry-pick", "clean",
    "clone",   "commit",    "describe", "diff",      "fetch",      "gc",       "init",     "log",         "ls-files",
    "ls-tree", "merge",     "merge-base", "mv",      "pull",       "push",     "reflog",   "remote",      "reset",
    "restore", "rev-list",  "rev-parse", "revert",   "rm",         "shortlog", "show",     "stash",       "status",
    "switch",  "tag",       "worktree", "show-ref",  "fsck",
};
inline constexpr Names kGitVerbs(kGitVerbList);

// What tools with a word for running programs do without running one.
inline constexpr string_view kToolVerbList[] = {
    "add",  "build", "check", "current", "env",    "export",  "info", "init",   "install",  "list",    "lock",
    "ls",   "pip",   "publish", "remove", "search", "show",   "sync", "tree",   "uninstall", "update",  "version",
};
inline constexpr Names kToolVerbs(kToolVerbList);

// What npm does with code of the project's own package.json, where that is read.
inline constexpr string_view kScriptVerbList[] = {
    "run", "run-script", "rum", "urn", "test", "start", "stop", "restart", "t", "tst",
};
inline constexpr Names kScriptVerbs(kScriptVerbList);

struct Call {
  const shell::Program& program;
  string_view name;  // base name
  std::uint32_t hash;  // of it
  const Word* words;
  std::uint32_t count;
  std::uint32_t first_hash;  // of the first word
  const Surroundings& around;
  bool is_last;  // nothing follows it in its text

  template <typename Test>
  bool none(Test test) const noexcept {
    for (std::uint32_t i = 0; i < count; ++i)
      if (test(words[i].text)) return false;
    return true;
  }
  string_view first() const noexcept { return count != 0 ? words[0].text : string_view(); }
  bool begins_with_operand() const noexcept { return count != 0 && !words[0].text.empty() && words[0].text[0] != '-'; }
};

inline bool is_plain_git(const Call& call) noexcept {
  if (call.count == 0) return true;
  string_view verb = call.first();
  if (is(verb, "--no-pager")) {
    if (call.count == 1) return true;
    verb = call.words[1].text;
    if (!kGitVerbs.has(verb)) return false;
  } else if (!kGitVerbs.has(verb, call.first_hash)) {
    return false;
  }
  if ((is(verb, "log") || is(verb, "diff") || is(verb, "show")) && !call.none([](string_view text) noexcept { return begins(text, "--output"); })) return false;
  // Only these may name a program for the other side, and code only where it has a blank.
  if (!is(verb, "clone") && !is(verb, "fetch") && !is(verb, "pull") && !is(verb, "push")) return true;
  return call.none([](string_view text) noexcept { return shell::holds(text, ' '); });
}

inline bool is_plain_package(const Call& call) noexcept {
  // Installing runs what package.json names.
  if (call.around.read_file != nullptr && (call.count == 0 || !call.none([](string_view text) noexcept { return is(text, "install") || is(text, "i") || is(text, "ci"); }))) return false;
  if (call.count == 0) return true;
  if (!call.begins_with_operand()) return false;
  const string_view verb = call.first();
  if (kScriptVerbs.has(verb, call.first_hash)) {
    if (call.around.read_file != nullptr) return false;
    // The words that run a script name it next; a script's own name may be a program's to others than npm.
    return is(call.name, "npm") || is(verb, "run") || call.count == 1;
  }
  if (is(verb, "pkg") || is(verb, "set-script")) return false;
  if (is(call.name, "npm")) return !is(verb, "exec") && !is(verb, "dlx") && !is(verb, "x");
  return call.around.read_file == nullptr && (is(verb, "install") || is(verb, "add") || is(verb, "remove"));
}

inline bool is_plain_copy(const Call& call) noexcept {
  if (call.count < 2) return true;
  const string_view from = call.words[call.count - 2].text;
  // A copy of a program is known under its other name, and a copy of a script where scripts are read.
  if (call.around.read_file != nullptr && !call.is_last) return false;
  const auto may_be_program = [](string_view path) noexcept { return path.find("bin") != string_view::npos; };
  if (from.empty() || from[0] == '/' || from[0] == '~') return false;
  return from.find("..") == string_view::npos && !may_be_program(from) && !may_be_program(call.around.cwd);
}

inline bool is_plain_cloud(const Call& call) noexcept {
  if (is(call.name, "aws") || is(call.name, "az")) {
    return call.none([](string_view text) noexcept {
      return text.find("command") != string_view::npos || is(text, "start-session") || is(text, "--") || begins(text, "--endpoint-url");
    });
  }
  if (is(call.name, "fab")) return false;
  return call.none([](string_view text) noexcept { return is(text, "apply") || text.find("destroy") != string_view::npos; });
}

// sed -n 10,20p FILE: nothing but lines that are printed.
inline bool is_plain_sed(const Call& call) noexcept {
  return call.count > 1 && is(call.first(), "-n") && !call.words[1].text.empty() &&
         call.words[1].text.find_first_not_of("0123456789,$p") == string_view::npos;
}

// Modules of Python that run what follows them.
inline constexpr string_view kRunningModuleList[] = {
    "timeit", "cProfile", "profile", "trace", "pdb", "coverage", "viztracer", "pyinstrument", "memory_profiler", "line_profiler", "kernprof", "scalene", "runpy", "debugpy", "django", "flask", "alembic", "aerich", "celery", "dvc", "prefect", "mlflow", "IPython", "ipython", "code", "asyncio",
};
inline constexpr Names kRunningModules(kRunningModuleList);
inline bool runs_code(const Call& call) noexcept {
  const string_view first = call.first();
  return kRunningModules.has(first.size() > 2 ? first.substr(2) : call.count > 1 ? call.words[1].text : string_view());
}

// A tool that is given commands for another machine after some verbs, and none of them is there.
[[gnu::noinline]] inline bool is_plain_elsewhere(const Call& call) noexcept {
  return !shell::kVerbTools.any(call.hash, [&](string_view verb) noexcept {
    return verb.empty() || !call.none([verb](string_view text) noexcept { return text == verb; });
  });
}

// What a byte of a program's name tells: letters alone are nothing but a name.
namespace in_name {
constexpr std::uint8_t kSign = 1;   // a digit, a dot, a dash: some such names are other programs'
constexpr std::uint8_t kSlash = 2;
constexpr std::uint8_t kOther = 4;  // not for this reader: capitals, what assignments have, versions of packages
}  // namespace in_name

constexpr std::array<std::uint8_t, 256> make_names() {
  std::array<std::uint8_t, 256> names{};
  for (int c = 0; c < 256; ++c) names[c] = (c >= 'a' && c <= 'z') || c == '_' ? 0 : (c >= 'A' && c <= 'Z') ? in_name::kOther : in_name::kSign;
  names['/'] = in_name::kSlash | in_name::kSign;
  for (const char c : {'=', '+', '@'}) names[static_cast<unsigned char>(c)] = in_name::kOther;
  return names;
}
inline constexpr std::array<std::uint8_t, 256> kNames = make_names();

// The base name of a program, as the shell's reader takes it; empty where that needs more than to cut it off.
constexpr string_view program_name(string_view name) noexcept {
  std::uint8_t seen = 0;
  for (const char c : name) seen |= kNames[static_cast<unsigned char>(c)];
  if (seen == 0) return name;
  if ((seen & in_name::kOther) != 0) return {};
  if ((seen & in_name::kSlash) != 0) {
    if (name.substr(0, 5) == "/etc/") return {};
    name = name.substr(name.rfind('/') + 1);
    if (name.empty()) return {};
  }
  if (name.size() < 4) return name;
  if (name.substr(name.size() - 4) == ".exe" || name.substr(0, 4) == "git-") return {};
  const auto versioned = [&](string_view known) noexcept {
    return name.size() > known.size() && name.substr(0, known.size()) == known && ascii::is_digit(name[known.size()]);
  };
  return (name.size() > 7 && versioned("python")) || versioned("php") || versioned("perl") || versioned("ruby") ? string_view() : name;
}

// Whether the words of a tool that nobody knows hold no command that it is given.
inline bool carries_nothing(const Call& call) noexcept {
  if (call.count > 1) {  // wrapper -v rm -rf x, wrapper /bin/rm -rf x
    std::uint32_t at = 0;
    while (at < call.count && begins(call.words[at].text, "-")) ++at;
    if (at + 1 < call.count && !call.words[at].has(word_flag::kGlob)) {
      const string_view name = program_name(call.words[at].text);
      if (name.empty() || shell::foreign_prefix(name) > 0 || shell::is_feared(name)) return false;
    }
  }
  for (std::uint32_t i = 0; i < call.count; ++i) {
    const Word& word = call.words[i];
    if (is(word.text, "--")) return false;
    // --exec=CODE, and what is typed elsewhere.
    if (word.has(word_flag::kQuoted) && shell::holds(word.text, ' ') &&
        (shell::holds("-'\"", word.text[0]) || begins(word.text, "string:") || shell::begins_command(word.text)))
      return false;
    if (i < 2 && shell::one_of(word.text, shell::kCarryingVerbs)) return false;
  }
  return true;
}

// Whether its handler does nothing.
inline bool does_nothing(const Call& call) noexcept {
  using shell::Handler;
  switch (call.program.handler) {
    case Handler::none: return !call.program.name.empty() || carries_nothing(call);
    case Handler::git: return is_plain_git(call);
    case Handler::rest: return call.count == 0;
    case Handler::option_code: return call.none([](string_view text) noexcept { return text.find(' ') != string_view::npos; });
    case Handler::package: return is_plain_package(call);
    case Handler::kubectl: return call.none([](string_view text) noexcept { return is(text, "--") || is(text, "rsh"); });
    case Handler::container:
      return call.none([](string_view text) noexcept { return is(text, "exec") || is(text, "run") || is(text, "create") || is(text, "unshare"); });
    case Handler::python: return call.count != 0 && ((begins(call.first(), "-m") && !runs_code(call)) || is(call.first(), "--version"));
    case Handler::copy: return is_plain_copy(call);
    case Handler::tar:
      return call.none([](string_view text) noexcept { return begins(text, "--") || begins(text, "-I"); });
    case Handler::cloud: return is_plain_cloud(call);
    case Handler::tool: return !is(call.name, "wsl") && kToolVerbs.has(call.first(), call.first_hash);
    case Handler::sed: return is_plain_sed(call);
    case Handler::build:
      return !is(call.name, "rmlint") && carries_nothing(call) && call.none([rake = is(call.name, "rake")](string_view text) noexcept {
               if (rake && text.size() > 2 && text[0] == '-' && text[1] != '-' && text.find_first_of("eEp") != string_view::npos) return true;  // a bundle with -e
               return begins(text, "-Dexec.") || begins(text, "-e") || begins(text, "-E") || begins(text, "-p") || begins(text, "--execute") || is(text, "-");
             });
    case Handler::compiler: return call.none([](string_view text) noexcept { return is(text, "-") || is(text, "/dev/stdin") || is(text, "-jar"); });
    case Handler::elsewhere: return is_plain_elsewhere(call);
    case Handler::alias: return !is(call.first(), "alias") && is_plain_elsewhere(call);
    default: return false;
  }
}

// Whether what it prints tells nothing of what follows in a pipe, and takes no file to know.
inline bool prints_unknown(const Call& call, bool reads_pipe) noexcept {
  using shell::Output;
  switch (call.program.output) {
    case Output::unknown:
    case Output::empty:
    case Output::filter:
    case Output::remote:
    case Output::trusted: return true;
    case Output::git: return call.none([](string_view text) noexcept { return is(text, "rev-parse") || is(text, "ls-files"); });
    case Output::cat: return !reads_pipe && call.count == 1 && call.begins_with_operand();
    default: return false;
  }
}

// Names of the shell reader's table need no look at their letters.
constexpr bool known_names_are_plain() noexcept {
  for (const shell::Program& program : shell::kPrograms)
    if (program.name.empty() || program_name(program.name) != program.name) return false;
  return true;
}
static_assert(known_names_are_plain(), "a program of the table is written as its base name");

// A program as a command calls it.
struct Called {
  const shell::Program* program;
  string_view name;    // base name
  std::uint32_t hash;  // of the name
};

// Finds the program that a command's first word calls; false where it is not for readers of plain commands.
inline bool find_called(string_view written, const Surroundings& around, Called* called) noexcept {
  called->name = written;
  called->hash = hash_name(written);
  called->program = &shell::find_program(written, called->hash);
  if (!called->program->name.empty()) return true;
  if (shell::foreign_prefix(written.substr(written.rfind('/') + 1)) > 0) return false;
  called->name = program_name(written);
  if (called->name.empty() || written[0] == '!') return false;
  if (called->name.size() != written.size()) {
    called->hash = hash_name(called->name);
    called->program = &shell::find_program(called->name, called->hash);
    // What is called by its path may be a script of the repository.
    if (called->program->name.empty() && (around.read_file != nullptr || called->name.find('.') != string_view::npos)) return false;
  }
  if (!called->program->name.empty()) return true;
  if (written[0] >= 'A' && written[0] <= 'Z' && written.find('-') != string_view::npos) return false;  // a cmdlet
  return !kReserved.has(called->name, called->hash);
}

}  // namespace tipstaff::gate::plain
