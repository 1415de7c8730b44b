"""The page about adapters: its examples run, each with the real SDK."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.adapters.drivers import DRIVERS, World, no_warnings, tools
from tests.runs.repository import made_repository

PAGE = Path(__file__).resolve().parents[2] / "docs" / "adapters.md"
EXAMPLES = re.findall(
    r"^## ([^\n]*)\n\n```python\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE
)
OF = {
    "Claude Agent SDK": "claude", "LangChain, LangGraph, deepagents": "langchain", "OpenAI Agents SDK": "openai-agents",
    "Pydantic AI": "pydantic-ai", "LiteLLM": "litellm", "Google ADK": "google-adk",
    "Microsoft Agent Framework": "agent-framework", "MCP servers and clients": "fastmcp", "A loop of your own": "",
}  # fmt: skip


def test_every_example_is_run() -> None:
    assert [heading for heading, _ in EXAMPLES] == list(OF)


@pytest.mark.parametrize(("heading", "text"), EXAMPLES, ids=list(OF))
def test_example(heading: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = DRIVERS.get(OF[heading])
    if driver is not None and driver.why_not:
        pytest.skip(driver.why_not)
    monkeypatch.setenv("TIPSTAFF_STATE", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(made_repository(tmp_path / "repository"))
    given: dict[str, Any] = {"tools": tools(World(None, []), asynchronous=True)}  # type: ignore[arg-type]
    with no_warnings():
        if heading == "LangChain, LangGraph, deepagents":
            from langchain_core.language_models.fake_chat_models import ParrotFakeChatModel
            from langchain_core.tools import tool

            given |= {"model": ParrotFakeChatModel(), "tools": [tool(one) for one in given["tools"]]}
        elif heading == "OpenAI Agents SDK":
            from agents import function_tool

            given |= {"model": "gpt-4o", "tools": [function_tool(one) for one in given["tools"]]}
        elif heading == "Pydantic AI":
            from pydantic_ai.models.test import TestModel

            given |= {"model": TestModel()}
        elif heading == "Google ADK":
            from google.adk.agents import LlmAgent

            given |= {"agent": LlmAgent(name="a", model="gemini-2.5-flash")}
        elif heading == "Microsoft Agent Framework":
            from agent_framework import BaseChatClient, ChatMiddlewareLayer, FunctionInvocationLayer

            class Client(FunctionInvocationLayer, ChatMiddlewareLayer, BaseChatClient):  # type: ignore[misc, type-arg]
                def _inner_get_response(self, **_: Any) -> Any:
                    raise NotImplementedError

            given |= {"client": Client()}
        exec(compile(text, str(PAGE), "exec"), {"__name__": "page", **given})
