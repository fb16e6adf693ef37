"""Which calls at our address are the platform's: by signature, time, nonce, cipher, receiver. The time comes in.

Source: SHA-1 over the sorted token, timestamp, nonce (and ciphertext), as the platform's developer pages have it.
"""

from dataclasses import dataclass

from channels.base import HookRequest
from channels.toolkit.replay_guard import StoredNonces
from channels.toolkit.untrusted import BadXml, flat_xml
from channels.toolkit.wechat_crypto import Envelope, Undecipherable, signature, signed

CLOCK_SECONDS = 300
"""How far the signed time of a call may be from ours."""
_LONGEST_VALUE = 512

Query = tuple[tuple[str, str], ...]


class NotOurs(ValueError):
    """A call that the platform did not make, or not for us. Why is for the owner alone, never for the caller."""


class Stray(NotOurs):
    """A call that does not even look like the platform's: anybody's who tries addresses."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """One genuine call. fields: the XML's texts by name. sealed: it came encrypted, and its answer must go so."""

    fields: dict[str, str]
    sealed: bool
    #: What it was signed with, and what it said.
    nonce: str = ""
    content: bytes = b""


class Guard:
    """Judges calls. signs: the EncodingAESKey, "" for plain mode; with one, plain calls are refused.

    Raises:
        ValueError: the key is none.
    """

    def __init__(self, *, token: str, app_id: str, signs: str) -> None:
        self._token = token
        self._app_id = app_id
        self._envelope = Envelope(signs, app_id) if signs else None
        self.nonces = StoredNonces(f"{app_id}.nonce.")

    def address(self, query: Query, now: float) -> bytes:
        """What an address check is to be answered with. Raises NotOurs."""
        nonce = self._signed(query, now)
        echo = one(query, "echostr").encode()
        self._fresh(nonce, echo, now)
        return echo

    def _fresh(self, nonce: str, content: bytes, now: float) -> None:
        if not self.nonces.fits(nonce, content, now):
            raise NotOurs("a nonce came twice, with different contents")

    def push(self, request: HookRequest, now: float) -> Push:
        """The message in a call.

        Args:
            now: unix seconds.

        Raises:
            NotOurs: any check failed.
        """
        nonce = self._signed(request.query, now)
        inner = request.body if self._envelope is None else self._unsealed(request, self._envelope)
        fields = _fields(inner)
        self._fresh(nonce, inner, now)
        person = [value for name, value in request.query if name == "openid"]
        if not fields.get("FromUserName") or not fields.get("ToUserName") or not fields.get("MsgType"):
            raise NotOurs(
                "a message without a sender, receiver or type"
                + (": the platform encrypts, and encoding_aes_key is not set" if "Encrypt" in fields else "")
            )
        if person and person != [fields["FromUserName"]]:
            raise NotOurs("the sender in the address is not the one in the message")
        return Push(fields=fields, sealed=self._envelope is not None, nonce=nonce, content=inner)

    def recheck(self, push: Push, now: float) -> None:
        """Judge a call's nonce again, now that those of an earlier life are known. Raises NotOurs."""
        self._fresh(push.nonce, push.content, now)

    def seal(self, xml: str, now: float, nonce: str) -> str:
        """An answer to an encrypted call, as it goes out."""
        assert self._envelope is not None
        sealed, stamp = self._envelope.seal(xml.encode()), str(int(now))
        proof = signature((self._token, stamp, nonce, sealed))
        return (
            f"<xml><Encrypt><![CDATA[{sealed}]]></Encrypt><MsgSignature><![CDATA[{proof}]]></MsgSignature>"
            f"<TimeStamp>{stamp}</TimeStamp><Nonce><![CDATA[{nonce}]]></Nonce></xml>"
        )

    def _signed(self, query: Query, now: float) -> str:
        """The nonce of a call whose signature and time are good."""
        proof, stamp, nonce = (one(query, name) for name in ("signature", "timestamp", "nonce"))
        if not signed(proof, (self._token, stamp, nonce)):
            raise NotOurs("the signature does not fit: is the token the one on the platform's page?")
        self._timely(stamp, now)
        return nonce

    def _unsealed(self, request: HookRequest, envelope: Envelope) -> bytes:
        if one(request.query, "encrypt_type") != "aes":
            raise NotOurs("the call is not encrypted, though encoding_aes_key is set")
        proof, stamp, nonce = (one(request.query, name) for name in ("msg_signature", "timestamp", "nonce"))
        sealed = _fields(request.body).get("Encrypt", "")
        if not signed(proof, (self._token, stamp, nonce, sealed)):
            raise NotOurs("the signature of an encrypted call does not fit")
        try:
            return envelope.open(sealed)
        except Undecipherable as err:
            raise NotOurs("a call cannot be deciphered: are encoding_aes_key and app_id right?") from err

    def _timely(self, stamp: str, now: float) -> None:
        if not (stamp.isascii() and stamp.isdigit() and len(stamp) <= 12):
            raise NotOurs("the time of a call is no number")
        if abs(now - int(stamp)) > CLOCK_SECONDS:
            raise NotOurs("the time of a call is more than 5 minutes off: is this machine's clock right?")


def one(query: Query, name: str) -> str:
    """The value of a parameter that comes exactly once, not empty. Raises Stray."""
    values = [value for key, value in query if key == name]
    if len(values) != 1 or not 0 < len(values[0]) <= _LONGEST_VALUE:
        raise Stray(f"a call does not have exactly one {name}")
    return values[0]


def _fields(body: bytes) -> dict[str, str]:
    try:
        return flat_xml(body)
    except BadXml as err:
        raise NotOurs(f"the body is not the XML of a message: {err}") from err
