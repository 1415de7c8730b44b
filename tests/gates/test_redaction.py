from __future__ import annotations

import dataclasses
from collections import OrderedDict, namedtuple
from types import MappingProxyType
from typing import Any

import msgspec

from tipstaff import redact_data

TOKEN = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
PASSWORD = "tr0ub4dor" + "&3-x9Q"


@dataclasses.dataclass(frozen=True)
class Part:
    text: str
    parts: tuple[Any, ...] = ()


class Block(msgspec.Struct, frozen=True):
    content: str


Pair = namedtuple("Pair", "name value")  # noqa: PYI024 - as SDKs have them


def test_secrets_in_data_of_any_class_are_masked() -> None:
    shapes: list[Any] = [
        TOKEN, TOKEN.encode(), [TOKEN], (TOKEN,), {TOKEN}, frozenset({TOKEN}), {"a": [{"b": TOKEN}]}, {TOKEN: 1},
        OrderedDict(a=TOKEN), Part("x", (Part(TOKEN),)), Block(f"see {TOKEN}"), Pair("a", TOKEN), {"password": PASSWORD},
        {"headers": {"Authorization": f"Bearer {TOKEN}"}}, Part(f"export KEY={TOKEN}"), [Block(TOKEN), 1, None, True],
    ]  # fmt: skip
    for shape in shapes:
        before = repr(shape)
        found = redact_data(shape)
        assert type(found) is type(shape), shape
        assert TOKEN not in repr(found), shape
        assert PASSWORD not in repr(found), shape
        assert repr(shape) == before, "what was given is not changed"
    assert redact_data(MappingProxyType({"a": TOKEN})) == {"a": redact_data(TOKEN)}
    assert len(redact_data(TOKEN)) == len(TOKEN)


def test_data_without_a_secret_are_what_was_given() -> None:
    circular: dict[str, Any] = {"a": 1}
    circular["self"] = [circular]
    deep: Any = "x"
    for _ in range(2000):
        deep = [deep]
    for shape in ([1, {"a": ("b", None, 2.5)}], Part("x", (Part("y"),)), Block("words"), object(), print, int, "a"):
        assert redact_data(shape) is shape
    assert redact_data(circular)["self"] == ["*"]
    assert "x" not in str(redact_data(deep))
