// Draws what a reader found, for tests and for people: one line a command, or the whole tree.
//
//   program 'argument' ... [<carrier] [flags of how it came to be run] {cwd}
//
// Unknown parts of a word are drawn as `?`, and the flags of a word are after it as small letters:
// u unknown, g glob, t temporary, e may be empty, a appended, h a path of the host.
#pragma once

#include <string>

#include "tipstaff/gate/tree/command.hpp"
#include "tipstaff/gate/tree/tree.hpp"
#include "tipstaff/gate/tree/unresolved.hpp"

namespace tipstaff::gate {

inline void print_word(std::string* out, const Word& word) {
  const bool plain = !word.text.empty() && word.text.find_first_of(" \t\n'\"\\;|&<>()[]{}") == std::string_view::npos;
  if (!plain) out->push_back('\'');
  for (const char c : word.text) {
    if (c == kUnknownPart) out->push_back('?');
    else if (c == '\n') out->append("\\n");
    else out->push_back(c);
  }
  if (!plain) out->push_back('\'');
  std::string flags;
  if (word.has(word_flag::kUnknown)) flags.push_back('u');
  if (word.has(word_flag::kGlob)) flags.push_back('g');
  if (word.has(word_flag::kTemporary)) flags.push_back('t');
  if (word.has(word_flag::kMayBeEmpty)) flags.push_back('e');
  if (word.has(word_flag::kAppended)) flags.push_back('a');
  if (word.has(word_flag::kHostPath)) flags.push_back('h');
  if (!flags.empty()) out->append(":" + flags);
}

inline std::string via_names(std::uint32_t via) {
  static constexpr const char* kNames[] = {"sudo", "remote", "container", "arguments", "interpreter",
                                           "script", "scheduled", "substitution", "function", "definition",
                                           "conditional", "background", "decoded", "evaluated"};
  std::string names;
  for (std::uint32_t bit = 0; bit < sizeof kNames / sizeof kNames[0]; ++bit) {
    if ((via >> bit & 1) == 0) continue;
    if (!names.empty()) names.push_back(',');
    names.append(kNames[bit]);
  }
  return names;
}

inline std::string print_command(const Tree& tree, const Command& command) {
  std::string out(command.program.empty() ? std::string("?") : std::string(command.program));
  for (std::uint32_t i = 0; i < command.word_count; ++i) {
    out.push_back(' ');
    print_word(&out, tree.arguments(command)[i]);
  }
  return out;
}

// All commands on one line, "; " between them, and what is uncertain after "!"; library calls by name are left out.
inline std::string print_line(const Tree& tree) {
  std::string out;
  for (std::uint32_t i = 0; i < tree.command_count(); ++i) {
    if (tree.command(i).program == "@call") continue;
    if (!out.empty()) out.append(" ; ");
    out.append(print_command(tree, tree.command(i)));
  }
  for (std::uint32_t i = 0; i < tree.uncertainty_count(); ++i) {
    out.append(i == 0 && tree.command_count() == 0 ? "!" : " !");
    out.append(name_of(tree.uncertainties()[i].reason));
  }
  return out;
}

// One command a line, with where it comes from.
inline std::string print_commands(const Tree& tree) {
  std::string out;
  for (std::uint32_t i = 0; i < tree.command_count(); ++i) {
    const Command& command = tree.command(i);
    out.append(std::to_string(i) + ": " + print_command(tree, command));
    if (command.carrier != kNone) out.append("  <" + std::to_string(command.carrier));
    if (command.pipe_from != kNone) out.append("  |" + std::to_string(command.pipe_from));
    if (command.via != 0) out.append("  [" + via_names(command.via) + "]");
    if (!command.cwd.empty()) out.append("  {" + std::string(command.cwd) + "}");
    out.append("  " + std::to_string(command.span.start) + "-" + std::to_string(command.span.end) + "\n");
  }
  for (std::uint32_t i = 0; i < tree.uncertainty_count(); ++i) {
    const Uncertainty& item = tree.uncertainties()[i];
    out.append(std::string("uncertain: ") + std::string(name_of(item.reason)) + " " + std::to_string(item.span.start) + "-" +
               std::to_string(item.span.end) + "\n");
  }
  return out;
}

inline void print_node(const Tree& tree, std::uint32_t index, std::size_t depth, std::string* out) {
  static constexpr const char* kKinds[] = {"root", "pipeline", "list", "group", "subshell", "substitution", "loop", "branch",
                                           "function", "command", "assignment", "redirection", "here-document", "code",
                                           "data"};
  for (; index != kNone; index = tree.nodes()[index].next) {
    const Node& node = tree.nodes()[index];
    out->append(2 * depth, ' ');
    out->append(kKinds[static_cast<int>(node.kind)]);
    out->append(" " + std::to_string(node.span.start) + "-" + std::to_string(node.span.end));
    if (!node.is_code) out->append(" data");
    if (node.command != kNone) out->append("  " + print_command(tree, tree.command(node.command)));
    out->push_back('\n');
    if (node.first_child != kNone && depth < 64) print_node(tree, node.first_child, depth + 1, out);
  }
}

inline std::string print_tree(const Tree& tree) {
  std::string out;
  if (tree.node_count() != 0) print_node(tree, 0, 0, &out);
  return out;
}

}  // namespace tipstaff::gate
