"""The native walk finds what every rule finds for itself: the plain twin is the oracle."""

from __future__ import annotations

import random
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.gates.secret_cases import FOUND, LEFT_ALONE
from tests.gates.secret_sealed import NEARLY_SEALED, SEALED
from tests.gates.secret_settings import LOOK_ALIKE, PASTED
from tipstaff.gates.secrets.packs import default_rules, made_up
from tipstaff.gates.secrets.scanner import TABLE_FILE
from tipstaff.kernels._secrets import SecretTable, available_isas
from tipstaff.kernels.plain import secrets as plain_secrets

ISAS = available_isas()
SIGNS = [
    *(
        "password",
        "token",
        "api_key",
        "secret",
        '"',
        "'",
        '\\"',
        "=",
        ":",
        " ",
        "\n",
        "value",
        "://",
        "@",
        "&",
        "?",
        "%3D",
    ),
    *(
        "%22",
        "\\u0022",
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END",
        "!!",
        "|",
        ">",
        "<",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
    ),
    *(
        "$",
        "login ",
        "string",
        "ENV ",
        "--",
        "_",
        ".",
        "-",
        "é",
        "🔑",
        "\\n",
        "x" * 20,
        "A1b2" * 6,
        "\t",
        "\r\n",
        ",",
        ";",
    ),
]


@cache
def tables() -> tuple[SecretTable, plain_secrets.SecretTable]:
    data = TABLE_FILE.read_bytes()
    return SecretTable(data), plain_secrets.SecretTable(data)


def agree(text: str, *, wary: bool) -> list[tuple[int, int, int]]:
    native, plain = tables()
    expected = plain.find(text, wary=wary)
    for isa in ISAS:
        assert native.find(text, wary=wary, isa=isa) == expected, (isa, text)
    return expected


def samples() -> list[str]:
    texts = [made_up(sample) for rule in default_rules() for sample in (*rule.positives, *rule.negatives)]
    cases = "".join((FOUND, PASTED, NEARLY_SEALED, LEFT_ALONE, LOOK_ALIKE, SEALED)).replace("\\n", "\n")
    return texts + [made_up(line).replace("«", "").replace("»", "") for line in cases.split("\n")]


@pytest.mark.parametrize("wary", [False, True])
def test_on_all_samples_together(wary: bool) -> None:
    assert len(agree("\n\n".join(samples()), wary=wary)) > 400


def test_on_samples_with_mistakes() -> None:
    rng = random.Random(7)
    texts = [text for text in samples() if len(text) < 400]
    parts: list[str] = []
    for _ in range(240):
        text = list(rng.choice(texts))
        for _ in range(rng.randint(1, 5)):
            at = rng.randrange(len(text) + 1)
            if rng.random() < 0.5:
                text.insert(at, rng.choice(SIGNS))
            else:
                del text[at : at + rng.randint(1, 4)]
        parts.append("".join(text))
    for start in range(0, len(parts), 120):
        assert agree("\n".join(parts[start : start + 120]), wary=start == 120)


@given(st.lists(st.sampled_from(SIGNS) | st.text(max_size=4), max_size=30).map("".join), st.booleans())
@settings(max_examples=8, deadline=None)
def test_on_made_up_syntax(text: str, wary: bool) -> None:
    agree(text, wary=wary)


def test_a_block_border_cuts_nothing() -> None:
    token = made_up("ghp_{crc62:36}")
    native, _ = tables()
    for shift in (*range(4050, 4100), *range(8180, 8200)):
        text = " " * shift + token
        for isa in ISAS:
            assert [found[1:] for found in native.find(text, isa=isa)] == [(shift, shift + 40)]


@pytest.mark.parametrize("wary", [False, True])
def test_any_letter_may_follow_three_known_ones(wary: bool) -> None:
    secret = made_up("{base62:24}")
    for number in (*range(256), 0x4E00, 0x1F600):
        letter = chr(number)
        found = agree(f"url = postgres://{letter}app:{secret}@db.internal/shop\n" + "x" * 80, wary=wary)
        if letter not in " \t\r\n\"'`<>/\\@?#|:":
            assert found, letter
        agree(f"pwd{letter} = {secret}\nkey: pat{letter}{secret}\nAPI_KEY{letter}={secret}\n" + "x" * 80, wary=wary)


def test_more_findings_than_first_thought() -> None:
    token = made_up("ghp_{crc62:36}")
    native, _ = tables()
    assert len(native.find(f"{token} " * 1000)) == 1000


def test_an_unknown_instruction_set_is_an_error() -> None:
    for table in tables():
        with pytest.raises(ValueError, match="'mmx' is not one"):
            table.find("x", isa="mmx")
