"""Imports a conversation from a file into the home's store."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from unicodedata import normalize

from bot.agent.context.calibration import load_best_counter
from bot.cli.replay.import_folds import FoldProgress, fold_imported
from bot.cli.replay.recording import Recording, count_recording, read_recording
from bot.config.file import ConfigFile
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
from memory.workspace.files import Workspace

NAME_PATTERN = re.compile(r"[\w.:-]{1,128}")


class SessionNameTaken(MnemaError):
    """A conversation of that name exists."""


def session_name_from_file(file: Path) -> str:
    """Derive a conversation's name from a file's."""
    return re.sub(r"[^\w.:-]+", "-", normalize("NFC", file.stem)).strip("-")[:128] or "imported"


def read_import(file: Path) -> Recording:
    """Read the conversation in a file; messages without times get times that end now.

    Raises:
        UnreadableRecording: it holds no conversation.
        OSError: it cannot be opened.
    """
    recording = read_recording(file)
    if recording.timed:
        return recording
    offset = datetime.now(UTC) - recording.messages[-1].at
    turns = (
        replace(
            turn,
            messages=tuple(replace(message, at=message.at + offset) for message in turn.messages),
        )
        for turn in recording.turns
    )
    return replace(recording, turns=tuple(turns))


def import_losses(home: HomeFolder, recording: Recording) -> list[str]:
    """List what an import of this recording leaves out, as sentences without full stops."""
    unused = (
        ("system text", recording.system),
        ("tools", recording.tools),
        ("probes", recording.probes),
    )
    losses = [
        f"its {name} did not come along: a conversation here has none of its own"
        for name, had in unused
        if had
    ]
    parts = (part for message in recording.messages for part in message.parts)
    named = {part.sha256 for part in parts if isinstance(part, Image | Document)}
    blobs = Blobs(home.blobs)
    if missing := sum(not _is_stored(blobs, sha256) for sha256 in named - recording.files.keys()):
        losses.append(
            f"attached files whose bytes are not in this home: {missing}; text read out of them is "
            "kept"
        )
    return losses


async def import_recording(
    home: HomeFolder,
    recording: Recording,
    name: str,
    progress: FoldProgress = lambda folded, of: None,
) -> str:
    """Store a recording as a conversation of the terminal, fold its older part, and return its id.

    With SQLite the caller holds the home's lock.

    Raises:
        SessionNameTaken: nothing is changed.
        ConfigError: config.json cannot be used; nothing is changed.
        StoreError: it could not be stored.
        OSError: it is stored, and its daily logs could not be written.
    """
    file = ConfigFile(home.config)
    file.load()
    place = Place(
        channel=Terminal.name,
        account=Terminal.account,
        chat_id=name,
        thread_id="",
        kind="dm",
        space="",
    )
    async with open_store_for_command(home, writable=True) as opened:
        store = opened.store
        if await store.sessions.find(place.channel, place.account, name) is not None:
            raise SessionNameTaken(
                f"There is a conversation called {name} already; --conversation gives this one "
                "another name."
            )
        stored = await _store_files(recording, Blobs(home.blobs))
        turns = label_turns([_replace_files(turn, stored) for turn in recording.turns])
        counter = await asyncio.to_thread(load_best_counter)
        counted = count_recording(replace(recording, turns=turns), counter)
        id: str = await store.sessions.import_conversation(place, counted.turns)
        await fold_imported(store, id, Workspace(home.workspace), file.current, progress)
        return id


def label_turns(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Compute the taint of every message; the file's own marks are ignored.

    Everything the bot says after the first text from outside may be based on it. Text of other
    group members is labelled as a quotation, because the imported conversation belongs to one
    person.
    """
    labelled, tainted = list[Turn](), False
    previous: list[Message] = []
    for turn in turns:
        messages = list[Message]()
        for message in map(_label_quotes, turn.messages):
            previous.append(message)
            tainted = tainted or is_tainted(previous[-2:])
            messages.append(
                message if message.origin == "person" else replace(message, tainted=tainted)
            )
        labelled.append(replace(turn, messages=tuple(messages)))
    return tuple(labelled)


def _label_quotes(message: Message) -> Message:
    if message.origin != "person":
        return message
    parts = (
        replace(part, aside=QUOTED_LABEL)
        if isinstance(part, Text) and part.by and not part.aside
        else part
        for part in message.parts
    )
    return replace(message, parts=tuple(parts))


def _is_stored(blobs: Blobs, sha256: str) -> bool:
    try:
        blobs.get(sha256)
    except OSError:
        return False
    return True


async def _store_files(recording: Recording, blobs: Blobs) -> dict[str, Part]:
    """Store the included files like a person's attachments; returns the new parts by the old
    SHA-256.
    """
    stored: dict[str, Part] = {}
    for part in (part for message in recording.messages for part in message.parts):
        if (
            not isinstance(part, Image | Document)
            or part.sha256 in stored
            or part.sha256 not in recording.files
        ):
            continue
        name = part.name if isinstance(part, Document) else "picture"
        attachment = Attachment(
            name=name, media_type=part.media_type, data=recording.files[part.sha256]
        )
        result = await ingest_attachments([attachment], blobs)
        stored[part.sha256] = (
            result.parts[0] if result.parts else Text(text=f"[{result.refused[0]}]")
        )
    return stored


def _replace_files(turn: Turn, stored: Mapping[str, Part]) -> Turn:
    def replaced(part: Part) -> Part:
        return stored.get(part.sha256, part) if isinstance(part, Image | Document) else part

    messages = tuple(
        replace(message, parts=tuple(map(replaced, message.parts))) for message in turn.messages
    )
    return replace(turn, messages=messages)
