"""Which guidance rules are about what a gate found: by their words, never by their risk class alone."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from tipstaff.model import GuidanceRule

_WORD: Final = re.compile(r"[a-z][a-z0-9_+.-]*[a-z0-9]|[a-z]")
_COMMON: Final = frozenset(
    "the and for with that this not never always must should any all into from use using code when your you "
    "are via its has have new old run running main tmp src app test tests system "
    "in on of to a an or be is it by at as".split()
)
_TOPICS: Final = {
    "secrets": frozenset(
        "secret credential password token key api-key apikey env passphrase hardcode hardcoded".split()
    ),
    "diff-size": frozenset("diff line size small large pr pull".split()),
    "tool-allowlist": frozenset("tool allowlist whitelist mcp permission".split()),
}
_DELETING: Final = frozenset("delete remove rm destroy drop wipe erase destructive irreversible".split())
_NOUNS: Final = {
    "filesystem": frozenset("file folder directory outside home repository".split()),
    "databases": frozenset("table database migration production data row".split()),
    "devices": frozenset("disk device partition".split()),
    "infrastructure": frozenset("infrastructure stack production resource".split()),
    "kubernetes": frozenset("cluster namespace kubernetes production".split()),
    "publishing": frozenset("publish release package registry".split()),
    "wiring": frozenset("hook gate setting".split()),
}
_FORCING: Final = frozenset("force force-push push rewrite overwrite history".split())


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, without plural endings and without the commonest."""
    return frozenset(_stem(word) for word in _WORD.findall(text.lower())) - _COMMON


def related_rules(
    gate: str, found: Sequence[tuple[str, str]], rules: Iterable[tuple[GuidanceRule, frozenset[str]]]
) -> tuple[str, ...]:
    """Return the ids of rules that are about findings, in the rules' order.

    Parameters
    ----------
    gate
        The gate that found something.
    found
        Rule id and text of each finding.
    rules
        Active guidance rules with the words of their texts.
    """
    if gate == "destructive-ops":
        topics = [_topic(rule_id, text) for rule_id, text in found]
        return tuple(
            rule.id for rule, words in rules if _tools_fit(rule) and any(_is_about(words, topic) for topic in topics)
        )
    wanted = _TOPICS[gate]
    least = 2 if gate == "diff-size" else 1
    return tuple(rule.id for rule, words in rules if len(words & wanted) >= least)


def _topic(rule_id: str, text: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the words of a finding: its program and what it does."""
    parts = words_of(rule_id.replace(".", " ").replace("-", " ").replace("filesystem", " "))
    command = words_of(text)
    kinds: set[str] = set()
    if parts & {
        "delete",
        "remove",
        "drop",
        "destroy",
        "clean",
        "truncate",
        "shred",
        "prune",
        "erase",
        "uninstall",
        "rimraf",
    }:
        kinds |= _DELETING
    if parts & {"force", "push"}:
        kinds |= _FORCING
    return command | _NOUNS.get(rule_id.partition(".")[0], frozenset()), parts | kinds


def _is_about(words: frozenset[str], topic: tuple[frozenset[str], frozenset[str]]) -> bool:
    command, kinds = topic
    shared = words & (command | kinds)
    return len(shared) >= 2 and bool(words & kinds)


def _tools_fit(rule: GuidanceRule) -> bool:
    classes: Any = rule.tool_classes
    return not classes or bool({"bash", "all", "edit", "write", "mcp"} & set(classes))


def _stem(word: str) -> str:
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith("ss") else word
