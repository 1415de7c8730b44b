"""``python -m tools.hosts``: run the checks in namespaces of their own, and write the table of docs/reference/hosts.md."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, Final

from tools.hosts.client import install
from tools.hosts.clients import CLIENTS

PAGE: Final = Path("docs/reference/hosts.md")
BEGIN, END = "<!-- what real programs did: begin -->", "<!-- end -->"
INSIDE: Final = Path("/srv")
"""Where the folder is seen while the programs run, where that is empty: below /tmp the gates rightly allow more."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="tools.hosts", description=__doc__)
    parser.add_argument("--at", type=Path, default=Path("build/hosts"), help="where programs, homes and logs are")
    parser.add_argument("--client", action="append", choices=CLIENTS, help="only this one")
    parser.add_argument("--check", action="append", help="only this one, and the registration")
    parser.add_argument("--page", action="store_true", help="write the table, of the latest results of all programs")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    at = given.at.absolute()
    if given.inside:
        return run(given.client or list(CLIENTS), given.check, at)
    at.mkdir(parents=True, exist_ok=True)
    inside = INSIDE if INSIDE.is_dir() and not any(INSIDE.iterdir()) else at
    install(at)
    words = [sys.executable, "-m", "tools.hosts", "--inside", "--at", str(inside)]
    words += [word for name in given.client or [] for word in ("--client", name)]
    words += [word for name in given.check or [] for word in ("--check", name)]
    script = f'ip link set lo up && mount --bind "$0" {inside} && exec "$@"'
    ended = subprocess.run(["unshare", "--net", "--mount", "sh", "-c", script, str(at), *words], check=False).returncode
    if given.page:
        write_page(json.loads((at / "results.json").read_text()))
    return ended


def run(names: list[str], only: list[str] | None, at: Path) -> int:
    """Run checks, print a line for each and keep the results; 1 if any did not hold."""
    from tools.hosts.bench import Bench
    from tools.hosts.checks import CHECKS, LIMITS

    kept = at / "results.json"
    results: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {}
    wrong = 0
    for name in names:
        client = CLIENTS[name](at)
        bench = Bench(client, at)
        shutil.rmtree(at / "logs" / name, ignore_errors=True)
        bench.make(foreign=True)
        old = results.get(name, {}).get("checks", {}) if only else {}
        found: dict[str, Any] = dict(old)
        for check, (_, made) in CHECKS.items():
            if only and check not in {*only, "installs"}:
                continue
            try:
                good, seen = made(bench)
            except Exception as error:  # noqa: BLE001 - a check that fails is a result
                good, seen = False, f"{type(error).__name__}: {error}"
            limit = LIMITS.get((name, check))
            state = "none" if good is None else "yes" if good else "cannot" if limit else "no"
            wrong += state == "no"
            found[check] = {"state": state, "seen": seen, "limit": limit if state == "cannot" else None}
            print(f"{name} {client.version()} {check}: {state}: {seen}", flush=True)
        results = json.loads(kept.read_text()) if kept.exists() else {}  # of another run beside this one
        results[name] = {"version": client.version(), "at": time.strftime("%Y-%m-%d"), "checks": found}
        kept.write_text(json.dumps(results, indent=1))
    return 1 if wrong else 0


def write_page(results: dict[str, Any]) -> None:
    """Write the table of what was seen, with the versions, between the marks of the page."""
    from tools.hosts.checks import CHECKS

    names = [name for name in CLIENTS if name in results]
    notes: list[str] = []

    def cell(name: str, check: str) -> str:
        found = results[name]["checks"].get(check)
        if found is None:
            return ""
        if found["limit"]:
            if found["limit"] not in notes:
                notes.append(found["limit"])
            return f"cannot ({notes.index(found['limit']) + 1})"
        if check == "cost":
            return str(found["seen"]).rpartition("median ")[2]
        return {"yes": "yes", "no": "**no**", "none": "-"}[found["state"]]

    lines = [
        "| | " + " | ".join(f"{name} {results[name]['version']}" for name in names) + " |",
        "|---" * (len(names) + 1) + "|",
    ]
    lines += [
        f"| {title} | " + " | ".join(cell(name, check) for name in names) + " |" for check, (title, _) in CHECKS.items()
    ]
    lines += ["", *(f"({number}) {note}." for number, note in enumerate(notes, 1))]
    text = PAGE.read_text()
    head, rest = text.split(BEGIN, 1)
    PAGE.write_text(f"{head}{BEGIN}\n" + "\n".join(lines).rstrip() + f"\n{END}{rest.split(END, 1)[1]}")


if __name__ == "__main__":
    os.environ.setdefault("TIPSTAFF_PROGRAMS", str(Path(sys.executable).parent))
    sys.exit(main())
