from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.guidance.made_rules import bundle_of, rule
from tipstaff import ShardRetriever
from tipstaff.globs import scopes_may_overlap
from tipstaff.guidance.project import compile_repository
from tipstaff.guidance.retrieval.search import ALL_RISKS, Hit, Question
from tipstaff.guidance.retrieval.selection import MOST_BY_TOKENS, MOST_SHARDS, Selection, most_shards, positions_within
from tipstaff.guidance.retrieval.shard_profiles import Cards
from tipstaff.guidance.wording.claims import claims, opposed
from tipstaff.model import DroppedShard, GuidanceRule, IntentMatch

DAY = "2026-06-15"


def choose(
    rules: list[GuidanceRule],
    max_shards: int = 9,
    *,
    laws: list[GuidanceRule] | None = None,
    overflow: tuple[str, ...] = (),
    within: str | None = None,
    offered: int | None = None,
) -> tuple[list[str], dict[str, DroppedShard], bool]:
    """Choose among rules whose scores fall in the order in which they are given."""
    bundle = bundle_of(rules, laws or (), overflow)
    overriding: dict[str, list[int]] = {}
    for row, shard in enumerate(bundle.shards):
        if shard.rule.overrides is not None:
            overriding.setdefault(shard.rule.overrides, []).append(row)
    rows = range(len(bundle.shards))[:offered]
    hits = [Hit(row, 1.0 - row / 1000, 0.5) for row in rows]
    cards = Cards(bundle.shards.__getitem__, bundle.constitution, overriding, len(bundle.shards))
    selection = Selection(cards, Question("", IntentMatch("general", 1.0), ALL_RISKS, within, max_shards, None, DAY))
    taken, chosen, dropped, exhausted = selection.choose(hits)
    for _ in range(32):  # by now all shards have been compared, which changes nothing
        assert selection.choose(hits) == (taken, chosen, dropped, exhausted)
    assert cards.compared
    assert [one.score for one in taken] == sorted((one.score for one in taken), reverse=True)
    assert [one.row for one in taken] == [one.row for one in chosen]
    return [one.rule.id for one in chosen], {one.id: one for one in dropped}, exhausted


def test_rules_that_agree_all_stay() -> None:
    rules = [rule("A", "Always squash commits"), rule("B", "Never commit credentials"), rule("C", "Must use TLS")]
    assert choose(rules) == (["A", "B", "C"], {}, False)
    assert choose(rules, 2) == (["A", "B"], {}, False)


@pytest.mark.parametrize("first", [0, 1])
def test_the_higher_priority_stays_in_any_order(first: int) -> None:
    pair = [rule("HI", "Never squash commits", priority=80), rule("LO", "Always squash commits", priority=60)]
    kept, dropped, exhausted = choose([pair[first], rule("X", "Write tests"), pair[1 - first]])
    assert kept == (["HI", "X"] if first == 0 else ["X", "HI"])
    assert dropped == {"LO": DroppedShard(id="LO", kept="HI", reason="priority 80 over 60")}
    assert exhausted


def test_of_equal_priorities_the_higher_score_stays() -> None:
    kept, dropped, _ = choose([rule("A", "You must squash commits"), rule("B", "You must not squash commits")])
    assert kept == ["A"]
    assert dropped == {"B": DroppedShard(id="B", kept="A", reason="equal priority 50, lower score")}


def test_a_rule_is_dropped_only_for_one_that_stays() -> None:
    # B beats A, and C beats B; A and C agree, so A is given after all.
    rules = [
        rule("A", "Always squash commits", priority=10),
        rule("B", "Never squash commits", priority=20),
        rule("C", "You must squash commits", priority=30),
    ]
    kept, dropped, _ = choose(rules)
    assert kept == ["A", "C"]
    assert {name: one.kept for name, one in dropped.items()} == {"B": "C"}


def test_a_rule_outside_those_wanted_drops_nothing() -> None:
    rules = [rule("A", "Always squash commits", priority=10), rule("B", "Never squash commits", priority=90)]
    assert choose(rules, 1) == (["A"], {}, False)


def test_what_was_dropped_is_made_up_for() -> None:
    rules = [
        rule("A", "Always squash commits"),
        rule("B", "Never squash commits"),
        rule("C", "Write tests"),
        rule("D", "Name branches"),
    ]
    assert choose(rules, 3)[0] == ["A", "C", "D"]
    assert choose(rules, 3, offered=3)[::2] == (["A", "C"], True)
    assert choose(rules, 3, offered=4)[2] is False


# -- the constitution -------------------------------------------------------------------------------------------------

LAW = rule("LAW", "Never use TLS 1.0", is_constitution=True, priority=150)


def test_the_constitution_stays_against_any_priority() -> None:
    kept, dropped, _ = choose(
        [rule("A", "Always use TLS 1.0", priority=999), rule("B", "Never use TLS 1.0")], laws=[LAW]
    )
    assert kept == ["B"]
    assert dropped == {"A": DroppedShard(id="A", kept="LAW", reason="it contradicts the constitution")}


def test_the_constitution_says_nothing_where_it_does_not_hold() -> None:
    law = LAW.replace(repo_scopes=("api/**",))
    assert choose([rule("A", "Always use TLS 1.0", scope="web/**")], laws=[law])[0] == ["A"]
    assert choose([rule("A", "Always use TLS 1.0", scope="api/v1/**")], laws=[law])[0] == []


def test_a_constitution_rule_without_room_wins_as_a_shard() -> None:
    strong = rule("A", "Always use TLS 1.0", priority=999)
    kept, dropped, _ = choose([strong, rule("B", "Write tests")], laws=[LAW], overflow=("LAW",))
    assert kept == ["LAW", "B"]
    assert dropped["A"].kept == "LAW"
    assert "constitution" in dropped["A"].reason


# -- folders ----------------------------------------------------------------------------------------------------------

OUTER = rule("OUT", "Always use tabs for indentation", priority=90)
INNER = rule("IN", "Never use tabs for indentation", folder="web", priority=10)


@pytest.mark.parametrize(
    "within", ["web/a.ts", "web/deep/er/b.ts", "web", "web/*.ts", "web/{a,b}.ts", "web/[id]/page.tsx"]
)
@pytest.mark.parametrize("rules", [[OUTER, INNER], [INNER, OUTER]])
def test_the_nearest_rule_wins_in_its_folder(within: str, rules: list[GuidanceRule]) -> None:
    kept, dropped, _ = choose(rules, within=within)
    assert kept == ["IN"]
    assert dropped["OUT"] == DroppedShard(id="OUT", kept="IN", reason=f"web/CLAUDE.md is nearer to {within}")


@pytest.mark.parametrize("within", [None, "**/*.ts", "*", "{web,api}/a.ts"])
def test_both_stay_where_both_folders_may_be_meant(within: str | None) -> None:
    assert choose([OUTER, INNER], within=within)[:2] == (["OUT", "IN"], {})


def test_the_innermost_of_three_wins() -> None:
    middle = rule("MID", "Always use tabs for indentation", folder="web", priority=50)
    deepest = rule("DEEP", "Never use tabs for indentation", folder="web/sub", priority=1)
    kept, dropped, _ = choose([OUTER, middle, deepest], within="web/sub/a.ts")
    assert kept == ["DEEP"]
    assert {one.kept for one in dropped.values()} == {"DEEP"}


def family() -> list[GuidanceRule]:
    return [
        rule("R1", "Keep lines under a hundred characters"),
        rule("R1@web", "Keep functions short", folder="web", overrides="R1"),
        rule("R1@web/sub", "Name things well", folder="web/sub", overrides="R1"),
    ]


@pytest.mark.parametrize(
    ("within", "expected"),
    [
        (None, ["R1", "R1@web", "R1@web/sub"]),
        ("web/a.ts", ["R1@web", "R1@web/sub"]),
        ("web/sub/a.ts", ["R1@web/sub"]),
        ("api/a.py", ["R1", "R1@web", "R1@web/sub"]),
        ("**/a.py", ["R1", "R1@web", "R1@web/sub"]),
    ],
)
def test_a_rule_that_is_replaced_in_a_folder_is_not_given_there(within: str | None, expected: list[str]) -> None:
    # Rules that do not hold where the caller works never come here: the mask has taken them out.
    assert choose(family(), within=within)[0] == expected


@pytest.mark.parametrize("offered", [1, 2])
def test_it_is_not_given_there_either_when_the_other_one_is_not_among_the_best(offered: int) -> None:
    kept, dropped, _ = choose(family(), within="web/sub/a.ts", offered=offered)
    assert kept == []
    assert dropped["R1"].kept == "R1@web/sub"
    assert dropped["R1"].reason == "R1@web/sub of web/sub/CLAUDE.md replaces it there"


def test_a_rule_out_of_force_replaces_nothing() -> None:
    rules = [rule("R1", "Keep lines short"), rule("R1@web", "Name things", folder="web", overrides="R1")]
    late = [rules[0], rules[1].replace(active_from="2026-06-16")]
    assert choose(rules, within="web/a", offered=1)[0] == []
    assert choose(late, within="web/a", offered=1)[0] == ["R1"]


# -- properties -------------------------------------------------------------------------------------------------------

SUBJECTS = ("squash commits", "use tabs for indentation", "retry payment calls", "deploy on Friday")
VERBS = ("Always", "Never", "You must", "You must not", "Do not", "You may")


@st.composite
def rule_sets(draw: st.DrawFn) -> list[GuidanceRule]:
    return [
        rule(
            f"R{number}",
            f"{draw(st.sampled_from(VERBS))} {draw(st.sampled_from(SUBJECTS))}",
            priority=draw(st.sampled_from([10, 50, 50, 90])),
            **draw(st.sampled_from([{}, {}, {"folder": "web"}, {"scope": "api/**"}, {"is_constitution": True}])),
        )
        for number in range(draw(st.integers(0, 10)))
    ]


def contradicting(left: GuidanceRule, right: GuidanceRule) -> bool:
    return bool(opposed(claims(left.text), claims(right.text))) and scopes_may_overlap(
        left.repo_scopes, right.repo_scopes
    )


@given(rule_sets(), st.integers(1, 10), st.sampled_from([None, "web/a.ts", "docs/b"]))
def test_those_given_agree_and_those_dropped_had_to_go(
    rules: list[GuidanceRule], max_shards: int, within: str | None
) -> None:
    kept, dropped, _ = choose(rules, max_shards, within=within)
    by_id = {one.id: one for one in rules}
    for left, right in combinations(kept, 2):
        if by_id[left].depth == by_id[right].depth:
            assert not contradicting(by_id[left], by_id[right])
    for name, one in dropped.items():
        assert one.kept in kept
        weak, strong = by_id[name], by_id[one.kept]
        assert contradicting(weak, strong)
        assert strong.is_constitution >= weak.is_constitution
        if strong.is_constitution == weak.is_constitution and strong.depth == weak.depth:
            assert strong.priority >= weak.priority
    assert not set(kept) & set(dropped)
    seen = {*kept, *dropped}
    assert kept == [one.id for one in rules if one.id in kept]
    assert len(kept) == max_shards or (len(kept) < max_shards and len(seen) == len(rules))
    if not dropped:
        assert kept == [one.id for one in rules][: len(kept)]


def test_no_more_are_given_than_wanted_where_the_last_frees_those_before_it() -> None:
    rules = [rule(f"R{number}", "Always squash commits", priority=50 if number == 7 else 10) for number in range(1, 9)]
    rules.insert(0, rule("R0", "Never squash commits", priority=10))
    kept, dropped, _ = choose(rules, 2)
    assert kept == ["R1", "R7"]
    assert dropped["R0"].kept == "R7"


@pytest.mark.parametrize(
    ("outer", "inner", "task"),
    [
        ("Use tabs for indentation", "Use 2 spaces for indentation", "change the indentation"),
        ("Use npm to install packages", "Use pnpm to install packages", "install a package"),
        ("Limit lines to 80 characters", "Limit lines to 120 characters", "shorten the lines"),
        ("Use single quotes in strings", "Use double quotes in strings", "change the quotes of strings"),
    ],
)
def test_a_nearer_choice_is_given_alone(tmp_path: Path, outer: str, inner: str, task: str) -> None:
    (tmp_path / "web").mkdir()
    (tmp_path / "AGENTS.md").write_text(f"# A\n\n- {outer}\n- Write tests for parsers\n")
    (tmp_path / "web" / "AGENTS.md").write_text(f"# W\n\n- {inner}\n- Keep hooks small\n")
    retriever = ShardRetriever(compile_repository(tmp_path))
    inside = retriever.retrieve(task, repo_scope="web/a.ts")
    texts = [one.shard.rule.text for one in inside.shards]
    assert inner in texts
    assert outer not in texts
    assert [one.reason for one in inside.dropped] == ["web/AGENTS.md is nearer to web/a.ts"]
    assert outer in [one.shard.rule.text for one in retriever.retrieve(task, repo_scope="api/a.ts").shards]


@pytest.mark.parametrize(
    ("shards", "tokens", "most"),
    [
        (None, None, MOST_BY_TOKENS), (None, 100, MOST_BY_TOKENS), (MOST_SHARDS, 100, 5), (3, 100, 3), (0, None, 0), (60, None, 60),
    ],
)  # fmt: skip
def test_tokens_replace_the_default_number_alone(shards: int | None, tokens: int | None, most: int) -> None:
    assert most_shards(shards, tokens) == most


@pytest.mark.parametrize(("shards", "tokens", "name"), [(-1, None, "max_shards"), (1, -1, "max_tokens")])
def test_numbers_below_zero_are_refused(shards: int, tokens: int | None, name: str) -> None:
    with pytest.raises(ValueError, match=name):
        most_shards(shards, tokens)


def test_a_line_that_does_not_fit_is_passed_over() -> None:
    assert positions_within(["x" * 40, "x" * 400, "x" * 36, "x" * 40], 21) == [0, 2]


@given(st.lists(st.integers(0, 200), max_size=12), st.integers(0, 120))
def test_what_is_kept_fits_and_what_is_left_out_did_not(lengths: list[int], tokens: int) -> None:
    kept = positions_within(["x" * length for length in lengths], tokens)
    left = tokens
    for position, length in enumerate(lengths):
        cost = length // 4 + 1
        assert (position in kept) == (cost <= left)
        left -= cost if position in kept else 0
    assert left >= 0


def test_a_retriever_keeps_to_the_tokens() -> None:
    retriever = ShardRetriever(bundle_of(rule(f"A-{n}", f"Test the cart in case {n}") for n in range(20)))
    for tokens in (0, 10, 40, 200):
        found = retriever.retrieve("Test the cart", max_tokens=tokens)
        assert sum(len(f"- {one.shard.compact_text}") // 4 + 1 for one in found.shards) <= tokens
