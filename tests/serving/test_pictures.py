from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.context.requests import request
from tipstaff.context.inspecting.snapshot import take_snapshot
from tipstaff.context.prompt.assembly import ContextAssemblyPlan
from tipstaff.context.prompt.sections import SystemPromptBudget
from tipstaff.serving.pictures import Tile, prompt_tiles, squarified, treemap_svg, window_tiles


@given(st.lists(st.integers(1, 100_000), min_size=1, max_size=40), st.floats(10, 2000), st.floats(10, 2000))
def test_tiles_fill_the_rectangle_in_proportion(sizes: list[int], width: float, height: float) -> None:
    placed = squarified([Tile(str(n), size, "core", "") for n, size in enumerate(sizes)], 5, 7, width, height)
    assert sorted(int(one.tile.label) for one in placed) == list(range(len(sizes)))
    for one in placed:
        assert one.width * one.height == pytest.approx(one.tile.tokens / sum(sizes) * width * height, rel=1e-6)
        assert 5 - 1e-6 <= one.x <= one.x + one.width <= 5 + width + 1e-6
        assert 7 - 1e-6 <= one.y <= one.y + one.height <= 7 + height + 1e-6
    for a, b in combinations(placed, 2):
        across = min(a.x + a.width, b.x + b.width) - max(a.x, b.x)
        down = min(a.y + a.height, b.y + b.height) - max(a.y, b.y)
        assert across <= 1e-6 or down <= 1e-6


def test_nothing_has_no_tiles() -> None:
    assert squarified([], 0, 0, 10, 10) == []
    empty = take_snapshot(ContextAssemblyPlan().build(SystemPromptBudget()), session_id="s")
    assert "nothing was sent" in treemap_svg(empty)
    assert window_tiles(empty) == prompt_tiles(empty) == ()


def test_the_window_adds_up() -> None:
    snapshot = request()
    assert sum(tile.tokens for tile in window_tiles(snapshot)) == 128_000
    assert [tile.label for tile in window_tiles(snapshot)] == ["prompt", "tools", "12 messages", "answer", "free"]
    assert {tile.label for tile in prompt_tiles(snapshot)} >= {"memory:Workspace Memory (cut)", "rules", "rules#2"}
    full = request(message_tokens=200_000)
    assert "free" not in [tile.label for tile in window_tiles(full)]
    assert "tokens too many" in treemap_svg(full)
    assert [tile.label for tile in window_tiles(request(context_window=0))] == ["prompt", "tools", "12 messages"]


def test_it_is_well_formed_whatever_the_names_are() -> None:
    plan = ContextAssemblyPlan()
    for key in ('<script>alert("x")</script>', "a&b", "\x00\x1b\ud800", "]]>", "日本"):
        plan.add_section(key, "words " * 100, 50)
    svg = treemap_svg(take_snapshot(plan.build(SystemPromptBudget()), session_id="<s>\x07", context_window=10_000))
    root = ET.fromstring(svg)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert not list(root.iter("{http://www.w3.org/2000/svg}script"))
    titles = [element.text or "" for element in root.iter("{http://www.w3.org/2000/svg}title")]
    assert any("<script>" in title for title in titles)
    assert len(titles) == 7
