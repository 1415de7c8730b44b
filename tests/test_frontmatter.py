from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tipstaff.frontmatter import read_front_matter


@pytest.mark.parametrize(
    ("text", "scopes"),
    [
        ("globs: **/*.ts", ("**/*.ts",)),
        ("globs: *.ts, src/**", ("*.ts", "src/**")),
        ("globs: src/{a,b}/**,c", ("src/{a,b}/**", "c")),
        ("globs: ['a', \"b\"]", ("a", "b")),
        ('paths:\n  - "src/**"\n  - *.md\n  - !x/**', ("src/**", "*.md", "!x/**")),
        ('applyTo: "**/*.py,**/*.pyi"', ("**/*.py", "**/*.pyi")),
        ("applyTo: @scope/**", ("@scope/**",)),
        ("globs:", ()),
        ("globs: []", ()),
        ("paths: [a, a]", ("a",)),
        ("", ()),
        ("title: x", ()),
    ],
)
def test_scopes(text: str, scopes: tuple[str, ...]) -> None:
    matter = read_front_matter(text)
    assert matter.scopes == scopes
    assert matter.problems == ()


def test_the_keys_of_cursor() -> None:
    matter = read_front_matter("description: When: editing # it\nglobs:\nalwaysApply: true")
    assert (matter.description, matter.always_apply) == ("When: editing # it", True)
    assert read_front_matter("alwaysApply: 'no'").problems[0][0] == "TS107"
    assert read_front_matter("description: [7]").description == ""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("globs: [a", "TS106"), ("- a", "TS106"), ("just words", "TS106"), ("a: b: c", "TS106"), ("a: !!python/object:os.x {}", "TS106"),
        ("paths: [7]", "TS107"), ("globs:\n  a: b", "TS107"), ("alwaysApply: 1", "TS107"),
        ("a: \x00", "TS106"), ("a: 2001-99-99", "TS106"), ("[" * 5_000, "TS106"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_reported(text: str, code: str) -> None:
    assert [found for found, _ in read_front_matter(text).problems] == [code]


@given(st.text(alphabet="globspaths:-[]{}*&!%@`\"' \n#|>7é\x00\ud800", max_size=40))
def test_nothing_makes_it_raise(text: str) -> None:
    read_front_matter(text)
    read_front_matter(f"globs: {text}")
    read_front_matter(f"paths:\n  - {text}")
