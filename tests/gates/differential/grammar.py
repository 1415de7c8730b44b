"""Shell programs drawn from a grammar, as trees that can be made smaller.

Every program ends; a function calls those before it at most. Words are dangerous (`/`, the home, the sources) or
harmless (below `/tmp`, outputs of a build), so that what a program deletes is decided by scopes, statuses and expansions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from random import Random
from typing import Final, NamedTuple

DANGEROUS: Final = ("/", "~", "src", '"$HOME"', ".", "/home/dev/proj", '"$PWD"')
HARMLESS: Final = ("/tmp/a", "/tmp/x", "build", "dist", "/tmp/x/o", "/tmp/none")
_BASH_ONLY: Final = frozenset(("array", "bash-word", "bash"))


class Part(NamedTuple):
    """A command or a word of a program: its sort, and texts and parts that make it up."""

    sort: str
    pieces: tuple[str | Part, ...]

    def text(self) -> str:
        """Return what the shell is given."""
        return "".join(piece if isinstance(piece, str) else piece.text() for piece in self.pieces)

    def parts(self) -> Iterator[tuple[tuple[int, ...], Part]]:
        """Yield itself and all below it, each with its position."""
        yield (), self
        for index, piece in enumerate(self.pieces):
            if not isinstance(piece, str):
                for position, part in piece.parts():
                    yield (index, *position), part

    def replaced(self, position: tuple[int, ...], by: Part) -> Part:
        """Return it with another part at a position."""
        if not position:
            return by
        first = self.pieces[position[0]]
        assert isinstance(first, Part)
        changed = first.replaced(position[1:], by)
        return Part(self.sort, (*self.pieces[: position[0]], changed, *self.pieces[position[0] + 1 :]))


NOTHING: Final = Part("command", (":",))
SIMPLEST: Final = {
    "command": (NOTHING, Part("command", ("false",)), Part("command", ('rm -rf "$x"',))),
    "word": (Part("word", ("/",)), Part("word", ("/tmp/a",)), Part("word", ("src",))),
}
"""What stands for any part of a sort when a program is made smaller."""


class Grammar:
    """Draws programs.

    Parameters
    ----------
    random
        Where choices come from: a seed makes the same programs.
    posix
        Whether only what every shell knows is used.
    """

    def __init__(self, random: Random, *, posix: bool = False) -> None:
        self._random = random
        self._posix = posix
        self._functions = 0  # those that may be called

    def program(self) -> Part:
        """Return one program; two in three begin with values and end with a deletion of what they became."""
        self._functions = 0
        body = self.command(self._random.choice((1, 2, 2, 3, 3, 4)))
        pieces: list[str | Part] = []
        if self._random.random() < 0.8:
            first, second = self._pair()
            pieces += ["x=", first, "; y=", second, "\n"]
        pieces.append(body)
        if self._random.random() < 0.7:
            last = (
                'rm -rf "$x"',
                "rm -rf $x",
                'rm -rf "$x"/*',
                "rm -rf *",
                "rm -rf $x $y",
                "rm -rf ~",
                'rm -rf "${x:-build}"',
            )
            pieces += ["\n", Part("command", (self._random.choice(last),))]
        return Part("program", tuple(pieces))

    def _pair(self) -> tuple[Part, Part]:
        words = [Part("word", (self._random.choice(DANGEROUS),)), Part("word", (self._random.choice(HARMLESS),))]
        self._random.shuffle(words)
        return words[0], words[1]

    def word(self, depth: int = 1) -> Part:
        """Return a word: a constant, or an expansion with words within it."""
        draw = self._random.random()
        if depth < 0 or draw < 0.2:
            return Part("word", (self._random.choice(HARMLESS),))
        if draw < 0.32:
            return Part("word", (self._random.choice(DANGEROUS),))
        return Part("word", tuple(self._filled(self._random.choice(self._words()), depth - 1)))

    def _words(self) -> tuple[str, ...]:
        common = (
            "$x", '"$x"', '"$y"', "$y", '"$x"', "$y", "${x:-W}", '"${y:-W}"', "${x:+W}", '"${x%/*}"', "${x##*/}", "${x#/tmp}",
            "$(echo W)", "$(x=W; echo $x)", "$(cd d; pwd)", "`echo W`", '"$(printf %s W)"', "$(dirname W)", "'a b'", '"$x"/o',
            "$1", '"$@"', "$PWD", '"$OLDPWD"', '"${HOME}"', "$x$y", "${x-W}", '"${x=W}"', "${x:=W}", "~", "$HOME/d", "$x/..",
            "\"${x%'}'*}\"", "$(C; echo W)", "W/", '"$(cat <<< W)"' if not self._posix else "$x", "$*", '"${1:-W}"', "${y#\"$x\"}",
            "$(basename W)", "\\/", '"/"', "''W", "${x:?}", '"${y%"$x"}"', "$(pwd)", "$n", "$((1+1))", "$(C\nC)", "$?",
        )  # fmt: skip
        if self._posix:
            return common
        return (
            *common, "${x/tmp/}", "${x//a/}", "${x:0:1}", '"${x:1}"', "${!n}", "${x^^}", "{W,W}", "$'\\x2f'", "$'/\\0tmp'", '"${a[0]}"',
            '"${a[@]}"', "${a[1]}", "${a[-1]}", "${x@Q}", '"${a[@]:1}"', "${#x}", "$'/tmp\\'a'", "<(echo W)", "${x/#\\/tmp/}",
            '"${a[*]}"', "${x/%a/W}", "${a[$n]}", "$[1+1]", "$\"$x\"", "${y,,}",
        )  # fmt: skip

    def _filled(self, form: str, depth: int) -> list[str | Part]:
        """Put words for W, commands for C and names for N into a form."""
        pieces: list[str | Part] = []
        text = ""
        for at, letter in enumerate(form):
            alone = (
                letter in "WCN"
                and not (at and (form[at - 1].isupper() or form[at - 1] == "_"))
                and not form[at + 1 : at + 2].isupper()
            )
            if not alone:
                text += letter
                continue
            pieces.append(text)
            text = ""
            if letter == "W":
                pieces.append(self.word(depth))
            elif letter == "C":
                pieces.append(self.command(depth))
            else:
                pieces.append(self._random.choice(("x", "x", "y", "HOME", "n")))
        pieces.append(text)
        return [piece for piece in pieces if piece]

    def command(self, depth: int) -> Part:
        """Return a command: a simple one, or commands that another holds."""
        if depth <= 0 or self._random.random() < 0.12:
            return self._simple()
        draw = self._random.random()
        if draw < 0.1:
            return self._function(depth)
        return Part("command", tuple(self._filled(self._random.choice(self._compounds()), depth - 1)))

    def _compounds(self) -> tuple[str, ...]:
        common = (
            "C; C", "C\nC", "C; C", "C\nC", "C\nC\nC", "{ C\n} && { C\n}", "{ C\n} || { C\n}", "( C\n)", "( C\n) && C", "{ C\n} | { C\n}",
            "{ C\n} & wait", "{ C\n} & C", "{ C\n} & { C\n} & wait", "C & C", "{ C\n} | cat | { C\n}", "if C\nthen C\nelse C\nfi", "if C\nthen C\nfi",
            "for N in W W; do C\ndone", "for N in W $x; do C\ndone", "for N in $y; do C\ndone; C", "while C\ndo C\nbreak; done",
            "until C\ndo C\nbreak; done", "case $x in /tmp*) C\n;; /) C\n;; *) C\n;; esac", "case W in $x) C\n;; *) C\n;; esac", "! { C\n}",
            "if ! C\nthen C\nelif C\nthen C\nfi", "{ C\n} > /dev/null; C", "eval 'C'", "eval \"N=W\"; C", "trap 'C' EXIT\nC", "N=W eval 'C'",
            "sh -c 'C'", "N=W sh -c 'C'", "export N; sh -c 'C'", "set -- W W; C", "set -e; C\nC", "( set -e; C\nC\n)", "sh <<E\nC\nE\nC",
            "sh <<'E'\nC\nE\nC", "echo 'C' | sh", "C && C || C", "C || C && C", "C && C", "C || C", "true && { C\n} || C", "while false; do C\ndone; C",
            "for N in; do C\ndone; C", "for N in W; do C\nbreak; done", "for N in W W; do C\ncontinue; C\ndone", "sh -c 'C' & wait", "cd /tmp/x && C",
            "cd d; C", "(cd /tmp/x; C\n); C", "cd none || C", "if cd none; then C\nfi; C", "cd none && C\nC", "cat <<E | {\nW\nE\nread N; C\n}",
            "echo W | { read N; C\n}; C", "echo W | while read N; do C\ndone", "while read N; do C\ndone <<E\nW\nE", "exec 3>/dev/null; C",
            "( C\nexit 1 ) || C", "{ C\n} 2>&1; C", "N=$( C\n); C", "N=$( C\n) && C", "test -n \"$N\" && C", "[ \"$x\" = W ] && C\nC", "[ -d W ] || C",
            "set -u; C", "trap 'C' EXIT; { C\nexit; } ; C", "( trap 'C' EXIT; C\n); C", "( C\n) & C\nwait", "exec sh -c 'C'", "sh -c 'C' _ W W", "set -- W; shift; C",
        )  # fmt: skip
        if self._posix:
            return common
        return (
            *common, "[[ -n $N ]] && C\nC", "[[ $x == /tmp* ]] && C", "[[ $x == W ]] || C", "(( 1 )) && C", "a=(W W); C", "a=(W); a+=(W)\nC",
            "a[1]=W; C", "read N <<< W; C", "printf -v N %s W; C", "mapfile -t a <<< W; C", "declare N=W; C", "for ((n=0;n<2;n++)); do C\ndone",
            "bash -c 'C'", "bash <<< 'C'", ". /dev/stdin <<< 'C'; C", "source /dev/stdin <<E\nC\nE\nC", "read N < <(echo W); C", "{ C\n} |& cat; C",
            "shopt -s lastpipe; echo W | read N; C", "set -o pipefail; C", "select N in W; do C\nbreak; done <<< 1; C", "function k { C\n}; C", "coproc { C\n}; C",
            "time C\nC", "a=([0]=W [1]=W); C", "declare -n r=N; r=W; C", "IFS=:; C", "shopt -s extglob; C", "for N in \"${a[@]}\"; do C\ndone; C",
            "if [[ $N =~ ^/tmp ]]; then C\nelse C\nfi", "case W in @(/tmp/*|build)) C\n;; *) C\n;; esac", "case $x in /tmp*) C\n;;& *) C\n;; esac",
            "case $x in /) C\n;& /tmp/*) C\n;; esac", "builtin cd W; C", "pushd W; C\npopd; C", "declare -x N=W; bash -c 'C'", "let n=1; C", "set -a; N=W; bash -c 'C'",
            "trap 'C' ERR; C", "trap 'C' DEBUG; C", "C & wait $!\nC", "alias l='C'; C", "shopt -s expand_aliases\nalias l='C'\nl\nC", "IFS=/ read -r x y <<< W; C",
        )  # fmt: skip

    def _function(self, depth: int) -> Part:
        """A function, and what follows it; its body may call the functions before it."""
        name = "fgh"[min(self._functions, 2)]
        forms = (
            "{ local N=W; C\n}", "{ C\n}", "{ C\nreturn 1; C\n}", "( C\n)", "{ local N; C\n}", "{ N=W; }", "{ cd W; C\n}", "{ local x=W y=W; C\n}",
            "{ export N=W; C\n}", "{ if C\nthen return; fi; C\n}", "{ unset N; C\n}", "{ shift; C\n}", "{ local x; x=$1; C\n}", "{ rm -rf \"$1\"; C\n}",
        )  # fmt: skip
        body = self._filled(self._random.choice(forms), depth - 1)
        before = self._functions
        self._functions = min(before + 1, 3) if self._functions < 3 else 3
        call = self._random.choice(
            (
                f"{name}; C",
                f"{name} W; C",
                f"N=W {name}; C",
                f"({name}); C",
                f"C\n{name}",
                f"{name} || C",
                f"N=$({name} W); C",
                f"{name} & C",
                f"{name} | C",
            )
        )
        pieces = [f"{name}() ", *body, "\n", *self._filled(call, depth - 1)]
        if before >= 3:  # it replaced a function that earlier text may call: then it may not call itself
            self._functions = before
        return Part("command", tuple(pieces))

    def _simple(self) -> Part:
        common = (
            "N=W", "N=W", "N=W", "x=W y=W", "export N=W", "unset N", ": ${x:=W}", "set -- W W", "shift", "rm -rf W", "rm -rf W", "rm -rf W", 'rm -rf "$x"',
            "rm -rf $x $y", 'rm -rf "$x"/*', "rm -rf $y/*", "rm -rf *", "rm -rf ~", "rm -r W W", "N=W rm -rf $x", 'N=W rm -rf "$N"/*', "command rm -rf W", "env N=W rm -rf W",
            "nohup rm -rf W", "echo W | xargs rm -rf", "sh -c 'rm -rf $x'", 'sh -c \'rm -rf "$1"\' _ W', 'sh -c "rm -rf $x"', "find W -maxdepth 0 -exec rm -rf {} +",
            "cd W", "cd d", "cd none", "cd ..", "cd -", "cd", "cd /tmp/x", "cd build", "true", "false", "exit 1", "set -e", "set +e", "wait", ": > W", "nohup cd /tmp/x",
            "timeout 5 cd /tmp/x", "command cd W", "env cd W", "N=W :", "N=W true", "N=W export y=W", "N=W eval 'rm -rf $x'", "eval 'x=W; rm -rf $y'", 'eval "rm -rf W"',
            "echo W > /dev/null", "cd none 2>/dev/null", "exec true", 'rm -rf "$1"', 'rm -rf "$@"', "F=src/app.py; F=/tmp/o : > $F", ": >> W", "x=$y", 'y="$x"', "c=rm; $c -rf W",
            "[ -n \"$x\" ]", "[ -d W ]", "[ \"$x\" = W ]", "test -z \"$y\"", "return 1", "break", "continue", "cd \"$x\"", "cd $y", "cd \"$OLDPWD\"", "rm -rf -- W", "'rm' -rf W", "r\\m -rf W",
            "HOME=W", "export HOME=W", "HOME=W rm -rf ~", "unset HOME", "CDPATH=/tmp; cd x", "x=W y=$x rm -rf $y", "export x y=W", "readonly N=W", "trap - EXIT", "trap 'rm -rf $x' EXIT",
            "mkdir W", "mkdir -p W && cd W", "set -f", "set -u", "IFS=/", "getopts a N", "find W -maxdepth 0 | xargs rm -rf", "\"rm\" -rf W", "rm -rf W; exit", "rm -rf W & wait", "x=\"$x/*\"",
        )  # fmt: skip
        bash = (
            "a=(W W)", "a+=(W)", "a[0]=W", "x+=W", "read -r N <<< W", "printf -v N %s W", "declare N=W", "rm -rf \"${a[@]}\"", "rm -rf ${a[0]}", "[[ -n $x ]]", "[[ $x = W ]]",
            "bash -c 'rm -rf \"$x\"'", "xargs rm -rf <<< W", "pushd /tmp/x", "popd", "pushd W", "mapfile -t a <<< W", "bash <<< 'rm -rf $x'", "n=x", "unset a", "rm -rf {W,W}", "(( n++ ))",
            "builtin cd W", "declare -g N=W", "typeset N=W", "printf -v 'a[1]' %s W", "bash -c 'rm -rf \"$0\"' W", "set -o errexit", "unset 'a[0]'", "local N=W", "rm -rf <(:) W", "export -n N",
            "[[ 'a[$(rm -rf W)]' -eq 0 ]]", "let 'n[$(rm -rf W)]=1'", "(( a[$(rm -rf W)] ))", "declare \"$n=W\"", "echo ${a[$(rm -rf W)]}", "test -v 'a[$(rm -rf W)]'", "exec -a z rm -rf W",
        )  # fmt: skip
        names = "fgh"[: self._functions]
        calls = tuple(
            form
            for name in names
            for form in (name, f"{name} W", f"N=W {name}", f"{name} $x", f"command {name}", f"({name})")
        )
        forms = common if self._posix else common + bash
        form = self._random.choice(calls) if calls and self._random.random() < 0.25 else self._random.choice(forms)
        return Part("command", tuple(self._filled(form, 0)))


def minimised(program: Part, is_kept: Callable[[Part], bool], most: int = 400) -> Part:
    """Return a smaller program for which something still holds: parts are taken out, or replaced by what is in them.

    Parameters
    ----------
    program
        One for which `is_kept` holds.
    is_kept
        What has to stay true.
    most
        How many programs are tried.
    """
    tried = 0
    smaller = True
    while smaller and tried < most:
        smaller = False
        for position, part in list(program.parts()):
            for candidate in _smaller(part):
                other = program.replaced(position, candidate)
                tried += 1
                if is_kept(other):
                    program, smaller = other, True
                    break
                if tried >= most:
                    return program
            if smaller:
                break
    return program


def _smaller(part: Part) -> Iterator[Part]:
    length = len(part.text())
    for _, below in part.parts():
        if below is not part and below.sort == part.sort:
            yield below
    if part.sort == "program":
        commands = [piece for piece in part.pieces if isinstance(piece, Part) and piece.sort == "command"]
        for index, piece in enumerate(part.pieces):
            if isinstance(piece, Part) and piece.sort == "command" and len(commands) > 1:
                yield Part("program", part.pieces[:index] + part.pieces[index + 1 :])
    for simplest in SIMPLEST.get(part.sort, ()):
        if len(simplest.text()) < length:
            yield simplest
