"""The table of covered tools is the one that the packs give."""

from __future__ import annotations

from tools.write_covered_tools import PAGE, page

from tipstaff.gates.packs.reader import load_policy


def test_the_page_is_that_of_the_packs() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(load_policy()), "run python -m tools.write_covered_tools"


def test_the_page_counts_tools_of_every_family() -> None:
    text = page(load_policy())
    for line in ("| git |", "| databases |", "`ceph`", "`rustup`", "## kubernetes"):
        assert line in text
    assert "`@" not in text
