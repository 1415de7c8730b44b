"""What a project already calls its checks: targets of a Makefile, a Taskfile or a justfile, pre-commit, and its CI.

A target takes the place of a preset's check of the same purpose, and is a check by itself where no preset has one.
What the project's CI runs comes before both, as far as its program is here. Targets named ``fmt`` or ``format`` are
not taken: they rewrite files.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Final, cast

from tipstaff.review.checks.facts import Facts
from tipstaff.review.checks.model import Check
from tipstaff.store.untrusted import read_untrusted_text

TARGETS: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "build": ("compile", ("build", "compile")),
    "test": ("test", ("test", "tests")),
    "lint": ("lint", ("lint",)),
    "clippy": ("lint", ("lint", "clippy")),
    "vet": ("lint", ("vet",)),
    "types": ("typecheck", ("typecheck", "type-check", "types")),
    "format": ("format", ("format-check", "fmt-check", "check-format", "check-fmt")),
}
"""Names of a preset's checks: their category, and the targets that may take their places, the best first."""

_ALONE: Final = ("test", "lint", "types", "format")
"""Purposes whose targets are checks where no preset has one; failing all, a target ``check``, ``ci`` or ``verify``."""

_FILES: Final = (
    ("Makefile", "make {}", re.compile(r"^([A-Za-z0-9][\w.-]*)\s*:(?!=)", re.MULTILINE)),
    ("makefile", "make {}", re.compile(r"^([A-Za-z0-9][\w.-]*)\s*:(?!=)", re.MULTILINE)),
    ("GNUmakefile", "make {}", re.compile(r"^([A-Za-z0-9][\w.-]*)\s*:(?!=)", re.MULTILINE)),
    ("Taskfile.yml", "task {}", re.compile(r"^  ([A-Za-z0-9][\w.:-]*):\s*(?:$|#|\{|\S)", re.MULTILINE)),
    ("Taskfile.yaml", "task {}", re.compile(r"^  ([A-Za-z0-9][\w.:-]*):\s*(?:$|#|\{|\S)", re.MULTILINE)),
    ("justfile", "just {}", re.compile(r"^@?([A-Za-z][\w-]*)(?: [^:=\n]*)?:(?!=)", re.MULTILINE)),
    ("Justfile", "just {}", re.compile(r"^@?([A-Za-z][\w-]*)(?: [^:=\n]*)?:(?!=)", re.MULTILINE)),
    (".justfile", "just {}", re.compile(r"^@?([A-Za-z][\w-]*)(?: [^:=\n]*)?:(?!=)", re.MULTILINE)),
)

_PRE_COMMIT: Final = ".pre-commit-config.yaml"

_RUNNERS: Final = re.compile(
    r"(?:make|just|task|tox|nox|hatch|npm|pnpm|yarn|bun|deno|go|cargo|mdbook|pytest|python3? -m pytest|ruff|mypy"
    r"|pyright|flake8|pylint|\./gradlew|\./mvnw|gradle|mvn|bundle exec|rake|rspec|rubocop|composer|vendor/bin/\w+"
    r"|dotnet|mix|swift|bazel|bazelisk|ctest|meson|ninja|cabal|stack|dart|flutter|zig|sbt|lein)\b"
)
"""Beginnings of commands of a CI that are checks where the rest of them names a purpose."""

_WITHIN: Final = re.compile(
    r"(?:uv|poetry|pdm|pipenv|rye|hatch) run(?: (?:--(?:group|extra|with|python|package|env-file|directory)[ =]\S+"
    r"|-[\w-]+(?:=\S+)?|--))* "
)
"""A program that prepares an environment and runs the command in it: here that is done, and nothing is installed."""

_EMPTY: Final = re.compile(r"\s*\$\{\{[^{}|]*\|\|\s*''\s*\}\}")
"""What a workflow adds to a command in some rows of its matrix and is nothing in others."""

_PURPOSES: Final = (
    ("types", re.compile(r"\b(?:type-?check|check-types|types|typing|mypy|pyright|tsc)\b")),
    ("format", re.compile(r"(?:\bfmt\b.*--check|--check\b.*\bfmt\b|format.*--check|\bfmt-check\b|\bformat-check\b)")),
    ("clippy", re.compile(r"\bclippy\b")),
    ("vet", re.compile(r"\bgo vet\b")),
    ("lint", re.compile(r"\b(?:lint|ruff check|flake8|pylint|style|golangci-lint|rubocop)\b")),
    ("test", re.compile(r"\b(?:tests?|pytest|tox|nox|verify|r?spec)\b")),
    ("build", re.compile(r"\b(?:build|compile)\b")),
)
_UNFIT: Final = re.compile(r"\$[\w({]|[|&;<>`]|\b(?:clean|install|publish|deploy|release|upload|docker)\b|--cov\b")
"""In a CI's command: values that only it has, several commands in one, and what is no check."""

_MAX_WORKFLOWS: Final = 40


def project_targets(facts: Facts) -> dict[str, str]:
    """Return the commands for the targets of a project, by name; a Makefile's before the others'."""
    found: dict[str, str] = {}
    for file, command, pattern in _FILES:
        if file in facts.names and facts.find_tool(command.split()[0]):
            for name in pattern.findall(_tasks_only(facts.text(file), file)):
                found.setdefault(name, command.format(name))
    return found


def with_targets(checks: list[Check], facts: Facts, *, alone: bool = True) -> list[Check]:
    """Return checks with the project's own commands in place of the presets', and those that no preset has.

    Parameters
    ----------
    checks
        Of a preset; none for a project of no known ecosystem.
    facts
        The project's folder.
    alone
        Whether it is of one ecosystem, so that what its CI runs is about that one.
    """
    targets = project_targets(facts)
    own = {
        purpose: targets[target]
        for purpose, (_, names) in TARGETS.items()
        if (target := next((name for name in names if name in targets), None)) is not None
    }
    own |= ci_commands(facts) if alone else {}
    found = [_replaced(check, own[check.name]) if check.name in own else check for check in checks]
    covered = {check.category for check in found}
    for purpose in _ALONE:
        category = TARGETS[purpose][0]
        if purpose in own and category not in covered:
            found.append(Check(name=purpose, command=own[purpose], category=category, timeout_s=600))
    if not found:
        whole = next((name for name in ("check", "ci", "verify") if name in targets), None)
        found += [Check(name=whole, command=targets[whole], timeout_s=600)] if whole else []
    found = list({check.command: check for check in reversed(found)}.values())[::-1]
    program = facts.find_tool("pre-commit") if _PRE_COMMIT in facts.names else None
    if program is not None:
        command = f"{_from(facts.folder, program)} run --all-files --color never"
        hooks = Check(name="pre-commit", command=command, category="lint", timeout_s=300)
        own_commands = set(own.values())
        found = [one for one in found if one.category not in {"lint", "format"} or one.command in own_commands]
        found.append(hooks.replace(description="the hooks of .pre-commit-config.yaml"))
    left = {check.name for check in found}
    return [check.replace(after=tuple(name for name in check.after if name in left)) for check in found]


def _replaced(check: Check, command: str) -> Check:
    """Return a check with another command; how its output is read stays where the program is the same."""
    if Path(shlex.split(command)[0]).name in check.command:
        return check.replace(command=command)
    return check.replace(command=command, parser="", environment={})


def ci_commands(facts: Facts) -> dict[str, str]:
    """Return the commands by which a repository's CI checks it, by purpose: ``test``, ``lint``, ``types`` and so on.

    Those whose program is not here are left out.
    """
    return {purpose: command for purpose, command, program in ci_checks(facts) if program is not None}


def ci_checks(facts: Facts) -> Iterator[tuple[str, str, str | None]]:
    """Yield a purpose, the first command for it of the repository's CI, and its program; None where that is not here.

    Read are GitHub's workflows and GitLab's pipeline of the folder, and of them commands of one line.
    """
    found: set[str] = set()
    missing: dict[str, str] = {}
    for line in _ci_lines(facts.folder):
        command = _WITHIN.sub("", _EMPTY.sub("", line), count=1).strip()
        runner = _RUNNERS.match(command)
        if runner is None or _UNFIT.search(command):
            continue
        purpose = next((name for name, pattern in _PURPOSES if pattern.search(command)), None)
        try:
            program = shlex.split(command)[0]
        except ValueError:
            continue
        if purpose is None or purpose in found:
            continue
        place = str(facts.folder / program) if "/" in program else facts.find_tool(program)
        if place is None or not Path(place).exists():
            missing.setdefault(purpose, command)
            continue
        found.add(purpose)
        yield purpose, command if "/" in program else command.replace(program, _from(facts.folder, place), 1), place
    yield from ((purpose, command, None) for purpose, command in missing.items() if purpose not in found)


def _ci_lines(folder: Path) -> Iterator[str]:
    """Yield the lines of the commands in a folder's CI files, in their order."""
    import yaml

    files = sorted((folder / ".github" / "workflows").glob("*.y*ml"))[:_MAX_WORKFLOWS]
    for path in (*files, folder / ".gitlab-ci.yml"):
        try:
            text = read_untrusted_text(path)[:1_000_000]
            data: object = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506
        except (OSError, UnicodeDecodeError, yaml.YAMLError, RecursionError, ValueError):
            continue
        # The key `on` is read as true.
        events = str(data.get(True) or "") if isinstance(data, dict) else ""
        if path in files and "push" not in events and "pull_request" not in events:
            continue
        yield from (line.strip() for text in _scripts(data) for line in text.splitlines() if line.strip())


def _scripts(data: object, depth: int = 0) -> Iterator[str]:
    """Yield the texts of ``run`` and ``script`` in a CI file, except those of steps in another folder."""
    if depth > 8:
        return
    if isinstance(data, list):
        for one in cast("list[object]", data):
            yield from _scripts(one, depth + 1)
    elif isinstance(data, dict):
        fields = cast("dict[object, object]", data)
        for key, value in fields.items():
            if key in {"run", "script"} and "working-directory" not in fields:
                lines = cast("list[object]", value) if isinstance(value, list) else [value]
                yield from (line for line in lines if isinstance(line, str))
            else:
                yield from _scripts(value, depth + 1)


def _from(folder: Path, program: str) -> str:
    """Return how a program is called from a folder: by name where it is on the PATH, else by its path."""
    import os
    import shutil

    path = Path(program)
    return path.name if shutil.which(path.name) == program else shlex.quote(os.path.relpath(program, folder))


def _tasks_only(text: str, file: str) -> str:
    """Return the part of a Taskfile that lists tasks; of other files, all."""
    if not file.startswith("Taskfile"):
        return text
    match = re.search(r"^tasks:[^\n]*\n((?:[ \t#][^\n]*\n|\n)*)", f"{text}\n", re.MULTILINE)
    return match[1] if match is not None else ""
