"""Verifies calls of the platform: signature, time, nonce, encryption, receiver. Reads no clock.

Source: SHA-1 over the sorted token, timestamp, nonce (and ciphertext), as the platform's developer
pages have it.
"""

from dataclasses import dataclass

from channels.base import WebhookRequest
from channels.toolkit.untrusted import BadXml, StoredReplayGuard, parse_flat_xml
from channels.toolkit.wechat_crypto import (
    DecryptionFailed,
    WechatEnvelope,
    is_signature_of,
    sign_parts,
)

TIMESTAMP_WINDOW_SECONDS = 300  # how far the signed time of a call may be from ours
_MAX_PARAMETER = 512

Query = tuple[tuple[str, str], ...]


class CallRejected(ValueError):
    """The call is not from the platform, or not for this account.

    Only the owner may see the reason.
    """


class CallMalformed(CallRejected):
    """The call does not resemble one of the platform's; anyone who scans for URLs makes such
    calls.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedCall:
    """A message call of the platform."""

    #: The XML's texts by name.
    fields: dict[str, str]
    #: It was encrypted, so the reply must be.
    encrypted: bool
    nonce: str
    #: The XML, decrypted; a repeated nonce must come with the same.
    content: bytes


class OfficialAccountWebhookVerifier:
    """Verifies calls of the platform.

    Args:
        aes_key: the EncodingAESKey, "" for plain mode; with one, unencrypted calls are rejected.

    Raises:
        ValueError: the key is invalid.
    """

    def __init__(self, *, token: str, app_id: str, aes_key: str) -> None:
        self._token = token
        self._envelope = WechatEnvelope(aes_key, app_id) if aes_key else None
        self.nonces = StoredReplayGuard(f"{app_id}.nonce.")

    def verify_address(self, query: Query, now: float) -> bytes:
        """Verify an address check; return the answer to it. Raises CallRejected."""
        nonce = self._verify_signature(query, now)
        echo = single_parameter(query, "echostr").encode()
        self._verify_nonce(nonce, echo, now)
        return echo

    def verify_message(self, request: WebhookRequest, now: float) -> VerifiedCall:
        """Verify and parse a message call.

        Args:
            now: unix seconds.

        Raises:
            CallRejected: any check failed.
        """
        nonce = self._verify_signature(request.query, now)
        content = request.body if self._envelope is None else self._decrypt(request, self._envelope)
        fields = _parse_fields(content)
        self._verify_nonce(nonce, content, now)
        person = [value for name, value in request.query if name == "openid"]
        if (
            not fields.get("FromUserName")
            or not fields.get("ToUserName")
            or not fields.get("MsgType")
        ):
            raise CallRejected(
                "a message without a sender, receiver or type"
                + (
                    ": the platform encrypts, and encoding_aes_key is not set"
                    if "Encrypt" in fields
                    else ""
                )
            )
        if person and person != [fields["FromUserName"]]:
            raise CallRejected("the sender in the address is not the one in the message")
        return VerifiedCall(
            fields=fields, encrypted=self._envelope is not None, nonce=nonce, content=content
        )

    def recheck_nonce(self, call: VerifiedCall, now: float) -> None:
        """Check a call's nonce again, once those of an earlier process are loaded.

        Raises CallRejected.
        """
        self._verify_nonce(call.nonce, call.content, now)

    def encrypt_reply(self, xml: str, now: float, nonce: str) -> str:
        """Encrypt and sign the reply to an encrypted call."""
        assert self._envelope is not None
        encrypted, timestamp = self._envelope.seal(xml.encode()), str(int(now))
        signature = sign_parts((self._token, timestamp, nonce, encrypted))
        return (
            f"<xml><Encrypt><![CDATA[{encrypted}]]></Encrypt><MsgSignature><![CDATA[{signature}]]></MsgSignature>"
            f"<TimeStamp>{timestamp}</TimeStamp><Nonce><![CDATA[{nonce}]]></Nonce></xml>"
        )

    def _verify_nonce(self, nonce: str, content: bytes, now: float) -> None:
        if not self.nonces.fits(nonce, content, now):
            raise CallRejected("a nonce was used twice, with different contents")

    def _verify_signature(self, query: Query, now: float) -> str:
        """Verify signature and time of a call; return its nonce."""
        signature, timestamp, nonce = (
            single_parameter(query, name) for name in ("signature", "timestamp", "nonce")
        )
        if not is_signature_of(signature, (self._token, timestamp, nonce)):
            raise CallRejected(
                "the signature does not fit: is the token the one on the platform's page?"
            )
        if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 12):
            raise CallRejected("the time of a call is no number")
        if abs(now - int(timestamp)) > TIMESTAMP_WINDOW_SECONDS:
            raise CallRejected(
                "the time of a call is more than 5 minutes off: is this machine's clock right?"
            )
        return nonce

    def _decrypt(self, request: WebhookRequest, envelope: WechatEnvelope) -> bytes:
        if single_parameter(request.query, "encrypt_type") != "aes":
            raise CallRejected("the call is not encrypted, though encoding_aes_key is set")
        signature, timestamp, nonce = (
            single_parameter(request.query, name)
            for name in ("msg_signature", "timestamp", "nonce")
        )
        encrypted = _parse_fields(request.body).get("Encrypt", "")
        if not is_signature_of(signature, (self._token, timestamp, nonce, encrypted)):
            raise CallRejected("the signature of an encrypted call does not fit")
        try:
            return envelope.open(encrypted)
        except DecryptionFailed as err:
            raise CallRejected(
                "a call cannot be deciphered: are encoding_aes_key and app_id right?"
            ) from err


def single_parameter(query: Query, name: str) -> str:
    """Return a parameter that is sent exactly once and not empty. Raises CallMalformed."""
    values = [value for key, value in query if key == name]
    if len(values) != 1 or not 0 < len(values[0]) <= _MAX_PARAMETER:
        raise CallMalformed(f"the call does not have exactly one {name}")
    return values[0]


def _parse_fields(body: bytes) -> dict[str, str]:
    try:
        return parse_flat_xml(body)
    except BadXml as err:
        raise CallRejected(f"the body is not the XML of a message: {err}") from err
