"""How an account comes in: a QR code, a phone, perhaps some digits."""

import asyncio
from urllib.parse import urlsplit

import structlog

from channels.base import LoginPrompt
from channels.errors import Ambiguous, ChannelError, LoggedOut, Rejected
from channels.wechat.client import ILinkClient, Json, PollHealth, PollTiming, checked_root
from channels.wechat.state import ILinkCredentials

log = structlog.get_logger(__name__)

MAX_CODES = 3  # QR codes that are shown one after the other; then there is a rest
MAX_DIGITS = 12

_SCAN_TEXT = (
    "用手机微信扫这个二维码，并在手机上确认。",
    "Scan this QR code with WeChat on your phone, and confirm there.",
)
_SCANNED_TEXT = ("已扫码：请在手机上确认。", "Scanned: now confirm it on your phone.")
_DIGITS_TEXT = ("请输入手机上显示的数字。", "Type the digits that your phone shows.")
_WRONG_DIGITS_TEXT = (
    "数字不对：请再输入手机上显示的数字。",
    "These digits were wrong: type again what your phone shows.",
)
_PAUSED_TEXT = (
    "二维码一直没有人扫。打开网页的“渠道”，或运行 mnema channels login wechat，会换新的。",
    "Nobody used the codes. A new one comes with the page's channel panel, or with mnema channels login wechat.",
)
_FETCHING_TEXT = ("正在向微信要二维码。", "Asking WeChat for a QR code.")


class _CodeExpired(Exception):
    """This QR code leads nowhere any more."""


class QrLogin:
    """One way in. root: of the API before login; prompt: what is wanted of the owner, None once somebody is in."""

    def __init__(self, root: str, pace: PollTiming, hearing: PollHealth) -> None:
        self._root = root
        self._pace = pace
        self._hearing = hearing
        self._prompt: LoginPrompt | None = None
        self._answer = ""
        self._woken = asyncio.Event()

    def prompt(self) -> LoginPrompt | None:
        """What is wanted now."""
        return self._prompt

    def answer(self, text: str) -> None:
        """What the owner typed: the digits, or anything to end a rest."""
        self._answer = text.strip()
        self._woken.set()

    async def run(self, wire: ILinkClient, tokens: list[str]) -> ILinkCredentials | None:
        """Until somebody has confirmed; None: the account is bound already, and what is stored still holds.

        Args:
            tokens: of earlier logins, the newest first.

        Raises:
            ChannelError: nothing heard for three polls' time, or the platform sends us to a foreign host.
        """
        try:
            login = await self._by_codes(wire, tokens)
        finally:
            self._ask("wait", _FETCHING_TEXT)  # nobody follows the code that was shown any more
        self._prompt = None
        return login

    async def _by_codes(self, wire: ILinkClient, tokens: list[str]) -> ILinkCredentials | None:
        while True:
            for _ in range(MAX_CODES):
                try:
                    async with asyncio.timeout(self._pace.code):
                        return await self._by_one_code(wire, tokens)
                except (_CodeExpired, TimeoutError):
                    log.info("qr code not used")
            await self._rest()

    async def _by_one_code(self, wire: ILinkClient, tokens: list[str]) -> ILinkCredentials | None:
        self._ask("wait", _FETCHING_TEXT)
        made = await self._hearing.call_with_retry(lambda: self._new_code(wire, tokens))
        self._ask("qr", _SCAN_TEXT, str(made["qrcode_img_content"]))
        code, root, digits = str(made["qrcode"]), self._root, ""
        while True:
            told = await self._hearing.call_with_retry(lambda: self._status(wire, root, code, digits))  # noqa: B023
            match told.get("status"):
                case "confirmed":
                    return self._credentials(told)
                case "binded_redirect" if tokens:
                    return None
                case "need_verifycode":
                    digits = await self._digits(wrong=bool(digits))
                    continue
                case "scaned_but_redirect":
                    scheme = urlsplit(self._root).scheme
                    root = checked_root(f"{scheme}://{told.get('redirect_host')}", self._root)
                case "scaned":
                    digits = ""
                    self._ask("wait", _SCANNED_TEXT)
                case "verify_code_blocked" | "expired" | "binded_redirect":
                    await asyncio.sleep(self._pace.look)
                    raise _CodeExpired
            await asyncio.sleep(self._pace.look)

    async def _new_code(self, wire: ILinkClient, tokens: list[str]) -> Json:
        path = "get_bot_qrcode?bot_type=3"
        try:
            made = await wire.post(self._root, path, {"local_token_list": tokens}, wait=self._pace.answer)
        except (Rejected, LoggedOut):
            if not tokens:
                raise
            made = await wire.post(self._root, path, {"local_token_list": []}, wait=self._pace.answer)
        if not made.get("qrcode") or not made.get("qrcode_img_content"):
            raise Ambiguous("an answer without a QR code")
        return made

    async def _status(self, wire: ILinkClient, root: str, code: str, digits: str) -> Json:
        query = {"qrcode": code} | ({"verify_code": digits} if digits else {})
        try:
            return await wire.get(root, "get_qrcode_status", query, wait=self._pace.poll + self._pace.grace)
        except (Rejected, LoggedOut) as err:
            log.info("qr code refused", error=str(err))
            return {"status": "expired"}

    async def _digits(self, wrong: bool) -> str:
        while True:
            self._ask("digits", _WRONG_DIGITS_TEXT if wrong else _DIGITS_TEXT)
            self._woken.clear()
            await self._woken.wait()
            if self._answer.isascii() and self._answer.isdigit() and len(self._answer) <= MAX_DIGITS:
                self._ask("wait", _SCANNED_TEXT)
                return self._answer
            wrong = True

    async def _rest(self) -> None:
        """Until somebody is there: the page and the command line answer with nothing when they show a rest."""
        self._ask("wait", _PAUSED_TEXT)
        self._woken.clear()
        await self._woken.wait()

    def _credentials(self, told: Json) -> ILinkCredentials:
        token, bot = str(told.get("bot_token") or ""), str(told.get("ilink_bot_id") or "")
        if not token or not bot:
            raise ChannelError("WeChat confirmed the login without a token")
        base = checked_root(str(told.get("baseurl") or self._root), self._root)
        return ILinkCredentials(token=token, bot=bot, base=base, person=str(told.get("ilink_user_id") or ""))

    def _ask(self, kind: str, words: tuple[str, str], text: str = "") -> None:
        self._prompt = LoginPrompt(kind=kind, zh=words[0], en=words[1], text=text)  # type: ignore[arg-type]
