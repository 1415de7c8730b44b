"""Commands run side by side, each after those that it waits for, each within its time, in one loop without threads."""

from __future__ import annotations

import selectors
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

from tipstaff.model import Record
from tipstaff.review.checks.model import Check
from tipstaff.review.running.processes import GRACE_S, MARK, Child
from tipstaff.review.running.supervisor import Supervisor

_POLL_S: Final = 0.02
"""How often the end of a command is looked for where the system cannot tell."""

_LINGER_S: Final = 0.25
"""How long output is waited for after a command has ended and a child of it still holds the pipe."""


class Ended(Record, frozen=True, kw_only=True):
    """How a command ended.

    Attributes
    ----------
    exit_code
        Negative for a signal; None where it could not be started, and `error` says why.
    timed_out
        Whether it was killed because its time was over.
    """

    exit_code: int | None
    duration_s: float
    output: str
    timed_out: bool = False
    error: str = ""


class Watcher:
    """Receives progress events; a subclass shows them."""

    def started(self, check: Check) -> None:
        """Handle the start of a command."""

    def printed(self, check: Check, data: bytes) -> None:
        """Handle output of a command."""

    def ended(self, check: Check, ended: Ended) -> None:
        """Handle the end of a command."""

    def tick(self) -> None:
        """Do what is to be done several times a second."""


class _Running:
    def __init__(self, check: Check, child: Child) -> None:
        self.check = check
        self.child = child
        self.deadline = child.began + check.timeout_s
        self.asked = False
        self.timed_out = False
        self.closed = False
        self.gone_at = 0.0


def run_all(
    checks: Sequence[Check],
    *,
    jobs: int,
    start: Callable[[Check], tuple[Path, Mapping[str, str], str] | None],
    finish: Callable[[Check, Ended], bool],
    watcher: Watcher,
) -> None:
    """Run commands.

    Parameters
    ----------
    checks
        Their `after` and `needs` name others of them.
    jobs
        How many run at once, at least 1.
    start
        Called when a check may start: its folder, its environment and its command; None where it is not to be run.
    finish
        Called when one has ended; whether that is a pass.
    watcher
        Receives progress events.

    Notes
    -----
    A check whose `needs` did not pass is not started: `start` is asked, and has to know it. If this function is left
    by an exception (an interrupt), every child is killed first.
    """
    waiting = {check.name: check for check in checks}
    done: set[str] = set()
    running: dict[str, _Running] = {}
    with Supervisor(MARK) as supervisor, selectors.DefaultSelector() as selector:
        try:
            while waiting or running:
                for check in [one for one in waiting.values() if done >= ({*one.after, *one.needs} & _names(checks))]:
                    if len(running) >= jobs:
                        break
                    del waiting[check.name]
                    todo = start(check)
                    if todo is None:
                        done.add(check.name)
                        continue
                    folder, environment, command = todo
                    try:
                        child = Child(command, folder, environment, supervisor)
                    except OSError as error:
                        ended = Ended(exit_code=None, duration_s=0.0, output="", error=error.strerror or str(error))
                        finish(check, ended)
                        watcher.ended(check, ended)
                        done.add(check.name)
                        continue
                    one = running[check.name] = _Running(check, child)
                    selector.register(child.stdout, selectors.EVENT_READ, (one, "output"))
                    if child.pidfd >= 0:
                        selector.register(child.pidfd, selectors.EVENT_READ, (one, "end"))
                    watcher.started(check)
                if running:
                    _wait(selector, running, watcher)
                    for name in [name for name, one in running.items() if _is_over(one)]:
                        one = running.pop(name)
                        ended = _finished(selector, one, watcher)
                        finish(one.check, ended)
                        watcher.ended(one.check, ended)
                        done.add(name)
        except BaseException:
            for one in running.values():
                one.child.finish(thorough=True)
            raise


def _names(checks: Sequence[Check]) -> set[str]:
    return {check.name for check in checks}


def _wait(selector: selectors.BaseSelector, running: Mapping[str, _Running], watcher: Watcher) -> None:
    now = time.perf_counter()
    until = min(one.deadline for one in running.values())
    polled = any(one.child.pidfd < 0 or one.gone_at for one in running.values())
    timeout = min(max(0.0, until - now), _POLL_S if polled else 0.1)
    for key, _ in selector.select(timeout):
        one, kind = key.data
        if kind == "end":
            selector.unregister(key.fileobj)
            continue
        data = one.child.read()
        if data is None:
            one.closed = True
            selector.unregister(key.fileobj)
        elif data:
            watcher.printed(one.check, data)
    watcher.tick()
    now = time.perf_counter()
    for one in running.values():
        if not one.gone_at and one.child.has_ended():
            one.gone_at = now
        if now < one.deadline or one.gone_at:
            continue
        one.timed_out = True
        if one.asked:
            one.gone_at = now  # it did not listen: it is killed now
        else:
            one.asked = True
            one.deadline = now + GRACE_S
            one.child.ask_to_end()


def _is_over(one: _Running) -> bool:
    if not one.gone_at:
        return False
    return one.closed or one.timed_out or time.perf_counter() - one.gone_at >= _LINGER_S


def _finished(selector: selectors.BaseSelector, one: _Running, watcher: Watcher) -> Ended:
    child = one.child
    for descriptor in (child.stdout, child.pidfd):
        if descriptor >= 0:
            try:
                selector.unregister(descriptor)
            except (KeyError, ValueError):
                continue
    while data := child.read():
        watcher.printed(one.check, data)
    # A pipe that is still open is held by a child that left the group.
    code = child.finish(thorough=one.timed_out or not one.closed)
    ended = one.gone_at if not one.timed_out else child.ended
    return Ended(exit_code=code, duration_s=ended - child.began, output=child.output.text(), timed_out=one.timed_out)
