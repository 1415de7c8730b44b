"""Packs of secret rules: what a pack may say, and what the error says where it may not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tipstaff.gates.secrets import packs
from tipstaff.gates.secrets.packs import SecretPackError, parse_pack
from tipstaff.gates.secrets.shapes import ShapeError, parse_shape

GOOD = """
[[rule]]
id = "acme"
provider = "Acme"
shape = 'acme_[0-9a-f]{32}'
positives = ["acme_{hex:32}"]
negatives = ["acme_{x:32}"]
"""


def test_a_pack_is_read() -> None:
    (rule,) = parse_pack(GOOD, "acme.toml")
    assert (rule.id, rule.kind, rule.severity) == ("acme", "shape", "high")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("id =", "id ="), None),
        (('provider = "Acme"', ""), "rule acme: .*provider"),
        (("shape", "schape"), "rule acme: .*schape"),
        (("positives = [", 'need = "vowel"\npositives = ['), "need 'vowel' is not one of"),
        (("positives = [", "kind = 'guess'\npositives = ["), "kind 'guess' is not one of shape"),
        (('["acme_{x:32}"]', "[]"), "lacks a negative sample"),
        (("positives = [", "priority = 400\npositives = ["), "priority 0 to 99"),
        (("[[rule]]", "[[rule"), "acme.toml"),
    ],
)
def test_a_mistake_is_named(change: tuple[str, str], message: str | None) -> None:
    text = GOOD.replace(*change)
    if message is None:
        assert parse_pack(text, "acme.toml")
        return
    with pytest.raises(SecretPackError, match=message):
        parse_pack(text, "acme.toml")


def test_samples_are_made_up_the_same_way_each_time() -> None:
    assert packs.made_up("{base62:20}") == packs.made_up("{base62:20}")
    assert packs.made_up("{base62:20}") != packs.made_up(" {base62:20}")[1:]
    assert packs.made_up("${{X}} {x:3} {lit:a}") == "${X} xxx a"
    assert len(packs.made_up("{uuid}")) == 36
    for wrong in ("{base63:4}", "{base62}", "{hex:x}"):
        with pytest.raises(SecretPackError, match="sample"):
            packs.made_up(wrong)


def test_no_committed_file_holds_what_looks_like_a_secret() -> None:
    import tipstaff

    folder = Path(packs.__file__).parents[1] / "packs" / "secrets"
    for path in (*(folder.glob("[!w]*.toml")), Path(__file__).parents[1] / "secret_cases.py"):
        text = path.read_text(encoding="utf-8")
        # What a scan finds there holds a generator, in braces.
        whole = [text[one.start : one.end] for one in tipstaff.scan_secrets(text)]
        assert [secret for secret in whole if "{" not in secret and "«" not in secret] == [], path.name


def test_user_rules_join_by_id() -> None:
    more = packs.parse_pack(GOOD, "acme.toml")
    joined = packs.joined_rules(packs.default_rules(), more)
    assert joined[-1].id == "acme"
    replaced = packs.joined_rules(packs.default_rules(), [more[0].replace(id="npm")])
    assert len(replaced) == len(packs.default_rules())


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ("", "is empty"),
        ("a)", "unexpected"),
        ("(a", "ends too early"),
        ("[a", "ends too early"),
        ("a{3,2}", "repeats ascend"),
        ("(ab){2}", "only a byte or a class"),
        ("a*|{", "unexpected"),
        ("<a", "one <"),
        ("(<a>)", "outside groups"),
        ("[é]", "ASCII"),
        ("((((((a))))))", "nested deeper"),
    ],
)
def test_an_invalid_shape_is_reported_with_its_position(shape: str, message: str) -> None:
    with pytest.raises(ShapeError, match=message):
        parse_shape(shape)
