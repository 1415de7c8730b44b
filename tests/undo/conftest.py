"""A repository with work in it, and a state folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.undo import operations
from tipstaff.store.state import make_private


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
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
