from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.specifications import bulk
from tipstaff.kernels import jit

RULES = 5


@given(
    st.lists(
        st.tuples(
            st.lists(st.integers(0, RULES - 1), max_size=4),
            st.lists(st.integers(0, RULES - 1), max_size=4),
            st.lists(st.tuples(st.integers(0, RULES - 1), st.booleans()), max_size=5),
        ),
        max_size=8,
    )
)
@settings(deadline=None)
def test_rule_counts(runs: list[Any]) -> None:
    def column(lists: list[list[int]]) -> tuple[Any, Any]:
        offsets = np.cumsum([0, *map(len, lists)])
        return offsets.astype(np.int64), np.array([one for part in lists for one in part], dtype=np.int64)

    relevant = column([run[0] for run in runs])
    retrieved = column([run[1] for run in runs])
    violated = column([[rule for rule, _ in run[2]] for run in runs])
    corrected = np.array([flag for run in runs for _, flag in run[2]], dtype=np.uint8)
    found = jit.rule_counts(RULES, len(runs), *relevant, *retrieved, *violated, corrected)
    assert found.tolist() == bulk.rule_counts(RULES, len(runs), *relevant, *retrieved, *violated, corrected)


def test_simulated_experiments() -> None:
    from tipstaff.runs.statistics.sequential import boundaries

    promote, reject = boundaries(0.05, 0.1, 101)
    for rates in ((0.5, 0.1), (0.3, 0.3), (0.1, 0.5)):
        found = jit.simulate_sequential(promote, reject, *rates, 100, 10, 200, 9)
        assert [tuple(row) for row in found.tolist()] == bulk.simulate_sequential(
            promote, reject, *rates, 100, 10, 200, 9
        )


def test_the_generator_is_the_published_one() -> None:
    # SplitMix64 from state 1234567: its published first outputs.
    state = 1234567
    outputs = [bulk.mixed((state + (number + 1) * 0x9E3779B97F4A7C15) % 2**64) for number in range(2)]
    assert outputs == [6457827717110365317, 3203168211198807973]
