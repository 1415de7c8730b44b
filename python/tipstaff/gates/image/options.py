"""The options of one program as the image knows them: their bits, and tables to find them by letter and by name."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from tipstaff.gates.image.layout import ImageSections, hash_name
from tipstaff.gates.image.triggers import byte_class
from tipstaff.gates.packs.model import BUNDLING, PackError

OPTION_BITS: Final = 128
_ATTACHED: Final = 128  # kAttached of rules/image.hpp


class OptionNames:
    """The options of one program, each with its bit."""

    def __init__(self, style: str, where: str, attached: Iterable[str] = ()) -> None:
        self.style = style
        self._attached = frozenset(attached)
        self._where = where
        self._bits: dict[str, int] = {}

    def canonical(self, option: str) -> str | None:
        """Return the name under which the image knows an option, or None where this style cannot spell it."""
        return _canonical(option, self.style)

    def add(self, options: Iterable[str]) -> list[int]:
        """Return the bits of options; those that this style cannot spell have none."""
        found: list[int] = []
        for option in options:
            name = self.canonical(option)
            if name is None:
                continue
            bit = self._bits.setdefault(name, len(self._bits))
            if bit >= OPTION_BITS:
                raise PackError(f"{self._where}: rules name more than {OPTION_BITS} options")
            found.append(bit)
        return found

    def letter(self, name: str) -> str:
        """Return the letter of a one-letter option, or nothing."""
        if self.style in BUNDLING or self.style == "single":
            return name[1] if len(name) == 2 and name != "--" else ""
        return name if len(name) == 1 and self.style in {"go", "slash"} else ""

    def write(self, sections: ImageSections) -> tuple[tuple[int, int, int], tuple[int, int], tuple[int, ...]]:
        """Put the options into an image.

        Returns
        -------
        tuple
            First option, how many and how many of them are letters; first place and size of the table of names;
            bits of the letters that are options (four numbers), and the table of the first two letters of names.
        """
        # Letters first: they are looked up by letter, the others by the table and by how they begin.
        named = sorted(self._bits.items(), key=lambda item: (not self.letter(item[0]), self._start(item[0]), item[1]))
        short = sum(1 for name in self._bits if self.letter(name))
        first, _ = sections.shared(
            "flags",
            [
                (sections.text(name), bit, self._start(name), hash_name(name) if number >= short else 0)
                for number, (name, bit) in enumerate(named)
            ],
        )
        extent = sections.index([name for name, _ in named[short:]], short)
        letters = _bits_of(self.letter(name) for name, _ in named[:short])
        # Where one dash is before every name, a letter's option begins as the others do.
        begun = named if self.style == "single" else named[short:]
        starts = sections.letters(_two_classes(self._unsigned(name)) for name, _ in begun)
        return (first, len(named), short), extent, (*letters, starts)

    def signs(self, options: Iterable[str], sections: ImageSections) -> tuple[int, ...]:
        """Return a test that a word is none of some options.

        Returns
        -------
        tuple
            The table of the first two letters of their names, and bits of the letters of those of one letter (four
            numbers); ``--`` alone counts as the letter ``-``. In the style ``single`` all are in the table. Then where
            the names are in the table, and how many they are.
        """
        names = sorted({name for option in options if (name := self.canonical(option)) is not None})
        single = self.style == "single"
        short = [] if single else [name for name in names if name == "--" or self.letter(name)]
        named = [name for name in names if name not in short]
        starts = sections.letters(_two_classes(self._unsigned(name)) for name in named)
        texts = sections.shared("signs", [(sections.text(name),) for name in named]) if named else (0, 0)
        return starts, *_bits_of("-" if name == "--" else self.letter(name) for name in short), *texts

    def _start(self, name: str) -> int:
        """Return a one-letter option's letter; of another the classes of its first two letters, after any dashes."""
        letter = self.letter(name)
        if letter:
            return ord(letter) + (_ATTACHED if name in self._attached else 0)
        one, other = _two_classes(self._unsigned(name))
        return one << 5 | other

    def _unsigned(self, name: str) -> str:
        return name[2:] if self.style in BUNDLING else name


@lru_cache(maxsize=1 << 14)
def _canonical(option: str, style: str) -> str | None:
    if style == "operands":
        return None
    if style == "slash":
        return option.lstrip("-/").lower()
    if option.startswith("/"):
        return None
    if style in BUNDLING:
        return option.lower() if option.startswith("--") else option if len(option) == 2 else None
    if style == "single":
        return option.lower() if len(option) > 2 else option
    name = option.lstrip("-")
    return name if len(name) == 1 and style == "go" else name.lower()


@lru_cache(maxsize=1 << 14)
def _two_classes(name: str) -> tuple[int, int]:
    """Return the classes of a name's first two letters; zeros where it has fewer."""
    data = name.encode()
    return (byte_class(data[0]), byte_class(data[1])) if len(data) > 1 else (0, 0)


def _bits_of(letters: Iterable[str]) -> tuple[int, ...]:
    """Return letters as bits without their highest one, 32 in a number."""
    bits = 0
    for letter in letters:
        bits |= 1 << (ord(letter) & 127)
    return tuple((bits >> shift) & 0xFFFFFFFF for shift in range(0, 128, 32))
