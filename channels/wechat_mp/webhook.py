"""Which calls at our address are the platform's: by signature, time, nonce, cipher, receiver. The time comes in.

Source: SHA-1 over the sorted token, timestamp, nonce (and ciphertext), as the platform's developer pages have it.
"""

from dataclasses import dataclass

from channels.base import WebhookRequest
from channels.toolkit.untrusted import BadXml, StoredReplayGuard, parse_flat_xml
from channels.toolkit.wechat_crypto import DecryptionFailed, WechatEnvelope, is_signature_of, sign_parts

TIMESTAMP_WINDOW_SECONDS = 300  # how far the signed time of a call may be from ours
_MAX_PARAMETER = 512

Query = tuple[tuple[str, str], ...]


class CallRejected(ValueError):
    """A call that the platform did not make, or not for us. Why is for the owner alone, never for the caller."""


class CallMalformed(CallRejected):
    """A call that does not even look like the platform's: anybody's who tries addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiedCall:
    """One genuine call."""

    #: The XML's texts by name.
    fields: dict[str, str]
    #: It came encrypted, and its answer must go so.
    sealed: bool
    #: What it was signed with, and what it said.
    nonce: str = ""
    content: bytes = b""


class OfficialAccountWebhookVerifier:
    """Judges calls. signs: the EncodingAESKey, "" for plain mode; with one, plain calls are refused.

    Raises:
        ValueError: the key is none.
    """

    def __init__(self, *, token: str, app_id: str, signs: str) -> None:
        self._token = token
        self._app_id = app_id
        self._envelope = WechatEnvelope(signs, app_id) if signs else None
        self.nonces = StoredReplayGuard(f"{app_id}.nonce.")

    def address(self, query: Query, now: float) -> bytes:
        """What an address check is to be answered with. Raises CallRejected."""
        nonce = self._signed(query, now)
        echo = single_parameter(query, "echostr").encode()
        self._fresh(nonce, echo, now)
        return echo

    def _fresh(self, nonce: str, content: bytes, now: float) -> None:
        if not self.nonces.fits(nonce, content, now):
            raise CallRejected("a nonce came twice, with different contents")

    def push(self, request: WebhookRequest, now: float) -> VerifiedCall:
        """The message in a call.

        Args:
            now: unix seconds.

        Raises:
            CallRejected: any check failed.
        """
        nonce = self._signed(request.query, now)
        inner = request.body if self._envelope is None else self._unsealed(request, self._envelope)
        fields = _parse_fields(inner)
        self._fresh(nonce, inner, now)
        person = [value for name, value in request.query if name == "openid"]
        if not fields.get("FromUserName") or not fields.get("ToUserName") or not fields.get("MsgType"):
            raise CallRejected(
                "a message without a sender, receiver or type"
                + (": the platform encrypts, and encoding_aes_key is not set" if "Encrypt" in fields else "")
            )
        if person and person != [fields["FromUserName"]]:
            raise CallRejected("the sender in the address is not the one in the message")
        return VerifiedCall(fields=fields, sealed=self._envelope is not None, nonce=nonce, content=inner)

    def recheck(self, push: VerifiedCall, now: float) -> None:
        """Judge a call's nonce again, now that those of an earlier life are known. Raises CallRejected."""
        self._fresh(push.nonce, push.content, now)

    def seal(self, xml: str, now: float, nonce: str) -> str:
        """An answer to an encrypted call, as it goes out."""
        assert self._envelope is not None
        sealed, stamp = self._envelope.seal(xml.encode()), str(int(now))
        proof = sign_parts((self._token, stamp, nonce, sealed))
        return (
            f"<xml><Encrypt><![CDATA[{sealed}]]></Encrypt><MsgSignature><![CDATA[{proof}]]></MsgSignature>"
            f"<TimeStamp>{stamp}</TimeStamp><Nonce><![CDATA[{nonce}]]></Nonce></xml>"
        )

    def _signed(self, query: Query, now: float) -> str:
        """The nonce of a call whose signature and time are good."""
        proof, stamp, nonce = (single_parameter(query, name) for name in ("signature", "timestamp", "nonce"))
        if not is_signature_of(proof, (self._token, stamp, nonce)):
            raise CallRejected("the signature does not fit: is the token the one on the platform's page?")
        self._timely(stamp, now)
        return nonce

    def _unsealed(self, request: WebhookRequest, envelope: WechatEnvelope) -> bytes:
        if single_parameter(request.query, "encrypt_type") != "aes":
            raise CallRejected("the call is not encrypted, though encoding_aes_key is set")
        proof, stamp, nonce = (
            single_parameter(request.query, name) for name in ("msg_signature", "timestamp", "nonce")
        )
        sealed = _parse_fields(request.body).get("Encrypt", "")
        if not is_signature_of(proof, (self._token, stamp, nonce, sealed)):
            raise CallRejected("the signature of an encrypted call does not fit")
        try:
            return envelope.open(sealed)
        except DecryptionFailed as err:
            raise CallRejected("a call cannot be deciphered: are encoding_aes_key and app_id right?") from err

    def _timely(self, stamp: str, now: float) -> None:
        if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 12):
            raise CallRejected("the time of a call is no number")
        if abs(now - int(stamp)) > TIMESTAMP_WINDOW_SECONDS:
            raise CallRejected("the time of a call is more than 5 minutes off: is this machine's clock right?")


def single_parameter(query: Query, name: str) -> str:
    """The value of a parameter that comes exactly once, not empty. Raises Stray."""
    values = [value for key, value in query if key == name]
    if len(values) != 1 or not 0 < len(values[0]) <= _MAX_PARAMETER:
        raise CallMalformed(f"a call does not have exactly one {name}")
    return values[0]


def _parse_fields(body: bytes) -> dict[str, str]:
    try:
        return parse_flat_xml(body)
    except BadXml as err:
        raise CallRejected(f"the body is not the XML of a message: {err}") from err
