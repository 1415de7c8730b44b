"""Retrieval: which rules matter for a task.

With `StaticEmbedding` meaning, words and what is known of a rule decide (`tipstaff.guidance.retrieval.fused`), and a
task that no rule is about gets none, unless a file is named. With any other embedding

score = cosine clamped to [0, 1] + a boost if the rule is about the task's intent + one for a critical or a high risk +
one if its scope holds a place that the task names. The boosts belong to the embedding: 0.15, 0.10 and 0.05 with
`HashEmbedding`, which knows no places. Risk class, the caller's scope and dates are hard filters; ties keep the order
of the shards. Of two rules that contradict each other the one of higher priority stays, and the constitution always
does.

Source: ADR-G002 and ADR-G003.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, Final

from tipstaff.errors import ConfigError, StoreEmbeddingError, require_whole_number
from tipstaff.guidance.embeddings.hash_embedding import Embedding, HashEmbedding
from tipstaff.guidance.intents.classify import classify_intent
from tipstaff.guidance.retrieval.filters import ALL_RISKS, given_intent, risk_bits
from tipstaff.guidance.retrieval.fused import FusedShards
from tipstaff.guidance.retrieval.nested_rules import constitution_at, text_at
from tipstaff.guidance.retrieval.prompt_budget import MOST_SHARDS, most_shards, positions_within
from tipstaff.guidance.retrieval.ranking import rank_texts
from tipstaff.guidance.retrieval.reasons import Reasons
from tipstaff.guidance.retrieval.search import Asked, Best, ShardSearch
from tipstaff.guidance.retrieval.selection import Selection, Taken
from tipstaff.guidance.retrieval.shard_index import (
    ShardIndex,
    current_day,
    index_of_bundle,
    index_of_store,
    iso_day,
)
from tipstaff.guidance.retrieval.tenant_views import View, Views
from tipstaff.guidance.retrieval.vectors import (
    boosts_of,
    default_embedding,
    path_boost_of,
)
from tipstaff.model import (
    DroppedShard,
    IntentMatch,
    PolicyBundle,
    RetrievalResult,
    RetrievedShard,
)
from tipstaff.processors import usable_processors
from tipstaff.store.shards import ShardStore

_SLACK: Final = 8
"""Candidates beyond those asked for, in case contradictions drop some."""
_BATCH_PER_THREAD: Final = 16
_THREADS_FROM_ROWS: Final = 10_000
"""Number of shards from which the kernels, which threads can share, cost more than what the interpreter does."""


class ShardRetriever:
    """Answers which rules of a bundle matter for a task.

    Safe to share among threads; the kernels run without the interpreter's lock.

    Parameters
    ----------
    bundle
        A compiled bundle, or an open store of one.
    embedding
        What turns texts into vectors; `StaticEmbedding` where none is given.
    boosts
        For intent, critical risk, high risk; numbers from 0 to 1. The embedding's own where None.
    today
        ISO date against which the rules' dates are held where a call names none; the current day (UTC) where None.

    Raises
    ------
    StoreEmbeddingError
        If the store's vectors come from another embedding.
    ConfigError
        If a boost, the date or a rule's risk class is not usable.
    """

    def __init__(
        self,
        bundle: PolicyBundle | ShardStore,
        embedding: Embedding | None = None,
        *,
        boosts: tuple[float, float, float] | None = None,
        today: str | None = None,
    ) -> None:
        self.embedding: Embedding = default_embedding() if embedding is None else embedding
        self._index: ShardIndex
        if isinstance(bundle, ShardStore):
            asked = (self.embedding.identity, self.embedding.dimensions)
            if asked != (bundle.embedding_identity, bundle.dims):
                msg = (
                    f"{bundle.path}: the store holds vectors of {bundle.embedding_identity!r} with {bundle.dims} "
                    f"dimensions, the retriever asks with {asked[0]!r} and {asked[1]}; open it with the same embedding "
                    "or compile again"
                )
                raise StoreEmbeddingError(msg)
            self._index = index_of_store(bundle)
        else:
            self._index = index_of_bundle(bundle, self.embedding)
        self.constitution = self._index.constitution
        self._views = Views(self._index)
        self._views.of(None)
        # An embedding derived from HashEmbedding may do anything; only this one is known.
        self._hashes = type(self.embedding) is HashEmbedding
        self._path_boost = path_boost_of(self.embedding)
        self._configure(boosts_of(self.embedding) if boosts is None else boosts, today)

    def update_config(self, **changes: Any) -> None:
        """Change `boosts` or `today` for the questions to come, as the constructor takes them.

        Parameters
        ----------
        **changes
            What is to be changed.

        Raises
        ------
        ConfigError
            If a name is unknown or a value cannot be; nothing is changed then.
        """
        if unknown := sorted(changes.keys() - {"boosts", "today"}):
            msg = f"unknown setting {', '.join(unknown)}; there are boosts, today"
            raise ConfigError(msg)
        boosts = changes.get("boosts", self.boosts)
        self._configure(boosts_of(self.embedding) if boosts is None else boosts, changes.get("today", self._today))

    def _configure(self, boosts: tuple[float, float, float], today: str | None) -> None:
        try:
            usable = len(boosts) == 3 and all(0.0 <= boost <= 1.0 for boost in boosts)
        except TypeError:
            usable = False
        if not usable:
            msg = f"boosts is {boosts!r}; it must be three numbers from 0 to 1: for intent, critical risk, high risk"
            raise ConfigError(msg)
        self._today = None if today is None else iso_day(today)
        self.boosts = boosts
        self._fused = self._index.fused(self.embedding, boosts, self._path_boost)
        self._search = ShardSearch(self._index, self.embedding, boosts)
        self._reasons = Reasons(boosts, self._path_boost, has_meaning=not self._hashes)

    @property
    def has_meaning(self) -> bool:
        """Whether the embedding's cosines are about meaning, or of chance alone."""
        return not self._hashes

    @property
    def shard_count(self) -> int:
        """Number of shards that can be retrieved."""
        return self._index.n_shards

    def retrieve(
        self,
        task: str,
        *,
        intent: str | None = None,
        risk_filter: str | Iterable[str] | None = None,
        repo_scope: str | None = None,
        max_shards: int = MOST_SHARDS,
        max_tokens: int | None = None,
        today: str | None = None,
        tenant: str | None = None,
    ) -> RetrievalResult:
        """Return the rules for a task.

        Parameters
        ----------
        task
            What is to be done, in the user's words.
        intent
            One of `tipstaff.model.INTENTS`; classified from the task where None.
        risk_filter
            Risk classes to keep; all where None or empty.
        repo_scope
            Path (or glob) of what is worked on: rules that do not hold there are left out. With a slash at its end it
            is the folder that somebody is in, and as without one nothing is given where no rule is about the task.
        max_shards
            At most so many; the constitution comes on top. With `max_tokens` the default gives way to
            `MOST_BY_TOKENS`.
        max_tokens
            What the shards' lines may cost together, four characters a token; one that does not fit is passed over.
        today
            ISO date with which the rules' dates are compared; the retriever's where None. The constitution is as it
            was compiled.
        tenant
            Who asks, where several share the rules (`join_bundles`): the tenant's rules and the common ones are
            considered, never those of another. None, or a tenant that is not known, has the common ones.

        Raises
        ------
        ConfigError
            If an intent or a risk class is unknown, `max_shards` or `max_tokens` is no whole number or negative, or
            `today` is no ISO date.
        TypeError
            If the task is not a string.
        """
        started = time.perf_counter_ns()
        if not isinstance(task, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            msg = f"the task is a {type(task).__name__}; it must be a text"
            raise TypeError(msg)
        match = None if intent is None else given_intent(intent)
        risks = risk_bits(risk_filter) if risk_filter else ALL_RISKS
        day = self._today or current_day() if today is None else iso_day(today)
        most = most_shards(max_shards, max_tokens)
        return self._answer(task, match, risks, repo_scope, most, max_tokens, day, tenant, started)

    def retrieve_batch(
        self,
        tasks: Sequence[str],
        *,
        intent: str | None = None,
        risk_filter: str | Iterable[str] | None = None,
        repo_scope: str | None = None,
        max_shards: int = MOST_SHARDS,
        max_tokens: int | None = None,
        today: str | None = None,
        tenant: str | None = None,
        threads: int | None = None,
    ) -> list[RetrievalResult]:
        """Return the rules for each of many tasks, as `retrieve` would one by one.

        Parameters
        ----------
        tasks
            Any number of texts.
        intent, risk_filter, repo_scope, max_shards, max_tokens, today, tenant
            As for `retrieve`, for all tasks.
        threads
            How many threads work, at most one per sixteen tasks. Where None, as many as processors if there are many
            shards, else one, as the interpreter's lock would only be passed back and forth.
        """
        if isinstance(tasks, str):
            msg = "one text was given where a list of tasks is wanted"
            raise TypeError(msg)
        if isinstance(risk_filter, Iterable) and not isinstance(risk_filter, str):
            risk_filter = tuple(risk_filter)
        day = self._today or current_day() if today is None else iso_day(today)

        def one(task: str) -> RetrievalResult:
            return self.retrieve(
                task, intent=intent, risk_filter=risk_filter, repo_scope=repo_scope, max_shards=max_shards,
                max_tokens=max_tokens, today=day, tenant=tenant,
            )  # fmt: skip

        if threads is not None:
            require_whole_number("threads", threads)
        else:
            threads = usable_processors() if self.shard_count >= _THREADS_FROM_ROWS else 1
        workers = min(threads, len(tasks) // _BATCH_PER_THREAD)
        if workers <= 1:
            return [one(task) for task in tasks]
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(one, tasks, chunksize=max(1, len(tasks) // (workers * 4))))

    rank = staticmethod(rank_texts)

    # -- inside -----------------------------------------------------------------------------------------------------

    def _answer(
        self,
        task: str,
        match: IntentMatch | None,
        risks: int,
        repo_scope: str | None,
        max_shards: int,
        max_tokens: int | None,
        today: str,
        tenant: str | None,
        started: int,
    ) -> RetrievalResult:
        index = self._index
        view = self._views.of(tenant)
        shards: tuple[RetrievedShard, ...] = ()
        dropped: tuple[DroppedShard, ...] = ()
        text = view.head
        if max_shards > 0 and index.n_shards:
            mask = index.mask(repo_scope, today, tenant)
            if self._fused is not None:
                match = classify_intent(task) if match is None else match
                shards, dropped = self._by_fusion(
                    task, match, mask, risks, repo_scope, max_shards, max_tokens, today, view, self._fused
                )
                text = text_at(view, shards, repo_scope, today)
                return RetrievalResult(
                    constitution=constitution_at(view, shards, repo_scope, today),
                    shards=shards,
                    detected_intent=match.intent,
                    contradictions_resolved=len(dropped),
                    policy_text=text,
                    latency_ms=(time.perf_counter_ns() - started) / 1e6,
                    confidence=match.confidence,
                    dropped=dropped,
                )
            match = classify_intent(task) if match is None else match
            asked = self._search.asked(task, match, mask, risks)
            best = self._search.best(asked, min(index.n_shards, max_shards + _SLACK))
            cards = view.cards.undisputed(best[0][:max_shards])
            often = cards is not None
            _, scores, cosines = best
            if cards is None:
                selection = Selection(view.cards, max_shards, within=repo_scope or None, today=today)
                taken, dropped = self._selected(selection, asked, best)
                cards = [one.card for one in taken]
                scores, cosines = [one.score for one in taken], [one.cosine for one in taken]
            if max_tokens is not None:
                kept = positions_within([card.line for card in cards], max_tokens)
                cards = [cards[position] for position in kept]
                scores, cosines = [scores[position] for position in kept], [cosines[position] for position in kept]
            if cards:
                shards = self._reasons.retrieved(
                    cards, scores, cosines, task=task, intent=match.intent, repo_scope=repo_scope,
                    paths=asked.paths, often=often,
                )  # fmt: skip
                text = view.opening + "\n".join([card.line for card in cards])
        if match is None:
            match = classify_intent(task)
        return RetrievalResult(
            constitution=view.constitution,
            shards=shards,
            detected_intent=match.intent,
            contradictions_resolved=len(dropped),
            policy_text=text,
            latency_ms=(time.perf_counter_ns() - started) / 1e6,
            confidence=match.confidence,
            dropped=dropped,
        )

    def _by_fusion(
        self,
        task: str,
        match: IntentMatch,
        mask: bytes | None,
        risks: int,
        repo_scope: str | None,
        max_shards: int,
        max_tokens: int | None,
        today: str,
        view: View,
        fused: FusedShards,
    ) -> tuple[tuple[RetrievedShard, ...], tuple[DroppedShard, ...]]:
        """Return the shards by meaning, words and priors, and those that contradict one that stays."""
        n_shards = self._index.n_shards
        wanted = min(n_shards, max_shards + _SLACK)
        while True:
            found = fused.find(task, match.intent, mask, risks, repo_scope, wanted)
            if not found.relevant or not found.rows:
                return (), ()
            dropped: tuple[DroppedShard, ...] = ()
            scores, cosines = found.scores, found.cosines
            cards = view.cards.undisputed(found.rows[:max_shards])
            often = cards is not None
            if cards is None:
                selection = Selection(view.cards, max_shards, within=repo_scope or None, today=today)
                taken, dropped, exhausted = selection.choose(found.rows, scores, cosines)
                if exhausted and len(found.rows) == wanted < n_shards:
                    wanted = min(n_shards, wanted * 4)
                    continue
                cards = [one.card for one in taken]
                scores, cosines = [one.score for one in taken], [one.cosine for one in taken]
            if max_tokens is not None:
                kept = positions_within([card.line for card in cards], max_tokens)
                cards = [cards[position] for position in kept]
                scores, cosines = [scores[position] for position in kept], [cosines[position] for position in kept]
            shards = self._reasons.retrieved(
                cards, scores, cosines, task=task, intent=match.intent, repo_scope=repo_scope, paths=found.paths,
                often=often,
            )  # fmt: skip
            return shards, dropped

    def _selected(self, selection: Selection, asked: Asked, best: Best) -> tuple[list[Taken], tuple[DroppedShard, ...]]:
        """Choose among the best shards; more of them are looked for where too few stay."""
        n_shards, wanted = self._index.n_shards, len(best[0])
        while True:
            taken, dropped, exhausted = selection.choose(*best)
            if not exhausted or len(best[0]) < wanted or wanted == n_shards:
                return taken, dropped
            wanted = min(n_shards, wanted * 4)
            best = self._search.best(asked, wanted)
