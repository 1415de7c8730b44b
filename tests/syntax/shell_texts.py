"""Shell texts for comparisons with real shells: drawn from a grammar, and those of the labelled sets."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable
from pathlib import Path

CASES = Path(__file__).resolve().parents[1] / "gates" / "cases"
WORDS = (
    "a",
    "b\\ c",
    "'q'",
    '"$x"',
    "$(a)",
    "$(a; b)",
    "`c`",
    "${x:-y}",
    "${x%'}'}",
    "\"${x%'}'}\"",
    "$((1+2))",
    "$'a\\n'",
    "{a,b}",
    "x=1",
    "~/x",
    "${#x}",
    "${!x}",
    "${x//a/b}",
    "${x:1:2}",
    "${a[1]}",
    '"a $(b "c")"',
    "[a-z]*",
    "$1",
    "$@",
    "-f",
    "a#b",
    "${x:-$(a)}",
)
SIMPLE = (
    "a",
    "x=1",
    "x=1 b",
    "x+=2",
    "x=(a b)",
    "a[1]=2",
    "a[$(b)]=c",
    "d > o",
    "d 2>&1",
    "d &> o",
    "d <<< s",
    "((x+1))",
    "export y=$x",
    "declare z=(a)",
)


def grown(draw: random.Random, depth: int) -> str:
    """Return a program of bash that is valid by its construction, nested as deep as ``depth``."""

    def text() -> str:
        return grown(draw, depth - 1)

    def word() -> str:
        return draw.choice(WORDS)

    if depth == 0:
        return draw.choice(
            (*SIMPLE, f"c {word()}", f"c {word()} {word()}", f"[[ -f {word()} ]]", f"[[ {word()} == {word()} ]]")
        )
    forms: tuple[Callable[[], str], ...] = (
        lambda: f"{text()}; {text()}", lambda: f"{text()}\n{text()}", lambda: f"{text()} && {text()}", lambda: f"{text()} || {text()}",
        lambda: f"{text()} | {text()}", lambda: f"{text()} |& {text()}", lambda: f"{{ {text()}; }}", lambda: f"( {text()} )",
        lambda: f"{text()} & wait", lambda: f"{{ ! {text()}; }}", lambda: f"{{ time {text()}; }}",
        lambda: f"if {text()}; then {text()}\nelse {text()}; fi > o", lambda: f"if {text()}; then {text()}; elif {text()}; then {text()}; fi",
        lambda: f"while {text()}; do {text()}\ndone", lambda: f"until {text()}; do {text()}; done < i",
        lambda: f"for x in {word()} {word()}; do {text()}; done", lambda: f"for x; do {text()}; done",
        lambda: f"for ((i=0; i<3; i++)); do {text()}; done",
        lambda: f"case {word()} in {word()}|b) {text()};; (c) {text()};& *) ;; esac",
        lambda: f"f() {{ {text()}; }}", lambda: f"function g {{ {text()}; }}", lambda: f"echo $({text()})", lambda: f'echo "$({text()})"',
        lambda: f"a <({text()})", lambda: f"x=$({text()}) y=2 c", lambda: f"cat <<E | d\n{word()} $({text()})\nE\n{text()}",
        lambda: f"cat <<-'E'\n\t$(\n\tE\n{text()}",
    )  # fmt: skip
    return draw.choice(forms)()


def labelled() -> list[str]:
    """Return the texts of the labelled sets; each is read, none is run."""
    found: list[str] = []
    for path in sorted(CASES.glob("*.toml")):
        for group in tomllib.loads(path.read_text(encoding="utf-8")).get("group", []):
            found += [text for text in group.get("commands", []) if isinstance(text, str) and "\0" not in text]
    return found


def broken(draw: random.Random, text: str) -> str:
    """Return the text with a byte left out, doubled, or another put in."""
    at = draw.randrange(len(text) + 1)
    return draw.choice(
        (
            text[:at] + text[at + 1 :],
            text[:at] + text[at : at + 1] + text[at:],
            f"{text[:at]} {draw.choice('(){};&|<>')} {text[at:]}",
        )
    )
