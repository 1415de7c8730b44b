"""How extraction reads list items: a rule each, unless they are a label, a reference, or part of another rule."""

from __future__ import annotations

from typing import Final

from tipstaff.guidance.extraction.candidate import Context
from tipstaff.guidance.extraction.grammar import (
    count_words,
    has_modal,
    is_condition,
    is_demanding_heading,
    refers_back,
    says_something,
)
from tipstaff.guidance.extraction.paragraphs import ParagraphReader
from tipstaff.guidance.extraction.patterns import (
    NEW_LABEL,
    NO_WORDS,
    bad_headings,
    ends_open_with_colon,
    is_label,
    take_id,
)
from tipstaff.guidance.extraction.rule_ids import looks_like_id
from tipstaff.guidance.extraction.sentences import directs
from tipstaff.guidance.reading.markdown import Block

MAX_TITLE_WORDS: Final = 7
"""Of a numbered item that may be a title."""


class ItemReader(ParagraphReader):
    """Reads items with the words of those above them."""

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
