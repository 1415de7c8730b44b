"""``tipstaff gate``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tipstaff.cli import main

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_says_what_is_decided(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", "--cwd", "/home/dev/proj", "git reset --hard"]) == 1
    out = capsys.readouterr().out
    assert out.startswith("require-confirmation\n")
    assert "git.reset-hard" in out
    assert "safer:" in out


def test_a_relative_directory_is_that_of_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "src").mkdir()
    monkeypatch.chdir(tmp_path)
    decided = []
    for given in (".", "src", str(tmp_path / "src")):
        main(["gate", "--json", "--cwd", given, "rm -rf docs"])
        decided.append(json.loads(capsys.readouterr().out)["results"][0]["metadata"]["findings"][0]["path_classes"])
    assert decided[1] == decided[2]
    assert all("outside" not in classes for classes in decided)


def test_the_settings_and_packs_that_were_used_are_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".tipstaff" / "packs").mkdir(parents=True)
    (tmp_path / ".tipstaff" / "gates.toml").write_text("diff_size_threshold = 77\n")
    (tmp_path / ".tipstaff" / "packs" / "own.toml").write_text(
        '[pack]\nid = "own"\ntitle = "Own"\n[[rule]]\nid = "own.deploy"\nprograms = ["deploy"]\ndecision = "block"\n'
        'severity = "high"\nreason = "It deploys."\nsafer = ""\npositives = ["deploy now"]\nnegatives = ["ls"]\n'
    )
    main(["gate", "--cwd", str(tmp_path), "deploy now"])
    out = capsys.readouterr().out
    assert "gates.toml" in out
    assert "own.toml" in out
    assert "77" in out


def test_allow_is_zero(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", "ls -la"]) == 0
    decision, *_, policy = capsys.readouterr().out.splitlines()
    assert decision == "allow"
    assert policy.endswith("built-in packs, default settings")


def test_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", "--json", "--explain", "rm -rf /"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["decision"] == "block"
    assert document["results"][0]["metadata"]["findings"][0]["rule_id"] == "filesystem.delete-recursive"
    assert document["explanation"]["commands"][0]["program"] == "rm"


def test_explain_draws_the_tree(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", "--explain", "--cwd", "/home/dev/proj", "sudo rm -rf src && echo 'rm -rf /'"]) == 1
    out = capsys.readouterr().out
    assert "Parsed as" in out
    assert "rm -rf src via sudo" in out
    assert "filesystem.delete-recursive: matched: require-confirmation" in out
    assert "no match" in out


def test_tools(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", "--tool", "Write", '{"file_path": ".claude/settings.json"}', "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["decision"] == "block"
    assert main(["gate", "--tool", "Bash", "git push -f"]) == 1
    assert main(["gate", "--tool", "Bash", "{broken"]) == 2
    assert "not valid JSON" in capsys.readouterr().err


def test_shells(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", "--shell", "sql", "drop table t"]) == 1
    assert main(["gate", "--shell", "tcl", "x"]) == 2
    assert "known are" in capsys.readouterr().err
    assert main(["gate", "--explain", "--tool", "Bash", "ls"]) == 2


def test_unattended(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gate", "--unattended", 'eval "$X"']) == 1
    assert capsys.readouterr().out.startswith("block\n")
