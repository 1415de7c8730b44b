"""What every adapter does around an agent's loop: judges its calls, masks results, delivers rules, records the run.

The SDKs are loaded by `sdk` alone, so that type checkers hold with and without them.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import json
import threading
import uuid
from collections import OrderedDict
from collections.abc import Generator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, Final

import msgspec

from tipstaff.context.session.session import ContextSession
from tipstaff.errors import ConfigError
from tipstaff.gates.redaction import redact_data
from tipstaff.gates.results import Verdict
from tipstaff.plane import GuidanceControlPlane

WITHHELD: Final = "tipstaff could not mask the secrets in this result; it is withheld."
_REFUSED: Final = "tipstaff did not let this call run."
_MOST_KEPT: Final = 4096
_PLANES: Final[dict[str, GuidanceControlPlane]] = {}
_LOCK: Final = threading.Lock()
_WITHIN: Final[contextvars.ContextVar[str | None]] = contextvars.ContextVar("tipstaff_adapter_run", default=None)


def sdk(module: str, package: str) -> Any:
    """Return a module of an SDK.

    Raises
    ------
    ConfigError
        It is not installed.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        raise ConfigError(f"this adapter needs {package} ({error}): pip install {package}") from error


def plane_of(root: str | Path) -> GuidanceControlPlane:
    """Return the plane of a repository: one for all adapters of this process."""
    key = str(Path(root).resolve())
    with _LOCK:
        if key not in _PLANES:
            _PLANES[key] = GuidanceControlPlane(key)
        return _PLANES[key]


class Guard:
    """One agent's way through its plane; no method raises, and whatever fails counts as no.

    Parameters
    ----------
    root
        The repository, or a plane: that of a sub-agent, for example, from `GuidanceControlPlane.narrow`.
    asker
        Which SDK asks, for the person who answers.
    wait
        How many seconds a call that needs a person waits for one in `tipstaff approve`, where the SDK itself does not
        ask. Beyond that it is refused, and the model is told its code.
    """

    def __init__(self, root: str | Path | GuidanceControlPlane, *, asker: str, wait: float = 0.0) -> None:
        self.plane = root if isinstance(root, GuidanceControlPlane) else plane_of(root)
        self.wait = wait
        self._asker = asker
        self._once = threading.Lock()
        self._asked: OrderedDict[str, tuple[str, Verdict]] = OrderedDict()
        self._rules: OrderedDict[tuple[str, str], str] = OrderedDict()

    # -- calls ---------------------------------------------------------------------------------------------------------

    def judge(
        self,
        tool: str,
        params: Any,
        *,
        call: str = "",
        run: str | None = None,
        cwd: str | None = None,
        waits: bool = True,
    ) -> Verdict:
        """Judge a call; one that the SDK asks about a second time, by the same name of the `call`, is judged once.

        `waits`: whether it waits in `tipstaff approve`; False where the SDK asks the person itself.
        """
        if not call:
            return self._judged(tool, params, run, cwd, waits=waits)
        written = f"{tool}\0{params!r}"
        with self._once:  # some SDKs ask twice at the same time
            known = self._asked.get(call)
            if known is None or known[0] != written:
                known = (written, self._judged(tool, params, run, cwd, waits=waits))
                _remember(self._asked, call, known)
            return known[1]

    def _judged(self, tool: str, params: Any, run: str | None, cwd: str | None, *, waits: bool) -> Verdict:
        try:
            return self.plane.verdict(
                tool, params, cwd=cwd, run_id=self._open(run), asker=self._asker, waits=waits
            )  # fmt: skip
        except Exception as error:  # noqa: BLE001 - an agent's call is never made because the judge broke
            return _failed(error)

    async def a_judge(
        self,
        tool: str,
        params: Any,
        *,
        call: str = "",
        run: str | None = None,
        cwd: str | None = None,
        waits: bool = True,
    ) -> Verdict:
        """Do as :meth:`judge`, off the event loop."""
        return await asyncio.to_thread(self.judge, tool, params, call=call, run=run, cwd=cwd, waits=waits)

    def was_asked(self, call: str) -> bool:
        """Return whether a call was judged before, so that the SDK could ask; it is judged anew the next time."""
        return self._asked.pop(call, None) is not None

    async def refusal(self, verdict: Verdict) -> str:
        """Wait for a person where one is needed; return what the model is told instead of a result, empty to go on."""
        try:
            if await verdict.approval(self.wait if verdict.code else 0):
                return ""
        except Exception as error:  # noqa: BLE001 - as above
            verdict = _failed(error)
        return refusal_text(verdict)

    def refusal_now(self, verdict: Verdict) -> str:
        """Do as :meth:`refusal` in code that is not asynchronous, in whatever thread."""
        if not verdict.code:
            return "" if verdict.decision in {"allow", "warn"} else refusal_text(verdict)
        found: list[str] = []
        thread = threading.Thread(target=lambda: found.append(asyncio.run(self.refusal(verdict))), daemon=True)
        thread.start()
        thread.join()
        return found[0] if found else refusal_text(verdict)

    async def permit(self, tool: str, params: Any, *, call: str = "") -> str:
        """Judge a call and wait for a person where one is needed; returns as :meth:`refusal`."""
        return await self.refusal(await self.a_judge(tool, params, call=call))

    def masked(self, value: Any) -> Any:
        """Return a result with its secrets masked, in the same shape."""
        try:
            return redact_data(value)
        except Exception:  # noqa: BLE001 - what cannot be masked is not shown
            return WITHHELD

    # -- runs and rules ------------------------------------------------------------------------------------------------

    def constitution(self) -> str:
        """Return the rules that are always given; empty where there are none, or they cannot be read."""
        try:
            return self.plane.bundle.constitution.text
        except Exception:  # noqa: BLE001 - a repository without rules has none to deliver
            return ""

    @property
    def run_within(self) -> str | None:
        """The run of :meth:`within`."""
        return _WITHIN.get()

    @contextlib.contextmanager
    def within(self, run: str | None) -> Generator[None]:
        """Let the calls of this task, and of tasks that it begins, belong to a run."""
        token = _WITHIN.set(run)
        try:
            yield
        finally:
            _WITHIN.reset(token)

    def begin(self, task: str) -> str | None:
        """Begin a run; None where the caller has one open, to which the calls belong."""
        try:
            if self.plane.current_run is not None:
                return None
            return self.plane.start_run(task, agent_id=self._asker)
        except Exception:  # noqa: BLE001 - without a ledger calls are judged all the same, and recorded in the spool
            return None

    def finish(self, run: str | None, *, tokens: int = 0, failed: bool = False) -> None:
        """Finish a run that :meth:`begin` began; whether it was accepted is for others to say."""
        opened = self._open(run)
        if opened is None:
            return
        try:
            self.plane.finalize_run(opened, outcome="rejected" if failed else None, tokens=tokens or None)
        except Exception:  # noqa: BLE001 - the agent's answer counts; an unfinished run stays open
            return

    def rules(self, task: str, run: str | None = None) -> str:
        """Return the constitution and the rules for a task; the same text for the same task of a run."""
        key = (run or "", task)
        text = self._rules.get(key)
        if text is None:
            try:
                text = self.plane.retrieve_for_task(task, run_id=self._open(run)).policy_text
            except Exception:  # noqa: BLE001 - a repository without rules has none to deliver
                text = ""
            _remember(self._rules, key, text)
        return text

    def _open(self, run: str | None) -> str | None:
        if run is None:
            return None
        try:
            self.plane.open_run(run)
        except ConfigError:
            return None
        return run


class Shortener:
    """Keeps a conversation within a model's window, for SDKs that let it be changed before each request.

    Parameters
    ----------
    window, max_output
        Of the model, in tokens; nothing is shortened where `window` is None.
    api
        The shape of the messages; see `ContextSession`.
    """

    def __init__(self, window: int | None, max_output: int, api: Any) -> None:
        self._options: Final[dict[str, Any]] = {"api": api, "model_window": window, "max_output": max_output}
        self._window: Final = window

    def shortened(self, messages: Sequence[Mapping[str, Any]], system: str) -> list[Any]:
        """Return the messages, shortened where they and the instructions come near the window's end."""
        given: list[Any] = list(messages)
        if self._window is None or len(json.dumps(given, default=str)) < self._window:  # far from it: 4 bytes a token
            return given
        session = ContextSession(
            base=system, rule_files="none", git=None, snapshots=None, memory=None,
            session_id=uuid.uuid4().hex, **self._options,
        )  # fmt: skip
        request = session.request(given)
        found = request.get("messages", request.get("input"))
        return list(found or given)


def arguments_of(text: Any) -> Any:
    """Return a call's arguments as data: those that a model wrote as JSON, or as they are."""
    if not isinstance(text, str | bytes):
        return text
    try:
        return msgspec.json.decode(text or "{}")
    except msgspec.DecodeError:
        return {"input": text}


def refusal_text(verdict: Verdict) -> str:
    """Return what a model is told instead of a result."""
    return f"{_REFUSED} {verdict.message}".strip()


def _failed(error: Exception) -> Verdict:
    return Verdict(
        decision="block", message=f"It could not be judged ({type(error).__name__}); report this, and do not retry.",
        reason_for_person=f"The judge failed: {type(error).__name__}", findings=(), safer="", proven=False, facts=(),
        call_id=uuid.uuid4().hex,
    )  # fmt: skip


def _remember(known: OrderedDict[Any, Any], key: Any, value: Any) -> None:
    known[key] = value
    while len(known) > _MOST_KEPT:
        known.popitem(last=False)
