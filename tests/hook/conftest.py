from __future__ import annotations

from pathlib import Path

import pytest

from tests.hook.running import Bench, program


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    assert program().is_file(), f"{program()}: the hook program is not built"
    return Bench(tmp_path)


@pytest.fixture
def bare(tmp_path: Path) -> Bench:
    return Bench(tmp_path, policy=False)
