"""A change of one rule."""

from __future__ import annotations

import hashlib
from typing import Final

from tipstaff.errors import ConfigError
from tipstaff.model import Record

KINDS: Final = ("modify", "add", "promote", "demote", "remove")


class Change(Record, frozen=True, kw_only=True):
    """A change of one rule.

    Attributes
    ----------
    kind
        ``modify`` (other words), ``add``, ``promote`` (from a local file into the root file), ``demote`` (the way
        back), ``remove``.
    rule_id
        The rule as runs name it.
    before, after
        Its text; `before` is empty for ``add``, `after` for ``remove``.
    rationale
        The evidence for it.
    """

    kind: str
    rule_id: str
    before: str
    after: str
    rationale: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ConfigError(f"kind is {self.kind!r}; it must be one of {', '.join(KINDS)}")
        if self.kind in {"modify", "add"} and (not self.after.strip() or self.after == self.before):
            raise ConfigError(f"{self.rule_id}: a change to {self.kind} needs another text than the one there is")
        if "\n" in self.after:
            raise ConfigError(f"{self.rule_id}: a rule is one line of text")

    @property
    def id(self) -> str:
        """Identifies the change by what it does: equal changes have equal ids."""
        text = "\0".join((self.kind, self.rule_id, self.before, self.after))
        return hashlib.sha256(text.encode()).hexdigest()[:12]
