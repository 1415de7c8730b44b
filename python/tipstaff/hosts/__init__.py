"""Agent hosts: where each one keeps its hooks, how the hook program is registered there, and how it reads a reply."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tipstaff.errors import ConfigError

if TYPE_CHECKING:
    from tipstaff.hosts.host import AgentHost

HOST_NAMES: Final = ("claude", "codex", "gemini", "cursor", "copilot", "qwen", "opencode")


def host_named(name: str) -> AgentHost:
    """Return a host by its name.

    Raises
    ------
    ConfigError
        If there is none of that name.
    """
    if name not in HOST_NAMES:
        raise ConfigError(f"there is no host {name!r}; there are {', '.join(HOST_NAMES)}")
    host: AgentHost = import_module(f"tipstaff.hosts.{name}").HOST
    return host


def hosts_found(home: Path) -> dict[str, str]:
    """Return the hosts that are used here, by name, and by what that is known."""
    return {name: why for name in HOST_NAMES if (why := host_named(name).found(home))}


def hosts_named(name: str) -> tuple[AgentHost, ...]:
    """Return one host, or every one for ``all``."""
    return tuple(host_named(one) for one in HOST_NAMES) if name == "all" else (host_named(name),)
