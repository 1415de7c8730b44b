"""The best shards for a task by meaning, words and priors, with what belongs to the question: file, places, risks."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tipstaff.guidance.intents.task_paths import paths_in
from tipstaff.guidance.retrieval.filters import ALL_RISKS
from tipstaff.guidance.retrieval.fused_index import SECTION
from tipstaff.guidance.retrieval.masks import MAX_MASKS, ShardMasks, joined
from tipstaff.guidance.retrieval.query_lexicon import query_lexicon
from tipstaff.guidance.retrieval.task_vocabulary import kinds_of
from tipstaff.kernels import FusedSearch
from tipstaff.model import INTENT_BITS, RISK_CLASSES, RISK_CODES

if TYPE_CHECKING:
    from typing_extensions import Buffer

FOLDER_BONUS: Final = 0.3
"""For a rule all whose file's folders hold the file worked on."""
MOST_MEANING: Final = 1.0 + SECTION
"""The highest product of a rule's row, which holds its section too, with a task's vector."""
LEAST_SHARE: Final = 0.3
"""Of the best score, that a further rule needs to be given beside it."""
_MAGIC: Final = frozenset("*?[]{}\\")
_NUMPY_FROM_ROWS: Final = 5_000


class Found(NamedTuple):
    """What a search gives.

    Attributes
    ----------
    rows, scores, cosines
        Best first; the cosines, 0 to 1, are the part that meaning has in the scores.
    paths
        That the task names.
    relevant
        Whether any rule is about the task.
    """

    rows: list[int]
    scores: list[float]
    cosines: list[float]
    paths: tuple[str, ...]
    relevant: bool


class FusedShards:
    """Searches the shards of an index.

    Parameters
    ----------
    blob, table
        The index of rules (`fused_index`) and the embedding's table.
    risks
        uint8 (n_shards,): `tipstaff.model.RISK_CODES`.
    path_codes, path_values
        For each shard the place of its file's path among the distinct ones.
    masks
        Of the same shards.
    boosts
        For intent, critical risk, high risk.
    path_boost
        For a shard whose scope holds a place that the task names.
    """

    def __init__(
        self,
        blob: Buffer,
        table: Buffer,
        *,
        risks: Any,
        path_codes: Sequence[int],
        path_values: tuple[str, ...],
        masks: ShardMasks,
        boosts: tuple[float, float, float],
        path_boost: float,
    ) -> None:
        self._search = FusedSearch(blob, query_lexicon(), table)
        self._floor = self._search.floor
        self._risks = bytes(risks)
        self._path_codes = path_codes
        self._path_values = path_values
        self._masks = masks
        self._intent_boost = boosts[0]
        self._path_boost = path_boost
        steps = [0.0] * len(RISK_CLASSES)
        steps[RISK_CODES["critical"]], steps[RISK_CODES["high"]] = boosts[1], boosts[2]
        raised = any(steps[code] for code in set(self._risks))
        self._base = array("f", map(steps.__getitem__, self._risks)) if raised else None
        self._bonuses: dict[str, array[float] | None] = {}

    def find(
        self, task: str, intent: str, mask: bytes | None, risks: int, repo_scope: str | None, wanted: int
    ) -> Found:
        """Return the best shards.

        Parameters
        ----------
        task
            What is to be done.
        intent
            Its intent.
        mask, risks
            Shards that may be given, None for all; risk classes that may, as bits.
        repo_scope
            Path or glob of what is worked on; with a slash at its end the folder that somebody is in.
        wanted
            How many shards at most.
        """
        if risks != ALL_RISKS:
            through = bytes(risks >> code & 1 for code in range(256)) if risks else bytes(256)
            mask = joined(self._risks.translate(through), mask)
        file = repo_scope if repo_scope and _MAGIC.isdisjoint(repo_scope) else ""
        bonus = self._bonus(file)
        paths: tuple[str, ...] = ()
        if self._path_boost and not file and self._masks.has_scopes:
            paths = paths_in(task)
            held = self._masks.holding(paths, mask) if paths else None
            if held is not None:
                bonus = _raised(bonus, held, self._path_boost)
        kinds, path = _of_file(file) if file else ("", "")
        rows, scores, meanings, relevance = self._search.find(
            task, kinds, path, row_mask=mask, bonus=bonus, query_intents=INTENT_BITS[intent],
            intent_boost=self._intent_boost, k=wanted,
        )  # fmt: skip
        least = LEAST_SHARE * scores[0] if scores else 0.0
        kept = sum(score >= least for score in scores)
        rows, scores, meanings = rows[:kept], scores[:kept], meanings[:kept]
        cosines = [min(1.0, max(0.0, meaning / MOST_MEANING)) for meaning in meanings]
        # Who names a file works on it, whatever the task's words are; who is in a folder need not.
        named = bool(repo_scope and not repo_scope.endswith("/"))
        return Found(rows, scores, cosines, paths, named or relevance >= self._floor)

    def _bonus(self, file: str) -> array[float] | None:
        """Return what is added to the scores of shards for a file, remembered for some."""
        if not file:
            return self._base
        if file in self._bonuses:
            return self._bonuses[file]
        parts = file.split("/")
        near = [FOLDER_BONUS * nearness(path, parts) for path in self._path_values]
        bonus = self._base
        if any(near):
            if len(self._path_codes) < _NUMPY_FROM_ROWS:
                bonus = array("f", map(near.__getitem__, self._path_codes))
            else:
                import numpy as np

                bonus = array("f", np.asarray(near, dtype=np.float32)[np.asarray(self._path_codes)].tobytes())
            if self._base is not None:
                bonus = array("f", [one + two for one, two in zip(bonus, self._base, strict=True)])
        if len(self._bonuses) >= MAX_MASKS:
            self._bonuses.clear()
        self._bonuses[file] = bonus
        return bonus


def _raised(bonus: Any, held: bytes, boost: float) -> Any:
    """Return a bonus, None for none, with what is added for the shards that are held."""
    if len(held) < _NUMPY_FROM_ROWS:
        steps = (0.0, boost)
        base = bonus if bonus is not None else repeat(0.0)
        return array("f", [steps[one] + two for one, two in zip(held, base, strict=False)])
    import numpy as np

    more = np.frombuffer(held, dtype=np.uint8) * boost
    return (more if bonus is None else more + np.asarray(bonus)).astype(np.float32)


@lru_cache(maxsize=256)
def _of_file(file: str) -> tuple[str, str]:
    """Return the words that a file stands for, and its path without the extension."""
    return kinds_of(file), file.rpartition(".")[0] or file


def nearness(path: str, parts: Sequence[str]) -> float:
    """Return the share of a rule file's own folders in which the file worked on is; 0 for one in the root."""
    own = path.split("/")[:-1]
    same = 0
    while same < min(len(own), len(parts)) and own[same] == parts[same]:
        same += 1
    return same / len(own) if own else 0.0
