"""Rules that enter the prompt when a file that they are about is active."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import Final

from tipstaff.budgets import MAX_SOURCE_BYTES
from tipstaff.context.sources.watched import WatchedFiles
from tipstaff.frontmatter import read_front_matter
from tipstaff.globs import from_host, is_valid, matches_any
from tipstaff.model import Record

RULE_FOLDERS: Final = (".tipstaff/rules", ".claude/rules")
"""Where rules are, relative to the project; every ``.md`` file below counts."""

MAX_RULE_FILES: Final = 1_000
_PLAIN_NAME: Final = re.compile(r"[^*?\[\]{}!/]+\.[^*?\[\]{}!/]+")
_PLAIN_PATH: Final = re.compile(r"[^*?\[\]{}!]+")
_HEADING: Final = "\n\n# Path-Based Rules\n\nThese rules apply to the files of this request.\n"


class PathRule(Record, frozen=True):
    """One rule file.

    Attributes
    ----------
    name
        Its path below the folder of rules, without ``.md``.
    patterns
        Globs as written in its front matter.
    content
        Its text without the front matter.
    path
        Where it is, relative to the project.
    """

    name: str
    patterns: tuple[str, ...]
    content: str
    path: str


class RuleProblem(Record, frozen=True):
    """Why a rule file, or one of its globs, is not used."""

    path: str
    message: str


class RuleMatch(Record, frozen=True):
    """A rule, and the active files for which it is there."""

    rule: PathRule
    files: tuple[str, ...]


class PathRules:
    """The rule files of a project, read again when they change.

    Parameters
    ----------
    root
        The project's folder.
    folders
        Where rules are, relative to `root`.

    Notes
    -----
    The front matter's ``paths`` (also ``globs`` and ``applyTo``) is a list or a string of globs in the dialect of
    :mod:`tipstaff.globs`; one without a slash is about the root folder, as Claude Code reads it, and ``**/*.py``
    covers files there too. A file without globs is not a path rule. A file or a glob that cannot be used is reported in
    :attr:`problems`, and the others hold.
    """

    def __init__(self, root: str | os.PathLike[str], folders: Iterable[str] = RULE_FOLDERS) -> None:
        self._root = Path(root)
        self._folders = tuple(folders)
        self._files: WatchedFiles[tuple[PathRule | None, tuple[RuleProblem, ...]]] = WatchedFiles(MAX_SOURCE_BYTES)
        self._problems: tuple[RuleProblem, ...] = ()

    @property
    def problems(self) -> tuple[RuleProblem, ...]:
        """What could not be used when :meth:`load` last ran."""
        return self._problems

    def load(self) -> tuple[PathRule, ...]:
        """Return the rules by folder and name; files that did not change are not read again."""
        rules: list[PathRule] = []
        problems: list[RuleProblem] = []
        for folder in self._folders:
            base = self._root / folder
            for path in sorted(_markdown_below(base)):
                name = path.relative_to(base).as_posix().removesuffix(".md")
                shown = path.relative_to(self._root).as_posix()
                text = self._files.read(path, partial(_parse, name, shown))
                if text.error is not None:
                    problems.append(RuleProblem(shown, text.error))
                elif text.value is not None:
                    rule, found = text.value
                    problems.extend(found)
                    if rule is not None:
                        rules.append(rule)
        self._problems = tuple(problems)
        return tuple(rules)

    def match(self, paths: Iterable[str]) -> tuple[RuleMatch, ...]:
        """Return the rules that cover one of some paths, in the order of :meth:`load`.

        Parameters
        ----------
        paths
            Active files; absolute ones below the project count as relative to it.
        """
        active = tuple(dict.fromkeys(_below(self._root, path) for path in paths if path.strip()))
        found: list[RuleMatch] = []
        for rule in self.load() if active else ():
            valid = tuple(pattern for pattern in rule.patterns if is_valid(pattern) is None)
            # A plain name is that of a file in any folder; with a wildcard it covers the root folder alone.
            valid += tuple(f"**/{pattern}" for pattern in valid if _PLAIN_NAME.fullmatch(pattern))
            scopes = tuple(from_host(pattern, "claude") for pattern in valid)
            files = tuple(path for path in active if scopes and _covers(valid, scopes, path))
            if files:
                found.append(RuleMatch(rule, files))
        return tuple(found)


def _covers(patterns: tuple[str, ...], scopes: tuple[str, ...], path: str) -> bool:
    if matches_any(scopes, path):
        return True
    # Somebody who says "main.py" means the file that a rule names in full.
    return "/" not in path and any(
        pattern.endswith(f"/{path}") and _PLAIN_PATH.fullmatch(pattern) is not None for pattern in patterns
    )


def format_rule(rule: PathRule) -> str:
    """Return the section of one rule."""
    return f"\n\n# Rules for {', '.join(rule.patterns)} ({rule.name})\n\n{rule.content.strip()}\n"


def format_rules(matches: Iterable[RuleMatch]) -> str:
    """Return the section of a prompt that holds matching rules; empty where there are none."""
    parts = [
        f"\n## {match.rule.name}\n\nApplies to: {', '.join(match.rule.patterns)}\n\n{match.rule.content.strip()}\n"
        for match in matches
    ]
    return _HEADING + "".join(parts) if parts else ""


def _markdown_below(folder: Path) -> list[Path]:
    found: list[Path] = []
    for base, folders, names in os.walk(folder, followlinks=False):
        folders.sort()
        found.extend(Path(base, name) for name in names if name.endswith(".md"))
        if len(found) >= MAX_RULE_FILES:
            break
    return found[:MAX_RULE_FILES]


def _parse(name: str, path: str, text: str) -> tuple[PathRule | None, tuple[RuleProblem, ...]]:
    header, body = _split(text)
    if header is None:
        return None, ()
    front = read_front_matter(header)
    problems = [RuleProblem(path, message) for _, message in front.problems]
    for pattern in front.scopes:
        reason = is_valid(pattern)
        if reason is not None:
            problems.append(RuleProblem(path, f"The glob {pattern!r} cannot be used: {reason}."))
    if not front.scopes:
        return None, tuple(problems)
    return PathRule(name, front.scopes, body.strip(), path), tuple(problems)


def _split(text: str) -> tuple[str | None, str]:
    """Return what is between the first two lines of three dashes, and what follows."""
    lines = text.replace("\r\n", "\n").split("\n")
    marks = [number for number, line in enumerate(lines) if line.strip() == "---"][:2]
    # Only blank lines may precede the front matter; a rule of dashes in a text is not front matter.
    if len(marks) < 2 or any(line.strip() for line in lines[: marks[0]]):
        return None, text
    return "\n".join(lines[marks[0] + 1 : marks[1]]), "\n".join(lines[marks[1] + 1 :])


def _below(root: Path, path: str) -> str:
    path = path.replace("\\", "/")
    prefix = root.as_posix().rstrip("/") + "/"
    return path.removeprefix(prefix) if path.startswith(prefix) else path.removeprefix("./")
