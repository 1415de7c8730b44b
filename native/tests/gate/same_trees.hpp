// Draws all that a tree holds of what a text would run, so that two readers of one text can be compared.
#ifndef TIPSTAFF_TESTS_SAME_TREES_HPP
#define TIPSTAFF_TESTS_SAME_TREES_HPP

#include <cstdint>
#include <initializer_list>
#include <string>

#include "tipstaff/gate/tree/dialects.hpp"

namespace tipstaff::test {

class Drawing {
 public:
  explicit Drawing(const gate::Tree& tree) {
    for (std::uint32_t i = 0; i < tree.command_count(); ++i) {
      const gate::Command& command = tree.command(i);
      put(command.program);
      word(command.name);
      put(command.cwd);
      numbers({command.first_word, command.node, command.carrier, command.pipe_from, command.pipe_to, command.has_input, command.via,
               static_cast<std::uint32_t>(command.dialect), command.span.start, command.span.end});
      word(command.input);
      for (std::uint32_t w = 0; w < command.word_count; ++w) word(tree.arguments(command)[w]);
      text_ += '\n';
    }
    for (std::uint32_t i = 0; i < tree.node_count(); ++i) {
      const gate::Node& node = tree.nodes()[i];
      numbers({static_cast<std::uint32_t>(node.kind), static_cast<std::uint32_t>(node.dialect), node.is_code, node.span.start,
               node.span.end, node.parent, node.first_child, node.last_child, node.next, node.command});
      text_ += '\n';
    }
    for (std::uint32_t i = 0; i < tree.uncertainty_count(); ++i) {
      const gate::Uncertainty& open = tree.uncertainties()[i];
      numbers({static_cast<std::uint32_t>(open.reason), open.span.start, open.span.end, open.command});
    }
    numbers({tree.word_count(), tree.full()});
  }
  const std::string& text() const { return text_; }

 private:
  void put(std::string_view text) { text_.append("[").append(text).append("]"); }
  void numbers(std::initializer_list<std::uint32_t> all) {
    for (const std::uint32_t one : all) text_.append(" ").append(std::to_string(one));
  }
  void word(const gate::Word& word) {
    put(word.text);
    numbers({word.span.start, word.span.end, word.flags});
  }

  std::string text_;
};

// Reads shell code as a whole text, as the engine does.
inline void read_whole(gate::Tree& tree, const gate::Surroundings& around, std::string_view text) {
  gate::Reader reader{&tree, &around};
  gate::Node root;
  root.span = {0, static_cast<std::uint32_t>(text.size())};
  gate::Frame frame;
  frame.cwd = around.cwd;
  frame.node = tree.add_node(root);
  gate::read_code(reader, gate::Dialect::shell, {text, root.span, true}, frame);
}

}  // namespace tipstaff::test

#endif
