"""Rule files that were read."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

import msgspec

from tipstaff.frontmatter import ALWAYS, FrontMatter, read_front_matter
from tipstaff.guidance.diagnostics import find
from tipstaff.guidance.reading.markdown import ParsedText, parse, split_front_matter
from tipstaff.guidance.reading.rule_files import RuleFile, file_scopes, mode_of
from tipstaff.model import EVERYWHERE, Diagnostic, Record

_MAX_HEAD: Final = 16 * 1024


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """A rule file that was read.

    Attributes
    ----------
    path
        Relative to the repository's root, with forward slashes.
    text, parsed
        The text as it is in the file, and its blocks.
    size_bytes
        Size on disk.
    host
        ``claude``, ``agents``, ``gemini``, ``cursor`` or ``copilot``.
    scopes
        Globs relative to the root that the file gives its rules.
    source
        ``root`` or ``local``.
    depth
        Number of folders between the root and the folder that the file applies to.
    folder
        That folder, empty for the root.
    always_apply, description
        Cursor's keys.
    mode
        When its host loads it, one of the modes of `tipstaff.frontmatter`.
    imported_by
        The path of the file that imports this one, None for a file that a host reads by itself.
    in_constitution
        Whether it is imported from within a constitution section.
    copy_of
        The path of an earlier file with the same text, whose rules hold wherever this one's would; `parsed` is empty
        then, so that they are read once.
    """

    path: str
    text: str
    parsed: ParsedText
    size_bytes: int
    host: str
    scopes: tuple[str, ...] = (EVERYWHERE,)
    source: str = "root"
    depth: int = 0
    folder: str = ""
    always_apply: bool | None = None
    description: str = ""
    mode: str = ALWAYS
    imported_by: str | None = None
    in_constitution: bool = False
    copy_of: str | None = None


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    """The rule files of a repository.

    Attributes
    ----------
    root
        Absolute path.
    documents
        Outer folders before inner ones, an importing file before what it imports, local files last.
    diagnostics
        What was wrong with files, imports and front matter.
    files
        Paths of all rule files that exist, read or not.
    directories
        Paths of the folders that were searched, relative to the root (``.`` for itself).
    awaited
        Paths of imported files that do not exist: if one appears, the rules change.
    aliases
        Pairs of a rule file that was not read again and the file that was: another name of it (a link), or a copy.
    also_loaded
        Pairs of a host and the path of a document that it loads beside the one that the document is of: by a link, by
        an import, or by itself where another host's file imports it.
    """

    root: Path
    documents: tuple[Document, ...]
    diagnostics: tuple[Diagnostic, ...]
    files: tuple[str, ...]
    directories: tuple[str, ...]
    awaited: tuple[str, ...] = ()
    aliases: tuple[tuple[str, str], ...] = ()
    also_loaded: tuple[tuple[str, str], ...] = ()


def document_from_text(text: str, name: str, *, source: str = "root") -> Document:
    """Return a text given directly as a document of the root."""
    parsed, matter = parsed_text(text)
    return Document(
        path=name,
        text=text,
        parsed=parsed,
        size_bytes=len(text.encode("utf-8", "replace")),
        host="claude",
        scopes=file_scopes(RuleFile(name, "claude", ""), matter),
        source=source,
        always_apply=matter.always_apply,
        description=matter.description,
        mode=mode_of(RuleFile(name, "claude", ""), matter),
    )


COPY: Final = re.compile(
    r"^<!-- tipstaff:sync (?P<source>[^\n]+?) -->\n(?P<note>Applies to `[^\n]+` only:\n\n)?(?P<body>.*?)"
    r"\n<!-- /tipstaff:sync -->(?P<end>\n|\Z)",
    re.DOTALL | re.MULTILINE,
)
"""What ``tipstaff sync`` wrote: the words of another rule file."""


def note_of(scopes: Sequence[str]) -> str:
    """Return the line that says where a copy applies, for a host without scopes; nothing for everywhere."""
    return f"Applies to {', '.join(f'`{one}`' for one in scopes)} only:\n\n" if scopes else ""


def without_regions(text: str) -> str:
    """Return a text without what was written into it."""
    return COPY.sub("", text) if "<!-- tipstaff:sync " in text else text


def without_copies(text: str, source_of: Callable[[str], str]) -> str:
    """Return a text with blanks for the copies that say what their source says; nothing moves.

    Parameters
    ----------
    text
        Of a rule file.
    source_of
        Gives the text of a source by its path, empty where there is none.
    """

    def blanked(match: re.Match[str]) -> str:
        same = match["body"] in without_regions(source_of(match["source"]).replace("\r\n", "\n"))
        return "".join(" " if char != "\n" else char for char in match[0]) if same else match[0]

    return COPY.sub(blanked, text) if "<!-- tipstaff:sync " in text else text


_LATE: Final = re.compile(r"(?:\s|<!--.*?-->)+(?=---[ \t]*\n)", re.DOTALL)
"""What may stand above front matter that then is none."""
_UNCLOSED: Final = re.compile(r"---[ \t]*\n(?:[A-Za-z_][\w.-]*[ \t]*:[^\n]*\n)+(?!---)")


def parsed_text(text: str) -> tuple[ParsedText, FrontMatter]:
    """Read a text and its front matter; if that is not what it should be, its words are read as Markdown.

    Of front matter that is not closed or does not begin the file nothing is read, and no rule is made.
    """
    parsed = parse(text)
    if parsed.front_matter is not None:
        matter = read_front_matter(parsed.front_matter)
        if any(code == "TS106" for code, _ in matter.problems):
            parsed = parse(text, front_matter=False)
        return parsed, matter
    head = _LATE.match(text, 0, _MAX_HEAD)
    start = head.end() if head is not None else 0
    late = split_front_matter(text[start : start + _MAX_HEAD])[1] if start else 0
    if late:
        problem = "The front matter does not begin the file, and no host reads it."
    elif (unclosed := _UNCLOSED.match(text)) is not None:
        late, problem = (
            unclosed.end(),
            "The front matter is not closed by a line of three hyphens, and no host reads it.",
        )
    else:
        return parsed, FrontMatter()
    hidden = "".join(" " if char != "\n" else char for char in text[start : start + late])
    return parse(text[:start] + hidden + text[start + late :]), FrontMatter(problems=(("TS107", problem),))


class HostLimit(Record, frozen=True, kw_only=True):
    """How much of its rule files a host reads."""

    host: str
    file_name: str
    max_bytes: int
    """Of all files of that name from the repository's root down to the working folder, together."""


HOST_LIMITS: Final = (HostLimit(host="Codex", file_name="AGENTS.md", max_bytes=32_768),)
"""Limits that hosts document and apply in silence.

Codex joins the ``AGENTS.md`` of every folder from the root to the working folder and stops at
``project_doc_max_bytes``, 32 KiB unless configured (https://developers.openai.com/codex/guides/agents-md). Copilot code
review read only the first 4,000 characters of an instructions file until June 2026, when that limit was lifted, so it
is not among them.
"""


def cut_off(documents: Iterable[Document], aliases: Iterable[tuple[str, str]]) -> list[Diagnostic]:
    """Return which files are longer than their host reads, and from which line on."""
    found: list[Diagnostic] = []
    read = {document.path: document for document in documents}
    paths = read | {name: read[target] for name, target in aliases if target in read}
    for limit in HOST_LIMITS:
        for path, document in paths.items():
            folder, _, name = path.rpartition("/")
            if name != limit.file_name:
                continue
            before = 0
            for outer in _outer_folders(folder):
                above = paths.get(f"{outer}/{name}" if outer else name)
                # Files are joined by an empty line.
                before += above.size_bytes + 2 if above is not None else 0
            room = limit.max_bytes - before
            if document.size_bytes <= room:
                continue
            whole = f"{limit.host} reads {limit.max_bytes:,} bytes of {name} files from the root to the working folder"
            if room <= 0:
                found.append(find("TS404", 1, path, f"{whole}; the outer files use them up and none of this is read."))
                continue
            kept = document.text.encode("utf-8", "surrogatepass")[:room]
            line = kept.count(b"\n") + 1
            lost = document.size_bytes - room
            found.append(
                find("TS404", line, path, f"{whole}; the last {lost:,} bytes, from line {line} on, are not read.")
            )
    return found


def _outer_folders(folder: str) -> list[str]:
    """Return the folders above one, the root (an empty string) first."""
    if not folder:
        return []
    parts = folder.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts))]
