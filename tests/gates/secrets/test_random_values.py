"""Random values are found whatever words chance puts into them, and names of programs are not taken for random."""

from __future__ import annotations

import random
import string

import pytest

import tipstaff

BASE62 = string.ascii_letters + string.digits
SETTINGS = [
    ('password = "{}"', BASE62, 16),
    ("DB_PASSWORD={}", BASE62, 18),
    ("define( 'DB_PASSWORD', '{}' );", BASE62, 18),
    ('api_key = "{}"', BASE62, 40),
    ("client_secret: {}", BASE62, 24),
    ("password: {}", string.ascii_lowercase + string.digits, 20),
    ("Server=db.acme.io;Uid=app;Pwd={};", BASE62, 18),
    ("postgres://app:{}@db.acme.io/prod", BASE62, 16),
    ("api_key: {}", "0123456789abcdef", 32),
]


@pytest.mark.parametrize(("setting", "letters", "size"), SETTINGS)
def test_chance_words_hide_no_random_value(setting: str, letters: str, size: int) -> None:
    """Of 3,000 values at most 9 are missed; words, and pieces that can be pronounced, hid up to 140 of them."""
    chance = random.Random(setting)
    missed: list[str] = []
    for _ in range(3000):
        value = "".join(chance.choices(letters, k=size))
        found = tipstaff.scan_secrets(setting.format(value))
        if [(one.start, one.end - one.start) for one in found] != [(setting.index("{"), size)]:
            missed.append(value)
    assert len(missed) <= 9, missed


@pytest.mark.parametrize("word", ["Test", "none", "Mock", "TRUE", "hmac", "demo"])
def test_a_word_within_a_random_value(word: str) -> None:
    chance = random.Random(word)
    value = "".join(chance.choices(BASE62, k=18)) + word + "".join(chance.choices(BASE62, k=18))
    assert [one.end - one.start for one in tipstaff.scan_secrets(f'api_key = "{value}"')] == [len(value)]


@pytest.mark.parametrize(
    "name",
    [
        "getElementByTagNameNS",
        "SharedAccessAuthorizationRule",
        "initialization_vector_length",
        "XMLHttpRequestEventTarget",
        "pkcs1MessageFromBigInteger",
        "KubernetesClusterRoleBinding",
    ],
)
def test_names_of_programs_are_not_random(name: str) -> None:
    assert not tipstaff.scan_secrets(f'password = "{name}"')
    assert not tipstaff.scan_secrets(f'api_token = "{name}"')
