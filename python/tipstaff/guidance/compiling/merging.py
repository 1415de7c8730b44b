"""Laying the rules of several files together: the same words, the same ids, nested files, the local overlay."""

from __future__ import annotations

from tipstaff.guidance.compiling.identity import content_id
from tipstaff.guidance.compiling.precedence import stricter, tightens, whole_span
from tipstaff.guidance.diagnostics import find
from tipstaff.model import EVERYWHERE, Diagnostic, GuidanceRule


class Merging:
    """The rules of the files read so far, and what was decided about them.

    Attributes
    ----------
    rules
        By casefolded id, in the order of the files: what a later file replaces keeps its place.
    diagnostics
        In the order in which they were found.
    """

    def __init__(self, diagnostics: list[Diagnostic]) -> None:
        self.rules: dict[str, GuidanceRule] = {}
        self.diagnostics = diagnostics
        self._copies: dict[str, int] = {}

    def say(self, code: str, rule: GuidanceRule, message: str = "", *, span: tuple[int, int] | None = None) -> None:
        """Report a finding about a rule."""
        self.diagnostics.append(find(code, rule.line, rule.path, message, rule_id=rule.id, span=span or rule.span))

    def add(self, rule: GuidanceRule) -> None:
        """Take up the next rule."""
        key = rule.id.casefold()
        known = self.rules.get(key)
        if known is None:
            self.rules[key] = rule
            return
        if rule.is_generated_id or rule.text == known.text:
            self._merge_same(key, known, rule)
        elif self._is_overlay(known, rule):
            self._overlay(key, known, rule)
        elif rule.depth > known.depth and rule.path != known.path:
            folder = rule.path.rsplit("/", 1)[0]
            inner = rule.replace(id=f"{rule.id}@{folder}", overrides=known.id)
            self.say("TS504", inner, f"{rule.id} of {known.path}:{known.line} is replaced inside {folder}/.")
            self.add(inner)
        else:
            earlier = known.replace(id=self._free_id(known.id))
            place = f"{known.path}:{known.line}"
            self.say("TS306", rule, f"{rule.id} is also the id of the rule in {place}, which is {earlier.id} now.")
            self.rules[earlier.id.casefold()] = earlier
            self.rules[key] = rule

    def _merge_same(self, key: str, known: GuidanceRule, rule: GuidanceRule) -> None:
        """Merge a rule with an earlier one of the same words: one rule, the stricter attributes of both."""
        if rule.repo_scopes != known.repo_scopes and EVERYWHERE not in known.repo_scopes and rule.is_generated_id:
            self.add(rule.replace(id=content_id(rule.text, salt="\0".join(rule.repo_scopes))))
            return
        if (rule.path, rule.line) != (known.path, known.line):
            self.say("TS501", rule, f"Duplicate of {known.path}:{known.line}.", span=whole_span(rule))
        self.rules[key] = stricter(known, rule)

    @staticmethod
    def _is_overlay(known: GuidanceRule, rule: GuidanceRule) -> bool:
        """Whether a local rule lies over a root rule everywhere; one further down only holds in its own folder."""
        return rule.source == "local" != known.source and (known.is_constitution or rule.depth <= known.depth)

    def _overlay(self, key: str, known: GuidanceRule, rule: GuidanceRule) -> None:
        """Lay a local rule over a root rule of the same id."""
        if not known.is_constitution:
            place = f"{known.path}:{known.line}"
            self.say("TS504", rule, f"{known.id} of {place}, {known.text!r}, is replaced by this local rule.")
            self.rules[key] = rule.replace(priority=max(known.priority, rule.priority))
            return
        if not tightens(known, rule):
            self.refuse(rule, known)
            return
        # Its words go beside the root's: adding is allowed, replacing is not.
        added = rule.replace(
            id=self._free_id(f"{rule.id}@local"),
            is_constitution=True,
            priority=max(rule.priority, known.priority),
        )
        self.rules[added.id.casefold()] = added

    def refuse(self, rule: GuidanceRule, root: GuidanceRule) -> None:
        """Report a local rule that is left out because of one of the constitution."""
        self.say(
            "TS402",
            rule,
            f"{rule.text!r} would weaken {root.id} of {root.path}:{root.line}, {root.text!r}; it is refused.",
            span=whole_span(rule),
        )

    def _free_id(self, wanted: str) -> str:
        if "@" in wanted and wanted.casefold() not in self.rules:
            return wanted
        number = self._copies.get(wanted.casefold(), 0) + 1
        while f"{wanted}~{number}".casefold() in self.rules:
            number += 1
        self._copies[wanted.casefold()] = number
        return f"{wanted}~{number}"
