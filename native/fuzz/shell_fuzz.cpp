// Feeds the shell reader anything, and checks what must always hold of a tree.
//
// With libFuzzer:  clang++ -std=c++17 -g -O1 -fsanitize=fuzzer,address,undefined -Inative/include
//                  -Inative/tests native/fuzz/shell_fuzz.cpp
// Without it:      g++ -std=c++17 -g -O1 -fsanitize=address,undefined -DTIPSTAFF_FUZZ_MAIN -Inative/include -Inative/tests
//                  native/fuzz/shell_fuzz.cpp && ./a.out [runs] [seed]
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
    in_text(command.span, "a command's span lies in the text");
    in_text(command.name.span, "a name's span lies in the text");
    must(command.word_count == 0 || command.first_word + command.word_count <= tree.word_count(),
         "a command's words are the tree's");
    must(command.carrier == kNone || command.carrier < i, "a carrier stands before what it carries");
    must(command.pipe_from == kNone || command.pipe_from < tree.command_count(), "a pipe begins at a command");
    must(command.pipe_to == kNone || command.pipe_to < tree.command_count(), "a pipe ends at a command");
    must(command.node == kNone || command.node < tree.node_count(), "a command's node is the tree's");
  }
  unsigned sum = 0;
  for (std::uint32_t i = 0; i < tree.word_count(); ++i) {
    in_text(tree.words()[i].span, "a word's span lies in the text");
    for (const char c : tree.words()[i].text) sum += static_cast<unsigned char>(c);
  }
  for (std::uint32_t i = 0; i < tree.node_count(); ++i) {
    const Node& node = tree.nodes()[i];
    in_text(node.span, "a node's span lies in the text");
    must(node.parent == kNone || node.parent < i, "a parent stands before its children");
    must(node.next == kNone || node.next > i, "nodes are in order");
  }
  for (std::uint32_t i = 0; i < tree.uncertainty_count(); ++i) {
    in_text(tree.uncertainties()[i].span, "an uncertainty's span lies in the text");
  }
  must(tree.pending() == 0, "no word is left over");
  must(sum != 0xffffffffu, "every byte of a word can be read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static constexpr std::size_t kMemory = 1 << 20;
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

#ifdef TIPSTAFF_FUZZ_MAIN
int main(int count, char** arguments) {
  const long runs = count > 1 ? std::atol(arguments[1]) : 100000;
  std::uint64_t state = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 1;
  const auto random = [&state]() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return static_cast<std::size_t>(state >> 11);
  };
  static const char* const kParts[] = {
      "rm -rf ", "/", " ", "\n", ";", "&&", "||", "|", "&", "$(", ")", "`", "'", "\"", "${x", "}", "{", "{a,b}", "(", "((",
      "))", "[[ ", " ]]", "if ", "then ", "fi", "else ", "elif ", "for x in ", "do ", "done", "while ", "case ", " in ",
      "esac", ";;", "f() ", "function f ", "<<A\n", "A\n", "<<-'A'\n", "<<< ", "<(", ">(", "> f", ">> f", "< f", "2>&1",
      "&> f", "x=", "x+=", "a=(", "$x", "${x:-", "${x#", "${x/", "${!x}", "${a[@]}", "$@", "\"$@\"", "$1", "$'\\x41", "\\",
      "\\\n", "#", "eval ", "bash -c ", "sudo ", "xargs ", "find / -exec ", "{} ", "\\; ", "ssh h ", "docker run -v /:/h a ",
      "git -c alias.x='!a' x ", "alias g=", "set -- ", "shift", "read x ", "cd ", "source ", ". ", "trap ", "echo ",
      "printf ", "base64 -d ", "xxd -r -p", "cm0gLXJm", "\\x72", "%s", "{1..9}", "{a..", "*", "?", "[", "]", "!", "~", "~/",
      "export ", "local ", "IFS=, ", "make ", "npm run ", "psql -c ", "python3 -c ", "awk ", "sed ", "e", "tee ", "cat ",
      "curl ", "-o ", "time ", "coproc ", "parallel ", "::: ", "env -S ", "tar ", "vim -c ", "!ls", "tmux new ", "crontab ",
      "\r\n", "\t", "\x01", "\xff", "$((", "$[", "@(", "!(", "{fd}>", "1", "9999999999", "-", "--", "=", ",", "..",
      "powershell -e ", "cmd /c ", "node -e ", "perl -e ", "tr a-z b-z ", "rev ", "yes ", "mktemp", "$HOME", "$PWD"};
  constexpr std::size_t kCount = sizeof kParts / sizeof kParts[0];
  std::string text;
  for (long run = 0; run < runs; ++run) {
    if (run % 4 != 0 || text.size() > 4096) text.clear();
    const std::size_t parts = 1 + random() % 24;
    for (std::size_t i = 0; i < parts; ++i) {
      const std::size_t pick = random();
      if (pick % 29 == 0) {
        text.push_back(static_cast<char>(random() & 255));
      } else if (pick % 31 == 0 && !text.empty()) {
        text.resize(random() % text.size());
      } else if (pick % 37 == 0 && !text.empty()) {
        text.append(text.substr(random() % text.size(), 40));
      } else {
        text.append(kParts[pick / 64 % kCount]);
      }
    }
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  }
  std::printf("%ld texts\n", runs);
  return 0;
}
#endif
