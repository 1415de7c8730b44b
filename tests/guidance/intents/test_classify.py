from __future__ import annotations

import json
import time
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tools.write_task_lexicon import task_lexicon

from tests.shared_data import shared_path
from tipstaff import compile_guidance
from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding
from tipstaff.guidance.intents.classify import LEXICON, classify_intent, paths_in
from tipstaff.guidance.retrieval.retriever import ShardRetriever
from tipstaff.model import INTENTS, IntentMatch

Case = tuple[str, str]
_TABLE = tomllib.loads(Path(__file__).with_name("intent_cases.toml").read_text(encoding="utf-8"))
_LABELLED = shared_path("vectors", "guidance", "intents.json")


def _half(half: str) -> list[Case]:
    cases: list[Case] = []
    for intent, halves in _TABLE.items():
        cases += [tuple(item) if intent in {"mixed", "hard", "terse"} else (item, intent) for item in halves[half]]
    return cases


def _misses(cases: list[Case]) -> list[str]:
    found = [(classify_intent(task), task, intent) for task, intent in cases]
    return [f"{match.intent} for {intent}: {task!r}" for match, task, intent in found if match.intent != intent]


def test_the_labels_are_intents_and_no_task_is_in_both_halves() -> None:
    tune, held_out = _half("tune"), _half("held_out")
    assert {intent for _, intent in tune + held_out} == set(INTENTS)
    assert len(tune) + len(held_out) >= 500
    assert not {task.lower() for task, _ in tune} & {task.lower() for task, _ in held_out}


@pytest.mark.parametrize(("half", "least"), [("tune", 0.96), ("held_out", 0.92)])
def test_most_labelled_tasks_are_classified_as_labelled(half: str, least: float) -> None:
    cases = _half(half)
    misses = _misses(cases)
    assert 1 - len(misses) / len(cases) >= least, "\n".join(misses)


@pytest.mark.parametrize("intent", INTENTS)
def test_no_intent_is_neglected(intent: str) -> None:
    cases = [case for case in _half("tune") + _half("held_out") if case[1] == intent]
    misses = _misses(cases)
    assert 1 - len(misses) / len(cases) >= 0.85, "\n".join(misses)


@pytest.mark.skipif(_LABELLED is None, reason="no folder of labelled cases beside this checkout")
def test_the_shared_labelled_tasks_are_classified_as_labelled() -> None:
    assert _LABELLED is not None
    table = json.loads(_LABELLED.read_text(encoding="utf-8"))
    cases = [(case["task"], case["intent"]) for case in table["cases"]]
    misses = _misses(cases)
    assert 1 - len(misses) / len(cases) >= 0.95, "\n".join(misses)


def test_confidence_is_an_honest_estimate() -> None:
    judged = [(classify_intent(task), intent) for task, intent in _half("held_out")]
    answered = sorted((match.confidence, match.intent == intent) for match, intent in judged if match.confidence > 0)
    third = len(answered) // 3
    parts = answered[:third], answered[third : 2 * third], answered[2 * third :]
    right = [sum(was for _, was in part) / len(part) for part in parts]
    stated = [sum(confidence for confidence, _ in part) / len(part) for part in parts]
    assert right[0] <= right[1] + 0.03
    assert right[1] <= right[2] + 0.03
    assert right[0] < right[2]
    assert all(abs(one - other) < 0.08 for one, other in zip(stated, right, strict=True))


@pytest.mark.parametrize(
    ("task", "intent"),
    [
        ("", "general"),
        ("\n\t ", "general"),
        ("7", "general"),
        ("prefixes and suffixes", "general"),
        ("attest the latest contest", "general"),
        ("authors of breakfast cereals", "general"),
        ("Hello there", "general"),
    ],
)
def test_nothing_is_heard_inside_other_words(task: str, intent: str) -> None:
    assert classify_intent(task) == IntentMatch(intent, 0.0)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The form doesn't submit", "The form doesn’t submit"),
        ("sanitising the organiser", "sanitizing the organizer"),
        ("fix-the-rounding", "fix the rounding"),
        ("fix_the_rounding", "fix the rounding"),
        ("refactor HttpClientCache", "refactor http client cache"),
        ("AÑADE un botón", "anade un boton"),
        ("re\u0301pare le bug", "répare le bug"),
        ("ＦＩＸ it", "fix it"),
        ("please fix it", "fix it"),
    ],
)
def test_spelling_does_not_matter(one: str, other: str) -> None:
    assert classify_intent(one) == classify_intent(other)


@pytest.mark.parametrize(
    ("task", "intent"),
    [
        ("Document the tests of the login token cache", "docs"),
        ("Test the documents", "testing"),
        ("Mend the roof. Fix the crash", "bug-fix"),
        ("Security documentation", "docs"),
        ("Documentation security", "security"),
        ("Deployment pipeline tests", "testing"),
        ("Profile the importer", "performance"),
        ("Edit the user profile", "feature"),
        ("docs: fix the crash course", "docs"),
        ("Dashboard: totals don't add up", "bug-fix"),
        ("Cached pages are wrong", "bug-fix"),
        ("Let's refactor the tests", "refactor"),
        ("Add a rename option to the security menu", "feature"),
    ],
)
def test_position_in_the_sentence_counts(task: str, intent: str) -> None:
    assert classify_intent(task).intent == intent


def test_a_tie_goes_to_the_earlier_intent() -> None:
    assert classify_intent("yesterday helm, spec").intent == "testing"
    assert classify_intent("yesterday spec, helm").intent == "testing"


def test_repetition_adds_nothing() -> None:
    assert classify_intent("slow, slow, slow, slow, slow") == classify_intent("slow")


def test_evidence_can_make_it_certain_and_doubt_lowers_it() -> None:
    sure = classify_intent("security auth token cve xss csrf injection encrypt").confidence
    clear = classify_intent("Fix the crash").confidence
    torn = classify_intent("yesterday spec, helm").confidence
    assert sure > 0.98
    assert clear > 0.9
    assert 0 < torn < 0.8


_TASKS = st.one_of(
    st.text(),
    st.text(st.sampled_from("fixtest docslw'’.,:;-_\nAÉ修复ошибк")),
    st.lists(st.sampled_from([word for task, _ in _half("tune") for word in task.split()])).map(" ".join),
)


@given(_TASKS)
def test_any_text_has_an_intent_and_a_confidence(task: str) -> None:
    match = classify_intent(task)
    assert match.intent in INTENTS
    assert 0 <= match.confidence <= 1
    assert (match.intent == "general") == (match.confidence == 0)


@given(st.text(st.characters(max_codepoint=127)))
def test_case_does_not_matter(task: str) -> None:
    assert classify_intent(task.upper()) == classify_intent(task.lower())


@given(_TASKS)
def test_blanks_around_and_the_kind_of_apostrophe_do_not_matter(task: str) -> None:
    match = classify_intent(task)
    assert classify_intent(f" \n {task}\t ") == match
    assert classify_intent(task.replace("'", "’")) == classify_intent(task.replace("’", "'"))


@pytest.mark.parametrize(
    "piece", ["fix the slow login ", "a", "aB", "don’t ", "é", "исправ", "修复错误", "fix, ", "\n", "of "]
)
def test_time_grows_no_faster_than_the_text(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        spent = []
        for _ in range(3):
            start = time.process_time()
            classify_intent(text)
            spent.append(time.process_time() - start)
        return min(spent)

    # Sixteen times the text: 16 when linear, 256 when quadratic.
    assert seconds(320_000) < 100 * seconds(20_000)


def test_the_compiled_words_are_those_of_the_tables() -> None:
    assert task_lexicon() == LEXICON.read_bytes(), "run tools/write_task_lexicon.py"


RULES = """
- Keep pages accessible scope:web/**
- Keep endpoints accessible scope:api/**
- Keep documents accessible
"""


@pytest.mark.parametrize(
    ("task", "paths"),
    [
        ("Fix web/login.ts, then `api/payments/`", ("web/login.ts", "api/payments")),
        ("bug in src/app.py:12:4.", ("src/app.py",)),
        ("./src/a/b.c and .\\web\\c.ts", ("src/a/b.c", "web/c.ts")),
        ("refactor billing.ledger.post and Foo::bar and Cart#total", ("billing/ledger/post", "Foo/bar", "Cart/total")),
        ("update main.tf and README.md", ("main.tf", "README.md")),
        ("@acme/ui has a wrong colour", ("@acme/ui",)),
        ("the src/api handlers", ("src/api",)),
        ("read/write and/or yes/no", ()),
        ("see https://example.com/a/b and www.example.org/x and me@example.com", ()),
        ("version 3.5, v1.2.3, 10/12, e.g. this", ()),
        ("../outside/of/it", ()),
        ("", ()),
    ],
)
def test_paths(task: str, paths: tuple[str, ...]) -> None:
    assert paths_in(task) == paths


@given(st.text(max_size=200))
def test_any_text_names_at_most_eight_paths(task: str) -> None:
    found = paths_in(task)
    assert len(found) <= 8
    assert len(set(found)) == len(found)
    assert not any(path.startswith("/") or ".." in path.split("/") for path in found)


@pytest.mark.parametrize("path", ["web/cart/basket.ts", "`web/cart/`", "web.cart.basket"])
def test_rules_of_the_path_that_a_task_names_come_first(path: str) -> None:
    retriever = ShardRetriever(compile_guidance(RULES))
    first = retriever.retrieve(f"Make {path} accessible").shards[0]
    assert first.shard.rule.repo_scopes == ("web/**",)
    assert "applies to web/**, where web/cart" in first.reason
    assert first.reason.endswith("(+0.05)")
    assert first.similarity > first.cosine + 0.05 - 1e-6  # words that both share add to it


def test_paths_filter_nothing_and_the_hash_knows_none() -> None:
    bundle = compile_guidance(RULES)
    assert len(ShardRetriever(bundle).retrieve("Make web/a.ts accessible").shards) == 3
    for one in ShardRetriever(bundle, HashEmbedding()).retrieve("Make web/a.ts accessible").shards:
        assert "web/a.ts" not in one.reason


def test_a_path_outside_the_callers_scope_counts_for_nothing() -> None:
    found = ShardRetriever(compile_guidance(RULES)).retrieve("Make web/a.ts accessible", repo_scope="api/x.py")
    assert {one.shard.rule.repo_scopes for one in found.shards} == {("api/**",), ("**/*",)}


def test_the_boost_finds_rules_beyond_the_best() -> None:
    """Of 400 equal rules the one that holds in the place is the last."""
    lines = [f"- Rule {number:03}: keep pages accessible scope:p{number}/**" for number in range(400)]
    retriever = ShardRetriever(compile_guidance("\n".join(lines)))
    found = retriever.retrieve("Make p399/index.html accessible", max_shards=1)
    assert [one.shard.rule.repo_scopes for one in found.shards] == [("p399/**",)]
