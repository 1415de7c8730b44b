"""Which words of a document are a rule, and why the others are none.

The promise kept here: every list item, and every sentence with a modal, ends as a rule, as part of a rule (its
`context`), or as a diagnostic that says why it is no rule.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import islice

import msgspec

from tipstaff.guidance.annotations import looks_like_id, parse_annotations, split_id
from tipstaff.guidance.candidates import Candidate, Context, Section
from tipstaff.guidance.diagnostics import find
from tipstaff.guidance.forms import (
    ALERT,
    MAX_CONTEXT_CHARS,
    NO_WORDS,
    QUOTE_LABEL,
    QUOTE_MARK,
    REFERENCE_ENTRY,
    RULE_HEADER,
    bad_headings,
    ends_open_with_colon,
    is_label,
    shortened,
    take_id,
)
from tipstaff.guidance.grammar import (
    count_words,
    has_modal,
    has_negation,
    is_negative_heading,
    opens_with_imperative,
    says_something,
    sentences,
    starts_with_pronoun,
)
from tipstaff.guidance.markdown import Block, ParsedText
from tipstaff.guidance.sections import is_constitution_heading, plain_heading
from tipstaff.model import Diagnostic


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
        Whether the whole document stands below a constitution heading of the file that imports it.

    Returns
    -------
    tuple
        The candidates in document order, and a diagnostic for each list item or modal sentence that is no rule.
    """
    extractor = _Extractor(parsed, source_name, in_constitution=in_constitution)
    extractor.run()
    return extractor.candidates, extractor.diagnostics


class _Extractor:
    def __init__(self, parsed: ParsedText, source_name: str, *, in_constitution: bool) -> None:
        self._outer = in_constitution
        self.parsed = parsed
        self.source = parsed.source
        self.blocks = parsed.blocks
        self.name = source_name
        self.candidates: list[Candidate] = []
        self.diagnostics: list[Diagnostic] = []
        self._sections: list[Section] = []
        self._closed = False  # a thematic break ended the section's protection
        self._contexts: dict[int, Context] = {}  # by item
        self._open: list[int] = []  # items whose contexts may still be taken up
        self._lead: Context | None = None
        self._table: Block | None = None  # a table's header with a modal that no row took up yet
        self._absorbed: set[int] = set()
        self._quote_labelled = False
        self._open_heading_rule: Candidate | None = None
        self._heading_words: list[str] = []
        self._waiting_id: tuple[str, int, int] | None = None
        self._extras: dict[int, list[Block]] = {}
        self._comment_starts = [start for start, _ in parsed.comments]
        for block in self.blocks:
            if block.parent >= 0 and block.kind == "paragraph":
                self._extras.setdefault(block.parent, []).append(block)

    # -- walking ----------------------------------------------------------------------------------------------------

    def run(self) -> None:
        if self.parsed.unclosed_fence >= 0:
            self._say("TS108", self.parsed.unclosed_fence, self.parsed.unclosed_fence)
        for start, end in self.parsed.comments:
            if has_modal(self._slice(start, end)):
                self._say("TS202", start, end)
        for index, block in enumerate(self.blocks):
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
                self._row(block)
            elif kind == "heading":
                self._settle_lead()
                self._heading(block)
            elif not block.quoted:  # a thematic break
                self._settle_lead()
                self._closed = True
        while self._open:
            self._settle_item(self._open.pop())
        self._settle_table()
        self._settle_lead()
        self._close_heading_rule()
        self._close_sections(0)

    def _slice(self, start: int, end: int) -> str:
        return self.source.slice(start, end)

    def _say(self, code: str, start: int, end: int, message: str = "", *, rule_id: str | None = None) -> None:
        self.diagnostics.append(
            find(
                code,
                self.source.line(start),
                self.name,
                message,
                span=self.source.span(start, end),
                rule_id=rule_id,
            )
        )

    def _own_text(self, block: Block) -> str:
        text = self.source.slice(block.start, block.end)
        if self._comment_starts:
            text = self._without_comments(text, block)
        if block.quoted and "\n" in text:
            head, _, tail = text.partition("\n")
            text = head + "\n" + QUOTE_MARK.sub(lambda match: " " * len(match[0]), tail)
        return text

    def _without_comments(self, text: str, block: Block) -> str:
        """Blank the HTML comments among a block's words; the text keeps its width in bytes."""
        first = bisect_left(self._comment_starts, block.start)
        last = bisect_left(self._comment_starts, block.end)
        if first == last:
            return text
        data = bytearray(text.encode("utf-8", "replace"))
        for start, end in self.parsed.comments[first:last]:
            low, high = start - block.start, min(end, block.end) - block.start
            data[low:high] = b"".join(b"\n" if byte == 10 else b" " for byte in data[low:high])
        return data.decode("utf-8", "replace")

    # -- words that others need ---------------------------------------------------------------------------------------

    def _above(self, index: int) -> Context | None:
        """Return the context in which an item stands: its parent's, or the sentence that introduces the list."""
        parent = self.blocks[index].parent
        return self._contexts.get(parent) if parent >= 0 else self._lead

    def _settle_item(self, index: int) -> None:
        """Say what becomes of a label when all that stands below it is read."""
        context = self._contexts[index]
        if context.used:
            self._report(context)
            return
        words = context.words
        if context.waiting and (has_modal(words) or opens_with_imperative(words)):
            listed = "; ".join(" ".join(self._slice(start, end).split()) for start, end, _ in context.waiting[:20])
            listed = listed if len(listed) <= 2 * MAX_CONTEXT_CHARS else shortened(listed)
            spans = [(start, end) for start, end, _ in context.waiting]
            self._add(f"{words.rstrip()} {listed}", context.start, context.end, index=index, context=spans)
            return
        code = "TS205" if has_modal(words) or not context.waiting else "TS204"
        self._say(code, context.start, context.end)
        self._report(context)

    def _settle_lead(self) -> None:
        context, self._lead = self._lead, None
        if context is None:
            return
        if context.modal and not context.used:
            self._say("TS205", context.start, context.end)
        self._report(context)

    def _report(self, context: Context) -> None:
        for start, end, code in context.waiting:
            self._say(code, start, end)

    def _settle_table(self) -> None:
        header, self._table = self._table, None
        if header is not None:
            self._say("TS205", header.start, header.end, "A table's header announces rules and no row has one.")

    # -- headings ---------------------------------------------------------------------------------------------------

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
        self._close_sections(block.level)
        text = self._own_text(block)
        rule_id, words = split_id(text)
        inherited = self._sections[-1].constitution if self._sections else self._outer
        constitution = inherited or is_constitution_heading(words if rule_id else text)
        title = plain_heading(words)
        section = Section(block.level, title, constitution, is_negative_heading(title), block, len(self.candidates))
        self._sections.append(section)
        if rule_id is not None:
            if words.strip():
                self._open_heading_rule = self._add(words, block.start, block.end, rule_id=rule_id)
            else:
                self._waiting_id = (rule_id, block.start, block.end)

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
        self._settle_lead()
        self._close_heading_rule()
        self._close_sections(0)
        self._closed = False
        title = plain_heading(text.strip().lstrip("#"))
        block = Block("heading", start, end, level=1)
        self._sections.append(Section(7, title, False, False, block, len(self.candidates)))

    def _close_sections(self, level: int) -> None:
        """Close every open section at or below a level; a heading whose words are a rule becomes one if it is alone."""
        while self._sections and (level == 0 or self._sections[-1].level >= level):
            section = self._sections[-1]
            block = section.block
            if block is not None:
                text = self._slice(block.start, block.end)
                if has_modal(text):
                    if len(self.candidates) > section.first_rule:
                        context = self.candidates[section.first_rule].context
                        if (block.start, block.end) not in context:
                            context.append((block.start, block.end))
                    elif count_words(section.text) > 2 and not text.rstrip().endswith(":"):
                        self._add(text.lstrip("# "), block.start, block.end)
                    else:
                        self._say("TS205", block.start, block.end, "A heading announces rules and none follow.")
            self._sections.pop()

    # -- paragraphs -------------------------------------------------------------------------------------------------

    def _paragraph(self, index: int, block: Block) -> None:
        text = self._own_text(block)
        if block.quoted and QUOTE_LABEL.match(text):
            self._quote_labelled = True
        if "#" in text and (bad := bad_headings(text)):
            self._around_bad_headings(text, block, index, bad)
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
        if not has_modal(text):
            if text.rstrip().rstrip("*_").endswith((":", "：")) and self._list_follows(index):
                self._set_lead(text, start, start + len(text.encode("utf-8", "replace")), modal=False)
            return
        ascii_text = text.isascii()
        ranges = sentences(text)
        previous: tuple[int, int, str] | None = None
        at, here = 0, start  # the same place in code points and in bytes
        for place, (low, high) in enumerate(ranges):
            words = text[low:high]
            head = here + (low - at if ascii_text else len(text[at:low].encode("utf-8", "replace")))
            tail = head + (high - low if ascii_text else len(words.encode("utf-8", "replace")))
            at, here = high, tail
            earlier, previous = previous, (head, tail, words)
            if block.quoted:
                words = ALERT.sub("", words)
            if not has_modal(words):
                continue
            if words.startswith("~~") and words.rstrip(".!").find("~~", 2) == len(words.rstrip(".!")) - 2:
                self._say("TS206", head, tail)
            elif place == len(ranges) - 1 and words.rstrip("*_ ").endswith((":", "：")):
                if self._list_follows(index):
                    self._set_lead(words, head, tail, modal=True)
                elif block.code != (0, 0):
                    self._add(self._with_code(words, block), head, tail)
                else:
                    self._say("TS205", head, tail)
            else:
                context: list[tuple[int, int]] = []
                if earlier is not None and starts_with_pronoun(words) and len(earlier[2]) <= MAX_CONTEXT_CHARS:
                    words = f"{earlier[2]} {words}"
                    context.append(earlier[:2])
                self._add(words, head, tail, context=context)

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
        follower = next((block for block in islice(self.blocks, index + 1, None) if block.kind != "comment"), None)
        return follower is not None and follower.kind in {"item", "row"}

    def _set_lead(self, words: str, start: int, end: int, *, modal: bool) -> None:
        self._settle_lead()
        self._lead = Context(shortened(words), words, start, end, modal, label=True, spans=[(start, end)])

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

    # -- items ------------------------------------------------------------------------------------------------------

    def _item(self, index: int, block: Block) -> None:
        if block.parent < 0 and self._lead is not None and self._lead_ended(index):
            self._settle_lead()
        raw = self._own_text(block)
        if "\n" not in raw or "#" not in raw or not (bad := bad_headings(raw)):
            self._item_words(index, block, raw, block.start, block.end)
            return
        low = bad[0][0]
        middle = block.start + len(raw[:low].encode("utf-8", "replace"))
        self._item_words(index, block, raw[:low], block.start, middle)
        rest = Block("paragraph", middle, block.end, quoted=block.quoted)
        self._around_bad_headings(raw[low:], rest, -1, [(start - low, end - low) for start, end in bad])

    def _lead_ended(self, index: int) -> bool:
        """Whether a table stands between the sentence that introduces a list and this item."""
        before = next(
            (block for block in reversed(self.blocks[max(0, index - 8) : index]) if block.kind != "comment"), None
        )
        return before is not None and before.kind == "row"

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
        if block.quoted and not self._quote_labelled:
            self._say("TS207", start, end)
            return
        rule_id, words = take_id(stripped)
        if not words.strip():
            self._say("TS307", start, end, rule_id=rule_id)
            return
        ends_open = ends_open_with_colon(words)
        if rule_id is not None and ends_open and block.children:
            self._absorb(index, words, start, end, rule_id)
            return
        if block.children and rule_id is None and (ends_open or is_label(words)):
            modal = has_modal(words) or has_negation(words)
            self._contexts[index] = Context(
                shortened(words), words, start, end, modal, label=True, spans=[(start, end)], waiting=[]
            )
            self._inherit(index)
            self._open.append(index)
            self._cover([(extra.start, extra.end) for extra in extras], "TS204")
            return
        if ends_open:
            if block.code != (0, 0):
                words = self._with_code(words, block)
            elif not extras:
                self._say("TS205", start, end, rule_id=rule_id)
                if rule_id is None and not says_something(words):
                    return
        spans = [(extra.start, extra.end) for extra in extras]
        if extras:
            words = "\n".join([words, *(self._own_text(extra).strip() for extra in extras)])
        if rule_id is None and not block.children and (code := self._no_rule(words, index)):
            outer = self._above(index)
            if outer is not None and outer.label:
                outer.waiting.append((start, end, code))
            else:
                self._say(code, start, end)
            self._cover(spans, code)
            return
        self._add(words, start, end, rule_id=rule_id, index=index, context=spans)
        if block.children:
            self._contexts[index] = Context(
                shortened(words), words, start, end, has_modal(words), label=False, spans=[(start, end)]
            )
            self._inherit(index)

    def _cover(self, spans: list[tuple[int, int]], code: str) -> None:
        for low, high in spans:
            if has_modal(self._slice(low, high)):
                self._say(code, low, high)

    def _no_rule(self, words: str, index: int) -> str | None:
        """Return the code of the reason why an item is no rule, None if it is one."""
        first = words.split(None, 1)[0]
        if first.isalpha():
            return None  # neither a name in code, nor a link, nor a path: words
        if has_modal(words):
            return None
        outer = self._above(index)
        if (outer is not None and outer.modal) or (self._sections and self._sections[-1].negative):
            return None  # "Never use:" makes a rule of a bare name
        if not NO_WORDS.sub("", words):
            return "TS210"
        if first[0] in "`[*@_" or "/" in first or "\\" in first or "." in first:
            entry = REFERENCE_ENTRY.match(words)
            if entry is not None and not opens_with_imperative(entry["rest"]) and not has_negation(entry["rest"]):
                return "TS204"
        return None

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

    def _inherit(self, index: int) -> None:
        """Give a context the words of its own parent."""
        own = self._contexts[index]
        outer = self._above(index)
        if outer is not None and (outer.label or outer.modal) and not own.modal:
            if len(outer.text) + len(own.text) < MAX_CONTEXT_CHARS:
                own.text = f"{outer.text}: {own.text}"
                own.spans = [*outer.spans, *own.spans]
            own.modal = own.modal or outer.modal

    def _with_code(self, words: str, block: Block) -> str:
        """Finish a sentence that ends with a colon by the short code block that it introduces."""
        lines = self._slice(*block.code).strip().split("\n")
        if lines and lines[0].lstrip(" >").startswith(("```", "~~~")):
            lines = lines[1:-1] if len(lines) > 1 and lines[-1].strip(" >")[:3] in {"```", "~~~"} else lines[1:]
        commands = [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
        if not commands or len(commands) > 3 or sum(map(len, commands)) > MAX_CONTEXT_CHARS:
            return words
        return f"{words.rstrip()} " + " ".join(f"`{command}`" for command in commands if "`" not in command)

    # -- table rows -------------------------------------------------------------------------------------------------

    def _row(self, block: Block) -> None:
        cells = [self._slice(*cell).strip() for cell in block.cells]
        if block.header < 0:
            if has_modal(" | ".join(cells)):
                self._table = block
            return
        header_block = self.blocks[block.header]
        header = [self._slice(*cell).strip() for cell in header_block.cells]
        heading_text = " | ".join(header)
        lead = self._contexts.get(block.parent) if block.parent >= 0 else self._lead
        led = lead is not None and lead.label and lead.modal
        speaks = has_modal(heading_text) or any(map(is_negative_heading, header))
        if not speaks and not led and not RULE_HEADER.search(heading_text) and not any(map(has_modal, cells)):
            return
        context: list[tuple[int, int]] = []
        if speaks:
            pairs = [f"{name}: {cell}" if name else cell for name, cell in zip(header, cells, strict=False) if cell]
            words = "; ".join(pairs)
            context.append((header_block.start, header_block.end))
        else:
            words = "; ".join(cell for cell in cells if cell)
        rule_id, rest = split_id(words)
        if not NO_WORDS.sub("", rest) and not (led and rest):
            if has_modal(words):
                self._say("TS210", block.start, block.end)
            return
        if lead is not None and lead.label:
            self._take_up(lead, block.parent, context)
            if led and not has_modal(rest):
                rest = f"{lead.text}: {rest}"
        if self._table is header_block:
            self._table = None
        self._add(rest, block.start, block.end, rule_id=rule_id, context=context)

    # -- candidates -------------------------------------------------------------------------------------------------

    def _add(
        self,
        raw: str,
        start: int,
        end: int,
        *,
        rule_id: str | None = None,
        index: int = -1,
        context: list[tuple[int, int]] | None = None,
    ) -> Candidate | None:
        annotations = parse_annotations(raw)
        words = annotations.text
        for code, message in annotations.problems:
            self._say(code, start, end, message, rule_id=rule_id)
        if not words or (rule_id is None and not words[0].isalnum() and not any(map(str.isalnum, words))):
            self._say("TS307", start, end, rule_id=rule_id)
            return None
        spans = context if context is not None else []
        section = self._sections[-1] if self._sections else None
        if index >= 0:
            words = self._with_context(words, index, spans, section)
        candidate = Candidate(
            words,
            rule_id,
            annotations,
            start,
            end,
            spans,
            section.text if section is not None else "",
            (section.constitution if section is not None else self._outer) and not self._closed,
        )
        self.candidates.append(candidate)
        return candidate

    def _with_context(self, words: str, index: int, spans: list[tuple[int, int]], section: Section | None) -> str:
        """Put the words of parent, lead-in or heading before an item that cannot be understood without them."""
        context = self._above(index)
        if context is not None:
            self._take_up(context, self.blocks[index].parent, spans)
        negative = section is not None and section.negative
        if context is None and not negative:
            return words
        if has_modal(words):
            return words
        if context is not None:
            fragment = not opens_with_imperative(words)
            needed = context.modal if context.label else fragment
            if needed or (self.blocks[index].parent >= 0 and fragment):
                return f"{context.text}: {words}"
        if negative and section is not None and not has_negation(words):
            if section.block is not None:
                spans.append((section.block.start, section.block.end))
            return f"{section.text}: {words}"
        return words

    def _take_up(self, context: Context, parent: int, spans: list[tuple[int, int]]) -> None:
        """Note where a context's words stand, and those above it that no rule has taken up yet."""
        spans.extend(context.spans)
        context.used = True
        while parent >= 0:
            parent = self.blocks[parent].parent
            outer = self._contexts.get(parent) if parent >= 0 else self._lead
            if outer is None or outer.used:
                break
            outer.used = True
            spans.extend(outer.spans)
