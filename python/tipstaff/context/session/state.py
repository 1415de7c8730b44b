"""What a session remembers between calls: what was said, how it is sent, what was delivered, what was done.

A request that cannot be sent was never made: the state is copied before it and restored where it fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tipstaff.context.conversation.messages import starts_turn
from tipstaff.context.session.apis.wire import Wire
from tipstaff.context.session.deliveries import Deliveries
from tipstaff.context.session.intake import Intake
from tipstaff.context.session.meter import Meter
from tipstaff.context.session.view import View
from tipstaff.context.shortening.compaction import CompactionResult
from tipstaff.context.shortening.facts import Facts, extract_facts


class SessionState:
    """The state of a session.

    Parameters
    ----------
    wire
        Reads the caller's shape.
    meter
        Counts messages.

    Attributes
    ----------
    log
        All that was said, nothing left out.
    view
        The conversation as it is sent.
    deliveries
        Which context is in it.
    groups
        What was sent last for each message of the view.
    system, callers_system
        The system prompt; None while it is to be read. What of it the caller's messages began with.
    broken_by
        Why the next request will begin otherwise than the last.
    saved
        Tokens that were taken out since the last request.
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
        self._intake = Intake(wire)
        self._facts = Facts()
        self._facts_to = 0

    def copied(self) -> tuple[Any, ...]:
        """Return what `restore` takes."""
        return (
            self.view.copied(),
            self._intake.copied(),
            self.deliveries.copied(),
            list(self.log),
            (self.system, self.callers_system, self.broken_by, self.saved, self.stuck_at),
            (self._facts, self._facts_to),
        )

    def restore(self, copied: tuple[Any, ...]) -> None:
        """Become what this was when it was copied."""
        view, intake, deliveries, self.log, rest, facts = copied
        self.view.restore(view)
        self._intake.restore(intake)
        self.deliveries.restore(deliveries)
        self.system, self.callers_system, self.broken_by, self.saved, self.stuck_at = rest
        self._facts, self._facts_to = facts

    def take(self, given: Sequence[Any]) -> bool:
        """Take the caller's messages; return whether the user has spoken in them."""
        update = self._intake.take(given)
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
        return any(starts_turn(message) for message in update.messages)

    def answered(self, answer: dict[str, Any]) -> None:
        """Take the answer to the last request."""
        self._intake.recorded(answer)
        self.log.append(answer)
        self.view.append(answer, len(self.log) - 1)

    def _rewind(self, keep: int) -> None:
        """Go back to the first `keep` messages of the session."""
        only_answer = len(self.log) - keep == 1 and self.view.origins and self.view.origins[-1] == keep
        del self.log[keep:]
        self._facts_to = min(self._facts_to, keep)
        if only_answer and len(self.groups) < len(self.view):
            # The caller's own version of an answer that has not been sent yet.
            self.view.drop_last()
            return
        self.broken_by = "history"
        self.deliveries.forget()
        self.view.reset((), ())
        self._facts, self._facts_to = Facts(), 0
        for index, message in enumerate(self.log):
            self.view.append(message, index)

    def start_again(self, result: CompactionResult, origins: list[int]) -> None:
        """Continue with the result of a compaction; the system prompt is read again, as the cache is lost anyway."""
        self.broken_by = result.phase
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
        if end > self._facts_to:
            self._facts = self._facts.merged(extract_facts(self.log[self._facts_to : end]))
            self._facts_to = end
        return self._facts
