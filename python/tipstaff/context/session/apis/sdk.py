"""Objects of the providers' SDKs as plain JSON data: messages, blocks, answers and their usage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from tipstaff.context.conversation.messages import MessageError

_ENDS: Final = (int, float, bool, type(None))
_DERIVED: Final = frozenset({"parsed", "parsed_output", "parsed_arguments"})
"""What an SDK adds to an answer for its reader; no provider takes it back."""


def plain(value: object) -> Any:
    """Return a value as new dictionaries and lists.

    Fields of an SDK's object that are None were not in the answer and are left out; what a dictionary holds stays.

    Raises
    ------
    MessageError
        If something in it is neither JSON nor an object with fields.
    """
    if isinstance(value, str):
        return sound_text(value)
    if isinstance(value, _ENDS):
        return value
    if isinstance(value, Mapping):
        return {sound_text(str(key)): plain(item) for key, item in cast("Mapping[object, object]", value).items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in cast("Sequence[object]", value)]
    found: object = getattr(value, "__dict__", None)
    if not isinstance(found, dict) or isinstance(value, type):
        msg = f"expected JSON or an object of an SDK, got {type(value).__name__}"
        raise MessageError(msg)
    fields = cast("dict[str, object]", found)
    more: object = getattr(value, "__pydantic_extra__", None)
    if isinstance(more, dict):
        fields = {**fields, **cast("dict[str, object]", more)}
    return {
        name: plain(item)
        for name, item in fields.items()
        if item is not None and not name.startswith("_") and name not in _DERIVED
    }


def sound_text(text: str) -> str:
    """Return a text that can be sent: halves of surrogate pairs joined, lone ones replaced, as UTF-8 has none."""
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def field_of(value: object, name: str) -> Any:
    """Return a field of an SDK's object or of a mapping, None where there is none."""
    return cast("Mapping[str, Any]", value).get(name) if isinstance(value, Mapping) else getattr(value, name, None)
