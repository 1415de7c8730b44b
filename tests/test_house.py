"""The house: folders stay small enough to read, and what users see is in standard terms (docs/decisions/T07)."""

from __future__ import annotations

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

import tipstaff

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "python" / "tipstaff"
MOST_FILES = 20
OF_LIKE_FILES = {
    "python/tipstaff/cli/commands": "one file for each command, found by the command's name",
    "python/tipstaff/gates/packs": "one file for each subject, and their reader",
    "python/tipstaff/gates/packs/secrets": "one file for each subject",
    "benchmarks": "one file for each figure or peer",
}
"""Folders of more files, which differ in their subject alone; docs/decisions/T07 says why."""

IDIOMS = re.compile(
    r"\b(?:anew|seldom|at peace|speaks? of|stands? (?:here|there|in|at|behind)|what is told|goes on|of its kin|and their kin"
    r"|is no (?:JSON|UTF-8|file|text|time|code|number|setting|option)|(?<!there )(?<!where )(?:is|are) none(?! of)"
    r"|the checksum does not fit|may well be|somebody else)\b"
)
"""The worst of the private idiom that messages once were in; CONTRIBUTING asks for standard technical English."""
CLEARED = re.compile(
    r"\b(?:anew|seldom|at peace|speaks? of|in vain|held against|once more|(?:its|their) kin|as it lies"
    r"|stands? (?:here|there|behind)|(?:is|are|was|were) told)\b"
)
"""What comments and docstrings are free of: `IDIOMS` where a word has no other use."""
_LITERAL = re.compile(r'"((?:[^"\\\n]|\\.)*)"')


def folders() -> Iterator[tuple[str, int]]:
    """Yield the folders that git tracks, and how many files are in each."""
    listed = [
        path.relative_to(REPOSITORY)
        for root in ("python", "native", "src", "tests", "tools", "benchmarks", "docs")
        for path in (REPOSITORY / root).rglob("*")
        if path.is_file()
        and not {"__pycache__", "corpus", "cases", "samples"} & set(path.parts)
        and path.suffix not in {".pyc", ".so"}
    ]
    for folder in sorted({path.parent for path in listed}):
        yield folder.as_posix(), sum(path.parent == folder and path.name != "__init__.py" for path in listed)


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a module that are no docstrings and have some words, f-strings included."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
            yield node.lineno, node.value


def documents() -> list[Path]:
    """Return the documents for users."""
    return [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").glob("*.md")]


def test_folders_are_small() -> None:
    large = {folder: count for folder, count in folders() if count > MOST_FILES}
    assert {folder: count for folder, count in large.items() if folder not in OF_LIKE_FILES} == {}
    assert set(OF_LIKE_FILES) <= set(large), "a folder that is small again needs no exception"


def test_messages_are_in_standard_terms() -> None:
    found = [
        f"{path.relative_to(REPOSITORY)}:{line}: {text}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for line, text in messages(path)
        if len(text.split()) > 2 and IDIOMS.search(text)
    ]
    assert not found, "\n".join(found)


def test_comments_are_in_standard_terms() -> None:
    found = [
        f"{path.relative_to(REPOSITORY)}:{number}: {line.strip()}"
        for root in ("python", "native", "src", "tools", "benchmarks", "examples", "profiling")
        for path in sorted((REPOSITORY / root).rglob("*"))
        if path.suffix in {".py", ".pyi", ".pyx", ".pxi", ".hpp", ".cpp"}
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if CLEARED.search(line)
    ]
    assert not found, "\n".join(found)


def test_the_hook_and_the_kernels_speak_in_standard_terms() -> None:
    sources = [*(REPOSITORY / "native" / "hook").glob("*.cpp"), *(REPOSITORY / "src").rglob("*.p*")]
    sources += (REPOSITORY / "native" / "include" / "tipstaff" / "hook").glob("*.hpp")
    found = [
        f"{path.relative_to(REPOSITORY)}: {text}"
        for path in sources
        for text in _LITERAL.findall(path.read_text(encoding="utf-8"))
        if IDIOMS.search(text)
    ]
    assert not found, "\n".join(found)


def test_reasons_of_gate_rules_are_in_standard_terms() -> None:
    found = [
        f"{path.name}: {rule['id']}: {text}"
        for path in sorted((PACKAGE / "gates" / "packs").glob("*.toml"))
        for rule in tomllib.loads(path.read_text(encoding="utf-8")).get("rule", ())
        for text in (str(rule.get("reason", "")), str(rule.get("safer", "")))
        if IDIOMS.search(text)
    ]
    assert not found, "\n".join(found)


def test_documents_are_in_standard_terms() -> None:
    found = [
        f"{path.name}:{number}: {line}"
        for path in documents()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if IDIOMS.search(line) or CLEARED.search(line)
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("name", tipstaff.__all__)
def test_public_docstrings_are_in_standard_terms(name: str) -> None:
    public = getattr(tipstaff, name)
    members = (
        [public, *(member for key, member in vars(public).items() if not key.startswith("_"))]
        if isinstance(public, type)
        else [public]
    )
    for member in members:
        text = getattr(member, "__doc__", None) or ""
        assert not (found := IDIOMS.search(text)), f"{member}: {found}"


def test_the_help_of_every_command_is_in_standard_terms() -> None:
    for path in sorted((PACKAGE / "cli" / "commands").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.decorator_list:
                assert not (found := IDIOMS.search(ast.get_docstring(node) or "")), f"{path.name}: {found}"


@pytest.mark.parametrize(
    "text", ["the file is no JSON", "this is none", "it stands here", "rules that speak of it", "write it anew"]
)
def test_idioms_are_found(text: str) -> None:
    assert IDIOMS.search(text)


@pytest.mark.parametrize("text", ["# what is told of a word", "// the rules that it is held against", "and its kin"])
def test_idioms_of_comments_are_found(text: str) -> None:
    assert CLEARED.search(text)


@pytest.mark.parametrize(
    "text", ["None where there is none", "it is not JSON", "`*` stands for any text", "rules about it"]
)
def test_standard_terms_are_let_pass(text: str) -> None:
    assert not IDIOMS.search(text)
