"""The secrets gate: secrets in what an agent is about to run, write or send."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from tipstaff.gates.fields import Field, encodable
from tipstaff.gates.secrets.scanner import scan_secrets
from tipstaff.kernels import _gates

_PAIR_CHARS: Final = 512


def find_secrets(texts: Sequence[tuple[str, str]], pairs: Sequence[Field] = ()) -> list[dict[str, Any]]:
    """Return the secrets of texts, masked, each value once.

    Parameters
    ----------
    texts
        Field and text.
    pairs
        Fields whose name may say that their short value is a secret: ``password`` and what it holds.
    """
    found: list[dict[str, Any]] = []
    seen: set[str] = set()
    for field, text in texts:
        for item in scan_secrets(text, wary=True):
            value = text[item.start : item.end]
            if value in seen:
                continue
            seen.add(value)
            found.append(
                {
                    "rule_id": item.rule_id,
                    "start": item.start,
                    "end": item.end,
                    "redacted": item.redacted,
                    "severity": item.severity,
                    "field": field,
                }
            )
    for pair in pairs:
        if pair.name and 0 < len(pair.text) <= _PAIR_CHARS and pair.text not in seen:
            found.extend(_of_pair(pair, seen))
    return found


def without_former(tool: str, field: Field) -> Field:
    """Return a field with blanks for what the call takes away: taking a secret away is what is wanted.

    That is the former text of an edit, the first half of a SEARCH/REPLACE block, and the lines that a patch removes.
    """
    kept: list[str] = []
    at = 0
    for start, end in _gates.former_parts(encodable(tool), *field.native()[:2]):
        kept += field.text[at:start], " " * (end - start)
        at = end
    return field._replace(text="".join([*kept, field.text[at:]])) if kept else field


def _of_pair(field: Field, seen: set[str]) -> list[dict[str, Any]]:
    head = f"{json.dumps(field.name, ensure_ascii=False)}: "
    body = json.dumps(field.text, ensure_ascii=False)
    plain = len(body) == len(field.text) + 2
    found: list[dict[str, Any]] = []
    for item in scan_secrets(head + body, wary=True):
        start, end = item.start - len(head) - 1, item.end - len(head) - 1
        if start < 0 or not plain:
            start, end = 0, len(field.text)
        value = field.text[start:end]
        if any(value in other or other in value for other in seen):
            continue
        seen.add(value)
        found.append(
            {
                "rule_id": item.rule_id,
                "start": start,
                "end": end,
                "redacted": item.redacted if plain else "*" * (end - start),
                "severity": item.severity,
                "field": field.path,
            }
        )
    return found
