"""The pages of the service: what waits, a session, rules, noise, secrets. Every text is escaped by the templates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from tipstaff.adapters.guard import sdk
from tipstaff.errors import TipstaffError
from tipstaff.gates.secrets.scanner import redact
from tipstaff.hosts.approvals import pending_calls
from tipstaff.plane import GuidanceControlPlane
from tipstaff.runs.events import GateVerdict, RunEvent
from tipstaff.serving.gate_stats import rule_counts, spool_records
from tipstaff.store.state import state_folder
from tipstaff.store.untrusted import read_untrusted

_FOLDER: Final = Path(__file__).parent / "pages"
_PAGES: Final = (("/", "Now"), ("/rules", "Rules"), ("/noise", "Noise"), ("/secrets", "Secrets"))
_SHOWN: Final = 100
_KINDS: Final = {"block": "block", "require-confirmation": "ask"}


class Pages:
    """Pages over one plane."""

    def __init__(self, plane: GuidanceControlPlane) -> None:
        self._plane = plane
        jinja: Any = sdk("jinja2", "tipstaff[serve]")
        self._templates = jinja.Environment(
            autoescape=True, loader=jinja.FileSystemLoader(_FOLDER), undefined=jinja.StrictUndefined
        )
        self.style = read_untrusted(_FOLDER / "style.css")

    def page(self, path: str, name: str = "") -> str | None:
        """Return the page at a path; `name` is that of a session. None where there is none."""
        if path.startswith("/sessions/"):
            return self._session(name)
        made = {"/": self._now, "/rules": self._rules, "/noise": self._noise, "/secrets": self._secrets}.get(path)
        return None if made is None else made()

    def _render(self, template: str, here: str, title: str, **values: Any) -> str:
        found: str = self._templates.get_template(template).render(pages=_PAGES, here=here, title=title, **values)
        return found

    def _events(self) -> tuple[RunEvent, ...]:
        try:
            return self._plane.ledger.events(limit=_SHOWN)[::-1]
        except TipstaffError:
            return ()

    def _verdicts(self) -> Iterator[tuple[RunEvent, GateVerdict]]:
        """Yield the verdicts of the last runs: those that were judged in Python are not in the spool."""
        yield from ((event, verdict) for event in self._events() for verdict in event.verdicts)

    def _now(self) -> str:
        runs = [
            {
                "id": one.event_id, "task": redact(one.task, wary=True)[:200], "when": _when(one.timestamp),
                "agent": one.agent_id or "", "calls": len(one.verdicts),
                "stopped": sum(verdict.decision in _KINDS for verdict in one.verdicts),
                "outcome": {True: "accepted", False: "rejected", None: "not known"}[one.outcome_accepted],
            }
            for one in self._events()
        ]  # fmt: skip
        try:
            ledger = f"{len(self._plane.ledger)} entries. `tipstaff ledger verify` says whether it is whole."
        except TipstaffError as error:
            ledger = f"It cannot be read: {error}"
        return self._render(
            "now.html", "/", "Now", waiting=pending_calls(state_folder())[:_SHOWN], runs=runs, ledger=ledger
        )

    def _session(self, name: str) -> str | None:
        event = self._plane.ledger.event(name)
        if event is None:
            return None
        entries = [redact(text, wary=True) for text in event.tools_used]
        entries += [verdict.tool for verdict in event.verdicts[len(entries) :]]
        calls = [
            {"decision": verdict.decision, "kind": _KINDS.get(verdict.decision, "allow"), "entry": entry,
             "rules": ", ".join(verdict.rules)}
            for entry, verdict in zip(entries, event.verdicts, strict=False)
        ]  # fmt: skip
        tokens = event.tokens
        facts = [
            ("Began", _when(event.timestamp)), ("Took", f"{event.duration_ms / 1000:.1f} s"),
            ("Agent", event.agent_id or "not known"), ("Intent", event.intent),
            ("Rework", f"{event.rework_lines} lines"),
            ("Tokens", f"{tokens.input + tokens.cache_read + tokens.cache_write} in, {tokens.output} out"),
            ("Cost", f"{tokens.cost_usd:.2f} US dollars"),
        ]  # fmt: skip
        return self._render(
            "session.html", "", redact(event.task, wary=True)[:200] or name, facts=facts, calls=calls,
            given=event.retrieved, broken=event.violations,
        )  # fmt: skip

    def _rules(self) -> str:
        given: dict[str, int] = {}
        broken: dict[str, int] = {}
        for event in self._events():
            for rule in event.retrieved_rule_ids:
                given[rule] = given.get(rule, 0) + 1
            for violation in event.violations:
                broken[violation.rule_id] = broken.get(violation.rule_id, 0) + 1
        try:
            rules = self._plane.bundle.rules()
        except TipstaffError:
            rules = ()
        rows = [(one.id, one.text, given.get(one.id, 0), broken.get(one.id, 0)) for one in rules]
        rows.sort(key=lambda row: (-row[3], -row[2], row[0]))
        return self._table(
            "/rules", "Rules", f"How often each was given and broken in the last {_SHOWN} runs.",
            ("Rule", "Text", "Given", "Broken"), rows, "There are no rules: write a CLAUDE.md or AGENTS.md.",
        )  # fmt: skip

    def _noise(self) -> str:
        counts = rule_counts([*spool_records(state_folder()), *map(_as_record, self._verdicts())])[:_SHOWN]
        columns = ("rule", "approved", "require-confirmation", "block", "warn")
        rows = [
            (*(one[name] for name in columns), one["setting"]["text"])
            for one in counts
        ]  # fmt: skip
        return self._table(
            "/noise", "Noise", "Which rules speak most, and what a person could set so that one speaks less.",
            ("Rule", "Allowed", "Asked", "Blocked", "Warned", "What would quiet it"), rows, "No rule has spoken.",
        )  # fmt: skip

    def _secrets(self) -> str:
        rows = [
            (_when(event.timestamp), event.task[:100], verdict.tool, ", ".join(verdict.rules))
            for event, verdict in self._verdicts()
            if verdict.gate == "secrets"
        ]
        shown = [(when, redact(task, wary=True), *rest) for when, task, *rest in rows]
        return self._table(
            "/secrets", "Secrets", "Calls in which a secret stood; it is not kept anywhere.",
            ("When", "Task", "Tool", "Kind"), shown, "No call had a secret in it.",
        )  # fmt: skip

    def _table(
        self, here: str, title: str, about: str, head: Sequence[str], rows: Sequence[Sequence[Any]], nothing: str
    ) -> str:
        return self._render("table.html", here, title, about=about, head=head, rows=rows, nothing=nothing)


def _as_record(judged: tuple[RunEvent, GateVerdict]) -> dict[str, Any]:
    """Return a verdict as a record of the spool."""
    event, verdict = judged
    return {"decision": verdict.decision, "rules": list(verdict.rules), "tool": verdict.tool, "session": event.event_id}


def _when(milliseconds: int) -> str:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S")
    except (OverflowError, ValueError, OSError):
        return str(milliseconds)
