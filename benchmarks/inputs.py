"""Seeded inputs of the benchmarks: the same on every machine and in every run, and the same for every contender.

Nothing here is a copy of anybody's rules: sentences are put together from the words in `benchmarks.handbook`.
"""

from __future__ import annotations

import random
import textwrap
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from benchmarks import handbook

if TYPE_CHECKING:
    from benchmarks.handbook import Area

    from tipstaff.model import PolicyBundle

N_RULES: Final = 400
EMBED_CHARS: Final = 200
TASK_CHARS: Final = 60
_SEED: Final = 20260221
_CONSTITUTION_RULES: Final = 12
_LINE: Final = 108


def _fill(pattern: str, area: Area, draw: random.Random) -> str:
    subject = draw.choice(area.subjects)
    return pattern.format(
        subject=subject,
        Subject=subject[0].upper() + subject[1:],
        object=draw.choice(area.objects),
        when=draw.choice(handbook.WHEN),
        reason=draw.choice(handbook.REASONS),
        event=draw.choice(handbook.EVENTS),
        where=draw.choice(handbook.WHERE),
        result=draw.choice(handbook.RESULTS),
        command=draw.choice(handbook.COMMANDS),
        file=draw.choice(handbook.FILES),
    )


def _sentences(area: Area, count: int, draw: random.Random) -> list[str]:
    """Return different sentences; patterns are used up before one comes again."""
    found: dict[str, None] = {}
    while len(found) < count:
        for pattern in draw.sample(handbook.PATTERNS, len(handbook.PATTERNS)):
            if len(found) < count:
                found.setdefault(_fill(pattern, area, draw))
    return list(found)


def _annotations(area: Area, draw: random.Random) -> str:
    every = (
        f"({draw.choice(('critical', 'high', 'medium', 'low'))})",
        f"[{draw.choice(handbook.TOOLS)}]",
        f"#{area.intent}",
        f"@{area.domain}",
        f"scope:{area.scope}",
        f"verify:{draw.choice(handbook.VERIFIERS)}",
        f"priority:{draw.randrange(30, 95, 5)}",
    )
    chosen = sorted(draw.sample(range(len(every)), draw.randint(1, 3)))
    return " ".join(every[index] for index in chosen)


def _section(area: Area, count: int, *, numbered: bool, draw: random.Random) -> list[str]:
    lines = [f"## {area.heading}", ""]
    if draw.random() < 0.3:
        lines += [draw.choice(handbook.NOTES), ""]
    for number, sentence in enumerate(_sentences(area, count, draw), 1):
        text = f"- [{area.letters}-{number:03d}] {sentence}" if numbered else f"- {sentence}"
        if draw.random() < 0.23:
            text = f"{text}. {draw.choice(handbook.SECOND_SENTENCES)[:-1]}"
        text = f"{text} {_annotations(area, draw)}" if draw.random() < 1 / 3 else f"{text}."
        # A line must not begin with a tag, which would look like a heading.
        wrapped = textwrap.wrap(
            text.replace(" #", "\0#"), _LINE, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
        )
        lines += [line.replace("\0", " ") for line in wrapped]
    return [*lines, ""]


@cache
def rule_file(n_rules: int = N_RULES) -> str:
    """Return a team's rule file, Markdown: 400 rules take about 42 KB.

    Sections in turn number their rules and do not; two of them are constitution, one shows a fenced example.
    """
    draw = random.Random(_SEED)
    lines = [
        "# Working in this repository",
        "",
        "What everybody who changes this code keeps to, people and agents.",
        "",
    ]
    left = n_rules
    for section_number, area in enumerate(handbook.CONSTITUTION):
        count = min(left, _CONSTITUTION_RULES)
        left -= count
        lines += _section(area, count, numbered=section_number == 0, draw=draw)
    lines += ["## How to start", "", "```sh", "git clone git@example.org:team/shop.git", "make check", "```", ""]
    for section_number, area in enumerate(handbook.AREAS):
        count = left // (len(handbook.AREAS) - section_number)
        left -= count
        if count:
            lines += _section(area, count, numbered=section_number % 2 == 0, draw=draw)
    return "\n".join(lines)


@cache
def local_file() -> str:
    """Return a small overlay of one's own."""
    return (
        "# Mine\n\n- Always run `make quick` before pushing.\n- Prefer short branch names when a deadline is close.\n"
    )


def tasks(count: int) -> list[str]:
    """Return different tasks in a user's words, about 60 characters each."""
    draw = random.Random(_SEED + 1)
    found: dict[str, None] = {}
    while len(found) < count:
        text = _fill(draw.choice(handbook.TASKS), draw.choice(handbook.AREAS), draw)
        found.setdefault(f"{text} ({len(found)})")
    return list(found)


def texts(count: int, length: int = EMBED_CHARS) -> list[str]:
    """Return texts of exactly so many characters, which differ from their first words on."""
    draw = random.Random(_SEED + 2)
    found: list[str] = []
    for number in range(count):
        text = f"{number}"
        while len(text) < length:
            text += ". " + _fill(draw.choice(handbook.PATTERNS), draw.choice(handbook.AREAS), draw)
        found.append(text[:length])
    return found


@cache
def bundle(n_shards: int) -> PolicyBundle:
    """Return a bundle of so many different shards with the compiled file's constitution."""
    from tipstaff import compile_guidance
    from tipstaff.guidance.compiling.compiler_config import CompilerConfig
    from tipstaff.guidance.compiling.constitution import compact_text
    from tipstaff.model import GuidanceRule, PolicyBundle, RuleManifest, RuleShard

    draw = random.Random(_SEED + 3)
    config = CompilerConfig()
    shards: list[RuleShard] = []
    for index in range(n_shards):
        area = handbook.AREAS[index % len(handbook.AREAS)]
        rule = GuidanceRule(
            id=f"{area.letters}-{index:06d}",
            text=_fill(draw.choice(handbook.PATTERNS), area, draw),
            risk_class=draw.choice(("critical", "high", "medium", "medium", "low", "info")),
            intents=(area.intent, "general") if index % 3 else (area.intent,),
            domains=(area.domain,),
            repo_scopes=("**/*",) if index % 4 else (area.scope,),
            priority=draw.randrange(30, 95, 5),
            path="CLAUDE.md",
            line=index + 1,
            end_line=index + 1,
            heading=area.heading,
        )
        shards.append(RuleShard(rule, compact_text(rule, config)))
    manifest = RuleManifest(
        rules=(), source_hashes={}, total_rules=n_shards, constitution_rules=0, shard_rules=n_shards
    )
    return PolicyBundle(
        constitution=compile_guidance(rule_file()).constitution, shards=tuple(shards), manifest=manifest
    )


def peer_bundle(source: PolicyBundle) -> dict[str, Any]:
    """Return a bundle in the Node package's own shape, ready for JSON."""

    def rule_of(rule: Any) -> dict[str, Any]:
        return {
            "id": rule.id,
            "text": rule.text,
            "riskClass": rule.risk_class,
            "toolClasses": rule.tool_classes,
            "intents": rule.intents,
            "repoScopes": rule.repo_scopes,
            "domains": rule.domains,
            "priority": rule.priority,
            "source": rule.source,
            "isConstitution": rule.is_constitution,
            "createdAt": 0,
            "updatedAt": 0,
        }

    constitution = source.constitution
    return {
        "constitution": {
            "rules": [rule_of(rule) for rule in constitution.rules],
            "text": constitution.text,
            "hash": constitution.hash,
        },
        "shards": [{"rule": rule_of(shard.rule), "compactText": shard.compact_text} for shard in source.shards],
        "manifest": {"rules": [], "totalRules": source.manifest.total_rules},
    }
