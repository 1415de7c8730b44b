"""The documents: links lead somewhere, files that they name exist, examples run, and cited decisions are recorded."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tipstaff.cli.app import run
from tipstaff.gates.secrets.packs import made_up

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "python" / "tipstaff"
DOCUMENTS = sorted([*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md")])
NAMING = [
    path
    for path in DOCUMENTS
    if path.name in {"README.md", "CONTRIBUTING.md", "architecture.md"} or path.parent.name == "decisions"
]
_LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)")
_FILE = re.compile(r"`([\w./-]+/[\w.*-]*)`")
_EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
_CONSOLE = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
_CITED = re.compile(r"\bADR-G?\d{3}\b")
_WRITTEN = ("build/", "dist/", ".venv/", ".tipstaff/", ".cursor/", ".claude/", "release/", "docs/team/")


def relative(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_links_lead_to_files(path: Path) -> None:
    for target in _LINK.findall(path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), f"{relative(path)}: {target}"


@pytest.mark.parametrize("path", NAMING, ids=relative)
def test_files_that_are_named_exist(path: Path) -> None:
    roots = (REPOSITORY, PACKAGE, REPOSITORY / "native" / "include" / "tipstaff")
    for name in _FILE.findall(path.read_text(encoding="utf-8")):
        if name.startswith(("/", *_WRITTEN)) or any(part.isupper() for part in re.split(r"[/._]", name)):
            continue
        pattern = name.rstrip("/")
        assert any(next(root.glob(pattern), None) for root in roots), f"{relative(path)}: {name}"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with a copy of the examples, in whose root the test runs."""
    (tmp_path / ".git").mkdir()
    shutil.copytree(REPOSITORY / "examples" / "orchard", tmp_path / "examples" / "orchard")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TIPSTAFF_STATE", str(tmp_path / "state"))
    return tmp_path


@pytest.mark.parametrize("path", [path for path in DOCUMENTS if path.name != "context.md"], ids=relative)
def test_examples_run(path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    orchard = checkout / "examples" / "orchard"
    monkeypatch.chdir(orchard)
    for tenant in ("common", "acme"):
        (orchard / tenant).mkdir()
        (orchard / tenant / "CLAUDE.md").write_text("- Review every migration\n", encoding="utf-8")
    for text in _EXAMPLE.findall(path.read_text(encoding="utf-8")):
        exec(compile(text, str(path), "exec"), {"__name__": path.stem, "text": "no secret", "tool_output": ""})


def steps_of_the_readme() -> list[tuple[list[str], list[str]]]:
    """Return the commands of README that need neither a build nor a history, and the lines that they are to print."""
    steps: list[tuple[list[str], list[str]]] = []
    for block in _CONSOLE.findall((REPOSITORY / "README.md").read_text(encoding="utf-8")):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = step.splitlines()
            words = shlex.split(command, comments=True)
            if words[0] == "tipstaff" and words[1] in {
                "compile",
                "lint",
                "retrieve",
                "gate",
                "install",
                "scan",
                "size",
            }:
                steps.append((words[1:], [line for line in lines if line]))
    return steps


def without_figures(line: str) -> str:
    """Return a line without its figures: scores and counts change with the embedding."""
    return re.sub(r"\d+(?:\.\d+)?", "0", line).rstrip()


def test_commands_of_the_readme_print_what_it_shows(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = made_up("STRIPE_SECRET_KEY=sk_live_{base62:24}\nexport AWS_SECRET_ACCESS_KEY={base62:40}\n")
    (checkout / "deploy.sh").write_text(script, encoding="utf-8")
    steps = steps_of_the_readme()
    assert len(steps) == 8
    for words, lines in steps:
        capsys.readouterr()
        run(words)
        printed = map(without_figures, capsys.readouterr().out.splitlines())
        # README leaves lines out; those that it shows are printed in their order.
        for line in lines:
            assert line == "..." or without_figures(line) in printed, f"{words}: {line}"


def test_decisions_that_code_cites_are_recorded() -> None:
    recorded = {path.name.partition(".")[0] for path in (REPOSITORY / "docs" / "decisions").glob("*.md")}
    listed = (REPOSITORY / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    assert all(f"({name}.md)" in listed for name in recorded - {"README"})
    for path in PACKAGE.rglob("*.py"):
        for cited in _CITED.findall(path.read_text(encoding="utf-8")):
            assert any(name.startswith(f"{cited}-") for name in recorded), f"{relative(path)} cites {cited}"
