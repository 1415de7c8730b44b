"""Print which boosts and which floor suit the static embedding's scores.

    python -m tools.embedding.calibrate EVALUATION [...]

A boost is worth what it adds to nDCG@5. A floor is judged by how many tasks that no rule speaks of get nothing (those
of ``unrelated`` in the project's own set, asked of every pool), against what it costs the tasks that rules do speak of.
The best of many rules is near by chance more often than the best of few, hence the scaled floors.
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from benchmarks.eval_retrieval import OWN
from tools.embedding.measures import Evaluation, innermost, interval, judge, judge_all, read_evaluation

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
    unrelated = [one["task"] for one in json.loads(OWN.read_text(encoding="utf-8"))["unrelated"]]
    for path in arguments.evaluations:
        evaluation = read_evaluation(path)
        rows = {
            name: embedding.rule_vectors(rules, [innermost(one) for one in evaluation.headings[name]])
            for name, rules in evaluation.pools.items()
        }
        print(f"\n{path}: {len(evaluation.queries)} tasks")
        _boosts(evaluation, rows, embedding)
        _floors(evaluation, rows, embedding, unrelated)


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


def _floors(
    evaluation: Evaluation, rows: dict[str, NDArray[np.float32]], embedding: StaticEmbedding, unrelated: list[str]
) -> None:
    scores = [rows[query.pool] @ embedding.embed(query.task) for query in evaluation.queries]
    nothing = [rows[name] @ embedding.embed(task) for name in rows for task in unrelated]
    best = np.array([float(one.max()) for one in scores])
    worst = np.array([float(one.max()) for one in nothing])
    for name, values in (("best of unrelated tasks", worst), ("best of tasks", best)):
        print(f"  {name:24} percentiles 5 25 50 75 95: {np.percentile(values, (5, 25, 50, 75, 95)).round(3)}")
    print("gate: the best cosine must reach it, or FACTOR sqrt(2 ln rules); share: of the best, for each rule")
    print("  gate   share   unrelated with nothing   tasks with nothing   nDCG@5   recall@5   rules   of them relevant")
    for gate, scaled in [(one, False) for one in (0.0, 0.15, 0.18, 0.2, 0.22, 0.25, 0.3)] + [
        (one, True) for one in (0.06, 0.07, 0.08, 0.09, 0.1)
    ]:
        for share in (0.0, 0.4):

            def needed(n_rules: int, gate: float = gate, scaled: bool = scaled) -> float:
                return gate * math.sqrt(2 * math.log(n_rules)) if scaled else gate

            figures: list[tuple[float, float]] = []
            given = relevant = 0
            for values, query in zip(scores, evaluation.queries, strict=True):
                floor = max(needed(len(values)) if values.max() < needed(len(values)) else 0, share * values.max())
                order = [i for i in np.argsort(-values, kind="stable").tolist() if values[i] >= floor]
                ndcg, recall, _, _ = judge(order, query.relevant)
                figures.append((ndcg, recall))
                given += len(order[:5])
                relevant += len(query.relevant.keys() & set(order[:5]))
            ndcg, recall = np.mean(figures, axis=0)
            declined = np.mean([one.max() < needed(len(one)) for one in nothing])
            lost = np.mean([one.max() < needed(len(one)) for one in scores])
            kind = "scaled" if scaled else "fixed "
            print(
                f"  {gate:.2f} {kind} {share:.1f}  {declined:.3f}  {lost:.3f}  {ndcg:.3f}  {recall:.3f}"
                f"  {given / len(scores):.2f}  {relevant / max(1, given):.3f}"
            )


if __name__ == "__main__":
    main()
