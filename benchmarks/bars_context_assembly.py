"""Bars of focus and assembly, measured in one run: ``python -m benchmarks.bars_context_assembly``.

Contenders take turns in batches of a few milliseconds; the least of many batches is taken, as other work on the machine
only adds. The yardstick beside focus is Python's own ``str.split`` over the same text, beside assembly a plain copy
of as many characters. Texts of the assembly are the same from round to round, as memory tiers are from request to
request; what a text costs that was never seen before is in the remark.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable, Sequence

from benchmarks.judging import Row, measured_rows, table

from tipstaff.context.prompt.assembly import AssembledPrompt, ContextAssemblyPlan
from tipstaff.context.prompt.focus import RequestFocus
from tipstaff.context.prompt.sections import SystemPromptBudget

QUERY = (
    "Please fix the retry logic in `RequestRouter.dispatch` so that src/agent/router.py and its callers agree, then "
    "run the tests and tell me what they say"
)
SENTENCE = (
    "Then we looked at what the service does when two callers ask for the same page at once, and it was not what "
    "anyone had expected. Most of the time nothing happens. "
)
PROSE = (SENTENCE * 90)[:14_000]
TIERS = 8
TIER_CHARS = 100_000
PROMPT_CHARS = 300_000
ROUNDS = 60


def least(calls: Sequence[tuple[Callable[[], object], int]]) -> list[float]:
    """Return the least time of a call in µs for each contender; they take turns."""
    found: list[list[float]] = [[] for _ in calls]
    for _ in range(ROUNDS):
        for index, (call, times) in enumerate(calls):
            start = time.perf_counter()
            for _ in range(times):
                call()
            found[index].append((time.perf_counter() - start) / times * 1e6)
    return [min(times) for times in found]


def focusing() -> list[Row]:
    """Focus of a request of 150 characters, and of 14 KB of prose."""
    short, split_short, long, split_long = least(
        [
            (lambda: RequestFocus.extract(QUERY), 300),
            (QUERY.split, 300),
            (lambda: RequestFocus.extract(PROSE), 30),
            (PROSE.split, 10),
        ]
    )
    found = RequestFocus.extract(QUERY)
    if (found.active_file_paths, found.active_symbols) != (("src/agent/router.py",), ("RequestRouter.dispatch",)):
        msg = f"the request's focus is wrong: {found}"
        raise RuntimeError(msg)
    return [
        Row(
            f"focus of {len(QUERY)} characters, us",
            "FOCUS_150_CHARS_US",
            [short],
            True,
            f"str.split {split_short:.2f} us",
        ),
        Row(f"focus of {len(PROSE)} characters, us", "FOCUS_14_KB_US", [long], True, f"str.split {split_long:.0f} us"),
    ]


def tiers() -> list[str]:
    """Return eight texts of 100,000 characters, in paragraphs."""
    return [(f"Tier {number} says {SENTENCE}\n\n- and a list item\n" * 700)[:TIER_CHARS] for number in range(TIERS)]


def assembled(texts: Sequence[str], budget: SystemPromptBudget) -> AssembledPrompt:
    """Put the texts together as tiers of memory."""
    plan = ContextAssemblyPlan()
    for number, text in enumerate(texts):
        plan.add_section(f"memory:Tier {number}", text, 50 + number)
    return plan.build(budget)


def assembling() -> list[Row]:
    """Eight tiers of 100 KB into 300 KB: all of them cut, and the lowest left out."""
    texts = tiers()
    copied = [text[: PROMPT_CHARS // TIERS] for text in texts]
    all_cut = SystemPromptBudget(PROMPT_CHARS // TIERS, PROMPT_CHARS)
    lowest_out = SystemPromptBudget(TIER_CHARS, PROMPT_CHARS)
    for budget in (all_cut, lowest_out):
        prompt = assembled(texts, budget)
        if not 0.98 * PROMPT_CHARS <= prompt.total_chars <= PROMPT_CHARS:
            msg = f"the prompt has {prompt.total_chars} characters"
            raise RuntimeError(msg)
    copy, cut, out = least(
        [
            (lambda: "".join(copied), 30),
            (lambda: assembled(texts, all_cut), 30),
            (lambda: assembled(texts, lowest_out), 30),
        ]
    )
    unseen: list[float] = []
    for turn in range(20):
        fresh = [f"{turn}{text}" for text in texts]
        start = time.perf_counter()
        assembled(fresh, all_cut)
        unseen.append((time.perf_counter() - start) * 1e6)
    name = "8 tiers of 100 KB into 300 KB beyond the copy, us"
    return [
        Row(
            f"{name}, all cut",
            "ASSEMBLE_BEYOND_COPY_US",
            [cut - copy],
            True,
            f"{cut:.0f} us, copy {copy:.0f} us; never seen before {statistics.median(unseen):.0f} us",
        ),
        Row(f"{name}, lowest left out", "ASSEMBLE_BEYOND_COPY_US", [out - copy], True, f"{out:.0f} us"),
    ]


def main() -> int:
    """Measure, print the table, and return 1 if a bar does not hold."""
    rows = [*measured_rows(focusing), *measured_rows(assembling)]
    print("\n".join(table(rows)))
    return 0 if all(row.holds for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
