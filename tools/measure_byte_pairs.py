"""Measures how classes of bytes follow one another in source text: ``python -m tools.measure_byte_pairs FOLDER ...``.

Prints the two tables of `tipstaff.gates.secrets.pairs`; ``--write`` puts them there. What was shipped was measured over
files of Python, C, JavaScript, Markdown, JSON, YAML and shell scripts; any few megabytes of such files tell about the
same. The tables only choose where the scanner of secrets looks first: what it finds does not depend on them.
"""

from __future__ import annotations

import argparse
import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from tipstaff.gates.secrets import pairs as secret_pairs
from tipstaff.kernels.formats.secret_table import class_of

SUFFIXES: Final = (".py", ".c", ".h", ".js", ".md", ".json", ".yaml", ".yml", ".sh")
MOST_BYTES: Final = 9_000_000
CLASSES: Final = 64
_DIGITS: Final = "0123456789abcdefghijklmnopqrstuvwxyz"
_CLASS: Final = bytes(class_of(byte) if byte < 0x80 else 0xFF for byte in range(256))


def source_texts(folders: Sequence[Path], most: int = MOST_BYTES) -> Iterator[bytes]:
    """Yield the files below some folders that are source text, in the order of their names, `most` bytes at most."""
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in SUFFIXES and path.is_file():
                data = path.read_bytes()[:most]
                most -= len(data)
                yield data
                if most <= 0:
                    return


def digit(count: int, total: int) -> str:
    """Return minus twice the logarithm to base 2 of a share, rounded, as a digit to base 36; the last for nothing."""
    if count == 0:
        return _DIGITS[-1]
    return _DIGITS[min(len(_DIGITS) - 1, round(-2 * math.log2(count / total)))]


def measure(texts: Iterator[bytes]) -> tuple[str, list[str]]:
    """Return a digit for each class, and for each class a line of digits for those that follow it.

    Bytes beyond ASCII have no class: nothing follows them.

    Raises
    ------
    ValueError
        If there is no text.
    """
    counts: Counter[tuple[int, int]] = Counter()
    for text in texts:
        counts.update(pairwise(text.translate(_CLASS)))
    known = {pair: count for pair, count in counts.items() if max(pair) < CLASSES}
    total = sum(known.values())
    if total == 0:
        msg = f"no source text there; files named {', '.join('*' + suffix for suffix in SUFFIXES)} are read"
        raise ValueError(msg)
    rows = [sum(known.get((first, second), 0) for second in range(CLASSES)) for first in range(CLASSES)]
    pairs = [
        "".join(digit(known.get((first, second), 0), rows[first]) for second in range(CLASSES))
        for first in range(CLASSES)
    ]
    return "".join(digit(count, total) for count in rows), pairs


def replaced(module: str, first: str, pairs: Sequence[str]) -> str:
    """Return the text of the module with other tables in it."""
    module = re.sub(r'(FIRST: Final = ")\w+', lambda found: found[1] + first, module)
    lines = "".join(f"{line}\n" for line in pairs)
    return re.sub(r'(PAIRS: Final = """\n)[\w\n]+', lambda found: found[1] + lines, module)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print or write."""
    parser = argparse.ArgumentParser(description="Measures how classes of bytes follow one another in source text.")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--write", action="store_true", help="put the tables into tipstaff/gates/secrets/pairs.py")
    given = parser.parse_args(arguments)
    first, pairs = measure(source_texts(given.folders))
    if given.write:
        path = Path(secret_pairs.__file__)
        path.write_text(replaced(path.read_text(), first, pairs))
        print(f"{path.name}: now python -m tools.write_secret_table")
    else:
        print(first, *pairs, sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
