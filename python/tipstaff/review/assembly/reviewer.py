"""A change of a repository in, its reviewer's context out: what was chosen, and the text itself."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Protocol

from tipstaff.model import Diagnostic, Record
from tipstaff.review.assembly.conventions import repository_conventions
from tipstaff.review.assembly.decisions import prior_decisions
from tipstaff.review.assembly.selection import ReviewAssembly, assemble_review
from tipstaff.review.assembly.summaries import file_summaries
from tipstaff.review.config import FILES, ReviewConfig, ReviewTable, parse_config, read_config
from tipstaff.review.repository import changed_files, diff_text, files_before, is_work_tree
from tipstaff.review.sizing.budget import text_tokens
from tipstaff.review.sizing.scope import repository_path
from tipstaff.review.sops.folder import ENDINGS, FOLDERS, SopFolder, read_sops

DEFAULT_WINDOW: Final = 200_000
_TASK_CHARS: Final = 4_000


class ReviewContext(Record, frozen=True, kw_only=True):
    """What a reviewer is given.

    Attributes
    ----------
    files
        The changed files.
    task_output_tokens
        Of the difference.
    expected
        Ids of every SOP that applies: the reviewer has to answer each. They are known where the task is too large.
    text
        What the reviewer reads besides the difference; empty where the task is to be decomposed. Its tokens are at most
        ``assembly.used``.
    severities
        Of each expected SOP.
    notes
        What could not be read or summarised.
    diagnostics
        SOPs that are broken: they were not matched.
    """

    assembly: ReviewAssembly
    files: tuple[str, ...]
    task_output_tokens: int
    expected: tuple[str, ...]
    severities: dict[str, str]
    text: str
    notes: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


class DecisionSource(Protocol):
    """Knows decisions and patterns of earlier runs, such as a ledger."""

    def decisions(self, files: Sequence[str]) -> Sequence[dict[str, Any]]:
        """Return items with ``id`` and ``text``, the closest first."""
        ...

    def conventions(self, files: Sequence[str]) -> Sequence[dict[str, Any]]:
        """Return items with ``id`` and ``text``."""
        ...


class AssemblyLog(Protocol):
    """Takes assemblies in, such as a ledger of runs."""

    def record_assembly(self, context: ReviewContext) -> None:
        """Keep what was assembled."""


def review_context(
    root: Path,
    *,
    base: str | None = None,
    files: Sequence[str] | None = None,
    window: int | None = None,
    reserve: int | None = None,
    scope: str = "code",
    task_output_tokens: int | None = None,
    source: DecisionSource | None = None,
    log: AssemblyLog | None = None,
    config: ReviewConfig | None = None,
) -> ReviewContext:
    """Assemble what the reviewer of a change is given.

    Parameters
    ----------
    root
        The repository's folder.
    base
        The commit to compare with; the last one where None.
    files
        The changed files, where they are known; else git is asked.
    window, reserve
        Tokens; those of the configuration where None, else 200,000 and 4,000.
    scope
        ``plan`` or ``code``.
    task_output_tokens
        Of the difference, where it is known.
    source
        Decisions and conventions of earlier runs.
    log
        Takes the result in.
    config
        The configuration; read from the repository where None.

    Raises
    ------
    ConfigError
        If a number or a name is not usable, or git cannot answer.
    """
    settings = (read_config(root) if config is None else config).review
    changed = tuple(map(repository_path, files)) if files is not None else changed_files(root, base)
    if task_output_tokens is None:
        task_output_tokens = text_tokens(_difference(root, base, files and changed))
    folder = change_sops(root, changed, base, settings)
    sops = folder.applicable(changed, scope=scope)
    summaries, notes = file_summaries(root, changed)
    if files is not None:
        missing = [path for path in changed if not os.path.lexists(root / path)]
        notes = [*notes, *(f"{path}: there is no such file: deleted, or mistyped" for path in missing)]
    decisions = [*(source.decisions(changed) if source is not None else ())]
    decisions += prior_decisions(root, changed, settings.decisions)
    conventions = [*(source.conventions(changed) if source is not None else ())]
    conventions += _closest_first(changed, summaries, repository_conventions(root, changed, settings.conventions))
    items = [{"id": sop.id, "text": sop.rendered()} for sop in sops]
    for tier in (decisions, summaries, conventions):
        # The blank line after an item is counted with it, as in an SOP.
        tier[:] = [{**item, "text": f"{item['text']}\n"} for item in tier]
    assembly = assemble_review(
        window=window or settings.window or DEFAULT_WINDOW,
        task_output_tokens=task_output_tokens,
        sops=items,
        decisions=decisions,
        summaries=summaries,
        conventions=conventions,
        reserve=reserve if reserve is not None else settings.reserve,
    )
    texts = {str(item["id"]): str(item["text"]) for item in (*items, *decisions, *summaries, *conventions)}
    context = ReviewContext(
        assembly=assembly,
        files=changed,
        task_output_tokens=task_output_tokens,
        expected=tuple(sop.id for sop in sops),
        severities={sop.id: sop.severity for sop in sops},
        text="".join(texts[name] for name in assembly.included),
        notes=tuple(notes),
        diagnostics=folder.diagnostics,
    )
    if log is not None:
        log.record_assembly(context)
    return context


def _closest_first(
    files: Sequence[str], summaries: Sequence[dict[str, Any]], items: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return conventions, those first that are about what the change touches: its paths and what they declare."""
    if len(items) < 2:
        return items
    from tipstaff.guidance.retrieval.retriever import ShardRetriever

    task = " ".join([*files, *(str(item["text"]) for item in summaries)])[:_TASK_CHARS]
    order = ShardRetriever.rank(task, [str(item["text"]) for item in items], len(items))
    return [items[index] for index in dict.fromkeys([*order, *range(len(items))])]


def _difference(root: Path, base: str | None, files: Sequence[str] | None) -> str:
    """Return what changed, in the files that are named or in all."""
    if not files:
        return "" if files is not None else diff_text(root, base)
    return diff_text(root, base, files) if is_work_tree(root) else ""


def change_sops(root: Path, changed: Sequence[str], base: str | None, settings: ReviewTable) -> SopFolder:
    """Return the SOPs that count for a change: those from before it, as they were, and those that it adds.

    So are the folders in which they are looked for: a change frees itself neither by an SOP nor by the configuration.
    """
    configured = [name for name in FILES if name in changed]
    before = files_before(root, [*(path for path in changed if path.endswith(ENDINGS)), *configured], base)
    if not configured:
        return read_sops(root, settings.sops, before)
    known = next((name for name in configured if name in before), None)
    earlier = parse_config(known, before[known]).review.sops if known is not None else None
    standard = [one for one in FOLDERS if (root / one).is_dir() or any(path.startswith(f"{one}/") for path in before)]
    folders = (*(standard if earlier is None else earlier), *(settings.sops or ()))
    return read_sops(root, tuple(dict.fromkeys(folders)), before)
