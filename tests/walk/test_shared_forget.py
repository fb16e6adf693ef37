"""What one worker forgets, no other brings back: its turns are stopped first, whoever dies
meanwhile.
"""

import re
from pathlib import Path

import pytest

from tests.emulators.model import ModelEmulator
from tests.walk.harness import until
from tests.walk.processes import several
from tests.walk.record import ledger_faults, query, unended
from tests.walk.speech import answer, asked
from tests.walk.test_processes import STALLED

pytestmark = [pytest.mark.kill, pytest.mark.postgres]
SECRET = "periwinkle"
HELD = "SELECT 1 FROM message WHERE parts LIKE ? UNION ALL SELECT 1 FROM inbox WHERE body LIKE ?"


async def test_a_turn_at_another_worker_is_stopped_before_anything_is_forgotten(
    tmp_path: Path, db: str
) -> None:
    model = ModelEmulator(responder=answer)
    async with several(tmp_path, db, model, concurrency=1) as bots:
        gateway, _ = await bots.start("gateway", "worker")
        await gateway.web.answer(
            "talk", await gateway.web.post("talk", f"{asked('one')} The word is {SECRET}.")
        )
        told = await gateway.web.answer("talk", await gateway.web.post("talk", f"/forget {SECRET}"))
        code = re.findall(r"/forget yes ([A-Z0-9]{4}-[A-Z0-9]{4})", told["text"])[0]
        model.script([STALLED])
        busy = await gateway.web.post("other", asked("endless"))
        await until(lambda: len(model.requests) == 2, "the only worker has its hands full")
        # which leaves its mark, and the rest to the first
        await bots.start("worker", fp="forget.quiet:kill9")
        receipt = await gateway.web.answer(
            "talk", await gateway.web.post("talk", f"/forget yes {code}"), 40
        )
        assert receipt["text"].startswith("**Forgotten.**")
        assert [line["text"] for line in await gateway.web.answers("other", busy)] == ["Stopped."]
        assert query(db, HELD, f"%{SECRET}%", f"%{SECRET}%") == []
        next_id = await gateway.web.post("other", asked("two"))
        assert (await gateway.web.answer("other", next_id))["text"] == "re «two»"
        await until(lambda: not unended(db), "all is at rest")
        assert await ledger_faults(db) == []
