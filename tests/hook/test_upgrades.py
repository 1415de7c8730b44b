"""After an upgrade: what another version compiled is noticed, compiled again at once, and found by `doctor`."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.hook.running import Bench, default_image
from tipstaff.gates.config import GateConfig
from tipstaff.gates.image import policy_file
from tipstaff.gates.image.layout import with_settings
from tipstaff.gates.image.policy import build_image
from tipstaff.gates.image.policy_file import built_in_edition, policy_path, write_policy
from tipstaff.guidance.hook import image
from tipstaff.guidance.hook.image import hook_image_fault, hook_image_path, write_hook_image
from tipstaff.guidance.project import compile_repository
from tipstaff.hosts.policies import check_policy
from tipstaff.store.state import fnv64

ROOT = Path(__file__).resolve().parents[2]
PACK = '[pack]\nid = "own"\ntitle = "own"\n'
OUTDATED = b"of another version of tipstaff"


def former_edition() -> int:
    return built_in_edition() ^ 1


@cache
def image_with_own_rules() -> bytes:
    return build_image(config=GateConfig(allowed_tools=("*",)), check=False)


def own_packs(bench: Bench) -> None:
    """Give the repository a pack of its own, compiled by another version."""
    packs = bench.repository / ".tipstaff" / "packs"
    packs.mkdir(parents=True)
    (packs / "own.toml").write_text(PACK)
    with pytest.MonkeyPatch.context() as patch:
        edition = former_edition()
        patch.setattr(policy_file, "built_in_edition", lambda: edition)
        write_policy(image_with_own_rules(), bench.repository, state=bench.state)


def waited_for(done: Callable[[], bool]) -> bool:
    end = time.monotonic() + 120
    while not done() and time.monotonic() < end:
        time.sleep(0.05)
    return done()


def doctor(bench: Bench) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "tipstaff.cli", "doctor"],
        check=False, capture_output=True, env=bench.environment(), cwd=bench.repository, timeout=120,
    )  # fmt: skip
    return done.stdout.decode()


def test_own_packs_are_compiled_again_at_once(bench: Bench) -> None:
    own_packs(bench)
    assert "another version" in doctor(bench)
    answer = bench.run(bench.claude("git status"), "--host", "claude")
    assert answer.decision() not in {"ask", "deny"}
    assert OUTDATED in answer.stdout
    assert b"being compiled again" in answer.stdout
    assert bench.run(bench.claude("rm -rf /"), "--host", "claude").decision() == "deny"
    assert waited_for(lambda: check_policy(bench.repository, bench.state) is None)
    assert waited_for(lambda: not any((bench.state / "compiling").iterdir()))
    assert bench.run(bench.claude("git status"), "--host", "claude").stdout == b""
    assert "another version" not in doctor(bench)


@pytest.mark.parametrize("why", ["broken pack", "no interpreter", "failed before"])
def test_what_cannot_be_compiled_again_is_reported_in_every_reply(bench: Bench, why: str) -> None:
    own_packs(bench)
    mark = bench.state / "compiling" / f"{fnv64(os.fsencode(bench.repository)):016x}"
    if why == "broken pack":
        (bench.repository / ".tipstaff" / "packs" / "own.toml").write_text("[pack")
        bench.run(bench.claude("git status"), "--host", "claude")
        assert policy_path(bench.repository, bench.state).exists()
        assert not mark.exists()  # it is older than its packs: a person is asked for that
        return
    if why == "no interpreter":
        (bench.state / "compiler").unlink()
    else:
        mark.parent.mkdir()
        mark.write_text("it could not be written\n")
    for _ in range(2):
        answer = bench.run(bench.claude("git status"), "--host", "claude")
        assert answer.decision() not in {"ask", "deny"}
        assert b"a person should run `tipstaff compile`" in answer.stdout
        assert OUTDATED in answer.stdout


def test_a_compilation_that_fails_leaves_the_reason(bench: Bench) -> None:
    own_packs(bench)
    (bench.repository / ".tipstaff" / "packs" / "own.toml").write_text("[pack")
    done = subprocess.run(
        [sys.executable, "-I", "-m", "tipstaff.hosts.compiling", str(bench.repository)],
        check=False, capture_output=True, env=bench.environment(), timeout=120,
    )  # fmt: skip
    assert done.returncode == 1
    (mark,) = (bench.state / "compiling").iterdir()
    assert "own.toml" in mark.read_text()


def test_settings_alone_are_laid_over_the_new_rules(bench: Bench) -> None:
    settings = bench.repository / ".tipstaff" / "gates.toml"
    settings.parent.mkdir()
    settings.write_text("diff_size_threshold = 3\n")
    with pytest.MonkeyPatch.context() as patch:
        edition = former_edition()
        patch.setattr(policy_file, "built_in_edition", lambda: edition)
        numbers = GateConfig(diff_size_threshold=3).numbers()[:-1]
        write_policy(with_settings(default_image(), numbers), bench.repository, state=bench.state)
    assert bench.run(bench.claude("git status"), "--host", "claude").stdout == b""
    written = {"file_path": str(bench.repository / "a.txt"), "content": "one\ntwo\nthree\nfour\nfive\n"}
    assert b"5 lines" in bench.run(bench.claude("", tool_name="Write", tool_input=written), "--host", "claude").stdout
    assert "another version" in doctor(bench)


@pytest.mark.parametrize("own", [False, True])
def test_a_policy_of_another_layout_is_as_good_as_none(bench: Bench, own: bool) -> None:
    path = write_policy(default_image(), bench.repository, state=bench.state)
    data = bytearray(path.read_bytes())
    data[8:12] = (1).to_bytes(4, "little")
    path.write_bytes(data)
    if own:
        (bench.repository / ".tipstaff").mkdir()
        (bench.repository / ".tipstaff" / "gates.toml").write_text("")
    answer = bench.run(bench.claude("git status"), "--host", "claude")
    assert answer.decision() == ("ask" if own else "")
    assert waited_for(lambda: check_policy(bench.repository, bench.state) is None)


def test_rules_for_the_model_are_compiled_again(bench: Bench) -> None:
    shutil.copytree(ROOT / "examples" / "orchard", bench.repository, dirs_exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(image, "edition", lambda: 1)
        path = write_hook_image(compile_repository(bench.repository), bench.repository, state=bench.state)
    data = bytearray(path.read_bytes())
    start = bench.claude("", hook_event_name="SessionStart", source="startup")
    (bench.state / "compiler").rename(bench.state / "elsewhere")
    told = bench.run(start, "--host", "claude").stdout.decode()
    assert "a person should run `tipstaff compile`" in told
    assert "always in force here" in told
    data[8:12] = (1).to_bytes(4, "little")  # another layout, of which nothing can be read
    path.write_bytes(data)
    assert hook_image_fault(path.read_bytes())
    (bench.state / "elsewhere").rename(bench.state / "compiler")
    assert "being compiled again" in bench.run(start, "--host", "claude").stdout.decode()
    assert path == hook_image_path(bench.repository, bench.state)
    assert waited_for(lambda: not hook_image_fault(path.read_bytes()))
    told = bench.run(start, "--host", "claude").stdout.decode()
    assert "always in force here" in told
    assert "another version" not in told


def test_the_program_knows_the_edition_that_policies_carry(bench: Bench, tmp_path: Path) -> None:
    assert bench.run(bench.claude("git status", cwd=str(tmp_path)), "--host", "claude").stdout == b""
    assert bench.run(bench.claude("git status"), "--host", "claude").stdout == b""
    assert bench.spool()[-1].get("policy") is None
