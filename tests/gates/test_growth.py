"""The time that reading a command takes grows with its length and no faster, in every dialect."""

from __future__ import annotations

import time
from typing import Final

import pytest

from tests.gates.padded import CASES, SHELLS, WRAPPERS, padded
from tipstaff import EnforcementGates, GateConfig

LARGE: Final = 64 * 1024
TIMES: Final = 8

HERE: Final = {name: (f"{program} <<'EOF'\n", "\nEOF\n") for name, program in {
    "mongo": "mongosh db", "redis": "redis-cli", "patch": "patch -p1", "apply": "git apply", "docker": "docker build -f - .",
    "manifest": "kubectl apply -f -", "workflow": "cat > .github/workflows/a.yml", "profile": "cat >> ~/.bashrc", "cron": "crontab -",
    "lua": "lua -", "ftp": "ftp host", "just": "just -f -",
}.items()} | {"json": ("curl -d '", "' https://x.example"), "sed": ("sed '", "' f"), "fish": ("", "")}  # fmt: skip

# `#` is the number of the repetition; two pieces are repeated one after the other.
PIECES: Final[dict[str, list[str | tuple[str, str]]]] = {
    "bash": [
        "a# ", 'x="$x a"; ', ('x="$x a"; ', 'eval "$x"; '), 'x="$x a"; eval "$x"\n', "a#=b; ", "f#() { g; }\n", "f() { f; f; }\n", "alias a#=b\n",
        "echo a > f#; ", "cp a# b#; ", "for i in a b; do ", "$(a ", "${x#", "{a,b}", "cd a; ", "pushd a#; ", "ln -s a# b#; ", "[[ a ", "x+=(a) ", "<<E\nx\nE\n",
    ],
    "python": [
        "a# = 'x'\n", "a += 'x'\n", "import a# as b#\n", "def f#(a):\n  b\n", "f(", "[a for a in b]\n", "f'{a}' ", "'%s' % a\n", "x.delete()\n", "x# = y.z()\n",
        "for x in y.z():\n", "map(lambda x: x.delete(), y)\n", "exec('a')\n", "p.communicate('a')\n", ("a = a + a\n", "exec(a)\n"), "os.path.join(", "{'a': ",
    ],
    "node": ["let a#='x';", "import {a#", "const {a#, ", "`${", "x=>{", "x.delete();", "const x#=y.z();", "a+=a;eval(a);", "[a].forEach(b=>c);", "new A("],
    "perl": ["my $a#='x';", "sub f# { a }\n", "qq{", '"$a"', "s/a/b/e;", "for (@a) { ", "my ($a, $b) = @_;", "$a .= $a; eval $a;", "<<E;\na\nE\n"],
    "ruby": ["a#='x'\n", "def f#\nend\n", "x.each { |u| u.destroy }\n", '"#{', "%w[a b] ", "a.each do |x|\n", "a += a; eval a\n", "-> (a) { "],
    "php": ["$a#='x';", "function f#(){}", '"{$a}"', "$a.=$a;eval($a);", "foreach($a as $b){", "?>a<?php ", "<<<E\na\nE;\n", "DB::table('a')->delete();"],
    "awk": ["x#=1;", 'system("a");', 'x=x "a";', "(", 'print "a" | "b";', "/a/{", 'gsub(/a/,"b");'],
    "make": ["a#: b\n\tc\n", "A# = $(A)\n", "A += $(A) b\n", "$(", "\trm -rf $(A)\n", "define A\n", "$(call f,", "include a\n"],
    "cmake": ["set(A ${A}b)\n", "file(REMOVE ${A})\n", "(", '"a" ', "[[", "execute_process(COMMAND a)\n"],
    "sql": ["delete from a where b=1;", "and (", "not ", "$$a$$ ", "/*", "prepare a# as b;", "set @a=concat(@a,'b');", "case when ", "drop table a#, ", "\\set a# b\n", "do $$ begin a; end $$;"],
    "powershell": [
        '$a="$a x";', '$a="$a x";iex $a;', ('$a="$a x";', "iex $a;"), "$a=$a+$a;iex $a;", "$a=$a,$a;", "$a#=1;", "function f#{b};", "Set-Alias a# b;",
        "if(a){", "$(", "@{a=", "'a',", "-a# b ", "% { $_ } | ", '"$(', "'{0}' -f ", "-join ", "iex 'a';",
    ],
    "cmd": ["set a=%a%b\n", "set a=%a%%a%\n", "set a=%a%b\n%a%\n", "set a#=b\n", "call :a\n", "for %i in (a b) do ", "(", "echo a>a#.cmd\n", "if a==b ", "rm^\n", '"%a%" '],
    "mongo": ["db.a.drop();", "db.a.find().forEach(x=>{", "use a#\n", "db['a'].", "{$a:"],
    "redis": ["GET a#\n", "EVAL \"redis.call('a')\" 0\n", '"', "MULTI\n"],
    "patch": ["--- a/f#\n+++ b/f#\n@@ -1 +1 @@\n-a\n+b\n", "@@ -1,999 +1,999 @@\n", "rename from a#\nrename to b#\n", "*** Update File: a#\n", "+a\n"],
    "apply": ["diff --git a/f# b/f#\n--- a/f#\n+++ b/f#\n@@ -1 +1 @@\n-a\n+b\n", "deleted file mode 100644\n"],
    "docker": ["RUN a# && \\\n", "ENV A $A b\n", "RUN a$A\n", "RUN <<E\na\nE\n", "FROM a AS b#\n"],
    "manifest": ["a#: b\n", "  a:\n", "- [", "---\nkind: Namespace\n", "command: [sh, -c, a]\n", "<<: *a\n"],
    "workflow": ["  - run: a#\n", "    run: |\n      a\n", "on: [", "${{ a }}"],
    "profile": ["alias a#=b\n", "export A=$A:b\n", "f#() { g; }\n", "source a#\n"],
    "cron": ["* * * * * a#\n", "A=$A b\n"],
    "lua": ['os.execute("a")\n', "local a# = b\n", "[["],
    "ftp": ["delete a#\n", "!a\n"],
    "just": ["a#:\n  b\n", "a := b\n", "{{a}} "],
    "json": ['{"a#":', '"a":"b",', '["drop table a",', "\\u0041"],
    "sed": ["s/a/b/;", "/a/{", "w f#\n", ":a;ba;", "y/a/b/;"],
    "fish": ["set a $a b\n", "function f#\n", "if a\n", "(a ", "alias a#=b\n"],
}  # fmt: skip


@pytest.fixture(scope="module")
def gates() -> EnforcementGates:
    return EnforcementGates(GateConfig(read_files=False))


def repeated(piece: str, size: int) -> str:
    return "".join(piece.replace("#", str(i)) for i in range(size // (len(piece) + 3 * piece.count("#"))))


def seconds(gates: EnforcementGates, command: str, shell: str) -> float:
    start = time.thread_time()
    gates.evaluate_command(command, cwd="/home/dev/proj", shell=shell)
    return time.thread_time() - start


def assert_grows_with(gates: EnforcementGates, large: str, small: str, shell: str) -> None:
    slow = seconds(gates, large, shell)
    if slow < 0.15:  # quick in any case, where other work on the machine would be what is measured
        return
    slow = min(slow, *(seconds(gates, large, shell) for _ in range(2)))
    quick = min(seconds(gates, small, shell) for _ in range(3))
    assert slow < 3 * TIMES * quick, f"{quick * 1e3:.1f} ms, then {slow * 1e3:.1f} ms"


@pytest.mark.parametrize(
    ("dialect", "piece"), [(dialect, piece) for dialect, pieces in PIECES.items() for piece in pieces], ids=str
)
def test_time_of_repetitions(gates: EnforcementGates, dialect: str, piece: str | tuple[str, str]) -> None:
    begin, end = (WRAPPERS | HERE).get(dialect, ("", ""))
    parts = (piece,) if isinstance(piece, str) else piece

    def of_size(size: int) -> str:
        return begin + "".join(repeated(part, size // len(parts)) for part in parts) + end

    assert_grows_with(gates, of_size(LARGE), of_size(LARGE // TIMES), SHELLS.get(dialect, "bash"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}: {''.join(case[1:3])}"[:60].strip())
def test_time_of_padding(gates: EnforcementGates, case: tuple[str, ...]) -> None:
    shell, one = padded(case, 64)
    count = LARGE // (len(one) // 64)
    assert_grows_with(gates, padded(case, count)[1], padded(case, count // TIMES)[1], shell)
