"""Settings for the whole suite: a test fails on what is wrong, never because the machine is busy or by luck."""

from __future__ import annotations

from typing import Final

from hypothesis import HealthCheck, settings

SUITE_EXAMPLES: Final = 60
SEARCH_EXAMPLES: Final = 1_000
"""The budget of every property, stated here alone: the examples of one test."""
_NOT_TIMED: Final = (HealthCheck.too_slow,)
# The same examples every time: a change is judged by what it does. `make properties` draws new ones, and more.
settings.register_profile(
    "suite", deadline=None, suppress_health_check=_NOT_TIMED, derandomize=True, max_examples=SUITE_EXAMPLES
)
settings.register_profile(
    "search", deadline=None, suppress_health_check=_NOT_TIMED, print_blob=True, max_examples=SEARCH_EXAMPLES
)
settings.load_profile("suite")
