"""The prefilter's buckets: every window passes the one that it is in, and little else does."""

from __future__ import annotations

import argparse
import inspect
import random

from hypothesis import given
from hypothesis import strategies as st

from tipstaff.gates.secrets.anchors import WINDOW, both_cases
from tipstaff.gates.secrets.buckets import BUCKETS, CLASSES, wide_table
from tipstaff.gates.secrets.pairs import FIRST, PAIRS
from tipstaff.gates.secrets.scanner import default_scanner
from tipstaff.kernels.formats.secret_table import class_of

Window = tuple[frozenset[int], ...]


def windows_of(words: list[str]) -> list[Window]:
    return [tuple(both_cases(ord(char)) for char in word) for word in words]


def taken(wide: bytes, data: bytes) -> list[int]:
    """Return the buckets that take six bytes."""
    return [
        bucket
        for bucket in range(BUCKETS)
        if all(
            wide[(bucket // 8 * WINDOW + position) * CLASSES + class_of(byte)] >> bucket % 8 & 1
            for position, byte in enumerate(data)
        )
    ]


def test_the_measured_shares_are_whole() -> None:
    rows = PAIRS.split()
    assert len(FIRST) == len(rows) == CLASSES
    assert {len(row) for row in rows} == {CLASSES}
    # Digits are halves of a bit: a row of shares is about one.
    for row in (FIRST, *rows):
        assert 0.5 < sum(2.0 ** (-int(digit, 36) / 2) for digit in row) < 2


@given(st.lists(st.text("abcdefghijklmnopqrstuvwxyz0123456789_-.", min_size=3, max_size=8), min_size=1, max_size=60))
def test_every_window_passes_in_either_case(words: list[str]) -> None:
    wide = wide_table([window[:WINDOW] for window in windows_of(words)])
    for word in words:
        for data in (word.lower().encode(), word.upper().encode()):
            assert taken(wide, (data + b"\n ~Z9%")[:WINDOW])


def test_few_windows_keep_apart() -> None:
    wide = wide_table(windows_of(["secret", "tokens", "passwo"]))
    assert [len(taken(wide, data)) for data in (b"secret", b"TOKENS", b"passwo", b"sokenr", b"pecret")] == [
        1,
        1,
        1,
        0,
        0,
    ]


def test_many_windows_let_little_else_pass() -> None:
    chance = random.Random(5)
    letters = "abcdefghijklmnopqrstuvwxyz"
    words = ["".join(chance.choices(letters, k=WINDOW)) for _ in range(400)]
    wide = wide_table(windows_of(words))
    others = ["".join(chance.choices(letters, k=WINDOW)).encode() for _ in range(2000)]
    assert all(taken(wide, word.encode()) for word in words)
    assert sum(bool(taken(wide, other)) for other in others) < 400
    assert wide == wide_table(windows_of(words))


def test_what_is_not_ascii_is_looked_for_as_well() -> None:
    wide = wide_table(
        [(*windows_of(["abc"])[0], frozenset({0xC3})), tuple(frozenset({byte}) for byte in "密码".encode())]
    )
    assert taken(wide, "abcäy".encode()) == [0]
    assert taken(wide, "密码".encode()) == [1]
    assert taken(wide, b"abcxyz") == []


def test_the_shipped_windows_let_little_source_text_pass() -> None:
    data = default_scanner().data
    at = int.from_bytes(data[76:80], "little")
    wide = data[at : at + BUCKETS // 8 * WINDOW * CLASSES]
    text = inspect.getsource(argparse).encode()[:20_000]
    passed = sum(bool(taken(wide, text[begin : begin + WINDOW])) for begin in range(0, len(text) - WINDOW, 7))
    assert passed * 7 < 0.4 * len(text)
