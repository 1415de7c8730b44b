// Feeds the shell's parser anything, in each dialect, and checks what must always hold of a tree.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "tipstaff/syntax/shell.hpp"

namespace {

using namespace tipstaff::syntax;

void must(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

// Every node that can be reached is reached once, and lies in the text.
std::uint32_t walk(const Tree& tree, std::uint32_t index, std::uint32_t size, std::uint32_t budget) {
  std::uint32_t seen = 1;
  const Node& node = tree[index];
  must(node.span.start <= node.span.end && node.span.end <= size, "a node's span is in the text");
  for (std::uint32_t i = node.first_child; i != kNone; i = tree[i].next) {
    must(i < tree.size(), "a child is a node of the tree");
    must(seen < budget, "the tree has no circles");
    seen += walk(tree, i, size, budget - seen);
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte chooses; a block of exactly the rest's size shows what is read beyond it.
  const std::uint8_t choice = data[0];
  const std::size_t length = size - 1;
  std::unique_ptr<char[]> text(new char[length]);
  if (length != 0) std::memcpy(text.get(), data + 1, length);
  const std::size_t nodes = choice % 7 == 0 ? 64 : 4 * length + 64;
  std::unique_ptr<Node[]> memory(new Node[nodes]);
  Options options;
  options.shell = static_cast<Shell>(choice / 8 % 3);
  options.extended_globs = choice / 32 % 2 != 0;
  Tree tree(memory.get(), nodes * sizeof(Node), text.get());
  const Parsed parsed = parse_shell(tree, 0, static_cast<std::uint32_t>(length), options);
  must(parsed.stopped <= length, "reading stops within the text");
  must(parsed.root != kNone, "there is a root");
  const std::uint32_t seen = walk(tree, parsed.root, static_cast<std::uint32_t>(length), tree.size() + 1);
  must(seen <= tree.size(), "no node is reached twice");
  if (nodes > 64) must(parsed.status != Status::full, "four nodes a byte are enough");
  return 0;
}
