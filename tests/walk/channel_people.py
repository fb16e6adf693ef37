"""People who write on a platform, and what each of them may say of the bot when everything is at
rest.
"""

import asyncio
import contextlib
import json
import random
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.emulators.model_replies import Reply
from tests.walk.channel_worlds import World
from tests.walk.chats import given_up, told_interrupted
from tests.walk.oracle import REPEAT_MARK
from tests.walk.record import Db, query
from tests.walk.speech import LONG_PARTS, answer, asked, asked_at_length, tokens_in

MOST_OPEN = 2
# seconds after their last message for which somebody waits where more is sent only when they write
PATIENCE = 20.0
LONG_SHARE = 0.1


@dataclass(slots=True)
class Person:
    """One person in a chat of their own. said: token -> the tokens of the parts that answer it, in
    order.

    db: the record, for what was told in another way than by an answer.
    """

    world: World
    id: str
    db: Db
    chance: random.Random
    said: dict[str, list[str]] = field(default_factory=dict)
    enough: asyncio.Event = field(default_factory=asyncio.Event)
    _wrote: float = 0.0
    _lost: set[str] = field(default_factory=set)

    @property
    def seen(self) -> list[tuple[str, bool]]:
        """The parts seen, in order: token, and whether it says that it may be a repeat."""
        found = [(tokens_in(text), REPEAT_MARK in text) for text in self.world.seen(self.id)]
        return [(token, marked) for tokens, marked in found for token in tokens]

    @property
    def open_ones(self) -> set[str]:
        """Tokens of parts that are still to come."""
        seen = {token for token, _ in self.seen}
        return {part for parts in self.said.values() for part in parts if part not in seen}

    def say(self) -> None:
        """One message; now and then one whose answer takes several parts."""
        token = f"{self.id.partition('@')[0]}/{len(self.said) + 1}"
        self._wrote = time.monotonic()
        at_length = self.chance.random() < LONG_SHARE
        self.said[token] = (
            [f"{token}.{number}" for number in range(LONG_PARTS)] if at_length else [token]
        )
        self.world.say(self.id, asked_at_length(token) if at_length else asked(token))
        self.world.disturb(self.chance)

    async def run(self) -> None:
        """Write until told that it is enough, a few messages ahead of the answers at most."""
        while not self.enough.is_set():
            impatient = self.world.rationed and time.monotonic() - self._wrote > PATIENCE
            if impatient or len(self._waited_for()) < MOST_OPEN:
                self.say()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.enough.wait(), self.chance.uniform(0.05, 0.4))

    def _waited_for(self) -> set[str]:
        """Tokens of messages an answer to which is waited for before more is written."""
        over = {token for token, _ in self.seen} | excused(self.db)
        return {
            token for token, parts in self.said.items() if not over >= {*parts}
        } - self.never_stored()

    def unanswered(self) -> set[str]:
        """Tokens of parts that are still to come and whose end was told in no other way."""
        never = {part for token in self.never_stored() for part in self.said[token]}
        return self.open_ones - excused(self.db) - never

    def never_stored(self) -> set[str]:
        """Tokens of messages that died with a process, or found none, where the platform does not
        bring them again.
        """
        lost = self._lost | {token for text in self.world.abandoned() for token in tokens_in(text)}
        return {*self.said} & lost - self._stored() if lost else set()

    def note_losses(self) -> None:
        """Note what the platform has handed over and nobody stored; call it while no process is
        alive.

        Later it would be too soon to tell: what the living process has received may be stored at
        any moment.
        """
        if not self.world.until_stored:
            waiting = {token for text in self.world.unconfirmed() for token in tokens_in(text)}
            self._lost |= {*self.said} - waiting - self._stored()

    def _stored(self) -> set[str]:
        return {
            token
            for (body,) in query(self.db, "SELECT body FROM inbox")
            for token in tokens_in(json.loads(body)["text"])
        }

    def faults(self) -> list[str]:
        """Every breach of the promise that this person can see; call it at rest."""
        counts = Counter(token for token, _ in self.seen)
        known = {part for parts in self.said.values() for part in parts}
        found = [f"no answer: {part}" for part in sorted(self.unanswered())]
        found += [f"invented: {part}" for part in counts if part not in known]
        most = 1 if self.world.keyed else 2
        found += [f"seen {count} times: {part}" for part, count in counts.items() if count > most]
        found += [f"left half written: {text!r}" for text in self.world.half_written(self.id)]
        return [*found, *self._unmarked(), *self._out_of_order()]

    def _unmarked(self) -> list[str]:
        earlier: set[str] = set()
        found = []
        for token, marked in self.seen:
            if token in earlier and not marked:
                found.append(f"repeated without a mark: {token}")
            earlier.add(token)
        return found

    def _out_of_order(self) -> list[str]:
        turns = turn_numbers(self.db)
        first = list(dict.fromkeys(token for token, _ in self.seen))
        places = [(turns.get(token.partition(".")[0], 0), token) for token in first]
        return [] if places == sorted(places) else [f"answers out of order: {places}"]


def excused(db: Db) -> set[str]:
    """Tokens of messages and parts whose end was told in another way than by an answer."""
    interrupted = {f"{token}{part}" for token in told_interrupted(db) for part in ("", *_ends())}
    return interrupted | {*given_up(db)}


def turn_numbers(db: Db) -> dict[str, int]:
    """Token -> number of its turn."""
    rows = query(
        db,
        (
            "SELECT parts, turn FROM message WHERE role = 'user' AND origin = 'person' ORDER BY "
            "turn DESC"
        ),
    )
    return {token: turn for parts, turn in rows for token in tokens_in(parts)[:1]}


def talker(chance: random.Random, longest: float, limit: int) -> Callable[[dict[str, Any]], Reply]:
    """A model that answers after up to `longest` seconds; at length, in paragraphs that each fill
    most of a message.
    """

    def responder(body: dict[str, Any]) -> Reply:
        told, wait = answer(body), chance.uniform(0, longest)
        tokens = tokens_in(told.text)
        if len(tokens) < LONG_PARTS:
            return Reply(text=told.text, calls=told.calls, wait=wait)
        words = ("word " * (limit * 6 // 10 // len("word "))).strip()
        return Reply(
            text="\n\n".join(f"«{tokens[0]}{end}» {words}" for end in _ends()), delta=900, wait=wait
        )

    return responder


def _ends() -> list[str]:
    return [f".{number}" for number in range(LONG_PARTS)]
