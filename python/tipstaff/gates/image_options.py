"""The options of one program as the image knows them: their bits, and tables to find them by letter and by name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from tipstaff.gates.image_layout import NOTHING, ImageSections, hashed
from tipstaff.gates.image_triggers import byte_class
from tipstaff.gates.pack_model import PackError

OPTION_BITS: Final = 128


class OptionNames:
    """The options of one program, each with its bit."""

    def __init__(self, style: str, where: str) -> None:
        self.style = style
        self._where = where
        self._bits: dict[str, int] = {}

    def canonical(self, option: str) -> str | None:
        """Return the name under which the image knows an option, or None where this style cannot spell it."""
        if self.style == "operands":
            return None
        if self.style == "slash":
            return option.lstrip("-/").lower()
        if option.startswith("/"):
            return None
        if self.style == "gnu":
            return option.lower() if option.startswith("--") else option if len(option) == 2 else None
        if self.style == "single":
            return option.lower() if len(option) > 2 else option
        name = option.lstrip("-")
        return name if len(name) == 1 and self.style == "go" else name.lower()

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
        if self.style in {"gnu", "single"}:
            return name[1] if len(name) == 2 and name != "--" else ""
        return name if len(name) == 1 and self.style in {"go", "slash"} else ""

    def write(self, sections: ImageSections) -> tuple[tuple[int, int, int], tuple[int, int], tuple[int, ...]]:
        """Put the options into an image.

        Returns
        -------
        tuple
            First option, how many and how many of them are letters; first place and size of the table of names;
            bits of the letters that are options (four numbers), and the table of the others' first two letters.
        """
        # Letters first: they are looked up by letter, the others by the table and by how they begin.
        named = sorted(self._bits.items(), key=lambda item: (not self.letter(item[0]), self._start(item[0]), item[1]))
        short = sum(1 for name in self._bits if self.letter(name))
        table = hashed([(name, (number,)) for number, (name, _) in enumerate(named) if number >= short])
        hashes = {entry[1][0]: entry[0] for entry in table if entry is not None}
        letters = 0
        for name, _ in named[:short]:
            letters |= 1 << (ord(self.letter(name)) & 127)
        first, _ = sections.extend(
            "flags",
            [
                (sections.text(name), bit, self._start(name), hashes.get(number, 0))
                for number, (name, bit) in enumerate(named)
            ],
        )
        places = sections.extend("options", [(NOTHING,) if entry is None else entry[1] for entry in table])
        starts = sections.letters(divmod(self._start(name), 32) for name, _ in named[short:])
        bits = (*((letters >> shift) & 0xFFFFFFFF for shift in range(0, 128, 32)), starts)
        return (first, len(named), short), places, bits

    def _start(self, name: str) -> int:
        """Return a one-letter option's letter; of another the classes of its first two letters, after any dashes."""
        letter = self.letter(name)
        if letter:
            return ord(letter)
        data = (name[2:] if self.style == "gnu" else name).encode()
        return byte_class(data[0]) << 5 | byte_class(data[1]) if len(data) > 1 else 0
