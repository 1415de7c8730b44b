"""What a person's answers are signed with, and whether something is signed so.

Without a signer that is the key of the state folder, which whoever has the account can read. With one it is an Ed25519
key of the person's own: its public half verifies here and in the hook (``hook/approvals.hpp``), its secret half lies
beside it, sealed by a passphrase (scrypt, AES-GCM), and is open only in the process that the passphrase was typed into.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from tipstaff.errors import ConfigError
from tipstaff.store.keys import private_key
from tipstaff.store.replacing import replaced_file
from tipstaff.store.state import make_private

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_HEAD: Final = "tipstaff-signer-1 "
_COST: Final = 1 << 17
_COST_BLOCK: Final = 8
_MEMORY_BYTES: Final = 2 * 128 * _COST * _COST_BLOCK
_LEAST_CHARS: Final = 8
_SEALED: Final = b"tipstaff-sealed-1 "
_NONCE_CHARS: Final = 48

_unlocked: dict[Path, Ed25519PrivateKey] = {}


def has_signer(state: Path) -> bool:
    """Return whether a person has set up a signer: then nothing else counts."""
    return os.path.lexists(state / "signer")


def set_up_signer(state: Path, passphrase: str) -> None:
    """Make a person's key, and seal it by a passphrase; it stays unlocked in this process.

    Raises
    ------
    ConfigError
        There is one, the passphrase is too short, or the library for signing is not installed.
    StoreWriteError
        It cannot be written.
    """
    if has_signer(state):
        raise ConfigError(f"{state / 'signer'}: there is one; a person removes the file first")
    if len(passphrase) < _LEAST_CHARS:
        raise ConfigError(f"a passphrase has at least {_LEAST_CHARS} characters")
    aead, ed25519 = _library()
    key = ed25519.Ed25519PrivateKey.generate()
    public, salt, nonce = key.public_key().public_bytes_raw().hex(), os.urandom(16), os.urandom(12)
    sealed = aead.AESGCM(_stretched(passphrase, salt)).encrypt(nonce, key.private_bytes_raw(), public.encode())
    document = {"kdf": "scrypt", "salt": salt.hex(), "nonce": nonce.hex(), "sealed": sealed.hex()}
    make_private(state)
    with replaced_file(state / "signer") as file:
        file.write(f"{_HEAD}{public}\n{json.dumps(document)}\n".encode())
    _unlocked[state] = key


def unlock(state: Path, passphrase: str) -> None:
    """Open a person's key for this process.

    Raises
    ------
    ConfigError
        It is another passphrase, the file is damaged, or the library for signing is not installed.
    """
    aead, ed25519 = _library()
    public, rest = _signer(state)
    try:
        document: dict[str, Any] = json.loads(rest)
        salt, nonce, sealed = (bytes.fromhex(document[name]) for name in ("salt", "nonce", "sealed"))
        seed = aead.AESGCM(_stretched(passphrase, salt)).decrypt(nonce, sealed, public.hex().encode())
        _unlocked[state] = ed25519.Ed25519PrivateKey.from_private_bytes(seed)
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(f"{state / 'signer'}: it is damaged: {error}") from None
    except _invalid() as error:
        raise ConfigError("it is another passphrase") from error


def sign(state: Path, text: str) -> str:
    """Return the signature of a text, as hexadecimal digits.

    Raises
    ------
    ConfigError
        A person has a signer, and has not unlocked it in this process; or the key cannot be used.
    """
    data = text.encode(errors="surrogateescape")
    if not has_signer(state):
        return hmac.digest(private_key(state), data, "sha256").hex()
    if state not in _unlocked:
        raise ConfigError("answers are signed by a key that is locked: a person types its passphrase in a terminal")
    return _unlocked[state].sign(data).hex()


def is_signed(state: Path, text: str, signature: str) -> bool:
    """Return whether a text is signed by the person's key; by that of the state where they have none."""
    from tipstaff.kernels._gates import verify_ed25519

    data = text.encode(errors="surrogateescape")
    try:
        if has_signer(state):
            return verify_ed25519(_signer(state)[0], data, bytes.fromhex(signature))
        return (state / "key").is_file() and hmac.compare_digest(sign(state, text), signature)
    except (ValueError, TypeError):
        return False


def seal(state: Path, text: bytes) -> str:
    """Return a text for whoever has the key of the state; `unseal` reads it, and what the hook writes in this form."""
    nonce = secrets.token_hex(_NONCE_CHARS // 2)
    return nonce + _mixed(state, nonce, text).hex()


def unseal(state: Path, sealed: str) -> bytes:
    """Return what was sealed.

    Raises
    ------
    ValueError
        It is nothing sealed.
    """
    return _mixed(state, sealed[:_NONCE_CHARS], bytes.fromhex(sealed[_NONCE_CHARS:]))


def _mixed(state: Path, nonce: str, text: bytes) -> bytes:
    key, head = private_key(state)[:64], _SEALED + nonce.encode()
    stream = b"".join(hmac.digest(key, head + b"%016x" % at, "sha256") for at in range((len(text) + 31) // 32))
    mixed = int.from_bytes(text, "little") ^ int.from_bytes(stream[: len(text)], "little")
    return mixed.to_bytes(len(text), "little")


def _signer(state: Path) -> tuple[bytes, str]:
    path = state / "signer"
    try:
        about = path.lstat()
        head, _, rest = path.read_text("ascii").partition("\n")
        if not head.startswith(_HEAD) or about.st_uid != os.geteuid() or about.st_mode & 0o077 or path.is_symlink():
            raise ValueError(head)
        return bytes.fromhex(head.removeprefix(_HEAD)), rest
    except (OSError, ValueError):
        raise ConfigError(f"{path}: it is damaged, or others may change it") from None


def _stretched(passphrase: str, salt: bytes) -> bytes:
    return hashlib.scrypt(
        passphrase.encode(), salt=salt, n=_COST, r=_COST_BLOCK, p=1, maxmem=_MEMORY_BYTES, dklen=32
    )  # fmt: skip


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
        from cryptography.hazmat.primitives.ciphers import aead
    except ImportError:
        raise ConfigError("signing needs the library cryptography: pip install 'tipstaff[sign]'") from None
    return aead, ed25519


def _invalid() -> type[Exception]:
    from cryptography.exceptions import InvalidTag

    return InvalidTag
