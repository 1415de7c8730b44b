"""An estimate of tokens that knows scripts, words and code: a linear function of 55 counts, fitted to vocabularies.

What is counted stands in :mod:`tipstaff.kernels.plain.tokens`; the weights and their errors on unseen texts in
:mod:`tipstaff.context.tokens.token_weights`, which ``tools/tokens`` writes.
"""

from __future__ import annotations

import bisect
import re
from array import array
from functools import lru_cache
from typing import Final

from tipstaff.context.tokens.script_weights import SCRIPT_RANGES, SCRIPT_WEIGHTS
from tipstaff.context.tokens.token_weights import TOKEN_WEIGHTS
from tipstaff.errors import ConfigError
from tipstaff.kernels import weigh_tokens

_LETTERS: Final = "".join(f"{chr(first)}-{chr(last)}" for ranges in SCRIPT_RANGES.values() for first, last in ranges)
_SCRIPTS: Final = re.compile(f"[{_LETTERS}]+")
_BETWEEN: Final = re.compile(f"[{_LETTERS}]+ ?")
_FIRSTS: Final = sorted((first, name) for name, ranges in SCRIPT_RANGES.items() for first, _ in ranges)


@lru_cache(maxsize=4_096)
def _script_of(letter: str) -> str:
    return _FIRSTS[bisect.bisect_right(_FIRSTS, (ord(letter), "\U0010ffff")) - 1][1]


VOCABULARIES: Final = tuple(TOKEN_WEIGHTS)


class TokenEstimator:
    """Estimates tokens of a named vocabulary; calling it counts a text, so it serves wherever a counter is taken.

    Parameters
    ----------
    vocabulary
        ``claude`` (the one its makers last published; later models' are not public), ``cl100k`` or ``o200k``.
    scale
        Factor on every estimate: what a model's vocabulary differs by. See `calibrated`.

    Raises
    ------
    ConfigError
        If the vocabulary is not known or the scale is not positive.

    Examples
    --------
    >>> TokenEstimator("o200k").estimate("The quick brown fox jumps over the lazy dog.")
    10
    """

    __slots__ = ("_scripts", "_weights", "scale", "vocabulary")

    def __init__(self, vocabulary: str = "claude", *, scale: float = 1.0) -> None:
        weights = TOKEN_WEIGHTS.get(vocabulary)
        if weights is None:
            msg = f"vocabulary {vocabulary!r}: expected one of {', '.join(VOCABULARIES)}"
            raise ConfigError(msg)
        if not 0 < scale < float("inf"):
            msg = f"scale: expected a positive number, got {scale!r}"
            raise ConfigError(msg)
        self.vocabulary: Final = vocabulary
        self.scale: Final = scale
        self._scripts = SCRIPT_WEIGHTS[vocabulary]
        self._weights = array("d", (scale * weight for weight in weights))

    def estimate(self, text: str) -> int:
        """Return the tokens of a text, at least 1 unless it is empty."""
        if not text:
            return 0
        if text.isascii() or (first := _SCRIPTS.search(text)) is None:
            return max(1, round(weigh_tokens(text, self._weights)))
        return max(1, round(self._of_scripts(text, first.start())))

    def _of_scripts(self, text: str, start: int) -> float:
        """Return the tokens of a text that holds letters of scripts with weights of their own."""
        total = 0.0
        for match in _SCRIPTS.finditer(text, start):
            size = match.end() - match.start()
            letter, run, beyond = self._scripts[_script_of(text[match.start()])]
            total += letter * size + run + beyond * max(0, size - 4)
        # A space between two words of such a script goes with the second.
        rest = _BETWEEN.sub("", text)
        return total * self.scale + (max(0.0, weigh_tokens(rest, self._weights)) if rest else 0.0)

    __call__ = estimate

    def calibrated(self, estimated: int, measured: int) -> TokenEstimator:
        """Return an estimator scaled by what a provider measured where this one estimated.

        Raises
        ------
        ConfigError
            If one of the figures is not positive.
        """
        if estimated <= 0 or measured <= 0:
            msg = f"expected two positive numbers of tokens, got {estimated} and {measured}"
            raise ConfigError(msg)
        return TokenEstimator(self.vocabulary, scale=self.scale * measured / estimated)

    def __repr__(self) -> str:
        return f"TokenEstimator({self.vocabulary!r}, scale={self.scale!r})"
