from __future__ import annotations

import hashlib
import json
import re

from benchmarks import inputs
from tipstaff import compile_guidance


def test_the_rule_file_is_the_same_everywhere() -> None:
    digest = hashlib.sha256(inputs.rule_file().encode()).hexdigest()
    assert digest == "1ccb3d93079e3ef994c16d53121b3f583cbb5929ae79604808d870797ed5a632"


def test_the_rule_file_is_what_the_benchmarks_say_it_is() -> None:
    text = inputs.rule_file()
    assert 41_000 <= len(text.encode()) <= 44_000
    items = re.findall(r"^- .*(?:\n  .*)*", text, re.MULTILINE)
    assert len(items) == len(set(items)) == inputs.N_RULES
    numbered = sum(item.startswith("- [") for item in items)
    annotated = sum(
        re.search(r"[#@]\w|scope:|verify:|priority:|\((?:critical|high|medium|low)\)", item) is not None
        for item in items
    )
    wrapped = sum("\n" in item for item in items)
    assert 0.4 <= numbered / len(items) <= 0.6
    assert 0.25 <= annotated / len(items) <= 0.45
    assert wrapped > 20
    assert "```" in text


def test_every_rule_is_compiled() -> None:
    bundle = compile_guidance(inputs.rule_file(), inputs.local_file())
    assert bundle.manifest.total_rules == inputs.N_RULES + 2  # a sentence in the imperative is one too
    assert bundle.manifest.constitution_rules == 30


def test_tasks_and_texts_differ_and_have_the_length_they_should() -> None:
    tasks = inputs.tasks(500)
    assert len(set(tasks)) == 500
    assert abs(sorted(map(len, tasks))[250] - inputs.TASK_CHARS) <= 8
    texts = inputs.texts(300)
    assert {len(text) for text in texts} == {inputs.EMBED_CHARS}
    assert len({text[:100] for text in texts}) == 300
    assert inputs.tasks(500) == tasks
    assert inputs.texts(300) == texts


def test_a_bundle_has_as_many_shards_as_asked_for_and_can_be_sent_to_the_peer() -> None:
    bundle = inputs.bundle(500)
    assert len({shard.rule.id for shard in bundle.shards}) == 500
    assert len({shard.rule.text for shard in bundle.shards}) > 400
    sent = json.loads(json.dumps(inputs.peer_bundle(bundle)))
    assert [shard["compactText"] for shard in sent["shards"]] == [shard.compact_text for shard in bundle.shards]
    assert sent["constitution"]["text"] == bundle.constitution.text != ""
    assert sent["shards"][0]["rule"]["riskClass"] == bundle.shards[0].rule.risk_class
