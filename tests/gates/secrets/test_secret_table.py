"""The compiled table: that the shipped one is that of the packs, and that no damage leads outside it."""

from __future__ import annotations

import random
import struct
import zlib

import pytest

from tipstaff.gates.secrets import packs
from tipstaff.gates.secrets.packs import SecretPackError, SecretRule
from tipstaff.gates.secrets.scanner import Scanner, default_scanner, scan_secrets
from tipstaff.gates.secrets.table import check_samples, compile_table
from tipstaff.kernels import SecretTable

WORDS = packs.default_words()


def rule(**changes: object) -> SecretRule:
    return SecretRule(
        **{"id": "made-up", "provider": "x", "shape": "abc_[0-9a-f]{8}", "positives": ("p",), "negatives": ("n",)}
        | changes  # type: ignore[arg-type]
    )


def test_the_built_table_is_that_of_the_packs() -> None:
    expected = compile_table(packs.default_rules(), WORDS)
    assert default_scanner().data == expected, "packs have changed since the build: make .venv/.test"


@pytest.mark.parametrize("name", sorted({one.id.split("-")[0][0] for one in packs.default_rules()}))
def test_each_rule_agrees_with_its_samples(name: str) -> None:
    for one in packs.default_rules():
        if one.id.startswith(name):
            check_samples(one, WORDS)


def test_a_rule_that_disagrees_with_a_sample_is_refused() -> None:
    with pytest.raises(SecretPackError, match="rule made-up: finds nothing in its positive sample 'abc_'"):
        check_samples(rule(positives=("abc_",), negatives=("x",)), WORDS)
    with pytest.raises(SecretPackError, match="finds something in its negative sample"):
        check_samples(rule(positives=("abc_{hex:8}",), negatives=("abc_{hex:8} ",)), WORDS)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shape": "[0-9a-f]{32}"}, "no three known bytes"),
        ({"shape": "abc(", "id": "open"}, "ends too early"),
        ({"shape": "[0-9]{4,9}abc", "left": "[a-z]"}, "`left` does not hold"),
        ({"shape": "[0-9a]{4,9}abc"}, "its next byte could continue"),
        ({"shape": "(a|b)(c|d)(e|f)(g|h)(i|j)(k|l)(m|n)(o|p)(q|r)(s|t)"}, "more than 640 ways"),
        ({"shape": "x((a|b)(c|d)(e|f)(g|h)(i|j)(k|l)(m|n)(o|p)(q|r)(s|t))?"}, "more than 640 ways"),
        ({"left": "ab"}, "a border is one class"),
        ({"kind": "assign", "keys": ("ab",), "shape": ""}, "fewer than 3 letters"),
    ],
)
def test_what_cannot_be_compiled_says_why(changes: dict[str, object], message: str) -> None:
    with pytest.raises(SecretPackError, match=message):
        compile_table([rule(**changes)], WORDS)


def test_ways_after_what_is_looked_for_do_not_count() -> None:
    """Nor is any of the ways lost: all 1,024 endings are found."""
    shape = "acme_[0-9]{2,4}" + "".join(f"({a}|{b})" for a, b in zip("acegikmoqs", "bdfhjlnprt", strict=True))
    scanner = Scanner(compile_table([rule(shape=shape)], WORDS))
    assert all(scan_secrets(f"acme_1234{end}", scanner=scanner) for end in ("acegikmoqs", "bdfhjlnprt", "adehilmpqt"))


def test_rules_of_one_name_are_refused() -> None:
    with pytest.raises(SecretPackError, match="there are two"):
        compile_table([rule(), rule()], WORDS)


def test_damaged_headers_are_refused() -> None:
    good = compile_table([rule()], WORDS)
    for at, value, message in (
        (0, b"X", "wrong magic number"),
        (8, struct.pack("<I", 9), "version"),
        (12, struct.pack("<I", 7), "size"),
        (88, b"\0\0\0\0", "checksum"),
    ):
        bad = good[:at] + value + good[at + len(value) :]
        with pytest.raises(ValueError, match=message):
            SecretTable(bad)
    for size in (0, 100, len(good) - 1):
        with pytest.raises(ValueError, match="not a valid table of secrets"):
            SecretTable(good[:size])


def test_damage_after_the_header_stays_inside() -> None:
    rng = random.Random(5)
    good = compile_table(packs.default_rules()[:40], WORDS)
    text = "\n".join(packs.made_up(sample) for one in packs.default_rules()[:40] for sample in one.positives)
    opened = 0
    for _ in range(300):
        bad = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            bad[rng.randrange(16, len(bad))] = rng.randrange(256)
        bad[88:92] = zlib.crc32(bad[128:]).to_bytes(4, "little")
        try:
            table = SecretTable(bytes(bad))
        except ValueError:
            continue
        opened += 1
        for isa in ("portable", None):
            for _, start, end in table.find(text, isa=isa):
                assert 0 <= start < end <= len(text)
    assert opened > 20
