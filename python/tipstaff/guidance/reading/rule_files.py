"""Which files are rule files, whose they are, and the scope that each gives its rules.

`FORMATS` is the table. A file's rules apply to its own folder: the folder it is in, or the one that
holds the host's hidden folder; in the root, everywhere. Front matter (``paths:``, ``globs:``, ``applyTo:``) narrows
that.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import Final

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


_CLAUDE: Final = "code.claude.com/docs/en/memory"
_CODEX: Final = "developers.openai.com/codex/guides/agents-md"
_CURSOR: Final = "cursor.com/docs/context/rules"
_COPILOT: Final = "docs.github.com/en/copilot/how-tos/configure-custom-instructions"
_WINDSURF: Final = "docs.windsurf.com/windsurf/cascade/memories"
_CLINE: Final = "docs.cline.bot/features/cline-rules"
_ANTIGRAVITY: Final = "antigravity.google/docs/rules-workflows"
_GEMINI: Final = "geminicli.com/docs/cli/gemini-md"
_JUNIE: Final = "www.jetbrains.com/help/junie/customize-guidelines.html"
_AUGMENT: Final = "docs.augmentcode.com/setup-augment/guidelines"
_ROO: Final = "docs.roocode.com/features/custom-instructions"

FORMATS: Final = (
    Format("CLAUDE.md", "claude", 0, _CLAUDE),
    Format(".claude/CLAUDE.md", "claude", 0, _CLAUDE),
    Format(".claude/rules/**/*.md", "claude", 0, _CLAUDE, scope=GLOBS),
    Format("CLAUDE.local.md", "claude", 0, _CLAUDE, local=True),
    Format(".claude/CLAUDE.md", "claude", 0, _CLAUDE, local=True, scope=USER),
    Format(".claude/rules/**/*.md", "claude", 0, _CLAUDE, local=True, scope=USER),
    Format("AGENTS.md", "agents", 1, "agents.md"),
    Format("AGENT.md", "agents", 1, "ampcode.com/manual"),
    Format("AGENTS.override.md", "agents", 1, _CODEX),
    Format(".agents/rules/**/*.md", "agents", 1, _ANTIGRAVITY, scope=GLOBS),
    Format(".agent/rules/**/*.md", "agents", 1, _ANTIGRAVITY, scope=GLOBS),
    Format(".codex/AGENTS.md", "agents", 1, _CODEX, local=True, scope=USER),
    Format("GEMINI.md", "gemini", 2, _GEMINI),
    Format(".gemini/GEMINI.md", "gemini", 2, _GEMINI, local=True, scope=USER),
    Format(".cursorrules", "cursor", 3, _CURSOR),
    Format(".cursor/rules/**/*.mdc", "cursor", 3, _CURSOR, scope=GLOBS),
    Format(".cursor/rules/**/*.md", "cursor", 3, _CURSOR, scope=GLOBS),
    Format(".github/copilot-instructions.md", "copilot", 4, _COPILOT),
    Format(".github/instructions/**/*.instructions.md", "copilot", 4, _COPILOT, scope=GLOBS),
    Format(".windsurfrules", "windsurf", 5, _WINDSURF),
    Format(".windsurf/rules/**/*.md", "windsurf", 5, _WINDSURF, scope=GLOBS),
    Format(".clinerules", "cline", 6, _CLINE),
    Format(".clinerules/**/*.md", "cline", 6, _CLINE, scope=GLOBS),
    Format(".clinerules/**/*.txt", "cline", 6, _CLINE),
    Format(".roorules", "roo", 7, _ROO),
    Format(".roo/rules/**/*.md", "roo", 7, _ROO),
    Format(".roo/rules/**/*.txt", "roo", 7, _ROO),
    Format(".roo/rules-*/**/*.md", "roo", 7, _ROO),
    Format(".kiro/steering/**/*.md", "kiro", 8, "kiro.dev/docs/steering", scope=GLOBS),
    Format(".junie/guidelines.md", "junie", 9, _JUNIE),
    Format(".junie/AGENTS.md", "junie", 9, _JUNIE),
    Format(".continue/rules/**/*.md", "continue", 10, "docs.continue.dev/customize/deep-dives/rules", scope=GLOBS),
    Format("CONVENTIONS.md", "aider", 11, "aider.chat/docs/usage/conventions.html", root_only=True, scope=ROOT),
    Format(".rules", "zed", 12, "zed.dev/docs/ai/rules", root_only=True, scope=ROOT),
    Format(".amazonq/rules/**/*.md", "amazonq", 13, "docs.aws.amazon.com/amazonq/latest/qdeveloper-ug"),
    Format(".augment/rules/**/*.md", "augment", 14, _AUGMENT),
    Format(".augment-guidelines", "augment", 14, _AUGMENT, root_only=True, scope=ROOT),
    Format(".aiassistant/rules/**/*.md", "jetbrains", 15, "www.jetbrains.com/help/ai-assistant", scope=GLOBS),
    Format(".kilocode/rules/**/*.md", "kilocode", 16, "kilocode.ai/docs/advanced-usage/custom-rules"),
    Format(".trae/rules/**/*.md", "trae", 17, "docs.trae.ai/ide/rules", scope=GLOBS),
    Format("WARP.md", "warp", 18, "docs.warp.dev/agent-platform/capabilities/rules"),
    Format(".goosehints", "goose", 19, "block.github.io/goose/docs/guides/using-goosehints"),
    Format("QWEN.md", "qwen", 20, "qwenlm.github.io/qwen-code-docs"),
    Format("CRUSH.md", "crush", 21, "github.com/charmbracelet/crush", root_only=True, scope=ROOT),
    Format("CODEBUDDY.md", "codebuddy", 22, "www.codebuddy.ai/docs/cli/memory"),
    Format("IFLOW.md", "iflow", 23, "platform.iflow.cn/cli/configuration/iflow"),
    Format(".qoder/rules/**/*.md", "qoder", 24, "docs.qoder.com/user-guide/rules", scope=GLOBS),
    Format(".gemini/styleguide.md", "gemini-review", 25, "developers.google.com/gemini-code-assist/docs"),
    Format(".openhands/microagents/**/*.md", "openhands", 26, "docs.all-hands.dev/usage/prompting"),
    Format(".openhands_instructions", "openhands", 26, "docs.all-hands.dev", root_only=True, scope=ROOT),
    Format(".tabnine/guidelines/**/*.md", "tabnine", 27, "docs.tabnine.com/main/getting-started"),
    Format(".idx/airules.md", "idx", 28, "firebase.google.com/docs/studio/set-up-gemini"),
    Format(
        ".continuerules", "continue", 10, "docs.continue.dev/customize/deep-dives/rules", root_only=True, scope=ROOT
    ),
    Format("best_practices.md", "qodo", 29, "qodo-merge-docs.qodo.ai/tools/improve", root_only=True, scope=ROOT),
    Format(".cursor/BUGBOT.md", "bugbot", 30, "cursor.com/docs/bugbot"),
    Format(".ruler/**/*.md", "ruler", 31, "github.com/intellectronica/ruler"),
    Format(".tipstaff/rules/**/*.md", "tipstaff", 19, "docs/rule-files.md", scope=GLOBS),
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


_KEYS: Final = {
    "claude": ("paths",), "copilot": ("applyTo",), "cursor": ("globs",), "windsurf": ("globs",), "trae": ("globs",),
    "kiro": ("fileMatchPattern",), "cline": ("paths",), "continue": ("globs",), "agents": ("globs",),
}  # fmt: skip
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
