"""One set of rule files written for several hosts, each in its format: ``tipstaff sync``.

What is written stands between two comments that name its source, in a file of its own or in one that has other words
as well; nothing outside of them is touched. Scopes and modes are translated as the host means them (``write`` in
``guidance/reading/rule_files.toml``); what a host cannot hold is said. A written copy is not read as long as it says
what its source says: `tipstaff.guidance.reading.documents.without_copies`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from tipstaff.errors import ConfigError, SourceNotFoundError
from tipstaff.frontmatter import ALWAYS, DESCRIBED, FILES, MANUAL
from tipstaff.guidance.reading.documents import COPY, Document, Repository, note_of
from tipstaff.guidance.reading.markdown import split_front_matter
from tipstaff.guidance.reading.rule_files import OUTPUTS
from tipstaff.guidance.reading.sources import IMPORTING, read_repository
from tipstaff.model import EVERYWHERE, Record
from tipstaff.store.inside import refuse_links_out
from tipstaff.store.replacing import replaced_file
from tipstaff.store.untrusted import read_untrusted_text

_PLAIN_FOLDER: Final = re.compile(r"([^*?\[\]{}!]+)/\*\*")
_UNNAMED: Final = frozenset({"instructions", "rules", "steering"})
_NAME: Final = re.compile(r"[^A-Za-z0-9._-]+")


class Change(Record, frozen=True):
    """One file that is not as its source says.

    Attributes
    ----------
    path
        Relative to the repository.
    text
        What it is to be; None where it is to go.
    why
        ``missing``, ``changed`` or ``left over``.
    """

    path: str
    text: str | None
    why: str


class SyncPlan(Record, frozen=True):
    """What `plan` finds.

    Attributes
    ----------
    source
        The host whose files are the source.
    targets
        The hosts that are written for.
    changes
        The files to be written, by path.
    losses
        What a host cannot hold, in words.
    kept
        Files of somebody else's where one of ours would be; they stay as they are.
    """

    source: str
    targets: tuple[str, ...]
    changes: tuple[Change, ...]
    losses: tuple[str, ...]
    kept: tuple[str, ...]


class _Piece(NamedTuple):
    """A source's words for one file."""

    path: str
    source: str
    note: str
    body: str
    matter: str
    own: bool


def source_host(repository: Repository, named: str | None = None) -> str:
    """Return the host whose files are the source: the named one, that of ``AGENTS.md``, or the one with most words.

    Raises
    ------
    ConfigError
        If the host is none that has rule files here.
    """
    words: dict[str, int] = {}
    for one in _documents(repository.documents):
        for host in _hosts_of(one, repository):
            words[host] = words.get(host, 0) + len(_words(one, repository.root))
    if named is not None and named not in words:
        raise ConfigError(f"{named} has no rule files here; there are those of {', '.join(words) or 'nobody'}")
    if not words:
        raise SourceNotFoundError(f"{repository.root}: no rule files; write an AGENTS.md")
    return named or ("agents" if "agents" in words else max(words, key=lambda host: words[host]))


def plan(root: Path, targets: Sequence[str], *, source: str | None = None) -> SyncPlan:
    """Return what is to be written so that other hosts have the rules of one.

    Parameters
    ----------
    root
        The repository.
    targets
        Hosts of `tipstaff.guidance.reading.rule_files.OUTPUTS`.
    source
        The host whose files are taken; see `source_host`.

    Raises
    ------
    ConfigError
        If a host is unknown.
    SourceNotFoundError
        If there are no rule files.
    """
    if unknown := sorted(set(targets) - OUTPUTS.keys()):
        raise ConfigError(f"there is no format for {', '.join(unknown)}; there are {', '.join(sorted(OUTPUTS))}")
    repository = read_repository(root)
    chosen = source_host(repository, source)
    documents = [one for one in _documents(repository.documents) if chosen in _hosts_of(one, repository)]
    losses: list[str] = []
    files: dict[str, list[_Piece]] = {}
    for target in dict.fromkeys(targets):
        if target == chosen:
            continue
        taken: set[str] = set()
        for document in documents:
            imported = document.imported_by is not None and target in IMPORTING
            if not imported and target not in _hosts_of(document, repository):
                body = _words(document, root)
                for piece in _pieces(document, body, target, taken, losses) if body else ():
                    files.setdefault(piece.path, []).append(piece)
    changes: list[Change] = []
    kept: list[str] = []
    sources = {one.path for one in documents}
    written = {one.path for one in repository.documents if COPY.search(one.text)}
    for path in sorted(files.keys() | written):
        full = root / path
        if full.is_symlink() or path in sources:
            continue  # a link to the source says what it says
        former = read_untrusted_text(full) if full.is_file() else None
        mine = files.get(path, [])
        if former is not None and any(one.own for one in mine) and not COPY.search(former):
            kept.append(path)
            continue
        if not mine and former is not None and not _left_over(former, chosen, targets, path, repository):
            continue
        text = _merged(former or "", mine)
        if text != (former or ""):
            why = "missing" if former is None else "changed" if mine else "left over"
            changes.append(Change(path=path, text=text or None, why=why))
    return SyncPlan(
        source=chosen,
        targets=tuple(targets),
        changes=tuple(changes),
        losses=tuple(dict.fromkeys(losses)),
        kept=tuple(kept),
    )


def synced_hosts(root: Path) -> tuple[str, ...]:
    """Return the hosts for which something was written before.

    Raises
    ------
    ConfigError
        If there is none: nobody knows for whom to write.
    """
    found = dict.fromkeys(one.host for one in read_repository(root).documents if COPY.search(one.text))
    if not found:
        raise ConfigError(f"nothing was written before; name hosts with --to: {', '.join(sorted(OUTPUTS))}")
    return tuple(found)


def apply(root: Path, changes: Sequence[Change]) -> None:
    """Write the files of a plan; each takes the place of the former one at once.

    Raises
    ------
    StoreWriteError
        If a link leads a file out of the repository.
    """
    for change in changes:
        path = root / change.path
        refuse_links_out(path, root)
        if change.text is None:
            path.unlink(missing_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        with replaced_file(path) as file:
            file.write(change.text.encode("utf-8", "surrogateescape"))
        path.chmod(mode)


def _documents(documents: Sequence[Document]) -> Iterator[Document]:
    for one in documents:
        if one.source == "root" and one.copy_of is None and not one.path.endswith("SKILL.md"):
            yield one


def _words(document: Document, root: Path) -> str:
    """Return a document's own words: without front matter, and without copies of files that are there."""
    text = document.text.removeprefix("\ufeff").replace("\r\n", "\n")
    text = text[split_front_matter(text)[1] :]

    def own(match: re.Match[str]) -> str:
        return "" if (root / match["source"]).exists() else f"{match['note'] or ''}{match['body']}{match['end']}"

    return COPY.sub(own, text).strip()


def _hosts_of(document: Document, repository: Repository) -> set[str]:
    """Return the hosts that load a document: its own, and those that a link or an import leads to it."""
    return {document.host, *(host for host, path in repository.also_loaded if path == document.path)}


def _left_over(former: str, chosen: str, targets: Sequence[str], path: str, repository: Repository) -> bool:
    """Whether a file holds words of a source that is gone, or that a host which is written for has no more."""
    host = next((one.host for one in repository.documents if one.path == path), "")
    there = {one.path for one in repository.documents if chosen in _hosts_of(one, repository)}
    named = [match["source"] for match in COPY.finditer(former)]
    return (host in targets and any(one in there for one in named)) or any(
        not (repository.root / one).exists() for one in named
    )


def _pieces(document: Document, body: str, target: str, taken: set[str], losses: list[str]) -> Iterator[_Piece]:
    """Yield a document in a host's format: its words, and where they go."""
    output = OUTPUTS[target]
    scopes, mode = document.scopes, document.mode
    folder = _folder_of(scopes) if document.host == "agents" or mode != FILES else ""
    modes: Mapping[str, Any] = output.get("modes", {})
    if mode == MANUAL and MANUAL not in modes:
        losses.append(f"{target} has no rules that are loaded by hand: {document.path} is left out")
        return
    narrowed = EVERYWHERE not in scopes
    if narrowed and output.get("nested") and (folder := folder or _folder_of(scopes)):
        yield _Piece(f"{folder}/{output['main']}", document.path, "", body, "", own=False)
        return
    if mode == DESCRIBED and DESCRIBED not in modes:
        losses.append(f"{target} has no rules that are loaded by their description: {document.path} is always loaded")
        mode = FILES if narrowed else ALWAYS
    negated = [one for one in scopes if one.startswith("!")]
    if negated and "key" in output:
        losses.append(f"{target} takes no files out of a scope: {', '.join(negated)} of {document.path} is not said")
    held = [one for one in scopes if not one.startswith("!")] if narrowed else []
    main = str(output.get("main", ""))
    if "rules" in output and (mode != ALWAYS or narrowed or not main or main in taken):
        note = ""
        if held and "key" not in output:
            losses.append(f"{target} has no scopes: {document.path} is always loaded, and says where it applies")
            note, held = note_of(held), []
        matter = _front_matter(output, FILES if held and mode == ALWAYS else mode, held, document.description)
        yield _Piece(_free(output["rules"], document.path, taken), document.path, note, body, matter, own=True)
        return
    if held:
        losses.append(f"{target} has no scopes: {document.path} is always loaded, and says where it applies")
    taken.add(main)
    yield _Piece(main, document.path, note_of(held), body, "", own=False)


def _folder_of(scopes: Sequence[str]) -> str:
    """Return the folder that scopes stand for, empty where they stand for anything else."""
    match = _PLAIN_FOLDER.fullmatch(scopes[0]) if len(scopes) == 1 else None
    return match[1] if match is not None else ""


def _front_matter(output: Mapping[str, Any], mode: str, scopes: Sequence[str], description: str) -> str:
    import yaml

    data: dict[str, Any] = {}
    modes: Mapping[str, Mapping[str, Any]] = output.get("modes", {})
    if description and modes:
        data["description"] = description
    if scopes:
        # Where a bare name is about the root alone it has a slash before it here.
        plain = [one.removeprefix("/") if "/" not in one[1:] and output.get("rooted") else one for one in scopes]
        data[output["key"]] = plain if output.get("list") else ",".join(plain)
    data.update(modes.get(mode, {}))
    return f"---\n{yaml.safe_dump(data, sort_keys=False, allow_unicode=True, width=1_000)}---\n" if data else ""


def _free(pattern: str, path: str, taken: set[str]) -> str:
    """Return a file's place among a host's rules, named after its source."""
    parts = [
        part
        for part in path.split("/")
        if not part.startswith(".") and part not in {"rules", "steering", "instructions"}
    ]
    last = parts.pop() if parts else path.strip(".")
    stem = last.split(".")[0]
    name = _NAME.sub(
        "-", "-".join(parts if parts and stem in {"AGENTS", "CLAUDE", "GEMINI"} else [*parts, stem]).lower()
    )
    found, number = pattern.replace("{name}", name), 1
    while found in taken:
        number += 1
        found = pattern.replace("{name}", f"{name}-{number}")
    taken.add(found)
    return found


def _merged(former: str, pieces: Sequence[_Piece]) -> str:
    """Return a file with the pieces in it: each in its place, new ones at the end; others' words as they are."""
    regions = {
        one.source: f"<!-- tipstaff:sync {one.source} -->\n{one.note}{one.body}\n<!-- /tipstaff:sync -->"
        for one in pieces
    }
    used: set[str] = set()

    def replaced(match: re.Match[str]) -> str:
        source = match["source"]
        if source in regions and source not in used:
            used.add(source)
            return regions[source] + match["end"]
        return ""

    text = COPY.sub(replaced, former)
    own = bool(pieces) and pieces[0].own
    if own:
        text = text[split_front_matter(text)[1] :].lstrip("\n") if text.startswith("---") else text
    for source, region in regions.items():
        if source not in used:
            text = f"{text.rstrip()}\n\n{region}\n".lstrip("\n")
    if own:
        return pieces[0].matter + text
    return text if pieces or split_front_matter(text)[0] is None or text[split_front_matter(text)[1] :].strip() else ""
