"""From the platforms' words to the record's: what a message says, and what row it becomes. Pure."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from bot.access import space_of
from bot.commands.names import command_of
from channels.message import InboundMessage, Quote
from channels.text import clean
from memory.store.records import ALBUM_SECONDS, Arrival, InboxKind, Place

PRESS = "press"
"""The command that a pressed button is."""
LONGEST_QUOTE = 2_000
URGENT = frozenset({PRESS, "approve", "deny", "stop", "status", "help", "whoami", "usage", "trace"})
"""Commands that overtake the queue: they read only, or they are there to end what runs."""
_KINDS: dict[str, InboxKind] = {"edit": "edit", "delete": "delete", "move": "move"}
ENDS_TURN = frozenset({"new", "context clear"})
"""Commands that end the running turn at once, then take their place in the queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an inbox row's body holds. files: raw attachments. name: the sender's own. quote: what it answers.

    proven: see InboundMessage.
    """

    text: str
    name: str = ""
    files: tuple["KeptFile", ...] = ()
    quote: Quote | None = None
    proven: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFile:
    """A raw attachment: blob hash ("" when the platform still holds it), label, claimed type, size in bytes.

    ref: what its channel fetches it by, "" where it came with the message.
    """

    sha256: str
    name: str
    media_type: str
    size: int
    ref: str = ""


def ends_turn(text: str) -> bool:
    """Whether this command ends the turn that runs now."""
    command = command_of(text)
    if command is None:
        return False
    name, rest = command
    return name in ENDS_TURN or f"{name} {rest.lower()}" in ENDS_TURN


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What was decided of a message before it is stored. space: of its place; ignored: why it is not taken, or "".

    aside: it is kept as background. to_space: of a chat that moves, the space of its new id.
    """

    space: str
    ignored: str = ""
    aside: bool = False
    to_space: str = ""


def arrival(message: InboundMessage, files: Sequence[KeptFile], taken: Taken, now: float) -> Arrival:
    """The row that one message becomes. now: unix seconds."""
    text = f"/{PRESS} {message.target}" if message.act == "press" else message.text
    command = command_of(text) if message.act in ("message", "press") and not taken.aside else None
    said = Said(text=text, name=message.sender.name, files=tuple(files), quote=message.quote, proven=message.proven)
    return Arrival(
        place=_place(message, taken.space),
        key=clean(message.key),
        kind=_kind(message, taken, command is not None),
        sender_id=clean(message.sender.id),
        body="" if taken.ignored or message.act in ("delete", "move") else dump_said(said),
        order_key=message.order_key,
        ignored=taken.ignored,
        urgent=command is not None and command[0] in URGENT,
        not_before=now + ALBUM_SECONDS if message.album and not taken.aside else 0.0,
        target=clean(message.target),
        to_space=taken.to_space,
        album="" if taken.aside else message.album,
    )


def moved(place: Place, chat_id: str) -> Arrival:
    """What a send that was told of a chat's new id has to say to the record."""
    to_space = space_of("guest", place.channel, place.account, "", chat_id, place.kind)
    return Arrival(
        place=place, key=f"moved:{chat_id}", kind="move", sender_id="", body="", target=chat_id, to_space=to_space
    )


def _kind(message: InboundMessage, taken: Taken, command: bool) -> InboxKind:
    if message.act in ("edit", "delete", "move"):
        return _KINDS[message.act]
    if taken.aside:
        return "aside"
    return "command" if command else "message"


def _place(message: InboundMessage, space: str) -> Place:
    address = message.address
    return Place(
        channel=address.channel,
        account=address.account,
        chat_id=address.chat_id,
        thread_id=address.thread_id,
        kind=message.kind,
        space=space,
    )


def dump_said(said: Said) -> str:
    """A body as JSON text; `shown` is what a transcript has of a message with files."""
    record: dict[str, Any] = {"text": said.text}
    if said.name:
        record["name"] = said.name
    if not said.proven:
        record["unproven"] = True
    if said.quote:
        quote = said.quote
        record["quote"] = [quote.text[:LONGEST_QUOTE], quote.author, quote.ours, quote.author_id]
    if said.files:
        names = " ".join(f"📎 {file.name}" for file in said.files)
        record["shown"] = "\n".join(filter(None, (said.text, names)))
        record["files"] = [[file.sha256, file.name, file.media_type, file.size, file.ref] for file in said.files]
    return clean(json.dumps(record, ensure_ascii=False))


def load_said(body: str) -> Said:
    """The inverse of `dump_said`."""
    record = json.loads(body)
    files = tuple(
        KeptFile(sha256=file[0], name=file[1], media_type=file[2], size=file[3], ref=file[4] if len(file) > 4 else "")
        for file in record.get("files", ())
    )
    quoted = record.get("quote")
    quote = Quote(text=quoted[0], author=quoted[1], ours=quoted[2], author_id="".join(quoted[3:])) if quoted else None
    proven = not record.get("unproven", False)
    return Said(text=record["text"], name=record.get("name", ""), files=files, quote=quote, proven=proven)
