// What programs do to files: one table, and the few whose operands need reading.
#include "tipstaff/undo/effects.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/undo/git.hpp"

namespace tipstaff::undo {

using gate::Command;
using gate::Tree;
using gate::Word;
namespace via = gate::via;
namespace word_flag = gate::word_flag;

namespace {

// Letter case counts: -c is not -C.
bool one_of(std::string_view text, std::string_view known) noexcept { return gate::ascii::has_word(known, text); }

// Programs that change no file that is there, or only by what is read as commands of their own.
constexpr std::string_view kReads =
    "cat less more head tail grep egrep fgrep zgrep rg ag ack ls ll dir tree fd bat batcat wc uniq cut tr awk gawk mawk jq yq column nl od xxd hexdump strings file "
    "stat du df diff cmp comm md5sum sha1sum sha256sum sha512sum cksum base64 base32 printf echo pwd cd pushd popd dirs test [ [[ true false : which whereis type command "
    "builtin hash printenv export set unset alias unalias read readarray mapfile local declare typeset readonly return exit break continue shift getopts let sleep date cal "
    "uname hostname whoami id groups uptime ps top htop free pgrep kill pkill killall wait jobs bg fg disown seq expr bc dc factor yes basename dirname realpath "
    "readlink mktemp mkdir rmdir touch chmod chown chgrp umask ulimit history man info help tput clear reset stty tty nproc arch lscpu lsblk lsof netstat ss ping "
    "dig nslookup host ssh ssh-add docker podman kubectl helm gh glab aws gcloud az terraform systemctl journalctl crontab at psql mysql redis-cli mongo mongosh ip ifconfig "
    "sudo doas env nohup time timeout nice ionice setsid stdbuf xargs parallel exec eval source . bash sh zsh dash ksh trap watch tee fold fmt paste join rev tac shuf "
    "expand unexpand iconv pr numfmt tsort sum look zcat bzcat xzcat zless open xdg-open code cargo-tree tokei cloc scc gpg ssh-keygen openssl nm objdump readelf ldd size "
    "pydoc sl logger wall mesg write locale getent getconf sync lsusb lspci dmesg vmstat iostat mount umount";
// Those of git that take nothing away.
constexpr std::string_view kGitReads =
    "status log diff show add commit push clone init ls-files ls-tree ls-remote rev-parse rev-list describe blame annotate grep config remote fetch shortlog cat-file "
    "show-ref for-each-ref diff-index diff-files diff-tree merge-base name-rev count-objects fsck help version whatchanged notes bundle archive format-patch range-diff "
    "cherry check-ignore check-attr hash-object var reflog worktree submodule tag branch write-tree commit-tree verify-commit verify-tag show-branch pack-refs repack gc maintenance "
    "request-pull send-email instaweb difftool daemon symbolic-ref update-index stripspace";
// PROGRAM: how its operands are changed (delete, write, replace, last: like `cp`, none), and the options that take a value.
struct Row {
  std::string_view programs, values;
  char how;           // d w r l, z: packs, under a name with another ending
  char unless[4];     // options of one letter with which it only reads, or asks for nothing
};
constexpr Row kRows[] = {
    {"rm unlink", "", 'd', ""},
    {"@delete @delete-moved @delete-checkout srm", "", 'd', ""},
    {"@write @collide @onto-itself", "", 'w', ""},
    {"truncate", "-s --size -r --reference", 'w', ""},
    {"shred", "-n -s --iterations --size --random-source", 'w', ""},
    {"gzip gunzip bzip2 bunzip2 xz unxz lzma zstd unzstd compress uncompress pigz", "-S --suffix -T", 'z', "ct"},
    {"sqlite3 sqlite", "-cmd -init -separator -newline -nullvalue -lookaside -mmap", '1', ""},
    {"cp gcp scp ginstall install", "-t -S -m -o -g --target-directory --suffix --mode --owner --group", 'l', "nd"},
    {"ln", "-t -S --target-directory --suffix", 'l', ""},
    {"mv gmv", "-t -S --target-directory --suffix", 'm', ""},
};

bool is_option(const Word& word) noexcept { return word.text.size() > 1 && word.text[0] == '-' && (word.flags & word_flag::kQuoted) == 0; }

}  // namespace

// The effects of one command.
struct CommandEffects {
  Effects& out;
  const Tree& tree;
  const Command& command;
  const Word* words;
  std::uint32_t count, own;
  bool seen = true, reads = false;

  static constexpr std::uint32_t kOperands = 512;

  Arena& arena() const noexcept { return out.arena_; }
  void add(Effect::Kind kind, std::string_view a = {}, std::string_view b = {}, std::int32_t number = -1) const noexcept {
    out.add(kind, a, b, command.cwd, number);
  }
  // What it changes cannot be told from its words.
  void unknown() noexcept {
    seen = false;
    if (!command.cwd.empty()) add(Effect::Kind::inside);
  }

  // An absolute path; empty where it is not known.
  std::string_view absolute(std::string_view text) const noexcept {
    if (text.empty() || text.find(gate::kUnknownPart) != std::string_view::npos) return {};
    if (text[0] == '/') return text;
    if (command.cwd.empty() || text[0] == '~') return {};
    return arena().copy(command.cwd, "/", text);
  }

  // Calls `take` for each path that a word stands for: a pattern is tried on what is there.
  template <class Take>
  void each(const Word& word, Take take) noexcept {
    if (word.has(word_flag::kTemporary)) return;
    const std::string_view path = absolute(word.text);
    if (path.empty() || word.has(word_flag::kUnknown)) return unknown();
    if (!word.has(word_flag::kGlob) || path.find_first_of("*?[") == std::string_view::npos) return take(path);
    std::uint32_t left = 20000;
    expand({}, path, &left, take);
    if (left == 0) unknown();
  }
  // Names of folders one after another; as shells do, `*` leaves out what begins with a dot.
  template <class Take>
  void expand(std::string_view known, std::string_view rest, std::uint32_t* left, Take& take) noexcept {
    while (!rest.empty() && rest[0] == '/') rest.remove_prefix(1);
    const std::size_t slash = rest.find('/');
    const std::string_view part = rest.substr(0, slash), more = slash == std::string_view::npos ? std::string_view{} : rest.substr(slash);
    if (*left == 0 || rest.empty()) return;
    --*left;
    if (part.find_first_of("*?[") == std::string_view::npos) {
      const std::string_view path = arena().copy(known, "/", part);
      if (more.empty()) return take(path);
      return expand(path, more, left, take);
    }
    if (part == "**") {  // any depth, where a shell has it so: all below is looked at
      add(Effect::Kind::below, known.empty() ? "/" : known);
    }
    const int folder = ::open(arena().join(known, "/"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    const char** names = nullptr;
    std::uint32_t found = 0;
    const bool whole = read_names(arena(), folder, &names, &found);
    ::close(folder);
    if (!whole) return unknown();
    for (std::uint32_t i = 0; i < found && *left != 0; ++i) {
      const std::string_view name = names[i] + 1;
      if ((name[0] == '.' && part[0] != '.') || !matches(part, name, false)) continue;
      const std::string_view path = arena().copy(known, "/", name);
      if (more.empty()) {
        --*left;
        take(path);
      } else {
        expand(path, more, left, take);
      }
    }
  }

  // The operands, in order; `values` are the options that take the next word.
  std::uint32_t operands(std::string_view values, std::uint32_t from, const Word** found) const noexcept {
    std::uint32_t size = 0;
    bool options = true;
    for (std::uint32_t i = from; i < count; ++i) {
      const std::string_view text = words[i].text;
      if (options && text == "--" ) {
        options = false;
        continue;
      }
      if (options && is_option(words[i])) {
        if (one_of(text, values)) ++i;
        continue;
      }
      if (size < kOperands) found[size++] = &words[i];
    }
    return size;
  }
  // Whether an option is there, alone or among others of one letter.
  bool has(char letter, std::string_view name = {}, std::uint32_t from = 0) const noexcept {
    for (std::uint32_t i = from; i < count; ++i) {
      const std::string_view text = words[i].text;
      if (text == "--") return false;
      if (text.size() < 2 || text[0] != '-') continue;
      if (text[1] == '-' ? !name.empty() && (text == name || (text.size() > name.size() && text.substr(0, name.size()) == name && text[name.size()] == '='))
                         : letter != 0 && text.find(letter, 1) != std::string_view::npos)
        return true;
    }
    return false;
  }
  // The value of an option, in its word or the next.
  const Word* value(std::string_view option, std::string_view name, Word* room) const noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::string_view text = words[i].text;
      if (text == "--") return nullptr;
      if ((text == option || (!name.empty() && text == name)) && i + 1 < count) return &words[i + 1];
      const bool bundle = option.size() == 2 && text.size() > 2 && text[0] == '-' && text[1] != '-' && text.back() == option[1];
      if (bundle && i + 1 < count) return &words[i + 1];  // sort -ro FILE
      std::size_t cut = 0;
      if (!name.empty() && text.size() > name.size() + 1 && text.substr(0, name.size()) == name && text[name.size()] == '=') cut = name.size() + 1;
      else if (option.size() == 2 && option[0] == '-' && text.size() > 2 && text.substr(0, 2) == option) cut = 2;
      if (cut == 0) continue;
      *room = words[i];
      room->text = text.substr(cut);
      return room;
    }
    return nullptr;
  }

  static bool is_folder(const char* path) noexcept {
    struct stat about;
    return path != nullptr && ::stat(path, &about) == 0 && S_ISDIR(about.st_mode);
  }

  // `cp a b FOLDER`, `mv a b`: what the last operand or an option names is written.
  void to_last(const Word* const* found, std::uint32_t size, bool moves, bool replaces) noexcept {
    Word room;
    const Word* target = value("-t", "--target-directory", &room);
    if (target == nullptr) {
      if (size < 2) return unknown();
      target = found[--size];
    }
    const std::string_view folder = absolute(target->text);
    if (folder.empty() || target->has(word_flag::kUnknown) || target->has(word_flag::kGlob)) return unknown();
    const bool into = is_folder(arena().join(folder)), tree_copy = !moves && (has('r') || has('R') || has('a', "--recursive") || has(0, "--archive"));
    for (std::uint32_t i = 0; i < size; ++i) {
      each(*found[i], [&](std::string_view source) noexcept {
        if (moves) return add(Effect::Kind::move, source, folder);
        if (tree_copy && is_folder(arena().join(source))) {
          const std::string_view name = name_of(source);
          return add(Effect::Kind::below, into && name != "." && !name.empty() ? arena().copy(folder, "/", name) : folder);
        }
        add(replaces ? Effect::Kind::replace : Effect::Kind::write, into ? arena().copy(folder, "/", name_of(source)) : folder);
      });
    }
  }

  void list() noexcept {
    if (command.program.empty()) return unknown();
    const std::string_view program = command.program;
    if (program == "git") return git();
    if (program == "find" || program == "gfind") return find();
    if (program == "sed" || program == "gsed") return in_place(1, "-e -f -l --expression --file --line-length");
    if (program == "perl" || program == "ruby") return in_place(0, "-e -E -F -I -M -m");
    if (program == "tar" || program == "gtar" || program == "bsdtar") return tar();
    if (program == "dd") {
      for (std::uint32_t i = 0; i < count; ++i) {
        if (words[i].text.substr(0, 3) != "of=") continue;
        Word word = words[i];
        word.text.remove_prefix(3);
        each(word, [&](std::string_view path) noexcept { add(Effect::Kind::write, path); });
      }
      return;
    }
    if (program == "rsync") return rsync();
    if (program == "patch" || program == "unzip" || program == "bsdunzip") {
      if (program == "unzip" ? has('l') || has('t') || has('p') || has('Z') : has(0, "--dry-run")) return;
      Word room;
      const Word* const folder = value("-d", program == "patch" ? "--directory" : "", &room);
      const std::string_view path = folder == nullptr ? command.cwd : absolute(folder->text);
      if (path.empty()) return unknown();
      return add(Effect::Kind::below, path);
    }
    if (program == "sort" || program == "curl" || program == "wget" || program == "shuf" || program == "gcc" || program == "cc") {
      Word room;
      const Word* const target = program == "wget" ? value("-O", "--output-document", &room) : value("-o", "--output", &room);
      if (target != nullptr && target->text != "-") each(*target, [&](std::string_view path) noexcept { add(Effect::Kind::write, path); });
      if (program != "gcc" && program != "cc") reads = target == nullptr;
      return;
    }
    if (program[0] == '@' && !one_of(program, "@write @delete @delete-moved @delete-checkout @collide @onto-itself")) {
      reads = true;
      return;
    }
    const Word* found[kOperands];
    for (const Row& row : kRows) {
      if (!one_of(program, row.programs)) continue;
      for (const char letter : row.unless)
        if (letter != 0 && (letter != 'd' || program == "install") && (letter != 'n' || program == "cp") && has(letter)) return;
      std::int32_t appends = -1;
      if (program == "@write")
        for (std::uint32_t i = 0; i < count; ++i)
          if (words[i].text == "--append") appends = 1;
      if (program == "ln" && !has('f', "--force")) return;
      const std::uint32_t size = operands(row.values, 0, found);
      switch (row.how) {
        case 'l': return to_last(found, size, false, program == "ln" || program == "install");
        case 'm': return to_last(found, size, true, false);
        case '1':
          if (size != 0 && found[0]->text != ":memory:")
            for (const std::string_view end : {std::string_view(), std::string_view("-wal"), std::string_view("-journal")})
              each(*found[0], [&](std::string_view path) noexcept { add(Effect::Kind::write, arena().copy(path, end)); });
          return;
        case 'z':
          for (std::uint32_t i = 0; i < size; ++i)
            each(*found[i], [&](std::string_view path) noexcept {
              add(Effect::Kind::write, path);
              add(Effect::Kind::replace, path.substr(0, path.rfind('.')));
              for (const std::string_view end : {".gz", ".bz2", ".xz", ".lzma", ".zst", ".Z"}) add(Effect::Kind::replace, arena().copy(path, end));
            });
          return;
        default:
          for (std::uint32_t i = 0; i < size; ++i)
            each(*found[i], [&](std::string_view path) noexcept {
              add(row.how == 'd' ? Effect::Kind::remove : row.how == 'w' ? Effect::Kind::write : Effect::Kind::replace, path, {}, appends);
            });
          return;
      }
    }
    if (one_of(program, kReads) || (command.dialect != gate::Dialect::shell && one_of(program, "sql redis mongo"))) {
      reads = true;
      return;
    }
    if (has(0, "--version") || has(0, "--help")) {
      reads = count == 1;
      if (reads) return;
    }
    unknown();
  }

  // sed -i, perl -pi -e
  void in_place(std::uint32_t scripts, std::string_view values) noexcept {
    bool in_place = has(0, "--in-place"), given = false;
    const Word* found[kOperands];
    std::uint32_t size = 0;
    bool options = true;
    for (std::uint32_t i = 0; i < count; ++i) {
      const std::string_view text = words[i].text;
      if (options && text == "--") {
        options = false;
      } else if (options && is_option(words[i])) {
        if (one_of(text, values)) {
          given = given || text == "-e" || text == "-f" || text == "--expression" || text == "--file";
          ++i;
          continue;
        }
        if (text[1] == '-') {
          given = given || text.substr(0, 12) == "--expression" || text.substr(0, 6) == "--file";
          continue;
        }
        for (std::size_t k = 1; k < text.size(); ++k) {
          if (text[k] == 'i') {
            in_place = true;
            if (scripts != 0) break;  // its suffix follows
          }
          if (text[k] == 'e' || text[k] == 'E' || (text[k] == 'f' && scripts != 0)) {
            given = true;
            if (k + 1 == text.size()) ++i;
            break;
          }
        }
      } else if (size < kOperands) {
        found[size++] = &words[i];
      }
    }
    if (!in_place) {
      if (scripts != 0) reads = true;
      else if (command.program == "perl" || command.program == "ruby") unknown();
      return;
    }
    for (std::uint32_t i = given ? 0 : scripts; i < size; ++i) each(*found[i], [&](std::string_view path) noexcept { add(Effect::Kind::replace, path); });
    if (size == 0 || scripts == 0) unknown_code();
  }
  // What runs beside what is named.
  void unknown_code() noexcept {
    if (!command.cwd.empty()) add(Effect::Kind::inside);
  }

  void tar() noexcept {
    if (count == 0) return;
    std::string_view first = words[0].text;
    const bool old = !first.empty() && first[0] != '-';
    if (!old && first.substr(0, 2) == "--") first = {};
    const auto mode = [&](char letter, std::string_view name) noexcept { return first.find(letter) != std::string_view::npos || has(0, name) || has(letter); };
    Word room;
    const Word* const folder = value("-C", "--directory", &room);
    const std::string_view path = folder == nullptr ? command.cwd : absolute(folder->text);
    if (mode('t', "--list") && !mode('x', "--extract")) {
      reads = true;
      return;
    }
    if (mode('x', "--extract") || has(0, "--get")) return path.empty() ? unknown() : add(Effect::Kind::below, path);
    if (has(0, "--remove-files")) return unknown();
    for (std::uint32_t i = 0; i < count && i < 8; ++i) {
      const std::string_view text = words[i].text;
      const bool bundle = (i == 0 && old) || (text.size() > 1 && text[0] == '-' && text[1] != '-');
      if (bundle && text.back() == 'f' && i + 1 < count) return each(words[i + 1], [&](std::string_view target) noexcept { add(Effect::Kind::write, target); });
    }
  }

  void rsync() noexcept {
    const Word* found[kOperands];
    const std::uint32_t size = operands("-e --rsh --exclude --include --exclude-from --include-from --files-from -f --filter --bwlimit --partial-dir --timeout --port --log-file --backup-dir --suffix --compare-dest --link-dest --copy-dest -T --temp-dir", 0, found);
    if (has('n', "--dry-run") || size < 2) return;
    if (has(0, "--remove-source-files")) return unknown();
    const Word& target = *found[size - 1];
    if (target.text.find(':') != std::string_view::npos) return;
    const std::string_view path = absolute(target.text);
    path.empty() || target.has(word_flag::kUnknown) ? unknown() : add(Effect::Kind::below, path);
  }

  void find() noexcept {
    bool changes = false, filtered = false, child = false;
    std::uint32_t roots = 0;
    while (roots < count && !(words[roots].text.size() > 1 && words[roots].text[0] == '-') && words[roots].text != "(" && words[roots].text != "!") ++roots;
    for (std::uint32_t i = roots; i < count; ++i) {
      const std::string_view text = words[i].text;
      if (text == "-delete") changes = true;
      if (one_of(text, "-exec -execdir -ok -okdir")) child = true;
      if (one_of(text, "-name -iname -path -ipath -wholename -regex -iregex -type -newer -mtime -mmin -size -empty -user -perm")) filtered = true;
      if (one_of(text, "-fprint -fprint0 -fls -fprintf") && i + 1 < count) each(words[i + 1], [&](std::string_view path) noexcept { add(Effect::Kind::write, path); });
    }
    for (std::uint32_t i = 0; child && i < tree.command_count(); ++i)
      if (tree.command(i).carrier == own && !one_of(tree.command(i).program, kReads)) changes = true;
    if (!changes) {
      reads = true;
      return;
    }
    const auto below = [&](std::string_view path) noexcept { add(filtered || child ? Effect::Kind::below : Effect::Kind::remove, path); };
    if (roots == 0) return command.cwd.empty() ? unknown() : below(command.cwd);
    for (std::uint32_t i = 0; i < roots; ++i) each(words[i], below);
  }

  // Whether a word names what is there, as git decides between branches and files.
  bool is_path(const Word& word) const noexcept {
    struct stat about;
    const std::string_view path = absolute(word.text);
    const char* const text = path.empty() ? nullptr : arena().join(path);
    return text != nullptr && ::lstat(text, &about) == 0;
  }

  void git() noexcept {
    using Kind = Effect::Kind;
    std::uint32_t at = 0;
    bool named = out.elsewhere_;
    for (; at < count && is_option(words[at]); ++at) {
      const std::string_view text = words[at].text;
      if (one_of(text, "--version --help -h -v --exec-path --html-path --man-path --info-path")) {
        reads = true;
        return;
      }
      if (text.substr(0, 9) == "--git-dir" || text.substr(0, 11) == "--work-tree") {
        named = true;
        if (text.find('=') == std::string_view::npos) ++at;
      }
      if (one_of(text, "-C -c --namespace --super-prefix --config-env")) ++at;
    }
    if (at >= count) {
      reads = true;
      return;
    }
    if (command.cwd.empty()) {
      seen = false;
      return;
    }
    const std::string_view sub = words[at].text;
    const std::uint32_t from = at + 1;
    if (named && !(one_of(sub, kGitReads) && !one_of(sub, "add commit worktree submodule tag branch reflog remote fetch gc repack symbolic-ref update-index maintenance"))) {
      seen = false;
      return add(Kind::elsewhere);
    }
    const Word* found[kOperands];
    const auto lists = [&](std::string_view values) noexcept { return operands(values, from, found); };
    const auto paths = [&](std::uint32_t size, std::uint32_t begin, Kind kind) noexcept {
      for (std::uint32_t i = begin; i < size; ++i) {
        if (found[i]->text.substr(0, 1) == ":" || found[i]->has(word_flag::kUnknown)) add(kind);
        else each(*found[i], [&](std::string_view path) noexcept { add(kind, path); });
      }
    };
    const auto whole = [&](std::string_view tree_name) noexcept {  // as `reset --hard`
      add(Kind::incoming, tree_name);
      add(Kind::worktree);
      add(Kind::index);
      add(Kind::head);
    };
    const auto known = [](const Word& word) noexcept { return !word.has(word_flag::kUnknown) && !word.text.empty() && word.text[0] != '-'; };
    if (sub == "reset") {
      const std::uint32_t size = lists("-U --pathspec-from-file");
      const bool hard = has(0, "--hard", from) || has(0, "--merge", from) || has(0, "--keep", from);
      if (hard) {
        if (size != 0 && !known(*found[0])) return unknown();
        return whole(size == 0 ? "HEAD" : found[0]->text);
      }
      if (!has(0, "--soft", from)) add(Kind::index);
      return add(Kind::head);
    }
    if (sub == "checkout" || sub == "switch" || sub == "restore") {
      const bool forced = has('f', "--force", from) || has(0, "--discard-changes", from) || has(0, "--merge", from);
      std::uint32_t dash = from;
      while (dash < count && words[dash].text != "--") ++dash;
      if (sub == "restore") {
        Word room;
        const Word* const source = value("-s", "--source", &room);
        const std::uint32_t size = lists("-s --source --pathspec-from-file");
        const bool staged = has('S', "--staged", from);
        if (source != nullptr && known(*source)) add(Kind::incoming, source->text);
        if (!staged || has('W', "--worktree", from)) paths(size, 0, Kind::worktree);
        if (!staged && source != nullptr) paths(size, 0, Kind::replace);
        return staged ? add(Kind::index) : void();
      }
      std::uint32_t first = 0;
      const std::uint32_t size = lists("-b -B -c -C --orphan --conflict --pathspec-from-file --recurse-submodules");
      for (std::uint32_t i = from; i + 1 < count; ++i)
        if (one_of(words[i].text, "-B -C") && known(words[i + 1])) add(Kind::ref, arena().copy("refs/heads/", words[i + 1].text));
      if (forced) add(Kind::worktree);
      const bool before_dash = size != 0 && found[0] < words + dash;
      if (before_dash && (dash < count || !is_path(*found[0]) || found[0]->text == "-" || found[0]->text[0] == '@')) {
        if (!known(*found[0]) && found[0]->text != "-") return unknown();
        add(Kind::incoming, found[0]->text == "-" ? std::string_view("@{-1}") : found[0]->text);
        add(Kind::index);
        first = 1;
      }
      if (sub == "checkout" && size > first) {
        add(Kind::index);
        paths(size, first, Kind::worktree);
        if (first == 1) paths(size, first, Kind::replace);
      }
      return;
    }
    if (sub == "clean") {
      if (has('n', "--dry-run", from)) return;
      const std::uint32_t size = lists("-e --exclude");
      const Kind kind = has('x', {}, from) || has('X', {}, from) ? Kind::ignored : Kind::untracked;
      std::int32_t forced = 0;
      for (std::uint32_t i = from; i < count; ++i)
        for (const char letter : is_option(words[i]) && words[i].text[1] != '-' ? words[i].text : std::string_view{}) forced += letter == 'f';
      if (size == 0) return add(kind, command.cwd, {}, forced);
      for (std::uint32_t i = 0; i < size; ++i) each(*found[i], [&](std::string_view path) noexcept { add(kind, path, {}, forced); });
      return;
    }
    if (sub == "stash") {
      const std::uint32_t size = lists("-m --message --pathspec-from-file");
      const std::string_view what = size == 0 ? std::string_view("push") : found[0]->text;
      if (one_of(what, "list show create")) return;
      if (what == "clear") return add(Kind::stash);
      if (one_of(what, "drop pop branch")) {
        std::int32_t number = 0;
        const Word* const named = what == "branch" ? (size > 2 ? found[2] : nullptr) : size > 1 ? found[1] : nullptr;
        if (named != nullptr) {
          number = -1;
          std::string_view text = named->text;
          if (text.substr(0, 7) == "stash@{" && text.back() == '}') text = text.substr(7, text.size() - 8);
          std::int32_t value = 0;
          bool digits = !text.empty() && text.size() < 6;
          for (const char letter : text) {
            digits = digits && letter >= '0' && letter <= '9';
            value = value * 10 + (letter - '0');
          }
          if (digits) number = value;
        }
        add(Kind::stash, {}, {}, number);
        if (what == "drop") return;
        add(Kind::incoming, number > 0 && named != nullptr ? named->text : std::string_view("stash@{0}"));
        return add(Kind::index);
      }
      if (what == "apply") return add(Kind::incoming, size > 1 && known(*found[1]) ? found[1]->text : std::string_view("stash@{0}"));
      add(Kind::worktree);
      add(Kind::index);
      if (has('u', "--include-untracked", from)) add(Kind::untracked);
      if (has('a', "--all", from)) add(Kind::ignored);
      return;
    }
    if (sub == "branch") {
      const std::uint32_t size = lists("-u --set-upstream-to --contains --merged --no-merged --format --sort --points-at");
      const std::string_view place = has('r', "--remotes", from) ? "refs/remotes/" : "refs/heads/";
      if (has('d', "--delete", from) || has('D', {}, from) || has('f', "--force", from) || has('m', "--move", from) || has('M', {}, from) || has('C', {}, from))
        for (std::uint32_t i = 0; i < size; ++i) {
          if (!known(*found[i])) return unknown();
          add(Kind::ref, arena().copy(place, found[i]->text));
        }
      reads = size == 0;
      return;
    }
    if (sub == "tag") {
      const std::uint32_t size = lists("-m --message -F --file -u --local-user");
      if (has('d', "--delete", from) || has('f', "--force", from))
        for (std::uint32_t i = 0; i < size; ++i) {
          if (!known(*found[i])) return unknown();
          add(Kind::ref, arena().copy("refs/tags/", found[i]->text));
        }
      return;
    }
    if (one_of(sub, "rebase merge cherry-pick revert am")) {
      const std::uint32_t size = lists("-s -X -m -x --strategy --strategy-option --exec -C -S --message -F --file --into-name --empty");
      if (has(0, "--quit", from) || has(0, "--show-current-patch", from)) return;
      if (has(0, "--abort", from) || has(0, "--skip", from) || has(0, "--hard", from)) return whole("HEAD");
      for (std::uint32_t i = 0; i < size; ++i) {
        if (sub == "am") break;
        if (!known(*found[i])) return unknown();
        add(Kind::incoming, found[i]->text);
      }
      if (sub == "rebase" && size == 0) add(Kind::incoming, "@{u}");
      Word room;
      if (const Word* const onto = value("--onto", "--onto", &room); sub == "rebase" && onto != nullptr && known(*onto)) add(Kind::incoming, onto->text);
      if (sub == "am" || sub == "rebase") add(Kind::worktree);
      add(Kind::index);
      return add(Kind::head);
    }
    if (sub == "pull" || sub == "bisect" || sub == "sparse-checkout") {
      if (sub == "bisect" && has(0, "--help", from)) return;
      add(Kind::inside);
      add(Kind::index);
      return add(Kind::head);
    }
    if (sub == "apply") {
      if (has(0, "--check", from) || has(0, "--stat", from) || has(0, "--numstat", from)) return;
      if (has(0, "--index", from) || has(0, "--cached", from)) add(Kind::index);
      return add(Kind::inside);
    }
    if (sub == "commit") {
      if (has(0, "--amend", from)) {
        add(Kind::head);
        add(Kind::index);
      }
      return;
    }
    if (sub == "rm" || sub == "mv") {
      const std::uint32_t size = lists("--pathspec-from-file");
      if (has('n', "--dry-run", from)) return;
      add(Kind::index);
      if (sub == "mv") return to_last(found, size, true, false);
      if (!has(0, "--cached", from)) paths(size, 0, Kind::remove);
      return;
    }
    if (sub == "update-ref") {
      const std::uint32_t size = lists("-m");
      if (size == 0 || !known(*found[0])) return unknown();
      return add(Kind::ref, found[0]->text);
    }
    if (sub == "reflog") {
      const std::uint32_t size = lists("");
      if (size != 0 && one_of(found[0]->text, "expire delete")) add(Kind::reflogs);
      return;
    }
    if (sub == "fetch" || sub == "remote") {
      const std::uint32_t size = lists("--upload-pack --depth --refmap -o");
      if (sub == "fetch" && (has('p', "--prune", from))) return add(Kind::ref, "refs/remotes/");
      if (sub == "remote" && size > 1 && one_of(found[0]->text, "remove rm rename prune"))
        return known(*found[1]) ? add(Kind::ref, arena().copy("refs/remotes/", found[1]->text, "/")) : unknown();
      return;
    }
    if (one_of(sub, "worktree submodule gc prune filter-branch filter-repo lfs annex symbolic-ref update-index read-tree checkout-index replace")) {
      const std::uint32_t size = lists("");
      if (one_of(sub, "worktree submodule") && size != 0 && one_of(found[0]->text, "list add lock unlock status init summary sync absorbgitdirs")) return;
      if (sub == "gc" || sub == "worktree") {
        seen = false;
        return;
      }
      return unknown();
    }
    if (one_of(sub, kGitReads)) {
      reads = true;
      return;
    }
    unknown();
  }
};

void Effects::add(Effect::Kind kind, std::string_view a, std::string_view b, std::string_view folder, std::int32_t number) noexcept {
  if (effects_ == nullptr) effects_ = arena_.take<Effect>(kEffects);
  if (effects_ == nullptr || effect_count_ == kEffects) {
    full_ = true;
    return;
  }
  Effect effect;
  effect.kind = kind;
  effect.a = a.empty() ? a : arena_.copy(a);
  effect.b = b.empty() ? b : arena_.copy(b);
  effect.folder = folder.empty() ? folder : arena_.copy(folder);
  effect.number = number;
  effect.source = source_count_;
  effects_[effect_count_++] = effect;
}

namespace {

// What git takes for the repository and its index in place of those of the folder.
constexpr std::string_view kGitVariables[] = {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_NAMESPACE"};

bool names_repository(std::string_view text) noexcept {
  for (const std::string_view name : kGitVariables)
    for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1))
      if (text.substr(at + name.size(), 1) == "=" || text.substr(at + name.size(), 1) == "+") return true;
  return false;
}

}  // namespace

void Effects::take(const Tree& tree, std::string_view text) noexcept {
  elsewhere_ = elsewhere_ || names_repository(text);
  for (const char* const* one = tipstaff_environment(); one != nullptr && *one != nullptr && source_count_ == 0; ++one)
    if (std::string_view(*one).substr(0, 4) == "GIT_") elsewhere_ = elsewhere_ || names_repository(*one);
  for (std::uint32_t i = 0; i < tree.command_count(); ++i) {
    const Command& command = tree.command(i);
    if ((command.via & via::kDefinition) != 0) continue;
    if (sources_ == nullptr) sources_ = arena_.take<Source>(kSources);
    if (sources_ == nullptr || source_count_ == kSources) {
      full_ = true;
      return;
    }
    CommandEffects listed{*this, tree, command, tree.arguments(command), command.word_count, i};
    std::uint32_t first = effect_count_, inherited = 0;
    if ((command.via & via::kRemote) != 0) {
      listed.seen = false;  // of another machine
    } else if ((command.via & via::kContainer) != 0) {
      bool host = false;
      for (std::uint32_t w = 0; w < command.word_count; ++w) host = host || listed.words[w].has(word_flag::kHostPath);
      if (host) listed.list();
      listed.seen = false;
    } else if ((command.via & via::kArgumentsAdded) != 0) {
      // Names that another program adds: of find, which is judged by where it looks, or not known.
      const bool found = command.carrier != gate::kNone && one_of(tree.command(command.carrier).program, "find gfind");
      for (std::uint32_t k = source_count_; found && inherited == 0 && k != 0; --k)
        if (sources_[k - 1].field == kUnnamed && sources_[k - 1].command == command.carrier) {
          first = sources_[k - 1].first;
          inherited = sources_[k - 1].count;
          listed.seen = sources_[k - 1].seen;
          break;
        }
      if (!found && !one_of(command.program, kReads)) listed.unknown();
    } else {
      listed.list();
      // A script that was not read, code that is only known when it runs.
      bool open = one_of(command.program, "bash sh zsh dash ksh source .");
      for (std::uint32_t k = 0; open && k < tree.command_count(); ++k) open = tree.command(k).carrier != i;
      for (std::uint32_t k = 0; k < tree.uncertainty_count() && !open; ++k) open = tree.uncertainties()[k].command == i && !tree.uncertainties()[k].settled;
      if (open && listed.seen) listed.unknown();
    }
    sources_[source_count_] = {kUnnamed, i, first, inherited != 0 ? inherited : effect_count_ - first, listed.seen, listed.reads, Outcome::nothing};
    ++source_count_;
  }
}

bool Effects::covers(std::uint32_t field, std::uint32_t command, Outcome most) noexcept {
  bool found = false;
  for (std::uint32_t i = 0; i < source_count_; ++i) {
    const Source& source = sources_[i];
    if (source.field != field || (command != gate::kNone && source.command != command)) continue;
    if (!source.seen || source.outcome > most) return false;
    found = found || source.count != 0;  // what has no effect here may have one elsewhere: git push
  }
  return found && !full_;
}

bool Effects::keeps_inside(std::uint32_t field, std::uint32_t command) noexcept {
  for (std::uint32_t i = 0; i < source_count_ && !full_; ++i) {
    const Source& source = sources_[i];
    if (source.field != field || source.command != command || source.outcome > Outcome::kept) continue;
    for (std::uint32_t k = 0; k < source.count; ++k)
      if (effects_[source.first + k].kind == Effect::Kind::inside) return true;
  }
  return false;
}

}  // namespace tipstaff::undo
