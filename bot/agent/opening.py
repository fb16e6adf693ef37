"""Opens a turn: who asks and where, what they sent as parts, the claim in the record."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from bot.access import Actor, Decision, authorize
from bot.agent.drafting import Drafting
from bot.agent.events import Show, Watched
from bot.agent.job import USUAL, Job, Times
from bot.agent.recalling import Recalled, Recalling
from bot.agent.tail import Tail, clock_note
from bot.attachments import StoredFile, ingest, label, refusal
from bot.budgeting import Budgeting
from bot.budgets import who_of
from bot.composing import background, name_of, own_words, quoted
from bot.config import Config
from bot.fetching import Fetching, Here
from bot.inbound import where_of
from bot.intake import KeptFile, Said, load_said
from bot.outside import from_outside
from bot.reply import address_of
from bot.roles import Roles
from bot.storage import NoRoom
from bot.texts import language, say
from channels.errors import ChannelError, TooBig
from memory.blobs import Blobs
from memory.context.taint import NOT_READ
from memory.conversation import Part, Text
from memory.store.doors import Store
from memory.store.records import ConversationRow, InboxRow, Place, TurnRow


@dataclass(frozen=True, slots=True)
class _Here:
    """Where a turn is opened, in which language, and whose budget it counts to."""

    lang: str
    place: Place
    who: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What is needed to open turns. config, model_name, now: as they are at that moment; times: of each turn."""

    store: Store
    blobs: Blobs
    drafting: Drafting
    config: Callable[[], Config]
    model_name: Callable[[], str]
    now: Callable[[], datetime]
    show: Show
    recalling: Recalling
    roles: Roles
    fetching: Fetching
    budgeting: Budgeting
    times: Times = USUAL

    async def conversation(self, row: InboxRow) -> ConversationRow:
        """The row's conversation."""
        found = await self.store.sessions.conversation(row.conversation)
        if found is None:
            raise LookupError(f"conversation {row.conversation} of inbox row {row.id} is missing")
        return found

    def allowed(self, actor: Actor, place: Place) -> Decision:
        """Whether this sender may still talk here."""
        return authorize(actor, "chat", "", where_of(place.channel, place.kind, place.space))

    async def over_budget(self, row: InboxRow, said: Said, conversation: ConversationRow, actor: Actor) -> bool:
        """Whether this sender has used up what they may use; the row is settled then."""
        return await self.budgeting.refuse(row, said, actor, conversation.model or self.model_name())

    async def actor(self, row: InboxRow, place: Place) -> Actor:
        """Who the sender is at this moment."""
        sender, proven = row.sender_id, load_said(row.body).proven
        return await self.roles.actor(place.channel, place.account, sender, place.chat_id, place.kind, proven=proven)

    async def job(
        self, row: InboxRow, said: Said, conversation: ConversationRow, parts: tuple[Part, ...] | None, actor: Actor
    ) -> Job:
        """The turn of a row: taken up where the record has one, else claimed now.

        parts: what to answer instead of the row's own words (/retry).
        """
        config = self.config()
        place, lang = conversation.place, language(_words(said, parts), config.language)
        turn, recalled = await asyncio.gather(  # neither has to do with the other
            self._turn(row, said, parts, _Here(lang, place, who_of(actor))),
            self._recalled(conversation, _words(said, parts)),
        )
        return Job(
            conversation=conversation,
            turn=turn,
            actor=actor,
            where=where_of(place.channel, place.kind, place.space),
            lang=lang,
            tail=Tail(clock=clock_note(self.now()), recalled=recalled),
            model=conversation.model or self.model_name(),
            policy=conversation.policy or config.context_policy,
            max_steps=config.agent_max_steps,
            watched=self.watched(place, row),
            words=_words(said, parts),
            times=self.times,
        )

    async def _recalled(self, conversation: ConversationRow, words: str) -> Recalled:
        """What memory holds on these words, and what of it would taint the turn; a group's turns are tainted anyway."""
        found = await self.recalling.recalled(conversation, words)
        if conversation.place.kind == "group" or not found.passages:
            return found
        labelled = zip(found.passages, await from_outside(self.store, found.passages), strict=True)
        return replace(found, outside=frozenset(passage for passage, outside in labelled if outside))

    def watched(self, place: Place, row: InboxRow) -> Watched:
        """Where the events of this row are shown."""
        return Watched(show=self.show, address=address_of(place), message_id=row.id)

    async def _turn(self, row: InboxRow, said: Said, parts: tuple[Part, ...] | None, here: _Here) -> TurnRow:
        known = await self.store.delivery.take_over(row.turn_id) if row.turn_id else None
        return known or await self._claim(row, said, parts, here)

    async def _claim(self, row: InboxRow, said: Said, parts: tuple[Part, ...] | None, here: _Here) -> TurnRow:
        beside = [] if parts is not None else await self.store.delivery.companions(row)
        content = parts if parts is not None else await self._parts(row, said, beside, here)
        draft = await self.drafting.draft("user", content, "person")
        return await self.store.delivery.claim(
            row.id, replace(draft, id=row.id), row.sender_id, beside, body=row.body, who=here.who
        )

    async def _parts(self, row: InboxRow, said: Said, beside: Sequence[InboxRow], here: _Here) -> tuple[Part, ...]:
        """The message as the model will see it: what was said beside it, its files, then its words."""
        lang, place = here.lang, here.place
        asides = [(one, load_said(one.body)) for one in beside if one.state == "aside"]
        whole = [said, *(load_said(one.body) for one in beside if one.state == "new")]
        parts: list[Part] = [*background(asides, place.kind), *quoted(said, row, place.kind)]
        parts += await self._files([file for one in whole for file in one.files], place, lang)
        text = own_words(one.text for one in whole) if len(whole) > 1 else said.text
        if text.strip() or not any(not isinstance(part, Text) or not part.aside for part in parts):
            parts.append(Text(text=text if text.strip() else "…", by=name_of(said, row, place.kind)))
        return tuple(parts)

    async def _files(self, files: Sequence[KeptFile], place: Place, lang: str) -> list[Part]:
        if not files:
            return []
        held, lost = await self._held(files, place, lang)
        taken = await ingest(held, self.blobs, lang)
        told = (say(lang, "file_refused", why=why) for why in (*taken.refused, *lost))
        return [*taken.parts, *(Text(text=text, aside=NOT_READ) for text in told)]

    async def _held(self, files: Sequence[KeptFile], place: Place, lang: str) -> tuple[list[StoredFile], list[str]]:
        """The files that are here, and why the others are not."""
        held, lost = [], []
        for file in files:
            try:
                held.append(await self._file(file, place))
            except TooBig:
                lost.append(refusal(file.name, "size", lang))
            except NoRoom as err:
                lost.append(err.full.sentence(label(file.name), lang))
            except OSError as err:
                lost.append(f"{label(file.name)}: {err.strerror or type(err).__name__}")
            except ChannelError as err:
                lost.append(f"{label(file.name)}: {say(lang, 'file_away')} ({err})")
        return held, lost

    async def _file(self, file: KeptFile, place: Place) -> StoredFile:
        here = Here(sha256=file.sha256)
        if file.ref and not file.sha256:
            here = await self.fetching.get(place.channel, file.ref, place.space)
        elif file.size and not file.sha256:
            raise self.budgeting.storage.no_room(place.space, file.size)
        return StoredFile(name=here.name or file.name, sha256=here.sha256)


def _words(said: Said, parts: tuple[Part, ...] | None) -> str:
    """What was said, or what is said again: it tells the language of the notices, and what memory is asked for."""
    if parts is None:
        return said.text
    return " ".join(part.text for part in parts if isinstance(part, Text) and not part.aside)
