"""A small repository with rules, and a plane over it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.runs.made import KEY
from tipstaff.plane import GuidanceControlPlane

ROOT_RULES = """# Rules

## Security
- [SEC-1] Never commit credentials. (critical)

## Work
- [TST-1] Run the whole test suite before a commit. #testing #bug-fix
- [DB-1] Write a way back for every migration. #deployment scope:db/**
- [OLD-1] Use the old build. #deployment until:2020-01-01
- Prefer small functions over long ones. #refactor
"""
LOCAL_RULES = """# Mine

- [LOC-1] Format the delivery code with the formatter. #bug-fix
"""


def made_repository(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "CLAUDE.md").write_text(ROOT_RULES)
    (folder / "CLAUDE.local.md").write_text(LOCAL_RULES)
    (folder / "src").mkdir(exist_ok=True)
    (folder / "src" / "a.py").write_text("x = 1\n")
    (folder / "db").mkdir(exist_ok=True)
    return folder


def made_plane(folder: Path, **config: Any) -> GuidanceControlPlane:
    return GuidanceControlPlane(made_repository(folder), config={"ledger_key": KEY, "durable": False, **config})
