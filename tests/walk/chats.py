"""People in Telegram chats: they write, the platform repeats and reorders, and what they see is
judged.
"""

import asyncio
import contextlib
import json
import random
from collections import Counter
from dataclasses import dataclass, field

from tests.emulators.telegram import TelegramEmulator
from tests.walk.oracle import REPEAT_MARK
from tests.walk.record import Db, query
from tests.walk.speech import asked, tokens_in

MOST_OPEN = 2
_GIVEN_UP = "outbox.state = 'dropped' AND outbox.repeats = 1 AND outbox.attempts >= 2"


@dataclass(slots=True)
class Chatter:
    """One person in a private chat. db: the bot's; said: token -> update id, in order."""

    emulator: TelegramEmulator
    user: int
    random: random.Random
    db: Db
    said: dict[str, int] = field(default_factory=dict)
    enough: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def answered(self) -> list[str]:
        """Tokens of the answers that can be seen, in order, repeats included."""
        return [
            token for seen in self.emulator.sent(self.user) for token in tokens_in(seen.text)[:1]
        ]

    @property
    def open_ones(self) -> set[str]:
        """What an answer is still to come to."""
        return set(self.said) - set(self.answered) - excused(self.db)

    def say(self) -> str:
        """One message; now and then the platform delivers it twice, or lets it overtake another."""
        token = f"t{self.user}/{len(self.said) + 1}"
        update = self.emulator.inject(asked(token), user=self.user)["update_id"]
        self.said[token] = update
        chance = self.random.random()
        if chance < 0.15:
            self.emulator.world.repeat(update)
        elif chance < 0.3:
            self.emulator.world.repeat(update, fresh=True)
        elif chance < 0.4:
            self.emulator.world.shuffle()
        return token

    async def run(self) -> None:
        """Write until told that it is enough, a few messages ahead of the answers at most."""
        while not self.enough.is_set():
            if len(self.open_ones) < MOST_OPEN:
                self.say()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.enough.wait(), self.random.uniform(0.05, 0.4))

    def faults(self) -> list[str]:
        """Every breach of the promise that this person can see; call it at rest."""
        counts = Counter(self.answered)
        found = [f"no answer: {token}" for token in self.said if token in self.open_ones]
        found += [f"invented: {token}" for token in counts if token not in self.said]
        found += [f"seen {count} times: {token}" for token, count in counts.items() if count > 2]
        found += self._unmarked()
        turns = _turn_numbers(self.db)
        first = list(dict.fromkeys(self.answered))
        if first != sorted(first, key=lambda token: turns.get(token, 0)):
            found.append(f"answers out of order: {first}")
        return found

    def _unmarked(self) -> list[str]:
        seen: set[str] = set()
        found = []
        for message in self.emulator.sent(self.user):
            named = set(tokens_in(message.text)[:1])
            if named & seen and REPEAT_MARK not in message.text:
                found.append(f"repeated without a mark: {message.text}")
            seen |= named
        return found


def excused(db: Db) -> set[str]:
    """Tokens of messages to which no answer comes any more, as promised."""
    return {*given_up(db), *told_interrupted(db)}


def given_up(db: Db) -> list[str]:
    """Tokens of answers that were on their way at two kills: a third try is not promised where
    there is no key.
    """
    rows = query(db, f"SELECT text FROM outbox WHERE {_GIVEN_UP}")
    return [token for (text,) in rows for token in tokens_in(text)[:1]]


def told_interrupted(db: Db) -> list[str]:
    """Tokens of messages that three kills interrupted, the notice of which was sent, or on its way
    at two more.
    """
    told = (
        "SELECT 1 FROM outbox WHERE reply_to = inbox.id AND kind = 'notice' AND (state = 'sent' "
        f"OR {_GIVEN_UP})"
    )
    rows = query(db, f"SELECT body FROM inbox WHERE inbox.state = 'dead' AND EXISTS ({told})")
    return [token for (body,) in rows for token in tokens_in(json.loads(body)["text"])[:1]]


def _turn_numbers(db: Db) -> dict[str, int]:
    """Token -> number of its turn."""
    rows = query(
        db,
        (
            "SELECT parts, turn FROM message WHERE role = 'user' AND origin = 'person' ORDER BY "
            "turn DESC"
        ),
    )
    return {token: turn for parts, turn in rows for token in tokens_in(parts)[:1]}
