"""Signatures and ciphers of WeChat and WeCom, against bytes computed from the platforms' rules."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.toolkit.wechat_crypto import (
    DecryptionFailed,
    WechatEnvelope,
    decode_key,
    decrypt_bytes,
    encrypt_bytes,
    is_signature_of,
    pad,
    sign_parts,
    unpad,
)
from tests.cases import every_case

# Literals, so that the product is not compared with itself.
BLOCK = 32

SIGNS = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8"
SEALED = (
    "4j/AuRx71kQlxVlzbpsMWFYu1Rf1A4+zRDlr3AYNkoVILF0575++Gwtna+xqm/fY0UhQn6WBG04AX0sBD6S+X8SB2tPDdvX0XAu8Bfldib76h9y9"
    "IDdAYCEfo92Mz/HI"
)
RECEIVER = "wx0000000000000001"
PARTS = ("demotoken", "1700000000", "n0nce")


def test_the_signature_of_an_address_check() -> None:
    assert sign_parts(PARTS) == "561ddfd61a6772abcf92355a889b5a370343ec8b"
    assert sign_parts(reversed(PARTS)) == sign_parts(PARTS)


def test_the_signature_of_an_encrypted_message() -> None:
    assert sign_parts((*PARTS, SEALED)) == "72fa98cdecd7d4d56637cc10bde408a98f5c25d0"


@every_case(
    "given", ["", "561DDFD61A6772ABCF92355A889B5A370343EC8B", "签名", "\udc80", "561ddfd61a"]
)
def test_anything_but_the_signature_itself_is_none(given: str) -> None:
    assert not is_signature_of(given, PARTS)
    assert is_signature_of("561ddfd61a6772abcf92355a889b5a370343ec8b", PARTS)


def test_the_message_inside_and_the_same_bytes_back() -> None:
    envelope = WechatEnvelope(SIGNS, RECEIVER)
    assert envelope.open(SEALED) == b"<xml><Content>hi</Content></xml>"
    assert envelope.seal(b"<xml><Content>hi</Content></xml>", b"0123456789abcdef") == SEALED


@given(st.binary(max_size=200))
def test_what_is_encrypted_opens_and_no_two_are_equal(text: bytes) -> None:
    envelope = WechatEnvelope(SIGNS, RECEIVER)
    assert envelope.open(envelope.seal(text)) == text
    assert envelope.seal(text) != envelope.seal(text)


@given(st.binary(max_size=100))
def test_padding_comes_off_again_and_is_never_missing(data: bytes) -> None:
    assert unpad(pad(data)) == data
    assert 1 <= len(pad(data)) - len(data) <= BLOCK
    assert decrypt_bytes(bytes(32), encrypt_bytes(bytes(32), data)) == data


@every_case("data", [b"", b"\0", b"a\2", bytes([33]) * 64, b"x" * 31 + b"\0", b"ab\3\2\3"])
def test_padding_that_is_none_is_refused(data: bytes) -> None:
    with pytest.raises(DecryptionFailed):
        unpad(data)


def _inner(length: int, text: bytes, receiver: bytes) -> str:
    whole = bytes(16) + length.to_bytes(4, "big") + text + receiver
    return base64.b64encode(encrypt_bytes(decode_key(SIGNS), whole)).decode()


@every_case(
    "sealed",
    [
        "",
        "not base64!",
        "签名",
        "AAAA",
        SEALED[:-4],
        SEALED.replace("4j", "4k", 1) + "AAAA",
        WechatEnvelope(SIGNS, "wx0000000000000002").seal(b"hi"),
        WechatEnvelope(SIGNS[::-1][:42] + "A", RECEIVER).seal(b"hi"),
        _inner(2**32 - 1, b"hi", RECEIVER.encode()),
        _inner(1, b"hi", RECEIVER.encode()),
        base64.b64encode(encrypt_bytes(decode_key(SIGNS), b"short")).decode(),
    ],
)
def test_what_is_not_ours_does_not_open_and_every_reason_looks_alike(sealed: str) -> None:
    with pytest.raises(DecryptionFailed, match=r"^this cannot be deciphered$"):
        WechatEnvelope(SIGNS, RECEIVER).open(sealed)


@every_case("signs", ["", "short", SIGNS + "A", SIGNS[:-1] + "!", SIGNS[:-1] + "é"])
def test_a_key_that_is_none_says_what_one_looks_like(signs: str) -> None:
    with pytest.raises(ValueError, match="43 letters and digits"):
        WechatEnvelope(signs, RECEIVER)
