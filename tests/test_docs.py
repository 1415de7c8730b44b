"""The documents: links lead somewhere, files that they name exist, examples run, and cited decisions are recorded."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_examples_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(REPOSITORY / "examples" / "orchard", tmp_path / "orchard")
    monkeypatch.chdir(tmp_path / "orchard")
    monkeypatch.setenv("TIPSTAFF_STATE", str(tmp_path / "state"))
    examples = _EXAMPLE.findall((REPOSITORY / name).read_text(encoding="utf-8"))
    assert examples
    for text in examples:
        exec(compile(text, name, "exec"), {"__name__": name})


def test_decisions_that_code_cites_are_recorded() -> None:
    recorded = {path.name.partition(".")[0] for path in (REPOSITORY / "docs" / "decisions").glob("*.md")}
    listed = (REPOSITORY / "docs" / "decisions" / "README.md").read_text(encoding="utf-8")
    assert all(f"({name}.md)" in listed for name in recorded - {"README"})
    for path in PACKAGE.rglob("*.py"):
        for cited in _CITED.findall(path.read_text(encoding="utf-8")):
            assert any(name.startswith(f"{cited}-") for name in recorded), f"{relative(path)} cites {cited}"
