"""Reading the rule files of a repository, and what they import.

A file that two names lead to (a symbolic link from ``CLAUDE.md`` to ``AGENTS.md`` is common) is read once. Which files
are rule files is known to `tipstaff.guidance.reading.rule_files`.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from tipstaff.budgets import MAX_IMPORT_DEPTH, MAX_SOURCE_BYTES
from tipstaff.errors import SourceNotFoundError
from tipstaff.frontmatter import DESCRIBED
from tipstaff.guidance.diagnostics import find
from tipstaff.guidance.reading.discovery import RuleFileSearch
from tipstaff.guidance.reading.documents import Document, Repository, cut_off, parsed_text, without_copies
from tipstaff.guidance.reading.imports import imports_of, may_import
from tipstaff.guidance.reading.markdown import parse
from tipstaff.guidance.reading.rule_files import (
    PRECEDENCE,
    USER_FORMATS,
    RuleFile,
    classify,
    file_scopes,
    mode_of,
    unread_keys,
    user_files,
)
from tipstaff.model import EVERYWHERE, Diagnostic, Severity
from tipstaff.store.untrusted import read_untrusted

IMPORTING: Final = frozenset({"claude", "gemini", "agents"})
"""Hosts in whose files ``@path`` imports a file; of `OPTIONAL` it is named where it is missing, and no error."""
OPTIONAL: Final = frozenset({"agents"})
OVERRIDDEN, OVERRIDE = "AGENTS.md", "AGENTS.override.md"
_RULE_SUFFIXES: Final = frozenset({"", ".md", ".mdc", ".markdown", ".mdx", ".txt", ".rst"})


def read_repository(
    root: Path | str, *, home: Path | None = None, texts: Mapping[str, str] | None = None
) -> Repository:
    """Find and read all rule files below a folder.

    Parameters
    ----------
    root
        The repository's root.
    home
        Where to look for the rule files that a person has for all repositories (``.claude/CLAUDE.md``); None for
        nowhere.
    texts
        Texts to read instead of those of the files with these paths, relative to the root: what a change would give.

    Raises
    ------
    SourceNotFoundError
        If `root` is not a folder.
    """
    path = Path(root)
    if not path.is_dir():
        msg = f"{path}: not a folder; give the root of a repository"
        raise SourceNotFoundError(errno.ENOENT, msg)
    reader = _Reader(path.resolve(), texts or {})
    return reader.read(home)


def home_folder() -> Path | None:
    """Return the home of the person who runs this, None where that is not known."""
    try:
        return Path.home()
    except RuntimeError:
        return None


class _Reader:
    def __init__(self, root: Path, texts: Mapping[str, str]) -> None:
        self.root = root
        self.texts = texts
        self.documents: list[Document] = []
        self.diagnostics: list[Diagnostic] = []
        self.files: list[str] = []
        self.directories: list[str] = []
        self.awaited: list[str] = []
        self._seen: dict[tuple[int, int], str] = {}
        self._aliases: dict[str, str] = {}
        self._also: list[tuple[str, str]] = []
        self._by_text: dict[str, list[Document]] = {}

    def read(self, home: Path | None) -> Repository:
        search = RuleFileSearch(self.root)
        found = search.find()
        known = {one.path for one in found}
        new = (classify(*path.rpartition("/")[::2]) for path in self.texts if path not in known)
        found.extend(one for one in new if one is not None and not (self.root / one.path).exists())
        self.directories, self.diagnostics = search.directories, search.diagnostics
        found.sort(
            key=lambda one: (
                one.local,
                one.folder.count("/") + bool(one.folder),
                one.folder,
                PRECEDENCE[one.host],
                one.path,
            )
        )
        for one in self._without_overridden(found):
            self.files.append(one.path)
            self._read_one(one)
        if home is not None:
            self._read_user_files(home)
        return Repository(
            root=self.root,
            documents=tuple(self.documents),
            diagnostics=(*self.diagnostics, *cut_off(self.documents, self._aliases.items())),
            files=tuple(dict.fromkeys(self.files)),
            directories=tuple(self.directories),
            awaited=tuple(dict.fromkeys(self.awaited)),
            aliases=tuple(self._aliases.items()),
            also_loaded=tuple(self._also),
        )

    def _without_overridden(self, found: list[RuleFile]) -> list[RuleFile]:
        """Leave out the files that another one is read instead of: ``AGENTS.md`` beside ``AGENTS.override.md``."""
        instead = {one.folder: one.path for one in found if one.path.rpartition("/")[2] == OVERRIDE and self._says(one)}
        kept: list[RuleFile] = []
        for one in found:
            if one.path.rpartition("/")[2] == OVERRIDDEN and one.folder in instead:
                self.files.append(one.path)
                message = f"{instead[one.folder]} is read instead of this file."
                self.diagnostics.append(find("TS504", 1, one.path, message))
            else:
                kept.append(one)
        return kept

    def _says(self, one: RuleFile) -> bool:
        """Whether a file has words: an empty one replaces nothing."""
        try:
            return bool(read_untrusted(self.root / one.path).strip())
        except OSError:
            return False

    def _read_user_files(self, home: Path) -> None:
        """Read the rule files that a person has for all repositories; they add and tighten."""
        self.awaited.extend((home / one.pattern).as_posix() for one in USER_FORMATS if "*" not in one.pattern)
        for one in user_files(home):
            self.files.append(one.path)
            read = self._text(one.path)
            if read is None:
                continue
            text, size = read
            parsed, matter = parsed_text(text)
            shown = f"~/{Path(one.path).relative_to(home).as_posix()}"
            self.documents.append(
                Document(
                    path=shown, text=text, parsed=parsed, size_bytes=size, host=one.host,
                    scopes=file_scopes(one, matter), source="local", description=matter.description,
                    mode=mode_of(one, matter),
                )
            )  # fmt: skip

    def _say(self, code: str, path: str, message: str = "", line: int = 0, span: tuple[int, int] = (0, 0)) -> None:
        self.diagnostics.append(find(code, line, path, message, span=span))

    def _text(self, path: str) -> tuple[str, int] | None:
        """Read a file as UTF-8; report why if that fails."""
        if path in self.texts:
            self._seen.setdefault(self._identity(path), path)
            return self.texts[path], len(self.texts[path].encode("utf-8", "replace"))
        full = self.root / path
        try:
            # Never block on a pipe or a device that bears a rule file's name.
            handle = os.open(full, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        except OSError as error:
            self._say("TS111", path, f"The file cannot be opened: {error.strerror}.")
            return None
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            os.close(handle)
            self._say("TS111", path, "The file is not a regular file.")
            return None
        with os.fdopen(handle, "rb") as stream:
            identity = (status.st_dev, status.st_ino)
            if identity in self._seen:
                return None
            self._seen[identity] = path
            if status.st_size > MAX_SOURCE_BYTES:
                limit = MAX_SOURCE_BYTES // 2**20
                self._say(
                    "TS102", path, f"The file has {status.st_size / 2**20:.1f} MiB; at most {limit} MiB are read."
                )
                return None
            try:
                data = stream.read(MAX_SOURCE_BYTES + 1)
            except OSError as error:
                self._say("TS111", path, f"The file cannot be read: {error.strerror}.")
                return None
        try:
            return data.decode("utf-8"), len(data)
        except UnicodeDecodeError as error:
            line = data.count(b"\n", 0, error.start) + 1
            known = "It begins like UTF-16." if data[:2] in {b"\xff\xfe", b"\xfe\xff"} else ""
            self._say(
                "TS101", path, f"Byte 0x{data[error.start]:02x} in line {line} is not UTF-8. {known}".strip(), line=line
            )
            return None

    def _source_text(self, path: str) -> str:
        """Return the text of the file that a written copy names, empty where there is none in the repository."""
        real = self._real_path(path)
        if real is None or not _is_file(self.root / real):
            return ""
        return read_untrusted(self.root / real)[:MAX_SOURCE_BYTES].decode("utf-8", "replace")

    def _real_path(self, path: str) -> str | None:
        """Return the path of the file that a name leads to, relative to the root; None outside the repository."""
        full = self.root / path
        try:
            real = full.resolve()
        except (OSError, RuntimeError):  # links in a circle; opening it says so
            return path
        if not real.is_relative_to(self.root):
            return None
        if not _is_file(real):
            return path  # whatever is wrong is said of the name
        return real.relative_to(self.root).as_posix()

    def _read_one(self, one: RuleFile) -> None:
        real = self._real_path(one.path)
        if real is None:
            self._say("TS110", one.path, "The file is a link that leads out of the repository.")
            return
        if real != one.path:
            self._aliases[one.path] = real
            self.files.append(real)
        known = self._identity(real)
        if known in self._seen:
            # Another name of a file that was read, or one that was imported: its host loads it as well.
            if self._seen[known] != one.path:
                self._aliases[one.path] = self._seen[known]
            self._also.append((one.host, self._seen[known]))
            return
        read = self._text(real)
        if read is None:
            return
        text, size = read
        parsed, matter = parsed_text(without_copies(text, self._source_text))
        if not text.strip("\ufeff \t\r\n"):
            self._say("TS109", real, line=1)
        for code, message in matter.problems:
            self._say(code, real, message, line=1)
        for key in unread_keys(one, matter):
            self._say("TS107", real, f"The host of the file does not read {key}: its rules are always loaded.", line=1)
        document = Document(
            path=real,
            text=text,
            parsed=parsed,
            size_bytes=size,
            host=one.host,
            scopes=file_scopes(one, matter),
            source="local" if one.local else "root",
            depth=one.folder.count("/") + bool(one.folder),
            folder=one.folder,
            always_apply=matter.always_apply,
            description=matter.description,
            mode=mode_of(one, matter),
        )
        self._keep(document)
        if one.host in IMPORTING:
            self._imports(document, (real,))

    def _identity(self, path: str) -> tuple[int, int]:
        try:
            status = (self.root / path).stat()
        except OSError:
            return (-1, -1)
        return (status.st_dev, status.st_ino)

    def _keep(self, document: Document) -> None:
        """Take a document up; of a copy in the same folder that holds wherever it does, no rule is read again.

        A copy in another folder is read: its commands and paths are those of that folder.
        """
        twins = self._by_text.setdefault(document.text, [])
        copied: Document | None = None
        for twin in twins if document.text.strip() else ():
            everywhere = twin.scopes == document.scopes or EVERYWHERE in twin.scopes
            if not everywhere or twin.in_constitution < document.in_constitution:
                continue
            copied = twin
            if twin.folder == document.folder:
                self._aliases[document.path] = twin.path
                self._say_copy(document, twin, "its rules are read there")
                self.documents.append(msgspec.structs.replace(document, parsed=parse(""), copy_of=twin.path))
                return
        if copied is not None and not may_import(document.text):
            self._say_copy(document, copied, "its rules apply in its own folder anyway")
        twins.append(document)
        self.documents.append(document)

    def _say_copy(self, document: Document, twin: Document, meaning: str) -> None:
        """Report a copy; a warning where one host loads both."""
        severity = None if (document.host, document.folder) == (twin.host, twin.folder) else Severity.INFO
        message = f"The file is a copy of {twin.path}; {meaning}."
        span = (0, len(document.text))
        fix = "Keep one file, and make the other one a link to it or an import of it."
        self.diagnostics.append(find("TS501", 1, document.path, message, fix=fix, span=span, severity=severity))

    def _imports(self, document: Document, chain: tuple[str, ...]) -> None:
        """Read what a document imports, depth first, where it is."""
        for one in imports_of(document):
            self._import(document, one.target, one.line, chain, constitution=one.in_constitution)

    def _import(
        self, document: Document, target: str, line: int, chain: tuple[str, ...], *, constitution: bool
    ) -> None:
        # "@/types/actions" is a path of a program's own, as its bundler resolves it.
        explicit = target.startswith(("~", ".")) or (target.startswith("/") and "." in target.rpartition("/")[2])
        if target.startswith("~"):
            self._say("TS110", document.path, f"@{target} lies outside the repository.", line=line)
            return
        base = "" if target.startswith("/") else os.path.dirname(document.path)  # noqa: PTH120 - a relative posix path
        wanted = (
            target.lstrip("/") if target.startswith(f"{self.root}/") is False else target[len(str(self.root)) + 1 :]
        )
        relative = os.path.normpath(os.path.join(base, wanted)).replace(os.sep, "/")  # noqa: PTH118
        suffix = os.path.splitext(relative)[1].lower()  # noqa: PTH122
        full = self.root / relative
        if not _is_file(full):
            if explicit or suffix in _RULE_SUFFIXES - {""}:
                if relative.startswith("..") or target.startswith("/"):
                    self._say("TS110", document.path, f"@{target} lies outside the repository.", line=line)
                else:
                    self.awaited.append(relative)
                    severity = Severity.INFO if document.host in OPTIONAL else None
                    message = f"@{target} does not exist."
                    self.diagnostics.append(find("TS103", line, document.path, message, severity=severity))
            elif not relative.startswith("..") and suffix == "":
                self.awaited.append(relative)  # a handle or a decorator today; an import if the file appears
            return  # a package name, a handle, a decorator: no import
        if relative.startswith("..") or not full.resolve().is_relative_to(self.root):
            self._say("TS110", document.path, f"@{target} lies outside the repository.", line=line)
            return
        if relative in chain:
            self._say("TS104", document.path, f"@{target} leads back: {' -> '.join((*chain, relative))}.", line=line)
            return
        if suffix not in _RULE_SUFFIXES:
            return  # data that the host shows to the model; no rule file
        if len(chain) > MAX_IMPORT_DEPTH:
            self._say("TS105", document.path, f"@{target} is import number {len(chain)} in a row.", line=line)
            return
        relative = self._real_path(relative) or relative
        self.files.append(relative)
        known = self._identity(relative)
        if known in self._seen:
            self._also.append((document.host, self._seen[known]))
            return
        read = self._text(relative)
        if read is None:
            return
        text, size = read
        imported = Document(
            path=relative,
            text=text,
            parsed=parse(text),
            size_bytes=size,
            host=document.host,
            scopes=document.scopes,
            source=document.source,
            depth=document.depth,
            folder=document.folder,
            mode=DESCRIBED if relative.endswith("SKILL.md") else document.mode,
            imported_by=document.path,
            in_constitution=constitution,
        )
        self._keep(imported)
        self._imports(imported, (*chain, relative))


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name too long, a folder that may not be entered, a null character
        return False
