"""The budget of a system prompt follows the model's window."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.context.prompt.sections import SystemPromptBudget
from tipstaff.errors import ConfigError


@pytest.mark.parametrize(
    ("window", "output", "tier", "total"),
    [
        (200_000, 16_384, 20_000, 150_000),
        (128_000, 8_192, 20_000, 119_808),
        (64_000, 4_096, 14_976, 59_904),
        (8_192, 2_048, 1_536, 6_144),
        (20_003, 0, 5_000, 20_000),
        (4_096, 1_024, 1_000, 3_072),
        (4_000, 0, 1_000, 4_000),
        (16_000, 16_000, 1_000, 1_000),
        (-5, 10, 1_000, 1_000),
    ],
)
def test_a_quarter_of_the_effective_window(window: int, output: int, tier: int, total: int) -> None:
    assert SystemPromptBudget.for_context_window(window, output) == SystemPromptBudget(tier, total)


@given(st.integers(-(10**9), 10**9), st.integers(-(10**9), 10**9))
def test_it_stays_within_its_bounds(window: int, output: int) -> None:
    budget = SystemPromptBudget.for_context_window(window, output)
    assert 1_000 <= budget.max_total_chars <= 150_000
    assert 1_000 <= budget.max_per_tier_chars <= min(20_000, budget.max_total_chars)


@given(st.integers(0, 10**6), st.integers(0, 10**5))
def test_d11_at_four_characters_a_token_it_is_never_more_than_the_stated_share(window: int, output: int) -> None:
    budget = SystemPromptBudget.for_context_window(window, output)
    if budget.max_total_chars > 1_000:
        assert budget.max_total_chars / 4 <= (window - output) / 4


def test_defaults_and_plain_data() -> None:
    assert SystemPromptBudget().to_dict() == {"max_per_tier_chars": 20_000, "max_total_chars": 150_000}


@pytest.mark.parametrize("values", [(0, 5), (5, 0), (-1, 5), (1.5, 5), (True, 5), ("9", 5)])
def test_caps_that_are_no_caps_are_errors(values: tuple[int, int]) -> None:
    with pytest.raises(ConfigError, match="expected a whole number of characters above 0"):
        SystemPromptBudget(*values)


def test_windows_that_are_no_numbers_are_errors() -> None:
    with pytest.raises(ConfigError, match="max_output: expected a whole number of tokens, got '4K'"):
        SystemPromptBudget.for_context_window(8_000, "4K")  # type: ignore[arg-type]
