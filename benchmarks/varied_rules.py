"""As many different rules as one likes, as varied as real text.

The sentences are those of the standard library's docstrings and comments on this machine; beyond their number, half of
a sentence's words are replaced by others of the same texts, so that no two rules are duplicates and all are about
something. A Python of another version has other sentences: figures go with the version that `benchmarks.machine` names.
"""

from __future__ import annotations

import random
import re
import sysconfig
from collections import Counter
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tipstaff.model import PolicyBundle

_SEED: Final = 20260301
_DOCSTRING: Final = re.compile(r'"""(.*?)"""', re.DOTALL)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_MAX_FILE_CHARS: Final = 400_000
_AREAS: Final = ("src/**", "web/**", "db/**", "docs/**")


@cache
def sentences() -> tuple[str, ...]:
    """Return the different sentences of 35 to 220 characters, in a fixed order."""
    found: dict[str, str] = {}
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if "site-packages" in path.parts:
            continue
        source = path.read_text(encoding="utf-8", errors="replace")
        if len(source) > _MAX_FILE_CHARS:
            continue
        for block in _DOCSTRING.findall(source):
            for paragraph in re.split(r"\n\s*\n", block):
                for sentence in _SENTENCE.split(" ".join(paragraph.split())):
                    letters = sum(c.isalpha() or c == " " for c in sentence)
                    if 35 <= len(sentence) <= 220 and sentence.count(" ") >= 5 and letters > 0.85 * len(sentence):
                        found.setdefault("".join(re.findall("[a-z]+", sentence.lower())), sentence)
    every = list(found.values())
    random.Random(_SEED).shuffle(every)
    return tuple(every)


@cache
def varied_texts(count: int) -> tuple[str, ...]:
    """Return so many different rules."""
    real = sentences()
    counts = Counter(word for one in real for word in re.findall("[a-z]{3,14}", one.lower()))
    words = [word for word, times in counts.items() if times >= 3]
    draw = random.Random(_SEED + 1)
    found = dict.fromkeys(real[:count])
    while len(found) < count:
        pieces = draw.choice(real).split()
        for index in draw.sample(range(len(pieces)), len(pieces) // 2):
            pieces[index] = draw.choice(words)
        found.setdefault(" ".join(pieces))
    return tuple(found)


def tasks(count: int) -> list[str]:
    """Return tasks: sentences with a third of their words replaced, so near some rules and the same as none."""
    real = sentences()
    draw = random.Random(_SEED + 2)
    found: list[str] = []
    for sentence in draw.sample(real, count):
        pieces = sentence.split()[:14]
        for index in draw.sample(range(len(pieces)), len(pieces) // 3):
            pieces[index] = draw.choice(draw.choice(real).split())
        found.append(" ".join(pieces))
    return found


def varied_bundle(count: int) -> PolicyBundle:
    """Return a bundle of so many different shards; intents, risks and scopes are drawn."""
    from tipstaff.model import INTENTS, Constitution, GuidanceRule, PolicyBundle, RuleManifest, RuleShard

    draw = random.Random(_SEED + 3)
    kinds = [((draw.choice(INTENTS), draw.choice(INTENTS)), risk, scope)
             for risk in ("critical", "high", "medium", "medium", "low", "info")
             for scope in ("**/*", "**/*", "**/*", draw.choice(_AREAS)) for _ in range(4)]  # fmt: skip
    shards: list[RuleShard] = []
    for index, text in enumerate(varied_texts(count)):
        intents, risk, scope = draw.choice(kinds)
        rule = GuidanceRule(id=f"R-{index}", text=text, intents=intents, risk_class=risk, repo_scopes=(scope,))
        shards.append(RuleShard(rule, text))
    manifest = RuleManifest(rules=(), source_hashes={}, total_rules=count, constitution_rules=0, shard_rules=count)
    return PolicyBundle(constitution=Constitution((), "", ""), shards=tuple(shards), manifest=manifest)
