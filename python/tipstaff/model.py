"""The frozen records that cross rooms: rule, shard, constitution, bundle, diagnostic, and the results of retrieval.

Every record is immutable, keeps its sequences as tuples, and turns into JSON-ready data with :meth:`Record.to_dict`.
The small ones are kept from the cyclic garbage collector (``gc=False``): they cannot be part of a cycle, and a bundle
has thousands of them.
"""

from __future__ import annotations

import enum
from typing import Any, Final, Self

import msgspec

INTENTS: Final = (
    "bug-fix",
    "feature",
    "refactor",
    "security",
    "performance",
    "testing",
    "docs",
    "deployment",
    "architecture",
    "debug",
    "general",
)
"""Intents in the order that breaks ties; ``general`` is the one for tasks without any sign."""

DOMAINS: Final = ("security", "testing", "performance", "architecture", "debugging", "deployment", "general")
RISK_CLASSES: Final = ("info", "low", "medium", "high", "critical")
"""Risk classes by rising severity: the index is the code that the scoring kernels take."""

TOOL_CLASSES: Final = ("edit", "bash", "read", "write", "mcp", "task", "all")

EVERYWHERE: Final = "**/*"
"""The scope of a rule that names none."""

INTENT_BITS: Final = {name: 1 << index for index, name in enumerate(INTENTS)}
RISK_CODES: Final = {name: index for index, name in enumerate(RISK_CLASSES)}


class Record(msgspec.Struct, frozen=True):
    """Base of the records: immutable, comparable, JSON-ready."""

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain data with snake_case keys, ready for ``json.dumps``."""
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data

    def replace(self, **changes: Any) -> Self:
        """Return a copy with some fields changed."""
        return msgspec.structs.replace(self, **changes)


class Severity(enum.StrEnum):
    """How much a diagnostic matters."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Diagnostic(Record, frozen=True, kw_only=True, gc=False):
    """One finding about a rule file.

    Attributes
    ----------
    code
        Stable code such as ``TS201``; `tipstaff.guidance.diagnostics` holds the registry.
    message
        What is wrong, in one sentence.
    line
        One-based line in `source`; 0 for a finding about the file as a whole.
    source
        The file, as a path relative to the repository (``root`` or ``local`` for texts given directly).
    fix
        What would be right.
    severity
        ``error``, ``warning`` or ``info``.
    rule_id
        The rule that the finding is about, where there is one.
    span
        Half-open code-point range in the source text; ``(0, 0)`` where the finding is about no particular text.
    """

    code: str
    message: str
    line: int
    source: str
    fix: str = ""
    severity: Severity = Severity.WARNING
    rule_id: str | None = None
    span: tuple[int, int] = (0, 0)


class GuidanceRule(Record, frozen=True, kw_only=True, gc=False):
    """One rule, with what it says about itself and where it comes from.

    Attributes
    ----------
    id
        As written, or ``AUTO-`` and hexadecimal digits of the text's hash.
    text
        The rule's words with its annotations removed and white space collapsed.
    risk_class, tool_classes, intents, repo_scopes, domains, priority, verifier
        From annotations, else inferred or defaults. `priority` includes the +100 of a constitution rule.
    source
        ``root`` or ``local`` (a ``CLAUDE.local.md``).
    path, line, end_line, span
        The file, its one-based first and last line, and the half-open code-point range in it.
    context_spans
        Ranges of the words that it takes from elsewhere (its parent item, the sentence that introduces a list, a
        heading) or that continue it.
    heading
        The innermost heading above the rule, empty where there is none.
    host
        Whose file it is: ``claude``, ``agents``, ``gemini``, ``cursor``, ``copilot``.
    file_scope
        The scope that the file gives all its rules (front matter, or the folder of a nested file).
    active_from, active_until
        ISO dates, inclusive, between which the rule is in force; None is open.
    former_id
        The id under which the same rule was known before, where it changed.
    overrides
        The id of the rule in an outer folder that this one replaces inside its own folder.
    depth
        Number of folders between the repository's root and the file's: of two rules the nearer wins in its folder.
    verifiers
        All verifiers in order; `verifier` is the first.
    kind
        ``rule``, or ``information``: a description, a listed command, an example. Information can be retrieved, and is
        never always loaded.
    headings
        The heading path, the outermost first, without the document's title; `heading` is its last.
    own_start
        Place in `text` where the rule's own words begin, after those of headings, lead-ins and parent items.
    """

    id: str
    text: str
    risk_class: str = "medium"
    tool_classes: tuple[str, ...] = ("all",)
    intents: tuple[str, ...] = ("general",)
    repo_scopes: tuple[str, ...] = (EVERYWHERE,)
    domains: tuple[str, ...] = ("general",)
    priority: int = 50
    source: str = "root"
    is_constitution: bool = False
    verifier: str | None = None
    path: str = "root"
    line: int = 0
    end_line: int = 0
    span: tuple[int, int] = (0, 0)
    context_spans: tuple[tuple[int, int], ...] = ()
    heading: str = ""
    host: str = "claude"
    file_scope: tuple[str, ...] = (EVERYWHERE,)
    active_from: str | None = None
    active_until: str | None = None
    former_id: str | None = None
    overrides: str | None = None
    depth: int = 0
    verifiers: tuple[str, ...] = ()
    kind: str = "rule"
    headings: tuple[str, ...] = ()
    own_start: int = 0

    @property
    def is_generated_id(self) -> bool:
        """Whether the id was made from the text because the author gave none."""
        return self.id.startswith("AUTO-")


class RuleShard(Record, frozen=True, gc=False):
    """A rule that is loaded when a task needs it, and the one line in which the model reads it."""

    rule: GuidanceRule
    compact_text: str


class Constitution(Record, frozen=True):
    """The rules that are always loaded.

    Attributes
    ----------
    rules
        Every constitution rule by falling priority, also those that found no room in `text`.
    text
        What the model reads: at most `CompilerConfig.max_constitution_lines` lines.
    hash
        First 16 hexadecimal digits of the SHA-256 of `text`.
    overflow
        Ids of the constitution rules that are not in `text`, for want of room or because they are not in force today;
        each of them is a shard as well.
    nested
        The constitution rules of nested folders: loaded where work is in their folder, and shards as well.
    """

    rules: tuple[GuidanceRule, ...]
    text: str
    hash: str
    overflow: tuple[str, ...] = ()
    nested: tuple[GuidanceRule, ...] = ()


class ManifestEntry(Record, frozen=True, kw_only=True, gc=False):
    """One rule as the manifest lists it."""

    id: str
    triggers: tuple[str, ...]
    verifier: str | None
    risk_class: str
    priority: int
    source: str


class RuleManifest(Record, frozen=True, kw_only=True):
    """What a bundle holds and what it was made from.

    `source_hashes` maps a source (``root``, ``local`` or a path) to the first 16 hexadecimal digits of the SHA-256 of
    its UTF-8 text. `total_rules` = `constitution_rules` + `shard_rules`; a constitution rule without room in the
    constitution's text counts as a constitution rule.
    """

    rules: tuple[ManifestEntry, ...]
    source_hashes: dict[str, str]
    total_rules: int
    constitution_rules: int
    shard_rules: int


class Relation(Record, frozen=True, kw_only=True, gc=False):
    """Two rules that say the same, nearly the same, or the opposite."""

    kind: str
    """``duplicate``, ``near-duplicate``, ``contradiction`` (only one of them is given), ``conflict`` (they cannot both
    be followed; both are given, with a note) or ``possible-conflict`` (perhaps not; likewise)."""
    left: str
    right: str
    similarity: float
    """Jaccard similarity of the rules' topic words, 0..1."""


class PolicyBundle(Record, frozen=True, kw_only=True):
    """A compiled set of rule files."""

    constitution: Constitution
    shards: tuple[RuleShard, ...]
    manifest: RuleManifest
    diagnostics: tuple[Diagnostic, ...] = ()
    relations: tuple[Relation, ...] = ()

    def rule(self, rule_id: str) -> GuidanceRule | None:
        """Return the rule with this id (any letter case), or None."""
        wanted = rule_id.casefold()
        return next((rule for rule in self.rules() if rule.id.casefold() == wanted), None)

    def rules(self) -> tuple[GuidanceRule, ...]:
        """Return every rule once: the constitution's, then the shards' that are not among them."""
        always = self.constitution.rules
        known = {rule.id for rule in always}
        return (*always, *(shard.rule for shard in self.shards if shard.rule.id not in known))


class IntentMatch(Record, frozen=True):
    """What kind of work a task asks for, and how sure that is (0..1)."""

    intent: str
    confidence: float


class RetrievedShard(Record, frozen=True):
    """A shard chosen for a task, its score and the reason that it was chosen."""

    shard: RuleShard
    similarity: float
    """The score: the sum of the parts that `retrieve --why` shows."""
    reason: str
    cosine: float = 0.0
    """How near in meaning, 0 to 1."""


class DroppedShard(Record, frozen=True, kw_only=True):
    """A shard that was left out because it contradicts a rule that stays."""

    id: str
    kept: str
    """The id of the rule that stays."""
    reason: str


class RetrievalResult(Record, frozen=True, kw_only=True):
    """The rules for one task."""

    constitution: Constitution
    shards: tuple[RetrievedShard, ...]
    detected_intent: str
    contradictions_resolved: int
    policy_text: str
    latency_ms: float
    confidence: float = 0.0
    dropped: tuple[DroppedShard, ...] = ()
