"""The console's routes over a real socket, real files and a scripted store."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bot.config.file import ConfigFile
from bot.console.routes import build_console
from bot.console.transcripts import TranscriptBackend
from bot.console.wizards.base import Wizard
from channels.web.backend import EventSources, HealthReport, WebServices
from channels.web.requests import Route
from memory.recall.documents import SearchRequest
from memory.store.conversations.traces import Trace, TraceEvent
from memory.store.conversations.transcript import TranscriptRow
from memory.store.rows import ConversationRow, Place
from memory.workspace.files import Workspace
from tests.bot.console.transcripts import backend
from tests.channels.web.server import Running, ScriptedBot, running

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def row(id: str, channel: str, chat_id: str) -> ConversationRow:
    place = Place(
        channel=channel,
        account="console" if channel == "web" else "bot",
        chat_id=chat_id,
        thread_id="",
        kind="dm",
        space="",
    )
    return ConversationRow(
        id=id,
        place=place,
        epoch=1,
        next_seq=1,
        next_turn=1,
        view_from=1,
        fold_head="",
        title=f"about {chat_id}",
        turns=3,
        updated=NOON,
        policy="",
        model="",
    )


class Sessions:
    """Two conversations, one of the page and one of another channel, with 450 lines each."""

    rows = (row("r1", "web", "c1"), row("r2", "telegram", "42"))

    async def find(
        self, channel: str, account: str, chat_id: str, thread_id: str = ""
    ) -> ConversationRow | None:
        return next(
            (
                r
                for r in self.rows
                if (r.place.channel, r.place.account, r.place.chat_id)
                == (channel, account, chat_id)
            ),
            None,
        )

    async def conversation(self, id: str) -> ConversationRow | None:
        return next((r for r in self.rows if r.id == id), None)

    async def page(
        self, cursor: str = "", limit: int = 200, *, own: bool = False, words: str = ""
    ) -> tuple[list[ConversationRow], str]:
        return list(self.rows), ""

    async def trace(self, conversation: str, *, of: str = "") -> Trace | None:
        known = Trace(
            id="t1", conversation=conversation, message="m1", state="done",
            events=(TraceEvent(at=NOON, kind="received", name="web", state="done"),),
        )  # fmt: skip
        return known if of in ("", "t1", "m1") else None

    async def lines(
        self, conversation: str, before: int = 0, limit: int = 50, after: int = 0
    ) -> list[TranscriptRow]:
        numbers = [n for n in range(1, 451) if n > after and (not before or n < before)]
        chosen = numbers[:limit] if after else numbers[-limit:]
        return [
            TranscriptRow(
                id=f"l{n}", number=n, role="user", text=str(n), at=NOON, reply_to="", state="done"
            )
            for n in chosen
        ]


@dataclass
class Store:
    sessions: Sessions = field(default_factory=Sessions)
    conversations: Sessions = field(default_factory=Sessions)
    delivery: object = None
    noted: list[tuple[str, ...]] = field(default_factory=list)

    async def note(self, *act: str, args: Mapping[str, object]) -> None:
        self.noted.append(act)


@dataclass
class Seen:
    stopped: list[str] = field(default_factory=list)
    searched: list[SearchRequest] = field(default_factory=list)
    indexed: list[str | None] = field(default_factory=list)
    saved: int = 0
    denied: set[str] = field(default_factory=set)


class ScriptedServices:
    """Fixed answers, and a note of what was asked for."""

    pairing: Any = SimpleNamespace(roles=None)
    deletions: Any = None
    passkeys: Any = SimpleNamespace(login_options=None, verify=None, all=dict)
    blobs: Any = None
    context_services: Any = None
    channels: Mapping[str, Any] = {}

    def __init__(self, root: Path, seen: Seen) -> None:
        self.store: Any = Store()
        self.files = Workspace(root).space("")
        self.settings = ConfigFile(root.parent / "config.json", {})
        self.seen = seen
        self.jobs: Any = SimpleNamespace(pause=None, resume=None, end=None, run_now=None)
        self.decider: Any = SimpleNamespace()

    def now(self) -> datetime:
        return NOON

    def remembered(self) -> tuple[Route, ...]:
        return ()

    def notified(self, _: Any) -> tuple[Route, ...]:
        return ()

    def managed(self) -> tuple[Route, ...]:
        return ()

    def wizards(self, settings: Any) -> tuple[Wizard, ...]:
        return ()

    def commands(self, lang: str) -> list[dict[str, str]]:
        return [
            {"name": "帮助" if lang == "zh" else "help", "usage": "", "zh": "帮助", "en": "help"}
        ]

    def allow(self, action: str) -> bool:
        return action not in self.seen.denied

    async def waiting(self) -> dict[str, Any]:
        return {"pairing": 0}

    async def stop(self, conversation: str) -> None:
        self.seen.stopped.append(conversation)

    async def context(self, conversation: str) -> dict[str, Any]:
        return {"epoch": 1, "for": conversation}

    async def saved(self) -> None:
        self.seen.saved += 1

    async def search(self, request: SearchRequest, of_kind: str = "") -> list[dict[str, Any]]:
        self.seen.searched.append(request)
        return [{"text": "found", "score": 1.0}]

    async def index(self, space: str | None) -> dict[str, int]:
        self.seen.indexed.append(space)
        return {"": 7, "telegram-42": 3} if space is None else {space: 3}

    async def status(self, lang: str = "en") -> dict[str, Any]:
        return {"fine": True}

    def operating(self, transcripts: TranscriptBackend) -> tuple[tuple[Route, ...], EventSources]:
        return (), {}

    async def usage(self) -> dict[str, Any]:
        return {"fine": True}

    async def tools(self, lang: str) -> dict[str, Any]:
        return {"fine": True}

    async def well(self) -> HealthReport:
        return HealthReport(ok=True)


@dataclass
class Console:
    site: Running
    root: Path
    seen: Seen


@pytest.fixture
async def console(tmp_path: Path) -> AsyncIterator[Console]:
    root, seen = tmp_path / "workspace", Seen()
    built = ScriptedServices(root, seen)
    (root / "memory").mkdir()
    (root / "MEMORY.md").write_text("# 记忆\n- likes tea\n")
    (root / "memory" / "2026-11-20.md").write_text("## 10:00\n")
    (root / "spaces" / "other").mkdir(parents=True)
    (root / "spaces" / "other" / "MEMORY.md").write_text("not yours")
    (root / "secret.txt").write_text("not markdown")
    (tmp_path / "outside.md").write_text("outside")
    (root / "link.md").symlink_to(tmp_path / "outside.md")
    async with running(ScriptedBot(), opened=False) as site:
        transcripts = backend(built.store, built.stop, built.allow)
        services = WebServices(
            backend=transcripts,
            allow=built.allow,
            healthy=built.well,
            ready=built.well,
        )
        site.site.open(services, build_console(built, transcripts, site.site).routes)
        yield Console(site, root, seen)


async def test_a_memory_file_is_listed_read_and_saved_over_what_was_read(console: Console) -> None:
    async with console.site.client() as client:
        files = (await client.get("/api/memory/files")).json()["files"]
        assert [file["path"] for file in files] == ["MEMORY.md", "memory/2026-11-20.md"]
        assert sorted(files[0]) == ["path", "size", "updated_at"]
        read = await client.get("/api/memory/files/MEMORY.md")
        assert read.text == "# 记忆\n- likes tea\n"
        tag = read.headers["etag"]
        saved = await client.put(
            "/api/memory/files/MEMORY.md", content="# 新\n".encode(), headers={"if-match": tag}
        )
        assert saved.status_code == 200
        late = await client.put(
            "/api/memory/files/MEMORY.md", content=b"late", headers={"if-match": tag}
        )
        assert (late.status_code, late.json()["error"]["code"]) == (412, "changed")
        fresh = {"if-match": saved.headers["etag"]}
        assert (
            await client.put("/api/memory/files/MEMORY.md", json={"text": "json"}, headers=fresh)
        ).status_code == 200
    assert (console.root / "MEMORY.md").read_text() == "json"


async def test_a_file_is_also_told_as_json(console: Console) -> None:
    async with console.site.client() as client:
        told = await client.get(
            "/api/memory/files/memory/2026-11-20.md", headers={"accept": "application/json"}
        )
    assert told.json()["text"] == "## 10:00\n"
    assert told.headers["etag"].startswith('"')


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"if-match": "x"},
        {"if-match": 'W/"' + "0" * 64 + '"'},
        {"if-match": '"' + "0" * 64 + '"'},
    ],
)
async def test_saving_without_the_right_tag_is_412_and_changes_nothing(
    console: Console, headers: dict[str, str]
) -> None:
    async with console.site.client() as client:
        answer = await client.put("/api/memory/files/MEMORY.md", content=b"x", headers=headers)
    assert answer.status_code == 412
    assert (console.root / "MEMORY.md").read_text().endswith("likes tea\n")


async def test_a_new_file_is_made_only_where_none_is(console: Console) -> None:
    async with console.site.client() as client:
        new = {"if-none-match": "*"}
        made = await client.put("/api/memory/files/notes/new.md", content=b"hello", headers=new)
        again = await client.put("/api/memory/files/notes/new.md", content=b"again", headers=new)
    assert (made.status_code, again.status_code) == (201, 412)
    assert (console.root / "notes" / "new.md").read_text() == "hello"


@pytest.mark.parametrize(
    "path",
    [
        "secret.txt",
        "none.md",
        "link.md",
        "spaces/other/MEMORY.md",
        "..%2foutside.md",
        "..%252foutside.md",
        "%2e%2e/outside.md",
        "memory%2f..%2f..%2foutside.md",
        "%2fetc%2fpasswd.md",
        "MEMORY.md%00.md",
        "memory",
        "MEMORY.md/x.md",
    ],
)
async def test_what_is_not_the_owners_markdown_is_404_to_read_and_to_write(
    console: Console, path: str
) -> None:
    async with console.site.client() as client:
        read = await client.get(f"/api/memory/files/{path}")
        match = {"if-match": '"' + "0" * 64 + '"'}
        wrote = await client.put(f"/api/memory/files/{path}", content=b"x", headers=match)
    assert read.status_code == 404
    assert wrote.status_code in (404, 412)
    assert (console.root.parent / "outside.md").read_text() == "outside"
    assert (console.root / "spaces" / "other" / "MEMORY.md").read_text() == "not yours"


async def test_search_passes_what_is_asked_on(console: Console) -> None:
    wanted = {
        "q": "' OR 1=1 --",
        "limit": 500,
        "space": "x",
        "since": "2026-01-31",
        "speaker": "Ann",
    }
    async with console.site.client() as client:
        found = await client.get("/api/memory/search", params=wanted)
        await client.get("/api/memory/search", params={"q": "茶"})
    assert found.json() == {"results": [{"text": "found", "score": 1.0}]}
    assert console.seen.searched == [
        SearchRequest(
            query="' OR 1=1 --", now=NOON, limit=200, space="x", since="2026-01-31", speaker="Ann"
        ),
        SearchRequest(query="茶", now=NOON, limit=10, space=""),
    ]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("q=", "q"),
        ("q=%00", "q"),
        ("q=" + "x" * 1_001, "q"),
        ("q=x&limit=0", "limit"),
        ("q=x&limit=many", "limit"),
        ("q=x&since=yesterday", "since"),
        ("q=x&until=2026-02-30", "until"),
        ("q=x&as_of=may", "as_of"),
    ],
)
async def test_a_search_that_cannot_be_is_400_and_names_what_is_wrong(
    console: Console, query: str, code: str
) -> None:
    async with console.site.client() as client:
        refused = await client.get(f"/api/memory/search?{query}")
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, code)
    assert not console.seen.searched


async def test_the_memory_of_somebody_else_needs_a_right_of_its_own(console: Console) -> None:
    console.seen.denied = {"memory.read.other"}
    async with console.site.client() as client:
        assert (await client.get("/api/memory/search?q=x&space=telegram-42")).status_code == 403
        assert (await client.get("/api/memory/search?q=x&space=")).status_code == 200
    assert [asked.space for asked in console.seen.searched] == [""]


async def test_the_index_is_made_anew_for_one_space_or_all(console: Console) -> None:
    async with console.site.client() as client:
        every = await client.post("/api/v1/memory/index", json={})
        one = await client.post("/api/v1/memory/index", json={"space": "telegram-42"})
        wrong = await client.post("/api/v1/memory/index", json={"space": 1})
    assert every.json() == {
        "spaces": [{"space": "", "rows": 7}, {"space": "telegram-42", "rows": 3}]
    }
    assert one.json() == {"spaces": [{"space": "telegram-42", "rows": 3}]}
    assert wrong.status_code == 400
    assert console.seen.indexed == [None, "telegram-42"]


async def test_what_was_read_already_is_not_sent_again(console: Console) -> None:
    async with console.site.client() as client:
        tag = (await client.get("/api/memory/files/MEMORY.md")).headers["etag"]
        for held in (tag, f"W/{tag}", f'"other", {tag}', "*"):
            again = await client.get("/api/memory/files/MEMORY.md", headers={"if-none-match": held})
            assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
        other = await client.get(
            "/api/memory/files/MEMORY.md", headers={"if-none-match": '"other"'}
        )
        assert (other.status_code, other.headers["etag"]) == (200, tag)
        (console.root / "MEMORY.md").write_text("changed")
        assert (
            await client.get("/api/memory/files/MEMORY.md", headers={"if-none-match": tag})
        ).status_code == 200


async def test_the_bot_hears_of_each_file_that_was_saved_and_of_no_other(console: Console) -> None:
    async with console.site.client() as client:
        tag = (await client.get("/api/memory/files/MEMORY.md")).headers["etag"]
        await client.put("/api/memory/files/MEMORY.md", content=b"new", headers={"if-match": tag})
        await client.put("/api/memory/files/MEMORY.md", content=b"late", headers={"if-match": tag})
    assert console.seen.saved == 1


async def test_configuration_is_shown_masked_and_changed_only_when_right(console: Console) -> None:
    async with console.site.client() as client:
        right = await client.patch("/api/config", json={"agent_max_steps": 9})
        wrong = await client.patch("/api/config", json={"agent_max_stepz": 9})
        shown = (await client.get("/api/config")).json()
    assert right.json()["agent_max_steps"] == 9
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (400, "config")
    assert (shown["agent_max_steps"], shown["llm"]["api_key"]) == (9, "${ANTHROPIC_API_KEY}")


async def test_status_usage_and_commands_are_told(console: Console) -> None:
    async with console.site.client() as client:
        assert (await client.get("/api/status")).json() == {"fine": True}
        assert (await client.get("/api/usage")).json() == {"fine": True}
        assert (await client.get("/api/v1/tools")).json() == {"fine": True}
        assert (await client.get("/api/v1/commands")).json()["items"][0]["name"] == "help"
        chinese = await client.get(
            "/api/v1/commands", headers={"accept-language": "zh-CN,zh;q=0.9,en;q=0.8"}
        )
        assert chinese.json()["items"][0]["name"] == "帮助"


async def test_conversations_go_by_the_clients_name_or_by_their_id(console: Console) -> None:
    async with console.site.client() as client:
        listed = (await client.get("/api/conversations")).json()["conversations"]
        assert [(one["id"], one["channel"]) for one in listed] == [
            ("c1", "web"),
            ("r2", "telegram"),
        ]
        assert (await client.get("/api/conversations/c1/context")).json() == {
            "epoch": 1,
            "for": "r1",
        }
        assert (await client.get("/api/conversations/r2/context")).json() == {
            "epoch": 1,
            "for": "r2",
        }
        assert (await client.get("/api/conversations/42/context")).status_code == 404
        told = (await client.get("/api/v1/conversations/c1/trace?message=m1")).json()
        assert (told["trace"], told["message_id"], told["state"]) == ("t1", "m1", "done")
        assert told["events"] == [
            {"kind": "received", "name": "web", "state": "done", "at": "2026-11-20T12:00:00+00:00"}
        ]
        assert (told["zh"][0], told["en"][0]) == ("记录 t1 · 完成", "trace t1 · done")
        unknown = await client.get("/api/v1/conversations/c1/trace?message=other")
        assert (
            unknown.status_code
            == (await client.get("/api/v1/conversations/42/trace")).status_code
            == 404
        )
        await client.post("/api/conversations/c1/stop")
    assert console.seen.stopped == ["r1"]


async def test_the_transcript_is_read_from_its_first_line() -> None:
    async def stop(_: str) -> None: ...

    transcripts = backend(Store(), stop, lambda action: True)
    assert [line.number for line in await transcripts.lines("c1", after=0, limit=3)] == [1, 2, 3]
    assert [line.number for line in await transcripts.lines("c1", after=7, limit=3)] == [8, 9, 10]
    assert [line.number for line in await transcripts.lines("c1", limit=3)] == [448, 449, 450]
    assert await transcripts.lines("nobody") == []


async def test_each_route_asks_before_it_acts_and_wants_a_token(console: Console) -> None:
    calls = console.site.site.calls
    console.seen.denied = {call.action for call in calls}
    async with console.site.client() as owner, console.site.nobody() as nobody:
        for call in calls:
            path = call.path.replace("{id}", "c1").replace("{path:path}", "MEMORY.md")
            assert (await owner.request(call.method, path)).status_code == 403, call
            assert (await nobody.request(call.method, path)).status_code == 401, call
    assert len(calls) >= 21
