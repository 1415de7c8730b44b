"""Print which boosts and which floor suit the static embedding's scores.

    python -m tools.embedding.calibrate EVALUATION [...]

A boost is worth what it adds to nDCG@5. A floor is judged by how many tasks that no rule is about get nothing (those
of ``unrelated`` in the project's own set, asked of every pool), against what it costs the tasks that rules are about.
The best of many rules is near by chance more often than the best of few, hence the scaled floors.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tools.embedding.measures import Evaluation, innermost, interval, judge_all, read_evaluation

from tipstaff.guidance.embeddings.static_embedding import StaticEmbedding
from tipstaff.guidance.intents.classify import classify_intent
from tipstaff.guidance.wording.vocabulary import infer

if TYPE_CHECKING:
    from numpy.typing import NDArray


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("evaluations", nargs="+", type=Path)
    arguments = parser.parse_args()
    embedding = StaticEmbedding()
    for path in arguments.evaluations:
        evaluation = read_evaluation(path)
        rows = {
            name: embedding.rule_vectors(rules, [innermost(one) for one in evaluation.headings[name]])
            for name, rules in evaluation.pools.items()
        }
        print(f"\n{path}: {len(evaluation.queries)} tasks")
        _boosts(evaluation, rows, embedding)


def _boosts(evaluation: Evaluation, rows: dict[str, NDArray[np.float32]], embedding: StaticEmbedding) -> None:
    inferred = {name: [infer(rule.lower().split()) for rule in rules] for name, rules in evaluation.pools.items()}
    tasks = [classify_intent(query.task).intent for query in evaluation.queries]

    def judged(boost: float) -> NDArray[np.float64]:
        scores: list[Any] = []
        for query, intent in zip(evaluation.queries, tasks, strict=True):
            matches = np.array([intent in one[0] for one in inferred[query.pool]], np.float32)
            scores.append(np.clip(rows[query.pool] @ embedding.embed(query.task), 0, 1) + np.float32(boost) * matches)
        return judge_all(evaluation, scores)

    base = judged(0)
    print("intent boost: nDCG@5, recall@5, recall@10, MRR; difference of nDCG@5 from none with its 95 % interval")
    for boost in (0.0, 0.01, 0.02, 0.03, 0.05, 0.10, 0.15):
        values = judged(boost)
        mean, low, high = interval(values[:, 0] - base[:, 0])
        figures = " ".join(f"{value:.3f}" for value in values.mean(0))
        print(f"  {boost:.2f}  {figures}   {mean:+.3f} [{low:+.3f}, {high:+.3f}]")


if __name__ == "__main__":
    main()
