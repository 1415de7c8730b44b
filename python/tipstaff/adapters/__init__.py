"""Tipstaff inside the loops of agent SDKs: calls are judged, results masked, rules delivered, runs recorded.

One module for each SDK, over `guard.Guard`. Each has the name of its SDK here (``from tipstaff.adapters import
pydantic_ai``); the files have other names, since tools take a file's own name for the SDK that it imports. A module is
loaded, and its SDK with it, when it is first asked for.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import Any, Final

_HOMES: Final = {
    "agent_framework": "microsoft",
    "claude_agent_sdk": "claude",
    "google_adk": "adk",
    "langchain": "langchain_tools",
    "litellm": "proxy",
    "mcp": "mcp_servers",
    "openai_agents": "openai_tools",
    "pydantic_ai": "pydantic_tools",
}
__all__ = tuple(_HOMES)  # pyright: ignore[reportUnsupportedDunderAll]


class _Named(ModuleType):
    """A module under its SDK's name."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(import_module(f"{__name__}.{_HOMES[self.__name__.rpartition('.')[2]]}"), name)


def __getattr__(name: str) -> ModuleType:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"{__name__}.{_HOMES[name]}")


for _name in _HOMES:  # for `import tipstaff.adapters.langchain` too
    sys.modules.setdefault(f"{__name__}.{_name}", _Named(f"{__name__}.{_name}"))
