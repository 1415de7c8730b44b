"""Failures by the tools' own forms, and what they say is the cause."""

from __future__ import annotations

from tipstaff.context.shortening.failures import cause_of, has_failed

FAILED = [
    ("src/a.c:3:5: error: expected ';'\nmake: *** [Makefile:9: all] Error 1", "expected ';'"),
    ("npm ERR! code ELIFECYCLE\nnpm ERR! missing script: build\nnpm ERR! A complete log of this run", "missing script"),
    ("  ✕ adds (3 ms)\n\nTests:       3 failed, 12 passed, 15 total", "3 failed"),
    ("a.ts(4,2): error TS2322: Type 'x' is not assignable", "TS2322"),
    ("   Compiling x\nerror[E0382]: borrow of moved value\nerror: could not compile `x`", "E0382"),
    ("--- FAIL: TestX (0.00s)\n    x_test.go:9: got 1\nFAIL\tpkg\t0.1s", "FAIL: TestX"),
    (
        "FAILURE: Build failed with an exception.\n* What went wrong:\nCould not resolve com.x:y\nBUILD FAILED in 2s",
        "Could not resolve",
    ),
    ("E   assert 1 == 2\n====== 1 failed, 3 passed in 0.1s ======", "assert 1 == 2"),
    (" ❯ a.test.ts (2 tests | 1 failed)\n Test Files  1 failed (1)\n", "1 failed"),
    ("Wall time: 1\nProcess exited with code 2\nOutput:\nrg: apps: No such file or directory", "No such file"),
    ("fatal: your current branch 'main' does not have any commits yet", "does not have any commits"),
    ("bash: line 1: tsx: command not found", "command not found"),
    ('{"error": "All providers failed", "tried": 3}', "All providers failed"),
]
FINE = [
    "Failed logins: 0",
    "12 passed, 0 failed",
    "errors: 0\nwarnings: 2",
    "def fail(error): ...",
    "Process exited with code 0\nerror: is a word",
]


def test_each_form() -> None:
    for output, cause in FAILED:
        assert has_failed({}, output), output
        assert cause in cause_of(output), output
    for output in FINE:
        assert not has_failed({}, output), output
    assert has_failed({"is_error": True}, "Failed logins: 0")
    assert not has_failed({"is_error": False}, "fatal: x")
