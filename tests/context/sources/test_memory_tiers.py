"""Memory tiers: eight of them, from files that agents keep, read again when they change."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from tipstaff.context.sources.memory_tiers import TIERS, MemoryTiers
from tipstaff.errors import ConfigError

DAY = dt.date(2026, 3, 1)


def write(path: Path, text: str | bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    return tmp_path / "user" / ".tipstaff"


@pytest.fixture
def project(tmp_path: Path, home: Path) -> Path:
    root = tmp_path / "project"
    for name in (
        ".tipstaff/SOUL.md", "TIPSTAFF.md", ".tipstaff/TIPSTAFF.md", "AGENTS.md", "CLAUDE.md", "TIPSTAFF.local.md", "CLAUDE.local.md",
        ".tipstaff/auto-memory.md", ".tipstaff/memory/MEMORY.md", ".tipstaff/memory/journal/2026-03-01.md",
        ".tipstaff/memory/journal/2026-02-28.md",
    ):  # fmt: skip
        write(root / name, f"text of {name}\n")
    for name in ("SOUL.md", "managed-policy.md", "TIPSTAFF.md"):
        write(home / name, f"home {name}\n")
    write(home.parent / ".claude/CLAUDE.md", "user claude")
    return root


def test_eight_tiers_in_order(project: Path) -> None:
    tiers = MemoryTiers(project).load(today=DAY)
    assert [(tier.tier, tier.priority, tier.protected) for tier in tiers] == [
        ("Soul", 100, True),
        ("Managed Policy", 90, True),
        ("Workspace Memory", 80, False),
        ("User Memory", 70, False),
        ("Local Memory", 65, False),
        ("Auto-Memory", 60, False),
        ("Markdown Memory", 55, False),
        ("Daily Journal", 50, False),
    ]
    texts = {tier.tier: tier.text for tier in tiers}
    assert texts["Soul"] == "home SOUL.md"  # a repository never replaces what its user says
    assert texts["Managed Policy"] == "home managed-policy.md"
    assert texts["Workspace Memory"] == "\n\n".join(
        f"text of {name}" for name in ("TIPSTAFF.md", ".tipstaff/TIPSTAFF.md", "AGENTS.md", "CLAUDE.md")
    )
    assert texts["User Memory"] == "home TIPSTAFF.md\n\nuser claude"
    assert texts["Daily Journal"] == (
        "text of .tipstaff/memory/journal/2026-03-01.md\n\ntext of .tipstaff/memory/journal/2026-02-28.md"
    )
    assert tiers[0].content == (
        "\n\n# Soul (Core Identity)\n\nWho you are; it holds whatever else is said.\n\nhome SOUL.md"
    )
    assert tiers[0].key == "memory:soul"


def test_the_first_soul_that_holds_text_is_the_soul(project: Path) -> None:
    write(project / ".tipstaff/SOUL.md", " \n\t\n")
    assert MemoryTiers(project).load(today=DAY)[0].text == "home SOUL.md"


def test_what_is_not_there_or_blank_is_no_tier(tmp_path: Path, home: Path) -> None:
    write(tmp_path / "AGENTS.md", "\n\n")
    tiers = MemoryTiers(tmp_path)
    assert tiers.load(today=DAY) == ()
    assert tiers.problems == ()


def test_what_cannot_be_read_is_reported_and_harms_nothing(project: Path) -> None:
    write(project / "CLAUDE.md", b"caf\xe9")
    (project / "AGENTS.md").unlink()
    (project / "AGENTS.md").mkdir()
    write(project / "CLAUDE.local.md", b"x" * ((1 << 20) + 1))
    tiers = MemoryTiers(project)
    assert len(tiers.load(today=DAY)) == 8
    assert [(problem.tier, Path(problem.path).name) for problem in tiers.problems] == [
        ("Workspace Memory", "AGENTS.md"),
        ("Workspace Memory", "CLAUDE.md"),
        ("Local Memory", "CLAUDE.local.md"),
    ]
    assert "not a regular file" in tiers.problems[0].message
    assert "not UTF-8 at byte 3" in tiers.problems[1].message
    assert "1,048,577 bytes" in tiers.problems[2].message


def test_changes_are_seen_and_what_did_not_change_is_the_same_record(project: Path) -> None:
    tiers = MemoryTiers(project)
    before = tiers.load(today=DAY)
    assert all(left is right for left, right in zip(before, tiers.load(today=DAY), strict=True))
    write(project / "AGENTS.md", "changed")
    after = tiers.load(today=DAY)
    assert [left is right for left, right in zip(before, after, strict=True)] == [True, True, False, *[True] * 5]
    assert "changed" in after[2].text
    (project / "AGENTS.md").unlink()
    assert "changed" not in tiers.load(today=DAY)[2].text


def test_a_link_or_a_copy_is_taken_once(project: Path) -> None:
    (project / "CLAUDE.md").unlink()
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    assert MemoryTiers(project).load(today=DAY)[2].text.count("text of AGENTS.md") == 1


def test_long_memories_show_their_beginning_and_long_journals_their_end(project: Path) -> None:
    write(project / ".tipstaff/memory/MEMORY.md", "\n".join(f"note {number}" for number in range(300)))
    write(project / ".tipstaff/memory/journal/2026-03-01.md", "\n".join(f"entry {number}" for number in range(900)))
    texts = {tier.tier: tier.text for tier in MemoryTiers(project).load(today=DAY)}
    assert texts["Markdown Memory"].split("\n")[0] == "note 0"
    assert texts["Markdown Memory"].split("\n")[199:] == [
        "note 199",
        "<!-- [TRUNCATED] 300 lines, showing the first 200 -->",
    ]
    journal = texts["Daily Journal"].split("\n\n")[0].split("\n")
    assert journal[0] == "<!-- [TRUNCATED] 900 lines, showing the last 500 -->"
    assert (journal[1], journal[-1], len(journal)) == ("entry 400", "entry 899", 501)


def test_paths_can_be_set(project: Path, tmp_path: Path) -> None:
    write(tmp_path / "elsewhere.md", "from elsewhere")
    write(project / "journal/2026-02-28.txt", "old style")
    paths = {"User Memory": [str(tmp_path / "elsewhere.md")], "Daily Journal": ["journal/{date}.txt"]}
    texts = {tier.tier: tier.text for tier in MemoryTiers(project, places=paths).load(today=DAY)}
    assert texts["User Memory"] == "from elsewhere"
    assert texts["Daily Journal"] == "old style"
    with pytest.raises(ConfigError, match="there is no tier 'Spirit'; the tiers are Soul, Managed Policy"):
        MemoryTiers(project, places={"Spirit": []})
    assert [source.tier for source in TIERS][:2] == ["Soul", "Managed Policy"]
