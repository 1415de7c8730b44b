// Patches: text, what it would do to files, and how many lines change.
#include "gate/reading.hpp"

#include "tipstaff/gate/patch/patch.hpp"

namespace {

using namespace tipstaff::gate;
using namespace tipstaff::gate::test;

constexpr Sample kPatches[] = {
    {"*** Begin Patch\n*** Add File: src/a.py\n+print(1)\n*** End Patch\n", "@write src/a.py"},
    {"*** Begin Patch\n*** Update File: src/a.py\n@@ def f\n-a\n+b\n*** End Patch", "@write src/a.py"},
    {"*** Begin Patch\n*** Delete File: .claude/settings.json\n*** End Patch", "@delete .claude/settings.json"},
    {"*** Begin Patch\n*** Update File: a\n*** Move to: b\n@@\n-x\n+y\n*** End Patch", "@write a\n@write b\n@delete a"},
    {"*** Begin Patch\r\n*** Delete File: a b.txt\r\n*** End Patch\r\n", "@delete a b.txt"},
    {"*** Begin Patch\n*** Add File: x.sh\n+rm -rf /\n+*** Delete File: y\n*** End Patch", "@write x.sh"},
    {"*** Begin Patch\n*** Update File: a\n@@\n-x\n*** End of File\n*** End Patch\n*** Begin Patch\n*** Delete File: b\n*** End Patch",
     "@write a\n@delete b"},
    {"*** Begin Patch\n*** Add File: a\n+x", "@write a\n!syntax"},
    {"*** Begin Patch\nnonsense\n*** End Patch", "!syntax\n!syntax"},
    {"*** Begin Patch\n*** Rewrite File: a\n*** End Patch", "!syntax\n!syntax"},
    {"--- a/src/x.c\n+++ b/src/x.c\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n", "@write src/x.c"},
    {"--- src/x.c\t2024-01-01\n+++ src/x.c\t2024-01-02\n@@ -1 +1 @@\n-b\n+c\n", "@write src/x.c"},
    {"--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n", "@delete x"},
    {"--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n", "@write x"},
    {"diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-b\n+c\n", "@write x"},
    {"diff --git a/x b/x\ndeleted file mode 100644\nindex 1..0\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n", "@delete x"},
    {"diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", "@write y\n@delete x"},
    {"diff --git a/x.png b/x.png\nindex 1..2\nBinary files a/x.png and b/x.png differ\n", "@write x.png"},
    {"diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1,3 @@\n+--- a/y\n++++ b/y\n+@@ -1 +1 @@\n", "@write x"},
    {"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-b\n+c\ndiff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-b\n+c\n",
     "@write x\n@write y"},
    {"From: someone\nSubject: x\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-b\n+c\n", "@write x"},
    {"--- a/x\n+++ b/x\n@@ -1,5 +1,5 @@\n a\n-b\n", "@write x"},
    {"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\n-b\n+c\n+d\n\\ No newline at end of file\n", "@write x"},
    {"--- \"a/x y\"\n+++ \"b/x y\"\n@@ -1 +1 @@\n-b\n+c\n", "@write x y"},
    {"", "!syntax"},
    {"rm -rf /", "!syntax"},
};

struct Sized {
  const char* text;
  std::uint32_t files, added, removed;
  bool binary, whole;
};

constexpr Sized kSized[] = {
    {"*** Begin Patch\n*** Add File: a\n+x\n+y\n*** Update File: b\n@@\n-x\n+y\n c\n*** Delete File: d\n*** End Patch", 3, 3, 1, false, true},
    {"--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n a\n-b\n+c\n+d\n", 1, 2, 1, false, true},
    {"diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 3\nabc\n", 1, 0, 0, true, true},
    {"nothing", 0, 0, 0, false, false},
};

}  // namespace

int main() {
  Machine machine;
  check_samples(machine, Dialect::patch, kPatches);
  for (const Sized& sample : kSized) {
    ++checks;
    const PatchSummary found = summarize_patch(sample.text);
    if (found.files != sample.files || found.added != sample.added || found.removed != sample.removed || found.binary != sample.binary ||
        found.whole != sample.whole) {
      fail(sample.text, "counts differ");
      std::fprintf(stderr, "  found %u files, +%u, -%u\n", found.files, found.added, found.removed);
    }
  }
  // What is after a tab is no part of the name: the name is known all the same.
  machine.read(Dialect::patch, "diff --git x\t\x01\ndeleted file mode 100644\n");
  ++checks;
  if (machine.tree.command_count() != 1 || machine.tree.arguments(machine.tree.command(0))[0].text != "x" ||
      machine.tree.arguments(machine.tree.command(0))[0].has(word_flag::kUnknown))
    fail("diff --git x", "a known name is marked as unknown");
  return report();
}
