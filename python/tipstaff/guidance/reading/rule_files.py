"""Which files are rule files, whose they are, and the scope that each gives its rules.

The table is ``rule_files.toml``. A file's rules apply to its own folder: the folder it is in, or the one that
holds the host's hidden folder; in the root, everywhere. Front matter (``paths:``, ``globs:``, ``applyTo:``) narrows
that.
"""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import msgspec

from tipstaff.frontmatter import ALWAYS, DESCRIBED, FILES, MANUAL, FrontMatter
from tipstaff.globs import from_host
from tipstaff.model import EVERYWHERE

_SKIPPED: Final = frozenset(
    """node_modules bower_components __pycache__ venv env site-packages dist build target out vendor third_party
    coverage tmp temp""".split()
)


FOLDER: Final = "folder"
"""The folder that it applies to and what is below; the root's apply everywhere."""
GLOBS: Final = "globs"
"""What the globs of its front matter match, else the folder."""
ROOT: Final = "root"
"""Everywhere; it counts in the root alone."""
USER: Final = "user"
"""Everywhere, for one person: the pattern is below that person's home."""


class Format(msgspec.Struct, frozen=True):
    """A kind of rule file.

    Attributes
    ----------
    pattern
        Path below the folder that the file applies to; ``*`` for part of a name, ``**/`` for any folders.
    host
        Whose format it is.
    precedence
        Of files of one folder, what is read first; a later one of the same host replaces equal ids.
    source
        Where the host documents it.
    local
        Whether it is one person's, which adds and tightens but cannot weaken.
    root_only
        Whether it counts in the repository's root alone.
    scope
        For which files it holds: `FOLDER`, `GLOBS`, `ROOT` or `USER`.
    """

    pattern: str
    host: str
    precedence: int
    source: str
    local: bool = False
    root_only: bool = False
    scope: str = FOLDER


_DATA: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
FORMATS: Final = tuple(
    msgspec.convert({"source": entry.get("source", ""), **one, "host": host, "precedence": entry["precedence"]}, Format)
    for host, entry in _DATA.items()
    for one in entry["files"]
)
"""Every kind of rule file that is read. The files of `USER` come after those of the repository."""

USER_FORMATS: Final = tuple(one for one in FORMATS if one.scope == USER)
_IN_REPOSITORY: Final = tuple(one for one in FORMATS if one.scope != USER)
PRECEDENCE: Final = {one.host: one.precedence for one in _IN_REPOSITORY}
HOST_FOLDERS: Final = frozenset(
    one.pattern.split("/")[0] for one in _IN_REPOSITORY if one.pattern[0] == "." and "/" in one.pattern
)
"""The hosts' hidden folders. Inside them only what `FORMATS` names is searched: .claude/worktrees may hold clones."""
_INNER: Final = {
    hidden: frozenset(
        parts[1] for one in _IN_REPOSITORY if (parts := one.pattern.split("/"))[0] == hidden and len(parts) > 2
    )
    for hidden in HOST_FOLDERS
}


class RuleFile(msgspec.Struct, frozen=True):
    """A rule file by its path, and the folder that it applies to."""

    path: str
    host: str
    folder: str
    local: bool = False
    user: bool = False
    """Whether it is of the person, and `path` absolute."""


def _expression(pattern: str) -> str:
    parts = re.split(r"(\*\*/|\*)", pattern)
    return "".join({"**/": "(?:[^/]+/)*", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts)


_PLAIN: Final = {one.pattern: one for one in _IN_REPOSITORY if "/" not in one.pattern}
_NESTED: Final = tuple(
    (re.compile(rf"(?:(?P<folder>.*)/)?{_expression(one.pattern)}"), one)
    for one in _IN_REPOSITORY
    if "/" in one.pattern
)


@lru_cache(maxsize=8_192)
def classify(folder: str, name: str) -> RuleFile | None:
    """Return what a file is by its name and folder, None if it is no rule file."""
    here = f"{folder}/{name}" if folder else name
    if "." in folder and not HOST_FOLDERS.isdisjoint(folder.split("/")):
        for expression, one in _NESTED:
            if (match := expression.fullmatch(here)) is not None:
                return RuleFile(here, one.host, match["folder"] or "", one.local)
    plain = _PLAIN.get(name)
    if plain is None or (plain.root_only and folder):
        return None
    return RuleFile(here, plain.host, folder, plain.local)


def user_files(home: Path) -> list[RuleFile]:
    """Return the rule files that a person has for all repositories."""
    return [
        RuleFile(path.as_posix(), one.host, "", local=True, user=True)
        for one in USER_FORMATS
        for path in sorted(home.glob(one.pattern))
        if path.is_file()
    ]


def relevant_entry(folder: str, name: str, kind: str) -> bool:
    """Whether an entry of a folder matters to where rule files are found; `kind` is ``f``, ``d``, ``l`` or ``o``."""
    if kind == "d":
        return enters(folder, name)
    return name.endswith((".md", ".mdc", ".instructions.md")) or classify(folder, name) is not None


def is_inner(folder: str, name: str) -> bool:
    """Whether a hidden folder of a host is searched in its subfolder `name`."""
    parts = folder.split("/")
    at = next((position for position, part in enumerate(parts) if part in HOST_FOLDERS), -1)
    if at < 0:
        return False
    inner = _INNER[parts[at]]
    below = [*parts[at + 1 :], name]
    return any(one == "**" or re.fullmatch(_expression(one), below[0]) is not None for one in inner)


def enters(folder: str, name: str) -> bool:
    """Whether rule files are looked for in a folder's subfolder."""
    if not HOST_FOLDERS.isdisjoint(folder.split("/")):
        return is_inner(folder, name)
    return name in HOST_FOLDERS or (not name.startswith(".") and name.lower() not in _SKIPPED)


OUTPUTS: Final[dict[str, dict[str, Any]]] = {host: entry["write"] for host, entry in _DATA.items() if "write" in entry}
"""How the files of a host are written."""
_KEYS: Final = {host: tuple(entry["keys"]) for host, entry in _DATA.items() if "keys" in entry}
"""The keys by which a host reads scopes; of others each is taken."""


def unread_keys(one: RuleFile, matter: FrontMatter) -> tuple[str, ...]:
    """Return the keys that give scopes and that the host of a file does not read: its rules are always loaded."""
    plain = _PLAIN.get(one.path.rpartition("/")[2])
    if plain is not None and plain.host == one.host:
        return tuple(key for key, globs in matter.by_key if globs)
    read = _KEYS.get(one.host)
    return tuple(key for key, globs in matter.by_key if globs and read is not None and key not in read)


def _read_scopes(one: RuleFile, matter: FrontMatter) -> list[str]:
    unread = unread_keys(one, matter)
    return [glob for key, globs in matter.by_key if key not in unread for glob in globs]


def file_scopes(one: RuleFile, matter: FrontMatter) -> tuple[str, ...]:
    """Return a file's scopes as globs relative to the root."""
    if matter.always_apply:
        globs: tuple[str, ...] = ()
    else:
        globs = tuple(from_host(glob, one.host) for glob in _read_scopes(one, matter))
    if not globs:
        return (f"{one.folder}/**",) if one.folder else (EVERYWHERE,)
    if one.folder:
        return tuple(_inside(glob, one.folder) for glob in globs)
    return tuple(EVERYWHERE if glob == "**" else glob for glob in globs)


def mode_of(one: RuleFile, matter: FrontMatter) -> str:
    """Return when a file's host loads it: one of the modes of `tipstaff.frontmatter`."""
    if one.path.endswith("SKILL.md"):
        return DESCRIBED
    if one.host == "cline" and "/workflows/" in one.path:
        return MANUAL
    if matter.mode:
        return matter.mode
    if matter.always_apply:
        return ALWAYS
    if _read_scopes(one, matter):
        return FILES
    if one.path.endswith(".instructions.md") or (matter.always_apply is False and not matter.description):
        return MANUAL
    described = matter.description and one.path.endswith(".mdc")
    return DESCRIBED if matter.always_apply is False or described else ALWAYS


def _inside(glob: str, folder: str) -> str:
    """Return a glob that is written relative to a folder as one relative to the root."""
    mark = "!" if glob.startswith("!") else ""
    bare = glob.removeprefix("!").removeprefix("./")
    # A bare name is about any depth, a leading slash of the folder itself.
    between = "**/" if "/" not in bare and bare != "**" else ""
    return f"{mark}{folder}/{between}{bare.lstrip('/')}"
