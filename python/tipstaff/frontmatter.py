"""Front matter of rule files: the scopes that the hosts' own keys give.

Hosts write globs in ways that YAML does not accept (``globs: **/*.ts``: a leading ``*`` is an alias to YAML), so such
values are quoted before the YAML library sees them.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

from tipstaff.globs import split_scopes

_LENIENT: Final = re.compile(
    r"^(?P<key>globs|applyTo|paths|fileMatchPattern|description)[ \t]*:[ \t]+(?P<value>[^\s\"'\[|>#&][^\n]*?)[ \t]*$",
    re.MULTILINE,
)
_LENIENT_ITEM: Final = re.compile(r"^(?P<dash>[ \t]*-[ \t]+)(?P<value>[*{!@%`][^\n]*?)[ \t]*$", re.MULTILINE)
_SCOPE_KEYS: Final = ("paths", "globs", "applyTo", "fileMatchPattern")
"""Of Claude Code, of Cursor, Windsurf, Continue and others, of Copilot, of Kiro."""
_MISSPELT: Final = {
    key.casefold().removesuffix("s"): key for key in (*_SCOPE_KEYS, "alwaysApply", "inclusion", "trigger")
}
ALWAYS: Final = "always"
FILES: Final = "files"
DESCRIBED: Final = "described"
MANUAL: Final = "manual"
_MODES: Final = {
    "inclusion": {"always": ALWAYS, "fileMatch": FILES, "auto": DESCRIBED, "manual": MANUAL},
    "trigger": {"always_on": ALWAYS, "glob": FILES, "model_decision": DESCRIBED, "manual": MANUAL},
    "type": {
        "always_apply": ALWAYS,
        "always": ALWAYS,
        "agent_requested": DESCRIBED,
        "auto": DESCRIBED,
        "manual": MANUAL,
    },
}
"""Of Kiro, of Windsurf and Antigravity, of Augment: when a file is loaded."""


class FrontMatter(msgspec.Struct, frozen=True, gc=False):
    """What the front matter of a rule file says.

    Attributes
    ----------
    scopes
        Globs as written; empty where the file names none.
    by_key
        Pairs of a key that gives scopes and its globs.
    description
        Cursor's description, by which a model may ask for the rule.
    always_apply
        Cursor's ``alwaysApply``; None where it is not given.
    mode
        When the file says that it is loaded, by a key other than Cursor's: `ALWAYS`, for the `FILES` of its scopes,
        where its description fits (`DESCRIBED`), or when somebody names it (`MANUAL`); empty where it does not say.
    problems
        Pairs of a diagnostic code and a message.
    """

    scopes: tuple[str, ...] = ()
    by_key: tuple[tuple[str, tuple[str, ...]], ...] = ()
    description: str = ""
    always_apply: bool | None = None
    mode: str = ""
    problems: tuple[tuple[str, str], ...] = ()


def read_front_matter(text: str) -> FrontMatter:
    """Read the YAML between the ``---`` lines of a rule file; nothing makes this raise."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        data: Any = yaml.load(_quoted(text), Loader=loader)  # noqa: S506 - the safe loader, in C
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 2}" if mark is not None else ""
        detail = getattr(error, "problem", None) or type(error).__name__
        return FrontMatter(problems=(("TS106", f"The front matter is not valid YAML{where}: {detail}."),))
    if data is None:
        return FrontMatter()
    if not isinstance(data, dict):
        kind = type(data).__name__
        return FrontMatter(problems=(("TS106", f"The front matter is a {kind}, not a mapping of keys to values."),))
    problems: list[tuple[str, str]] = []
    by_key = tuple((key, tuple(_globs(key, data[key], problems))) for key in _SCOPE_KEYS if key in data)
    for key in data:
        meant = _MISSPELT.get(str(key).casefold().removesuffix("s"))
        if meant is not None and key != meant:
            problems.append(("TS107", f"{key} is no key that a host reads; it is written {meant}."))
    always = data.get("alwaysApply")
    if always is not None and not isinstance(always, bool):
        problems.append(("TS107", f"alwaysApply is {always!r}; it must be true or false."))
        always = None
    mode = ""
    for key, modes in _MODES.items():
        if key in data:
            mode = modes.get(str(data[key]), "")
            if not mode and key != "type":  # a word that any file may have
                problems.append(("TS107", f"{key} is {data[key]!r}; it must be one of {', '.join(modes)}."))
    description = data.get("description")
    return FrontMatter(
        scopes=tuple(dict.fromkeys(glob for _, globs in by_key for glob in globs)),
        by_key=by_key,
        description=description if isinstance(description, str) else "",
        always_apply=always,
        mode=mode,
        problems=tuple(problems),
    )


def _quoted(text: str) -> str:
    text = _LENIENT.sub(lambda match: f"{match['key']}: {json.dumps(match['value'])}", text)
    return _LENIENT_ITEM.sub(lambda match: match["dash"] + json.dumps(match["value"]), text)


def _globs(key: str, value: Any, problems: list[tuple[str, str]]) -> list[str]:
    if value is None:
        return []
    if isinstance(value, str):
        return list(split_scopes(value))
    if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return [glob for entry in value for glob in split_scopes(entry)]
    problems.append(
        ("TS107", f"{key} is {str(value)[:60]!r}; it must be a list of globs or one comma-separated string.")
    )
    return []
