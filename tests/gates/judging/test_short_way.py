"""Packs of any kind: what is decided of a command before its words are read is what trying every rule decides."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from tipstaff.gates.image.policy_image import compile_image
from tipstaff.gates.packs.model import Policy
from tipstaff.gates.packs.reader import load_policy
from tipstaff.kernels import _gates

SETTINGS = (1, 300, 0, 2, 3, 2, 0, 0, 0, 0, False)
STYLES = ("gnu", "gnu", "go", "single", "operands", "slash", "powershell")
OPTIONS = (
    "-f", "-F", "-n", "--force", "--force-all", "--for", "--", "-force", "-delete", "-d", "--dry-run", "-x", "--no-edit", "--x",
)  # fmt: skip
GLOBS = (
    "main", "live", "*main", "ma*", "*ai*", "x", "*", "a?c", "+*", "*:main", "", "prod/*", "*husky/*", "*k/m*", "/", "-", "*-*",
)  # fmt: skip
SUBCOMMANDS = ("push", "run", "status main", "push live", "run *", "main")
WORDS = (
    "main", "live", "xmain", "mail", "x", "abc", "+y", "a:main", "prod/a", "b.husky/c", "ak/mx", "/", "-", "a-b", "MAIN", "push", "Push",
    "run", "status", '"a b"', "'main'", "husky/", "\u00e9main", "m", "-9", "a=b", "--forc", "--FORCE", "--dry", "-fn", "-xmain", "/f",
    "--force=main", "-f=main", "--for=", "--=x", "-delete:x", "\u2013force", "a'b'",
)  # fmt: skip


def listed(names: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{name}"' for name in names) + "]"


@st.composite
def conditions(draw: st.DrawFn) -> list[str]:
    """One to three conditions of different keys."""
    some = st.lists(st.sampled_from(GLOBS), min_size=1, max_size=3, unique=True)
    found: dict[str, str] = {}
    for _ in range(draw(st.integers(1, 3))):
        key = draw(
            st.sampled_from(
                ("flags_any", "flags_any", "flags_none", "args_any", "args_all", "args_none", "words_any", "first", "second", "last",
                 "subcommand", "values", "args_min")
            )
        )  # fmt: skip
        match key:
            case "flags_any" | "flags_none":
                value = listed(
                    ["|".join(draw(st.lists(st.sampled_from(OPTIONS), min_size=1, max_size=2, unique=True)))]
                )
            case "subcommand":
                value = listed(draw(st.lists(st.sampled_from(SUBCOMMANDS), min_size=1, max_size=2, unique=True)))
            case "values":
                option = draw(st.sampled_from([one for one in OPTIONS if one != "--"]))
                value = f'{{ "{option}" = {listed(draw(some))} }}'
            case "args_min":
                value = str(draw(st.integers(1, 2)))
            case _:
                value = listed(draw(some))
        found[key] = f"{key} = {value}"
    return list(found.values())


@st.composite
def packs(draw: st.DrawFn) -> str:
    lines = ["[pack]", 'id = "own"', "[[program]]", 'names = ["deploy"]', f'style = "{draw(st.sampled_from(STYLES))}"']
    lines += draw(st.sampled_from(([], ['values = ["-x", "--force-all"]'], ['harmless = ["--dry-run"]'])))
    for number in range(draw(st.integers(1, 3))):
        lines += [
            "[[rule]]",
            f'id = "own.r{number}"',
            'programs = ["deploy"]',
            'reason = "It is."',
            'positives = ["deploy a"]',
        ]
        lines += draw(st.sampled_from((['decision = "block"'], ['decision = "mark"', 'marks = ["runs-file"]'])))
        lines += draw(conditions())
        if draw(st.integers(0, 2)) == 0:
            groups = draw(st.lists(conditions(), min_size=1, max_size=2))
            lines.append("any = [" + ", ".join("{ " + ", ".join(group) + " }" for group in groups) + "]")
    return "\n".join(lines)


def policy_of(text: str) -> Policy:
    """Return a policy of one pack's rules alone; its samples are not tried."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "own.toml"
        path.write_text(text, encoding="utf-8")
        whole = load_policy(extra=[path])
    own = {name: rule for name, rule in whole.rules.items() if rule.pack == "own"}
    return Policy(rules=own, programs=whole.programs)


@given(packs(), st.sampled_from(("", " | cat", " && ls", " &")))
def test_the_short_way_leads_where_the_long_one_does_by_any_pack(text: str, end: str) -> None:
    native = _gates.Policy(compile_image(policy_of(text)))
    site = _gates.CallSite("/home/dev/proj", "/home/dev/proj", "/home/dev", "/tmp")
    words = ("", *OPTIONS, *WORDS)
    for command in (f"deploy {one} {other}{end}" for one in words for other in words):
        explained, _, _ = native.explain(command, 0, site, SETTINGS)
        assert native.command(command, 0, site, SETTINGS) == explained, (command, text)
