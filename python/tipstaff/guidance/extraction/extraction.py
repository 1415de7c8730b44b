"""Which words of a document are a rule, and why the others are none.

The promise kept here: every list item, and every sentence with a modal, ends as a rule, as part of a rule (its
`context`), or as a diagnostic that says why it is no rule.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

from tipstaff.guidance.extraction.candidate import Candidate, Context
from tipstaff.guidance.extraction.grammar import (
    count_words,
    has_modal,
    has_negation,
    is_condition,
    is_demanding_heading,
    opens_with_imperative,
    refers_back,
    says_something,
    sentences,
    starts_with_pronoun,
)
from tipstaff.guidance.extraction.kinds import FORM
from tipstaff.guidance.extraction.labels import Label, names_column
from tipstaff.guidance.extraction.outline import Outline
from tipstaff.guidance.extraction.patterns import (
    ALERT,
    ANNOUNCES,
    MAX_CONTEXT_CHARS,
    MAX_LABEL_CHARS,
    NAMED,
    NEW_LABEL,
    NO_WORDS,
    QUOTE_LABEL,
    QUOTE_MARK,
    RUN_IN,
    SEPARATOR,
    bad_headings,
    ends_open_with_colon,
    is_bold_line,
    is_label,
    looks_like_id,
    split_id,
    take_id,
    tells_what_happens,
)
from tipstaff.guidance.extraction.polarity import decides
from tipstaff.guidance.extraction.sentences import (
    commands_elsewhere,
    directs,
    has_strong_modal,
    is_exception,
    rules_out,
)
from tipstaff.guidance.reading.elements import Element
from tipstaff.guidance.reading.markdown import Block, ParsedText
from tipstaff.guidance.wording.word_forms import expressions
from tipstaff.model import Diagnostic

_EXPRESSIONS: Final = expressions("extraction")

_NAMES_CODE: Final = re.compile(_EXPRESSIONS["names_code"], re.IGNORECASE)
"""A sentence whose object is the code right below it."""
_WITHOUT_OBJECT: Final = re.compile(_EXPRESSIONS["without_object"], re.IGNORECASE)
"""Bold words that demand and do not say what, so that the sentence after them does ("**Final step, do not skip.**")."""


def _opens(words: str) -> bool:
    return words.rstrip("*_ ").endswith((":", "："))


MAX_TITLE_WORDS: Final = 7
"""Of a numbered item that may be a title."""


def extract(
    parsed: ParsedText, source_name: str, *, in_constitution: bool = False
) -> tuple[list[Candidate], list[Diagnostic]]:
    """Find the rules of a document.

    Parameters
    ----------
    parsed
        The document's blocks.
    source_name
        What diagnostics call the file.
    in_constitution
        Whether the whole document is below a constitution heading of the file that imports it.

    Returns
    -------
    tuple
        The candidates in document order, and a diagnostic for each list item or modal sentence that is no rule.
    """
    extractor = _Extractor(parsed, source_name, in_constitution=in_constitution)
    extractor.run()
    return extractor.candidates, extractor.diagnostics


class _Extractor(Outline):
    """Walks through the blocks: paragraphs sentence by sentence, items, and the rows of tables."""

    def _paragraph(self, index: int, block: Block) -> None:
        text = self._own_text(block)
        if block.quoted and QUOTE_LABEL.match(text):
            self._quote_labelled = True
        if "#" in text and (bad := bad_headings(text)):
            self._around_bad_headings(text, block, index, bad)
            return
        if text.startswith("===") and (separator := SEPARATOR.fullmatch(text.rstrip())) is not None:
            self._line_heading(separator["words"], block.start, block.end)
            return
        if self._waiting_id is not None and not block.quoted:
            rule_id, start, end = self._waiting_id
            self._waiting_id = None
            self._open_heading_rule = self._add(text, block.start, block.end, rule_id=rule_id, context=[(start, end)])
            return
        if self._open_heading_rule is not None and not block.quoted and not self._has_id_line(text):
            self._extend(self._open_heading_rule, text, block)
            return
        self._close_heading_rule()
        self._sentences(text, block.start, index, block)

    def _around_bad_headings(self, text: str, block: Block, index: int, bad: list[tuple[int, int]]) -> None:
        """Read the words before, between and after lines that only look like headings."""
        at, here = 0, block.start
        for low, high in bad:
            before, line = text[at:low], text[low:high]
            middle = here + len(before.encode("utf-8", "replace"))
            end = middle + len(line.encode("utf-8", "replace"))
            if before.strip():
                self._close_heading_rule()
                self._sentences(before, here, -1, Block("paragraph", here, middle, quoted=block.quoted))
            self._bad_heading(line, middle, end)
            at, here = high, end
        if (after := text[at:]).strip():
            rest = Block("paragraph", here, block.end, quoted=block.quoted, code=block.code)
            self._sentences(after, here, index, rest)

    def _has_id_line(self, text: str) -> bool:
        return any(looks_like_id(line.strip()) for line in text.split("\n"))

    def _sentences(self, text: str, start: int, index: int, block: Block) -> None:
        """Make a rule of each sentence with a modal, and of each line with an explicit id."""
        if self._has_id_line(text):
            self._id_lines(text, start, block)
            return
        listed = self._list_follows(index)
        if index >= 0 and is_bold_line(text):
            self._settle_bold()
            self._bold = self._context(text, start, start + len(text.encode("utf-8", "replace")))
            self._bold.words = self._with_code(text, block) if block.code != (0, 0) else text
            self._bold_listed = False
            return
        if self._bold_listed or (self._bold is not None and RUN_IN.match(text) is not None):
            self._settle_bold()
        ascii_text = text.isascii()
        ranges = sentences(text)
        previous: tuple[int, int, str] | None = None
        rule: tuple[int, int, str] | None = None
        added: Candidate | None = None
        labels = self._labels(-1, item=False)
        if self._sections and self._sections[-1].listed:
            # "Do not", "Ask first" and their like are said of the list; "Use x instead." after it is said for itself.
            labels = [label for label in labels if not (label.topic and label.verdict)]
        outer = labels
        forbidden = False
        leads: list[Label] = []
        at, here = 0, start  # the same place in code points and in bytes
        for position, (low, high) in enumerate(ranges):
            words = text[low:high]
            head = here + (low - at if ascii_text else len(text[at:low].encode("utf-8", "replace")))
            tail = head + (high - low if ascii_text else len(words.encode("utf-8", "replace")))
            at, here = high, tail
            earlier, previous = previous, (head, tail, words)
            if block.quoted:
                words = ALERT.sub("", words)
            last = position == len(ranges) - 1
            colon = last and words.rstrip("*_ ").endswith((":", "："))
            bare = colon and not listed and not block.quoted and block.code == (0, 0)
            if bare and self._sections and (level := self._heading_follows(index)):
                section = self._sections[-1]
                if level > section.level:
                    section.lead = self._context(words, head, tail).label
                    self._sections_changed()
            if last and listed and (colon or self._introduces(words, tail, index)):
                self._settle_lead()
                self._led_from = ""
                self._lead = self._context(self._run_in(ranges, text, words), head, tail, introduces=colon)
                if colon:
                    continue
            elif last and listed and (name := self._name(text)):
                self._settle_lead()
                self._led_from = ""
                self._lead = self._context(name, start, tail)
            if words.startswith("~~") and words.rstrip(".!").find("~~", 2) == len(words.rstrip(".!")) - 2:
                if has_modal(words):
                    self._say("TS206", head, tail)
            elif not last and _WITHOUT_OBJECT.fullmatch(words.strip()):
                labels = [*outer, self._context(words.strip("*_.! "), head, tail).label]
                leads.append(labels[-1])
            elif not last and _opens(words) and (lead := self._context(words, head, tail).label).deciding:
                labels = [*outer, lead]  # "Don't:" on a line above others
                leads.append(lead)
                forbidden = lead.negative
            elif not (
                has_modal(words)
                or directs(words)
                or is_exception(words)
                or forbidden
                or rules_out(words)
                or FORM.match(words)
                or commands_elsewhere(words)
            ):
                continue
            elif added is not None and rule == earlier and starts_with_pronoun(words) and not self._demands_more(words):
                added.context.append((head, tail))  # "It runs only those." says why
            elif colon:
                if block.code != (0, 0):
                    self._add(self._with_code(words, block), head, tail, labels=labels)
                elif has_modal(words):
                    self._say_alone(head, tail)
            else:
                context: list[tuple[int, int]] = []
                if starts_with_pronoun(words):
                    for other in (rule, earlier):
                        if other is not None and len(other[2]) <= MAX_LABEL_CHARS:
                            words = f"{other[2]} {words}"
                            context.append(other[:2])
                            break
                    else:
                        if position == 0 and self._former_lead is not None:
                            words = f"{self._former_lead.text}: {words}"
                            context.append((self._former_lead.start, self._former_lead.end))
                above = self._labels(-1, item=False, whole=True) if is_exception(words) and not context else labels
                if last and block.code != (0, 0) and _NAMES_CODE.search(words) is not None:
                    words = self._with_code(words, block)
                added = self._add(words, head, tail, context=context, labels=above)
                rule = previous if has_modal(words) else rule
        for lead in leads:
            if not lead.used and has_modal(lead.text):
                self._say_alone(lead.start, lead.end)

    @staticmethod
    def _run_in(ranges: Sequence[tuple[int, int]], text: str, words: str) -> str:
        """Put the bold words with which a paragraph opens before its last sentence."""
        if len(ranges) > 1 and (opening := RUN_IN.match(text, ranges[0][0])) is not None:
            return f"{opening['words'].strip().rstrip('.:')}: {words}"
        return words

    @staticmethod
    def _demands_more(words: str) -> bool:
        """Whether a sentence about the rule before it is one as well, and does not only describe."""
        return has_strong_modal(words) or directs(words) or is_exception(words)

    @staticmethod
    def _name(text: str) -> str:
        """Return the bold words with which a paragraph that only describes opens: they name what its list is about."""
        if not text.startswith(("**", "__")) or (opening := NAMED.match(text)) is None:
            return ""
        return "" if has_modal(text) or directs(text) else opening["words"]

    def _heading_follows(self, index: int) -> int:
        """Return the level of the heading that follows a paragraph, 0 for anything else."""
        follower = self._follower(index)
        return follower.level if follower is not None and follower.kind == "heading" else 0

    def _follower(self, index: int) -> Block | None:
        return next((one for one in islice(self.blocks, index + 1, None) if one.kind != "comment"), None)

    def _introduces(self, words: str, end: int, index: int) -> bool:
        """Whether a sentence without a colon before a list says when the list holds, or has it on the next line."""
        if index < 0 or len(words) > MAX_LABEL_CHARS:
            return False
        follower = self._follower(index)
        if follower is None or follower.kind != "item":
            return False
        between = self._slice(end, follower.start)
        tight = "\n\n" not in between.replace(" ", "") and words.rstrip("*_ ").endswith((".", "。"))
        return tight or ANNOUNCES.search(words) is not None or (is_condition(words) and not tells_what_happens(words))

    def _id_lines(self, text: str, start: int, block: Block) -> None:
        """Split a paragraph at the lines that begin with an explicit id."""
        pieces: list[list[str]] = []
        for line in text.split("\n"):
            if not pieces or looks_like_id(line.strip()):
                pieces.append([])
            pieces[-1].append(line)
        head = start
        for lines in pieces:
            piece = "\n".join(lines)
            tail = head + len(piece.encode("utf-8", "replace"))
            rule_id, words = take_id(piece.strip())
            if rule_id is None:
                self._sentences(piece, head, -1, Block("paragraph", head, tail, quoted=block.quoted))
            elif lines is pieces[-1] and words.rstrip("*_ ").endswith((":", "：")) and block.code != (0, 0):
                self._add(self._with_code(words, block), head, tail, rule_id=rule_id)
            else:
                self._add(words, head, tail, rule_id=rule_id)
            head = tail + 1

    def _list_follows(self, index: int) -> bool:
        if index < 0:
            return False
        follower = self._follower(index)
        return follower is not None and follower.kind in {"item", "row"}

    def _with_code(self, words: str, block: Block) -> str:
        """Finish a sentence that ends with a colon by the short code block that it introduces."""
        lines = self._slice(*block.code).strip().split("\n")
        if lines and lines[0].lstrip(" >").startswith(("```", "~~~")):
            lines = lines[1:-1] if len(lines) > 1 and lines[-1].strip(" >")[:3] in {"```", "~~~"} else lines[1:]
        if block.quoted:
            lines = [QUOTE_MARK.sub("", line) for line in lines]
        commands = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
        if not commands or len(commands) > 3 or sum(map(len, commands)) > MAX_CONTEXT_CHARS:
            return words
        return f"{words.rstrip()} " + " ".join(f"`{command}`" for command in commands if "`" not in command)

    def _item(self, index: int, block: Block) -> None:
        if block.parent < 0:
            self._bold_listed = True
            if self._sections:
                self._sections[-1].listed = True
        if block.parent < 0 and self._lead is not None and not self._lead.item and self._lead_ended(index):
            self._settle_lead()
        raw = self._own_text(block)
        if "\n" in raw and raw.endswith((":", ":**")) and (low := self._unindented_label(index, block, raw)):
            middle = block.start + len(raw[:low].encode("utf-8", "replace"))
            self._item_words(index, block, raw[:low], block.start, middle)
            self._settle_lead()
            self._lead = self._context(raw[low:], middle, block.end)
            return
        if "\n" not in raw or "#" not in raw or not (bad := bad_headings(raw)):
            self._item_words(index, block, raw, block.start, block.end)
            return
        low = bad[0][0]
        middle = block.start + len(raw[:low].encode("utf-8", "replace"))
        self._item_words(index, block, raw[:low], block.start, middle)
        rest = Block("paragraph", middle, block.end, quoted=block.quoted)
        self._around_bad_headings(raw[low:], rest, -1, [(start - low, end - low) for start, end in bad])

    def _unindented_label(self, index: int, block: Block, raw: str) -> int:
        """Return where a label without indentation begins that ends an item's words and names the items after it."""
        at = raw.rfind("\n") + 1
        if block.children or block.parent >= 0 or block.code != (0, 0) or NEW_LABEL.fullmatch(raw, at) is None:
            return 0
        follower = self._follower(index)
        return at if follower is not None and follower.kind == "item" and follower.parent == block.parent else 0

    def _lead_ended(self, index: int) -> bool:
        """Whether a table, or a list of steps, is between the sentence that introduces a list and this item."""
        before = next(
            (block for block in reversed(self.blocks[max(0, index - 8) : index]) if block.kind != "comment"), None
        )
        return before is not None and (before.kind == "row" or (before.kind == "item" and self._after_steps(index)))

    def _after_steps(self, index: int) -> bool:
        """Whether a list of bullets begins, apart and for good, after the steps of a numbered one."""
        block = self.blocks[index]
        head = self.source.line_start(block.start)
        if self._marker(block) == "0" or not self._slice(max(0, head - 2), head).endswith("\n\n"):
            return False
        former = next((self.blocks[at] for at in range(index - 1, -1, -1) if self.blocks[at].parent < 0), block)
        if former.kind != "item" or self._marker(former) != "0":
            return False
        for at in range(index + 1, len(self.blocks)):
            later = self.blocks[at]
            if later.parent < 0 and later.kind != "comment":
                if later.kind != "item":
                    break
                if self._marker(later) == "0":
                    return False
        return True

    def _item_words(self, index: int, block: Block, raw: str, start: int, end: int) -> None:
        stripped = raw.strip()
        extras = self._extras.get(index, ())
        if not stripped:
            if block.children == 0 and not extras and block.code == (0, 0):
                self._say("TS209", start, end)
            return
        if block.struck:
            self._say("TS206", start, end)
            return
        if block.quoted and not (self._quote_labelled or self._introduced_quote()):
            self._say("TS207", start, end)
            return
        rule_id, words = take_id(stripped)
        if not words.strip():
            self._say("TS307", start, end, rule_id=rule_id)
            return
        ends_open = ends_open_with_colon(words)
        names = ends_open or self._stands_for_heading(words, index)
        led = rule_id is None and names and not block.children and self._leads_next_list(index, block)
        if rule_id is not None and ends_open and block.children:
            self._absorb(index, words, start, end, rule_id)
            return
        bare = block.children > 0 and has_modal(words) and not says_something(words)
        own: Context | None = None
        if block.children or led:
            introduces = rule_id is None and (ends_open or bare or is_label(words))
            own = self._contexts[index] = self._context(words, start, end, introduces=introduces)
        if self._led_from and self._marker(block) == self._led_from:
            self._settle_lead()
            self._led_from = ""
        if led and own is not None and block.parent < 0:
            self._settle_lead()
            own.item = True
            self._lead = own
            self._led_from = self._marker(block)
            return
        if own is not None and own.introduces:
            self._open.append(index)
            for extra in extras:
                self._extra(extra, index)
            return
        if ends_open:
            if block.code != (0, 0):
                words = self._with_code(words, block)
            elif not extras:
                self._say_alone(start, end, rule_id=rule_id)
                if rule_id is None and not says_something(words) and not directs(words):
                    return
        labels = self._labels(block.parent, item=True, explicit=rule_id is not None)
        if rule_id is None and len(labels) == 0 and not NO_WORDS.sub("", words):
            self._say("TS210", start, end)
            return
        if (before := self._former) is not None and before[0] == block.parent and refers_back(words):
            labels.append(self._context(*before[1:]).label)
        self._former = (block.parent, words, start, end)
        parts: list[str] = [words]
        spans: list[tuple[int, int]] = []
        apart: list[Block] = []
        for extra in extras:
            text = self._own_text(extra).strip()
            if has_modal(text):
                apart.append(extra)
            else:
                if ends_open_with_colon(text):
                    if extra.code == (0, 0):
                        continue
                    text = self._with_code(text, extra)
                parts.append(text)
                spans.append((extra.start, extra.end))
        self._add("\n".join(parts), start, end, rule_id=rule_id, labels=labels, context=spans, item=True)
        if apart:
            self._contexts[index] = own or self._context(words, start, end, introduces=False)
            for extra in apart:
                self._extra(extra, index)

    def _introduced_quote(self) -> bool:
        """Whether words right above a quotation say what is to be done, or not to be done, with what it lists."""
        above = [context.label for context in self._above(-1, led=True)]
        return any(label.deciding for label in (*above, *self._headings()[-1:]))

    def _stands_for_heading(self, words: str, index: int) -> bool:
        """Whether a numbered item apart from others is a title, so that a list of bullets after it is below it."""
        if self._marker(self.blocks[index]) != "0" or words.rstrip("*_ ")[-1:] in {"", *".!?。！？"}:
            return False
        former = self.blocks[index - 1] if index else None
        if former is not None and former.kind == "item" and self._marker(former) == "0":
            return False
        if count_words(words) > MAX_TITLE_WORDS or directs(words) or is_demanding_heading(words):
            return False
        below = self._follower(index)
        return not has_modal(words) or (below is not None and not has_modal(self._own_text(below)))

    def _leads_next_list(self, index: int, block: Block) -> bool:
        """Whether an item that ends with a colon introduces the list after it, which is not indented."""
        follower = self._follower(index)
        if follower is None or follower.kind != "item" or follower.parent != block.parent:
            return False
        return self._marker(follower) != self._marker(block)

    def _marker(self, block: Block) -> str:
        """Return the kind of an item's marker: ``-``, ``*``, ``+``, or a digit for any number."""
        line = self.source.line_start(block.start)
        marker = self._slice(line, block.end).lstrip(" \t>")[:1]
        return "0" if marker.isdigit() else marker

    def _extra(self, block: Block, index: int) -> None:
        """Make a rule of a paragraph below an item's first one, read with that item."""
        text = self._own_text(block)
        if has_modal(text):
            if ends_open_with_colon(text.strip()) and block.code != (0, 0):
                text = self._with_code(text, block)
            above = self.blocks[index].parent if is_condition(text) else index  # another case holds beside the item's
            self._add(text, block.start, block.end, labels=self._labels(above, item=True), item=True)

    def _absorb(self, index: int, words: str, start: int, end: int, rule_id: str) -> None:
        """Make one rule of an item with an id that introduces others, and those others."""
        parts: list[str] = []
        spans: list[tuple[int, int]] = []
        below = {index}
        for later in range(index + 1, len(self.blocks)):
            block = self.blocks[later]
            if block.parent < index:
                break
            if block.parent not in below or block.kind not in {"item", "paragraph"}:
                continue
            text = " ".join(self._own_text(block).split())
            if block.kind == "item":
                if looks_like_id(text):
                    continue  # a rule of its own
                below.add(later)
                self._absorbed.add(later)
            if text:
                parts.append(text)
                spans.append((block.start, block.end))
        self._add(f"{words.rstrip()} {'; '.join(parts)}", start, end, rule_id=rule_id, context=spans)

    def run(self) -> None:
        if self.parsed.unclosed_fence >= 0:
            self._say("TS108", self.parsed.unclosed_fence, self.parsed.unclosed_fence)
        for start, end in self.parsed.comments:
            if has_modal(self._slice(start, end)):
                self._say("TS202", start, end)
        bounds = self._element_bounds()
        for index, block in enumerate(self.blocks):
            while bounds and bounds[-1][0] <= block.start:
                self._element(*bounds.pop())
            kind = block.kind
            if kind == "comment":
                if has_modal(self._slice(block.start, block.end)):
                    self._say("TS202", block.start, block.end)
                continue
            if not block.quoted:
                self._quote_labelled = False
            while self._open and block.parent < self._open[-1]:
                self._settle_item(self._open.pop())
            if self._table is not None and (kind != "row" or block.header < 0):
                self._settle_table()
            if kind == "paragraph":
                if block.parent < 0:
                    self._settle_lead()
                    self._paragraph(index, block)
                continue
            self._close_heading_rule()
            if kind == "item":
                if index not in self._absorbed:
                    self._item(index, block)
            elif kind == "row":
                if block.header < 0 and index and self.blocks[index - 1].kind in {"item", "row"} and block.parent < 0:
                    self._settle_lead()  # what introduces the list or the table before does not introduce this one
                self._row(block)
            elif kind == "heading":
                self._settle_lead()
                self._heading(block)
            elif not block.quoted:  # a thematic break
                self._settle_lead()
                self._settle_bold()
                self._closed = True
        self._settle_all()
        self._close_sections(0)

    def _settle_all(self) -> None:
        """End what waits for words below it."""
        while self._open:
            self._settle_item(self._open.pop())
        self._settle_table()
        self._settle_lead()
        self._settle_bold()
        self._close_heading_rule()

    def _element_bounds(self) -> list[tuple[int, Element, bool]]:
        """Return where elements begin and end, the last first, and whether they begin there."""
        found = [bound for one in self.parsed.elements for bound in ((one.start, one, True), (one.until, one, False))]
        return sorted(found, key=lambda bound: -bound[0])

    def _element(self, _: int, element: Element, begins: bool) -> None:
        self._settle_all()
        if begins:
            self._open_element(element)
        else:
            self._close_element(element)

    def _row(self, block: Block) -> None:
        cells = [self._slice(*cell).strip() for cell in block.cells]
        if block.header < 0:
            if has_modal(" | ".join(cells)):
                self._table = block
            return
        header_block = self.blocks[block.header]
        header = [self._slice(*cell).strip() for cell in header_block.cells]
        pairs = [
            f"{name}: {cell}" if names_column(name) else cell for name, cell in zip(header, cells, strict=False) if cell
        ]
        rule_id, rest = split_id("; ".join(pairs))
        decided = any(
            decides(name) or has_modal(name) or has_negation(name) or opens_with_imperative(name) for name in header
        )
        if not decided and not any(NO_WORDS.sub("", cell) for cell in cells):
            if has_modal(rest):
                self._say("TS210", block.start, block.end)
            return
        if self._table is header_block:
            self._table = None
        labels = self._labels(block.parent, item=True)
        self._add(
            rest, block.start, block.end, rule_id=rule_id, labels=labels, item=True, row=True,
            context=[(header_block.start, header_block.end)],
        )  # fmt: skip
