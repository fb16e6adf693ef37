"""Calls in the name of the account that is logged in, and the moment when it no longer is."""

import asyncio

from channels.errors import LoggedOut
from channels.wechat.book import Book
from channels.wechat.login import Credentials
from channels.wechat.pace import Pace
from channels.wechat.wire import Json, Wire, open_wire

WANTED = "WeChat is not logged in: scan the QR code that the page or the terminal shows"


class Session:
    """One account's calls, over a pool of connections that is opened when it is first needed.

    ended: set once a call was told that the session is over, until `begin`.
    """

    def __init__(self, book: Book, proxy: str, pace: Pace) -> None:
        self._book = book
        self._proxy = proxy
        self._pace = pace
        self._mouth: Wire | None = None
        self._opening = asyncio.Lock()
        self._refused: Credentials | None = None
        self.ended = asyncio.Event()

    @property
    def holds(self) -> bool:
        """Whether there are credentials that nobody has refused."""
        return self._book.login is not None and self._book.login is not self._refused

    @property
    def credentials(self) -> Credentials:
        """Those that hold. Raises LoggedOut: there are none."""
        if self._book.login is None or not self.holds:
            raise LoggedOut(WANTED)
        return self._book.login

    def begin(self) -> None:
        """What the book holds is to be tried (again)."""
        self._refused = None
        self.ended.clear()

    async def call(self, path: str, body: Json, *, wait: float = 0.0, wire: Wire | None = None) -> Json:
        """One call with the account's token; see Wire.post. wait: seconds, 0 for the usual.

        Raises:
            LoggedOut: there is no session, or this call was told that it is over.
        """
        login = self.credentials
        wire = wire or await self.mouth()
        try:
            return await wire.post(login.base, path, body, token=login.token, wait=wait or self._pace.answer)
        except LoggedOut:
            if login is self._book.login:
                self._refused = login
                self.ended.set()
            raise

    async def mouth(self) -> Wire:
        """The connections that everything but hearing uses."""
        async with self._opening:
            if self._mouth is None:
                self._mouth = await asyncio.to_thread(open_wire, self._proxy)
            return self._mouth

    async def close(self) -> None:
        """Drop the connections; a later call opens them again."""
        if self._mouth is not None:
            wire, self._mouth = self._mouth, None
            await wire.close()
