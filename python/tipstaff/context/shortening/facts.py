"""What a conversation did and what is so now, taken from its own words before they are summarised: no model.

Files that were changed, commands that were run, those that failed and why, errors that came back, what the agent says
that it decided, what the user demands, which tasks are open, who is still at work; each once, in the order in which it
came last. A later one takes the place of an earlier one about the same thing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, cast

from tipstaff.context.conversation.calls import (
    TaskList,
    changed_files,
    command_of,
    input_of,
    path_of,
    plain_name,
    runs_commands,
)
from tipstaff.context.conversation.frames import PLAN, REPORT, SKILL
from tipstaff.context.conversation.graphemes import floor_boundary
from tipstaff.context.conversation.messages import CALLS, EXTENSION, Message, blocks_of, host_parts, said_in, text_of
from tipstaff.context.conversation.transcript import shortened
from tipstaff.context.shortening.failures import cause_of, has_failed
from tipstaff.context.tokens.counting import TextCounter
from tipstaff.model import Record

MAX_COMMAND_CHARS: Final = 100
MAX_ERROR_CHARS: Final = 200
MAX_SENTENCE_CHARS: Final = 400
TASK_CHARS: Final = 240
_DOING_CHARS: Final = 300
_MOST_WAITING: Final = 6
_MOST_TASKS: Final = 20
_STATUS_CHARS: Final = 400
_NO_REPORT: Final = ": the agent has not reported yet"
_MAX_SEARCHED_CHARS: Final = 8_000
"""Of a longer sentence its telling clause is taken; what is longer still is a file or a log that was pasted."""

_OPEN: Final = "<facts>"
_CLOSE: Final = "</facts>"
_LABELS: Final = {
    "constraints": "the user demands",
    "failures": "failed",
    "files": "changed file",
    "decisions": "decided",
    "findings": "found",
    "errors": "error",
    "commands": "ran",
}
"""In the order in which they are kept where not all fit."""

_STATE: Final = {
    "task": "current task",
    "doing": "now working on",
    "touched": "changed for it",
    "tasks": "open task",
    "waiting": "not finished yet",
    "skills": "loaded skill",
}
"""What is so now: it stands under one title in a compacted conversation, in this order."""

_EACH_ONCE: Final = ("files", "commands", "errors", "failures", "skills")
_IN_FORCE: Final = ("decisions", "constraints", "findings", "preferences")
"""Of the latter a later one takes the place of an earlier one about the same thing."""

_LAST_SAID: Final = "last said"
"""What the agent was doing, where no call followed."""

_SPACE = re.compile(r"\s+")
_CLAUSE: Final = re.compile(r"\A|[,;:] |[\u060c\u061b\u3001\uff0c\uff1b\uff1a]")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？])|\n+")
_DECISION: Final = re.compile(
    r"\A\W{0,4}(?:D\d{1,3}\b ?[:.)]|decisions?(?: made)?:|decided\b|conclusion:|root cause\b|verdict:)"
    r"|\b(?:i|we)(?:'ve|’ve| have)? (?:decided|chose|chosen|picked|settled|agreed|opted|went with|ruled out)\b"
    r"|\b(?:i|we)(?:'ll|’ll|'m|’m| will| am| are)(?: now)? (?:going with|go with|stick(?:ing)? (?:with|to)|using)\b"
    r"|\bwe will use\b|\bit (?:was|is) decided\b|\bgoing with\b"
    r"|\b(?:the|root|real|actual|underlying) (?:bug|cause|problem|issue|culprit|root cause|reason|failure)"
    r" (?:is|was|lies|comes)\b|\b(?:turns|turned) out\b|\bcaused by\b"
    r"|entschieden|beschlossen|hemos decidido|decidimos|nous avons décidé|решили|решено|决定|決定|決め|결정",
    re.IGNORECASE,
)
_DEMAND: Final = re.compile(
    r"\b(?:must(?:n't)?|never|always|do not|don't|dont|only|shall|keep|avoid|ensure|make sure|at most|at least|"
    r"no more than|no less than|remember|note that|required?|requires|forbidden|not allowed|may not|cannot|can't|"
    r"under no|important|from now on)\b"
    r"|\b(?:nie|niemals|immer|muss|müssen|darf|nur|nunca|siempre|debe|solo|jamais|toujours|doit|sempre|deve)\b"
    r"|никогда|всегда|нельзя|должн|только"
    r"|不要|不得|不能|禁止|必须|必須|务必|總是|总是|只能|永远|しない|ないで|ください|必ず|だけ|禁じ|하지\s?마|반드시|항상|절대"
    r"|कभी|हमेशा|मत|ไม่|ต้อง|ห้าม|لا\s|يجب|دائم|ممنوع|אסור|תמיד|חייב",
    re.IGNORECASE,
)
_WISH: Final = re.compile(
    r"\b(?:should(?:n't)?|i(?:'d|’d| would)?(?: also| just| really)? (?:want|like|prefer|need|think)|"
    r"we (?:want|need|don't need|no longer)|"
    r"prefer(?:ably)?|rather than|instead of|not just|no need|no longer|stays?|belongs?|aligns? with|based on|gotta|"
    r"(?:use|change it to use) (?:the )?\w+)\b",
    re.IGNORECASE,
)
_FINDING: Final = re.compile(
    r"\b(?:requires?|only works?|defaults? to|takes? (?:priority|precedence)|must (?:be|run|not)|"
    r"needs? (?:a|an|the|to)|"
    r"fails? (?:on|if|because|without|when)|fail(?:ed|s)? for want|measured|non-goal|not supported|does not exist|"
    r"is (?:now|always|never|per|first|the (?:default|first|right|only))|are (?:now|always|never|per)|comes? from|"
    r"now (?:uses?|runs?|goes|follows?|comes?)|"
    r"(?:PR|tag|branch|version|release) [`#v\d*]|calculated|stale|no longer|instead of|rather than|because)\b",
    re.IGNORECASE,
)
_DEFINITE: Final = re.compile(r"\b(?:must(?:n't)?|never|always|do not|don't|shall)\b", re.IGNORECASE)
_WITHDRAWN: Final = re.compile(
    r"\b(?:wrong (?:chat|window|session|thread)|ignore (?:my|the|that|this) (?:last|previous|prior)?|never ?mind|"
    r"scratch that|disregard|forget (?:that|what i said|the last))\b",
    re.IGNORECASE,
)
_ASSENT: Final = re.compile(
    r"\A\W*(?:yes|yep|yeah|ok(?:ay)?|sure|please do|do it|do that|go(?: ahead| on)?|proceed|continue|approved?|"
    r"sounds good|that would be \w+|add (?:it|both|them)|please add it|implement the plan|make it so|agreed|correct|"
    r"ja|oui|sí|si|да|はい|好的?|네)\b",
    re.IGNORECASE,
)
_ASSENT_WORDS: Final = 8
_RUNNING: Final = re.compile(
    r"\b(?:still running|is running|are running|in flight|in the background|keeps? running|waiting (?:for|on)|"
    r"still (?:working|open|pending|to do)|not (?:yet|been) \w+ed\b|remains? (?:open|to)|blocked (?:on|by)|"
    r"left to do|next step|unfinished|not finished|(?:spawned|launched|dispatched|delegated) (?:as|to|in|with))\b",
    re.IGNORECASE,
)
_OVER: Final = re.compile(
    r"\b(?:finished|merged|done|complete[ds]?|stopped|closed|landed|cancell?ed|removed|fixed|passe[sd])\b",
    re.IGNORECASE,
)
_NAME: Final = re.compile(r"`([\w./#-]{4,60})`|\b([\w.-]{3,40}) (?:worker|agent|job|process|branch|build)\b")
_RUNS_ON: Final = re.compile(
    r"\b(?:running|started)\b[^\n]{0,30}?\b(?:shell)?id:? ?([\w-]+)|shellid:? ?([\w-]+) is still running", re.IGNORECASE
)
_JOB_KEYS: Final = ("session_id", "sessionId", "shellId", "shell_id", "bash_id", "task_id")
_JOB: Final = re.compile(r": still running as ([\w-]+)\Z")
_SPAWNERS: Final = frozenset("agent task spawnagent dispatchagent subagent runsubagent newtask delegate".split())
_BACKGROUND: Final = re.compile(r"in the background|async(?:hronously)? |agent ?id\b|launched|spawned", re.IGNORECASE)
_GO_ON: Final = re.compile(r"\b(?:continue|go on|proceed|resume|keep going)\W*\Z", re.IGNORECASE)
_GO_ON_WORDS: Final = 4
_TAG: Final = re.compile(r"</?[a-z_]+>|\n---\n.*\Z", re.DOTALL)
_MOST_TOUCHED: Final = 6
_MOST_FINDINGS: Final = 40
_LEAST_FINDING: Final = 30
_POLAR: Final = frozenset(
    "always never not don do must mustn shall should only please use the a an to of in on and or it is be for with "
    "that this any all no we you i make sure ensure keep now want would like can instead from at as by if so".split()
)
_WORD: Final = re.compile(r"[^\W_]{2,}")
_IDENTIFIER: Final = re.compile(r"[\w./-]*[\d_/][\w./-]*")
_SAME_SHARE: Final = 0.6
"""Two sentences that share so many of their words, and name the same files and numbers, are about the same thing."""


class Facts(Record, frozen=True):
    """What was done, and what is so now.

    Attributes
    ----------
    files, touched
        Paths that were written, edited or patched, as the calls named them; those since the user asked for the task.
    commands
        Shell commands on one line, at most 100 characters, ``...`` where one was cut. Neither short ones nor those that
        only change or list a directory.
    errors, failures
        What failing tools said, on one line, at most 200 characters; shell commands that failed, and the cause:
        ``make test: FAILED tests/test_a.py``.
    decisions, findings
        Sentences in which the assistant states what was decided, or found to be the cause; those of its last words on a
        task that say how something is.
    constraints, preferences
        Sentences of the user's that demand or forbid something, without those that a later one replaces; those that say
        how something should be, demands only by words of many meanings.
    tasks, tasks_listed
        What is still open in the agent's own list of tasks; if there was one, it replaces what was known before.
    task
        What the user asked for last; of a short assent also what it agrees to. Where only a host's plan says so, that.
    doing, waiting
        What the agent said that it was doing, and its last call; agents and jobs that have not reported, and what the
        agent named as unfinished.
    skills
        Skills that were loaded, with where they are.
    """

    files: tuple[str, ...] = ()
    commands: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    tasks_listed: bool = False
    task: str = ""
    doing: str = ""
    touched: tuple[str, ...] = ()
    waiting: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    preferences: tuple[str, ...] = ()

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
        both = {name: (*getattr(self, name), *getattr(later, name)) for name in (*_EACH_ONCE, *_IN_FORCE, "waiting")}
        touched = later.touched if later.task else _each_last((*self.touched, *later.touched))
        return Facts(
            **{name: _each_last(both[name]) for name in _EACH_ONCE},
            **{name: in_force(both[name]) for name in _IN_FORCE},
            tasks=later.tasks if later.tasks_listed else self.tasks,
            tasks_listed=self.tasks_listed or later.tasks_listed,
            task=later.task or self.task,
            doing=later.doing or self.doing,
            touched=touched[-_MOST_TOUCHED:],
            waiting=_each_last(both["waiting"])[-_MOST_WAITING:],
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

        Sentences that are demands only by a word of many meanings come after all else. What is so now is not counted.
        """
        whole = self.render()
        if not whole or count(whole) <= tokens:
            return self
        room = tokens - count(f"{_OPEN}\n{_CLOSE}") - 2
        kept: dict[str, set[str]] = {name: set() for name in _LABELS}
        passes = [(name, getattr(self, name)) for name in _LABELS] + [("constraints", self.constraints)]
        for number, (name, values) in enumerate(passes):
            for value in reversed(cast("tuple[str, ...]", values)):
                if name == "constraints" and (_DEMAND.search(value) is None) == (number == 0):
                    continue
                cost = count(_line(_LABELS[name], value)) + 1
                if cost > room:
                    break
                room -= cost
                kept[name].add(value)
        return self.replace(
            **{name: tuple(one for one in getattr(self, name) if one in kept[name]) for name in _LABELS}
        )

    def render(self) -> str:
        """Return the facts as a block of text that `read_facts` reads back; empty without any."""
        lines = [_line(label, value) for name, label in _LABELS.items() for value in getattr(self, name)]
        return "\n".join((_OPEN, *lines, _CLOSE)) if lines else ""

    def state(self) -> str:
        """Return what is so now, in lines that `read_facts` reads back; empty where nothing is known."""
        lines: list[str] = []
        for name, label in _STATE.items():
            value: object = getattr(self, name)
            label = _LAST_SAID if name == "doing" and not self.doing.endswith("]") else label  # noqa: PLW2901
            values = (value,) if isinstance(value, str) else cast("tuple[str, ...]", value)
            lines += [_line(label, one) for one in values[:_MOST_TASKS] if one]
        return "\n".join(lines)


def _line(label: str, value: str) -> str:
    return f"- {label}: {_quoted(value)}"


def read_facts(text: str) -> Facts:
    """Return the facts that `Facts.render` and `Facts.state` wrote into a text; other lines are passed over."""
    labels = {label: name for name, label in (*_LABELS.items(), *_STATE.items(), ("doing", _LAST_SAID))}
    kinds: dict[str, list[str]] = {}
    for line in text.split("\n"):
        label, found, value = line.removeprefix("- ").partition(": ")
        if not found or not line.startswith("- ") or label not in labels:
            continue
        try:
            read: object = json.loads(value)
        except ValueError:
            continue
        if isinstance(read, str):
            kinds.setdefault(labels[label], []).append(read)
    single = {name: values[-1] for name in ("task", "doing") if (values := kinds.pop(name, []))}
    return Facts().replace(**{name: tuple(values) for name, values in kinds.items()}, **single)


def in_force(sentences: Iterable[str]) -> tuple[str, ...]:
    """Return sentences, each once and in order, without those that a later one about the same thing replaces."""
    kept: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
    for sentence in sentences:
        about = frozenset(word for word in _WORD.findall(sentence.lower()) if word not in _POLAR)
        named = frozenset(_IDENTIFIER.findall(sentence))
        for earlier, (words, names) in list(kept.items()):
            shared = len(about & words)
            same = names == named and shared and shared >= _SAME_SHARE * len(about | words)
            if earlier == sentence or same:
                del kept[earlier]
        kept[sentence] = about, named
    return tuple(kept)


def withdraws(said: str) -> bool:
    """Return whether the user takes back what they said before."""
    return _WITHDRAWN.search(said) is not None


def extract_facts(messages: Sequence[Message], before: Facts | None = None) -> Facts:
    """Return what a conversation did, continuing what is known of the messages before it.

    A file whose change failed was not changed; its error is reported.
    """
    return _Extraction(before or Facts()).run(messages)


class _Extraction:
    """Goes through messages once, with what was so before them."""

    def __init__(self, before: Facts) -> None:
        self._before = before
        self._task, self._text, self._called = before.task, *_read_doing(before.doing)
        self._touched = list(before.touched)
        self._waiting = {_name_in(one): one for one in before.waiting}
        self._skills = list(before.skills)
        self._lists = TaskList(before.tasks)
        self._demands = list(before.constraints)
        self._last_demands: list[str] = []
        self._decisions, self._findings = list(before.decisions), list(before.findings)
        self._wishes = list(before.preferences)
        self._files, self._commands = list(before.files), list(before.commands)
        self._errors, self._failures = list(before.errors), list(before.failures)

    def run(self, messages: Sequence[Message]) -> Facts:
        results = {
            str(block.get("tool_use_id")): block
            for message in messages
            for block in blocks_of(message)
            if str(block.get("type", "")).endswith("tool_result")
        }
        for message in messages:
            if message.get("role") == "user":
                self._host(message)
                if said := said_in(message):
                    self._user(said)
                self._results(message)
            elif message.get("role") == "assistant":
                self._assistant(message, results)
        before = self._before
        return Facts(
            _each_last(self._files),
            _each_last(self._commands),
            _each_last(self._errors),
            _each_last(self._failures),
            in_force(self._decisions),
            in_force(self._demands),
            self._lists.open(),
            before.tasks_listed or self._lists.listed,
            self._task,
            self._doing(),
            _each_last(self._touched)[-_MOST_TOUCHED:],
            tuple(self._waiting.values())[-_MOST_WAITING:],
            _each_last(self._skills),
            in_force(self._findings)[-_MOST_FINDINGS:],
            in_force(self._wishes),
        )

    def _doing(self) -> str:
        return f"{self._text} [{self._called}]".strip() if self._called else self._text

    def _user(self, said: str) -> None:
        words = len(said.split())
        if words <= _GO_ON_WORDS and _GO_ON.search(said) is not None and self._task:
            return
        demands = sentences(said, _DEMAND)
        if withdraws(said):
            self._demands = [one for one in self._demands if one not in self._last_demands]
        elif _ASSENT.match(said) is not None and words <= _ASSENT_WORDS and self._text:
            said = f"{said} (asked or proposed before: {self._text})"
        self._task, self._touched, self._text, self._called = _cut(said, TASK_CHARS), [], "", ""
        self._demands += demands
        self._wishes += [one for one in sentences(said, _WISH) if one not in demands]
        self._last_demands = demands

    def _host(self, message: Message) -> None:
        for part in host_parts(message):
            if part.who == PLAN:
                self._task, self._touched = _cut(part.text, TASK_CHARS), []
            elif part.who == SKILL:
                plain = _TAG.sub(" ", part.text).strip()
                self._skills.append(_cut(plain.split("\n", 1)[0].removeprefix("Base directory for this skill:"), 120))
            elif part.who == REPORT:
                for name in [name for name in self._waiting if name in part.text]:
                    del self._waiting[name]

    def _results(self, message: Message) -> None:
        for block in blocks_of(message):
            if not str(block.get("type", "")).endswith("tool_result"):
                continue
            output = text_of(block.get("content")).strip()
            self._lists.result(str(block.get("tool_use_id")), output)
            if has_failed(block, output) and output and output != "null":
                self._errors.append(
                    _cut(cause_of(output) if len(output) > MAX_ERROR_CHARS else output, MAX_ERROR_CHARS)
                )

    def _assistant(self, message: Message, results: Mapping[str, Mapping[str, Any]]) -> None:
        texts = [str(b.get("text") or "") for b in blocks_of(message) if b.get("type") == "text" and EXTENSION not in b]
        text = "\n".join(texts).strip()
        if text:
            self._decisions += sentences(text, _DECISION)
            self._open_in(text)
            self._text = _last_sentences(text, _DOING_CHARS)
        called = ""
        for block in blocks_of(message):
            if block.get("type") in CALLS:
                result = results.get(str(block.get("id")))
                output = text_of(result.get("content")).strip() if result is not None else ""
                failed = result is not None and has_failed(result, output)
                called = self._call(block, output, failed=failed) or called
        if text or called:
            self._called = called
        if text and not any(block.get("type") in CALLS for block in blocks_of(message)):
            self._findings += [
                one for one in sentences(text, _FINDING) if len(one) >= _LEAST_FINDING and one not in self._decisions
            ]

    def _call(self, block: Mapping[str, Any], output: str, *, failed: bool) -> str:
        """Take a call with what came of it; return it in short."""
        name, values = str(block.get("name") or ""), input_of(block)
        if self._lists.call(block):
            return ""
        job = next((str(values[key]) for key in _JOB_KEYS if key in values), "")
        running = _RUNS_ON.search(output, 0, _STATUS_CHARS)
        if job and running is None:
            self._waiting.pop(job, None)
        if runs_commands(block):
            ran = _cut(command_of(block), MAX_COMMAND_CHARS)
            if ran:
                self._commands.append(ran)
            # A short command says little, but that it failed says something.
            if failed and (
                tried := ran or _cut(str(values.get("command") or values.get("cmd") or ""), MAX_COMMAND_CHARS)
            ):
                self._failures.append(f"{tried}: {_cut(cause_of(output), 2 * MAX_ERROR_CHARS)}")
            if running is not None and ran:
                job = running.group(1) or running.group(2)
                self._waiting[job] = f"{ran}: still running as {job}"
            return ran
        if plain_name(name) in _SPAWNERS:
            what = _cut(str(values.get("description") or values.get("name") or values.get("prompt") or name), 80)
            if values.get("run_in_background") is True or _BACKGROUND.search(output, 0, _STATUS_CHARS) is not None:
                self._waiting[what] = what + _NO_REPORT
        if not failed:
            changed = changed_files(block)
            self._files += changed
            self._touched += changed
        return " ".join(part for part in (name, path_of(values)) if part)

    def _open_in(self, text: str) -> None:
        """Take what the agent says is unfinished, by the name that it gives it; forget what it says is finished.

        What it names nothing by counts only until it speaks again.
        """
        for nameless in [name for name in self._waiting if name.startswith("\0")]:
            del self._waiting[nameless]
        for sentence in _SENTENCE.split(text):
            plain = _SPACE.sub(" ", sentence).strip(" -*#>\t")
            if not 6 <= len(plain) <= MAX_SENTENCE_CHARS:
                continue
            names = [one or other for one, other in _NAME.findall(plain) if (one or other).lower() not in _POLAR]
            if _RUNNING.search(plain) is not None:
                name = names[0] if names else f"\0{plain}"
                self._waiting.pop(name, None)
                self._waiting[name] = _cut(plain, MAX_ERROR_CHARS)
            elif _OVER.search(plain) is not None:
                for name in names:
                    self._waiting.pop(name, None)
        while len(self._waiting) > 4 * _MOST_WAITING:
            del self._waiting[next(iter(self._waiting))]


def _read_doing(doing: str) -> tuple[str, str]:
    """Return what the agent said, and its last call."""
    text, found, called = doing.rpartition(" [")
    return (text, called.removesuffix("]")) if found and doing.endswith("]") else (doing, "")


def _name_in(waiting: str) -> str:
    """Return by which name something was entered as unfinished."""
    if (job := _JOB.search(waiting)) is not None:
        return job.group(1)
    if waiting.endswith(_NO_REPORT):
        return waiting.removesuffix(_NO_REPORT)
    return next((one or other for one, other in _NAME.findall(waiting)), f"\0{waiting}")


def sentences(text: str, *patterns: re.Pattern[str]) -> list[str]:
    """Return the sentences of a text in which one of the patterns is found, on one line each.

    A question is none, unless it says so plainly.
    """
    found: dict[str, None] = {}
    for sentence in _SENTENCE.split(text):
        plain = _SPACE.sub(" ", sentence).strip(" -*#>\t")
        if plain.endswith("?") and _DEFINITE.search(plain) is None:
            continue
        if 6 <= len(plain) <= MAX_SENTENCE_CHARS and any(one.search(plain) for one in patterns):
            found[plain] = None
        elif MAX_SENTENCE_CHARS < len(plain) <= _MAX_SEARCHED_CHARS and (match := patterns[0].search(plain)):
            found[_around(plain, match.start())] = None
    return list(found)


def _last_sentences(text: str, most: int) -> str:
    """Return the end of a text, where it says what is next, from the beginning of a sentence."""
    kept = ""
    for sentence in reversed(_SENTENCE.split(text)):
        longer = f"{_SPACE.sub(' ', sentence).strip()} {kept}".strip()
        if len(longer) > most:
            return kept or shortened(longer, most)
        kept = longer
    return kept


def _around(sentence: str, at: int) -> str:
    """Return what a long sentence says from the beginning of the clause at `at`."""
    begins = max(match.end() for match in _CLAUSE.finditer(sentence, 0, at))
    if at - begins > MAX_SENTENCE_CHARS // 2:
        begins = sentence.rfind(" ", 0, at - MAX_SENTENCE_CHARS // 4) + 1
    return _cut(sentence[begins:], MAX_SENTENCE_CHARS)


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
