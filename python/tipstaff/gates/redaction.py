"""Masking the secrets in nested data, of whatever classes an SDK makes it, and in what is written down."""

from __future__ import annotations

import copy
import errno
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, cast

import msgspec

from tipstaff.errors import StoreWriteError
from tipstaff.gates.fields import MAX_DEPTH, as_text
from tipstaff.gates.secrets.scanner import MASK, redact, scan_secrets
from tipstaff.store.replacing import replaced_file

_PAIR_CHARS: Final = 512
"""Longer values are not read with their name."""

MOST_RECORD_BYTES: Final = 256 << 20


def redact_bytes(data: bytes) -> bytes:
    """Mask the secrets in the text of a file or of a program's output; bytes that are no UTF-8 stay."""
    text = data.decode("utf-8", "surrogateescape")
    masked = redact(text)
    return data if masked == text else masked.encode("utf-8", "surrogateescape")


def write_record(path: Path, text: str | bytes, *, durable: bool = True) -> None:
    """Write what this package says or keeps of others' work, whole or not at all: masked, and for its owner alone.

    Raises
    ------
    StoreWriteError
        It cannot be written, or is longer than any record is.
    """
    data = redact_bytes(text.encode("utf-8", "replace") if isinstance(text, str) else text)
    if len(data) > MOST_RECORD_BYTES:
        raise StoreWriteError(errno.EFBIG, f"a record has no more than {MOST_RECORD_BYTES:,} bytes", str(path))
    with replaced_file(path, durable=durable) as file:
        file.write(data)


def redact_data(value: Any) -> Any:
    """Mask the secrets in nested data, such as the messages and parameters of an SDK.

    Parameters
    ----------
    value
        Mappings, sequences, texts and objects with attributes, in any nesting. A text is read with the name of its
        field: ``{"password": "..."}`` holds a secret where the value alone would not be one.

    Returns
    -------
    object
        The same shape and classes; a part that holds no secret is the very object that was given, and nothing that was
        given is changed. What is nested deeper than 64 levels, or in itself, is masked as a whole.
    """
    return _masked(value, "", ())


def _masked(value: Any, name: str, above: tuple[int, ...]) -> Any:
    if isinstance(value, str):
        text = as_text(value)
        masked = _masked_text(text, name)
        return value if masked == text else masked
    if isinstance(value, bytes | bytearray):
        text = bytes(value).decode("latin-1")
        masked = _masked_text(text, name)
        return value if masked == text else type(value)(masked.encode("latin-1"))
    if value is None or isinstance(value, int | float | type):
        return value
    if id(value) in above or len(above) >= MAX_DEPTH:
        return MASK
    within = (*above, id(value))
    if isinstance(value, Mapping):
        return _mapping(value, name, within)
    if isinstance(value, list | tuple | set | frozenset):
        old: list[Any] = list(cast("Any", value))
        new = [_masked(item, name, within) for item in old]
        if all(before is after for before, after in zip(old, new, strict=True)):
            return cast("Any", value)
        kind: Any = type(cast("object", value))
        return kind(*new) if hasattr(kind, "_fields") else kind(new)
    return _object(value, within)


def _mapping(value: Mapping[Any, Any], name: str, within: tuple[int, ...]) -> Any:
    items = {
        _masked(key, "", within): _masked(item, as_text(key) if isinstance(key, str) else name, within)
        for key, item in value.items()
    }
    if len(items) == len(value) and all(key in items and items[key] is item for key, item in value.items()):
        return value
    if type(value) is dict:
        return items
    try:
        other: Any = copy.copy(value)
        other.clear()
        other.update(items)
    except Exception:  # noqa: BLE001 - any mapping may come from an SDK; one that cannot be changed becomes a dict
        return items
    return other


def _object(value: Any, within: tuple[int, ...]) -> Any:
    names = getattr(type(value), "__struct_fields__", None) or tuple(getattr(value, "__dict__", ()))
    changed = {
        name: new for name in names if (new := _masked(old := getattr(value, name, None), name, within)) is not old
    }
    if not changed:
        return value
    other = copy.copy(value)
    put = msgspec.structs.force_setattr if isinstance(value, msgspec.Struct) else object.__setattr__
    for name, new in changed.items():
        put(other, name, new)
    return other


def _masked_text(text: str, name: str) -> str:
    masked = redact(text, wary=True)
    if masked == text and name and 0 < len(text) <= _PAIR_CHARS:
        head = f"{json.dumps(name, ensure_ascii=False)}: "
        found = scan_secrets(head + json.dumps(text, ensure_ascii=False), wary=True)
        if any(one.end > len(head) for one in found):
            return MASK * len(text)
    return masked
