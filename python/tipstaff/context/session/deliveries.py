"""What changes between calls, and when the model sees it: once, in the last message of the user's.

The system prompt and all earlier messages stay as they were sent, byte for byte; so does what was delivered, until a
break of the cache (a compaction) throws it away. Then all of it is delivered again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from tipstaff.context.planning import as_context
from tipstaff.context.prompt.sections import MEMORY_PREFIX, RULES_PREFIX, SectionReport

_SMALL_CHARS: Final = 2_000


class Deliveries:
    """Which sections the model has been given in this session, and as what."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def copied(self) -> dict[str, str]:
        """Return what `restore` takes."""
        return self._known.copy()

    def restore(self, copied: dict[str, str]) -> None:
        """Become what this was when it was copied."""
        self._known = copied

    def forget(self) -> None:
        """Everything is to be delivered again: what was delivered is no longer in the conversation."""
        self._known.clear()

    def in_system(self, contents: Mapping[str, str]) -> None:
        """Take sections that are in the system prompt."""
        self._known.update(contents)

    def due(
        self, sections: Iterable[SectionReport], contents: Mapping[str, str], *, turn_begins: bool
    ) -> list[SectionReport]:
        """Return the sections that are to be delivered now, and take them as delivered.

        Parameters
        ----------
        sections
            All that a request would hold.
        contents
            Their texts before anything was cut, by key. What has none here is in the system prompt for good.
        turn_begins
            Whether the user has just spoken. Between a call and its result only rules of files that became active are
            delivered: git's state changes with every edit and is not new to the one who edits.
        """
        found: list[SectionReport] = []
        for section in sections:
            key = section.key
            text = contents.get(key)
            known = self._known.get(key)
            if text is None or not section.included or known == text:
                continue
            if not key.startswith(RULES_PREFIX):
                if not turn_begins:
                    continue
                # The agent writes these memories itself: it need not read them again each time it has.
                if known is not None and key.startswith(MEMORY_PREFIX) and len(text) > _SMALL_CHARS:
                    continue
            self._known[key] = text
            found.append(section)
        return found


def delivered(sections: Iterable[SectionReport]) -> str:
    """Return the text of a delivery; empty without sections."""
    return as_context("".join(section.content for section in sections))
