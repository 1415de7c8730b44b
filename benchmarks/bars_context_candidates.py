"""The bars of the candidate store, measured in one run and judged: ``python -m benchmarks.bars_context_candidates``.

Contenders take turns over the same texts, and every result of ours is compared with the one of plain Python. Texts have
6 to 18 words of a vocabulary of 20,000 by Zipf's law; of those asked for, half are earlier texts with one word changed.

- *match*: text in, number of the most similar or of the new one out, reading the words included. Plain Python keeps its
  sets and reads only the text that is asked for. rensa answers approximately; how often it misses is reported.
- *store*: a whole `CandidateStore.upsert`, checked, locked, signed, appended, against a store that reads every text for
  each upsert and then signs and writes every line again, without a flush to the disk on either side.
- *durable*: the same with a flush to the disk in each call (``flushed``), and without, where it shows more.
- *evaluate*: `evaluate_all`, per candidate.
"""

from __future__ import annotations

import hmac
import itertools
import json
import os
import random
import re
import shutil
import statistics
import sys
import tempfile
import time
from bisect import bisect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from benchmarks.judging import Row, measured_rows, table

from tipstaff.context.candidates.store import CandidateStore
from tipstaff.kernels import WordSets

VOCABULARY = 20_000
ROUNDS = 9
_WORDS = re.compile(r"\w+")


class Texts:
    """Texts that are alike from run to run."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._weights = list(itertools.accumulate(1 / (rank + 1) for rank in range(VOCABULARY)))
        self._words = [f"w{rank * 7919 % 1_000_003:x}" for rank in range(VOCABULARY)]

    def word(self) -> str:
        return self._words[bisect(self._weights, self._random.random() * self._weights[-1])]

    def fresh(self) -> str:
        return " ".join(self.word() for _ in range(self._random.randint(6, 18)))

    def asked(self, known: list[str], count: int) -> list[str]:
        found = []
        for number in range(count):
            words = (self._random.choice(known) if number % 2 else self.fresh()).split()
            words[self._random.randrange(len(words))] = self.word()
            found.append(" ".join(words))
        return found


class Matcher(Protocol):
    def upsert(self, text: str) -> int: ...

    def __len__(self) -> int: ...


class Native:
    def __init__(self) -> None:
        self._sets = WordSets(0.5)

    def upsert(self, text: str) -> int:
        return self._sets.find_or_add(text)[0]

    def __len__(self) -> int:
        return len(self._sets)


class Naive:
    def __init__(self) -> None:
        self._sets: list[set[str]] = []

    def upsert(self, text: str) -> int:
        words = set(_WORDS.findall(text.lower()))
        best, number = 0.0, -1
        for other, known in enumerate(self._sets):
            shared = len(words & known)
            similarity = shared / (len(words) + len(known) - shared)
            if similarity >= 0.5 and similarity > best:
                best, number = similarity, other
        if number < 0:
            self._sets.append(words)
            return len(self._sets) - 1
        return number

    def __len__(self) -> int:
        return len(self._sets)


class Rensa:
    def __init__(self) -> None:
        from rensa import RMinHash, RMinHashLSH

        self._new = RMinHash
        self._index = RMinHashLSH(0.5, 128, 32)
        self._hashes: list[Any] = []

    def upsert(self, text: str) -> int:
        minhash = self._new(128, 42)
        minhash.update(list(set(_WORDS.findall(text.lower()))))
        best, number = 0.0, -1
        for other in self._index.query(minhash):
            similarity = minhash.jaccard(self._hashes[other])
            if similarity >= 0.5 and similarity > best:
                best, number = similarity, other
        if number < 0:
            number = len(self._hashes)
            self._hashes.append(minhash)
            self._index.insert(number, minhash)
        return number

    def __len__(self) -> int:
        return len(self._hashes)


def filled(matcher: Matcher, texts: list[str]) -> Matcher:
    if isinstance(matcher, Naive):
        # By definition, and not in the quadratic time that it would take by itself.
        fast = Native()
        for text in texts:
            if fast.upsert(text) == len(matcher._sets):
                matcher._sets.append(set(_WORDS.findall(text.lower())))
        return matcher
    for text in texts:
        matcher.upsert(text)
    return matcher


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def matching(size: int) -> list[Row]:
    texts = Texts(size)
    known = [texts.fresh() for _ in range(size)]
    contenders: dict[str, Matcher] = {"ours": filled(Native(), known), "python": filled(Naive(), known)}
    missing = ""
    try:
        contenders["rensa"] = filled(Rensa(), known)
    except ImportError as error:
        missing = str(error)
    took: dict[str, list[float]] = {name: [] for name in contenders}
    alike = missed = 0
    for _ in range(ROUNDS):
        asked = texts.asked(known, 40)
        answers = {}
        before = {name: len(matcher) for name, matcher in contenders.items()}
        for name, matcher in contenders.items():
            seconds, answers[name] = timed(lambda m=matcher, a=asked: [m.upsert(text) for text in a])
            took[name].append(seconds / len(asked))
        if answers["ours"] != answers["python"]:
            msg = "the index found other texts than the definition says"
            raise RuntimeError(msg)
        if not missing:
            for exact, approximate in zip(answers["python"], answers["rensa"], strict=True):
                alike += exact < before["python"]
                missed += exact < before["python"] and approximate >= before["rensa"]
    median = {name: statistics.median(values) for name, values in took.items()}
    budget = "CANDIDATE_MATCH_1K_VS_PYTHON" if size == 1_000 else "CANDIDATE_MATCH_10K_VS_PYTHON"
    remark = f"{median['ours'] * 1e6:.2f} us, plain Python {median['python'] * 1e6:.0f} us"
    rows = [
        Row(
            f"match among {size:,}, times faster than plain Python",
            budget,
            [median["python"] / median["ours"]],
            False,
            remark,
        )
    ]
    name = f"match among {size:,}, exact, times faster than rensa"
    if missing:
        return [*rows, Row(name, "CANDIDATE_MATCH_VS_RENSA", [], False, missing)]
    remark = f"rensa {median['rensa'] * 1e6:.2f} us, missing {missed} of {alike} that are alike"
    return [*rows, Row(name, "CANDIDATE_MATCH_VS_RENSA", [median["rensa"] / median["ours"]], False, remark)]


@contextmanager
def folder() -> Iterator[Path]:
    # On a disk: /tmp may be memory, where a flush costs nothing.
    parent = Path("build")
    parent.mkdir(exist_ok=True)
    path = Path(tempfile.mkdtemp(dir=parent, prefix="candidates-"))
    try:
        yield path
    finally:
        shutil.rmtree(path)


def observation(text: str) -> dict[str, Any]:
    return {"content": text, "score": 0.9, "success_delta": 1}


class Rewriting:
    """What the obvious store does: reads every text, then signs and writes every line again."""

    def __init__(self, path: Path, texts: list[str]) -> None:
        self._path = path
        self._rows = [{"content": text, "score": 0.9, "evidence": 1} for text in texts]

    def upsert(self, given: dict[str, Any]) -> None:
        words = set(_WORDS.findall(given["content"].lower()))
        best, found = 0.0, None
        for row in self._rows:
            known = set(_WORDS.findall(str(row["content"]).lower()))
            similarity = len(words & known) / len(words | known)
            if similarity >= 0.5 and similarity > best:
                best, found = similarity, row
        if found is None:
            self._rows.append({"content": given["content"], "score": given["score"], "evidence": 1})
        else:
            found["evidence"] = int(str(found["evidence"])) + 1
        lines = []
        for row in self._rows:
            data = json.dumps(row).encode()
            lines.append(data + hmac.digest(b"k" * 32, data, "sha256").hex().encode() + b"\n")
        temporary = self._path.with_suffix(".tmp")
        temporary.write_bytes(b"".join(lines))
        temporary.replace(self._path)


def storing(size: int) -> list[Row]:
    texts = Texts(size + 1)
    known = [texts.fresh() for _ in range(size)]
    with folder() as path, CandidateStore(path / "ours.jsonl", sync=False) as store:
        store.upsert_many([observation(text) for text in known])
        naive = Rewriting(path / "naive.jsonl", known)
        ours, theirs = [], []
        for _ in range(5):
            asked = [observation(text) for text in texts.asked(known, 20)]
            ours.append(timed(lambda a=asked: [store.upsert(given) for given in a])[0] / 20)
            few = asked[: 4 if size > 1_000 else 10]
            theirs.append(timed(lambda a=few: [naive.upsert(given) for given in a])[0] / len(few))
    mine, other = statistics.median(ours), statistics.median(theirs)
    budget = "CANDIDATE_STORE_1K_VS_REWRITING" if size == 1_000 else "CANDIDATE_STORE_10K_VS_REWRITING"
    remark = f"{mine * 1e6:.0f} us, rewriting {other * 1e3:.1f} ms"
    return [Row(f"whole upsert among {size:,}, times faster than rewriting", budget, [other / mine], False, remark)]


def growing() -> list[Row]:
    sizes = (1_000, 100_000)
    rows: list[Row] = []
    with folder() as path:
        known: dict[int, list[str]] = {}
        texts = {size: Texts(size + 2) for size in sizes}
        for size in sizes:
            known[size] = [texts[size].fresh() for _ in range(size)]
            with CandidateStore(path / f"{size}.jsonl", sync=False) as store:
                store.upsert_many([observation(text) for text in known[size]])
        for sync in (True, False):
            stores = {size: CandidateStore(path / f"{size}.jsonl", sync=sync) for size in sizes}
            took: dict[int, list[float]] = {size: [] for size in sizes}
            for _ in range(ROUNDS * 4):
                for size in sizes:
                    for text in texts[size].asked(known[size], 6):
                        took[size].append(timed(lambda s=stores[size], t=text: s.upsert(observation(t)))[0])
            small, large = (statistics.median(took[size]) for size in sizes)
            words = "flushed" if sync else "not flushed"
            remark = f"{small * 1e6:.0f} us and {large * 1e6:.0f} us"
            name = f"upsert, {words}, among 100,000 against 1,000, times slower"
            rows.append(Row(name, "CANDIDATE_UPSERT_100K_VS_1K", [large / small], True, remark))
            if not sync:
                rows.append(_evaluating(stores))
            for store in stores.values():
                store.close()
    return rows


def _evaluating(stores: dict[int, CandidateStore]) -> Row:
    counts = {}
    for size, store in stores.items():
        store.evaluate_all()  # what is to move has moved
        counts[size] = len(store.candidates())
    took: dict[int, list[float]] = {size: [] for size in stores}
    for _ in range(ROUNDS):
        for size, store in stores.items():
            took[size].append(timed(store.evaluate_all)[0] / counts[size])
    small, large = (statistics.median(values) for values in took.values())
    remark = f"{small * 1e6:.2f} us and {large * 1e6:.2f} us a candidate"
    name = "evaluate_all, per candidate, 100,000 against 1,000, times slower"
    return Row(name, "CANDIDATE_EVALUATE_100K_VS_1K", [large / small], True, remark)


GROUPS: tuple[Callable[[], list[Row]], ...] = (
    lambda: matching(1_000),
    lambda: matching(10_000),
    lambda: storing(1_000),
    lambda: storing(10_000),
    growing,
)


def measure() -> list[Row]:
    """Measure every group once."""
    return [row for group in GROUPS for row in group()]


def main() -> int:
    """Measure, print the table, and return 1 if a measured bar does not hold."""
    rows: list[Row] = []
    for group in GROUPS:
        rows += measured_rows(group)
    print(f"load average: {os.getloadavg()[0]:.2f}")
    print("\n".join(table(rows)))
    return 1 if any(row.measured and not row.holds for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
