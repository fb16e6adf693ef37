"""A person's data over HTTP: exported as it is read, and deleted beside a running bot."""

import asyncio
import zipfile
from io import BytesIO
from pathlib import Path
from random import Random
from typing import Any

from PIL import Image

from bot.memory.export import PersonBundle
from channels.message import Attachment
from channels.web.auth import FRESH_SECONDS
from memory.forgetting.person_removal import find_person
from memory.store.people.rows import GrantRow
from memory.store.rows import Party
from tests.bot.talk import call, results
from tests.browser.real import ANN, OWNER, Real, real_bot
from tests.channels.web.server import TOKEN

CANARY, WHO = "CANARY-0815", f"telegram:{ANN}"
PATH = f"/api/v1/people/{WHO}"


def script(request: Any) -> object:
    said = str(request.messages[-1].parts)
    return (
        (call("write_file", path="notes.md", content=CANARY),)
        if "note" in said and not results(request)
        else "yes"
    )


async def talk(real: Real) -> None:
    """ANN writes a note, sends a file, and makes a reminder; the owner says the same words."""
    file = Attachment(name="file.txt", media_type="text/plain", data=f"of {CANARY}".encode())
    for count, (text, files) in enumerate(
        (("note it", ()), ("look", (file,)), (f"/remind 30d {CANARY}", ())), 1
    ):
        real.telegram.hear(text, chat=ANN, sender=ANN, attachments=files)
        await real.telegram.until(lambda count=count: len(real.telegram.sent) == count)
    real.telegram.hear("I am the owner", chat=OWNER, sender=OWNER)
    await real.telegram.until(lambda: len(real.telegram.sent) == 4)
    party = Party(channel="telegram", account="1", subject="user", id=ANN)
    grant = GrantRow(
        party=party, role="admin", group="", name="Ann", by="console", at=real.bot.now()
    )
    await real.bot.store.access.grant(grant)
    await real.bot.settled()


async def test_what_goes_is_shown_the_name_is_typed_and_the_receipt_counts(tmp_path: Path) -> None:
    async with real_bot(tmp_path, script) as real, real.site.client() as client:  # type: ignore[arg-type]
        await talk(real)
        shown = (await client.get(f"{PATH}/deletion")).json()
        assert (shown["accounts"], shown["conversations"], shown["files"], shown["jobs"]) == (
            [WHO],
            1,
            1,
            1,
        )
        assert shown["listed"] == ["channels.telegram.allow"]
        for name in ("", ANN, WHO.upper(), f"telegram:{OWNER}"):
            refused = await client.post(f"{PATH}/deletion", json={"name": name})
            assert (refused.status_code, refused.json()["error"]["code"]) == (400, "name")
        assert (await client.get(f"{PATH}/deletion")).json() == shown
        receipt = (await client.post(f"{PATH}/deletion", json={"name": WHO})).json()
        counted = {
            name: receipt[name]
            for name in ("conversations", "files", "attachments", "is_compacted")
        }
        assert counted == {"conversations": 1, "files": 1, "attachments": 1, "is_compacted": True}
        assert await real.bot.store.people.load_removals() == []
        assert [actor for actor, _ in await real.audited("person deleted")] == ["console"]
        assert len(await real.audited("revoke")) == 1
        gone = await client.get(f"{PATH}/deletion", headers={"accept-language": "zh"})
        assert (gone.status_code, gone.json()["error"]["code"]) == (409, "not_removable")
        assert gone.json()["error"]["message"].startswith("没有")
        await asyncio.wait_for(real.bot.settled(), 30)
        assert not (tmp_path / "workspace/spaces" / f"telegram-{ANN}").exists()
        left = [
            path.name
            for path in tmp_path.rglob("*")
            if path.is_file() and CANARY.encode() in path.read_bytes()
        ]
        assert left == []
        refused = await client.post(
            f"/api/v1/people/telegram:{OWNER}/deletion", json={"name": f"telegram:{OWNER}"}
        )
        assert refused.status_code == 409


async def test_a_turn_of_the_person_that_runs_is_ended_first_and_the_next_message_begins_anew(
    tmp_path: Path,
) -> None:
    waits = asyncio.Event()

    async with real_bot(tmp_path, script) as real, real.site.client() as client:  # type: ignore[arg-type]
        await talk(real)
        stream, model = real.model.stream, real.model

        async def hang(request: Any) -> Any:
            waits.set()
            await asyncio.Event().wait()
            async for event in stream(request):
                yield event

        model.stream = hang  # type: ignore[method-assign]
        real.telegram.hear("a question", chat=ANN, sender=ANN)
        await waits.wait()
        model.stream = stream  # type: ignore[method-assign]
        assert (await client.post(f"{PATH}/deletion", json={"name": WHO})).status_code == 200
        sent = len(real.telegram.sent)
        real.telegram.hear("hello again", chat=ANN, sender=ANN)  # config.json still names them
        await real.telegram.until(lambda: len(real.telegram.sent) > sent)
        assert (await client.get(f"{PATH}/deletion")).json()["messages"] == 2


async def test_roles_and_deletions_need_a_login_of_the_last_ten_minutes(tmp_path: Path) -> None:
    now = [0.0]
    async with (
        real_bot(tmp_path, script, login_clock=lambda: now[0]) as real,  # type: ignore[arg-type]
        real.site.nobody() as client,
    ):
        await talk(real)
        origin = {"origin": real.site.base}
        answer = await client.post("/login", json={"token": TOKEN}, headers=origin)
        headers = {**origin, "x-csrf-token": answer.json()["csrf"]}
        acts: tuple[tuple[str, dict[str, str]], ...] = (
            ("/api/v1/access/role", {"channel": "telegram", "id": ANN, "role": "user"}),
            ("/api/v1/access/owner", {}),
            (f"{PATH}/deletion", {"name": WHO}),
        )
        now[0] = FRESH_SECONDS + 1
        for path, body in acts:
            refused = await client.post(path, json=body, headers=headers)
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "login_again")
        now[0] = FRESH_SECONDS
        for path, body in acts:
            assert (await client.post(path, json=body, headers=headers)).status_code == 200


def noise(seed: int) -> bytes:
    """A picture that does not get smaller."""
    target = BytesIO()
    Image.frombytes("RGB", (120, 120), Random(seed).randbytes(120 * 120 * 3)).save(target, "PNG")
    return target.getvalue()


class Sink:
    """A target that cannot be sought in, as a connection is; `most` is what it held at once."""

    def __init__(self) -> None:
        self.whole, self.held, self.most = b"", 0, 0

    def write(self, data: bytes) -> int:
        self.whole += data
        self.held += len(data)
        self.most = max(self.most, self.held)
        return len(data)

    def flush(self) -> None: ...

    async def taken(self) -> None:
        self.held = 0


async def test_an_export_holds_one_piece_at_a_time_and_a_reader_that_leaves_ends_it(
    tmp_path: Path,
) -> None:
    async with real_bot(tmp_path, script) as real, real.site.client() as client:  # type: ignore[arg-type]
        await talk(real)
        for number in range(12):
            file = Attachment(name=f"{number}.png", media_type="image/png", data=noise(number))
            count = len(real.telegram.sent)
            real.telegram.hear(f"file {number}", chat=ANN, sender=ANN, attachments=(file,))
            await real.telegram.until(lambda count=count: len(real.telegram.sent) > count)
        store, sink = real.bot.store, Sink()
        bundle = PersonBundle(store, real.bot.workspace, real.bot.blobs, sink, written=sink.taken)  # type: ignore[arg-type]
        await bundle.fill(await find_person(store, WHO), real.bot.now())
        assert sink.most < 2 * len(noise(0)) < len(sink.whole) / 4
        async with client.stream("GET", f"{PATH}/export") as answer:
            streamed = b"".join([piece async for piece in answer.aiter_bytes()])
        for content in (sink.whole, streamed):
            with zipfile.ZipFile(BytesIO(content)) as export:
                assert export.testzip() is None
                assert (
                    len([name for name in export.namelist() if name.startswith("attachments/")])
                    == 13
                )
        async with client.stream("GET", f"{PATH}/export") as answer:
            await anext(answer.aiter_raw())
            making = [
                task for task in asyncio.all_tasks() if "PersonBundle" in str(task.get_coro())
            ]
        await asyncio.wait_for(asyncio.gather(*making, return_exceptions=True), 20)
