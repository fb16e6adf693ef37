"""Login by QR code, which a person scans with a phone, and sometimes by digits that the phone
shows.
"""

import asyncio
import time
from typing import Literal
from urllib.parse import urlsplit

import structlog

from channels.base import LoginPrompt
from channels.errors import Ambiguous, ChannelError, LoggedOut, Rejected
from channels.phrases import Phrase
from channels.wechat.client import ILinkClient, Json, PollHealth, PollTiming, checked_root
from channels.wechat.state import ILinkCredentials

log = structlog.get_logger(__name__)

MAX_CODES = 3  # unused QR codes in a row; then none is fetched until the owner looks
MAX_DIGITS = 12

_SCAN_TEXT = Phrase("Scan this QR code with WeChat on your phone, and confirm there.")
_SCANNED_TEXT = Phrase("Scanned: now confirm it on your phone.")
_DIGITS_TEXT = Phrase("Type the digits shown on your phone.")
_WRONG_DIGITS_TEXT = Phrase("Those digits were wrong: type the ones your phone shows.")
_PAUSED_TEXT = Phrase(
    "Nobody scanned the codes. Open Channels on the page, or run mnema channels login wechat, to "
    "get a new one."
)
_FETCHING_TEXT = Phrase("Asking WeChat for a QR code.")


class _CodeExpired(Exception):
    """This QR code is no longer valid."""


class QrLogin:
    """Logs an account in. root: URL of the API before login."""

    def __init__(self, root: str, timing: PollTiming, health: PollHealth) -> None:
        self._root = root
        self._timing = timing
        self._health = health
        self._prompt: LoginPrompt | None = None
        self._answer = ""
        self._answered = asyncio.Event()

    def prompt(self) -> LoginPrompt | None:
        """Return what the owner has to do now; None after the login."""
        return self._prompt

    def answer(self, text: str) -> None:
        """Enter the digits; any text ends a pause."""
        self._answer = text.strip()
        self._answered.set()

    async def run(self, client: ILinkClient, tokens: list[str]) -> ILinkCredentials | None:
        """Show QR codes until one is confirmed; None if the stored login is still valid, says the
        platform.

        Args:
            tokens: of earlier logins, newest first.

        Raises:
            ChannelError: no good reply in the time of three polls, or the platform names a foreign
                host.
        """
        try:
            login = await self._show_codes(client, tokens)
        finally:
            # nothing polls the code that was shown any more
            self._set_prompt("wait", _FETCHING_TEXT)
        self._prompt = None
        return login

    async def _show_codes(self, client: ILinkClient, tokens: list[str]) -> ILinkCredentials | None:
        while True:
            for _ in range(MAX_CODES):
                try:
                    async with asyncio.timeout(self._timing.code_lifetime):
                        return await self._show_code(client, tokens)
                except (_CodeExpired, TimeoutError):
                    log.info("qr code not used")
            # Until someone looks: the page and the command line send an empty answer when they show
            # this prompt.
            self._set_prompt("wait", _PAUSED_TEXT)
            self._answered.clear()
            await self._answered.wait()

    async def _show_code(self, client: ILinkClient, tokens: list[str]) -> ILinkCredentials | None:
        self._set_prompt("wait", _FETCHING_TEXT)
        code = await self._health.call_with_retry(lambda: self._fetch_code(client, tokens))
        self._set_prompt(
            "qr",
            _SCAN_TEXT,
            str(code["qrcode_img_content"]),
            time.time() + self._timing.code_lifetime,
        )
        id, root, digits = str(code["qrcode"]), self._root, ""
        while True:
            reply = await self._health.call_with_retry(
                lambda: self._status(client, root, id, digits)  # noqa: B023
            )  # noqa: B023, RUF100
            match reply.get("status"):
                case "confirmed":
                    return self._credentials(reply)
                case "binded_redirect" if tokens:
                    return None
                case "need_verifycode":
                    digits = await self._ask_digits(wrong=bool(digits))
                    continue
                case "scaned_but_redirect":
                    scheme = urlsplit(self._root).scheme
                    root = checked_root(f"{scheme}://{reply.get('redirect_host')}", self._root)
                case "scaned":
                    digits = ""
                    self._set_prompt("wait", _SCANNED_TEXT)
                case "verify_code_blocked" | "expired" | "binded_redirect":
                    await asyncio.sleep(self._timing.check)
                    raise _CodeExpired
            await asyncio.sleep(self._timing.check)

    async def _fetch_code(self, client: ILinkClient, tokens: list[str]) -> Json:
        path, timeout = "get_bot_qrcode?bot_type=3", self._timing.reply
        try:
            code = await client.post(
                self._root, path, {"local_token_list": tokens}, timeout=timeout
            )
        except (Rejected, LoggedOut):
            if not tokens:
                raise
            code = await client.post(self._root, path, {"local_token_list": []}, timeout=timeout)
        if not code.get("qrcode") or not code.get("qrcode_img_content"):
            raise Ambiguous("the reply has no QR code")
        return code

    async def _status(self, client: ILinkClient, root: str, code: str, digits: str) -> Json:
        query = {"qrcode": code} | ({"verify_code": digits} if digits else {})
        try:
            return await client.get(
                root, "get_qrcode_status", query, timeout=self._timing.poll + self._timing.grace
            )
        except (Rejected, LoggedOut) as err:
            log.info("qr code refused", error=str(err))
            return {"status": "expired"}

    async def _ask_digits(self, wrong: bool) -> str:
        while True:
            self._set_prompt("digits", _WRONG_DIGITS_TEXT if wrong else _DIGITS_TEXT)
            self._answered.clear()
            await self._answered.wait()
            if (
                self._answer.isascii()
                and self._answer.isdigit()
                and len(self._answer) <= MAX_DIGITS
            ):
                self._set_prompt("wait", _SCANNED_TEXT)
                return self._answer
            wrong = True

    def _credentials(self, reply: Json) -> ILinkCredentials:
        token, bot = str(reply.get("bot_token") or ""), str(reply.get("ilink_bot_id") or "")
        if not token or not bot:
            raise ChannelError("WeChat confirmed the login without a token")
        base = checked_root(str(reply.get("baseurl") or self._root), self._root)
        return ILinkCredentials(
            token=token, bot=bot, base=base, person=str(reply.get("ilink_user_id") or "")
        )

    def _set_prompt(
        self,
        kind: Literal["qr", "digits", "wait"],
        about: Phrase,
        code: str = "",
        expires: float = 0.0,
    ) -> None:
        self._prompt = LoginPrompt(kind=kind, about=about, text=code, expires=expires)
