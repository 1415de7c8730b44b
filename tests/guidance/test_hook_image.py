from __future__ import annotations

import os
import struct
from pathlib import Path

import pytest

from tipstaff import StaticEmbedding, compile_guidance
from tipstaff.errors import ConfigError
from tipstaff.guidance import hook_image as module
from tipstaff.guidance.hook_image import (
    hook_image,
    hook_image_path,
    remove_hook_image,
    topic_hashes,
    word_hash,
    write_hook_image,
)
from tipstaff.guidance.project import compile_repository
from tipstaff.store.state import fast_sum, fnv64

RULES = """
## Security
- [SEC-001] Never log tokens (critical)

## Work
- [R-001] Always squash commits before merging priority:90
- [R-002] Never squash commits before merging
- [R-003] Log tokens when a login fails
- [R-004] Translate every button until:2030-01-31
"""


def parts(data: bytes) -> list[bytes]:
    head = module._HEAD.unpack_from(data)
    places = head[13:33]
    return [data[at : at + size] for at, size in zip(places[::2], places[1::2], strict=True)]


def test_the_image_holds_what_the_hook_reads(tmp_path: Path) -> None:
    bundle = compile_guidance(RULES)
    embedding = StaticEmbedding()
    data = hook_image(bundle, tmp_path, embedding)
    magic, version, head_bytes, file_bytes, checksum, count, dimensions, *_ = module._HEAD.unpack_from(data)
    assert (magic, version, head_bytes, file_bytes) == (b"TIPSGUID", 1, 152, len(data))
    assert checksum == fast_sum(data[152:])
    assert (count, dimensions) == (len(bundle.shards), 256)
    root, constitution, digest, table, _, rows, records, conflicts, _, strings = parts(data)
    assert root == os.fsencode(tmp_path)
    assert constitution.decode() == bundle.constitution.text.rstrip("\n")
    assert digest.decode() == bundle.constitution.hash
    assert Path(table.decode()).is_file()
    assert len(rows) == 4 * count * dimensions
    assert len(records) == count * 56
    by_id = {}
    for row in range(count):
        fields = struct.unpack_from("<IIIIIIIiIIIIII", records, 56 * row)
        by_id[strings[fields[0] : fields[0] + fields[1]].decode()] = (row, fields)
    assert list(by_id) == [shard.rule.id for shard in bundle.shards]
    row, fields = by_id["R-002"]
    assert (fields[10], fields[11]) == (fields[10], 1)
    (rival,) = struct.unpack_from("<I", conflicts, 4 * fields[10])
    assert rival == by_id["R-001"][0]
    assert by_id["R-001"][1][7] == 90
    assert by_id["R-003"][1][6] & 1  # it contradicts the constitution
    assert by_id["R-004"][1][9] == 20300131
    assert row == 1


def test_it_is_written_for_the_owner_alone_and_removed(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text(RULES, encoding="utf-8")
    state = tmp_path / "state"
    path = write_hook_image(compile_repository(tmp_path), tmp_path, state=state)
    assert path == hook_image_path(tmp_path, state)
    assert path.name == f"{fnv64(os.fsencode(tmp_path)):016x}.guidance"
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0
    about = (tmp_path / "CLAUDE.md").stat()
    assert f"{about.st_mtime_ns} {about.st_size} {tmp_path}/CLAUDE.md\n".encode() in path.read_bytes()
    assert remove_hook_image(tmp_path, state) == [path]
    assert remove_hook_image(tmp_path, state) == []


def test_too_many_rules_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_RULES", 2)
    with pytest.raises(ConfigError, match="4 rules are too many for the hook; it takes at most 2"):
        hook_image(compile_guidance(RULES), tmp_path, StaticEmbedding())


def test_words_are_hashed_without_their_endings() -> None:
    assert word_hash("migrations") == word_hash("migration")
    assert word_hash("merging") == word_hash("merged") == word_hash("merge")
    assert word_hash("log") != word_hash("logs")  # too short to be cut
    assert word_hash("x") == 0
    assert set(topic_hashes("Never log the tokens")) >= {word_hash("log"), word_hash("tokens")}
    assert word_hash("the") not in topic_hashes("Never log the tokens")
