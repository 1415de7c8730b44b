"""Where the home directory is matters to no decision: it is a home below a temporary folder, too."""

from __future__ import annotations

import pytest

from tipstaff.gates.image.policy import default_image
from tipstaff.kernels import _gates

SETTINGS = (1, 300, 0, 2, 3, 2, 0, 0, 0, 0, False)
ALLOW, BLOCK = 0, 3


@pytest.fixture(scope="module")
def policy() -> _gates.Policy:
    return _gates.Policy(default_image())


def decided(policy: _gates.Policy, command: str, home: str, temporary: str) -> int:
    site = _gates.CallSite(f"{home}/src/proj", f"{home}/src/proj", home, temporary)
    return policy.decisions([command], site, SETTINGS, 0, 1)[0]


@pytest.mark.parametrize("temporary", ["", "/tmp", "/var/tmp", "/tmp/own/tmp"])
@pytest.mark.parametrize("home", ["/home/dev", "/tmp/tmp.Xy12", "/var/tmp/build/home", "/tmp", "/tmp/own"])
@pytest.mark.parametrize("command", ["rm -rf ~", "rm -rf $HOME", "rm -rf ~/*", "rm -rf ~/.ssh", "rm -rf ~/Documents"])
def test_a_home_below_a_temporary_folder_is_a_home(
    policy: _gates.Policy, command: str, home: str, temporary: str
) -> None:
    assert decided(policy, command, home, temporary) == decided(policy, command, "/home/dev", "/scratch") > ALLOW


@pytest.mark.parametrize("home", ["/tmp/tmp.Xy12", "/home/dev"])
def test_other_temporary_folders_stay_temporary(policy: _gates.Policy, home: str) -> None:
    assert decided(policy, "rm -rf /tmp/other/x", home, "/tmp") == ALLOW
    assert decided(policy, f"rm -rf {home}/tmp/x", home, f"{home}/tmp") == ALLOW
    assert decided(policy, "rm -rf ./build", home, "/tmp") < BLOCK


def test_a_folder_that_holds_the_home_is_no_temporary_one(policy: _gates.Policy) -> None:
    assert decided(policy, "rm -rf /tmp/ci", "/tmp/ci/home", "/tmp") == BLOCK
