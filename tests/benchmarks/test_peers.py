"""The protocol with the Node peer: against a pretended peer in Python, and the driver itself against a pretended package."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import shutil
import sys
import tarfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchmarks.peers import __main__ as program
from benchmarks.peers import install, node
from benchmarks.peers.install import PeerUnavailableError
from benchmarks.peers.node import NodePeer, PeerError

HELLO = '{"node": "1", "version": "9"}'


def pretended(*replies: str) -> list[str]:
    """Return a command that answers each line with the next reply and then ends with code 3."""
    code = f"import sys\nfor r in {list(replies)!r}:\n    sys.stdin.readline(); print(r, flush=True)\nsys.stdin.readline(); sys.exit(3)"
    return [sys.executable, "-S", "-c", code]


def test_a_timing_is_seconds_and_the_last_result() -> None:
    with NodePeer(
        pretended(HELLO, '{"prepared": 4}', '{"nanoseconds": [1500, 2], "result": [1], "last": 6}'), version="9"
    ) as peer:
        assert "node 1" in peer.name
        assert peer.prepare("embed", texts=["ä"]) == 4
        timing = peer.time("embed", times=2)
    assert timing == ([1.5e-6, 2e-9], [1], 6)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ('{"error": "no such thing"}', "could not time: no such thing"),
        ("warning: something", "a JSON object was due"),
        ("[1]", "a JSON object was due"),
        ('{"nanoseconds": [1], "result": null, "last": 0}', "timed 1 calls of embed, not 2"),
    ],
)
def test_a_bad_answer_is_an_error(reply: str, words: str) -> None:
    with NodePeer(pretended(HELLO, reply), version="9") as peer, pytest.raises(PeerError, match=words):
        peer.time("embed", times=2)


def test_a_peer_that_ends_is_an_error() -> None:
    with NodePeer(pretended(HELLO), version="9") as peer:
        with pytest.raises(PeerError, match="ended with code 3 at 'time'"):
            peer.time("embed", times=2)
        with pytest.raises(PeerError, match="ended with code 3"):
            peer.time("embed", times=2)


def test_another_version_is_not_taken() -> None:
    with pytest.raises(PeerUnavailableError, match="is 9, the benchmarks are pinned to 8"):
        NodePeer(pretended(HELLO), version="8")


# -- fetching ---------------------------------------------------------------------------------------------------------


def archive(path: Path, *names: str) -> str:
    """Write an npm archive and return its digest."""
    with tarfile.open(path, "w:gz") as tar:
        for name in names:
            entry = tarfile.TarInfo(name)
            entry.size = 2
            tar.addfile(entry, io.BytesIO(b"{}"))
    return "sha512-" + base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()


def test_an_archive_with_the_pinned_digest_is_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "a.tgz"
    digest = archive(path, "package/package.json", "package/dist/compiler.js")
    folder = tmp_path / "node_modules" / "@scope" / "name"
    install.unpack(path, folder, digest)
    assert (folder / "dist" / "compiler.js").read_bytes() == b"{}"
    assert [entry.name for entry in folder.parent.iterdir()] == ["name"]


def test_another_digest_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tgz"
    archive(path, "package/package.json")
    with pytest.raises(PeerUnavailableError, match="not the pinned"):
        install.unpack(path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_an_archive_that_leaves_its_folder_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.tgz"
    digest = archive(path, "../evil")
    with pytest.raises(tarfile.FilterError):
        install.unpack(path, tmp_path / "inner" / "out", digest)
    assert not (tmp_path / "inner" / "evil").exists()
    assert not (tmp_path / "evil").exists()


@pytest.mark.parametrize("present", [(), ("node",)])
def test_without_node_or_npm_the_peer_is_left_out_and_the_reason_printed(
    present: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TIPSTAFF_PEERS", str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda name: f"/bin/{name}" if name in present else None)
    assert program.main() == 0
    missing = "npm" if present else "node"
    assert f"is left out: {missing} not found" in capsys.readouterr().out


def test_without_the_package_the_peer_is_unavailable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TIPSTAFF_PEERS", str(tmp_path))
    monkeypatch.setattr(shutil, "which", lambda _: sys.executable)
    with pytest.raises(PeerUnavailableError, match="is not installed"):
        NodePeer()


# -- the driver -------------------------------------------------------------------------------------------------------

COMPILER = """
export class GuidanceCompiler {
  compile(root, local) {
    if (root === 'broken') throw new Error('cannot compile');
    const shards = root.split(' ');
    return { manifest: { totalRules: shards.length, constitutionRules: local ? 1 : 0 }, shards };
  }
}
"""
RETRIEVER = """
export class HashEmbeddingProvider {
  constructor(dimensions) { this.dimensions = dimensions; this.cache = new Map(); this.met = 0; }
  async embed(text) {
    if (!this.cache.has(text)) { this.met++; this.cache.set(text, [text.length, this.dimensions, this.met]); }
    return this.cache.get(text);
  }
}
export class ShardRetriever {
  constructor(provider) { this.provider = provider; }
  async loadBundle(bundle) { this.bundle = bundle; }
  get shardCount() { return this.bundle.shards.length; }
  async retrieve({ taskDescription }) {
    const [, , met] = await this.provider.embed(taskDescription);
    const shards = this.bundle.shards.map(shard => ({ shard, similarity: met }));
    return { shards, detectedIntent: taskDescription, policyText: 'text' };
  }
}
"""


@pytest.fixture
def driver(tmp_path: Path) -> Iterator[NodePeer]:
    program = shutil.which("node")
    if program is None:
        pytest.skip("the driver needs Node")
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "compiler.js").write_text(textwrap.dedent(COMPILER))
    (tmp_path / "dist" / "retriever.js").write_text(textwrap.dedent(RETRIEVER))
    (tmp_path / "package.json").write_text(json.dumps({"version": "9", "type": "module"}))
    with NodePeer([program, str(node._DRIVER), str(tmp_path)], version="9") as peer:
        yield peer


def test_the_driver_times_exactly_the_calls_asked_for(driver: NodePeer) -> None:
    driver.prepare("compile", root="a b c", local="d")
    timing = driver.time("compile", times=7, warm=5)
    assert len(timing.seconds) == 7
    assert all(value > 0 for value in timing.seconds)
    assert timing.result == {"rules": 3, "constitution": 1, "shards": 3}
    assert timing.last == 11


def test_the_driver_runs_through_its_inputs(driver: NodePeer) -> None:
    driver.prepare("embed", texts=["a", "bb", "ccc"], dimensions=5)
    found = [driver.time("embed", times=1) for _ in range(4)]
    assert [timing.result[0] for timing in found] == [1, 2, 3, 1]
    assert [timing.last for timing in found] == [0, 1, 2, 3]
    assert {timing.result[2] for timing in found} == {1}, "every text is met for the first time"


@pytest.mark.parametrize(("seen", "met"), [(True, 2), (False, 6)])
def test_the_peer_remembers_tasks_only_where_it_is_allowed_to(driver: NodePeer, seen: bool, met: int) -> None:
    bundle = {"shards": [{"rule": {"id": "A-1"}}]}
    assert driver.prepare("retrieve", bundle=bundle, tasks=["x", "y"], seen=seen) == 1
    result = driver.time("retrieve", times=2, warm=4).result
    assert result["ids"] == ["A-1"]
    assert result["intent"] == "y"
    assert result["similarities"] == [met]


def test_the_driver_answers_mistakes_and_continues(driver: NodePeer) -> None:
    with pytest.raises(PeerError, match="compile is not prepared"):
        driver.time("compile", times=1)
    with pytest.raises(PeerError, match="unknown operation toString"):
        driver.prepare("toString")
    with pytest.raises(PeerError, match="unknown request dance"):
        driver.ask({"do": "dance"})
    driver.prepare("compile", root="broken")
    with pytest.raises(PeerError, match="cannot compile"):
        driver.time("compile", times=1)
    driver.prepare("compile", root="ä\nb c")
    assert driver.time("compile", times=1).result["rules"] == 2
