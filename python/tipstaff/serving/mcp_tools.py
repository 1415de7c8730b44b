"""Tipstaff as an MCP server: what an agent may ask of it. Nothing here allows a call, or changes a rule.

``tipstaff mcp`` serves it, in both revisions of the protocol.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typing_extensions import TypedDict  # pydantic asks for this one below Python 3.12

from tipstaff.adapters.guard import sdk
from tipstaff.errors import ConfigError
from tipstaff.gates.redaction import redact_data
from tipstaff.gates.secrets.scanner import scan_secrets as scan
from tipstaff.plane import GuidanceControlPlane
from tipstaff.review.sops.folder import read_sops
from tipstaff.undo import kept

_INSTRUCTIONS = (
    "Rules, gates and the record of this repository. Ask retrieve_rules before you begin a task, and gate_check before "
    "a command that may destroy something. A call that needs a person is allowed by a person alone."
)


class GateAnswer(TypedDict):
    """What the gates say of a call."""

    decision: str
    message: str
    safer: str
    proven: bool
    facts: list[str]
    rules: list[str]


class Rule(TypedDict):
    """A rule, and why it is given."""

    id: str
    text: str
    reason: str


class Rules(TypedDict):
    """The rules for a task."""

    constitution: str
    rules: list[Rule]
    intent: str


class Secret(TypedDict):
    """A place of a secret, in code points."""

    rule_id: str
    start: int
    end: int
    redacted: str


class Secrets(TypedDict):
    """The secrets in a text."""

    found: list[Secret]


class Run(TypedDict):
    """A run, and what the evaluators said of it."""

    run_id: str
    results: list[str]


class Kept(TypedDict):
    """A call whose losses were kept; its time in milliseconds since 1970."""

    id: str
    time: int
    command: str
    files: int


class KeptCalls(TypedDict):
    """What `tipstaff undo` can bring back, newest first."""

    calls: list[Kept]


class Asked:
    """The tools, over one plane."""

    def __init__(self, plane: GuidanceControlPlane) -> None:
        self._plane = plane

    def gate_check(self, tool: str, params: dict[str, Any], cwd: str | None = None) -> GateAnswer:
        """Say what the gates would decide about a tool call; nothing is run, recorded or asked."""
        found = self._plane.verdict(tool, params, cwd=cwd, record=False)
        return GateAnswer(
            decision=found.decision, message=found.message, safer=found.safer, proven=found.proven,
            facts=list(found.facts), rules=[one.rule_id for one in found.findings],
        )  # fmt: skip

    def explain(self, command: str, cwd: str | None = None) -> dict[str, Any]:
        """Say how a shell command is read and judged: its commands, the rules tried, and why each held or not."""
        found: dict[str, Any] = redact_data(self._plane.explain(command, cwd=cwd).to_dict())
        return found

    def retrieve_rules(self, task: str, max_rules: int = 5) -> Rules:
        """Return the rules that hold always, and those that matter for a task."""
        found = self._plane.retrieve_for_task(task, max_shards=max(0, min(max_rules, 40)))
        rules = [
            Rule(id=one.shard.rule.id, text=one.shard.rule.text, reason=one.reason) for one in found.shards
        ]  # fmt: skip
        return Rules(constitution=found.constitution.text, rules=rules, intent=found.detected_intent)

    def scan_secrets(self, text: str) -> Secrets:
        """Find secrets in a text; what is found is shown masked."""
        return Secrets(
            found=[
                Secret(rule_id=one.rule_id, start=one.start, end=one.end, redacted=one.redacted) for one in scan(text)
            ]
        )

    def run_start(self, task: str) -> Run:
        """Begin the record of a run."""
        return Run(run_id=self._plane.start_run(task, agent_id="mcp"), results=[])

    def run_finish(self, run_id: str, files: list[str] | None = None) -> Run:
        """Finish the record of a run; whether it is accepted is for a person to say."""
        results = self._plane.finalize_run(run_id, outcome=None, files=files or ())
        return Run(run_id=run_id, results=[f"{one.name}: {'passed' if one.passed else 'failed'}" for one in results])

    def undo_list(self) -> KeptCalls:
        """List the calls whose losses were kept; a person brings them back by `tipstaff undo ID`."""
        calls = [
            Kept(id=one.id, time=one.time, command=one.command, files=one.files) for one in kept(self._plane.root)[:50]
        ]
        return KeptCalls(calls=calls)


def server(plane: GuidanceControlPlane) -> Any:
    """Return an ``MCPServer`` over a plane.

    Raises
    ------
    ConfigError
        The package ``mcp`` is not installed: the extra ``serve`` has it.
    """
    module, types = sdk("mcp.server.mcpserver", "tipstaff[serve]"), sdk("mcp.types", "tipstaff[serve]")
    made: Any = module.MCPServer("tipstaff", instructions=_INSTRUCTIONS)
    asked = Asked(plane)
    for function in (asked.gate_check, asked.explain, asked.retrieve_rules, asked.scan_secrets, asked.undo_list):
        made.tool(annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=False))(function)
    for recording in (asked.run_start, asked.run_finish):
        hints = types.ToolAnnotations(read_only_hint=False, destructive_hint=False, open_world_hint=False)
        made.tool(annotations=hints)(recording)

    def constitution() -> str:
        return plane.bundle.constitution.text

    def rule(id: str) -> str:  # noqa: A002 - the name in the address
        found = next((one for one in plane.bundle.rules() if one.id == id), None)
        if found is None:
            raise ConfigError(f"there is no rule {id!r}")
        return found.text

    made.resource("rules://constitution", description="The rules that hold always.", mime_type="text/markdown")(
        constitution
    )
    made.resource("rule://{id}", description="The text of one rule.", mime_type="text/markdown")(rule)
    for sop in read_sops(Path(plane.root)).sops:
        made.prompt(name=sop.id, description=sop.summary)(_prompt_of(sop.text))
    return made


def _prompt_of(text: str) -> Any:
    def prompt() -> str:
        return text

    return prompt
