"""How gates are set: which are on, their thresholds, and what is decided where something cannot be known."""

from __future__ import annotations

import math
from typing import Any, Final, TypeAlias

from tipstaff.errors import ConfigError
from tipstaff.gates.results import DECISIONS
from tipstaff.model import Record
from tipstaff.undo.config import UndoConfig

MAX_LINES: Final = 0xFFFFFFFE

Numbers: TypeAlias = tuple[int, int, int, int, int, int, int, int, int, int, bool]
"""The record ``config`` of an image, and whether nobody is there."""


class GateConfig(Record, frozen=True):
    """Settings of the gates; checked when made.

    Attributes
    ----------
    destructive_ops, tool_allowlist, diff_size, secrets
        Which gates are on.
    diff_size_threshold
        Changed lines of one edit above which the gate warns.
    allowed_tools
        Globs of tool names for the allowlist, ``*`` anywhere: ``Read``, ``mcp__db_*``, ``mcp__*__get_*``.
    run_diff_threshold
        Changed lines of all edits of one run together above which the gate warns; None for no such limit.
    uncertain, uncertain_unattended
        What is decided where something cannot be known before the command runs, with a person there and without.
    unattended
        Whether nobody is there to confirm.
    on_error
        What is decided where an event cannot be read at all.
    read_files
        Whether scripts that a command names are read, and symbolic links followed.
    undo
        What is kept of a call that would lose something, and for how long.
    evidence
        What losses are judged by: ``files`` looks at what is there, in a folder of a repository, and keeps what a call
        would lose before it is let through; ``none`` judges by words alone, as for another machine.
    allow_proven
        Whether the hook answers *allow*, where its host takes that, for calls that are proven to read alone.

    Raises
    ------
    ConfigError
        The allowlist is on and empty, a threshold is negative or no number, a decision does not exist.
    """

    destructive_ops: bool = True
    tool_allowlist: bool = False
    diff_size: bool = True
    secrets: bool = True
    diff_size_threshold: float = 300
    allowed_tools: tuple[str, ...] = ()
    run_diff_threshold: float | None = None
    uncertain: str = "require-confirmation"
    uncertain_unattended: str = "block"
    unattended: bool = False
    on_error: str = "require-confirmation"
    read_files: bool = True
    undo: UndoConfig = UndoConfig()
    evidence: str = "files"
    allow_proven: bool = False

    def __post_init__(self) -> None:
        switches = "destructive_ops tool_allowlist diff_size secrets unattended read_files allow_proven"
        for name in switches.split():
            value: Any = getattr(self, name)
            if not isinstance(value, bool):
                raise ConfigError(f"{name} must be true or false, not {value!r}")
        for name in ("diff_size_threshold", "run_diff_threshold"):
            value = getattr(self, name)
            if value is None and name == "run_diff_threshold":
                continue
            if isinstance(value, bool) or not isinstance(value, int | float) or math.isnan(value) or value < 0:
                raise ConfigError(f"{name} must be a number of lines from 0 up, not {value!r}")
        for name in ("uncertain", "uncertain_unattended", "on_error"):
            value = getattr(self, name)
            if value not in DECISIONS:
                raise ConfigError(f"{name} must be one of {', '.join(DECISIONS)}, not {value!r}")
        if self.evidence not in {"files", "none"}:
            raise ConfigError(f"evidence must be files or none, not {self.evidence!r}")
        tools: Any = self.allowed_tools
        if isinstance(tools, str) or not all(isinstance(tool, str) and tool for tool in tools):
            raise ConfigError(f"allowed_tools must be names or globs of tools, not {tools!r}")
        if self.tool_allowlist and not self.allowed_tools:
            raise ConfigError("the tool allowlist is on and names no tool: nothing could be called; name tools or '*'")

    def numbers(self) -> Numbers:
        """Return the settings as the native engine takes them."""
        switches = self.destructive_ops | self.tool_allowlist << 1 | self.diff_size << 2 | self.secrets << 3
        switches |= (self.evidence == "files") << 4 | (self.undo.mode == "ask") << 5 | self.allow_proven << 6
        run = 0 if self.run_diff_threshold is None else max(1, _whole(self.run_diff_threshold))
        return (
            switches,
            _whole(self.diff_size_threshold),
            run,
            DECISIONS.index(self.uncertain),
            DECISIONS.index(self.uncertain_unattended),
            DECISIONS.index(self.on_error),
            self.undo.call_mb,
            self.undo.call_files,
            self.undo.wait_ms,
            self.undo.free_mb,
            self.unattended,
        )


def _whole(lines: float) -> int:
    # 300.5 lines are exceeded by 301, as 300 are.
    return MAX_LINES if lines >= MAX_LINES else int(lines)
