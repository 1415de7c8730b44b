"""A real MCP server for the tests of the gateway: ``python -m tests.serving.mcp_server [DESCRIPTION]``."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

from mcp.server.mcpserver import Context, MCPServer
from pydantic import BaseModel

server = MCPServer("t")
TOKEN = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"


class Answer(BaseModel):
    name: str


@server.tool(description=sys.argv[1] if len(sys.argv) > 1 else "Echo a text.")
def echo(text: str) -> str:
    return text


@server.tool()
def secret() -> dict[str, str]:
    return {"user": "ann", "token": TOKEN}


@server.tool()
def run(command: str) -> str:
    return f"ran {command}"


@server.tool()
async def steps(ctx: Context[Any, Any]) -> str:
    for number in range(3):
        await ctx.report_progress(number + 1, 3, f"step {number + 1}")
    return "done"


@server.tool()
async def ask(ctx: Context[Any, Any]) -> str:
    found = await ctx.elicit("What is your name?", Answer)
    return f"hello {found.data.name}" if found.action == "accept" else found.action


@server.tool()
async def sleep() -> str:
    await asyncio.sleep(30)
    return "slept"


@server.resource("note://one")
def note() -> str:
    return f"a note with {TOKEN}"


if __name__ == "__main__":
    server.run()
