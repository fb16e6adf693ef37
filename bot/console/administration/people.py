"""Routes of one person: role, linked accounts, use of today against the limits, and their data as a file."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, Any

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from bot.access.budgets import MINUTE, UsageLimits, budget_account, limits_for_actor, start_of_day, total_usage
from bot.access.pairing import PairingService
from bot.access.permissions import Actor, canonical_id
from bot.config.schema import Config, OwnBudgetConfig
from bot.console.administration import models
from bot.console.transcripts import CONSOLE_ACTOR, READ_OTHER_ACTION, conversation_owner
from bot.memory.export import PersonBundle
from channels.base import Channel
from channels.web.requests import HttpRefusal, Route, json_response
from memory.forgetting.person_removal import PersonNotFound, find_person
from memory.store.people.rows import Person
from memory.store.people.spending import SpendingQuery
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import Workspace

MAX_COUNTED = (10_000, 1_000_000)  # messages of a minute and of a day; what is above shows as that many
MAX_EXPORT_MEMORY = 8 * 2**20  # bytes; a larger export goes through a temporary file
CHUNK_BYTES = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class PeopleRoutes:
    """Handlers of one person's page."""

    store: Store
    pairing: PairingService
    config: Callable[[], Config]
    #: In the owner's zone, whose days count.
    now: Callable[[], datetime]
    channels: Mapping[str, Channel]
    workspace: Workspace
    blobs: Blobs

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        path = "/api/people/{who}"
        return (
            Route(method="GET", path=path, action="access.read", handler=self.person, reply=models.PersonFactsBody),
            Route(method="GET", path=f"{path}/export", action=READ_OTHER_ACTION, handler=self.export),
        )

    async def person(self, request: Request) -> Response:
        """Return what is known of a person, without a word of what they wrote."""
        channel, id = _parse_account(request)
        name = f"{channel}:{id}"
        facts = await self.pairing.facts()
        grants = [row for row in facts["people"] if (row["channel"], row["id"]) == (channel, id)]
        found = await self._find(name)
        if not grants and found is None:
            raise HttpRefusal(404, "not_found", f"{name} has no role and has written nothing")
        account = getattr(self.channels.get(channel), "account", "") or next((row["account"] for row in grants), "")
        actor = await self.pairing.roles.actor(channel, account, id, id, "dm")
        rows = [row for row in await self.store.people.load_people() if found and row.space in found.spaces]
        return json_response(
            {
                "channel": channel,
                "id": id,
                "name": next((row["name"] for row in grants if row["name"]), ""),
                "role": actor.role,
                "grants": grants,
                "accounts": list(found.accounts) if found else [name],
                "last_seen": max(row.updated for row in rows).isoformat() if rows else "",
                "conversations": sum(len(row.conversations) for row in rows),
                "messages": sum(row.messages for row in rows),
                "today": await self._usage(actor),
            }
        )

    async def _usage(self, actor: Actor) -> list[dict[str, Any]]:
        limits, now = limits_for_actor(self.config().budgets, actor), self.now()
        who, day = budget_account(actor), start_of_day(now).timestamp()
        spent = await self.store.spending.load_totals(
            SpendingQuery(
                who=who, minute=now.timestamp() - MINUTE, asked=now.timestamp(), day=day, most=MAX_COUNTED, mine=day,
                wants=frozenset({"messages", "tokens"}),
            )
        )  # fmt: skip
        sums, own = total_usage(spent.used), self.config().budgets.people.get(f"{actor.channel}:{actor.id}")
        used: dict[str, float] = {
            "messages_per_minute": len(spent.minute),
            "messages_per_day": spent.today,
            "tokens_per_day": sums.tokens,
            "money_per_day": round(sums.money, 6),
        }
        return [_usage_json(name, value, limits, own or OwnBudgetConfig()) for name, value in used.items()]

    async def export(self, request: Request) -> Response:
        """Return all data of a person as a ZIP file; each conversation of another person is noted in the audit list."""
        channel, id = _parse_account(request)
        person = await self._find(f"{channel}:{id}")
        if person is None:
            raise HttpRefusal(404, "not_found", f"{channel}:{id} has written nothing")
        for conversation in await self.store.people.conversations(person):
            row = await self.store.sessions.conversation(conversation)
            if row is not None and conversation_owner(row) == "other":
                await self.store.note(READ_OTHER_ACTION, row.id, "exported", CONSOLE_ACTOR)
        target = tempfile.SpooledTemporaryFile(max_size=MAX_EXPORT_MEMORY)  # noqa: SIM115 (closed once it is sent)
        try:
            await PersonBundle(self.store, self.workspace, self.blobs, target).fill(person, datetime.now(UTC))
        except BaseException:
            target.close()
            raise
        target.seek(0)
        name = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in f"{channel}-{id}")[:80]
        headers = {"cache-control": "no-store", "content-disposition": f'attachment; filename="mnema-{name}.zip"'}
        return StreamingResponse(_chunks(target), headers=headers, media_type="application/zip")

    async def _find(self, name: str) -> Person | None:
        try:
            return await find_person(self.store, name)
        except PersonNotFound:
            return None


async def _chunks(file: IO[bytes]) -> AsyncIterator[bytes]:
    try:
        while chunk := await asyncio.to_thread(file.read, CHUNK_BYTES):
            yield chunk
    finally:
        file.close()


def _parse_account(request: Request) -> tuple[str, str]:
    channel, _, id = str(request.path_params["who"]).partition(":")
    if not channel or not id:
        raise HttpRefusal(400, "who", "a person is named CHANNEL:ID, such as telegram:42")
    return channel, canonical_id(channel, id)


def _usage_json(name: str, used: float, limits: UsageLimits | None, own: OwnBudgetConfig) -> dict[str, Any]:
    most = getattr(limits, name) if limits else 0
    return {"limit": name, "used": used, "most": most, "own": getattr(own, name)}
