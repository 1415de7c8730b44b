from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import example, given

from tests.guidance.coverage_oracle import spans_of_extraction, stretches, uncovered
from tests.guidance.markdown_strategies import documents, well_formed
from tipstaff.guidance.extraction.candidate import Candidate
from tipstaff.guidance.extraction.extraction import extract
from tipstaff.guidance.reading.markdown import parse


def rules(text: str) -> list[str]:
    return [one.text for one in read(text)[0]]


def read(text: str, *, in_constitution: bool = False) -> tuple[list[Candidate], list[str]]:
    candidates, diagnostics = extract(parse(text), "root", in_constitution=in_constitution)
    return candidates, [one.code for one in diagnostics]


def codes(text: str) -> list[str]:
    return read(text)[1]


@given(documents)
@example("---\n...\n\tmust.")
def test_nothing_is_dropped_in_silence(text: str) -> None:
    assert uncovered(text, spans_of_extraction(text)) == []


@given(well_formed)
def test_nothing_of_an_ordinary_file_is_dropped_in_silence(text: str) -> None:
    assert uncovered(text, spans_of_extraction(text)) == []


def test_the_oracle_sees_what_is_lost() -> None:
    text = "# H\n\n- one\n- two\n\nYou must stop. `must` <!-- never -->\n\n```\n- must\n```\n"
    assert [(kind, text[low:high]) for kind, low, high in stretches(text)] == [
        ("item", "- one\n"),
        ("item", "- two\n"),
        ("modal", "must"),
    ]
    assert [kind for kind, _ in uncovered(text, [])] == ["item", "item", "modal"]
    assert uncovered(text, [(0, len(text))]) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("- a wrapped\n  item\nlazily", ["a wrapped item lazily"]),
        ("1. one\n2) two\n", ["one", "two"]),
        ("* a\n+ b\n", ["a", "b"]),
        ("- [ ] open\n- [x] done\n", ["open", "done"]),
        ("- first\n\n  and more\n", ["first and more"]),
        ("You must stop. It is late. Never push.", ["You must stop.", "Never push."]),
        ("The cache is shared. It must not be cleared.", ["The cache is shared. It must not be cleared."]),
        ("| Rule |\n|---|\n| Keep it |\n", ["Keep it"]),
        ("| Do | Don't |\n|---|---|\n| tabs | spaces |\n", ["Do: tabs; Don't: spaces"]),
        ("> You must never quote\n", ["You must never quote"]),
        ("> [!WARNING]\n> - Never push\n", ["Never push"]),
        ("## Never commit secrets\n", ["Never commit secrets"]),
        ("## Never commit secrets\n- not even here\n", ["Never commit secrets: not even here", "Never commit secrets"]),
        ("## Secrets that must stay\n- not even here\n", ["Secrets that must stay: not even here"]),
        ("## Don't\n- use `eval`\n- `exec`\n", ["Don't: use `eval`", "Don't: `exec`"]),
        ("- Never use:\n  - `eval`\n  - tabs\n", ["Never use: `eval`", "Never use: tabs"]),
        ("You must never:\n\n- push\n- `rm`\n", ["You must never: push", "You must never: `rm`"]),
        ("Never:\n\n- in production:\n  - restart\n", ["Never: in production: restart"]),
        ("Required files:\n\n| where | b |\n|---|---|\n| `c` | d |\n", ["Required files: where: `c`; b: d"]),
        ("- Use the helpers:\n  - `a` - b\n  - `c` - d\n", ["Use the helpers: `a` - b", "Use the helpers: `c` - d"]),
        ("- [R12] Steps:\n  - one\n  - two\n\n    more\n", ["Steps: one; two; more"]),
        ("- [R12] Steps:\n  - one\n  - [R13] Never two\n", ["Steps: one", "Never two"]),
        ("### R12: Never push\n\nNot even once.\n\nOr twice.\n", ["Never push Not even once. Or twice."]),
        ("### R12: Never push\n\nR13: Always test\n", ["Never push", "Always test"]),
        ("### [R12]\n\nNever push.\n", ["Never push."]),
        ("R12: Never push\nin anger\nR13: Always test", ["Never push in anger", "Always test"]),
        ("R12:\nNever push\n", ["Never push"]),
        ("- R12:\n  Never push\n", ["Never push"]),
        ("You must run:\n\n```sh\nmake lint\n```\n", ["You must run: `make lint`"]),
        ("- Always <!-- not really --> lint\n", ["Always lint"]),
        ("<important>\nYou must lint\n</important>\n", ["You must lint"]),
        ("- parent of\n  - child\n", ["parent of: child"]),
        ("Never push.\n#security", ["Never push."]),
        ("- Never push\n  #security @testing\n", ["Never push"]),
    ],
)  # fmt: skip
def test_what_is_a_rule(text: str, expected: list[str]) -> None:
    assert rules(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#Security\n- keep", ["TS201"]),
        ("a\n#Security rules\nb\n####### Seven\nc", ["TS201", "TS201"]),
        ("<!-- You must not -->\n", ["TS202"]),
        ("- x <!-- you must not --> y\n", ["TS202"]),
        ("- You must never:\n", ["TS205"]),
        ("You must never:\n\nText.\n", ["TS205"]),
        ("Never:\n\n- ~~a~~\n", ["TS206", "TS205"]),
        ("## Never\n", ["TS205"]),
        ("| You must |\n|---|\n", ["TS205"]),
        ("- ~~Never npm~~\n", ["TS206"]),
        ("~~Never use npm.~~\n", ["TS206"]),
        ("> - Never quote\n", ["TS207"]),
        ("> # Never\n", ["TS207"]),
        ("-\n- a\n", ["TS209"]),
        ("- `make`\n- https://a.test\n- [a](b)\n", ["TS210"] * 3),
        ("- x priority:99999\n", ["TS301"]),
        ("- x risk:dire\n", ["TS302"]),
        ("### R12: Never push\n\nrisk:dire\n", ["TS302"]),
        ("- [R12]\n- (critical)\n## [R13]\n", ["TS307"] * 3),
        ("- a\n\n```\n- never\n", ["TS108"]),
    ],
)  # fmt: skip
def test_why_something_is_no_rule(text: str, expected: list[str]) -> None:
    assert codes(text) == expected


def test_a_rule_knows_the_positions_of_its_words() -> None:
    text = "## Don't\n\nIn prod:\n\n- drop tables\n  at é night\n"
    (rule,), _ = read(text)
    source = parse(text).source
    assert source.slice(rule.start, rule.end) == "drop tables\n  at é night"
    assert [source.slice(*span) for span in rule.context] == ["Don't", "In prod:"]
    assert (rule.heading, rule.text) == ("Don't", "Don't: In prod: drop tables at é night")


def test_constitution_reaches_subsections_and_ends_at_a_break() -> None:
    text = "## Security\n- a\n### Keys\n- b\n\n---\n\n- c\n\n## Notes\n- d\n"
    assert [one.is_constitution for one in read(text)[0]] == [True, True, False, False]
    assert [one.is_constitution for one in read("- a\n", in_constitution=True)[0]] == [True]


def test_deep_nesting_is_read() -> None:
    assert len(rules("".join(f"{'  ' * depth}- always step {depth}\n" for depth in range(300)))) == 300
    assert rules("- " * 10_000 + "never push")[-1].endswith("never push")
    read(">" * 10_000 + " never push")
    read("- a:\n" + "".join(f"{'  ' * depth}- b:\n" for depth in range(1, 400)))


GROWING: dict[str, Callable[[int], str]] = {
    "headings": lambda n: "".join(f"## Never do {index} at all\n" for index in range(n)),
    "malformed headings": lambda n: "".join(f"#Never{index}\nnever é\n" for index in range(n)),
    "malformed headings in an item": lambda n: "- a\n" + "".join(f"#Never{index}\nnever\n" for index in range(n)),
    "sentences": lambda n: "Never do this é. It is not. " * n,
    "one sentence": lambda n: "never é do this " * n,
    "ids": lambda n: "".join(f"[SEC-{index}] never é\n" for index in range(n)),
    "children of an id": lambda n: "- [SEC-1] a:\n" + "  - never\n" * n,
    "ids with children": lambda n: "- [SEC-1] a:\n  - b\n" * n,
    "labels": lambda n: "- Entry:\n  - `b` - c\n" * n,
    "lead-ins": lambda n: "You must:\n\n- b\n\n" * n,
    "a heading's paragraphs": lambda n: "## R1: never x\n\n" + "also y\n\n" * n,
    "an item's paragraphs": lambda n: "- never x\n\n" + "  also y\n\n" * n,
    "comments": lambda n: "- a\n" + "b <!-- never --> é\n" * n,
    "images": lambda n: "- " + "![a](b" * n,
    "ticks": lambda n: "- " + "`a`, " * n + "x",
    "annotations": lambda n: "- never " + "scope:a priority:1 " * n,
    "lines above others": lambda n: "Don't:\nUse a thing.\n" * n,
    "elements": lambda n: "<never>\n\n- push\n\n</never>\n\n" * n,
    "open elements": lambda n: "".join(f"<a{index}>\n\n- push\n\n" for index in range(n)),
    "sections of code": lambda n: "## Never\n" + "### Such a thing\n" * n,
    "enclosed labels": lambda n: "***Never:***\n\n- push\n\n" * n,
    "rows": lambda n: "| must | b |\n|---|---|\n" + "| a | b |\n" * n,
}


@pytest.mark.parametrize("name", GROWING)
def test_time_grows_with_the_text_and_not_faster(name: str) -> None:
    def cost(count: int) -> float:
        text = GROWING[name](count)
        parsed = parse(text)
        best = float("inf")
        for _ in range(2):
            start = time.process_time()
            extract(parsed, "root")
            best = min(best, time.process_time() - start)
        return best

    assert cost(8 * 250) < 40 * max(cost(250), 0.001)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("## Unit Tests Only\n\n```sh\nmake unit\n```\n", []),
        ("## Never do this\n\n```js\nx = 1\n```\n", []),
        ("## Never commit without\n- a review\n", ["Never commit without: a review"]),
        ("## Never push to main\n- not even tags\n", ["Never push to main: not even tags", "Never push to main"]),
        ("## Only maintainers may merge\n", ["Only maintainers may merge"]),
        ("## Old APIs — NEVER generate these\n\n### 1. A global connection\n\n```js\nx()\n```\n\n### Why\n\nSlow.\n",
         ["Old APIs — NEVER generate these: 1. A global connection"]),
        ("**Use the test target:**\n\n```sh\nmake test\n```\n", ["**Use the test target:** `make test`"]),
        ("**Required packages:**\n\nSome words about them.\n", []),
        ("- > **NOTE**: Run these **only if** you\n  > change them.\n", ["**NOTE**: Run these **only if** you change them."]),
        ("**Never guess. Ask at once.**\n", ["Never guess.", "Ask at once."]),
        ("**Lint**: You must lint `**/*.ts` files.\n", ["**Lint**: You must lint `**/*.ts` files."]),
        ("You must lint **/*.ts files.\n", ["You must lint **/*.ts files."]),
    ],
)  # fmt: skip
def test_headings_and_bold_lines_that_are_rules_and_that_announce_something(text: str, expected: list[str]) -> None:
    found, _ = extract(parse(text), "root")
    assert [one.text for one in found] == expected
