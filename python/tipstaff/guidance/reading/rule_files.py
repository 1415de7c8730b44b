"""Which files are rule files, whose they are, and the scope that each gives its rules.

============================================  ========  ======================================================
file                                          host      scope of its rules
============================================  ========  ======================================================
``CLAUDE.md``, ``.claude/CLAUDE.md``          claude    its folder (the root's: everywhere)
``CLAUDE.local.md``                           claude    its folder; a local source
``.claude/rules/**/*.md``                     claude    ``paths:``, else its folder
``AGENTS.md``                                 agents    its folder; the nearest wins
``GEMINI.md``                                 gemini    its folder
``.cursor/rules/**/*.mdc``, ``.cursorrules``  cursor    ``globs:``, else its folder
``.github/copilot-instructions.md``           copilot   everywhere
``.github/instructions/**/*.instructions.md`` copilot   ``applyTo:``, else everywhere
============================================  ========  ======================================================

Source: the hosts' documentation.
"""

from __future__ import annotations

from typing import Final

import msgspec

from tipstaff.frontmatter import FrontMatter
from tipstaff.globs import from_host
from tipstaff.model import EVERYWHERE

_SKIPPED: Final = frozenset(
    """node_modules bower_components __pycache__ venv env site-packages dist build target out vendor third_party
    coverage tmp temp""".split()
)
# Of the hosts' hidden folders only these are read: .claude/worktrees, for one, may hold whole clones.
HIDDEN_READ: Final = {".claude": "rules", ".cursor": "rules", ".github": "instructions"}


class RuleFile(msgspec.Struct, frozen=True):
    """A rule file by its path, and the folder that it speaks for."""

    path: str
    host: str
    folder: str
    local: bool = False


def classify(folder: str, name: str) -> RuleFile | None:
    """Return what a file is by its name and folder, None if it is no rule file."""
    here = f"{folder}/{name}" if folder else name
    if name == "CLAUDE.md":
        owner = folder.removesuffix(".claude").rstrip("/") if folder.rpartition("/")[2] == ".claude" else folder
        return RuleFile(here, "claude", owner)
    if name == "CLAUDE.local.md":
        return RuleFile(here, "claude", folder, local=True)
    if name == "AGENTS.md":
        return RuleFile(here, "agents", folder)
    if name == "GEMINI.md":
        return RuleFile(here, "gemini", folder)
    if name == ".cursorrules":
        return RuleFile(here, "cursor", folder)
    parts = f"/{folder}/"
    if name.endswith(".md") and "/.claude/rules/" in parts:
        return RuleFile(here, "claude", parts.partition("/.claude/rules/")[0].strip("/"))
    if name.endswith((".mdc", ".md")) and "/.cursor/rules/" in parts:
        return RuleFile(here, "cursor", parts.partition("/.cursor/rules/")[0].strip("/"))
    if name == "copilot-instructions.md" and parts.endswith("/.github/"):
        return RuleFile(here, "copilot", parts.removesuffix("/.github/").strip("/"))
    if name.endswith(".instructions.md") and "/.github/instructions/" in parts:
        return RuleFile(here, "copilot", parts.partition("/.github/instructions/")[0].strip("/"))
    return None


def relevant_entry(folder: str, name: str, kind: str) -> bool:
    """Whether an entry of a folder matters to where rule files are found; `kind` is ``f``, ``d``, ``l`` or ``o``."""
    if kind == "d":
        return enters(folder, name)
    return name.endswith((".md", ".mdc")) or name == ".cursorrules"


def enters(folder: str, name: str) -> bool:
    """Whether rule files are looked for in a folder's subfolder."""
    only = HIDDEN_READ.get(folder.rsplit("/", 1)[-1])
    if only is not None:
        return name == only
    if name in HIDDEN_READ or any(f"{hidden}/{rules}" in folder for hidden, rules in HIDDEN_READ.items()):
        return True
    return not name.startswith(".") and name.lower() not in _SKIPPED


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
