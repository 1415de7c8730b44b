"""Below temporary folders more is allowed, as the page on gates says; the folders themselves are asked about."""

from __future__ import annotations

from pathlib import Path

import pytest

from tipstaff import EnforcementGates, aggregate_decision

REPOSITORY = "/home/dev/proj"


@pytest.fixture(scope="module")
def gates() -> EnforcementGates:
    return EnforcementGates().offline(home="/home/dev", temporary="/scratch/tmp")


def decided(gates: EnforcementGates, command: str) -> str:
    return aggregate_decision(gates.evaluate_command(command, cwd=REPOSITORY))


@pytest.mark.parametrize("folder", ["/tmp/work", "/var/tmp/work", "/scratch/tmp/work", "$TMPDIR/work", "$(mktemp -d)"])
@pytest.mark.parametrize(
    "command",
    ["rm -rf {}", "rm -rf {}/src", "find {} -type f -delete", "find {} -delete", "rsync -a --delete src/ {}/", "git -C {} reset --hard"],
)  # fmt: skip
def test_what_lies_there_may_go(gates: EnforcementGates, folder: str, command: str) -> None:
    if command.startswith("git"):
        # A repository is one wherever it lies.
        assert decided(gates, command.format(folder)) != "block"
    else:
        assert decided(gates, command.format(folder)) == "allow"


@pytest.mark.parametrize(
    "command",
    ["rm -rf {}", "find {} -delete", "shred -u {}/a.py", "truncate -s 0 {}/a.py", "dd if=/dev/zero of={}/a.py"],
)
def test_the_same_elsewhere_may_not(gates: EnforcementGates, command: str) -> None:
    assert decided(gates, command.format("/tmp/work")) == "allow"
    assert decided(gates, command.format("/home/dev/proj/src")) != "allow"
    assert decided(gates, command.format("/home/dev/other")) != "allow"


@pytest.mark.parametrize("command", ["rm -rf /tmp", "rm -rf /tmp/", "rm -rf /tmp/../home/dev", "rm -rf /var/tmp", "rm -rf /scratch/tmp"])  # fmt: skip
def test_the_folders_themselves_are_asked_about(gates: EnforcementGates, command: str) -> None:
    assert decided(gates, command) != "allow"


def test_the_page_says_so() -> None:
    page = Path(__file__).parents[3] / "docs" / "reference" / "gates.md"
    assert "Below temporary directories" in page.read_text(encoding="utf-8")
