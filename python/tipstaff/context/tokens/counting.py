"""How many tokens texts, messages, tools and system prompts cost.

The rule is four characters a token, rounded up for each piece; characters are UTF-16 code units, as the programs count
that set this rule. Around them: 4 for a message, 20 for a call, 10 for a result, 10 for a tool's definition. Every
function takes another counter of texts as `count`: :class:`tipstaff.context.tokens.estimator.TokenEstimator` is one
that knows real vocabularies. Where a provider has reported what a request cost, that is better than any of them: see
`usage`.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias, cast

from tipstaff.budgets import (
    CHARS_PER_TOKEN,
    IMAGE_MAX_SIDE,
    IMAGE_MAX_TOKENS,
    IMAGE_PIXELS_PER_TOKEN,
    MESSAGE_OVERHEAD_TOKENS,
    PDF_PAGE_TOKENS,
    TOOL_DEFINITION_OVERHEAD_TOKENS,
    TOOL_RESULT_OVERHEAD_TOKENS,
    TOOL_USE_OVERHEAD_TOKENS,
)
from tipstaff.context.conversation.messages import (
    CALLS,
    EXTENSION,
    Block,
    Message,
    MessageError,
    call_input_json,
    check_message,
    compact_json,
    refuse_foreign,
    refuse_foreign_part,
)
from tipstaff.context.tokens.estimator import TokenEstimator
from tipstaff.kernels import utf16_units

AUDIO_TOKENS_PER_SECOND: Final = 10
_COMPRESSED_BYTES: Final = 16_000
_HEAD_CHARS: Final = 64 * 1024
_PAGE = re.compile(rb"/Type\s{0,4}/Page(?![a-zA-Z])")
_COUNT = re.compile(rb"/Count\s{1,4}(\d{1,6})")


def image_tokens(block: Mapping[str, Any]) -> int:
    """Return the tokens of an image block; one whose size cannot be read costs as much as the largest."""
    source = block.get("source")
    if not isinstance(source, Mapping):
        return IMAGE_MAX_TOKENS
    data: object = cast("Mapping[str, Any]", source).get("data")
    size = image_size(_decoded(data, _HEAD_CHARS)) if isinstance(data, str) else None
    if size is None:
        return IMAGE_MAX_TOKENS
    width, height = size
    scale = min(1.0, IMAGE_MAX_SIDE / max(width, height, 1))
    return min(IMAGE_MAX_TOKENS, max(1, math.ceil(width * scale * height * scale / IMAGE_PIXELS_PER_TOKEN)))


def document_tokens(block: Mapping[str, Any], count: Callable[[str], int]) -> int:
    """Return the tokens of a document block: its texts, or its pages; a document that is elsewhere is one page."""
    total = sum(count(str(block.get(key) or "")) for key in ("title", "context"))
    source = block.get("source")
    if not isinstance(source, Mapping):
        return total + PDF_PAGE_TOKENS
    found = cast("Mapping[str, Any]", source)
    data: object = found.get("data")
    if found.get("type") == "text" and isinstance(data, str):
        return total + count(data)
    content: object = found.get("content")
    if isinstance(content, str):
        return total + count(content)
    if isinstance(content, list | tuple):
        for part in cast("Sequence[object]", content):
            if isinstance(part, Mapping):
                item = cast("Mapping[str, Any]", part)
                total += image_tokens(item) if item.get("type") == "image" else count(str(item.get("text") or ""))
        return total
    if isinstance(data, str):
        return total + PDF_PAGE_TOKENS * pdf_pages(_decoded(data, len(data)))
    return total + PDF_PAGE_TOKENS


def image_size(data: bytes) -> tuple[int, int] | None:
    """Return (width, height) of a PNG, GIF, JPEG or WebP image from its first bytes, None where they do not tell."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    if data[:4] == b"GIF8" and len(data) >= 10:
        width, height = struct.unpack("<HH", data[6:10])
        return width, height
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp_size(data)
    if data[:2] == b"\xff\xd8":
        return _jpeg_size(data)
    return None


def pdf_pages(data: bytes) -> int:
    """Return the number of pages that a PDF seems to have, at least one: pages of compressed objects stay unseen."""
    counts = [int(found) for found in _COUNT.findall(data)]
    return max(1, len(_PAGE.findall(data)), *counts) if counts else max(1, len(_PAGE.findall(data)))


def _decoded(data: str, most: int) -> bytes:
    head = data[: most - most % 4]
    try:
        return base64.b64decode(head + "=" * (-len(head) % 4))
    except (binascii.Error, ValueError):
        return b""


def _webp_size(data: bytes) -> tuple[int, int] | None:
    kind = data[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8 ":
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return None


def _jpeg_size(data: bytes) -> tuple[int, int] | None:
    at = 2
    while at + 9 <= len(data) and data[at] == 0xFF:
        kind = data[at + 1]
        if kind == 0xFF:
            at += 1
            continue
        if 0xC0 <= kind <= 0xCF and kind not in {0xC4, 0xC8, 0xCC}:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        length = struct.unpack(">H", data[at + 2 : at + 4])[0]
        at += 2 + max(2, length)
    return None


def audio_tokens(block: Mapping[str, Any]) -> int:
    """Return the tokens of a sound: ten a second; one that is not WAV is taken to have 16,000 bytes a second.

    Source: OpenAI's guide to audio, one token for each 100 ms of the user's.
    """
    source: object = block.get("source")
    data: object = cast("Mapping[str, Any]", source).get("data") if isinstance(source, Mapping) else None
    if not isinstance(data, str):
        return AUDIO_TOKENS_PER_SECOND
    head = _decoded(data, 64)
    size = len(data) * 3 // 4
    rate = struct.unpack_from("<I", head, 28)[0] if head[:4] == b"RIFF" and len(head) >= 32 else 0
    return max(1, math.ceil(size / (rate or _COMPRESSED_BYTES) * AUDIO_TOKENS_PER_SECOND))


TextCounter: TypeAlias = Callable[[str], int]
SystemPrompt: TypeAlias = str | Sequence[Block] | None

_ROLES: Final = frozenset({"user", "assistant"})


def estimate_tokens(text: str | None) -> int:
    """Return the tokens of a text by the rule: UTF-16 code units over four, rounded up; nothing costs nothing."""
    return -(-utf16_units(text) // CHARS_PER_TOKEN) if text else 0


def estimate_message(message: Message, *, count: TextCounter = estimate_tokens) -> int:
    """Return the tokens of a message: 4, and those of its blocks.

    Raises `MessageError` if it is not of the Messages API's shape.
    """
    content: object = message.get("content") if type(message) is dict else check_message(message).get("content")
    if "tool_calls" in message or message.get("role") not in _ROLES:
        refuse_foreign(message)
    if content is None or content == "":
        return MESSAGE_OVERHEAD_TOKENS
    if isinstance(content, str):
        return MESSAGE_OVERHEAD_TOKENS + count(content)
    total = MESSAGE_OVERHEAD_TOKENS
    blocks = cast("Sequence[Block]", content) if type(content) is list else check_message(message)["content"]
    for block in blocks:
        if type(block) is not dict:
            check_message(message)  # which says where, unless it is another kind of mapping
        total += estimate_block(block, count=count)
    return total


def estimate_block(block: Block, *, count: TextCounter = estimate_tokens) -> int:
    """Return the tokens of one block; one of a kind that is not known costs what its JSON does."""
    kind: object = block.get("type")
    if kind == "text":
        text: object = block.get("text")
        return count(text) if type(text) is str else _counted(text, count)
    if kind == "thinking":
        return _counted(block.get("thinking", block.get("text")), count)
    if kind == "redacted_thinking":
        return _counted(block.get("data"), count)
    if kind in CALLS:
        return _counted(block.get("name"), count) + _counted(call_input_json(block), count) + TOOL_USE_OVERHEAD_TOKENS
    if isinstance(kind, str) and kind.endswith("tool_result"):
        return _content_tokens(block.get("content"), count) + TOOL_RESULT_OVERHEAD_TOKENS
    if kind == "image":
        return image_tokens(block)
    if kind == "document":
        return document_tokens(block, count)
    if kind == "audio":
        return audio_tokens(block)
    refuse_foreign_part(kind)
    return count(compact_json({key: value for key, value in block.items() if key != EXTENSION}))


def estimate_tools(tools: Sequence[Mapping[str, Any]] | None, *, count: TextCounter = estimate_tokens) -> int:
    """Return the tokens of tool definitions: name, description and compact JSON of the schema, and 10 for each.

    The definitions may be in the shape of the Messages API, of Chat Completions or of Responses.
    """
    return sum(estimate_tool(tool, count) for tool in tools or ())


def estimate_system_prompt(system_prompt: SystemPrompt, *, count: TextCounter = estimate_tokens) -> int:
    """Return the tokens of a system prompt: a text, or a list of text blocks."""
    if not system_prompt:
        return 0
    if isinstance(system_prompt, str):
        return count(system_prompt)
    return sum(estimate_block(block, count=count) for block in system_prompt)


def usage_tokens(usage: object, *, with_output: bool = False) -> int:
    """Return what a provider reports that a request took of the window, whatever it read from its cache.

    As the Messages API (``input_tokens`` and, beside them, ``cache_creation_input_tokens`` and
    ``cache_read_input_tokens``), Responses (``input_tokens``, cached ones among them) or Chat Completions
    (``prompt_tokens``, cached ones among them) report it: a mapping or the SDK's object. With `with_output` the
    answer counts too.
    """

    def figure(name: str) -> int:
        value: object = (
            cast("Mapping[str, Any]", usage).get(name) if isinstance(usage, Mapping) else getattr(usage, name, None)
        )
        return value if isinstance(value, int) else 0

    total = figure("prompt_tokens") or sum(
        figure(name) for name in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    )
    return total + (figure("completion_tokens") or figure("output_tokens") if with_output else 0)


def default_counter() -> TokenEstimator:
    """Return the counter that budgets rest on: the fitted estimator, the same object each time."""
    return _FITTED


_FITTED: Final = TokenEstimator()


def estimate_tool(tool: Mapping[str, Any], count: TextCounter) -> int:
    """Return the tokens of one tool definition."""
    function: object = tool.get("function")
    if isinstance(function, Mapping):
        tool = cast("Mapping[str, Any]", function)
    schema: object = tool.get("input_schema", tool.get("parameters"))
    if schema is None and "name" not in tool:
        return count(compact_json(tool)) + TOOL_DEFINITION_OVERHEAD_TOKENS  # a tool that a provider runs itself
    total = _counted(tool.get("name"), count) + _counted(tool.get("description"), count)
    return total + (0 if schema is None else count(compact_json(schema))) + TOOL_DEFINITION_OVERHEAD_TOKENS


def _content_tokens(content: object, count: TextCounter) -> int:
    if content is None:
        return 0
    if isinstance(content, str):
        return _counted(content, count)
    if isinstance(content, list | tuple):
        total = 0
        for part in cast("Sequence[object]", content):
            if type(part) is dict or isinstance(part, Mapping):
                total += estimate_block(cast("Block", part), count=count)
            else:
                total += _counted(part, count)
        return total
    return count(compact_json(content))


def _counted(value: object, count: TextCounter) -> int:
    if isinstance(value, str):
        return count(value) if value else 0
    if value is None:
        return 0
    raise MessageError(f"expected a text, got {type(value).__name__}: {str(value)[:60]!r}")
