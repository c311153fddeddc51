"""Keys and envelopes, without a database."""

from __future__ import annotations

import base64
import itertools
import json
import os
import pickle
import sys
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest

from howdah import Howdah, KeyMissing, Keyring, SealBroken
from howdah.model.errors import OptionError
from howdah.sealing.envelope import Envelope, Place, in_json, in_text, in_value

OLD, NEW = os.urandom(32), os.urandom(32)
HERE = Place(UUID(int=7), "data", "pay")
TEXTS = ["{}", '{"card": "4242", "ü": "🐘"}', "x" * 300_000, "null"]


def written(key: bytes) -> str:
    return base64.b64encode(key).decode()


def sealed(keyring: Keyring, text: str, place: Place = HERE) -> Envelope:
    envelope = keyring.seal(text, place)
    assert envelope is not None
    return envelope


@pytest.mark.parametrize("text", TEXTS, ids=len)
def test_what_is_sealed_opens_and_shows_nothing(text: str) -> None:
    keyring = Keyring({"new": NEW})
    one, two = sealed(keyring, text), sealed(keyring, text)
    assert one != two, "a nonce of its own each time"
    assert keyring.open(one, HERE) == keyring.open(two, HERE) == text
    assert text not in one.as_json() or len(text) < 5
    assert in_json(one.as_json()) == in_value(json.loads(one.as_json())) == one
    assert in_text(one.as_text("Error: sealed")) == one


def test_the_first_key_seals_and_all_open() -> None:
    before = sealed(Keyring({"old": OLD}), "secret")
    both = Keyring({"new": NEW, "old": OLD})
    assert both.open(before, HERE) == "secret"
    assert sealed(both, "secret").key == "new"
    with pytest.raises(KeyMissing, match=r"sealed with key 'old' \([0-9a-f]{8}\), which is not here; add it"):
        Keyring({"new": NEW}).open(before, HERE)


def test_another_key_under_the_same_name_is_missing_and_not_a_broken_seal() -> None:
    with pytest.raises(KeyMissing, match="of which there is another here"):
        Keyring({"k": NEW}).open(sealed(Keyring({"k": OLD}), "secret"), HERE)


def test_a_keyring_may_only_read() -> None:
    reading = Keyring({"old": OLD}, seals=False)
    assert reading.seal("secret", HERE) is None
    assert reading.open(sealed(Keyring({"old": OLD}), "secret"), HERE) == "secret"
    assert Keyring.from_text(f"plain,old:{written(OLD)}").seals_with is None


@pytest.mark.parametrize(
    "elsewhere",
    [replace(HERE, job_id=UUID(int=8)), replace(HERE, field="result"), replace(HERE, about="refund")],
)
def test_an_envelope_opens_only_where_it_belongs(elsewhere: Place) -> None:
    keyring = Keyring({"k": NEW})
    with pytest.raises(SealBroken, match="changed or moved"):
        keyring.open(sealed(keyring, "secret"), elsewhere)


def test_places_cannot_be_confused() -> None:
    keyring = Keyring({"k": NEW})
    for one, other in itertools.permutations([Place(UUID(int=1), "event", "a"), Place(UUID(int=1), "event:a", "")], 2):
        with pytest.raises(SealBroken):
            keyring.open(sealed(keyring, "secret", one), other)


def test_every_changed_byte_is_noticed() -> None:
    """Every byte of nonce, ciphertext and tag, and every character of the envelope as it is stored."""
    keyring = Keyring({"k": NEW, "l": OLD})
    for text in ("{}", '{"n":1}', '{"n":12}', '{"n":123}'):
        try_all_changes(keyring, sealed(keyring, text))


def try_all_changes(keyring: Keyring, envelope: Envelope) -> None:
    tried = 0
    for name in ("nonce", "text"):
        data = base64.b64decode(getattr(envelope, name))
        for at in range(len(data)):
            for bit in range(8):
                changed = bytearray(data)
                changed[at] ^= 1 << bit
                with pytest.raises(SealBroken):
                    keyring.open(replace(envelope, **{name: written(bytes(changed))}), HERE)
                tried += 1
        for cut in (data[:-1], data + b"\0", b"", data[1:]):
            with pytest.raises(SealBroken):
                keyring.open(replace(envelope, **{name: written(cut)}), HERE)
    stored = envelope.as_json()
    for at, character in enumerate(stored):
        for other in "ABQghw-+/=0\u00fc":
            found = in_json(stored[:at] + other + stored[at + 1 :]) if other != character else None
            if found is not None:
                with pytest.raises((SealBroken, KeyMissing)):
                    keyring.open(found, HERE)
                tried += 1
    assert tried > 200


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"howdah:sealed": 1},
        {"howdah:sealed": {}},
        {"howdah:sealed": {"key": "k", "check": "c", "nonce": "n"}},
        {"howdah:sealed": {"key": "k", "check": "c", "nonce": "n", "text": 1}},
        {"howdah:sealed": {"key": "k", "check": "c", "nonce": "n", "text": "t", "more": "m"}},
        {"howdah:sealed": {"key": "k", "check": "c", "nonce": "n", "text": "t"}, "more": 1},
        ["howdah:sealed"],
        "howdah:sealed",
        None,
    ],
)
def test_what_only_looks_like_an_envelope_is_data(value: Any) -> None:
    assert in_value(value) is None
    assert in_json(json.dumps(value)) is None
    assert in_text(f"howdah:sealed {json.dumps(value)}") is None


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty; unset it"),
        ("  ", "is empty; unset it"),
        ("{key}", "entry 1 has no name"),
        (":{key}", "entry 1 has no name"),
        ("a b:{key}", "entry 1 has no name"),
        ("a:{key},", "entry 2 has no name"),
        ("a:{key},a:{key}", "the name 'a' is there twice"),
        ("a:{key}?", "key 'a' is no base64"),
        ("a:{half}", "key 'a' has 16 bytes, and AES-256 takes 32"),
        ("a:", "key 'a' has 0 bytes"),
        ("plain", "names no key"),
        ("a:{key},plain", "entry 2 has no name"),
    ],
)
def test_bad_keys_are_one_clear_error_that_shows_none(text: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    key, half = written(NEW), written(NEW[:16])
    monkeypatch.setenv("HOWDAH_KEYS", text.format(key=key, half=half))
    with pytest.raises(OptionError, match="HOWDAH_KEYS") as refused:
        Howdah("postgresql:///nowhere")
    assert said in str(refused.value)
    assert "openssl rand -base64 32" in str(refused.value) or "name of its own" in str(refused.value)
    assert key[:8] not in str(refused.value)
    assert half[:8] not in str(refused.value)


def test_keys_in_other_forms_of_base64(monkeypatch: pytest.MonkeyPatch) -> None:
    envelope = sealed(Keyring({"k": NEW}), "secret")
    for form in (base64.urlsafe_b64encode(NEW).decode(), written(NEW).rstrip("="), f" {written(NEW)} "):
        assert Keyring.from_text(f"k:{form}").open(envelope, HERE) == "secret"


@pytest.mark.parametrize(
    "keys", [{}, {"k": b"short"}, {"k": "x" * 32}, {"plain": NEW}, {"a:b": NEW}, {"": NEW}, {7: NEW}]
)
def test_bad_keys_in_code_are_refused(keys: Any) -> None:
    with pytest.raises(OptionError):
        Keyring(keys)


def test_an_app_takes_a_keyring_and_nothing_else() -> None:
    with pytest.raises(OptionError, match="encryption takes a Keyring, not str"):
        Howdah("postgresql:///nowhere", encryption="2026-11:…")  # type: ignore[arg-type]  # on purpose


def test_a_keyring_does_not_give_its_keys_away() -> None:
    keyring = Keyring({"new": NEW, "old": OLD})
    assert repr(keyring) == "<Keyring of new, old; seals with new>"
    with pytest.raises(TypeError, match="not to be pickled"):
        pickle.dumps(keyring)


def test_without_the_package_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    with pytest.raises(OptionError, match=r"pip install 'howdah\[crypto\]'"):
        Keyring({"k": NEW})


def test_without_keys_the_package_is_not_loaded() -> None:
    import subprocess

    program = "import sys, howdah; howdah.Howdah(); sys.exit('cryptography' in sys.modules)"
    environment = {name: value for name, value in os.environ.items() if name != "HOWDAH_KEYS"}
    assert subprocess.run([sys.executable, "-c", program], env=environment, timeout=60).returncode == 0
