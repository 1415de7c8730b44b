"""What a request was found to name, and what is about a token."""

from __future__ import annotations

from typing import Final, NamedTuple


class Around(NamedTuple):
    """What is about a token: ``()`` or ``(`` after it, ``<`` and a capital after it, ``class`` or so before."""

    call: bool = False
    opens: bool = False
    generic: bool = False
    defined: bool = False


ALONE: Final = Around()


class Found:
    """What was found; the dictionaries keep the order and hold nothing twice."""

    def __init__(self, max_paths: int, max_symbols: int) -> None:
        self.max_paths = max_paths
        self.max_symbols = max_symbols
        self.paths: dict[bytes, int] = {}
        self.marked: dict[bytes, None] = {}
        self.bare: dict[bytes, None] = {}
        self.signals = 0

    def add_path(self, owner: int, path: bytes) -> None:
        """Take a path of one of the texts, unless there are enough."""
        if len(self.paths) < self.max_paths:
            self.paths.setdefault(path, owner)

    def add_marked(self, name: bytes) -> None:
        """Take a symbol that is written as code."""
        if len(self.marked) < self.max_symbols:
            self.marked.setdefault(name)

    def add_bare(self, name: bytes) -> None:
        """Take another symbol."""
        if len(self.bare) < self.max_symbols:
            self.bare.setdefault(name)
