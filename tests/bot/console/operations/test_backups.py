"""Routes of backups: what is refused, that nothing is left of what failed, and that no name leads
out of the folder.
"""

import asyncio
import base64
import os
import resource
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import pytest_asyncio

from bot.console.operations.backup_encryption import MIN_PASSPHRASE_CHARS
from bot.console.operations.backups import MAX_BACKUPS, MAX_PIECE_BYTES
from bot.console.operations.jobs import MAX_JOBS, Job, JobRunner
from channels.web.auth import FRESH_SECONDS, RequestGuard, require_fresh_login
from channels.web.requests import HttpRefusal
from tests.browser.real import Real, real_bot
from tests.channels.web.server import TOKEN


@pytest_asyncio.fixture
async def real(tmp_path: Path) -> AsyncIterator[Real]:
    async with real_bot(tmp_path / "home", lambda asked: "yes") as up:
        yield up


async def finished(client: httpx.AsyncClient, answer: httpx.Response) -> dict[str, Any]:
    """The job that an answer names, once it has ended, as its stream tells it."""
    assert answer.status_code == 202, answer.text
    async with client.stream("GET", "/api/v1/events?topics=jobs", timeout=60) as stream:
        async for line in stream.aiter_lines():
            if (
                line.startswith("data: ")
                and answer.json()["id"] in line
                and '"state":"running"' not in line
            ):
                break
    return dict((await client.get(answer.headers["location"])).json())


def piece(offset: int, data: bytes) -> dict[str, Any]:
    return {"offset": offset, "data": base64.b64encode(data).decode()}


async def test_a_backup_that_is_no_backup_is_told_and_nothing_is_restored_without_the_name(
    real: Real,
) -> None:
    restored: list[tuple[Path, str]] = []
    begun_restore = asyncio.Event()

    def restore(file: Path, passphrase: str) -> None:
        restored.append((file, passphrase))
        begun_restore.set()

    real.bot.restore = restore
    async with real.site.client() as client:
        begun = (
            await client.post(
                "/api/v1/backups/uploads", json={"name": "../..\\x y\u202e.tar", "size": 300}
            )
        ).json()
        assert begun["name"] == "x-y.tar.backup"
        path = f"/api/v1/backups/uploads/{begun['id']}"
        assert (await client.put(path, json=piece(1, b"x"))).status_code == 409
        assert (await client.put(path, json=piece(0, b"x" * 301))).status_code == 409
        assert (
            await client.put(path, json=piece(0, b"x" * (MAX_PIECE_BYTES + 1)))
        ).status_code == 413
        assert (await client.put(path, json={"offset": 0, "data": "?"})).status_code == 400
        assert (await client.put(path, json=piece(0, b"x" * 200))).json()["received"] == 200
        assert (await client.get("/api/v1/backups")).json()["items"] == []
        assert (await client.put(path, json=piece(200, b"x" * 100))).json()["received"] == 300
        [listed] = (await client.get("/api/v1/backups")).json()["items"]
        one = f"/api/v1/backups/{listed['name']}"
        job = await finished(client, await client.post(f"{one}/verify", json={}))
        assert job["state"] == "failed"
        assert "no backup of mnema" in job["error"]
        for home in ("", "other", None):
            refused = await client.post(f"{one}/restore", json={"home": home})
            assert (refused.status_code, refused.json()["error"]["code"]) == (400, "home")
        assert (
            await client.post(f"{one}/restore", json={"home": "home", "passphrase": "a\nb"})
        ).status_code == 400
        assert restored == []
        assert (await client.post(f"{one}/restore", json={"home": "home"})).status_code == 202
        await asyncio.wait_for(begun_restore.wait(), 5)
        assert [(file.name, passphrase) for file, passphrase in restored] == [(listed["name"], "")]
        for name in ("..%2Fconfig.json", "%2e%2e", ".upload-x", "last-restore.json", "x.backup"):
            assert (await client.get(f"/api/v1/backups/{name}/file")).status_code == 404
        assert (await client.delete(one)).json() == {"ok": True}
        assert await real.audited("restore") == [("console", listed["name"])]


async def test_what_does_not_fit_on_the_disk_is_told_and_leaves_nothing(real: Real) -> None:
    async with real.site.client() as client:
        refused = await client.post("/api/v1/backups/uploads", json={"name": "x", "size": 10**18})
        assert (refused.status_code, refused.json()["error"]["code"]) == (507, "no_space")
        begun = (
            await client.post("/api/v1/backups/uploads", json={"name": "x", "size": 600_000})
        ).json()
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, before[1]))
        try:
            answer = await client.put(
                f"/api/v1/backups/uploads/{begun['id']}", json=piece(0, b"x" * 600_000)
            )
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert answer.json()["error"]["message"] == "the upload was discarded: File too large"
        assert list(real.bot.home.backups.iterdir()) == []
        assert (
            await client.put(f"/api/v1/backups/uploads/{begun['id']}", json=piece(0, b"x"))
        ).status_code == 404


async def test_a_backup_that_fails_or_is_cancelled_leaves_nothing(
    real: Real, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with real.site.client() as client:
        short = await client.post(
            "/api/v1/backups", json={"passphrase": "x" * (MIN_PASSPHRASE_CHARS - 1)}
        )
        assert short.status_code == 400
        begun = await client.post("/api/v1/backups", json={})
        assert (await client.post("/api/v1/backups", json={})).status_code == 409
        await client.post(f"/api/v1/jobs/{begun.json()['id']}/cancel", json={})
        assert (await finished(client, begun))["state"] == "cancelled"
        assert list(real.bot.home.backups.iterdir()) == []
        monkeypatch.setenv("MNEMA_TEST", "1")
        monkeypatch.setenv("MNEMA_FP", "backup.snapshot@1:enospc")
        job = await finished(client, await client.post("/api/v1/backups", json={}))
        assert job["state"] == "failed"
        assert job["error"].startswith("No backup was made: ")
        assert "No space left on device" in job["error"]
        assert [path.name for path in real.bot.home.backups.iterdir()] == []


async def test_of_very_many_backups_the_newest_are_listed(real: Real) -> None:
    folder = real.bot.home.backups
    folder.mkdir(exist_ok=True)
    for number in range(MAX_BACKUPS + 1):
        path = folder / f"b{number:03}.backup"
        path.write_bytes(b"x")
        os.utime(path, (number, number))
    async with real.site.client() as client:
        listed = (await client.get("/api/v1/backups")).json()["items"]
    assert [one["name"] for one in listed] == [
        f"b{number:03}.backup" for number in range(MAX_BACKUPS, 0, -1)
    ]


async def test_a_restore_needs_a_login_of_the_last_ten_minutes() -> None:
    now = [0.0]
    guard = RequestGuard(token=TOKEN, port=1, clock=lambda: now[0])
    session_cookie = await guard.login(TOKEN, [])
    headers = [(b"cookie", f"{guard.cookie}={session_cookie}".encode())]
    now[0] = FRESH_SECONDS
    require_fresh_login(await guard.visitor("GET", headers))
    now[0] = FRESH_SECONDS + 1
    with pytest.raises(HttpRefusal, match="token again"):
        require_fresh_login(await guard.visitor("GET", headers))
    require_fresh_login(
        await guard.visitor("GET", [(b"authorization", f"Bearer {TOKEN}".encode())])
    )


async def test_only_so_many_jobs_are_remembered_and_a_running_one_always_is() -> None:
    runner, go = JobRunner(), asyncio.Event()

    async def wait(_: Job) -> dict[str, Any]:
        await go.wait()
        return {}

    async def end(_: Job) -> dict[str, Any]:
        return {}

    first = runner.start("long", "", wait)
    for number in range(MAX_JOBS):
        job = runner.start(f"k{number}", "", end)
        async for frame in runner.follow(lambda: False):
            if job.id.encode() in frame and b'"state":"done"' in frame:
                break
    assert len(runner.jobs()) == MAX_JOBS
    assert runner.find(first.id) is first
    with pytest.raises(HttpRefusal):
        runner.find(runner.jobs()[-1].id + "x")
    go.set()
    await runner.close()
