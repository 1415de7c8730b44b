"""Which files a task means: its own list, or else the plan's constraints."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from tipstaff.errors import ConfigError
from tipstaff.globs import any_matcher, at_root, compile_scope, is_pattern, is_valid, normal_path
from tipstaff.model import Record
from tipstaff.review.names import text_list

_PLAN_KEYS = ("in", "out", "do_not_touch")


class ScopeResolution(Record, frozen=True, kw_only=True):
    """Files of a task.

    Attributes
    ----------
    resolved
        Paths, unique and sorted by code point; those of `missing` are among them.
    missing
        Paths that the task names and the repository does not have: files to be created.
    unmatched_patterns
        Globs that match no file.
    violations
        Files that the task names although the plan says not to touch them.
    source
        ``task_files`` or ``plan_constraints``.
    """

    resolved: tuple[str, ...]
    missing: tuple[str, ...] = ()
    unmatched_patterns: tuple[str, ...] = ()
    violations: tuple[str, ...] = ()
    source: str = "task_files"


def resolve_scope(
    task_files: Sequence[str] | None, repo: Mapping[str, Any] | Sequence[str], plan: Mapping[str, Any] | None = None
) -> ScopeResolution:
    """Return the files that a task means.

    Parameters
    ----------
    task_files
        Paths and globs from the root of the repository; globs without ``/`` match files of the root alone, and what is
        the name of a file is no glob (``app/[slug]/page.tsx``). Where there
        are none, the files that match the plan's ``in`` and neither its ``out`` nor its ``do_not_touch`` are meant.
    repo
        The repository's files; of a mapping the keys.
    plan
        ``in``, ``out`` and ``do_not_touch``: lists of globs.

    Raises
    ------
    ConfigError
        If a path leaves the repository, a glob cannot be used, or the plan has another key or value.
    """
    if plan is not None and not isinstance(cast("object", plan), Mapping):
        raise ConfigError(f"plan: expected a mapping with {', '.join(_PLAN_KEYS)}, got {plan!r}")
    included, excluded, untouchable = (_patterns(plan or {}, key) for key in _PLAN_KEYS)
    for key in plan or {}:
        if key not in _PLAN_KEYS:
            raise ConfigError(f"plan: unknown key {key!r}; expected {', '.join(_PLAN_KEYS)}")
    paths = sorted({normal_path(path) for path in repo})
    known = set(paths)
    protected = _any_of(untouchable)
    if not task_files:
        unmatched = [pattern for pattern in included if not any(map(compile_scope(at_root(pattern)), paths))]
        wanted, unwanted = _any_of(included), _any_of(excluded)
        found = [path for path in paths if wanted(path) and not unwanted(path) and not protected(path)]
        return ScopeResolution(
            resolved=tuple(found), unmatched_patterns=tuple(dict.fromkeys(unmatched)), source="plan_constraints"
        )
    resolved: set[str] = set()
    missing: set[str] = set()
    unmatched = []
    for entry in task_files:
        if is_pattern(normal_path(entry)) and normal_path(entry) not in known:
            _check_pattern(entry, "files")
            hits = list(filter(compile_scope(at_root(entry)), paths))
            resolved.update(hits)
            if not hits:
                unmatched.append(entry)
        else:
            path = repository_path(entry)
            resolved.add(path)
            if path not in known:
                missing.add(path)
    return ScopeResolution(
        resolved=tuple(sorted(resolved)),
        missing=tuple(sorted(missing)),
        unmatched_patterns=tuple(dict.fromkeys(unmatched)),
        violations=tuple(sorted(filter(protected, resolved))),
    )


def repository_path(path: str) -> str:
    """Return a path relative to the repository, normalised.

    Raises
    ------
    ConfigError
        If it is empty, absolute, or leaves the repository.
    """
    plain = posixpath.normpath(normal_path(path)) if path.strip() else ""
    if plain in {"", ".", ".."} or plain.startswith(("/", "../")) or "\0" in plain:
        raise ConfigError(f"{path!r}: expected a path inside the repository, relative to its root")
    return plain


def _patterns(plan: Mapping[str, Any], key: str) -> tuple[str, ...]:
    globs = text_list(plan.get(key), f"plan: {key}", "globs")
    for pattern in globs:
        _check_pattern(pattern, f"plan: {key}")
    return globs


def _any_of(globs: Sequence[str]) -> Callable[[str], bool]:
    return any_matcher(tuple(map(at_root, globs)))


def _check_pattern(pattern: str, where: str) -> None:
    reason = is_valid(pattern)
    if reason is not None:
        raise ConfigError(f"{where}: glob {pattern!r} cannot be used: {reason}")
