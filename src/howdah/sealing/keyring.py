"""The keys of an application: the first seals, all open."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import os
import re
from collections.abc import Mapping
from typing import Any

from howdah.model.errors import KeyMissing, OptionError, SealBroken
from howdah.sealing.envelope import Envelope, Place

VARIABLE = "HOWDAH_KEYS"
#: In the place of the first key: open what is sealed, seal nothing.
PLAIN = "plain"
#: How the error of a missing key begins, which is also the last error of a job that waits for one.
KEY_MISSING = "sealed with key"
_KEY_BYTES = 32
_NONCE_BYTES = 12
_NAME = re.compile(r"[A-Za-z0-9._-]{1,50}")
_HOW = "write NAME:KEY, several of them separated by commas; `openssl rand -base64 32` makes a KEY"


class Keyring:
    """Keys for AES-256-GCM by name, newest first: the first seals what is stored from now on, all of them open.

    `seals=False`: nothing is sealed any more, or not yet, and what is sealed can be read.
    """

    def __init__(self, keys: Mapping[str, bytes], *, seals: bool = True) -> None:
        if not keys:
            raise OptionError(f"a keyring needs a key; {_HOW}")
        for name, key in keys.items():
            _check(name, key)
        self._ciphers = {name: _cipher(key) for name, key in keys.items()}
        self._checks = {name: _check_value(key) for name, key in keys.items()}
        #: The name of the key that seals; None: nothing is sealed.
        self.seals_with = next(iter(keys)) if seals else None

    @classmethod
    def from_text(cls, text: str, where: str = "the keyring") -> Keyring:
        """`2026-11:BASE64,2026-05:BASE64`; the word `plain` in front: seal nothing."""
        entries = [entry.strip() for entry in text.split(",")]
        seals = entries[0] != PLAIN
        keys: dict[str, bytes] = {}
        for number, entry in enumerate(entries if seals else entries[1:], 1):
            # Messages count entries and never show one: what was meant as a name may be the key.
            name, colon, encoded = entry.partition(":")
            if not colon or not _NAME.fullmatch(name):
                raise OptionError(f"{where}: entry {number} has no name; {_HOW}")
            if name in keys:
                raise OptionError(f"{where}: the name {name!r} is there twice; every key needs a name of its own")
            keys[name] = _decoded(encoded, f"{where}: key {name!r}")
        if not keys:
            raise OptionError(f"{where} names no key; {_HOW}")
        return cls(keys, seals=seals)

    @classmethod
    def from_env(cls, variable: str = VARIABLE) -> Keyring:
        """The keys in the environment variable."""
        text = os.environ.get(variable)
        if text is None:
            raise OptionError(f"{variable} is not set; {_HOW}")
        if not text.strip():
            raise OptionError(f"{variable} is empty; unset it to store payloads as they are, or {_HOW}")
        return cls.from_text(text, variable)

    def __repr__(self) -> str:
        return f"<Keyring of {', '.join(self._ciphers)}; seals with {self.seals_with or 'none'}>"

    def __reduce__(self) -> Any:
        raise TypeError("a keyring is not to be pickled: it would take its keys along")

    def seal(self, text: str, place: Place) -> Envelope | None:
        """The text, to be opened in that place only; None: this keyring seals nothing."""
        name = self.seals_with
        if name is None:
            return None
        nonce = os.urandom(_NONCE_BYTES)
        sealed = self._ciphers[name].encrypt(nonce, text.encode(), _bound_to(name, place))
        return Envelope(name, self._checks[name], _written(nonce), _written(sealed))

    def open(self, envelope: Envelope, place: Place) -> str:
        """What was sealed; raises KeyMissing or SealBroken."""
        if self._checks.get(envelope.key) != envelope.check:
            raise key_missing(envelope, another=envelope.key in self._ciphers)
        try:
            nonce, sealed = _read(envelope.nonce), _read(envelope.text)
            opened: bytes = self._ciphers[envelope.key].decrypt(nonce, sealed, _bound_to(envelope.key, place))
            return opened.decode()
        except Exception as error:
            # Each library has its own errors for a tag that does not fit, a nonce of the wrong size and bad base64.
            what = f"the {place.field} of job {place.job_id} is sealed with key {envelope.key!r}"
            raise SealBroken(f"{what}, and was changed or moved since; it cannot be opened") from error


def keyring_in_environment() -> Keyring | None:
    """The keys in HOWDAH_KEYS; None: it is not set, and nothing is sealed."""
    return Keyring.from_env() if VARIABLE in os.environ else None


def key_missing(envelope: Envelope, *, another: bool = False) -> KeyMissing:
    """The error for a value whose key is not here."""
    what = "of which there is another here" if another else "which is not here"
    return KeyMissing(f"{KEY_MISSING} {envelope.key!r} ({envelope.check}), {what}; add it to {VARIABLE}")


def _bound_to(key: str, place: Place) -> bytes:
    return json.dumps([1, key, place.field, place.about, place.job_id.hex]).encode()


def _written(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _read(text: str) -> bytes:
    data = base64.b64decode(text, validate=True)
    if _written(data) != text:
        # The last character has bits that decoding ignores: a seal has one form only.
        raise ValueError("not as it was written")
    return data


def _decoded(encoded: str, what: str) -> bytes:
    text = encoded.strip().replace("-", "+").replace("_", "/")
    try:
        key = base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise OptionError(f"{what} is no base64; {_HOW}") from None
    if len(key) != _KEY_BYTES:
        raise OptionError(f"{what} has {len(key)} bytes, and AES-256 takes {_KEY_BYTES}; {_HOW}")
    return key


def _check(name: object, key: object) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name == PLAIN:
        raise OptionError("a key's name has 1 to 50 letters, digits, dots, dashes or underscores, and is not 'plain'")
    if not isinstance(key, bytes) or len(key) != _KEY_BYTES:
        raise OptionError(f"key {name!r} must be {_KEY_BYTES} bytes for AES-256; os.urandom({_KEY_BYTES}) makes one")


def _check_value(key: bytes) -> str:
    return hmac.digest(key, b"howdah: which key is this", "sha256")[:4].hex()


def _cipher(key: bytes) -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError as error:
        raise OptionError("encryption needs the package cryptography; pip install 'howdah[crypto]'") from error
    return AESGCM(key)
