"""Dumps a database as this version writes it: by a real bot that uses every feature, and by one that is killed.

`python -m tests.memory.store.releasing` writes `released/<revision>.sql` for the newest revision, once, when a version
is released; later versions must read it as it is, so it is never written again.
"""

import asyncio
import base64
import io
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path

from PIL import Image

from memory.store.schema.create import HEAD
from tests.emulators.model import ModelEmulator
from tests.emulators.telegram import TelegramEmulator
from tests.walk.harness import OWNER, Scene, scene, until
from tests.walk.record import query
from tests.walk.speech import answer, asked, asked_for

RELEASED = Path(__file__).parent / "released"
STRANGER = 999
# The last life stands still in a fold, in a tool and in a send before it is killed.
HANGING = "fold.checked@1:hang,tool.mid_effect@1:hang,outbox.mid_send@3:hang"
LEFT = {
    "fold": "SELECT 1 FROM fold WHERE state = 'checked'",
    "tool": "SELECT 1 FROM tool_call WHERE state = 'started'",
    "send": "SELECT 1 FROM outbox WHERE state = 'sending'",
    "message": "SELECT 1 FROM inbox WHERE state = 'new'",
}


async def live(talk: Scene, telegram: TelegramEmulator) -> None:
    """Make folds, an undone fold, a clear, a log, files, memories, a chat and a message of a stranger."""
    for number in range(5):
        await talk.say("garden", asked(f"g{number}", "the roses want water; I prefer tea. 花园要浇水"))
    await talk.say("garden", "/context fold")
    await talk.say("garden", asked_for("g5", "write_file", path="notes/roses.md", content="water on Mondays"))
    for number in range(6, 9):
        await talk.say("garden", asked(f"g{number}"))
    await talk.say("garden", "/context fold")
    await talk.say("garden", "/remember The gate code is 4711")
    for words in (asked("w0"), asked("w1"), asked("w2"), "/context fold", "/context undo"):
        await talk.say("work", words)
    for words in (asked("o0"), asked("o1"), "/context clear", asked("o2")):
        await talk.say("old", words)
    for words in (asked("n0"), "/new", asked("n1")):
        await talk.say("new", words)
    for number in range(2):
        telegram.inject(asked(f"t{number}"), user=int(OWNER))
        await until(lambda said=f"t{number}": said in str(telegram.sent(int(OWNER))), "the chat is answered")
    telegram.inject("may I?", user=STRANGER)
    await until(lambda: telegram.sent(STRANGER), "the stranger is answered")
    await _picture(talk)
    await until(lambda: not query(talk.bot.db, "SELECT 1 FROM extraction WHERE state <> 'done'"), "all facts are noted")


async def leave(talk: Scene) -> None:
    """Leave open work for every step of the recovery, then kill the bot."""
    await talk.bot.start(HANGING)
    for number in range(2):
        await talk.say("late", asked(f"l{number}"))
    for conversation, text, left in (
        ("work", "/context fold", "fold"),
        ("tool", asked_for("x1", "write_file", path="notes/x.md", content="x"), "tool"),
        ("tool", asked("x2", "and after that?"), "message"),
        ("late", asked("l2"), "send"),
    ):
        await talk.web.post(conversation, text)
        await until(lambda found=LEFT[left]: query(talk.bot.db, found), f"a {left} is under way")
    await talk.bot.kill()


async def made() -> str:
    """Return the database of both runs as SQL."""
    model, home = ModelEmulator(responder=answer), Path(tempfile.mkdtemp(prefix="release"))
    others = {"provider": "openai", "memory": {"extract": True}}
    async with TelegramEmulator() as telegram, scene(home, model, telegram.url, **others) as talk:
        await talk.bot.start()
        await live(talk, telegram)
        await talk.bot.kill()
        await leave(talk)
        with closing(sqlite3.connect(talk.bot.db)) as held:
            return "\n".join(held.iterdump()) + "\n"


async def _picture(talk: Scene) -> None:
    held = io.BytesIO()
    Image.new("RGB", (2, 2)).save(held, "PNG")
    file = {"name": "dot.png", "media_type": "image/png", "data": base64.b64encode(held.getvalue()).decode()}
    body = {"conversation": "picture", "text": asked("p1"), "key": "p1", "attachments": [file]}
    sent = await talk.web.ask("POST", "/api/messages", json=body)
    await talk.web.answer("picture", sent.json()["id"])


def main() -> int:
    """Write the dump of the newest revision; return 1 when there is one already."""
    target = RELEASED / f"{HEAD}.sql"
    if target.exists():
        print(f"{target.name} is there; what was released does not change")
        return 1
    target.write_text(asyncio.run(made()))
    print(f"{target.name}: {target.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
