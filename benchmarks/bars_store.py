"""The bar of the shard store: how many times faster it opens than its columns unpickle, measured in one run.

``python -m benchmarks.bars_store`` prints the median ratio beside `tipstaff.budgets.OPEN_VS_UNPICKLE`.

Both sides end with the texts, vectors and masks of 100,000 shards at hand: pickle as a list of strings and arrays in
this process's memory, the store as views into a file in the page cache. The store has then read and checked the masks
and other small columns; the vectors have not been touched, and decoding a shard, printed beside, is paid when it is
asked for.
"""

from __future__ import annotations

import pickle
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tipstaff import budgets
from tipstaff.model import INTENTS, RISK_CLASSES, Constitution, GuidanceRule, PolicyBundle, RuleManifest, RuleShard
from tipstaff.store.shards import open_store, write_store

N_SHARDS = 100_000
DIMS = 384
ROUNDS = 9


class Files(NamedTuple):
    """The same columns, once for each contender."""

    store: Path
    pickled: Path
    npy: Path


def large_bundle(n_shards: int) -> PolicyBundle:
    """Return a bundle of rules of usual length, in files and sections that repeat."""
    shards: list[RuleShard] = []
    for index in range(n_shards):
        rule = GuidanceRule(
            id=f"RULE-{index:06d}",
            text=f"Rule {index}: run the checks of part {index % 97} before a change to it is handed over for review.",
            risk_class=RISK_CLASSES[index % len(RISK_CLASSES)],
            intents=(INTENTS[index % len(INTENTS)], INTENTS[index * 7 % len(INTENTS)]),
            repo_scopes=(f"src/part{index % 97}/**",),
            priority=index % 200,
            path=f"src/part{index % 97}/CLAUDE.md",
            line=index % 900 + 1,
            end_line=index % 900 + 1,
            heading=f"Section {index % 11}",
        )
        shards.append(RuleShard(rule, f"[{rule.id}] {rule.text}"))
    manifest = RuleManifest(
        rules=(), source_hashes={}, total_rules=n_shards, constitution_rules=0, shard_rules=n_shards
    )
    return PolicyBundle(constitution=Constitution((), "", ""), shards=tuple(shards), manifest=manifest)


def write_files(folder: Path, n_shards: int = N_SHARDS, dims: int = DIMS) -> Files:
    """Write a store, and its columns for the other contenders."""
    files = Files(folder / "rules.store", folder / "columns.pickle", folder / "vectors.npy")
    bundle = large_bundle(n_shards)
    vectors = np.random.default_rng(11).standard_normal((n_shards, dims), dtype=np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    write_store(files.store, bundle, vectors, embedding_identity="bench")
    with open_store(files.store) as store, files.pickled.open("wb") as file:
        texts = [shard.compact_text for shard in bundle.shards]
        numbers = [np.array(column) for column in (store.intent_masks, store.risks, store.priorities)]
        pickle.dump((texts, vectors, *numbers), file, protocol=pickle.HIGHEST_PROTOCOL)
    np.save(files.npy, vectors)
    return files


def unpickle(path: Path) -> int:
    """Load the pickled columns; return how many shards there are."""
    with path.open("rb") as file:
        return len(pickle.load(file)[0])


def open_mapped(path: Path) -> int:
    """Open the store and take its columns; return how many shards there are."""
    with open_store(path, embedding_identity="bench") as store:
        columns = (store.vectors, store.intent_masks, store.risks, store.priorities)
        return min(len(column) for column in columns)


def _seconds(call: Callable[[Path], int], path: Path, times: int) -> float:
    spent: list[float] = []
    for _ in range(times):
        start = time.perf_counter()
        found = call(path)
        spent.append(time.perf_counter() - start)
        if found != N_SHARDS:
            raise AssertionError(f"{path}: {found} shards")
    return statistics.median(spent)


def open_vs_unpickle() -> float:
    """Return how many times longer unpickling takes than opening: the median of interleaved rounds."""
    with tempfile.TemporaryDirectory() as folder:
        files = write_files(Path(folder))
        ratios: list[float] = []
        for _ in range(ROUNDS):
            opening = _seconds(open_mapped, files.store, 15)
            unpickling = _seconds(unpickle, files.pickled, 1)
            ratios.append(unpickling / opening)
            print(f"  open {opening * 1e3:.3f} ms, unpickle {unpickling * 1e3:.1f} ms", file=sys.stderr)
        with open_store(files.store) as store:
            start = time.perf_counter()
            store.shard(0)
            first = time.perf_counter()
            for index in range(1, 1001):
                store.shard(index)
            later = time.perf_counter()
        print(
            f"  first shard {(first - start) * 1e3:.2f} ms, each further {(later - first) * 1e3:.2f} us",
            file=sys.stderr,
        )
    return statistics.median(ratios)


def main() -> int:
    """Print the ratio and the bar; return 0 where it is met."""
    ratio, bar = open_vs_unpickle(), budgets.OPEN_VS_UNPICKLE
    met = ratio >= bar
    print(f"open a store of {N_SHARDS:,} shards: {ratio:.0f}x faster than unpickling, bar {bar:.0f}x, {met=}")
    return 0 if met else 1


if __name__ == "__main__":
    raise SystemExit(main())
