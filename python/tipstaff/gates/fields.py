"""The texts in a tool call's parameters, whatever the parameters are: nothing that they hold may raise."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, cast

MAX_FIELDS: Final = 20_000
MAX_DEPTH: Final = 64


class Field(NamedTuple):
    """One text: the last name on the way to it, the whole way, and its place where it is in a list."""

    name: str
    path: str
    text: str
    element: int

    def native(self) -> tuple[str | bytes, str | bytes, int]:
        """Return it as the native engine takes it."""
        return encodable(self.name.lower()), encodable(self.text), self.element


def fields_of(params: Any) -> list[Field]:
    """Return every text of parameters in their order: nested, in lists, circular, or of types that JSON does not know.

    Numbers are no text; of booleans only true is (``force=True``). What is neither text nor container counts as its
    ``str()``, if it has one. Beyond `MAX_FIELDS` texts or `MAX_DEPTH` levels the last field says that there was more.
    """
    found: list[Field] = []
    for field in _walk(params):
        if len(found) >= MAX_FIELDS:
            found.append(Field("", "", "", -1))
            break
        found.append(field)
    return found


def _walk(params: Any) -> Iterator[Field]:
    # An explicit stack: parameters may be nested deeper than the interpreter recurses.
    open_ids: set[int] = set()
    stack: list[tuple[Any, str, str, int, int]] = [(params, "", "", -1, 0)]
    while stack:
        value, name, path, element, depth = stack.pop()
        if isinstance(value, _Close):
            open_ids.discard(value.id)
        elif isinstance(value, str):
            yield Field(name, path, as_text(value), element)
        elif isinstance(value, bytes | bytearray):
            yield Field(name, path, bytes(value).decode("utf-8", "replace"), element)
        elif value is True:
            yield Field(name, path, "true", element)
        elif value is None or isinstance(value, bool | int | float):
            continue
        elif isinstance(value, Mapping | list | tuple | set | frozenset):
            if id(cast("object", value)) in open_ids or depth >= MAX_DEPTH:
                continue
            open_ids.add(id(cast("object", value)))
            stack.append((_Close(id(cast("object", value))), "", "", -1, depth))
            stack.extend(reversed(list(_children(cast("Any", value), name, path, depth))))
        else:
            yield Field(name, path, safe_text(value), element)


class _Close(NamedTuple):
    id: int


def _children(value: Any, name: str, path: str, depth: int) -> Iterator[tuple[Any, str, str, int, int]]:
    if isinstance(value, Mapping):
        items: Iterable[tuple[Any, Any]] = list(value.items())[:MAX_FIELDS]
        for key, item in items:
            text = as_text(key)
            yield item, text, f"{path}.{text}" if path else text, -1, depth + 1
    else:
        for index, item in enumerate(list(cast("Iterable[Any]", value))[:MAX_FIELDS]):
            yield item, name, f"{path}[{index}]", index, depth + 1


def keys_of(params: Any) -> list[str]:
    """Return the names of all fields, each once: a secret may be there as well."""
    names: dict[str, None] = {}
    seen: set[int] = set()
    stack: list[Any] = [params]
    while stack and len(names) < MAX_FIELDS:
        value = stack.pop()
        if not isinstance(value, Mapping | list | tuple | set | frozenset) or id(cast("object", value)) in seen:
            continue
        seen.add(id(cast("object", value)))
        if isinstance(value, Mapping):
            table: Mapping[Any, Any] = value
            names.update((as_text(key), None) for key in table)
            stack.extend(table.values())
        else:
            stack.extend(cast("Iterable[Any]", value))
    return list(names)


def as_text(value: Any) -> str:
    """Return a text as a plain one, whatever its class is, and of anything else that a host may hand in its text."""
    if type(value) is str:
        return value
    return str.__str__(value) if isinstance(value, str) else safe_text(value)


def safe_text(value: object) -> str:
    """Return an object's text, or its type's name where it has none."""
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - any object may come from a host; its text is a courtesy
        return type(value).__name__


def encodable(text: str) -> str | bytes:
    """Return text that has UTF-8: itself, or its bytes where it holds surrogates."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text
