"""What is known of a project's folder, in the words in which presets state their conditions.

=====================  =============================================================================================
``file:GLOB``          a file or folder of that name is in the project's folder
``script:NAME``        ``package.json`` has that script, and it is not npm's placeholder for tests
``dependency:NAME``    ``package.json``, ``pyproject.toml`` or a ``requirements*.txt`` names that package
``table:A.B``          ``pyproject.toml`` has that table
``text:FILE:WORDS``    the file contains the words
``pm:NAME``            the package manager of ``package.json`` is that one
``tool:NAME``          the program is on the PATH, in ``.venv/bin`` or in ``node_modules/.bin``
``!CONDITION``         the condition does not hold
``A|B``                one of the conditions holds
=====================  =============================================================================================
"""

from __future__ import annotations

import json
import os
import re
import shutil
import tomllib
from collections.abc import Iterable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, Final, cast

from tipstaff.globs import compile_scope
from tipstaff.store.untrusted import open_untrusted

PLAIN_WORDS: Final = {
    "python": "python",
    "run": "",
    "exec": "npx --no-install",
    "pm": "npm",
    "mvn": "mvn",
    "gradle": "gradle",
}
"""Values of the words in commands where no project is known."""

_MAX_BYTES: Final = 1_000_000
_PLACEHOLDER: Final = "no test specified"
_LOCK_FILES: Final = (
    ("pnpm-lock.yaml", "pnpm"),
    ("yarn.lock", "yarn"),
    ("bun.lock", "bun"),
    ("bun.lockb", "bun"),
    ("package-lock.json", "npm"),
    ("npm-shrinkwrap.json", "npm"),
)
_EXEC: Final = {"npm": "npx --no-install", "pnpm": "pnpm exec", "yarn": "yarn exec", "bun": "bunx --no-install"}
_REQUIREMENT: Final = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)")


class Facts:
    """What is known of one project.

    Parameters
    ----------
    folder
        The project's folder.
    root
        The repository's folder, where the package manager's lock file and the virtual environment may be as well.
    """

    def __init__(self, folder: Path, root: Path | None = None) -> None:
        self.folder = folder
        self.root = root or folder

    def all_hold(self, conditions: Iterable[str]) -> bool:
        """Return whether every condition holds."""
        return all(self.holds(condition) for condition in conditions)

    def holds(self, condition: str) -> bool:
        """Return whether a condition holds.

        Raises
        ------
        ValueError
            If it is of no known kind.
        """
        if "|" in condition:
            return any(self.holds(part) for part in condition.split("|"))
        if condition.startswith("!"):
            return not self.holds(condition[1:])
        kind, _, value = condition.partition(":")
        if kind == "file":
            return any(map(compile_scope(value), self.names))
        if kind == "script":
            return value in self.scripts
        if kind == "dependency":
            return value in self.dependencies
        if kind == "table":
            return _below(self.pyproject, value) is not None
        if kind == "text":
            name, _, words = value.partition(":")
            return words in self.text(name)
        if kind == "pm":
            return self.package_manager == value
        if kind == "tool":
            return self.find_tool(value) is not None
        raise ValueError(f"unknown kind of condition: {condition!r}")

    @cached_property
    def names(self) -> frozenset[str]:
        """Names in the folder."""
        try:
            return frozenset(os.listdir(self.folder))  # noqa: PTH208 - names alone are wanted
        except OSError:
            return frozenset()

    def text(self, name: str) -> str:
        """Return the text of a file in the folder, empty where it cannot be read."""
        try:
            with open_untrusted(self.folder / name) as file:
                return file.read(_MAX_BYTES).decode("utf-8", "replace")
        except OSError:
            return ""

    @cached_property
    def package(self) -> Mapping[str, Any]:
        """``package.json``, empty where there is none or it cannot be read."""
        try:
            data: object = json.loads(self.text("package.json") or "{}")
        except ValueError:
            return {}
        return cast("Mapping[str, Any]", data) if isinstance(data, dict) else {}

    @cached_property
    def pyproject(self) -> Mapping[str, Any]:
        """``pyproject.toml``, empty where there is none or it cannot be read."""
        try:
            return tomllib.loads(self.text("pyproject.toml"))
        except (tomllib.TOMLDecodeError, RecursionError):
            return {}

    @cached_property
    def scripts(self) -> Mapping[str, str]:
        """Scripts of ``package.json`` without npm's placeholder for tests."""
        found: Any = self.package.get("scripts")
        if not isinstance(found, dict):
            return {}
        texts = cast("dict[str, object]", found)
        return {name: text for name, text in texts.items() if isinstance(text, str) and _PLACEHOLDER not in text}

    @cached_property
    def dependencies(self) -> frozenset[str]:
        """Names of packages, as npm and Python write them (lower case, hyphens)."""
        found: set[str] = set()
        for key in ("dependencies", "devDependencies", "optionalDependencies", "peerDependencies"):
            group: Any = self.package.get(key)
            found.update(group if isinstance(group, dict) else ())
        lines: list[object] = list(_texts(_below(self.pyproject, "project.dependencies")))
        for path in ("project.optional-dependencies", "dependency-groups"):
            for group in _values(_below(self.pyproject, path)):
                lines.extend(_texts(group))
        poetry = _below(self.pyproject, "tool.poetry.dependencies"), _below(self.pyproject, "tool.poetry.group")
        lines.extend(poetry[0] if isinstance(poetry[0], dict) else ())
        for group in _values(poetry[1]):
            named = _below(group, "dependencies") if isinstance(group, dict) else None
            lines.extend(named if isinstance(named, dict) else ())
        for name in self.names:
            if name.startswith("requirements") and name.endswith(".txt"):
                lines.extend(self.text(name).splitlines())
        for line in lines:
            match = _REQUIREMENT.match(str(line))
            if match is not None:
                found.add(re.sub(r"[-_.]+", "-", match[1]).lower())
        return frozenset(found)

    @cached_property
    def package_manager(self) -> str:
        """``npm``, ``pnpm``, ``yarn`` or ``bun``: by the field ``packageManager``, else by the lock file."""
        for facts in self._here_and_root():
            named = str(facts.package.get("packageManager") or "").partition("@")[0]
            if named in _EXEC:
                return named
            for name, manager in _LOCK_FILES:
                if name in facts.names:
                    return manager
        return "npm"

    def find_tool(self, name: str) -> str | None:
        """Return the path of a program of this project or of the PATH, None where there is none."""
        for base in dict.fromkeys((self.folder, self.root)):
            for programs in (".venv/bin", "venv/bin", "node_modules/.bin"):
                path = base / programs / name
                if os.access(path, os.X_OK):
                    return str(path)
        return shutil.which(name)

    def words(self) -> dict[str, str]:
        """Return the values of the words in commands."""
        runner, python = self._python()
        return {
            "run": runner,
            "python": python,
            "pm": self.package_manager,
            "exec": _EXEC[self.package_manager],
            "mvn": self._wrapper("mvnw", "mvn"),
            "gradle": self._wrapper("gradlew", "gradle"),
        }

    def _wrapper(self, name: str, program: str) -> str:
        """Return the command of a build tool: its wrapper, where there is one; else the program."""
        if name not in self.names:
            return program
        # Repositories that were committed on Windows have it without the permission to execute it.
        is_script = self.text(name).startswith("#!") and not os.access(self.folder / name, os.X_OK)
        return f"sh ./{name}" if is_script else f"./{name}"

    def _here_and_root(self) -> list[Facts]:
        return [self] if self.root == self.folder else [self, Facts(self.root)]

    def _python(self) -> tuple[str, str]:
        """Return the prefix of a Python tool's command, and the interpreter."""
        for facts in self._here_and_root():
            if "poetry.lock" in facts.names and shutil.which("poetry"):
                return "poetry run ", "poetry run python"
            for name in (".venv", "venv"):
                if os.access(facts.folder / name / "bin" / "python", os.X_OK):
                    where = os.path.relpath(facts.folder / name / "bin", self.folder)
                    return f"{where}/", f"{where}/python"
        # The PATH's interpreter is that of an active virtual environment.
        return "", "python" if shutil.which("python") else "python3"


def _below(data: object, path: str) -> object:
    for part in path.split("."):
        if not isinstance(data, dict) or part not in data:
            return None
        data = cast("dict[str, object]", data)[part]
    return data


def _values(data: object) -> Iterable[object]:
    return cast("dict[str, object]", data).values() if isinstance(data, dict) else ()


def _texts(data: object) -> Iterable[object]:
    return cast("list[object]", data) if isinstance(data, list) else ()
