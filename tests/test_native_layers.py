"""Includes in native code run one way: a folder knows those before it in the list, and none after it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

NATIVE = Path(__file__).resolve().parents[1] / "native"
HEADERS = NATIVE / "include" / "tipstaff"
# The encodings of the shell's bytes serve every reader; findings are what rules make.
HOME_OF = {"hook/sha256.hpp": "text", "gate/shell/language/bytes.hpp": "gate/tree", "gate/findings.hpp": "gate/rules"}
ROOMS = (
    "machine_limits.hpp", "syntax", "eval", "text", "tokens", "tasks", "scoring", "similarity", "dispatch.hpp", "focus", "secrets",
    "gate/tree", "gate/tool_fields.hpp", "gate/patch", "gate/paths", "undo", "gate/rules", "gate/flow.hpp", "gate/links.hpp", "gate/proof.hpp", "gate/engine.hpp",
    "gate/tool_commands.hpp", "gate/tool_edits.hpp", "gate/tool_languages.hpp",
    "gate/sql", "gate/cmd", "gate/powershell", "gate/scripting", "gate/scripting/actions", "gate/scripting/libraries",
    "gate/scripting/reader", "gate/shell", "gate/shell/short",
    "gate/judging", "hook/json.hpp", "gate/evidence.hpp", "hook",
)  # fmt: skip
# Bodies: each is compiled into one object, and nobody else may include them.
BODIES = {
    "gate/sql": "sql.cpp", "gate/cmd": "cmd.cpp", "gate/powershell": "powershell.cpp",
    "gate/scripting": "scripting.cpp", "gate/scripting/actions": "scripting.cpp", "gate/scripting/libraries": "scripting.cpp",
    "gate/scripting/reader": "scripting.cpp", "gate/shell": "shell.cpp", "gate/judging": "engine.cpp",
}  # fmt: skip
SHARED = {"gate/shell/programs/table.hpp", "gate/shell/tables/verbs.hpp", "gate/shell/language/bytes.hpp"}
"""Tables that others than the shell's reader look things up in."""


def room_of(header: str) -> str:
    """Return the room of a header, named from ``include/tipstaff``."""
    if header in HOME_OF:
        return HOME_OF[header]
    fitting = [room for room in ROOMS if header == room or header.startswith(f"{room}/")]
    assert fitting, f"{header}: of no room; add its folder to ROOMS"
    return max(fitting, key=len)


def included(source: str) -> list[str]:
    return re.findall(r'^#include "tipstaff/([^"]+)"', source, re.MULTILINE)


def wrong(header: str, target: str) -> str:
    """Return why a header may not include another, empty where it may."""
    here, there = room_of(header), room_of(target)
    if ROOMS.index(there) > ROOMS.index(here):
        return f"{header} includes {target}: {there} comes after {here}"
    if there in BODIES and BODIES.get(here) != BODIES[there] and target not in SHARED:
        return f"{header} includes {target}: only {BODIES[there]} includes bodies of {there}"
    return ""


def test_includes_run_one_way() -> None:
    headers = sorted(HEADERS.rglob("*.hpp"))
    assert len(headers) > 100
    found = [
        reason
        for path in headers
        for target in included(path.read_text(encoding="utf-8"))
        if (reason := wrong(path.relative_to(HEADERS).as_posix(), target))
    ]
    assert not found, "\n".join(found)


def test_bodies_are_compiled_once() -> None:
    sources = [path for path in NATIVE.rglob("*.[ch]pp") if not path.is_relative_to(HEADERS)]
    sources += [*(NATIVE.parent / "src" / "shared").glob("*.hpp")]
    found = [
        f"{path.name} includes {target}"
        for path in sources
        for target in included(path.read_text(encoding="utf-8"))
        if room_of(target) in BODIES and target not in SHARED and path.name != BODIES[room_of(target)]
    ]
    assert not found, "\n".join(found)


def test_what_is_included_exists() -> None:
    sources = [*NATIVE.rglob("*.[ch]pp"), *(NATIVE.parent / "src" / "shared").glob("*.hpp")]
    missing = [
        f"{path.name}: {target}"
        for path in sources
        for target in included(path.read_text(encoding="utf-8"))
        if not (HEADERS / target).is_file()
    ]
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize(
    ("header", "target", "expected"),
    [
        ("gate/tree/tree.hpp", "gate/paths/classes.hpp", "comes after gate/tree"),
        ("gate/rules/trial.hpp", "hook/json.hpp", "comes after gate/rules"),
        ("text/words.hpp", "secrets/bytes.hpp", "comes after text"),
        ("hook/judge.hpp", "gate/sql/statements.hpp", "only sql.cpp includes bodies"),
        ("gate/shell/language/words.hpp", "gate/shell/programs/git.hpp", ""),
        ("hook/judge.hpp", "gate/engine.hpp", ""),
        ("gate/shell/short/programs.hpp", "gate/shell/programs/table.hpp", ""),
    ],
)
def test_a_wrong_include_is_found(header: str, target: str, expected: str) -> None:
    reason = wrong(header, target)
    assert expected in reason
    assert bool(reason) == bool(expected)
