"""Which windows share a bucket of the prefilter, so that little text passes it that has none of them.

The widest kernel looks each byte up by its class and takes a place for a candidate if one bucket takes the bytes at all
places. A bucket takes what any mixture of its windows has: the windows of one must be alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tipstaff.gates.secrets.anchors import WINDOW
from tipstaff.gates.secrets.pairs import FIRST, PAIRS
from tipstaff.kernels.formats.secret_table import class_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BUCKETS: Final = 32
CLASSES: Final = 64

_LOOKED_AT: Final = 5
"""Places of a window that the widest kernel looks at; ``wide_window`` of ``literals.hpp``."""

_PASSES: Final = 3
_UNIT: Final = 34
_PAIR_UNIT: Final = 18


class _Text:
    """How likely source text is to have bytes of given classes in a row, in whole numbers.

    They are kept in doubles that hold them exactly, whatever the order of a sum: the same table comes out everywhere.
    """

    def __init__(self) -> None:
        import numpy as np

        def shares(digits: str, unit: int) -> list[float]:
            return [float(round(2.0 ** (unit - int(digit, 36) / 2))) for digit in digits]

        self.first: NDArray[np.float64] = np.array(shares(FIRST, _UNIT))
        self.pairs: NDArray[np.float64] = np.array([shares(row, _PAIR_UNIT) for row in PAIRS.split()])

    def cost(self, held: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return for each of some buckets how many places of a text pass it, in 2 ** -34.

        Parameters
        ----------
        held
            Shape (buckets, places, classes): how many windows want a class at a place.
        """
        import numpy as np

        takes = (held > 0).astype(np.float64)
        likely = self.first * takes[:, 0]
        for position in range(1, _LOOKED_AT):
            likely = np.floor(likely @ self.pairs / 2.0**_PAIR_UNIT) * takes[:, position]
        total: NDArray[np.float64] = likely.sum(axis=1)
        return total


def _shared(windows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of each window's bucket: each moves to where it lets least more pass, until none moves."""
    import numpy as np

    text = _Text()
    # The commonest choose first.
    order = np.argsort(-text.cost(windows), kind="stable")
    held = np.zeros((BUCKETS, *windows.shape[1:]), dtype=np.int64)
    costs = np.zeros(BUCKETS)
    bucket_of = np.full(len(windows), -1, dtype=np.int64)
    for _ in range(_PASSES):
        moved = 0
        for number in map(int, order):
            window, old = windows[number], int(bucket_of[number])
            if old >= 0:
                held[old] -= window
                costs[old] = text.cost(held[old : old + 1])[0]
            grown = text.cost(held + window)
            best = int(np.argmin(grown - costs))
            moved += best != old
            bucket_of[number] = best
            held[best] += window
            costs[best] = grown[best]
        if not moved:
            break
    return bucket_of


def wide_table(windows: Sequence[tuple[frozenset[int], ...]]) -> bytes:
    """Return the tables of the widest kernel: which buckets a class may belong to at each place of a window.

    Parameters
    ----------
    windows
        For each place of a window the bytes that it takes; any byte where there is none.

    Returns
    -------
    bytes
        Of each eight buckets, for each place and class a bit for each bucket.
    """
    import numpy as np

    rows: dict[bytes, NDArray[np.int64]] = {}
    for window in windows:
        row = np.zeros((WINDOW, CLASSES), dtype=np.int64)
        for position in range(WINDOW):
            members = window[position] if position < len(window) else frozenset(range(256))
            row[position, sorted({class_of(byte) for byte in members})] = 1
        rows.setdefault(row.tobytes(), row)
    distinct = np.stack(list(rows.values()))
    few = len(distinct) <= BUCKETS
    bucket_of = np.arange(len(distinct), dtype=np.int64) if few else _shared(distinct)
    wide = np.zeros((BUCKETS // 8, WINDOW, CLASSES), dtype=np.uint8)
    for row, bucket in zip(distinct, map(int, bucket_of), strict=True):
        wide[bucket // 8] |= (row << (bucket % 8)).astype(np.uint8)
    return wide.tobytes()
