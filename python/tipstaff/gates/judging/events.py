"""What the events of a call or a batch say beside their texts: the language, the folder, the size."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, cast

from tipstaff.errors import ConfigError

LARGE_CHARS: Final = 16 * 1024
"""Characters from which the engine gives the interpreter's lock away."""


def size_of(event: str | Mapping[str, Any]) -> int:
    """Return how many characters an event of a batch has, about: those of its texts and of its parameters."""
    if isinstance(event, str):
        return len(event)
    if not isinstance(cast("object", event), Mapping):
        return 0
    params = event.get("params")
    values = [*event.values(), *(params.values() if isinstance(params, Mapping) else ())]
    return sum(len(value) for value in values if isinstance(value, str))


def dialect_of(shell: str) -> int:
    """Return the number of a shell or language.

    Raises
    ------
    ConfigError
        If it is not known.
    """
    from tipstaff.gates.packs.samples import SHELLS, dialect_number

    number = dialect_number(shell)
    if number is None:
        raise ConfigError(f"shell {shell!r} is not known; known are {', '.join(sorted(SHELLS))}")
    return number


def directory_of(params: Any) -> str | None:
    """Return the directory that a tool call itself names."""
    if isinstance(params, Mapping):
        table: Mapping[Any, Any] = params
        for name in ("cwd", "workdir", "working_directory", "dir_path"):
            value = table.get(name)
            if isinstance(value, str) and value.startswith("/"):
                return value
    return None
