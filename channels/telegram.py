"""The door to Telegram: hears by long polling, speaks through the Bot API."""

import asyncio
import importlib
from collections.abc import Sequence
from typing import Any

import structlog

from channels.base import Deliver
from channels.errors import Ambiguous, ChannelError, Retryable
from channels.message import Address, Capabilities, InboundMessage, LiveEvent, OutboundMessage, Receipt
from channels.pulse import Pulse
from channels.telegram_wire import ANSWER_SECONDS, ThreadMissing, Wire
from channels.telegram_words import LIMIT, parse, place, render

log = structlog.get_logger(__name__)

POLL_SECONDS = 30
GRACE_SECONDS = 10
"""How much longer than the server we wait for the end of a long poll."""
POLLS_MISSED = 3
"""After so many polls' time without an answer the connections are thrown away."""
SHORTEST_PAUSE = 1.0
STORE_PAUSE = 0.25
LONGEST_PAUSE = 30.0
TYPING_SECONDS = 4.0
"""Telegram shows "typing" for five seconds."""
TYPING_LONGEST = 180.0
HEARD = ["message"]


class Telegram:
    """One bot. base_url: root of the API server, "" for Telegram's own; proxy: URL; poll_seconds: length of one poll.

    What a person sees of an update depends on it being stored first: the next poll, which confirms a batch, is made
    only after `deliver` has returned for it. Therefore no queue stands between the two, and updates are kept as the
    plain JSON they came as, so that one of an unknown form cannot spoil its neighbours.
    """

    name = "telegram"

    def __init__(
        self, token: str, base_url: str = "", account: str = "", proxy: str = "", poll_seconds: int = POLL_SECONDS
    ) -> None:
        self.account = account or token.partition(":")[0]
        self.capabilities = Capabilities(limit=LIMIT, unit="utf16", live=True, per_chat_rate=1.0, total_rate=30.0)
        self._access = (token, base_url, proxy)
        self._poll_seconds = poll_seconds
        self._trouble = ""
        self._mouth: Wire | None = None
        self._typing = Pulse(self._type, every=TYPING_SECONDS, longest=TYPING_LONGEST)

    async def run(self, deliver: Deliver) -> None:
        """Hear until cancelled; every batch is confirmed to Telegram only after `deliver` returned.

        Raises:
            LoggedOut: the token is refused.
            ChannelError: another instance polls, a webhook is set, or nothing was heard for three polls' time.
        """
        await asyncio.to_thread(importlib.import_module, "telegram")  # up to a second, beside the loop
        wire = Wire(*self._access, wait=self._poll_seconds + GRACE_SECONDS)
        try:
            me = await self._answer(wire, "get_me", {})
            await self._listen(wire, me, deliver)
        finally:
            await wire.close()

    async def send(self, message: OutboundMessage) -> Receipt:
        """Deliver one part; return the new message's id.

        Raises:
            Retryable, Rejected, BadFormat, Moved, Ambiguous, LoggedOut: see channels.errors.
        """
        parameters = render(message)
        self._typing.stop(message.address)
        try:
            sent = await self._speak("send_message", parameters)
        except ThreadMissing:
            parameters.pop("message_thread_id", None)
            sent = await self._speak("send_message", parameters)
        if not isinstance(sent, dict) or not isinstance(sent.get("message_id"), int):
            raise Ambiguous("an answer without a message in it")
        return Receipt(platform_id=str(sent["message_id"]))

    def show(self, event: LiveEvent) -> None:
        """Show that an answer is being written, from `started` to the answer; best effort."""
        if event.name in ("reply", "error", "notice"):
            self._typing.stop(event.address)
        elif event.name in ("started", "delta", "tool_started", "tool_ended"):
            self._typing.beat(event.address)

    async def close(self) -> None:
        """Drop the connections that sends use; a later send opens them again."""
        await self._typing.close()
        if self._mouth is not None:
            wire, self._mouth = self._mouth, None
            await wire.close()

    async def _speak(self, method: str, parameters: dict[str, Any]) -> Any:
        if self._mouth is None:
            self._mouth = Wire(*self._access, wait=ANSWER_SECONDS)
        return await self._mouth.call(method, parameters)

    async def _type(self, address: Address) -> None:
        await self._speak("send_chat_action", {"chat_id": int(address.chat_id), "action": "typing", **place(address)})

    async def _listen(self, wire: Wire, me: dict[str, Any], deliver: Deliver) -> None:
        parameters = {"timeout": self._poll_seconds, "allowed_updates": HEARD}
        while True:
            updates = await self._answer(wire, "get_updates", parameters)
            messages = [message for update in updates if (message := self._read(update, me)) is not None]
            if messages:
                await _store(deliver, messages)
            if updates:
                parameters["offset"] = updates[-1]["update_id"] + 1

    def _read(self, update: dict[str, Any], me: dict[str, Any]) -> InboundMessage | None:
        try:
            return parse(update, me["id"], me["username"], self.account)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as err:
            log.warning(
                "update not understood", update_id=update.get("update_id"), error=f"{type(err).__name__}: {err}"
            )
            return None

    async def _answer(self, wire: Wire, method: str, parameters: dict[str, Any]) -> Any:
        """The answer to a call that may be repeated at will; a failing network is waited out for three polls' time."""
        patience = POLLS_MISSED * self._poll_seconds
        self._trouble = "no answer"
        try:
            async with asyncio.timeout(patience):
                return await self._insist(wire, method, parameters)
        except TimeoutError as err:
            raise ChannelError(f"nothing heard from Telegram for {patience} s: {self._trouble}") from err

    async def _insist(self, wire: Wire, method: str, parameters: dict[str, Any]) -> Any:
        pause = SHORTEST_PAUSE
        while True:
            try:
                return await wire.call(method, parameters)
            except (Retryable, Ambiguous) as err:
                self._trouble = str(err)
                log.info("telegram silent", error=self._trouble)
                asked = err.retry_after if isinstance(err, Retryable) else None
            await asyncio.sleep(asked or pause)
            pause = min(2 * pause, LONGEST_PAUSE)


async def _store(deliver: Deliver, messages: Sequence[InboundMessage]) -> None:
    """Deliver, for ever: what is not stored is not confirmed, and what is not confirmed stays with Telegram."""
    pause = STORE_PAUSE
    while True:
        try:
            await deliver(messages)
            return
        except (OSError, RuntimeError) as err:
            log.warning("messages not stored", count=len(messages), error=f"{type(err).__name__}: {err}")
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)
