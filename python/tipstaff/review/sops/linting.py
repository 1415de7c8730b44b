"""What is wrong with the SOPs of a repository, and what would be better."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tipstaff.globs import any_matcher
from tipstaff.model import Diagnostic, Severity
from tipstaff.review.repository import list_files
from tipstaff.review.sizing.budget import SOP_RESERVE_TOKENS, text_tokens
from tipstaff.review.sops.documents import front_matter_findings
from tipstaff.review.sops.folder import read_sops
from tipstaff.store.untrusted import read_untrusted_text

CODES = {
    "SOP101": "front matter that is not closed",
    "SOP102": "front matter that is not valid YAML, or not a mapping",
    "SOP103": "an unknown key",
    "SOP104": "a severity, scope or category that does not exist",
    "SOP105": "an applies_to that cannot be used",
    "SOP106": "a value of the wrong kind",
    "SOP107": "two files with one id",
    "SOP109": "a file that cannot be read",
    "SOP201": "an SOP that alone exceeds the reserve: every task that it applies to is too large",
    "SOP202": "a glob that matches no file of the repository",
    "SOP203": "an SOP without a body",
    "SOP204": "SOPs that apply to one file and together exceed the reserve",
}


def lint_sops(
    root: Path, folders: Sequence[str] | None = None, *, reserve: int = SOP_RESERVE_TOKENS
) -> list[Diagnostic]:
    """Return findings about the SOPs of a repository, by file and line.

    Parameters
    ----------
    root
        Its folder.
    folders
        See :func:`tipstaff.review.sops.folder.read_sops`.
    reserve
        Tokens reserved for SOPs.
    """
    found = read_sops(root, folders)
    result = list(found.diagnostics)
    files = list_files(root)
    costs = {sop.id: text_tokens(sop.rendered()) for sop in found.sops if sop.category == "sop"}
    for sop in found.sops:
        text = read_untrusted_text(root / sop.path)
        result.extend(one for one in front_matter_findings(text, sop.path) if one.severity is not Severity.ERROR)
        if not sop.text.strip():
            result.append(_finding("SOP203", sop.path, "it has no body", "write what is required", Severity.WARNING))
        if costs.get(sop.id, 0) > reserve:
            message = f"it has {costs[sop.id]:,} tokens, and {reserve:,} are reserved for all SOPs of a task"
            result.append(_finding("SOP201", sop.path, message, "divide it by the files that it applies to"))
        for glob in sop.applies_to:
            if not any(map(any_matcher((glob,)), files)):
                line = next((n for n, row in enumerate(text.splitlines(), start=1) if glob in row), 1)
                message = f"the glob {glob!r} matches no file of the repository"
                result.append(_finding("SOP202", sop.path, message, "", Severity.WARNING, line))
    result.extend(_crowded(files, found.sops, costs, reserve))
    return sorted(result, key=lambda one: (one.source, one.line, one.code))


def _crowded(files: Sequence[str], sops: Sequence[object], costs: dict[str, int], reserve: int) -> list[Diagnostic]:
    """Return a finding for each set of SOPs that apply to one file and do not fit together."""
    from tipstaff.review.sops.documents import Sop

    matchers = [
        (sop.id, any_matcher(sop.applies_to) if sop.applies_to else None)
        for sop in sops
        if isinstance(sop, Sop) and sop.id in costs and sop.scope in {"code", "all"} and costs[sop.id] <= reserve
    ]
    seen: set[tuple[str, ...]] = set()
    result: list[Diagnostic] = []
    for path in files:
        ids = tuple(name for name, match in matchers if match is None or match(path))
        total = sum(costs[name] for name in ids)
        if total > reserve and ids not in seen and len(result) < 20:
            seen.add(ids)
            message = f"{len(ids)} SOPs apply to it and have {total:,} tokens, and {reserve:,} are reserved"
            result.append(
                _finding("SOP204", path, message, "narrow their applies_to, or shorten them", Severity.WARNING)
            )
    return result


def _finding(
    code: str, path: str, message: str, fix: str = "", severity: Severity = Severity.ERROR, line: int = 1
) -> Diagnostic:
    return Diagnostic(code=code, message=message, line=line, source=path, fix=fix, severity=severity)
