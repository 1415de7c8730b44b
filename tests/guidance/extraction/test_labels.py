from __future__ import annotations

import pytest

from tipstaff.guidance.extraction.extraction import extract
from tipstaff.guidance.reading.markdown import parse


def texts(text: str) -> list[str]:
    return [one.text for one in extract(parse(text), "root")[0]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## Do Not\n- Use `require()` for imports\n", ["Do Not: Use `require()` for imports"]),
        ("## Do Not\n- Commit only half a change\n- push without review\n",
         ["Do Not: Commit only half a change", "Do Not: push without review"]),
        ("## Don't\n- Ask first: dropping a table\n- Never push\n", ["Ask first: dropping a table", "Never push"]),
        ("When you add a table:\n\n1. Write a migration\n2. Run it\n",
         ["When you add a table: Write a migration", "When you add a table: Run it"]),
        ("## Adding a Locale\n1. Create the folder\n", ["Adding a Locale: Create the folder"]),
        ("## Payments\n- Write tests first\n", ["Payments: Write tests first"]),
        ("## Tests\n- Write tests first\n", ["Write tests first"]),
        ("## Rules\n- Keep it\n", ["Keep it"]),
        ("# Title\n\n## API\n### Errors\n- Return a code\n", ["Errors: Return a code"]),
        ("## Changelog\n### Format\n- Begin with a verb\n", ["Changelog: Begin with a verb"]),
        ("**Escalate if:**\n\n- a key leaks\n", ["Escalate if: a key leaks"]),
        ("## 禁止\n- `eval` を使う\n", ["禁止: `eval` を使う"]),
        ("| Old (do not suggest) | New |\n|---|---|\n| `visible` | `open` |\n",
         ["Old (do not suggest): `visible`; New: `open`"]),
    ],
)  # fmt: skip
def test_what_an_item_is_read_with(text: str, expected: list[str]) -> None:
    assert texts(text) == expected


def test_labels_end_where_their_list_ends() -> None:
    text = "**Never:**\n\n- push\n\nAfter that, run the tests.\n\n- build it\n"
    assert texts(text)[0] == "Never: push"
    assert all("Never" not in one for one in texts(text)[1:])


def test_the_spans_of_labels_are_true_and_own_words_can_be_told_from_them() -> None:
    parsed = parse("## Do Not\n\nIn production:\n\n- drop a table\n")
    (rule,), _ = extract(parsed, "root")
    assert [parsed.source.slice(*span) for span in rule.context] == ["Do Not", "In production:"]
    assert (rule.text[rule.own :], rule.headings) == ("drop a table", ("Do Not",))
