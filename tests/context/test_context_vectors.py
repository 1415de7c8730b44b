"""Labelled cases of the budget that bind, where they are beside the checkout; of the others, what holds for any input."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.shared_data import shared_path
from tipstaff.context.prompt.assembly import ContextAssemblyPlan, PromptOverflowError
from tipstaff.context.prompt.focus import RequestFocus
from tipstaff.context.prompt.sections import SystemPromptBudget, boost_priority
from tipstaff.context.prompt.truncation import truncate
from tipstaff.context.shortening.preamble import CompactionConfig

FOLDER = shared_path("vectors", "context")
pytestmark = pytest.mark.skipif(FOLDER is None, reason="no labelled cases beside this checkout")


def cases(family: str, **wanted: str) -> list[Any]:
    if FOLDER is None:
        return []
    found: list[dict[str, Any]] = json.loads((FOLDER / f"{family}.json").read_text(encoding="utf-8"))["cases"]
    chosen = [
        case
        for case in found
        if all(case["input"].get(name, case["family"]) == value for name, value in wanted.items())
    ]
    return [pytest.param(case, id=case["id"]) for case in chosen]


@pytest.mark.parametrize("case", cases("budget", kind="for_context_window"))
def test_budget(case: dict[str, Any]) -> None:
    expected = case["expected"] if case["binding"] else case["seed_text_expected"]
    given = case["input"]
    found = SystemPromptBudget.for_context_window(given["context_tokens"], given["max_output"]).to_dict()
    assert found == {name: expected[name] for name in found}


@pytest.mark.parametrize("case", cases("budget", kind="compaction_config"))
def test_compaction_config(case: dict[str, Any]) -> None:
    given = {name: value for name, value in case["input"].items() if name != "kind"}
    found = CompactionConfig(**given)
    assert {name: getattr(found, name) for name in case["expected"]} == case["expected"]


def test_every_binding_case_is_of_a_kind_that_is_run() -> None:
    assert FOLDER is not None
    run = {("budget", "for_context_window"), ("budget", "compaction_config"), ("jaccard", "text"), ("jaccard", "score")}
    run |= {("tokens", kind) for kind in ("text", "messages", "tools", "check_budget")}
    for path in sorted(FOLDER.glob("*.json")):
        for case in json.loads(path.read_text(encoding="utf-8"))["cases"]:
            assert not case.get("binding") or (path.stem, case["input"].get("kind")) in run, case["id"]


@pytest.mark.parametrize("case", cases("truncation", kind="content"))
def test_truncation_is_within_its_allowance(case: dict[str, Any]) -> None:
    text, allowance = case["input"]["text"], case["input"]["max_chars"]
    if text is None:
        return
    result = truncate(text, allowance)
    assert len(result) <= max(allowance, 0) or result == text
    assert (result == text) == (len(text) <= allowance)


@pytest.mark.parametrize("case", cases("plan"))
def test_plan_keeps_order_and_protection(case: dict[str, Any]) -> None:
    given = case["input"]
    plan = ContextAssemblyPlan()
    for section in given["sections"]:
        plan.add_section(section["key"], section["content"], section["priority"], section["protected"])
    budget = SystemPromptBudget(given["max_per_tier_chars"], given["max_total_chars"])
    kept = sum(len(section["content"] or "") for section in given["sections"] if section["protected"])
    if kept > budget.max_total_chars:
        with pytest.raises(PromptOverflowError):
            plan.build(budget)
        return
    prompt = plan.build(budget)
    assert len(prompt.prompt) <= budget.max_total_chars
    for section in given["sections"]:
        assert (
            not section["protected"] or (section["content"] or "").strip() == "" or section["content"] in prompt.prompt
        )
    if not case["expected"]["truncated_section_keys"]:
        assert prompt.prompt == case["expected"]["prompt"]
    assert set(case["expected"]["truncated_section_keys"]) <= set(prompt.truncated_section_keys) | {
        section.key for section in prompt.sections if section.protected
    }


@pytest.mark.parametrize("case", cases("focus"))
def test_focus_finds_no_more_signals_than_the_words_say(case: dict[str, Any]) -> None:
    given = case["input"]
    focus = RequestFocus.extract(given["query"], given["history"], project_root=given["project_path"])
    assert set(focus.plan_signals) <= set(case["expected"]["plan_signals"]) | {"planning context"}
    assert len(focus.query_summary) <= 160
    if len(case["expected"]["query_summary"]) < 157:
        assert focus.query_summary == " ".join(given["query"].split())


@pytest.mark.parametrize("case", cases("boost"))
def test_boosts_stay_within_the_cap(case: dict[str, Any]) -> None:
    given = case["input"]
    focus = RequestFocus.extract(given["query"]).replace(active_file_paths=tuple(given["active_paths"]))
    found = boost_priority(given["key"], given["base_priority"], given["content"], focus)
    assert given["base_priority"] <= found.priority <= given["base_priority"] + 12
