"""A repository in, its checks out: which ecosystems it has, in the root and two levels down.

The checks of one ecosystem in the root keep their preset's names; where there are several, or one in a folder, the
folder and the ecosystem come before the name: ``web:test``, ``python:lint``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tipstaff.globs import any_matcher
from tipstaff.model import Record
from tipstaff.review.checks.facts import Facts
from tipstaff.review.checks.model import Check
from tipstaff.review.checks.presets import Preset, load_preset, preset_checks, preset_files
from tipstaff.review.checks.resolving import checked_config, merged, preset_list
from tipstaff.review.checks.targets import with_targets
from tipstaff.review.repository import IGNORED_FOLDERS

_LEVELS = 2
_MAX_FOLDERS = 200


class Project(Record, frozen=True):
    """A folder that belongs to an ecosystem: the preset's name, and the folder relative to the root."""

    preset: str
    folder: str


def detect_projects(root: Path) -> list[Project]:
    """Return the projects of a repository, those of the root first, then those one and two levels down.

    A folder below is left out where the root's checks of the same ecosystem cover it, as those of a workspace do, and
    below a folder that is a project itself.
    """
    top = Facts(root)
    presets = [load_preset(name) for name in preset_files()]
    found = [Project(preset.name, "") for preset in presets if _has(top, preset.detect)]
    covered = {
        preset.name
        for preset in presets
        if any(map(top.holds, preset.workspace)) and preset_checks(preset, top) and Project(preset.name, "") in found
    }

    def below(folder: str, depth: int) -> None:
        for name in _folders(root / folder):
            path = f"{folder}/{name}" if folder else name
            facts = Facts(root / path, root)
            projects = [
                Project(preset.name, path)
                for preset in presets
                if preset.name not in covered and _has(facts, preset.detect_below)
            ]
            found.extend(projects)
            if depth > 1 and not projects:
                below(path, depth - 1)

    below("", _LEVELS)
    return found


def _folders(folder: Path) -> list[str]:
    """Return the names of the folders in which projects are looked for, sorted."""
    try:
        with os.scandir(folder) as entries:
            found = sorted(
                entry.name
                for entry in entries
                if entry.name not in IGNORED_FOLDERS
                and not entry.name.startswith(".")
                and entry.is_dir(follow_symlinks=False)
            )
    except OSError:
        return []
    return found[:_MAX_FOLDERS]


def repository_checks(
    root: str | os.PathLike[str], config: Mapping[str, Any] | Sequence[Any] | None = None
) -> tuple[Check, ...]:
    """Return the checks of a repository.

    Parameters
    ----------
    root
        Its folder.
    config
        See :func:`tipstaff.review.resolve_checks`. Where it names presets, their checks are run as they are written,
        in the root or in the folders below that are of that ecosystem; ``prefer_targets = true`` puts the
        repository's own targets in their place. Where it names none, every ecosystem that is found has its checks,
        and targets come first.

    Raises
    ------
    CheckConfigError
        If the configuration is invalid.
    """
    base = Path(root)
    settings = checked_config(config)
    named = preset_list(settings)
    if named:
        found = _named(base, named, prefer=bool(settings.get("prefer_targets")))
    elif settings.get("preset") is None and ("additional" not in settings or settings.get("overrides")):
        found = _instances(base, detect_projects(base), prefer=settings.get("prefer_targets", True))
    else:
        found = []
    return merged(found, settings)


def _named(base: Path, names: Sequence[str], *, prefer: bool) -> list[Check]:
    wanted = {load_preset(name).name for name in names}
    projects = [project for project in detect_projects(base) if project.preset in wanted]
    # A preset that was asked for is run in the root even where nothing shows that ecosystem.
    projects += [Project(name, "") for name in sorted(wanted - {project.preset for project in projects})]
    at_root = {project.preset for project in projects if not project.folder}
    chosen = [project for project in projects if not project.folder or project.preset not in at_root]
    return _instances(base, chosen, prefer=prefer, seed=True)


def _instances(base: Path, projects: Sequence[Project], *, prefer: bool, seed: bool = False) -> list[Check]:
    found: list[Check] = []
    commands: set[tuple[str, str]] = set()
    ecosystems: dict[str, int] = {}
    for project in projects:
        ecosystems[project.folder] = ecosystems.get(project.folder, 0) + 1
    if prefer and not seed and "" not in ecosystems:
        # A Makefile, a justfile or pre-commit alone.
        found.extend(with_targets([], Facts(base)))
    for project in projects:
        facts = Facts(base / project.folder, base)
        preset = load_preset(project.preset)
        checks = _seed_checks(preset, facts) if seed else preset_checks(preset, facts)
        if prefer:
            checks = with_targets(checks, facts, alone=ecosystems[project.folder] == 1)
        prefix = f"{project.folder}:" if project.folder else ""
        if ecosystems[project.folder] > 1:
            prefix += f"{project.preset}:"
        names = {check.name: f"{prefix}{check.name}" for check in checks}
        for check in checks:
            # Two ecosystems of one folder may share a target, and what looks at files does so in folders below as well.
            covers = ("", check.command) in commands and check.category in {"lint", "format"}
            if (project.folder, check.command) in commands or covers:
                names.pop(check.name)
                continue
            commands.add((project.folder, check.command))
        found.extend(
            check.replace(
                name=names[check.name],
                working_dir=project.folder,
                after=tuple(names[name] for name in check.after if name in names),
                needs=tuple(names[name] for name in check.needs if name in names),
            )
            for check in checks
            if check.name in names
        )
    return found


def _seed_checks(preset: Preset, facts: Facts) -> list[Check]:
    """Return every check that a preset's name alone stands for, with the variants of this project."""
    plain = {check.name: check for check in preset_checks(preset)}
    proposed = {check.name: check for check in preset_checks(preset, facts, named=True)}
    return [
        check.replace(command=known.command, parser=known.parser, reports=known.reports)
        if (known := proposed.get(name)) is not None
        else check
        for name, check in plain.items()
    ]


def _has(facts: Facts, patterns: Sequence[str]) -> bool:
    return any(map(any_matcher(tuple(patterns)), facts.names))
