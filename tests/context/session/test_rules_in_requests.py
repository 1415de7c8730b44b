"""The compiled rules of a project in a session's requests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tipstaff.context import ContextSession, SystemPromptBudget
from tipstaff.context.prompt.assembly import ContextAssemblyPlan

CRITICAL = "[SEC-001] NEVER write customer passwords to the log"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    lines = [
        f"- [R-{n:03}] Handle step {n} of module m{n} before the step after it, since it breaks otherwise."
        for n in range(320)
    ]
    lines.insert(160, f"- {CRITICAL} (critical)")
    (tmp_path / "CLAUDE.md").write_text("# Rules\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    mail = tmp_path / ".claude" / "rules" / "mail.md"
    mail.parent.mkdir(parents=True)
    mail.write_text("---\npaths: ['shop/mail/**']\n---\n- Send mails as plain text.\n", encoding="utf-8")
    return tmp_path


def session(project: Path, **more: Any) -> ContextSession:
    given = {"model_window": 60_000, "max_output": 4_000, "git": None, "snapshots": None, "memory": None}
    return ContextSession(project, **(given | more))


def test_what_is_critical_is_in_every_request_and_files_are_not_sent_whole(project: Path) -> None:
    found = session(project)
    messages: list[Any] = []
    systems: set[str] = set()
    for number in range(60):
        messages.append({"role": "user", "content": f"fix module m{number} " + "several plain words " * 300})
        sent = found.request(messages)
        systems.add(sent["system"][0]["text"])
        messages.append({"role": "assistant", "content": [{"type": "text", "text": "ok"}]})
        found.record(messages[-1])
    assert found.course.compactions >= 1
    (system,) = systems
    assert CRITICAL in system
    assert "[R-300]" not in system
    report = found.report
    assert report is not None
    assert any(rule.id == "SEC-001" and rule.place == "system" for rule in report.rules)
    assert sum(len(rule.line) for rule in report.rules) / 4 < 1_500
    assert all(rule.reason and rule.path.endswith(".md") for rule in report.rules)


def test_an_edited_rule_file_arrives_with_the_next_request(project: Path) -> None:
    found = session(project)
    found.request("look at module m1")
    found.record({"content": [{"type": "text", "text": "done"}]})
    path = project / "CLAUDE.md"
    path.write_text(
        path.read_text("utf-8") + "- [NEW-1] Sign every release.\n- [NEW-2] Never rebase main (critical)\n", "utf-8"
    )
    sent = found.request([{"role": "user", "content": "go on"}])
    assert "Sign every release." in str(sent["messages"][-1])
    assert "Never rebase main" in sent["system"][0]["text"]


def test_a_rule_of_a_file_comes_when_it_is_touched(project: Path) -> None:
    found = session(project)
    assert "plain text" not in str(found.request("say hello"))
    call = {"type": "tool_use", "id": "a", "name": "Bash", "input": {"command": "sed -n 1,20p shop/mail/send.py"}}
    found.record({"content": [call]})
    result = {"type": "tool_result", "tool_use_id": "a", "content": "x = 1"}
    assert "Send mails as plain text." in str(found.request([{"role": "user", "content": [result]}])["messages"][-1])


def test_the_settings(project: Path) -> None:
    assert "[R-001]" in session(project, rule_files="whole").request("hello")["system"][0]["text"]
    assert "SEC-001" not in str(session(project, rule_files="none").request("hello"))


def test_a_tier_is_cut_between_rules_and_never_through_a_critical_one(project: Path) -> None:
    text = (project / "CLAUDE.md").read_text("utf-8")
    plan = ContextAssemblyPlan().add_section("memory:workspace-memory", text, 80)
    prompt = plan.build(SystemPromptBudget(6_000, 24_000)).prompt
    assert len(prompt) <= 6_000
    assert f"{CRITICAL} (critical)" in prompt
    lines = set(text.split("\n"))
    assert all(line in lines for line in prompt.split("\n") if line.startswith("- ["))
