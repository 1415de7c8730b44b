"""Rules of one host in the formats of others: scopes, modes, what is lost, and what is not ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tipstaff import compile_repository
from tipstaff.errors import ConfigError, SourceNotFoundError, StoreWriteError
from tipstaff.guidance.reading.rule_files import OUTPUTS
from tipstaff.guidance.reading.sources import read_repository
from tipstaff.hosts.sync import SyncPlan, apply, plan, synced_hosts

ROOT = "# Shop\n\n- Never commit secrets\n- Always run `make test`\n"
API = "---\npaths:\n  - api/**/*.py\n  - lib/*.py\n---\n- Validate every request\n"


def lay_out(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def synced(root: Path, *targets: str, source: str | None = None) -> SyncPlan:
    found = plan(root, targets, source=source)
    apply(root, found.changes)
    assert plan(root, targets, source=source).changes == ()
    return found


def rules_of(root: Path) -> set[tuple[str, tuple[str, ...]]]:
    return {(rule.text, tuple(sorted(rule.repo_scopes))) for rule in compile_repository(root, as_root=True).rules()}


@pytest.mark.parametrize("target", sorted(OUTPUTS.keys() - {"claude"}))
def test_nothing_is_lost_that_both_formats_hold(target: str, tmp_path: Path) -> None:
    here = lay_out(
        tmp_path / "here", {"CLAUDE.md": ROOT, "web/CLAUDE.md": "- Use 2 spaces\n", ".claude/rules/api.md": API}
    )
    expected = rules_of(here)
    found = synced(here, target)
    assert rules_of(here) == expected, "what was written is no rule once more"
    there = lay_out(tmp_path / "there", {one.path: one.text or "" for one in found.changes})
    written = [text for text, _ in rules_of(there)]  # where a host has no scopes, the text says where it applies
    assert all(any(one.endswith(text) for one in written) for text, _ in expected)
    if "key" in OUTPUTS[target]:
        assert rules_of(there) == expected
        assert found.losses == ()
        back = plan(there, ["claude"], source=target)
        again = lay_out(tmp_path / "again", {one.path: one.text or "" for one in back.changes})
        assert rules_of(again) == expected
    else:
        assert any(".claude/rules/api.md" in loss for loss in found.losses)


@pytest.mark.parametrize(
    ("target", "path", "head"),
    [
        ("cursor", ".cursor/rules/api.mdc", "---\nglobs: api/**/*.py,lib/*.py\nalwaysApply: false\n---\n"),
        ("copilot", ".github/instructions/api.instructions.md", "---\napplyTo: api/**/*.py,lib/*.py\n---\n"),
        ("windsurf", ".windsurf/rules/api.md", "---\nglobs: api/**/*.py,lib/*.py\ntrigger: glob\n---\n"),
        (
            "kiro",
            ".kiro/steering/api.md",
            "---\nfileMatchPattern:\n- api/**/*.py\n- lib/*.py\ninclusion: fileMatch\n---\n",
        ),
        ("cline", ".clinerules/api.md", "---\npaths:\n- api/**/*.py\n- lib/*.py\n---\n"),
        (
            "roo",
            ".roo/rules/api.md",
            "<!-- tipstaff:sync .claude/rules/api.md -->\nApplies to `api/**/*.py`, `lib/*.py` only:\n",
        ),
    ],
)
def test_scopes_in_the_words_of_each_host(target: str, path: str, head: str, tmp_path: Path) -> None:
    lay_out(tmp_path, {"CLAUDE.md": ROOT, ".claude/rules/api.md": API})
    synced(tmp_path, target)
    assert (tmp_path / path).read_text().startswith(head)


def test_modes_are_translated_or_said(tmp_path: Path) -> None:
    described = "---\ndescription: Payments\nalwaysApply: false\n---\n- Round half up\n"
    manual = "---\nalwaysApply: false\n---\n- Draw the diagram\n"
    lay_out(tmp_path, {".cursor/rules/pay.mdc": described, ".cursor/rules/draw.mdc": manual})
    found = synced(tmp_path, "windsurf", "claude")
    assert "trigger: model_decision" in (tmp_path / ".windsurf/rules/pay.md").read_text()
    assert "trigger: manual" in (tmp_path / ".windsurf/rules/draw.md").read_text()
    assert len(found.losses) == 2
    assert "Draw" not in (tmp_path / "CLAUDE.md").read_text()


def test_words_of_others_stay(tmp_path: Path) -> None:
    lay_out(tmp_path, {"AGENTS.md": ROOT, "CLAUDE.md": "# Mine\n\n- Prefer small commits\n"})
    synced(tmp_path, "claude")
    assert (
        (tmp_path / "CLAUDE.md")
        .read_text()
        .startswith("# Mine\n\n- Prefer small commits\n\n<!-- tipstaff:sync AGENTS.md -->\n")
    )
    (tmp_path / "AGENTS.md").write_text("- Always sign tags\n")
    changed = plan(tmp_path, ["claude"]).changes
    assert [(one.path, one.why) for one in changed] == [("CLAUDE.md", "changed")]
    apply(tmp_path, changed)
    assert "secrets" not in (tmp_path / "CLAUDE.md").read_text()
    assert synced_hosts(tmp_path) == ("claude",)


def test_a_file_of_somebody_else_is_kept(tmp_path: Path) -> None:
    lay_out(tmp_path, {"AGENTS.md": ROOT, ".cursor/rules/agents.mdc": "- Theirs\n"})
    found = plan(tmp_path, ["cursor"])
    assert (found.changes, found.kept) == ((), (".cursor/rules/agents.mdc",))


def test_what_has_no_source_any_more_goes(tmp_path: Path) -> None:
    lay_out(tmp_path, {"CLAUDE.md": ROOT, ".claude/rules/api.md": API})
    synced(tmp_path, "cursor")
    (tmp_path / ".claude/rules/api.md").unlink()
    found = plan(tmp_path, ["cursor"])
    assert [(one.path, one.text, one.why) for one in found.changes] == [(".cursor/rules/api.mdc", None, "left over")]
    apply(tmp_path, found.changes)
    assert not (tmp_path / ".cursor/rules/api.mdc").exists()


def test_a_copy_that_was_edited_is_read_again(tmp_path: Path) -> None:
    lay_out(tmp_path, {"AGENTS.md": ROOT})
    synced(tmp_path, "claude")
    before = compile_repository(tmp_path, as_root=True)
    assert not [one for one in before.diagnostics if one.code in {"TS501", "TS502"}]
    path = tmp_path / "CLAUDE.md"
    path.write_text(path.read_text().replace("Never commit secrets", "Never commit binaries"))
    assert any("binaries" in rule.text for rule in compile_repository(tmp_path, as_root=True).rules())


def test_a_link_to_the_source_needs_no_copy_and_no_link_leads_out(tmp_path: Path) -> None:
    here = lay_out(tmp_path / "here", {"AGENTS.md": ROOT})
    (here / "CLAUDE.md").symlink_to("AGENTS.md")
    assert plan(here, ["claude"]).changes == ()
    outside = tmp_path / "outside"
    outside.mkdir()
    (here / ".cursor").symlink_to(outside)
    with pytest.raises(StoreWriteError):
        apply(here, plan(here, ["cursor"]).changes)
    assert list(outside.iterdir()) == []


def test_what_cannot_be_asked(tmp_path: Path) -> None:
    with pytest.raises(SourceNotFoundError):
        plan(tmp_path, ["claude"])
    lay_out(tmp_path, {"AGENTS.md": ROOT})
    with pytest.raises(ConfigError, match="no format for emacs"):
        plan(tmp_path, ["emacs"])
    with pytest.raises(ConfigError, match="cursor has no rule files"):
        plan(tmp_path, ["claude"], source="cursor")
    with pytest.raises(ConfigError, match="--to"):
        synced_hosts(tmp_path)
    assert [one.host for one in read_repository(tmp_path).documents] == ["agents"]
