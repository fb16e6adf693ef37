"""The console's routes for approvals: what waits, the rules, and taking one back."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.console.approvals import ApprovalRoutes
from bot.tools.exec.rules import build_command_rule
from memory.store.open import open_store
from memory.store.people.approval_rules import NewApprovalRule
from memory.store.people.rows import NewApproval, Party
from memory.store.store import Store
from tests.channels.web.server import ScriptedHouse, running
from tests.contracts.store_words import talk


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(tmp_path / "m.db")
    yield store
    await store.close()


async def test_rules_are_listed_and_revoked_once(store: Store) -> None:
    rule = build_command_rule({"argv": ["git", "status"]}, {"sandbox": "A", "cwd": "/w"}, 2)
    party = Party(channel="web", account="a", subject="user", id="1")
    new = NewApprovalRule(space="", party=party, tool="exec", command=rule.to_json(), cwd=rule.cwd, level=rule.level)
    await store.access.add_rule(new)
    async with running(ScriptedHouse(), ApprovalRoutes(store).calls()) as site, site.client() as client:
        listed = (await client.get("/api/approvals")).json()
        assert listed["waiting"] == []
        [shown] = listed["rules"]
        assert (shown["number"], shown["argv"], shown["prefix"]) == (1, ["git", "status"], True)
        for number in ("1", True, None):
            assert (await client.post("/api/approvals/revoke", json={"number": number})).status_code == 400
        assert (await client.post("/api/approvals/revoke", json={"number": 1})).status_code == 200
        assert (await client.post("/api/approvals/revoke", json={"number": 1})).status_code == 404
        assert (await client.get("/api/approvals")).json()["rules"] == []


async def test_what_waits_is_listed_with_what_it_depends_on(store: Store) -> None:
    home = await talk(store, "k1")
    arguments = {"argv": ["ls"], "#bound": {"cwd": "/w"}, "#tainted": True}
    asked = NewApproval(
        party=Party(channel="web", account="a", subject="user", id="1"),
        conversation=home,
        space="",
        call="c",
        action="exec",
        tool="exec",
        arguments=json.dumps(arguments),
        code_sha256="x",
        press_sha256="y",
        expires=datetime.now(UTC) + timedelta(minutes=5),
    )
    await store.access.ask(asked, ())
    async with running(ScriptedHouse(), ApprovalRoutes(store).calls()) as site, site.client() as client:
        [waiting] = (await client.get("/api/approvals")).json()["waiting"]
    assert (waiting["arguments"], waiting["bound"], waiting["tainted"]) == ({"argv": ["ls"]}, {"cwd": "/w"}, True)
    assert "x" not in waiting.values()
