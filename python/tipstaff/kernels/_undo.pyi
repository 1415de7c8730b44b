import os
from collections.abc import Iterable, Mapping, Sequence

CLASSES: tuple[str, ...]
KINDS: tuple[str, ...]

def classes(paths: Iterable[str | bytes | os.PathLike[str]]) -> list[str | None]: ...
def keep(
    effects: Iterable[Sequence[str | bytes | int]],
    cwd: str | bytes | os.PathLike[str],
    state: str | bytes | os.PathLike[str],
    *,
    command: str | bytes = "",
    session: str | bytes = "",
    root: str | bytes | os.PathLike[str] = "",
    limits: Mapping[str, int] | None = None,
    absent: Iterable[str | bytes] = (),
    moves: Iterable[Sequence[str | bytes]] = (),
) -> tuple[str | None, str | None, str, int, int]: ...
