"""What of a session's facts is worth knowing in later ones."""

from __future__ import annotations

import pytest

from tipstaff.context import Facts
from tipstaff.context.sources.auto_memory import worth_remembering


@pytest.mark.parametrize(
    ("kind", "text", "kept"),
    [
        ("findings", "The lint step `make lint` always needs the `check` extra.", True),
        ("findings", "**Tree view** no longer has its own `glass-card` since v2.", True),
        ("findings", "Your config already uses `glass-card` because of that.", False),
        ("findings", "So the `glass-card` is no longer needed there at all.", False),
        ("findings", "The DOM changes on every key, because of `observe`:", False),
        ("findings", "| `holonomic` | only the first one is supported here |", False),
        ("decisions", "Decided: results stand in `.results/<experiment>`, never in `runs/`.", True),
        ("decisions", "I'm going with the `coordinator` skill for this one here.", False),
        ("constraints", "Always bump the version of both parts with each change.", True),
        ("constraints", "The question is if each field must have its own `colour`.", False),
        ("failures", "make test: ERROR: tests/test_a.py needs LLVM_DIR", True),
        ("failures", "cd app && npm test: Error: Cannot find module 'x'", True),
        ("failures", "grep -n Shell segments/cmd.go: grep: segments/cmd.go: No such file or directory", False),
        ("failures", "cd app && cat >> a.go << 'EOF' // Test of...: a.go:211:6: no value used as value", False),
        ("failures", "python -c 'import x': ModuleNotFoundError: No module named 'x'", False),
        ("failures", "make test: exit status 2", False),
    ],
)
def test_entries(kind: str, text: str, kept: bool) -> None:
    found = worth_remembering(Facts(**{kind: (text,)}))[kind]  # type: ignore[arg-type]
    assert [text.replace("**", "") in one for one in found] == [True] * kept
