"""MCP: a middleware for FastMCP servers and proxies, and a client session whose calls are judged."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tipstaff.adapters.guard import Guard, sdk
from tipstaff.plane import GuidanceControlPlane


def guarded(session: Any, root: str | Path | GuidanceControlPlane = ".", *, wait: float = 0.0) -> Any:
    """Return an MCP client or session whose ``call_tool`` is judged; it is changed in place.

    Parameters
    ----------
    session
        ``mcp.ClientSession``, ``mcp.Client`` or ``fastmcp.Client``.
    root
        The repository, or a plane.
    wait
        As of `tipstaff.adapters.guard.Guard`. A refused call raises ``mcp.MCPError``.
    """
    guard, call = Guard(root, asker="mcp-client", wait=wait), session.call_tool

    async def call_tool(name: str, arguments: dict[str, Any] | None = None, *args: Any, **options: Any) -> Any:
        refused = await guard.permit(name, arguments or {})
        result = refused or guard.masked(await call(name, arguments, *args, **options))
        if isinstance(result, str):
            raise sdk("mcp", "mcp").MCPError(-32000, result)
        return result

    session.call_tool = call_tool
    return session


def __getattr__(name: str) -> Any:
    if name != "TipstaffMiddleware":  # FastMCP is loaded where its middleware is asked for
        raise AttributeError(name)
    return _middleware()


def _middleware() -> Any:
    base: Any = sdk("fastmcp.server.middleware", "fastmcp").Middleware
    tool_error = sdk("fastmcp.exceptions", "fastmcp").ToolError

    class TipstaffMiddleware(base):
        """``FastMCP(..., middleware=[TipstaffMiddleware()])``, or on a proxy; parameters as of `guarded`.

        A call that needs a person waits in `tipstaff approve`: whoever sits at the client is asked by the client, and
        may be the agent itself.
        """

        def __init__(self, root: str | Path | GuidanceControlPlane = ".", *, wait: float = 0.0) -> None:
            self._guard = Guard(root, asker="fastmcp", wait=wait)

        async def on_initialize(self, context: Any, call_next: Any) -> Any:
            """Add the constitution to the server's instructions."""
            return await self._instructed(await call_next(context))

        async def on_discover(self, context: Any, call_next: Any) -> Any:
            """Do as :meth:`on_initialize`, for clients without sessions."""
            return await self._instructed(await call_next(context))

        async def on_call_tool(self, context: Any, call_next: Any) -> Any:
            """Judge a call before it runs, and mask its result."""
            if refused := await self._guard.permit(context.message.name, context.message.arguments or {}):
                raise tool_error(refused)
            try:
                result = self._guard.masked(await call_next(context))
            except tool_error as error:
                raise tool_error(self._guard.masked(str(error))) from None
            if isinstance(result, str):
                raise tool_error(result)
            return result

        async def _instructed(self, result: Any) -> Any:
            rules = await asyncio.to_thread(self._guard.rules, "")
            if rules and hasattr(result, "instructions"):
                text = "\n\n".join(part for part in (result.instructions, rules) if part)
                return result.model_copy(update={"instructions": text})
            return result

    return TipstaffMiddleware
