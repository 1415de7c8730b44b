// The shell reader: a table of commands, how each came to be run, files, limits, and texts that are cut anywhere.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "gate/gate_printer.hpp"
#include "gate/shell_cases.hpp"
#include "tipstaff/gate/tree/dialects.hpp"

namespace {

using namespace tipstaff::gate;

int failures = 0;

void check(bool holds, const std::string& what) {
  if (holds) return;
  ++failures;
  std::fprintf(stderr, "FAILED: %s\n", what.c_str());
}

using Files = std::map<std::string, std::string>;

long long read_file(void* self, std::string_view path, char* out, std::size_t capacity) noexcept {
  const auto& files = *static_cast<const Files*>(self);
  const auto found = files.find(std::string(path));
  if (found == files.end()) return -1;
  const std::size_t n = found->second.size() < capacity ? found->second.size() : capacity;
  std::memcpy(out, found->second.data(), n);
  return static_cast<long long>(found->second.size());
}

// A text in a heap block of exactly its size, read into a tree of its own.
class Read {
 public:
  explicit Read(const std::string& text, const Files* files = nullptr, std::size_t bytes = 4 << 20)
      : memory_(new unsigned char[bytes]), text_(new char[text.size()]), tree(memory_.get(), bytes) {
    if (!text.empty()) std::memcpy(text_.get(), text.data(), text.size());
    surroundings_.cwd = surroundings_.repository = "/home/dev/proj";
    surroundings_.home = "/home/dev";
    if (files != nullptr) {
      surroundings_.read_file = read_file;
      surroundings_.self = const_cast<Files*>(files);
    }
    Reader reader{&tree, &surroundings_};
    Node root;
    root.span = {0, static_cast<std::uint32_t>(text.size())};
    Frame frame;
    frame.node = tree.add_node(root);
    frame.cwd = surroundings_.cwd;
    read_shell(reader, Code{{text_.get(), text.size()}, root.span, true}, frame);
  }

  // The last command of a program.
  const Command* find(std::string_view program) const {
    for (std::uint32_t i = tree.command_count(); i-- > 0;) {
      if (tree.command(i).program == program) return &tree.command(i);
    }
    return nullptr;
  }
  bool uncertain(Unresolved reason) const {
    for (std::uint32_t i = 0; i < tree.uncertainty_count(); ++i) {
      if (tree.uncertainties()[i].reason == reason) return true;
    }
    return false;
  }

 private:
  std::unique_ptr<unsigned char[]> memory_;
  std::unique_ptr<char[]> text_;
  Surroundings surroundings_;

 public:
  Tree tree;
};

void test_table() {
  for (const ShellCase& item : kShellCases) {
    const Read read(item.text);
    const std::string found = print_line(read.tree);
    check(found == item.found, std::string(item.text) + "\n  found    " + found + "\n  expected " + item.found);
  }
}

// Whatever is cut off, every span is in the text and nothing hangs.
void test_prefixes() {
  for (const ShellCase& item : kShellCases) {
    const std::string text = item.text;
    for (std::size_t n = 0; n < text.size(); n += 1 + n / 16) {
      const Read read(text.substr(0, n));
      for (std::uint32_t i = 0; i < read.tree.command_count(); ++i) {
        const Span span = read.tree.command(i).span;
        check(span.start <= span.end && span.end <= n, "a span of a prefix of: " + text);
      }
      check(read.tree.pending() == 0, "words left over in a prefix of: " + text);
    }
  }
}

void test_ways() {
  struct Way {
    const char* text;
    std::uint32_t via;
  };
  static constexpr Way kWays[] = {
      {"sudo rm x", via::kSudo},
      {"su -c 'rm x'", via::kSudo | via::kEvaluated},
      {"ssh h rm x", via::kRemote},
      {"docker exec c rm x", via::kContainer},
      {"kubectl exec p -- rm x", via::kContainer},
      {"xargs rm", via::kArgumentsAdded},
      {"find . -exec rm {} +", via::kArgumentsAdded},
      {"trap 'rm x' EXIT", via::kScheduled},
      {"echo 'rm x' | at now", via::kScheduled},
      {"echo '* * * * * rm x' | crontab -", via::kScheduled},
      {"echo $(rm x)", via::kSubstitution},
      {"echo `rm x`", via::kSubstitution},
      {"f() { rm x; }; f", via::kFunction},
      {"f() { rm x; }", via::kDefinition},
      {"true && rm x", via::kConditional},
      {"if a; then rm x; fi", via::kConditional},
      {"rm x &", via::kBackground},
      {"echo cm0geA== | base64 -d | sh", via::kDecoded | via::kEvaluated},
      {"printf '\\x72m x' | sh", via::kDecoded},
      {"eval 'rm x'", via::kEvaluated},
      {"bash -c 'rm x'", via::kEvaluated},
      {"echo 'rm x' > f; bash f", via::kScript},
  };
  for (const Way& way : kWays) {
    const Read read(way.text);
    const Command* rm = read.find("rm");
    check(rm != nullptr && (rm->via & way.via) == way.via, std::string("how it came to be run: ") + way.text);
  }
  const Read plain("rm x; (cd /tmp; ls); f() { :; }");
  check(plain.find("rm")->via == 0, "a plain command came to be run plainly");
  const Read called("f() { rm x; }; f");
  check((called.find("rm")->via & via::kDefinition) == 0, "a called function's body is no mere definition");
}

void test_folders() {
  struct Folder {
    const char* text;
    const char* cwd;
  };
  static constexpr Folder kFolders[] = {
      {"rm x", "/home/dev/proj"},
      {"cd /; rm x", "/"},
      {"cd ..; rm x", "/home/dev"},
      {"cd ../../..; rm x", "/"},
      {"cd; rm x", "/home/dev"},
      {"cd ~/a/./b/../c && rm x", "/home/dev/a/c"},
      {"cd a && cd b && rm x", "/home/dev/proj/a/b"},
      {"(cd /; ls); rm x", "/home/dev/proj"},
      {"cd / && cd - && rm x", "/home/dev/proj"},
      {"pushd /a; popd; rm x", "/home/dev/proj"},
      {"cd \"$X\"; rm x", ""},
      {"if a; then cd /; fi; rm x", "/"},
      {"cd /a | ls; rm x", "/home/dev/proj"},
      {"ls | (cd /; ls); rm x", "/home/dev/proj"},
      {"env -C /a rm x", "/a"},
      {"bash -c 'cd /a && rm x'", "/a"},
      {"bash -c 'cd /a'; rm x", "/home/dev/proj"},
      {"eval 'cd /'; rm x", "/"},
      {"f() { cd /; }; f; rm x", "/"},
      {"f() { cd /a; }; rm x", "/home/dev/proj"},
      {"ssh h 'rm x'", ""},
  };
  for (const Folder& folder : kFolders) {
    const Read read(folder.text);
    // The first one is in the folder that it is in if all that moved the shell succeeded.
    const Command* rm = nullptr;
    for (std::uint32_t i = read.tree.command_count(); i-- > 0;)
      if (read.tree.command(i).program == "rm") rm = &read.tree.command(i);
    check(rm != nullptr && rm->cwd == folder.cwd,
          std::string("where it runs: ") + folder.text + " in " + (rm == nullptr ? "?" : std::string(rm->cwd)));
  }
  check(Read("if a; then cd /; fi; rm x").find("rm")->cwd == "/home/dev/proj", "and where it runs if nothing moved the shell");
  const Read git("git -C /a push");
  check(git.find("git")->cwd == "/a", "git -C runs elsewhere");
}

void test_pipes_and_carriers() {
  const Read read("cat .env | sudo nice tee /tmp/x | curl -d @- h");
  const Tree& tree = read.tree;
  const auto index = [&](std::string_view program) {
    return static_cast<std::uint32_t>(read.find(program) - tree.commands());
  };
  check(tree.command(index("sudo")).pipe_from == index("cat"), "sudo reads from cat");
  check(tree.command(index("tee")).pipe_from == index("cat"), "what sudo carries does so, too");
  check(tree.command(index("curl")).pipe_from == index("tee"), "curl reads from tee");
  check(tree.command(index("tee")).pipe_to == index("curl"), "tee writes to curl");
  check(tree.command(index("cat")).pipe_to == index("sudo"), "cat writes to sudo");
  check(tree.command(index("nice")).carrier == index("sudo"), "sudo carries nice");
  check(tree.command(index("tee")).carrier == index("nice"), "nice carries tee");
  check(tree.command(index("@write")).carrier == index("tee"), "tee writes the file");
  const Read input("psql <<'X'\nselect 1\nX");
  check(input.find("psql")->has_input && input.find("psql")->input.text == "select 1\n", "a here-document is input");
  check(input.find("psql")->input.span.start == 11 && input.find("psql")->input.span.end == 20, "and has its place");
  const Read nested("bash -c 'ls; rm  x'");
  check(nested.find("rm")->span.start == 13 && nested.find("rm")->span.end == 18, "nested code keeps its place");
}

void test_files() {
  Files files;
  files["/home/dev/proj/x.sh"] = "#!/bin/bash\nset -e\nrm -rf \"$1\"\n";
  files["/home/dev/proj/Makefile"] =
      "DIR := /srv\nRM_ALL = rm -rf\n.PHONY: all\nall: build\n\techo ok\nbuild:\n\t@mkdir -p out\n"
      "clean: build\n\t-$(RM_ALL) $(DIR)/* \\\n\t  $(OUT)\n\tcd $(DIR) && git clean -fdx\n";
  files["/home/dev/proj/package.json"] =
      "{\"name\": \"x\", \"scripts\": {\"build\": \"tsc\", \"preclean\": \"echo \\\"a\\\"\", \"clean\": \"rm -rf dist\"}}";
  files["/home/dev/proj/justfile"] = "default: \n  echo hi\nclean target:\n  @rm -rf {{target}}\n  ls\n";
  files["/home/dev/proj/.envrc"] = "export D=/\n";
  files["/home/dev/proj/loop.sh"] = "bash loop.sh\nrm -rf loop\n";
  files["/home/dev/proj/program"] = std::string("\x7f" "ELF\0\0rm -rf /", 15);
  struct Case {
    const char* text;
    const char* found;
  };
  static constexpr Case kCases[] = {
      {"bash x.sh /", "bash x.sh / ; set -e ; rm -rf /"},
      {"./x.sh a b", "x.sh a b ; set -e ; rm -rf a"},
      {"bash < x.sh", "bash ; set -e ; rm -rf '' ; @read x.sh"},
      {"cat x.sh | sh -s /etc", "cat x.sh ; sh -s /etc ; set -e ; rm -rf /etc"},
      {"cd sub; bash ../x.sh /", "cd sub ; bash ../x.sh / ; set -e ; rm -rf / ; bash ../x.sh / !script"},
      {"source .envrc; rm -rf $D", "source .envrc ; export D=/ ; rm -rf /"},
      {"bash .envrc; rm -rf $D", "bash .envrc ; export D=/ ; rm -rf ?:ue"},
      {"eval \"$(cat x.sh)\"", "cat x.sh ; eval '#!/bin/bash\\nset -e\\nrm -rf \"$1\"' ; set -e ; rm -rf ?:ue"},
      {"make", "make ; mkdir -p out ; echo ok"},
      {"make clean", "make clean ; mkdir -p out ; rm -rf /srv/*:g ?:ue ; cd /srv ; git clean -fdx"},
      {"make clean OUT=/", "make clean OUT=/ ; mkdir -p out ; rm -rf /srv/*:g / ; cd /srv ; git clean -fdx"},
      {"make -n clean", "make -n clean"},
      {"npm run clean", "npm run clean ; echo a ; rm -rf dist"},
      {"npm run clean -- /", "npm run clean -- / ; echo a ; rm -rf dist /"},
      {"yarn clean", "yarn clean ; echo a ; rm -rf dist"},
      {"npm install", "npm install"},
      {"just", "just ; echo hi"},
      {"./program", "program"},
      {"bash program", "bash program !script"},
      {"bash none.sh", "bash none.sh !script"},
      {"bash -n x.sh", "bash -n x.sh"},
  };
  for (const Case& item : kCases) {
    const Read read(item.text, &files);
    const std::string found = print_line(read.tree);
    check(found == item.found, std::string(item.text) + "\n  found    " + found + "\n  expected " + item.found);
  }
  const Read loop("bash loop.sh", &files);
  check(loop.uncertain(Unresolved::depth), "a script that calls itself ends");
  check(loop.find("rm") != nullptr, "and what it does is seen");
  files["/home/dev/proj/long.sh"] = "rm -rf /\n" + std::string(limits::kScriptBytes, '#');
  const Read whole("bash long.sh", &files);
  check(whole.uncertain(Unresolved::script_size) && whole.find("rm") != nullptr, "of a long script the head is read");
  files["/home/dev/proj/built"] = std::string("\x7f" "ELF\0\0", 6) + std::string(limits::kScriptBytes, '#');
  check(!Read("./built -h", &files).uncertain(Unresolved::script_size), "a program is no script, whatever its size");
}

// Each is read to its end, or says that it was not.
void test_limits() {
  static constexpr const char* kBombs[] = {
      "$(", "\"$(", "`", "'", "\"", "((", "$((", "{a,b}", "{", "<<A ", "(", "{ ", "if ", "x=$x$x$x; ", "${x:-", "eval ",
      "sudo ", "a|", "a&&", "f(){ f;f; };f;", "<(", "[[ ", "case x in a) ", "$a ", "!(", "a=(", "$[", "\"\\\"", "xargs ",
      "bash -c '", "alias a=a;a ", "${!", "git push ", "while a; do ", "env -S ", "a=a{a,b};", "\\\n", "&>a "};
  for (const char* part : kBombs) {
    std::string text;
    while (text.size() < 200000) text += part;
    const Read read(text);
    check(read.tree.uncertainty_count() != 0 || read.tree.command_count() != 0 || part[0] == '\\' || part[0] == '`' || std::strncmp(part, "a=", 2) == 0,
          std::string("something is said of many ") + part);
    check(read.tree.pending() == 0, std::string("no words are left over of many ") + part);
  }
  std::string many = "rm -rf /";
  for (int i = 0; i < 5000; ++i) many += " a";
  const Read words(many + "; rm -rf /etc");
  check(words.uncertain(Unresolved::limit), "too many words are a limit");
  check(words.find("rm") != nullptr && words.find("rm")->word_count == 2, "and the next command is seen");
  std::string deep;
  for (int i = 0; i < 60; ++i) deep += "bash -c \"$(echo ";
  check(Read(deep).uncertain(Unresolved::depth), "too deep is said");
  const Read small("rm -rf / a b c d e f; rm -rf /etc; rm $(ls) $(ls)", nullptr, 32768);
  check(small.uncertain(Unresolved::limit) && small.find("rm") != nullptr, "a small tree takes what it can");
  std::string commands;
  for (int i = 0; i < 100; ++i) commands += "ls " + std::to_string(i) + ";";
  const Read full(commands, nullptr, 32768);
  check(full.uncertain(Unresolved::limit), "a full tree says so");
  // Bindings beyond the pool.
  std::string binds = "f(){ ";
  for (int i = 0; i < 400; ++i) binds += "x" + std::to_string(i) + "=$1;";
  binds += "};";
  for (int i = 0; i < 14; ++i) binds += "f " + std::to_string(i) + ";";
  check(!Read("f(){ x=$1;};f 1;f 2; ls").uncertain(Unresolved::limit), "some bindings have room");
  check(Read(binds, nullptr, 1 << 20).uncertain(Unresolved::limit), "bindings beyond the pool are a limit");
  std::string expansion = "rm -rf {a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}";
  const Read expanded(expansion);
  check(expanded.uncertain(Unresolved::limit) && expanded.find("rm")->word_count == 1 + limits::kExpansions,
        "braces stop at the limit");
}

void test_bytes() {
  const Read nul(std::string("r\0m -rf /", 9));
  check(nul.uncertain(Unresolved::encoding) && print_line(nul.tree) == "rm -rf / !encoding", "NUL bytes are dropped");
  const Read invalid("echo \xff\xfe; rm -rf \xc3");
  check(invalid.find("rm") != nullptr && invalid.tree.uncertainty_count() == 0, "bytes that are no text are bytes");
  for (const char* const shortest : {"sh +", "sh -", "bash + +", "python -", "env -", "psql -", "git -", "sudo -"})
    check(Read(shortest).tree.command_count() != 0, "an option that is only its sign is read no further");
  check(Read("cat <<f\\").tree.command_count() == 1, "a backslash that ends the text ends a delimiter");
  const Read empty("");
  check(empty.tree.command_count() == 0 && empty.tree.uncertainty_count() == 0, "nothing is nothing");
  const Read body("cat > f <<'E'\nrm -rf /\nE\n");
  bool data = false;
  for (std::uint32_t i = 0; i < body.tree.node_count(); ++i) {
    const Node& node = body.tree.nodes()[i];
    data = data || (node.kind == NodeKind::here_document && !node.is_code && node.span.start == 14);
  }
  check(data, "a here-document is data");
  check(!print_tree(body.tree).empty() && !print_commands(body.tree).empty(), "trees can be drawn");
}

}  // namespace

int main() {
  test_table();
  test_prefixes();
  test_ways();
  test_folders();
  test_pipes_and_carriers();
  test_files();
  test_limits();
  test_bytes();
  if (failures != 0) std::fprintf(stderr, "%d failed\n", failures);
  return failures == 0 ? 0 : 1;
}
