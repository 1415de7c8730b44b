"""Small native programs that print what the syntax and the evaluator make of shell texts."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pytest

NATIVE = Path(__file__).resolve().parents[2] / "native"


@cache
def compiled(program: str, *sources: str) -> Path:
    """Compile a program from its sources, named from ``native``, and return its path; once a test run."""
    compiler = shutil.which("c++") or shutil.which("g++") or shutil.which("clang++")
    if compiler is None:
        pytest.skip("no C++ compiler")
    out = Path(mkdtemp()) / program
    command = [compiler, "-std=c++17", "-O0", "-I", str(NATIVE / "include"), "-I", str(NATIVE / "tests")]
    subprocess.run([*command, *(str(NATIVE / source) for source in sources), "-o", str(out)], check=True)
    return out


def answers(program: Path, arguments: list[str], texts: list[str]) -> list[str]:
    """Return the program's answer to each text."""
    given = "".join(f"{text}\0" for text in texts).encode()
    done = subprocess.run([str(program), *arguments], input=given, capture_output=True, check=True)
    return done.stdout.decode(errors="replace").split("\0")[:-1]
