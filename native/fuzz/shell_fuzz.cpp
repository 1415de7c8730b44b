// Feeds the shell reader anything, and checks what must always hold of a tree.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

#include "gate/same_trees.hpp"
#include "tipstaff/gate/tree/dialects.hpp"
#include "tipstaff/gate/shell/short/commands.hpp"

namespace {

using namespace tipstaff::gate;

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// Every third path is a file, whose text is part of the input.
struct Files {
  const char* text;
  std::size_t size;
};

long long read_file(void* self, std::string_view path, char* out, std::size_t capacity) noexcept {
  const auto* files = static_cast<const Files*>(self);
  if (path.size() % 3 != 0) return -1;
  const std::size_t n = files->size < capacity ? files->size : capacity;
  if (n != 0) std::memcpy(out, files->text, n);
  return static_cast<long long>(files->size);
}

void check_tree(const Tree& tree, std::size_t size) {
  const auto in_text = [&](Span span, const char* what) {
    must(span.start <= span.end && span.end <= size, what);
  };
  for (std::uint32_t i = 0; i < tree.command_count(); ++i) {
    const Command& command = tree.command(i);
    in_text(command.span, "a command's span is in the text");
    in_text(command.name.span, "a name's span is in the text");
    must(command.word_count == 0 || command.first_word + command.word_count <= tree.word_count(),
         "a command's words are the tree's");
    must(command.carrier == kNone || command.carrier < i, "a carrier comes before what it carries");
    must(command.pipe_from == kNone || command.pipe_from < tree.command_count(), "a pipe begins at a command");
    must(command.pipe_to == kNone || command.pipe_to < tree.command_count(), "a pipe ends at a command");
    must(command.node == kNone || command.node < tree.node_count(), "a command's node is the tree's");
  }
  unsigned sum = 0;
  for (std::uint32_t i = 0; i < tree.word_count(); ++i) {
    in_text(tree.words()[i].span, "a word's span is in the text");
    for (const char c : tree.words()[i].text) sum += static_cast<unsigned char>(c);
  }
  for (std::uint32_t i = 0; i < tree.node_count(); ++i) {
    const Node& node = tree.nodes()[i];
    in_text(node.span, "a node's span is in the text");
    must(node.parent == kNone || node.parent < i, "a parent comes before its children");
    must(node.next == kNone || node.next > i, "nodes are in order");
  }
  for (std::uint32_t i = 0; i < tree.uncertainty_count(); ++i) {
    in_text(tree.uncertainties()[i].span, "an uncertainty's span is in the text");
  }
  must(tree.pending() == 0, "no word is left over");
  must(sum != 0xffffffffu, "every byte of a word can be read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr std::size_t kMemory = 4 << 20;
  static std::unique_ptr<unsigned char[]> memory(new unsigned char[kMemory]);
  // A block of exactly the text's size, so that nothing beyond it is read unseen.
  std::unique_ptr<char[]> text(new char[size]);
  if (size != 0) std::memcpy(text.get(), data, size);
  // A small memory now and then: limits must end well, too.
  const std::size_t bytes = size % 5 == 4 ? kMemory / 64 : kMemory;
  Tree tree(memory.get(), bytes);
  Files files{text.get(), size};
  Surroundings surroundings;
  surroundings.cwd = size % 2 == 0 ? "/home/dev/proj" : "";
  surroundings.home = size % 3 == 0 ? "" : "/home/dev";
  surroundings.repository = surroundings.cwd;
  surroundings.read_file = read_file;
  surroundings.self = &files;
  Reader reader{&tree, &surroundings};
  Node root;
  root.span = {0, static_cast<std::uint32_t>(size)};
  Frame frame;
  frame.node = tree.add_node(root);
  frame.cwd = surroundings.cwd;
  read_shell(reader, Code{{text.get(), size}, root.span, true}, frame);
  check_tree(tree, size);
  // What is plain is read in the same way by the reader of plain commands.
  tree.clear();
  if (tipstaff::gate::plain::read_plain(tree, surroundings, {text.get(), size})) {
    const std::string plain = tipstaff::test::Drawing(tree).text();
    tree.clear();
    tipstaff::test::read_whole(tree, surroundings, {text.get(), size});
    must(plain == tipstaff::test::Drawing(tree).text(), "plain commands are read as the shell's reader reads them");
  }
  return 0;
}
