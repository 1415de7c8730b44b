"""What of a text goes where it is too long: paragraphs that have nothing to do with a request, the least rules."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from tipstaff.context.prompt.sections import find_word
from tipstaff.context.prompt.truncation import Piece

if TYPE_CHECKING:
    from tipstaff.context.prompt.focus import RequestFocus


_NAME_POINTS: Final = 3
_SHORTEST_WORD: Final = 4
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})")
_WORD: Final = re.compile(r"[^\W_]+")
# Words that are in nearly every request, and so say nothing about what it is about.
_COMMON: Final = frozenset(
    "about after again also because been before being both could does done down each even every from have here into "
    "just like look make many more most much need only other over please same should show some such sure tell than "
    "that their them then there these they this those through under until very want well were what when where which "
    "while will with would your".split()
)


class Paragraph(NamedTuple):
    """A half-open range of a text with the blank lines after it, and how much it has to do with a request."""

    start: int
    end: int
    points: int


class Condensed(NamedTuple):
    """A text without some of its paragraphs.

    Pieces with markers in the places of what is left out, and the half-open ranges of the original that are left out.
    """

    pieces: tuple[Piece, ...]
    chars: int
    omitted: tuple[tuple[int, int], ...]


def paragraphs(text: str, focus: RequestFocus) -> list[Paragraph]:
    """Return the paragraphs of a text with their points; a fenced block is one, a heading goes with what follows.

    Three points for each file or symbol of the request that is in it, one for each other telling word.
    """
    names = (*focus.active_symbols, *focus.active_file_paths)
    asked = _telling(focus.query_summary)
    found: list[Paragraph] = []
    for start, end in _ranges(text):
        part = text[start:end]
        points = sum(_NAME_POINTS for name in names if find_word((name,), part) is not None)
        found.append(Paragraph(start, end, points + len(asked & _telling(part))))
    return found


def relevant_chars(parts: list[Paragraph]) -> int:
    """Return how much room the relevant paragraphs take with their markers; 0 where there are none or all are."""
    kept = [part for part in parts if part.points]
    if not kept or len(kept) == len(parts):
        return 0
    gap = len(_marker(parts[-1].end, parts[-1].end))
    return sum(part.end - part.start for part in kept) + gap * (len(kept) + 1)


def condense(text: str, parts: list[Paragraph], max_chars: int) -> Condensed | None:
    """Return a text without those of its :func:`paragraphs` that have least to do with the request.

    None where no relevant paragraph fits: then a cut from the middle serves as well. Of equally relevant ones those
    near the beginning are kept, then those near the end; of those that say the same the first.
    """
    gap = len(_marker(len(text), len(text)))
    count = len(parts)
    keep = [False] * count
    seen: set[str] = set()
    repeated = [False] * count
    for index, part in enumerate(parts):
        words = text[part.start : part.end].strip()
        repeated[index] = words in seen
        seen.add(words)
    # As in a cut, the beginning weighs 7 parts and the end 2.
    order = sorted(
        range(count),
        key=lambda index: (repeated[index], -parts[index].points, min(2 * index, 7 * (count - 1 - index))),
    )
    room = max_chars - gap  # all of it is one gap
    relevant = False
    for index in order:
        before = index > 0 and not keep[index - 1]
        after = index + 1 < count and not keep[index + 1]
        cost = parts[index].end - parts[index].start + gap * (int(before) + int(after) - 1)
        if cost <= room:
            keep[index] = True
            room -= cost
            relevant = relevant or parts[index].points > 0
    if not relevant:
        return None
    pieces: list[Piece] = []
    omitted: list[tuple[int, int]] = []
    for part, kept in zip(parts, keep, strict=True):
        if kept:
            if pieces and pieces[-1][0] is text and pieces[-1][2] == part.start:
                pieces[-1] = (text, pieces[-1][1], part.end)
            else:
                pieces.append((text, part.start, part.end))
        elif omitted and omitted[-1][1] == part.start:
            omitted[-1] = (omitted[-1][0], part.end)
            marker = _marker(omitted[-1][1] - omitted[-1][0], len(text))
            pieces[-1] = (marker, 0, len(marker))
        else:
            omitted.append((part.start, part.end))
            marker = _marker(part.end - part.start, len(text))
            pieces.append((marker, 0, len(marker)))
    return Condensed(tuple(pieces), sum(end - start for _, start, end in pieces), tuple(omitted))


def _marker(chars: int, of: int) -> str:
    return f"\n<!-- [OMITTED] {chars} of {of} chars -->\n\n"


def _telling(text: str) -> set[str]:
    found = {word for word in _WORD.findall(text.lower()) if len(word) >= _SHORTEST_WORD or not word.isascii()}
    return found - _COMMON


def _ranges(text: str) -> list[tuple[int, int]]:
    """Return half-open ranges that cover the text: paragraphs with their headings and the blank lines after them."""
    found: list[tuple[int, int]] = []
    start = offset = 0
    fence = ""
    ended = heading = False
    for line in text.splitlines(keepends=True):
        blank = line.isspace()
        if ended and not blank and not fence:
            found.append((start, offset))
            start, ended = offset, False
        marks = _FENCE.match(line)
        if marks is not None:
            if not fence:
                fence = marks[1]
            elif marks[1].startswith(fence) and line.strip() == marks[1]:
                fence = ""
        if blank:
            ended = ended or not (heading or fence or offset == start)
        else:
            heading = not fence and line.startswith("#")
        offset += len(line)
    if offset > start:
        found.append((start, offset))
    return found


_RISKS: Final = {"critical": 3, "high": 2, "medium": 1, "low": 0}
_RULES_MARKER: Final = "<!-- [TRUNCATED] {} rules of {} left out, the least important -->\n"
_LEAST_RULES: Final = 8
_MOST_CHARS: Final = 400_000


class RuleCut(NamedTuple):
    """What is left of a text, and the half-open ranges that are not."""

    text: str
    omitted: tuple[tuple[int, int], ...]


@lru_cache(maxsize=16)
def cut_rules(text: str, max_chars: int) -> RuleCut | None:
    """Return Markdown of rules without its least important ones; None where it holds few, or that does not do."""
    if len(text) > _MOST_CHARS:
        return None
    from tipstaff.guidance.compiling.compiler import compile_guidance

    bundle = compile_guidance(text)
    rules = {rule.id: rule for rule in (*bundle.constitution.rules, *(shard.rule for shard in bundle.shards))}.values()
    if len(rules) < _LEAST_RULES:
        return None
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    for rule in rules:
        start = text.rfind("\n", 0, rule.span[0]) + 1
        end = text.find("\n", max(rule.span[1] - 1, start)) + 1 or len(text)
        importance = 9 if rule.risk_class == "critical" else _RISKS[rule.risk_class] + 3 * rule.is_constitution
        known = spans.get((start, end), (0, 0))
        spans[(start, end)] = max(known, (importance, rule.priority))
    # From the end of those that weigh least: what stands first was written first.
    order = sorted(spans, key=lambda span: (spans[span], -span[0]))
    room = max_chars - len(_RULES_MARKER) - 12
    left, gone = len(text), set[tuple[int, int]]()
    critical = [span for span, (importance, _) in spans.items() if importance == 9]
    for span in order:
        if left <= room or spans[span][0] == 9:
            break
        if any(span[0] < end and start < span[1] for start, end in critical):
            continue
        gone.add(span)
        left -= span[1] - span[0]
    if left > room or not gone:
        return None
    pieces: list[str] = []
    at = 0
    for start, end in sorted(gone):
        pieces.append(text[at : max(at, start)])
        at = max(at, end)
    first = min(gone)[0]
    body = "".join((*pieces, text[at:]))
    cut_at = len(text[:first])
    return RuleCut(body[:cut_at] + _RULES_MARKER.format(len(gone), len(spans)) + body[cut_at:], tuple(sorted(gone)))
