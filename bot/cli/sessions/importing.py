"""Imports a conversation from a file into the home's store."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from unicodedata import normalize

from bot.agent.token_calibration import load_best_counter as load
from bot.cli.replay.reader import read_recording
from bot.cli.replay.recording import Recording, count_recording
from bot.config.home import HomeFolder
from bot.errors import MnemaError
from bot.gateway.attachments import ingest_attachments
from bot.runtime.store_access import open_store_for_command
from channels.message import Attachment
from channels.terminal.channel import Terminal
from memory.context.taint import QUOTED_LABEL, is_tainted
from memory.conversation import Document, Image, Message, Part, Text, Turn
from memory.store.rows import Place
from memory.workspace.blobs import Blobs

NAME_PATTERN = re.compile(r"[\w.:-]{1,128}")


class SessionNameTaken(MnemaError):
    """There is a conversation of that name."""


def session_name_from_file(file: Path) -> str:
    """A conversation's name out of a file's."""
    return re.sub(r"[^\w.:-]+", "-", normalize("NFC", file.stem)).strip("-")[:128] or "imported"


def read_import(file: Path) -> Recording:
    """The conversation in a file; where its messages have no times, the last one is as old as the import.

    Raises:
        UnreadableRecording: it holds none.
        OSError: it cannot be opened.
    """
    recording = read_recording(file)
    if recording.timed:
        return recording
    late = datetime.now(UTC) - recording.messages[-1].at
    turns = (
        replace(turn, messages=tuple(replace(message, at=message.at + late) for message in turn.messages))
        for turn in recording.turns
    )
    return replace(recording, turns=tuple(turns))


def import_losses(home: HomeFolder, recording: Recording) -> list[str]:
    """Sentences, without their full stops, on what an import of this recording does not take along."""
    held = (("system text", recording.system), ("tools", recording.tools), ("probes", recording.probes))
    told = [f"its {name} did not come along: a conversation here has none of its own" for name, had in held if had]
    parts = (part for message in recording.messages for part in message.parts)
    named = {part.sha256 for part in parts if isinstance(part, Image | Document)}
    blobs = Blobs(home.blobs)
    if missing := sum(not _is_stored(blobs, sha256) for sha256 in named - recording.files.keys()):
        told.append(f"attached files whose bytes are not in this home: {missing}; text read out of them is kept")
    return told


async def import_recording(home: HomeFolder, recording: Recording, name: str) -> str:
    """Store a recording as a conversation of the terminal; returns its id. With SQLite the caller holds the home.

    Raises:
        SessionNameTaken: there is one of that name; nothing is changed.
        StoreError: it could not be stored.
    """
    place = Place(channel=Terminal.name, account=Terminal.account, chat_id=name, thread_id="", kind="dm", space="")
    async with open_store_for_command(home, writable=True) as record:
        store = record.store
        if await store.sessions.find(place.channel, place.account, name) is not None:
            raise SessionNameTaken(
                f"There is a conversation called {name} already; --conversation gives this one another name."
            )
        kept = await _store_files(recording.files, recording, Blobs(home.blobs))
        turns = tuple(_attach_files(turn, kept) for turn in recording.turns)
        counter = await asyncio.to_thread(load)
        id: str = await store.sessions.import_conversation(
            place, count_recording(replace(recording, turns=label_turns(turns)), counter).turns
        )
        return id


def label_turns(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """The turns with the labels of what rests on words from outside, whether or not the file had them.

    All that the bot says after the first words from outside may rest on them. What others said in a group is quoted
    in a conversation that is one person's.
    """
    found, outside = list[Turn](), False
    own: list[Message] = []
    for turn in turns:
        messages = list[Message]()
        for message in map(_has_quote, turn.messages):
            own.append(message)
            outside = outside or is_tainted(own[-2:])
            messages.append(message if message.origin == "person" else replace(message, tainted=outside))
        found.append(replace(turn, messages=tuple(messages)))
    return tuple(found)


def _has_quote(message: Message) -> Message:
    if message.origin != "person":
        return message
    parts = (
        replace(part, aside=QUOTED_LABEL) if isinstance(part, Text) and part.by and not part.aside else part
        for part in message.parts
    )
    return replace(message, parts=tuple(parts))


def _is_stored(blobs: Blobs, sha256: str) -> bool:
    try:
        blobs.get(sha256)
    except OSError:
        return False
    return True


async def _store_files(files: Mapping[str, bytes], recording: Recording, blobs: Blobs) -> dict[str, Part]:
    """The parts that the bytes which came along become, by the hash they came under: as if a person had sent them."""
    kept: dict[str, Part] = {}
    for message in recording.messages:
        for part in message.parts:
            if not isinstance(part, Image | Document) or part.sha256 in kept or part.sha256 not in files:
                continue
            name = part.name if isinstance(part, Document) else "picture"
            sent = Attachment(name=name, media_type=part.media_type, data=files[part.sha256])
            taken = await ingest_attachments([sent], blobs)
            kept[part.sha256] = taken.parts[0] if taken.parts else Text(text=f"[{taken.refused[0]}]")
    return kept


def _attach_files(turn: Turn, kept: Mapping[str, Part]) -> Turn:
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
