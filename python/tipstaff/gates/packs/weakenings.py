"""What a repository asks for that would make its gates weaker, and which of that counts.

Packs and settings of a repository come with it, from whoever wrote it. What makes gates stricter counts at once; what
makes them weaker counts once a person has allowed exactly that.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from tipstaff.model import Record

WIRING_PACK: Final = "wiring"


class Weakening(Record, frozen=True):
    """One thing that would make the gates weaker.

    Attributes
    ----------
    what, name
        ``setting``, ``rule``, ``words``, ``table``, ``program`` or ``secret rule``, and which.
    former, now
        What holds without it, and with it.
    because
        The reason that its file gives; empty where it gives none, and then it never counts.
    source
        The file.
    digest
        SHA-256 of all that it says: whoever changes a word of it asks again.
    """

    what: str
    name: str
    former: str
    now: str
    because: str
    source: str
    digest: str


class WeakeningReview:
    """Collects weakenings, and says which of them count.

    Parameters
    ----------
    accepted
        Digests of those that a person has allowed.
    """

    def __init__(self, accepted: Iterable[str] = ()) -> None:
        self.accepted = frozenset(accepted)
        self.found: list[Weakening] = []
        self._wiring: frozenset[tuple[str, str]] = frozenset()
        self._loose: frozenset[tuple[str, str]] = frozenset()

    def admits(
        self, what: str, name: str, former: str, now: str, content: object, because: object, source: Path
    ) -> bool:
        """Take note of a weakening; return whether it counts.

        Parameters
        ----------
        what, name, former, now
            As of :class:`Weakening`.
        content
            All that it says, as plain data.
        because
            Its reason; anything but a text with words in it does not count as one.
        source
            Its file.
        """
        reason = because.strip() if isinstance(because, str) else ""
        whole = json.dumps([what, name, former, now, content, reason], sort_keys=True, default=str)
        digest = hashlib.sha256(whole.encode()).hexdigest()
        if all(one.digest != digest for one in self.found):
            self.found.append(Weakening(what, name, former, now, reason, str(source), digest))
        return bool(reason) and digest in self.accepted

    # -- what the package's own packs share --------------------------------------------------------------------------

    def learn(self, packs: Iterable[Mapping[str, Any]]) -> None:
        """Take the package's own packs, as they are in their files."""
        wiring: set[tuple[str, str]] = set()
        loose: set[tuple[str, str]] = set()
        for pack in packs:
            own = pack.get("pack", {}).get("id") == WIRING_PACK
            for name in pack.get("tables", {}):
                loose.add(("table", name))
            for rule in pack.get("rule", []):
                for program in rule.get("programs", []):
                    (wiring if own else loose).add(("program", program))
                words = _named_words(rule)
                if own:
                    wiring |= {("words", name) for name in words}
                # More words in what a rule spares are fewer findings.
                refusals = ("args_none", "unbuilt_none")
                spared = {key: rule.get(key, []) for key in ("unless", *refusals)}
                inner = [{key: group.get(key, []) for key in refusals} for group in rule.get("any", [])]
                loose |= {("words", name) for name in _named_words([spared, inner])}
        self._wiring, self._loose = frozenset(wiring), frozenset(loose)

    def wires(self, what: str, name: str) -> bool:
        """Return whether the rules that keep the gate in place depend on something."""
        return (what, name) in self._wiring

    def loosens(self, what: str, name: str) -> bool:
        """Return whether changing something may make a rule weaker."""
        return (what, name) in self._loose


def _named_words(value: object) -> set[str]:
    if isinstance(value, str):
        return {value[1:]} if value.startswith("@") else set()
    if isinstance(value, Mapping):
        return {name for one in value.values() for name in _named_words(one)}
    if isinstance(value, list | tuple):
        return {name for one in value for name in _named_words(one)}
    return set()
