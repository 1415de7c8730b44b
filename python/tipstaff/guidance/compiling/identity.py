"""Ids for rules whose authors gave none, and keeping them when words change.

An id made from a rule's content stays when lines move. When the words change a little, the rule keeps the id under
which its history is known.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Final

from xxhash import xxh3_64_hexdigest

from tipstaff.guidance.wording.tokenize import words as split
from tipstaff.model import EVERYWHERE, GuidanceRule

SAME_RULE: Final = 0.72
"""Similarity from which an edited rule is taken for the former one: shared words, and their order."""
_MAX_COMPARED: Final = 64
_SIGNS: Final = re.compile(r"`[^`]*`|[❌🚫⛔✗✅✔✓👍👎]")


def content_id(text: str, salt: str = "") -> str:
    """Return ``AUTO-`` and eight hexadecimal digits of the xxh3 of a rule's words."""
    content = " ".join(split(text) or [text])
    return id_of_words(content.encode("utf-8", "surrogatepass"), salt)


def signs(text: str) -> str:
    """Return what two texts in the same words may differ in and mean something else: marks for good and bad, code.

    "✅ `a === b`" and "❌ `a == b`" have the same words.
    """
    return "\0".join(["".join(one.split()) for one in _SIGNS.findall(text)])


def salt_of(scopes: tuple[str, ...]) -> str:
    """Return what distinguishes the rules of a file from those of other files in the same words.

    A file that applies to the whole repository adds nothing: its ids are those of the words alone. The ids of a
    folder's rules depend on that folder, and on no other one that may come or go.
    """
    return "" if scopes == (EVERYWHERE,) else "\0".join(scopes)


def id_of_words(words: bytes, salt: str = "") -> str:
    """Return the same for a text's words in lower case, a space between two, as UTF-8."""
    salted = words + b"\0" + salt.encode("utf-8", "surrogatepass") if salt else words
    return f"AUTO-{xxh3_64_hexdigest(salted)[:8]}"


def match_former(rules: Sequence[GuidanceRule], former: Sequence[GuidanceRule]) -> dict[str, str]:
    """Match new rules to former ones whose text is nearly the same.

    Parameters
    ----------
    rules
        The rules of this compilation.
    former
        Those of the one before.

    Returns
    -------
    dict
        New id to former id, one to one, only for ids that did not exist before and former ids that exist no more.
    """
    known = {rule.id for rule in former}
    present = {rule.id for rule in rules}
    lost = [rule for rule in former if rule.id not in present]
    fresh = [rule for rule in rules if rule.id not in known]
    if not lost or not fresh:
        return {}
    # Candidates share a word; the rarest words of the lost rules are asked first, so that the work stays linear.
    postings: dict[str, list[int]] = {}
    words_of = [set(split(rule.text)) for rule in lost]
    for index, words in enumerate(words_of):
        for word in words:
            postings.setdefault(word, []).append(index)
    scored: list[tuple[float, int, int]] = []
    for position, rule in enumerate(fresh):
        words = set(split(rule.text))
        seen: dict[int, None] = {}
        for word in sorted(words, key=lambda w: len(postings.get(w, ()))):
            for index in postings.get(word, ()):
                seen[index] = None
                if len(seen) >= _MAX_COMPARED:
                    break
            if len(seen) >= _MAX_COMPARED:
                break
        for index in seen:
            shared = len(words & words_of[index])
            jaccard = shared / (len(words) + len(words_of[index]) - shared)
            if jaccard < 0.4:
                continue
            score = SequenceMatcher(None, lost[index].text[:400], rule.text[:400], autojunk=False).ratio()
            if max(score, jaccard) >= SAME_RULE:
                scored.append((-max(score, jaccard), position, index))
    matched: dict[str, str] = {}
    used: set[int] = set()
    for _, position, index in sorted(scored):
        if fresh[position].id not in matched and index not in used:
            used.add(index)
            matched[fresh[position].id] = lost[index].id
    return matched
