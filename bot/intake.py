"""From the platforms' words to the record's: what a message says, and what row it becomes. Pure."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from channels.message import InboundMessage
from memory.store.records import Arrival, Place

_COMMAND = re.compile(r"\s*[/／]([A-Za-z][A-Za-z0-9_]*)(?:@\w+)?(?:\s+(.*))?\s*", re.DOTALL)
URGENT = frozenset({"stop", "status", "help", "whoami", "usage"})
"""Commands that overtake the queue: they read only, or they are there to end what runs."""
ENDS_TURN = frozenset({"new", "context clear"})
"""Commands that end the running turn at once, then take their place in the queue."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """What an inbox row's body holds. files: raw attachments kept as blobs. name: the sender's own, for groups."""

    text: str
    name: str = ""
    files: tuple["KeptFile", ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFile:
    """A raw attachment: blob hash ("" when the platform still holds it), label, claimed type, size in bytes."""

    sha256: str
    name: str
    media_type: str
    size: int


def command_of(text: str) -> tuple[str, str] | None:
    """(name in lower case, the rest) of a slash command, None for anything else (`/etc/hosts` is no command)."""
    found = _COMMAND.fullmatch(text)
    if found is None:
        return None
    return found[1].lower(), (found[2] or "").strip()


def ends_turn(text: str) -> bool:
    """Whether this command ends the turn that runs now."""
    command = command_of(text)
    if command is None:
        return False
    name, rest = command
    return name in ENDS_TURN or f"{name} {rest.lower()}" in ENDS_TURN


def arrival(message: InboundMessage, files: Sequence[KeptFile], space: str, ignored: str) -> Arrival:
    """The row that one message becomes."""
    command = command_of(message.text)
    address = message.address
    said = Said(text=message.text, name=message.sender.name, files=tuple(files))
    return Arrival(
        place=Place(
            channel=address.channel,
            account=address.account,
            chat_id=address.chat_id,
            thread_id=address.thread_id,
            kind=message.kind,
            space=space,
        ),
        key=message.key,
        kind="command" if command else "message",
        sender_id=message.sender.id,
        body="" if ignored else dump_said(said),
        order_key=message.order_key,
        ignored=ignored,
        urgent=command is not None and command[0] in URGENT,
    )


def dump_said(said: Said) -> str:
    """A body as JSON text; `shown` is what a transcript has of a message with files."""
    record: dict[str, Any] = {"text": said.text}
    if said.name:
        record["name"] = said.name
    if said.files:
        names = " ".join(f"📎 {file.name}" for file in said.files)
        record["shown"] = "\n".join(filter(None, (said.text, names)))
        record["files"] = [[file.sha256, file.name, file.media_type, file.size] for file in said.files]
    return json.dumps(record, ensure_ascii=False)


def load_said(body: str) -> Said:
    """The inverse of `dump_said`."""
    record = json.loads(body)
    files = tuple(
        KeptFile(sha256=sha256, name=name, media_type=media_type, size=size)
        for sha256, name, media_type, size in record.get("files", ())
    )
    return Said(text=record["text"], name=record.get("name", ""), files=files)
