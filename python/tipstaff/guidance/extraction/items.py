"""How extraction reads list items: a rule each, unless they are a label, a reference, or part of another rule."""

from __future__ import annotations

from tipstaff.guidance.extraction.annotations import looks_like_id
from tipstaff.guidance.extraction.candidate import Context
from tipstaff.guidance.extraction.grammar import has_modal, has_negation, opens_with_imperative, says_something
from tipstaff.guidance.extraction.paragraphs import ParagraphReader
from tipstaff.guidance.extraction.patterns import (
    MAX_CONTEXT_CHARS,
    NO_WORDS,
    REFERENCE_ENTRY,
    bad_headings,
    ends_open_with_colon,
    is_label,
    shortened,
    take_id,
)
from tipstaff.guidance.reading.markdown import Block


class ItemReader(ParagraphReader):
    """Reads items with the words of those above them."""

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
