"""Forbidden packages: those that a run added to a manifest or lock file, or installed by a command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from tipstaff.gates.judging.engine import EnforcementGates
from tipstaff.runs.evaluators.commands import command_of
from tipstaff.runs.evaluators.manifests import is_manifest, matches_package, normal_name
from tipstaff.runs.evaluators.results import Criteria, EvaluatorResult
from tipstaff.runs.events import RunEvent

INSTALLERS: Final[dict[str, tuple[str, frozenset[str]]]] = {
    "npm": ("npm", frozenset({"install", "i", "add", "in", "ins", "isntall", "install-test", "exec", "x"})),
    "pnpm": ("npm", frozenset({"add", "install", "i", "dlx"})),
    "yarn": ("npm", frozenset({"add", "dlx"})),
    "bun": ("npm", frozenset({"add", "install", "i", "a", "x"})),
    "npx": ("npm", frozenset()),
    "pnpx": ("npm", frozenset()),
    "bunx": ("npm", frozenset()),
    "pip": ("pypi", frozenset({"install"})),
    "pip3": ("pypi", frozenset({"install"})),
    "pipx": ("pypi", frozenset({"install", "run", "inject"})),
    "uv": ("pypi", frozenset({"add", "install"})),
    "uvx": ("pypi", frozenset()),
    "poetry": ("pypi", frozenset({"add"})),
    "pdm": ("pypi", frozenset({"add"})),
    "pipenv": ("pypi", frozenset({"install"})),
    "cargo": ("crates", frozenset({"add", "install"})),
    "go": ("go", frozenset({"get", "install"})),
    "gem": ("gems", frozenset({"install", "i"})),
    "bundle": ("gems", frozenset({"add"})),
    "composer": ("packagist", frozenset({"require"})),
    "dotnet": ("nuget", frozenset({"package"})),
}
"""Program: the ecosystem, and the words after which packages are named (none: after the program)."""

_PACKAGE_OPTION: Final = re.compile(r"^--(?:package|from|with|spec)=")
_VERSION: Final = re.compile(r"(?<=[^@])(?:@|[=<>!~]=?|\[).*$")


def forbidden_dependency_scan(event: RunEvent, criteria: Criteria, /) -> EvaluatorResult:
    """Fail where a forbidden package is among those that the run added or installed."""
    name = "forbidden-dependency-scan"
    if not criteria.forbidden_packages:
        return EvaluatorResult(name, True, 1.0, "no package is forbidden")
    added = [*event.dependencies_added]
    for entry in event.tools_used:
        added += installed_packages(entry, criteria.gates)
    found = sorted(
        {one for one in added for forbidden in criteria.forbidden_packages if matches_package(one, forbidden)}
    )
    if found:
        return EvaluatorResult(name, False, 0.0, f"forbidden packages were added: {', '.join(found)}")
    if event.manifests_unread:
        return EvaluatorResult(name, False, 0.0, f"what was added is not known: {'; '.join(event.manifests_unread)}")
    touched = sorted(path for path in event.files_touched if is_manifest(path))
    if touched:
        return EvaluatorResult(name, True, 1.0, f"{', '.join(touched)}: {len(added)} packages added, none is forbidden")
    return EvaluatorResult(name, True, 1.0, "no manifest was touched and no forbidden package installed")


def installed_packages(entry: str, gates: EnforcementGates) -> Iterator[str]:
    """Yield the packages, as ``ecosystem:name``, that a call installs; the gate engine reads its command."""
    entry = command_of(entry)
    if not any(program in entry for program in INSTALLERS):
        return
    for command in gates.explain(entry).to_dict()["commands"]:
        program = command["program"].rpartition("/")[2]
        words = [word["text"] for word in command["words"]]
        if program.startswith("python") and words[:2] in (["-m", "pip"], ["-m", "pipx"], ["-m", "uv"]):
            program, words = words[1], words[2:]
        about = INSTALLERS.get(program)
        if about is None:
            continue
        ecosystem, verbs = about
        start = next((at + 1 for at, word in enumerate(words) if word in verbs), None) if verbs else 0
        if start is None:
            continue
        for given in words[start:]:
            word = _PACKAGE_OPTION.sub("", given)  # npx --package=left-pad
            if word.startswith("-") or "://" in word:
                continue
            _, _, real = word.partition("@npm:")  # npm install alias@npm:left-pad
            package = _VERSION.sub("", real or word)
            if package:
                yield f"{ecosystem}:{normal_name(ecosystem, package)}"
