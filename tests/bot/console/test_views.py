"""The routes to past requests, and the acts on the context, over a whole bot."""

import json
import re
from pathlib import Path
from typing import Any

import httpx

import channels
from bot.models.base import Request
from memory.context.policies.policies import POLICIES
from tests.bot.talk import folded
from tests.browser.real import OWNER, QUIET, Real, real_bot

SUMMARY = folded("- They greet.", "## Goal and state\n- They greet.")
V1 = "/api/v1/conversations"


def answering(request: Request) -> str:
    return "Yes." if request.purpose == "turn" else SUMMARY


async def tell(real: Real, text: str) -> None:
    known = len(real.telegram.sent)
    real.telegram.hear(text, chat=OWNER, sender=OWNER, key=text)
    await real.telegram.until(lambda: len(real.telegram.sent) > known)
    await real.bot.turns.settled()


async def own(client: httpx.AsyncClient) -> str:
    [found] = (await client.get(f"{V1}?own=true")).json()["items"]
    return f"{V1}/{found['id']}"


async def test_pages_texts_and_differences_of_past_requests(tmp_path: Path) -> None:
    async with real_bot(tmp_path, answering) as real, real.site.client() as client:
        for number in range(4):
            await tell(real, f"Hello {number}.")
        chat = await own(client)
        first = (await client.get(f"{chat}/views?limit=3")).json()
        assert [one["number"] for one in first["items"]] == [4, 3, 2]
        rest = (await client.get(f"{chat}/views?limit=3&cursor={first['next']}")).json()
        assert ([one["number"] for one in rest["items"]], rest["next"]) == ([1], None)
        assert {one["broke"] for one in (*first["items"], *rest["items"])} == {""}

        view = (await client.get(f"{chat}/views/2")).json()
        assert view["exact"]
        assert sum(view["parts"].values()) == view["tokens"]
        texts = [piece["text"] for one in view["items"] for piece in one["pieces"]]
        assert "Hello 0." in texts
        assert "Hello 1." in texts
        assert "Hello 2." not in texts
        diff = (await client.get(f"{chat}/views/2/diff/4")).json()
        assert diff["broke"] is None
        assert [one["turn"] for one in diff["items"] if one["state"] == "added"] == [3, 4]

        for path, status in {
            "views/5": 404,
            "views/0": 404,
            "views/x": 404,
            "views/1/diff/9": 404,
            "views?cursor=x": 400,
            "views?limit=0": 400,
            "views/9999999999": 404,
        }.items():
            assert (await client.get(f"{chat}/{path}")).status_code == status, path
        assert (await client.get(f"{V1}/nobody/views")).status_code == 404


async def test_the_context_is_folded_undone_cleared_and_given_a_policy(tmp_path: Path) -> None:
    async with real_bot(tmp_path, answering, settings=QUIET) as real, real.site.client() as client:
        await tell(real, "Hello.")
        chat = await own(client)

        async def act(**body: Any) -> tuple[int, str]:
            answer = await client.post(f"{chat}/folds", json=body)
            return answer.status_code, answer.json().get("done", "")

        async def facts() -> dict[str, Any]:
            found: dict[str, Any] = (await client.get(f"{chat}/context")).json()
            return found

        assert await act(act="fold") == (409, "")  # one turn is too little
        assert await act(act="undo") == (409, "")
        for number in range(3):
            await tell(real, f"And {number}?")
        assert await act(act="fold") == (200, "folding")
        await real.bot.folding.settled()
        assert [(one["from_turn"], one["to_turn"]) for one in (await facts())["folds"]] == [(1, 2)]
        assert await act(act="undo") == (200, "fold_undone")
        assert (await facts())["live_turns"] == [1, 4]
        assert await act(act="clear") == (200, "cleared")
        assert (await facts())["turns"] == 0
        assert await act(act="undo") == (200, "clear_undone")
        assert (await facts())["turns"] == 4
        assert await act(act="policy", policy="rolling") == (200, "policy")
        assert (await facts())["policy"] == "rolling"
        assert await act(act="policy", policy="") == (200, "policy")
        assert not (await facts())["policy_own"]
        assert await act(act="policy", policy="none") == (400, "")
        assert await act(act="burn") == (400, "")
        conversation = chat.rpartition("/")[2]
        assert len(await real.audited("context.change")) == 4
        assert [subject for _, subject in await real.audited("clear")] == [conversation]


def test_the_page_offers_every_policy() -> None:
    source = (Path(channels.__file__).parent / "web/ui/src/context/parts.ts").read_text()
    [listed] = re.findall(r"export const POLICIES = (\[.*\]) as const;", source)
    assert json.loads(listed) == list(POLICIES)
