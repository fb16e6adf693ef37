"""Opens a turn: who asks and where, what they sent as parts, the claim in the record."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.access import Decision, authorize
from bot.agent.drafting import Drafting
from bot.agent.events import Show, Watched
from bot.agent.job import Job
from bot.agent.recalling import Recalling
from bot.agent.tail import Tail, clock_note
from bot.attachments import ingest
from bot.config import Config
from bot.inbound import actor_of, where_of
from bot.intake import KeptFile, Said
from bot.reply import address_of
from bot.texts import language, say
from channels.message import Attachment
from memory.blobs import Blobs
from memory.conversation import Part, Text
from memory.store.doors import Store
from memory.store.records import ConversationRow, InboxRow, Place, TurnRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What is needed to open turns. config, model_name, now: as they are at that moment."""

    store: Store
    blobs: Blobs
    drafting: Drafting
    config: Callable[[], Config]
    model_name: Callable[[], str]
    now: Callable[[], datetime]
    show: Show
    recalling: Recalling

    async def conversation(self, row: InboxRow) -> ConversationRow:
        """The row's conversation."""
        found = await self.store.sessions.conversation(row.conversation)
        if found is None:
            raise LookupError(f"conversation {row.conversation} of inbox row {row.id} is missing")
        return found

    def allowed(self, row: InboxRow, place: Place) -> Decision:
        """Whether this sender may still talk here."""
        actor = actor_of(self.config(), place.channel, row.sender_id, place.chat_id, place.kind)
        return authorize(actor, "chat", "", where_of(place.channel, place.kind, place.space))

    async def job(
        self, row: InboxRow, said: Said, conversation: ConversationRow, parts: tuple[Part, ...] | None
    ) -> Job:
        """The turn of a row: taken up where the record has one, else claimed now.

        parts: what to answer instead of the row's own words (/retry).
        """
        config = self.config()
        place, lang = conversation.place, language(_words(said, parts), config.language)
        turn, recalled = await asyncio.gather(  # neither has to do with the other
            self._turn(row, said, parts, lang), self.recalling.recalled(conversation, _words(said, parts))
        )
        return Job(
            conversation=conversation,
            turn=turn,
            actor=actor_of(config, place.channel, row.sender_id, place.chat_id, place.kind),
            where=where_of(place.channel, place.kind, place.space),
            lang=lang,
            tail=Tail(clock=clock_note(self.now()), recalled=recalled),
            model=conversation.model or self.model_name(),
            policy=conversation.policy or config.context_policy,
            max_steps=config.agent_max_steps,
            watched=self.watched(place, row),
            words=_words(said, parts),
        )

    def watched(self, place: Place, row: InboxRow) -> Watched:
        """Where the events of this row are shown."""
        return Watched(show=self.show, address=address_of(place), message_id=row.id)

    async def _turn(self, row: InboxRow, said: Said, parts: tuple[Part, ...] | None, lang: str) -> TurnRow:
        known = await self.store.sessions.turn(row.turn_id) if row.turn_id else None
        return known or await self._claim(row, said, parts, lang)

    async def _claim(self, row: InboxRow, said: Said, parts: tuple[Part, ...] | None, lang: str) -> TurnRow:
        content = parts if parts is not None else await self._parts(said, lang)
        draft = await self.drafting.draft("user", content, "person")
        return await self.store.delivery.claim(row.id, replace(draft, id=row.id), row.sender_id)

    async def _parts(self, said: Said, lang: str) -> tuple[Part, ...]:
        """The message as the model will see it: files first, then the words."""
        parts: list[Part] = []
        kept = [file for file in said.files if file.sha256]
        if kept:
            held, lost = await self._held(kept)
            taken = await ingest(held, self.blobs, lang)
            parts += taken.parts
            parts += [Text(text=say(lang, "file_refused", why=why)) for why in (*taken.refused, *lost)]
        parts += [Text(text=say(lang, "file_away", name=file.name)) for file in said.files if not file.sha256]
        if said.text.strip() or not parts:
            parts.append(Text(text=said.text if said.text.strip() else "…"))
        return tuple(parts)

    async def _held(self, files: Sequence[KeptFile]) -> tuple[list[Attachment], list[str]]:
        """The files whose bytes can be read, and why the others cannot."""
        held, lost = [], []
        for file in files:
            try:
                data = await asyncio.to_thread(self.blobs.get, file.sha256)
            except OSError as err:
                lost.append(f"{file.name}: {err.strerror or type(err).__name__}")
            else:
                held.append(Attachment(name=file.name, media_type=file.media_type, data=data))
        return held, lost


def _words(said: Said, parts: tuple[Part, ...] | None) -> str:
    """What was said, or what is said again: it tells the language of the notices, and what memory is asked for."""
    if parts is None:
        return said.text
    return " ".join(part.text for part in parts if isinstance(part, Text))
