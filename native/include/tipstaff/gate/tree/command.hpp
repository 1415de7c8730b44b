// A command that a tool call would run: its program, its words, how it came to be run.
//
// Everything a dialect can do is said as a command. Python's shutil.rmtree(p) is `rm -r -f p`,
// a DROP TABLE is `sql drop table p`, a redirection to a file is `@write p`: one rule serves all of them.
// Pseudo programs (no file of that name is started):
//   @write PATH [--append|--empty]  a file is written: redirections, tee, Write and Edit tools, patches, open(p, "w")
//   @read PATH               a file is read: redirections, open(p)
//   @tool-read PATH          a file is shown: the Read tool and the like
//   @delete PATH             a file is removed by an editing tool or a patch
//   @send [PATH...]          data leave for the network by other means than a program (requests.post ...)
//   @assign NAME=VALUE       a variable that switches checks off: HUSKY=0, LEFTHOOK=0 ...
//   @collide PATH            several files are moved or copied to one name, each over the one before it
//   @delete-moved PATH       a folder is deleted into which files were moved just before
//   @delete-checkout PATH    a folder is deleted, and cloned again next
//   @onto-itself PATH        a file is emptied by the command that reads it
//   @fork-bomb NAME          a function that starts itself again and again
//   sql VERB [OBJECT [NAME]] one statement: verb and object in lower case, then flags --where, --always-true
//                            (a condition that is always true), --cascade, --if-exists, --temporary
//   redis, mongo ...         as their clients' commands: `redis flushall`, `mongo dropdatabase`
#pragma once

#include <cstdint>
#include <string_view>

namespace tipstaff::gate {

// Bytes of the text that was given, half open.
struct Span {
  std::uint32_t start = 0;
  std::uint32_t end = 0;
};

constexpr std::uint32_t kNone = 0xffffffffu;

// Stands in a resolved text for a part that is only known when the command runs.
constexpr char kUnknownPart = '\x01';

enum class Dialect : std::uint8_t {
  shell,
  powershell,
  cmd,
  python,
  node,
  perl,
  ruby,
  php,
  awk,
  sql,
  redis,
  mongo,
  patch,
  make,
  crontab,
  prose,
};

namespace word_flag {
constexpr std::uint16_t kUnknown = 1;        // at least one part is not known (kUnknownPart in the text)
constexpr std::uint16_t kGlob = 2;           // holds an unquoted * ? or [
constexpr std::uint16_t kQuoted = 4;         // at least one part was quoted or escaped
constexpr std::uint16_t kTemporary = 8;      // comes from mktemp or the like
constexpr std::uint16_t kMayBeEmpty = 16;    // an unknown part may be nothing: "$UNSET"/* may be /*
constexpr std::uint16_t kAppended = 32;      // stands for arguments that a program adds: xargs, find -exec {}
constexpr std::uint16_t kPseudo = 64;        // not written there: made by a reader
constexpr std::uint16_t kEnvironment = 128;  // an unknown part comes from a variable that nothing here sets
constexpr std::uint16_t kHostPath = 256;     // in a container's command: a path of the host, through a mount
constexpr std::uint16_t kNetwork = 512;      // an unknown part comes from the network: $(curl ...)
constexpr std::uint16_t kTrusted = 1024;     // an unknown part is code that its program is there to print: $(ssh-agent)
constexpr std::uint16_t kDecoded = 2048;     // a part was decoded: base64, printf escapes
constexpr std::uint16_t kCredential = 4096;  // a part comes from a variable that is named as a credential is: $API_KEY
constexpr std::uint16_t kInstalled = 8192;   // begins with a variable of make for where things are installed: $(DESTDIR)$(bindir)
constexpr std::uint16_t kLaterTurn = 16384;   // what a loop's variable makes of the word before it in a later turn: only one of them is there at once
}  // namespace word_flag

struct Word {
  std::string_view text;  // after quotes, escapes and what expansion is certain
  Span span;
  std::uint16_t flags = 0;

  bool has(std::uint16_t flag) const noexcept { return (flags & flag) != 0; }
};

// How a command came to be run; bits.
namespace via {
constexpr std::uint32_t kSudo = 1;            // sudo, doas, su, pkexec, runas
constexpr std::uint32_t kRemote = 2;          // ssh and the like: paths are those of another machine
constexpr std::uint32_t kContainer = 4;       // docker exec, docker run, kubectl exec
constexpr std::uint32_t kArgumentsAdded = 8;  // xargs, parallel, find -exec, fd -x: more arguments follow
constexpr std::uint32_t kInterpreter = 16;    // from a program's inline code (python -c, awk ...)
constexpr std::uint32_t kScript = 32;         // from a file named on the command line
constexpr std::uint32_t kScheduled = 64;      // at, crontab, systemd-run, trap: later
constexpr std::uint32_t kSubstitution = 128;  // inside $(...) or back-ticks
constexpr std::uint32_t kFunction = 256;      // in the body of a function or an alias that is called
constexpr std::uint32_t kDefinition = 512;    // in the body of a function that nothing here calls
constexpr std::uint32_t kConditional = 1024;  // after &&, ||, if, while, case: it may not run
constexpr std::uint32_t kBackground = 2048;
constexpr std::uint32_t kDecoded = 4096;   // from text that was decoded: base64, printf escapes
constexpr std::uint32_t kEvaluated = 8192;  // eval, sh -c, source /dev/stdin: text that became code
constexpr std::uint32_t kFresh = 16384;     // in a container that is made for it and has no volume: docker run
constexpr std::uint32_t kTrial = 32768;     // on a database of tests on this machine, by its name or the environment
constexpr std::uint32_t kShellsWords = 262144;  // PowerShell's variables may be those of the shell around it: for its reader alone
constexpr std::uint32_t kInClone = 65536;   // in a repository that the same line cloned: asked of rules, never set here
constexpr std::uint32_t kMadeByName = 131072;  // of what the same text made: asked of rules, never set here
}  // namespace via

struct Command {
  std::string_view program;  // base name in lower case, without .exe; pseudo programs as above; empty: not known
  Word name;                 // the program as it is there
  std::uint32_t first_word = 0;  // its arguments, without the program: tree.words()[first_word ...]
  std::uint32_t word_count = 0;
  std::string_view cwd;       // empty where it is not known
  std::uint32_t node = kNone;
  std::uint32_t carrier = kNone;    // the command that carries this one: sudo, xargs, bash -c, python -c ...
  std::uint32_t pipe_from = kNone;  // the command whose output it reads, in the same pipeline
  std::uint32_t pipe_to = kNone;
  Word input;                 // what is known of its standard input (here-document, here-string, echo ... |)
  bool has_input = false;
  std::uint32_t via = 0;      // bits of tipstaff::gate::via
  Dialect dialect = Dialect::shell;
  Span span;                  // the whole command
  bool fed = false;           // it reads what the command around it writes: tee >(it)
  bool as_written = false;    // its arguments are parts of one text, in their order
};

}  // namespace tipstaff::gate
