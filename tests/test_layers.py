"""Imports run one way: a room knows those below it, and none beside or above it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
PACKAGE = REPOSITORY / "python" / "tipstaff"
STEPS = (
    ("errors", "budgets", "lazy"),
    ("model",),
    ("glob_syntax",),
    ("globs",),
    ("frontmatter",),
    ("kernels",),
    ("store",),
    ("guidance", "gates", "context"),
    ("review",),
    ("runs",),
    ("plane",),
    ("hosts",),
    ("cli",),
)
STEP_OF = {room: step for step, rooms in enumerate(STEPS) for room in rooms}
FRONT = "tipstaff"
"""The package itself: it names the homes of public names and is imported for its version only."""


def modules() -> list[Path]:
    return sorted(path for ending in ("*.py", "*.pyi") for path in PACKAGE.rglob(ending))


def name_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def room_of(module: str) -> str:
    """Return the room of a module, ``tipstaff`` for the package itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else FRONT


def imported(source: str, module: str, *, is_package: bool) -> Iterator[tuple[int, str]]:
    """Yield (line, module) for every import of this package, wherever in the source it stands."""
    package = module if is_package else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(source)):
        found: list[str] = []
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                outer = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*outer, *([node.module] if node.module else [])])
            # ``from tipstaff import store`` imports a room, ``from tipstaff import __version__`` a name.
            found = [
                f"{base}.{alias.name}" if base == FRONT and alias.name in STEP_OF else base for alias in node.names
            ]
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("import_module", "__import__")):
            first = node.args[0] if node.args else None
            if isinstance(first, ast.JoinedStr) and first.values:
                first = first.values[0]
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                found = [first.value]
        for name in found:
            if name == FRONT or name.startswith(f"{FRONT}."):
                yield node.lineno, name


def wrong(module: str, target: str) -> str:
    """Return why a module may not import another, empty where it may."""
    here, there = room_of(module), room_of(target)
    if here == there or FRONT in {here, there}:
        return ""
    if there not in STEP_OF:
        return f"{there} has no place among the steps"
    if STEP_OF[there] > STEP_OF[here]:
        return f"{there} stands above {here}"
    if STEP_OF[there] == STEP_OF[here]:
        return f"{there} stands beside {here}"
    return ""


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_imports_run_one_way(path: Path) -> None:
    module = name_of(path)
    assert room_of(module) in {*STEP_OF, FRONT}, f"{module} has no place among the steps"
    source = path.read_text(encoding="utf-8")
    found = [
        f"{path.relative_to(REPOSITORY)}:{line}: imports {target}: {reason}"
        for line, target in imported(source, module, is_package=path.stem == "__init__")
        if (reason := wrong(module, target))
    ]
    assert not found, "\n".join(found)


def test_there_are_modules_to_look_at() -> None:
    rooms = {room_of(name_of(path)) for path in modules()}
    assert rooms >= {FRONT, "errors", "model", "kernels", "store", "guidance", "cli"}


@pytest.mark.parametrize(
    ("module", "source", "expected"),
    [
        ("tipstaff.store.shards", "from tipstaff.guidance import lint", "guidance stands above store"),
        ("tipstaff.store.shards", "def f():\n    import tipstaff.guidance.lint", "guidance stands above store"),
        ("tipstaff.store.shards", "from tipstaff import guidance", "guidance stands above store"),
        ("tipstaff.store.shards", "from ..guidance import lint", "guidance stands above store"),
        ("tipstaff.store.shards", "from .. import cli", "cli stands above store"),
        ("tipstaff.guidance.lint", "from tipstaff.gates.judging.engine import x", "gates stands beside guidance"),
        ("tipstaff.model", "import_module('tipstaff.kernels')", "kernels stands above model"),
        ("tipstaff.model", "importlib.import_module(f'tipstaff.store.{x}')", "store stands above model"),
        ("tipstaff.cli.app", "import tipstaff.helpers", "helpers has no place among the steps"),
        ("tipstaff.guidance.lint", "from . import quality\nfrom tipstaff.store import shards\nimport json", ""),
        ("tipstaff.guidance.lint", "from tipstaff import __version__", ""),
    ],
)
def test_a_wrong_import_is_found(module: str, source: str, expected: str) -> None:
    found = [wrong(module, target) for _, target in imported(source, module, is_package=False)]
    assert [reason for reason in found if reason] == ([expected] if expected else [])


def test_extension_modules_know_no_room() -> None:
    sources = sorted((REPOSITORY / "src").glob("*.p[yx][xd]"))
    assert sources
    for path in sources:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"^\s*(from|import|cimport)\s+(tipstaff|numpy)\b", text, re.MULTILINE), path.name
        assert not re.search(r"^\s*cimport\s+numpy\b", text, re.MULTILINE), path.name


def test_native_code_knows_no_python() -> None:
    sources = [path for path in (REPOSITORY / "native").rglob("*") if path.suffix in {".hpp", ".cpp", ".h", ".c"}]
    assert sources
    for path in sources:
        text = path.read_text(encoding="utf-8")
        assert not re.search(r'#\s*include\s*[<"](Python|numpy/)', text), path.relative_to(REPOSITORY)
