"""Writes ``docs/diagnostics.md`` from the registry of diagnostics; a test holds that the page is current.

python tools/write_diagnostics_page.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from tipstaff.budgets import MAX_SOURCE_BYTES
from tipstaff.cli.output import Painter, diagnostic_lines
from tipstaff.cli.sarif import help_page
from tipstaff.guidance.compiling.compiler_config import CompilerConfig
from tipstaff.guidance.diagnostics import KINDS, Kind
from tipstaff.guidance.lint import LintReport, lint_repository

PAGE = Path(__file__).resolve().parents[1] / "docs" / "diagnostics.md"

# The families of codes, by their first digit.
FAMILIES = {
    "1": "Files",
    "2": "Words that are no rule",
    "3": "Annotations",
    "4": "The constitution",
    "5": "Rules among themselves",
    "6": "Scopes",
    "7": "Quality",
}

# Findings that need an option to appear.
CONFIGS = {"TS208": CompilerConfig(auto_generate_ids=False)}

# Findings that only very many files or rules show; tests make them appear with smaller limits.
NOT_SHOWN = frozenset({"TS112", "TS505"})

SHOWN_CHARS = 400

HEAD = """# Diagnostics

You want to know what a code means and how to put it right: find it below.

What `tipstaff lint` reports. A code never changes its meaning. `--select TS5` reports the codes that begin so alone,
`--ignore TS503` leaves one out. Errors and warnings make the command exit with 1; infos do not.

This page is written by `tools/write_diagnostics_page.py` from `tipstaff.guidance.diagnostics`: change it there.
"""


def lay_out(code: str, folder: Path) -> None:
    """Write the files of a code's example into an empty folder."""
    if code == "TS102":
        with (folder / "CLAUDE.md").open("wb") as stream:
            stream.truncate(MAX_SOURCE_BYTES + 1)
        return
    if code == "TS111":
        (folder / "CLAUDE.md").symlink_to("rules-that-moved.md")
        return
    for name, text in KINDS[code].files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode("utf-8", "surrogateescape"))


def lint_example(code: str) -> LintReport:
    """Return what the linter says about a code's example."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        lay_out(code, folder)
        return lint_repository(folder, select=[code], config=CONFIGS.get(code))


def page() -> str:
    """Return the whole page."""
    parts = [HEAD]
    family = ""
    for code, kind in KINDS.items():
        if code[2] != family:
            family = code[2]
            parts.append(f"## {FAMILIES[family]}\n")
        parts.append(_entry(code, kind))
    return "\n".join(parts)


def _entry(code: str, kind: Kind) -> str:
    lines = [
        f"### {code} {kind.name}",
        "",
        f"**{kind.severity.value}** · {kind.summary}",
        "",
        f"Why it matters: {kind.why}",
        "",
        f"What would be right: {kind.fix}",
        "",
    ]
    for name, text in kind.files.items():
        shown = text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
        if len(shown) > SHOWN_CHARS:
            shown = f"{shown[:SHOWN_CHARS].rpartition(chr(10))[0] or shown[:100]}\n..."
        lines += [f"`{name}`:", "", *_fenced(shown), ""]
    if code not in NOT_SHOWN:
        found = lint_example(code).diagnostics
        lines += ["says:", "", *_fenced("\n".join(diagnostic_lines(found[:1], Painter("never")))), ""]
    return "\n".join(lines)


def _fenced(text: str) -> list[str]:
    # The fence must be longer than any in the text.
    fence = "````" if "```" in text else "```"
    return [f"{fence}text", *text.rstrip("\n").split("\n"), fence]


def anchor(code: str) -> str:
    """Return the anchor of a code's entry."""
    return help_page(code).partition("#")[2]


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page(), encoding="utf-8")
