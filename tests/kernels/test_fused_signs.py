"""The fused search of very many rules: exact where all rows are candidates, near where they are not, everywhere the same."""

from __future__ import annotations

from array import array
from typing import Any

import numpy as np
import pytest

from tests.kernels.instruction_sets import ISAS, implementations
from tests.rule_words import CIRCUMSTANCES, OBJECTS, VERBS
from tipstaff import StaticEmbedding
from tipstaff.guidance.retrieval import fused_index as writer
from tipstaff.guidance.retrieval.fused_index import RuleText, fused_index
from tipstaff.guidance.retrieval.task_vocabulary import query_lexicon
from tipstaff.kernels import _fused

TASKS = ("Encrypt the invoices at night", "slow queries under load", "Fix the parser", "release it", "x", "")


@pytest.fixture(name="blobs", scope="module")
def _blobs() -> tuple[bytes, bytes]:
    """Return the index of 630 rules without signs and with them."""
    texts = [f"{verb} {thing} {circumstance}" for verb in VERBS for thing in OBJECTS for circumstance in CIRCUMSTANCES]
    rules = [RuleText(text, text, headings=(text.split()[0],), intents=1 << i % 3) for i, text in enumerate(texts)]
    whole = fused_index(rules, StaticEmbedding())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writer, "SIGNS_FROM_SHARDS", 1)
        return whole, fused_index(rules, StaticEmbedding())


def search(blob: bytes, module: Any = _fused) -> Any:
    return module.FusedSearch(blob, query_lexicon(), StaticEmbedding().table)


def options(n: int) -> dict[str, Any]:
    rng = np.random.default_rng(5)
    bonus = array("f", (rng.random(n) / 10).tolist())
    return {"row_mask": bytes((rng.random(n) < 0.6).tolist()), "bonus": bonus, "query_intents": 2, "intent_boost": 0.1}


@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("isa", ISAS)
def test_where_all_rows_are_candidates_the_answer_is_exact(
    blobs: tuple[bytes, bytes], isa: str, filtered: bool
) -> None:
    whole, signed = map(search, blobs)
    extras = options(len(whole)) if filtered else {}
    for task in TASKS:
        assert signed.find(task, k=7, candidates=630, isa=isa, **extras) == whole.find(task, k=7, isa=isa, **extras)


@pytest.mark.parametrize("filtered", [False, True])
def test_few_candidates_find_the_best_and_the_same_everywhere(blobs: tuple[bytes, bytes], filtered: bool) -> None:
    whole, signed = map(search, blobs)
    extras = options(len(whole)) if filtered else {}
    shared = 0
    for task in TASKS[:4]:
        exact = whole.find(task, k=5, **extras)[:2]
        near = [signed.find(task, k=5, candidates=160, isa=isa, **extras)[:2] for isa in ISAS]
        assert all(one == near[0] for one in near)
        scores = dict(zip(*exact, strict=True))
        assert all(scores.get(row, score) == score for row, score in zip(*near[0], strict=True))
        shared += len({*exact[0]} & {*near[0][0]})
    assert shared >= 19


def test_signs_choose_only_among_many_times_the_rows_that_are_wanted(blobs: tuple[bytes, bytes]) -> None:
    whole, signed = map(search, blobs)
    for candidates, k in ((0, 5), (39, 5), (160, 40)):
        assert signed.find(TASKS[0], k=k, candidates=candidates) == whole.find(TASKS[0], k=k)
    assert signed.find(TASKS[0], k=0, candidates=8)[0] == []


@pytest.mark.parametrize("which", ["native"])
def test_rows_that_do_not_fit_have_no_signs(which: str) -> None:
    make = implementations("sign_rows")[which]
    with pytest.raises(ValueError, match="codes: expected 32 bytes, got 31"):
        make(bytes(31), array("f", [1, 1]), 16)
    for dimensions in (0, 1025):
        with pytest.raises(ValueError, match=f"expected 1 to 1024 dimensions, got {dimensions}|1 to 1024, got"):
            make(b"", array("f"), dimensions)
    mean, factors, bits = make(b"", array("f"), 16)
    assert (list(mean), len(factors), len(bits)) == ([0.0] * 16, 0, 0)
    nan = make(bytes([1] * 32), array("f", [float("nan"), 1.0]), 16) if which == "native" else None
    assert nan is None or np.isfinite(np.asarray(nan[1])).all()


@pytest.mark.parametrize("module", [_fused])
def test_signs_of_another_number_of_rules_are_refused(blobs: tuple[bytes, bytes], module: Any) -> None:
    for blob, n in ((blobs[0], 630), (blobs[1], 629)):
        broken = blob[:80] + n.to_bytes(4, "little") + blob[84:]
        with pytest.raises(ValueError, match="not a valid index of rules"):
            search(broken, module)
