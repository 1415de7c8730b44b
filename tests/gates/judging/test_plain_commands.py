"""Plain commands are judged at once, and as they are on the long way: with every reader and every rule."""

from __future__ import annotations

from functools import cache

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tipstaff.gates.image.policy import default_image
from tipstaff.gates.packs.reader import load_policy
from tipstaff.kernels import _gates

SETTINGS = (1, 300, 0, 2, 3, 2, 0, 0, 0, 0, False)
OPERANDS = (
    "src", "a.py", "tests/gates", ".env", "id_rsa", "/etc/passwd", "node_modules", "/dev/sda", ".git/hooks/pre-commit", "main", "origin",
    "HEAD~3", "..", "/", ".", "*", "*.py", "'a b'", '"not slow"', "-q", "-x", "--all", "-rf", "10", "api", "2>&1", "2>/dev/null", "> out",
)  # fmt: skip


@cache
def policy() -> _gates.Policy:
    return _gates.Policy(default_image())


@cache
def words_of_programs() -> dict[str, list[str]]:
    """All programs that rules name, each with the words, options and globs that its rules ask for."""
    found: dict[str, set[str]] = {"ls": set(), "echo": set(), "cargo": set(), "pytest": set()}
    for rule in load_policy().rules.values():
        words: set[str] = set()
        for condition in (*rule.base, *(item for group in (*rule.any_of, *rule.unless) for item in group)):
            words |= {*condition.options, *condition.globs, *(word for one in condition.sequences for word in one)}
        for name in rule.programs:
            if name != "*" and not name.startswith("@"):
                found.setdefault(name, set()).update(words)
    return {name: sorted(words) for name, words in sorted(found.items())}


@st.composite
def simple(draw: st.DrawFn) -> str:
    program = draw(st.sampled_from(list(words_of_programs())))
    own = words_of_programs()[program] or ["x"]
    word = st.one_of(
        st.sampled_from(own), st.sampled_from(own), st.sampled_from(OPERANDS), st.text("abAB-./=:+_'", max_size=5)
    )
    words = draw(st.lists(word, max_size=6))
    if words and draw(st.integers(0, 4)) == 0:
        words[-1] = words[-1][: max(1, len(words[-1]) - 2)]
    return " ".join([program, *words])


@st.composite
def lines(draw: st.DrawFn) -> str:
    parts = draw(st.lists(simple(), min_size=1, max_size=3))
    return draw(st.sampled_from((" && ", " | ", "; ", "\n", " || ", " & "))).join(parts)


@example("bsdunzip /opt/* -d /o", "/home/dev/proj")
@given(lines(), st.sampled_from(("/home/dev/proj", "", "/home/dev")))
def test_the_short_way_leads_where_the_long_one_does(text: str, cwd: str) -> None:
    site = _gates.CallSite(cwd, cwd, "/home/dev", "/tmp")
    # Who asks for an explanation gets the long way: the shell's reader, and every rule of the program.
    explained, _, _ = policy().explain(text, 0, site, SETTINGS)
    found = policy().command(text, 0, site, SETTINGS)
    assert found == explained
    worst = max((finding[1] for finding in explained), default=0)
    assert policy().decisions([text], site, SETTINGS) == bytes([worst])


@given(st.lists(lines(), max_size=8), st.integers(1, 3))
def test_many_at_once_are_judged_as_each_alone(texts: list[str], threads: int) -> None:
    site = _gates.CallSite("/home/dev/proj", "/home/dev/proj", "/home/dev", "/tmp")
    alone = b"".join(policy().decisions([text], site, SETTINGS) for text in texts)
    assert policy().decisions(texts, site, SETTINGS, 0, threads) == alone


def test_limits_are_the_same_after_a_long_text() -> None:
    site = _gates.CallSite("/home/dev/proj", "/home/dev/proj", "/home/dev", "/tmp")
    many_words, long_text = "echo " + "a " * 100_000, "ls # " + "a" * 70_000
    alone = policy().command(many_words, 0, site, SETTINGS)
    assert alone, "more words than are looked at"
    assert not policy().command(long_text, 0, site, SETTINGS)
    assert policy().command(many_words, 0, site, SETTINGS) == alone
    decided = policy().decisions([many_words, long_text, many_words], site, SETTINGS)
    assert decided == bytes([decided[0], 0, decided[0]])
    assert decided[0] == max(finding[1] for finding in alone)


@pytest.mark.parametrize(
    "line",
    [
        "a",
        "cp a b",
        "./run --test a b c",
        "FOO=1 go test ./...",
        "x=$(cat f)",
        "if [ -f a ]; then cat a; fi",
        "echo 'a b' > out",
    ],
)
def test_length_alone_is_no_reason_to_ask(line: str) -> None:
    # The memory grows with the text, so that none is asked about for being shorter than what gets more of it.
    site = _gates.CallSite("/home/dev/proj", "/home/dev/proj", "/home/dev", "/tmp")
    texts = ["\n".join([line] * count) for count in (100, 500, 1000, 1500, 2000, 3000, 5000, 8000)]
    texts += [line + "\n" + "x" * size for size in (3000, 3600, 3700, 60_000, 66_000)]
    assert policy().decisions(texts, site, SETTINGS) == bytes(len(texts))
    block = policy().decisions(["rm -rf /"], site, SETTINGS)
    assert policy().decisions([text + "\nrm -rf /" for text in texts], site, SETTINGS) == block * len(texts)
