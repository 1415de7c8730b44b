from __future__ import annotations

import os
import struct
from array import array
from pathlib import Path

import msgspec
import pytest

from tipstaff import StaticEmbedding, compile_guidance
from tipstaff.errors import ConfigError
from tipstaff.guidance.hook import image as module
from tipstaff.guidance.hook.image import (
    hook_image,
    hook_image_path,
    write_hook_image,
)
from tipstaff.guidance.hook.scopes import write_scopes
from tipstaff.guidance.intents.classify import LEXICON
from tipstaff.guidance.project import compile_repository
from tipstaff.guidance.retrieval.shard_index import search_blob
from tipstaff.guidance.retrieval.task_vocabulary import query_lexicon
from tipstaff.model import INTENTS
from tipstaff.store.state import fast_sum, fnv64

RULES = """
## Security
- [SEC-001] Never log tokens (critical)

## Work
- [R-001] Always squash commits before merging priority:90
- [R-002] Never squash commits before merging
- [R-003] Log tokens when a login fails
- [R-004] Translate every button until:2030-01-31 scope:web/**/*.ts scope:!web/[a-c]?.ts #docs
"""


def parts(data: bytes) -> list[bytes]:
    head = module._HEAD.unpack_from(data)
    extents = head[13:37]
    return [data[at : at + size] for at, size in zip(extents[::2], extents[1::2], strict=True)]


def test_the_image_holds_what_the_hook_reads(tmp_path: Path) -> None:
    bundle = compile_guidance(RULES)
    embedding = StaticEmbedding()
    data = hook_image(bundle, tmp_path, embedding)
    magic, version, head_bytes, file_bytes, checksum, count, dimensions, *_ = module._HEAD.unpack_from(data)
    assert (magic, version, head_bytes, file_bytes) == (b"TIPSGUID", module.VERSION, 184, len(data))
    assert checksum == fast_sum(data[184:])
    assert (count, dimensions) == (len(bundle.shards), 256)
    root, constitution, digest, table, _, records, conflicts, strings, scopes, intents, index, words = parts(data)
    assert root == os.fsencode(tmp_path)
    assert constitution.decode() == bundle.constitution.text.rstrip("\n")
    assert digest.decode() == bundle.constitution.hash
    assert Path(table.decode()).is_file()
    assert len(records) == count * 64
    by_id = {}
    for row in range(count):
        fields = struct.unpack_from("<IIIIIIIiIIIIIIII", records, 64 * row)
        by_id[strings[fields[0] : fields[0] + fields[1]].decode()] = (row, fields)
    assert list(by_id) == [shard.rule.id for shard in bundle.shards]
    row, fields = by_id["R-002"]
    assert (fields[10], fields[11]) == (fields[10], 1)
    (rival,) = struct.unpack_from("<I", conflicts, 4 * fields[10])
    assert rival == by_id["R-001"][0]
    assert by_id["R-001"][1][7] == 90
    assert by_id["R-003"][1][6] & 1  # it contradicts the constitution
    assert by_id["R-004"][1][9] == 20300131
    assert by_id["R-004"][1][14] == 1 << INTENTS.index("docs")
    assert by_id["R-001"][1][15] == 0xFFFFFFFF
    assert by_id["R-004"][1][15] == 0
    assert struct.unpack_from("<I", scopes) == (2,)
    assert intents == LEXICON.read_bytes()
    assert index == search_blob(bundle.shards, embedding)
    assert words == query_lexicon()
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


def test_too_many_rules_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_RULES", 2)
    with pytest.raises(ConfigError, match="4 rules are too many for the hook; it takes at most 2"):
        hook_image(compile_guidance(RULES), tmp_path, StaticEmbedding())


def test_only_rules_of_one_depth_exclude_each_other() -> None:
    bundle = compile_guidance(RULES)
    assert module._rivals(bundle) == {0: (1,), 1: (0,)}
    deep = msgspec.structs.replace(bundle.shards[0].rule, depth=2)
    shards = (msgspec.structs.replace(bundle.shards[0], rule=deep), *bundle.shards[1:])
    assert module._rivals(msgspec.structs.replace(bundle, shards=shards)) == {}


def test_scopes_are_taken_apart() -> None:
    texts: list[str] = []

    def keep(text: str) -> tuple[int, int]:
        texts.append(text)
        return len(texts), len(text)

    out = array("I", [9])
    at = write_scopes(("src/**/*.t{s,x}", "!a?", "[", "![", "[!a-c]"), keep, out)
    star, one, others = 0x80000000, 0x80000001, 0x81800001
    name = [3, *map(ord, "src"), 0]
    assert at == 1
    assert list(out[1:-19]) == [
        4,
        0, 2, 3, 0, 10, *name, 4, star, *map(ord, ".ts"), 3, 0, 10, *name, 4, star, *map(ord, ".tx"),
        1, 1, 2, 0, 4, 0, 2, ord("a"), one,
        0, 0,
        0, 1, 2, 0, 5, 0, 3, others, ord("a"), ord("c"),
    ]  # fmt: skip
    assert texts == ["src/", "", ".ts", "src/", "", ".tx", "", "", ""]
    assert out[-19] == 3
