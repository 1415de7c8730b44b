"""What of a registration is not as ``install`` writes it, so that the host may not run the hook or not wait for it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, cast

from tipstaff.hosts.host import AgentHost, Registered, handlers_of, words_of

_FREE: Final = frozenset(
    {"name", "description", "statusMessage", "powershell", "command_windows", "commandWindows", "sequential"}
)
"""Keys that people may add or change: the hook runs all the same."""
_COMMAND: Final = frozenset({"command", "bash", "exec", "args", "hooks"})
_TIMES: Final = frozenset({"timeout", "timeoutSec"})
_LEAST_TIME: Final = 0.1
"""Of the time that ``install`` gives."""


def altered_entries(host: AgentHost, found: Sequence[tuple[Path, Registered]], program: Path) -> Iterator[str]:
    """Yield each key or option of the registrations that ``install`` would write otherwise.

    Parameters
    ----------
    host
        Their host.
    found
        File and registration of each.
    program
        This package's own program.
    """
    events: dict[tuple[Path, str], list[str]] = {}
    for path, one in found:
        for what in _altered(host, one, program) if one.event in host.events else ():
            events.setdefault((path, what), []).append(one.event)
    for (path, what), names in events.items():
        yield f"{path}: {', '.join(names)}: {what}; run `tipstaff install --host {host.name}` again"


def refusal(host: AgentHost, settings: Mapping[str, Any]) -> str:
    """Return why a host reads nothing of a file of settings, empty where it does.

    Some hosts check the whole file first, so that one wrong entry of somebody else takes every hook away.
    """
    if host.root_keys is not None and (more := sorted(settings.keys() - host.root_keys)):
        return f'{host.title} reads no file with a key that it does not know: remove "{more[0]}"'
    hooks = settings.get("hooks", {})
    if not host.handler_types or not isinstance(hooks, dict):
        return ""
    for event, groups in cast("dict[str, Any]", hooks).items():
        if not isinstance(groups, list) or not all(_is_valid(host, group) for group in groups):
            return f"{host.title} reads no file with an invalid entry: correct that of {event}"
    return ""


def _is_valid(host: AgentHost, group: Any) -> bool:
    if not isinstance(group, dict) or not isinstance(group.get("hooks"), list):
        return False
    return isinstance(group.get("matcher", ""), str) and all(
        isinstance(one, dict)
        and one.get("type") in host.handler_types
        and (one["type"] != "command" or isinstance(one.get("command"), str))
        for one in group["hooks"]
    )


def unmatched(host: AgentHost, found: Sequence[tuple[Path, Registered]], event: str, *names: str) -> bool:
    """Return whether an event is registered, and none of its matchers takes in a tool by one of its names."""
    matchers = [one.entry.get("matcher") for _, one in found if one.event == event]
    return bool(matchers) and not any(_takes(host, matcher, name) for matcher in matchers for name in names)


def is_of_tools(event: str) -> bool:
    """Return whether the matchers of an event choose tools by their names."""
    return "tool" in event.lower()


def _altered(host: AgentHost, one: Registered, program: Path) -> Iterator[str]:
    wanted = host.entry(one.event, program)
    handler = handlers_of(wanted)[0]
    wanted = {**wanted, **handler}
    for key in sorted((wanted.keys() | one.entry.keys()) - _COMMAND - _FREE):
        value, right = one.entry.get(key), wanted.get(key)
        if key in _TIMES:
            if key in one.entry and not _is_enough(value, right):
                yield f'"{key}" is {json.dumps(value)}, which is not enough'
        elif key == "matcher":
            if not isinstance(value, str | None) or not (is_of_tools(one.event) or _takes(host, value, "")):
                yield f'"matcher" is {json.dumps(value)}, which does not match all'
        elif key == "type" and (value or host.default_type) == (right or host.default_type):
            continue
        elif (value or None) != (right or None):
            yield f'"{key}" is missing' if key not in one.entry else f'"{key}" is {json.dumps(value)}'
    options = dict(pairwise(one.words))
    for option, right in {"--event": one.event, **dict(pairwise(words_of(handler)))}.items():
        if option.startswith("--") and (value := options.get(option, right)) != right:
            yield f"{option} is {value}, not {right}"


def _is_enough(value: Any, right: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return not isinstance(right, int) or value >= right * _LEAST_TIME


def _takes(host: AgentHost, matcher: Any, tool: str) -> bool:
    if matcher is None or (isinstance(matcher, str) and matcher.strip() in {"", "*", ".*"}):
        return True
    if not isinstance(matcher, str) or tool == "":
        return False
    if host.matcher_names is not None and host.matcher_names.fullmatch(matcher):
        return tool in {name.strip() for name in re.split(r"[|,]", matcher)}
    if host.matcher_is_trimmed:
        matcher = re.sub(r"\s*\|\s*", "|", matcher.strip())
    try:
        return (re.fullmatch if host.matcher_is_whole else re.search)(matcher, tool) is not None
    except re.error:
        return False
