"""Which files are rule files, whose they are, and the scope that each gives its rules.

`FORMATS` is the table. A file's rules hold in the folder that it speaks for: the folder it lies in, or the one that
holds the host's hidden folder; in the root, everywhere. Front matter (``paths:``, ``globs:``, ``applyTo:``) narrows
that.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

import msgspec

from tipstaff.frontmatter import FrontMatter
from tipstaff.globs import from_host
from tipstaff.model import EVERYWHERE

_SKIPPED: Final = frozenset(
    """node_modules bower_components __pycache__ venv env site-packages dist build target out vendor third_party
    coverage tmp temp""".split()
)


class Format(msgspec.Struct, frozen=True):
    """A kind of rule file.

    Attributes
    ----------
    pattern
        Path below the folder that the file speaks for; ``*`` for part of a name, ``**/`` for any folders.
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
    """

    pattern: str
    host: str
    precedence: int
    source: str
    local: bool = False
    root_only: bool = False


_CLAUDE: Final = "code.claude.com/docs/en/memory"
_CODEX: Final = "developers.openai.com/codex/guides/agents-md"
_CURSOR: Final = "cursor.com/docs/context/rules"
_COPILOT: Final = "docs.github.com/en/copilot/how-tos/configure-custom-instructions"
_WINDSURF: Final = "docs.windsurf.com/windsurf/cascade/memories"
_CLINE: Final = "docs.cline.bot/features/cline-rules"
_ROO: Final = "docs.roocode.com/features/custom-instructions"

FORMATS: Final = (
    Format("CLAUDE.md", "claude", 0, _CLAUDE),
    Format(".claude/CLAUDE.md", "claude", 0, _CLAUDE),
    Format(".claude/rules/**/*.md", "claude", 0, _CLAUDE),
    Format("CLAUDE.local.md", "claude", 0, _CLAUDE, local=True),
    Format("AGENTS.md", "agents", 1, "agents.md"),
    Format("AGENT.md", "agents", 1, "ampcode.com/manual"),
    Format("AGENTS.override.md", "agents", 1, _CODEX),
    Format("GEMINI.md", "gemini", 2, "geminicli.com/docs/cli/gemini-md"),
    Format(".cursorrules", "cursor", 3, _CURSOR),
    Format(".cursor/rules/**/*.mdc", "cursor", 3, _CURSOR),
    Format(".cursor/rules/**/*.md", "cursor", 3, _CURSOR),
    Format(".github/copilot-instructions.md", "copilot", 4, _COPILOT),
    Format(".github/instructions/**/*.instructions.md", "copilot", 4, _COPILOT),
    Format(".windsurfrules", "windsurf", 5, _WINDSURF),
    Format(".windsurf/rules/**/*.md", "windsurf", 5, _WINDSURF),
    Format(".clinerules", "cline", 6, _CLINE),
    Format(".clinerules/**/*.md", "cline", 6, _CLINE),
    Format(".clinerules/**/*.txt", "cline", 6, _CLINE),
    Format(".roorules", "roo", 7, _ROO),
    Format(".roo/rules/**/*.md", "roo", 7, _ROO),
    Format(".roo/rules/**/*.txt", "roo", 7, _ROO),
    Format(".roo/rules-*/**/*.md", "roo", 7, _ROO),
    Format(".kiro/steering/**/*.md", "kiro", 8, "kiro.dev/docs/steering"),
    Format(".junie/guidelines.md", "junie", 9, "www.jetbrains.com/help/junie/customize-guidelines.html"),
    Format(".continue/rules/**/*.md", "continue", 10, "docs.continue.dev/customize/deep-dives/rules"),
    Format("CONVENTIONS.md", "aider", 11, "aider.chat/docs/usage/conventions.html", root_only=True),
)
"""Every kind of rule file that is read."""

PRECEDENCE: Final = {one.host: one.precedence for one in FORMATS}
HOST_FOLDERS: Final = frozenset(
    one.pattern.split("/")[0] for one in FORMATS if one.pattern[0] == "." and "/" in one.pattern
)
"""The hosts' hidden folders. Inside them only what `FORMATS` names is searched: .claude/worktrees may hold clones."""
_INNER: Final = {
    hidden: frozenset(parts[1] for one in FORMATS if (parts := one.pattern.split("/"))[0] == hidden and len(parts) > 2)
    for hidden in HOST_FOLDERS
}


class RuleFile(msgspec.Struct, frozen=True):
    """A rule file by its path, and the folder that it speaks for."""

    path: str
    host: str
    folder: str
    local: bool = False


def _expression(pattern: str) -> str:
    parts = re.split(r"(\*\*/|\*)", pattern)
    return "".join({"**/": "(?:[^/]+/)*", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts)


_PLAIN: Final = {one.pattern: one for one in FORMATS if "/" not in one.pattern}
_NESTED: Final = tuple(
    (re.compile(rf"(?:(?P<folder>.*)/)?{_expression(one.pattern)}"), one) for one in FORMATS if "/" in one.pattern
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


def relevant_entry(folder: str, name: str, kind: str) -> bool:
    """Whether an entry of a folder matters to where rule files are found; `kind` is ``f``, ``d``, ``l`` or ``o``."""
    if kind == "d":
        return enters(folder, name)
    return name.endswith((".md", ".mdc", ".instructions.md")) or classify(folder, name) is not None


def is_inner(folder: str, name: str) -> bool:
    """Whether a hidden folder of a host is searched in its subfolder `name`."""
    parts = folder.split("/")
    at = next((place for place, part in enumerate(parts) if part in HOST_FOLDERS), -1)
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


def file_scopes(one: RuleFile, matter: FrontMatter) -> tuple[str, ...]:
    """Return a file's scopes as globs relative to the root."""
    if matter.always_apply:
        globs: tuple[str, ...] = ()
    else:
        globs = tuple(from_host(glob, one.host) for glob in matter.scopes)
    if not globs:
        return (f"{one.folder}/**",) if one.folder else (EVERYWHERE,)
    if one.folder:
        return tuple(_inside(glob, one.folder) for glob in globs)
    return tuple(EVERYWHERE if glob == "**" else glob for glob in globs)


def _inside(glob: str, folder: str) -> str:
    """Return a glob that is written relative to a folder as one relative to the root."""
    mark = "!" if glob.startswith("!") else ""
    bare = glob.removeprefix("!").removeprefix("./")
    # A bare name speaks of any depth, a leading slash of the folder itself.
    between = "**/" if "/" not in bare and bare != "**" else ""
    return f"{mark}{folder}/{between}{bare.lstrip('/')}"
