"""One check: a command whose exit code says whether a change is sound."""

from __future__ import annotations

from typing import Final

import msgspec

from tipstaff.errors import ConfigError
from tipstaff.model import Record

CATEGORIES: Final = ("setup", "compile", "typecheck", "lint", "format", "test", "coverage", "other")
DEFAULT_TIMEOUT_S: Final = 120.0


class Check(Record, frozen=True, kw_only=True):
    """A command and how its result is read.

    Attributes
    ----------
    name
        Unique among the checks of a repository.
    command
        For a POSIX shell, run in `working_dir`.
    required
        Whether a failure keeps the change from its review.
    threshold
        Least coverage in percent that passes; None where the exit code alone counts.
    timeout_s
        Seconds after which the command and all its children are killed.
    triggers
        Globs of all files that its result depends on, a promise of whoever wrote them: the check is left out where none
        of them has changed. None for every change.
    outputs
        Globs of files that the command itself writes.
    working_dir
        Folder relative to the repository; empty for its root. Globs are relative to it.
    after
        Names of checks that must have ended before this one starts.
    needs
        The same, and this one is skipped where one of them did not pass.
    parser
        Name of the parser of the tool's output; see `tipstaff.review.findings`. Empty for all of them.
    reports
        Globs of reports that the tool writes: JUnit, SARIF, or coverage.
    environment
        Variables for the command; ``{scratch}`` stands for a folder that is removed afterwards.
    fails_on_output
        Whether any output is a failure although the exit code is 0.
    empty_exit
        Exit code that means that nothing was collected.
    empty_pattern
        Regular expression of output that means that nothing was collected.
    missing_pattern
        Regular expression of output that means that the tool is not installed.
    """

    name: str
    command: str
    required: bool = True
    threshold: float | None = None
    timeout_s: float = DEFAULT_TIMEOUT_S
    category: str = "other"
    triggers: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    working_dir: str = ""
    after: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    parser: str = ""
    reports: tuple[str, ...] = ()
    environment: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    fails_on_output: bool = False
    empty_exit: int | None = None
    empty_pattern: str = ""
    missing_pattern: str = ""
    description: str = ""


class CheckConfigError(ConfigError):
    """A configuration of checks is invalid.

    Attributes
    ----------
    code
        ``unknown_preset``, ``unknown_override``, ``duplicate_name``, ``missing_command``, ``unknown_key``,
        ``invalid_value``, ``unknown_dependency`` or ``dependency_cycle``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
