"""A replay in the console is a job whose figures are those of `mnema replay`."""

import asyncio
import json
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.bot.console.test_views import answering, own, tell
from tests.browser.real import QUIET, real_bot
from tests.by_night import by_night
from tests.channels.web.streams import sent_events


async def ended(client: httpx.AsyncClient, job: str) -> dict[str, Any]:
    """The job once it has ended, as the stream tells it."""
    async with aclosing(sent_events(client, "/api/v1/events?topics=jobs")) as stream:
        async for event in stream:
            found: dict[str, Any] = json.loads(event["data"]) if event.get("event") == "job" else {}
            if found.get("id") == job and found["state"] != "running":
                return found
    raise AssertionError("the stream ended")


async def printed(home: Path, conversation: str, *options: str) -> dict[str, Any]:
    """What the command prints."""
    child = await asyncio.create_subprocess_exec(
        *(
            sys.executable,
            "-m",
            "bot",
            "--home",
            str(home),
            "replay",
            conversation,
            "--json",
            *options,
        ),
        stdout=asyncio.subprocess.PIPE,
    )
    told, _ = await child.communicate()
    found: dict[str, Any] = json.loads(told)
    return found


@by_night
async def test_its_figures_are_those_of_the_command_and_it_can_be_cancelled(tmp_path: Path) -> None:
    async with real_bot(tmp_path, answering, settings=QUIET) as real, real.site.client() as client:
        for number in range(6):
            await tell(real, f"Hello {number}. " * 40)
        chat = await own(client)
        body = {"policies": ["turns", "rolling"], "budget": 9_000, "turns": 3}
        begun = await client.post(f"{chat}/replays", json=body)
        assert begun.status_code == 202
        assert (await client.post(f"{chat}/replays", json=body)).status_code == 409
        job = await ended(client, begun.json()["id"])
        assert (job["state"], job["done"], job["expected"]) == ("done", 2, 2)
        options = ("--policy", "turns,rolling", "--budget", "9000", "--turns", "3")
        told = await printed(tmp_path, chat.rpartition("/")[2], *options)
        for ours, theirs in zip(job["result"]["policies"], told["policies"], strict=True):
            assert ours["tokens"] == [one["tokens"] for one in theirs["series"]]
            assert ours["broke"] == [
                at for at, one in enumerate(theirs["series"]) if one["prefix_broke"]
            ]
            own_figures = {
                name: value
                for name, value in ours.items()
                if name not in ("tokens", "broke", "fold_list")
            }
            assert own_figures == {name: theirs[name] for name in own_figures}
            assert [(one["from_turn"], one["to_turn"]) for one in ours["fold_list"]] == [
                (one["from_turn"], one["to_turn"]) for one in theirs["fold_list"]
            ]
        assert job["result"]["policies"][0]["folds"] > 0

        again = (await client.post(f"{chat}/replays", json={})).json()
        assert (await client.post(f"/api/v1/jobs/{again['id']}/cancel", json={})).status_code == 202
        assert (await ended(client, again["id"]))["state"] == "cancelled"


@pytest.mark.parametrize(
    "body",
    [
        {"policies": ["none"]},
        {"policies": [{}]},
        {"policies": "turns"},
        {"budget": -1},
        {"budget": 10_000_001},
        {"turns": 10_001},
    ],
)
async def test_what_cannot_be_replayed_is_refused(tmp_path: Path, body: dict[str, Any]) -> None:
    async with real_bot(tmp_path, answering) as real, real.site.client() as client:
        await tell(real, "Hello.")
        assert (await client.post(f"{await own(client)}/replays", json=body)).status_code == 400
