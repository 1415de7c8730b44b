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
SIGNS_FROM_SHARDS: Final = 300_000
"""From so many shards on, the signs of their vectors choose which ones are scored; up to there every one is."""

CONSTITUTION_TOKENS: Final = 500
"""What a constitution should cost per turn; the linter reports more."""

# Bars of the kernels, in one run on one thread.
HASH_BATCH_VS_NODE: Final = 150.0

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

# Tokens of a request.
MESSAGE_OVERHEAD_TOKENS: Final = 4
TOOL_USE_OVERHEAD_TOKENS: Final = 20
TOOL_RESULT_OVERHEAD_TOKENS: Final = 10
TOOL_DEFINITION_OVERHEAD_TOKENS: Final = 10
IMAGE_MAX_TOKENS: Final = 1_600
IMAGE_MAX_SIDE: Final = 1_568
IMAGE_PIXELS_PER_TOKEN: Final = 750
PDF_PAGE_TOKENS: Final = 2_500
"""Text and image of a page, in the middle of what the Messages API's documentation says of them."""

# Compaction.
STUB_CHARS: Final = 200
"""What is left of a tool's result that was pruned, beside the marker that says so."""

SUMMARY_MAX_TOKENS: Final = 4_096

# Bars of the estimator.
ESTIMATE_UNCHANGED_1000_US: Final = 10.0
TOKENS_GB_S: Final = 2.0
TOKENS_MEAN_ERROR: Final = 0.07
TOKENS_BIAS: Final = 0.02
TOKENS_VS_BPE: Final = 50.0
"""How many times faster than a real vocabulary's encoder."""

# Bars of the candidates, in one run on one thread.
CANDIDATE_MATCH_1K_VS_PYTHON: Final = 200.0
CANDIDATE_MATCH_10K_VS_PYTHON: Final = 500.0
"""Reading a text, finding the most similar of so many or taking it in, against sets of words in plain Python."""

CANDIDATE_MATCH_VS_RENSA: Final = 1.5
"""The same, exact, against approximate MinHash LSH."""

CANDIDATE_STORE_1K_VS_REWRITING: Final = 100.0
CANDIDATE_STORE_10K_VS_REWRITING: Final = 500.0
"""A whole upsert, signed and appended, against a store that reads every text and writes every line again."""

CANDIDATE_UPSERT_100K_VS_1K: Final = 2.0
CANDIDATE_EVALUATE_100K_VS_1K: Final = 2.0
"""Per candidate: linear time gives 1."""

# Bars of the hook program: whole processes, medians, in one run.
HOOK_VS_EMPTY: Final = 1.5
HOOK_VS_PYTHON: Final = 20.0
HOOK_VS_NODE: Final = 50.0
HOOK_PROMPT_VS_EMPTY: Final = 4.0
HOOK_CEILING_MS: Final = 200.0
"""After so long the hook answers what its policy says about errors."""

# Bars of the gates, in one run.
GATE_60_CHARS_VS_NODE: Final = 1.0
GATE_60_CHARS_VS_TREE_SITTER: Final = 40.0
GATE_60_CHARS_VS_PYTHON_RE: Final = 50.0
GATE_THREADS_VS_PROCESSES: Final = 0.75
"""Two threads take the texts of a call over from Python one after the other, and start over with each call; two
processes do neither. Threads that waited for each other would reach a half."""
CALL_COMMAND_US: Final = 1.2
CALL_COMMAND_VS_NODE: Final = 1.5
CALL_TOOL_US: Final = 2.5
CALL_SMALL_THREADS_VS_ONE: Final = 0.95
CALL_LARGE_THREADS_VS_ONE: Final = 1.6
"""What an orchestrator in Python feels: the public calls themselves, with all that is around their kernels."""

# Bars of scale, with the static embedding, in one run.
EMBED_100_CHARS_US: Final = 5.0
EMBED_VS_ONNX: Final = 1_000.0
RETRIEVE_500_US: Final = 60.0
HUGE_RECALL: Final = 0.99
"""Of the five best of a million shards, boosts included, that are found where signs choose."""

# Bars of checks and sizing, in one run.
CHECK_ADDED_MS: Final = 30.0
SIZE_50K_S: Final = 1.0
SIZE_VS_READ: Final = 2.0
