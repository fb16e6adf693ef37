"""What people in groups call themselves: events name them by id only, so the list of members is asked beside."""

import asyncio
import time

import structlog

from channels.errors import ChannelError
from channels.feishu.client import FeishuClient, PermissionMissing
from channels.toolkit.text import replace_unstorable

log = structlog.get_logger(__name__)

REFRESH_SECONDS = 6 * 3600.0
MAX_PAGES = 20
PAGE_SIZE = 100
MAX_NAMES = 20_000


class MemberNames:
    """Names by open_id, as far as they are known yet; for show, never an identity."""

    def __init__(self, wire: FeishuClient) -> None:
        self._wire = wire
        self._asked: dict[str, float] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._allowed = True
        self.known: dict[str, str] = {}

    async def within(self, chat_id: str, seconds: float) -> None:
        """Learn the names of a group's members, unless that was done lately; what takes longer goes on by itself."""
        now = time.monotonic()
        if not self._allowed or now - self._asked.get(chat_id, -REFRESH_SECONDS) < REFRESH_SECONDS:
            return
        self._asked[chat_id] = now
        task = asyncio.create_task(self._learn(chat_id), name="feishu names")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        await asyncio.wait({task}, timeout=seconds)

    async def close(self) -> None:
        """Ask nobody any more."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _learn(self, chat_id: str) -> None:
        page = ""
        try:
            for _ in range(MAX_PAGES):
                params = {"member_id_type": "open_id", "page_size": PAGE_SIZE, **({"page_token": page} if page else {})}
                data = (await self._wire.call("GET", f"/im/v1/chats/{chat_id}/members", params=params)).get(
                    "data"
                ) or {}
                self.known |= {
                    str(one["member_id"]): replace_unstorable(str(one.get("name") or "")) for one in data["items"]
                }
                page = data.get("page_token") or ""
                if not data.get("has_more") or not page or len(self.known) > MAX_NAMES:
                    return
        except PermissionMissing as err:
            self._allowed = False
            log.info("names of group members are not known", error=str(err))
        except (ChannelError, KeyError, TypeError) as err:
            log.info("names of a group's members were not learnt", error=type(err).__name__)
