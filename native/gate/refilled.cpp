// Whether a folder that a command deletes is filled again by another command of the same text: rm -rf ~/.tool; git clone URL ~/.tool.
#include "tipstaff/gate/rules/made.hpp"
#include "tipstaff/gate/paths/build_names.hpp"
#include "tipstaff/gate/paths/parts.hpp"
#include "tipstaff/gate/paths/surrounding_paths.hpp"
#include "tipstaff/gate/rules/commands_before.hpp"
#include "tipstaff/gate/tree/ascii.hpp"
#include "tipstaff/gate/tree/patterns.hpp"

namespace tipstaff::gate::rules {
namespace {

using ascii::one_of;
using commands_before::take;
using makers::is_option;
using path_detail::Relation;
using std::string_view;


// A folder of one application, no part of the system that others are in: /opt/x, /etc/nginx/conf.d, /usr/local/x.
bool is_own(const PathParts& path) noexcept {
  if (path.too_long || path.climbs != 0 || path.glob || path.count == 0) return false;
  if (path.base == PathBase::home) return true;
  if (path.base != PathBase::root || path.count < 2) return false;
  if (path.names(0, "etc")) return !path.names_one_of(1, "ssh pam.d ssl pki systemd sudoers.d apt yum security selinux apparmor.d kubernetes letsencrypt init.d cron.d cron.daily network netplan ld.so.conf.d alternatives default profile.d claude-code tipstaff codex");
  if (path.names(0, "usr")) return path.count > 2 && path.names_one_of(1, "local share src") && !path.names_one_of(2, "bin sbin lib lib64 share etc include libexec man src");
  if (path.names(0, "var")) return path.count > 2 && !path.names_one_of(2, "dpkg apt rpm systemd docker containerd pam dbus");
  return path.names_one_of(0, "opt srv home users root workspace workspaces work app tmp builds data mnt media volumes repo");
}

// Whether `path` is what a word of a command names, or the .git of that; `target`: or what lies in the folder that it names.
bool fills(const Command& command, const Word& word, const PathParts& path, bool target, bool only_same) noexcept {
  if (word.has(word_flag::kUnknown) || word.text.empty()) return false;
  PathParts other;
  take(word.text, command, &other);
  if (other.too_long || other.base != path.base || other.climbs != 0) return false;
  const Relation relation = path_detail::relate(path, other);
  if (relation == Relation::same) return true;
  if (relation != Relation::inside) return false;
  if (!only_same && path.count == other.count + 1 && path.names(other.count, ".git")) return true;
  return target && path.count == other.count + 1;
}

}  // namespace

namespace {

// npm run build, node scripts/build-icons.js icons: the next command of the list writes again what is in the folder `name`.
bool writes_again(const Tree& tree, const Command& next, string_view name) noexcept {
  const Word* const words = tree.arguments(next);
  if (next.word_count == 0 || name.size() < 2) return false;
  if (one_of(next.program, "npm yarn pnpm bun")) {  // what compilers and bundlers of JavaScript write
    const std::uint32_t at = words[0].text == "run" && next.word_count > 1 ? 1 : 0;
    const string_view script = words[at].text, verb = script.substr(0, script.find_first_of(":-_"));
    return one_of(verb, "build compile bundle transpile babel tsc rollup webpack") && one_of(name, "lib es esm cjs umd types js bundle bundles");
  }
  if (one_of(next.program, "rollup webpack esbuild vite parcel brunch tsup tsdown microbundle")) return one_of(name, "bundle bundles js");
  if (!one_of(next.program, "node babel-node ts-node tsx python python3 ruby bun deno sh bash")) return false;
  std::uint32_t at = 0;
  while (at < next.word_count && is_option(words[at].text)) ++at;
  if (at == next.word_count || words[at].has(word_flag::kUnknown)) return false;
  // Its script is named after the folder: icons, buildIcons.js; those of data and sources are written by people.
  if (one_of(name, kKeptNames)) return false;
  const string_view script = words[at].text.substr(words[at].text.find_last_of('/') + 1);
  while (!name.empty() && (name[0] == '_' || name[0] == '.')) name.remove_prefix(1);
  if (name.size() > 3 && name.back() == 's') name.remove_suffix(1);
  if (name.size() < 4 || script.size() < name.size() || script.size() > 128) return false;
  bool makes = false;
  for (const string_view verb : {"build", "gen", "make", "create", "bundle", "compile", "update", "sync", "convert", "fetch", "download", "export", "write", "render"})
    makes = makes || ascii::starts_with(script, verb);
  if (!makes) return false;
  for (std::size_t from = 0; from + name.size() <= script.size(); ++from) {
    std::size_t same = 0;
    while (same < name.size() && ascii::lower(script[from + same]) == ascii::lower(name[same])) ++same;
    if (same == name.size()) return true;
  }
  return false;
}

// rm -f out/lua/*.lua && cpx 'src/*.lua' out/lua: files of one ending that are copied from elsewhere again.
bool copies_again(const Tree& tree, const Command& asked, const Word& word, const Command& copy) noexcept {
  if (!one_of(copy.program, "cpx cpx2 copyfiles ncp cpy") || copy.word_count < 2 || copy.word_count > 16) return false;
  const Word* const words = tree.arguments(copy);
  const Word& last = words[copy.word_count - 1];
  const std::size_t slash = word.text.rfind('/');
  if (slash == string_view::npos || last.has(word_flag::kUnknown) || last.has(word_flag::kGlob)) return false;
  const string_view pattern = word.text.substr(slash + 1);
  if (pattern.size() < 3 || pattern[0] != '*' || pattern[1] != '.' || pattern.find_first_of("*?[", 1) != string_view::npos) return false;
  PathParts emptied, filled;
  take(word.text.substr(0, slash), asked, &emptied);
  take(last.text, copy, &filled);
  if (emptied.too_long || emptied.glob || filled.too_long || emptied.base != filled.base || path_detail::relate(emptied, filled) != Relation::same) return false;
  for (std::uint32_t w = 0; w + 1 < copy.word_count; ++w) {
    const string_view from = words[w].text;
    if (is_option(from) || !ascii::ends_with(from, pattern) || from.find("..") != string_view::npos) continue;
    PathParts source;
    take(from.substr(0, from.size() - pattern.size()), copy, &source);
    if (!source.too_long && path_detail::relate(source, emptied) == Relation::other) return true;
  }
  return false;
}

// kedro run --output-dir reports/html: whatever the tool, an option says that the folder is what it writes, and no other word
// that it reads from there.
bool names_as_output(const Tree& tree, const Command& next, const PathParts& path) noexcept {
  if (next.word_count > 64 || next.program.empty() || next.program[0] == '@' || one_of(next.program, "echo printf cp mv rsync scp ln ls cat rm find test git tar unzip mkdir")) return false;
  if (one_of(path.part[path.count - 1], kKeptNames) || one_of(path.part[path.count - 1], "checkpoints weights photos pictures documents notes uploads")) return false;
  bool writes = false, reads = false;
  commands_before::each_related(tree, next, path, [&](string_view option, Relation relation) noexcept {
    const bool is_output = one_of(option, "--out --outdir --out-dir --output --output-dir --output_dir --output-path --output-directory --dest-dir --destination --target-dir --site-dir --report-dir --reports-dir --results-dir");
    writes = writes || (relation == Relation::same && is_output);
    reads = reads || relation == Relation::inside || (relation == Relation::same && !is_output);
  });
  return writes && !reads;
}

// What a pattern of the whole folder names, or of one ending: static/icons/*, spec/_json/*.js.
string_view emptied_folder(string_view text) noexcept {
  const std::size_t slash = text.rfind('/');
  if (slash == string_view::npos || slash == 0 || slash + 1 >= text.size() || text[slash + 1] != '*') return {};
  const string_view rest = text.substr(slash + 2);
  if (!rest.empty() && (rest[0] != '.' || rest.find_first_of("*?[{") != string_view::npos)) return {};
  const string_view folder = text.substr(0, slash);
  return folder.find_first_of("*?[{~") == string_view::npos && folder.find("..") == string_view::npos ? folder : string_view();
}

// $TMP_CLONE, "${work_tmp}": a variable that nothing here sets and that is named after what is temporary; not $TMPDIR, which is all of it.
bool is_temporary_by_name(string_view written) noexcept {
  written = ascii::variable_in(written);
  bool temporary = false, more = false;
  for (std::size_t at = 0; at < written.size();) {
    std::size_t end = at;
    while (end < written.size() && (ascii::is_letter(written[end]) || ascii::is_digit(written[end]))) ++end;
    if (end < written.size() && written[end] != '_') return false;
    const string_view part = written.substr(at, end - at);
    if (one_of(part, "tmp temp tmpdir tempdir")) temporary = true;
    else if (!part.empty()) more = true;
    at = end + 1;
  }
  return temporary && more;
}

// ${{ env.TARGET }}, alone: what a pipeline puts in on a machine of its own; a shell refuses it, and runs nothing.
bool is_of_pipeline(string_view written) noexcept {
  if (written.size() > 2 && written[0] == '"' && written.back() == '"') written = written.substr(1, written.size() - 2);
  if (!ascii::starts_with(written, "${{") || written.find("}}") + 2 != written.size()) return false;
  std::size_t at = 3;
  while (at < written.size() && ascii::is_blank(written[at])) ++at;
  const string_view scope = written.substr(at, written.find('.', at) - at);
  return one_of(scope, "env inputs matrix steps vars needs");
}

// cat part-*.txt > all.txt && rm part-*.txt: what goes was joined into another file of the folder before.
bool joined_before(const Tree& tree, string_view text, std::uint32_t index, const Word& word) noexcept {
  const Command& asked = tree.command(index);
  if (asked.dialect != Dialect::shell || !word.has(word_flag::kGlob) || word.has(word_flag::kUnknown) || word.text.find_first_of("[{\\") != string_view::npos) return false;
  const Command* write = nullptr;
  constexpr std::uint32_t kNear = 4;
  for (std::uint32_t i = index; i-- > 0 && index - i <= kNear;) {
    const Command& other = tree.command(i);
    if (other.program == "@write") {
      if (write != nullptr || other.word_count == 0) return false;
      write = &other;
      continue;
    }
    // What sorts it on the way loses no line.
    if (write != nullptr && other.program == "sort" && other.pipe_from != kNone && other.cwd == asked.cwd) continue;
    if (other.program != "cat" || write == nullptr || other.carrier != asked.carrier || other.cwd != asked.cwd || other.via != (asked.via & ~via::kConditional)) return false;
    string_view target = tree.arguments(*write)[0].text;
    if (tree.arguments(*write)[0].has(word_flag::kUnknown) || target.empty() || target.find_first_of("~*?[") != string_view::npos || target.find("..") != string_view::npos || target[0] == '/') return false;
    string_view pattern = word.text;
    if (ascii::starts_with(target, "./")) target.remove_prefix(2);
    if (ascii::starts_with(pattern, "./")) pattern.remove_prefix(2);
    const auto fits = [pattern](std::size_t at, char letter, std::size_t* next) noexcept { return matches_shell_place<false>(pattern, at, letter, next); };
    if (matches_stars(pattern, target, fits)) return false;  // it goes as well
    const std::uint32_t end = write->span.end > other.span.end ? write->span.end : other.span.end;
    if (end > asked.span.start || asked.span.start > text.size()) return false;
    string_view between = text.substr(end, asked.span.start - end);
    while (!between.empty() && ascii::is_blank(between.front())) between.remove_prefix(1);
    while (!between.empty() && ascii::is_blank(between.back())) between.remove_suffix(1);
    if (between != "&&" && !(between == "\n" && ascii::starts_with(text, "set -e"))) return false;
    for (std::uint32_t w = 0; w < other.word_count; ++w)
      if (tree.arguments(other)[w].text == word.text && tree.arguments(other)[w].has(word_flag::kGlob)) return true;
    return false;
  }
  return false;
}

}  // namespace

bool MadeBefore::refilled(const Word& word) const noexcept {
  constexpr std::uint32_t kNear = 64;
  const Command& asked = tree.command(index);
  if (joined_before(tree, text, index, word)) return true;
  if (word.has(word_flag::kUnknown))
    return !word.has(word_flag::kGlob) && asked.dialect == Dialect::shell && word.span.start < word.span.end && word.span.end <= text.size() &&
           (word.has(word_flag::kEnvironment) ? is_temporary_by_name(text.substr(word.span.start, word.span.end - word.span.start))
                                              : is_of_pipeline(text.substr(word.span.start, word.span.end - word.span.start)));
  if (asked.dialect == Dialect::shell && !word.has(word_flag::kUnknown) && index + 1 < tree.command_count()) {
    // Only what the very next command of the same list writes.
    std::uint32_t at = index + 1;
    while (at < tree.command_count() && tree.command(at).carrier == index) ++at;
    string_view folder = word.has(word_flag::kGlob) ? emptied_folder(word.text) : word.text;
    while (!folder.empty() && folder.back() == '/') folder.remove_suffix(1);
    if (at < tree.command_count() && tree.command(at).cwd == asked.cwd && (tree.command(at).via & (via::kRemote | via::kContainer)) == (asked.via & (via::kRemote | via::kContainer))) {
      const Command& next = tree.command(at);
      const string_view name = folder.substr(folder.find_last_of('/') + 1);
      if (!folder.empty() && folder[0] != '/' && folder[0] != '~' && folder.find("..") == string_view::npos && writes_again(tree, next, name)) return true;
    }
    if (word.has(word_flag::kGlob)) {
      const std::uint32_t to = tree.command_count() - index > 8 ? index + 8 : tree.command_count();
      for (std::uint32_t i = index + 1; i < to; ++i)
        if (copies_again(tree, asked, word, tree.command(i))) return true;
    }
  }
  if (word.has(word_flag::kUnknown) || word.has(word_flag::kGlob) || asked.dialect != Dialect::shell) return false;
  PathParts path;
  take(word.text, asked, &path);
  if (path.count > 1 && path.climbs == 0 && !path.too_long && !path.glob) {
    constexpr std::uint32_t kNext = 4;
    for (std::uint32_t i = index + 1; i < tree.command_count() && i - index <= kNext; ++i)
      if (tree.command(i).cwd == asked.cwd && (tree.command(i).via & (via::kRemote | via::kContainer)) == (asked.via & (via::kRemote | via::kContainer)) && names_as_output(tree, tree.command(i), path)) return true;
  }
  if (!is_own(path) || one_of(path.part[path.count - 1], kKeptNames)) return false;
  const std::uint32_t from = index > kNear ? index - kNear : 0;
  const std::uint32_t to = tree.command_count() - index > kNear ? index + kNear : tree.command_count();
  for (std::uint32_t i = from; i < to; ++i) {
    const Command& other = tree.command(i);
    if (i == index || (other.via & (via::kDefinition | via::kRemote | via::kContainer)) != (asked.via & (via::kDefinition | via::kRemote | via::kContainer))) continue;
    const Word* const words = tree.arguments(other);
    const std::uint32_t count = other.word_count;
    if (count == 0) continue;
    // A clone fails where a folder is: what is in it afterwards is the clone's.
    if (other.program == "git" && words[0].text == "clone") {
      const bool before = i < index;  // only the clone's own .git is sure to come from it
      if (count > 2 && (!before || path.names(path.count - 1, ".git")) && fills(other, words[count - 1], path, false, !before)) return true;
      continue;
    }
    if (i < index) {
      // curl -o x.zip URL; unzip x.zip; rm -f x.zip: what was there was to be written over.
      for (std::uint32_t w = 0; one_of(other.program, "curl wget") && w + 1 < count; ++w)
        if (one_of(words[w].text, other.program == "curl" ? "-o --output -lo -so -slo -sslo -fsslo" : "-o --output-document -qo") && fills(other, words[w + 1], path, false, true)) return true;
      continue;
    }
    if (one_of(other.program, "cp rsync mv ln ncp cpx cpy")) {
      if (count > 1 && !is_option(words[count - 1].text) && fills(other, words[count - 1], path, false, true)) return true;
      // cp -r nvim ~/.config/
      if (count > 1 && other.program != "ln" && fills(other, words[count - 1], path, true, true) && path.count != 0) {
        for (std::uint32_t w = 0; w + 1 < count; ++w) {
          const string_view text = words[w].text, base = text.substr(text.find_last_of('/') + 1);
          if (base == path.part[path.count - 1]) return true;
        }
      }
    } else if (one_of(other.program, "tar unzip")) {
      for (std::uint32_t w = 0; w + 1 < count; ++w)
        if (one_of(words[w].text, "-C --directory -d") && fills(other, words[w + 1], path, true, true)) return true;
    }
  }
  return false;
}

}  // namespace tipstaff::gate::rules
