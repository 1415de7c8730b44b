"""An estimate of tokens that knows scripts, words and code: a linear function of 55 counts, fitted to vocabularies.

What is counted stands in :mod:`tipstaff.kernels.plain.tokens`; the weights and their errors on unseen texts in
:mod:`tipstaff.context.tokens.token_weights`, which ``tools/tokens`` writes.
"""

from __future__ import annotations

from array import array
from typing import Final

from tipstaff.context.tokens.token_weights import TOKEN_WEIGHTS
from tipstaff.errors import ConfigError
from tipstaff.kernels import weigh_tokens

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

    __slots__ = ("_weights", "scale", "vocabulary")

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
        self._weights = array("d", (scale * weight for weight in weights))

    def estimate(self, text: str) -> int:
        """Return the tokens of a text, at least 1 unless it is empty."""
        return max(1, round(weigh_tokens(text, self._weights))) if text else 0

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
