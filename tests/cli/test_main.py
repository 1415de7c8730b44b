"""The frame of the command line: versions, errors, exit codes, pipes."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tipstaff import __version__
from tipstaff.cli import app, exits, main
from tipstaff.errors import (
    ConfigError,
    SourceError,
    SourceNotFoundError,
    StoreDamagedError,
    StoreEmbeddingError,
    StoreVersionError,
    StoreWriteError,
    TipstaffError,
)

Capture = pytest.CaptureFixture[str]


def outcome(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_version(capsys: Capture) -> None:
    assert outcome(capsys, "--version") == (0, f"tipstaff {__version__}\n", "")


def test_the_version_is_the_same_with_other_arguments(capsys: Capture) -> None:
    assert outcome(capsys, "--version", "lint") == (0, f"tipstaff {__version__}\n", "")


def test_the_version_imports_neither_click_nor_anything_heavy() -> None:
    script = (
        "import sys; from tipstaff.cli import main; main(['--version']);"
        "print(sorted({'click', 'msgspec', 'numpy', 'pyarrow', 'numba', 'json', 'pathlib'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True, check=True, env=_env())
    assert done.stdout.splitlines() == [f"tipstaff {__version__}", "[]"]


def test_help_lists_every_command_without_importing_one() -> None:
    script = (
        "import sys; from tipstaff.cli import main; main(['--help']);"
        "print([name for name in sys.modules if name.startswith('tipstaff.cli.') and name.endswith('_command')])"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=_env())
    *help_text, imported = done.stdout.splitlines()
    assert imported == "[]"
    listed = {line.split()[0] for line in help_text if line.startswith("  ") and line.split()}
    assert {"compile", "lint", "retrieve", "rules"} <= listed


def _env() -> dict[str, str]:
    import tipstaff

    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(tipstaff.__file__).parents[1]), *sys.path])}


@pytest.mark.parametrize("command", ["compile", "lint", "retrieve", "gate", "init"])
def test_every_command_has_help(capsys: Capture, command: str) -> None:
    code, out, err = outcome(capsys, command, "--help")
    assert (code, err) == (0, "")
    assert out.startswith("Usage: tipstaff")
    assert "--json" in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], "nonsense"),
        (["lint", "--nonsense"], "--nonsense"),
        (["lint", "--format", "xml"], "xml"),
        (["lint", "--select", "TS9"], "TS9"),
        (["retrieve"], "TASK"),
        (["retrieve", "x", "--intent", "dance"], "dance"),
        (["retrieve", "x", "--risk", "huge"], "huge"),
        (["retrieve", "x", "--max-shards", "-1"], "-1"),
        (["rules", "explain"], "RULE-ID"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(capsys: Capture, arguments: list[str], words: str) -> None:
    code, out, err = outcome(capsys, *arguments)
    assert (code, out) == (exits.USAGE, "")
    assert err.startswith("tipstaff: error: ")
    assert err.count("\n") == 1
    assert words in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["compile", "-C", "{}"],
        ["lint", "-C", "{}"],
        ["retrieve", "x", "-C", "{}"],
        ["rules", "explain", "x", "-C", "{}"],
    ],
)
def test_a_missing_folder_is_one_line_and_code_3(capsys: Capture, tmp_path: Path, arguments: list[str]) -> None:
    nowhere = str(tmp_path / "nowhere")
    code, out, err = outcome(capsys, *(part.format(nowhere) for part in arguments))
    assert (code, out) == (exits.UNREADABLE, "")
    assert err.startswith("tipstaff: error: ")
    assert err.count("\n") == 1
    assert nowhere in err
    assert "Errno" not in err


def test_no_arguments_show_the_help(capsys: Capture) -> None:
    code, out, err = outcome(capsys)
    assert code == exits.USAGE
    assert "Exit codes" in out + err


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigError("x"), 2),
        (TipstaffError("x"), 2),
        (SourceError("x"), 3),
        (SourceNotFoundError("x"), 3),
        (StoreDamagedError("x"), 4),
        (StoreVersionError("x"), 4),
        (StoreEmbeddingError("x"), 4),
        (StoreWriteError(28, "x"), 4),
        (FileNotFoundError(2, "x", "file"), 3),
        (KeyboardInterrupt(), 130),
        (click.Abort(), 130),
        (RuntimeError("x"), 70),
    ],
)
def test_each_kind_of_error_has_its_code(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.delenv("TIPSTAFF_TRACEBACK", raising=False)
    monkeypatch.setattr(app.group, "make_context", fail)
    assert app.run([]) == code
    err = capsys.readouterr().err
    assert "Traceback" not in err
    assert err.count("\n") == (0 if code == 130 else 1)


def test_an_error_of_many_lines_becomes_one(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise StoreWriteError(28, "disk\nfull")

    monkeypatch.setattr(app.group, "make_context", fail)
    assert app.run([]) == exits.STORE
    assert capsys.readouterr().err == "tipstaff: error: disk full\n"


def test_a_defect_can_be_traced(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("x")

    monkeypatch.setenv("TIPSTAFF_TRACEBACK", "1")
    monkeypatch.setattr(app.group, "make_context", fail)
    with pytest.raises(RuntimeError):
        app.run([])


def test_codes_do_not_change() -> None:
    codes = {name: value for name, value in vars(exits).items() if name.isupper()}
    assert codes == {
        "OK": 0,
        "FINDINGS": 1,
        "USAGE": 2,
        "UNREADABLE": 3,
        "STORE": 4,
        "INTERNAL": 70,
        "INTERRUPTED": 130,
        "BROKEN_PIPE": 141,
    }


def test_the_page_names_every_command_and_every_code() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "command-line.md").read_text(encoding="utf-8")
    assert [int(code) for code in re.findall(r"^\| (\d+) \|", page, re.MULTILINE)] == [
        value for name, value in vars(exits).items() if name.isupper()
    ]
    assert set(re.findall(r"`tipstaff ([a-z]+)", page)) == set(app.group.list_commands(click.Context(app.group)))


def leaves(command: click.Command, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield the names and the command of each that has no subcommands."""
    if not isinstance(command, click.Group):
        yield names, command
        return
    for name in command.list_commands(click.Context(command)):
        found = command.get_command(click.Context(command), name)
        assert found is not None
        yield from leaves(found, *names, name)


def test_few_commands_and_no_group_of_one() -> None:
    names = app.group.list_commands(click.Context(app.group))
    assert len(names) <= 26
    below = [name for name, *rest in (names for names, _ in leaves(app.group)) if rest]
    assert [name for name in set(below) if below.count(name) == 1] == ["gate"]  # it judges without a subcommand


def test_every_command_takes_the_repository_in_one_way() -> None:
    for names, command in leaves(app.group):
        options = {flag for one in command.params for flag in one.opts}
        assert {"-C", "--repo"} <= options, names
        assert not options & {"--root", "--dir", "--directory", "--project-dir"}, names


@pytest.mark.skipif(sys.platform == "win32", reason="pipes end differently there")
def test_a_reader_that_stops_reading_is_no_error(tmp_path: Path) -> None:
    rules = "".join(f"- Write clean code, part {'x' * number}\n- Be careful\n" for number in range(1, 3_000))
    (tmp_path / "CLAUDE.md").write_text(rules, encoding="utf-8")
    read_end, write_end = os.pipe()
    with subprocess.Popen(
        [sys.executable, "-m", "tipstaff.cli", "lint", "--json", "-C", str(tmp_path)],
        stdout=write_end,
        stderr=subprocess.PIPE,
        env=_env(),
    ) as process:
        os.close(write_end)
        os.close(read_end)
        _, err = process.communicate()
    assert (process.returncode, err) == (exits.BROKEN_PIPE, b"")


def test_the_module_runs_as_a_program(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("- Write clean code\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "tipstaff.cli", "lint", "--json"],
        cwd=tmp_path,
        capture_output=True,
        check=True,
        env=_env(),
    )
    assert json.loads(done.stdout)["counts"] == {"TS701": 1}
    assert done.stderr == b""
