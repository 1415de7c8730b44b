"""Retrieval: which rules matter for a task.

Meaning, words and what is known of a rule decide (`tipstaff.guidance.retrieval.search`), and with `StaticEmbedding` a
task that no rule is about gets none, unless a file is named. Risk class, the caller's scope and dates are hard filters;
ties keep the order of the shards. Of two rules that contradict each other the one of higher priority stays, and the
constitution always does.

`HashEmbedding`, whose vectors have no meaning, is the reproducible baseline: its score is the cosine clamped to [0, 1]
+ 0.15 if the intents match + 0.10 for a critical or 0.05 for a high risk, and nothing else.

Source: ADR-G002 and ADR-G003.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any, Final

from tipstaff.errors import ConfigError, StoreEmbeddingError, require_whole_number
from tipstaff.globs import matches_any
from tipstaff.guidance.compiling.compiler import in_force
from tipstaff.guidance.compiling.constitution import rule_line, short_hash
from tipstaff.guidance.embeddings.hash_embedding import Embedding, HashEmbedding
from tipstaff.guidance.intents.classify import classify_intent
from tipstaff.guidance.retrieval.ranking import rank_texts
from tipstaff.guidance.retrieval.reasons import Reasons
from tipstaff.guidance.retrieval.search import Hit, Question, ShardSearch, given_intent, risk_bits
from tipstaff.guidance.retrieval.selection import MOST_SHARDS, Selection, most_shards, positions_within
from tipstaff.guidance.retrieval.shard_index import ShardIndex, current_day, index_of_bundle, index_of_store, iso_day
from tipstaff.guidance.retrieval.shard_profiles import Card, Cards
from tipstaff.guidance.retrieval.vectors import boosts_of, default_embedding
from tipstaff.model import DroppedShard, GuidanceRule, PolicyBundle, RetrievalResult, RetrievedShard, RuleShard
from tipstaff.processors import usable_processors
from tipstaff.store.shards import ShardStore

SECTION: Final = "## Task-Specific Rules"
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
                raise StoreEmbeddingError(
                    f"{bundle.path}: the store holds vectors of {bundle.embedding_identity!r} with {bundle.dims} "
                    f"dimensions, the retriever asks with {asked[0]!r} and {asked[1]}; open it with the same embedding "
                    "or compile again"
                )
            self._index = index_of_store(bundle)
        else:
            self._index = index_of_bundle(bundle, self.embedding)
        self.constitution = self._index.constitution
        self._cards = Cards(self._index.shard, self.constitution, self._index.overriding, self._index.n_shards)
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
            raise ConfigError(f"unknown setting {', '.join(unknown)}; there are boosts, today")
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
        self.search = ShardSearch(self._index, self.embedding, boosts)
        self._reasons = Reasons(boosts, self.search.path_boost, has_meaning=self.has_meaning)

    @property
    def has_meaning(self) -> bool:
        """Whether the embedding's cosines are about meaning, or of chance alone."""
        # An embedding derived from HashEmbedding may do anything; only this one is known.
        return type(self.embedding) is not HashEmbedding

    @property
    def shard_count(self) -> int:
        """Number of shards that can be retrieved."""
        return self._index.n_shards

    def shard(self, row: int) -> RuleShard:
        """Return a shard by its number."""
        return self._index.shard(row)

    def retrieve(
        self,
        task: str,
        *,
        intent: str | None = None,
        risk_filter: str | Iterable[str] | None = None,
        repo_scope: str | None = None,
        max_shards: int | None = MOST_SHARDS,
        max_tokens: int | None = None,
        today: str | None = None,
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
            At most so many; the constitution comes on top. None is as many as fit into `max_tokens`, at most
            `MOST_BY_TOKENS` (40).
        max_tokens
            What the shards' lines may cost together, four characters a token; one that does not fit is passed over.
        today
            ISO date with which the rules' dates are compared; the retriever's where None. The constitution is as it
            was compiled.

        Raises
        ------
        ConfigError
            If an intent or a risk class is unknown, `max_shards` or `max_tokens` is no whole number or negative, or
            `today` is no ISO date.
        TypeError
            If the task is not a string.
        """
        started = time.perf_counter_ns()
        question = self.question(
            task, intent=intent, risk_filter=risk_filter, repo_scope=repo_scope, max_shards=max_shards,
            max_tokens=max_tokens, today=today,
        )  # fmt: skip
        shards, dropped = self._found(question)
        nested = self._nested(shards, question)
        constitution = self.constitution
        if nested:
            text = "\n".join((constitution.text.rstrip("\n"), *map(rule_line, nested)))
            constitution = constitution.replace(rules=(*constitution.rules, *nested), text=text, hash=short_hash(text))
        head = constitution.text.strip("\n") if nested else constitution.text.rstrip("\n")
        lines = "\n".join([f"- {one.shard.compact_text}" for one in shards])
        text = f"{head}\n\n{SECTION}\n\n{lines}" if head else f"{SECTION}\n\n{lines}"
        return RetrievalResult(
            constitution=constitution,
            shards=shards,
            detected_intent=question.match.intent,
            contradictions_resolved=len(dropped),
            policy_text=text if shards else head,
            latency_ms=(time.perf_counter_ns() - started) / 1e6,
            confidence=question.match.confidence,
            dropped=dropped,
        )

    def retrieve_batch(
        self,
        tasks: Sequence[str],
        *,
        intent: str | None = None,
        risk_filter: str | Iterable[str] | None = None,
        repo_scope: str | None = None,
        max_shards: int | None = MOST_SHARDS,
        max_tokens: int | None = None,
        today: str | None = None,
        threads: int | None = None,
    ) -> list[RetrievalResult]:
        """Return the rules for each of many tasks, as `retrieve` would one by one.

        Parameters
        ----------
        tasks
            Any number of texts.
        intent, risk_filter, repo_scope, max_shards, max_tokens, today
            As for `retrieve`, for all tasks.
        threads
            How many threads work, at most one per sixteen tasks. Where None, as many as processors if there are many
            shards, else one, as the interpreter's lock would only be passed back and forth.
        """
        if isinstance(tasks, str):
            raise TypeError("one text was given where a list of tasks is wanted")
        if isinstance(risk_filter, Iterable) and not isinstance(risk_filter, str):
            risk_filter = tuple(risk_filter)
        day = self._today or current_day() if today is None else iso_day(today)

        def one(task: str) -> RetrievalResult:
            return self.retrieve(
                task, intent=intent, risk_filter=risk_filter, repo_scope=repo_scope, max_shards=max_shards,
                max_tokens=max_tokens, today=day,
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

    def question(
        self,
        task: str,
        *,
        intent: str | None = None,
        risk_filter: str | Iterable[str] | None = None,
        repo_scope: str | None = None,
        max_shards: int | None = MOST_SHARDS,
        max_tokens: int | None = None,
        today: str | None = None,
    ) -> Question:
        """Return what `retrieve` asks for these arguments; raises as it does."""
        if not isinstance(task, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"the task is a {type(task).__name__}; it must be a text")
        return Question(
            task,
            classify_intent(task) if intent is None else given_intent(intent),
            risk_bits(risk_filter),
            repo_scope or None,
            most_shards(max_shards, max_tokens),
            max_tokens,
            self._today or current_day() if today is None else iso_day(today),
        )

    # -- inside -----------------------------------------------------------------------------------------------------

    def _found(self, question: Question) -> tuple[tuple[RetrievedShard, ...], tuple[DroppedShard, ...]]:
        """Return the shards for a question, and those that contradict one that stays."""
        n_shards = self._index.n_shards
        if question.most <= 0 or not n_shards:
            return (), ()
        selection = Selection(self._cards, question)
        wanted = min(n_shards, question.most + _SLACK)
        while True:
            hits, paths, relevant = self.search.find(question, wanted)
            if not relevant or not hits:
                return (), ()
            chosen, cards, dropped, exhausted = selection.choose(hits)
            if not exhausted or len(hits) < wanted or wanted == n_shards:
                break
            wanted = min(n_shards, wanted * 4)
        if question.tokens is not None:
            kept = positions_within([card.line for card in cards], question.tokens)
            chosen, cards = [chosen[position] for position in kept], [cards[position] for position in kept]
        return self._retrieved(question, chosen, cards, paths), dropped

    def _retrieved(
        self, question: Question, hits: list[Hit], cards: list[Card], paths: tuple[str, ...]
    ) -> tuple[RetrievedShard, ...]:
        reasons = self._reasons.of(question, hits, cards, paths, often=self._cards.compared)
        most = self.search.most_meaning
        return tuple(
            [
                RetrievedShard(card.shard, hit.score, reason, min(1.0, max(0.0, hit.meaning / most)))
                for hit, card, reason in zip(hits, cards, reasons, strict=True)
            ]
        )

    def _nested(self, shards: Sequence[RetrievedShard], question: Question) -> tuple[GuidanceRule, ...]:
        """Return the constitution rules of the folders that somebody works in that are not among some shards."""
        nested = self.constitution.nested
        if not nested or not question.scope:
            return ()
        known = {one.shard.rule.id for one in shards}
        return tuple(
            rule
            for rule in nested
            if rule.id not in known and matches_any(rule.repo_scopes, question.scope) and in_force(rule, question.today)
        )
