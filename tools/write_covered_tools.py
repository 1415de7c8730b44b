"""Writes the table of covered tools in docs/reference/covered-tools.md: ``python -m tools.write_covered_tools``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from tipstaff.gates.packs.model import Policy
from tipstaff.gates.packs.reader import load_policy
from tipstaff.store.replacing import replaced_file

PAGE: Final = Path(__file__).resolve().parents[1] / "docs" / "reference" / "covered-tools.md"
_HEAD: Final = """# Covered tools

You want to know whether a tool is covered: find it below, or try `tipstaff gate 'TOOL ...'`.

Written from the packs by `python -m tools.write_covered_tools`. A tool is covered where a rule names it; each rule has
samples that it must hold and samples that it must not. Programs that no rule names are judged by their words alone:
`acmectl clusters delete prod` is asked about. What merely runs another command (`sudo`, `ssh`, `docker exec`,
`heroku run` ...) is read through, and is not in this table.

"""


def page(policy: Policy) -> str:
    """Return the page: for each pack how many tools and rules it has, and the tools."""
    families: dict[str, set[str]] = {}
    rules: dict[str, int] = {}
    for rule in policy.rules.values():
        if rule.decision == "mark":
            continue
        named = {name for name in rule.programs if not name.startswith("@")}
        families.setdefault(rule.pack, set()).update(named)
        rules[rule.pack] = rules.get(rule.pack, 0) + 1
    every = set[str]().union(*families.values())
    lines = [f"{len(every)} tools, {sum(rules.values())} rules.\n"]
    lines += ["| family | tools | rules |", "|---|---|---|"]
    lines += [f"| {pack} | {len(tools)} | {rules[pack]} |" for pack, tools in sorted(families.items())]
    for pack, tools in sorted(families.items()):
        if tools:
            lines += ["", f"## {pack}", "", " ".join(f"`{name}`" for name in sorted(tools))]
    return _HEAD + "\n".join(lines) + "\n"


def main() -> int:
    """Write the page."""
    text = page(load_policy())
    with replaced_file(PAGE) as file:
        file.write(text.encode())
    sys.stdout.write(f"{PAGE.name}: {len(text)} characters\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
