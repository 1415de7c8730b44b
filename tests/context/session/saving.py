"""Runs a session in a folder and saves all that a session saves: ``python -m tests.context.session.saving DIR NAME N``.

Prints a line after each call, so that whoever runs it knows how far it is. With a fourth argument no file may grow
beyond so many bytes, as on a disk that is full; then the problems are printed as JSON at the end.
"""

from __future__ import annotations

import json
import resource
import signal
import sys
from typing import Any

from tests.context.session.rules import anthropic_problems
from tests.context.session.scripts import TOOLS
from tipstaff.context import ContextSession


def main(root: str, name: str, calls: int, most_bytes: int = 0) -> int:
    if most_bytes:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (most_bytes, most_bytes))
    problems: set[str] = set()
    options: Any = {"model_window": 6_000, "max_output": 500, "git": None}
    with ContextSession(root, session_id="one", **options) as session:
        for number in range(calls):
            prompt = f"Never touch {name}/part{number}.py; step {number}: " + "words of the user's " * 20
            body = session.request(prompt, TOOLS)
            assert anthropic_problems(body) == []
            problems |= set(session.problems)
            session.record({"content": [{"type": "text", "text": f"We decided {name} on {number}"}]})
            problems |= set(session.problems)
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()
    sys.stdout.write(json.dumps(sorted(problems | set(session.problems))) + "\n")
    return session.course.compactions


if __name__ == "__main__":
    sys.exit(0 if main(sys.argv[1], sys.argv[2], int(sys.argv[3]), *map(int, sys.argv[4:])) else 1)
