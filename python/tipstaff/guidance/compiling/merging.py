"""Laying the rules of several files together: the same words, the same ids, nested files, the local overlay."""

from __future__ import annotations

from collections.abc import Iterable

from tipstaff.globs import scopes_may_overlap
from tipstaff.guidance.compiling.identity import content_id, signs
from tipstaff.guidance.compiling.precedence import stricter, tightens, whole_span
from tipstaff.guidance.diagnostics import find
from tipstaff.model import EVERYWHERE, Diagnostic, GuidanceRule, Severity


class Merging:
    """The rules of the files read so far, and what was decided about them.

    Parameters
    ----------
    diagnostics
        Findings made before.
    former
        The rules of the compilation before this one: of two folders that use one id the one that had it keeps it.

    Attributes
    ----------
    rules
        By casefolded id, in the order of the files: what a later file replaces keeps its place.
    diagnostics
        In the order in which they were found.
    """

    def __init__(self, diagnostics: list[Diagnostic], former: Iterable[GuidanceRule] = ()) -> None:
        self.rules: dict[str, GuidanceRule] = {}
        self.diagnostics = diagnostics
        self._copies: dict[str, int] = {}
        self._holders = {rule.id.casefold(): rule.path for rule in former if not rule.is_generated_id}

    def say(
        self,
        code: str,
        rule: GuidanceRule,
        message: str = "",
        *,
        span: tuple[int, int] | None = None,
        severity: Severity | None = None,
    ) -> None:
        """Report a finding about a rule."""
        where = span or rule.span
        self.diagnostics.append(
            find(code, rule.line, rule.path, message, rule_id=rule.id, span=where, severity=severity)
        )

    def add(self, rule: GuidanceRule) -> None:
        """Take up the next rule."""
        key = rule.id.casefold()
        known = self.rules.get(key)
        if known is None:
            self.rules[key] = rule
        elif rule.is_generated_id or (rule.text == known.text and folder_of(rule) == folder_of(known)):
            self._merge_same(key, known, rule)
        elif self._is_overlay(known, rule):
            self._overlay(key, known, rule)
        elif rule.path != known.path and folder_of(rule) != folder_of(known):
            self._add_in_folder(key, known, rule)
        elif scopes_may_overlap(known.repo_scopes, rule.repo_scopes):
            earlier = known.replace(id=self._free_id(known.id))
            location = f"{known.path}:{known.line}"
            self.say("TS306", rule, f"{rule.id} is also the id of the rule in {location}, which is {earlier.id} now.")
            self.rules[earlier.id.casefold()] = earlier
            self.rules[key] = rule
        else:
            other = rule.replace(id=self._free_id(rule.id))
            self.rules[other.id.casefold()] = other

    def _add_in_folder(self, key: str, known: GuidanceRule, rule: GuidanceRule) -> None:
        """Take up a rule whose id is that of a rule of another folder: inside an outer one's folder it replaces it."""
        folder = folder_of(rule)
        outer = self._outer(known, rule.id, folder)
        home = folder_of(known)
        if home and self._holders.get(key) == rule.path:
            # Before the other folder was there this rule had the id for itself.
            aside = known.replace(id=f"{known.id}@{home}")
            self.rules[key] = rule.replace(overrides=aside.id) if outer is known else rule
            self.add(aside)
            return
        inner = rule.replace(id=f"{rule.id}@{folder}", overrides=None if outer is None else outer.id)
        if outer is not None:
            self.say("TS504", inner, f"{rule.id} of {outer.path}:{outer.line} is replaced inside {folder}/.")
        self.add(inner)

    def _outer(self, known: GuidanceRule, rule_id: str, folder: str) -> GuidanceRule | None:
        """Return the rule of an id in the nearest folder around another one."""
        home = folder_of(known)
        nearest = known if not home or folder.startswith(f"{home}/") else None
        around = folder
        while len(around := around.rpartition("/")[0]) > len(home if nearest is not None else ""):
            found = self.rules.get(f"{rule_id}@{around}".casefold())
            if found is not None:
                return found
        return nearest

    def _merge_same(self, key: str, known: GuidanceRule, rule: GuidanceRule) -> None:
        """Merge a rule with an earlier one of the same words: one rule, the stricter attributes of both.

        The same words in another folder are another rule: ``make lint`` is not the same everywhere.
        """
        if rule.text != known.text and rule.is_generated_id and (own := signs(rule.text)) != signs(known.text):
            self.add(rule.replace(id=content_id(rule.text, salt=f"signs\0{own}")))
            return
        elsewhere = folder_of(rule) != folder_of(known)
        covered = EVERYWHERE in known.repo_scopes and not elsewhere
        if rule.repo_scopes != known.repo_scopes and not covered and rule.is_generated_id:
            self.add(rule.replace(id=content_id(rule.text, salt="\0".join((rule.id, *rule.repo_scopes)))))
            return
        if rule.host == "agents" != known.host and rule.repo_scopes == known.repo_scopes:
            known, rule = rule, known  # the file that most hosts read stands for both
        if (rule.path, rule.line) != (known.path, known.line):
            self.say_same(rule, known, f"Duplicate of {known.path}:{known.line}.")
        self.rules[key] = stricter(known, rule)

    def say_same(self, rule: GuidanceRule, known: GuidanceRule, message: str) -> None:
        """Report two rules in the same words; it is a warning where one file set's readers are given both."""
        together = rule.host == known.host and _parent(rule.path) == _parent(known.path)
        both = together and rule.kind == known.kind == "rule"
        self.say("TS501", rule, message, span=whole_span(rule), severity=None if both else Severity.INFO)

    @staticmethod
    def _is_overlay(known: GuidanceRule, rule: GuidanceRule) -> bool:
        """Whether a local rule covers a root rule everywhere; one further down only holds in its own folder."""
        return rule.source == "local" != known.source and (known.is_constitution or rule.depth <= known.depth)

    def _overlay(self, key: str, known: GuidanceRule, rule: GuidanceRule) -> None:
        """Lay a local rule over a root rule of the same id."""
        if not known.is_constitution:
            location = f"{known.path}:{known.line}"
            self.say("TS504", rule, f"{known.id} of {location}, {known.text!r}, is replaced by this local rule.")
            self.rules[key] = rule.replace(priority=max(known.priority, rule.priority))
            return
        if not tightens(known, rule):
            self.refuse(rule, known)
            return
        # Its words go beside the root's: adding is allowed, replacing is not.
        added = rule.replace(
            id=self._free_id(f"{rule.id}@local"), is_constitution=True, priority=max(rule.priority, known.priority)
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


def folder_of(rule: GuidanceRule) -> str:
    """Return the folder that a rule's file applies to, empty for the root."""
    if not rule.depth or not rule.file_scope:
        return ""
    return "/".join(rule.file_scope[0].removeprefix("!").split("/")[: rule.depth])


def _parent(path: str) -> str:
    return path.rpartition("/")[0]
