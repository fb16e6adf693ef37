"""`mnema pair` and `mnema owner` on a home without a running bot, and with one."""

import asyncio
import json
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from bot.cli.main import main
from bot.config.home import HomeFolder
from memory.ids import code_sha256, new_code
from memory.store.open import open_store
from memory.store.people.rows import AccessRequest
from memory.store.rows import Party
from tests.contracts.store_words import talk
from tests.walk import nest

CODE = re.compile(r"^([2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4})$", re.MULTILINE)
OFFLINE = {
    "llm": {"provider": "offline"},
    "channels": {"web": {"port": 0}, "telegram": {"owners": ["7"]}},
}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps(OFFLINE))
    (tmp_path / "config.json").chmod(0o600)
    return tmp_path


@pytest.fixture
def running(home: Path) -> Iterator[Path]:
    """The same home with a running bot."""
    with nest.running(home):
        yield home


@pytest.fixture(params=["alone", "beside a running bot"])
def either(request: pytest.FixtureRequest, home: Path) -> Path:
    """A home without and with a running bot."""
    held: Path = home if request.param == "alone" else request.getfixturevalue("running")
    return held


def mnema(home: Path, *words: str) -> int:
    return main(["--home", str(home), *words])


def facts(home: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert mnema(home, "pair", "list", "--json") == 0
    told: dict[str, Any] = json.loads(capsys.readouterr().out)
    return told


def test_who_may_talk_is_seen_and_changed(either: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert mnema(either, "pair", "group", "telegram:-100123") == 0
    assert "The group telegram -100123 is now allowed" in capsys.readouterr().out
    assert mnema(either, "pair", "role", "telegram:7", "admin", "--yes") == 0
    people = facts(either, capsys)["people"]
    assert {(row["id"], row["role"], row["by"]) for row in people} >= {
        ("7", "owner", "config.json")
    }
    assert {(row["id"], row["role"]) for row in people} >= {("-100123", "group"), ("7", "admin")}
    assert mnema(either, "pair", "revoke", "telegram:-100123") == 0
    assert "-100123" not in {row["id"] for row in facts(either, capsys)["people"]}
    assert mnema(either, "pair", "list") == 0
    assert "owner    telegram:7  by config.json" in capsys.readouterr().out
    assert mnema(either, "owner", "list") == 0
    assert capsys.readouterr().out == "telegram:7  by config.json\n"


def test_an_owner_code_is_printed_alone_and_kept_as_its_hash(
    either: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mnema(either, "owner", "add") == 0
    out = capsys.readouterr().out
    found = CODE.fullmatch(out.strip())
    assert found
    with closing(sqlite3.connect(either / "data" / "mnema.db")) as base:
        [(sha256, subject)] = base.execute(
            "SELECT code_sha256, subject FROM access_request"
        ).fetchall()
    assert (sha256, subject) == (code_sha256(found[1]), "owner")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("pair", "approve", "ABCD-EFGH"), "expired or already used"),
        (("pair", "deny", "ABCD-EFGH"), "expired or already used"),
        (("pair", "revoke", "telegram:5"), "telegram:5 had no access to revoke"),
        (
            ("pair", "group", "telegrm:5"),
            "There is no channel telegrm. Available: telegram, feishu",
        ),
        (("pair", "role", "telegram:5", "admin", "--yes"), "telegram:5 is not known yet"),
        (
            ("pair", "role", "telegram:7", "owner", "--yes"),
            "make someone an owner, use mnema owner add",
        ),
        (
            ("pair", "role", "telegram:7", "admin"),
            "There is no terminal to ask for confirmation; pass --yes.",
        ),
    ],
)
def test_what_cannot_be_is_one_sentence(
    home: Path, words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mnema(home, *words) == 1
    assert said in capsys.readouterr().err


def test_what_cannot_be_is_the_same_sentence_beside_a_running_bot(
    running: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mnema(running, "pair", "approve", "ABCD-EFGH") == 1
    assert "is wrong, expired or already used" in capsys.readouterr().err


def test_a_party_without_a_channel_is_wrong_use(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert mnema(home, "pair", "revoke", "12345") == 2
    assert "CHANNEL:ID, such as telegram:42" in capsys.readouterr().err


def test_a_strangers_code_is_approved_on_the_record_itself(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(_knock(home, "ABCDEFGH"))
    capsys.readouterr()
    assert mnema(home, "pair", "approve", "abcd-efgh", "--channel", "telegram") == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "telegram 42 “Ann” can now talk to me in private." in said.out


def test_the_list_shows_ids_and_claimed_names_and_no_code(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(_knock(home, "ABCDEFGH"))
    capsys.readouterr()
    assert mnema(home, "pair", "list") == 0
    shown = capsys.readouterr().out
    assert 'waits    telegram:42 "Ann"' in shown
    assert "ABCD" not in shown


@pytest.fixture
def api(running: Path) -> Iterator[httpx.Client]:
    """The running bot's API, called by its owner."""
    token = (running / "data" / "web_token").read_text().strip()
    with httpx.Client(
        base_url=HomeFolder(root=running).address(),
        headers={"authorization": f"Bearer {token}"},
        timeout=30,
    ) as client:
        yield client


def test_the_api_names_what_is_wrong_and_asks_nobody_without_a_token(api: httpx.Client) -> None:
    assert api.get("/api/v1/access").json()["waiting"] == []
    for path, body, code in (
        ("approve", {}, "code"),
        ("approve", {"code": 7}, "code"),
        ("approve", {"code": "x" * 300}, "code"),
        ("revoke", {"channel": "telegram"}, "id"),
        ("group", {"id": "1"}, "channel"),
        ("role", {"channel": "telegram", "id": "1"}, "role"),
        ("revoke", {"channel": "telegram", "id": "404"}, "access"),
    ):
        refused = api.post(f"/api/v1/access/{path}", json=body)
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, code), path
    for path in ("", "/approve", "/deny", "/revoke", "/group", "/role", "/owner"):
        method = "POST" if path else "GET"
        json_body: dict[str, str] | None = {} if path else None
        answer = api.request(
            method,
            f"/api/v1/access{path}",
            json=json_body,
            headers={"authorization": "Bearer wrong"},
        )
        assert answer.status_code == 401, path


def test_S06_wrong_codes_lock_beside_a_running_bot_too(
    running: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for _ in range(5):
        assert mnema(running, "pair", "approve", new_code()) == 1
    assert "Try again in 60 minutes" in capsys.readouterr().err
    assert facts(running, capsys)["locked_until"]


async def _knock(home: Path, code: str) -> None:
    """Store an access request in a home without a running bot."""
    HomeFolder(root=home).ensure()
    store = await open_store(HomeFolder(root=home).db)
    person = Party(channel="telegram", account="bot", subject="user", id="42")
    knock = AccessRequest(party=person, name="Ann", conversation=await talk(store, "k1"), lang="en")
    assert await store.access.add_request(
        knock, code_sha256(code), datetime.now(UTC) + timedelta(hours=1), []
    )
    await store.close()
