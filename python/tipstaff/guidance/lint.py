"""What is wrong with a repository's rule files, and what they cost.

The compiler finds what concerns rules and their texts; this module adds findings about the whole repository:
scopes that cover nothing, files that their host cuts off, rules that give nothing to check, and tokens per turn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tipstaff.budgets import CONSTITUTION_TOKENS
from tipstaff.errors import ConfigError
from tipstaff.frontmatter import ALWAYS
from tipstaff.guidance.diagnostics import KINDS, find
from tipstaff.guidance.quality import MAX_RULE_CHARS, is_long, is_vague
from tipstaff.guidance.reading.discovery import list_files
from tipstaff.guidance.scope_findings import scope_findings
from tipstaff.model import EVERYWHERE, Diagnostic, GuidanceRule, PolicyBundle, Record, Severity

if TYPE_CHECKING:
    from tipstaff.guidance.compiling.compiler_config import CompilerConfig
    from tipstaff.guidance.reading.documents import Document


class HostLoad(Record, frozen=True, kw_only=True):
    """What one host puts into the model's window.

    Attributes
    ----------
    host
        ``claude``, ``agents``, ``gemini``, ``cursor`` or ``copilot``.
    always_tokens, always_files
        Loaded on every turn.
    scoped_tokens, scoped_files
        Loaded when a file in their scope is worked on.
    """

    host: str
    always_tokens: int
    always_files: int
    scoped_tokens: int
    scoped_files: int


_SEVERITIES: Final = (Severity.ERROR, Severity.WARNING, Severity.INFO)


class FindingGroup(Record, frozen=True, kw_only=True):
    """A file's informational findings of one kind.

    Attributes
    ----------
    source, code
        The file and the kind.
    count
        How many there are.
    example
        The first of them.
    """

    source: str
    code: str
    count: int
    example: Diagnostic


class LintReport(Record, frozen=True, kw_only=True):
    """The findings about a repository's rule files, and their cost.

    Attributes
    ----------
    diagnostics
        By file, line and code.
    files
        Rule files read, relative to the repository.
    rules, constitution_rules, shard_rules
        Numbers of rules, as the manifest counts them.
    constitution_overflow
        How many of the constitution's rules find no room in it.
    constitution_tokens
        Estimated tokens of the constitution's text: four characters (UTF-16 units) each, rounded up.
    hosts
        What each host loads by itself, from the files as they are.
    counts
        Findings by code.
    """

    diagnostics: tuple[Diagnostic, ...]
    files: tuple[str, ...]
    rules: int
    constitution_rules: int
    shard_rules: int
    constitution_tokens: int
    hosts: tuple[HostLoad, ...]
    counts: dict[str, int]
    constitution_overflow: int = 0

    @property
    def exit_code(self) -> int:
        """1 if any finding is an error, else 0."""
        return int(self.fails(Severity.ERROR))

    def fails(self, on: Severity) -> bool:
        """Whether any finding is of a severity or a graver one."""
        grave = _SEVERITIES[: _SEVERITIES.index(on) + 1]
        return any(found.severity in grave for found in self.diagnostics)

    def groups(self) -> tuple[FindingGroup, ...]:
        """Return the informational findings by file and code, in their order, each with the first as the example."""
        found: dict[tuple[str, str], list[Diagnostic]] = {}
        for one in self.diagnostics:
            if one.severity is Severity.INFO:
                found.setdefault((one.source, one.code), []).append(one)
        return tuple(
            FindingGroup(source=source, code=code, count=len(every), example=every[0])
            for (source, code), every in found.items()
        )

    def only(self, paths: Iterable[str]) -> LintReport:
        """Return the report with the findings about some files only."""
        wanted = frozenset(paths)
        chosen = tuple(found for found in self.diagnostics if found.source in wanted)
        return self.replace(diagnostics=chosen, counts=_counts(chosen))


def lint_repository(
    directory: str | Path,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    config: CompilerConfig | None = None,
    as_root: bool = False,
) -> LintReport:
    """Read, compile and judge the rule files of a repository; nothing is written.

    Parameters
    ----------
    directory
        The repository's root, or a folder anywhere below it. Where it holds nothing but rule files
        and is part of no repository, what a file names elsewhere (its scopes, imports from above) is informational.
    select, ignore
        Codes or beginnings of codes (``TS5``, ``TS503``) to report alone, or not to report.
    config
        How the rules are compiled.
    as_root
        Take `directory` itself as the root, whatever is around it.

    Raises
    ------
    SourceNotFoundError
        If `directory` does not exist.
    ConfigError
        If `select` or `ignore` name no code.
    """
    from tipstaff.guidance.compiling.compiler import compile_documents
    from tipstaff.guidance.reading.discovery import rules_root
    from tipstaff.guidance.reading.sources import read_repository
    from tipstaff.store.state import repository_of

    chosen = _code_filter(select, ignore)
    repository = read_repository(Path(directory) if as_root else rules_root(directory))
    files = list_files(repository.root)
    bundle = compile_documents(repository.documents, config=config, diagnostics=repository.diagnostics)
    found = [*bundle.diagnostics]
    found += _quality(bundle.rules())
    found += scope_findings(bundle.rules(), repository.documents, files)
    found += _constitution_cost(bundle)
    if files.holds_only(repository.files) and repository_of(repository.root) is None:
        found = [one.replace(severity=Severity.INFO) if _may_be_elsewhere(one) else one for one in found]
    # A finding that two steps make is one finding.
    unique = dict.fromkeys(one for one in found if chosen(one.code))
    ordered = tuple(sorted(unique, key=lambda one: (one.source, one.line, one.code, one.message)))
    return LintReport(
        diagnostics=ordered,
        files=repository.files,
        rules=bundle.manifest.total_rules,
        constitution_rules=bundle.manifest.constitution_rules,
        constitution_overflow=len(bundle.constitution.overflow),
        shard_rules=bundle.manifest.shard_rules,
        constitution_tokens=tokens(bundle.constitution.text) if bundle.constitution.rules else 0,
        hosts=host_loads(repository.documents, repository.also_loaded),
        counts=_counts(ordered),
    )


def _may_be_elsewhere(found: Diagnostic) -> bool:
    """Whether a file's scopes or an import from above were looked for; a rule that names its own scope means it."""
    return found.rule_id is None and (
        found.code == "TS601" or (found.code == "TS110" and found.message.startswith("@.."))
    )


def tokens(text: str) -> int:
    """Return the estimated tokens of a text: one for four UTF-16 units, rounded up."""
    return -(-len(text.encode("utf-16-le", "surrogatepass")) // 8)


def host_loads(documents: Sequence[Document], also_loaded: Iterable[tuple[str, str]] = ()) -> tuple[HostLoad, ...]:
    """Return what each host loads always, and what only for files in scope, by host name.

    Parameters
    ----------
    documents
        All that were read.
    also_loaded
        Pairs of a further host and the path of a document.
    """
    sums: dict[str, list[int]] = {}
    by_path = {document.path: document for document in documents}
    loads = [(document.host, document) for document in documents]
    loads += [(host, by_path[path]) for host, path in dict.fromkeys(also_loaded) if path in by_path]
    for host, document in {(host, document.path): (host, document) for host, document in loads}.values():
        load = sums.setdefault(host, [0, 0, 0, 0])
        scoped = 0 if _is_always_loaded(document) else 2
        load[scoped] += tokens(document.text)
        load[scoped + 1] += 1
    return tuple(
        HostLoad(host=host, always_tokens=load[0], always_files=load[1], scoped_tokens=load[2], scoped_files=load[3])
        for host, load in sorted(sums.items())
    )


def _is_always_loaded(document: Document) -> bool:
    return document.mode == ALWAYS and EVERYWHERE in document.scopes


def _counts(diagnostics: Iterable[Diagnostic]) -> dict[str, int]:
    return dict(sorted(Counter(found.code for found in diagnostics).items()))


class _CodeFilter:
    def __init__(self, select: tuple[str, ...], ignore: tuple[str, ...]) -> None:
        self._select, self._ignore = select, ignore

    def __call__(self, code: str) -> bool:
        return (not self._select or code.startswith(self._select)) and not (
            self._ignore and code.startswith(self._ignore)
        )


def _code_filter(select: Sequence[str], ignore: Sequence[str]) -> _CodeFilter:
    for prefix in (*select, *ignore):
        if not prefix or not any(code.startswith(prefix.upper()) for code in KINDS):
            raise ConfigError(f"no diagnostic's code begins with {prefix!r}; there are {', '.join(KINDS)}")
    return _CodeFilter(tuple(map(str.upper, select)), tuple(map(str.upper, ignore)))


def _quality(rules: Iterable[GuidanceRule]) -> list[Diagnostic]:
    found: list[Diagnostic] = []
    for rule in rules:
        if is_vague(rule.text):
            message = f"{_short(rule.text)} gives nothing to check."
            found.append(find("TS701", rule.line, rule.path, message, rule_id=rule.id, span=rule.span))
        if is_long(rule.text):
            message = f"The rule has {len(rule.text)} characters; more than {MAX_RULE_CHARS} are followed in part."
            found.append(find("TS702", rule.line, rule.path, message, rule_id=rule.id, span=rule.span))
    return found


def _short(text: str, chars: int = 60) -> str:
    return f"“{text if len(text) <= chars else text[: chars - 1].rstrip() + '…'}”"


_TOLERANCE: Final = 1.5
"""The count is an estimate, and 500 tokens are about what a constitution should cost, no limit."""


def _constitution_cost(bundle: PolicyBundle) -> list[Diagnostic]:
    if not bundle.constitution.rules:
        return []
    cost = tokens(bundle.constitution.text)
    if cost <= CONSTITUTION_TOKENS * _TOLERANCE:
        return []
    home, _ = Counter(rule.path for rule in bundle.constitution.rules).most_common(1)[0]
    message = f"The constitution costs about {cost:,} tokens on every turn; about {CONSTITUTION_TOKENS} are plenty."
    return [find("TS403", 0, home, message)]
