"""The bars of the secrets scanner, each measured in one run: ``python -m benchmarks.bars_secrets [FOLDER]``.

Contenders take turns over the same text, source files of FOLDER (the interpreter's own library by default), and the
best of the rounds are compared. Hyperscan gets the same shapes as regular expressions, and names with their sign and
value for the rules of assignments. Exits with 1 if a bar does not hold.
"""

from __future__ import annotations

import re
import sys
import sysconfig
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tipstaff.gates.secrets.packs import default_rules
from tipstaff.gates.secrets.scanner import default_scanner
from tipstaff.kernels import SecretTable

VERSUS_HYPERSCAN = 2.0
VERSUS_DETECT_SECRETS = 100.0
SIGN = rb"[0-9A-Za-z_.-]{0,24}[\"'\]]{0,2}[ \t]{0,8}(?:=|:|>|,|\()[=>]{0,2}[ \t]{0,8}[\"'`]?"


def source(folder: Path, size: int) -> str:
    """Return so many characters of source files, some of each."""
    parts: list[str] = []
    total = 0
    for path in sorted(folder.rglob("*.py"), key=lambda path: path.name):
        parts.append(path.read_text(encoding="utf-8", errors="replace")[:40_000])
        total += len(parts[-1])
        if total >= size:
            break
    text = "".join(parts)
    return (text * (size // max(1, len(text)) + 1))[:size]


def patterns() -> list[bytes]:
    """Return the rules as regular expressions: a shape is one, but for the signs around the secret."""
    out: list[bytes] = []
    for rule in default_rules():
        code = re.sub(r"(?<!\\)[<>]", "", rule.shape).replace("|*)", r"|\*)").encode()
        if rule.wary:
            continue
        if rule.kind == "shape":
            out.append(code)
        elif rule.kind == "assign":
            keys = b"|".join(sorted(re.escape(key).replace("_", "[_-]?").encode() for key in rule.keys))
            out.append(b"(?i)(?:" + keys + b")" + SIGN + (code or rb"[!-~]{6,128}"))
        elif rule.kind == "url":
            out.append(rb"[a-zA-Z0-9+.-]{1,16}://[^\s:@/\"']{0,64}:[^\s@/\"']{4,128}@")
        else:
            out.append(rb"-----BEGIN [A-Z ]{0,32}PRIVATE KEY-----")
    return out


def race(contenders: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the shortest processor time of each, in seconds."""
    best = dict.fromkeys(contenders, float("inf"))
    for _ in range(rounds):
        for name, call in contenders.items():
            start = time.thread_time()
            call()
            best[name] = min(best[name], time.thread_time() - start)
    return best


def hyperscan_of(expressions: list[bytes]) -> tuple[Any, int]:
    """Return a Hyperscan database of the expressions that are not too large for it, and how many these are."""
    import hyperscan

    def database(of: list[bytes]) -> Any:
        made = hyperscan.Database()
        made.compile(expressions=of, ids=list(range(len(of))), elements=len(of), flags=[0] * len(of))
        return made

    def is_taken(expression: bytes) -> bool:
        try:
            database([expression])
        except hyperscan.error:
            return False
        return True

    taken = [expression for expression in expressions if is_taken(expression)]
    return database(taken), len(taken)


def detect_secrets(text: str) -> int:
    """Return how many lines detect-secrets finds something in."""
    from detect_secrets.core.scan import scan_line
    from detect_secrets.settings import default_settings

    with default_settings():
        return sum(1 for line in text.splitlines() for _ in scan_line(line))


def main() -> int:
    """Print every bar; return 1 if one does not hold."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else sysconfig.get_path("stdlib"))
    table = SecretTable(default_scanner().data)
    expressions = patterns()
    database, taken = hyperscan_of(expressions)
    failed = False
    for size in (100_000, 10_000_000):
        text = source(folder, size)
        data = text.encode()
        times = race(
            {
                "tipstaff": lambda text=text: table.find(text),
                "hyperscan": lambda data=data: database.scan(data, match_event_handler=lambda *_: None),
            },
            15 if size < 1_000_000 else 9,
        )
        rates = ", ".join(f"{name} {len(data) / seconds / 1e9:.2f} GB/s" for name, seconds in times.items())
        ratio = times["hyperscan"] / times["tipstaff"]
        failed |= ratio < VERSUS_HYPERSCAN
        sign = "holds" if ratio >= VERSUS_HYPERSCAN else "MISSED"
        bar = f"{ratio:.2f} times Hyperscan >= {VERSUS_HYPERSCAN:g}"
        print(f"{sign:7}{size:>9} bytes, {len(expressions)} rules ({taken} in Hyperscan): {rates}; {bar}")
    text = source(folder, 20_000)
    times = race({"tipstaff": lambda: table.find(text), "detect-secrets": lambda: detect_secrets(text)}, 3)
    ratio = times["detect-secrets"] / times["tipstaff"]
    failed |= ratio < VERSUS_DETECT_SECRETS
    sign = "holds" if ratio >= VERSUS_DETECT_SECRETS else "MISSED"
    print(f"{sign:7}   20000 bytes: {ratio:.0f} times detect-secrets >= {VERSUS_DETECT_SECRETS:g}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
