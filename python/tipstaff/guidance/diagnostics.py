"""The registry of what can be found in a rule file: one stable code, one meaning, one example each.

The entries are in ``diagnostics.toml``. The example of one is a whole small file that makes the finding appear, which a
test holds; the page ``docs/diagnostics.md`` is written from them, which another test holds.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final, NamedTuple

from tipstaff.model import Diagnostic, Severity


class Kind(NamedTuple):
    """What a code means.

    Attributes
    ----------
    name
        Kebab-case name, as stable as the code.
    severity
        Severity unless the finding says otherwise.
    summary
        One sentence: what was found.
    why
        Why an author should care.
    fix
        What would be right.
    files
        Of the example that shows it: path to text.
    """

    name: str
    severity: Severity
    summary: str
    why: str
    fix: str
    files: dict[str, str]


def _kind(entry: dict[str, Any]) -> Kind:
    text: str = entry.get("example", "")
    if "encoding" in entry:
        text = text.encode(entry["encoding"]).decode("utf-8", "surrogateescape")
    if "lines" in entry:
        line, first, last = entry["lines"]
        text += "".join(line.replace("{n}", str(number)) for number in range(first, last + 1))
    files = entry.get("files") or {entry.get("file", "CLAUDE.md"): text}
    return Kind(entry["name"], Severity(entry["severity"]), entry["summary"], entry["why"], entry["fix"], files)


KINDS: Final = {
    code: _kind(entry)
    for code, entry in tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")).items()
}


def find(
    code: str,
    line: int,
    source: str,
    message: str = "",
    *,
    fix: str = "",
    rule_id: str | None = None,
    span: tuple[int, int] = (0, 0),
    severity: Severity | None = None,
) -> Diagnostic:
    """Return a diagnostic of a registered kind; `message` and `fix` default to the kind's own.

    Raises
    ------
    KeyError
        If `code` is not registered.
    """
    kind = KINDS[code]
    return Diagnostic(
        code=code,
        message=message or kind.summary,
        line=line,
        source=source,
        fix=fix or kind.fix,
        severity=severity or kind.severity,
        rule_id=rule_id,
        span=span,
    )
