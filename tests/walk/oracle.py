"""What was promised and what came of it, kept outside of the bot: the verdict of the kill tests."""

import asyncio
import contextlib
import random
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import httpx
from prometheus_client.parser import text_string_to_metric_families

from tests.emulators.model import ModelEmulator
from tests.walk.record import Db, query
from tests.walk.speech import asked, tokens_in
from tests.walk.web import Page, Web

REPEAT_MARK = "(possibly repeated)"
TRY_AGAIN = 0.02
TRY_FOR = 60.0
ALARMS = ("mnema_history_repairs_total", "mnema_ledger_faults_total", "mnema_db_busy_total")
# Literals, so that the product is not compared with itself.
MODEL_FAILURES = ("The model did not answer: %", "模型现在没能回答：%")
MOST_OPEN = 3  # how many answers a person waits for before writing more


@dataclass(slots=True)
class Oracle:
    """Everything delivered and everything confirmed on the web channel.

    sent: conversation -> key -> text, each of which was tried until it was confirmed; confirmed: id
    -> (conversation, key). tries: POSTs of all kinds.
    """

    sent: dict[str, dict[str, str]] = field(default_factory=dict)
    confirmed: dict[str, tuple[str, str]] = field(default_factory=dict)
    tries: int = 0

    async def deliver(self, web: Web, conversation: str, key: str, text: str) -> str:
        """Post one message as a page does: with the same key, until it is confirmed."""
        self.sent.setdefault(conversation, {})[key] = text
        async with asyncio.timeout(TRY_FOR):
            while True:
                self.tries += 1
                with contextlib.suppress(httpx.TransportError):
                    answer = await web.send(conversation, text, key)
                    if answer.status_code in (200, 202):
                        return self._note(answer.json()["id"], conversation, key)
                    assert answer.status_code == 503, answer.text
                await web.up.wait()
                await asyncio.sleep(TRY_AGAIN)

    def _note(self, id: str, conversation: str, key: str) -> str:
        assert self.confirmed.setdefault(id, (conversation, key)) == (conversation, key), (
            f"{id} is two messages"
        )
        return id

    async def open_ones(self, web: Web) -> list[str]:
        """Confirmed ids that have no visible end yet."""
        ended: set[str] = set()
        for conversation in self.sent:
            with contextlib.suppress(httpx.HTTPError):
                ended |= {
                    line["reply_to"] for line in await web.lines(conversation) if "reply_to" in line
                }
        return [id for id in self.confirmed if id not in ended]

    async def faults(self, web: Web) -> list[str]:
        """Every breach of the promise that the transcripts show; call it at rest."""
        found: list[str] = []
        for conversation, keys in self.sent.items():
            found += faults_of(await web.lines(conversation), Counter(keys.values()))
        ids = Counter(self.confirmed.values())
        found += [
            f"{which} was confirmed under {count} ids" for which, count in ids.items() if count > 1
        ]
        return found + await alarms(web)


async def alarms(web: Web) -> list[str]:
    """Figures of the running life that are above zero only when something of ours is wrong."""
    families = text_string_to_metric_families((await web.ask("GET", "/metrics")).text)
    told = {
        sample.name: sample.value
        for family in families
        for sample in family.samples
        if not sample.labels
    }
    return [f"{name} is {told[name]:g}" for name in ALARMS if told[name]]


def unfounded_notices(db: Db, model: ModelEmulator) -> list[str]:
    """Notices of a model's failure that are more than the calls that the model failed at.

    Notices of budgets, of the configuration and of interruptions have other words. Calls that a
    kill cut do not count: they are made again.
    """
    told = (
        "SELECT reply_to, text FROM outbox WHERE kind = 'notice' AND (text LIKE ? OR text LIKE ?)"
    )
    notices = query(db, told, *MODEL_FAILURES)
    if len(notices) <= model.failed:
        return []
    return [f"{len(notices)} notices of a model that failed {model.failed} times: {notices}"]


def faults_of(lines: list[dict[str, Any]], sent: Counter[str]) -> list[str]:
    """What is wrong with one transcript: lost, invented, repeated, out of order, or answered beside
    the question.

    sent: how often each text was sent on purpose.
    """
    asked_lines = {line["id"]: line for line in lines if line["role"] == "user"}
    # not what we were away
    answers = [line for line in lines if line["role"] == "assistant" or line.get("reply_to")]
    counts = Counter(line.get("reply_to") for line in answers)
    texts = Counter(line["text"] for line in asked_lines.values())
    found = [
        f"sent {sent[text]} times, stored {texts[text]} times: {text}" for text in sent | texts
    ]
    found = [
        fault for fault, text in zip(found, sent | texts, strict=True) if sent[text] != texts[text]
    ]
    found += [f"unanswered: {line['text']}" for id, line in asked_lines.items() if not counts[id]]
    found += [f"answered {count} times: {id}" for id, count in counts.items() if count > 1]
    for line in answers:
        cause = asked_lines.get(line.get("reply_to", ""))
        if cause is None:
            found.append(f"no cause: {line['text']}")
        elif (
            line["role"] == "assistant"
            and tokens_in(line["text"])[:1] != tokens_in(cause["text"])[:1]
        ):
            found.append(f"{cause['text']!r} was answered with {line['text']!r}")
    order = [line["reply_to"] for line in answers if line.get("reply_to") in asked_lines]
    if order != sorted(order, key=list(asked_lines).index):
        found.append(f"answers out of order: {order}")
    return found


@dataclass(slots=True)
class Writer:
    """A person at a page of one conversation: writes on, sometimes sends a message again, keeps the
    page open.
    """

    oracle: Oracle
    web: Web
    conversation: str
    random: random.Random
    written: int = 0
    page: Page | None = None
    enough: asyncio.Event = field(default_factory=asyncio.Event)

    async def run(self) -> None:
        """Write until told that it is enough; every message that was begun is confirmed at the
        end.
        """
        await self.web.up.wait()
        while not self.enough.is_set():
            self.written += 1
            key = f"key-{self.written}"
            text = asked(f"{self.conversation}/{self.written}")
            await self.oracle.deliver(self.web, self.conversation, key, text)
            self.page = self.page or Page(self.web, self.conversation)
            if self.random.random() < 0.25:
                await self.oracle.deliver(self.web, self.conversation, key, text)
            await self._think()

    async def _think(self) -> None:
        while True:
            await self.web.up.wait()
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self.enough.wait(), self.random.uniform(0.02, 0.2))
            if (
                self.enough.is_set()
                or not self.page
                or self.written - len(self.page.replies) < MOST_OPEN
            ):
                return
