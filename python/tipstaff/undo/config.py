"""Settings of undo: the table ``[undo]`` of ``.tipstaff/gates.toml``."""

from __future__ import annotations

from typing import Any, Final

from tipstaff.errors import ConfigError, require_whole_number
from tipstaff.model import Record

MODES: Final = ("keep", "ask")
MB: Final = 1 << 20


class UndoConfig(Record, frozen=True):
    """What is kept of a call, and for how long; checked when made.

    Attributes
    ----------
    mode
        ``keep``: what a call would lose is kept, and the call allowed; ``ask``: it is kept, and a person is asked.
    call_mb, call_files, wait_ms
        The most that is kept of one call, in MB and files, and how long that may take; above it, a person is asked.
    free_mb
        What stays free on the disk; below it, a person is asked.
    days
        How long a keep stays.
    total_mb, small_mb
        How much the large keeps take on the disk, and those of up to 1 MB; the oldest go first.

    Raises
    ------
    ConfigError
        A mode does not exist, a number is none or out of range.
    """

    mode: str = "keep"
    call_mb: int = 256
    call_files: int = 10_000
    wait_ms: int = 2_000
    free_mb: int = 512
    days: int = 14
    total_mb: int = 2_048
    small_mb: int = 256

    def __post_init__(self) -> None:
        if self.mode not in MODES:
            raise ConfigError(f"mode must be one of {', '.join(MODES)}, not {self.mode!r}")
        for name in NUMBERS:
            require_whole_number(name, getattr(self, name), 0, 1 << 31)


NUMBERS: Final = tuple(name for name in UndoConfig.__struct_fields__ if name != "mode")
_LOOSER_WHERE_SMALLER: Final = frozenset({"free_mb", "days", "total_mb", "small_mb"})


def is_weaker(name: str, former: Any, now: Any) -> bool:
    """Return whether a setting keeps less, or asks less, than another value of it."""
    if name == "mode":
        return MODES.index(now) < MODES.index(former)
    return bool(now < former) if name in _LOOSER_WHERE_SMALLER else bool(now > former)
