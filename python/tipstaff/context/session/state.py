"""What a session remembers between calls: its messages and tools, how they are sent, what was delivered, what was done.

A request that cannot be sent was never made: the state is copied before it and restored where it fails.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from tipstaff.context.conversation.calls import files_of
from tipstaff.context.conversation.messages import CALLS, blocks_of, said_in, starts_turn, words_of
from tipstaff.context.session.fitting import Meter
from tipstaff.context.session.intake import Intake
from tipstaff.context.session.planning import Deliveries
from tipstaff.context.session.reports import Sent
from tipstaff.context.session.saved import SavedSession
from tipstaff.context.session.view import View
from tipstaff.context.session.wire import Restorable, Wire, delivery_of
from tipstaff.context.shortening.compaction import CompactionResult
from tipstaff.context.shortening.facts import Facts, extract_facts, withdraws

STATE_TITLE: Final = "# What is so now"
_FEW_WORDS: Final = 8
_STATE_SHARE: Final = 0.2
_OPEN: Final = re.compile("- (?:open task|not finished yet): ")
_TURN_STATE_SHARE: Final = 0.05
"""The state may take so much of what has come since it was given last, where a turn begins and within one."""


class SessionState(Restorable):
    """The state of a session.

    Attributes
    ----------
    log, view, groups
        All messages, nothing left out; the conversation as it is sent; what was sent last for each message of that.
    tools, deliveries
        Definitions of the tools, in the shape of the API; which context is in the conversation.
    system, callers_system
        The system prompt, None while it is to be read; what of it the caller's messages began with.
    broken_by, saved, compacted
        Why the next request will begin otherwise than the last; tokens that were taken out since that; whether the
        conversation begins with a summary of what was before.
    stuck_at
        The size from which shortening the conversation did not help; 0 while it does.
    """

    def __init__(self, wire: Wire, meter: Meter) -> None:
        self.log: list[dict[str, Any]] = []
        self.view = View(meter.message)
        self.deliveries = Deliveries()
        self.groups: list[list[dict[str, Any]]] = []
        self.system: str | None = None
        self.callers_system = ""
        self.broken_by = ""
        self.saved = 0
        self.stuck_at = 0
        self.compacted = False
        self.tools: list[dict[str, Any]] = []
        self._tools_key = ""
        self._given_tools: tuple[object, ...] = ()
        self._wire = wire
        self._meter = meter
        self.intake = Intake(wire)
        self._facts = Facts()
        self.facts_to = 0
        self.touched_to = 0

    def resume(self, saved: SavedSession) -> None:
        """Become what was saved; what was sent is written again, byte for byte."""
        self.log, self.tools, self._tools_key = saved.log, saved.tools, "saved"
        view, intake, given = self.view, self.intake, self.deliveries
        view.reset(saved.messages, saved.origins)
        view.ids, view.renamed, view.changed_from = saved.ids, saved.renamed, len(saved.messages)
        intake.known, intake.recorded_at, intake.whole = saved.digests, saved.recorded, saved.whole
        given.known, given.rules, given.waiting = saved.delivered, saved.rules, saved.waiting
        self.system, self.callers_system, self.compacted = saved.system, saved.callers_system, saved.compacted
        self._facts, self.facts_to, self.touched_to = saved.facts, *saved.read_to
        self.groups = [self._wire.write(message) for message in view.messages]

    def take(self, given: Sequence[Any], whole: bool | None = None) -> bool:
        """Take the caller's messages; return whether the user has spoken in them, or asks for another answer."""
        update = self.intake.take(given, whole)
        if update.system is not None and update.system != self.callers_system:
            self.callers_system = update.system
            if self.system is not None:
                self.system = None
                self.broken_by = "system"
        if update.keep < len(self.log):
            self._rewind(update.keep)
        start = len(self.log)
        self.log += update.messages
        for offset, message in enumerate(update.messages):
            self.view.append(message, start + offset)
        return any(starts_turn(message) or said_in(message) for message in update.messages)

    def take_tools(self, given: Sequence[Any], n_calls: int) -> None:
        """Take the caller's tools, after so many calls; others than before break the cached prefix."""
        keys = tuple(given)
        if len(keys) == len(self._given_tools) and all(a is b for a, b in zip(keys, self._given_tools, strict=True)):
            return
        self._given_tools = keys
        found = self._wire.tools(keys)
        if found != self.tools:
            if self.groups:
                self.broken_by = "tools"
            self.tools, self._tools_key = found, f"tools {n_calls}"

    def answered(self, answer: dict[str, Any]) -> None:
        """Take the answer to the last request."""
        self.intake.recorded(answer)
        self.log.append(answer)
        self.view.append(answer, len(self.log) - 1)

    def _rewind(self, keep: int) -> None:
        """Go back to the first `keep` messages of the session."""
        only_answer = len(self.log) - keep == 1 and self.view.origins and self.view.origins[-1] == keep
        del self.log[keep:]
        self.facts_to = min(self.facts_to, keep)
        self.touched_to = min(self.touched_to, keep)
        if only_answer and len(self.groups) < len(self.view):
            # The caller's own version of an answer that has not been sent yet.
            self.view.drop_last()
            return
        self.broken_by = "history"
        self.compacted = False
        self.deliveries.forget()
        self.view.reset((), ())
        self._facts, self.facts_to = Facts(), 0
        for index, message in enumerate(self.log):
            self.view.append(message, index)

    def start_again(self, result: CompactionResult, origins: list[int]) -> None:
        """Continue with the result of a compaction; the system prompt is read again, as the cache is lost anyway."""
        self.broken_by = result.phase
        self.compacted = self.compacted or result.phase == "summarized"
        kept = len(result.messages) if result.phase != "summarized" else result.kept
        front = len(result.messages) - kept
        first = origins[len(origins) - kept] if kept else len(self.log)
        self.view.reset(result.messages, [first] * front + origins[len(origins) - kept :])
        self.deliveries.forget()
        self.system = None

    def facts(self) -> Facts:
        """Return what was done so far; a call whose result is still out waits for it."""
        end = len(self.log)
        if end and self.log[-1].get("role") == "assistant":
            end -= 1
        if end > self.facts_to:
            self._facts = extract_facts(self.log[self.facts_to : end], self._facts)
            self.facts_to = end
        return self._facts

    def last_words(self) -> str:
        """Return the last text of the user's, without what was delivered with it; empty where there is none."""
        return next((text for message in reversed(self.log) if starts_turn(message) and (text := _said(message))), "")

    def touched(self) -> tuple[str, ...]:
        """Return the files that the newest calls change, read or name in a command, each once."""
        found: dict[str, None] = {}
        for message in self.log[self.touched_to :]:
            for block in blocks_of(message):
                if block.get("type") in CALLS:
                    found.update(dict.fromkeys(files_of(block)))
        self.touched_to = len(self.log)
        return tuple(found)

    def news(self, *, turn_begins: bool) -> str:
        """Return what is so now where the conversation begins with what was so earlier; else nothing.

        Nothing too where little has come since the state was given last, and the user's last message says itself what
        the task is, or the turn goes on: what stands in a message is paid for in every later request. Within a turn it
        is given only where something else is unfinished than messages say.
        """
        if not self.compacted:
            return ""
        facts = self.facts().replace(skills=())
        text, said = _state_text(facts), " ".join(said_in(self.log[-1]).split())
        if turn_begins and (withdraws(said) or not said or facts.task.removesuffix("...") not in said):
            return text
        texts = ["\n".join(str(b.get("text")) for b in blocks_of(one)) for one in self.view.messages[::-1]]
        if not turn_begins and all(any(line in one for one in texts) for line in text.split("\n") if _OPEN.match(line)):
            return ""
        since = next((at for at, one in enumerate(texts) if STATE_TITLE in one), len(texts))
        share = _STATE_SHARE if turn_begins else _TURN_STATE_SHARE
        return text if self._meter.count(text) <= share * sum(self.view.costs[len(texts) - since :]) else ""

    def task_words(self, asked: str) -> str:
        """Return by what the rules for a task are found: what the user asks, and what before where that says little."""
        words, at = asked, len(self.log)
        while len(words.split()) < _FEW_WORDS and at > 0:
            at -= 1
            if starts_turn(self.log[at]) and (text := _said(self.log[at])) not in words:
                words = f"{text}\n{words}"
        return words

    def fixed_tokens(self) -> int:
        """Return the estimate for what each request begins with: system prompt and tools."""
        return self._meter.fixed(self.system or "", self.tools, self._tools_key)

    def estimate(self) -> int:
        """Return the estimate for the next request."""
        return self.fixed_tokens() + self.view.tokens

    def written(self) -> list[list[dict[str, Any]]]:
        """Return what to send for each message of the view; what was sent already is the same object."""
        same = min(self.view.changed_from, len(self.groups), len(self.view))
        return self.groups[:same] + [self._wire.write(message) for message in self.view.messages[same:]]

    def take_sent(self, groups: list[list[dict[str, Any]]], *, first: bool) -> Sent:
        """Take what is sent for each message, in the session's first call or a later one; return what is kept of it."""
        fixed, costs = self.fixed_tokens(), self.view.costs
        broken = self.broken_by if self.groups and not first else ""
        prefix = 0
        if self.groups and not first and broken not in {"system", "tools"}:
            equal = next(
                (at for at, (a, b) in enumerate(zip(self.groups, groups, strict=False)) if a != b),
                min(len(self.groups), len(groups)),
            )
            prefix = fixed + sum(costs[:equal])
        sent = Sent(self.estimate(), prefix, fixed + sum(costs[:-1]), broken, self.saved)
        self.groups = groups
        self.view.changed_from = len(self.view)
        self.broken_by, self.saved = "", 0
        return sent


def _state_text(facts: Facts) -> str:
    return f"{STATE_TITLE}\n\n{facts.state()}"


def _said(message: dict[str, Any]) -> str:
    texts = (words_of(block) for block in blocks_of(message) if not delivery_of(block))
    return "\n".join(text for text in texts if text)
