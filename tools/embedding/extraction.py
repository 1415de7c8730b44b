"""Sentences of documentation and items of changelogs, out of package archives."""

# Patterns and word lists read best unbroken.
# ruff: noqa: E501

from __future__ import annotations

import gzip
import html
import io
import random
import re
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, BinaryIO, Final

if TYPE_CHECKING:
    from tools.embedding.sources import Source

MAX_DOCUMENTS: Final = 160
MAX_CHANGELOGS: Final = 120
_MAX_FILE: Final = 3_000_000
_READ: Final = 400_000
_ORDER_SEED: Final = 11

_CHANGELOG = re.compile(r"(?:^|[/._-])(?:changelog|changes|history|news|release-?notes?|whatsnew)", re.IGNORECASE)
_TEXT_NAMES = re.compile(
    r"\.(?:html?|mdx?|markdown|rst|txt|adoc|[1-9]|rdoc)$|(?:^|/)(?:readme|contributing|hacking|changelog|changes|news|history)$",
    re.IGNORECASE,
)
# Instructions to agents, translations, test data, and what carries a licence and no advice.
_NOT_TEXT = re.compile(
    r"(?:^|/)(?:claude|agents|gemini)\.|\.cursorrules|\.mdc$|\.instructions|(?:^|/)skills?/|\.egg-info|SOURCES\.txt"
    r"|changelog\.debian|(?:^|/)templates?/|common-passwords|requires\.txt|requirements|constraints|(?:^|/)(?:licen[cs]es?|copying|copyright|authors|thanks|notice)"
    r"|(?:^|/)(?:locale|po|tests?/(?:data|fixtures))/|/(?:de|fr|ja|ko|es|tr|pt-br|zh-cn|da|pt_br|zh_cn)/|\.(?:de|fr|ja|ko|es|tr|pt-br|zh-cn|da)\.|"
    r"\.(?:ja\.(?:euc-jp|utf8)|ko\.euc-kr|tr\.utf8|zh-cn\.utf8|pt-br)$|genindex|searchindex|py-modindex",
    re.IGNORECASE,
)  # fmt: skip
_UNWANTED = re.compile(
    r"\b(?:payload ?cms|k6|gofiber|fiber|pulumi|sentry|datadog|clickhouse|bitwarden|ruflo|claude|copilot|coolify|anthropic)\b",
    re.IGNORECASE,
)
_LICENCE = re.compile(
    r"copyright|licen[cs]e|warrant(?:y|ies)|redistribut|merchantab|all rights reserved|\bGPL|permission is hereby",
    re.IGNORECASE,
)

# -- archives -----------------------------------------------------------------------------------------------------------


def read_archive(source: Source, path: Path) -> Iterator[tuple[str, str]]:
    """Yield (path inside the package, text) of its documentation and changelogs."""
    if source.kind == "deb":
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(path)], capture_output=True, check=True).stdout
        opened: io.BytesIO | BinaryIO = io.BytesIO(data)
    else:
        opened = path.open("rb")
    documents = changelogs = 0
    with opened, tarfile.open(fileobj=opened) as archive:
        members = sorted(
            (m for m in archive.getmembers() if m.isfile() and 0 < m.size <= _MAX_FILE), key=lambda m: m.name
        )
        # A part of a large manual should be a part of each chapter.
        random.Random(_ORDER_SEED).shuffle(members)
        members.sort(
            key=lambda member: member.name.count("/") if is_changelog(member.name) else 99 * ("/doc" not in member.name)
        )
        for member in members:
            name = member.name.removesuffix(".gz")
            changelog = is_changelog(name)
            if _NOT_TEXT.search(name) or not (changelog or _TEXT_NAMES.search(name)):
                continue
            if changelog:
                changelogs += 1
            else:
                documents += 1
            if (changelogs if changelog else documents) > (MAX_CHANGELOGS if changelog else MAX_DOCUMENTS):
                continue
            file = archive.extractfile(member)
            if file is None:
                continue
            raw = file.read()
            if member.name.endswith(".gz"):
                raw = gzip.decompress(raw)
            yield name, raw[:_READ].decode("utf-8", "ignore")


def is_changelog(name: str) -> bool:
    """Whether a file's path says that it lists changes."""
    return _CHANGELOG.search(name) is not None


# -- documentation ------------------------------------------------------------------------------------------------------

_DROPPED_ELEMENTS = re.compile(r"<(script|style|pre|nav|head|footer|dt)\b.*?</\1\s*>", re.IGNORECASE | re.DOTALL)
_BLOCK_TAG = re.compile(
    r"</?(?:p|div|li|ul|ol|dl|dd|h[1-6]|table|tr|td|th|section|article|blockquote|br|hr|body)\b[^>]*>", re.IGNORECASE
)
_TAG = re.compile(r"<[^>]*>")
_ROFF_FONT = re.compile(r"\\f(?:\[[^]]*\]|\(..|.)|\\s[-+]?\d|\\[&|^]")
_FENCE = re.compile(r"^\s*(```|~~~).*?^\s*\1\s*$", re.MULTILINE | re.DOTALL)
_DIRECTIVE = re.compile(r"^\s*\.\. .*$|^\s*:[\w -]+:.*$|^\s*[=~^\"'#*+-]{3,}\s*$", re.MULTILINE)
_BULLET = re.compile(r"^\s*(?:[-*+•]|\d+[.)])\s+", re.MULTILINE)
_MARKUP = (
    (re.compile(r"!\[[^]]*\]\([^)]*\)"), " "),
    (re.compile(r"\[([^]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r":[\w:+-]+:`~?([^`<]*?)(?:\s*<[^`>]*>)?`"), r"\1"),
    (re.compile(r"`([^`<]*?)\s*<[^`>]*>`_*"), r"\1"),
    (re.compile(r"https?://\S+|www\.\S+"), " "),
    (re.compile(r"\\([_*`])"), r"\1"),
    (re.compile(r"`+|\*\*|__\b|\b__"), ""),
    (re.compile(r"(?<!\w)[*_](\S[^*_]*)[*_](?!\w)"), r"\1"),
    (re.compile(r"\s+"), " "),
)
_SENTENCE_END = re.compile(r"(?<=[.!?;:])\s+(?=[A-Z0-9\"'(])")
_WORD = re.compile(r"[A-Za-z]{2,}")
_GLUE = re.compile(
    r"\b(?:the|a|an|to|of|in|is|are|be|and|or|for|with|not|you|it|this|that|on|if|by|as|can|from)\b", re.IGNORECASE
)


def documents(name: str, text: str) -> Iterator[str]:
    """Yield the sentences of a documentation file."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in {".html", ".htm"} or text[:200].lstrip().lower().startswith(("<!doctype", "<html")):
        text = _DROPPED_ELEMENTS.sub("\n\n", text)
        text = html.unescape(_TAG.sub("", _BLOCK_TAG.sub("\n\n", text)))
    elif re.fullmatch(r"\.[1-9]", suffix):
        text = plain_roff(text)
    else:
        text = _FENCE.sub("\n\n", text)
        text = re.sub(r"^#+\s+.*$", "\n", text, flags=re.MULTILINE)
        text = _DIRECTIVE.sub("\n", text)
        text = _BULLET.sub("\n\n", text)
    for block in re.split(r"\n\s*\n", text):
        for sentence in _SENTENCE_END.split(clean(block)):
            kept = sentence.strip(" \"'")
            if is_sentence(kept):
                yield kept


def plain_roff(text: str) -> str:
    """Return the running text of a manual page."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith((".", "'")):
            head, _, rest = line[1:].partition(" ")
            # Font macros carry words of a sentence; all others end a paragraph.
            lines.append(rest.replace('"', "") if head in {"B", "I", "BR", "IR", "RB", "RI", "BI", "IB"} else "\n")
        else:
            lines.append(line)
    text = _ROFF_FONT.sub("", "\n".join(lines))
    return text.replace("\\-", "-").replace("\\(aq", "'").replace("\\", "")


def clean(text: str) -> str:
    """Return running text without links, roles and quotation of code."""
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    return text.strip()


def share_of_letters(text: str) -> float:
    """Return which part of a text is letters and spaces."""
    return sum(c.isalpha() or c == " " for c in text) / max(1, len(text))


def is_wanted(text: str) -> bool:
    """Whether a text may be used at all."""
    return text.isascii() and not _UNWANTED.search(text) and not _LICENCE.search(text)


def is_sentence(text: str) -> bool:
    """Whether a text is a sentence of prose."""
    return (
        25 <= len(text) <= 220
        and len(_WORD.findall(text)) >= 5
        and share_of_letters(text) > 0.82
        and not re.search(r"[|<{=\\]", text)
        and _GLUE.search(text) is not None
        and is_wanted(text)
    )


# -- changelogs ---------------------------------------------------------------------------------------------------------

_ITEM = re.compile(r"^(\s*)(?:[-*+•o]|\d+[.)]|\[[^]]*\])\s+(\S.*)$")
_CHANGE_NOISE = (
    (re.compile(r"\((?:[^()]*(?:#|[Cc]loses|[Bb]ug|[Ii]ssue|GH-|[Tt]hanks|[Pp]atch|by )[^()]*)\)"), " "),
    (
        re.compile(
            r"(?:[Cc]loses|[Ff]ixes|LP|[Bb]ug|[Ii]ssue|GH|PR|[Tt]icket|[Rr]elated)[:\s]*#?-?\d+|[\w/-]*#\d+|\b[0-9a-f]{7,40}\b"
        ),
        " ",
    ),
    (re.compile(r"\s*\((?:[A-Z][^()]*|[\w-]+)\)\s*$"), ""),
    (re.compile(r"\s*\[[^]]*\]"), ""),
    (re.compile(r"[-,;(\s]*\b(?:[Tt]hanks|[Pp]atch by|[Cc]ontributed by|[Rr]eported by|\(?by) .*$"), ""),
    (
        re.compile(
            r"^(?:[\w./*{},-]+(?: \([^)]*\))?(?:, [\w./*{},-]+)*: |\([^)]*\):? |\[[^]]*\]:? |[a-z]+(?:\([^)]*\))?!?: )"
        ),
        "",
    ),
    (re.compile(r"\s+"), " "),
)
_DROPPED_CHANGE = re.compile(
    r"^(?:Merge|Release|Bump|Version|v?\d|Update (?:version|translation|changelog|copyright)|Import(?:ed)? (?:Translations|from)"
    r"|Translat|Prepare|New upstream|Updated? from global|Revert \"|Imported|Standards-Version|Upload|Rebuild|Refresh"
    r"|Add(?:ed)? (?:Brazilian|Czech|Danish|Dutch|French|German|Italian|Japanese|Polish|Portuguese|Russian|Spanish|Swedish|Turkish)"
    r"|Set VERSION|Team upload|Non-maintainer|debian)|\b(?:debhelper|d/|debian/|lintian|uscan|Zanata|translations?|nmu)\b|^\S+ \d{4}\b",
    re.IGNORECASE,
)  # fmt: skip
_FUNCTION_WORD = re.compile(
    r"\b(?:a|an|the|of|to|in|on|at|by|for|from|with|and|or|but|if|as|is|are|was|be|that|which|this|when|it|its|not|no|than|into|via)$",
    re.IGNORECASE,
)


def changes(text: str) -> Iterator[str]:
    """Yield the items of a changelog."""
    if text[:200].lstrip().lower().startswith(("<!doctype", "<html")):
        text = _DROPPED_ELEMENTS.sub("\n\n", text)
        text = re.sub(r"<li\b[^>]*>", "\n\n* ", text)
        text = html.unescape(_TAG.sub("", _BLOCK_TAG.sub("\n\n", text)))
    item: list[str] = []
    indent = 0
    for line in [*text.splitlines(), ""]:
        found = _ITEM.match(line)
        if found:
            yield from _change(item)
            item = [found[2]]
            indent = len(found[1])
        elif item and line.strip() and len(line) - len(line.lstrip()) > indent:
            item.append(line.strip())
        else:
            yield from _change(item)
            item = [line.strip()] if re.match(r"\s*[A-Z][a-z]", line) and len(line) <= 160 else []
            # The lines of a paragraph continue where it began.
            indent = len(line) - len(line.lstrip()) - 1


def _change(lines: list[str]) -> Iterator[str]:
    if not lines:
        return
    text = clean(" ".join(lines))
    for pattern, replacement in _CHANGE_NOISE:
        text = pattern.sub(replacement, text).strip()
    for sentence in _SENTENCE_END.split(text)[:2]:
        kept = sentence.strip(" .,;:-\"'")
        if (
            15 <= len(kept) <= 160
            and len(_WORD.findall(kept)) >= 3
            and share_of_letters(kept) > 0.78
            and not re.search(r"[|<{=\\@]", kept)
            and not _DROPPED_CHANGE.search(kept)
            and not _FUNCTION_WORD.search(kept)
            and is_wanted(kept)
        ):
            yield kept
