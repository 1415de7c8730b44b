"""The compiled rules of a project: the constitution for the system prompt, and the rules for a task and its files."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from tipstaff.context.tokens.counting import TextCounter
from tipstaff.errors import TipstaffError, message_of
from tipstaff.globs import matches_any
from tipstaff.model import EVERYWHERE, Record

if TYPE_CHECKING:
    from tipstaff.guidance.project import Project
    from tipstaff.guidance.retrieval.retriever import ShardRetriever
    from tipstaff.model import GuidanceRule, PolicyBundle, RuleShard

RULES_TOKENS: Final = 1_500
"""What rules may take of a request: the constitution, and what is delivered for its task and files."""
TASK_TOKENS: Final = 800
"""What the rules for one task may take (ADR-G001)."""
_LEAST_TOKENS: Final = 200
"""Where earlier rules stand in the conversation already, a new task is given at least so much."""
_FRAME_TOKENS: Final = 60
_RISKS: Final = {"critical": 0, "high": 1, "medium": 2, "low": 3}


class GivenRule(Record, frozen=True, kw_only=True):
    """A rule that a request contains.

    The line in which the model reads it, where it is written, whether it is in the ``system`` prompt or a ``message``,
    and why it was given.
    """

    id: str
    line: str
    path: str
    line_number: int
    risk_class: str
    place: str
    reason: str


class _Compiled(NamedTuple):
    """The rules as they were read last."""

    project: Project
    bundle: PolicyBundle
    retriever: ShardRetriever
    prefix: str
    stamps: dict[Path, tuple[int, int, int]]
    shards: dict[str, RuleShard]
    files: frozenset[Path]


class ProjectRules:
    """The compiled rules of a project, compiled again when a rule file changes.

    They may take `most_tokens` of a request.
    """

    def __init__(self, root: str | os.PathLike[str], count: TextCounter, most_tokens: int = RULES_TOKENS) -> None:
        self._root = Path(root)
        self._count = count
        self._most = most_tokens
        self._compiled: _Compiled | None = None
        self._system: tuple[tuple[GivenRule, ...], str] = ((), "")
        self.problems: tuple[str, ...] = ()

    def refresh(self, *, everywhere: bool) -> tuple[GivenRule, ...]:
        """Read the rules again where their files changed; return new and changed ones, the most important first.

        None are returned at the first call. New rule files are looked for `everywhere`, or only at those that are
        known.
        """
        before = self._compiled
        if before is not None and not everywhere and _stamps(before.stamps) == before.stamps:
            return ()
        from tipstaff.guidance.project import open_project

        try:
            project = open_project(self._root)
            bundle, retriever, base = project.bundle, project.retriever(), project.root.resolve()
        except (TipstaffError, OSError) as error:
            self.problems = (f"the project's rules could not be compiled: {message_of(error)}",)
            return ()
        self.problems = ()
        if before is not None:
            if bundle == before.bundle:
                project.close()
                self._compiled = before._replace(stamps=_stamps(before.stamps))
                return ()
            before.project.close()
        here = self._root.resolve()
        prefix = "" if here == base else f"{here.relative_to(base).as_posix()}/"
        paths = {_absolute(base, name) for name in bundle.manifest.source_hashes}
        shards = {shard.rule.id: shard for shard in bundle.shards}
        stating = {
            _absolute(base, rule.path) for rule in (*bundle.constitution.rules, *(s.rule for s in bundle.shards))
        }
        self._compiled = _Compiled(project, bundle, retriever, prefix, _stamps(paths), shards, frozenset(stating))
        self._system = self._made_system(self._compiled)
        if before is None:
            return ()
        known = {rule.id: rule.text for rule in _rules_of(before.bundle)}
        changed = [rule for rule in _rules_of(bundle) if known.get(rule.id) != rule.text]
        in_system = {one.id for one in self._system[0]}
        return tuple(
            self._given(rule, "the rule file was edited")
            for rule in sorted(changed, key=_importance)
            if rule.id not in in_system
        )

    def withdrawn(self, standing: Iterable[GivenRule]) -> tuple[str, ...]:
        """Return the ids of rules in the conversation that hold no more."""
        if self._compiled is None:
            return ()
        known = {rule.id for rule in _rules_of(self._compiled.bundle)}
        return tuple(one.id for one in standing if one.id not in known)

    def states(self, path: Path) -> bool:
        """Whether a file's rules were compiled: then it is not sent whole beside them."""
        return self._compiled is not None and path.resolve() in self._compiled.files

    def system(self) -> tuple[tuple[GivenRule, ...], str]:
        """Return the rules that every request contains, and their text: the constitution, and what is critical."""
        return self._system

    def for_task(self, task: str, standing: Collection[str], room: int) -> tuple[GivenRule, ...]:
        """Return the rules for a task, in the user's words, that do not stand in the conversation yet.

        `room` is in tokens.
        """
        compiled = self._compiled
        if compiled is None or not task.strip():
            return ()
        found = compiled.retriever.retrieve(task, repo_scope=compiled.prefix or None, max_tokens=TASK_TOKENS)
        given = [self._shard(one.shard, f"task: {one.reason}") for one in found.shards]
        return self._within([one for one in given if one.id not in standing], room)

    def for_files(self, files: Iterable[str], standing: Collection[str], room: int) -> tuple[GivenRule, ...]:
        """Return the rules that hold for some files alone and do not stand in the conversation yet."""
        compiled = self._compiled
        if compiled is None:
            return ()
        found: dict[str, tuple[RuleShard, str]] = {}
        for file in files:
            path = compiled.prefix + _below(self._root, file)
            for rule_id, shard in compiled.shards.items():
                scopes = shard.rule.repo_scopes
                if EVERYWHERE not in scopes and rule_id not in standing and matches_any(scopes, path):
                    found.setdefault(rule_id, (shard, path))
        ordered = sorted(found.values(), key=lambda one: _importance(one[0].rule))
        return self._within([self._shard(shard, f"file: applies to {path}") for shard, path in ordered], room)

    def room(self, standing: Iterable[GivenRule]) -> int:
        """Return what further rules may take in a request, in tokens, beside those that the conversation holds."""
        taken = sum(self._count(one.line) for one in standing)
        left = max(0, self._most - self._count(self._system[1]) - _FRAME_TOKENS)
        return max(min(_LEAST_TOKENS, left), left - taken)

    def _within(self, rules: Sequence[GivenRule], room: int) -> tuple[GivenRule, ...]:
        kept: list[GivenRule] = []
        for one in rules:
            cost = self._count(one.line) + 2
            if cost <= room or one.risk_class == "critical":
                room -= cost
                kept.append(one)
        return tuple(kept)

    def _made_system(self, compiled: _Compiled) -> tuple[tuple[GivenRule, ...], str]:
        constitution = compiled.bundle.constitution
        out = set(constitution.overflow)
        given = [self._given(rule, "constitution", place="system") for rule in constitution.rules if rule.id not in out]
        text = constitution.text.strip() if given else ""
        room = self._most - _LEAST_TOKENS - _FRAME_TOKENS - self._count(text)
        known = {one.id for one in given}
        critical = [
            self._shard(shard, "critical", place="system")
            for shard in compiled.bundle.shards
            if shard.rule.risk_class == "critical" and shard.rule.id not in known
        ]
        more: list[GivenRule] = []
        for one in critical:
            room -= self._count(one.line) + 2
            if room < 0:
                self.problems = (*self.problems, f"rule {one.id} is critical, but has no room in the system prompt")
                continue
            more.append(one)
        parts = [text or "# Constitution\n"] if given or more else []
        parts += [f"- {one.line}" for one in more]
        return (*given, *more), "\n".join(parts)

    def _shard(self, shard: RuleShard, reason: str, place: str = "message") -> GivenRule:
        return self._given(shard.rule, reason, line=shard.compact_text, place=place)

    def _given(self, rule: GuidanceRule, reason: str, *, line: str = "", place: str = "message") -> GivenRule:
        shard = self._compiled.shards.get(rule.id) if self._compiled is not None else None
        return GivenRule(
            id=rule.id,
            line=line or (f"[{rule.id}] {rule.text}" if shard is None else shard.compact_text),
            path=rule.path,
            line_number=rule.line,
            risk_class=rule.risk_class,
            place=place,
            reason=reason,
        )


def rules_text(rules: Sequence[GivenRule], withdrawn: Sequence[str] = ()) -> str:
    """Return the section in which a message brings rules, and those that hold no more; empty without any."""
    lines = [f"- {one.line}" for one in rules]
    lines += [f"- [{rule_id}] holds no more: it was taken out of the project's rules" for rule_id in withdrawn]
    return "\n\n# Rules of this project for the task at hand\n\n" + "\n".join(lines) + "\n" if lines else ""


def _rules_of(bundle: PolicyBundle) -> list[GuidanceRule]:
    found = {rule.id: rule for rule in bundle.constitution.rules}
    return list((found | {shard.rule.id: shard.rule for shard in bundle.shards}).values())


def _importance(rule: GuidanceRule) -> tuple[int, int, int]:
    return _RISKS.get(rule.risk_class, 2), -int(rule.is_constitution), -rule.priority


def _absolute(base: Path, name: str) -> Path:
    return Path(name).expanduser().resolve() if name.startswith("~") else (base / name).resolve()


def _stamps(paths: Iterable[Path]) -> dict[Path, tuple[int, int, int]]:
    found: dict[Path, tuple[int, int, int]] = {}
    for path in paths:
        try:
            status = path.stat()
            found[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
        except OSError:
            found[path] = (0, 0, 0)
    return found


def _below(root: Path, path: str) -> str:
    path = path.replace("\\", "/")
    for folder in (root.absolute(), root.resolve()):
        prefix = folder.as_posix().rstrip("/") + "/"
        if path.startswith(prefix):
            return path.removeprefix(prefix)
    return path.removeprefix("./")
