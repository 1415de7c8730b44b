from __future__ import annotations

from pathlib import Path

import pytest

from tests.attacks.playing import Victim


@pytest.fixture
def victim(tmp_path: Path) -> Victim:
    return Victim(tmp_path)


@pytest.fixture
def elsewhere(tmp_path: Path) -> Victim:
    """A gate whose state is at a place that no name gives away."""
    return Victim(tmp_path, state=tmp_path / "vault" / "g")
