from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.guidance.made_rules import rule as made_rule
from tipstaff.guidance.compiling.compiler_config import CompilerConfig
from tipstaff.guidance.compiling.constitution import NOTE_CHARS, compact_text, notes_of, pack, rule_line, short_hash
from tipstaff.guidance.compiling.statements import CONFLICT
from tipstaff.model import DOMAINS, GuidanceRule, Relation


def rule(number: int, domain: str = "general") -> GuidanceRule:
    return GuidanceRule(id=f"R{number}", text=f"Never {number}", domains=(domain,), is_constitution=True)


def test_no_rules_leave_the_title() -> None:
    assert pack([], 60).text == "# Constitution\n"
    assert pack([], 0).text == ""


def test_headings_appear_once_each_and_only_where_there_are_several() -> None:
    packed = pack([rule(1, "security"), rule(2, "testing"), rule(3, "security")], 60)
    assert packed.text.splitlines() == [
        "# Constitution", "", "## Security", "- [R1] Never 1", "- [R3] Never 3", "## Testing", "- [R2] Never 2",
    ]  # fmt: skip
    assert "##" not in pack([rule(1), rule(2)], 60).text


def test_headings_give_way_before_a_rule_does() -> None:
    rules = [rule(1, "security"), rule(2, "testing")]
    assert pack(rules, 6).text.count("##") == 2
    assert pack(rules, 5).text.splitlines() == ["# Constitution", "", "- [R1] Never 1", "- [R2] Never 2"]


@given(st.lists(st.sampled_from(DOMAINS), max_size=12), st.integers(0, 20))
def test_every_rule_is_in_the_text_or_in_the_overflow(domains: list[str], cap: int) -> None:
    rules = [rule(number, domain) for number, domain in enumerate(domains)]
    packed = pack(rules, cap)
    lines = packed.text.splitlines()
    assert len(lines) <= cap
    assert packed.rules == tuple(rules)
    for one in rules:
        assert (rule_line(one) in lines) != (one.id in packed.overflow)
    assert list(packed.overflow) == [one.id for one in rules[len(rules) - len(packed.overflow) :]]
    headings = [line for line in lines if line.startswith("#")]
    assert len(headings) == len(set(headings))
    if rules and cap > 2:
        assert len(packed.overflow) == max(0, len(rules) - (cap - 2))


@pytest.mark.parametrize("text", ["", "é", "\ud800"])
def test_the_hash_is_the_head_of_a_sha_256(text: str) -> None:
    assert short_hash(text) == hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def test_a_scoped_rule_says_where_it_holds() -> None:
    assert rule_line(rule(1).replace(repo_scopes=("a/**", "b"))) == "- [R1] Never 1 (applies to a/**, b)"


def test_a_rule_is_one_line_with_each_tag_once() -> None:
    one = made_rule("A-1", "Rotate keys", risk_class="high", domains=("security",), intents=("security",))
    line = compact_text(one)
    assert line.startswith("[A-1] Rotate keys @high @security")
    assert line.count("@security") == 1
    assert "@all" not in line


def test_what_narrows_a_rule_is_named() -> None:
    one = made_rule("A-1", "Paginate", repo_scopes=("src/**", "api/**"), verifiers=("unit",), priority=70)
    assert compact_text(one).endswith(" scope:src/** scope:api/** verify:unit priority:70")
    assert compact_text(one, CompilerConfig(default_priority=70)).endswith(" verify:unit")
    assert compact_text(one.replace(is_constitution=True)).endswith(" verify:unit")


def test_a_note_quotes_only_the_beginning_of_a_long_rule() -> None:
    left, right = made_rule("A-1", "Use tabs"), made_rule("B-1", "Use spaces " + "in every file " * 20)
    notes = notes_of((left, right), (Relation(kind=CONFLICT, left="A-1", right="B-1", similarity=0.5),))
    assert notes["B-1"] == ' (conflicts with [A-1] "Use tabs"; ask which applies)'
    quoted = notes["A-1"].split('"')[1]
    assert quoted.startswith("Use spaces")
    assert quoted.endswith("…")
    assert len(quoted) <= NOTE_CHARS
