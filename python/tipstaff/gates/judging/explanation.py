"""How a command was read and judged, for people and for `tipstaff gate --explain`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from tipstaff.gates.config import Numbers
from tipstaff.gates.fields import encodable
from tipstaff.gates.packs.model import DECISIONS, DIALECTS, PATH_CLASSES, VIA
from tipstaff.gates.results import GateResult
from tipstaff.model import Record

if TYPE_CHECKING:
    from tipstaff.gates.image.policy import LoadedPolicy
    from tipstaff.kernels._gates import CallSite

NODE_KINDS: Final = (
    "root", "pipeline", "list", "group", "subshell", "substitution", "loop", "branch", "function", "command",
    "assignment", "redirection", "here-document", "code", "data",
)  # fmt: skip
OPEN_QUESTIONS: Final = (
    "program", "environment", "code", "remote-code", "remote-release", "script", "script-size", "depth", "flag",
    "limit", "syntax", "encoding", "unreadable",
)  # fmt: skip


class ReadNode(Record, frozen=True, kw_only=True):
    """One node of the tree: what it is, where it is, whether it is code or data; `depth` says how deep it is."""

    kind: str
    dialect: str
    is_code: bool
    start: int
    end: int
    depth: int


class ReadWord(Record, frozen=True, kw_only=True):
    """One word of a command, as it would be at run time; `classes` are those that it would have as a path."""

    text: str
    start: int
    end: int
    classes: tuple[str, ...]


class ReadCommand(Record, frozen=True, kw_only=True):
    """One command that would run."""

    program: str
    words: tuple[ReadWord, ...]
    via: tuple[str, ...]
    dialect: str
    cwd: str
    start: int
    end: int


class TriedRule(Record, frozen=True, kw_only=True):
    """One rule that looked at a command; `command` is its number, or -1 for what stands for no command."""

    command: int
    rule_id: str
    held: bool
    decision: str


class Explanation(Record, frozen=True, kw_only=True):
    """How a command was read and judged."""

    command: str
    results: tuple[GateResult, ...]
    nodes: tuple[ReadNode, ...]
    commands: tuple[ReadCommand, ...]
    tried: tuple[TriedRule, ...]
    open_questions: tuple[tuple[str, int, int], ...]


def explain(
    policy: LoadedPolicy,
    command: str,
    dialect: int,
    site: CallSite,
    settings: Numbers,
    results: Sequence[GateResult],
) -> Explanation:
    """Read and judge a command again, and keep what was done."""
    from tipstaff.gates.secrets.scanner import redact

    _, tried, (nodes, commands, questions) = policy.native.explain(encodable(command), dialect, site, settings)
    depths: list[int] = []
    for node in nodes:
        depths.append(0 if node[5] < 0 else depths[node[5]] + 1)
    return Explanation(
        command=redact(command, wary=True),
        results=tuple(results),
        nodes=tuple(
            ReadNode(
                kind=NODE_KINDS[node[0]],
                dialect=DIALECTS[node[1]],
                is_code=node[2],
                start=node[3],
                end=node[4],
                depth=depth,
            )
            for node, depth in zip(nodes, depths, strict=True)
        ),
        commands=tuple(
            ReadCommand(
                program=program or "(not known)",
                words=tuple(
                    ReadWord(
                        text=redact(_visible(text), wary=True),
                        start=start,
                        end=end,
                        classes=_names(classes, PATH_CLASSES),
                    )
                    for text, _, classes, start, end in words
                ),
                via=_names(via, VIA),
                dialect=DIALECTS[kind],
                cwd=cwd,
                start=start,
                end=end,
            )
            for program, words, via, kind, cwd, _, _, start, end, _ in commands
        ),
        tried=tuple(
            TriedRule(
                command=-1 if number >= len(commands) else number,
                rule_id=policy.rules[rule].id,
                held=held,
                decision=DECISIONS[decision] if held else "",
            )
            for number, rule, held, decision in tried
        ),
        open_questions=tuple((OPEN_QUESTIONS[reason], start, end) for reason, start, end, _ in questions),
    )


def _visible(text: str) -> str:
    return text.replace("\x01", "\N{HORIZONTAL ELLIPSIS}")


def _names(bits: int, names: dict[str, int]) -> tuple[str, ...]:
    return tuple(name for name, bit in names.items() if bits & bit)
