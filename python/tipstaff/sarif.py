"""The frame of a log in SARIF 2.1.0, the form that code hosts show beside the lines of a change.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from tipstaff import __version__


def sarif_log(
    rules: list[dict[str, Any]], results: list[dict[str, Any]], *, tool: str = "tipstaff", **properties: Any
) -> dict[str, Any]:
    """Return a log with one run: what a tool looks for, and what it found; `properties` are further ones of the run."""
    driver = {"name": tool, "version": __version__, "rules": rules}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, **properties, "results": results}],
    }


def sarif_location(path: str, region: Mapping[str, int]) -> dict[str, Any]:
    """Return a location in a file; without a region, the file."""
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(path, errors="surrogateescape")}}
    return {"physicalLocation": {**place, "region": dict(region)} if region else place}
