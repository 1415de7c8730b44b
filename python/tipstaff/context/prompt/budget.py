"""How many characters of system prompt a model's window has room for."""

from __future__ import annotations

from tipstaff.budgets import (
    CHARS_PER_TOKEN,
    MIN_PROMPT_CHARS,
    PROMPT_TIER_CHARS,
    PROMPT_TOTAL_CHARS,
    PROMPT_WINDOW_SHARE,
)
from tipstaff.errors import ConfigError
from tipstaff.model import Record


class SystemPromptBudget(Record, frozen=True):
    """Caps on a system prompt, in characters (code points).

    Characters are counted, not tokens, because a prompt must come out the same for every model that reads it.

    Attributes
    ----------
    max_per_tier_chars
        What one unprotected section may take.
    max_total_chars
        What all sections may take together.

    Raises
    ------
    ConfigError
        If a cap is not a positive whole number.
    """

    max_per_tier_chars: int = PROMPT_TIER_CHARS
    max_total_chars: int = PROMPT_TOTAL_CHARS

    def __post_init__(self) -> None:
        for name in ("max_per_tier_chars", "max_total_chars"):
            value: object = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
                msg = f"{name}: expected a whole number of characters above 0, got {value!r}"
                raise ConfigError(msg)

    @classmethod
    def for_context_window(cls, context_tokens: int, max_output: int) -> SystemPromptBudget:
        """Return the budget for a model.

        Parameters
        ----------
        context_tokens
            The model's window, in tokens.
        max_output
            What of it is kept for the answer, in tokens.

        Returns
        -------
        SystemPromptBudget
            A quarter of the effective window at 4 characters a token, from 1,000 to 150,000 in total; a quarter of
            that a tier, from 1,000 to 20,000. A window with no room for a prompt gets the smallest budget.

        Raises
        ------
        ConfigError
            If an argument is not a whole number.
        """
        for name, value in (("context_tokens", context_tokens), ("max_output", max_output)):
            if not isinstance(value, int) or isinstance(value, bool):  # pyright: ignore[reportUnnecessaryIsInstance]
                msg = f"{name}: expected a whole number of tokens, got {value!r}"
                raise ConfigError(msg)
        tokens = max(0, context_tokens - max_output) // PROMPT_WINDOW_SHARE
        total = min(PROMPT_TOTAL_CHARS, max(MIN_PROMPT_CHARS, tokens * CHARS_PER_TOKEN))
        return cls(min(PROMPT_TIER_CHARS, max(MIN_PROMPT_CHARS, total // 4)), total)
