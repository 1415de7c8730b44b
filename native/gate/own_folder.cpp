#include "tipstaff/gate/paths/parts.hpp"
#include "tipstaff/gate/paths/surrounding_paths.hpp"
#include "tipstaff/gate/rules/made.hpp"
#include "tipstaff/gate/rules/makers.hpp"
#include "tipstaff/gate/tree/ascii.hpp"

namespace tipstaff::gate::rules {

using ascii::one_of;
using makers::is_option;
using path_detail::Relation;
using std::string_view;

bool MadeBefore::works_in_own_folder() const noexcept {
  const Command& git = tree.command(index);
  const Word* const words = tree.arguments(git);
  if (text.find("GIT_") != string_view::npos) return false;
  // The reader takes -C into account; what the folder is a link may change.
  std::uint32_t at = 0;
  if (git.word_count > 1 && words[0].text == "-C" && words[1].text.find("..") == string_view::npos) at = 2;
  return at >= git.word_count || !is_option(words[at].text);
}

bool MadeBefore::links_before() const noexcept {
  for (std::uint32_t i = 0; i < index; ++i)
    if (one_of(tree.command(i).program, "ln link mount bindfs mklink new-item lndir")) return true;
  return false;
}

bool MadeBefore::surely_there() const noexcept {
  const Command& asked = tree.command(index);
  std::uint32_t cd = index;
  while (cd-- > 0 && !one_of(tree.command(cd).program, "cd chdir pushd popd")) continue;
  if (cd == kNone) return true;
  const std::uint32_t from = tree.command(cd).span.end, to = asked.span.start;
  if (from > to || to > text.size()) return false;
  // cd x && make && git reset: nothing else is between them.
  const string_view gap = text.substr(from, to - from);
  const std::size_t sign = gap.find_first_not_of(" \t");
  if (gap.substr(sign < gap.size() ? sign : 0, 2) == "&&") {
    bool only = gap.find_first_of(";\n|()`$") == string_view::npos;
    for (std::size_t at = gap.find('&'); only && at != string_view::npos; at = gap.find('&', at + 2)) only = gap.substr(at, 2) == "&&";
    if (only) return true;
  } else if (sign < gap.size() && (gap[sign] == '&' || gap[sign] == '|')) {
    return false;
  }
  // Otherwise the same text must have made the folder, so that going there succeeds.
  PathParts here;
  take_path_apart(".", asked.cwd, {}, false, false, &here);
  for (std::uint32_t i = 0; i < cd; ++i) {
    const Command& other = tree.command(i);
    const bool git = other.program == "git" && other.word_count > 1 && one_of(tree.arguments(other)[0].text, "clone init");
    if (other.program == "mktemp" && ascii::starts_with(asked.cwd, "/tmp/made-by-mktemp")) return true;
    if (!git && other.program != "mkdir") continue;
    for (std::uint32_t w = git ? 1 : 0; w < other.word_count; ++w) {
      PathParts made;
      take_path_apart(tree.arguments(other)[w].text, other.cwd, {}, false, false, &made);
      if (made.base != here.base || made.climbs != 0) continue;
      const Relation relation = path_detail::relate(made, here);
      if (relation == Relation::same || relation == Relation::inside) return true;
    }
  }
  return false;
}

}  // namespace tipstaff::gate::rules
