"""``tipstaff scan``: where texts come from, what is printed, what is left out, and exit codes."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tipstaff.cli import app, exits
from tipstaff.gates.secrets.packs import made_up

TOKEN = made_up("ghp_{crc62:36}")
KEY = made_up("AKIA{base32:16}")


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = app.run(["scan", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def git(folder: Path, *arguments: str) -> None:
    settings = ("-c", "user.name=x", "-c", "user.email=x@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True)


def feed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    class Stdin:
        buffer = io.BytesIO(text.encode())

    monkeypatch.setattr(sys, "stdin", Stdin())


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    git(tmp_path, "init", "-q")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_files_and_folders(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "src").mkdir()
    (repository / "src" / "a.py").write_text(f"# ключ\ntoken = '{TOKEN}'\n", encoding="utf-8")
    (repository / "clean.txt").write_text("nothing\n", encoding="utf-8")
    (repository / ".gitignore").write_text("ignored\n", encoding="utf-8")
    (repository / "ignored").write_text(TOKEN, encoding="utf-8")
    (repository / "binary").write_bytes(b"\0" + TOKEN.encode())
    code, out, _ = run(capsys)
    assert code == 1
    assert out.splitlines()[0].startswith("src/a.py:2:10: github-pat ghp_****")
    assert "1 secret in" in out
    assert TOKEN[4:] not in out
    assert run(capsys, "clean.txt")[0] == exits.OK
    assert run(capsys, "src", "--exit-zero")[0] == exits.OK
    assert run(capsys, "ignored")[0] == 1


def test_a_folder_without_git(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "x.js").write_text(TOKEN, encoding="utf-8")
    (tmp_path / "b.env").write_text(f"K={KEY}", encoding="utf-8")
    code, out, _ = run(capsys, tmp_path, "--json")
    found = json.loads(out)["findings"]
    assert (code, [Path(one["path"]).name for one in found]) == (1, ["b.env"])


def test_json_holds_no_secret(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "a").write_text(f"x\n{TOKEN} {KEY}\n", encoding="utf-8")
    code, out, _ = run(capsys, "a", "--json")
    document: dict[str, Any] = json.loads(out)
    assert (code, document["exit_code"], document["files"]) == (1, 1, 1)
    first, second = document["findings"]
    assert (first["line"], first["column"], first["end_column"]) == (2, 1, 41)
    assert (second["rule_id"], second["column"]) == ("aws-access-key", 42)
    assert TOKEN not in out
    assert KEY not in out


def test_sarif(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "a b").write_text(f"{KEY}\n{TOKEN}\n", encoding="utf-8")
    _, out, _ = run(capsys, "a b", "--format", "sarif")
    (one,) = json.loads(out)["runs"]
    assert [result["ruleId"] for result in one["results"]] == ["aws-access-key", "github-pat"]
    for result in one["results"]:
        assert one["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a%20b"
        assert result["partialFingerprints"]
    assert TOKEN not in out


def test_staged_lines_alone_are_looked_at(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = repository / "a.txt"
    file.write_text(f"one\nold = {KEY}\ntwo\n", encoding="utf-8")
    git(repository, "add", "a.txt")
    git(repository, "commit", "-qm", "x")
    assert run(capsys, "--staged")[0] == exits.OK
    file.write_text(f"one\nold = {KEY}\ntwo\nthree\nnew = {TOKEN}\n", encoding="utf-8")
    assert run(capsys, "--staged")[0] == exits.OK
    git(repository, "add", "a.txt")
    code, out, _ = run(capsys, "--staged")
    assert code == 1
    assert out.startswith("a.txt:5:7: github-pat")
    assert "1 secret" in out


def test_nothing_hides_a_staged_file(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "link.env").symlink_to("a.txt")
    git(repository, "add", "link.env")
    git(repository, "commit", "-qm", "x")
    (repository / ".gitattributes").write_text("*.pem binary\n*.env -diff\n")
    (repository / "a.pem").write_text(f"key = {TOKEN}\n")
    (repository / "b.env").write_text(f"key = {TOKEN}\n")
    (repository / "link.env").unlink()
    (repository / "link.env").write_text(f"key = {TOKEN}\n")
    (repository / "a.ps1").write_bytes(f"$key = '{TOKEN}'\r\n".encode("utf-16"))
    (repository / 'ä "b".txt').write_text(f"key = {TOKEN}\n")
    git(repository, "add", "-A")
    code, out, _ = run(capsys, "--staged", "--json")
    assert code == 1
    found = {one["path"]: one["line"] for one in json.loads(out)["findings"]}
    assert found == {"a.pem": 1, "b.env": 1, "link.env": 1, "a.ps1": 1, 'ä "b".txt': 1}


def test_stdin(repository: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    feed(monkeypatch, f"a\n{TOKEN}\n")
    code, out, _ = run(capsys, "--stdin")
    assert code == 1
    assert out.startswith("<stdin>:2:1: github-pat")
    feed(monkeypatch, "nothing")
    assert run(capsys, "--stdin")[0] == exits.OK


def test_a_tools_output_can_be_handed_on_redacted() -> None:
    text = f"é before {TOKEN} after\n"
    done = subprocess.run(
        [sys.executable, "-m", "tipstaff.cli", "scan", "--stdin", "--redact"],
        input=text.encode(),
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode() == text.replace(TOKEN, "ghp_" + "*" * 36)


def test_a_line_may_be_allowed(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "a").write_text(f"{TOKEN}  # tipstaff:allow\n{KEY}\n", encoding="utf-8")
    _, out, _ = run(capsys, "a", "--json")
    assert [one["rule_id"] for one in json.loads(out)["findings"]] == ["aws-access-key"]


def test_a_baseline_knows_what_was_there(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = repository / "a"
    file.write_text(f"{TOKEN}\n", encoding="utf-8")
    assert run(capsys, "a", "--write-baseline", "known.json")[0] == exits.OK
    assert TOKEN not in (repository / "known.json").read_text(encoding="utf-8")
    assert run(capsys, "a", "--baseline", "known.json")[0] == exits.OK
    # Lines may move; another secret, and the same again, are new.
    file.write_text(f"\n\n{TOKEN}\n", encoding="utf-8")
    assert run(capsys, "a", "--baseline", "known.json")[0] == exits.OK
    file.write_text(f"{TOKEN}\n{KEY}\n{TOKEN}\n", encoding="utf-8")
    _, out, _ = run(capsys, "a", "--baseline", "known.json", "--json")
    assert len(json.loads(out)["findings"]) == 2


def test_rules_of_the_repository(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packs = repository / ".tipstaff" / "secrets"
    packs.mkdir(parents=True)
    rule = '[[rule]]\nid = "acme"\nprovider = "Acme"\nshape = "acme_[0-9a-f]{32}"\n'
    samples = 'positives = ["acme_{hex:32}"]\nnegatives = ["acme_{hex:31}"]\n'
    (packs / "acme.toml").write_text(rule + samples, encoding="utf-8")
    (repository / "a").write_text(made_up("x acme_{hex:32}\n"), encoding="utf-8")
    code, out, _ = run(capsys, "a", "--json")
    assert (code, json.loads(out)["findings"][0]["rule_id"]) == (1, "acme")
    (packs / "acme.toml").write_text(rule + samples.replace(":31", ":32"), encoding="utf-8")
    code, _, err = run(capsys, "a")
    assert code == exits.USAGE
    assert "rule acme: finds something in its negative sample" in err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["missing"], exits.UNREADABLE, "missing: no such file or folder"),
        (["--staged", "--stdin"], exits.USAGE, "choose one of"),
        (["--redact"], exits.USAGE, "add --stdin"),
        (["--baseline", "none.json"], exits.UNREADABLE, "create it with --write-baseline"),
        (["-C", "missing"], exits.UNREADABLE, "missing: not a folder"),
        (["empty"], exits.UNREADABLE, "empty: no files to scan"),
    ],
)
def test_errors(
    repository: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, message: str
) -> None:
    (repository / "empty").mkdir()
    (repository / "notes.txt").write_text("no secret", encoding="utf-8")
    got, _, err = run(capsys, *arguments)
    assert got == code
    assert message in err


def test_staged_outside_a_repository(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, "--staged")
    assert code == exits.UNREADABLE
    assert "git diff" in err


def test_the_hooks_file_names_commands_that_exist() -> None:
    import yaml

    hooks = yaml.safe_load((Path(__file__).parents[2] / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert {hook["entry"].split()[:2][1] for hook in hooks} == {"scan"}
    assert all(hook["language"] == "python" for hook in hooks)
