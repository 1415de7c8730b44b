"""Labelled cases of compilation: what an author wrote explicitly binds; what was inferred may be better than measured."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.shared_data import shared_path
from tipstaff.guidance.compiling.compiler import compile_guidance
from tipstaff.guidance.compiling.compiler_config import CompilerConfig
from tipstaff.model import GuidanceRule, PolicyBundle

_CASES = shared_path("vectors", "guidance", "compile.json")
_NAMES = {"maxConstitutionLines": "max_constitution_lines", "autoGenerateIds": "auto_generate_ids"}
_WANTED: dict[str, tuple[set[str], bool]] = {
    # The rules' words, and whether they belong to the constitution, of the cases that say in words what is right.
    "bullets-before-explicit-id-lost": ({"Always lint before pushing", "Never skip review"}, False),
    "bullets-after-explicit-id-merged": ({"Never skip review", "Always write a rollback note", "Use draft PRs"}, False),
    "risk-inside-words": (
        {
            "Always highlight the criticality of lowercase information",
            "Follow the workflow",
            "Use allowlists for overflow handling",
        },
        False,
    ),
    "numbered-list": ({"Always pin versions", "Never pull latest", "Must verify checksums"}, True),
    "code-fence-bash": ({"Never leak keys", "Always rotate keys"}, True),
}


def _facts(rule: GuidanceRule) -> dict[str, object]:
    return {
        "id": None if rule.is_generated_id else rule.id,
        "text": rule.text,
        "riskClass": rule.risk_class,
        "priority": rule.priority,
        "isConstitution": rule.is_constitution,
        "repoScopes": list(rule.repo_scopes),
    }


def _misses(case: dict[str, Any], bundle: PolicyBundle) -> list[str]:
    if "want" in case:
        words, constitution = _WANTED[case["name"]]
        rules = bundle.rules()
        right = {rule.text for rule in rules} == words and all(
            rule.is_constitution is constitution and rule.risk_class == "medium" for rule in rules
        )
        return [] if right else [f"want: {case['want']}"]
    expected = case["expected"]
    have = [_facts(rule) for rule in bundle.rules()]
    missing: list[str] = []
    for rule in (*expected["constitution"], *expected["shards"]):
        wanted = {**rule, "id": None if rule["id"].startswith("AUTO-") else rule["id"]}
        if not any(all(facts[key] == wanted[key] for key in facts) for facts in have):
            missing.append(f"no rule like {rule['id']} {rule['text']!r}")
    hashes = expected["manifest"]["sourceHashes"]
    if bundle.manifest.source_hashes != hashes:
        missing.append(f"source hashes {bundle.manifest.source_hashes}")
    return missing


@pytest.mark.skipif(_CASES is None, reason="the labelled cases are not here")
def test_labelled_cases() -> None:
    assert _CASES is not None
    cases = json.loads(_CASES.read_text(encoding="utf-8"))["cases"]
    failed = 0
    for case in cases:
        given = case["input"]
        config = CompilerConfig(**{_NAMES[key]: value for key, value in given["config"].items()})
        misses = _misses(case, compile_guidance(given["root"], given["local"], config=config))
        failed += bool(misses)
        for miss in misses:
            print(f"{case['name']}: {miss}")  # noqa: T201 - shown with a failure
    assert 1 - failed / len(cases) >= 0.90


def test_every_wanted_case_is_described() -> None:
    assert all(words for words, _ in _WANTED.values())
