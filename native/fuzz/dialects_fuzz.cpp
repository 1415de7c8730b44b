// Feeds bytes to the readers of all dialects but the shell's, and checks what must hold of any tree.
//
// With clang: clang++ -std=c++17 -g -O1 -fsanitize=fuzzer,address,undefined -Inative/include -Inative/tests native/fuzz/dialects_fuzz.cpp
// With any compiler: -DTIPSTAFF_STANDALONE adds a main that mutates seeds: dialects_fuzz [rounds] [seed]
#include <chrono>
#include <random>

#include "gate/reading.hpp"

#include "tipstaff/gate/tree/dialects.hpp"
#include "tipstaff/gate/paths/classes.hpp"

namespace {

using namespace tipstaff::gate;

constexpr Dialect kDialects[] = {Dialect::python, Dialect::node, Dialect::perl,  Dialect::ruby,       Dialect::php, Dialect::awk,
                                 Dialect::sql,    Dialect::redis, Dialect::mongo, Dialect::powershell, Dialect::cmd, Dialect::patch};

void read_one(const std::string& text, Dialect dialect) {
  static test::Machine machine;
  machine.read(dialect, text);
  // Every word is a path to somebody.
  for (std::uint32_t i = 0; i < machine.tree.command_count(); ++i) {
    const Command& command = machine.tree.command(i);
    for (std::uint32_t w = 0; w < command.word_count && w < 8; ++w) {
      classify_path(machine.surroundings, command, machine.tree.arguments(command)[w]);
    }
  }
  if (test::failures > 0) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  read_one(std::string(reinterpret_cast<const char*>(data) + 1, size - 1), kDialects[data[0] % std::size(kDialects)]);
  return 0;
}

#ifdef TIPSTAFF_STANDALONE
namespace {

constexpr const char* kSeeds[] = {
    "import os, shutil as s\nfor p in ['/a', f\"{x}{'b'}\"]:\n  s.rmtree(os.path.join(p, 'c'))\nexec(compile('1', 'x', 'exec'))",
    "const {execSync: e} = require('child_process'); e(`rm ${process.env.HOME} ${[1].map(x => fs.rmSync(x, {recursive:true}))}`)",
    "my @a = qw(a b); system(\"rm $a[0] $ENV{HOME}\"); open(F, '-|', 'x'); s{a}{b}g; print <<X;\nrm\nX\n",
    "%w[a b].each { |d| FileUtils.rm_rf(\"#{d}/x\") }; system <<~X\n rm\nX\n",
    "<?php foreach (['a'] as $f) { unlink($f); } echo `rm {$x}`; ?> b <?= 1",
    "BEGIN { c = \"rm \" $1; system(c); print | \"sh\"; \"x\" | getline y } /a\\/b/ { print > \"f\" }",
    "WITH x AS (DELETE FROM t WHERE (1=1 OR NOT a LIKE '%') RETURNING *) DO $$ BEGIN EXECUTE 'DROP TABLE x'; END $$; \\! rm\n.shell x",
    "EVAL \"redis.call('FLUSHALL')\" 0\nCONFIG SET a b",
    "db.getCollection('a').deleteMany({}); db.adminCommand({shutdown: 1})",
    "foreach ($d in @('a',\"$env:X\\b\")) { gci $d -r | ? { $_.x -gt 5 } | % { ri \"$($_.FullName)\" -fo } }; iex ('{0}' -f 'a')",
    "@echo off\nfor /d %%i in (a b) do (if exist %%i rd /s /q \"%USERPROFILE%\\%%i\" & echo x > y)\nset X=1",
    "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n-a\n+b\n*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n*** End Patch",
};
constexpr const char* kPieces[] = {"'", "\"", "`", "(", ")", "{", "}", "[", "]", "$(", "${", "#{", "\\", "\n", "\x01", "/*", "*/", "<<X\n", "$$",
                                   "@(", "@\"\n", "f\"{", "`${", "\"#{", "\"$(", "%w[", "q{", "qx(", "--", "=", "+", ",", ";", "|", "&", "..", "/", "*** ", "%", "^"};

}  // namespace

int main(int count, char** arguments) {
  const long rounds = count > 1 ? std::atol(arguments[1]) : 20000;
  std::mt19937 random(count > 2 ? static_cast<unsigned>(std::atol(arguments[2])) : 1u);
  const auto pick = [&](std::size_t below) { return static_cast<std::size_t>(random() % below); };
  for (long round = 0; round < rounds; ++round) {
    std::string text = kSeeds[pick(std::size(kSeeds))];
    for (std::size_t edits = 1 + pick(6); edits > 0; --edits) {
      const std::size_t at = pick(text.size() + 1);
      switch (pick(5)) {
        case 0: text.insert(at, kPieces[pick(std::size(kPieces))]); break;
        case 1: text.erase(at, 1 + pick(8)); break;
        case 2: text.resize(at); break;
        case 3: text.insert(at, std::string(kSeeds[pick(std::size(kSeeds))]).substr(pick(20), pick(40))); break;
        default:
          if (at < text.size()) text[at] = static_cast<char>(random());
      }
      if (text.empty()) text = " ";
    }
    read_one(text, kDialects[pick(std::size(kDialects))]);
  }
  // Much of one thing: time may grow with the text, and not faster. A factor of four leaves room for a slow machine.
  int slow = 0;
  for (const Dialect dialect : kDialects) {
    for (const char* piece : kPieces) {
      for (const std::string& repeated : {std::string(piece), std::string(piece) + "a", "a " + std::string(piece) + " "}) {
        const auto time = [&](std::size_t size) {
          std::string text;
          while (text.size() < size) text += repeated;
          const auto begin = std::chrono::steady_clock::now();
          read_one(text, dialect);
          return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        };
        const double small = time(8 << 10), large = time(64 << 10);
        if (large > 0.25 && large > 32 * small) {
          std::fprintf(stderr, "dialect %d, '%s': %.3f s, then %.3f s for eight times as much\n", static_cast<int>(dialect), repeated.c_str(), small, large);
          ++slow;
        }
      }
    }
  }
  std::printf("%ld rounds, %d slow\n", rounds, slow);
  return slow == 0 ? 0 : 1;
}
#endif
