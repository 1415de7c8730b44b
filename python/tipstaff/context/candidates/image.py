"""What a long log added up to when it was last read, kept beside it so that it need not be read line by line again.

An image is a shortcut and never a source: it holds the digest of the bytes that it stands for, and counts only where
the log still begins with exactly these, so that whatever was changed in the log since shows as if there were none. It
is signed with the log's key. One that is missing, torn, foreign or of another version is passed over and made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
from pathlib import Path
from typing import Final

import msgspec

from tipstaff.context.candidates.signing import Head
from tipstaff.errors import StoreWriteError
from tipstaff.store.replacing import replaced_file

VERSION: Final = 1
WORTH_ENTRIES: Final = 5_000
"""So many entries are read from the log itself before an image of them is worth its writing."""

_DOMAIN: Final = b"tipstaff candidate image 1\n"
_MAC_BYTES: Final = 32


class Image(msgspec.Struct, array_like=True, gc=False):
    """What was read from a log's first bytes.

    Attributes
    ----------
    version, tag
        What wrote it: the format, and the settings on which the rows depend.
    size, digest
        How many bytes of the log it stands for, and their SHA-256.
    head, entries, generation
        The last entry among them, how many there are, and the log's generation.
    rows
        What they add up to, as :meth:`tipstaff.context.candidates.rows.Rows.image` wrote it.
    """

    version: int
    tag: str
    size: int
    digest: bytes
    head: Head
    entries: int
    generation: int
    rows: bytes


_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(Image)


def digest_of(data: bytes | memoryview) -> bytes:
    """Return the digest by which an image knows its log."""
    return hashlib.sha256(data).digest()


def read_image(path: Path, key: bytes, tag: str, log: bytes) -> Image | None:
    """Return the image of a log's beginning, None where there is none that holds for it."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    body = memoryview(data)[_MAC_BYTES:]
    if not hmac.compare_digest(data[:_MAC_BYTES], _mac(key, body)):
        return None
    try:
        image = _DECODER.decode(body)
    except msgspec.DecodeError:
        return None
    if image.version != VERSION or image.tag != tag or not 0 < image.size <= len(log):
        return None
    return image if digest_of(memoryview(log)[: image.size]) == image.digest else None


def write_image(path: Path, key: bytes, image: Image) -> None:
    """Write an image; where that fails the earlier one stays, or none, which is no harm."""
    body = _ENCODER.encode(image)
    with contextlib.suppress(StoreWriteError), replaced_file(path) as file:
        file.write(_mac(key, body))
        file.write(body)


def _mac(key: bytes, body: bytes | memoryview) -> bytes:
    # The digest of a long text and not the text itself: so neither is copied.
    return hmac.digest(key, _DOMAIN + hashlib.sha256(body).digest(), "sha256")
