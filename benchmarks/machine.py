"""What the figures were measured on: processor, cores, load, versions. Figures without these say nothing."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

from benchmarks.peers.install import PACKAGE, VERSION, PeerUnavailableError, is_installed, node_program

PEERS = ("numpy", "faiss-cpu", "usearch", "pyarrow", "pytest-benchmark")
BUSY_LOAD = 1.5
"""A one-minute load average above this leaves doubt about absolute figures, though less about ratios."""


def cpu_model() -> str:
    """Return the processor's name, with family and model where the system tells them."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").split("\n\n")[0].splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    facts = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    name = facts.get("model name", platform.machine())
    return (
        f"{name} (family {facts['cpu family']}, model {facts['model']})"
        if {"cpu family", "model"} <= set(facts)
        else name
    )


@cache
def node_version() -> str | None:
    """Return Node's version, None where there is no Node."""
    try:
        result = subprocess.run([node_program(), "--version"], capture_output=True, text=True, check=True)
    except (PeerUnavailableError, OSError, subprocess.CalledProcessError):
        return None
    return result.stdout.strip().removeprefix("v")


def describe() -> dict[str, Any]:
    """Return the machine and the versions of everything that is measured."""
    from tipstaff import __version__, kernels

    versions = {"tipstaff": __version__, "python": platform.python_version()}
    for name in PEERS:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            versions[name] = "absent"
    versions["node"] = node_version() or "absent"
    versions[PACKAGE] = VERSION if is_installed() else "absent"
    return {
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "load_average": [round(value, 2) for value in os.getloadavg()],
        "isa": kernels.isa(),
        "versions": versions,
    }


def header(facts: dict[str, Any] | None = None) -> list[str]:
    """Return the same as lines of text."""
    facts = describe() if facts is None else facts
    load = facts["load_average"][0]
    return [
        f"machine: {facts['cpu']}, {facts['cores']} cores, load average {load}{', busy' if load > BUSY_LOAD else ''}",
        f"instruction set: {facts['isa']}",
        "versions: " + ", ".join(f"{name} {version}" for name, version in facts["versions"].items()),
    ]
