"""What a request holds beside its messages: relevance, the repository's state, candidates, and what is reported."""

from __future__ import annotations

import contextlib
import errno
import shutil
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.context import (
    CandidateStore,
    ContextAssemblyPlan,
    ContextSession,
    MemoryTiers,
    RequestFocus,
    SystemPromptBudget,
)
from tipstaff.context.inspecting.snapshot import SnapshotFolder
from tipstaff.context.prompt.assembly import PromptOverflowError
from tipstaff.context.prompt.relevance import condense, paragraphs, relevant_chars
from tipstaff.context.sources.git_state import GitState
from tipstaff.errors import ConfigError, StoreWriteError

FILES = {
    ".tipstaff/SOUL.md": "Careful.",
    "TIPSTAFF.md": "Times are UTC.",
    "AGENTS.md": "# Shop\n\n- [SHOP-1] Never log card numbers (critical)\n",
    ".tipstaff/rules/shop.md": "---\npaths: ['shop/*.py']\n---\n- Keep cents as integers.\n",
    ".tipstaff/memory/MEMORY.md": "shop/orders.py was rewritten.",
    ".tipstaff/auto-memory.md": "The build is slow.",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "p" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "p"


def session(project: Path, **more: Any) -> ContextSession:
    tiers = MemoryTiers(project, home=project / "home")
    return ContextSession(project, base="You are an agent.", tiers=tiers, **{"git": None, **more})


def test_the_order_and_the_boosts(project: Path) -> None:
    found = session(project, tool_guidance="Read first.", skills="- mend", environment="Linux")
    found.request("fix the sum in shop/orders.py")
    report = found.report
    assert report is not None
    assert [section.key for section in report.sections] == [
        "base", "rules:constitution", "memory:soul", "memory:workspace-memory", "tool-guidance", "skills",
        "memory:auto-memory", "memory:markdown-memory", "environment", "rules:task", "task-focus",
    ]  # fmt: skip
    boosted = {section.key: [boost.reason for boost in section.boosts] for section in report.sections}
    assert boosted["memory:markdown-memory"] == ["file"]
    assert boosted["memory:auto-memory"] == ["learned"]
    assert boosted["rules:task"] == ["glob"]
    assert found.problems == ()
    assert report.request_number == 1
    assert SnapshotFolder.of_project(project).load("session") == report


def test_the_beginning_is_the_same_for_every_request(project: Path) -> None:
    (project / "TIPSTAFF.md").write_text("Orders and prices.\n\n" * 900, encoding="utf-8")
    queries = ("fix shop/orders.py", "continue", "what is `Orders` about?", "Prices and orders, next steps")
    sent = [session(project, model_window=10_000, max_output=1_000).request(query) for query in queries]
    assert len({call["system"][0]["text"] for call in sent}) == 1
    assert len(sent[0]["system"][0]["text"]) > 2_000


def test_protected_sections_that_do_not_fit_are_an_error(project: Path) -> None:
    tiers = MemoryTiers(project, home=project / "home")
    found = ContextSession(project, base="long " * 2_000, tiers=tiers, model_window=8_000, max_output=1_000)
    with pytest.raises(PromptOverflowError, match="base 10,000"):
        found.request("x")


def promoted(path: Path) -> CandidateStore:
    store = CandidateStore(path, sync=False)
    for number in range(3):
        store.upsert({"content": "Cents are integers", "score": 0.9, "success_delta": 1, "source_ref": f"s{number}"})
    store.evaluate_all()
    return store


def test_candidates_are_in_use_once_they_were_sent(project: Path) -> None:
    with promoted(project / "c.db") as store:
        found = session(project, candidates=store)
        assert "Cents are integers" in str(found.request("mend the sum of cents"))
        assert found.report is not None
        assert [store.candidate(one).state for one in found.report.injected_candidate_ids] == ["IN_USE"]  # type: ignore[union-attr]


def test_a_full_disk_stops_no_request(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = promoted(project / "c.db")
    found = session(project, candidates=store)

    def full(*_: object, **__: object) -> object:
        raise StoreWriteError(errno.ENOSPC, "could not be written: No space left on device", "disk")

    monkeypatch.setattr(SnapshotFolder, "record", full)
    monkeypatch.setattr(CandidateStore, "mark_used", full)
    assert "Cents are integers" in str(found.request("mend the sum of cents"))
    assert [problem.split(":")[0] for problem in found.problems] == [
        "the request was not recorded",
        "the candidates were not marked as used",
    ]
    monkeypatch.setattr(CandidateStore, "promoted", full)
    other = session(project, candidates=store)
    assert "Cents are integers" not in str(other.request("mend the sum of cents"))
    assert other.problems[0].startswith("no candidates are shown: ")


def test_what_was_altered_in_the_store_is_reported_with_the_request(project: Path) -> None:
    path = project / "c.db"
    store = promoted(path)
    store.upsert({"content": "quite another one"})
    store.close()
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE tipstaff_candidates SET body = replace(body, 'Cents', 'Euros')")
        connection.commit()
    found = session(project, candidates=CandidateStore(path, sync=False))
    assert "Euros" not in str(found.request("mend the sum of cents"))
    assert any("does not verify" in problem for problem in found.problems)


def test_what_cannot_be_read_is_reported(project: Path) -> None:
    (project / "TIPSTAFF.md").write_bytes(b"\xff\xfe\xff")
    found = session(project)
    found.request("fix shop/orders.py")
    assert any("TIPSTAFF.md: It is not UTF-8" in problem for problem in found.problems)
    with pytest.raises(ConfigError, match="git: expected 'project'"):
        session(project, git="no")


# -- low-value paragraphs ----------------------------------------------------------------------------------------------

FOCUS = RequestFocus.extract("fix `OrderBook` in shop/orders.py so that rounding of totals is right")
NOTES = "\n\n".join(
    [
        "The kitchen has a new kettle, and nobody knows whose it is.",
        "# Orders\n\nOrderBook keeps totals in cents; rounding happens once, at the end.",
        "Lunch is at noon on most days, except when it is not at noon.",
        "```py\n# shop/orders.py\n\nbook = OrderBook()\n```",
        "The lift is out of order again, please take the stairs instead.",
    ]
)


def test_d19_paragraphs_that_say_nothing_about_the_request_go_first() -> None:
    plan = ContextAssemblyPlan().add_section("memory:markdown-memory", NOTES, 55, focus=FOCUS)
    prompt = plan.build(SystemPromptBudget(250, 250))
    section = prompt.sections[0]
    assert "OrderBook keeps totals" in prompt.prompt
    assert "# Orders\n\nOrderBook" in prompt.prompt
    assert "```py\n# shop/orders.py\n\nbook = OrderBook()\n```" in prompt.prompt
    assert "Lunch" not in prompt.prompt
    assert section.truncated
    assert section.cut is not None
    assert section.cut.reason == "low-value"
    hidden = "".join(NOTES[start:end] for start, end in section.cut.ranges)
    assert len(hidden) == section.cut.removed_chars
    assert "kettle" in hidden
    assert "OrderBook" not in hidden
    assert len(prompt.prompt) == section.final_chars <= 250


def test_a_section_is_whole_only_where_none_above_it_was_cut() -> None:
    other = "\n\n".join(["Nothing here has to do with it."] * 20)
    plan = ContextAssemblyPlan()
    plan.add_section("rules:tests", other, 89)
    plan.add_section("memory:markdown-memory", NOTES, 67, focus=FOCUS)
    for room in range(100, len(other) + len(NOTES), 37):
        rules, memory = plan.build(SystemPromptBudget(2_000, room)).sections
        assert not rules.truncated or not memory.included, room


def test_without_a_relevant_paragraph_the_middle_goes() -> None:
    text = "\n\n".join(f"Paragraph {number} is about the weather." for number in range(40))
    with_focus = ContextAssemblyPlan().add_section("a", text, 1, focus=FOCUS).build(SystemPromptBudget(600, 600))
    without = ContextAssemblyPlan().add_section("a", text, 1).build(SystemPromptBudget(600, 600))
    assert with_focus.prompt == without.prompt


def test_a_stable_section_has_no_focus() -> None:
    with pytest.raises(ConfigError, match="cannot depend on the request"):
        ContextAssemblyPlan().add_section("a", "x", 1, stable=True, focus=FOCUS)


@given(
    st.lists(
        st.sampled_from(
            ["OrderBook is it.", "# Head", "```\ncode\n", "```", "other words", "", "  ", "\u2028", "漢字 rounding"]
        ),
        max_size=30,
    ).map("\n".join),
    st.integers(0, 300),
)
def test_condensing_keeps_whole_paragraphs_within_the_room(text: str, room: int) -> None:
    parts = paragraphs(text, FOCUS)
    assert "".join(text[part.start : part.end] for part in parts) == text
    found = condense(text, parts, room) if parts else None
    if relevant_chars(parts) and room >= relevant_chars(parts):
        assert found is not None
        shown = "".join(piece[start:end] for piece, start, end in found.pieces)
        assert all(text[part.start : part.end] in shown for part in parts if part.points and room >= len(text))
    if found is not None:
        shown = "".join(piece[start:end] for piece, start, end in found.pieces)
        assert len(shown) == found.chars
        assert found.chars <= max(room, len(text))
        kept = [(start, end) for piece, start, end in found.pieces if piece is text]
        assert sorted([*kept, *found.omitted]) == sorted({*kept, *found.omitted})
        assert sum(end - start for start, end in [*kept, *found.omitted]) == len(text)


# -- the repository ----------------------------------------------------------------------------------------------------


def git(folder: Path, *words: str) -> None:
    settings_ = ["-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "init.defaultBranch=trunk"]
    subprocess.run(["git", *settings_, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.skipif(shutil.which("git") is None, reason="no git")
def test_d21_the_state_of_the_repository(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "Begin \u202eplainly")
    (tmp_path / "new file.py").write_text("x", encoding="utf-8")
    (tmp_path / "sub").mkdir()
    state = GitState(tmp_path / "sub", max_age=60)
    section = state.section()
    assert section.startswith("\n\n# Repository\n\nBranch: trunk\n\nChanged:\n?? ")
    assert "new file.py" in section
    assert "Begin plainly" in section
    git(tmp_path, "commit", "-q", "--allow-empty", "-m", "Later")
    assert state.section() is section
    assert "Later" in GitState(tmp_path).section()
    assert state.problem == ""


def test_d21_no_repository_no_section(tmp_path: Path) -> None:
    if any((folder / ".git").exists() for folder in tmp_path.parents):
        pytest.fail("the tests' folder is in a repository")
    assert GitState(tmp_path).section() == ""


def test_d21_a_git_that_hangs_is_left_out_in_time(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    slow = tmp_path / "slow"
    slow.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n", encoding="utf-8")
    slow.chmod(0o755)
    state = GitState(tmp_path, timeout=0.2, git=str(slow))
    start = time.monotonic()
    assert state.section() == ""
    assert time.monotonic() - start < 30
    assert "no answer within 0.2 s" in state.problem
    assert GitState(tmp_path, git=str(tmp_path / "none")).section() == ""
