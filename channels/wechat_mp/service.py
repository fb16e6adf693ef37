"""Whether the account may write unasked (the customer-service API), and what is left of what each person may get."""

import time
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from typing import TypeVar

from channels.base import Notebook
from channels.errors import LoggedOut
from channels.wechat_mp.wire import DAY, SOON, NotGranted

T = TypeVar("T")
GRANTED = "granted"
ALLOWED = 5
"""Messages by the API after each of a person's, within 48 h."""
MOST_PEOPLE = 10_000


class Service:
    """What is known of the right, learnt from every call that needs it."""

    def __init__(self, app_id: str) -> None:
        self._page = f"{app_id}.service"
        self._refused_until = 0.0
        self._used: dict[str, int] = {}
        self._notebook: Notebook | None = None
        self.granted = False
        self.trouble = ""

    def bind(self, notebook: Notebook | None, pages: Mapping[str, str]) -> None:
        """Go on from what an earlier life wrote down."""
        self._notebook = notebook
        written = pages.get(self._page, "")
        self.granted = written == GRANTED
        self._refused_until = float(written) if written and not self.granted else 0.0

    @property
    def worth_asking(self) -> bool:
        """False for a day after the platform said no, and for five minutes after the owner was to mend something."""
        return time.time() >= self._refused_until

    async def ask(self, call: Awaitable[T]) -> T:
        """The call's result, noting what it tells of the right.

        Raises:
            NotGranted: it is not there, or the credentials are refused. What else the call raises.
        """
        try:
            result = await call
        except NotGranted as err:
            await self._refused(str(err), err.again)
            raise
        except LoggedOut as err:
            await self._refused(str(err), SOON)
            raise NotGranted(str(err), again=SOON) from err
        self.trouble = ""
        if not self.granted:
            self.granted = True
            await self._note(GRANTED)
        return result

    def wrote(self, person: str) -> None:
        """The person has written: they may get as many again."""
        self._used.pop(person, None)

    def sent(self, person: str, *, all_used: bool = False) -> None:
        """One more has gone to them by the API, or the platform says that they were all."""
        count = ALLOWED if all_used else self._used.pop(person, 0) + 1
        self._used[person] = count
        while len(self._used) > MOST_PEOPLE:
            del self._used[next(iter(self._used))]

    def last(self, person: str) -> bool:
        """Whether nothing can follow the next message to them before they write."""
        return not self.granted or self._used.get(person, 0) + 1 >= ALLOWED

    def quota(self) -> str:
        """What is left, in words."""
        if not self.granted:
            return "" if self.worth_asking else "one answer to each message: the account has no customer-service API"
        full = sum(1 for used in self._used.values() if used >= ALLOWED)
        return f"{ALLOWED} messages after each of a person's; used up for {full}"

    async def _refused(self, why: str, again: float) -> None:
        self.granted = False
        self.trouble = "" if again >= DAY else why
        self._refused_until = time.time() + again
        if again >= DAY:
            await self._note(f"{self._refused_until:.0f}")

    async def _note(self, written: str) -> None:
        if self._notebook is not None:
            with suppress(OSError):  # learnt anew in the next life
                await self._notebook.write({self._page: written})
