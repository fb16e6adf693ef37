"""Routes of one person: role, linked accounts, use of today against the limits, their data as a
file, its deletion.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import IO, Any, cast

import structlog
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from bot.access.budgets import (
    MINUTE,
    UsageLimits,
    budget_account,
    limits_for_actor,
    start_of_day,
    total_usage,
)
from bot.access.pairing import PairingService
from bot.access.permissions import Actor, canonical_id
from bot.access.person_deletion import PersonDeletion, describe_not_found
from bot.config.schema import Config
from bot.config.sections.budgets import OwnBudgetConfig
from bot.console.administration import models
from bot.console.page_messages import conversation_owner
from bot.console.transcripts import CONSOLE_ACTOR, READ_OTHER_ACTION
from bot.memory.export import PersonBundle
from channels.base import Channel
from channels.phrases import Phrase
from channels.web.requests import HttpRefusal, Route, json_response
from memory.forgetting.person_removal import PersonNotFound, find_person
from memory.store.errors import StoreError
from memory.store.people.rows import Person
from memory.store.people.spending import SpendingQuery
from memory.store.store import Store
from memory.tasks import cancel_and_wait
from memory.workspace.blobs import Blobs
from memory.workspace.files import Workspace

log = structlog.get_logger(__name__)
DELETE_ACTION = "person.delete"
# messages of a minute and of a day; what is above shows as that many
MAX_COUNTED = (10_000, 1_000_000)


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
    deletion: PersonDeletion

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        path = "/api/v1/people/{who}"
        return (
            Route(
                method="GET",
                path=path,
                action="access.read",
                handler=self.person,
                reply=models.PersonFactsBody,
            ),
            Route(
                method="GET", path=f"{path}/export", action=READ_OTHER_ACTION, handler=self.export
            ),
            Route(
                method="GET",
                path=f"{path}/deletion",
                action=DELETE_ACTION,
                handler=self.preview_deletion,
                reply=models.PersonDeletionPreviewBody,
            ),
            Route(
                method="POST",
                path=f"{path}/deletion",
                action=DELETE_ACTION,
                handler=self.delete,
                needs_fresh_login=True,
                body=models.PersonDeletionBody,
                reply=models.PersonDeletionReceiptBody,
            ),
        )

    async def person(self, request: Request) -> Response:
        """Return what is known of a person, without a word of what they wrote."""
        channel, id = _parse_account(request)
        name = f"{channel}:{id}"
        facts = await self.pairing.facts()
        grants = [row for row in facts["people"] if (row["channel"], row["id"]) == (channel, id)]
        found = await self._find(name)
        if not grants and found is None:
            raise HttpRefusal(
                404,
                "not_found",
                Phrase("{name} has no role and has not written anything", name=name),
            )
        account = getattr(self.channels.get(channel), "account", "") or next(
            (row["account"] for row in grants), ""
        )
        actor = await self.pairing.roles.actor(channel, account, id, id, "dm")
        return json_response(
            {
                "channel": channel,
                "id": id,
                "name": next((row["name"] for row in grants if row["name"]), ""),
                "role": actor.role,
                "grants": grants,
                "accounts": list(found.accounts) if found else [name],
                **await self._activity(found.spaces if found else ()),
                "today": await self._usage(actor),
            }
        )

    async def _activity(self, spaces: Collection[str]) -> dict[str, Any]:
        """Return how much was written in these spaces, and when last."""
        rows = [row for row in await self.store.people.load_people() if row.space in spaces]
        return {
            "last_seen": max(row.updated for row in rows).isoformat() if rows else "",
            "conversations": sum(len(row.conversations) for row in rows),
            "messages": sum(row.messages for row in rows),
        }

    async def _usage(self, actor: Actor) -> list[dict[str, Any]]:
        limits, now = limits_for_actor(self.config().budgets, actor), self.now()
        who, day = budget_account(actor), start_of_day(now).timestamp()
        spent = await self.store.spending.load_totals(
            SpendingQuery(
                who=who,
                minute=now.timestamp() - MINUTE,
                asked=now.timestamp(),
                day=day,
                most=MAX_COUNTED,
                mine=day,
                wants=frozenset({"messages", "tokens"}),
            )
        )
        sums, own = (
            total_usage(spent.used),
            self.config().budgets.people.get(f"{actor.channel}:{actor.id}"),
        )
        used: dict[str, float] = {
            "messages_per_minute": len(spent.minute),
            "messages_per_day": spent.today,
            "tokens_per_day": sums.tokens,
            "money_per_day": round(sums.money, 6),
        }
        return [
            _usage_json(name, value, limits, own or OwnBudgetConfig())
            for name, value in used.items()
        ]

    async def export(self, request: Request) -> Response:
        """Return all data of a person as a ZIP file; each conversation of another person is noted
        in the audit list.
        """
        channel, id = _parse_account(request)
        person = await self._find(f"{channel}:{id}")
        if person is None:
            raise HttpRefusal(
                404,
                "not_found",
                Phrase("{channel}:{id} has not written anything", channel=channel, id=id),
            )
        for conversation in await self.store.people.conversations(person):
            row = await self.store.sessions.conversation(conversation)
            if row is not None and conversation_owner(row) == "other":
                await self.store.note(READ_OTHER_ACTION, row.id, "exported", CONSOLE_ACTOR)
        name = "".join(
            sign if sign.isascii() and sign.isalnum() else "-" for sign in f"{channel}-{id}"
        )[:80]
        headers = {
            "cache-control": "no-store",
            "content-disposition": f'attachment; filename="mnema-{name}.zip"',
        }
        return StreamingResponse(
            self._bundle(person), headers=headers, media_type="application/zip"
        )

    async def _bundle(self, person: Person) -> AsyncIterator[bytes]:
        """Yield the ZIP file as it is made; the reader sets the pace."""
        pipe = _ExportPipe()
        target = cast(IO[bytes], pipe)
        bundle = PersonBundle(
            self.store, self.workspace, self.blobs, target, written=pipe.handed_over
        )
        making = asyncio.create_task(bundle.fill(person, datetime.now(UTC)))
        making.add_done_callback(pipe.end)
        try:
            while piece := await pipe.next_piece():
                yield piece
            # raises what went wrong, so that the download fails instead of ending early
            await making
        finally:
            await cancel_and_wait([making])

    async def preview_deletion(self, request: Request) -> Response:
        """Return what the deletion of a person would delete, and what would stay."""
        channel, id = _parse_account(request)
        try:
            preview = await self.deletion.preview(f"{channel}:{id}")
        except PersonNotFound as err:
            raise _not_removable(err) from err
        return json_response(asdict(preview))

    async def delete(self, request: Request, body: models.PersonDeletionBody) -> Response:
        """Delete all data of a person, whose name has to be typed; return what was deleted and what
        stays.
        """
        channel, id = _parse_account(request)
        name = f"{channel}:{id}"
        if body.name != name:
            raise HttpRefusal(
                400,
                "name",
                Phrase("type the name, {name}, to delete all data of this person", name=name),
                field="name",
            )
        try:
            preview = await self.deletion.preview(name)
            report = await self.deletion.delete(name, CONSOLE_ACTOR)
        except PersonNotFound as err:
            raise _not_removable(err) from err
        except (StoreError, OSError) as err:
            log.exception("the deletion of a person is interrupted")
            raise HttpRefusal(
                503,
                "storage",
                Phrase("not all could be deleted yet; try again, or restart the bot"),
            ) from err
        return json_response({**asdict(report), "listed": preview.listed})

    async def _find(self, name: str) -> Person | None:
        try:
            return await find_person(self.store, name)
        except PersonNotFound:
            return None


class _ExportPipe:
    """The end of a pipe that an export is written to: holds what was written until it is handed
    over.
    """

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._ended = False
        self._filled, self._emptied = asyncio.Event(), asyncio.Event()

    def write(self, data: bytes) -> int:
        """Hold a piece. Called in threads, but never two at a time, nor while one is handed
        over.
        """
        if data:
            self._pieces.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Do nothing; a ZIP file asks for it."""

    async def handed_over(self) -> None:
        """Wait until the reader has taken what was written."""
        if self._pieces:
            self._emptied.clear()
            self._filled.set()
            await self._emptied.wait()

    def end(self, _: object) -> None:
        """Tell the reader that nothing more comes."""
        self._ended = True
        self._filled.set()

    async def next_piece(self) -> bytes:
        """Return what was written since the last call, once there is something; b"" at the end."""
        await self._filled.wait()
        piece = b"" if self._ended else b"".join(self._pieces)
        self._pieces.clear()
        if not self._ended:
            self._filled.clear()
            self._emptied.set()
        return piece


def _not_removable(err: PersonNotFound) -> HttpRefusal:
    return HttpRefusal(409, "not_removable", describe_not_found(err))


def _parse_account(request: Request) -> tuple[str, str]:
    channel, _, id = str(request.path_params["who"]).partition(":")
    if not channel or not id:
        raise HttpRefusal(400, "who", Phrase("write a person as CHANNEL:ID, such as telegram:42"))
    return channel, canonical_id(channel, id)


def _usage_json(
    name: str, used: float, limits: UsageLimits | None, own: OwnBudgetConfig
) -> dict[str, Any]:
    most = getattr(limits, name) if limits else 0
    return {"limit": name, "used": used, "most": most, "own": getattr(own, name)}
