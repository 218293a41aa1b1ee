"""The key file, outside the database, and what is encrypted with it."""

import os
import secrets
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from app.errors import Refused
from app.words.language import N_

KEY_BYTES = 32
NONCE_BYTES = 12


def create_key(path: Path) -> bytes:
    """Write a new key that only its owner may read, whole or not at all. Never overwrites one: FileExistsError."""
    key = secrets.token_bytes(KEY_BYTES)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f"{path.name}.{secrets.token_hex(4)}")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(key.hex() + "\n")
            file.flush()
            os.fsync(file.fileno())
        os.link(beside, path)
    finally:
        beside.unlink()
    return key


def load_key(path: Path) -> bytes:
    """Read the key. Raises Refused where it is missing, open to others, or not a key."""
    try:
        mode = path.stat().st_mode
        text = path.read_text(encoding="ascii").strip()
        key = bytes.fromhex(text)
    except FileNotFoundError:
        raise Refused(
            N_(
                "The key file %(path)s is missing. Studies were sealed with it, and no new key can open them: put it "
                "back from its backup, or say where it is with GLANCE_KEY_FILE."
            ),
            path=path,
        ) from None
    except (OSError, ValueError) as error:
        raise Refused(N_("The key file %(path)s cannot be read: %(error)s."), path=path, error=error) from None
    if mode & 0o077:
        raise Refused(N_("The key file %(path)s can be read by others. Run: chmod 600 %(path)s"), path=path)
    if len(key) != KEY_BYTES:
        raise Refused(
            N_("The key file %(path)s holds %(n)s bytes, and a key has %(bytes)s."),
            path=path, n=len(key), bytes=KEY_BYTES,
        )  # fmt: skip
    return key


def encrypt(key: bytes, plaintext: bytes, context: str) -> bytes:
    """AES-256-GCM. The context is not kept, but must be the same when it is opened."""
    nonce = secrets.token_bytes(NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, plaintext, context.encode())


def decrypt(key: bytes, sealed: bytes, context: str) -> bytes:
    """Raises Refused where the key is another one or a bit has changed."""
    try:
        return AESGCM(key).decrypt(sealed[:NONCE_BYTES], sealed[NONCE_BYTES:], context.encode())
    except InvalidTag:
        raise Refused(
            N_("The key file does not open what was sealed: it is another key, or the database was changed.")
        ) from None


def padded(texts: list[bytes]) -> list[bytes]:
    """Filled up with spaces to one length, so that a length tells nothing."""
    length = -(-max(map(len, texts)) // 256) * 256
    return [text.ljust(length) for text in texts]
