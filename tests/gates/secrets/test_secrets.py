"""What is a secret and what only looks like one, to the code point; and that a redaction shows none of it."""

from __future__ import annotations

import base64
import itertools
import json
import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tipstaff
from tests.gates.secret_cases import FOUND, LEFT_ALONE
from tests.gates.secret_sealed import NEARLY_SEALED, SEALED
from tests.gates.secret_settings import LOOK_ALIKE, PASTED
from tests.shared_data import shared_path
from tipstaff.gates.secrets.packs import SecretRule, base62_checksum, default_rules, made_up
from tipstaff.model import Record

RULES = default_rules()


def lines(text: str) -> list[str]:
    return text.strip("\n").split("\n")


def marked(sample: str) -> tuple[str, list[tuple[int, int]]]:
    """Return a sample's text and the spans that it marks."""
    text = made_up(sample.replace("\\n", "\n"))
    spans: list[tuple[int, int]] = []
    while "«" in text:
        start = text.index("«")
        text = text.replace("«", "", 1)
        end = text.index("»")
        text = text.replace("»", "", 1)
        spans.append((start, end))
    return text, spans


def spans_of(text: str) -> list[tuple[int, int]]:
    return [(found.start, found.end) for found in tipstaff.scan_secrets(text)]


@pytest.mark.parametrize("sample", lines(FOUND) + lines(PASTED) + lines(NEARLY_SEALED))
def test_secrets_are_found_to_the_code_point(sample: str) -> None:
    text, spans = marked(sample)
    assert spans
    assert spans_of(text) == spans
    # The same after text of other widths, and among lines of others.
    around = f"# ключ 🔑 漢字\n{text}\nPORT=8080\n"
    moved = len("# ключ 🔑 漢字\n")
    assert spans_of(around) == [(start + moved, end + moved) for start, end in spans]


@pytest.mark.parametrize("sample", lines(LEFT_ALONE) + lines(LOOK_ALIKE) + lines(SEALED))
def test_what_only_looks_like_a_secret_is_left_alone(sample: str) -> None:
    text = made_up(sample.replace("\\n", "\n"))
    assert tipstaff.scan_secrets(text) == []
    assert tipstaff.redact(text) == text


@pytest.mark.parametrize("rule", [rule for rule in RULES if not rule.wary], ids=lambda rule: rule.id)
def test_every_rule_finds_its_samples_among_all_others(rule: SecretRule) -> None:
    for sample in rule.positives:
        text = made_up(sample)
        found = tipstaff.scan_secrets(text)
        assert found, sample
        redacted = tipstaff.redact(text)
        assert len(redacted) == len(text)
        for one in found:
            secret = text[one.start : one.end]
            assert len(one.redacted) == len(secret)
            shown = one.redacted.rstrip("*")
            assert secret.startswith(shown)
            assert len(shown) <= max(rule.show, 40)
            assert secret not in redacted
            assert redacted[one.start : one.end] == one.redacted


def test_there_are_enough_kinds() -> None:
    providers = {rule.id for rule in RULES if rule.kind in {"shape", "assign"} and not rule.wary}
    assert len(providers) >= 130
    assert len({rule.provider for rule in RULES}) >= 130


def test_what_is_redacted_holds_no_secret_any_more() -> None:
    for rule in RULES:
        for sample in rule.positives:
            redacted = tipstaff.redact(made_up(sample))
            assert tipstaff.redact(redacted) == redacted, rule.id


@pytest.mark.parametrize("prefix", ["ghp_", "gho_", "ghu_", "ghs_", "npm_"])
def test_checksums_tell_tokens_from_lookalikes(prefix: str) -> None:
    token = made_up(f"{prefix}{{crc62:36}}")
    assert spans_of(f"TOKEN={token}") == [(6, 46)]
    wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
    assert tipstaff.scan_secrets(f"see {wrong} there") == []
    assert spans_of(f"TOKEN={wrong}") == []  # a sample: a real one has its checksum
    assert [found.rule_id for found in tipstaff.scan_secrets(f"TOKEN={wrong}", wary=True)]


def test_the_checksum_is_as_github_states_it() -> None:
    assert base62_checksum("") == "000000"
    assert len(base62_checksum("x" * 30)) == 6


def test_several_in_one_text_are_disjoint_and_in_order() -> None:
    token, key = made_up("ghp_{crc62:36}"), made_up("AKIA{base32:16}")
    found = tipstaff.scan_secrets(f'{{"b": "{key}", "token": "{token}", "c": "{key}"}}')
    assert [one.rule_id for one in found] == ["aws-access-key", "github-pat", "aws-access-key"]
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))


def test_the_more_telling_rule_wins() -> None:
    token = made_up("ghp_{crc62:36}")
    assert [one.rule_id for one in tipstaff.scan_secrets(f'password = "{token}"')] == ["github-pat"]


@pytest.mark.parametrize(
    "text",
    [
        'password = "abcd"',
        'pwd="x y z w"',
        'token = "0123456789"',
        'password = "🔑🔑🔑🔑"',
        'password\n=\n"hunter22"',
        'secret="a\'bcdefgh"',
        'api_key = "abcd1234"',
    ],
)
def test_a_wary_scan_asks_about_more(text: str) -> None:
    assert tipstaff.scan_secrets(text, wary=True)


@pytest.mark.parametrize(
    "text", ['password = "abc"', 'password = "${DB_PASSWORD}"', 'password = "changeme"', 'token: "<paste-your-token>"']
)
def test_a_wary_scan_knows_placeholders(text: str) -> None:
    assert tipstaff.scan_secrets(text, wary=True) == []


def test_a_value_in_a_nested_string_is_found() -> None:
    inner = json.dumps({"password": "hunter22-prod"})
    for text in (inner, json.dumps(inner), json.dumps(json.dumps(inner))):
        ((start, end),) = spans_of(text)
        assert text[start:end] == "hunter22-prod"


def test_a_token_after_an_escape_is_found() -> None:
    token = made_up("ghp_{crc62:36}")
    for before in ("line\\n", "x%3D", "a\\u003d", "\\x1b"):
        assert [found.start for found in tipstaff.scan_secrets(before + token)] == [len(before)], before
    assert tipstaff.scan_secrets(f"n{token}") == []


def test_records_are_plain() -> None:
    (found,) = tipstaff.scan_secrets(made_up("sk_live_{base62:24}"))
    assert isinstance(found, Record)
    assert json.loads(json.dumps(found.to_dict()))["rule_id"] == "stripe-live"
    assert list(found.to_dict())[:4] == ["rule_id", "start", "end", "redacted"]


def test_lone_surrogates_and_nothing_at_all() -> None:
    assert tipstaff.scan_secrets("") == []
    token = made_up("ghp_{crc62:36}")
    assert spans_of(f"\ud800 {token}") == [(2, 42)]


@given(st.text())
def test_any_text_keeps_its_length(text: str) -> None:
    for wary in (False, True):
        assert len(tipstaff.redact(text, wary=wary)) == len(text)


def test_the_first_scan_loads_little() -> None:
    code = "import sys, tipstaff; tipstaff.scan_secrets('x'); print([m for m in ('numpy', 'tomllib', 're') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "numpy" not in done.stdout
    assert "tomllib" not in done.stdout


# -- the labelled cases -----------------------------------------------------------------------------------------------


def vectors() -> list[dict[str, Any]]:
    path = shared_path("vectors", "gates", "secrets.json")
    if path is None:
        pytest.skip("no labelled cases beside this checkout")
    cases: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["cases"]
    return [case for case in cases if case["tier"] == "core"]


def test_labelled_secrets() -> None:
    cases = [case for case in vectors() if case["expected"] == "detect"]
    wrong = [case["id"] for case in cases if spans_of(case["text"]) != [tuple(span) for span in case["spans"]]]
    assert len(wrong) <= 0.01 * len(cases), wrong


def test_labelled_lookalikes() -> None:
    cases = [case for case in vectors() if case["expected"] == "ignore"]
    wrong = [case["id"] for case in cases if tipstaff.scan_secrets(case["text"])]
    assert len(wrong) <= 0.01 * len(cases), wrong


def test_labelled_secrets_are_redacted_whole() -> None:
    for case in vectors():
        redacted = tipstaff.redact(case["text"])
        assert len(redacted) == len(case["text"])
        for start, end in case["spans"]:
            kept = sum(a == b for a, b in zip(case["text"][start:end], redacted[start:end], strict=True))
            assert kept <= 42, case["id"]


def test_base64_of_a_pair_is_judged_by_what_it_says() -> None:
    def header(text: str) -> str:
        return f"Authorization: Basic {base64.b64encode(text.encode()).decode()}"

    assert spans_of(header(made_up("svc:{base62:16}")))
    for harmless in ("user:password", "nothing at all", "user:${TOKEN}", "user:xxxxxxxx"):
        assert not spans_of(header(harmless)), harmless
