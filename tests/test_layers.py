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
    ("errors", "budgets", "lazy", "processors", "sarif"),
    ("model",),
    ("glob_syntax",),
    ("globs",),
    ("frontmatter",),
    ("kernels",),
    ("store",),
    ("undo",),
    ("guidance", "gates"),
    ("context",),
    ("review",),
    ("runs",),
    ("plane",),
    ("hosts", "adapters", "cluster"),
    ("serving",),
    ("cli",),
)
STEP_OF = {room: step for step, rooms in enumerate(STEPS) for room in rooms}
SUB_STEPS = {
    "guidance": (
        ("diagnostics", "wording"),
        ("quality", "reading", "embeddings"),
        ("extraction", "intents", "scope_findings"),
        ("compiling",),
        ("retrieval",),
        ("hook", "lint"),
        ("project",),
    ),
    "gates": (
        ("results", "fields"),
        ("packs",),
        ("secrets", "config"),
        ("redaction", "image"),
        ("judging",),
        ("__main__",),
    ),
    "context": (
        ("conversation",),
        ("prompt", "tokens"),
        ("candidates", "shortening"),
        ("sources",),
        ("inspecting",),
        ("session",),
    ),
}
"""The order within the largest rooms: their folders and modules, in the same manner."""
MOST_MODULES = 20
"""A folder with more modules than this hides what is in it."""
MEMBERS = {
    "tipstaff": set(STEP_OF),
    **{f"tipstaff.{room}": {name for names in steps for name in names} for room, steps in SUB_STEPS.items()},
}
"""Names that are modules where they are imported from these, not what is in them."""
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
    """Yield (line, module) for every import of this package, wherever in the source it is."""
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
            found = [f"{base}.{alias.name}" if alias.name in MEMBERS.get(base, ()) else base for alias in node.names]
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
    if FRONT in {here, there}:
        return ""
    if here == there:
        return wrong_within(here, module, target)
    return misplaced(here, there, STEP_OF)


def misplaced(here: str, there: str, step_of: dict[str, int]) -> str:
    """Return why one may not import the other by the steps that they are on, empty where it may."""
    for name in (here, there):
        if name not in step_of:
            return f"{name} is on none of the steps"
    if step_of[there] > step_of[here]:
        return f"{there} is above {here}"
    if step_of[there] == step_of[here]:
        return f"{there} is beside {here}"
    return ""


def wrong_within(room: str, module: str, target: str) -> str:
    """Return why a module may not import another one of the same room."""
    front = f"{FRONT}.{room}"
    if room not in SUB_STEPS or module == front:
        return ""
    if target == front:
        return f"{front} names what is in the room, and is imported from outside alone"
    here, there = (name.split(".")[2] for name in (module, target))
    step_of = {name: step for step, names in enumerate(SUB_STEPS[room]) for name in names}
    return "" if here == there else misplaced(here, there, step_of)


@pytest.mark.parametrize("path", modules(), ids=name_of)
def test_imports_run_one_way(path: Path) -> None:
    module = name_of(path)
    assert room_of(module) in {*STEP_OF, FRONT}, f"{module} is on none of the steps"
    source = path.read_text(encoding="utf-8")
    found = [
        f"{path.relative_to(REPOSITORY)}:{line}: imports {target}: {reason}"
        for line, target in imported(source, module, is_package=path.stem == "__init__")
        if (reason := wrong(module, target))
    ]
    assert not found, "\n".join(found)


OWN_FILES = (
    "lazy", "kernels", "undo", "guidance.diagnostics", "guidance.wording", "guidance.intents", "guidance.retrieval",
    "guidance.hook", "guidance.embeddings", "context.conversation", "context.tokens", "context.inspecting",
    "context.shortening", "gates.secrets.packs", "review.checks.presets", "review.running.processes", "cli.person",
    "hosts.opencode", "runs.headless.executors", "store",
)  # fmt: skip
"""Which modules open what is this package's own, or the system's."""
READERS = {"read_text", "read_bytes"}


def other_doors(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield where files are opened for reading, or git is started, by other means than those of the store."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or re.search(r"\b(?:__file__|resources)\b", ast.unparse(node)):
            continue
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        first = node.args[0] if node.args else None
        mode = first.value if isinstance(first, ast.Constant) else None
        from_path = not isinstance(node.func, ast.Attribute) or ast.unparse(node.func.value) != "reader"
        if (name in READERS and from_path) or (
            name == "open" and isinstance(node.func, ast.Attribute) and mode in {"r", "rb"}
        ):
            yield node.lineno, name
        if isinstance(first, ast.List) and first.elts and ast.unparse(first.elts[0]) == "'git'":
            yield node.lineno, "git"


def test_there_is_one_door_to_what_is_not_ours() -> None:
    found = [
        f"{path.relative_to(REPOSITORY)}:{line}: {name}; use tipstaff.store.untrusted or tipstaff.store.git"
        for path in modules()
        if not any(f"{name_of(path)}.".startswith(f"{FRONT}.{one}.") for one in OWN_FILES) and path.suffix == ".py"
        for line, name in other_doors(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


def test_every_package_says_what_it_is_for() -> None:
    for path in PACKAGE.rglob("__init__.py"):
        text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        assert text, f"{path.relative_to(REPOSITORY)} has no docstring"
        assert text.split(".")[0].strip(), path


def test_no_folder_holds_too_many_modules() -> None:
    for folder in {path.parent for path in modules()}:
        count = sum(path.suffix in {".py", ".pyi"} for path in folder.iterdir())
        # One file for each command, however many there are.
        assert count <= MOST_MODULES or folder.name == "commands", (
            f"{folder.relative_to(REPOSITORY)} has {count} modules"
        )


def test_there_are_modules_to_look_at() -> None:
    rooms = {room_of(name_of(path)) for path in modules()}
    assert rooms >= {FRONT, "errors", "model", "kernels", "store", "guidance", "cli"}


@pytest.mark.parametrize(
    ("module", "source", "expected"),
    [
        ("tipstaff.store.shards", "from tipstaff.guidance import lint", "guidance is above store"),
        ("tipstaff.store.shards", "def f():\n    import tipstaff.guidance.lint", "guidance is above store"),
        ("tipstaff.store.shards", "from tipstaff import guidance", "guidance is above store"),
        ("tipstaff.store.shards", "from ..guidance import lint", "guidance is above store"),
        ("tipstaff.store.shards", "from .. import cli", "cli is above store"),
        ("tipstaff.guidance.lint", "from tipstaff.gates.judging.engine import x", "gates is beside guidance"),
        ("tipstaff.model", "import_module('tipstaff.kernels')", "kernels is above model"),
        ("tipstaff.model", "importlib.import_module(f'tipstaff.store.{x}')", "store is above model"),
        ("tipstaff.cli.app", "import tipstaff.helpers", "helpers is on none of the steps"),
        ("tipstaff.guidance.lint", "from . import quality\nfrom tipstaff.store import shards\nimport json", ""),
        ("tipstaff.guidance.lint", "from tipstaff import __version__", ""),
        ("tipstaff.guidance.lint", "from tipstaff.guidance.reading import sources", ""),
        ("tipstaff.guidance.reading.sources", "from tipstaff.guidance import lint", "lint is above reading"),
        (
            "tipstaff.guidance.reading.sources",
            "from tipstaff.guidance.embeddings.hash_embedding import Embedding",
            "embeddings is beside reading",
        ),
        ("tipstaff.gates.packs.reader", "import tipstaff.gates.image.policy", "image is above packs"),
        ("tipstaff.gates.packs.reader", "from tipstaff.gates.packs.model import Pack", ""),
        ("tipstaff.gates.helpers", "from tipstaff.gates.packs.model import Pack", "helpers is on none of the steps"),
        (
            "tipstaff.context.tokens.counting",
            "from tipstaff.context import compact",
            "tipstaff.context names what is in the room, and is imported from outside alone",
        ),
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
