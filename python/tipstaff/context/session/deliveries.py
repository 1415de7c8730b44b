"""What changes between calls, and when the model sees it: once, in the last message of the user's.

The system prompt and all earlier messages stay as they were sent, byte for byte; so does what was delivered, until a
break of the cache (a compaction) throws it away. Then all of it is delivered again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from tipstaff.context.planning import as_context
from tipstaff.context.prompt.sections import MEMORY_PREFIX, TASK_FOCUS_KEY, TASK_RULES_KEY, SectionReport
from tipstaff.context.sources.project_rules import GivenRule

STATE_KEY: Final = "state"
_SMALL_CHARS: Final = 2_000


class Deliveries:
    """Which sections and rules the model has been given in this session.

    Attributes
    ----------
    rules
        The rules that messages of the conversation hold, by id.
    waiting
        Rules of edited files that are to be given with the next message that may hold them.
    """

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self.rules: dict[str, GivenRule] = {}
        self.waiting: tuple[GivenRule, ...] = ()

    def copied(self) -> tuple[Any, ...]:
        """Return what `restore` takes."""
        return self._known.copy(), self.rules.copy(), self.waiting

    def restore(self, copied: tuple[Any, ...]) -> None:
        """Become what this was when it was copied."""
        self._known, self.rules, self.waiting = copied

    def forget(self) -> None:
        """Everything is to be delivered again: what was delivered is no longer in the conversation."""
        self._known.clear()
        self.rules.clear()

    def take_rules(self, rules: Sequence[GivenRule], withdrawn: Iterable[str]) -> None:
        """Take rules as delivered, and others as withdrawn."""
        for rule_id in withdrawn:
            self.rules.pop(rule_id, None)
        self.rules.update({one.id: one for one in rules})
        self.waiting = ()

    def due(
        self, sections: Iterable[SectionReport], contents: Mapping[str, str], *, turn_begins: bool
    ) -> list[SectionReport]:
        """Return the sections that are to be delivered now, and take them as delivered.

        Parameters
        ----------
        sections
            All that a request would hold.
        contents
            Their texts before anything was cut, by key. What has none here is in the system prompt.
        turn_begins
            Whether the user has just spoken. Between a call and its result only rules are delivered: git's state
            changes with every edit and is not new to the one who edits.
        """
        found: list[SectionReport] = []
        for section in sections:
            key = section.key
            text = contents.get(key)
            known = self._known.get(key)
            if text is None or not section.included:
                continue
            if key != TASK_RULES_KEY:
                if not turn_begins or known == text:
                    continue
                # The agent writes these memories itself: it need not read them again each time it has. What a request
                # is about is read from messages that the conversation holds.
                if known is not None and (
                    key == TASK_FOCUS_KEY or (key.startswith(MEMORY_PREFIX) and len(text) > _SMALL_CHARS)
                ):
                    continue
                self._known[key] = text
            found.append(section)
        return found


def delivered(sections: Iterable[SectionReport]) -> str:
    """Return the text of a delivery; empty without sections."""
    return as_context("".join(section.content for section in sections))
