"""Passkeys: logins at the page without the token.

Needs the extra `passkeys`, which is loaded on use.
"""

import asyncio
import base64
import binascii
import hmac
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import structlog
from starlette.requests import Request
from starlette.responses import Response

from bot.config.enabled import EnabledFile
from bot.config.extras import install_command
from bot.console.administration import models
from channels.phrases import Phrase
from channels.toolkit.delivery import BoundedDict
from channels.web.auth import RequestGuard
from channels.web.backend import PasskeySite
from channels.web.models import DoneBody
from channels.web.requests import HttpRefusal, Route, json_response
from memory.store.store import Store

log = structlog.get_logger(__name__)
OWNER, OWNER_ID = "owner", b"owner"  # all passkeys are the owner's
MAX_PASSKEYS = 20
MAX_USED_CHALLENGES = 1_000
CHALLENGE_SECONDS = 120.0
NONCE_BYTES, TIME_BYTES, SEAL_BYTES = 16, 8, 32  # of a challenge
MAX_CREDENTIAL_BYTES = 20_000
MANAGE_ACTION = "console.write"
Purpose = Literal["register", "login"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Passkey:
    """A registered passkey."""

    #: What the owner calls it.
    name: str
    #: The host it is valid at.
    site: str
    #: COSE key in base64url.
    public_key: str
    #: How often the device says it was used; 0 if it does not count.
    count: int
    #: ISO times; `used` is "" before the first login.
    added: str
    used: str = ""


class PasskeyRefused(ValueError):
    """The browser's answer is not valid: of another challenge, site or key, or too late."""


class TooManyPasskeys(PasskeyRefused):
    """As many are stored as may be."""

    def __init__(self) -> None:
        self.phrase = Phrase("{most} passkeys are stored; remove one first", most=MAX_PASSKEYS)
        super().__init__(str(self.phrase))


class Passkeys:
    """Registers and checks passkeys. Blocks at the first use, which loads the library (0.3 s)."""

    def __init__(self, path: Path, clock: Callable[[], float] = time.monotonic) -> None:
        """path: file of the public keys; nothing in it is secret."""
        self._file = EnabledFile(path, Passkey)
        self._clock = clock
        # Challenges carry their own time and seal: whoever asks for many of them crowds out no one
        # else's.
        self._seal_key = secrets.token_bytes(SEAL_BYTES)
        self._used: BoundedDict[bytes, bool] = BoundedDict(MAX_USED_CHALLENGES)

    def all(self) -> Mapping[str, Passkey]:
        """Return the passkeys by id."""
        return self._file.load()

    def remove(self, id: str) -> Passkey | None:
        """Remove a passkey and return it; None if there is none."""
        known = self.all().get(id)
        if known is not None:
            self._file.set(id, None)
        return known

    def new_options(self, site: PasskeySite) -> dict[str, Any]:
        """Return what the browser's `navigator.credentials.create` takes, as JSON.

        Raises:
            ImportError: the extra is not installed. TooManyPasskeys.
        """
        import webauthn
        from webauthn.helpers import structs

        self._check_room()
        known = [structs.PublicKeyCredentialDescriptor(id=_decode(id)) for id in self.all()]
        options = webauthn.generate_registration_options(
            rp_id=site.host,
            rp_name="mnema",
            user_id=OWNER_ID,
            user_name=OWNER,
            challenge=self._challenge("register"),
            authenticator_selection=structs.AuthenticatorSelectionCriteria(
                resident_key=structs.ResidentKeyRequirement.REQUIRED,
                user_verification=structs.UserVerificationRequirement.REQUIRED,
            ),
            exclude_credentials=known,
        )
        return _to_json(webauthn.options_to_json(options))

    def login_options(self, site: PasskeySite) -> dict[str, Any] | None:
        """Return what `navigator.credentials.get` takes; None if no passkey is registered for the
        site.

        Ids of keys are not in it: the device finds its own. An extra that is not installed counts
        as no passkey.
        """
        if not any(known.site == site.host for known in self.all().values()):
            return None
        try:
            import webauthn
            from webauthn.helpers import structs
        except ImportError:
            return None
        options = webauthn.generate_authentication_options(
            rp_id=site.host,
            challenge=self._challenge("login"),
            user_verification=structs.UserVerificationRequirement.REQUIRED,
        )
        return _to_json(webauthn.options_to_json(options))

    def register(self, site: PasskeySite, name: str, credential: Mapping[str, Any]) -> str:
        """Store the passkey that a browser has created; return its id.

        Raises:
            PasskeyRefused: the answer is not valid. ImportError: the extra is not installed.
                TooManyPasskeys.
        """
        import webauthn

        self._check_room()
        challenge = self._take_challenge("register", credential)
        try:
            made = webauthn.verify_registration_response(
                credential=dict(credential),
                expected_challenge=challenge,
                expected_rp_id=site.host,
                expected_origin=site.origin,
                require_user_verification=True,
            )
        except Exception as err:
            raise PasskeyRefused(str(err)) from err
        id = _encode(made.credential_id)
        public_key, added = _encode(made.credential_public_key), datetime.now(UTC).isoformat()
        row = Passkey(
            name=name, site=site.host, public_key=public_key, count=made.sign_count, added=added
        )
        self._file.set(id, row)
        return id

    def verify(self, site: PasskeySite, credential: Mapping[str, Any]) -> str:
        """Return the id of the passkey that signed; "" for an answer that is not valid."""
        id = str(credential.get("id", ""))
        known = self.all().get(id)
        if known is None or known.site != site.host:
            return ""
        import webauthn

        try:
            checked = webauthn.verify_authentication_response(
                credential=dict(credential),
                expected_challenge=self._take_challenge("login", credential),
                expected_rp_id=site.host,
                expected_origin=site.origin,
                credential_public_key=_decode(known.public_key),
                credential_current_sign_count=known.count,
                require_user_verification=True,
            )
        except Exception as err:
            log.warning("a passkey was refused", why=type(err).__name__, exc_info=True)
            return ""
        self._file.set(
            id, replace(known, count=checked.new_sign_count, used=datetime.now(UTC).isoformat())
        )
        return id

    def _check_room(self) -> None:
        if len(self.all()) >= MAX_PASSKEYS:
            raise TooManyPasskeys

    def _challenge(self, purpose: Purpose) -> bytes:
        until = int((self._clock() + CHALLENGE_SECONDS) * 1000).to_bytes(TIME_BYTES, "big")
        given = until + secrets.token_bytes(NONCE_BYTES)
        return given + self._seal(purpose, given)

    def _take_challenge(self, purpose: Purpose, credential: Mapping[str, Any]) -> bytes:
        """Return the challenge that an answer names, once; the signature over it is checked later.

        Raises:
            PasskeyRefused: it was never given for this purpose, is used, or too old.
        """
        try:
            data = json.loads(_decode(str(credential["response"]["clientDataJSON"])))
            challenge = _decode(str(data["challenge"]))
        except (KeyError, TypeError, ValueError, RecursionError) as err:
            raise PasskeyRefused("the answer names no challenge") from err
        given, seal = challenge[:-SEAL_BYTES], challenge[-SEAL_BYTES:]
        until = int.from_bytes(given[:TIME_BYTES], "big") / 1000
        fits = hmac.compare_digest(seal, self._seal(purpose, given))
        if not fits or until < self._clock() or challenge in self._used:
            raise PasskeyRefused("the challenge is not known, or too old")
        self._used[challenge] = True
        return challenge

    def _seal(self, purpose: Purpose, given: bytes) -> bytes:
        return hmac.digest(self._seal_key, purpose.encode() + given, "sha256")


class PasskeyRoutes:
    """Handlers of the owner's passkeys."""

    def __init__(self, passkeys: Passkeys, gate: RequestGuard, store: Store) -> None:
        self._passkeys = passkeys
        self._gate = gate
        self._store = store

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        path = "/api/v1/passkeys"
        return (
            Route(
                method="GET",
                path=path,
                action="console.read",
                handler=self.list,
                reply=models.PasskeyListBody,
            ),
            Route(
                method="POST",
                path=f"{path}/options",
                action=MANAGE_ACTION,
                handler=self.options,
                needs_fresh_login=True,
                reply=models.PasskeyOptionsBody,
            ),
            Route(
                method="POST",
                path=path,
                action=MANAGE_ACTION,
                handler=self.add,
                needs_fresh_login=True,
                body=models.NewPasskeyBody,
                max_body=MAX_CREDENTIAL_BYTES,
                reply=DoneBody,
            ),
            Route(
                method="DELETE",
                path=f"{path}/{{id}}",
                action=MANAGE_ACTION,
                handler=self.remove,
                needs_fresh_login=True,
                reply=DoneBody,
            ),
        )

    async def list(self, request: Request) -> Response:
        """Return the passkeys, and the host of this address; "" where none can be used."""
        rows = [
            {
                "id": id,
                **{
                    name: value
                    for name, value in asdict(row).items()
                    if name not in ("public_key", "count")
                },
            }
            for id, row in self._passkeys.all().items()
        ]
        site = self._gate.passkey_site(request.scope["headers"])
        return json_response({"items": rows, "site": site.host if site else ""})

    async def options(self, request: Request) -> Response:
        """Return the options for a new passkey at this address."""
        site = self._site(request)
        try:
            return json_response(
                {"options": await asyncio.to_thread(self._passkeys.new_options, site)}
            )
        except TooManyPasskeys as err:
            raise HttpRefusal(409, "too_many", err.phrase) from err
        except ImportError as err:
            why = Phrase(
                "the extra passkeys is not installed; install it with: {command}",
                command=install_command("passkeys"),
            )
            raise HttpRefusal(409, "not_installed", why) from err

    async def add(self, request: Request, body: models.NewPasskeyBody) -> Response:
        """Store a new passkey."""
        site = self._site(request)
        try:
            await asyncio.to_thread(self._passkeys.register, site, body.name, body.credential)
        except TooManyPasskeys as err:
            raise HttpRefusal(409, "too_many", err.phrase) from err
        except PasskeyRefused as err:
            raise HttpRefusal(
                422, "passkey", Phrase("the browser's answer is not valid; try again")
            ) from err
        await self._store.note("passkey", body.name, "added", "console")
        return json_response({"ok": True}, 201)

    async def remove(self, request: Request) -> Response:
        """Remove a passkey, and end the logins that were made with it."""
        id = str(request.path_params["id"])
        known = await asyncio.to_thread(self._passkeys.remove, id)
        if known is None:
            raise HttpRefusal(404, "not_found", Phrase("there is no such passkey"))
        self._gate.end_passkey(id)
        await self._store.note("passkey", known.name, "removed", "console")
        return json_response({"ok": True})

    def _site(self, request: Request) -> PasskeySite:
        site = self._gate.passkey_site(request.scope["headers"])
        if site is None:
            raise HttpRefusal(
                409,
                "no_site",
                Phrase(
                    "passkeys need a domain name, not an IP address, in the address of the page"
                ),
            )
        return site


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except binascii.Error as err:
        raise PasskeyRefused("not base64url") from err


def _to_json(text: str) -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(text)
    return parsed
