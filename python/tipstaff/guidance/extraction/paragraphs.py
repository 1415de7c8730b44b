"""How extraction reads paragraphs: a rule for each sentence with a modal, and for each line with an explicit id."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from typing import Final

from tipstaff.guidance.extraction.candidate import Candidate
from tipstaff.guidance.extraction.grammar import has_modal, is_condition, says_something, sentences, starts_with_pronoun
from tipstaff.guidance.extraction.headings import HeadingReader
from tipstaff.guidance.extraction.kinds import FORM
from tipstaff.guidance.extraction.labels import Label
from tipstaff.guidance.extraction.patterns import (
    ALERT,
    ANNOUNCES,
    MAX_CONTEXT_CHARS,
    MAX_LABEL_CHARS,
    NAMED,
    QUOTE_LABEL,
    QUOTE_MARK,
    RUN_IN,
    SEPARATOR,
    bad_headings,
    is_bold_line,
    is_title,
    take_id,
    tells_what_happens,
)
from tipstaff.guidance.extraction.rule_ids import looks_like_id
from tipstaff.guidance.extraction.sentences import (
    commands_elsewhere,
    directs,
    has_strong_modal,
    is_exception,
    rules_out,
)
from tipstaff.guidance.reading.markdown import Block

_WITHOUT_OBJECT: Final = re.compile(
    r"(?:\*\*|__)[^*_.!]{0,60}\b(?:never|do not|don['’]t|must|always)\s+[a-z]+[.!]?(?:\*\*|__)[.!]?", re.IGNORECASE
)
"""Bold words that demand and do not say what, so that the sentence after them does ("**Final step, do not skip.**")."""


def _opens(words: str) -> bool:
    return words.rstrip("*_ ").endswith((":", "："))


class ParagraphReader(HeadingReader):
    """Takes paragraphs apart."""

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
