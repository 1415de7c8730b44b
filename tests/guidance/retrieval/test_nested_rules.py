from __future__ import annotations

from typing import Any

from tests.guidance.made_rules import bundle_of, rule
from tipstaff.guidance.retrieval.retriever import SECTION, ShardRetriever
from tipstaff.model import RetrievalResult

DAY = "2026-11-01"
ALWAYS = rule("L-1", "Never log keys", is_constitution=True)
NESTED = rule("N-1", "Never drop tables", is_constitution=True, folder="db")
ENDED = rule("N-2", "Never rename tables", is_constitution=True, folder="db", active_until="2026-10-31")


def retriever() -> ShardRetriever:
    bundle = bundle_of([NESTED, ENDED], [ALWAYS])
    whole = bundle.constitution.replace(nested=(NESTED, ENDED), text="# Constitution\n- Never log keys\n")
    return ShardRetriever(bundle.replace(constitution=whole))


def loaded(scope: str | None, task: str = "book a flight", **options: Any) -> RetrievalResult:
    return retriever().retrieve(task, repo_scope=scope, today=options.pop("today", DAY), max_shards=0, **options)


def test_a_folder_s_rules_are_loaded_in_it_and_nowhere_else() -> None:
    assert loaded("db/schema.sql").constitution.rules == (ALWAYS, NESTED)
    assert loaded("web/a.ts").constitution == loaded(None).constitution == retriever().constitution
    assert loaded("db/schema.sql", today="2026-10-31").constitution.rules == (ALWAYS, NESTED, ENDED)


def test_a_rule_that_is_retrieved_is_not_loaded_twice() -> None:
    found = retriever().retrieve("drop the tables", repo_scope="db/schema.sql", today=DAY)
    assert [one.shard.rule.id for one in found.shards] == ["N-1"]
    assert found.constitution.rules == (ALWAYS,)
    assert found.policy_text.endswith(f"{SECTION}\n\n- {found.shards[0].shard.compact_text}")


def test_the_constitution_and_the_text_have_them_after_its_own() -> None:
    here, elsewhere = loaded("db/a.sql"), loaded("web/a.ts")
    assert here.constitution.text.startswith(elsewhere.constitution.text.rstrip())
    assert here.constitution.hash != elsewhere.constitution.hash
    assert "Never drop tables" in here.policy_text
    assert "Never drop tables" not in elsewhere.policy_text
    assert SECTION not in here.policy_text
