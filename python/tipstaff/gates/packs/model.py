"""A pack as records: the keys of docs/packs.md, checked and spelled out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from tipstaff.errors import ConfigError

DECISIONS: Final = ("allow", "warn", "require-confirmation", "block", "uncertain", "mark")
"""Decisions by the number that they have in an image; a finding only ever has the first four."""

SEVERITIES: Final = ("low", "medium", "high", "critical")
STYLES: Final = ("gnu", "go", "single", "operands", "powershell", "slash", "whole", "guessed")
BUNDLING: Final = frozenset({"gnu", "whole", "guessed"})
"""Styles in which one dash may be before several letters."""

MARKS: Final = {"reads-secret": 1, "sends": 2, "runs-file": 4}
DIALECTS: Final = (
    "shell", "powershell", "cmd", "python", "node", "perl", "ruby", "php", "awk", "sql", "redis", "mongo", "patch",
    "make", "crontab", "prose",
)  # fmt: skip
VIA: Final = {
    name: 1 << bit
    for bit, name in enumerate(
        "sudo remote container arguments interpreter script scheduled substitution function definition conditional "
        "background decoded evaluated fresh trial clone made".split()
    )
}
PATH_CLASSES: Final = {
    name: 1 << bit
    for bit, name in enumerate(
        "repository repository-root vcs build temporary sibling home home-root system root device null wiring secrets "
        "unknown outside database glob remote credential made file refilled ecosystem read-only".split()
    )
}
CONDITIONS: Final = (
    "subcommand", "flags_any", "flags_none", "value", "first", "second", "last", "args_any", "args_all", "args_none",
    "words_any", "count", "paths", "via_any", "via_none", "reads_from", "writes_to", "inside", "reads_paths",
    "unknown_args", "input", "dialects", "patterns_all", "writes_paths", "patterns_none", "ends_with",
    "fetches", "unbuilt_none", "built_some",
)  # fmt: skip
"""Kinds of conditions by the number that they have in an image."""

SELECTORS: Final = ("args", "first", "last", "rest", "init", "option", "key", "words", "input")


class PackError(ConfigError):
    """A pack cannot be used: what is wrong, in which file and rule, and what would be right."""


class PackSampleError(PackError):
    """A rule's own sample disagrees with the rule.

    Attributes
    ----------
    rule_id, command, decided
        The rule, the sample, and the decision that the rule came to (``no match`` if it did not match).
    """

    def __init__(self, rule_id: str, command: str, decided: str, wanted: str) -> None:
        super().__init__(f"rule {rule_id}: sample {command!r}: decided {decided}, the sample says {wanted}")
        self.rule_id = rule_id
        self.command = command
        self.decided = decided


@dataclass(frozen=True, slots=True)
class Selector:
    """Which words of a command are meant."""

    kind: str
    options: tuple[str, ...] = ()
    key: str = ""
    strip: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a table: path classes as terms of (all of these, none of those), and the decision."""

    decision: str
    terms: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition; which fields count depends on its kind."""

    kind: str
    sequences: tuple[tuple[str, ...], ...] = ()
    options: tuple[str, ...] = ()
    globs: tuple[str, ...] = ()
    selectors: tuple[Selector, ...] = ()
    rows: tuple[Row, ...] = ()
    least: int = 0
    most: int = 0


@dataclass(frozen=True, slots=True)
class Sample:
    """A command that a rule must be about, or must not."""

    command: str
    cwd: str
    shell: str = "bash"
    decision: str | None = None


@dataclass(frozen=True, slots=True)
class PackRule:
    """One rule."""

    id: str
    pack: str
    source: str
    programs: tuple[str, ...]
    base: tuple[Condition, ...]
    any_of: tuple[tuple[Condition, ...], ...]
    unless: tuple[tuple[Condition, ...], ...]
    decision: str
    rows: tuple[Row, ...] | None
    selectors: tuple[Selector, ...]
    missing: str | None
    reason: str
    safer: str
    severity: str
    marks: int
    positives: tuple[Sample, ...]
    negatives: tuple[Sample, ...]
    because: str | None = None
    former: str = "allow"

    @property
    def strictest(self) -> str:
        """The hardest decision that it can come to."""
        if self.rows is None:
            return self.decision
        order = ("allow", "mark", "warn", "require-confirmation", "uncertain", "block")
        return max((row.decision for row in self.rows), key=order.index, default="allow")


@dataclass(slots=True)
class Subcommand:
    """What a pack states about one subcommand of a program."""

    values: set[str] = field(default_factory=set[str])
    harmless: set[str] = field(default_factory=set[str])


@dataclass(slots=True)
class Program:
    """How a program's words are read."""

    name: str
    style: str = "whole"
    values: set[str] = field(default_factory=set[str])
    attached: set[str] = field(default_factory=set[str])
    values_before: set[str] = field(default_factory=set[str])
    harmless: set[str] = field(default_factory=set[str])
    subcommands: dict[str, Subcommand] = field(default_factory=dict[str, Subcommand])

    def signature(self) -> tuple[object, ...]:
        """Return what two programs must share to be read by one description."""
        subcommands = tuple(
            (name, tuple(sorted(sub.values)), tuple(sorted(sub.harmless)))
            for name, sub in sorted(self.subcommands.items())
        )
        return (
            self.style,
            tuple(sorted(self.values)),
            tuple(sorted(self.attached)),
            tuple(sorted(self.values_before)),
            tuple(sorted(self.harmless)),
            subcommands,
        )


@dataclass(slots=True)
class Policy:
    """All packs together, ready to be compiled."""

    rules: dict[str, PackRule] = field(default_factory=dict[str, PackRule])
    programs: dict[str, Program] = field(default_factory=dict[str, Program])
    words: dict[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    relaxed: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])
    """Rules that a repository made weaker: id to (former decision, because)."""
