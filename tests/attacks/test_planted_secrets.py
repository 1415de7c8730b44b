"""Twenty kinds of secrets, planted in all that agents and their tools say: no record holds one in clear."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.attacks.playing import Victim
from tipstaff.context import ContextSession
from tipstaff.gates.judging.engine import EnforcementGates, record_verdict
from tipstaff.gates.redaction import write_record
from tipstaff.gates.secrets.packs import made_up
from tipstaff.gates.secrets.scanner import scan_secrets
from tipstaff.runs import Ledger, RunEvent
from tipstaff.store.waiting import code_of, leave

SAMPLES = (
    "AKIA{upper32:16}", "ghp_{crc62:36}", "github_pat_{base62:22}_{base62:59}", "glpat-{base62:20}", "sk_live_{base62:24}",
    "xoxb-{digit:12}-{digit:12}-{base62:24}", "AIza{base62:35}", "SG.{base62:22}.{base62:43}", "npm_{crc62:36}",
    "pypi-AgEIcHlwaS5vcmc{base62:70}", "hf_{alpha:34}", "sk-ant-api03-{base62:93}AA", "dop_v1_{hex:64}", "shpat_{hex:32}",
    "postgres://app:{base62:20}@db.example.com/app", "password = \"{base62:20}\"", "Authorization: Bearer {base62:40}",
    "key-{hex:32}", "rk_live_{base62:24}", "glrt-{base62:20}", "SK{hex:32}", "lin_api_{base62:40}", "sq0csp-{base62:43}",
    "dapi{hex:32}", "https://hooks.slack.com/services/T{upper32:8}/B{upper32:8}/{base62:24}", "ya29.{base62:60}",
    "aws_secret_access_key = {base62:40}", "ATATT3xFfGF0{base62:60}", "EAAA{base62:60}", "NRAK-{upper32:27}",
)  # fmt: skip
KINDS = 20


def planted() -> dict[str, tuple[str, str]]:
    """Return by kind a text with a secret, and the secret."""
    found: dict[str, tuple[str, str]] = {}
    for sample in SAMPLES:
        try:
            text = made_up(sample)
        except ValueError:
            continue
        for one in scan_secrets(text):
            found.setdefault(one.rule_id, (text, text[one.start : one.end]))
    return dict(list(found.items())[:KINDS])


def all_bytes(*folders: Path) -> dict[str, bytes]:
    """Return every file below folders that are records."""
    return {
        str(path): path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file() and not path.is_symlink()
    }  # fmt: skip


@pytest.fixture(scope="module")
def secrets() -> dict[str, tuple[str, str]]:
    found = planted()
    assert len(found) == KINDS, sorted(found)
    return found


def test_no_record_holds_one(
    victim: Victim, secrets: dict[str, tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in victim.environment({"TIPSTAFF_STATE": str(victim.state)}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(victim.repository)
    out = victim.home / "records"
    out.mkdir()
    text = "\n".join(f"{kind}: {value}" for kind, (value, _) in secrets.items())
    # What a check prints, and its reports.
    say = victim.home / "say.py"
    say.write_text(
        "import pathlib\n"
        f"text = pathlib.Path({str(victim.home / 'said')!r}).read_text()\n"
        "print(text)\n[print(f'src/a.py:{n}:1: E1 {line}') for n, line in enumerate(text.splitlines(), 1)]\n"
        "import xml.sax.saxutils as x\n"
        "pathlib.Path('junit.xml').write_text('<testsuite><testcase name=\"a\"><failure message=' + x.quoteattr(text) + '>'"
        " + x.escape(text) + '</failure></testcase></testsuite>')\nraise SystemExit(1)\n"
    )
    (victim.home / "said").write_text(text)
    victim.put(".tipstaff/checks.toml", "")
    victim.put("Makefile", f"test:\n\t{sys.executable} {say}\n")
    for number, words in enumerate((("--format", "text"), ("--json",), ("--format", "sarif"), ("--format", "github"))):
        done = subprocess.run(
            [sys.executable, "-P", "-m", "tipstaff.cli", "check", *words, "--report", str(out / f"r{number}.json")],
            capture_output=True, check=False, cwd=victim.repository, stdin=subprocess.DEVNULL, env={**os.environ, "CI": "1"},
        )  # fmt: skip
        (out / f"check{number}").write_bytes(done.stdout + done.stderr)
        assert b"*" * 16 in done.stdout, done
    # The ledger, the spool, what waits, a record, a memory and snapshots.
    ledger = Ledger(f"sqlite:///{victim.repository}/.tipstaff/ledger.db")
    for number, (kind, (value, _)) in enumerate(secrets.items()):
        ledger.append(
            RunEvent.from_dict({
                "event_id": f"e{number}", "task_id": f"t {kind} {value}", "guidance_hash": "0" * 16,
                "violations": [{"rule_id": "A", "description": f"it said {value}", "severity": "high"}],
                "files_touched": [f"a/{value}"], "tools_used": [value],
            })
        )  # fmt: skip
        command = f"git reset --hard # {value}"
        verdict = EnforcementGates().verdict("Bash", {"command": command}, cwd=str(victim.repository))
        record_verdict(verdict, f"tool {value}", str(victim.repository))
        victim.ask(victim.call("Bash", {"command": command}))
        victim.ask(victim.call(f"mcp {value} x", {"command": "git reset --hard", "given": value}))
        subject = f"{number:064x}"
        leave(victim.state, {"code": code_of(subject), "subject": subject, "fields": {"command": command}})
    write_record(out / "record", text)
    write_record(out / "record.json", json.dumps([text for text, _ in secrets.values()]))
    session = ContextSession(victim.repository, api="anthropic", model_window=200_000, max_output=4_000)
    for value, _ in secrets.values():
        session.request([{"role": "user", "content": f"use {value}"}])
    records = all_bytes(victim.state, victim.repository / ".tipstaff", out)
    assert len(records) > 30
    leaks = sorted({(kind, path.rpartition("/")[2]) for path, data in records.items() for kind, (_, value) in secrets.items()
                    if value.encode() in data})  # fmt: skip
    assert leaks == [], leaks
    assert all(
        path.stat().st_mode & 0o077 == 0 for path in (out / "record", victim.repository / ".tipstaff" / "ledger.db")
    )
