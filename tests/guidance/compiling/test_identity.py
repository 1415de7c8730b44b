from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tipstaff.guidance.compiling.compiler import compile_guidance
from tipstaff.guidance.compiling.identity import content_id, match_former
from tipstaff.model import GuidanceRule


def test_ids_come_from_the_words_alone() -> None:
    assert content_id("Never push!") == content_id("  never PUSH") != content_id("Never pull")
    assert content_id("Never push").startswith("AUTO-")
    assert len(content_id("Never push")) == len("AUTO-") + 8
    assert content_id("!!") != content_id("??")


def test_rules_in_the_same_words_for_other_files_have_other_ids() -> None:
    assert len({content_id("a"), content_id("a", "src/**"), content_id("a", "web/**"), content_id("b", "src/**")}) == 4


def test_marks_and_code_tell_the_same_words_apart() -> None:
    rules = [
        "- ✅ Compare with `a === b`",
        "- ❌ Compare with `a == b`",
        "- ❌ Compare with `a === b`",
        "- ✅ Compare with `a === b`.",
    ]
    found = compile_guidance("# T\n\n## Equality\n\n" + "\n".join(rules))
    assert [shard.rule.text[-len(rule) + 2 :] for shard, rule in zip(found.shards, rules, strict=False)] == [
        rule[2:] for rule in rules[:3]
    ]
    assert sorted((one.code, one.line) for one in found.diagnostics) == [("TS501", 8), ("TS503", 7)]


@given(st.text(max_size=30))
def test_any_text_has_an_id(text: str) -> None:
    assert content_id(text) == content_id(text)


def rules(*pairs: tuple[str, str]) -> list[GuidanceRule]:
    return [GuidanceRule(id=rule_id, text=text) for rule_id, text in pairs]


def test_an_edited_rule_is_matched_to_one_former_rule() -> None:
    former = rules(("A", "Always sign the release tags with the team key"), ("B", "Never push to main"))
    now = rules(
        ("X", "Always sign release tags with the team key"), ("Y", "Always sign all release tags with the team key")
    )
    assert list(match_former(now, former).values()) == ["A"]
    assert match_former(former, former) == {}
    assert match_former(now, []) == {}
    assert match_former(rules(("Z", "Something else entirely here")), former) == {}


def test_ids_stay_when_lines_move_and_words_change_a_little() -> None:
    before = compile_guidance(
        "- Always sign the release tags with the team key\n- Never push to main\n- Keep it short\n"
    )
    names = {rule.text: rule.id for rule in before.rules()}
    after = compile_guidance(
        "# New\n\n- Keep it short\n\n- Never push to main\n- Always sign release tags with the team key\n",
        previous=before,
    )
    now = {rule.text: rule for rule in after.rules()}
    assert now["Never push to main"].id == names["Never push to main"]
    assert now["Never push to main"].former_id is None
    edited = now["Always sign release tags with the team key"]
    assert edited.id == names["Always sign the release tags with the team key"]
    again = compile_guidance("- Always sign release tags with the team key\n", previous=after)
    assert again.rules()[0].id == edited.id


def test_a_renamed_rule_knows_its_former_id() -> None:
    before = compile_guidance("- [SEC-1] Always sign the release tags\n")
    (rule,) = compile_guidance("- [REL-9] Always sign the release tags\n", previous=before).rules()
    assert (rule.id, rule.former_id) == ("REL-9", "SEC-1")
