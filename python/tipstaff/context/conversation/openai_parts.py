"""Parts of a message as OpenAI's two shapes write them, and the native blocks that they are."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final, cast

from tipstaff.context.conversation.messages import Block, compact_json

_DATA_URL = re.compile(r"\Adata:([\w.+-]+/[\w.+-]+);base64,(.*)\Z", re.DOTALL)
_TEXTS: Final = frozenset({"text", "input_text", "output_text"})


def block_of_part(part: object) -> dict[str, Any]:
    """Return the block of a part; one of a kind that has no block is rendered as text, so that a model can read it."""
    if isinstance(part, str):
        return {"type": "text", "text": part}
    if not isinstance(part, Mapping):
        return {"type": "text", "text": compact_json(part)}
    found = cast("Mapping[str, Any]", part)
    kind: object = found.get("type")
    if kind in _TEXTS:
        return {"type": "text", "text": str(found.get("text") or "")}
    if kind == "refusal":
        return {"type": "text", "text": str(found.get("refusal") or "")}
    if kind in {"image_url", "input_image"}:
        url: object = found.get("image_url")
        if isinstance(url, Mapping):
            url = cast("Mapping[str, Any]", url).get("url")
        if isinstance(url, str):
            return {"type": "image", "source": _source(url)}
    audio: object = found.get("input_audio")
    if kind == "input_audio" and isinstance(audio, Mapping):
        sound = cast("Mapping[str, Any]", audio)
        return {
            "type": "audio",
            "source": {"type": "base64", "media_type": f"audio/{sound.get('format')}", "data": sound.get("data")},
        }
    if kind in {"file", "input_file"}:
        inner: object = found.get("file")
        file = cast("Mapping[str, Any]", inner) if isinstance(inner, Mapping) else found
        data: object = file.get("file_data") or file.get("file_url")
        if isinstance(data, str):
            block: dict[str, Any] = {"type": "document", "source": _source(data)}
            return block | {"title": file["filename"]} if file.get("filename") else block
    return {"type": "text", "text": compact_json(found)}


def part_of_block(block: Block, shape: str) -> dict[str, Any]:
    """Return the part of a block, for ``chat`` or ``responses``; what has none is rendered as text."""
    kind: object = block.get("type")
    chat = shape == "chat"
    if kind == "text":
        return {"type": "text" if chat else "input_text", "text": block.get("text")}
    source: object = block.get("source")
    if kind == "image" and isinstance(source, Mapping):
        url = _url(cast("Mapping[str, Any]", source))
        if url:
            return (
                {"type": "image_url", "image_url": {"url": url}} if chat else {"type": "input_image", "image_url": url}
            )
    if kind == "audio" and isinstance(source, Mapping):
        sound = cast("Mapping[str, Any]", source)
        encoding = str(sound.get("media_type") or "").removeprefix("audio/")
        return {"type": "input_audio", "input_audio": {"data": sound.get("data"), "format": encoding}}
    if kind == "document" and isinstance(source, Mapping):
        url = _url(cast("Mapping[str, Any]", source))
        if url:
            key = "file_data" if url.startswith("data:") else "file_url"
            file = {"filename": block.get("title") or "document.pdf", key: url}
            return {"type": "file", "file": file} if chat else {"type": "input_file", **file}
    return {"type": "text" if chat else "input_text", "text": compact_json(block)}


def _source(url: str) -> dict[str, Any]:
    match = _DATA_URL.match(url)
    if match is None:
        return {"type": "url", "url": url}
    return {"type": "base64", "media_type": match.group(1), "data": match.group(2)}


def _url(source: Mapping[str, Any]) -> str:
    if source.get("type") == "base64":
        return f"data:{source.get('media_type')};base64,{source.get('data')}"
    return str(source.get("url") or "")
