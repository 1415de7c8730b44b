"""Tidies what is kept for undo: ``python -m tipstaff.hosts.tidying``, which the hook starts apart from itself."""

from __future__ import annotations

from tipstaff.gates.image.repository_policy import settings_of
from tipstaff.store.state import state_folder
from tipstaff.undo import tidy


def tidy_keeps() -> None:
    """Pack pins, sweep leftovers and apply retention, by the settings of each repository."""
    state = state_folder()
    tidy(lambda root: settings_of(root, state).undo, state)


if __name__ == "__main__":
    tidy_keeps()
