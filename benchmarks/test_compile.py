"""How long does it take to compile a team's rule file: 400 rules, 42 KB?

``node`` is the npm package's compiler on the same text, by Node's own clock, warm. It reads lines by expressions, this
one reads Markdown, relates every rule to every other and reports diagnostics, so it does more for its time. What an
agent's session meets most often is the last group: nothing changed since the rules were compiled.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyromark
import pytest
from benchmarks.peers.contender import CLOCK

from benchmarks import inputs
from tipstaff import CompilerConfig, budgets, compile_guidance, compile_repository, open_project

if TYPE_CHECKING:
    from benchmarks.peers.contender import TimedPeer

QUESTION = "compile a 400-rule file of 42 KB"
UNCHANGED = "open the compiled rules of a repository in which nothing changed"
ROUNDS = 60
WARM = 60


@pytest.mark.benchmark(group=QUESTION)
def test_tipstaff(benchmark: Any) -> None:
    found = benchmark(compile_guidance, inputs.rule_file(), inputs.local_file())
    assert found.manifest.total_rules == inputs.N_RULES + 2


@pytest.mark.benchmark(group=QUESTION, timer=CLOCK)
def test_node(benchmark: Any, node_peer: TimedPeer) -> None:
    timing = node_peer.run(
        benchmark, "compile", rounds=ROUNDS, warm=WARM, root=inputs.rule_file(), local=inputs.local_file()
    )
    assert timing.result["rules"] == inputs.N_RULES + 2


@pytest.mark.benchmark(group=QUESTION)
def test_markdown_events_alone(benchmark: Any) -> None:
    """What reading the Markdown costs anybody who uses a native reader; the yardstick where there is no Node."""
    assert benchmark(lambda: sum(1 for _ in pyromark.events(inputs.rule_file()))) > inputs.N_RULES


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "CLAUDE.md").write_text(inputs.rule_file(), encoding="utf-8")
    (tmp_path / "CLAUDE.local.md").write_text(inputs.local_file(), encoding="utf-8")
    (tmp_path / "src").mkdir()
    with open_project(tmp_path) as project:
        assert project.rebuilt
    return tmp_path


@pytest.mark.benchmark(group=UNCHANGED)
def test_stat_and_read_alone(benchmark: Any, repository: Path) -> None:
    """What the system charges for listing the folder and reading the compiled rules: the floor, the yardstick."""
    with open_project(repository) as project:
        store = project.store_path

    def look() -> int:
        files = [entry.stat().st_mtime_ns for entry in os.scandir(repository)]
        return len(files) + len(store.read_bytes())

    assert benchmark(look) > store.stat().st_size


@pytest.mark.benchmark(group=UNCHANGED)
def test_tipstaff_unchanged(benchmark: Any, repository: Path) -> None:
    def reopen() -> bool:
        with open_project(repository) as project:
            return project.rebuilt

    benchmark.extra_info["budget_ms"] = budgets.COMPILE_UNCHANGED_MS
    assert benchmark(reopen) is False


@pytest.mark.benchmark(group=UNCHANGED)
def test_tipstaff_unchanged_all_rules_decoded(benchmark: Any, repository: Path) -> None:
    def reopen() -> int:
        with open_project(repository) as project:
            return project.bundle.manifest.total_rules

    assert benchmark(reopen) == inputs.N_RULES + 2


@pytest.mark.benchmark(group=UNCHANGED)
def test_tipstaff_compiled_anew(benchmark: Any, repository: Path) -> None:
    config = CompilerConfig()
    assert benchmark(compile_repository, repository, config=config).manifest.total_rules == inputs.N_RULES + 2
