"""The writer of keeps, and a repository with work in it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import ModuleType

import pytest

import tipstaff.kernels
from tests.undo import keeping, operations
from tipstaff.store.state import make_private


@pytest.fixture(autouse=True)
def writer(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("tipstaff.kernels._undo")
    module.keep = keeping.keep
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(tipstaff.kernels, "_undo", module, raising=False)
    monkeypatch.setattr(os, "fsync", lambda _: None)  # what a power cut leaves cannot be seen here
    for name, value in operations.ENVIRONMENT.items():
        monkeypatch.setenv(name, value)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return operations.make_repository(tmp_path_factory.mktemp("undo") / "model")


@pytest.fixture
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TIPSTAFF_STATE", str(tmp_path / "state"))
    make_private(tmp_path / "state" / "undo")
    return tmp_path / "state"
