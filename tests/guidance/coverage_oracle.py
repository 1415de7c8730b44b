"""An independent reading of Markdown that says which places of a rule file may not be lost.

markdown-it-py finds list items and the words of paragraphs, headings and cells; nothing of the package under test decides
what may not be lost, not even its list of modals.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from markdown_it import MarkdownIt
from markdown_it.token import Token  # noqa: TC002 - tests import plainly

from tipstaff.guidance.extraction.extraction import extract
from tipstaff.guidance.reading.markdown import parse
from tipstaff.model import PolicyBundle

_MODAL = re.compile(
    r"(?<![\w-])(?:must|never|always|should|shall|do\s+not|don['’]?t|cannot|can['’]t|avoid|ensure|make\s+sure|mandatory|"
    r"forbidden|prohibited|required?|only|have\s+to|may\s+not|jamais|niemals|nunca)(?![\w-])|必须|禁止|不要",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?<!`)(`+)(?!`)(?:.(?!\n[ \t]*\n))*?.(?<!`)\1(?!`)", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
_FRONT_MATTER = re.compile(
    r"\A---[ \t]*\n(?:\s*?|(?:[ \t]*(?:#[^\n]*)?\n)*?(?=[\w.-]+[ \t]*:\s).*?)^(?:---|\.\.\.)[ \t]*$",
    re.DOTALL | re.MULTILINE,
)

_TASK_MARK = re.compile(r"\A\[[ xX]\]")
Range = tuple[int, int]


def blank(text: str, pattern: re.Pattern[str]) -> str:
    """Replace what a pattern matches by spaces, line ends kept."""
    return pattern.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def uncovered(text: str, spans: list[Range]) -> list[tuple[str, str]]:
    """Return list items and modals of a text, with the words around them, that are in none of the spans."""
    lost: list[tuple[str, str]] = []
    for kind, start, end in stretches(text):
        if kind == "item":
            found = any((low < end and start < high) or start <= low == high <= end for low, high in spans)
        else:
            found = any(low <= start and end <= high for low, high in spans)
        if not found:
            lost.append((kind, text[max(0, start - 30) : end + 30]))
    return lost


def spans_of_extraction(text: str) -> list[Range]:
    """Return where the rules, their contexts and the diagnostics of a text are, before rules are merged."""
    parsed = parse(text)
    candidates, diagnostics = extract(parsed, "root")
    spans = [parsed.source.span(one.start, one.end) for one in candidates]
    spans.extend(parsed.source.span(*span) for one in candidates for span in one.context)
    spans.extend(one.span for one in diagnostics)
    return spans


def spans_of_bundle(bundle: PolicyBundle, path: str = "root") -> list[Range]:
    """Return the same for a bundle."""
    spans: list[Range] = []
    for rule in bundle.rules():
        if rule.path == path:
            spans.append(rule.span)
            spans.extend(rule.context_spans)
    spans.extend(one.span for one in bundle.diagnostics if one.source == path and one.line > 0)
    return spans


def stretches(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield ``item`` with the range of its first words, and ``modal`` with the range of the word."""
    shift = int(text.startswith("\ufeff"))
    for kind, start, end in _stretches(text[shift:].replace("\r\n", " \n").replace("\r", "\n")):
        yield kind, start + shift, end + shift


def _stretches(text: str) -> Iterator[tuple[str, int, int]]:
    # The reader leaves front matter to its own reader; Markdown alone does not know it.
    body = blank(text, _FRONT_MATTER)
    starts = [0, *(match.end() for match in re.finditer("\n", body)), len(body)]
    tokens = MarkdownIt("commonmark").enable("table").parse(body)

    def lines(token: Token) -> Range:
        assert token.map is not None
        low, high = token.map
        return starts[low], starts[min(high, len(starts) - 1)]

    for index, token in enumerate(tokens):
        if token.type == "list_item_open":
            words = _own_words(tokens, index)
            if words is None:
                if not _holds_blocks(tokens, index):
                    yield ("item", *lines(token))
            elif _TASK_MARK.sub("", blank(words.content, _COMMENT)).strip():
                yield ("item", *lines(words))
        elif token.type == "inline" and token.map is not None and token.content:
            low, high = lines(token)
            raw = blank(blank(body[low:high], _CODE), _COMMENT)
            for match in _MODAL.finditer(raw):
                if re.sub(r"\s+", " ", match[0]) in re.sub(r"\s+", " ", token.content):
                    yield ("modal", low + match.start(), low + match.end())


def _own_words(tokens: list[Token], index: int) -> Token | None:
    """Return the inline token that an item itself begins with, None where it begins with something else."""
    after = tokens[index + 1 : index + 3]
    if len(after) == 2 and after[0].type == "paragraph_open":
        return after[1]
    return None


def _holds_blocks(tokens: list[Token], index: int) -> bool:
    """Whether an item without words of its own holds anything: code, a nested list, HTML."""
    return tokens[index + 1].type != "list_item_close"
