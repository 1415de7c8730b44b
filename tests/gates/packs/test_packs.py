"""Reading packs: what has no meaning is an error that says where, and a repository cannot relax a rule in silence."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from tests.gates.packs.own_samples import sampled
from tipstaff import EnforcementGates, aggregate_decision
from tipstaff.errors import ConfigError
from tipstaff.gates.image import policy_image
from tipstaff.gates.image.policy import build_image, default_image
from tipstaff.gates.image.repository_policy import policy_of
from tipstaff.gates.packs import samples
from tipstaff.gates.packs.model import PackError, PackSampleError
from tipstaff.gates.packs.reader import PACKS_DIRECTORY, load_policy, pack_files
from tipstaff.gates.packs.samples import disagreements

RULE: Final = """
[pack]
id = "own"
[[rule]]
id = "own.deploy"
programs = ["deploy"]
args_any = ["live"]
decision = "block"
reason = "It goes live."
positives = ["deploy live"]
negatives = ["deploy test"]
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "own.toml"
    path.write_text(text)
    return path


def test_every_rule_agrees_with_its_samples_and_the_built_image_is_theirs() -> None:
    image = build_image(check=False)
    policy = sampled(load_policy())
    assert [str(error) for error in disagreements(policy, image)] == []
    assert [
        one.id for one in policy.rules.values() if not one.positives + one.negatives and one.decision != "mark"
    ] == []
    assert image == default_image(), "packs have changed since the build: make .venv/.test"


def test_word_sets_have_an_entry_a_line_in_order() -> None:
    for path in pack_files(PACKS_DIRECTORY):
        block: list[str] = []
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.startswith("[["):
                break
            entry = line.strip()
            if line.startswith(('  "', "  '")):
                text = tomllib.loads(f"x = [{entry}]")["x"]
                assert len(text) == 1, f"{path.name}:{number}: one entry a line"
                assert block < text, f"{path.name}:{number}: {entry} is not in its place, after {block}"
                block = text
            else:
                block = []


def test_every_rule_of_the_package_has_what_people_need() -> None:
    policy = load_policy()
    assert len(policy.rules) > 150
    for rule in policy.rules.values():
        assert rule.reason.endswith("."), rule.id
        assert rule.id.startswith(f"{rule.pack}."), rule.id
    assert len(pack_files(PACKS_DIRECTORY)) >= 15


def test_a_pack_adds_a_rule(tmp_path: Path) -> None:
    gates = EnforcementGates(packs=[write(tmp_path, RULE)])
    assert aggregate_decision(gates.evaluate_command("deploy live")) == "block"
    assert gates.evaluate_command("deploy test") == []
    assert EnforcementGates().evaluate_command("deploy live") == []


def test_anybodys_home_is_each_way_to_write_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/dev")
    gates = EnforcementGates(packs=[write(tmp_path, RULE.replace('["live"]', '["~any/live", "live"]'))])
    for home in ("~", "/home/ann", "/Users/ann", "/root"):
        assert aggregate_decision(gates.evaluate_command(f"deploy {home}/live")) == "block", home
    assert gates.evaluate_command("deploy /srv/live") == []


def test_packs_of_a_repository_are_found(tmp_path: Path) -> None:
    folder = tmp_path / ".tipstaff" / "packs"
    folder.mkdir(parents=True)
    write(folder, RULE)
    gates = EnforcementGates.for_repository(tmp_path)
    assert aggregate_decision(gates.evaluate_command("deploy live")) == "block"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('positives = ["deploy live"]', 'positives = ["deploy later"]'), "deploy later"),
        (('negatives = ["deploy test"]', 'negatives = ["deploy live now"]'), "deploy live now"),
        (('["deploy live"]', '[{ command = "deploy live", decision = "warn" }]'), "decided block"),
    ],
)
def test_a_pack_that_disagrees_with_itself_does_not_load(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    with pytest.raises(PackSampleError, match=message) as caught:
        EnforcementGates(packs=[write(tmp_path, RULE.replace(*change))])
    assert caught.value.rule_id == "own.deploy"
    assert isinstance(caught.value, ConfigError)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("args_any", "argz_any"), "unknown key 'argz_any'"),
        (('"block"', '"forbid"'), "decision"),
        (('["deploy"]', "[]"), "no program"),
        (('["live"]', '["@nothing"]'), "no word set"),
        (('["live"]', '["live", "live"]'), "holds 'live' twice"),
        (('"own.deploy"', '"Own Deploy"'), "id"),
        (('args_any = ["live"]', 'flags_any = ["force"]'), "begins with"),
        (('args_any = ["live"]', 'paths = { of = "args", classes = "attic" }'), "no path class"),
        (('args_any = ["live"]', 'via_any = ["magic"]'), "via_any"),
        (('decision = "block"', 'decide = { of = "args", table = "none" }'), "does not exist"),
        (('positives = ["deploy live"]\nnegatives = ["deploy test"]', ""), "samples"),
        (("[pack]", "[pack"), "TOML"),
        (('reason = "It goes live."', 'reason = ""'), "reason"),
        (('id = "own"', 'id = "own"\nkind = 3'), "unknown key"),
    ],
)
def test_what_has_no_meaning_is_an_error_that_says_where(tmp_path: Path, change: tuple[str, str], message: str) -> None:
    text = RULE.replace(*change)
    assert text != RULE
    with pytest.raises(PackError, match=message) as caught:
        load_policy(extra=[write(tmp_path, text)])
    assert "own.toml" in str(caught.value)


def test_a_set_of_words_holds_no_other_set(tmp_path: Path) -> None:
    text = RULE.replace('["live"]', '["@own-words"]') + '\n[words]\nown-words = ["@shared-refs", "live"]\n'
    with pytest.raises(PackError, match="holds the name of another"):
        load_policy(extra=[write(tmp_path, text)])


WEAKER: Final = """
[pack]
id = "own"
[[rule]]
id = "git.reset-hard"
programs = ["git"]
subcommand = ["reset"]
flags_any = ["--hard"]
decision = "warn"
reason = "It throws away changes."
positives = ["git reset --hard"]
negatives = ["git reset"]
"""


def test_relaxing_needs_a_reason_and_shows(tmp_path: Path) -> None:
    with pytest.raises(PackError, match="because"):
        EnforcementGates(packs=[write(tmp_path, WEAKER)])
    text = WEAKER.replace('decision = "warn"', 'decision = "warn"\nbecause = "a scratch repository"')
    (result,) = EnforcementGates(packs=[write(tmp_path, text)]).evaluate_command("git reset --hard")
    assert result.decision == "warn"
    assert result.metadata["relaxed"] == [
        {
            "rule": "git.reset-hard",
            "because": "a scratch repository",
            "former": "require-confirmation",
            "now": "warn",
        }
    ]


def test_tightening_is_free(tmp_path: Path) -> None:
    (result,) = EnforcementGates(packs=[write(tmp_path, WEAKER.replace('"warn"', '"block"'))]).evaluate_command(
        "git reset --hard"
    )
    assert result.decision == "block"
    assert "relaxed" not in result.metadata


def test_switching_off_needs_a_reason_and_shows(tmp_path: Path) -> None:
    off = '[pack]\nid = "own"\n[[rule]]\nid = "git.reset-hard"\nenabled = false\n'
    with pytest.raises(PackError, match="because"):
        EnforcementGates(packs=[write(tmp_path, off)])
    gates = EnforcementGates(packs=[write(tmp_path, off + 'because = "a scratch repository"\n')])
    (result,) = gates.evaluate_command("git reset --hard")
    assert result.decision == "allow"
    assert result.metadata["relaxed"][0]["former"] == "require-confirmation"
    assert gates.evaluate_command("git status") == []
    with pytest.raises(PackError, match="does not exist"):
        load_policy(extra=[write(tmp_path, off.replace("reset-hard", "nothing"))])


def test_words_of_a_repository_add_to_a_set(tmp_path: Path) -> None:
    pack = write(tmp_path, '[pack]\nid = "own"\n[words]\nshared-refs = ["integration"]\n')
    gates = EnforcementGates(packs=[pack])
    assert aggregate_decision(gates.evaluate_command("git push --force origin integration")) == "block"
    plain = aggregate_decision(EnforcementGates().evaluate_command("git push --force origin integration"))
    assert plain == "require-confirmation"


def test_a_repository_s_policy_is_compiled_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, state = tmp_path / "repository", tmp_path / "state"
    (root / ".tipstaff/packs").mkdir(parents=True)
    pack = write(root / ".tipstaff/packs", RULE)
    loosening = '[[rule]]\nid = "git.reset-hard"\nenabled = false\nbecause = "own worktrees"\n'
    compiled: list[object] = []

    def counted(policy: object, **_: Any) -> bytes:
        compiled.append(policy)
        return bytes(default_image())

    # What takes seconds of compiling says nothing here.
    monkeypatch.setattr(policy_image, "compile_image", counted)
    monkeypatch.setattr(samples, "check_samples", lambda *_: None)
    fresh = policy_of(root)
    for _ in range(2):
        assert policy_of(root, state=state) == fresh
    assert len(compiled) == 2
    pack.write_text(RULE + loosening)
    (weakening,) = policy_of(root, state=state).left_out
    assert policy_of(root, state=state).weakenings == (weakening,)
    assert len(compiled) == 3
    assert not policy_of(root, state=state, accepted=[weakening.digest]).left_out
    assert len(compiled) == 4, "what a person allows is another policy"
    (path,) = (state / "policy").glob("*.compiled")
    path.chmod(0o666)
    policy_of(root, state=state, accepted=[weakening.digest])
    assert len(compiled) == 5, "others may write it"
    path.write_bytes(b"\xff")
    policy_of(root, state=state, accepted=[weakening.digest])
    assert len(compiled) == 6
