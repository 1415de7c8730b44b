"""What type checkers see of the public names: `make typecheck` runs them over this file, nothing else does."""

from __future__ import annotations

from pathlib import Path
from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

import tipstaff
import tipstaff.context
from tipstaff import (
    CompilerConfig,
    Constitution,
    Diagnostic,
    EnforcementGates,
    GateConfig,
    GateResult,
    GuidanceRule,
    HashEmbedding,
    IntentMatch,
    PolicyBundle,
    RetrievalResult,
    RetrievedShard,
    RuleManifest,
    RuleShard,
    SecretFinding,
    ShardRetriever,
    aggregate_decision,
    classify_intent,
    compile_guidance,
    compile_repository,
    open_project,
    redact,
    scan_secrets,
)
from tipstaff.context.candidates.records import Candidate
from tipstaff.context.prompt.assembly import AssembledPrompt
from tipstaff.context.prompt.sections import SectionReport
from tipstaff.context.shortening.compaction import CompactionResult, PruneResult
from tipstaff.context.sources.memory_tiers import MemoryTier
from tipstaff.context.tokens.estimator import TokenEstimator
from tipstaff.context.tokens.request_tokens import BudgetCheck
from tipstaff.guidance.embeddings.hash_embedding import Embedding
from tipstaff.guidance.project import Project

assert_type(tipstaff.__version__, str)

config = CompilerConfig(
    max_constitution_lines=10, default_risk_class="low", default_priority=1, auto_generate_ids=False
)
bundle = compile_guidance("- Use tabs", None, config=config)
assert_type(bundle, PolicyBundle)
assert_type(compile_repository(Path()), PolicyBundle)
assert_type(bundle.constitution, Constitution)
assert_type(bundle.shards, tuple[RuleShard, ...])
assert_type(bundle.shards[0].rule, GuidanceRule)
assert_type(bundle.shards[0].rule.repo_scopes, tuple[str, ...])
assert_type(bundle.manifest, RuleManifest)
assert_type(bundle.diagnostics, tuple[Diagnostic, ...])
assert_type(bundle.rule("R-001"), GuidanceRule | None)
assert_type(bundle.to_dict(), dict[str, Any])
assert_type(bundle.shards[0].replace(compact_text="x"), RuleShard)

assert_type(classify_intent("Fix"), IntentMatch)
embedding: Embedding = HashEmbedding(64)
assert_type(HashEmbedding().embed("x"), NDArray[np.float32])
assert_type(HashEmbedding().embed_batch(["x"]), NDArray[np.float32])

retriever = ShardRetriever(bundle, embedding)
result = retriever.retrieve(
    "Fix", intent="docs", risk_filter=["high"], repo_scope="src", max_shards=1, today="2026-01-01"
)
assert_type(result, RetrievalResult)
assert_type(result.shards, tuple[RetrievedShard, ...])
assert_type(result.shards[0].similarity, float)
assert_type(retriever.retrieve_batch(["a", "b"], threads=2), list[RetrievalResult])
assert_type(ShardRetriever.rank("Fix", ["a"], 1, headings=["b"]), list[int])

with open_project(".", store=Path("x"), config=config, embedding=embedding, force=True, write=False) as project:
    assert_type(project, Project)
    assert_type(project.bundle, PolicyBundle)
    assert_type(project.retriever(), ShardRetriever)

candidates = tipstaff.context.CandidateStore("candidates.jsonl", sync=False)
candidate = candidates.upsert({"content": "x"})
assert_type(candidates.upsert_many([{"content": "x"}]), tuple[Candidate, ...])
assert_type(candidates.candidates("SHADOW"), tuple[Candidate, ...])
assert_type(candidate.score, float)
assert_type(tipstaff.context.jaccard("x", "y"), float)
focus = tipstaff.context.RequestFocus.extract("fix a.py", [{"role": "user", "content": "x"}])
assert_type(focus, tipstaff.context.RequestFocus)
assert_type(focus.active_file_paths, tuple[str, ...])
budget = tipstaff.context.SystemPromptBudget.for_context_window(200_000, 16_384)
plan = tipstaff.context.ContextAssemblyPlan().add_section("base", "x", 95, True).add_section("a", "y", 1, focus=focus)
assert_type(plan.build(budget), AssembledPrompt)
assert_type(plan.build(budget).sections, tuple[SectionReport, ...])
assert_type(tipstaff.context.truncate("x", 1), str)
assert_type(tipstaff.context.MemoryTiers(".").load(), tuple[MemoryTier, ...])
assert_type(tipstaff.context.estimate_tokens("x"), int)
assert_type(tipstaff.context.estimate_full_context("x", [{"name": "n"}], []), int)
assert_type(TokenEstimator("claude").estimate("x"), int)
checked = tipstaff.context.check_budget("", (), (), context_window=1, max_output=1)
assert_type(checked, BudgetCheck)
limits = tipstaff.context.CompactionConfig(context_window_tokens=9_000, max_output_tokens=1_000)
assert_type(limits.trigger_tokens, int)
assert_type(tipstaff.context.prune_for_request([], config=limits), PruneResult)
assert_type(tipstaff.context.compact([], config=limits), CompactionResult)

gates = EnforcementGates(GateConfig(diff_size_threshold=100, allowed_tools=("Read",)))
assert_type(gates.evaluate_command("ls", cwd="/tmp", shell="bash"), list[GateResult])
assert_type(gates.evaluate_tool_use("Bash", {"command": "ls"}, cwd=None), list[GateResult])
assert_type(gates.evaluate_edit("a.py", "", 3), list[GateResult])
assert_type(gates.evaluate_batch(["ls", {"command": "ls"}]), list[list[GateResult]])
assert_type(aggregate_decision([]), str)
assert_type(GateResult("warn", "diff-size", "").triggered_rules, tuple[str, ...])

assert_type(scan_secrets("x"), list[SecretFinding])
assert_type(redact("x"), str)
