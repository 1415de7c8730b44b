"""The evaluator, with real shells as judges: every call that a shell makes is among those that it says may happen."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pytest

from tests.gates.differential.grammar import Grammar
from tests.gates.differential.sandbox import Sandbox, SandboxError
from tests.syntax.calls import ASKS, evaluated, missed

# A text, and each destructive call: folder, words.
KNOWN: tuple[tuple[str, list[str]], ...] = (
    ('x=/tmp/a & rm -rf "$x"/*', ["/home/dev/proj rm -rf /*"]),
    ('x=/tmp/a | true; rm -rf "$x"/*', ["/home/dev/proj rm -rf /*"]),
    ("nohup cd /tmp/x; rm *", ["/home/dev/proj rm *"]),
    ("false && cd /tmp/x; rm *", ["/home/dev/proj rm *"]),
    ("cd /tmp/x && rm *", ["/tmp/x rm *"]),
    ("T=/; T=/tmp/a rm -rf $T", ["/home/dev/proj rm -rf /"]),
    ("f() { local d=a; g; rm $d; }; g() { d=b; }; d=/; f; rm $d", ["/home/dev/proj rm b", "/home/dev/proj rm /"]),
    ("set -e; false; rm a", []),
    ("trap 'rm $x' EXIT; x=1; (x=2; exit 3); x=3", ["/home/dev/proj rm 3"]),
    ("for i in a b; do x=$p$i; p=$x; rm $x; done", ["/home/dev/proj rm a", "/home/dev/proj rm ab"]),
    ("x=a; sh -c 'rm $x/*'; export x; sh -c 'rm $x/*'", ["/home/dev/proj rm /*", "/home/dev/proj rm a/*"]),
    ("echo 'rm -rf /' | sh", ["/home/dev/proj rm -rf /"]),
    ("[[ 'a[$(rm x)]' -eq 0 ]]", ["/home/dev/proj rm x"]),
    ("a=(x 'y z'); rm \"${a[@]}\" ${a[1]}", ["/home/dev/proj rm x|y z y z"]),
    ("$'rm\\0x' -rf ~", ["/home/dev/proj rm -rf /home/dev"]),
    ("case $HOME in /home/*) x=a;; *) x=/;; esac; rm $x", ["/home/dev/proj rm a"]),
)


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    try:
        box = Sandbox()
    except SandboxError as error:
        pytest.skip(f"shells are not run as judges, there is no safe place for them: {error}")
    yield box
    box.close()


def shown(answer: dict[str, Any]) -> list[str]:
    calls = (
        f"{folder} {' '.join(text for text, _ in words)}" for folder, words, _ in answer["calls"] if words[0][0] == "rm"
    )
    return list(dict.fromkeys(calls))


def test_calls_of_known_texts() -> None:
    answers = evaluated([text for text, _ in KNOWN], "bash")
    expected = [[call.replace("|", " ") for call in calls] for _, calls in KNOWN]
    wrong = [
        (text, shown(a)) for (text, _), a, calls in zip(KNOWN, answers, expected, strict=True) if shown(a) != calls
    ]
    assert not wrong, wrong


def test_what_is_not_followed_is_said() -> None:
    texts = [
        "eval $(cat x)",
        "$x",
        "source ./y",
        'sh -c "$(cat x)"',
        "f() { f; f; }; f",
        "x=a; " + "x=$x$x; " * 30 + "rm $x",
    ]
    assert [bool(answer["unresolved"] & ASKS) for answer in evaluated(texts, "bash")] == [
        True,
        False,
        True,
        True,
        True,
        True,
    ]


@pytest.mark.parametrize(("shell", "count"), [("bash", 400), ("dash", 150)])
def test_every_call_of_a_shell_is_foreseen(sandbox: Sandbox, shell: str, count: int) -> None:
    grammar = Grammar(Random(7), posix=shell != "bash")
    texts = [grammar.program().text() for _ in range(count)]
    found = []
    ran = 0
    for text, answer in zip(texts, evaluated(texts, shell), strict=True):
        records = sandbox.run_shell(shell, text)
        if records is None:
            continue
        ran += 1
        miss = missed(answer, records)
        if miss is not None:
            found.append((text, miss))
    assert ran > count / 2
    assert not found, found[:5]
