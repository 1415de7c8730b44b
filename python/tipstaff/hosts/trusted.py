"""What hosts keep of the folders and hooks that a person trusts: without it, hooks silently do not run."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from tipstaff.hosts.host import below
from tipstaff.hosts.json_text import without_comments


def read_json(path: Path) -> dict[str, Any]:
    """Return a host's own JSON file, which may have comments; empty where it cannot be read."""
    try:
        found: Any = json.loads(without_comments(path.read_text(encoding="utf-8-sig")))
    except (OSError, ValueError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def read_toml(path: Path) -> dict[str, Any]:
    """Return a host's own TOML file; empty where it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return {}


def folder_levels(levels: Mapping[str, Any], root: Path) -> str:
    """Return the level that the longest rule gives a folder, as Gemini CLI and Qwen Code choose it; empty for none.

    Parameters
    ----------
    levels
        Folder to ``TRUST_FOLDER``, ``TRUST_PARENT`` or ``DO_NOT_TRUST``: ``trustedFolders.json``.
    root
        Folder of the project.
    """
    best, found = -1, ""
    for folder, level in levels.items():
        trusted = Path(folder).parent if level == "TRUST_PARENT" else Path(folder)
        if isinstance(level, str) and len(folder) > best and below(root, trusted):
            best, found = len(folder), level
    return found
