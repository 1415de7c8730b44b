"""The compiled rules as the hook program maps them, so that no interpreter starts when a prompt is sent.

The file is in the owner's state folder beside the policy. Its layout is that of
``native/include/tipstaff/hook/guidance/guidance.hpp``: a head, a record for each shard,
texts, and the index by which retrieval searches.
"""

from __future__ import annotations

import os
import struct
from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tipstaff import __version__
from tipstaff.errors import ConfigError
from tipstaff.guidance.embeddings.static_embedding import StaticEmbedding
from tipstaff.guidance.hook.scopes import write_scopes
from tipstaff.guidance.intents.classify import LEXICON
from tipstaff.guidance.retrieval.fused_index import intent_mask, search_blob
from tipstaff.guidance.retrieval.search import LEAST_SHARE
from tipstaff.guidance.retrieval.selection import PROMPT_TOKENS
from tipstaff.guidance.retrieval.shard_profiles import Cards
from tipstaff.guidance.retrieval.task_vocabulary import query_lexicon
from tipstaff.guidance.retrieval.vectors import boosts_of, path_boost_of
from tipstaff.model import EVERYWHERE, PolicyBundle
from tipstaff.store.replacing import replaced_file
from tipstaff.store.state import fast_sum, fnv64, make_private, note_compiler, source_line, state_folder, with_parts

MAGIC: Final = b"TIPSGUID"
VERSION: Final = 5
_HEAD: Final = struct.Struct("<8sII QQ II dd fffI" + "II" * 12 + "QQ")
_RULE: Final = struct.Struct("<IIIIIIIiIIIIIIII")
_LAW, _CRITICAL, _HIGH, _CONSTITUTION = (1 << bit for bit in range(4))
"""Flags of rules: contradicts the constitution; risk classes; belongs to the constitution, which has no room for it."""
_EVERYWHERE: Final = 0xFFFFFFFF
MAX_RULES: Final = 100_000
"""More than so many shards are not put into an image: the hook would read too long."""


def hook_image_path(repository: Path, state: Path | None = None) -> Path:
    """Return where the compiled rules of a repository are for the hook."""
    folder = state_folder() if state is None else state
    return folder / "guidance" / f"{fnv64(os.fsencode(repository)):016x}.guidance"


def write_hook_image(
    bundle: PolicyBundle, repository: Path, *, embedding: StaticEmbedding | None = None, state: Path | None = None
) -> Path:
    """Write the compiled rules of a repository for the hook, owner-only, and return the file's path.

    Parameters
    ----------
    bundle
        The rules.
    repository
        The repository's root, absolute, as the hook finds it: the nearest folder with a ``.git``.
    embedding
        The package's own table where None.
    state
        The state folder; `tipstaff.store.state.state_folder` where None.

    Raises
    ------
    ConfigError
        If there are more than `MAX_RULES` shards.
    StoreWriteError
        If it cannot be written; a former one is unharmed.
    """
    state = state_folder() if state is None else state
    path = hook_image_path(repository, state)
    data = hook_image(bundle, repository, StaticEmbedding() if embedding is None else embedding)
    make_private(path.parent)
    note_compiler(state)
    with replaced_file(path) as file:
        file.write(data)
    return path


def hook_image(bundle: PolicyBundle, repository: Path, embedding: StaticEmbedding) -> bytes:
    """Return the bytes of the file."""
    shards = bundle.shards
    if len(shards) > MAX_RULES:
        raise ConfigError(f"{len(shards)} rules are too many for the hook; it takes at most {MAX_RULES}")
    strings = bytearray()

    def text(value: str) -> tuple[int, int]:
        encoded = value.encode("utf-8", "replace")
        strings.extend(encoded)
        return len(strings) - len(encoded), len(encoded)

    rivals = _rivals(bundle)
    cards = Cards(shards.__getitem__, bundle.constitution, {}, len(shards))
    conflicts: array[int] = array("I")
    scopes: array[int] = array("I")
    scopes_at: dict[tuple[str, ...], int] = {}
    records = bytearray()
    for row, shard in enumerate(shards):
        rule = shard.rule
        flags = _LAW if cards.card(row).against is not None else 0
        flags |= {"critical": _CRITICAL, "high": _HIGH}.get(rule.risk_class, 0)
        flags |= _CONSTITUTION if rule.is_constitution else 0
        first, others = len(conflicts), rivals.get(row, ())
        conflicts.extend(others)
        holds = rule.repo_scopes
        if EVERYWHERE not in holds and holds not in scopes_at:
            scopes_at[holds] = write_scopes(holds, text, scopes)
        location = f"{rule.path}:{rule.line}" if rule.line else rule.path
        records += _RULE.pack(
            *text(rule.id), *text(_one_line(shard.compact_text)), *text(_one_line(location)), flags, rule.priority,
            _day(rule.active_from), _day(rule.active_until), first, len(others),
            len(f"- {shard.compact_text}") // 4 + 1, 0, intent_mask(rule.intents), scopes_at.get(holds, _EVERYWHERE),
        )  # fmt: skip
    sources = b"".join(source_line(repository / name) for name in sorted(bundle.manifest.source_hashes))
    parts = (
        os.fsencode(repository),
        bundle.constitution.text.rstrip("\n").encode("utf-8", "replace"),
        bundle.constitution.hash.encode(),
        os.fsencode(embedding.path),
        sources,
        bytes(records),
        conflicts.tobytes(),
        bytes(strings),
        scopes.tobytes(),
        LEXICON.read_bytes(),
        search_blob(shards, embedding),
        query_lexicon(),
    )
    numbers = (
        len(shards), embedding.dimensions, LEAST_SHARE, path_boost_of(embedding), *boosts_of(embedding), PROMPT_TOKENS
    )  # fmt: skip
    return _packed(numbers, parts, embedding.digest)


def _packed(numbers: Sequence[float], parts: Sequence[bytes], digest: int) -> bytes:
    data, extents = with_parts(_HEAD.size, parts)
    checksum = fast_sum(data[_HEAD.size :])
    data[: _HEAD.size] = _HEAD.pack(
        MAGIC, VERSION, _HEAD.size, len(data), checksum, *numbers, *extents, digest, edition()
    )
    return bytes(data)


def hook_image_fault(data: bytes) -> str:
    """Return what is wrong with the bytes of a file, empty where nothing is."""
    if len(data) < _HEAD.size or not data.startswith(MAGIC):
        return "it is damaged"
    head = _HEAD.unpack_from(data)
    if (head[1], head[-1]) != (VERSION, edition()):
        return "it was compiled by another version of tipstaff"
    return "" if head[3] == len(data) and head[4] == fast_sum(data[_HEAD.size :]) else "it is damaged"


def edition() -> int:
    """Return what rules that this version compiled are known by."""
    return fnv64(__version__.encode())


def _rivals(bundle: PolicyBundle) -> dict[int, tuple[int, ...]]:
    """Return for each shard those that say the opposite where both hold, and of which only one can be given.

    Nobody knows where a prompt's author works: rules of an outer and an inner folder both say where they hold.
    """
    row_of = {shard.rule.id: row for row, shard in enumerate(bundle.shards)}
    found: dict[int, set[int]] = {}
    for one in bundle.relations:
        if one.kind == "contradiction" and one.left in row_of and one.right in row_of:
            left, right = row_of[one.left], row_of[one.right]
            ours, theirs = bundle.shards[left].rule, bundle.shards[right].rule
            if ours.depth != theirs.depth and ours.is_constitution == theirs.is_constitution:
                continue
            found.setdefault(left, set()).add(right)
            found.setdefault(right, set()).add(left)
    return {row: tuple(sorted(others)) for row, others in found.items()}


def _day(day: str | None) -> int:
    return int(day.replace("-", "")) if day else 0


def _one_line(text: str) -> str:
    return " ".join(text.split())
