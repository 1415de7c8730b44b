"""From what extraction found to a rule: its attributes, written or inferred, and its id."""

from __future__ import annotations

from typing import Final

from tipstaff.guidance.compiling.identity import id_of_words, salt_of
from tipstaff.guidance.extraction.candidate import Candidate
from tipstaff.guidance.reading.documents import Document
from tipstaff.guidance.wording.vocabulary import class_mask, class_names
from tipstaff.model import EVERYWHERE, GuidanceRule

CONSTITUTION_BOOST: Final = 100
_ALL_TOOLS: Final = ("all",)


class RuleMaker:
    """Makes the rules of one document.

    Parameters
    ----------
    document
        Where the candidates are.
    risk_class, priority
        Of rules that name none.
    """

    __slots__ = ("_document", "_priority", "_risk_class", "_salt")

    def __init__(self, document: Document, *, risk_class: str, priority: int) -> None:
        self._document = document
        self._risk_class = risk_class
        self._salt = salt_of(document.scopes)
        self._priority = priority

    def rule(self, candidate: Candidate, mask: int, words: bytes) -> GuidanceRule:
        """Return a candidate as a rule.

        Parameters
        ----------
        candidate
            One of the document's.
        mask
            The classes that its words indicate, as `tipstaff.guidance.wording.vocabulary.MASKS` has them.
        words
            Its words in lower case, a space between two, as UTF-8.
        """
        document, notes, text = self._document, candidate.annotations, candidate.text
        intents, domains = notes.intents, notes.domains
        if not (intents and domains):
            if intents or domains:
                # What an author tagged one way counts for the other too: #testing is about testing.
                mask |= class_mask(intents or domains)
            inferred = class_names(mask)
            intents, domains = intents or inferred[0], domains or inferred[1]
        scopes = notes.scopes or document.scopes
        if notes.scopes and document.folder:
            scopes = tuple([_within(scope, document.folder) for scope in scopes])
        priority = self._priority if notes.priority is None else notes.priority
        source = document.parsed.source
        line, end_line, span = source.location(candidate.start, candidate.end)
        context = candidate.context
        verifiers = notes.verifiers
        return GuidanceRule(
            id=candidate.rule_id or id_of_words(words or text.encode("utf-8", "surrogatepass"), self._salt),
            text=text,
            risk_class=notes.risk_class or self._risk_class,
            tool_classes=notes.tool_classes or _ALL_TOOLS,
            intents=intents,
            repo_scopes=scopes,
            domains=domains,
            priority=priority + CONSTITUTION_BOOST if candidate.is_constitution else priority,
            source=document.source,
            is_constitution=candidate.is_constitution,
            verifier=verifiers[0] if verifiers else None,
            path=document.path,
            line=line,
            end_line=end_line,
            span=span,
            context_spans=tuple([source.span(*part) for part in context]) if context else (),
            heading=candidate.heading,
            host=document.host,
            file_scope=document.scopes,
            active_from=notes.active_from,
            active_until=notes.active_until,
            depth=document.depth,
            verifiers=verifiers,
            kind="rule" if candidate.is_rule else "information",
            headings=candidate.headings,
            own_start=candidate.own,
        )


def _within(scope: str, folder: str) -> str:
    """Read a scope of a nested file: relative to the root where it begins with the folder, else to the folder."""
    bare = scope.removeprefix("!").removeprefix("./")
    if scope == EVERYWHERE or bare == folder or bare.startswith((f"{folder}/", "/")):
        return scope
    return f"{'!' if scope.startswith('!') else ''}{folder}/{bare}"
