"""The shell's syntax, with bash itself as the judge: what is a program, and what a function is once bash has read it."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
import tomllib

import pytest

from tests.syntax.native_programs import NATIVE, answers, compiled
from tests.syntax.shell_texts import broken, grown, labelled

PRINTER = ("shell_printer", "syntax/shell.cpp", "tests/syntax/shell_printer.cpp")
BASH = shutil.which("bash")
needs_bash = pytest.mark.skipif(BASH is None, reason="no bash")


def is_program(shell: str, text: str) -> bool:
    """Return whether the shell reads the whole text; nothing is run."""
    done = subprocess.run([shell, "-n"], check=False, input=text.encode(), capture_output=True, timeout=30)
    return done.returncode == 0 and not re.search(rb"syntax error|expected", done.stderr)


def printed(text: str) -> str | None:
    """Return what bash prints of a function with this body. It defines it and runs nothing, and has no program that it could run."""
    code = f"f() {{\n{text}\n}}\ndeclare -f f"
    done = subprocess.run(
        [str(BASH), "-r", "-c", code],
        check=False,
        env={"PATH": "/nonexistent"},
        cwd="/",
        capture_output=True,
        timeout=30,
        stdin=subprocess.DEVNULL,
    )
    return done.stdout.decode(errors="replace") if done.returncode == 0 and done.stdout else None


def texts(draw: random.Random, count: int) -> list[str]:
    given = labelled()
    return [grown(draw, draw.randrange(1, 5)) for _ in range(count)] + draw.sample(given, min(count, len(given)))


@needs_bash
def test_programs_are_those_of_bash() -> None:
    draw = random.Random(11)
    given = texts(draw, 120)
    given += [broken(draw, text) for text in given if len(text) < 60 and "[[" not in text and "((" not in text]
    drawn = answers(compiled(*PRINTER), ["bash"], given)
    wrong = [
        (text, answer[:40])
        for text, answer in zip(given, drawn, strict=True)
        if answer.startswith("complete") != is_program("bash", text)
    ]
    assert not wrong, wrong[:5]


@needs_bash
def test_a_function_reads_as_bash_prints_it() -> None:
    program = compiled(*PRINTER)
    given = [text for text in texts(random.Random(12), 120) if is_program("bash", text)]
    known = [(text, shown) for text in given if (shown := printed(text)) is not None]
    assert len(known) > 150
    ours = answers(program, ["bash"], [f"f() {{\n{text}\n}}" for text, _ in known])
    theirs = answers(program, ["bash"], [shown for _, shown in known])
    wrong = [(text, left, right) for (text, _), left, right in zip(known, ours, theirs, strict=True) if left != right]
    assert not wrong, wrong[:3]


def test_no_program_is_named() -> None:
    """Syntax knows the language's own commands, in one table, and no program of the packs."""
    packs = NATIVE.parent / "python" / "tipstaff" / "gates" / "packs"
    named: set[str] = set()
    for path in packs.glob("*.toml"):
        pack = tomllib.loads(path.read_text(encoding="utf-8"))
        named.update(name for rule in pack.get("rule", []) for name in rule["programs"])
        named.update(name for row in pack.get("program", []) for name in str(row.get("name", "")).split())
    assert {"rm", "git", "docker"} <= named
    table = NATIVE / "include/tipstaff/syntax/shell/builtins.hpp"
    language = {"time"} | set(re.findall(r'\{"([^"]+)", Builtin', table.read_text(encoding="utf-8")))
    rooms = [NATIVE / "syntax", NATIVE / "eval", NATIVE / "include/tipstaff/syntax", NATIVE / "include/tipstaff/eval"]
    found = [
        f"{path.name}: {word}"
        for room in rooms
        for path in sorted(room.rglob("*.[ch]pp"))
        for word in re.findall(r'"([a-z][a-z0-9_.-]*)"', path.read_text(encoding="utf-8"))
        if word in named - language
    ]
    assert not found, found
