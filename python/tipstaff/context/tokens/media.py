"""What images and documents cost, from what can be read of them without decoding all of them.

Source: the Messages API's documentation. An image costs its width times its height, in pixels, over 750, after it was
scaled to at most 1568 pixels on its longer side; a page of a PDF costs its text and an image of it.
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

from tipstaff.budgets import IMAGE_MAX_SIDE, IMAGE_MAX_TOKENS, IMAGE_PIXELS_PER_TOKEN, PDF_PAGE_TOKENS

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
