from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.guidance.extraction.patterns import looks_like_id, split_id


@pytest.mark.parametrize(
    ("text", "rule_id", "rest"),
    [
        ("[SEC-001] Never", "SEC-001", "Never"), ("SEC-7: Never", "SEC-7", "Never"), ("R12 Never", "R12", "Never"),
        ("r001: never", "r001", "never"), ("[SEC-AUTH-001] Never", "SEC-AUTH-001", "Never"), ("**[SEC-1]** Never", "SEC-1", "Never"),
        ("**SEC-1:** Never", "SEC-1", "Never"), ("`SEC-1` Never", "SEC-1", "Never"), ("SEC-1 — Never", "SEC-1", "Never"),
        ("SEC-1 - Never", "SEC-1", "Never"), ("[a.b-1]: x", "a.b-1", "x"), ("API-001: x", "API-001", "x"), ("[SEC-1]", "SEC-1", ""),
    ],
)  # fmt: skip
def test_ids(text: str, rule_id: str, rest: str) -> None:
    assert split_id(text) == (rule_id, rest)
    assert looks_like_id(text)


@pytest.mark.parametrize(
    "text",
    [
        "AES-256 must be used", "ISO-8601 dates", "RFC-2119 words", "SHA-512 only", "UTF-8 only", "[link-1](a.md) x", "[a-1][b] x",
        "SEC-001 is a rule", "Note 7: x", "[bash] x", "[x] done", "HTTP2 only", "PEP-8: x", "[CVE-2024-1] x", "", "[", "2024-01", "ABC",
        "COVID-19 rules", "W3C First",
    ],
)  # fmt: skip
def test_what_only_looks_like_an_id(text: str) -> None:
    assert split_id(text) == (None, text)


@given(st.text(alphabet=st.sampled_from("[]()*_`:-. \nAPISEC0123r–é"), max_size=60))
def test_what_is_not_the_id_is_left_as_it_was(text: str) -> None:
    rule_id, rest = split_id(text)
    assert text.endswith(rest)
    assert rule_id is None or rule_id in text[: len(text) - len(rest)]


@pytest.mark.parametrize("piece", ["A", "A-", "[A1", "A-1", "**", "r1 "])
def test_time_does_not_grow_faster_than_the_text(piece: str) -> None:
    def seconds(count: int) -> float:
        text = piece * count
        start = time.process_time()
        split_id(text)
        return time.process_time() - start

    short = min(seconds(2_000) for _ in range(3))
    assert min(seconds(40_000) for _ in range(3)) < 20 * 10 * max(short, 1e-4)
