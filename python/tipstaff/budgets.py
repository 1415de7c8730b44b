"""Budgets and bars: the numbers that code, benchmarks and documents read, so that each is stated once.

Times are upper bounds in the unit that the name ends in; names that hold ``_VS_`` are ratios measured in one run.
"""

from __future__ import annotations

from typing import Final

RETRIEVE_BUDGET_MS: Final = 5.0
"""What retrieval for one task may take, from the task's text to the policy text."""

MAX_SOURCE_BYTES: Final = 16 * 1024 * 1024
"""A rule file larger than this is not read: no model could be shown it."""

MAX_SOURCE_FILES: Final = 20_000
MAX_DIRECTORIES: Final = 200_000
MAX_IMPORT_DEPTH: Final = 5
"""How deep ``@path`` imports of a CLAUDE.md reach, as its own host reads them."""

MAX_PRIORITY: Final = 9_999
CONSTITUTION_TOKENS: Final = 500
"""What a constitution should cost per turn; the linter speaks above it."""

# Bars of the kernels, in one run on one thread.
HASH_BATCH_VS_NODE: Final = 150.0
SCORE_F32_VS_READ: Final = 1.15
SCORE_500_VS_NUMPY: Final = 2.0
INT8_VS_F32: Final = 3.0
BATCH64_FMA_SHARE: Final = 0.60

# Bars of whole operations, in one run.
RETRIEVE_500_VS_NODE: Final = 10.0
COMPILE_400_VS_NODE: Final = 3.0
COMPILE_UNCHANGED_MS: Final = 1.0
OPEN_VS_UNPICKLE: Final = 200.0
IMPORT_EXTRA_MS: Final = 15.0
VERSION_EXTRA_MS: Final = 60.0

# The system prompt.
PROMPT_TIER_CHARS: Final = 20_000
PROMPT_TOTAL_CHARS: Final = 150_000
MIN_PROMPT_CHARS: Final = 1_000
"""Neither a tier's allowance nor the whole prompt's falls below this, however small the window is."""

PROMPT_WINDOW_SHARE: Final = 4
"""The system prompt may take one part in this many of the effective window."""

CHARS_PER_TOKEN: Final = 4
"""The rule by which budgets in characters are made from windows in tokens."""

MAX_FOCUS_BOOST: Final = 12
"""What a request may add to a section's priority at most."""

FOCUS_150_CHARS_US: Final = 2.0
FOCUS_14_KB_US: Final = 20.0
ASSEMBLE_BEYOND_COPY_US: Final = 60.0
"""What putting 8 tiers of 100 KB into a prompt of 300 KB may take beyond copying 300 KB."""
