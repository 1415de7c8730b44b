"""What the evaluator says that a text may call, beside what a shell called."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any, Final

from tests.gates.differential.sandbox import FOLDER, HOME, RECORDED, Record
from tests.syntax.native_programs import answers, compiled

PRINTER: Final = (
    "calls_printer", "syntax/shell.cpp",
    *(f"eval/{name}.cpp" for name in ("state", "patterns", "flow", "words", "parameters", "substitutions", "simple", "builtins")),
    "tests/eval/calls_printer.cpp",
)  # fmt: skip
UNKNOWN: Final = "\x01"
BETWEEN: Final = "\x1e"
ASKS: Final = 1 | 2 | 4 | 16 | 32
"""Bits of what could not be followed, and is never silence: programs, code, limits, depth, files that are read."""
_MANY, _GLOB = 1, 2
_IN_A_CHILD: Final = 16 | 32  # a child's shell expands patterns that the recording one leaves alone


def evaluated(texts: Sequence[str], shell: str) -> list[dict[str, Any]]:
    """Return for each text its calls, each a folder, words with their bits, and how it came to be run."""
    found = answers(compiled(*PRINTER), [FOLDER, HOME, "bash" if shell == "bash" else "dash"], list(texts))
    return [json.loads(answer) for answer in found]


def _part(text: str, many: int) -> str:
    return "".join((".*" if many else f"[^{BETWEEN}]*") if c == UNKNOWN else re.escape(c) for c in text)


def pattern(call: Sequence[Any]) -> re.Pattern[str]:
    """Return what the records of a call look like, folder and words with `BETWEEN` between them."""
    folder, words, via = call
    written = _part(folder, 0)
    for index, (text, bits) in enumerate(words):
        if index == 0 and UNKNOWN not in text:
            written += f"{BETWEEN}(?:.*/)?{re.escape(text.rsplit('/', 1)[-1])}"
        elif bits & _GLOB and via & _IN_A_CHILD:
            written += f"(?:{BETWEEN}.*)?"
        elif bits & _MANY:
            written += f"(?:{BETWEEN}{_part(text, 1)})?"
        else:
            written += BETWEEN + _part(text, 0)
    return re.compile(written, re.DOTALL)


def missed(answer: dict[str, Any], records: Iterable[Record]) -> Record | None:
    """Return a recorded call that is not among those that may happen, None where there is none."""
    if answer["unresolved"] & ASKS:
        return None
    patterns = [pattern(call) for call in answer["calls"]]
    for record in records:
        if record.words[0] not in RECORDED:
            continue  # a redirection, or another name that exec -a gave
        if not any(known.fullmatch(BETWEEN.join((record.folder, *record.words))) for known in patterns):
            return record
    return None
