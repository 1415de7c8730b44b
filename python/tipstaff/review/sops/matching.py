"""Which SOPs apply to which files. Severity has no say in it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tipstaff.errors import ConfigError
from tipstaff.globs import any_matcher, at_root, normal_path

SCOPES: Final = ("plan", "code", "all")
CHUNK: Final = ".chunk."


def match_sops(
    sops: Iterable[Mapping[str, Any]], files: Sequence[str], *, scope: str | None = None, by_name: bool = True
) -> tuple[str, ...]:
    """Return the ids of the SOPs that apply to any of the files, sorted and unique.

    Parameters
    ----------
    sops
        ``id``; ``applies_to``, one glob or a list, none for every file; ``category``, of which only ``sop`` counts;
        ``scope``, ``code`` where absent. Chunks of an SOP are not SOPs.
    files
        Paths relative to the repository.
    scope
        ``plan`` or ``code``: only SOPs of this scope or of ``all``; None takes every one.
    by_name
        Whether a glob without ``/`` matches the file's name in any folder, as in ``applies_to: "*.go"``; else it
        matches files of the root alone.

    Raises
    ------
    ConfigError
        If `scope` is not known, or an SOP has no id.
    """
    if scope is not None and scope not in SCOPES:
        raise ConfigError(f"scope: expected one of {', '.join(SCOPES)}, got {scope!r}")
    paths = [normal_path(path) for path in files]
    found: set[str] = set()
    for sop in sops:
        name = sop.get("id")
        if not isinstance(name, str) or not name:
            raise ConfigError(f"an SOP has no id: {str(dict(sop))[:80]}")
        if CHUNK in name or (sop.get("category") or "sop") != "sop":
            continue
        if scope is not None and (sop.get("scope") or "code") not in {scope, "all"}:
            continue
        globs = applies_to(sop.get("applies_to"))
        if not by_name:
            globs = tuple(map(at_root, globs))
        if not globs or any(map(any_matcher(globs), paths)):
            found.add(name)
    return tuple(sorted(found))


def applies_to(value: object) -> tuple[str, ...]:
    """Return the globs of an ``applies_to``: a text, a list, or nothing.

    Raises
    ------
    ConfigError
        If it is anything else.
    """
    if value is None or value == "":
        return ()
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Sequence) and all(isinstance(entry, str) for entry in value):
        return tuple(str(entry) for entry in value if entry)
    raise ConfigError(f"applies_to: expected a glob or a list of globs, got {value!r}")
