"""Options in the image: what shows that a word is none of those that rules ask for, in each style."""

from __future__ import annotations

from pathlib import Path

import pytest

from tipstaff import EnforcementGates, aggregate_decision
from tipstaff.gates.image.layout import NOTHING, ImageSections
from tipstaff.gates.image.options import OptionNames

PACK = """
[pack]
id = "own"
[[program]]
names = ["deploy"]
style = "{style}"
[[rule]]
id = "own.deploy"
programs = ["deploy"]
flags_any = ["{option}"]
decision = "block"
reason = "It goes live."
positives = ["deploy {positive}"]
negatives = ["deploy {negative}"]
"""


def bits_of(letters: str) -> tuple[int, ...]:
    whole = sum(1 << ord(letter) for letter in letters)
    return tuple(whole >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96))


@pytest.mark.parametrize(
    ("style", "options", "letters", "names"),
    [
        ("gnu", ["-f", "--force", "--", "force"], "f-", 1),
        ("gnu", ["-f", "-F"], "fF", 0),
        ("go", ["-f", "--force", "-help"], "f", 2),
        ("single", ["-f", "-delete"], "", 2),
        ("operands", ["-f", "--force"], "", 0),
    ],
)
def test_options_have_signs(style: str, options: list[str], letters: str, names: int) -> None:
    sections = ImageSections()
    starts, *bits, first, count = OptionNames(style, "program x").signs(options, sections)
    assert tuple(bits) == bits_of(letters)
    assert (starts == NOTHING) == (names == 0)
    assert count == names
    assert first + count <= sections.size("signs")


@pytest.mark.parametrize(
    ("style", "option", "positive", "negative"),
    [
        ("single", "-f", "-f live", "-g live"),
        ("single", "-force", "live -force", "-forced live"),
        ("go", "-f", "-f live", "-force live"),
        ("go", "-force", "--force=true live", "-f live"),
        ("gnu", "-f", "-xfz live", "--f live"),
        ("gnu", "--force", "--forc live", "--fork live"),
        ("gnu", "--force", "--FORCE live", "--f live"),
        ("gnu", "--", "-- live", "-x live"),
    ],
)
def test_an_option_is_found_in_the_spelling_of_its_style(
    tmp_path: Path, style: str, option: str, positive: str, negative: str
) -> None:
    path = tmp_path / "own.toml"
    path.write_text(PACK.format(style=style, option=option, positive=positive, negative=negative))
    gates = EnforcementGates(packs=[path])
    assert aggregate_decision(gates.evaluate_command(f"deploy {positive}")) == "block"
    assert gates.evaluate_command(f"deploy {negative}") == []
