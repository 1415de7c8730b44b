"""The rules that the hook gives for a prompt are those of `ShardRetriever.retrieve`, in the same order."""

from __future__ import annotations

import itertools
import random
import shutil
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.hook.running import Bench
from tipstaff import ShardRetriever, compile_guidance
from tipstaff.guidance.hook.image import write_hook_image
from tipstaff.guidance.project import compile_repository
from tipstaff.guidance.retrieval.selection import PROMPT_TOKENS
from tipstaff.model import PolicyBundle

ROOT = Path(__file__).resolve().parents[2]
CASES = tomllib.loads((ROOT / "tests" / "guidance" / "intents" / "intent_cases.toml").read_text(encoding="utf-8"))
PATHS = (
    "api/orders.py", "api/migrations/0002.sql", "web/src/basket.ts", "web/src/x.test.ts", "infra/main.tf", "./infra/",
    "api/", "src/**/*.ts", "web/**/*.ts", "api/*.py", "users/{id}", "orders.py", "api.orders.post", "!web/x.ts",
    "docs/team/prices.md", "**/*.sql", "*.ts", "basket.test.ts:12", "{web}/src/a.ts", "api\\orders.py", "e.g. this",
    "and/or", "https://example.org/api/x.py",
)  # fmt: skip
BEYOND_ASCII = (
    "Der Fehler im Login muss behoben werden", "исправь ошибку в заказах", "修复登录错误", "テストを追加してください",
    "Corrige el error en api/orders.py", "“Fix” the basket — prices aren’t rounded…", "café: fix the crash", "fix the ﬁle",
    "ajouter des tests pour les prix", "로그인 오류 수정", "Добавь миграцию для заказов", "рефакторинг корзины",
    "¿Por qué falla web/src/basket.ts?", "prices … what’s rounded?", "Beschreibe die Bestellungen", "résumé des prix",
    "Overhaul:\u00a0basket", "ＦＩＸ the prices", "Don’t store prices as floats – use cents", "🚀 deploy the api",
)  # fmt: skip
QUARRELS = """
- [A-1] Always squash commits before merging priority:90
- [A-2] Never squash commits before merging
- [A-3] Log tokens when a login fails
- [A-4] Translate every button until:2020-01-31
- [A-5] Never use tabs in files critical
- [A-6] Always use tabs in files
- [A-7] Always cache prices
- [A-8] Never cache prices
- [A-9] Never cache prices in the basket
- [A-10] Always cache prices of the basket priority:10

## Security
- [SEC-1] Never log tokens (critical)
"""


def every_task(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    else:
        for one in part.values() if isinstance(part, dict) else part:
            yield from every_task(one)


TASKS = sorted({task for task in every_task(CASES) if len(task) > 14})


def given(bench: Bench, prompts: Sequence[str]) -> Iterator[list[str]]:
    """Yield the ids of the rules that the hook hands out for each prompt; it remembers them for the session."""
    for number, prompt in enumerate(prompts):
        event = {
            "session_id": f"s{number}", "transcript_path": "/t", "cwd": str(bench.repository), "prompt": prompt,
            "permission_mode": "default", "hook_event_name": "UserPromptSubmit",
        }  # fmt: skip
        before = set((bench.state / "runs").glob("*.rules"))
        answer = bench.run(event)
        assert answer.status == 0
        new = set((bench.state / "runs").glob("*.rules")) - before
        assert bool(new) == (b"Rules of this repository" in answer.stdout)
        yield new.pop().read_text(encoding="utf-8").split() if new else []


def agrees(found: Sequence[str], wanted: Sequence[Any]) -> bool:
    """Whether the rules are those wanted; two whose scores differ by a rounding of sums may have changed places."""
    ids = [one.shard.rule.id for one in wanted]
    if found == ids:
        return True
    scores = {one.shard.rule.id: one.similarity for one in wanted}
    return set(found) == set(ids) and all(
        scores[left] >= scores[right] - 1e-6 for left, right in itertools.pairwise(found)
    )


def compare(bench: Bench, bundle: PolicyBundle, prompts: Sequence[str]) -> tuple[int, set[str]]:
    """Compare all; return how many prompts had rules, and the ids of all that were given."""
    write_hook_image(bundle, bench.repository, state=bench.state)
    retriever = ShardRetriever(bundle)
    answered, seen = 0, set[str]()
    for prompt, found in zip(prompts, given(bench, prompts), strict=True):
        result = retriever.retrieve(prompt, max_shards=None, max_tokens=PROMPT_TOKENS)
        ids = [one.shard.rule.id for one in result.shards]
        assert agrees(found, result.shards), f"{prompt[:200]!r}: the hook gave {found}, retrieval {ids}"
        answered += bool(ids)
        seen.update(ids)
    return answered, seen


def prompts_about(bundle: PolicyBundle, count: int, rng: random.Random) -> list[str]:
    """Return prompts of the rules' own words, some of which name places."""
    words = [word for shard in bundle.shards for word in shard.rule.text.split()]
    ends = ["", *(f" in {path}" for path in PATHS)]
    made = [" ".join(rng.choices(words, k=rng.randint(1, 7))) + rng.choice(ends) for _ in range(count)]
    return made + [shard.rule.text for shard in bundle.shards]


def test_it_gives_the_rules_of_the_example(bench: Bench) -> None:
    shutil.copytree(ROOT / "examples" / "orchard", bench.repository, dirs_exist_ok=True)
    bundle = compile_repository(bench.repository)
    rng = random.Random(5)
    prompts = [task if rng.random() < 0.3 else f"{task} in {rng.choice(PATHS)}" for task in rng.sample(TASKS, 160)]
    prompts += [*prompts_about(bundle, 160, rng), *BEYOND_ASCII, "", "   \n", "?!", "x" * 30_000 + " fix"]
    answered, seen = compare(bench, bundle, prompts)
    assert len(prompts) >= 350
    assert answered >= 250
    assert len(seen) >= len(bundle.shards) * 0.9


def test_a_path_and_an_intent_raise_a_rule(bench: Bench) -> None:
    shutil.copytree(ROOT / "examples" / "orchard", bench.repository, dirs_exist_ok=True)
    bundle = compile_repository(bench.repository)
    retriever = ShardRetriever(bundle)
    raised = [
        any("where" in one.reason for one in retriever.retrieve(prompt).shards)
        for prompt in (f"change how orders are stored in {path}" for path in PATHS)
    ]
    assert sum(raised) >= 8
    assert any("intent match" in one.reason for one in retriever.retrieve("write a test for the basket").shards)


def test_it_settles_contradictions_alike(bench: Bench) -> None:
    bundle = compile_guidance(QUARRELS)
    assert len(bundle.relations) >= 3
    rng = random.Random(7)
    answered, _ = compare(bench, bundle, [*prompts_about(bundle, 120, rng), *rng.sample(TASKS, 20)])
    assert answered >= 80


@pytest.mark.parametrize("seed", range(3))
def test_it_reads_scopes_alike(bench: Bench, seed: int) -> None:
    rng = random.Random(seed)
    folders = [
        "src",
        "api",
        "web",
        "**",
        "*",
        "*.ts",
        "?",
        "a*",
        "[ab]",
        "[!a]",
        "{src,api}",
        "x{1..3}",
        "*.test.ts",
        "a.ts",
        "!a",
    ]
    lines = ["# Rules"]
    subjects = "prices orders boxes tests logs money files users tokens pages".split()
    # No two rules have the same words: equal scores but for rounding would say nothing.
    pairs = rng.sample(list(itertools.combinations(subjects, 2)), 40)
    for number, (subject, other) in enumerate(pairs):
        scope = "/".join(rng.choices(folders, k=rng.randint(1, 3))) + rng.choice(["", "", "/", "/**"])
        lines.append(f"- [R-{number}] Always check the {subject} before the {other} are changed scope:{scope}")
    bundle = compile_guidance("\n".join(lines))
    assert sum(shard.rule.repo_scopes != ("**/*",) for shard in bundle.shards) >= 10
    names = ["src", "api", "web", "a.ts", "b.test.ts", "a", "b", "x1", "x4", "*.ts", "**"]
    prompts = [
        f"change {rng.choice(subjects)} and {rng.choice(subjects)} in /{'/'.join(rng.choices(names, k=rng.randint(1, 4)))}/a.ts"
        for _ in range(80)
    ]
    answered, _ = compare(bench, bundle, prompts)
    assert answered >= 60
