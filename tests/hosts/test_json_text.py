"""Edits of a JSON text: they do what an edit of the data does, and touch nothing else."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tipstaff.hosts.json_text import parse, with_item, with_member, without

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=12,
)
OBJECTS = st.dictionaries(st.text(max_size=4), VALUES, max_size=4)
INDENTS = st.sampled_from([None, 1, 2, 4, "\t"])


@given(OBJECTS, INDENTS, VALUES)
def test_a_member_is_added(data: dict[str, Any], indent: Any, value: Any) -> None:
    text = json.dumps(data, indent=indent)
    changed = with_member(text, parse(text, "x"), "new key", value)
    assert json.loads(changed) == {**data, "new key": value}
    assert list(json.loads(changed))[:-1] == list(data)
    node = parse(changed, "x")
    back = without(changed, node, len(node.members) - 1)
    assert json.loads(back) == data
    if data:
        assert back == text


@given(st.lists(VALUES, max_size=4), INDENTS, VALUES)
def test_an_element_is_added(items: list[Any], indent: Any, value: Any) -> None:
    text = json.dumps({"list": items}, indent=indent)
    owner = parse(text, "x").member("list")
    assert owner is not None
    changed = with_item(text, owner, value)
    assert json.loads(changed) == {"list": [*items, value]}


@given(st.lists(VALUES, min_size=1, max_size=4), INDENTS, st.integers(0, 3))
def test_an_element_is_taken_away(items: list[Any], indent: Any, index: int) -> None:
    index %= len(items)
    text = json.dumps([items, {"a": items}], indent=indent)
    text = f'{{"list": {text}}}'
    owner = parse(text, "x").member("list")
    assert owner is not None
    changed = without(text, owner.items[0], index)
    assert json.loads(changed) == {"list": [items[:index] + items[index + 1 :], {"a": items}]}


@given(OBJECTS, INDENTS)
def test_what_is_read_is_what_json_says(data: dict[str, Any], indent: Any) -> None:
    text = json.dumps(data, indent=indent)
    node = parse(text, "x")
    assert node.plain() == data
    assert text[node.start : node.end] == text


def test_of_two_members_of_one_name_the_last_counts() -> None:
    node = parse('{"a": 1, "a": 2}', "x").member("a")
    assert node is not None
    assert node.plain() == 2


@given(OBJECTS, st.sampled_from([1, 2, "\t"]), VALUES, st.integers(0, 4))
def test_comments_stay(data: dict[str, Any], indent: Any, value: Any, index: int) -> None:
    lines = json.dumps(data, indent=indent).split("\n")
    text = "".join(f"{line} // {number}\n" for number, line in enumerate(lines)).replace("{ //", "{ /* , */ //", 1)
    changed = with_member(text, parse(text, "x", comments=True), "new key", value)
    node = parse(changed, "x", comments=True)
    assert node.plain() == {**data, "new key": value}
    back = without(changed, node, index % len(node.members))
    expected = [*data, "new key"]
    del expected[index % len(expected)]
    assert list(parse(back, "x", comments=True).plain()) == expected
    assert all(f"// {number}\n" in changed for number in range(len(lines)))
    assert back.count("/* , */") == text.count("/* , */")
