from __future__ import annotations

import stat
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from tests.context.requests import CANDIDATES, LINES, request
from tipstaff.context import ContextSession, estimate_tokens
from tipstaff.context.inspecting.snapshot import SnapshotFolder, take_snapshot
from tipstaff.context.prompt.assembly import ContextAssemblyPlan
from tipstaff.context.prompt.sections import SystemPromptBudget
from tipstaff.errors import SourceError, SourceNotFoundError, StoreWriteError


def test_it_is_what_was_assembled() -> None:
    snapshot = request(taken_at=datetime(2026, 1, 2, 3, tzinfo=UTC))
    assert snapshot.taken_at == "2026-01-02T03:00:00.000+00:00"
    assert [section.ref for section in snapshot.sections][4:6] == ["rules", "rules#2"]
    second = snapshot.find("rules#2")
    assert second is not None
    assert second.content.startswith("Second")
    cut = snapshot.find("memory:Workspace Memory")
    assert cut is not None
    assert cut.truncated
    assert cut.cut is not None
    assert cut.cut.removed_chars == cut.cut.end - cut.cut.start > 1000
    assert (cut.base_priority, cut.priority, cut.boosts[0].applied, cut.boosts[0].evidence) == (
        70,
        80,
        10,
        "StreamingLoop",
    )
    assert snapshot.truncated_section_keys == ("memory:Workspace Memory", "git")
    assert snapshot.window_share == snapshot.estimated_tokens / 128_000
    assert snapshot.request_tokens == snapshot.estimated_tokens + 64_000
    assert snapshot.injected_candidate_ids == ("cand-1", "cand-2")
    assert snapshot.find("no") is None


def test_only_candidates_whose_line_was_sent_count() -> None:
    text = "## Learned\n" + LINES[1]
    prompt = ContextAssemblyPlan().add_section("candidates", text, 50).build(SystemPromptBudget())
    assert take_snapshot(prompt, session_id="s", candidates=CANDIDATES).injected_candidate_ids == ("cand-2",)
    prompt = ContextAssemblyPlan().add_section("base", text, 50).build(SystemPromptBudget())
    assert take_snapshot(prompt, session_id="s", candidates=CANDIDATES).injected_candidate_ids == ()


def test_messages_and_tools_are_measured_where_nobody_knows_better() -> None:
    tools = [{"name": "read", "description": "reads a file", "input_schema": {"type": "object"}}]
    snapshot = request(tools=tools, tool_tokens=None, message_tokens=None, count=estimate_tokens)
    assert snapshot.message_count == 12
    assert snapshot.message_tokens == 12 * (4 + 2)
    assert snapshot.tool_tokens == 1 + 3 + 5 + 10
    assert request(tools=tools).tool_tokens == 4_000


def test_an_unknown_window_has_no_share() -> None:
    assert request(context_window=0).window_share is None


def test_recorded_requests_are_read_back(tmp_path: Path) -> None:
    folder = SnapshotFolder(tmp_path / "c", kept=3)
    assert folder.sessions() == ()
    taken = [folder.record(request(extra=str(number))) for number in range(5)]
    assert [snapshot.request_number for snapshot in taken] == [1, 2, 3, 4, 5]
    assert folder.numbers("s1") == (3, 4, 5)
    assert folder.load() == folder.load("s1") == folder.load("s1", 5) == taken[4]
    assert folder.load("s1", 3) == taken[2]
    for missing in (("s1", 1), ("other", None)):
        with pytest.raises(SourceNotFoundError):
            folder.load(*missing)
    with pytest.raises(SourceNotFoundError, match="no request has been recorded"):
        SnapshotFolder(tmp_path / "none").load()


def test_only_the_owner_reads_them(tmp_path: Path) -> None:
    folder = SnapshotFolder.of_project(tmp_path)
    folder.record(request())
    session = tmp_path / ".tipstaff" / "context" / "s1"
    assert stat.S_IMODE(session.stat().st_mode) == 0o700
    assert {file.name: stat.S_IMODE(file.stat().st_mode) for file in session.iterdir()} == {
        ".lock": 0o600,
        "00000001.json": 0o600,
    }
    assert (tmp_path / ".tipstaff" / "context" / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize("session_id", ["../../etc", "..", ".", "", "a/b\\c", "x" * 300, "日本\ud800", "CON", "%2e"])
def test_any_session_id_stays_inside_the_folder(tmp_path: Path, session_id: str) -> None:
    folder = SnapshotFolder(tmp_path / "c")
    folder.record(request(session_id))
    assert folder.load(session_id).request_number == 1
    assert {path.name for path in tmp_path.iterdir()} == {"c"}
    assert len(list((tmp_path / "c").iterdir())) == 2


def test_half_surrogates_are_recorded(tmp_path: Path) -> None:
    prompt = ContextAssemblyPlan().add_section("x\ud800", "cut \ud83d here", 50).build(SystemPromptBudget())
    snapshot = SnapshotFolder(tmp_path).record(take_snapshot(prompt, session_id="s"))
    assert SnapshotFolder(tmp_path).load("s") == snapshot
    assert snapshot.sections[0].content == "cut \ufffd here"


def test_contents_may_be_left_out() -> None:
    assert {section.content for section in request(keep_content=False).sections} == {""}


def test_what_cannot_be_read_or_written_says_so(tmp_path: Path) -> None:
    folder = SnapshotFolder(tmp_path / "c")
    folder.record(request())
    (tmp_path / "c" / "s1" / "00000001.json").write_bytes(b"\xff{")
    with pytest.raises(SourceError, match="not a snapshot"):
        folder.load("s1")
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreWriteError):
        SnapshotFolder(tmp_path / "file").record(request())


def test_writers_at_the_same_time_never_take_the_same_number(tmp_path: Path) -> None:
    snapshot = take_snapshot(ContextAssemblyPlan().add_section("base", "text", 95).build(), session_id="s")
    with ThreadPoolExecutor(8) as threads:
        # Each has a folder of its own, as processes have.
        found = list(threads.map(lambda _: SnapshotFolder(tmp_path, kept=100).record(snapshot), range(40)))
    assert sorted(one.request_number for one in found) == list(range(1, 41))
    assert SnapshotFolder(tmp_path).numbers("s") == tuple(range(1, 41))


def test_no_secret_is_written(tmp_path: Path) -> None:
    secret = "sk_" + "live_" + "u7x8Kd2mQ9vLp4Rt6Yz1Wb3N"
    session = ContextSession(tmp_path, base="You are an agent.", git=None, environment=f"KEY={secret}")
    session.request(f"always use the key {secret} for staging")
    session.close()
    written = [path.read_bytes() for path in (tmp_path / ".tipstaff").rglob("*") if path.is_file()]
    assert any(b"for staging" in text for text in written)
    assert [text for text in written if secret.encode() in text] == []
