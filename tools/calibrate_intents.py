"""Print how often the intent classifier is right and what its confidence is worth.

    python tools/calibrate_intents.py [--fit] [--misses] [--labelled FILE.json]

The word list was made while looking at the `tune` half, so a confidence fitted there would boast. ``--fit`` prints the
constants as fitted on every other case of `held_out`; the table of the cases between them says what they are worth.
``--labelled`` adds another file of cases, ``{"cases": [{"task": ..., "intent": ...}]}``.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import tomllib
from pathlib import Path

from tipstaff.guidance.intents.classify import classify_intent

Case = tuple[str, str]
BIAS, SLOPE, WIDE = 0.37, 3.9, 1.5
"""Of the logistic in ``native/include/tipstaff/tasks/intents.hpp``, and the margin that is never exceeded there."""
CASES = Path(__file__).resolve().parents[1] / "tests" / "guidance" / "intents" / "intent_cases.toml"


def load_cases(half: str) -> list[Case]:
    """Return the (task, intent) pairs of one half: ``tune`` or ``held_out``."""
    table = tomllib.loads(CASES.read_text(encoding="utf-8"))
    cases: list[Case] = []
    for intent, halves in table.items():
        cases += [tuple(item) if intent in {"mixed", "hard", "terse"} else (item, intent) for item in halves[half]]
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
    answered = [(match.confidence, match.intent == intent) for _, intent, match in results if match.confidence > 0]
    error = 0.0
    for low, high in itertools.pairwise((0.0, 0.6, 0.75, 0.85, 0.92, 0.96, 1.01)):
        bin_ = [item for item in answered if low <= item[0] < high]
        if bin_:
            stated = sum(item[0] for item in bin_) / len(bin_)
            was = sum(item[1] for item in bin_) / len(bin_)
            error += abs(stated - was) * len(bin_) / len(answered)
            print(f"  confidence {low:.2f}..{min(high, 1):.2f}: n={len(bin_):3}  said {stated:.3f}  right {was:.3f}")
    print(f"  expected calibration error {error:.3f}")


def fit(cases: list[Case]) -> tuple[float, float]:
    """Return (bias, slope) by gradient descent on the log loss, with a trace of shrinkage."""
    rows: list[tuple[float, float]] = []
    for task, intent in cases:
        match = classify_intent(task)
        if match.confidence > 0:
            margin = (math.log(match.confidence / (1.0 - match.confidence)) - BIAS) / SLOPE
            rows.append((min(margin, WIDE), float(match.intent == intent)))
    bias, slope = 0.0, 1.0
    for _ in range(20_000):
        misses = [(1 / (1 + math.exp(-bias - slope * margin)) - was, margin) for margin, was in rows]
        bias -= 0.5 * sum(miss for miss, _ in misses) / len(rows)
        slope -= 0.5 * (sum(miss * margin for miss, margin in misses) / len(rows) + 0.002 * slope)
    return bias, slope


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
        if half == "held_out":
            report("held_out, not used for the fit", load_cases(half)[1::2], misses=False)
    if options.labelled:
        table = json.loads(options.labelled.read_text(encoding="utf-8"))
        report("labelled", [(case["task"], case["intent"]) for case in table["cases"]], misses=options.misses)
    if options.fit:
        print("bias {:.2f}, slope {:.2f}".format(*fit(load_cases("held_out")[::2])))


if __name__ == "__main__":
    main()
