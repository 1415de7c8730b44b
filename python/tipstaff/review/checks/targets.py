"""What a project already calls its checks: targets of a Makefile, a Taskfile or a justfile, and pre-commit.

A target takes the place of a preset's check of the same purpose. Targets named ``fmt`` or ``format`` are not taken:
they rewrite files.
"""

from __future__ import annotations

import re
from typing import Final

from tipstaff.review.checks.facts import Facts
from tipstaff.review.checks.model import Check

TARGETS: Final[dict[str, tuple[str, ...]]] = {
    "build": ("build", "compile"),
    "test": ("test", "tests"),
    "lint": ("lint",),
    "clippy": ("lint", "clippy"),
    "vet": ("vet",),
    "types": ("typecheck", "type-check", "types"),
    "format": ("format-check", "fmt-check", "check-format", "check-fmt"),
    "coverage": (),
}
"""Names of a preset's checks, and of the targets that may take their places, the best first."""

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


def project_targets(facts: Facts) -> dict[str, str]:
    """Return the commands for the targets of a project, by name; a Makefile's before the others'."""
    found: dict[str, str] = {}
    for file, command, pattern in _FILES:
        if file in facts.names and facts.find_tool(command.split()[0]):
            for name in pattern.findall(_tasks_only(facts.text(file), file)):
                found.setdefault(name, command.format(name))
    return found


def with_targets(checks: list[Check], facts: Facts) -> list[Check]:
    """Return checks with commands replaced by the project's own targets, and pre-commit instead of linters."""
    targets = project_targets(facts)
    found: list[Check] = []
    commands: set[str] = set()
    for check in checks:
        target = next((name for name in TARGETS.get(check.name, ()) if name in targets), None)
        if target is not None:
            check = check.replace(command=targets[target], parser="", inputs=("**",), environment={})  # noqa: PLW2901
        if check.command in commands:
            continue
        commands.add(check.command)
        found.append(check)
    if ".pre-commit-config.yaml" in facts.names and facts.find_tool("pre-commit"):
        tool = Check(
            name="pre-commit",
            command="pre-commit run --all-files --color never",
            category="lint",
            inputs=("**",),
            timeout_s=300,
            description="the hooks of .pre-commit-config.yaml",
        )
        own = {check.command for check in found if check.command.split()[0] in {"make", "task", "just"}}
        found = [check for check in found if check.category not in {"lint", "format"} or check.command in own] + [tool]
    kept = {check.name for check in found}
    return [check.replace(after=tuple(name for name in check.after if name in kept)) for check in found]


def _tasks_only(text: str, file: str) -> str:
    """Return the part of a Taskfile that lists tasks; of other files, all."""
    if not file.startswith("Taskfile"):
        return text
    match = re.search(r"^tasks:[^\n]*\n((?:[ \t#][^\n]*\n|\n)*)", f"{text}\n", re.MULTILINE)
    return match[1] if match is not None else ""
