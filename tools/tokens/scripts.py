"""Weights of scripts that the estimator's features do not tell apart, and factors of languages in Latin letters.

Fitted, after the features' weights, to two sources of prose (`tools.tokens.prose`) that weigh the same; the error is
measured on the third, and on each of the two by weights that were fitted to the other alone.
"""

from __future__ import annotations

import base64
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from tools.tokens.prose import FIT, HELD_OUT, Prose

from tipstaff.context.tokens.estimator import SCRIPT_RANGES
from tipstaff.kernels import token_features

if TYPE_CHECKING:
    from numpy.typing import NDArray

TARGET: Final = Path(__file__).resolve().parents[2] / "python" / "tipstaff" / "context" / "tokens" / "weights.json"
SCRIPTS: Final = {
    "latin_extended": ("vietnamese",),
    "greek": ("greek",),
    "armenian": ("armenian",),
    "hebrew": ("hebrew",),
    "arabic": ("arabic", "persian", "urdu"),
    "devanagari": ("hindi", "marathi", "nepali"),
    "bengali": ("bengali",),
    "gurmukhi": ("punjabi",),
    "gujarati": ("gujarati",),
    "tamil": ("tamil",),
    "telugu": ("telugu",),
    "kannada": ("kannada",),
    "malayalam": ("malayalam",),
    "sinhala": ("sinhala",),
    "thai": ("thai",),
    "lao": ("lao",),
    "tibetan": ("tibetan",),
    "burmese": ("burmese",),
    "georgian": ("georgian",),
    "ethiopic": ("amharic",),
    "khmer": ("khmer",),
}
UNSEEN: Final = {
    "syriac_thaana": {"claude": (2.0, 0.5), "cl100k": (2.0, 0.5), "o200k": (2.0, 0.5)},
    "rare_han": {"claude": (2.5, 0.0), "cl100k": (2.5, 0.0), "o200k": (2.3, 0.0)},
    "emoji": {"claude": (2.43, 0.55), "cl100k": (2.5, 0.0), "o200k": (1.75, 0.2)},
    "odia": {"claude": (3.1, 0.0), "cl100k": (2.98, 0.0), "o200k": (1.15, 0.0)},
}
"""Scripts of which the sources have no prose: by the bytes of a letter, and by names of languages."""

LATIN: Final = (
    "spanish french german portuguese italian dutch polish turkish indonesian swahili czech hungarian "
    "romanian swedish danish finnish catalan croatian"
).split()
_WORDS: Final = 48
_KNEES: Final = (4, 8)
_LEAST: Final = 0.12
"""Tokens of a letter at least: a run without end must not cost nothing."""

_ENCODED: Final = base64.b64encode(random.Random(1).randbytes(60_000)).decode()
_ROUNDS: Final = 10
_LEAST_ERROR: Final = 0.03


class Pieces:
    """Pieces of prose of one script in one source, with their features and real counts."""

    def __init__(
        self, texts: Sequence[str], script: str, count: Callable[[str], int], weights: Sequence[float]
    ) -> None:
        letters = re.compile(f"[{_letters(script)}]+")
        between = re.compile(f"[{''.join(map(_letters, SCRIPT_RANGES))}]+ ?")
        factors = np.array(weights)
        self.tokens = np.array([count(text) for text in texts], dtype=np.float64)
        self.others = np.array([float(factors @ list(token_features(between.sub("", text)))) for text in texts])
        runs = [[len(run) for run in letters.findall(text)] for text in texts]
        self.features = np.array(
            [[sum(one), len(one), *(sum(max(0, size - knee) for size in one) for knee in _KNEES)] for one in runs],
            dtype=np.float64,
        ).reshape(len(texts), 2 + len(_KNEES))

    def error(self, weights: NDArray[np.float64]) -> float:
        """Return the mean of the relative error."""
        return float(np.abs((self.features @ weights + self.others) / self.tokens - 1).mean())


def fit(sources: Sequence[Pieces]) -> NDArray[np.float64]:
    """Return the weights of a script, each 0 or more; each source weighs the same."""
    used = [one for one in sources if len(one.tokens)]
    # One kind of prose says little about how its long words differ from others'.
    columns = 4 if len(used) > 1 else 2
    rows = np.concatenate([one.features[:, :columns] / one.tokens[:, None] for one in used])
    wanted = np.concatenate([1 - one.others / one.tokens for one in used]) - rows[:, 0] * _LEAST
    importance = np.concatenate([np.full(len(one.tokens), 1 / len(one.tokens)) for one in used])
    weighing, weights = importance, np.zeros(columns)
    for _ in range(_ROUNDS):
        weights = _at_least_zero(rows, wanted, weighing)
        weighing = importance / np.maximum(np.abs(rows @ weights - wanted), _LEAST_ERROR)
    return np.concatenate([[weights[0] + _LEAST], weights[1:], np.zeros(4 - columns)])


def _at_least_zero(
    rows: NDArray[np.float64], wanted: NDArray[np.float64], weighing: NDArray[np.float64]
) -> NDArray[np.float64]:
    weighted = rows * weighing[:, None]
    normal, target = weighted.T @ rows + 1e-9 * np.eye(rows.shape[1]), weighted.T @ wanted
    weights = np.zeros(rows.shape[1])
    for _ in range(2_000):
        for at in range(len(weights)):
            weights[at] = max(0.0, weights[at] + (target[at] - normal[at] @ weights) / normal[at, at])
    return weights


def common_words(texts: Iterable[str], most: int = 4_000) -> set[str]:
    """Return the words that English, code and data are full of: they are no sign of another language."""
    counts = Counter(word for text in texts for word in set(text.lower().split()))
    return {word for word, _ in counts.most_common(most)}


def signs(prose: Prose, ordinary: set[str]) -> dict[str, tuple[str, ...]]:
    """Return the words by which each language in Latin letters is known: frequent ones that both sources have."""
    between = re.compile(f"[{_letters('latin_extended')}]+ ?")
    vietnamese = {word for source in FIT for word in between.sub("", prose.text("vietnamese", source)).lower().split()}
    known = ordinary | vietnamese | set(prose.text("english", "udhr").lower().split())
    found: dict[str, tuple[str, ...]] = {}
    for language in LATIN:
        counts = [Counter(prose.text(language, source).lower().split()) for source in FIT]
        shares = {
            word: min(count[word] / count.total() for count in counts)
            for word in counts[0]
            if word.isalpha() and len(word) > 1 and word not in known
        }
        found[language] = tuple(sorted(shares, key=lambda word: -shares[word])[:_WORDS])
    return found


def write_scripts(
    prose: Prose,
    counters: Mapping[str, Callable[[str], int]],
    weights: Mapping[str, Sequence[float]],
    ordinary: set[str],
) -> None:
    """Fit scripts and languages, print their errors, and write both down."""
    scripts: dict[str, dict[str, tuple[float, ...]]] = {name: {} for name in counters}
    factors: dict[str, dict[str, float]] = {name: {} for name in counters}
    errors: dict[str, list[float]] = {name: [] for name in counters}
    for vocabulary, count in counters.items():
        for script, languages in SCRIPTS.items():
            sources = {
                source: Pieces(
                    [piece for language in languages for piece in prose.pieces(language, source)],
                    script,
                    count,
                    weights[vocabulary],
                )
                for source in (*FIT, HELD_OUT)
            }
            found = fit([sources[source] for source in FIT])
            scripts[vocabulary][script] = tuple(round(float(one), 4) for one in found)
            judged = [sources[HELD_OUT].error(found)] if len(sources[HELD_OUT].tokens) else []
            for source, other in (FIT, FIT[::-1]):
                if len(sources[source].tokens) and len(sources[other].tokens):
                    judged.append(sources[source].error(fit([sources[other]])))
            errors[vocabulary] += judged[:1]
            print(f"{vocabulary:8}{script:12}", " ".join(f"{one:6.1%}" for one in judged))
        for script, known in UNSEEN.items():
            scripts[vocabulary][script] = (*known[vocabulary], 0.0, 0.0)
        extended = scripts[vocabulary]["latin_extended"]
        for language in LATIN:
            shares = [
                float(np.median([count(text) / _estimate(text, weights[vocabulary], extended) for text in texts]))
                for source in FIT
                if (texts := prose.pieces(language, source))
            ]
            factors[vocabulary][language] = round(max(1.0, sum(shares) / len(shares)), 3)
        factors[vocabulary]["encoded"] = round(count(_ENCODED) / _estimate(_ENCODED, weights[vocabulary], extended), 2)
    _write(scripts, factors, signs(prose, ordinary), {name: sum(some) / len(some) for name, some in errors.items()})


def _estimate(text: str, weights: Sequence[float], extended: Sequence[float]) -> float:
    one = Pieces([text], "latin_extended", len, weights)
    return float(one.others[0] + one.features[0] @ np.array(extended))


def _letters(script: str) -> str:
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in SCRIPT_RANGES[script])


def _write(
    scripts: dict[str, dict[str, tuple[float, ...]]],
    factors: dict[str, dict[str, float]],
    words: dict[str, tuple[str, ...]],
    errors: dict[str, float],
) -> None:
    update_weights(
        script_weights=scripts,
        language_words={name: " ".join(some) for name, some in words.items()},
        language_factors=factors,
        script_errors={name: round(error, 2) for name, error in errors.items()},
    )


def update_weights(**parts: object) -> None:
    """Put parts into the file of the weights."""
    data: dict[str, object] = json.loads(TARGET.read_text(encoding="utf-8"))
    TARGET.write_text(json.dumps(data | parts, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
