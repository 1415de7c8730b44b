"""How extraction reads headings: sections, rules that a heading opens, and lines that only look like headings."""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import Final

import msgspec

from tipstaff.guidance.extraction.annotations import parse_annotations
from tipstaff.guidance.extraction.candidate import Candidate, Section
from tipstaff.guidance.extraction.grammar import count_words, has_modal, is_demanding_heading
from tipstaff.guidance.extraction.labels import Label, label_of
from tipstaff.guidance.extraction.outline import ExtractionState
from tipstaff.guidance.extraction.patterns import UNFINISHED
from tipstaff.guidance.extraction.rule_ids import split_id
from tipstaff.guidance.extraction.sentences import has_strong_modal
from tipstaff.guidance.reading.constitution_headings import is_constitution_heading, plain_heading
from tipstaff.guidance.reading.elements import Element
from tipstaff.guidance.reading.markdown import Block

_EXPLAINS: Final = re.compile(
    r"\W*(?:why|how|when|what|where|examples?|instead|alternatives?|background|reasons?|exceptions?|fix|see)\b|.*\?\W*$",
    re.IGNORECASE,
)
_ONLY: Final = re.compile(r"[\W_\d]*(?:only|no)\s", re.IGNORECASE)


class HeadingReader(ExtractionState):
    """Keeps the sections that are open."""

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

    def _settle_bold(self) -> None:
        raise NotImplementedError

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
