"""Print how often the intent classifier is right and what its confidence is worth.

    python tools/calibrate_intents.py [--fit] [--misses] [--labelled FILE.json]

``--fit`` prints the constants of the confidence, fitted on the `tune` half; ``--labelled`` adds another file of cases,
``{"cases": [{"task": ..., "intent": ...}]}``.
"""

from __future__ import annotations

import argparse
import json
import math
import tomllib
from pathlib import Path

from tipstaff.guidance import intents
from tipstaff.guidance.intents import classify_intent

Case = tuple[str, str]
CASES = Path(__file__).resolve().parents[1] / "tests" / "guidance" / "intent_cases.toml"


def load_cases(half: str) -> list[Case]:
    """Return the (task, intent) pairs of one half: ``tune`` or ``held_out``."""
    table = tomllib.loads(CASES.read_text(encoding="utf-8"))
    cases: list[Case] = []
    for intent, halves in table.items():
        cases += [tuple(item) if intent in {"mixed", "hard"} else (item, intent) for item in halves[half]]
    return cases


def report(name: str, cases: list[Case], *, misses: bool) -> None:
    """Print accuracy, the reliability table, and the expected calibration error of the tasks that are not general."""
    results = [(task, intent, classify_intent(task)) for task, intent in cases]
    right = sum(match.intent == intent for _, intent, match in results)
    print(f"{name}: {right}/{len(cases)} = {right / len(cases):.3f}")
    if misses:
        for task, intent, match in results:
            if match.intent != intent:
                print(f"  {match.intent:12} {match.confidence:.2f}  wanted {intent:12} {task!r}")
    spoken = [(match.confidence, match.intent == intent) for _, intent, match in results if match.confidence > 0]
    error = 0.0
    for low in (0.0, 0.6, 0.75, 0.85, 0.92, 0.96):
        high = {0.0: 0.6, 0.6: 0.75, 0.75: 0.85, 0.85: 0.92, 0.92: 0.96, 0.96: 1.01}[low]
        bin_ = [item for item in spoken if low <= item[0] < high]
        if bin_:
            said = sum(item[0] for item in bin_) / len(bin_)
            was = sum(item[1] for item in bin_) / len(bin_)
            error += abs(said - was) * len(bin_) / len(spoken)
            print(f"  confidence {low:.2f}..{min(high, 1):.2f}: n={len(bin_):3}  said {said:.3f}  right {was:.3f}")
    print(f"  expected calibration error {error:.3f}")


def fit(cases: list[Case]) -> tuple[float, float, float]:
    """Return (bias, margin, evidence) by gradient descent on the log loss, with a little shrinkage."""
    rows: list[tuple[float, float, float]] = []
    for task, intent in cases:
        sums = intents._scores(intents._words(task))  # noqa: SLF001
        best = max(sums)
        if best < 0.3:
            continue
        winner = sums.index(best)
        second = max(value for place, value in enumerate(sums) if place != winner)
        rows.append((min(best - max(second, 0.0), 4.0), min(best, 4.0), float(intents.INTENTS[winner] == intent)))
    weights = [0.0, 1.0, 0.0]
    for _ in range(20_000):
        slope = [0.0, 0.02 * weights[1], 0.02 * weights[2]]
        for margin, best, was in rows:
            said = 1 / (1 + math.exp(-(weights[0] + weights[1] * margin + weights[2] * best)))
            for place, value in enumerate((1.0, margin, best)):
                slope[place] += (said - was) * value / len(rows)
        weights = [weight - 0.2 * step for weight, step in zip(weights, slope, strict=True)]
    return weights[0], weights[1], weights[2]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="accuracy and calibration of the intent classifier")
    parser.add_argument("--fit", action="store_true")
    parser.add_argument("--misses", action="store_true")
    parser.add_argument("--half", choices=("tune", "held_out", "both"), default="both")
    parser.add_argument("--labelled", type=Path)
    options = parser.parse_args()
    for half in ("tune", "held_out") if options.half == "both" else (options.half,):
        report(half, load_cases(half), misses=options.misses)
    if options.labelled:
        table = json.loads(options.labelled.read_text(encoding="utf-8"))
        report("labelled", [(case["task"], case["intent"]) for case in table["cases"]], misses=options.misses)
    if options.fit:
        print("bias {:.2f}, margin {:.2f}, evidence {:.2f}".format(*fit(load_cases("tune"))))


if __name__ == "__main__":
    main()
