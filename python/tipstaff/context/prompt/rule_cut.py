"""A text of rules cut to an allowance: between rules, the least important first, and never a critical one."""

from __future__ import annotations

from functools import lru_cache
from typing import Final, NamedTuple

_RISKS: Final = {"critical": 3, "high": 2, "medium": 1, "low": 0}
_MARKER: Final = "<!-- [TRUNCATED] {} rules of {} left out, the least important -->\n"
_LEAST_RULES: Final = 8
_MOST_CHARS: Final = 400_000


class RuleCut(NamedTuple):
    """What is left of a text, and the half-open ranges that are not."""

    text: str
    omitted: tuple[tuple[int, int], ...]


@lru_cache(maxsize=16)
def cut_rules(text: str, max_chars: int) -> RuleCut | None:
    """Return a text of rules without its least important ones; None where it holds few, or that does not do.

    Parameters
    ----------
    text
        Markdown, as a rule file has it.
    max_chars
        What it may take.
    """
    if len(text) > _MOST_CHARS:
        return None
    from tipstaff.guidance.compiling.compiler import compile_guidance

    bundle = compile_guidance(text)
    rules = {rule.id: rule for rule in (*bundle.constitution.rules, *(shard.rule for shard in bundle.shards))}.values()
    if len(rules) < _LEAST_RULES:
        return None
    spans: dict[tuple[int, int], tuple[int, int]] = {}
    for rule in rules:
        start = text.rfind("\n", 0, rule.span[0]) + 1
        end = text.find("\n", max(rule.span[1] - 1, start)) + 1 or len(text)
        importance = 9 if rule.risk_class == "critical" else _RISKS[rule.risk_class] + 3 * rule.is_constitution
        known = spans.get((start, end), (0, 0))
        spans[(start, end)] = max(known, (importance, rule.priority))
    # From the end of those that weigh least: what stands first was written first.
    order = sorted(spans, key=lambda span: (spans[span], -span[0]))
    room = max_chars - len(_MARKER) - 12
    left, gone = len(text), set[tuple[int, int]]()
    critical = [span for span, (importance, _) in spans.items() if importance == 9]
    for span in order:
        if left <= room or spans[span][0] == 9:
            break
        if any(span[0] < end and start < span[1] for start, end in critical):
            continue
        gone.add(span)
        left -= span[1] - span[0]
    if left > room or not gone:
        return None
    pieces: list[str] = []
    at = 0
    for start, end in sorted(gone):
        pieces.append(text[at : max(at, start)])
        at = max(at, end)
    first = min(gone)[0]
    body = "".join((*pieces, text[at:]))
    cut_at = len(text[:first])
    return RuleCut(body[:cut_at] + _MARKER.format(len(gone), len(spans)) + body[cut_at:], tuple(sorted(gone)))
