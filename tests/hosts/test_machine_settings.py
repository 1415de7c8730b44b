"""Where the settings of a machine's owner are, on each system, as the page on hosts lists them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tipstaff.hosts import host_named

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "hosts.md").read_text(encoding="utf-8")
ROWS = {"claude": "Claude Code", "gemini": "Gemini CLI", "qwen": "Qwen Code", "cursor": "Cursor"}
SYSTEMS = {"linux": 2, "darwin": 3, "win32": 4}


@pytest.mark.parametrize("host", ROWS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_the_page_names_the_file_that_the_doctor_reads(
    host: str, system: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "platform", system)
    path = host_named(host).other_files(tmp_path, tmp_path)[-1]
    table = PAGE[PAGE.index("| | Linux | macOS | Windows |") :]
    row = next(line for line in table.splitlines() if line.startswith(f"| {ROWS[host]} |"))
    assert f"`{path}`" in row.split("|")[SYSTEMS[system]]
