from __future__ import annotations

import pytest

from tipstaff.guidance.extraction.extraction import extract
from tipstaff.guidance.reading.markdown import parse


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("- Keep functions short\n", True),
        ("- `src/api/` - HTTP handlers\n", False),
        ("- `src/api/` - never import from here\n", True),
        ("## Project Structure\n- `web/`: the pages\n", False),
        ("## Code style\n- Arrow functions preferred\n", True),
        ("## DON'T\n- ❌ Add long remarks\n", True),
        ("- Example: `make lint`\n", False),
        ("This will:\n\n- Ask for the version\n", False),
        ("Before you push:\n\n1. `make test`\n", True),
        ("| Command | Description |\n|---|---|\n| `make` | Builds all |\n", True),
    ],
)
def test_what_is_a_rule_and_what_is_information(text: str, rule: bool) -> None:
    ((found,), _) = extract(parse(text), "root")
    assert found.is_rule is rule
