"""Importing the package costs next to nothing, and every public name is there."""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import tipstaff
from tipstaff import model

HEAVY = {"numpy", "pyarrow", "numba", "click", "rich", "msgspec", "yaml", "wcmatch", "pyromark", "xxhash"}


def loaded(code: str, *arguments: object) -> set[str]:
    """Return the top names of the modules that a fresh interpreter has after some code."""
    script = f"import sys\n{textwrap.dedent(code)}\nimport json\nprint(json.dumps(sorted(sys.modules)))"
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    names: list[str] = json.loads(done.stdout.splitlines()[-1])
    return {name.split(".")[0] for name in names}


def test_importing_the_package_loads_nothing_else() -> None:
    more = loaded("import tipstaff") - loaded("")
    assert more - set(sys.stdlib_module_names) == {"tipstaff"}
    assert not more & {"asyncio", "concurrent", "dataclasses", "inspect", "logging", "subprocess", "tempfile", "typing"}


def test_asking_for_the_version_loads_nothing_else() -> None:
    assert not loaded("import tipstaff; tipstaff.__version__; dir(tipstaff); tipstaff.__all__") & HEAVY


@pytest.mark.parametrize("name", tipstaff.__all__)
def test_no_public_name_loads_what_it_does_not_need(name: str) -> None:
    assert not loaded(f"from tipstaff import {name}") & {"numpy", "pyarrow", "numba", "click", "rich"}


def test_serving_stored_rules_loads_neither_numpy_nor_pyarrow(tmp_path: Path) -> None:
    (tmp_path / "CLAUDE.md").write_text("- [R-001] Always squash commits scope:web/**\n", encoding="utf-8")
    tipstaff.open_project(tmp_path).close()
    code = """
        import tipstaff
        with tipstaff.open_project(sys.argv[1]) as project:
            assert not project.rebuilt
            found = project.retriever().retrieve("Fix the commits", repo_scope="web/a.ts")
            assert found.shards[0].shard.rule.id == "R-001"
    """
    assert not loaded(code, tmp_path) & {"numpy", "pyarrow", "numba", "click", "rich", "tempfile"}


@pytest.mark.parametrize(("room", "most"), [("", 30), (".runs", 25), (".review", 25)])
def test_a_room_names_what_is_public_once_and_not_too_much(room: str, most: int) -> None:
    package = importlib.import_module(f"tipstaff{room}")
    stub = Path(str(package.__file__)).with_suffix(".pyi").read_text(encoding="utf-8")
    assert len(package.__all__) <= most
    assert dir(package) == sorted(package.__all__)
    for name in package.__all__:
        home = next(line.split()[1] for line in stub.splitlines() if line.endswith(f" as {name}"))
        assert getattr(package, name) is getattr(importlib.import_module(home), name)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'tipstaff' has no attribute 'nothing_of_the_kind'"):
        tipstaff.nothing_of_the_kind  # type: ignore[attr-defined]  # noqa: B018
    assert not hasattr(tipstaff, "numpy")


# -- what callers rely on ---------------------------------------------------------------------------------------------

SIGNATURES = {
    "compile_guidance": "root local=None *config=None",
    "CompilerConfig": "max_constitution_lines=60 default_risk_class='medium' default_priority=50 auto_generate_ids=True",
    "classify_intent": "task",
    "HashEmbedding": "dimensions=384",
    "HashEmbedding.embed": "self text",
    "HashEmbedding.embed_batch": "self texts",
    "ShardRetriever": "bundle embedding=None",
    "ShardRetriever.retrieve": "self task *intent=None *risk_filter=None *repo_scope=None *max_shards=5",
    "ShardRetriever.retrieve_batch": "self tasks *intent=None *risk_filter=None *repo_scope=None *max_shards=5",
    "ShardRetriever.rank": "task texts k *headings=None",
}
RECORDS = {
    "PolicyBundle": "constitution shards manifest diagnostics",
    "Constitution": "rules text hash",
    "RuleShard": "rule compact_text",
    "RuleManifest": "rules source_hashes total_rules constitution_rules shard_rules",
    "Diagnostic": "code message line source",
    "GuidanceRule": "id text risk_class tool_classes intents repo_scopes domains priority source is_constitution verifier",
    "IntentMatch": "intent confidence",
    "RetrievalResult": "constitution shards detected_intent contradictions_resolved policy_text latency_ms",
    "RetrievedShard": "shard similarity reason",
}


def parameters(function: Any) -> list[str]:
    found: list[str] = []
    for parameter in inspect.signature(function).parameters.values():
        star = "*" if parameter.kind is parameter.KEYWORD_ONLY else ""
        default = "" if parameter.default is parameter.empty else f"={parameter.default!r}"
        found.append(f"{star}{parameter.name}{default}")
    return found


@pytest.mark.parametrize("name", SIGNATURES)
def test_parameters_are_as_promised_and_what_is_more_is_optional(name: str) -> None:
    value: Any = tipstaff
    for part in name.split("."):
        value = getattr(value, part)
    found, promised = parameters(value), SIGNATURES[name].split()
    assert [one for one in found if one in promised] == promised
    assert all("=" in one for one in found if one not in promised)


@pytest.mark.parametrize("name", RECORDS)
def test_records_have_the_promised_fields_in_order(name: str) -> None:
    promised = RECORDS[name].split()
    found = list(getattr(tipstaff, name).__struct_fields__)
    assert found[: len(promised)] == promised


@pytest.mark.parametrize("name", ["IntentMatch", "RuleShard", "RetrievedShard", "Constitution"])
def test_small_records_take_their_fields_in_order(name: str) -> None:
    kind = getattr(tipstaff, name)
    record = kind(*range(len(RECORDS[name].split())))
    assert [getattr(record, field) for field in RECORDS[name].split()] == list(range(len(RECORDS[name].split())))


def test_records_are_frozen_and_plain() -> None:
    bundle = tipstaff.compile_guidance("## Security\n- [SEC-001] Never log keys\n## R\n- [R-001] Use tabs\n")
    result = tipstaff.ShardRetriever(bundle).retrieve("Fix")
    records = [
        bundle,
        bundle.constitution,
        bundle.manifest,
        bundle.shards[0],
        bundle.shards[0].rule,
        result,
        *result.shards,
    ]
    records.append(tipstaff.classify_intent("Fix"))
    for record in records:
        assert isinstance(record, model.Record)
        data = json.loads(json.dumps(record.to_dict()))
        assert list(data) == list(record.__struct_fields__)
        assert all(key == key.lower() for key in data)
        with pytest.raises(AttributeError):
            setattr(record, next(iter(record.__struct_fields__)), None)
        for field in record.__struct_fields__:
            assert not isinstance(getattr(record, field), list | set), (type(record).__name__, field)
