"""The text kernels in plain Python: state what the native ones do.

A text is ASCII, or one whose words were set apart and lowered before: bytes above 127 are letters here. A word is a run
of letters and digits with apostrophes inside it ("don't"); a version number such as ``1.3`` is one word. A comma or
another mark (``;:.!?`` and a dash between spaces) counts where white space or the end of the text follows it; a mark
may have a comma after it ("e.g.,").
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from tipstaff.kernels.formats import roles
from tipstaff.kernels.formats.clauses import (
    COMMA,
    FORBID,
    LIFT,
    MAX_TOKENS,
    PERMIT,
    REQUIRE,
    SAME_TOPIC,
    STOP,
    read_clauses,
)
from tipstaff.kernels.formats.lexicon import fnv, read_lexicon
from tipstaff.kernels.formats.stems import regular_stem
from tipstaff.kernels.plain.scoring import jaccard_pairs

if TYPE_CHECKING:
    from typing_extensions import Buffer

_WORD: Final = rb"[0-9]+(?:\.[0-9]+)+|[a-z0-9\x80-\xff]+(?:'[a-z0-9\x80-\xff]+)*"
_SPACE: Final = rb"[\t-\r\x1c-\x1f ]"
_WORDS: Final = re.compile(_WORD)
_TOKENS: Final = re.compile(
    _WORD + rb"|,(?=%b|\Z)|[;:.!?](?=,?(?:%b|\Z))|(?<=%b)--?(?=%b)" % (_SPACE, _SPACE, _SPACE, _SPACE)
)
_OPPOSITES: Final = frozenset(
    {(REQUIRE, FORBID), (FORBID, REQUIRE), (PERMIT, FORBID), (FORBID, PERMIT), (LIFT, REQUIRE), (REQUIRE, LIFT)}
)
_BANS: Final = frozenset({FORBID, LIFT})

_Read = Callable[[str], "tuple[int, int]"]
_Statement = tuple[int, int, frozenset[int], bool, bool]


def words_of(text: bytes) -> list[bytes]:
    """Return the words of a text in lower case."""
    return _WORDS.findall(text.lower())


def word_values(lexicon: Buffer, text: str) -> int:
    """Return what the words of one text mean; documented in ``src/_text.pyx``."""
    entries = read_lexicon(bytes(lexicon))
    value = 0
    for word in words_of(text.encode()):
        value |= _value(entries, word)
    return value


def read_words(lexicon: Buffer, offsets: Buffer, data: Buffer, max_words: int) -> list[tuple[int, bytes]]:
    """Return for each text what its words mean, and its words; documented in ``src/_text.pyx``."""
    entries = read_lexicon(bytes(lexicon))
    result: list[tuple[int, bytes]] = []
    for text in _texts(offsets, data):
        words = words_of(text)
        value = 0
        for word in words[:max_words]:
            value |= _value(entries, word)
        result.append((value, b" ".join(words)))
    return result


def opposed_texts(
    lexicon: Buffer, offsets: Buffer, data: Buffer, *, work_limit: int | None = None
) -> tuple[list[tuple[int, int]], bool]:
    """Return the pairs of texts that say the opposite of each other; documented in ``src/_text.pyx``."""
    read = word_reader(read_lexicon(bytes(lexicon)))
    texts = list(_texts(offsets, data))
    limit = 1024 * (len(texts) + sum(map(len, texts))) if work_limit is None else work_limit
    statements: list[_Statement] = []
    for index, text in enumerate(texts):
        for clause in read_clauses(_tokens(text), lambda word: read(word)[0]):
            if clause.directive:
                topic = frozenset(read(word)[1] for word in clause.topic)
                statements.append((index, clause.polarity, topic, clause.explicit, clause.negative_condition))
    postings: dict[int, list[_Statement]] = {}
    for statement in statements:
        for word in statement[2]:
            postings.setdefault(word, []).append(statement)
    pairs: set[tuple[int, int]] = set()
    for one in statements:
        if one[1] not in _BANS:
            continue
        for word in one[2]:
            limit -= len(postings[word])
            if limit < 0:
                return sorted(pairs), False
            for other in postings[word]:
                if one[0] != other[0] and (one[1], other[1]) in _OPPOSITES and _same_topic(one, other):
                    pairs.add((min(one[0], other[0]), max(one[0], other[0])))
    return sorted(pairs), True


def alike_texts(
    lexicon: Buffer, offsets: Buffer, data: Buffer, threshold: float, max_words: int, max_pairs: int
) -> tuple[list[tuple[int, int]], bool]:
    """Return the pairs of texts whose topics are alike; documented in ``src/_text.pyx``."""
    read = word_reader(read_lexicon(bytes(lexicon)))
    numbers: dict[tuple[int, int], int] = {}
    flat, bounds = array("I"), array("q", [0])
    for text in _texts(offsets, data):
        topic: set[int] = set()
        for word in words_of(text)[:max_words]:
            value, stem = read(word.decode("utf-8", "surrogateescape"))
            if not value & roles.FUNCTION:
                copies = 3 if word[:1].isdigit() else 1
                topic.update(numbers.setdefault((stem, copy), len(numbers)) for copy in range(copies))
        flat.extend(sorted(topic))
        bounds.append(len(flat))
    pairs, complete = jaccard_pairs(flat, bounds, threshold, max_pairs)
    return [(left, right) for left, right, _ in pairs], complete


def _texts(offsets: Buffer, data: Buffer) -> Iterator[bytes]:
    bounds = memoryview(offsets).cast("B").cast("i").tolist()
    raw = bytes(data)
    if not bounds:
        msg = "offsets: expected one more than there are texts, got none"
        raise ValueError(msg)
    for index, (low, high) in enumerate(pairwise(bounds)):
        if not 0 <= low <= high <= len(raw):
            msg = f"offsets: those of text {index} are out of order or outside the data"
            raise ValueError(msg)
        yield raw[low:high]


def _tokens(text: bytes) -> list[str]:
    marks = {b",": COMMA, **dict.fromkeys((b";", b":", b".", b"!", b"?", b"-", b"--"), STOP)}
    found = _TOKENS.findall(text.lower().replace(b"*", b"").replace(b"`", b""))
    return [marks.get(token) or token.decode("utf-8", "surrogateescape") for token in found[:MAX_TOKENS]]


def _value(entries: dict[bytes, tuple[int, int]], word: bytes) -> int:
    """Return a word's value; that of one with apostrophes which is not listed is that of its parts."""
    if word in entries or b"'" not in word:
        return entries.get(word, (0, 0))[0]
    value = 0
    for part in word.split(b"'"):
        value |= entries.get(part, (0, 0))[0]
    return value


def word_reader(entries: dict[bytes, tuple[int, int]]) -> _Read:
    """Return a function that gives a word's value, not joined of parts, and the hash of its stem."""

    def read(word: str) -> tuple[int, int]:
        key = word.encode("utf-8", "surrogateescape")
        known = entries.get(key)
        if known is None and key.endswith(b"'s"):
            key = key[:-2]
            bare = entries.get(key)
            if bare is not None:
                return 0, bare[1]
        if known is not None:
            return known
        stem = regular_stem(key.decode("utf-8", "surrogateescape"))
        return 0, fnv(stem.encode("utf-8", "surrogateescape"))

    return read


def _same_topic(one: _Statement, other: _Statement) -> bool:
    _, polarity, left, explicit, condition = one
    _, against, right, emphatic, other_condition = other
    if condition != other_condition:
        return False
    # "never log errors with secrets" is an exception to "always log errors", and no contradiction.
    if (polarity == FORBID and right < left) or (against == FORBID and left < right):
        return False
    shared = len(left & right)
    small, large = sorted((len(left), len(right)))
    if small == 1:
        # One word is little: both must be about nothing else, and one of them with emphasis.
        return shared == large == 1 and (explicit or emphatic)
    return shared >= SAME_TOPIC * (small + large - shared) or (large - small <= 2 and shared == small)


def join_pieces(pieces: list[tuple[str, int, int]]) -> str:
    """Join half-open ranges of texts; documented in ``src/_text.pyx``."""
    parts: list[str] = []
    for text, start, end in pieces:
        if not 0 <= start <= end <= len(text):
            msg = f"a piece from {start} to {end} is outside a text of {len(text)} characters"
            raise ValueError(msg)
        parts.append(text[start:end])
    return "".join(parts)
