"""Which words of a document are a rule, and why the others are none.

The promise kept here: every list item, and every sentence with a modal, ends as a rule, as part of a rule (its
`context`), or as a diagnostic that says why it is no rule.
"""

from __future__ import annotations

from tipstaff.guidance.extraction.candidate import Candidate
from tipstaff.guidance.extraction.grammar import has_modal, has_negation, opens_with_imperative
from tipstaff.guidance.extraction.items import ItemReader
from tipstaff.guidance.extraction.labels import names_column
from tipstaff.guidance.extraction.patterns import NO_WORDS
from tipstaff.guidance.extraction.polarity import decides
from tipstaff.guidance.extraction.rule_ids import split_id
from tipstaff.guidance.reading.elements import Element
from tipstaff.guidance.reading.markdown import Block, ParsedText
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
        Whether the whole document is below a constitution heading of the file that imports it.

    Returns
    -------
    tuple
        The candidates in document order, and a diagnostic for each list item or modal sentence that is no rule.
    """
    extractor = _Extractor(parsed, source_name, in_constitution=in_constitution)
    extractor.run()
    return extractor.candidates, extractor.diagnostics


class _Extractor(ItemReader):
    """Walks through the blocks, and reads the rows of tables."""

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
