"""The parts used by themselves, in the ways that the documentation shows and in any other order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.context.session.scripts import TOOLS, Turn
from tests.context.session.servers import Provider
from tipstaff.context import CompactionConfig, RequestAssembler, compact, prune_for_request

OUTPUT = 8_000
SYSTEM = "Be careful."


def documented(root: Path, provider: Provider, turns: Sequence[Turn], *, usage: bool, window: int = 60_000) -> None:
    """Run the loop of the documentation: assemble, compact where that does not fit, assemble again."""
    config = CompactionConfig(window, OUTPUT)
    requests = RequestAssembler(root, base="You are careful.", config=config, tools=TOOLS, git=None, snapshots=None)
    history: list[dict[str, Any]] = []
    reported: Any = None

    def call(blocks: list[dict[str, Any]], query: str) -> None:
        nonlocal history, reported
        request = requests.assemble(query, history, usage=reported)
        if not request.pruned.fits:
            done = compact(history, request.system_prompt, config=config, tools=TOOLS, usage=reported)
            history = list(done.messages)
            request = requests.assemble(query, history)
        provider.next = blocks
        body = {
            "system": request.system_prompt,
            "tools": TOOLS,
            "messages": list(request.messages),
            "max_tokens": OUTPUT,
        }
        answer = provider.take("/v1/messages", body)
        reported = answer["usage"] if usage else None
        history.append({"role": "assistant", "content": answer["content"]})

    for turn in turns:
        history.append({"role": "user", "content": turn.user})
        for blocks, results in turn.rounds:
            call(blocks, turn.user)
            history.append({"role": "user", "content": results})
        call(turn.answer, turn.user)


def pruned(provider: Provider, turns: Sequence[Turn], *, usage: bool, window: int = 60_000) -> None:
    """Run the loop without an assembler: prune each request, compact the history where that does not fit."""
    config = CompactionConfig(window, OUTPUT)
    history: list[dict[str, Any]] = []
    previous: Any = None
    reported: Any = None

    def call(blocks: list[dict[str, Any]]) -> None:
        nonlocal history, previous, reported
        previous = prune_for_request(history, SYSTEM, TOOLS, config=config, usage=reported, previous=previous)
        if not previous.fits:
            done = compact(history, SYSTEM, config=config, tools=TOOLS, usage=reported, previous=previous)
            history = list(done.messages)
            previous = prune_for_request(history, SYSTEM, TOOLS, config=config)
        provider.next = blocks
        body = {"system": SYSTEM, "tools": TOOLS, "messages": list(previous.messages), "max_tokens": OUTPUT}
        answer = provider.take("/v1/messages", body)
        reported = answer["usage"] if usage else None
        history.append({"role": "assistant", "content": answer["content"]})

    for turn in turns:
        history.append({"role": "user", "content": turn.user})
        for blocks, results in turn.rounds:
            call(blocks)
            history.append({"role": "user", "content": results})
        call(turn.answer)


def any_order(root: Path, provider: Provider, turns: Sequence[Turn], seed: int, *, window: int = 60_000) -> None:
    """Prune, compact and assemble in any order, with results and reports that may be stale."""
    chance = random.Random(seed)
    config = CompactionConfig(window, OUTPUT, protected_turns=chance.choice((0, 1, 3, 5)))
    requests = RequestAssembler(root, base="Be careful.", config=config, tools=TOOLS, git=None, snapshots=None)
    history: list[dict[str, Any]] = []
    previous: Any = None
    reported: Any = None

    def call(blocks: list[dict[str, Any]], query: str) -> None:
        nonlocal history, previous, reported
        sent: list[Any] = list(history)
        for _ in range(chance.choice((1, 1, 2, 3))):
            used = reported if chance.random() < 0.6 else None
            step = chance.random()
            if step < 0.35:
                previous = prune_for_request(
                    history,
                    SYSTEM,
                    TOOLS,
                    config=config,
                    usage=used,
                    previous=previous if chance.random() < 0.7 else None,
                )
                sent = list(previous.messages)
            elif step < 0.75:
                request = requests.assemble(query, history, usage=used)
                sent = list(request.messages)
                previous = request.pruned if chance.random() < 0.5 else previous
            else:
                source = sent if chance.random() < 0.5 else history
                done = compact(source, SYSTEM, config=config, tools=TOOLS, usage=used, force=chance.random() < 0.05)
                history = list(done.messages)
                sent = list(history)
        provider.next = blocks
        answer = provider.take("/v1/messages", {"system": SYSTEM, "tools": TOOLS, "messages": sent})
        reported = answer["usage"]
        history.append({"role": "assistant", "content": answer["content"]})

    for turn in turns:
        history.append({"role": "user", "content": turn.user})
        for blocks, results in turn.rounds:
            call(blocks, turn.user)
            history.append({"role": "user", "content": results})
        call(turn.answer, turn.user)
