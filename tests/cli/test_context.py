from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.context.requests import request
from tipstaff.cli import exits, main
from tipstaff.cli.context_text import bar, short
from tipstaff.cli.output import Painter
from tipstaff.context.inspecting.snapshot import SnapshotFolder

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = SnapshotFolder.of_project(tmp_path)
    folder.record(request("other"))
    folder.record(request())
    folder.record(request(extra="one more fact", message_tokens=90_000))
    return tmp_path


def run(capsys: Capture, project: Path, *arguments: str) -> str:
    assert main(["context", *arguments, "-C", str(project)]) == exits.OK
    return capsys.readouterr().out


def document(capsys: Capture, project: Path, *arguments: str) -> Any:
    return json.loads(run(capsys, project, *arguments, "--json"))


def test_list_shows_every_block(capsys: Capture, project: Path) -> None:
    text = run(capsys, project, "list")
    assert run(capsys, project) == text  # the default
    for words in (
        "request 2 of session s1",
        "of 128K tokens",
        "█████████░ 112K/128K (88%) | pressure=high | measured",
        "Truncated     memory:Workspace Memory, git",
        "Query         fix the streaming bug",
        "src/loop.py, src/a.py, src/b.py, +1 more",
        "p=80 (70+10)",
        "[left out]",
        "[protected]",
        "2 injected",
    ):
        assert words in text
    for kind in ("Rules", "Candidates", "Learned", "Memory", "Core"):
        assert f"  {kind:<13} ~" in text
    assert "\x1b" not in text
    assert len([line for line in text.splitlines() if " -> " in line and "p=" in line]) == 8


def test_colours_follow_the_pressure(capsys: Capture, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "tipstaff.cli.commands.context.Painter",
        lambda: Painter("always"),
    )
    text = run(capsys, project, "list")
    assert "\x1b[33m█" in text
    SnapshotFolder.of_project(project).record(request(live=None, message_tokens=1_000))
    text = run(capsys, project, "list")
    assert "\x1b[32m█" in text or "\x1b[32m░" in text
    assert "pressure=low" in text
    assert "estimated" in text
    SnapshotFolder.of_project(project).record(request(live=None, message_tokens=126_000))
    assert "\x1b[31m█" in run(capsys, project, "list")


def test_list_as_json(capsys: Capture, project: Path) -> None:
    found = document(capsys, project, "list")
    assert found["request_number"] == 2
    assert found["truncated_section_keys"] == ["memory:Workspace Memory", "git"]
    assert [cost["type"] for cost in found["costs"]] == ["Rules", "Candidates", "Learned", "Memory", "Core"]
    assert sum(cost["share"] for cost in found["costs"]) == pytest.approx(1)
    assert all("content" not in section for section in found["sections"])
    assert document(capsys, project, "--session", "other")["session_id"] == "other"
    assert document(capsys, project, "list", "--request", "1")["message_tokens"] == 60_000


def test_detail_shows_why_and_what_is_gone(capsys: Capture, project: Path) -> None:
    text = run(capsys, project, "detail", "memory:Workspace Memory")
    assert "Boost         +10 of 16 for symbol by StreamingLoop" in text
    assert "Cut        " in text
    assert "section-cap, 2,000 were allowed" in " ".join(text.split())
    assert "Workspace facts." in text
    second = run(capsys, project, "detail", "rules#2")
    assert "Second \\x1b[31mrules\\x07." in second
    assert document(capsys, project, "detail", "rules#2")["content"] == "Second \x1b[31mrules\x07."


def test_long_content_is_cut(capsys: Capture, tmp_path: Path) -> None:
    from tipstaff.context.inspecting.snapshot import take_snapshot
    from tipstaff.context.prompt.assembly import ContextAssemblyPlan
    from tipstaff.context.prompt.sections import SystemPromptBudget

    prompt = ContextAssemblyPlan().add_section("base", "x" * 13_000, 95, True).build(SystemPromptBudget())
    SnapshotFolder.of_project(tmp_path).record(take_snapshot(prompt, session_id="s"))
    text = run(capsys, tmp_path, "detail", "base")
    assert "x" * 12_000 + "...[truncated]" in text
    assert "the window's size is unknown" in run(capsys, tmp_path, "list")


def test_diff(capsys: Capture, project: Path) -> None:
    SnapshotFolder.of_project(project).record(request())
    text = run(capsys, project, "diff")
    assert "Request 2 -> 3 of s1" in text
    assert "(-30,000)" in text
    assert "~ memory:Workspace Memory" in text
    found = document(capsys, project, "diff", "--against", "1")
    assert (found["before"], found["after"], found["sections"], found["unchanged"]) == (1, 3, [], 8)
    assert main(["context", "diff", "--request", "1", "-C", str(project)]) == exits.UNREADABLE
    assert "first one of its session that is kept" in capsys.readouterr().err


def test_plot(capsys: Capture, project: Path) -> None:
    target = project / "w.svg"
    assert run(capsys, project, "plot", "-o", str(target)) == f"wrote {target}\n"
    assert target.read_text().startswith("<svg ")
    found = document(capsys, project, "plot", "-o", str(target))
    assert {tile["label"] for tile in found["window"]} >= {"prompt", "tools"}


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["detail", "nothing"], exits.UNREADABLE, "there are: memory:Soul, base"),
        (["list", "--session", "nobody"], exits.UNREADABLE, "no request of session 'nobody'"),
        (["list", "--request", "9"], exits.UNREADABLE, "kept are 1, 2"),
        (["paint"], exits.USAGE, "No such command"),
        (["detail"], exits.USAGE, "Missing argument"),
    ],
)
def test_errors(capsys: Capture, project: Path, arguments: list[str], code: int, message: str) -> None:
    options = ["-C", str(project)] if len(arguments) > 1 else []
    assert main(["context", *arguments, *options]) == code
    assert message in capsys.readouterr().err


def test_a_project_without_requests(capsys: Capture, tmp_path: Path) -> None:
    assert main(["context", "-C", str(tmp_path)]) == exits.UNREADABLE
    assert "no request has been recorded" in capsys.readouterr().err
    assert main(["context", "--help"]) == exits.OK
    assert "diff" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("number", "words"),
    [
        (0, "0"),
        (999, "999"),
        (1000, "1.0K"),
        (9_949, "9.9K"),
        (9_950, "10K"),
        (999_499, "999K"),
        (999_500, "1.0M"),
        (42_000_000, "42M"),
        (3 * 10**9, "3.0G"),
    ],
)
def test_short_numbers(number: int, words: str) -> None:
    assert short(number) == words


def test_bars() -> None:
    assert [bar(share) for share in (-1, 0, 0.46, 1, 7)] == ["░" * 10, "░" * 10, "█████░░░░░", "█" * 10, "█" * 10]


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize("command", [["list"], ["detail", "git"], ["diff"], ["course"]])
def test_lines_fit_the_terminal_and_break_between_words(
    command: list[str], columns: int, capsys: Capture, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(project)
    wide = run(capsys, project, *command).split()
    monkeypatch.setenv("COLUMNS", str(columns))
    text = run(capsys, project, *command)
    assert max(map(len, text.splitlines())) <= columns
    if command != ["course"] and columns > 60:
        assert sorted(text.split()) == sorted(wide)


def recorded(project: Path) -> None:
    """Record a course of 300 calls, three of which broke the cache."""
    from tipstaff.context.inspecting.course import CallReport, CourseWriter

    writer = CourseWriter(SnapshotFolder.of_project(project), "s1", window=60_000, max_output=4_000, api="anthropic")
    for number in range(1, 301):
        tokens = 10_000 + 400 * (number % 100)
        broken = "summarized" if number % 100 == 0 else ""
        report = CallReport(
            number=number,
            tokens=tokens,
            measured=True,
            prefix_tokens=0 if broken else tokens - 400,
            cached_tokens=0 if broken else tokens - 400,
            cost=float(tokens if broken else tokens // 8),
            broken_by=broken,
            break_cost=9_000.0 if broken else 0.0,
            saved_tokens=39_600 if broken else 0,
        )
        writer.append(report)


def test_the_course_of_a_session(capsys: Capture, project: Path, tmp_path: Path) -> None:
    recorded(project)
    picture = tmp_path / "course.svg"
    text = run(capsys, project, "course", "-o", str(picture))
    for words in ("300 with anthropic, 300 measured", "Compactions   3", "call 200      summarized: cost 9.0K"):
        assert words in text
    assert text.count("▲") == 4  # three and the legend
    assert picture.read_text(encoding="utf-8").count("<g><title>") == 300
    found = document(capsys, project, "course")
    assert found["compactions"] == 3
    assert len(found["course"]["calls"]) == 300
    assert found["tokens"] == sum(call["tokens"] for call in found["course"]["calls"])
    # A call that was being written when the power went is not counted.
    (file,) = SnapshotFolder.of_project(project).folder_of("s1").glob("course-*.jsonl")
    file.write_bytes(file.read_bytes()[:-20])
    assert len(document(capsys, project, "course")["course"]["calls"]) == 299
    file.write_bytes(b"{}\n")
    assert main(["context", "course", "-C", str(project)]) != exits.OK
    assert "not a course" in capsys.readouterr().err


def test_a_course_that_was_not_recorded(capsys: Capture, project: Path) -> None:
    assert main(["context", "course", "-C", str(project), "--session", "s9"]) != exits.OK
    assert "the course of session 's9' has not been recorded" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "room", "short_form"), [("memory:soul", 20, "memory:soul"), ("rules:one/two", 8, "rule…two")]
)
def test_a_long_name_keeps_its_beginning_and_its_end(name: str, room: int, short_form: str) -> None:
    from tipstaff.cli.context_text import shortened

    assert shortened(name, room) == short_form
