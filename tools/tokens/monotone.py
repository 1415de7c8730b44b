"""Weights with which more text never costs less.

A feature counts bytes by what is at and before them, so that a further byte changes no count of those before it. An
estimate is therefore monotone if what each further character adds is 0 or more: finitely many inequalities, one for
each set of features that a character can add.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Final

import numpy as np

from tipstaff.kernels import token_features

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LETTERS: Final = (
    "aeiouxzbcdfgAEIOUXZBCD0123456789   \n\n\t.,;:()[]{}<>/\\\"'=+-*_#$%&@!?~^|`\r\0"
    "áéüñßğışžđăơ\u0250\u02bc\u0301\u0375абвгдежзПРСщъыієґӘҚ–—“”…€→≤█☃ぁあいうんぉァアイーヽ一丁丈乐人中国來語"
    "書鿿㐀䀀가각힣나다、。「」ＡｚꓐꙀ\ua9e0\ue000\uf900ḁạếệᏣᐁᚠᠠ😀𐐷𒀀🏽\U0010fffd"
)
_LEAST_OF_LETTER: Final = 0.15
_RUNS: Final = 30_000
_SEED: Final = 7


def additions() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return every set of features that a character adds in one of many contexts, and the least that it must cost.

    Returns
    -------
    sets, least
        Shapes (m, n_features) and (m,): 0, and for letters beyond ASCII so much that no script is free.
    """
    chance = random.Random(_SEED)
    found: dict[tuple[int, ...], float] = {}
    for _ in range(_RUNS):
        kinds = [chance.choice(_LETTERS) for _ in range(chance.choice((1, 2, 3, 6)))]
        text, before = "", (0,) * len(token_features(""))
        for _ in range(12):
            letter = chance.choice(kinds) if chance.random() < 0.85 else chance.choice(_LETTERS)
            text += letter
            counts = tuple(token_features(text))
            added = tuple(now - then for now, then in zip(counts, before, strict=True))
            least = _LEAST_OF_LETTER if letter > "\x7f" and letter.isalpha() else 0.0
            if any(added):
                found[added] = max(found.get(added, 0.0), least)
            before = counts
    return np.array(list(found), dtype=np.float64), np.array(list(found.values()))


def nearest(
    normal: NDArray[np.float64],
    target: NDArray[np.float64],
    sets: NDArray[np.float64],
    least: NDArray[np.float64],
    rounds: int = 400,
) -> NDArray[np.float64]:
    """Return the weights of least squares of which no character adds too little.

    Parameters
    ----------
    normal, target
        The normal equations ``normal @ weights = target``, shapes (n, n) and (n,).
    sets, least
        Rows, shape (m, n), whose products with the weights must be so much or more, shape (m,).
    rounds
        Of Hildreth's procedure: one row after the other is put right, what it took before is given back.
    """
    inverse = np.linalg.inv(normal)
    weights = inverse @ target
    steps = sets @ inverse  # what a unit of each row's multiplier changes
    sizes = np.einsum("ij,ij->i", steps, sets)
    multipliers = np.zeros(len(least))
    for _ in range(rounds):
        worst = 0.0
        for row in range(len(least)):
            short = float(least[row] - sets[row] @ weights)
            change = max(-multipliers[row], short / sizes[row])
            if change:
                multipliers[row] += change
                weights = weights + change * steps[row]
                worst = max(worst, short)
        if worst < 1e-9:
            break
    return weights
