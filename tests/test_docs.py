"""The documents: links lead somewhere, files that they name exist, examples run, and cited decisions are recorded."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools.write_picture import PICTURE, hook_replies, lines, svg

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
PAGES = [path for path in DOCUMENTS if path.name == "README.md" or path.parent.name in {"docs", "reference"}]
RUN = {"compile", "lint", "retrieve", "gate", "scan", "rules", "review", "install"}
"""Commands of the pages that are run: what the others need is not in the checkout."""
_LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)")
_FILE = re.compile(r"`([\w./-]+/[\w.*-]*)`")
_EXAMPLE = re.compile(r"^```python\n(.*?)^```", re.DOTALL | re.MULTILINE)
_CONSOLE = re.compile(r"^```console\n(.*?)^```", re.DOTALL | re.MULTILINE)
_CITED = re.compile(r"\bADR-G?\d{3}\b")
_WRITTEN = ("build/", "dist/", ".venv/", ".tipstaff/", ".cursor/", ".claude/", "release/", "docs/team/")


def relative(path: Path) -> str:
    return str(path.relative_to(REPOSITORY))


def test_links_lead_to_files() -> None:
    broken = [
        f"{relative(path)}: {target}"
        for path in DOCUMENTS
        for target in _LINK.findall(path.read_text(encoding="utf-8"))
        if not (path.parent / target).exists()
    ]
    assert broken == []


def test_files_that_are_named_exist() -> None:
    roots = (REPOSITORY, PACKAGE, REPOSITORY / "native" / "include" / "tipstaff")
    missing = [
        f"{relative(path)}: {name}"
        for path in NAMING
        for name in _FILE.findall(path.read_text(encoding="utf-8"))
        if not name.startswith(("/", *_WRITTEN))
        and not any(part.isupper() for part in re.split(r"[/._]", name))
        and not any(next(root.glob(name.rstrip("/")), None) for root in roots)
    ]
    assert missing == []


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with a copy of the examples, in whose root the test runs."""
    (tmp_path / ".git").mkdir()
    shutil.copytree(REPOSITORY / "examples" / "orchard", tmp_path / "examples" / "orchard")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("TIPSTAFF_STATE", str(tmp_path / "state"))
    return tmp_path


@pytest.mark.parametrize(
    "path",
    [
        path
        for path in PAGES
        if path.relative_to(REPOSITORY).as_posix()
        not in {"docs/context.md", "docs/reference/context.md", "docs/adapters.md"}
    ],
    ids=relative,
)
def test_examples_run(path: Path, checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(checkout / "examples" / "orchard")
    for text in _EXAMPLE.findall(path.read_text(encoding="utf-8")):
        exec(compile(text, str(path), "exec"), {"__name__": path.stem, "text": "no secret", "tool_output": ""})


def steps(path: Path) -> Iterator[tuple[list[str], list[str]]]:
    """Yield the commands of a page that need neither a person nor a history, and the lines that they are to print."""
    for block in _CONSOLE.findall(path.read_text(encoding="utf-8")):
        for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *lines = step.splitlines()
            words = shlex.split(command, comments=True)
            if words[0] == "tipstaff" and words[1] in RUN and not {"|", ">", "<"} & set(words):
                yield words[1:], [line for line in lines if line]


def without_figures(line: str) -> str:
    """Return a line without its figures: scores and counts change with the embedding."""
    return re.sub(r"\d+(?:\.\d+)?", "0", line).rstrip()


def test_commands_print_what_the_documents_show(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = made_up("STRIPE_SECRET_KEY=sk_live_{base62:24}\nexport AWS_SECRET_ACCESS_KEY={base62:40}\n")
    (checkout / "deploy.sh").write_text(script, encoding="utf-8")
    found = [(path, *step) for path in PAGES for step in steps(path)]
    assert len(found) > 12
    for path, words, shown in found:
        capsys.readouterr()
        run(words)
        captured = capsys.readouterr()
        printed = list(map(without_figures, (captured.out + captured.err).splitlines()))
        # The page leaves lines out; those that it shows are printed in their order.
        at = 0
        for line in shown:
            if line == "...":
                continue
            assert without_figures(line) in printed[at:], f"{relative(path)}: {words}: {line}\n{captured.err}"
            at = printed.index(without_figures(line), at) + 1


def test_the_readme_is_short() -> None:
    assert len((REPOSITORY / "README.md").read_text(encoding="utf-8").split()) <= 900


def test_pages_begin_with_what_a_reader_wants() -> None:
    pages = [path for path in PAGES if path.parent.name == "docs"]
    wrong = [path.name for path in pages if "You want" not in path.read_text(encoding="utf-8")[:600]]
    assert wrong == []


def test_the_picture_is_what_the_hook_answers() -> None:
    assert PICTURE.read_text(encoding="utf-8") == svg(lines(*hook_replies())), "run `python -m tools.write_picture`"


def test_decisions_that_code_cites_are_recorded() -> None:
    recorded = {path.name.partition(".")[0] for path in (REPOSITORY / "docs" / "decisions").glob("*.md")}
    listed = (REPOSITORY / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    assert all(f"({name}.md)" in listed for name in recorded - {"README"})
    for path in PACKAGE.rglob("*.py"):
        for cited in _CITED.findall(path.read_text(encoding="utf-8")):
            assert any(name.startswith(f"{cited}-") for name in recorded), f"{relative(path)} cites {cited}"
