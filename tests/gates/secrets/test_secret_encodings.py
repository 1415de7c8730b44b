"""Secrets in what is encoded: percent and JSON escapes, and base64; every instruction set finds the same."""

from __future__ import annotations

import base64
import json
import urllib.parse

import pytest

import tipstaff
from tipstaff.gates.secrets.packs import made_up
from tipstaff.gates.secrets.scanner import default_scanner
from tipstaff.kernels._secrets import available_isas

TOKEN = made_up("ghp_{crc62:36}")
PASSWORD = made_up("{base62:18}")
ADDRESS = f"postgres://app:{PASSWORD}@db.internal:5432/app"
PEM = made_up("-----BEGIN PRIVATE KEY-----\n{base64:64}\n{base64:64}\n-----END PRIVATE KEY-----\n")
ACCOUNT = json.dumps({"type": "service_account", "project_id": "acme", "private_key": PEM}, indent=1)


def agree(text: str) -> None:
    """Hold every instruction set of this machine to what the portable one finds."""
    find = default_scanner().table.find
    expected = find(text, isa="portable")
    assert all(find(text, isa=isa) == expected for isa in available_isas()), text


def coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def wrapped(text: str, width: int, between: str) -> str:
    return between.join(text[at : at + width] for at in range(0, len(text), width))


def percent(text: str) -> str:
    return urllib.parse.quote(text, safe="")


BASE64 = [
    (f"data:\n  anything: «{coded(TOKEN)}»\n", "github-pat"),
    (f"data:\n  url: «{coded(ADDRESS)}»\n", "password-in-url"),
    (f"  env: «{coded('password=' + PASSWORD)}»", "generic-password"),
    (f'{{"key.json": "«{coded(ACCOUNT)}»"}}', "private-key"),
    (f"key.json: |\n  «{wrapped(coded(ACCOUNT), 76, chr(10) + '  ')}»\nnext: x\n", "private-key"),
    (f'"key": "«{wrapped(coded(ACCOUNT), 64, chr(92) + "n")}»"', "private-key"),
    (f"x: «{coded('a?b>~' + TOKEN + ' ??>').replace('/', chr(92) + '/')}»", "github-pat"),
]
ESCAPED = [
    (f"DATABASE_URL=postgres%3A%2F%2Fapp%3A«{PASSWORD}»%40db%3A5432%2Fapp", "password-in-url"),
    (f"q=token%3D«{TOKEN}»", "github-pat"),
    (f"x=«{''.join(f'%{ord(char):02X}' for char in TOKEN)}»", "github-pat"),
    (f"body=%7B%22password%22%3A%20%22«{PASSWORD}»%22%7D", "generic-password"),
    (f'{{"url": "https:\\/\\/deploy:«{PASSWORD}»@artifacts.acme.io\\/x"}}', "password-in-url"),
    (f'{{"token": "«{TOKEN.replace("_", chr(92) + "u005f")}»"}}', "github-pat"),
    (f"pem=«{percent(PEM.strip())}»", "private-key"),
]


@pytest.mark.parametrize(("sample", "rule"), BASE64 + ESCAPED)
def test_encoded_secrets_are_found_at_their_positions(sample: str, rule: str) -> None:
    start, end = sample.index("«"), sample.index("»") - 1
    text = sample.replace("«", "").replace("»", "")
    for before in ("", "ключ 🔑\n"):
        found = tipstaff.scan_secrets(before + text)
        assert [(one.rule_id, one.start, one.end) for one in found] == [(rule, start + len(before), end + len(before))]
        agree(before + text)


@pytest.mark.parametrize(
    "text",
    [
        made_up('"integrity": "sha512-{base64:86}=="'),
        made_up("data:image/png;base64,iVBORw0KGgo{base64:400}"),
        f"ca.crt: {coded(made_up('-----BEGIN CERTIFICATE-----{base64:200}-----END CERTIFICATE-----'))}",
        f"//# sourceMappingURL=data:application/json;base64,{coded(json.dumps({'version': 3, 'mappings': 'AAAA,CAAC'}))}",
        f"digest: {coded(made_up('{hex:64}'))}",
        f"env: {coded('password: ${DB_PASSWORD}')}",
        f"header: {coded(json.dumps({'alg': 'RS256', 'typ': 'JWT', 'kid': 'production-key-1'}))}",
        "https://a.io/login?next=https%3A%2F%2Fa.io%2Fcallback%3Fcode%3Dx",
        'printf("%20s token=%30s", a, b)',
        coded(coded(TOKEN)),
    ],
)
def test_what_is_encoded_and_no_secret_is_left_alone(text: str) -> None:
    assert tipstaff.scan_secrets(text) == []
    agree(text)


def test_base64_is_found_at_the_border_of_a_block() -> None:
    blob = coded(TOKEN)
    for shift in (*range(4040, 4098, 3), 8191):
        text = " " * shift + blob
        assert [(one.start, one.end) for one in tipstaff.scan_secrets(text)] == [(shift, len(text))]


def test_long_lines_and_long_base64_are_read_in_parts_or_not_at_all() -> None:
    filler = "a%3Db&" * 1500
    assert [one.rule_id for one in tipstaff.scan_secrets(f"{filler}u=https%3A%2F%2Fx%3A{PASSWORD}%40h.io")] == [
        "password-in-url"
    ]
    assert tipstaff.scan_secrets(coded("plain words " * 5000 + TOKEN)) == []
