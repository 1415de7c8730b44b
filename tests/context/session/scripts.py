"""A seeded script of a long session: what the user asks, what the model answers, what the tools return.

The script is in the shape of the Messages API; `servers` turns it into the answers of the three APIs.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_WORDS = (
    "the cache keeps orders in memory until a worker flushes them because rows arrive late and handlers retry twice "
    "with backoff so we measure latency before each release while billing totals stay in integer cents per region"
).split()
_OTHER = [
    "кэш хранит заказы в памяти пока рабочий процесс их не запишет",
    "缓存将订单保存在内存中直到工作进程写入为止",
    "ऑर्डर तब तक मेमोरी में रहते हैं जब तक वर्कर उन्हें लिख न दे",
    "ذاكرة التخزين المؤقت تحتفظ بالطلبات حتى يكتبها العامل",
    "キャッシュは注文をメモリに保持する",
    "แคชเก็บคำสั่งซื้อไว้ในหน่วยความจำ",
]

CONSTRAINTS = (
    "Never touch the folder legacy/billing, finance still reads it.",
    "Always keep the public API of shop.orders unchanged.",
    "Do not add new dependencies without asking me.",
    "All amounts must stay integers of cents.",
    "Use only the UTC clock in tests.",
    "The reply time must stay below 250 ms.",
)
FACTS = (
    "the staging database listens on port 5544",
    "the release branch is called release/24-11",
    "Mara from finance signs off every price change",
    "the queue's dead letters go to topic orders.dlq",
    "feature flag checkout_v3 is off in production",
    "ticket SHOP-4821 describes the rounding bug",
    "the nightly export runs at 02:40 UTC",
    "the vendor's sandbox key rotates each Friday",
    "customers in Norway pay no fee below 30 EUR",
)


@dataclass
class Turn:
    """What the user says, then pairs of an answer with calls and what the tools return, then the last answer."""

    user: str
    rounds: list[tuple[list[dict[str, Any]], list[dict[str, Any]]]] = field(default_factory=list)
    answer: list[dict[str, Any]] = field(default_factory=list)


def prose(chance: random.Random, words: int) -> str:
    """Return a text of about so many words."""
    text = " ".join(chance.choice(_WORDS) for _ in range(max(3, words)))
    return text + (" " + chance.choice(_OTHER) if chance.random() < 0.1 else "") + "."


def code(chance: random.Random, lines: int) -> str:
    """Return source code of so many lines."""
    return "".join(
        f"def {chance.choice(_WORDS)}_{chance.randrange(999)}(row, *, limit={chance.randrange(90)}):\n"
        f'    """Return {prose(chance, 6)}"""\n    return row["{chance.choice(_WORDS)}"] * {i}\n\n'
        for i in range(max(1, lines // 4))
    )


def script(
    seed: int = 1,
    turns: int = 300,
    *,
    thinking: bool = True,
    huge: bool = True,
    rounds: Sequence[int] = (0, 1, 1, 2, 2, 3, 5),
) -> list[Turn]:
    """Return a session of so many turns of the user, one to six calls of the model in each."""
    chance = random.Random(seed)
    found: list[Turn] = []
    serial = 0

    def thought() -> list[dict[str, Any]]:
        nonlocal serial
        serial += 1
        if not thinking:
            return []
        return [{"type": "thinking", "thinking": prose(chance, 25), "signature": f"sig{serial}"}]

    for number in range(turns):
        prompt = f"Turn {number}: {prose(chance, chance.choice((8, 20, 40)))}"
        if number < len(CONSTRAINTS) * 3 and number % 3 == 0:
            prompt += " " + CONSTRAINTS[number // 3]
        if number < len(FACTS) * 4 and number % 4 == 1:
            prompt += f" Remember that {FACTS[number // 4]}."
        turn = Turn(prompt)
        for _ in range(chance.choice(rounds)):
            blocks = thought()
            if chance.random() < 0.6:
                blocks.append({"type": "text", "text": prose(chance, 15)})
            results: list[dict[str, Any]] = []
            for _ in range(chance.choice((1, 1, 1, 2, 3))):
                serial += 1
                path = f"src/app/part{serial % 40}/module{serial % 7}.py"
                kind = chance.random()
                name, value, output, failed = (
                    "Read",
                    {"file_path": path},
                    code(chance, chance.choice((8, 40, 90))),
                    False,
                )
                if kind < 0.3:
                    name = "Edit"
                    value = {"file_path": path, "old_string": code(chance, 4), "new_string": code(chance, 6)}
                    output = "The file was updated."
                    if chance.random() < 0.2:
                        output, failed = "Error: old_string was not found in the file", True
                elif kind < 0.6:
                    name, value = "Bash", {"command": f"pytest -q tests/part{serial % 40} -k {chance.choice(_WORDS)}"}
                    output = "\n".join(f"tests/part{i}.py::test_{chance.choice(_WORDS)} PASSED" for i in range(12))
                    if chance.random() < 0.25:
                        output, failed = f"FAILED tests/part{serial}.py: assert {serial} == 0\nexit code 1", True
                elif huge and kind > 0.997:
                    output = code(chance, 9_000)
                blocks.append({"type": "tool_use", "id": f"toolu_{serial}", "name": name, "input": value})
                result = {"type": "tool_result", "tool_use_id": f"toolu_{serial}", "content": output}
                results.append(result | {"is_error": True} if failed else result)
            turn.rounds.append((blocks, results))
        turn.answer = [*thought(), {"type": "text", "text": f"We decided {prose(chance, 20)}"}]
        found.append(turn)
    return found


TOOLS: list[dict[str, Any]] = [
    {
        "name": name,
        "description": f"{name}: {prose(random.Random(name), 60)}",
        "input_schema": {"type": "object", "properties": {key: {"type": "string"} for key in keys}, "required": keys},
    }
    for name, keys in (
        ("Read", ["file_path"]),
        ("Edit", ["file_path", "old_string", "new_string"]),
        ("Bash", ["command"]),
    )
]
CHAT_TOOLS = [
    {
        "type": "function",
        "function": {"name": t["name"], "description": t["description"], "parameters": t["input_schema"]},
    }
    for t in TOOLS
]
RESPONSES_TOOLS = [
    {"type": "function", "name": t["name"], "description": t["description"], "parameters": t["input_schema"]}
    for t in TOOLS
]
