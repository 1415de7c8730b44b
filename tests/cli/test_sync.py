from __future__ import annotations

import json
from pathlib import Path

import pytest

from tipstaff.cli import exits, main

Capture = pytest.CaptureFixture[str]


def test_a_check_fails_until_it_is_written(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "AGENTS.md").write_text("- Never commit secrets\n")
    here = ["-C", str(tmp_path)]
    assert main(["sync", *here, "--to", "claude", "--check"]) == exits.FINDINGS
    assert "CLAUDE.md is missing" in capsys.readouterr().out
    assert not (tmp_path / "CLAUDE.md").exists()
    assert main(["sync", *here, "--to", "claude", "--json"]) == exits.OK
    document = json.loads(capsys.readouterr().out)
    assert document["written"] is True
    assert [one["path"] for one in document["changes"]] == ["CLAUDE.md"]
    assert main(["sync", *here, "--check"]) == exits.OK
    assert "as its source says" in capsys.readouterr().out


def test_nobody_is_written_for_unasked(tmp_path: Path, capsys: Capture) -> None:
    (tmp_path / "AGENTS.md").write_text("- Never commit secrets\n")
    assert main(["sync", "-C", str(tmp_path)]) == exits.USAGE
    assert "--to" in capsys.readouterr().err
