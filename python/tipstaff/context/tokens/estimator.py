"""An estimate of tokens that knows scripts, languages, words and code, fitted to vocabularies: sums of 55 counts.

What is counted is in ``tokens/features.hpp`` (native); the weights and their errors on
unseen texts are in :mod:`tipstaff.context.tokens.estimator`. What follows a text never makes it cheaper, in any script.
"""

from __future__ import annotations

import bisect
import json
import re
from array import array
from functools import lru_cache
from importlib import resources
from typing import Any, Final, cast

from tipstaff.errors import ConfigError
from tipstaff.kernels import weigh_tokens

NAME: Final = "weights.json"
_DATA: Final = cast(
    "dict[str, Any]", json.loads(resources.files("tipstaff.context.tokens").joinpath(NAME).read_text("utf-8"))
)
SCRIPT_RANGES: Final = {
    script: tuple((int(first, 16), int(last, 16)) for first, last in (one.split("-") for one in ranges.split()))
    for script, ranges in cast("dict[str, str]", _DATA["script_ranges"]).items()
}
"""Code points of each script that has weights of its own, ends included."""

TOKEN_WEIGHTS: Final[dict[str, list[float]]] = _DATA["token_weights"]
SCRIPT_WEIGHTS: Final[dict[str, dict[str, list[float]]]] = _DATA["script_weights"]
LANGUAGE_WORDS: Final[dict[str, str]] = _DATA["language_words"]
LANGUAGE_FACTORS: Final[dict[str, dict[str, float]]] = _DATA["language_factors"]
ERRORS: Final[dict[str, dict[str, list[float]]]] = _DATA["errors"]


_LETTERS: Final = "".join(f"{chr(first)}-{chr(last)}" for ranges in SCRIPT_RANGES.values() for first, last in ranges)
_SCRIPTS: Final = re.compile(f"[{_LETTERS}]+")
_BETWEEN: Final = re.compile(f"[{_LETTERS}]+ ?")
_FIRSTS: Final = sorted((first, name) for name, ranges in SCRIPT_RANGES.items() for first, _ in ranges)
_LANGUAGE_OF: Final[dict[str, tuple[str, ...]]] = {
    word: tuple(name for name, words in LANGUAGE_WORDS.items() if word in words.split())
    for word in " ".join(LANGUAGE_WORDS.values()).split()
}
_FIRST_PART: Final = 128
_LARGEST_PART: Final = 131_072
_GROWTH: Final = 4
_SAMPLE: Final = 400
_ENCODED_WORD: Final = 40
_CASES: Final = re.compile("[a-z][A-Z]|[A-Z][a-z]")
_DIGITS: Final = re.compile("[0-9]")
"""Base64 has no spaces, changes case at every third letter, and every sixth character of it is a digit."""

_LEAST_SIGNS: Final = 0.06
"""Of a text's words, as many at least have to be of one language before it is taken for that."""


@lru_cache(maxsize=4_096)
def _script_of(letter: str) -> str:
    return _FIRSTS[bisect.bisect_right(_FIRSTS, (ord(letter), "\U0010ffff")) - 1][1]


VOCABULARIES: Final = tuple(TOKEN_WEIGHTS)


class TokenEstimator:
    """Estimates tokens of a named vocabulary; calling it counts a text, so it serves wherever a counter is taken.

    `vocabulary` is ``claude`` (the one its makers last published; later models' are not public), ``cl100k`` or
    ``o200k``, `scale` a factor on every estimate: see `calibrated`. Raises `ConfigError` if one of them is not usable.

    Examples
    --------
    >>> TokenEstimator("o200k").estimate("The quick brown fox jumps over the lazy dog.")
    10
    """

    __slots__ = ("_factors", "_scripts", "_weights", "scale", "vocabulary")

    def __init__(self, vocabulary: str = "claude", *, scale: float = 1.0) -> None:
        weights = TOKEN_WEIGHTS.get(vocabulary)
        if weights is None:
            raise ConfigError(f"vocabulary {vocabulary!r}: expected one of {', '.join(VOCABULARIES)}")
        if not 0 < scale < float("inf"):
            raise ConfigError(f"scale: expected a positive number, got {scale!r}")
        self.vocabulary: Final = vocabulary
        self.scale: Final = scale
        self._scripts = SCRIPT_WEIGHTS[vocabulary]
        self._factors = LANGUAGE_FACTORS[vocabulary]
        self._weights = array("d", (scale * weight for weight in weights))

    def estimate(self, text: str) -> int:
        """Return the tokens of a text, at least 1 unless it is empty; never fewer than those of its beginning."""
        if not text:
            return 0
        if text.isascii() or (first := _SCRIPTS.search(text)) is None:
            return max(1, round(self._of_latin(text)))
        return max(1, round(self._of_scripts(text, first.start())))

    def _of_scripts(self, text: str, start: int) -> float:
        """Return the tokens of a text that holds letters of scripts with weights of their own."""
        total = 0.0
        for match in _SCRIPTS.finditer(text, start):
            size = match.end() - match.start()
            letter, run, beyond, far = self._scripts[_script_of(text[match.start()])]
            total += letter * size + run + beyond * max(0, size - 4) + far * max(0, size - 8)
        # A space between two words of such a script goes with the second.
        rest = _BETWEEN.sub("", text)
        return total * self.scale + (self._of_latin(rest) if rest else 0.0)

    def _of_latin(self, text: str) -> float:
        """Return the tokens of a text, those of its parts in other languages than English by what these take more.

        A part counts by its language once it is complete, and until then by that of the part before: what follows a
        text never makes it cheaper.
        """
        if len(text) < _FIRST_PART:
            return weigh_tokens(text, self._weights)
        total, factor, start, size = 0.0, 1.0, 0, _FIRST_PART
        while start + size <= len(text):
            part = text[start : start + size]
            own = self._factor_of(part[:_SAMPLE])
            total += max(factor, own) * weigh_tokens(part, self._weights)
            factor, start, size = own, start + size, min(_GROWTH * size, _LARGEST_PART)
        return total + (factor * weigh_tokens(text[start:], self._weights) if start < len(text) else 0.0)

    def _factor_of(self, sample: str) -> float:
        """Return what a text like the sample takes over English prose of the same letters: by language, or encoded."""
        if sample.count(" ") * _ENCODED_WORD < len(sample) and (
            len(_CASES.findall(sample)) > 0.15 * len(sample) and len(_DIGITS.findall(sample)) > 0.08 * len(sample)
        ):
            return self._factors["encoded"]
        if " the " in sample:
            return 1.0
        words = sample.lower().split()
        found = [languages for word in words if (languages := _LANGUAGE_OF.get(word)) is not None]
        if len(found) < max(2, _LEAST_SIGNS * len(words)):
            return 1.0
        hits: dict[str, int] = {}
        for known in found:
            for language in known:
                hits[language] = hits.get(language, 0) + 1
        best = max(hits, key=hits.__getitem__)
        return self._factors[best] if hits[best] > 1 else 1.0

    __call__ = estimate

    def calibrated(self, estimated: int, measured: int) -> TokenEstimator:
        """Return an estimator scaled by what a provider measured where this one estimated.

        Raises `ConfigError` if one of the figures is not positive.
        """
        if estimated <= 0 or measured <= 0:
            raise ConfigError(f"expected two positive numbers of tokens, got {estimated} and {measured}")
        return TokenEstimator(self.vocabulary, scale=self.scale * measured / estimated)

    def __repr__(self) -> str:
        return f"TokenEstimator({self.vocabulary!r}, scale={self.scale!r})"
