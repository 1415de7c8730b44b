"""Writes the table of rule-file formats into ``docs/reference/rule-files.md``; a test holds that it is current.

python -m tools.write_rule_file_table
"""

from __future__ import annotations

from pathlib import Path

from tipstaff.guidance.reading.rule_files import FOLDER, FORMATS, GLOBS, ROOT, USER, Format

PAGE = Path(__file__).resolve().parents[1] / "docs" / "reference" / "rule-files.md"
BEGIN, END = "<!-- formats -->\n", "<!-- /formats -->\n"
SCOPES = {
    FOLDER: "its folder; the root's everywhere",
    GLOBS: "front matter, else its folder",
    ROOT: "everywhere; in the root alone",
    USER: "everywhere, for one person",
}


def table() -> str:
    """Return the table in Markdown."""
    rows = "".join(_row(one) for one in FORMATS)
    return f"| file | host | scope | precedence | source |\n|---|---|---|---|---|\n{rows}"


def _row(one: Format) -> str:
    name = f"~/{one.pattern}" if one.scope == USER else one.pattern
    scope = f"{SCOPES[one.scope]}; local" if one.local else SCOPES[one.scope]
    return f"| `{name}` | {one.host} | {scope} | {one.precedence} | {one.source} |\n"


def page() -> str:
    """Return the whole page with the table as it should be."""
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    return f"{head}{BEGIN}{table()}{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
