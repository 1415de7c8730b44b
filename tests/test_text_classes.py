"""Texts of subclasses of `str` (`StrEnum`, the texts of SDKs) are texts in every public call."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.runs.repository import made_plane
from tipstaff import (
    EnforcementGates,
    HashEmbedding,
    ShardRetriever,
    StaticEmbedding,
    classify_intent,
    compile_guidance,
    context,
    redact,
    review,
    runs,
    scan_secrets,
)
from tipstaff.runs import RunEvent

RULES = "## Security\n- [SEC-1] Never log keys\n## Work\n- [TST-1] Run the tests before a commit #testing\n"
TOKEN = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
GATES = EnforcementGates()
RETRIEVER = ShardRetriever(compile_guidance(RULES))


class Text(str):
    """A text that shows itself as something else."""

    __slots__ = ()

    def __str__(self) -> str:
        return "<Text>"

    def __repr__(self) -> str:
        return "Text(...)"


def as_member(text: str) -> str:
    """Return a text as a member of an enumeration."""
    member: str = enum.StrEnum("Texts", {"ONE": text})["ONE"]  # type: ignore[misc]
    return member


def calls(folder: Path) -> Iterator[tuple[str, Callable[[Callable[[str], Any]], Any]]]:
    """Yield every public call that takes text, with what makes a text for it."""
    plane = made_plane(folder)
    yield "compile_guidance", lambda t: compile_guidance(t(RULES), t("- [L-1] Use tabs\n"))
    yield "classify_intent", lambda t: classify_intent(t("Fix the test"))
    for name, embedding in (("HashEmbedding", HashEmbedding()), ("StaticEmbedding", StaticEmbedding())):
        yield f"{name}.embed", lambda t, e=embedding: e.embed(t("Fix the test")).tolist()
        yield f"{name}.embed_batch", lambda t, e=embedding: e.embed_batch([t("Fix"), t("it")]).tolist()
    yield (
        "retrieve",
        lambda t: (
            RETRIEVER.retrieve(
                t("Fix the test"), intent=t("testing"), risk_filter=[t("medium")], repo_scope=t("src/a.py")
            ).policy_text
        ),
    )
    yield "retrieve_batch", lambda t: [one.policy_text for one in RETRIEVER.retrieve_batch([t("Fix the test")])]
    yield "rank", lambda t: ShardRetriever.rank(t("Fix"), [t("Fix it"), t("Write")], 1, headings=[t("a"), t("b")])
    for command in ("git reset --hard", f"echo {TOKEN}", "ls", "\ud800"):
        yield f"evaluate_command {command!r}", lambda t, c=command: GATES.evaluate_command(t(c), cwd=t("/home/dev/app"), shell=t("bash"))  # fmt: skip
        yield f"evaluate_tool_use {command!r}", lambda t, c=command: GATES.evaluate_tool_use(t("Bash"), {t("command"): t(c), "x": [t("a")]}, cwd=t("/home/dev/app"))  # fmt: skip
        yield f"evaluate_batch {command!r}", lambda t, c=command: GATES.evaluate_batch([t(c), {t("command"): t(c)}])
    yield "evaluate_edit", lambda t: GATES.evaluate_edit(t("src/a.py"), t(f"key = '{TOKEN}'"), 1)
    yield "decisions", lambda t: GATES.decisions([t("git reset --hard"), t("ls")], cwd=t("/work"), shell=t("bash"))
    yield "explain", lambda t: GATES.explain(t("git reset --hard"), cwd=t("/work")).to_dict()
    yield "scan_secrets", lambda t: scan_secrets(t(f"a {TOKEN}"))
    yield "redact", lambda t: redact(t(f"a {TOKEN}"))
    yield "truncate", lambda t: context.truncate(t("word " * 100), 50)
    yield "estimate_tokens", lambda t: context.estimate_tokens(t("some words"))
    yield "estimate_message", lambda t: context.estimate_message({"role": t("user"), "content": t("some words")})
    yield "estimate_tools", lambda t: context.estimate_tools([{"name": t("a"), "description": t("b"), "input_schema": {}}])  # fmt: skip
    messages = [{"role": "user", "content": "some words"}]
    yield "estimate_full_context", lambda t: context.estimate_full_context(t("system"), [], messages)
    yield "check_budget", lambda t: context.check_budget(t("s"), [], messages, context_window=1000, max_output=10)
    yield "jaccard", lambda t: context.jaccard(t("some words"), t("other words"))
    yield "RequestFocus.extract", lambda t: context.RequestFocus.extract(t("Fix src/a.py"), [t("then `run_it`")])
    budget = context.SystemPromptBudget.for_context_window(100_000, 1_000)
    yield "ContextAssemblyPlan", lambda t: context.ContextAssemblyPlan().add_section(t("k"), t("words"), 1).build(budget).prompt  # fmt: skip
    config = context.CompactionConfig(context_window_tokens=30_000)
    yield "prune_for_request", lambda t: context.prune_for_request([{"role": t("user"), "content": t("a")}], t("s"), config=config)  # fmt: skip
    yield "size_task", lambda t: review.size_task(window=100_000, files={t("a.py"): 10}, description=t("d"))
    yield "resolve_scope", lambda t: review.resolve_scope([t("src/*.py")], {t("src/a.py"): 1}, {"in": [t("src/**")]})
    sop = {"id": "S", "applies_to": ["*.py"], "severity": "must", "category": "c", "scope": "file"}
    yield "match_sops", lambda t: review.match_sops([sop | {"id": t("S"), "applies_to": [t("*.py")]}], [t("a.py")])
    yield "assemble_review", lambda t: review.assemble_review(window=100_000, task_output_tokens=10, sops=[{"id": t("S"), "text": t("x")}])  # fmt: skip
    yield "RunEvent", lambda t: RunEvent.from_dict({"event_id": t("e"), "task_id": t("t"), "guidance_hash": t("g"), "tools_used": [t("ls")]})  # fmt: skip
    event = RunEvent(event_id="e", task_id="t", guidance_hash="g", tools_used=("npm install left-pad",))
    yield "evaluate", lambda t: runs.evaluate(event, forbidden_packages=[t("left-pad")], evaluators=[t("forbidden-dependency-scan")])  # fmt: skip
    numbers = iter(range(1000))

    def whole_run(t: Callable[[str], Any]) -> Any:
        run = plane.start_run(t("fix the test"), session_id=t("s"), agent_id=t("a"), run_id=t(f"r{next(numbers)}"))
        found: list[Any] = [plane.retrieve_for_task(t("fix the test"), run_id=t(run)).policy_text]
        found += plane.evaluate_command(t("git reset --hard"), cwd=t("/work"), run_id=t(run))
        found += plane.evaluate_tool_use(t("Bash"), {t("command"): t("git reset --hard")}, run_id=t(run))
        found += plane.evaluate_edit(t("src/a.py"), t("x"), 900)
        plane.record_violation(t(run), t("TST-1"), severity=t("high"), description=t("d"), location=t("l"))
        found.append(plane.record_step(t(run), t("npm test"), failed=True))
        found.append(plane.on_stop(t(run), wants_more=True, reason=t("r")))
        found += plane.narrow(tools=[t("Read")], paths=[t("src/**")]).evaluate_tool_use(t("Read"), {"path": t("src/a")})
        found += plane.finalize_run(t(run), outcome=t("accepted"), files=[t("src/a.py")], tools=[t("ls")])
        (event,) = plane.ledger.events(session_id=t("s"), since=None)[-1:]
        return found, event.replace(event_id="e", timestamp=0, duration_ms=0)

    yield "GuidanceControlPlane", whole_run


def test_every_public_call_takes_texts_of_any_class(tmp_path: Path) -> None:
    wrong: list[str] = []
    for name, call in calls(tmp_path / "repository"):
        expected = call(str)
        for kind in (Text, as_member):
            try:
                found = call(kind)
            except Exception as error:  # noqa: BLE001 - all that are wrong are named
                wrong.append(f"{name} of {kind.__name__}: {type(error).__name__}: {error}")
                continue
            if found != expected or "<Text>" in repr(found):
                wrong.append(f"{name} of {kind.__name__}: {found} instead of {expected}")
    assert not wrong, "\n".join(wrong)
