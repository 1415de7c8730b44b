"""One driver for each SDK: the real one, with a scripted model and the same three tools.

A script is a list of turns: ``(tool, arguments)`` is a call, a text ends the conversation. The tools are ``Bash``
(answers what `outputs` says of its command), ``Lookup`` (answers data) and ``Wait`` (takes long).
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.runs.model_server import model_server
from tipstaff.plane import GuidanceControlPlane

Call = tuple[str, dict[str, Any]]
Turn = Call | str


@dataclass
class Outcome:
    ran: list[Call] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    system: str = ""
    asked: int = 0
    final: str = ""


@dataclass
class World:
    """What a case gives the agent, and what it did."""

    plane: GuidanceControlPlane
    script: list[Turn]
    task: str = "Fix the failing test of the delivery day"
    answer: bool | None = None  # what the SDK's own approval is answered; None leaves it open
    wait: float | None = None  # seconds in the queue, instead of the SDK's approval
    outputs: dict[str, str] = field(default_factory=dict)
    record: Any = None
    lasts: float = 20.0
    out: Outcome = field(default_factory=Outcome)

    def bash(self, command: str) -> str:
        self.out.ran.append(("Bash", {"command": command}))
        found = self.outputs.get(command, f"ran {command}")
        if found == "raise":
            raise ValueError("the tool broke")
        return found

    def lookup(self, key: str, depth: int = 1) -> Any:
        self.out.ran.append(("Lookup", {"key": key}))
        return self.record if self.record is not None else {"key": key, "depth": depth}

    async def sleep(self) -> str:
        self.out.ran.append(("Wait", {}))
        await asyncio.sleep(self.lasts)
        return "slept"


def tools(world: World, asynchronous: bool = False) -> list[Callable[..., Any]]:
    if asynchronous:

        async def Bash(command: str) -> str:
            """Run a command."""
            return world.bash(command)

        async def Lookup(key: str, depth: int = 1) -> Any:
            """Look a key up."""
            return world.lookup(key, depth)
    else:

        def Bash(command: str) -> str:  # type: ignore[misc]
            """Run a command."""
            return world.bash(command)

        def Lookup(key: str, depth: int = 1) -> Any:  # type: ignore[misc]
            """Look a key up."""
            return world.lookup(key, depth)

    async def Wait() -> str:
        """Wait."""
        return await world.sleep()

    return [Bash, Lookup, Wait]


class Driver(ABC):
    module = ""
    has_runs = True
    sdk_asks = True
    delivers = True

    @property
    def why_not(self) -> str:
        top = self.module.partition(".")[0]
        return "" if importlib.util.find_spec(top) else f"{self.module} is not installed; `make adapters` has it"

    @abstractmethod
    async def drive(self, world: World) -> Outcome:
        """Let the SDK's agent take the turns of a world."""


class LangChain(Driver):
    module = "langchain"

    async def drive(self, world: World) -> Outcome:
        from langchain.agents import create_agent
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage
        from langchain_core.tools import tool
        from langgraph.checkpoint.memory import InMemorySaver
        from langgraph.types import Command
        from tipstaff.adapters.langchain import TipstaffMiddleware

        class Model(GenericFakeChatModel):
            def bind_tools(self, tools: Any, **_: Any) -> Any:
                return self

            def _generate(self, messages: Any, *args: Any, **kwargs: Any) -> Any:
                world.out.system = "\n".join(one.text for one in messages if one.type == "system")
                return super()._generate(messages, *args, **kwargs)

        def turn(number: int, one: Turn) -> Any:
            if isinstance(one, str):
                return AIMessage(one)
            return AIMessage("", tool_calls=[{"name": one[0], "args": one[1], "id": f"c{number}"}])

        model = Model(messages=iter([turn(number, one) for number, one in enumerate(world.script)]))
        saver = None if world.wait is not None else InMemorySaver()
        middleware = TipstaffMiddleware(world.plane, wait=world.wait or 0.0)
        made = [tool(one) for one in tools(world, asynchronous=True)]
        agent = create_agent(model, made, middleware=[middleware], checkpointer=saver)
        settings: Any = {"configurable": {"thread_id": "t"}}
        given: Any = {"messages": [("user", world.task)]}
        while True:
            state = await agent.ainvoke(given, settings)
            interrupted = state.get("__interrupt__")
            if not interrupted:
                break
            world.out.asked += 1
            if world.answer is None:
                break
            given = Command(resume={"decisions": [{"type": "approve" if world.answer else "reject"}]})
        world.out.told = [one.text for one in state["messages"] if one.type == "tool"]
        world.out.final = state["messages"][-1].text
        return world.out


class OpenAIAgents(Driver):
    module = "agents"

    async def drive(self, world: World) -> Outcome:
        from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
        from openai.types.responses import (
            ResponseFunctionToolCall,
            ResponseOutputMessage,
            ResponseOutputText,
        )
        from tipstaff.adapters.openai_agents import guarded, run_config

        set_tracing_disabled(True)
        turns = iter(enumerate(world.script))

        class Scripted(Model):
            async def get_response(self, system_instructions: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
                world.out.system = system_instructions or ""
                items = [] if isinstance(input, str) else input
                world.out.told = [str(one["output"]) for one in items if one.get("type") == "function_call_output"]
                number, turn = next(turns)
                if isinstance(turn, str):
                    text = ResponseOutputText(text=turn, type="output_text", annotations=[])
                    output: Any = ResponseOutputMessage(
                        id="m", content=[text], role="assistant", status="completed", type="message"
                    )
                else:
                    output = ResponseFunctionToolCall(
                        call_id=f"c{number}", name=turn[0], arguments=json.dumps(turn[1]), type="function_call"
                    )
                return ModelResponse(output=[output], usage=Usage(output_tokens=7), response_id=None)

            def stream_response(self, *args: Any, **kwargs: Any) -> Any:
                raise NotImplementedError

        made: Any = [function_tool(one, failure_error_function=None) for one in tools(world, asynchronous=True)]
        agent = guarded(Agent(name="a", model=Scripted(), tools=made), world.plane, wait=world.wait)
        config = run_config(world.plane)
        result = await Runner.run(agent, world.task, run_config=config)
        while result.interruptions:
            world.out.asked += 1
            if world.answer is None:
                return world.out
            state = result.to_state()
            for one in result.interruptions:
                (state.approve if world.answer else state.reject)(one)
            result = await Runner.run(agent, state, run_config=config)
        world.out.final = str(result.final_output)
        return world.out


class PydanticAI(Driver):
    module = "pydantic_ai"

    async def drive(self, world: World) -> Outcome:
        from pydantic_ai import Agent, DeferredToolRequests, DeferredToolResults, ToolDenied
        from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart, ToolReturnPart
        from pydantic_ai.models.function import FunctionModel
        from tipstaff.adapters.pydantic_ai import TipstaffCapability

        turns = iter(enumerate(world.script))

        def answer(messages: Any, info: Any) -> Any:
            world.out.system = info.instructions or ""
            returned = [one for message in messages for one in message.parts if isinstance(one, ToolReturnPart)]
            world.out.told = [str(one.content) for one in returned]
            number, turn = next(turns)
            part = (
                TextPart(turn) if isinstance(turn, str) else ToolCallPart(turn[0], turn[1], tool_call_id=f"c{number}")
            )
            return ModelResponse(parts=[part])

        outputs: Any = [str, DeferredToolRequests] if world.wait is None else str
        capability = TipstaffCapability(world.plane, wait=world.wait or 0.0)
        agent: Any = Agent(
            FunctionModel(answer), tools=tools(world, asynchronous=True), output_type=outputs, capabilities=[capability]
        )
        result = await agent.run(world.task)
        while isinstance(result.output, DeferredToolRequests):
            world.out.asked += 1
            if world.answer is None:
                return world.out
            given: Any = True if world.answer else ToolDenied("A person refused this call.")
            results = DeferredToolResults(approvals={one.tool_call_id: given for one in result.output.approvals})
            result = await agent.run(message_history=result.all_messages(), deferred_tool_results=results)
        world.out.final = result.output
        return world.out


class GoogleADK(Driver):
    module = "google.adk"

    @property
    def why_not(self) -> str:
        try:
            found = importlib.util.find_spec("google.adk")
        except ModuleNotFoundError:
            found = None
        return "" if found else "google-adk is not installed; `make adapters` has it"

    async def drive(self, world: World) -> Outcome:
        from google.adk.agents import LlmAgent
        from google.adk.models.base_llm import BaseLlm
        from google.adk.models.llm_response import LlmResponse
        from google.adk.runners import InMemoryRunner
        from google.genai import types
        from tipstaff.adapters.google_adk import TipstaffPlugin

        turns = iter(enumerate(world.script))

        class Scripted(BaseLlm):
            async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
                del stream
                world.out.system = str(llm_request.config.system_instruction or "")
                parts = [part for content in llm_request.contents for part in content.parts]
                answers = [part.function_response for part in parts if part.function_response]
                world.out.told = [json.dumps(one.response) for one in answers if not one.name.startswith("adk_")]
                number, turn = next(turns)
                if isinstance(turn, str):
                    part = types.Part(text=turn)
                else:
                    part = types.Part(function_call=types.FunctionCall(id=f"c{number}", name=turn[0], args=turn[1]))
                yield LlmResponse(content=types.Content(role="model", parts=[part]))

        agent: Any = LlmAgent(name="a", model=Scripted(model="scripted"), tools=list(tools(world, asynchronous=True)))
        plugin = TipstaffPlugin(world.plane, wait=world.wait)
        runner = InMemoryRunner(agent=agent, app_name="t", plugins=[plugin])
        session = await runner.session_service.create_session(app_name="t", user_id="u")
        message = types.Content(role="user", parts=[types.Part(text=world.task)])
        while True:
            waiting = None
            async for event in runner.run_async(user_id="u", session_id=session.id, new_message=message):
                for call in event.get_function_calls():
                    if call.name == "adk_request_confirmation":
                        waiting = call
                if event.content and event.content.parts and event.content.parts[0].text:
                    world.out.final = event.content.parts[0].text
            if waiting is None:
                break
            world.out.asked += 1
            if world.answer is None:
                break
            reply = types.FunctionResponse(id=waiting.id, name=waiting.name, response={"confirmed": world.answer})
            message = types.Content(role="user", parts=[types.Part(function_response=reply)])
        return world.out


class AgentFramework(Driver):
    module = "agent_framework"

    async def drive(self, world: World) -> Outcome:
        import agent_framework as framework
        from agent_framework import Agent, BaseChatClient, ChatResponse, Content, Message
        from tipstaff.adapters.agent_framework import TipstaffMiddleware

        turns = iter(enumerate(world.script))

        class Scripted(framework.FunctionInvocationLayer, framework.ChatMiddlewareLayer, BaseChatClient):  # type: ignore[misc, type-arg]
            async def _inner_get_response(self, *, messages: Any, stream: Any, options: Any, **_: Any) -> Any:
                del stream
                system = [one.text for one in messages if one.role == "system"]
                world.out.system = "\n".join([*system, str(options.get("instructions") or "")])
                contents = [one for message in messages for one in message.contents]
                world.out.told = [str(one.result) for one in contents if one.type == "function_result"]
                number, turn = next(turns)
                if isinstance(turn, str):
                    part: Any = turn
                else:
                    part = Content.from_function_call(f"c{number}", turn[0], arguments=json.dumps(turn[1]))
                return ChatResponse(messages=[Message(role="assistant", contents=[part])], response_id="r")

        agent: Any = Agent(
            client=Scripted(), tools=tools(world, asynchronous=True),
            middleware=[TipstaffMiddleware(world.plane, wait=world.wait)],
        )  # fmt: skip
        session = agent.create_session()
        given: Any = world.task
        while True:
            response = await agent.run(given, session=session)
            requests = response.user_input_requests
            if not requests:
                break
            world.out.asked += 1
            if world.answer is None:
                return world.out
            contents = [one.to_function_approval_response(world.answer) for one in requests]
            given = Message(role="user", contents=contents)
        world.out.final = response.text
        return world.out


class ClaudeAgent(Driver):
    module = "claude_agent_sdk"

    async def drive(self, world: World) -> Outcome:
        from claude_agent_sdk import (
            ClaudeSDKClient,
            PermissionResultAllow,
            PermissionResultDeny,
            ResultMessage,
            ToolResultBlock,
            UserMessage,
            create_sdk_mcp_server,
            tool,
        )
        from tipstaff.adapters.claude_agent_sdk import options

        async def answered(value: Any) -> dict[str, Any]:
            if asyncio.iscoroutine(value):
                value = await value
            return {"content": [{"type": "text", "text": value if isinstance(value, str) else json.dumps(value)}]}

        @tool("Bash", "Run a command.", {"command": str})
        async def bash(args: Any) -> Any:
            return await answered(world.bash(args["command"]))

        @tool("Lookup", "Look a key up.", {"key": str})
        async def lookup(args: Any) -> Any:
            return await answered(world.lookup(args["key"]))

        @tool("Wait", "Wait.", {})
        async def wait(args: Any) -> Any:
            return await answered(world.sleep())

        async def can_use_tool(name: str, given: Any, context: Any) -> Any:
            del name, given, context
            world.out.asked += 1
            if world.answer:
                return PermissionResultAllow()
            return PermissionResultDeny(message="A person refused this call.")

        script: list[Any] = [
            one if isinstance(one, str) else {"name": f"mcp__t__{one[0]}", "args": one[1]} for one in world.script
        ]
        server = create_sdk_mcp_server("t", tools=[bash, lookup, wait])
        asks: Any = {"can_use_tool": can_use_tool} if world.wait is None else {}
        seen: list[dict[str, Any]] = []
        with model_server(script, seen=seen) as url:
            made = options(
                world.plane, wait=world.wait or 0.0, mcp_servers={"t": server}, cwd=str(world.plane.root),
                allowed_tools=[f"mcp__t__{name}" for name in ("Bash", "Lookup", "Wait")], max_turns=12,
                setting_sources=[], model="claude-sonnet-4-5", **asks,
                env={
                    "ANTHROPIC_BASE_URL": url, "ANTHROPIC_API_KEY": "x", "HOME": os.environ["HOME"],
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", "DISABLE_AUTOUPDATER": "1",
                },
            )  # fmt: skip
            async with ClaudeSDKClient(made) as client:
                await client.query(world.task)
                async for message in client.receive_response():
                    if isinstance(message, UserMessage) and isinstance(message.content, list):
                        for block in message.content:
                            if isinstance(block, ToolResultBlock):
                                given = block.content
                                world.out.told.append(given if isinstance(given, str) else json.dumps(given))
                    if isinstance(message, ResultMessage):
                        world.out.final = message.result or ""
        bodies = [body for body in seen if body.get("tools")]
        world.out.system = json.dumps(
            [[body.get("system"), body["messages"]] for body in bodies[:1]], ensure_ascii=False
        )
        return world.out


class LiteLLM(Driver):
    module = "litellm"
    has_runs = False
    sdk_asks = False

    async def drive(self, world: World) -> Outcome:
        os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import litellm
            from tipstaff.adapters.litellm import TipstaffGuardrail

        class Seeing(litellm.integrations.custom_logger.CustomLogger):  # type: ignore[misc, name-defined]
            async def async_pre_call_deployment_hook(self, kwargs: Any, call_type: Any) -> Any:
                messages = kwargs["messages"]
                world.out.system = "\n".join(one["content"] for one in messages if one["role"] == "system")
                world.out.told = [one["content"] for one in messages if one["role"] == "tool"]
                return kwargs

        functions = {one.__name__: one for one in tools(world, asynchronous=True)}
        messages: list[Any] = [{"role": "user", "content": world.task}]
        before = list(litellm.callbacks)
        litellm.callbacks = [TipstaffGuardrail(world.plane, wait=world.wait or 0.0), Seeing()]
        try:
            for number, turn in enumerate(world.script):
                calls = [] if isinstance(turn, str) else [
                    {"id": f"c{number}", "type": "function", "function": {"name": turn[0], "arguments": json.dumps(turn[1])}}
                ]  # fmt: skip
                answer: Any = {"mock_tool_calls": calls} if calls else {"mock_response": turn}
                try:
                    response = await litellm.acompletion(model="openai/gpt-4o", messages=list(messages), **answer)
                except Exception as error:  # noqa: BLE001 - what a loop does with an answer that was refused
                    messages += [
                        {"role": "assistant", "content": "", "tool_calls": calls},
                        {
                            "role": "tool",
                            "tool_call_id": f"c{number}",
                            "content": str(getattr(error, "message", error)),
                        },
                    ]
                    continue
                message = response.choices[0].message
                if not message.tool_calls:
                    world.out.final = message.content or ""
                    continue
                call = message.tool_calls[0]
                value = await functions[call.function.name](**json.loads(call.function.arguments))
                text = value if isinstance(value, str) else json.dumps(value)
                messages += [
                    {"role": "assistant", "content": "", "tool_calls": calls},
                    {"role": "tool", "tool_call_id": call.id, "content": text},
                ]
        finally:
            litellm.callbacks = before
        return world.out


class FastMCPServer(Driver):
    module = "fastmcp"
    has_runs = False
    sdk_asks = False

    async def drive(self, world: World) -> Outcome:
        from fastmcp import Client, FastMCP
        from fastmcp.exceptions import ToolError
        from tipstaff.adapters.mcp import TipstaffMiddleware

        server: Any = FastMCP("t", middleware=[TipstaffMiddleware(world.plane, wait=world.wait or 0.0)])
        for one in tools(world, asynchronous=True):
            server.tool(one)
        async with Client(server) as client:
            world.out.system = client.instructions or ""
            for turn in world.script:
                if isinstance(turn, str):
                    world.out.final = turn
                    continue
                try:
                    result = await client.call_tool(*turn)
                except ToolError as error:
                    world.out.told.append(str(error))
                    continue
                told = [block.text for block in result.content]
                world.out.told.append("".join(told) + json.dumps(result.structured_content))
        return world.out


class MCPClient(FastMCPServer):
    module = "mcp"
    delivers = False

    async def drive(self, world: World) -> Outcome:
        import mcp
        from mcp.server.mcpserver import MCPServer
        from tipstaff.adapters.mcp import guarded

        server = MCPServer("t")
        for one in tools(world, asynchronous=True):
            server.tool()(one)
        async with mcp.Client(server) as opened:
            client = guarded(opened, world.plane, wait=world.wait or 0.0)
            for turn in world.script:
                if isinstance(turn, str):
                    world.out.final = turn
                    continue
                try:
                    result = await client.call_tool(*turn)
                except mcp.MCPError as error:
                    world.out.told.append(str(error))
                    continue
                told = [getattr(block, "text", "") for block in result.content]
                world.out.told.append("".join(told) + json.dumps(result.structured_content))
        return world.out


DRIVERS: dict[str, Driver] = {
    "claude": ClaudeAgent(), "langchain": LangChain(), "openai-agents": OpenAIAgents(), "pydantic-ai": PydanticAI(),
    "litellm": LiteLLM(), "google-adk": GoogleADK(), "agent-framework": AgentFramework(), "fastmcp": FastMCPServer(),
    "mcp-client": MCPClient(),
}  # fmt: skip


@contextlib.contextmanager
def no_warnings() -> Iterator[None]:
    """SDKs warn about themselves."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
