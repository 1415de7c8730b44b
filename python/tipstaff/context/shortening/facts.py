"""What a conversation did, taken from its own words before they are summarised: no model, nothing invented.

Files that were changed, commands that were run, those that failed and why, errors that came back, what was decided,
what the user demands, which tasks are open; each once, in the order in which it came last.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from tipstaff.context.conversation.calls import changed_files, command_of, open_tasks, runs_commands
from tipstaff.context.conversation.graphemes import floor_boundary
from tipstaff.context.conversation.messages import CALLS, EXTENSION, Message, blocks_of, text_of, words_of
from tipstaff.context.tokens.counting import TextCounter
from tipstaff.model import Record

MAX_COMMAND_CHARS: Final = 100
MAX_ERROR_CHARS: Final = 200
MAX_SENTENCE_CHARS: Final = 400
_MAX_SEARCHED_CHARS: Final = 8_000
"""Of a longer sentence its telling clause is taken; what is longer still is a file or a log that was pasted."""

_OPEN: Final = "<facts>"
_CLOSE: Final = "</facts>"
_LABELS: Final = {
    "constraints": "the user demands",
    "tasks": "open task",
    "failures": "failed",
    "files": "changed file",
    "decisions": "decided",
    "errors": "error",
    "commands": "ran",
}
"""In the order in which they are kept where not all fit."""

_SPACE = re.compile(r"\s+")
_CLAUSE: Final = re.compile(r"\A|[,;:] |[\u060c\u061b\u3001\uff0c\uff1b\uff1a]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
# How a result of a tool begins, or ends, that failed, where its message does not say so.
_FAILED: Final = re.compile(
    r"\A\W{0,4}(?:(?:\w+ )?error\b|\w*(?:Error|Exception)\b:?|traceback \(most recent|fatal:|failed\b|"
    r"failure\b|exit(?:ed with)?"
    r"(?: code| status)?:? ?[1-9]|command (?:failed|not found)|permission denied|no such file|panic:|usage error|"
    r"\[exit (?:code|status) [1-9]|<tool_use_error>|process exited with code [1-9])"
    r"|(?:exit(?:ed with)?|return(?:ed)?) (?:code|status):? ?[1-9]\d{0,2}\W{0,3}\Z"
    r"|command not found\W{0,3}\Z|^Traceback \(most recent call last\):",
    re.IGNORECASE | re.MULTILINE,
)
_FAILED_JSON: Final = re.compile(
    r'"(?:is_?error|failed)"\s{0,3}:\s{0,3}true|"(?:success|ok)"\s{0,3}:\s{0,3}false|"exit_?code"\s{0,3}:\s{0,3}[1-9]',
    re.IGNORECASE,
)
_DECISION: Final = re.compile(
    r"\b(?:(?:i|we)(?:'ve| have)? (?:decided|chose|chosen|settled|agreed|opted)|decision:|decided (?:to|"
    r"that|on|against)|"
    r"instead of|rather than|we will use|we'll use|going with|the cause (?:is|was)|root cause|turns out|therefore we)\b"
    r"|entschieden|beschlossen|hemos decidido|decidimos|nous avons décidé|решили|решено|决定|決定|決め|결정",
    re.IGNORECASE,
)
_DEMAND: Final = re.compile(
    r"\b(?:must(?:n't)?|never|always|do not|don't|dont|only|shall|keep|avoid|ensure|make sure|at most|at least|"
    r"no more than|no less than|remember|note that|required?|requires|forbidden|not allowed|may not|cannot|can't|"
    r"under no|important)\b"
    r"|\b(?:nie|niemals|immer|muss|müssen|darf|nur|nunca|siempre|debe|solo|jamais|toujours|doit|sempre|deve)\b"
    r"|никогда|всегда|нельзя|должн|только"
    r"|不要|不得|不能|禁止|必须|必須|务必|總是|总是|只能|永远|しない|ないで|ください|必ず|だけ|禁じ|하지\s?마|반드시|항상|절대"
    r"|कभी|हमेशा|मत|ไม่|ต้อง|ห้าม|لا\s|يجب|دائم|ممنوع|אסור|תמיד|חייב",
    re.IGNORECASE,
)
_WISH: Final = re.compile(
    r"\b(?:should(?:n't)?|without|prefer|stays?|below|instead|use|leave|ask)\b"
    r"|\b(?:nicht|ohne|no|sin|pas|sans|não|mai|sem)\b|не\b|без",
    re.IGNORECASE,
)
"""Words of demands that are as often words of anything else: where room is short, such sentences go first."""


class Facts(Record, frozen=True):
    """What was done.

    Attributes
    ----------
    files
        Paths that were written, edited or patched, as the calls named them.
    commands
        Shell commands on one line, at most 100 characters, ``...`` where one was cut. Neither short ones nor those that
        only change or list a directory.
    errors
        What failing tools said, on one line, at most 200 characters.
    failures
        Shell commands that failed, and why: ``make test: FAILED tests/test_a.py``.
    decisions
        Sentences of the assistant's that say what was decided, or found to be the cause.
    constraints
        Sentences of the user's that demand or forbid something.
    tasks
        What is still open in the agent's own list of tasks.
    tasks_listed
        Whether there was such a list; then `tasks` replaces what was known before.
    """

    files: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    tasks_listed: bool = False

    def items(self) -> tuple[str, ...]:
        """Return each fact as a sentence."""
        return (
            *(f"Modified file: {one}" for one in self.files),
            *(f"Executed: {one}" for one in self.commands),
            *(f"Failed: {one}" for one in self.failures),
            *(f"Error encountered: {one}" for one in self.errors),
            *(f"Decided: {one}" for one in self.decisions),
            *(f"The user demands: {one}" for one in self.constraints),
            *(f"Open task: {one}" for one in self.tasks),
        )

    def merged(self, later: Facts) -> Facts:
        """Return these facts and later ones, each once."""
        return Facts(
            _each_last((*self.files, *later.files)),
            _each_last((*self.commands, *later.commands)),
            _each_last((*self.errors, *later.errors)),
            _each_last((*self.failures, *later.failures)),
            _each_last((*self.decisions, *later.decisions)),
            _each_last((*self.constraints, *later.constraints)),
            later.tasks if later.tasks_listed else self.tasks,
            self.tasks_listed or later.tasks_listed,
        )

    def latest(self, n: int) -> Facts:
        """Return the last `n` of each kind."""
        return self.replace(**{name: getattr(self, name)[-n:] if n > 0 else () for name in _LABELS})

    def without(self, text: str) -> Facts:
        """Return the facts without those that a text says anyway: demands in it, errors that a failure explains."""
        failed = "\n".join(self.failures)
        return self.replace(
            constraints=tuple(one for one in self.constraints if one not in text),
            errors=tuple(one for one in self.errors if one not in failed),
        )

    def within(self, tokens: int, count: TextCounter) -> Facts:
        """Return as many facts as so many tokens allow, the newest of each kind: demands and open tasks first.

        Sentences that are demands only by a word of many meanings come after all else.
        """
        whole = self.render()
        if not whole or count(whole) <= tokens:
            return self
        room = tokens - count(f"{_OPEN}\n{_CLOSE}") - 2
        wishes = {one for one in self.constraints if _DEMAND.search(one) is None}
        kept: dict[str, set[str]] = {name: set() for name in _LABELS}
        passes = [(name, getattr(self, name)) for name in _LABELS] + [("constraints", self.constraints)]
        for number, (name, values) in enumerate(passes):
            for value in reversed(cast("tuple[str, ...]", values)):
                if name == "constraints" and (value in wishes) == (number == 0):
                    continue
                cost = count(_line(name, value)) + 1
                if cost > room:
                    break
                room -= cost
                kept[name].add(value)
        return self.replace(
            **{name: tuple(one for one in getattr(self, name) if one in kept[name]) for name in _LABELS}
        )

    def render(self) -> str:
        """Return the facts as a block of text that `read_facts` reads back; empty without any."""
        lines = [_line(name, value) for name in _LABELS for value in cast("tuple[str, ...]", getattr(self, name))]
        return "\n".join((_OPEN, *lines, _CLOSE)) if lines else ""


def _line(name: str, value: str) -> str:
    return f"- {_LABELS[name]}: {_quoted(value)}"


def read_facts(text: str) -> Facts:
    """Return the facts that `Facts.render` wrote into a text; lines of another kind are passed over."""
    _, found, rest = text.partition(f"{_OPEN}\n")
    body, closed, _ = rest.partition(f"\n{_CLOSE}")
    kinds: dict[str, list[str]] = {name: [] for name in _LABELS}
    if found and closed:
        for line in body.split("\n"):
            for name, label in _LABELS.items():
                prefix = f"- {label}: "
                if line.startswith(prefix):
                    try:
                        value: object = json.loads(line[len(prefix) :])
                    except ValueError:
                        continue
                    if isinstance(value, str):
                        kinds[name].append(value)
    return Facts().replace(**{name: tuple(values) for name, values in kinds.items()})


def extract_facts(messages: Sequence[Message]) -> Facts:
    """Return what a conversation did. A file whose change failed was not changed; its error is reported."""
    failed: dict[str, str] = {}
    errors: list[str] = []
    demands: list[str] = []
    decisions: list[str] = []
    for message in messages:
        user = message.get("role") == "user"
        for block in blocks_of(message):
            kind = str(block.get("type", ""))
            if kind.endswith("tool_result"):
                output = text_of(block.get("content")).strip()
                if has_failed(block, output):
                    failed[str(block.get("tool_use_id"))] = output
                    if output and output != "null":
                        errors.append(_cut(output, MAX_ERROR_CHARS))
            elif kind == "text" and EXTENSION not in block:
                if user:
                    demands += sentences(words_of(block), _DEMAND, _WISH)
                else:
                    decisions += sentences(str(block.get("text") or ""), _DECISION)
    files: list[str] = []
    commands: list[str] = []
    failures: list[str] = []
    tasks: tuple[str, ...] | None = None
    for message in messages:
        for block in blocks_of(message):
            if block.get("type") not in CALLS:
                continue
            reason = failed.get(str(block.get("id")))
            if runs_commands(block):
                ran = _cut(command_of(block), MAX_COMMAND_CHARS)
                commands += [ran] if ran else []
                if ran and reason is not None:
                    failures.append(f"{ran}: {_reason(reason)}")
            elif (listed := open_tasks(block)) is not None:
                tasks = tuple(_cut(one, MAX_SENTENCE_CHARS) for one in listed)
            elif reason is None:
                files += changed_files(block)
    return Facts(
        _each_last(files),
        _each_last(commands),
        _each_last(errors),
        _each_last(failures),
        _each_last(decisions),
        _each_last(demands),
        tasks or (),
        tasks is not None,
    )


def has_failed(block: Mapping[str, Any], output: str) -> bool:
    """Return whether a tool's result is one of a failure: as it says itself, else as its words do."""
    marked: object = block.get("is_error")
    if isinstance(marked, bool):
        return marked
    if len(output) > 4_000:
        output = output[:2_000] + "\n" + output[-2_000:]
    if output.startswith(("{", "[")):
        return _FAILED_JSON.search(output) is not None
    return _FAILED.search(output) is not None


def sentences(text: str, *patterns: re.Pattern[str]) -> list[str]:
    """Return the sentences of a text in which one of the patterns is found, on one line each."""
    found: dict[str, None] = {}
    for sentence in _SENTENCE.split(text):
        plain = _SPACE.sub(" ", sentence).strip(" -*#>\t")
        if 6 <= len(plain) <= MAX_SENTENCE_CHARS and any(one.search(plain) for one in patterns):
            found[plain] = None
        elif MAX_SENTENCE_CHARS < len(plain) <= _MAX_SEARCHED_CHARS and (match := patterns[0].search(plain)):
            found[_around(plain, match.start())] = None
    return list(found)


def _around(sentence: str, at: int) -> str:
    """Return what a long sentence says from the beginning of the clause at `at`."""
    begins = max(match.end() for match in _CLAUSE.finditer(sentence, 0, at))
    if at - begins > MAX_SENTENCE_CHARS // 2:
        begins = sentence.rfind(" ", 0, at - MAX_SENTENCE_CHARS // 4) + 1
    return _cut(sentence[begins:], MAX_SENTENCE_CHARS)


def _reason(output: str) -> str:
    """Return the line that says why a command failed: the last one that names a failure, else the last."""
    lines = [line for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if re.search(r"error|fail|fatal|denied|not found|assert", line, re.IGNORECASE)]
    return _cut((telling or lines or ["no reason given"])[-1], MAX_ERROR_CHARS)


def _cut(text: str, most: int) -> str:
    line = _SPACE.sub(" ", text).strip()
    return line if len(line) <= most else line[: floor_boundary(line, most)] + "..."


def _quoted(text: str) -> str:
    # An angle bracket in a quoted text must not end the block.
    return json.dumps(text, ensure_ascii=False).replace("<", "\\u003c")


def _each_last(values: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for value in values:
        found.pop(value, None)
        found[value] = None
    return tuple(found)
