// What the reader of plain commands reads, it reads as the shell's reader does; and it reads what is plain.
#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "checking.hpp"
#include "gate/same_trees.hpp"
#include "gate/shell_cases.hpp"
#include "tipstaff/gate/shell/short/commands.hpp"

using namespace tipstaff;
using namespace tipstaff::gate;
using test::check;
using test::expect;

namespace {

long long no_file(void*, std::string_view, char*, std::size_t) noexcept { return -1; }

class Bench {
 public:
  // Whether the text is plain; its tree is then compared with the other one.
  bool hold(const std::string& text, bool files = false, std::string_view cwd = "/home/dev/proj") {
    Surroundings around;
    around.cwd = cwd;
    around.home = "/home/dev";
    around.repository = cwd;
    if (files) around.read_file = no_file;
    // A block of exactly the text's size, so that nothing beyond it is read unseen.
    const std::vector<char> block(text.begin(), text.end());
    const std::string_view given(block.data(), block.size());
    plain_.clear();
    whole_.clear();
    if (!plain::read_plain(plain_, around, given)) {
      expect(plain_.command_count() == 0 && plain_.node_count() == 0 && plain_.word_count() == 0, "nothing is left of: " + text);
      return false;
    }
    test::read_whole(whole_, around, given);
    const std::string one = test::Drawing(plain_).text(), other = test::Drawing(whole_).text();
    expect(one == other, text + "\n" + one + "\nis by the shell's reader\n" + other);
    in_place(text, given);
    return true;
  }

 private:
  // Words reported as verbatim are in the text, one after the other.
  void in_place(const std::string& text, std::string_view given) {
    for (std::uint32_t i = 0; i < plain_.command_count(); ++i) {
      const Command& command = plain_.command(i);
      const char* at = given.data();
      for (std::uint32_t w = 0; w < command.word_count && command.as_written; ++w) {
        const std::string_view word = plain_.arguments(command)[w].text;
        expect(word.data() >= at && word.data() + word.size() <= given.data() + given.size(), "in place: " + text);
        at = word.data() + word.size();
      }
    }
  }

  std::vector<unsigned char> one_ = std::vector<unsigned char>(4 << 20), other_ = std::vector<unsigned char>(4 << 20);
  Tree plain_{one_.data(), one_.size()}, whole_{other_.data(), other_.size()};
};

const std::vector<std::string> kPlain = {
    "ls", "ls -la src", "git status --short", "git commit -m 'fix the parser' && git push origin main", "npm run build -- --watch; npm test",
    "kubectl get pods -n dev | grep api", "python3 -m pytest -q -k \"not slow\" 2>&1 | tail -5", "docker compose logs -f api &",
    "cat README.md | head -20", "rm -rf build dist/*.o", "cargo test --all 2>/dev/null || echo failed", "ls\n\npwd\n", "git diff HEAD~3 -- a.py\r\n",
    "/usr/bin/git log --oneline", "grep -rn --include='*.py' 'def f' src tests", "mkdir -p a/b && touch a/b/c",
    "sed -n 10,20p src/a.py", "cp -r src out", "tar czf a.tgz src", "uv sync", "terraform plan -out=p", "a=b.c; ls",
    "git commit -m 'gr\xc3\xbc\xc3\x9f\x65' stra\xc3\x9f\x65.txt \xc3\xbc", "gr\xc3\xbc\xc3\x9f\x65 a\x7f"};
const std::vector<std::string> kNotPlain = {
    "", "ls $HOME", "ls `pwd`", "ls $(pwd)", "cd /tmp && ls", "sudo ls", "x=1 ls", "ls > out", "cat < in", "if true; then ls; fi", "ls # all",
    "(ls)", "{ ls; }", "ls {a,b}", "ls ~/x", "ls \\*", "git -c alias.x='!ls' x", "git rebase -x ls main", "git fetch --upload-pack='rm x' h",
    "docker exec c ls", "kubectl exec p -- ls", "npx ls", "npm exec ls", "python3 -c 'import os'", "python3 a.py", "make all", "bash a.sh",
    "eval ls", "find . -exec ls", "drop table a;", "delete from a", "'ls'", "LS", "ls ''", "echo \"a", "ls | sh", "echo a | cat", "ls |", "ls &&",
    "! ls", "git-reset --hard", "python3.11 -m x", "a@2 b", "cp /bin/sh x", "terraform apply p", "aws ssm send-command x", "yarn serve x",
    "ls '~'", "uv run ls", "echo a\x01", "ls |& cat", "ls &> /dev/null", "time ls", "/etc/init.d/x stop",
    "wrapper /bin/rm -rf x", "wrapper -v RM -rf x", "wrapper bin/grm -rf x", "tool --exec='-x=rm -rf x'", "xdotool type 'string:rm -rf x'",
    "echo 'a\r\nb'"};

}  // namespace

int main() {
  Bench bench;
  for (const std::string& text : kPlain) {
    const bool assigns = text.find("a=b") == 0;
    expect(bench.hold(text) == !assigns, "plain: " + text);
  }
  for (const std::string& text : kNotPlain) expect(!bench.hold(text), "not plain: " + text);
  expect(!bench.hold("npm run build", true) && !bench.hold("npm install", true) && bench.hold("npm ls", true), "scripts of a project are read where files are");
  expect(!bench.hold("./tool y", true) && bench.hold("./tool y"), "and so are programs that are called by their path");
  expect(!bench.hold(std::string(plain::PlainReader::kLongest, 'a') + " b"), "long texts are not plain");
  std::string many = "ls";
  for (std::uint32_t i = 1; i < plain::PlainReader::kCommands; ++i) many += "; ls -l";
  expect(bench.hold(many) && !bench.hold(many + "; ls"), "nor are texts of more commands than are looked at together");
  std::vector<unsigned char> little(1 << 16);
  Tree small(little.data(), little.size());
  expect(!plain::read_plain(small, Surroundings{}, "ls"), "nor is anything where there is little room");

  // Programs of the reader's table, with words that mean something to one of them, in every order.
  std::vector<std::string> parts = {
      "exec", "run", "create", "test", "start", "x", "dlx", "install", "add", "remove", "config", "bisect", "submodule", "foreach", "rebase", "grep",
      "rev-parse", "ls-files", "clone", "fetch", "push", "status", "log", "apply", "plan", "-destroy", "compose", "-m", "-c", "-C", "-x", "-n", "--",
      "-", "--exec", "-u", "-O", "-I", "-i", "--no-pager", "--version", "--help", "src", "a.py", ".env", "/etc/passwd", "/bin/ls", "../x", "10,20p", "s/a/b/e",
      "'a b'", "\"it's\"", "--x='a b'", "a'b'\"c\"", "*.py", "a?b", "[a]", "x=1", "a,b", "}", "^", "!", "@", "%", "2>&1", "2>/dev/null", "> /dev/null",
      ">/dev/null", "1>/dev/null", "\xc3\xa9", "\xc3\x9f\xc3\xbc", "a\x7f\"b\x7f\"", "send-command", "get", "netns", "sync", "list", "ls", "stop", "0", "main", "HEAD~2", "a~", "~", "#a", "a#b"};
  std::vector<std::string> programs;
  for (const shell::Program& program : shell::kPrograms) programs.emplace_back(program.name);
  for (const char* other : {"ls", "cargo", "pip", "go", "make", "rm", "mkdir", "g++", "if", "do", "drop", "./a", "bin/git", "/usr/bin/npm", "a.exe"}) {
    programs.emplace_back(other);
  }
  const std::vector<std::string> seams = {" ", " ", " ", " && ", " || ", "; ", " | ", "\n", " & ", "  ", "\t", "&&", "|", ";;", " |& ", "\r\n", " \n "};
  std::mt19937 random(7);
  const auto pick = [&](const std::vector<std::string>& from) { return from[random() % from.size()]; };
  std::uint32_t plain = 0;
  for (int round = 0; round < 60000; ++round) {
    std::string text = pick(programs);
    for (std::uint32_t words = random() % 7; words > 0; --words) {
      const std::string seam = words % 3 == 0 ? pick(seams) : " ";
      text += seam + (seam.find_first_of("&|;\n") != std::string::npos ? pick(programs) : pick(parts));
    }
    plain += bench.hold(text, round % 2 == 0, round % 5 == 0 ? "" : round % 7 == 0 ? "/usr/bin" : "/home/dev/proj") ? 1 : 0;
  }
  expect(plain > 5000, "many of these are plain");
  // Wherever they are among the bytes that are looked at together.
  for (const std::vector<std::string>* list : {&kPlain, &kNotPlain}) {
    for (const std::string& text : *list) {
      for (std::size_t before = 0; before < 130; ++before) {
        bench.hold("ls " + std::string(before, 'a') + " && " + text);
        bench.hold("ls '" + std::string(before, ' ') + "' && " + text);
      }
    }
  }
  // All bytes that are no text are found, wherever they are; and no others of ASCII, but DEL.
  for (std::size_t size = 0; size < 200; ++size) {
    std::string text(size, 'a');
    for (char& c : text) c = random() % 3 == 0 ? static_cast<char>(random() % 256) : 'a';
    const std::vector<char> block(text.begin(), text.end());
    plain::Marks marks;
    plain::Marked marked = marks.read({block.data(), block.size()});
    for (std::size_t at = 0; at < size; ++at) {
      if (plain::kind_of(text[at]) == plain::kind::kText) {
        if (marked.first() != at) continue;
        expect(static_cast<unsigned char>(text[at]) > '~', "no other is found");
      } else {
        expect(marked.first() == at, "no text is passed over");
      }
      marked.pass();
    }
    expect(marked.first() == size, "the end is found");
  }
  // And what is in the shell reader's own cases, cut anywhere.
  for (const ShellCase& one : kShellCases) {
    const std::string text = one.text;
    for (std::size_t cut = 0; cut <= text.size(); ++cut) bench.hold(text.substr(0, cut));
  }
  if (test::failures != 0) return 1;
  std::printf("plain commands: %d checks\n", test::checks);
  return 0;
}
