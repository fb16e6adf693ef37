"""The people of a set of questions, and their conversations as what the product searches: lines of
daily logs, or messages that are stored.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory.conversation import BOT_SPEAKER, Message, Text, Turn
from memory.ids import new_id
from memory.store.rows import Place
from memory.store.store import Store
from memory.workspace.daily_log import LOG_FOLDER
from memory.workspace.files import Workspace

EXCHANGE = " ‖ "  # between a message and the bot's answer in one text
# Where something that is found stands: its path and line, or its conversation and seq.
Location = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """A person's conversations, in order, and questions about them."""

    name: str
    docs: Sequence[Mapping[str, str]]
    questions: Sequence[Mapping[str, Any]]


def read_people(path: Path) -> list[Person]:
    """Read the people of a set."""
    people = json.loads(path.read_text(encoding="utf-8"))
    return [
        Person(
            name=one["name"],
            docs=[half for doc in one["docs"] for half in split_exchange(doc)],
            questions=one["questions"],
        )
        for one in people
    ]


def split_exchange(doc: Mapping[str, str]) -> list[Mapping[str, str]]:
    """Split a doc that holds a message and the bot's answer into two with the same id."""
    said, _, answer = doc["text"].partition(EXCHANGE)
    if not answer:
        return [doc]
    return [{**doc, "text": said}, {**doc, "text": answer, "speaker": BOT_SPEAKER}]


def write_logs(workspace: Workspace, person: Person) -> dict[Location, str]:
    """Write a person's docs as daily logs, a section per session; returns the doc at each path and
    line.
    """
    logs: dict[str, list[str]] = {}
    places: dict[Location, str] = {}
    section = ("", "")
    for doc in person.docs:
        day, clock = doc["date"].split()
        path = f"{LOG_FOLDER}/{day}.md"
        lines = logs.setdefault(path, [f"# {day}"])
        if (path, doc["session"]) != section:
            section = (path, doc["session"])
            lines += ["", f"## {clock} · {doc['session']}", ""]
        lines.append(f"- {clock} {doc['speaker']}: {' '.join(doc['text'].split())}")
        places[path, len(lines)] = doc["id"]
    files = workspace.space("")
    for path, lines in logs.items():
        files.write(path, "\n".join([*lines, ""]), None)
    return places


async def store_conversation(store: Store, person: Person) -> dict[Location, str]:
    """Store a person's docs as one conversation; returns the doc at each conversation and seq.

    Each message that is not the bot's begins a turn.
    """
    is_group = len({doc["speaker"] for doc in person.docs} - {BOT_SPEAKER}) > 1
    turns = [
        Turn(number=number, messages=tuple(messages))
        for number, messages in enumerate(_turns_of(person.docs, is_group), 1)
    ]
    place = Place(
        channel="terminal",
        account="",
        chat_id=person.name,
        thread_id="",
        kind="group" if is_group else "dm",
        space="",
    )
    conversation = await store.sessions.import_conversation(place, turns)
    return {(conversation, seq): doc["id"] for seq, doc in enumerate(person.docs, 1)}


def _turns_of(docs: Iterable[Mapping[str, str]], is_group: bool) -> Iterator[list[Message]]:
    turn: list[Message] = []
    for seq, doc in enumerate(docs, 1):
        by_bot = doc["speaker"] == BOT_SPEAKER
        if turn and not by_bot:
            yield turn
            turn = []
        said_at = datetime.fromisoformat(doc["date"]).replace(tzinfo=UTC)
        words = Text(text=doc["text"], by=doc["speaker"] if is_group and not by_bot else "")
        turn.append(
            Message(
                id=new_id(said_at.timestamp()),
                seq=seq,
                turn=0,
                role="assistant" if by_bot else "user",
                parts=(words,),
                at=said_at,
                origin="model" if by_bot else "person",
            )
        )
    if turn:
        yield turn
