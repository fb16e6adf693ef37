"""The command line reads another person's private chat only after it stored an audit row."""

import asyncio
import json
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bot.cli.main import main
from memory.conversation import Text
from memory.store.open import open_store
from memory.store.rows import NewInboxRow, NewMessage, NewOutboxRow, Place
from memory.store.store import Store

ANN, GROUP = "5006", "-1007"
READING = (
    ("sessions", "show", ANN),
    ("sessions", "show", ANN, "--limit", "1"),
    ("sessions", "trace", ANN),
    ("sessions", "trace", ANN, "--json"),
    ("sessions", "export", ANN),
    ("replay", ANN),
    ("replay", ANN, "--json"),
)


def place(chat: str, *, kind: str = "dm", space: str = "") -> Place:
    return Place(
        channel="telegram", account="1", chat_id=chat, thread_id="", kind=kind, space=space
    )


OWN = place("5005")
OTHER = place(ANN, space="telegram-5006")
TEAM = place(GROUP, kind="group", space="telegram-group--1007")


async def talk(store: Store, where: Place, text: str) -> str:
    """Create one turn there; returns the conversation's id."""
    body = json.dumps({"text": text})
    arrival = NewInboxRow(
        place=where, key=f"k {text}", kind="message", sender_id=where.chat_id, body=body
    )
    (stored,) = await store.delivery.accept([arrival])
    draft = NewMessage(
        role="user", parts=(Text(text=text),), tokens=2, counter="t", origin="person"
    )
    turn = await store.delivery.claim(stored.id, draft, where.chat_id)
    answer = NewMessage(
        role="assistant", parts=(Text(text="hi"),), tokens=1, counter="t", origin="model"
    )
    out = NewOutboxRow(kind="final", text="hi", part_no=0, parts=1)
    await store.delivery.finish(turn, state="done", final=answer, out=[out])
    return stored.conversation


@pytest.fixture
def home(tmp_path: Path) -> Path:
    root = tmp_path / "home"
    assert main(["--home", str(root), "init", "--yes"]) == 0

    async def fill() -> None:
        store = await open_store(root / "data" / "mnema.db")
        for where, text in ((OWN, "mine"), (OTHER, "my secret"), (TEAM, "hello all")):
            await talk(store, where, text)
        await store.close()

    asyncio.run(fill())
    return root


def id_of(home: Path, chat: str) -> str:
    with closing(sqlite3.connect(home / "data" / "mnema.db")) as held:
        [(id,)] = held.execute("SELECT id FROM conversation WHERE chat_id = ?", (chat,))
    return str(id)


def audited(home: Path) -> list[tuple[str, str, str]]:
    """Return actor, subject and result of each audit row of a reading, oldest first."""
    with closing(sqlite3.connect(home / "data" / "mnema.db")) as held:
        rows = (
            "SELECT actor, subject, result FROM audit WHERE action = 'chat.read.other' ORDER BY seq"
        )
        return held.execute(rows).fetchall()


def said(capsys: pytest.CaptureFixture[str], home: Path, *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(["--home", str(home), *words])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("words", READING, ids=" ".join)
def test_each_reading_of_another_persons_chat_is_one_row(
    home: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    code, out, _ = said(capsys, home, *words)
    assert code == 0
    assert out
    [(actor, subject, _)] = audited(home)
    assert (actor, subject) == ("command line", id_of(home, ANN))
    assert main(["--home", str(home), "audit", "verify"]) == 0


@pytest.mark.parametrize("chat", ["5005", GROUP])
def test_ones_own_chats_and_groups_are_read_without_a_row(
    home: Path, capsys: pytest.CaptureFixture[str], chat: str
) -> None:
    id = id_of(home, chat)
    for name in ("show", "trace", "export"):
        assert said(capsys, home, "sessions", name, id)[0] == 0
    assert audited(home) == []


def test_the_list_names_other_peoples_chats_by_their_ids_and_needs_no_row(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, text, _ = said(capsys, home, "sessions", "list")
    _, told, _ = said(capsys, home, "sessions", "list", "--json")
    for shown in (text, told):
        assert "secret" not in shown
        assert ANN in shown
        assert "mine" in shown
        assert "hello all" in shown
    assert audited(home) == []


def test_a_bundle_of_another_person_is_one_row_for_each_chat_in_it(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        said(capsys, home, "people", "export", "owner", "--out", str(tmp_path / "own.zip"))[0] == 0
    )
    assert audited(home) == []
    assert (
        said(
            capsys, home, "people", "export", f"telegram:{ANN}", "--out", str(tmp_path / "ann.zip")
        )[0]
        == 0
    )
    assert audited(home) == [("command line", id_of(home, ANN), "exported")]


@pytest.mark.parametrize(
    "words",
    [
        ("sessions", "show", ANN),
        ("sessions", "trace", ANN),
        ("sessions", "export", ANN),
        ("replay", ANN),
    ],
    ids=" ".join,
)
def test_what_cannot_be_written_down_is_not_read(
    home: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...]
) -> None:
    refuse_rows(home)
    code, out, err = said(capsys, home, *words)
    assert (code, out) == (1, "")
    assert err.count("\n") == 1
    assert "secret" not in err
    assert said(capsys, home, "sessions", "show", "5005")[0] == 0


def test_no_bundle_is_made_where_the_row_cannot_be(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refuse_rows(home)
    assert (
        said(
            capsys, home, "people", "export", f"telegram:{ANN}", "--out", str(tmp_path / "ann.zip")
        )[0]
        == 1
    )
    assert not (tmp_path / "ann.zip").exists()


def refuse_rows(home: Path) -> None:
    """Make the audit list unwritable, as on a full disk."""
    with closing(sqlite3.connect(home / "data" / "mnema.db", isolation_level=None)) as held:
        held.execute(
            "CREATE TRIGGER refused BEFORE INSERT ON audit BEGIN SELECT RAISE(ABORT, 'no row'); END"
        )


async def test_beside_a_running_bot_both_write_their_rows_into_one_chain(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = await open_store(home / "data" / "mnema.db")
    try:

        async def act() -> None:
            for number in range(40):
                await store.note("context.change", f"c{number}", "done", "ann")

        def read() -> None:
            for _ in range(5):
                assert main(["--home", str(home), "sessions", "show", ANN]) == 0

        await asyncio.gather(act(), asyncio.to_thread(read))
        assert len(audited(home)) == 5
        acts = await store.audit.acts(100)
        assert len([row for row in acts if row.action == "context.change"]) == 40
        assert await store.audit.fault() is None
        await talk(store, OWN, "and on it goes")
    finally:
        await store.close()
    assert capsys.readouterr().out.count("my secret") == 5
