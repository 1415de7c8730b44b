"""Signatures: RFC 8032's vectors, what the library signs, what must not count, and keys that a passphrase seals."""

from __future__ import annotations

import json
import random
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from tipstaff.errors import ConfigError
from tipstaff.kernels._gates import verify_ed25519
from tipstaff.store import signing

RFC_8032 = (
    ("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", "",
     "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b"),
    ("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", "72",
     "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"),
    ("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", "af82",
     "6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a"),
)  # fmt: skip
PRIME, ORDER = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493
SMALL = (0, 1, PRIME - 1, PRIME, PRIME + 1, 2**255 - 1,
         2707385501144840649318225287225658788936804267575313519463743609750303021400,
         55188659117513257062467267217118295137698188065244968500265048394206261417927)  # fmt: skip
"""Encodings of points of small order, and such as are no point's one encoding."""


def test_vectors_of_the_standard() -> None:
    for key, message, signature in RFC_8032:
        assert verify_ed25519(bytes.fromhex(key), bytes.fromhex(message), bytes.fromhex(signature)), key


def test_what_the_library_signs_counts_and_no_change_of_it_does() -> None:
    draw = random.Random(8032)
    for size in (0, 1, 31, 32, 63, 64, 111, 112, 127, 128, 129, 255, 1000):
        secret, message = Ed25519PrivateKey.from_private_bytes(draw.randbytes(32)), draw.randbytes(size)
        key, signature = secret.public_key().public_bytes_raw(), secret.sign(message)
        assert verify_ed25519(key, message, signature)
        for whole, place in ((key, 0), (message, 1), (signature, 2)):
            for bit in draw.sample(range(8 * len(whole)), min(12, 8 * len(whole))):
                changed = bytearray(whole)
                changed[bit // 8] ^= 1 << bit % 8
                parts = [key, message, signature]
                parts[place] = bytes(changed)
                assert not verify_ed25519(*parts), (size, place, bit)


@pytest.mark.parametrize("kind", ["s + order", "s + 2 order", "s = 0", "s = order", "longer", "shorter", "empty", "r twice",
                                  "zeros", "r of no point", "r not reduced", "s and r exchanged", "leading zero"])  # fmt: skip
def test_malformed_signatures(kind: str) -> None:
    secret = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    key, message = secret.public_key().public_bytes_raw(), b"message"
    signed = secret.sign(message)
    r, s = signed[:32], int.from_bytes(signed[32:], "little")

    def with_s(value: int) -> bytes:
        return r + (value % 2**256).to_bytes(32, "little")

    changed = {
        "s + order": with_s(s + ORDER), "s + 2 order": with_s(s + 2 * ORDER), "s = 0": with_s(0), "s = order": with_s(ORDER),
        "longer": signed + b"\0", "shorter": signed[:-1], "empty": b"", "r twice": r + r, "zeros": bytes(64),
        "r of no point": (2).to_bytes(32, "little") + signed[32:], "r not reduced": (PRIME + 1).to_bytes(32, "little") + signed[32:],
        "s and r exchanged": signed[32:] + r, "leading zero": b"\0" + signed[:-1],
    }[kind]  # fmt: skip
    assert not verify_ed25519(key, message, changed)


def test_keys_of_small_order_sign_nothing() -> None:
    """With such a key, zero for s and a fitting r, a lenient verifier takes any message."""
    encodings = [(value | sign << 255).to_bytes(32, "little") for value in SMALL for sign in (0, 1)]
    for key in encodings:
        for r in encodings:
            for message in (b"", b"a", b"b", b"c"):
                assert not verify_ed25519(key, message, r + bytes(32))


def test_a_signer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(signing, "_COST", 1 << 10)
    by_key = signing.sign(tmp_path, "text")
    assert signing.is_signed(tmp_path, "text", by_key)
    with pytest.raises(ConfigError, match="8 characters"):
        signing.set_up_signer(tmp_path, "short")
    signing.set_up_signer(tmp_path, "correct horse")
    assert not signing.is_signed(tmp_path, "text", by_key)  # the key of the state counts no more
    signed = signing.sign(tmp_path, "text")
    assert signing.is_signed(tmp_path, "text", signed)
    assert not signing.is_signed(tmp_path, "other", signed)
    monkeypatch.setattr(signing, "_unlocked", {})
    with pytest.raises(ConfigError, match="locked"):
        signing.sign(tmp_path, "text")
    with pytest.raises(ConfigError, match="another passphrase"):
        signing.unlock(tmp_path, "wrong horse")
    signing.unlock(tmp_path, "correct horse")
    assert signing.sign(tmp_path, "text") == signed
    with pytest.raises(ConfigError, match="there is one"):
        signing.set_up_signer(tmp_path, "another horse")
    head, rest = (tmp_path / "signer").read_text().split("\n", 1)
    assert (tmp_path / "signer").stat().st_mode & 0o777 == 0o600
    for text in (
        "",
        "x",
        head[:-2] + "\n" + rest,
        head + "\n{}",
        head + "\n" + json.dumps({**json.loads(rest), "salt": "00"}),
    ):
        (tmp_path / "signer").write_text(text)
        with pytest.raises(ConfigError):
            signing.unlock(tmp_path, "correct horse")
        if not text.startswith(head + "\n"):
            assert not signing.is_signed(tmp_path, "text", signed)
    (tmp_path / "signer").unlink()
    (tmp_path / "signer").symlink_to("elsewhere")
    assert not signing.is_signed(tmp_path, "text", by_key)


def test_what_is_sealed(tmp_path: Path) -> None:
    for size in (0, 1, 31, 32, 33, 1000):
        text = random.Random(size).randbytes(size)
        sealed = signing.seal(tmp_path, text)
        assert signing.unseal(tmp_path, sealed) == text
        assert signing.seal(tmp_path, text) != sealed
        assert not size or text.hex() not in sealed
