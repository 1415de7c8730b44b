"""Whether a tool failed, and why: by its own mark, else by the forms in which tools say so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

_READ_CHARS: Final = 4_000
# How a result begins, or ends, that failed.
_FRAME: Final = re.compile(
    r"\A\W{0,4}(?:(?:\w+ )?error\b|\w*(?:Error|Exception)\b:?|traceback \(most recent|fatal:|failed\b(?!.{0,40}: ?0\b)|"
    r"failure\b|exit(?:ed with)?(?: code| status)?:? ?[1-9]|command (?:failed|not found)|permission denied|"
    r"no such file|panic:|usage error|\[exit (?:code|status) [1-9]|<tool_use_error>|process exited with code [1-9])"
    r"|^(?:process )?(?:exit(?:ed with)?|return(?:ed)?) (?:code|status):? ?[1-9]\d{0,2}\W{0,3}$"
    r"|\[?(?:the )?command (?:completed|finished|failed|exited) with exit code [1-9]\d{0,2}\W{0,3}$"
    r"|<exited with exit code [1-9]\d{0,2}>|^exit code:? [1-9]\d{0,2}\W*$|command not found\W{0,3}\Z",
    re.IGNORECASE | re.MULTILINE,
)
# Lines in the tools' own forms; a count of nothing is none.
_LINES: Final = re.compile(
    r"^(?:g?make(?:\[\d+\])?: \*\*\* |npm (?:ERR!|error) |Traceback \(most recent call last\):|"
    r"\w*(?:Error|Exception): |error(?:\[\w+\])?: |fatal: |FAIL(?:ED)?[ \t:]|--- FAIL|BUILD FAILED|panic: |"
    r"ERROR[: ]|E   \w|CMake Error|AssertionError|Segmentation fault|Execution failed for task |FAILURE: |"
    r"(?:bash|sh|zsh|/bin/sh|-bash|rg|grep|cat|ls|find|sed|cp|mv|cd)(?:: line \d+)?: .{0,200}"
    r"(?:not found|No such file|denied|not permitted|Is a directory|invalid|unrecognized)|"
    r".{1,200}: (?:command not found|No such file or directory|Permission denied)$|"
    r".{1,200}\(\d+,\d+\): error TS\d+|.{1,200}:\d+:\d+:? (?:fatal )?error: |.{1,200}- error TS\d+|"
    r".{0,200}\[build failed\]|.{0,80}\berror TS\d+: |\s*[✕✖×✗] |\s*● .{1,200} › |.{0,20}Parse Errors?:|"
    r"=+ .{0,60}[1-9]\d{0,5} (?:failed|errors?)\b|"
    r"\s*(?:Tests?|Test Suites|Test Files|Failures):?\s{1,9}[1-9]\d{0,5} failed|"
    r"\s{0,4}[1-9]\d{0,5} (?:failed|failing|tests? failed)\b|test result: FAILED|error: could not compile)",
    re.MULTILINE,
)
_WORDS: Final = (
    *"error fail fatal exception traceback panic fault denied invalid unrecognized assert err! *** ✕ ✖ × ✗ ●".split(),
    *("not found", "no such", "not permitted", "is a directory", "e   "),
)
"""A line of these holds one of these words, in small letters: others need not be looked at closely."""

_JSON: Final = re.compile(
    r'"(?:is_?error|failed)"\s{0,3}:\s{0,3}true|"(?:success|ok)"\s{0,3}:\s{0,3}false|"exit_?code"\s{0,3}:\s{0,3}[1-9]'
    r'|"error"\s{0,3}:\s{0,3}"[^"]',
    re.IGNORECASE,
)
_DONE: Final = re.compile(
    r"^(?:process )?exit(?:ed with)?(?: code| status)?:? ?0\W{0,3}$", re.IGNORECASE | re.MULTILINE
)
# What a line says that is a cause; and what only says that there was one.
_CAUSE: Final = re.compile(
    r"error|fail|fatal|denied|not found|no such|cannot|can't|could not|unable|assert|unknown|unrecognized|undefined|"
    r"unexpected|missing|ambiguous|invalid|refused|timed? ?out|does not|did not|not a\b|multiple|too (?:few|many)|"
    r"mismatch|conflict|exited with code",
    re.IGNORECASE,
)
_ECHO: Final = re.compile(
    r"^(?:g?make(?:\[\d+\])?: \*\*\* |npm (?:ERR!|error) (?:code|errno|A complete log|Lifecycle|command|path)|"
    r"\s*(?:Process )?exit(?:ed)?\b|=+ .*=+$|FAIL$|error: could not compile|.{0,40}\berror Command failed|"
    r"FAILURE: Build failed|BUILD FAILED|\* Try:|Wall time|.{0,30}For more information|error Command failed|"
    r"Output:\Z|\$ \S|"
    r"Traceback \(most recent|\s*File \"|\s+at |.{0,60}\b0 (?:errors?|failed|failures?)\b|<tool_use_error>\s*$)",
    re.IGNORECASE,
)


def has_failed(block: Mapping[str, Any], output: str) -> bool:
    """Return whether a tool's result is one of a failure: as it says itself, else as its tool's forms do."""
    marked: object = block.get("is_error")
    if isinstance(marked, bool):
        return marked
    if len(output) > _READ_CHARS:
        output = output[: _READ_CHARS // 2] + "\n" + output[-_READ_CHARS // 2 :]
    if output.startswith(("{", "[")):
        return _JSON.search(output) is not None
    small = output.lower()
    if (
        _FRAME.search(output if any(word in small for word in ("exit", "return", "command")) else output[:200])
        is not None
    ):
        return True
    words = [word for word in _WORDS if word in small]
    lines = [one for one in output.splitlines() if any(word in one.lower() for word in words)] if words else []
    # A program that ended well may print what it likes.
    return bool(lines) and _DONE.search(output) is None and _LINES.search("\n".join(lines)) is not None


def cause_of(output: str) -> str:
    """Return the lines that say why something failed: the first that names a cause, and the last."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    own = [line for line in lines if _ECHO.match(line) is None]
    telling = [line for line in own if _CAUSE.search(line)]
    found = list(dict.fromkeys([*telling[:1], *telling[-1:]])) or (own or lines or ["no reason given"])[-1:]
    return " | ".join(line[:300] for line in found)
