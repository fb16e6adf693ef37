"""The console's routes for approvals: what waits, deciding it, the rules, and taking one back."""

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from bot.access.roles import RoleResolver
from bot.agent.approvals import Begun
from bot.config.schema import Config
from bot.console.approvals import ApprovalRoutes
from bot.tools.exec.rules import build_command_rule
from channels.phrases import ShownPhrase
from channels.web.requests import Route
from memory.store.automation.approval_rules import NewApprovalRule
from memory.store.automation.approvals import ApprovalRow, NewApproval
from memory.store.open import open_store
from memory.store.rows import Party
from memory.store.store import Store
from tests.channels.web.server import ScriptedBot, running
from tests.contracts.store_words import talk


class Decider:
    """Notes decisions, and says of the second one that it comes too late."""

    def __init__(self) -> None:
        self.made: list[tuple[bool, int | None, str]] = []

    async def decide_approval(
        self, row: ApprovalRow, *, approve: bool, always: int | None, by: str
    ) -> Begun:
        self.made.append((approve, always, by))
        return Begun(text=ShownPhrase("too late", "晚了"), done=len(self.made) < 2, runs=approve)


def routes(store: Store, decider: Decider) -> tuple[Route, ...]:
    return ApprovalRoutes(store, RoleResolver(Config, store.access), decider).calls()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    store = await open_store(tmp_path / "m.db")
    yield store
    await store.close()


async def test_rules_are_listed_and_revoked_once(store: Store) -> None:
    rule = build_command_rule({"argv": ["ls", "-l"]}, {"sandbox": "A", "cwd": "/w"}, 2)
    party = Party(channel="web", account="a", subject="user", id="1")
    new = NewApprovalRule(
        space="", party=party, tool="exec", command=rule.to_json(), cwd=rule.cwd, level=rule.level
    )
    await store.access.add_rule(new)
    async with running(ScriptedBot(), routes(store, Decider())) as site, site.client() as client:
        listed = (await client.get("/api/v1/approvals")).json()
        assert listed["waiting"] == []
        [shown] = listed["rules"]
        assert (shown["number"], shown["argv"], shown["prefix"]) == (1, ["ls", "-l"], True)
        assert shown["in_force"]
        for number in ("1", True, None):
            assert (
                await client.post("/api/v1/approvals/revoke", json={"number": number})
            ).status_code == 400
        assert (
            await client.post("/api/v1/approvals/revoke", json={"number": 1})
        ).status_code == 200
        assert (
            await client.post("/api/v1/approvals/revoke", json={"number": 1})
        ).status_code == 404
        assert (await client.get("/api/v1/approvals")).json()["rules"] == []


async def ask(store: Store, space: str = "") -> None:
    home = await talk(store, "k1")
    arguments = {"argv": ["ls"], "#bound": {"cwd": "/w"}, "#tainted": True}
    asked = NewApproval(
        party=Party(channel="web", account="a", subject="user", id="1"),
        conversation=home,
        space=space,
        call="c",
        action="exec",
        tool="exec",
        arguments=json.dumps(arguments),
        code_sha256="x",
        press_sha256="y",
        expires=datetime.now(UTC) + timedelta(minutes=5),
    )
    await store.access.ask(asked, ())


async def test_what_waits_is_listed_with_what_it_depends_on(store: Store) -> None:
    await ask(store)
    async with running(ScriptedBot(), routes(store, Decider())) as site, site.client() as client:
        [waiting] = (await client.get("/api/v1/approvals")).json()["waiting"]
    assert (waiting["arguments"], waiting["bound"], waiting["tainted"]) == (
        {"argv": ["ls"]},
        {"cwd": "/w"},
        True,
    )
    assert not waiting["lasting"], "words from outside were in view"
    assert "x" not in waiting.values()


async def test_a_decision_is_over_what_was_shown(store: Store) -> None:
    api = "/api/v1/approvals"
    await ask(store)
    decider = Decider()
    async with running(ScriptedBot(), routes(store, decider)) as site, site.client() as client:
        [waiting] = (await client.get(api)).json()["waiting"]
        path, digest = f"{api}/{waiting['id']}", waiting["digest"]
        for status, body in {
            400: {"decision": "yes", "digest": digest},
            409: {
                "decision": "once",
                "digest": f"{digest[:-1]}{'0' if digest[-1] != '0' else '1'}",
            },
        }.items():
            assert (await client.post(path, json=body)).status_code == status
        assert (await client.post(path, json={"decision": "once"})).status_code == 400
        assert (
            await client.post(f"{path}0", json={"decision": "once", "digest": digest})
        ).status_code == 404
        assert decider.made == []
        decided = await client.post(path, json={"decision": "always", "digest": digest})
        assert (decided.status_code, decided.json()) == (200, {"state": "running"})
        late = await client.post(path, json={"decision": "deny", "digest": digest})
        assert (late.status_code, late.json()["error"]["message"]) == (409, "too late")
    assert decider.made == [(True, 0, "web"), (False, None, "web")]


async def test_requests_of_other_spaces_are_not_found(store: Store) -> None:
    await ask(store, "someone")
    [row] = await store.access.open_approvals("someone", store.now())
    async with running(ScriptedBot(), routes(store, Decider())) as site, site.client() as client:
        body = {"decision": "once", "digest": row.digest}
        assert (await client.post(f"/api/v1/approvals/{row.id}", json=body)).status_code == 404
