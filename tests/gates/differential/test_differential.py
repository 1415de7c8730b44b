"""Real shells as judges of what is stopped; the long run is `make differential`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from tests.gates.differential.comparison import (
    compare,
    deleted,
    gates,
    is_destructive,
    is_harmless,
    is_stopped,
    known_misses,
    programs,
)
from tests.gates.differential.sandbox import FOLDER, Record, Sandbox, SandboxError, installed_shells

MOST_PASS: Final = 0.005
"""The share of destructive programs that may pass: what is reached, it only falls."""
MOST_STOPPED: Final = 0.65
"""The share of harmless programs that may be stopped: likewise. Most hold a deletion that does not happen to run."""
COUNTS: Final = {"bash": 700, "dash": 200, "busybox": 50, "zsh": 50}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    try:
        box = Sandbox()
    except SandboxError as error:
        pytest.skip(f"shells are not run as judges, there is no safe place for them: {error}")
    yield box
    box.close()


def test_programs_that_passed_once_are_stopped() -> None:
    gate = gates()
    texts = known_misses()
    assert len(texts) > 5
    assert [text for text in texts if not is_stopped(gate, text)] == []


def test_what_real_shells_destroy_is_stopped(sandbox: Sandbox) -> None:
    gate = gates()
    for shell in installed_shells():
        counted = compare(sandbox, gate, shell, programs(COUNTS[shell], 1, posix=shell != "bash"))
        passed = [program.text() for program in counted.misses]
        assert counted.destructive > COUNTS[shell] / 5, (shell, str(counted))
        assert len(passed) <= MOST_PASS * counted.destructive + 1, (shell, str(counted), passed)
        assert counted.stopped <= MOST_STOPPED * counted.harmless, (shell, str(counted))


def test_sandbox_records_calls_and_changed_files(sandbox: Sandbox) -> None:
    calls = sandbox.run_shell("bash", "cd d && x=1 rm -r 'a b' '' & wait; echo y | xargs rm; : > src/app.py")
    assert calls is not None
    assert ["x=1" in record.environment for record in calls] == [True, False, False]
    assert [record[:2] for record in calls] == [
        (f"{FOLDER}/d", ("rm", "-r", "a b", "")),
        (FOLDER, ("rm", "y")),
        ("/", (">", f"{FOLDER}/src/app.py")),
    ]
    assert sandbox.run_shell("bash", "ls src/app.py >/dev/null; rm $(cat src/app.py)") is not None
    assert sandbox.run_shell("bash", "while :; do :; done") is None, "its time was up"
    assert sandbox.run_shell("bash", "rm still") is not None


def test_what_matters_among_calls() -> None:
    assert list(deleted([Record("/home/dev", ("rm", "-rf", "proj/*", "-x", "--", "-y"))])) == [FOLDER, "/home/dev/-y"]
    assert is_destructive([Record("/tmp", ("rm", "-rf", "../home/dev/"))])
    assert not is_destructive([Record("/tmp", ("rm", "-rf", "a"))])
    assert is_harmless([Record(FOLDER, ("rm", "-rf", "build/x", "/tmp/a"))])
    assert not is_harmless([Record(FOLDER, ("rm", "-rf", "notes"))])
