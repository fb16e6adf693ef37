"""Several processes on one record: one dies, is stopped or is cut off, and the others go on with
what it had.
"""

import asyncio
import signal
import socket
import time
from pathlib import Path

import httpx
import pytest

from tests.by_night import by_night
from tests.emulators.model import ModelEmulator
from tests.emulators.model_replies import Reply, refuse
from tests.emulators.telegram import TelegramEmulator
from tests.walk.harness import FRIEND, until
from tests.walk.processes import several
from tests.walk.record import ledger_faults, query, unended
from tests.walk.speech import answer, asked, tokens_in

# Literals, so that the product is not compared with itself.
GONE = 75

pytestmark = [pytest.mark.kill, pytest.mark.postgres]
STALLED = Reply(text="never heard to its end " * 9, then="stall", after=2)


async def test_a_gateway_and_workers_answer_in_the_page_and_in_telegram(
    tmp_path: Path, db: str
) -> None:
    model = ModelEmulator(responder=answer)
    async with TelegramEmulator() as telegram, several(tmp_path, db, model, telegram.url) as bots:
        gateway, *_ = await bots.start("gateway", "worker", "worker")
        for number in range(3):
            id = await gateway.web.post("talk", asked(f"w{number}"))
            assert (await gateway.web.answer("talk", id))["text"] == f"re «w{number}»"
            telegram.inject(asked(f"t{number}"), user=int(FRIEND))
            await until(
                lambda at=number: _seen(telegram) == [f"t{n}" for n in range(at + 1)],
                "telegram's answer",
            )
        status = ""
        # a worker knows the channels of the gateway from its reports
        async with asyncio.timeout(30):
            while not all(f"● {name} — connected for" in status for name in ("telegram", "web")):
                told = await gateway.web.answer("talk", await gateway.web.post("talk", "/status"))
                status = told["text"]
        told = await gateway.web.answer("talk", await gateway.web.post("talk", "/context"))
        assert told["role"] == "notice"
        await until(lambda: not unended(db), "all is at rest")
        assert await ledger_faults(db) == []
        assert [await bot.term() for bot in bots.made] == [0, 0, 0]
        assert query(db, "SELECT lease FROM process") == []


@by_night
async def test_I13_the_turn_of_a_killed_worker_goes_on_at_another(tmp_path: Path, db: str) -> None:
    model = ModelEmulator(responder=answer)
    model.script([STALLED])
    async with several(tmp_path, db, model) as bots:
        gateway, first = await bots.start("gateway", "worker")
        id = await gateway.web.post("talk", asked("mine"))
        await until(lambda: model.requests, "the model is asked")
        await bots.start("worker")
        await first.kill()
        killed = time.monotonic()
        assert (await gateway.web.answer("talk", id, 30))["text"] == "re «mine»"
        print(f"answered by another worker {time.monotonic() - killed:.1f} s after the kill")
        assert len(await gateway.web.answers("talk", id)) == 1
        await until(lambda: not unended(db), "all is at rest")


@by_night
@pytest.mark.parametrize("fp", ["", "lease.lost:kill9"])
async def test_I11_a_worker_that_slept_past_its_lease_ends_itself(
    tmp_path: Path, db: str, fp: str
) -> None:
    model = ModelEmulator(responder=answer)
    model.script([STALLED])
    async with several(tmp_path, db, model) as bots:
        gateway, first = [*await bots.start("gateway"), *await bots.start("worker", fp=fp)]
        id = await gateway.web.post("talk", asked("mine"))
        await until(lambda: model.requests, "the model is asked")
        first.send_signal(signal.SIGSTOP)
        await bots.start("worker")
        assert (await gateway.web.answer("talk", id, 30))["text"] == "re «mine»"
        first.send_signal(signal.SIGCONT)
        assert await first.ended() == (-signal.SIGKILL if fp else GONE)
        next_id = await gateway.web.post("talk", asked("next"))
        assert (await gateway.web.answer("talk", next_id))["text"] == "re «next»"
        assert len(await gateway.web.answers("talk", id)) == 1
        await until(lambda: not unended(db), "all is at rest")
        assert await ledger_faults(db) == []


@by_night
async def test_a_process_that_dies_when_it_renews_its_lease_is_done_without(
    tmp_path: Path, db: str
) -> None:
    model = ModelEmulator(responder=answer)
    async with several(tmp_path, db, model) as bots:
        gateway, _ = await bots.start("gateway", "worker")
        dying = bots.process("worker")
        await dying.spawn("lease.renewed@2:kill9")
        assert await dying.ended() == -signal.SIGKILL
        id = await gateway.web.post("talk", asked("still"))
        assert (await gateway.web.answer("talk", id))["text"] == "re «still»"
        await until(
            lambda: len(query(db, "SELECT lease FROM process")) == 2, "the dead one is forgotten"
        )


@by_night
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP])
async def test_I11_a_gateway_that_stands_by_takes_over(
    tmp_path: Path, db: str, how: signal.Signals
) -> None:
    model = ModelEmulator(responder=answer)
    async with TelegramEmulator() as telegram, several(tmp_path, db, model, telegram.url) as bots:
        first, _ = await bots.start("gateway", "worker")
        telegram.inject(asked("one"), user=int(FRIEND))
        await until(lambda: _seen(telegram) == ["one"], "the first gateway answers")
        await bots.start("gateway")
        first.send_signal(how)
        gone = time.monotonic()
        telegram.inject(asked("two"), user=int(FRIEND))
        await until(lambda: _seen(telegram)[-1:] == ["two"], "the other one answers", 40)
        print(
            f"heard and answered by the other gateway {time.monotonic() - gone:.1f} s after "
            f"{how.name}"
        )
        if how == signal.SIGSTOP:
            first.send_signal(signal.SIGCONT)
        assert await first.ended() == (-signal.SIGKILL if how == signal.SIGKILL else GONE)
        telegram.inject(asked("three"), user=int(FRIEND))
        await until(lambda: _seen(telegram)[-1:] == ["three"], "and goes on")
        assert _seen(telegram) == ["one", "two", "three"]
        await until(lambda: not unended(db), "all is at rest")


@by_night
async def test_the_owner_is_told_of_a_model_that_is_of_no_use(tmp_path: Path, db: str) -> None:
    model = ModelEmulator(responder=answer)
    model.script([refuse(401)])
    async with several(tmp_path, db, model) as bots:
        gateway, *_ = await bots.start("gateway", "worker")
        await gateway.web.answer("talk", await gateway.web.post("talk", asked("one")))
        told = "SELECT id FROM outbox WHERE text LIKE '%its key is refused%'"
        await until(lambda: query(db, told), "the owner is told")


async def test_I19_a_stop_reaches_the_turn_wherever_it_runs(tmp_path: Path, db: str) -> None:
    model = ModelEmulator(responder=answer)
    model.script([STALLED])
    async with several(tmp_path, db, model) as bots:
        gateway, *_ = await bots.start("gateway", "worker", "worker")
        id = await gateway.web.post("talk", asked("endless"))
        await until(lambda: model.requests, "the model is asked")
        begun = time.monotonic()
        await gateway.web.post("talk", "/stop")
        line = await gateway.web.answer("talk", id)
        print(f"stopped after {time.monotonic() - begun:.2f} s")
        assert line["role"] == "notice"
        await asyncio.gather(*(bot.term() for bot in bots.made))


@by_night
async def test_a_worker_tells_of_itself_on_a_port_of_its_own(tmp_path: Path, db: str) -> None:
    model = ModelEmulator(responder=answer)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with TelegramEmulator() as telegram, several(tmp_path, db, model, telegram.url) as bots:
        gateway, worker = (
            *await bots.start("gateway"),
            bots.process("worker", "--metrics", str(port)),
        )
        await worker.start()
        await gateway.web.answer("talk", await gateway.web.post("talk", asked("one")))
        token = {"authorization": f"Bearer {(tmp_path / 'data' / 'web_token').read_text().strip()}"}
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
            assert (await client.get("/healthz")).json() == {"ok": True}
            ready = await client.get("/readyz", headers=token)
            assert (ready.status_code, ready.json()["reasons"]["channels"]) == (200, {})
            assert (await client.get("/metrics")).status_code == 401
            assert (await client.get("/api/conversations", headers=token)).status_code == 404
            assert (
                await client.get("/metrics", headers={**token, "host": "elsewhere"})
            ).status_code == 400
            told = (await client.get("/metrics", headers=token)).text
        assert 'mnema_llm_requests_total{model="claude-sonnet-5-5",outcome="ok"} 1' in told
        assert "mnema_channel_up{" not in told
        assert "mnema_loop_lag_seconds 0" in told
        assert await worker.term() == 0


def _seen(telegram: TelegramEmulator) -> list[str]:
    return [token for seen in telegram.sent(int(FRIEND)) for token in tokens_in(seen.text)[:1]]
