// Proves that a call reads alone: one table of programs and their options, and the few whose words are a language.
#include "tipstaff/gate/proof.hpp"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "tipstaff/gate/paths/names.hpp"
#include "tipstaff/gate/paths/surrounding_paths.hpp"
#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/undo/git.hpp"

namespace tipstaff::gate {

using undo::is_below;

namespace {

// Letter case counts: -c is not -C.
bool one_of(std::string_view text, std::string_view known) noexcept { return ascii::has_word(known, text); }

// Those that show no contents of what is added to their words.
constexpr std::string_view kNamesAlone = "ls wc stat file basename dirname du md5sum sha256sum echo";
constexpr std::uint32_t kMostFiles = 20000, kMostMatches = 2000;

// How the words of a program are read.
enum class Way : std::uint8_t {
  names,     // any options but `longs`; of what its operands name, it shows names, sizes, sums
  contents,  // likewise, and shows contents
  texts,     // its operands are texts
  listed,    // options of `flags`, `values` (which take one) and `longs` (`--x=` takes one) alone; shows contents
  listed_names,
  carries,   // another command, which is judged by itself
  find, sed, awk, jq, git, cd, xargs, date, test, version,
};
struct Row {
  std::string_view programs;
  Way way;
  std::string_view flags, values, longs;
  std::uint32_t most = 0xffffffffu;  // operands
};
constexpr std::string_view kRipgrep =
    "--files --hidden --no-ignore --no-ignore-vcs --glob= --iglob= --type= --type-not= --type-list --color= --colors= --line-number --no-line-number --heading --no-heading --json --count "
    "--count-matches --files-with-matches --files-without-match --ignore-case --case-sensitive --smart-case --fixed-strings --word-regexp --line-regexp --invert-match "
    "--max-count= --context= --after-context= --before-context= --multiline --multiline-dotall --sort= --sortr= --stats --vimgrep --with-filename --no-filename --only-matching "
    "--trim --max-depth= --version --column --no-column --no-messages --pcre2 --null --max-columns= --max-columns-preview --max-filesize= --passthru --replace= --regexp= --text --quiet --crlf --threads=";
constexpr Row kRows[] = {
    {"ls stat basename dirname realpath readlink pwd true false : nproc arch uname id whoami groups df which type cksum", Way::names, "", "", "", },
    {"wc du", Way::names, "", "", "--files0-from"},
    {"md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum", Way::names, "", "", "-c --check"},
    {"file", Way::names, "", "", "-C -f -z -Z -m -p -P --compile --files-from --uncompress --uncompress-noreport --magic-file --preserve-date --parameter"},
    {"cat head tail nl tac cut tr fold fmt rev paste expand unexpand join comm cmp strings od base64 base32 seq expr column hexdump", Way::contents, "", "", ""},
    {"printf", Way::contents, "", "", "-v"},
    {"grep egrep fgrep", Way::contents, "", "", "-f --file -R --dereference-recursive -d --directories"},
    {"echo sleep wait exit", Way::texts, "", "", ""},
    {"set", Way::listed, "eux", "o", "", 0},
    {"sort", Way::listed, "bdfghiMnRrsuVzcCm", "kt", "--key= --field-separator= --numeric-sort --reverse --unique --human-numeric-sort --version-sort --stable --general-numeric-sort --ignore-case --check --zero-terminated"},
    {"uniq", Way::listed, "cdiuDz", "fsw", "--count --repeated --unique --ignore-case --skip-fields= --skip-chars=", 1},
    {"diff", Way::listed, "qruNabBwiEsycpdt", "UIxCW", "--color --color= --unified --unified= --brief --recursive --side-by-side --exclude= --ignore-all-space --suppress-common-lines --strip-trailing-cr --new-file --text"},
    {"rg", Way::listed, "nilwvcFhSsxUoNHIpqaP0u", "ABCegjmMtTrd", kRipgrep},
    {"tree", Way::listed_names, "adfhpsugDFiCnQrtvA", "LIP", "--dirsfirst --noreport --gitignore --prune --du --filelimit= --charset="},
    {"timeout", Way::carries, "", "ks", ""},
    {"nice", Way::carries, "", "n", ""},
    {"time command", Way::carries, "p", "", ""},
    {"find gfind", Way::find, "", "", ""},
    {"sed gsed", Way::sed, "nErsuz", "el", "--quiet --silent --regexp-extended --separate --unbuffered --expression="},
    {"awk gawk mawk", Way::awk, "", "Fv", ""},
    {"jq", Way::jq, "rcsnMCSejaR", "", "--raw-output --compact-output --slurp --null-input --monochrome-output --color-output --sort-keys --exit-status --join-output --tab --raw-input --ascii-output --stream"},
    {"git", Way::git, "", "", ""},
    {"cd", Way::cd, "", "", "", 1},
    {"xargs", Way::xargs, "0rtx", "nLIdP", "--null --no-run-if-empty --max-args= --delimiter= --replace="},
    {"date", Way::date, "uR", "d", "--utc --date= --iso-8601 --iso-8601= --rfc-3339="},
    {"test [ [[", Way::test, "", "", ""},
    {"python python3 node gcc g++ cc c++ clang make cmake bash perl ruby php java javac tsc", Way::version, "", "", "", 1},
};

struct Git {
  std::string_view commands, flags, values;
  char operands;  // any: '*'; none: '0'; only with --list and the like: 'l'; the first is one of `words`: 'w'
  bool files;     // it looks at the files of the work tree, or refreshes the index
  bool contents;
  std::string_view words = {};
};
constexpr Git kGit[] = {
    {"status", "sbuvz", "", '*', true, false},
    {"diff", "pnsuwabcgirRzMCtWBD", "USGlL", '*', true, true},
    {"log show rev-list shortlog whatchanged", "pnsuwabcgirRzMCtWBmeEFP", "nUSGLl", '*', false, true},
    {"blame annotate", "lsewfpntcb", "LSCM", '*', true, true},
    {"grep", "nilLwvEFGPIchHqaopW0z", "eABCm", '*', true, true},
    {"ls-files", "cdmoiskuzvt", "x", '*', true, false},
    {"ls-tree", "drtlz", "", '*', false, false},
    {"cat-file", "ptse", "", '*', false, true},
    {"rev-parse describe merge-base name-rev for-each-ref show-ref count-objects cherry", "qavds", "", '*', false, false},
    {"diff-tree diff-index", "prtszmcwabMC", "USG", '*', true, true},
    {"branch", "avrqli", "", 'l', false, false},
    {"tag", "lni", "", 'l', false, false},
    {"remote", "v", "", 'w', false, false, "get-url"},
    {"stash", "pu", "", 'w', true, true, "list show"},
    {"config", "z", "", 'c', false, false},
    {"reflog", "n", "n", 'w', false, false, "show"},
    {"worktree", "v", "", 'w', false, false, "list"},
    {"version", "", "", '0', false, false},
    {"check-ignore", "vnqz", "", '*', false, false},
};
constexpr std::string_view kGitLongs =
    "--oneline --stat --stat= --numstat --shortstat --name-only --name-status --graph --all --decorate --decorate= --no-decorate --format= --pretty --pretty= --abbrev-commit --abbrev= --no-abbrev "
    "--no-merges --merges --first-parent --reverse --since= --until= --after= --before= --author= --committer= --grep= --max-count= --skip= --follow --patch --no-patch --cached --staged "
    "--word-diff --word-diff= --color-words --color --color= --no-color --unified= --ignore-all-space --ignore-space-change --ignore-blank-lines --ignore-space-at-eol --diff-filter= --find-renames "
    "--find-copies --no-renames --summary --dirstat --check --exit-code --quiet --no-ext-diff --no-textconv --date= --topo-order --date-order --author-date-order --tags --branches --remotes --left-right "
    "--cherry-pick --cherry-mark --merge-base --raw --binary --full-index --minimal --patience --histogram --diff-algorithm= --function-context --inter-hunk-context= --porcelain --porcelain= --short "
    "--branch --show-stash --untracked-files --untracked-files= --ignored --ignored= --long --line-porcelain --show-email --others --modified --deleted --stage --exclude-standard --directory "
    "--error-unmatch --full-name --full-tree --verify --abbrev-ref --abbrev-ref= --show-toplevel --show-prefix --show-cdup --git-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository "
    "--absolute-git-dir --git-common-dir --symbolic-full-name --short= --count --list --contains --no-contains --merged --no-merged --points-at --contains= --merged= --no-merged= --points-at= --sort= --verbose "
    "--show-current --get --get-all --get-regexp --show-origin --show-scope --local --global --numbered --email --ignore-case --word-regexp --extended-regexp --fixed-strings --perl-regexp "
    "--line-number --files-with-matches --files-without-match --break --heading --show-function --and --or --not --always --dirty --exact-match --match= --is-ancestor --octopus "
    "--independent --fork-point --heads --name-rev --max-depth= --compact-summary --ignore-submodules --ignore-submodules= --submodule= --relative --pickaxe-regex --pickaxe-all --cc --unmerged --killed --eol --others --no-empty-directory --tree-size --object-only --name-only";

// What in a repository's configuration runs a program, or fetches what is missing.
constexpr std::string_view kConfigured[] = {"fsmonitor", "pager", "textconv", "external", "command", "filter", "hookspath", "sshcommand", "include", "promisor",
                                            "partialclone", "gpg", "showsignature", "editor", "process", "askpass", "worktree", "[pretty", "[format", "%g"};

// Variables that change how a program shows things.
bool is_harmless(std::string_view name, std::string_view value) noexcept {
  if (one_of(name, "PAGER GIT_PAGER")) return value.empty() || value == "cat";
  return one_of(name, "LANG LC_ALL LC_CTYPE LC_COLLATE LC_MESSAGES TZ NO_COLOR FORCE_COLOR TERM COLUMNS CLICOLOR");
}

// A format by which git asks for signatures, from another program.
bool asks_for_signature(std::string_view text) noexcept {
  for (std::size_t at = text.find('%'); at != std::string_view::npos; at = text.find('%', at + 1)) {
    const std::size_t letter = text.find_first_not_of("+- ", at + 1);
    if (letter != std::string_view::npos && text[letter] == 'G') return true;
  }
  return false;
}

bool is_name(char letter) noexcept { return ascii::is_letter(letter) || letter == '_' || (letter >= '0' && letter <= '9'); }

bool names_secret(std::string_view path) noexcept {
  PathParts parts;
  path_detail::take_path(path, &parts);
  if (is_secret(parts)) return true;
  for (std::uint32_t i = 0; i < parts.count; ++i)
    if (is_secret_name(parts, i)) return true;
  return false;
}

// A script of sed that only chooses, changes and prints lines.
bool is_plain_sed(std::string_view script) noexcept {
  std::size_t at = 0;
  const auto skip_to = [&](char end) noexcept {
    while (at < script.size() && script[at] != end) at += script[at] == '\\' ? 2 : 1;
    return at++ < script.size();
  };
  while (at < script.size()) {
    const char letter = script[at++];
    if (letter == ' ' || letter == ';' || letter == '\n' || letter == '{' || letter == '}' || letter == ',' || letter == '!' || letter == '$' || letter == '+' || letter == '~' || (letter >= '0' && letter <= '9')) continue;
    if (letter == '/') {
      if (!skip_to('/')) return false;
      if (at < script.size() && (script[at] == 'I' || script[at] == 'M')) ++at;
      continue;
    }
    if (letter == 'p' || letter == 'd' || letter == 'q' || letter == 'Q' || letter == '=' || letter == 'n' || letter == 'N' || letter == 'D' || letter == 'P' || letter == 'g' || letter == 'G' || letter == 'h' || letter == 'H' || letter == 'x') continue;
    if (letter == 's' || letter == 'y') {
      if (at >= script.size() || script[at] == '\\' || script[at] == '\n' || is_name(script[at])) return false;
      const char end = script[at++];
      if (!skip_to(end) || !skip_to(end)) return false;
      while (at < script.size() && (script[at] == 'g' || script[at] == 'p' || script[at] == 'i' || script[at] == 'I' || (script[at] >= '0' && script[at] <= '9'))) ++at;
      if (at < script.size() && script[at] != ';' && script[at] != '\n' && script[at] != ' ' && script[at] != '}') return false;
      continue;
    }
    return false;
  }
  return true;
}

// A script of awk that starts nothing, writes to no file and reads no other than its operands.
bool is_plain_awk(std::string_view script) noexcept {
  for (const std::string_view word : {"system", "getline", "ENVIRON", "ARG", "close", "@", "FILENAME=", "printf >", "|&", "fflush", "extension"})
    if (script.find(word) != std::string_view::npos) return false;
  bool quoted = false, pattern = false, ambiguous = false;  // a slash after a letter may divide, or begin a pattern
  int depth = 0;
  char before = 0;
  for (std::size_t at = 0; at < script.size(); ++at) {
    const char letter = script[at];
    if (letter == '\\') {
      ++at;
      continue;
    }
    if (quoted) {
      quoted = letter != '"';
    } else if (pattern) {
      pattern = letter != '/';
    } else if (letter == '"') {
      quoted = true;
    } else if (letter == '/' && (before == 0 || before == '~' || before == '(' || before == '{' || before == ';' || before == '&' || before == '|' || before == '!' || before == ',' || before == '\n')) {
      pattern = true;
    } else if (letter == '#') {
      return false;
    } else if (letter == '/') {
      ambiguous = true;
    } else if (letter == '{') {
      ++depth;
    } else if (letter == '}') {
      --depth;
    } else if (letter == '|') {
      if (at + 1 >= script.size() || script[at + 1] != '|') return false;
      ++at;
    } else if (letter == '>' && depth > 0) {
      return false;
    }
    if (letter != ' ' && letter != '\t') before = letter;
  }
    if (ambiguous && script.find_first_of(">|") != std::string_view::npos) return false;
  return !quoted && !pattern && depth == 0;
}

bool is_plain_jq(std::string_view script) noexcept {
  for (const std::string_view word : {"env", "ENV", "import", "include", "input", "debug", "modulemeta", "getpath_", "$__"})
    if (script.find(word) != std::string_view::npos) return false;
  return true;
}

}  // namespace

struct ProvenCommand {
  Proof& proof;
  const Tree& tree;
  const Command& command;
  const Word* words;
  std::uint32_t count, own;
  std::string_view text;  // of the call
  std::uint32_t operands = 0;
  bool recursive = false, ended = false;

  std::string_view absolute(std::string_view text) const noexcept {
    if (text.substr(0, 1) == "/") return text;
    return command.cwd.empty() ? std::string_view{} : proof.arena_.copy(command.cwd, "/", text);
  }
  static bool is_known(const Word& word) noexcept { return !word.has(word_flag::kUnknown) && !word.has(word_flag::kTemporary) && word.text.find(kUnknownPart) == std::string_view::npos; }
  bool is_option(const Word& word) const noexcept { return !ended && word.text.size() > 1 && word.text[0] == '-'; }

  // A word as a path, whatever it is: what names nothing reads nothing.
  bool is_readable(std::string_view text, const Word& word, bool contents) noexcept {
    if (text.empty() || text == "-") return true;
    if (text[0] == '~' && !word.has(word_flag::kQuoted)) return false;
    if (!word.has(word_flag::kQuoted))
      if (const std::size_t brace = text.find('{'); brace != std::string_view::npos && (text.find(',', brace) != std::string_view::npos || text.find("..", brace) != std::string_view::npos)) return false;
    const std::string_view path = absolute(text);
    if (path.empty()) return false;
    if (!word.has(word_flag::kGlob) || text.find_first_of("*?[") == std::string_view::npos) return proof.may_read(path, contents);
    std::uint32_t left = kMostMatches;
    return expand({}, path, contents, &left) && left != 0;
  }
  bool expand(std::string_view known, std::string_view rest, bool contents, std::uint32_t* left) noexcept {
    while (!rest.empty() && rest[0] == '/') rest.remove_prefix(1);
    if (rest.empty()) return proof.may_read(known, contents);
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash), more = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash);
    if (*left == 0 || part == "**") return false;
    --*left;
    if (part.find_first_of("*?[") == std::string_view::npos) {
      const std::string_view path = proof.arena_.copy(known, "/", part);
      return more.empty() ? proof.may_read(path, contents) : expand(path, more, contents, left);
    }
    const int folder = ::open(proof.arena_.join(known, "/"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return true;
    const char** names = nullptr;
    std::uint32_t found = 0;
    bool held = undo::read_names(proof.arena_, folder, &names, &found);
    ::close(folder);
    for (std::uint32_t i = 0; i < found && held && *left != 0; ++i) {
      const std::string_view name = names[i] + 1;
      if (name[0] == '.' || !undo::matches(part, name, false)) {
        held = held && part[0] != '.';
        continue;
      }
      const std::string_view path = proof.arena_.copy(known, "/", name);
      --*left;
      held = more.empty() ? proof.may_read(path, contents) : expand(path, more, contents, left);
    }
    return held;
  }
  // What is in the word of an option beside its name.
  bool has_readable_value(const Word& word, bool contents) noexcept {
    const std::size_t equal = word.text.find('=');
    if (equal != std::string_view::npos) return is_readable(word.text.substr(equal + 1), word, contents);
    return word.text[1] == '-' || word.text.size() < 3 || is_readable(word.text.substr(2), word, contents);
  }

  // Options that are listed; others fail. `from`: the first word.
  bool has_listed_options(const Row& row, bool contents, std::uint32_t from = 0) noexcept {
    for (std::uint32_t i = from; i < count; ++i) {
      const Word& word = words[i];
      const std::string_view text = word.text;
      if (!is_known(word)) return false;
      if (!is_option(word)) {
        // A file's name may be an option.
        if (!ended && word.has(word_flag::kGlob) && !word.has(word_flag::kQuoted) && !text.empty() && text.find_first_of("*?[") == 0) return false;
        ++operands;
        if (!is_readable(text, word, contents)) return false;
        continue;
      }
      if (text == "--") {
        ended = true;
        continue;
      }
      if (text[1] == '-') {
        const std::size_t equal = text.find('=');
        if (one_of(text.substr(0, equal == std::string_view::npos ? equal : equal + 1), row.longs)) {
          if (text == "--recursive") recursive = true;
          if (!has_readable_value(word, contents)) return false;
          continue;
        }
        const char* const valued = proof.arena_.join(text, "=");
        if (equal != std::string_view::npos || valued == nullptr || !one_of(valued, row.longs) || ++i >= count || !is_known(words[i]) || !is_readable(words[i].text, words[i], contents)) return false;
        continue;
      }
      for (std::size_t k = 1; k < text.size(); ++k) {
        if (text[k] == 'r') recursive = true;
        if (row.flags.find(text[k]) != std::string_view::npos) continue;
        if (row.values.find(text[k]) == std::string_view::npos) {
          if (text[k] >= '0' && text[k] <= '9' && row.way == Way::listed && row.programs != "sort") continue;  // -20
          return false;
        }
        if (k + 1 < text.size()) {
          if (!is_readable(text.substr(k + 1), word, contents)) return false;
        } else if (++i >= count || !is_known(words[i]) || !is_readable(words[i].text, words[i], contents)) {
          return false;
        }
        break;
      }
    }
    return operands <= row.most;
  }
  // Also where it is abbreviated, or among others of one letter.
  static bool is_denied(std::string_view text, std::string_view options) noexcept {
    const std::string_view name = text.substr(0, text.find('='));
    while (!options.empty()) {
      const std::size_t space = options.find(' ');
      const std::string_view denied = options.substr(0, space);
      options = space == std::string_view::npos ? std::string_view{} : options.substr(space + 1);
      if (text[1] == '-' ? name.size() > 2 && denied.substr(0, name.size()) == name : denied.size() == 2 && text.find(denied[1], 1) != std::string_view::npos) return true;
    }
    return false;
  }
  // Any options but those that are denied.
  bool has_no_denied(const Row& row, bool contents) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
      const Word& word = words[i];
      const std::string_view text = word.text;
      if (!is_known(word)) {
        const std::uint16_t kinds = word_flag::kEnvironment | word_flag::kNetwork | word_flag::kCredential | word_flag::kTemporary;
        if (row.programs == "printf" && i != 0 && (word.flags & kinds) == 0) continue;
        return false;
      }
      if (!is_option(word)) {
        ++operands;
        if (!is_readable(text, word, contents)) return false;
        continue;
      }
      if (text == "--") {
        ended = true;
        continue;
      }
      if (text == "--recursive" || (text[1] != '-' && text.find('r') != std::string_view::npos)) recursive = true;
      if (is_denied(text, row.longs) || !has_readable_value(word, contents)) return false;
    }
    return true;
  }

  bool is_free_of_secrets(bool hidden, bool ignored, std::string_view glob) noexcept {
    std::uint32_t left = kMostFiles;
    bool held = true;
    for (std::uint32_t i = 0; i < count && held; ++i) {
      struct stat about;
      if (words[i].text.empty() || words[i].text[0] == '-' || words[i].has(word_flag::kGlob)) continue;
      const std::string_view path = absolute(words[i].text);
      if (path.data() == nullptr || ::stat(proof.arena_.join(path), &about) != 0 || !S_ISDIR(about.st_mode)) continue;
      held = proof.has_no_secret(path, hidden, ignored, glob, &left);
    }
    for (std::uint32_t i = 0; i < count && held; ++i)  // patterns of folders
      if (words[i].has(word_flag::kGlob)) held = proof.has_no_secret(command.cwd, hidden, ignored, glob, &left);
    if (held && operands <= 1 && command.pipe_from == kNone) held = proof.has_no_secret(command.cwd, hidden, ignored, glob, &left);
    return held && left != 0;
  }
  bool has_option(char letter, std::string_view name) const noexcept {
    for (std::uint32_t i = 0; i < count && words[i].text != "--"; ++i) {
      const std::string_view text = words[i].text;
      if (text.size() > 1 && text[0] == '-' && (text[1] == '-' ? text == name : letter != 0 && text.find(letter, 1) != std::string_view::npos)) return true;
    }
    return false;
  }
  std::uint32_t carried() const noexcept {
    std::uint32_t found = 0;
    for (std::uint32_t i = 0; i < tree.command_count(); ++i) found += tree.command(i).carrier == own;
    return found;
  }

  bool ripgrep(const Row& row) noexcept {
    if (!has_listed_options(row, true)) return false;
    if (has_option(0, "--files") || has_option(0, "--type-list") || has_option(0, "--version")) return true;
    std::string_view glob;
    bool chosen = false;
    for (std::uint32_t i = 0; i < count; ++i) {
      std::string_view text = words[i].text, value;
      if (text == "-g" || text == "--glob" || text == "--iglob") value = i + 1 < count ? words[i + 1].text : std::string_view{};
      else if (text.substr(0, 2) == "-g") value = text.substr(2);
      else if (text.substr(0, 7) == "--glob=" || text.substr(0, 8) == "--iglob=") value = text.substr(text.find('=') + 1);
      if (value.empty() || value[0] == '!') continue;
      if (chosen) glob = "*";
      else glob = undo::name_of(value);
      chosen = true;
    }
    const bool own = proof.has_file("/.ignore") || proof.has_file("/.rgignore");
    const bool all = own || has_option('u', "--no-ignore") || has_option(0, "--no-ignore-vcs");
    return is_free_of_secrets(chosen || all || has_option(0, "--hidden"), chosen || all, glob);
  }

  bool find() noexcept {
    constexpr std::string_view kTests = "-type -name -iname -path -ipath -wholename -regex -iregex -maxdepth -mindepth -size -mtime -mmin -newer -ctime -cmin -atime -amin -perm -user -group -empty -prune -print -print0 -ls -printf "
                                        "-not -o -or -a -and -true -false -readable -writable -executable -links -inum -samefile -regextype -depth -xdev -mount -nogroup -nouser -quit";
    std::uint32_t runs = 0, roots = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::string_view text = words[i].text;
      if (!is_known(words[i])) return false;
      if (text.empty()) return false;
      if (words[i].has(word_flag::kGlob) && !words[i].has(word_flag::kQuoted) && text.find_first_of("*?[") == 0) return false;
      if ((text == "-exec" || text == "-execdir")) {
        if (text == "-execdir") return false;  // from a folder of its own
        ++runs;
        while (++i < count && words[i].text != ";" && words[i].text != "+") {}
        continue;
      }
      if (text[0] == '-' && text.size() > 1 && !(text[1] >= '0' && text[1] <= '9')) {
        if (!one_of(text, kTests)) return false;
      } else if (text != "(" && text != ")" && text != "!" && text != "," && (!is_readable(text, words[i], false) || (i == roots && ++roots != 0 && !proof.is_inside(absolute(text))))) {
        return false;
      }
    }
    if (runs == 0) return true;
    bool shows = false;
    for (std::uint32_t i = 0; i < tree.command_count(); ++i)
      shows = shows || (tree.command(i).carrier == own && !one_of(tree.command(i).program, kNamesAlone));
    std::uint32_t left = kMostFiles;
    for (std::uint32_t i = 0; i < count && words[i].text[0] != '-' && shows; ++i)
      if (!proof.has_no_secret(absolute(words[i].text), true, true, {}, &left)) return false;
    return carried() == runs && left != 0;
  }

  // What another program adds to is a program that no option of makes do more.
  bool takes_added() const noexcept {
    return one_of(command.program, "ls wc stat file basename dirname du md5sum sha256sum cat head tail grep egrep fgrep cut nl echo");
  }
  bool xargs(const Row& row) noexcept {
    std::uint32_t at = 0;
    for (; at < count && words[at].text.size() > 1 && words[at].text[0] == '-'; ++at) {
      const std::string_view text = words[at].text;
      if (!is_known(words[at])) return false;
      if (text[1] == '-' ? !one_of(text.substr(0, text.find('=') == std::string_view::npos ? text.size() : text.find('=') + 1), row.longs) : row.flags.find(text[1]) == std::string_view::npos && row.values.find(text[1]) == std::string_view::npos) return false;
      if (text.size() == 2 && row.values.find(text[1]) != std::string_view::npos) ++at;
    }
    if (at >= count || carried() != 1) return false;
    // Names that were found in the repository, not lines of a file.
    std::uint32_t from = command.pipe_from;
    while (from != kNone && one_of(tree.command(from).program, "head tail sort uniq grep")) {
      const Command& filter = tree.command(from);
      if (filter.pipe_from == kNone) break;
      from = filter.pipe_from;
    }
    if (from == kNone) return false;
    const Command& source = tree.command(from);
    const Word* const given = tree.arguments(source);
    const auto has = [&](std::string_view options) noexcept {
      for (std::uint32_t i = 0; i < source.word_count; ++i)
        if (one_of(given[i].text, options)) return true;
      return false;
    };
    bool names = false;
    if (one_of(source.program, "find gfind")) names = !has("-printf -ls -exec");
    else if (source.program == "rg") names = has("-l --files --files-with-matches");
    else if (source.program == "grep") names = has("-l -rl -lr -rln -lrn --files-with-matches");
    else if (source.program == "git" && source.word_count != 0) names = given[0].text == "ls-files" || has("--name-only");
    if (!names) return false;
    for (std::uint32_t i = 0; i < tree.command_count(); ++i)
      if (tree.command(i).carrier == own && !one_of(tree.command(i).program, kNamesAlone)) {
        std::uint32_t left = kMostFiles;
        return proof.has_no_secret(proof.repository_->root, true, true, {}, &left) && left != 0;
      }
    return true;
  }

  bool git() noexcept {
    std::uint32_t at = 0;
    for (; at < count && words[at].text.size() > 1 && words[at].text[0] == '-'; ++at) {
      const std::string_view text = words[at].text;
      if (one_of(text, "--no-pager -P --no-optional-locks --literal-pathspecs")) continue;
      if (text == "--version") return count == 1;
      if (text != "-C" || ++at >= count || !is_known(words[at])) return false;  // the command's folder is that one
    }
    if (at >= count || !is_known(words[at])) return false;
    const std::string_view sub = words[at].text;
    for (const Git& row : kGit) {
      if (!one_of(sub, row.commands)) continue;
      bool lists = false, patch = row.contents && sub != "log" && sub != "rev-list" && sub != "shortlog" && sub != "stash";
      std::uint32_t operands_after = 0;
      std::string_view first;
      for (std::uint32_t i = at + 1; i < count; ++i) {
        const Word& word = words[i];
        const std::string_view text = word.text;
        if (!is_known(word) || asks_for_signature(text)) return false;
        if (!ended && text == "--") {
          ended = true;
          continue;
        }
        if (ended || text.size() < 2 || text[0] != '-') {
          if (!ended && word.has(word_flag::kGlob) && !word.has(word_flag::kQuoted) && text.find_first_of("*?[") == 0) return false;
          if (operands_after++ == 0) first = text;
          const std::size_t colon = text.rfind(':');
          if (row.contents && (names_secret(text) || (colon != std::string_view::npos && names_secret(text.substr(colon + 1))))) return false;
          if (!is_readable(text, word, row.contents)) return false;
          continue;
        }
        lists = lists || one_of(text.substr(0, text.find('=')), "--list -l --contains --no-contains --merged --no-merged --points-at --show-current --get --get-all --get-regexp");
        if (text[1] == '-') {
          const std::size_t equal = text.find('=');
          const std::string_view name = text.substr(0, equal == std::string_view::npos ? equal : equal + 1);
          const char* const valued = proof.arena_.join(text, "=");
          patch = patch || one_of(text, "--patch --word-diff --color-words --cc");
          if (one_of(name, kGitLongs)) continue;
          if (equal != std::string_view::npos || valued == nullptr || !one_of(valued, kGitLongs) || ++i >= count || !is_known(words[i]) || asks_for_signature(words[i].text)) return false;
          continue;
        }
        for (std::size_t k = 1; k < text.size(); ++k) {
          if (one_of(sub, "log show rev-list diff stash") && (text[k] == 'p' || text[k] == 'u' || text[k] == 'S' || text[k] == 'G' || text[k] == 'L' || text[k] == 'c')) patch = true;
          if (text[k] == 'u' && sub == "status") break;  // -uno
          if (row.values.find(text[k]) != std::string_view::npos) {
            if (k + 1 == text.size() && (++i >= count || !is_known(words[i]))) return false;
            break;
          }
          if (row.flags.find(text[k]) == std::string_view::npos && !(text[k] >= '0' && text[k] <= '9')) return false;
        }
      }
      if (row.operands == '0' && operands_after != 0) return false;
      if (row.operands == 'l' && operands_after != 0 && !lists) return false;
      if (row.operands == 'w' && operands_after != 0 && !one_of(first, row.words)) return false;
      if (sub == "stash" && operands_after == 0) return false;
      if (sub == "config") {
        if (!lists || operands_after != 1) return false;
        for (const std::string_view word : {"token", "pass", "header", "cred", "secret", "key", "url", "*", "."})
          if (first.find(word) != std::string_view::npos && (word != "." || first == ".")) return false;
      }
      if (sub == "remote" && !proof.is_git_plain(false)) return false;
      if ((patch || (sub == "stash" && first == "show")) && proof.tracks_secrets()) return false;
      return proof.is_git_plain(row.files || patch || has_option('S', {}) || sub == "log" || sub == "show");
    }
    return false;
  }

  bool holds() noexcept {
    constexpr std::uint32_t kRefused = ~(via::kConditional | via::kBackground | via::kSubstitution | via::kArgumentsAdded);
    if ((command.via & kRefused) != 0 || command.dialect != Dialect::shell || command.program.empty()) return false;
    char found[PATH_MAX];
    if (proof.repository_ == nullptr || command.cwd.empty() || ::realpath(proof.arena_.join(command.cwd), found) == nullptr || proof.facts_.repository(proof.arena_.copy(found)) != proof.repository_) return false;
    for (std::uint32_t i = 0; i < count; ++i) {  // names that are found when it runs may be several words
      const Span span = words[i].span;
      if (words[i].has(word_flag::kGlob) && span.start < span.end && span.end <= text.size() && text.substr(span.start, span.end - span.start).find_first_of("$`") != std::string_view::npos) return false;
    }
    if (command.program[0] == '@') return command.program == "@read" && count == 1 && is_known(words[0]) && is_readable(words[0].text, words[0], true);
    if (!proof.is_own_program(command.name, command.program)) return false;
    const bool added = (command.via & via::kArgumentsAdded) != 0;
    if (added && !takes_added()) return false;
    for (const Row& row : kRows) {
      if (!one_of(command.program, row.programs)) continue;
      if (added) {  // what is found is added to these words
        const bool contents = !one_of(command.program, kNamesAlone);
        for (std::uint32_t i = 0; i < count; ++i) {
          const Word& word = words[i];
          if (word.has(word_flag::kAppended) || word.text == "{}") continue;
          if (!is_known(word) || (is_option(word) ? is_denied(word.text, row.longs) || !has_readable_value(word, contents) : !is_readable(word.text, word, contents))) return false;
        }
        return true;
      }
      switch (row.way) {
        case Way::names:
          if (!has_no_denied(row, false)) return false;
          if (command.program != "du" && !(command.program == "ls" && (recursive || has_option('R', "--recursive")))) return true;
          for (std::uint32_t i = 0; i < count; ++i)
            if (!is_option(words[i]) && (words[i].has(word_flag::kGlob) || !proof.is_inside(absolute(words[i].text)))) return false;
          return true;
        case Way::contents:
          if (!has_no_denied(row, true)) return false;
          return !recursive || row.programs[0] != 'g' || is_free_of_secrets(true, true, {});
        case Way::texts:
          for (std::uint32_t i = 0; i < count; ++i)
            if (!is_known(words[i]) && (words[i].flags & (word_flag::kEnvironment | word_flag::kNetwork | word_flag::kCredential | word_flag::kTemporary)) != 0) return false;
          return true;
        case Way::listed:
          if (command.program == "rg") return ripgrep(row);
          if (command.program == "set" && count == 0) return false;  // shows all variables
          if (!has_listed_options(row, true)) return false;
          return command.program != "diff" || !recursive || is_free_of_secrets(true, true, {});
        case Way::listed_names:
          if (!has_listed_options(row, false)) return false;
          for (std::uint32_t i = 0; i < count; ++i)
            if (!is_option(words[i]) && !proof.is_inside(absolute(words[i].text))) return false;
          return true;
        case Way::carries:
          if (command.program == "command" && count == 2 && one_of(words[0].text, "-v -V")) return is_known(words[1]);
          if (command.program == "time" && count == 0) return true;  // the shell's own word
          if (one_of(command.program, "time command") && (count == 0 || words[0].text.substr(0, 1) == "-")) return false;
          return carried() == 1;
        case Way::find: return find();
        case Way::sed: {
          if (!has_listed_options(row, true)) return false;
          bool given = false;
          for (std::uint32_t i = 0; i < count; ++i) {
            std::string_view text = words[i].text;
            if (text.substr(0, 13) == "--expression=") text.remove_prefix(13);
            else if (text == "-e" || text == "-ne" || text == "-Ee" || text == "-nEe" || text == "-rne") text = ++i < count ? words[i].text : std::string_view{};
            else if (text.size() > 1 && text[0] == '-' && text.find('e') != std::string_view::npos) return false;
            else continue;
            given = true;
            if (!is_plain_sed(text)) return false;
          }
          for (std::uint32_t i = 0; i < count && !given; ++i)
            if (words[i].text.substr(0, 1) != "-") return is_plain_sed(words[i].text);
          return given;
        }
        case Way::awk: {
          std::uint32_t i = 0;
          for (; i < count && words[i].text.size() > 1 && words[i].text[0] == '-'; ++i) {
            if (!is_known(words[i]) || (words[i].text[1] != 'F' && words[i].text[1] != 'v')) return false;
            if (words[i].text.size() == 2 && (++i >= count || !is_known(words[i]))) return false;
          }
          if (i >= count || !is_known(words[i]) || !is_plain_awk(words[i].text)) return false;
          for (++i; i < count; ++i) {
            if (!is_known(words[i]) || words[i].text.substr(0, 1) == "-") return false;
            if (words[i].has(word_flag::kGlob) && words[i].text.find_first_of("*?[") == 0) return false;
            if (const std::size_t equal = words[i].text.find('='); equal != std::string_view::npos) return false;
            if (!is_readable(words[i].text, words[i], true)) return false;
          }
          return true;
        }
        case Way::jq:
          if (!has_listed_options(row, true) || operands == 0) return false;
          for (std::uint32_t i = 0; i < count; ++i)
            if (words[i].text.substr(0, 1) != "-") return is_plain_jq(words[i].text);
          return false;
        case Way::git: return git();
        case Way::cd: {
          struct stat about;
          if (count != 1 || !is_known(words[0]) || words[0].text.empty() || words[0].text[0] == '-' || words[0].has(word_flag::kGlob)) return false;
          const std::string_view path = absolute(words[0].text);
          char found[PATH_MAX];
          if (path.data() == nullptr || ::stat(proof.arena_.join(path), &about) != 0 || !S_ISDIR(about.st_mode) || ::realpath(proof.arena_.join(path), found) == nullptr) return false;
          return is_below(found, proof.repository_->root);
        }
        case Way::xargs: return xargs(row);
        case Way::date:
          if (!has_listed_options(row, false)) return false;
          for (std::uint32_t i = 0; i < count; ++i)
            if (words[i].text.substr(0, 1) != "-" && words[i].text.substr(0, 1) != "+" && !(i != 0 && one_of(words[i - 1].text, "-d --date"))) return false;
          return true;
        case Way::test:
          for (std::uint32_t i = 0; i < count; ++i) {
            if (!is_known(words[i]) || one_of(words[i].text, "-v -R")) return false;
            if (words[i].text.find('[') != std::string_view::npos || words[i].text.find('$') != std::string_view::npos) return false;
            if (words[i].text.substr(0, 1) != "-" && !is_readable(words[i].text, words[i], false)) return false;
          }
          return true;
        case Way::version: return count == 1 && one_of(words[0].text, "--version -V -version");
      }
    }
    return false;
  }
};

Proof::Proof(undo::Arena& arena, undo::Facts& facts, const Surroundings& around) noexcept : arena_(arena), facts_(facts), around_(around) {
  char found[PATH_MAX];
  const char* const folder = around.cwd.empty() ? nullptr : arena.join(around.cwd);
  if (folder != nullptr && ::realpath(folder, found) != nullptr) repository_ = facts.repository(arena.copy(found));
}

void Proof::take(const Tree& tree, std::string_view text) noexcept {
  ++taken_;
  if (failed_) return;
  failed_ = repository_ == nullptr || text.empty() || tree.full() || tree.uncertainty_count() != 0 || tree.command_count() == 0 || !is_plain(text);
  for (std::uint32_t i = 0; i < tree.node_count() && !failed_; ++i) failed_ = tree.nodes()[i].kind == NodeKind::function;
  for (std::uint32_t i = 0; i < tree.command_count() && !failed_; ++i) {
    const Command& command = tree.command(i);
    ProvenCommand one{*this, tree, command, tree.arguments(command), command.word_count, i, text};
    failed_ = !one.holds();
  }
  failed_ = failed_ || arena_.full();
}

// The text itself, whatever was read in it: no file is written to, no variable set, no code made.
bool Proof::is_plain(std::string_view text) const noexcept {
  bool quotes_code = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char letter = text[at], next = at + 1 < text.size() ? text[at + 1] : '\0';
    const char before = at == 0 ? ' ' : text[at - 1];
    const bool begins = std::string_view(" \t\n;&|(){}`\"").find(before) != std::string_view::npos;
    if ((static_cast<unsigned char>(letter) < 0x20 && letter != '\n' && letter != '\t') || letter == 0x7f) return false;
    switch (letter) {
      case '\'': {
        if (before == '$') return false;
        const std::size_t end = text.find('\'', at + 1);
        if (end == std::string_view::npos) return false;
        at = end;
        continue;
      }
      case '"': {
        if (before == '$') return false;
        if (quotes_code) {
          quotes_code = false;
          continue;
        }
        std::size_t end = at + 1;
        bool code = false;
        for (; end < text.size() && text[end] != '"'; ++end) {
          code = code || text[end] == '`' || text[end] == '$';
          if (text[end] == '\\') ++end;
        }
        if (!code) at = end;  // what is run in it is looked at as if it were not quoted
        quotes_code = code;
        continue;
      }
      case '\\':
        if (next == '\n') return false;
        ++at;
        continue;
      case '#':
        if (begins && before != '"')
          while (at + 1 < text.size() && text[at + 1] != '\n') ++at;
        continue;
      case '<':
        if (next == '(' || next == '>' || next == '&' || (next == '<' && text.substr(at, 3) != "<<<")) return false;
        if (next == '<') at += 2;
        continue;
      case '>': {
        std::size_t to = at + 1;
        if (before == '&' || next == '(') return false;
        if (next == '>' || next == '|') ++to;
        if (to < text.size() && text[to] == '&') {
          if (to + 1 >= text.size() || text[to + 1] < '0' || text[to + 1] > '9') return false;
          at = to + 1;
          continue;
        }
        while (to < text.size() && text[to] == ' ') ++to;
        constexpr std::string_view kNull = "/dev/null";
        if (text.substr(to, kNull.size()) != kNull || (to + kNull.size() < text.size() && std::string_view(" \t\n;&|)").find(text[to + kNull.size()]) == std::string_view::npos)) return false;
        at = to + kNull.size() - 1;
        continue;
      }
      case '&':
        if (next == '>') {
          std::size_t to = at + 2;
          while (to < text.size() && text[to] == ' ') ++to;
          if (text.substr(to, 9) != "/dev/null") return false;
          at = to + 8;
        }
        continue;
      case '(':
        if (next == '(' || next == ')' || before == '=' || before == '@' || before == '!' || before == '?' || before == '*' || before == '+') return false;
        continue;
      case '$':
        if (next == '[' || text.substr(at, 3) == "$((") return false;
        if (next == '{') {
          std::size_t end = at + 2;
          while (end < text.size() && is_name(text[end])) ++end;
          if (end >= text.size() || text[end] != '}' || end == at + 2) return false;
        }
        continue;
      default: break;
    }
    if (!begins || !(ascii::is_letter(letter) || letter == '_')) continue;
    std::size_t end = at;
    while (end < text.size() && is_name(text[end])) ++end;
    if (end < text.size() && text[end] == '[') return false;
    const std::size_t equal = end + (text.substr(end, 2) == "+=" ? 1 : 0);
    const std::size_t word = at < 3 ? std::string_view::npos : text.find_last_not_of(' ', at - 1);
    const bool given = word != std::string_view::npos && word != at - 1 && word > 1 && text.substr(word - 1, 2) == "-v" && text[word - 2] == ' ';
    if (equal >= text.size() || text[equal] != '=' || given) {
      at = end - 1;
      continue;
    }
    const std::size_t stop = text.find_first_of(" \t\n;&|", equal);
    if (!is_harmless(text.substr(at, end - at), text.substr(equal + 1, stop == std::string_view::npos ? stop : stop - equal - 1))) return false;
    at = equal;
  }
  return true;
}

bool Proof::may_read(std::string_view path, bool contents) noexcept {
  char found[PATH_MAX];
  const char* const text = path.empty() ? nullptr : arena_.join(path);
  if (text == nullptr || path[0] != '/' || repository_ == nullptr) return false;
  struct stat about;
  if (::realpath(text, found) == nullptr) {
    if (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG) return false;
    return ::lstat(text, &about) != 0 && !(contents && names_secret(path)) && !is_below(path, "/dev") && !is_below(path, "/proc");
  }
  const std::string_view real = found;
  if (::stat(found, &about) != 0) return false;
  if (contents && !S_ISDIR(about.st_mode) && (names_secret(path) || names_secret(real))) return false;
  if (is_below(real, repository_->root) || is_below(real, repository_->common)) {
    if (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)) return false;
    if (is_below(real, repository_->git_folder) || is_below(real, repository_->common)) return !contents || S_ISDIR(about.st_mode) || one_of(undo::name_of(real), "HEAD ORIG_HEAD MERGE_HEAD FETCH_HEAD index description exclude packed-refs") || real.find("/hooks/") != std::string_view::npos;
    return true;
  }
  if (real == "/dev/null") return true;
  if (is_below(real, "/proc")) return one_of(real, "/proc/cpuinfo /proc/meminfo /proc/version /proc/loadavg /proc/uptime");
  if (is_below(real, "/sys") || is_below(real, "/dev") || is_below(real, "/run") || (!around_.home.empty() && around_.home != "/" && is_below(real, around_.home)) || is_below(real, "/root") || is_below(real, "/home") || is_below(real, "/Users")) return false;
  if (!around_.state.empty() && is_below(real, around_.state)) return false;
  if (names_secret(real) || (!S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode)) || (about.st_mode & S_IROTH) == 0) return false;
  for (std::string_view folder = undo::folder_of(real); folder.size() > 1; folder = undo::folder_of(folder))
    if (::stat(arena_.join(folder), &about) != 0 || (about.st_mode & S_IXOTH) == 0) return false;
  return true;
}

bool Proof::has_file(std::string_view name) noexcept { return ::access(arena_.join(repository_->root, name), F_OK) == 0; }

// Whether what is there is in the repository, so that all below it may be listed.
bool Proof::is_inside(std::string_view path) noexcept {
  char found[PATH_MAX];
  const char* const text = path.empty() ? nullptr : arena_.join(path);
  return text != nullptr && (::realpath(text, found) == nullptr || is_below(found, repository_->root));
}

bool Proof::has_no_secret(std::string_view folder, bool hidden, bool ignored, std::string_view glob, std::uint32_t* left) noexcept {
  char found[PATH_MAX];
  const char* const text = folder.empty() ? nullptr : arena_.join(folder);
  if (text == nullptr || ::realpath(text, found) == nullptr || !is_below(found, repository_->root)) return false;
  const std::string_view real = arena_.copy(found);
  const int file = ::open(found, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return errno == ENOTDIR;
  const char** names = nullptr;
  std::uint32_t count = 0;
  bool held = undo::read_names(arena_, file, &names, &count);
  ::close(file);
  for (std::uint32_t i = 0; i < count && held; ++i) {
    const std::string_view name = names[i] + 1;
    if (*left == 0 || --*left == 0) return false;
    if (name == ".git") {
      held = is_git_plain(false);
      continue;
    }
    const std::string_view path = arena_.copy(real, "/", name);
    struct stat about;
    if (path.data() == nullptr || ::lstat(path.data(), &about) != 0) return false;
    const std::string_view below = path.substr(repository_->root.size() + 1);
    if (!ignored && repository_->ignore.covers(below, S_ISDIR(about.st_mode))) continue;
    if (!hidden && name[0] == '.' && (S_ISDIR(about.st_mode) || !names_secret(path))) continue;  // an ignore file may name it
    if (S_ISDIR(about.st_mode)) held = has_no_secret(path, hidden, ignored, glob, left);
    else held = !names_secret(path) || (!glob.empty() && !undo::matches(glob, name, false));
  }
  return held;
}

bool Proof::is_own_program(const Word& name, std::string_view program) noexcept {
  if (!ProvenCommand::is_known(name)) return false;
  std::string_view text = name.text;
  if (text.find('/') != std::string_view::npos) {
    const std::string_view folder = undo::folder_of(text);
    return one_of(folder, "/bin /usr/bin /usr/local/bin") && ::access(arena_.join(text), X_OK) == 0;
  }
  if (one_of(program, "echo printf test [ [[ true false : cd pwd type command set wait exit time hash")) return text == program;
  if (text != program) return false;
  const char* const* environment = tipstaff_environment();
  std::string_view path;
  for (; *environment != nullptr; ++environment)
    if (std::string_view(*environment).substr(0, 5) == "PATH=") path = std::string_view(*environment).substr(5);
  while (!path.empty()) {
    const std::size_t end = path.find(':');
    const std::string_view folder = path.substr(0, end);
    path = end == std::string_view::npos ? std::string_view{} : path.substr(end + 1);
    if (folder.empty() || folder[0] != '/') return false;
    char found[PATH_MAX];
    const char* const file = arena_.join(folder, "/", text);
    if (file == nullptr || ::access(file, X_OK) != 0) continue;
    return !is_below(folder, repository_->root) && ::realpath(file, found) != nullptr && !is_below(found, repository_->root);
  }
  return true;  // nothing runs
}

bool Proof::is_git_plain(bool looks_at_files) noexcept {
  if (git_ < 0) {
    git_ = 1;
    for (const std::string_view folder : {repository_->common, repository_->git_folder}) {
      for (const std::string_view name : {std::string_view("/config"), std::string_view("/config.worktree")}) {
        const int file = ::open(arena_.join(folder, name), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (file < 0) continue;
        char* const text = arena_.take<char>(1 << 16);
        const ssize_t got = text == nullptr ? -1 : ::read(file, text, 1 << 16);
        ::close(file);
        if (got < 0 || got == 1 << 16) {
          git_ = 0;
          continue;
        }
        for (ssize_t i = 0; i < got; ++i) text[i] = ascii::lower(text[i]);
        const std::string_view config(text, static_cast<std::size_t>(got));
        for (const std::string_view word : kConfigured)
          if (config.find(word) != std::string_view::npos) git_ = 0;
        for (std::size_t at = config.find("://"); at != std::string_view::npos; at = config.find("://", at + 1))  // an address with a password
          if (const std::size_t end = config.find_first_of("/\n@", at + 3); end != std::string_view::npos && config[end] == '@') git_ = 0;
      }
    }
  }
  if (git_ == 0 || !looks_at_files) return git_ != 0;
  if (git_files_ < 0)
    git_files_ = ::access(arena_.join(repository_->common, "/hooks/post-index-change"), X_OK) != 0 && !has_file("/.gitmodules");
  if (git_files_ == 1)
    for (const undo::Index::Entry& entry : repository_->index)  // of another repository, with settings of its own
      if ((entry.mode() & 0170000) == 0160000) git_files_ = 0;
  return git_files_ != 0;
}

bool Proof::tracks_secrets() noexcept {
  if (tracked_ < 0) {
    tracked_ = repository_->index.is_broken();
    for (const undo::Index::Entry& entry : repository_->index)
      if (tracked_ == 0 && names_secret(arena_.copy("/", entry.view()))) tracked_ = 1;
  }
  return tracked_ != 0;
}

}  // namespace tipstaff::gate
