"""Places in tasks: the native reader finds what the one for any script finds."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from tipstaff.guidance.intents.classify import paths_in
from tipstaff.kernels import _intents
from tipstaff.kernels.formats.task_text import paths_in_text

PIECES = st.sampled_from(
    ["src", "api", "app.ts", ".", "..", "/", "//", "./", "\\", ":", "::", "#", "@", "a", "_x", "1", ":12", ":12:3", "www.", "WWW.",
     "http://", "com", ".py", "*.ts", "**", "and", "or", "-", "_", " ", "\n", "'", '"', "(", ")", ",", "e.g.", "{a}", "é", "\u00a0", "…",
     "LICENSE", "README.md", "!", "?", "Billing", "x.Y", "\x00", ".abcdefghijk", "node.js", "v1.2"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=14).map("".join))
@example("a::12")
@example("::1")
@example("./.")
@example(".//./a.b")
@example("a/../b c/d/e")
@example("x.com x.co ab.c a.py")
@example("src\\app.ts \\x.y")
def test_both_find_the_same(task: str) -> None:
    assert _intents.task_paths(task) == (paths_in_text(task) if task.isascii() else None)


@given(st.text(st.characters(max_codepoint=127), max_size=60))
def test_in_any_ascii(task: str) -> None:
    assert _intents.task_paths(task) == (paths_in_text(task) if task.isascii() else None)


@given(st.text(max_size=30))
def test_in_any_text(task: str) -> None:
    found = _intents.task_paths(task)
    assert paths_in(task) == paths_in_text(task)
    assert (found is None) == (not task.isascii())


def test_the_beginning_counts() -> None:
    find = _intents.task_paths
    assert find("a" * 16_377 + " x/y.ts") == ("x/y.ts",)
    assert find("a" * 16_378 + " x/y.ts") == ("x/y.t",)
    assert find("a" * 16_390 + " x/y.ts") == ()
    assert find(" ".join(f"src/f{number}.py" for number in range(20))) == tuple(
        f"src/f{number}.py" for number in range(8)
    )
