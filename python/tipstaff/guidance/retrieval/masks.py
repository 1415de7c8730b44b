"""Which shards hold where somebody works, and on a day."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tipstaff.globs import scope_applies
from tipstaff.guidance.compiling.compiler import in_force
from tipstaff.model import EVERYWHERE, RuleShard

MAX_MASKS: Final = 64
"""So many are remembered."""
_NUMPY_FROM_ROWS: Final = 5_000


class ShardMasks:
    """Masks of shards: uint8 (n_shards,), 0 for those that are left out; remembered for some questions.

    Parameters
    ----------
    n_shards, shard
        How many there are, and what gives shard `index`.
    scope_codes, scope_values
        For each shard the place of its scopes among the distinct ones.
    dated
        Numbers of the shards that have dates.

    Attributes
    ----------
    has_scopes
        Whether any shard does not hold everywhere.
    known
        The masks that are remembered.
    """

    def __init__(
        self,
        n_shards: int,
        shard: Callable[[int], RuleShard],
        *,
        scope_codes: Any,
        scope_values: tuple[tuple[str, ...], ...],
        dated: tuple[int, ...],
    ) -> None:
        self._n_shards = n_shards
        self._shard = shard
        self._scope_codes = scope_codes
        self._scope_values = scope_values
        self._dated = dated
        self.has_scopes = any(EVERYWHERE not in scopes for scopes in scope_values)
        self.known: dict[tuple[str | None, str], tuple[bytes | None]] = {}
        self._holds: dict[str, tuple[bytes | None]] = {}

    def mask(self, repo_scope: str | None, today: str) -> bytes | None:
        """Return which shards a task may be given, uint8 (n_shards,), None for all.

        Parameters
        ----------
        repo_scope
            Path or glob that the caller works on, a folder with a slash at its end, None for anywhere.
        today
            ISO date against which the rules' dates are held.
        """
        if not repo_scope and not self._dated:
            return None
        key = (repo_scope or None, today if self._dated else "")
        known = self.known.get(key)  # one look only: another thread may empty the table
        if known is not None:
            return known[0]
        mask: bytearray | None = None
        if repo_scope:
            # In a folder a rule about some of its files may hold.
            within = f"{repo_scope}**" if repo_scope.endswith("/") else repo_scope
            applies = bytes(scope_applies(scopes, within) for scopes in self._scope_values)
            if 0 in applies:
                mask = bytearray(_spread(self._scope_codes, applies))
        for index in self._dated:
            if not in_force(self._shard(index).rule, today):
                mask = mask if mask is not None else bytearray(b"\1") * self._n_shards
                mask[index] = 0
        result = bytes(mask) if mask is not None else None
        if len(self.known) >= MAX_MASKS:
            self.known.clear()
        self.known[key] = (result,)
        return result

    def holding(self, paths: tuple[str, ...], mask: bytes | None) -> bytes | None:
        """Return which shards of a mask hold a place by a scope of their own, None where none does."""
        key = "\n".join(paths)
        known = self._holds.get(key)
        if known is None:
            holds = bytes(
                EVERYWHERE not in scopes and any(scope_applies(scopes, path) for path in paths)
                for scopes in self._scope_values
            )
            known = (_spread(self._scope_codes, holds) if 1 in holds else None,)
            if len(self._holds) >= MAX_MASKS:
                self._holds.clear()
            self._holds[key] = known
        held = known[0]
        if held is None or mask is None:
            return held
        both = joined(held, mask)
        return both if 1 in both else None


def joined(left: bytes, right: bytes | None) -> bytes:
    """Return where both masks let a shard through."""
    if right is None:
        return left
    return (int.from_bytes(left, "little") & int.from_bytes(right, "little")).to_bytes(len(left), "little")


def _spread(codes: Any, by_code: bytes) -> bytes:
    """Return for each shard the bits of its code."""
    if len(by_code) <= 256:
        return bytes(codes).translate(by_code.ljust(256, b"\0"))
    if len(codes) < _NUMPY_FROM_ROWS:
        return bytes(map(by_code.__getitem__, codes))
    import numpy as np

    spread: bytes = np.frombuffer(by_code, np.uint8)[np.asarray(codes)].tobytes()
    return spread
