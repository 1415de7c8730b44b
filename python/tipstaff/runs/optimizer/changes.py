"""A change of one rule, and the patch of the rule files that makes it."""

from __future__ import annotations

import difflib
import hashlib
import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, NamedTuple

from tipstaff.errors import ConfigError
from tipstaff.guidance.project import compile_repository
from tipstaff.model import GuidanceRule, PolicyBundle, Record
from tipstaff.store.replacing import replaced_file
from tipstaff.store.untrusted import read_untrusted

KINDS: Final = ("modify", "add", "promote", "demote", "remove")


class Change(Record, frozen=True, kw_only=True):
    """A change of one rule.

    Attributes
    ----------
    kind
        ``modify`` (other words), ``add``, ``promote`` (from a local file into the root file), ``demote`` (the way
        back), ``remove``.
    rule_id
        The rule as runs name it.
    before, after
        Its text; `before` is empty for ``add``, `after` for ``remove``.
    rationale
        The evidence for it.
    """

    kind: str
    rule_id: str
    before: str
    after: str
    rationale: str = ""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ConfigError(f"kind is {self.kind!r}; it must be one of {', '.join(KINDS)}")
        if self.kind in {"modify", "add"} and (not self.after.strip() or self.after == self.before):
            raise ConfigError(f"{self.rule_id}: a change to {self.kind} needs another text than the one there is")
        if "\n" in self.after:
            raise ConfigError(f"{self.rule_id}: a rule is one line of text")

    @property
    def id(self) -> str:
        """Identifies the change by what it does: equal changes have equal ids."""
        text = "\0".join((self.kind, self.rule_id, self.before, self.after))
        return hashlib.sha256(text.encode()).hexdigest()[:12]


# -- a change as a patch of the rule files: making it, applying it, taking it back, the record of th -------------------


ROOT_FILE: Final = "CLAUDE.md"
LOCAL_FILE: Final = "CLAUDE.local.md"
HEADING: Final = "## Learned rules"
_ACCEPTED: Final = "## Status\nAccepted\n"


class FileEdit(Record, frozen=True):
    """One file before and after; `before` is None for a file that is not there."""

    path: str
    before: str | None
    after: str


class Patch(Record, frozen=True):
    """What a change does to the files, in the order in which it is to be done.

    A rule that moves is written where it goes before it is taken from where it was, so it is there at every step.
    """

    change: Change
    edits: tuple[FileEdit, ...]

    @property
    def text(self) -> str:
        """The patch as ``git apply`` and ``patch -p1`` take it."""
        return "".join(_unified(edit) for edit in self.edits)


def with_changes(root: Path, bundle: PolicyBundle, changes: Iterable[Change]) -> PolicyBundle:
    """Return the rules of a repository compiled as they would be with some changes; nothing is written.

    Raises
    ------
    ConfigError
        A change does not apply to the files as they are, or would lose its rule.
    """
    texts: dict[str, str] = {}
    for change in changes:
        texts |= {edit.path: edit.after for edit in patch_of(root, bundle, change, texts).edits}
        bundle = compile_repository(root, texts=texts)
        problem = lost(bundle, change)
        if problem:
            raise ConfigError(f"{change.rule_id}: {problem}")
    return bundle


def applies(root: Path, bundle: PolicyBundle, change: Change) -> bool:
    """Return whether a change can still be made: its rule was not edited since, for example."""
    try:
        patch_of(root, bundle, change)
    except ConfigError:
        return False
    return True


def lost(bundle: PolicyBundle, change: Change) -> str:
    """Return why a rule could not be retrieved from the rules as they are with a change, empty where it can."""
    if change.kind == "remove":
        return ""
    rule = bundle.rule(change.rule_id)
    if rule is None:
        return "the compiler does not find the rule after the change"
    if rule.text != change.after:
        return f"the compiler reads the rule as {rule.text!r} after the change"
    loaded = {shard.rule.id for shard in bundle.shards}
    if rule.id not in loaded and rule.text not in bundle.constitution.text:
        return "the rule is neither always loaded nor retrievable after the change"
    return ""


def patch_of(root: Path, bundle: PolicyBundle, change: Change, texts: Mapping[str, str] | None = None) -> Patch:
    """Return the patch of a change; `texts` stand for the files with their paths.

    Raises
    ------
    ConfigError
        The rule is not where the bundle says, or the change does not apply to it.
    """
    files = _Files(root, texts or {})
    rule = bundle.rule(change.rule_id)
    if change.kind == "add":
        target = _root_file(bundle)
        return Patch(change, (_appended(files, target, f"- [{change.rule_id}] {change.after}"),))
    if rule is None:
        raise ConfigError(f"{change.rule_id}: there is no such rule; compile again")
    text = files.read(rule.path)
    source = _source_of(rule, text)
    if change.kind == "modify":
        if rule.text != change.before or change.before not in source:
            raise ConfigError(
                f"{rule.path}:{rule.line}: {rule.id} is written across lines or was changed since; edit it by hand:\n"
                f"{change.after}"
            )
        named = _with_id(rule, source.replace(change.before, change.after, 1))
        return Patch(change, (FileEdit(rule.path, text, _spliced(text, rule, named)),))
    without = FileEdit(rule.path, text, _without(text, rule))
    if change.kind == "remove":
        return Patch(change, (without,))
    target = _root_file(bundle) if change.kind == "promote" else LOCAL_FILE
    if target == rule.path:
        raise ConfigError(f"{rule.id} is in {target} already")
    line = source.replace(rule.text, change.after, 1) if change.after else source
    return Patch(change, (_appended(files, target, f"- {' '.join(_with_id(rule, line).split())}"), without))


def apply_patch(root: Path, patch: Patch, *, reverse: bool = False) -> tuple[str, ...]:
    """Write a patch's files, or what was there before; returns their paths.

    Raises
    ------
    ConfigError
        A file is not as the patch expects it; none was written.
    StoreWriteError
        A file cannot be written.
    """
    edits = patch.edits[::-1] if reverse else patch.edits
    for edit in edits:
        expected = edit.after if reverse else edit.before
        found = _read(root / edit.path) if (root / edit.path).exists() else None
        if found != expected:
            raise ConfigError(f"{edit.path}: it was changed since; propose the change again")
    for edit in edits:
        text = edit.before if reverse else edit.after
        if text is None:
            (root / edit.path).unlink()
            continue
        with replaced_file(root / edit.path) as file:
            file.write(text.encode())
    return tuple(edit.path for edit in edits)


def decision_record(patch: Patch, *, number: int, decision: str, evidence: str, at_ms: int) -> str:
    """Return the record of a decision in Markdown, in the shape of the architecture decision records."""
    change = patch.change
    date = datetime.fromtimestamp(at_ms / 1000, UTC).date().isoformat()
    verb = {"modify": "Reword", "add": "Add", "promote": "Promote", "demote": "Demote", "remove": "Remove"}[change.kind]
    return (
        f"# {number:04d}: {verb} rule {change.rule_id}\n\n"
        f"## Status\n{decision}\n\n## Date\n{date}\n\n"
        f"## Context\n{change.rationale or 'Asked for by a person.'}\n\n"
        f"## Decision\n{verb} the rule.\n\n"
        f"- before: {change.before or '(none)'}\n- after: {change.after or '(none)'}\n\n"
        f"## Evidence\n{evidence}\n\n"
        f"## Consequences\nChange `{change.id}`; `tipstaff rules optimize --rollback {change.id}` takes it back.\n\n"
        f"```diff\n{patch.text}```\n"
    )


def next_number(folder: Path) -> int:
    """Return the number of the next record in a folder of decisions, which may hold others' records."""
    numbers = (int(path.name[:4]) for path in folder.glob("[0-9][0-9][0-9][0-9]-*.md"))
    return max(numbers, default=0) + 1


def record_name(change: Change) -> str:
    """Return the name of the record of a change, without its number and suffix."""
    return f"{change.kind}-{re.sub(r'[^a-z0-9_.]+', '-', change.rule_id.lower())}"


def mark_rolled_back(folder: Path, change: Change, at_ms: int) -> Path | None:
    """Say in the record of a change that it was taken back; returns its path, None where it is not there any more."""
    date = datetime.fromtimestamp(at_ms / 1000, UTC).date().isoformat()
    for path in sorted(folder.glob(f"*-{record_name(change)}.md"), reverse=True):
        text = _read(path)
        if f"Change `{change.id}`;" in text and _ACCEPTED in text:
            with replaced_file(path) as file:
                file.write(text.replace(_ACCEPTED, f"## Status\nRolled back on {date}\n", 1).encode())
            return path
    return None


# -- text --------------------------------------------------------------------------------------------------------------


def _read(path: Path) -> str:
    try:
        return read_untrusted(path).decode("utf-8")
    except FileNotFoundError:
        raise ConfigError(f"{path}: the file of the rule is gone; compile again") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: it is not UTF-8; change the rule by hand") from error


class _Files(NamedTuple):
    """The files of a repository, some of them as a change would make them."""

    root: Path
    texts: Mapping[str, str]

    def has(self, path: str) -> bool:
        return path in self.texts or (self.root / path).exists()

    def read(self, path: str) -> str:
        return self.texts[path] if path in self.texts else _read(self.root / path)


def _with_id(rule: GuidanceRule, source: str) -> str:
    """Return a rule's source with its id: one made from its text would change with it, and runs would name two."""
    return f"[{rule.id}] {source}" if rule.is_generated_id and f"[{rule.id}]" not in source else source


def _source_of(rule: GuidanceRule, text: str) -> str:
    start, end = rule.span
    source = text[start:end]
    if not source or rule.text.split()[0] not in source:
        raise ConfigError(f"{rule.path}:{rule.line}: {rule.id} is not there any more; compile again")
    return source


def _spliced(text: str, rule: GuidanceRule, source: str) -> str:
    start, end = rule.span
    return text[:start] + source + text[end:]


def _without(text: str, rule: GuidanceRule) -> str:
    """Return a text without the lines of a rule."""
    start = text.rfind("\n", 0, rule.span[0]) + 1
    end = text.find("\n", rule.span[1])
    return text[:start] + ("" if end < 0 else text[end + 1 :])


def _root_file(bundle: PolicyBundle) -> str:
    """Return the file at the root that rules are added to: one that there is."""
    for name in (ROOT_FILE, "AGENTS.md", "GEMINI.md"):
        if name in bundle.manifest.source_hashes:
            return name
    return ROOT_FILE


def _appended(files: _Files, name: str, line: str) -> FileEdit:
    before = files.read(name) if files.has(name) else None
    text = before or ""
    if text and not text.endswith("\n"):
        text += "\n"
    lines = text.rstrip("\n").split("\n") if text else []
    if HEADING not in lines:
        return FileEdit(name, before, f"{text}{chr(10) if text else ''}{HEADING}\n{line}\n")
    at = lines.index(HEADING) + 1
    while at < len(lines) and not lines[at].startswith("#"):
        at += 1
    while lines[at - 1] == "":
        at -= 1
    return FileEdit(name, before, "\n".join([*lines[:at], line, *lines[at:]]) + "\n")


def _unified(edit: FileEdit) -> str:
    old = [] if edit.before is None else edit.before.splitlines(keepends=True)
    former = "/dev/null" if edit.before is None else f"a/{edit.path}"
    lines = difflib.unified_diff(old, edit.after.splitlines(keepends=True), former, f"b/{edit.path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
