// Shell syntax: trees of texts, one a row, and that reading is linear.
#include <string>
#include <vector>

#include "checking.hpp"
#include "syntax/drawn_syntax.hpp"
#include "tipstaff/syntax/shell/builtins.hpp"

namespace {

using namespace tipstaff::syntax;
using tipstaff::test::check;
using tipstaff::test::expect;

struct Row {
  const char* text;
  const char* drawn;
  Shell shell = Shell::bash;
};

const Row kRows[] = {
    {"a b; c &", "complete (list (do a b ) (bg (do c ) ) ) "},
    {"a && b || ! c | d", "complete (list (or (and (do a ) (do b ) ) (not (pipe (do c ) (do d ) ) ) ) ) "},
    {"x=1 y+=(a [2]=b) c >o 2>&1", "complete (list (do (set x 1 ) (set y (array a (set [2] b ) ) +) c {> o } {2>& 1 } ) ) "},
    {"export y=$x", "complete (list (do export (set y <$x> ) ) ) "},
    {"echo \"${x%'}'}\" '#'", "complete (list (do echo \"<${0,5 x '}' >\" '#' ) ) "},
    {"echo \"${x:-'}'}\"", "complete (list (do echo \"<${4,1 x ' >'}\" ) ) "},
    {"shopt -s extglob\necho @(a|')') b", "complete (list (do shopt -s extglob ) (do echo <@|a |')' > b ) ) "},
    {"echo @(a)", "wrong (list ) "},
    {"a\n)", "wrong (list (do a ) ) "},
    {"a; if b", "open (list ) "},
    {"echo {a,b{1..3},$x} {c}", "complete (list (do echo {a,b{1..3},<$x>} {c} ) ) "},
    {"cat <<E; b\n$x\nE\nc", "complete (list (do cat {<< <$x>\n } ) (do b ) (do c ) ) "},
    {"cat <<'E'\n$(\nE", "complete (list (do cat {<< '$(\n' } ) ) "},
    {"echo $((1+2)) $( (a) )", "complete (list (do echo <$(( 1+2> <$( (list (sub (list (do a ) ) ) ) )> ) ) "},
    {"[[ $a == b* && ! -f c ]]", "complete (list (test (&& ( <$a> == b* ) (! (-f c ) ) ) ) ) "},
    {"case x in (a|b) c;; *) ;; esac", "complete (list (case x (item a b (list (do c ) ) ) (item * (list ) ) ) ) "},
    {"f() { a; }; f", "complete (list (function f (group (list (do a ) ) ) ) (do f ) ) "},
    {"a |& b", "complete (list (pipe (do a {2>& 1 } ) (do b ) ) ) "},
    {"a |& b", "wrong (list ) ", Shell::dash},
    {"echo {a,b} $'x'", "complete (list (do echo {a,b} $'x' ) ) ", Shell::dash},
    {"x=~/a:~b; echo --x=~", "complete (list (do (set x <tilde ~>/a:<tilde ~b> ) ) (do echo --x=~ ) ) "},
};

std::string drawn(const std::string& text, Shell shell) {
  std::vector<Node> nodes(4 * text.size() + 64);
  Tree tree(nodes.data(), nodes.size() * sizeof(Node), text.data());
  Options options;
  options.shell = shell;
  const Parsed parsed = parse_shell(tree, 0, static_cast<std::uint32_t>(text.size()), options);
  static const char* const kStatus[] = {"complete ", "open ", "wrong ", "depth ", "full "};
  Printer printer(tree);
  printer.print(parsed.root);
  return kStatus[static_cast<int>(parsed.status)] + printer.out;
}

std::string repeated(const char* text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

}  // namespace

int main() {
  for (const Row& row : kRows) {
    const std::string found = drawn(row.text, row.shell);
    expect(found == row.drawn, std::string(row.text) + "\n   is   " + found + "\n   not  " + row.drawn);
  }
  // Too deep is said, whatever nests.
  for (const char* opening : {"( ", "$(", "${x:-", "{ ", "if ", "$((", "`", "[[ ( ", "\"$(", "a() { "}) {
    const std::string found = drawn(repeated(opening, 2001), Shell::bash);
    expect(found.compare(0, 8, "complete") != 0, std::string(opening) + " without end: " + found.substr(0, 8));
  }
  char out[32];
  const auto decoded = [&](const char* text) { return std::string(out, decode_ansi(text, out)); };
  check(decoded("a\\n\\x41\\u00e9\\101\\'") == "a\nA\xc3\xa9" "A'", "escapes");
  check(decoded("rm\\0x") == "rm" && decoded("\\x00a").empty(), "a NUL ends it");
  check(find_builtin("cd") != nullptr && find_builtin("c") == nullptr, "the table is searched");
  return tipstaff::test::failures == 0 ? 0 : 1;
}
