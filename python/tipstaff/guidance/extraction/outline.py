"""What extraction remembers while it walks through a document, and how words become candidates."""

from __future__ import annotations

from bisect import bisect_left

from tipstaff.guidance.diagnostics import find
from tipstaff.guidance.extraction.annotations import parse_annotations
from tipstaff.guidance.extraction.candidate import Candidate, Context, Section
from tipstaff.guidance.extraction.grammar import has_modal, has_negation, opens_with_imperative
from tipstaff.guidance.extraction.patterns import MAX_CONTEXT_CHARS, QUOTE_MARK, shortened
from tipstaff.guidance.reading.markdown import Block, ParsedText
from tipstaff.model import Diagnostic


class ExtractionState:
    """A document's blocks, the candidates and diagnostics found so far, and the words that later blocks may need.

    Readers of headings, paragraphs and items build on it, one on the other.
    """

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

    def _set_lead(self, words: str, start: int, end: int, *, modal: bool) -> None:
        self._settle_lead()
        self._lead = Context(shortened(words), words, start, end, modal, label=True, spans=[(start, end)])

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
        negative = section is not None and section.negative
        if context is None and not negative:
            return words
        if context is not None:
            self._take_up(context, self.blocks[index].parent, spans)
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
