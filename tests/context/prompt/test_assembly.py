"""Assembly: order kept, protected sections untouched, every loss explained."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.context.prompt.assembly import AssembledPrompt, ContextAssemblyPlan, PromptOverflowError
from tipstaff.context.prompt.focus import RequestFocus
from tipstaff.context.prompt.sections import SystemPromptBudget, boost_priority
from tipstaff.context.prompt.truncation import MIN_SHOWN_CHARS
from tipstaff.errors import ConfigError, TipstaffError

LINES = "\n".join(f"Line {number} of the memory says something." for number in range(2_000))
SECTIONS = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "memory:Soul", "rules", "git"]),
        st.integers(0, 1_500),
        st.integers(0, 100),
        st.booleans(),
    ),
    max_size=9,
)


def words(size: int, seed: str = "x") -> str:
    return (f"{seed}word " * size)[:size]


def plan_of(sections: list[tuple[str, int, int, bool]]) -> ContextAssemblyPlan:
    plan = ContextAssemblyPlan()
    for number, (key, size, priority, protected) in enumerate(sections):
        plan.add_section(key, words(size, chr(97 + number)), priority, protected)
    return plan


# -- properties --------------------------------------------------------------------------------------------------------


@given(SECTIONS, st.integers(1, 1_200), st.integers(1, 4_000))
def test_order_is_kept_protected_sections_are_whole_and_the_budget_holds(
    sections: list[tuple[str, int, int, bool]], tier: int, total: int
) -> None:
    protected = sum(size for _, size, _, kept in sections if kept)
    plan, budget = plan_of(sections), SystemPromptBudget(tier, total)
    if protected > total:
        with pytest.raises(PromptOverflowError):
            plan.build(budget)
        return
    prompt = plan.build(budget)
    assert prompt.total_chars == len(prompt.prompt) <= total
    assert prompt.prompt == "".join(section.content for section in prompt.sections)
    assert [section.key for section in prompt.sections] == [key for key, *_ in sections]
    assert prompt.truncated_section_keys == tuple(section.key for section in prompt.sections if section.truncated)
    for (_, size, _, kept), section in zip(sections, prompt.sections, strict=True):
        assert section.original_chars == size
        assert section.final_chars == len(section.content)
        if kept:
            assert section.final_chars == size
            assert not section.truncated
        else:
            assert section.final_chars <= tier
        assert section.included == bool(section.content)
    assert plan.build(budget) == prompt


@given(SECTIONS, st.integers(200, 4_000))
def test_what_is_cut_is_lower_than_what_is_whole(sections: list[tuple[str, int, int, bool]], total: int) -> None:
    if sum(size for _, size, _, kept in sections if kept) > total:
        return
    reports = [
        section
        for section in plan_of(sections).build(SystemPromptBudget(5_000, total)).sections
        if not section.protected
    ]
    gone = [section.priority for section in reports if section.truncated]
    whole = [section.priority for section in reports if section.included and not section.truncated]
    assert not gone or not whole or max(gone) <= min(whole)


# -- what upstream gets wrong ------------------------------------------------------------------------------------------


def test_d12_the_task_can_be_protected_and_the_budget_is_used() -> None:
    plan = ContextAssemblyPlan().add_section("base", LINES[:18_400], 70).add_section("task-focus", words(150), 89, True)
    prompt = plan.build(SystemPromptBudget.for_context_window(8_192, 2_048))
    assert prompt.find("task-focus")[0].content == words(150)
    plan = ContextAssemblyPlan().add_section("base", LINES[:18_400], 70).add_section("task-focus", words(150), 89, True)
    assert plan.build(SystemPromptBudget(20_000, 6_144)).total_chars >= 6_144 * 0.97


def test_d16_a_section_is_cut_once_and_its_marker_tells_the_original_size() -> None:
    plan = (
        ContextAssemblyPlan().add_section("memory:Auto-Memory", LINES[:5_000], 60).add_section("rules", words(900), 88)
    )
    prompt = plan.build(SystemPromptBudget(1_000, 1_500))
    section = prompt.sections[0]
    assert section.content.count("[TRUNCATED]") == 1
    assert "Original: 5000 chars" in section.content
    assert section.cut is not None
    assert (section.cut.reason, section.cut.allowed_chars) == ("total", 600)


def test_d16_text_that_looks_like_a_marker_is_not_taken_for_one() -> None:
    text = "<!-- [TRUNCATED] Original: 9 chars -->"
    prompt = ContextAssemblyPlan().add_section("a", text, 1).build()
    assert prompt.prompt == text
    assert prompt.truncated_section_keys == ()


def test_d17_a_section_too_small_to_mean_anything_is_left_out_and_reported() -> None:
    plan = (
        ContextAssemblyPlan()
        .add_section("memory:Soul", words(200), 100, True)
        .add_section("memory:Daily Journal", LINES, 50)
    )
    for room in range(90):
        prompt = plan.build(SystemPromptBudget(20_000, 200 + room))
        journal = prompt.sections[1]
        assert journal.truncated
        assert journal.cut is not None
        if journal.included:
            assert journal.original_chars - journal.cut.removed_chars >= MIN_SHOWN_CHARS
        else:
            assert journal.cut.reason == ("too-small" if room else "no-room")
            assert journal.cut.removed_chars == journal.original_chars
            assert prompt.prompt == words(200)


def test_d18_protected_sections_that_exceed_the_budget_are_an_error_that_says_so() -> None:
    plan = (
        ContextAssemblyPlan()
        .add_section("memory:Soul", words(3_000), 100, True)
        .add_section("memory:Managed Policy", words(2_200), 90, True)
        .add_section("git", words(100), 40)
    )
    with pytest.raises(PromptOverflowError, match=r"5,200 characters, 3,200 more than the budget of 2,000") as caught:
        plan.build(SystemPromptBudget(1_000, 2_000))
    assert isinstance(caught.value, TipstaffError)
    assert caught.value.overflow.sections == (("memory:Soul", 3_000), ("memory:Managed Policy", 2_200))
    prompt = plan.build(SystemPromptBudget(1_000, 2_000), on_overflow="report")
    assert prompt.overflow == caught.value.overflow
    assert prompt.prompt == words(3_000) + words(2_200)
    assert prompt.truncated_section_keys == ("git",)


@pytest.mark.parametrize("content", [None, "", "  \n\t"])
def test_d18_empty_sections_are_treated_alike_whatever_the_budget(content: str | None) -> None:
    for total in (10, 10_000):
        prompt = (
            ContextAssemblyPlan()
            .add_section("a", content, 5)
            .add_section("b", words(400), 6)
            .build(SystemPromptBudget(300, total))
        )
        empty = prompt.sections[0]
        assert (empty.included, empty.truncated, empty.content) == (False, False, "")
        assert empty.cut is not None
        assert empty.cut.reason == "empty"
        assert "a" not in prompt.truncated_section_keys


def test_d50_the_report_explains_every_loss() -> None:
    plan = (
        ContextAssemblyPlan()
        .add_section("memory:Soul", words(300), 100, True)
        .add_section("memory:User Memory", LINES[:3_000], 70)
        .add_section("memory:Auto-Memory", LINES[:700], 60)
        .add_section("git", words(90), 40)
    )
    prompt = plan.build(SystemPromptBudget(1_000, 1_550))
    reasons = [section.cut.reason if section.cut else "" for section in prompt.sections]
    assert reasons == ["", "section-cap", "total", "no-room"]
    user = prompt.sections[1]
    assert user.cut is not None
    assert user.cut.removed_chars == user.cut.end - user.cut.start
    assert LINES[:3_000][: user.cut.start] == user.content[: user.cut.start]
    assert user.content.endswith(LINES[:3_000][user.cut.end :])
    assert (prompt.sections[0].source_type, prompt.sections[2].source_type) == ("memory", "learned-signals")
    assert (prompt.sections[0].scope_type, prompt.sections[3].scope_type) == ("always-on", "task-local")
    assert prompt.sections[0].evidence == ("tier=Soul", "priority=100")
    assert prompt.sections[0].inclusion_reason == "8-tier memory hierarchy"
    assert (prompt.sections[0].original_tokens, prompt.sections[0].estimated_tokens) == (75, 75)


# -- the stable prefix -------------------------------------------------------------------------------------------------

QUERIES = (
    "fix `load_config` in src/a.py",
    "continue with the next step",
    "What is the weather?",
    "review `Line` and `memory`",
    "",
)


def request_prompt(query: str, total: int, *, stable: bool) -> AssembledPrompt:
    focus = RequestFocus.extract(query)
    plan = ContextAssemblyPlan()
    plan.add_section("memory:Soul", words(400, "soul"), 100, True, stable=stable)
    plan.add_section("base", words(2_000, "base"), 95, True, stable=stable)
    for key, priority, text in (
        ("memory:Workspace Memory", 80, f"load_config is here.\n{LINES[:3_000]}"),
        ("memory:User Memory", 70, LINES[:2_500]),
    ):
        plan.add_section(key, text, priority, stable=stable) if stable else None
    for key, priority, text in (
        ("task-focus", 89, f"Focus: {focus.query_summary} {'more ' * len(query)}"),
        ("memory:Markdown Memory", 55, f"src/a.py and load_config\n{LINES[:1_500]}"),
        ("memory:Daily Journal", 50, LINES[:1_500]),
    ):
        boosted = boost_priority(key, priority, text, focus)
        plan.add_section(key, text, boosted.priority, base_priority=boosted.base_priority, boosts=boosted.boosts)
    return plan.build(SystemPromptBudget(20_000, total))


@pytest.mark.parametrize("total", [4_000, 6_000, 9_000, 100_000])
@pytest.mark.parametrize("stable", [False, True])
def test_d9_the_prefix_is_byte_equal_across_queries(total: int, stable: bool) -> None:
    prompts = [request_prompt(query, total, stable=stable) for query in QUERIES]
    sizes = {prompt.stable_chars for prompt in prompts}
    assert len(sizes) == 1
    size = sizes.pop()
    assert size >= 2_400
    assert len({prompt.prompt[:size].encode() for prompt in prompts}) == 1
    assert len({tuple(section.key for section in prompt.sections) for prompt in prompts}) == 1
    assert len({prompt.prompt for prompt in prompts}) > 1


def test_a_stable_section_after_another_is_an_error() -> None:
    plan = ContextAssemblyPlan().add_section("a", "x", 1)
    with pytest.raises(ConfigError, match="'b' is stable, but comes after one that is not"):
        plan.add_section("b", "x", 1, stable=True)


# -- shape -------------------------------------------------------------------------------------------------------------


def test_records_are_frozen_plain_data() -> None:
    prompt = ContextAssemblyPlan().add_section("memory:Soul", LINES, 50).add_section("é", "漢🚀", 50).build()
    data = json.loads(json.dumps(prompt.to_dict()))
    assert list(data)[:3] == ["prompt", "truncated_section_keys", "budget"]
    assert data["sections"][0]["content"] == prompt.sections[0].content
    assert data["sections"][0]["cut"]["reason"] == "section-cap"
    assert isinstance(prompt.sections, tuple)
    assert prompt.sections[1].estimated_tokens == 1
    with pytest.raises(AttributeError):
        prompt.prompt = ""  # type: ignore[misc]


def test_d49_a_key_that_is_added_twice_is_reported_twice() -> None:
    prompt = ContextAssemblyPlan().add_section("a", "one", 1).add_section("a", "two", 2).build()
    assert [section.content for section in prompt.find("a")] == ["one", "two"]


@pytest.mark.parametrize("options", [{"on_overflow": "ignore"}, {"volatile_share": 1.5}])
def test_unusable_options_are_errors(options: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="expected"):
        ContextAssemblyPlan().build(**options)  # type: ignore[arg-type]


def test_a_plan_without_sections_gives_an_empty_prompt() -> None:
    assert ContextAssemblyPlan().build().prompt == ""
