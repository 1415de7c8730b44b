"""What extraction remembers while it walks through a document: sections, labels, and how words become candidates."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import Final

import msgspec

from tipstaff.guidance.diagnostics import KINDS, find
from tipstaff.guidance.extraction.annotations import parse_annotations
from tipstaff.guidance.extraction.candidate import Candidate, Context, Section
from tipstaff.guidance.extraction.grammar import (
    count_words,
    has_modal,
    has_negation,
    is_demanding_heading,
    says_something,
)
from tipstaff.guidance.extraction.kinds import demands
from tipstaff.guidance.extraction.labels import Label, applied, label_of
from tipstaff.guidance.extraction.patterns import (
    CASE,
    HEADING_MARK,
    IMPORT_LINE,
    LIST_MARKER,
    MAX_GAP_BYTES,
    QUOTE_MARK,
    STEP,
    UNFINISHED,
    closed_emphasis,
    is_title,
    shortened,
    split_id,
)
from tipstaff.guidance.extraction.sentences import describes, directs, has_strong_modal
from tipstaff.guidance.reading.constitution_headings import is_constitution_heading, plain_heading
from tipstaff.guidance.reading.elements import Element
from tipstaff.guidance.reading.markdown import Block, ParsedText
from tipstaff.guidance.wording.word_forms import expressions
from tipstaff.model import Diagnostic, Severity

_EXPRESSIONS: Final = expressions("outline")

MAX_QUOTE_CHARS: Final = 80
_EXPLAINS: Final = re.compile(_EXPRESSIONS["explains"], re.IGNORECASE)
_ONLY: Final = re.compile(r"[\W_\d]*(?:only|no)\s", re.IGNORECASE)


class Outline:
    """A document's blocks, its open sections, what was found so far, and words that later blocks may need."""

    def __init__(self, parsed: ParsedText, source_name: str, *, in_constitution: bool) -> None:
        self._outer = in_constitution
        self.parsed = parsed
        self.source = parsed.source
        self.blocks = parsed.blocks
        self.name = source_name
        self.candidates: list[Candidate] = []
        self.diagnostics: list[Diagnostic] = []
        self._sections: list[Section] = []
        self._heading_labels: list[Label] | None = None  # of the open sections, once somebody asks
        self._heading_path: tuple[str, ...] = ()
        self._closed = False  # a thematic break ended the section's protection
        self._contexts: dict[int, Context] = {}  # by item
        self._open: list[int] = []  # items whose contexts may still be taken up
        self._lead: Context | None = None  # the paragraph that introduces a list
        self._former_lead: Label | None = None  # of the list right above a paragraph
        self._bold: Context | None = None  # a bold line above paragraphs and a list
        self._bold_listed = False
        self._former: tuple[int, str, int, int] | None = None  # the item before: its parent, words and place
        self._led_from = ""  # the marker of the item that introduces the list after it
        self._title = title_of(parsed.blocks)
        self._has_sections = sum(block.kind == "heading" and block.level == 2 for block in parsed.blocks) > 1
        self._table: Block | None = None  # a table's header with a modal that no row took up yet
        self._heading_blocks = [block for block in parsed.blocks if block.kind == "heading"] if parsed.elements else []
        self._heading_starts = [block.start for block in self._heading_blocks]
        self._absorbed: set[int] = set()
        self._quote_labelled = False
        self._open_heading_rule: Candidate | None = None
        self._heading_words: list[str] = []
        self._waiting_id: tuple[str, int, int] | None = None
        self._extras: dict[int, list[Block]] = {}
        self._hidden = sorted([*parsed.comments, *parsed.tags])
        self._hidden_starts = [start for start, _ in self._hidden]
        for block in self.blocks:
            if block.parent >= 0 and block.kind == "paragraph":
                self._extras.setdefault(block.parent, []).append(block)

    def _slice(self, start: int, end: int) -> str:
        return self.source.slice(start, end)

    def _say(
        self,
        code: str,
        start: int,
        end: int,
        message: str = "",
        *,
        rule_id: str | None = None,
        severity: Severity | None = None,
    ) -> None:
        self.diagnostics.append(
            find(
                code,
                self.source.line(start),
                self.name,
                message or self._quoting(code, start, end),
                span=self.source.span(start, end),
                rule_id=rule_id,
                severity=severity,
            )
        )

    def _quoting(self, code: str, start: int, end: int) -> str:
        """Return a kind's summary and the words that it is said of."""
        words = " ".join(self._slice(start, min(end, start + 4 * MAX_QUOTE_CHARS)).split())
        if not words:
            return ""
        quote = words if len(words) <= MAX_QUOTE_CHARS else f"{words[: MAX_QUOTE_CHARS - 1].rstrip()}…"
        return f"{KINDS[code].summary} “{quote}”"

    def _say_alone(self, start: int, end: int, *, rule_id: str | None = None, message: str = "") -> None:
        """Report words that end with a colon and that nothing took up.

        It is a warning only where they command something and nothing at all can be what they announce: what follows is
        the end of the section or the next item of the same list. Code, a quotation or a subheading that is not indented
        is what was announced, as every reader sees.
        """
        words = self._slice(start, end)
        open_end = words.rstrip(" \t\n*_").endswith((":", "："))
        severity = None if open_end and has_modal(words) and self._ends_after(start, end) else Severity.INFO
        self._say("TS205", start, end, message, rule_id=rule_id, severity=severity)

    def _ends_after(self, start: int, end: int) -> bool:
        """Whether the section ends behind some words, or the next item of the list that they are an item of begins."""
        head = self.source.line_start(start)
        marker = LIST_MARKER.match(self._slice(head, end))
        rest = self._slice(end, min(end + MAX_GAP_BYTES, len(self.source.data)))
        line = next((line for line in rest.split("\n") if line.strip(" \t\r*_:：")), "")
        if not line.strip():
            return True
        if (heading := HEADING_MARK.match(line)) is not None:
            section = self._sections[-1] if self._sections else None
            return section is not None and len(heading[1]) <= section.level
        if marker is None:
            return False
        following = LIST_MARKER.match(line)
        return following is not None and following[1] == marker[1] and following[2][:1] == marker[2][:1]

    def _own_text(self, block: Block) -> str:
        text = self.source.slice(block.start, block.end)
        if self._hidden:
            text = self._without_hidden(text, block)
        if "\n" in text and (block.quoted or (">" in text and self._begins_quoted(block))):
            head, _, tail = text.partition("\n")
            text = head + "\n" + QUOTE_MARK.sub(lambda match: " " * len(match[0]), tail)
        if "@" in text and "\n" in text:  # an import on a line of its own belongs to no sentence
            text = IMPORT_LINE.sub(lambda match: " " * len(match[0]), text)
        return text

    def _begins_quoted(self, block: Block) -> bool:
        """Whether an item's own words are a quotation ("- > [!NOTE]"), whose marks are on each line."""
        return ">" in self._slice(self.source.line_start(block.start), block.start)

    def _without_hidden(self, text: str, block: Block) -> str:
        """Blank the HTML comments and tags among a block's words; the text keeps its width in bytes."""
        first = bisect_left(self._hidden_starts, block.start)
        last = bisect_left(self._hidden_starts, block.end)
        if first and self._hidden[first - 1][1] > block.start:
            first -= 1
        if first == last:
            return text
        data = bytearray(text.encode("utf-8", "replace"))
        for start, end in self._hidden[first:last]:
            low, high = max(0, start - block.start), min(end, block.end) - block.start
            data[low:high] = b"".join(b"\n" if byte == 10 else b" " for byte in data[low:high])
        return data.decode("utf-8", "replace")

    # -- words that others need ---------------------------------------------------------------------------------------
    def _settle_item(self, index: int) -> None:
        """Report a label that nothing below it continues."""
        context = self._contexts[index]
        if context.introduces and not context.label.used:
            self._say_alone(context.label.start, context.label.end)
        elif context.introduces:
            self._add_introduction(context, self.blocks[index].parent)

    def _settle_lead(self) -> None:
        context, self._lead = self._lead, None
        self._former_lead = context.label if context is not None and context.label.used else None
        if context is not None and (context.modal or context.item) and not context.label.used:
            self._say_alone(context.label.start, context.label.end)
        elif context is not None and context.introduces:
            self._add_introduction(context, -1)

    def _add_introduction(self, context: Context, parent: int) -> None:
        """Make a rule of a command that introduces descriptions alone ("Run `make` after a change; it writes:")."""
        label = context.label
        if label.used and not label.ruled and directs(context.words):
            self._add(context.words, label.start, label.end, labels=self._labels(parent, item=True), item=True)

    def _settle_table(self) -> None:
        header, self._table = self._table, None
        if header is not None:
            message = "A table's header announces rules and no row has one."
            self._say_alone(header.start, header.end, message=message)

    def _context(self, words: str, start: int, end: int, *, introduces: bool = True) -> Context:
        first, _, further = words.partition("\n")
        if further and first.rstrip().endswith((":", "：")):
            words = first  # "a. ..." on the next line is no list, and what follows it is beside it
        text = shortened(words)
        label = label_of(text, start, end)
        return Context(label, words, has_modal(words) or has_negation(words), introduces)

    def _above(self, parent: int, *, led: bool) -> list[Context]:
        """Return the contexts of what is nested in an item, or introduced by the paragraph before, outermost first."""
        found: list[Context] = []
        while parent >= 0:
            if (context := self._contexts.get(parent)) is not None:
                found.append(context)
            parent = self.blocks[parent].parent
        if led and self._lead is not None:
            found.append(self._lead)
        if self._bold is not None:
            found.append(self._bold)
        return found[::-1]

    def _open_section(self, section: Section) -> None:
        self._sections.append(section)
        self._sections_changed()

    def _end_section(self) -> None:
        """Close the innermost section."""
        self._read_title(self._sections[-1])
        self._sections.pop()
        self._sections_changed()

    def _sections_changed(self) -> None:
        self._heading_labels = None
        self._heading_path = tuple([one.text for one in self._sections if one.block is not self._title])

    def _headings(self) -> list[Label]:
        """Return the open headings, the outermost first; the document's title only if it decides what is below it."""
        if self._heading_labels is not None:
            return self._heading_labels
        found: list[Label] = []
        for position, section in enumerate(self._sections):
            label = section.label
            if section.block is not self._title or label.deciding:
                found.append(label)
            if section.lead is not None and self._leads(section, self._sections[position + 1 : position + 2]):
                found.append(section.lead)
        self._heading_labels = found
        return found

    @staticmethod
    def _leads(section: Section, inner: Sequence[Section]) -> bool:
        """Whether the sentence above a section's sections introduces the open one: the first, a step, or any there is.

        A case ("In production:") and a duty hold for all sections, other sentences for what follows them.
        """
        lead = section.lead
        if lead is None or section.inner <= 1 or lead.deciding or has_modal(lead.text) or CASE.match(lead.text):
            return lead is not None
        return any(STEP.match(one.text) is not None for one in inner)

    # -- candidates -------------------------------------------------------------------------------------------------
    def _add(
        self,
        raw: str,
        start: int,
        end: int,
        *,
        rule_id: str | None = None,
        context: list[tuple[int, int]] | None = None,
        labels: Sequence[Label] = (),
        item: bool = False,
        row: bool = False,
    ) -> Candidate | None:
        """Make a candidate of words, read with the labels above them.

        Parameters
        ----------
        raw
            The words, annotations included.
        start, end
            Their byte range.
        rule_id
            As written.
        context
            Ranges of words that continue it.
        labels
            All above it, the outermost first.
        item
            Whether it is a list item or a table's row, which may say less than a sentence.
        row
            Whether it is a table's row.
        """
        annotations = parse_annotations(raw)
        words = closed_emphasis(annotations.text)
        for code, message in annotations.problems:
            self._say(code, start, end, message, rule_id=rule_id)
        if not words or (rule_id is None and not (words[0].isalnum() or any(map(str.isalnum, words)))):
            annotated = rule_id is not None or len(words) < len(raw.strip())
            # "Risk: low" alone may be a line of a form as well.
            severity = Severity.INFO if rule_id is None else None
            self._say("TS307" if annotated else "TS209", start, end, rule_id=rule_id, severity=severity)
            return None
        spans = list(context) if context is not None else []
        section = self._sections[-1] if self._sections else None
        kept = applied(labels, words)
        spans.extend([(label.start, label.end) for label in labels if not label.topic or label in kept])
        text = ": ".join([*[label.text for label in kept], words]) if kept else words
        is_rule = rule_id is not None or (
            demands(words, labels, self._headings(), row=row) if item else not describes(words)
        )
        in_constitution = section.constitution if section is not None else self._outer
        candidate = Candidate(
            text,
            rule_id,
            annotations,
            start,
            end,
            spans,
            section.text if section is not None else "",
            is_rule and in_constitution and not self._closed,
            self._heading_path,
            len(text) - len(words),
            is_rule,
        )
        self.candidates.append(candidate)
        for label in labels:
            label.used = True
            label.ruled = label.ruled or is_rule
        return candidate

    def _heading(self, block: Block) -> None:
        if block.quoted:
            text = self._own_text(block)
            if has_modal(text):
                if count_words(text) > 2:
                    self._add(text, block.start, block.end)
                else:
                    self._say("TS207", block.start, block.end)
            return
        self._closed = False
        self._former = None
        self._settle_bold()
        self._close_sections(block.level)
        text = self._own_text(block)
        rule_id, words = split_id(text)
        inherited = self._sections[-1].constitution if self._sections else self._outer
        if self._sections:
            self._sections[-1].inner += 1
            self._sections_changed()
        # The title of a document with sections names the whole; what must always be known has a section of its own.
        names_all = block is self._title and rule_id is None and self._has_sections
        constitution = inherited or (not names_all and is_constitution_heading(words if rule_id else text))
        title = plain_heading(words)
        label = label_of(title.rstrip(":： "), block.start, block.end, topic=True)
        section = Section(block.level, title, constitution, block, label, len(self.candidates))
        self._open_section(section)
        if rule_id is not None:
            if words.strip():
                self._open_heading_rule = self._add(words, block.start, block.end, rule_id=rule_id)
            else:
                self._waiting_id = (rule_id, block.start, block.end)

    def _open_element(self, element: Element) -> None:
        """Open a section for an element of the file's own; no heading within it ends it."""
        title = element.name
        self._leave_sections(element)
        constitution = (self._sections[-1].constitution if self._sections else self._outer) or is_constitution_heading(
            title
        )
        self._closed = False
        block = Block("heading", element.start, element.end)
        label = label_of(title, element.start, element.end, topic=True)
        label.telling = False
        self._open_section(Section(0, title, constitution, block, label, len(self.candidates)))

    def _leave_sections(self, element: Element) -> None:
        """Close the headings that an element is not part of: where elements come first, or one of its own ends them."""
        if not self._heading_starts:
            return
        within = any(section.level == 0 for section in self._sections)
        at = bisect_left(self._heading_starts, element.end)
        inner = self._heading_blocks[at] if at < len(self._heading_blocks) else None
        level = inner.level if inner is not None and inner.start < element.until else 7
        if not within and self.parsed.elements[0].start < self._heading_starts[0]:
            level = 1
        while self._sections and self._sections[-1].level >= level and self._sections[-1].block is not self._title:
            self._end_section()

    def _close_element(self, element: Element) -> None:
        """Close an element's section and those within it."""
        positions = [n for n, section in enumerate(self._sections) if section.block.start == element.start]
        while positions and len(self._sections) > positions[-1]:
            self._end_section()

    def _labels(self, parent: int, *, item: bool, explicit: bool = False, whole: bool = False) -> list[Label]:
        """Return the labels above an item of a parent."""
        above = self._above(parent, led=item)
        headings = self._headings()
        if explicit or not (item or whole):
            headings = [one for one in headings if one.deciding or not one.topic]
        return [*headings, *[context.label for context in above]]

    def _close_heading_rule(self) -> None:
        """End the rule that a heading with an id opened: what follows is not its text."""
        if self._waiting_id is not None:
            rule_id, start, end = self._waiting_id
            self._say("TS307", start, end, rule_id=rule_id)
            self._waiting_id = None
        candidate, self._open_heading_rule = self._open_heading_rule, None
        if candidate is not None and self._heading_words:
            candidate.text = " ".join([candidate.text, *self._heading_words]).strip()
            self._heading_words = []

    def _bad_heading(self, text: str, start: int, end: int) -> None:
        """Open a plain section for a line that only looks like a heading."""
        self._say("TS201", start, end)
        self._line_heading(text.strip().lstrip("#"), start, end)

    def _line_heading(self, words: str, start: int, end: int) -> None:
        """Open a plain section for a line that stands for a heading."""
        self._settle_lead()
        self._close_heading_rule()
        self._former = None
        self._close_sections(0)
        self._closed = False
        title = plain_heading(words)
        block = Block("heading", start, end, level=1)
        label = label_of(title.rstrip(":： "), start, end, topic=True)
        self._open_section(Section(7, title, False, block, label, len(self.candidates)))

    def _close_sections(self, level: int) -> None:
        """Close every open section at or below a level."""
        while self._sections and (level == 0 or self._sections[-1].level >= level):
            self._end_section()

    def _read_title(self, section: Section) -> None:
        """Make a rule of the heading of the innermost section if it is one, or what one around it forbids."""
        block = section.block
        text = self._slice(block.start, block.end) if block.level else section.text
        has_rules = len(self.candidates) > section.first_rule
        if has_modal(text):
            if has_rules and not self._is_rule(section):
                context = self.candidates[section.first_rule].context
                if (block.start, block.end) not in context:
                    context.append((block.start, block.end))
                return
            if self._says_it_all(section.text):
                self._add(text.lstrip("# "), block.start, block.end)
                return
            if not has_rules:
                self._say_alone(block.start, block.end, message="A heading announces rules and none follow.")
        elif not has_rules and self._names_what_is_forbidden(section):
            labels = [label for label in self._headings() if label is not section.label]
            self._add(section.text, block.start, block.end, labels=labels)

    def _names_what_is_forbidden(self, section: Section) -> bool:
        """Whether a heading above code only says what one around it forbids ("Never" / "Nested ternaries")."""
        if len(self._sections) < 2 or count_words(section.text) < 2 or _EXPLAINS.match(section.text) is not None:
            return False
        above, own = self._sections[-2].label, section.label
        return above.negative and not own.negative and not own.verdict

    @staticmethod
    def _is_rule(section: Section) -> bool:
        """Whether a heading above rules is one as well: a bare "Never" is not, its words go to the rules below."""
        title = section.text
        return not section.label.negative and is_demanding_heading(title) and UNFINISHED.search(title) is None

    @staticmethod
    def _says_it_all(title: str) -> bool:
        """Whether a heading without rules below it is one; "Unit Tests Only" and "Never do this" announce code."""
        if count_words(title) <= 2 or title.endswith(":") or UNFINISHED.search(title) is not None:
            return False
        return is_demanding_heading(title) or has_strong_modal(title) or _ONLY.match(title) is not None

    def _extend(self, candidate: Candidate, text: str, block: Block) -> None:
        """Join a paragraph to the rule that a heading with an id opened."""
        more = parse_annotations(text)
        old = candidate.annotations = msgspec.structs.replace(candidate.annotations)
        self._heading_words.append(more.text)
        for code, message in more.problems:
            self._say(code, block.start, block.end, message, rule_id=candidate.rule_id)
        for field in ("tool_classes", "intents", "domains", "scopes", "verifiers"):
            if found := getattr(more, field):
                setattr(old, field, tuple(dict.fromkeys((*getattr(old, field), *found))))
        for field in ("risk_class", "priority", "active_from", "active_until"):
            if getattr(old, field) is None:
                setattr(old, field, getattr(more, field))
        candidate.context.append((block.start, block.end))

    def _settle_bold(self) -> None:
        """Make a rule of a bold line that says what to do and that nothing took up."""
        context, self._bold = self._bold, None
        if context is None or context.label.used:
            return
        if context.modal or directs(context.words):
            words = context.words
            open_end = words.rstrip("*_ \n").endswith((":", "：")) and not has_strong_modal(words)
            if not open_end and (says_something(words) or not is_title(words)):
                label = context.label
                self._add(context.words, label.start, label.end, labels=self._labels(-1, item=False))
            elif context.modal:
                self._say_alone(context.label.start, context.label.end)


def title_of(blocks: Sequence[Block]) -> Block | None:
    """Return the heading that names the document: the only one of level 1, where it comes first."""
    headings = [block for block in blocks if block.kind == "heading" and not block.quoted]
    if headings and headings[0].level == 1 and all(block.level > 1 for block in headings[1:]):
        return headings[0]
    return None
