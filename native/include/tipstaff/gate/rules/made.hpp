// What a command line made itself and may take away again: `git clone URL x && make -C x && rm -rf x`.
//
// Nothing is lost where a folder goes that the same line made, if making it fails on what is there already (git clone,
// mkdir without -p), if it succeeded before (&& is between them, or each line of a script under `set -e`), and if nothing
// was moved or linked into it since. The commands before are looked at backwards, and only where a rule would interrupt.
#pragma once

#include <cstdint>
#include <string_view>

#include "tipstaff/gate/tree/command.hpp"
#include "tipstaff/gate/tree/tree.hpp"

namespace tipstaff::gate::rules {

struct MadeBefore {
  const Tree& tree;
  std::string_view text;  // what the spans of the tree's commands are of
  std::uint32_t index;    // the command that is asked about

  // Whether a word of it names what was made, or an entry of that.
  bool names(const Word& word) const noexcept;
  // Whether a command after it writes what the word names again, from other folders: `rm -rf doc; jsdoc src -d doc`.
  bool remade_by_next(const Word& word) const noexcept;
  // Or is a variable of the environment that is named after what is temporary: "$TMP_CLONE".
  // Whether another command of the text fills the folder, or has cloned what is in it, if it succeeds: rm -rf ~/.x; git clone URL ~/.x.
  bool refilled(const Word& word) const noexcept;
  // Whether git works in the repository of the folder that it runs in; whether something was linked or mounted before.
  bool works_in_own_folder() const noexcept;
  bool links_before() const noexcept;
  // Whether the last `cd` before it succeeded, if it is run at all.
  bool surely_there() const noexcept;
  // Whether it works in a repository that was cloned, and nowhere else.
  bool works_in_clone() const noexcept;
  // Whether all that it removes was made, under the same name, by commands of the same text: docker run --name x; docker rm -f x.
  bool made_by_name() const noexcept;
};

// Ecosystems, as bits by their number in paths/ecosystems.hpp. What their tools make and a command deletes is no part of the
// sources where another word or command of the text shows that ecosystem: rm -rf obj_dir results.xml.
struct Ecosystems {
  std::uint64_t bits[2] = {};

  bool has(std::uint32_t number) const noexcept { return (bits[number / 64] >> (number % 64) & 1) != 0; }
  bool meets(const Ecosystems& other) const noexcept { return ((bits[0] & other.bits[0]) | (bits[1] & other.bits[1])) != 0; }
  bool none() const noexcept { return (bits[0] | bits[1]) == 0; }
  // Those that words of a command show, and commands near it.
  static Ecosystems shown_by(const Tree& tree, std::uint32_t index) noexcept;
  // Whether some part of a path is a folder of sources or of data.
  static bool is_below_sources(std::string_view path) noexcept;
  // Those whose tools make what a path below the folder where the command runs names.
  static Ecosystems that_make(std::string_view path) noexcept;
};

}  // namespace tipstaff::gate::rules
