"""A large MEMORY.md, put there by hand under a process that runs: what others write is confirmed
meanwhile.
"""

import time
from pathlib import Path

from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.walk.harness import scene
from tests.walk.load import ROOMY
from tests.walk.record import query
from tests.walk.speech import answer, asked

LINES = 4_900
WORDS = "wants the delivery on a Monday morning, by the northern gate, and no call before it or after it"  # noqa: E501
MOST_SECONDS = 2.0  # for a confirmation, on a machine that is busy with other tests
_KNOWN = "SELECT count(*) FROM memory WHERE state = 'live' AND text LIKE 'Customer %'"


@by_night
async def test_messages_are_confirmed_while_a_large_file_is_recorded(tmp_path: Path) -> None:
    text = "## Facts\n\n" + "".join(f"- Customer {number} {WORDS}\n" for number in range(LINES))
    assert 500_000 < len(text) < 1_000_000
    async with scene(tmp_path, ModelEmulator(responder=answer), **ROOMY) as it:
        await it.bot.start()
        await it.say("first", asked("first"))
        (it.bot.workspace / "MEMORY.md").write_text(text)
        sent: list[str] = []
        waits: list[float] = []
        halfway = 0
        while (known := int(query(it.bot.db, _KNOWN)[0][0])) < LINES and len(sent) < 1_000:
            halfway += known > 0
            begun = time.monotonic()
            sent.append(await it.web.post(f"talk{len(sent)}", asked(f"{len(sent)}")))
            waits.append(time.monotonic() - begun)
        assert max(waits) < MOST_SECONDS
        assert halfway > 0
        for number, id in enumerate(sent):
            assert (await it.web.answer(f"talk{number}", id))["text"] == f"re «{number}»"
