from __future__ import annotations

from tests.guidance.made_rules import bundle_of, rule
from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding
from tipstaff.guidance.retrieval.nested_rules import constitution_at, nested_rules, text_at
from tipstaff.guidance.retrieval.shard_index import index_of_bundle
from tipstaff.guidance.retrieval.tenant_views import SECTION, View, Views
from tipstaff.model import RetrievedShard, RuleShard

DAY = "2026-11-01"
LAW = rule("L-1", "Never log keys", is_constitution=True)
NESTED = rule("N-1", "Never drop tables", is_constitution=True, folder="db")
ENDED = rule("N-2", "Never rename tables", is_constitution=True, folder="db", active_until="2026-10-31")


def view() -> View:
    bundle = bundle_of([NESTED, ENDED], [LAW])
    whole = bundle.constitution.replace(nested=(NESTED, ENDED))
    return Views(index_of_bundle(bundle.replace(constitution=whole), HashEmbedding())).of(None)


def retrieved() -> RetrievedShard:
    return RetrievedShard(RuleShard(NESTED, "[N-1] Never drop tables"), 1.0, 1.0, "")


def test_a_folder_s_rules_are_loaded_in_it_and_nowhere_else() -> None:
    assert nested_rules(view(), (), "db/schema.sql", DAY) == (NESTED,)
    assert nested_rules(view(), (), "web/a.ts", DAY) == ()
    assert nested_rules(view(), (), None, DAY) == ()
    assert nested_rules(view(), (), "db/schema.sql", "2026-10-31") == (NESTED, ENDED)


def test_a_rule_that_is_retrieved_is_not_loaded_twice() -> None:
    assert nested_rules(view(), (retrieved(),), "db/schema.sql", DAY) == ()


def test_the_constitution_has_them_after_its_own() -> None:
    here, elsewhere = (constitution_at(view(), (), scope, DAY) for scope in ("db/a.sql", "web/a.ts"))
    assert elsewhere == view().constitution
    assert here.rules == (*elsewhere.rules, NESTED)
    assert here.text.startswith(elsewhere.text.rstrip())
    assert "Never drop tables" in here.text
    assert here.hash != elsewhere.hash


def test_the_text_has_them_before_the_shards() -> None:
    assert text_at(view(), (), None, DAY) == view().head
    alone = text_at(view(), (), "db/a.sql", DAY)
    assert alone.startswith(view().head)
    assert "Never drop tables" in alone
    assert SECTION not in alone
    assert text_at(view(), (retrieved(),), "db/a.sql", DAY).endswith(f"{SECTION}\n\n- [N-1] Never drop tables")
