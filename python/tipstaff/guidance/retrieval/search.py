"""The best shards for a question: meaning, words and priors in one native pass, and what belongs to the question.

score = meaning + words + prior + a boost if the rule is about the task's intent + one for a critical or a high risk +
one if its scope holds a place that the task names + one if its file is near the file worked on.

The meaning is the product of a rule's row in the index with the task's vector where the embedding is
`StaticEmbedding`, whose table the native pass reads; of any other embedding it is the cosine, clamped to [0, 1].
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from tipstaff.errors import ConfigError
from tipstaff.guidance.embeddings.static_embedding import StaticEmbedding
from tipstaff.guidance.intents.classify import paths_in
from tipstaff.guidance.retrieval.fused_index import SECTION
from tipstaff.guidance.retrieval.shard_index import MAX_MASKS, joined
from tipstaff.guidance.retrieval.task_vocabulary import kinds_of, query_lexicon
from tipstaff.guidance.retrieval.vectors import cosines, path_boost_of, with_words
from tipstaff.kernels import FusedSearch
from tipstaff.model import INTENT_BITS, RISK_CLASSES, RISK_CODES, IntentMatch

if TYPE_CHECKING:
    from tipstaff.guidance.embeddings.hash_embedding import Embedding
    from tipstaff.guidance.retrieval.shard_index import ShardIndex

ALL_RISKS: Final = 0xFF
"""Lets every risk class through."""
FOLDER_BONUS: Final = 0.3
"""For a rule all whose file's folders hold the file worked on."""
MOST_MEANING: Final = 1.0 + SECTION
"""The highest product of a rule's row, which holds its section too, with a task's vector."""
LEAST_SHARE: Final = 0.3
"""Of the best score, that a further rule needs to be given beside it."""
_MAGIC: Final = frozenset("*?[]{}\\")
_NUMPY_FROM_ROWS: Final = 5_000


class Question(NamedTuple):
    """What is asked, checked.

    Attributes
    ----------
    task
        What is to be done.
    match
        Its intent.
    risks
        The risk classes that may be given, as bits.
    scope
        Path or glob of what is worked on, None for anywhere; with a slash at its end the folder that somebody is in.
    most, tokens
        How many shards at most, and what their lines may cost; None for anything.
    today
        ISO date against which the rules' dates are held.
    """

    task: str
    match: IntentMatch
    risks: int
    scope: str | None
    most: int
    tokens: int | None
    today: str


class Hit(NamedTuple):
    """A shard that was found: its number, its score, and the part that meaning has in the score."""

    row: int
    score: float
    meaning: float


class Found(NamedTuple):
    """What a search gives.

    Attributes
    ----------
    hits
        Best first.
    paths
        That the task names.
    relevant
        Whether any rule is about the task.
    """

    hits: list[Hit]
    paths: tuple[str, ...]
    relevant: bool


class ShardSearch:
    """Searches the shards of an index.

    Parameters
    ----------
    index
        The shards.
    embedding
        That of the index.
    boosts
        For intent, critical risk, high risk.

    Attributes
    ----------
    path_boost
        For a shard whose scope holds a place that the task names.
    most_meaning
        The highest part that meaning can have in a score.
    """

    def __init__(self, index: ShardIndex, embedding: Embedding, boosts: tuple[float, float, float]) -> None:
        self._index = index
        self._embedding = embedding
        self.boosts = boosts
        self.path_boost = path_boost_of(embedding)
        table = embedding.table if type(embedding) is StaticEmbedding else None
        self._has_table = table is not None
        self.most_meaning = MOST_MEANING if self._has_table else 1.0
        self._least_share = LEAST_SHARE if with_words(embedding) else 0.0
        self._search = FusedSearch(index.search, query_lexicon(), table)
        self._floor = self._search.floor
        self._risks = bytes(index.risks)
        steps = [0.0] * len(RISK_CLASSES)
        steps[RISK_CODES["critical"]], steps[RISK_CODES["high"]] = boosts[1], boosts[2]
        self._steps = steps
        raised = any(steps[code] for code in set(self._risks))
        self._base = array("f", map(steps.__getitem__, self._risks)) if raised else None
        self._bonuses: dict[str, array[float] | None] = {}

    def find(self, question: Question, wanted: int) -> Found:
        """Return the best shards for a question, at most so many."""
        hits, paths, relevance = self._searched(question, wanted)
        if hits and self._least_share:
            least = self._least_share * hits[0].score
            del hits[sum(hit.score >= least for hit in hits) :]
        # Who names a file works on it, whatever the task's words are; who is in a folder need not.
        named = bool(question.scope and not question.scope.endswith("/"))
        return Found(hits, paths, named or not self._has_table or relevance >= self._floor)

    def hits(self, question: Question) -> dict[int, Hit]:
        """Return every shard that may be given for a question, by its number."""
        return {hit.row: hit for hit in self._searched(question, self._index.n_shards)[0]}

    def parts(self, question: Question, hit: Hit) -> dict[str, float]:
        """Return what a hit's score is made of: parts by name, those that are 0 left out, which add up to it."""
        index, row = self._index, hit.row
        file = _file_of(question.scope)
        zeros = array("f", bytes(4 * index.n_shards))
        rows, scores, *_ = self._search.find(
            question.task, *_of_file(file), row_mask=self._mask(question), meanings=zeros, k=index.n_shards
        )
        prior = self._search.prior(row)
        held = None
        if self.path_boost and not file and index.masks.has_scopes:
            held = index.masks.holding(paths_in(question.task), None)
        about = bool(index.intents[row] & INTENT_BITS[question.match.intent])
        near = FOLDER_BONUS * nearness(index.path_values[index.path_codes[row]], file.split("/")) if file else 0.0
        parts = {
            "meaning": hit.meaning,
            "words": scores[rows.index(row)] - prior,
            "prior": prior,
            "intent": self.boosts[0] if about else 0.0,
            "risk": self._steps[self._risks[row]],
            "scope": self.path_boost if held is not None and held[row] else 0.0,
            "folder": near,
        }
        return {name: value for name, value in parts.items() if abs(value) >= 5e-7}

    def _searched(self, question: Question, wanted: int) -> tuple[list[Hit], tuple[str, ...], float]:
        mask = self._mask(question)
        file = _file_of(question.scope)
        bonus = self._bonus(file)
        paths: tuple[str, ...] = ()
        if self.path_boost and not file and self._index.masks.has_scopes:
            paths = paths_in(question.task)
            held = self._index.masks.holding(paths, mask) if paths else None
            if held is not None:
                bonus = _raised(bonus, held, self.path_boost)
        rows, scores, meanings, relevance = self._search.find(
            question.task, *_of_file(file), row_mask=mask, meanings=self._meanings(question.task), bonus=bonus,
            query_intents=INTENT_BITS[question.match.intent], intent_boost=self.boosts[0], k=wanted,
        )  # fmt: skip
        return list(map(Hit, rows, scores, meanings)), paths, relevance

    def _mask(self, question: Question) -> bytes | None:
        mask = self._index.masks.mask(question.scope, question.today)
        if question.risks == ALL_RISKS:
            return mask
        through = bytes(question.risks >> code & 1 for code in range(256))
        return joined(self._risks.translate(through), mask)

    def _meanings(self, task: str) -> Any:
        """Return the cosine of each shard, float32 (n_shards,); None where the native pass makes them."""
        return None if self._has_table else cosines(self._index.rows, task, self._embedding)

    def _bonus(self, file: str) -> array[float] | None:
        """Return what is added to the scores of shards for a file, remembered for some."""
        if not file:
            return self._base
        if file in self._bonuses:
            return self._bonuses[file]
        parts = file.split("/")
        codes = self._index.path_codes
        near = [FOLDER_BONUS * nearness(path, parts) for path in self._index.path_values]
        bonus = self._base
        if any(near):
            if len(codes) < _NUMPY_FROM_ROWS:
                bonus = array("f", map(near.__getitem__, codes))
            else:
                import numpy as np

                bonus = array("f", np.asarray(near, dtype=np.float32)[np.asarray(codes)].tobytes())
            if self._base is not None:
                bonus = array("f", [one + two for one, two in zip(bonus, self._base, strict=True)])
        if len(self._bonuses) >= MAX_MASKS:
            self._bonuses.clear()
        self._bonuses[file] = bonus
        return bonus


def given_intent(intent: str) -> IntentMatch:
    """Return an intent that somebody named.

    Raises
    ------
    ConfigError
        If it is invalid.
    """
    if intent not in INTENT_BITS:
        raise ConfigError(f"intent is {intent!r}; it must be one of {', '.join(INTENT_BITS)}")
    return IntentMatch(intent, 1.0)


def risk_bits(risk_filter: str | Iterable[str] | None) -> int:
    """Return a bit for each risk class that is let through; all where none is named.

    Raises
    ------
    ConfigError
        If a name is no risk class.
    """
    if not risk_filter:
        return ALL_RISKS
    bits = 0
    for name in (risk_filter,) if isinstance(risk_filter, str) else risk_filter:
        code = RISK_CODES.get(name)
        if code is None:
            raise ConfigError(f"risk_filter names {name!r}; risk classes are {', '.join(RISK_CLASSES)}")
        bits |= 1 << code
    return bits or ALL_RISKS


def nearness(path: str, parts: Sequence[str]) -> float:
    """Return the share of a rule file's own folders in which the file worked on is; 0 for one in the root."""
    own = path.split("/")[:-1]
    same = 0
    while same < min(len(own), len(parts)) and own[same] == parts[same]:
        same += 1
    return same / len(own) if own else 0.0


def _file_of(scope: str | None) -> str:
    """Return the file or folder that a scope names, empty for a glob."""
    return scope if scope and _MAGIC.isdisjoint(scope) else ""


@lru_cache(maxsize=256)
def _of_file(file: str) -> tuple[str, str]:
    """Return the words that a file stands for, and its path without the extension."""
    return (kinds_of(file), file.rpartition(".")[0] or file) if file else ("", "")


def _raised(bonus: Any, held: bytes, boost: float) -> Any:
    """Return a bonus, None for none, with what is added for the shards that are held."""
    if len(held) < _NUMPY_FROM_ROWS:
        steps = (0.0, boost)
        base = bonus if bonus is not None else repeat(0.0)
        return array("f", [steps[one] + two for one, two in zip(held, base, strict=False)])
    import numpy as np

    more = np.frombuffer(held, dtype=np.uint8) * boost
    return (more if bonus is None else more + np.asarray(bonus)).astype(np.float32)
