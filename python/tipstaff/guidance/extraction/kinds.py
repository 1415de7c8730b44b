"""What is a rule and what is information.

A rule says what to do, not to do, or how something has to be. Information describes: what lies where, what a command
does, what happens, an example. The words themselves decide where they speak; else the labels above them; else the form.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from tipstaff.guidance.extraction.grammar import (
    count_words,
    has_modal,
    has_negation,
    is_condition,
    opens_with_imperative,
)
from tipstaff.guidance.extraction.labels import Label
from tipstaff.guidance.extraction.sentences import (
    RUN_IN,
    WEAK_MODAL,
    commands_elsewhere,
    describes_itself,
    has_strong_modal,
    is_imperative,
)
from tipstaff.guidance.wording.cues import CuedPattern
from tipstaff.guidance.wording.word_forms import (
    ALWAYS,
    BANS,
    FORBIDDEN,
    NEVER,
    OBLIGED,
    SHOULD,
    expressions,
    lists,
)
from tipstaff.guidance.wording.word_roles import IMPERATIVES

_EXPRESSIONS: Final = expressions("kinds")
_LISTS: Final = lists("kinds")

_MAX_LABELS: Final = 2_048

_STATES: Final = re.compile(_EXPRESSIONS["states"], re.IGNORECASE)
"""A word that says what something is, and its value."""
_UNFILLED: Final = re.compile(_EXPRESSIONS["unfilled"], re.IGNORECASE)
"""A form's line that nobody has filled in ("Owner: [name]")."""
_COMMIT_TYPE: Final = re.compile(_EXPRESSIONS["commit_type"])
"""How a line of a list begins that says what a kind of commit is for."""
_COMMAND: Final = re.compile(r"(?:\*\*|__)?[^`:\n]{2,40}:(?:\*\*|__)?\s*`[^`\n]+`\W*")
"""What is done, and the command that does it."""
_NAMING: Final = re.compile(r"\bnaming|nomenclature|nomenclatura|benennung|命名|명명", re.IGNORECASE)
FORM: Final = re.compile(_EXPRESSIONS["form"], re.IGNORECASE)
"""A label of how something is written, and not of a command ("Format: `type: words`")."""
_ENTRY: Final = re.compile(_EXPRESSIONS["entry"], re.DOTALL)
_DESCRIBES: Final = re.compile(_EXPRESSIONS["describes"], re.IGNORECASE)
_NAMES: Final = re.compile(_EXPRESSIONS["names"])
"""Nothing but names: a stack, and not what to do."""
_CELLS: Final = re.compile(r"[^|\n]{1,40} \| `[^`\n]+`(?: \||\W*$)")
"""A name, a place and what it is for, as in a table's row."""
_SOMETIMES: Final = re.compile(_EXPRESSIONS["sometimes"], re.IGNORECASE)
_REASONS_LABEL: Final = re.compile(_EXPRESSIONS["reasons_label"], re.IGNORECASE)
"""What is below it says why."""
_COMPARES: Final = re.compile(_EXPRESSIONS["compares"], re.IGNORECASE)
_EXAMPLE: Final = re.compile(_EXPRESSIONS["example"], re.IGNORECASE)
_MARKED: Final = re.compile(r"\s*(?:[❌✅✔✓✗🚫⛔]\ufe0f?\s*)+")
_EXAMPLES_LABEL: Final = re.compile(_EXPRESSIONS["examples_label"], re.IGNORECASE)
_EXAMPLES_HEADING: Final = re.compile(_EXPRESSIONS["examples_heading"], re.IGNORECASE)
_DESCRIBING_LABEL: Final = re.compile(_EXPRESSIONS["describing_label"], re.IGNORECASE)
_AVAILABLE: Final = re.compile(r"\bavailable\b|可用|利用可能", re.IGNORECASE)
"""A list of what there is, each with what it is for in the words of a command ("`review` - check a change")."""
_DIRECTING_LABEL: Final = re.compile(_EXPRESSIONS["directing_label"], re.IGNORECASE)
_DEMANDS: Final = f"{FORBIDDEN} {BANS} {NEVER} {ALWAYS} {OBLIGED} {SHOULD}"
_STRONG: Final = CuedPattern(_EXPRESSIONS["strong"], _LISTS["strong"])


def demands(words: str, labels: Sequence[Label], headings: Sequence[Label], *, row: bool = False) -> bool:
    """Whether an item or a table's row is a rule.

    Parameters
    ----------
    words
        Its own.
    labels
        Above it, the outermost first: headings, lead-ins, parent items.
    headings
        The headings among them.
    row
        Whether it is a table's row. Tables describe, unless a cell commands or what is above the table asks for it.
    """
    example = _EXAMPLE.match(words)
    if example is not None and not (words.startswith("**") and opens_with_imperative(words[example.end() :])):
        return False
    near = [label for label in labels if not label.topic]
    marked = not words.isascii() and _MARKED.match(words) is not None
    words = words if words.isascii() else _MARKED.sub("", words)
    lead = near[-1].text if near else ""
    if _UNFILLED.fullmatch(words) is not None or _SOMETIMES.match(words) is not None:
        return False
    if lead and _REASONS_LABEL.match(lead) is not None:
        return False
    if headings and not (lead or has_modal(words)) and _REASONS_LABEL.match(headings[-1].text) is not None:
        return False
    if any(label.negative for label in labels):
        return True
    if headings and _EXAMPLES_HEADING.fullmatch(headings[-1].text) and _STRONG.search(words) is None:
        return False
    if headings and _COMPARES.search(headings[-1].text) and (row or not has_strong_modal(words)):
        return False
    if row:
        return _row_demands(words, lead, headings)
    if lead and _EXAMPLES_LABEL.search(lead):
        return False
    body = words
    run_in = RUN_IN.match(words)
    if run_in is not None and run_in["between"]:
        body = words[run_in.end() :]
        if count_words(run_in["label"]) == 1 and _third_person(body) and _STRONG.search(body) is None:
            return False
    strong = _STRONG.search(words) is not None
    if _COMMIT_TYPE.match(words) is not None and not (strong or is_imperative(words)):
        return False
    entry = _ENTRY.match(words)
    if entry is not None:
        rest = entry["rest"]
        if headings and _AVAILABLE.search(headings[-1].text):
            return has_strong_modal(rest)
        if is_imperative(rest) or _STRONG.search(rest):
            return True
        if rest and (has_modal(lead) or has_negation(rest) or _procedure(lead) or _CHOICE.search(lead)):
            return True
        return not rest and (_demanding(lead) or _procedure(lead) or commands_elsewhere(lead))
    names = not _demanding(lead) and _NAMES.fullmatch(words) is not None
    if not strong and (_unfinished(words) or names or _CELLS.match(words) or describes_itself(words)):
        return False
    if _COMMAND.fullmatch(words) is not None and not (
        FORM.match(words)
        or (headings and _NAMING.search(headings[-1].text))
        or _procedure(lead)
        or is_condition(words)
        or strong
    ):
        return False
    if strong:
        return True
    if is_imperative(words) or (body is not words and is_imperative(body)):
        return not _narrates(lead)
    if has_modal(words) and WEAK_MODAL.search(words) is None:
        return True
    if has_negation(words) and not _DESCRIBES.match(body):
        return not _narrates(lead)
    if is_condition(words):
        return not _narrates(lead)
    if lead:
        if _demanding(lead) or is_condition(lead):
            return not _narrates(lead)
        if _narrates(lead) or _label_describes(lead):
            return False
        if _label_directs(lead) or is_imperative(lead):
            return True
    if marked and not near:
        return True
    if (
        _STATES.match(words)
        or _DESCRIBES.match(body)
        or (run_in is not None and _third_person(body))
        or (marked and not any(label.negative for label in labels))
    ):
        return False
    for heading in reversed(headings):
        if _label_directs(heading.text):
            return True
        if _label_describes(heading.text):
            return False
    return True


def _unfinished(words: str) -> bool:
    """Whether words only announce something that is not in the rule ("Format of a request:")."""
    return words.rstrip("*_ ").endswith((":", "：")) and not (is_imperative(words) or has_modal(words))


def _third_person(body: str) -> bool:
    """Whether words after a label begin with a verb that says what something does ("**Cache**: stores the pages")."""
    first, _, _ = body.lstrip("*_ ").partition(" ")
    verb = first.casefold()
    return verb.endswith("s") and (verb[:-1] in IMPERATIVES or (verb.endswith("es") and verb[:-2] in IMPERATIVES))


def _row_demands(words: str, lead: str, headings: Sequence[Label]) -> bool:
    cells = [
        cell.rpartition(": ")[2] if ": " in cell[:60] else cell
        for cell in words.split("; ")
        if _TASK_COLUMN.match(cell) is None
    ]
    if _ALLOWS.search(words) is not None:
        return True
    if _STRONG.search(words) is None and _CODE_COLUMN.match(words) is not None:
        return False
    if _STRONG.search(words) is not None or any(is_imperative(cell) and count_words(cell) > 1 for cell in cells):
        return True
    if (_demanding(lead) or is_imperative(lead)) and not _narrates(lead):
        return _DESCRIBES_COLUMN.search(words) is None
    columns = [] if words.isascii() else _COLUMNS.findall(words)
    if any(map(has_strong_modal, columns)):
        return True
    return any(_DEMANDING_TABLE.search(one.text) for one in headings[-2 if len(columns) == 2 else -1 :])


_COLUMNS: Final = re.compile(r"(?:^|; )([^:;]{1,40}): ")
"""The heads of a row's columns."""
_TASK_COLUMN: Final = re.compile(_EXPRESSIONS["task_column"], re.IGNORECASE)
_ALLOWS: Final = re.compile(_EXPRESSIONS["allows"], re.IGNORECASE)
_CODE_COLUMN: Final = re.compile(_EXPRESSIONS["code_column"], re.IGNORECASE)
"""What the row of a list of commands or files begins with, whatever its description begins with."""
_DESCRIBES_COLUMN: Final = re.compile(r"(?:^|; )(?:what (?:it|they)|meaning|description|symptom)", re.IGNORECASE)
_DEMANDING_TABLE: Final = re.compile(_EXPRESSIONS["demanding_table"], re.IGNORECASE)
_CHOICE: Final = re.compile(r"\b(?:one of|choose|pick|either|verification|label)\b", re.IGNORECASE)
_NARRATES: Final = re.compile(_EXPRESSIONS["narrates"], re.IGNORECASE)


# One label is above many items.
@lru_cache(maxsize=_MAX_LABELS)
def _label_describes(text: str) -> bool:
    return _DESCRIBING_LABEL.search(text) is not None


@lru_cache(maxsize=_MAX_LABELS)
def _label_directs(text: str) -> bool:
    return _DIRECTING_LABEL.search(text) is not None


@lru_cache(maxsize=_MAX_LABELS)
def _demanding(lead: str) -> bool:
    return has_modal(lead) or has_negation(lead)


@lru_cache(maxsize=_MAX_LABELS)
def _narrates(lead: str) -> bool:
    """Whether a lead-in announces what happens or what there is, and not what to do."""
    return (
        lead != ""
        and _NARRATES.search(lead) is not None
        and "typically include" not in lead
        and not re.search(r"\b(?:must|should)\b", lead)
        and not has_negation(lead)
    )


@lru_cache(maxsize=_MAX_LABELS)
def _procedure(lead: str) -> bool:
    return lead != "" and (is_imperative(lead) or is_condition(lead)) and not _narrates(lead)
