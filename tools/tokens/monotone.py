"""Weights with which more text never costs less.

A feature counts bytes by what stands at and before them, so that a further byte changes no count of those before it. An
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
_RUNS: Final = 30_000
_SEED: Final = 7


def additions() -> NDArray[np.float64]:
    """Return every set of features that a character adds in one of many contexts, shape (n_sets, n_features)."""
    chance = random.Random(_SEED)
    found: set[tuple[int, ...]] = set()
    for _ in range(_RUNS):
        kinds = [chance.choice(_LETTERS) for _ in range(chance.choice((1, 2, 3, 6)))]
        text = ""
        before = np.zeros(0)
        for _ in range(12):
            text += chance.choice(kinds) if chance.random() < 0.85 else chance.choice(_LETTERS)
            counts = np.array(list(token_features(text)))
            if len(before):
                found.add(tuple(int(one) for one in counts - before))
            else:
                found.add(tuple(int(one) for one in counts))
            before = counts
    return np.array(sorted(one for one in found if any(one)), dtype=np.float64)


def nearest(
    normal: NDArray[np.float64], target: NDArray[np.float64], least: NDArray[np.float64], rounds: int = 400
) -> NDArray[np.float64]:
    """Return the weights of least squares that add nothing negative.

    Parameters
    ----------
    normal, target
        The normal equations ``normal @ weights = target``, shapes (n, n) and (n,).
    least
        Rows whose product with the weights must be 0 or more, shape (m, n).
    rounds
        Of Hildreth's procedure: one row after the other is put right, what it took before is given back.
    """
    inverse = np.linalg.inv(normal)
    weights = inverse @ target
    steps = least @ inverse  # what a unit of each row's multiplier changes
    sizes = np.einsum("ij,ij->i", steps, least)
    multipliers = np.zeros(len(least))
    for _ in range(rounds):
        worst = 0.0
        for row in range(len(least)):
            short = -float(least[row] @ weights)
            change = max(-multipliers[row], short / sizes[row])
            if change:
                multipliers[row] += change
                weights = weights + change * steps[row]
                worst = max(worst, short)
        if worst < 1e-9:
            break
    return weights
