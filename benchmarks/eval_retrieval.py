"""Judge what finds rules: the hash, BM25, the static embedding, and a sentence transformer in ONNX.

    python -m benchmarks.eval_retrieval [FILE ...] [--onnx FOLDER] [--svg FILE] [--json FILE]

Evaluations are the project's own small set and, where the optional folder beside the checkout exists, the larger one.
Rules are embedded with the innermost heading above them, and BM25 reads the heading as part of the rule.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from tests.shared_data import shared_path
from tools.embedding.measures import NAMES, Evaluation, innermost, interval, judge_all, read_evaluation

from tipstaff.guidance.embeddings.hash_embedding import HashEmbedding
from tipstaff.guidance.embeddings.onnx_embedding import OnnxEmbedding
from tipstaff.guidance.embeddings.static_embedding import HEADING_WEIGHT, StaticEmbedding

OWN: Final = Path(__file__).with_name("data") / "retrieval.json"
Scores = list[NDArray[np.float32]]
Ranker = Callable[[Sequence[str], Sequence[str]], Callable[[str], NDArray[np.float32]]]
"""From rules and headings to something that scores them all for a task."""


def with_embedding(embedding: Any) -> Ranker:
    """Rank by the cosine to ``norm(rule + 0.3 heading)``."""

    def prepare(rules: Sequence[str], headings: Sequence[str]) -> Callable[[str], NDArray[np.float32]]:
        rows = embedding.embed_batch(rules) + np.float32(HEADING_WEIGHT) * embedding.embed_batch(headings)
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        rows /= np.where(lengths > 0, lengths, 1)
        return lambda task: rows @ embedding.embed(task)

    return prepare


def with_rules_under_headings(embedding: StaticEmbedding | OnnxEmbedding) -> Ranker:
    """Rank as the package does."""

    def prepare(rules: Sequence[str], headings: Sequence[str]) -> Callable[[str], NDArray[np.float32]]:
        rows = np.frombuffer(embedding.rule_rows(rules, headings), dtype=np.float32)
        rows = rows.reshape(len(rules), embedding.dimensions)
        return lambda task: rows @ embedding.embed(task)

    return prepare


def words_of(text: str) -> list[str]:
    """Return lower-case words without a plural's or a verb's ending."""
    found = re.findall(r"[a-z0-9]+", re.sub(r"([a-z0-9])([A-Z])", r"\1 \2", text).lower())
    return [re.sub(r"(?:ies|ing|ed|es|s)$", "", word) if len(word) > 4 else word for word in found]


def with_bm25(rules: Sequence[str], headings: Sequence[str]) -> Callable[[str], NDArray[np.float32]]:
    """Rank by BM25 (k1 1.2, b 0.75) over rule and heading."""
    documents = [Counter(words_of(f"{heading} {rule}")) for rule, heading in zip(rules, headings, strict=True)]
    sizes = np.array([one.total() for one in documents])
    frequency = Counter(word for one in documents for word in one)
    norm = 1.2 * (0.25 + 0.75 * sizes / sizes.mean())
    weights: dict[str, NDArray[np.float64]] = {}
    for word, found in frequency.items():
        inverse = math.log(1 + (len(documents) - found + 0.5) / (found + 0.5))
        counts = np.array([one[word] for one in documents])
        weights[word] = inverse * counts * 2.2 / (counts + norm)

    def score(task: str) -> NDArray[np.float32]:
        total = np.zeros(len(documents))
        for word in words_of(task):
            if word in weights:
                total += weights[word]
        return total.astype(np.float32)

    return score


def run(evaluation: Evaluation, ranker: Ranker) -> tuple[Scores, float]:
    """Return each query's scores, and the median microseconds of scoring one task against its pool."""
    prepared = {
        name: ranker(rules, [innermost(path) for path in evaluation.headings[name]])
        for name, rules in evaluation.pools.items()
    }
    scores: Scores = []
    for query in evaluation.queries:
        prepared[query.pool](query.task)
    spent: list[float] = []
    for query in evaluation.queries:
        start = time.perf_counter_ns()
        scores.append(prepared[query.pool](query.task))
        spent.append((time.perf_counter_ns() - start) / 1e3)
    return scores, float(np.median(spent))


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="further evaluations")
    parser.add_argument("--onnx", type=Path, help="folder of a sentence transformer in ONNX, run on one thread")
    parser.add_argument("--table", type=Path, help="another table file")
    parser.add_argument("--svg", type=Path, help="where to draw quality against latency")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    arguments = parser.parse_args()
    larger = shared_path("eval", "retrieval.json")
    paths = [OWN, *([larger] if larger is not None else []), *arguments.files]
    rankers: dict[str, Ranker] = {
        "hash": with_embedding(HashEmbedding()),
        "BM25 with headings": with_bm25,
        "static": with_rules_under_headings(StaticEmbedding(arguments.table)),
    }
    if arguments.onnx is not None:
        model = OnnxEmbedding(arguments.onnx, threads=1)
        rankers[f"{arguments.onnx.name} (ONNX)"] = with_rules_under_headings(model)
    figures: dict[str, Any] = {}
    for path in paths:
        evaluation = read_evaluation(path)
        where = "own set" if path == OWN else "larger set"
        print(f"\n{where}: {len(evaluation.pools)} pools, {len(evaluation.queries)} tasks")
        print(f"{'':32}{''.join(f'{name:>24}' for name in NAMES)}{'us a task':>14}")
        for name, ranker in rankers.items():
            scores, microseconds = run(evaluation, ranker)
            judged = judge_all(evaluation, scores)
            parts = [interval(judged[:, column]) for column in range(len(NAMES))]
            cells = "".join(f"   {mean:.3f} [{low:.3f}, {high:.3f}]" for mean, low, high in parts)
            print(f"{name:32}{cells}{microseconds:14.1f}")
            figures.setdefault(where, {})[name] = {
                **dict(zip(NAMES, parts, strict=True)),
                "microseconds": microseconds,
            }
    if arguments.json is not None:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    if arguments.svg is not None:
        from benchmarks.quality_plot import draw

        shown = "larger set" if "larger set" in figures else "own set"
        arguments.svg.parent.mkdir(parents=True, exist_ok=True)
        arguments.svg.write_text(draw(figures[shown]), encoding="utf-8")


if __name__ == "__main__":
    main()
