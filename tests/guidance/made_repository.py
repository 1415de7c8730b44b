"""A repository for tests of projects, and what is asked of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tipstaff import compile_repository, open_project
from tipstaff.guidance.project import STORE_FOLDER, STORE_NAME, Project

FILES = {
    "CLAUDE.md": "# Shop\n## Security\n- [SEC-001] Never log passwords\n## Rules\n- [R-001] Always squash commits\n- Name branches after the ticket they belong to\n@docs/style.md\n",
    "docs/style.md": "- [STY-001] Keep lines under a hundred characters\n",
    "web/CLAUDE.md": "- [WEB-001] Never squash commits\n",
    "web/src/app.ts": "export {}\n",
    ".claude/rules/tests.md": "---\npaths: tests/**\n---\n- [TST-001] Review snapshots\n",
    ".cursor/rules/ui.mdc": "---\nglobs: web/**\n---\n- [CUR-001] Prefer server components\n",
    "node_modules/pkg/CLAUDE.md": "- [MOD-001] Not ours\n",
}


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def store_of(repo: Path) -> Path:
    return repo / STORE_FOLDER / STORE_NAME


def ids(project: Project) -> set[str]:
    return {rule.id for rule in project.bundle.rules()}


def reopened(repo: Path, **options: Any) -> tuple[bool, str]:
    with open_project(repo, **options) as project:
        # Whatever it says, what it serves is what a compilation now would give.
        fresh = compile_repository(repo, config=options.get("config"))
        assert [shard.rule.text for shard in project.bundle.shards] == [shard.rule.text for shard in fresh.shards]
        assert project.bundle.constitution == fresh.constitution
        return project.rebuilt, project.reason
