"""Takes a conversation out of a file into this home's record."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from unicodedata import normalize

from bot.attachments import ingest
from bot.counting import counter as load
from bot.errors import MnemaError
from bot.home import Home
from bot.record import opened
from bot.replay.reading import read_file
from bot.replay.recording import Recording, counted
from channels.message import Attachment
from channels.terminal import Terminal
from memory.blobs import Blobs
from memory.context.taint import QUOTED, tainted
from memory.conversation import Document, Image, Message, Part, Text, Turn
from memory.store.records import Place

NAME = re.compile(r"[\w.:-]{1,128}")


class Taken(MnemaError):
    """There is a conversation of that name."""


def name_of(file: Path) -> str:
    """A conversation's name out of a file's."""
    return re.sub(r"[^\w.:-]+", "-", normalize("NFC", file.stem)).strip("-")[:128] or "imported"


def read(file: Path) -> Recording:
    """The conversation in a file; where its messages have no times, the last one is as old as the import.

    Raises:
        Unreadable: it holds none.
        OSError: it cannot be opened.
    """
    recording = read_file(file)
    if recording.timed:
        return recording
    late = datetime.now(UTC) - recording.messages[-1].at
    turns = (
        replace(turn, messages=tuple(replace(message, at=message.at + late) for message in turn.messages))
        for turn in recording.turns
    )
    return replace(recording, turns=tuple(turns))


def left_behind(home: Home, recording: Recording) -> list[str]:
    """Sentences, without their full stops, on what an import of this recording does not take along."""
    held = (("system text", recording.system), ("tools", recording.tools), ("probes", recording.probes))
    told = [f"its {name} did not come along: a conversation here has none of its own" for name, had in held if had]
    parts = (part for message in recording.messages for part in message.parts)
    named = {part.sha256 for part in parts if isinstance(part, Image | Document)}
    blobs = Blobs(home.blobs)
    if missing := sum(not _is_kept(blobs, sha256) for sha256 in named - recording.files.keys()):
        told.append(f"attached files whose bytes are not in this home: {missing}; text read out of them is kept")
    return told


async def bring_in(home: Home, recording: Recording, name: str) -> str:
    """Store a recording as a conversation of the terminal; returns its id. With SQLite the caller holds the home.

    Raises:
        Taken: there is one of that name; nothing is changed.
        StoreError: it could not be stored.
    """
    place = Place(channel=Terminal.name, account=Terminal.account, chat_id=name, thread_id="", kind="dm", space="")
    async with opened(home, writable=True) as record:
        store = record.store
        if await store.sessions.find(place.channel, place.account, name) is not None:
            raise Taken(f"There is a conversation called {name} already; --conversation gives this one another name.")
        kept = await _files(recording.files, recording, Blobs(home.blobs))
        turns = tuple(_with_files(turn, kept) for turn in recording.turns)
        counter = await asyncio.to_thread(load)
        id: str = await store.sessions.bring_in(
            place, counted(replace(recording, turns=labelled(turns)), counter).turns
        )
        return id


def labelled(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns with the labels of what rests on words from outside, whether or not the file had them.

    All that the bot says after the first words from outside may rest on them. What others said in a group is quoted
    in a conversation that is one person's.
    """
    found, outside = list[Turn](), False
    own: list[Message] = []
    for turn in turns:
        messages = list[Message]()
        for message in map(_quoting, turn.messages):
            own.append(message)
            outside = outside or tainted(own[-2:])
            messages.append(message if message.origin == "person" else replace(message, tainted=outside))
        found.append(replace(turn, messages=tuple(messages)))
    return tuple(found)


def _quoting(message: Message) -> Message:
    if message.origin != "person":
        return message
    parts = (
        replace(part, aside=QUOTED) if isinstance(part, Text) and part.by and not part.aside else part
        for part in message.parts
    )
    return replace(message, parts=tuple(parts))


def _is_kept(blobs: Blobs, sha256: str) -> bool:
    try:
        blobs.get(sha256)
    except OSError:
        return False
    return True


async def _files(files: Mapping[str, bytes], recording: Recording, blobs: Blobs) -> dict[str, Part]:
    """The parts that the bytes which came along become, by the hash they came under: as if a person had sent them."""
    kept: dict[str, Part] = {}
    for message in recording.messages:
        for part in message.parts:
            if not isinstance(part, Image | Document) or part.sha256 in kept or part.sha256 not in files:
                continue
            name = part.name if isinstance(part, Document) else "picture"
            sent = Attachment(name=name, media_type=part.media_type, data=files[part.sha256])
            taken = await ingest([sent], blobs)
            kept[part.sha256] = taken.parts[0] if taken.parts else Text(text=f"[{taken.refused[0]}]")
    return kept


def _with_files(turn: Turn, kept: Mapping[str, Part]) -> Turn:
    messages = tuple(
        replace(
            message,
            parts=tuple(
                kept.get(part.sha256, part) if isinstance(part, Image | Document) else part for part in message.parts
            ),
        )
        for message in turn.messages
    )
    return replace(turn, messages=messages)
