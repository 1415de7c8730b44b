"""Which scopes of rules and rule files cover nothing of the repository, or cannot be used."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tipstaff import globs
from tipstaff.guidance.diagnostics import find
from tipstaff.guidance.reading.discovery import FileList
from tipstaff.model import Diagnostic, GuidanceRule, Record, Severity

if TYPE_CHECKING:
    from tipstaff.guidance.reading.documents import Document


def scope_findings(rules: Iterable[GuidanceRule], documents: Iterable[Document], files: FileList) -> list[Diagnostic]:
    """Judge the scopes of a file once, and those of each rule that names its own."""
    found: list[Diagnostic] = []
    of_files: dict[str, tuple[str, ...]] = {}
    for document in documents:
        of_files[document.path] = document.scopes
        found += [
            problem.finding(document.path, _line_of(document.text, problem.glob))
            for problem in _scope_problems(document.scopes, files)
        ]
    for rule in rules:
        if rule.repo_scopes in {of_files.get(rule.path), rule.file_scope}:
            continue
        found += [
            problem.finding(rule.path, rule.line, rule_id=rule.id, span=rule.span)
            for problem in _scope_problems(rule.repo_scopes, files)
        ]
    return found


class _ScopeProblem(Record, frozen=True, kw_only=True):
    code: str
    glob: str
    """The first that is concerned."""
    message: str
    fix: str = ""
    severity: Severity | None = None

    def finding(
        self, path: str, line: int, *, rule_id: str | None = None, span: tuple[int, int] = (0, 0)
    ) -> Diagnostic:
        return find(
            self.code, line, path, self.message, fix=self.fix, rule_id=rule_id, span=span, severity=self.severity
        )


def _scope_problems(scopes: tuple[str, ...], files: FileList) -> list[_ScopeProblem]:
    """Return what is wrong with the scopes that belong together; those that are alternatives need not all be alive."""
    found: list[_ScopeProblem] = []
    dead: list[str] = []
    alive = 0
    for glob in scopes:
        reason = globs.is_valid(glob)
        if reason is not None:
            message = f"The scope {glob!r} cannot be used: {reason}."
            found.append(_ScopeProblem(code="TS602", glob=glob, message=message))
        elif glob.startswith("!"):
            continue
        elif files.any_match(glob):
            alive += 1
        else:
            dead.append(glob)
    if dead:
        found.append(_dead_scopes(dead, files, alive=alive))
    return found


def _dead_scopes(dead: list[str], files: FileList, *, alive: int) -> _ScopeProblem:
    named = ", ".join(map(repr, dead[:4])) + (f" and {len(dead) - 4} more" if len(dead) > 4 else "")
    many = len(dead) > 1
    message = f"The scope{'s' if many else ''} {named} {'match' if many else 'matches'} no file of the repository"
    hint = next(filter(None, map(files.suggest, dead[:4])), None)
    fix = f"Perhaps {hint} is intended; else delete the rule together with the files that it was about." if hint else ""
    if alive:
        # The rule is loaded all the same, for the files that its other scopes cover.
        message += f"; {'another does' if alive == 1 else f'{alive} others do'}"
    severity = Severity.INFO if alive else None
    return _ScopeProblem(code="TS601", glob=dead[0], message=f"{message}.", fix=fix, severity=severity)


def _line_of(text: str, glob: str) -> int:
    """Return the line of the front matter that holds a glob, 1 where it was derived."""
    head, _, _ = text[:8_192].partition("\n---")
    for spelling in (glob, glob.lstrip("/"), glob.removesuffix("/**")):
        position = head.find(spelling) if spelling else -1
        if position >= 0 and head.startswith("---"):
            return head.count("\n", 0, position) + 1
    return 1
