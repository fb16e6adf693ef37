"""The work that `tests/memory/store/home_of_ed4b8f97.sql` leaves open, and how a bot that finished
it looks.
"""

from tests.emulators.telegram import TelegramEmulator
from tests.walk.harness import OWNER, Bot, until
from tests.walk.record import ledger_faults, query, unended
from tests.walk.speech import asked

NEXT_ID = 1_000  # of the next message in the owner's chat: a lower one has been received
OPEN_FOLDS = "SELECT 1 FROM fold WHERE state IN ('planned', 'summarised', 'checked', 'logged')"
OPEN_JOBS = "SELECT 1 FROM job WHERE state = 'on'"


async def check_work_is_finished(bot: Bot, telegram: TelegramEmulator) -> None:
    """Check that a bot which has just started finishes the open work and answers the next
    messages.
    """
    await until(lambda: not unended(bot.db), "everything that was open is at its end")
    tool = await bot.web.lines("tool")
    assert [line["text"] for line in tool if line["role"] == "assistant"] == ["re «x1»", "re «x2»"]
    assert (bot.workspace / "notes" / "x.md").read_text() == "x"
    late = await bot.web.lines("late")
    assert "re «l1»" in late[-1]["text"]
    await until(lambda: not query(bot.db, OPEN_FOLDS), "the fold is at its end")
    await until(lambda: not query(bot.db, OPEN_JOBS), "the reminder is sent")
    id = await bot.web.post("garden", asked("now"))
    assert (await bot.web.answer("garden", id))["text"] == "re «now»"
    assert any(
        "water the roses" in line["text"]
        for line in await bot.web.lines("garden")
        if line["role"] != "user"
    )
    telegram.inject(asked("later"), user=int(OWNER))
    await until(lambda: "later" in str(telegram.sent(int(OWNER))), "the chat is answered")
    assert await ledger_faults(bot.db) == []
