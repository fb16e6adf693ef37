"""Passkeys, signed by an authenticator in software: what is accepted, once, in time, and at which
site.
"""

import base64
import hashlib
import json
import secrets
import struct
from pathlib import Path
from typing import Any

import cbor2
import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec

from bot.console.administration.passkeys import (
    CHALLENGE_SECONDS,
    MAX_PASSKEYS,
    MAX_USED_CHALLENGES,
    PasskeyRefused,
    Passkeys,
    TooManyPasskeys,
)
from channels.web.backend import PasskeySite

HERE, ELSEWHERE = (
    PasskeySite(host="mnema.test", origin="https://mnema.test"),
    PasskeySite(host="other.test", origin="https://other.test"),
)
Json = dict[str, Any]


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


class Authenticator:
    """A device with one key for a site (ES256, no attestation); it asks nobody.

    Args:
        counts: it counts how often it was used; many do not.
    """

    def __init__(self, site: PasskeySite, *, counts: bool = True) -> None:
        self._site, self._id, self._counts = site, secrets.token_bytes(32), counts
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._count = 0

    def create(self, options: Json) -> Json:
        public = self._key.public_key().public_numbers()
        key = {
            1: 2,
            3: -7,
            -1: 1,
            -2: public.x.to_bytes(32, "big"),
            -3: public.y.to_bytes(32, "big"),
        }
        attested = bytes(16) + struct.pack(">H", len(self._id)) + self._id + cbor2.dumps(key)
        made = {"fmt": "none", "attStmt": {}, "authData": self._data(0x45) + attested}
        client = self._client("webauthn.create", options)
        response = {
            "clientDataJSON": encoded(client),
            "attestationObject": encoded(cbor2.dumps(made)),
        }
        return self._credential(response)

    def get(self, options: Json) -> Json:
        self._count += self._counts
        client, data = self._client("webauthn.get", options), self._data(0x05)
        signed = self._key.sign(data + hashlib.sha256(client).digest(), ec.ECDSA(hashes.SHA256()))
        response = {
            "clientDataJSON": encoded(client),
            "authenticatorData": encoded(data),
            "signature": encoded(signed),
        }
        return self._credential(response)

    def _credential(self, response: Json) -> Json:
        id = encoded(self._id)
        return {
            "id": id,
            "rawId": id,
            "type": "public-key",
            "response": response,
            "clientExtensionResults": {},
        }

    def _data(self, flags: int) -> bytes:
        return (
            hashlib.sha256(self._site.host.encode()).digest()
            + bytes([flags])
            + struct.pack(">I", self._count)
        )

    def _client(self, kind: str, options: Json) -> bytes:
        told = {
            "type": kind,
            "challenge": options["challenge"],
            "origin": self._site.origin,
            "crossOrigin": False,
        }
        return json.dumps(told).encode()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def passkeys(tmp_path: Path, clock: Clock) -> Passkeys:
    return Passkeys(tmp_path / "passkeys.json", clock)


@pytest.fixture
def device(passkeys: Passkeys) -> Authenticator:
    device = Authenticator(HERE)
    passkeys.register(HERE, "laptop", device.create(passkeys.new_options(HERE)))
    return device


def login_options(passkeys: Passkeys) -> Json:
    options = passkeys.login_options(HERE)
    assert options is not None
    return options


def test_what_was_registered_opens_and_is_remembered_after_a_restart(
    passkeys: Passkeys, device: Authenticator, tmp_path: Path
) -> None:
    [(id, known)] = passkeys.all().items()
    assert (known.name, known.site, known.used) == ("laptop", HERE.host, "")
    assert passkeys.verify(HERE, device.get(login_options(passkeys))) == id
    again = Passkeys(tmp_path / "passkeys.json")
    assert again.all()[id].used
    assert again.verify(HERE, device.get(login_options(again))) == id


@pytest.mark.parametrize("counts", [True, False])
def test_an_answer_is_good_once(passkeys: Passkeys, counts: bool) -> None:
    device = Authenticator(HERE, counts=counts)
    made = device.create(passkeys.new_options(HERE))
    passkeys.register(HERE, "laptop", made)
    with pytest.raises(PasskeyRefused):
        passkeys.register(HERE, "laptop", made)
    answer = device.get(login_options(passkeys))
    assert passkeys.verify(HERE, answer)
    assert passkeys.verify(HERE, answer) == ""


@pytest.mark.parametrize(
    ("seconds", "good"), [(CHALLENGE_SECONDS - 1, True), (CHALLENGE_SECONDS + 1, False)]
)
def test_an_answer_is_good_for_a_while(
    passkeys: Passkeys, device: Authenticator, clock: Clock, seconds: float, good: bool
) -> None:
    answer = device.get(login_options(passkeys))
    clock.now += seconds
    assert bool(passkeys.verify(HERE, answer)) is good


def test_a_challenge_is_for_its_purpose_and_process(
    passkeys: Passkeys, device: Authenticator, tmp_path: Path
) -> None:
    assert passkeys.verify(HERE, device.get(passkeys.new_options(HERE))) == ""
    with pytest.raises(PasskeyRefused):
        passkeys.register(HERE, "phone", Authenticator(HERE).create(login_options(passkeys)))
    other = Passkeys(tmp_path / "passkeys.json")
    assert other.verify(HERE, device.get(login_options(passkeys))) == ""


@pytest.mark.parametrize("challenge", ["", "AAAA", "A" * 75, "A" * 100, "ö", "!"])
def test_a_made_up_challenge_is_refused(
    passkeys: Passkeys, device: Authenticator, challenge: str
) -> None:
    assert passkeys.verify(HERE, device.get({"challenge": challenge})) == ""


def test_whoever_asks_for_many_challenges_keeps_nobody_out(
    passkeys: Passkeys, device: Authenticator
) -> None:
    answer = device.get(login_options(passkeys))
    for _ in range(MAX_USED_CHALLENGES + 1):
        login_options(passkeys)
    assert passkeys.verify(HERE, answer)


def test_a_key_is_for_its_site(passkeys: Passkeys, device: Authenticator) -> None:
    assert passkeys.login_options(ELSEWHERE) is None
    assert passkeys.verify(ELSEWHERE, device.get(login_options(passkeys))) == ""
    foreign = Authenticator(ELSEWHERE)
    with pytest.raises(PasskeyRefused):
        passkeys.register(HERE, "foreign", foreign.create(passkeys.new_options(HERE)))


def test_a_removed_key_opens_nothing(passkeys: Passkeys, device: Authenticator) -> None:
    answer = device.get(login_options(passkeys))
    [id] = passkeys.all()
    assert passkeys.remove(id)
    assert passkeys.remove(id) is None
    assert passkeys.verify(HERE, answer) == ""


@pytest.mark.parametrize(
    "answer", [{}, {"id": 5}, {"id": "x", "response": []}, {"response": {"clientDataJSON": "="}}]
)
def test_an_answer_that_is_none_is_refused(
    passkeys: Passkeys, device: Authenticator, answer: Json
) -> None:
    assert passkeys.verify(HERE, answer) == ""
    with pytest.raises(PasskeyRefused):
        passkeys.register(HERE, "phone", answer)


def test_one_more_than_may_be_stored_is_refused(passkeys: Passkeys) -> None:
    waiting = passkeys.new_options(HERE)
    for number in range(MAX_PASSKEYS):
        passkeys.register(
            HERE, f"key {number}", Authenticator(HERE).create(passkeys.new_options(HERE))
        )
    with pytest.raises(TooManyPasskeys):
        passkeys.new_options(HERE)
    with pytest.raises(TooManyPasskeys):
        passkeys.register(HERE, "one more", Authenticator(HERE).create(waiting))
    assert len(passkeys.all()) == MAX_PASSKEYS
