"""Finds the optional folder of labelled cases that may be beside a checkout; tests skip what needs it when it is absent."""

from __future__ import annotations

from pathlib import Path

_SHARED = Path(__file__).resolve().parents[2] / "shared"


def shared_path(*parts: str) -> Path | None:
    """Return the path of a shared file or folder, or None where it does not exist."""
    path = _SHARED.joinpath(*parts)
    return path if path.exists() else None
