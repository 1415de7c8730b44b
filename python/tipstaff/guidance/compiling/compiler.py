"""The compiler: documents in, a policy bundle out.

Order of work: extract the rules of every document, give each its attributes and id, merge the files (same ids, nested
files, the local overlay), keep the ids of rules whose words changed a little, sort by priority, relate rules to each
other, refuse local rules that would weaken the constitution, pack the constitution, make shards and manifest. What was
decided on the way is in `PolicyBundle.diagnostics`.

Source: ADR-G002 (constitution and shards) and the compiler of the guidance control plane.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final

from tipstaff.budgets import MAX_SOURCE_BYTES
from tipstaff.errors import SourceError
from tipstaff.frontmatter import ALWAYS
from tipstaff.guidance.compiling import conflicts
from tipstaff.guidance.compiling.compiler_config import CompilerConfig
from tipstaff.guidance.compiling.constitution import compact_text, notes_of, pack, short_hash
from tipstaff.guidance.compiling.election import CONSTITUTION_TOKENS, FOLDER_TOKENS, elect, folder_scope
from tipstaff.guidance.compiling.identity import match_former
from tipstaff.guidance.compiling.merging import Merging, folder_of
from tipstaff.guidance.compiling.precedence import Laws, lifts_rules, nearer_wins, stricter
from tipstaff.guidance.compiling.rule_maker import RuleMaker
from tipstaff.guidance.compiling.statements import CONFLICT, CONTRADICTION, POSSIBLE
from tipstaff.guidance.diagnostics import find
from tipstaff.guidance.extraction.extraction import extract
from tipstaff.guidance.reading.documents import Document, document_from_text
from tipstaff.guidance.wording.tokenize import plain_words
from tipstaff.guidance.wording.word_roles import classes, column, lexicon
from tipstaff.kernels import read_words
from tipstaff.model import (
    EVERYWHERE,
    Constitution,
    Diagnostic,
    GuidanceRule,
    ManifestEntry,
    PolicyBundle,
    Relation,
    RuleManifest,
    RuleShard,
    Severity,
)

_INFERRED_WORDS: Final = 400
OPPOSITIONS: Final = frozenset({CONTRADICTION, CONFLICT, POSSIBLE})


def compile_guidance(
    root: str, local: str | None = None, *, config: CompilerConfig | None = None, previous: PolicyBundle | None = None
) -> PolicyBundle:
    """Compile the text of a rule file, and of a local overlay, into a policy bundle.

    Parameters
    ----------
    root
        Markdown text of the root rule file; may be empty.
    local
        Text of the local overlay (``CLAUDE.local.md``). It may add and tighten; it cannot weaken the constitution.
    config
        See `CompilerConfig`.
    previous
        The bundle of an earlier compilation: rules whose words changed a little keep its ids.

    Raises
    ------
    TypeError
        If a text is not a string.
    SourceError
        If a text is larger than a rule file may be.
    """
    documents: list[Document] = []
    for name, text in (("root", root), ("local", local)):
        if text is None or (name == "local" and not text):
            continue
        if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"{name} is a {type(text).__name__}; it must be the text of a rule file")
        if len(text) > MAX_SOURCE_BYTES:
            raise SourceError(f"{name} has {len(text):,} characters; a rule file may have at most {MAX_SOURCE_BYTES:,}")
        documents.append(document_from_text(text, name, source=name))
    return compile_documents(documents, config=config, previous=previous)


def compile_documents(
    documents: Sequence[Document],
    *,
    config: CompilerConfig | None = None,
    previous: PolicyBundle | None = None,
    diagnostics: Iterable[Diagnostic] = (),
) -> PolicyBundle:
    """Compile documents, outer folders first and local ones last, into a policy bundle.

    Parameters
    ----------
    documents
        As `tipstaff.guidance.reading.sources.read_repository` orders them.
    config, previous
        As for `compile_guidance`.
    diagnostics
        Findings made while reading, to be carried along.
    """
    former = previous.rules() if previous is not None else ()
    compilation = _Compilation(config or CompilerConfig(), list(diagnostics), former)
    for document in documents:
        compilation.add_document(document)
    return compilation.finish(documents, previous)


class _Compilation(Merging):
    def __init__(
        self, config: CompilerConfig, diagnostics: list[Diagnostic], former: Sequence[GuidanceRule] = ()
    ) -> None:
        super().__init__(diagnostics, former)
        self.config = config
        self.modes: dict[str, str] = {}
        self.today = config.today or dt.datetime.now(tz=dt.UTC).date().isoformat()

    # -- one document -----------------------------------------------------------------------------------------------

    def add_document(self, document: Document) -> None:
        self.modes[document.path] = document.mode
        candidates, problems = extract(document.parsed, document.path, in_constitution=document.in_constitution)
        self.diagnostics.extend(problems)
        texts = [candidate.text for candidate in candidates]
        read = read_words(lexicon(), *column(texts, plain_words), _INFERRED_WORDS)
        config = self.config
        maker = RuleMaker(document, risk_class=config.default_risk_class, priority=config.default_priority)
        for candidate, (value, words) in zip(candidates, read, strict=True):
            if candidate.rule_id is None and not config.auto_generate_ids:
                source = document.parsed.source
                line = source.line(candidate.start)
                low = min([candidate.start, *(start for start, _ in candidate.context)])
                high = max([candidate.end, *(end for _, end in candidate.context)])
                self.diagnostics.append(find("TS208", line, document.path, span=source.span(low, high)))
                continue
            self.add(maker.rule(candidate, classes(value), words))

    # -- all documents ----------------------------------------------------------------------------------------------

    def finish(self, documents: Sequence[Document], previous: PolicyBundle | None) -> PolicyBundle:
        rules = list(self.rules.values())
        if previous is not None:
            rules = self._keep_ids(rules, previous)
        rules.sort(key=lambda rule: -rule.priority)
        relations, complete = conflicts.relate(rules)
        rules, relations = self._refuse_weakening_locals(rules, relations)
        self._report(rules, relations, complete)
        rules, relations = self._without_twins(rules, relations)
        rules = self._elect(rules)
        self._report_missed()
        constitution = self._constitution(rules)
        overflow = set(constitution.overflow)
        notes = notes_of(rules, relations)
        shards = tuple(
            RuleShard(rule, compact_text(rule, self.config) + notes.get(rule.id, ""))
            for rule in rules
            if not rule.is_constitution or rule.id in overflow or folder_scope(rule)
        )
        constitution_rules = sum(rule.is_constitution for rule in rules)
        manifest = RuleManifest(
            rules=tuple(
                ManifestEntry(
                    id=rule.id,
                    triggers=_triggers(rule.intents, rule.domains, rule.tool_classes),
                    verifier=rule.verifier,
                    risk_class=rule.risk_class,
                    priority=rule.priority,
                    source=rule.source,
                )
                for rule in rules
            ),
            source_hashes={document.path: short_hash(document.text) for document in documents},
            total_rules=len(rules),
            constitution_rules=constitution_rules,
            shard_rules=len(rules) - constitution_rules,
        )
        return PolicyBundle(
            constitution=constitution,
            shards=shards,
            manifest=manifest,
            diagnostics=tuple(sorted(self.diagnostics, key=lambda one: (one.source, one.line, one.code))),
            relations=relations,
        )

    def _keep_ids(self, rules: list[GuidanceRule], previous: PolicyBundle) -> list[GuidanceRule]:
        former = previous.rules()
        names = {rule.id: rule.former_id for rule in former if rule.former_id}
        matched = match_former(rules, former)
        taken = {rule.id for rule in rules}
        kept: list[GuidanceRule] = []
        for rule in rules:
            old = matched.get(rule.id)
            if old is None:
                kept.append(rule.replace(former_id=names[rule.id]) if rule.id in names else rule)
            elif rule.is_generated_id and old not in taken:
                kept.append(rule.replace(id=old, former_id=rule.id))
            else:
                kept.append(rule.replace(former_id=old))
        return kept

    def _refuse_weakening_locals(
        self, rules: list[GuidanceRule], relations: tuple[Relation, ...]
    ) -> tuple[list[GuidanceRule], tuple[Relation, ...]]:
        """Leave out local rules that contradict a constitution rule of the root, or permit what it forbids."""
        if all(rule.source != "local" for rule in rules):
            return rules, relations
        by_id = {rule.id: rule for rule in rules}
        refused: set[str] = set()
        shared = [rule for rule in rules if rule.source == "root"]
        # Rules that are going to be elected are protected as well.
        protected = {rule.id for rule in self._elect(rules) if rule.is_constitution}
        laws = Laws([rule for rule in shared if rule.id in protected])
        for rule in rules:
            if rule.source != "local":
                continue
            law = laws.weakened_by(rule)
            if law is None and shared and lifts_rules(rule.text):
                law = shared[0]
            if law is not None:
                refused.add(rule.id)
                self.refuse(rule, law)
        for relation in relations:
            if relation.kind not in OPPOSITIONS:
                continue
            left, right = by_id[relation.left], by_id[relation.right]
            for rule, root in ((left, right), (right, left)):
                if rule.source == "local" != root.source and root.id in protected and rule.id not in refused:
                    refused.add(rule.id)
                    self.refuse(rule, root)
        if not refused:
            return rules, relations
        return (
            [rule for rule in rules if rule.id not in refused],
            tuple(one for one in relations if one.left not in refused and one.right not in refused),
        )

    def _without_twins(
        self, rules: list[GuidanceRule], relations: tuple[Relation, ...]
    ) -> tuple[list[GuidanceRule], tuple[Relation, ...]]:
        """Drop rules without an id of their own whose words are those of a rule that holds wherever they do."""
        by_id = {rule.id: rule for rule in rules}
        dropped: dict[str, str] = {}
        for relation in relations:
            if relation.kind != "duplicate":
                continue
            left, right = by_id[relation.left], by_id[relation.right]
            for twin, kept in ((right, left), (left, right)):
                if twin.id not in dropped and kept.id not in dropped and _gives_way(twin, kept):
                    dropped[twin.id] = kept.id
                    by_id[kept.id] = stricter(kept, twin)
                    break
        if not dropped:
            return rules, relations
        # What was said of the twin is about the rule that stays.
        self.diagnostics = [
            one.replace(rule_id=dropped[one.rule_id]) if one.rule_id in dropped else one for one in self.diagnostics
        ]
        remaining = sorted(
            (by_id[rule.id] for rule in rules if rule.id not in dropped), key=lambda rule: -rule.priority
        )
        return remaining, tuple(one for one in relations if one.left not in dropped and one.right not in dropped)

    def _report(self, rules: list[GuidanceRule], relations: tuple[Relation, ...], complete: bool) -> None:
        by_id = {rule.id: rule for rule in rules}
        for relation in relations:
            first, second = by_id[relation.left], by_id[relation.right]
            if (second.path, second.line) < (first.path, first.line) and first.path == second.path:
                first, second = second, first
            if relation.kind == "duplicate":  # said of the one that goes
                left, right = by_id[relation.left], by_id[relation.right]
                if _gives_way(right, left):
                    first, second = left, right
                elif _gives_way(left, right):
                    first, second = right, left
                elif first.is_generated_id and not second.is_generated_id:
                    first, second = second, first
            there = f"{first.id} in {first.path}:{first.line}"
            if relation.kind in OPPOSITIONS:
                if first.id in (second.overrides, first.overrides) or second.id == first.overrides:
                    continue
                if relation.kind == POSSIBLE:
                    self.say("TS506", second, f"{second.text!r} may conflict with {there}: {first.text!r}.")
                elif nearer_wins(first, second):
                    self.say("TS504", second, f"{there} says the opposite: {first.text!r}. The nearer file wins.")
                else:
                    self.say("TS503", second, f"{second.text!r} contradicts {there}: {first.text!r}.")
            elif relation.kind == "duplicate":
                self.say_same(second, first, f"Duplicate of {there}.")
            else:
                self.say("TS502", second, f"Nearly the same as {there}: {first.text!r}.")
        for rule in rules:
            if not in_force(rule, self.today):
                ended = rule.active_until is not None and rule.active_until < self.today
                what = f"was in force until {rule.active_until}" if ended else f"comes into force on {rule.active_from}"
                self.say("TS305", rule, f"The rule {what}.")
        if not complete:
            self.diagnostics.append(
                find("TS505", 0, rules[0].path, "Too many rules are alike; not all pairs were compared.")
            )

    def _elect(self, rules: list[GuidanceRule]) -> list[GuidanceRule]:
        """Make the rules in which most is at stake part of the constitution, in the root and in each folder."""
        holds = [in_force(rule, self.today) for rule in rules]
        election = elect(
            rules, self.config.max_constitution_lines, holds, lambda path: self.modes.get(path, ALWAYS) == ALWAYS
        )
        self.missed, self.overflow = election.missed, election.overflow
        return election.rules

    def _report_missed(self) -> None:
        """Report once for each file which rules belong to the constitution and found no room."""
        by_path: dict[str, list[tuple[GuidanceRule, GuidanceRule | None]]] = {}
        for rule, weakest in self.missed:
            by_path.setdefault(rule.path, []).append((rule, weakest))
        for found in by_path.values():
            first, weakest = found[0]
            text = f"{len(found)} rules belong to the constitution and find no room, such as {first.text!r}."
            if weakest is not None:
                text += f" Of those that it has {weakest.id} counts least: {weakest.text!r}."
            self.say("TS405", first, text)

    def _constitution(self, rules: list[GuidanceRule]) -> Constitution:
        laws = [rule for rule in rules if rule.is_constitution and not folder_scope(rule)]
        nested = [
            rule for rule in rules if rule.is_constitution and folder_scope(rule) and rule.id not in self.overflow
        ]
        chosen = [rule for rule in laws if in_force(rule, self.today)]
        cap = self.config.max_constitution_lines
        packed = pack([rule for rule in chosen if rule.id not in self.overflow], cap)
        overflow = self.overflow.union(packed.overflow)
        for rule in rules:
            if rule.id in overflow:
                folder = folder_of(rule) if folder_scope(rule) else ""
                limits = f"{cap} lines and about {FOLDER_TOKENS if folder else CONSTITUTION_TOKENS} tokens"
                of = f"the constitution of {folder}/" if folder else "the constitution"
                text = f"{rule.text!r} does not fit into {of}, {limits}; it is retrieved as a shard."
                # Of rules without ids below a heading the constitution takes the strongest: that is no mistake.
                severity = Severity.INFO if rule.is_generated_id else None
                self.say("TS401", rule, text, severity=severity)
        # Rules out of force wait among the shards, which are filtered by the day that is asked for.
        waiting = [rule.id for rule in laws if rule.id in overflow or not in_force(rule, self.today)]
        return packed.replace(rules=tuple(laws), nested=tuple(nested), overflow=tuple(waiting))


def _gives_way(twin: GuidanceRule, kept: GuidanceRule) -> bool:
    """Whether a rule is not needed beside another in the same words: that one holds wherever and whenever it does."""
    covers = EVERYWHERE in kept.repo_scopes or kept.repo_scopes == twin.repo_scopes
    dated = (twin.active_from, twin.active_until) != (kept.active_from, kept.active_until)
    return twin.is_generated_id and covers and not dated and folder_of(twin) == folder_of(kept)


def in_force(rule: GuidanceRule, today: str) -> bool:
    """Whether a rule's dates include a day, given as an ISO date."""
    return not (
        (rule.active_from is not None and today < rule.active_from)
        or (rule.active_until is not None and today > rule.active_until)
    )


# Rules of a file share a handful of combinations.


@lru_cache(maxsize=1_024)
def _triggers(intents: tuple[str, ...], domains: tuple[str, ...], tool_classes: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*intents, *domains, *tool_classes)))
