"""I49: words from outside are marked and never the person's, wherever they come back, whichever way
they came in.
"""

import json
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from bot.config.home import HomeFolder
from bot.memory.export import load_lines
from bot.models.base import Request
from bot.models.providers.offline import ScriptedAnswer
from bot.tools.exec.sandbox import SPACE_PATH
from bot.tools.skills.library import EnabledSkill, SkillState, hash_files
from bot.tools.skills.review import read_folder
from channels.message import Attachment, Quote
from memory.context.taint import OUTSIDE_LABEL
from memory.conversation import (
    BOT_SPEAKER,
    USER_SPEAKER,
    Document,
    Part,
    Text,
    ToolCall,
    ToolResult,
)
from memory.recall.documents import SearchRequest
from memory.workspace.daily_log import iter_rows
from tests.bot.inside import Inside, inside
from tests.bot.talk import call, results, words
from tests.bot.tools.exec.sandboxed import needs_sandbox
from tests.bot.tools.exec.test_exec_in_bot import approve
from tests.bot.tools.mcp.servers import Orders, review
from tests.bot.tools.plugins.test_plugins_in_bot import enable as enable_plugin
from tests.bot.tools.skills.test_skills import skill_folder
from tests.by_night import by_night
from tests.emulators.mcp_server import tool
from tests.emulators.pages import PageServer, serving

NAME = "Rosalind"  # of the person
CANARY = "kestrel4711"
# In the middle of what is longer than two pieces of an index, and nearest to one end of nothing.
MIDDLE = (
    f"The harbour gate opens with {CANARY} since March 2026, and Oskar Petersen always has to know "
    "it."
)
BEFORE, AFTER = (
    "\n".join(
        f"Berth {number} of the {side} quay is let to boat {number * 7} until May."
        for number in range(30)
    )
    for side in ("northern", "southern")
)
LONG = f"{BEFORE}\n{MIDDLE}\n{AFTER}"
QUESTION = "which word opens the harbour gate?"
PEOPLE = {USER_SPEAKER, BOT_SPEAKER, NAME, ""}
# What the person writes, and what the model does then; everything else it answers with "ok".
LOOK, SEARCH, SEARCH_OWN = "please look", "search for it", "search in what I said"
FACT = {
    "category": "fact",
    "content": f"The user opens the gate with {CANARY}",
    "importance": 9,
    "source": MIDDLE,
}


@dataclass(kw_only=True)
class Desk:
    """What a way prepares before the bot starts."""

    home: Path
    pages: PageServer
    settings: dict[str, Any] = field(default_factory=dict)
    #: The call that the model makes on LOOK.
    call: ToolCall | None = None

    async def server(self, mode: str = "run", **orders: Any) -> None:
        """An MCP server `s` with these orders."""
        made = Orders(self.home, [tool("say")], said=LONG, **orders)
        await review(self.home, "s", made.settings, {"say": mode})
        self.settings["mcp"] = {"s": {**made.settings, "resources": True}}

    def file(self, name: str = "exports/page.md") -> None:
        path = self.home / "workspace" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(LONG)

    def skill(self) -> None:
        folder = skill_folder(self.home / "workspace" / "skills", body=LONG)
        state = SkillState(HomeFolder(root=self.home).skills_state)
        state.set("tea", EnabledSkill(sha256=hash_files(read_folder(folder))))


async def _file(desk: Desk) -> None:
    desk.file()
    desk.call = call("read_file", path="exports/page.md")


async def _page(desk: Desk) -> None:
    desk.pages.page("/p", f"<p>{LONG}</p>")
    desk.settings["tools"] = {"web": {"allow": [desk.pages.pair]}}
    desk.call = call("web_fetch", url=desk.pages.url("/p"))


async def _search(desk: Desk) -> None:
    hits = [{"title": f"Hit {number}", "url": f"https://a.example/{number}", "content": text}
            for number, text in enumerate((BEFORE, MIDDLE, AFTER))]  # fmt: skip
    desk.pages.page("/search", json.dumps({"results": hits}), "application/json")
    providers = [{"name": "searxng", "base_url": desk.pages.url(""), "api_key": "k"}]
    desk.settings["tools"] = {"web": {"allow": [desk.pages.pair], "providers": providers}}
    desk.call = call("web_search", query="harbours")


def _exec(**more: Any) -> Callable[[Desk], Any]:
    async def prepare(desk: Desk) -> None:
        desk.file()
        desk.settings["tools"] = {"exec": {"enabled": True, "seconds": 20}}
        desk.call = call("exec", argv=["cat", f"{SPACE_PATH}/exports/page.md"], **more)

    return prepare


async def _mcp_tool(desk: Desk) -> None:
    await desk.server()
    desk.call = call("s__say")


async def _mcp_approved(desk: Desk) -> None:
    await desk.server("ask")
    desk.call = call("s__say")


async def _mcp_resource(desk: Desk) -> None:
    resource = {"uri": "s://gate", "name": "gate", "mimeType": "text/plain", "text": LONG}
    await desk.server(resources=[resource])
    desk.call = call("mcp_read", server="s", uri="s://gate")


async def _mcp_prompt(desk: Desk) -> None:
    await desk.server(
        prompts=[{"name": "gate", "description": "Gates", "arguments": [], "says": LONG}]
    )


async def _plugin(desk: Desk) -> None:
    source = (
        'from bot.plugins import tool\n\n@tool(effect="pure")\nasync def weather(ctx, city: str) '
        "-> str:\n"
    )
    source += f'    """Forecast for a city."""\n    return {LONG!r}\n'
    enable_plugin(desk.home, source, needs=())
    desk.call = call("weather", city="Rome")


async def _subagent(desk: Desk) -> None:
    desk.settings["delegate"] = {"enabled": True, "wait_seconds": 0}
    desk.call = call("delegate", tasks=[{"goal": "ask the harbour"}])


async def _skill(desk: Desk) -> None:
    desk.skill()


async def _skill_tool(desk: Desk) -> None:
    desk.skill()
    desk.call = ToolCall(id="t1", name="skill", input='{"name": "tea"}')


async def _nothing(desk: Desk) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Way:
    """One way by which words from outside enter a conversation."""

    prepare: Callable[[Desk], Any]
    #: What the person writes, with fields of the message.
    says: str = LOOK
    fields: Mapping[str, Any] = field(default_factory=dict)
    #: The call has to be approved.
    asks: bool = False
    #: The messages of the program that tell of it, by the tool that each names.
    outcomes: tuple[str, ...] = ()
    sandbox: bool = False
    #: By night only, as other ways by day share each part of it.
    night: bool = False

    @property
    def marks(self) -> Sequence[pytest.MarkDecorator]:
        marks = []
        if self.sandbox:
            marks.append(needs_sandbox)
        if self.night:
            marks.append(by_night)
        return marks


QUOTED, FORWARDED = (
    Quote(text=LONG, author=USER_SPEAKER, author_id="u9"),
    Quote(text=LONG, author=NAME),
)
WAYS: Mapping[str, Way] = {
    "file read": Way(prepare=_file),
    "web page": Way(prepare=_page),
    "web search": Way(prepare=_search),
    "exec": Way(prepare=_exec(), asks=True, outcomes=("exec",), sandbox=True),
    "exec in the background": Way(
        prepare=_exec(background=True), asks=True, outcomes=("exec", "exec"), sandbox=True
    ),
    "MCP tool": Way(prepare=_mcp_tool),
    "approved MCP tool": Way(prepare=_mcp_approved, asks=True, outcomes=("s__say",), night=True),
    "MCP resource": Way(prepare=_mcp_resource),
    "MCP prompt": Way(prepare=_mcp_prompt, says="/mcp prompt s gate"),
    "plug-in": Way(prepare=_plugin, sandbox=True),
    "sub-agent": Way(prepare=_subagent, outcomes=("delegate",)),
    "skill by command": Way(prepare=_skill, says="/skill tea"),
    "skill by the model": Way(prepare=_skill_tool),
    "attached file": Way(
        prepare=_nothing,
        fields={
            "attachments": (
                Attachment(name="gate.txt", media_type="text/plain", data=LONG.encode()),
            )
        },
    ),
    "quoted message": Way(prepare=_nothing, fields={"quote": QUOTED}),
    "quoted answer": Way(prepare=_nothing, fields={"quote": Quote(text=LONG, ours=True)}),
    "forwarded message": Way(prepare=_nothing, says="", fields={"quote": FORWARDED}),
}


class Model:
    """Makes the way's call, searches when it is told to, notes the canary where it is asked for
    facts.
    """

    def __init__(self, desk: Desk) -> None:
        self._left = {
            SEARCH: call("memory_search", id="s1", query=QUESTION),
            SEARCH_OWN: call("memory_search", id="s2", query=QUESTION, speaker=USER_SPEAKER),
        }
        if desk.call:
            self._left[LOOK] = desk.call

    def __call__(self, request: Request) -> ScriptedAnswer:
        if request.purpose == "extract":
            return json.dumps([FACT])
        if request.purpose != "turn":
            return "no summary"  # so that the program writes it
        texts = words(request)
        if texts[0].startswith("[Task] "):
            return LONG
        newest = "\n".join(
            part.text for part in request.messages[-1].parts if isinstance(part, Text)
        )
        phrase = next((phrase for phrase in self._left if phrase in newest), "")
        return self._left.pop(phrase) if phrase else "ok"


@asynccontextmanager
async def brought(way: Way, folder: Path) -> AsyncIterator[Inside]:
    """A bot in whose chat c1 the way has brought the text, and been answered."""
    HomeFolder(root=folder).ensure()
    (folder / "workspace").mkdir(exist_ok=True)
    async with serving() as pages:
        desk = Desk(home=folder, pages=pages)
        await way.prepare(desk)
        settings = {"memory": {"extract": True}, **desk.settings}
        async with inside(folder, Model(desk), settings) as it:
            says = f"{way.says} at {pages.url('/p')}" if way.says == LOOK else way.says
            await it.text(says, **way.fields)
            if way.asks:
                await approve(it)
            await it.channel.until(lambda: _answers(it) == 1 + len(way.outcomes))
            await it.bot.settled()
            yield it


def _answers(it: Inside) -> int:
    return sum(sent.kind == "final" for sent in it.channel.sent)


def unmarked(text: str) -> list[str]:
    """The lines of one of our own texts that show the canary without a mark, or under a person's
    name.
    """
    lines = [line for line in text.splitlines() if CANARY in line]
    return [line for line in lines if OUTSIDE_LABEL not in line and not _names_source(line)]


def _names_source(line: str) -> bool:
    """Whether a line of a log, a transcript or a summary says who speaks, and that this is no
    person nor the bot.
    """
    found = re.match(r"- (?:\d\d:\d\d )?([^:\[]{1,60}): ", line)
    return found is not None and found[1] not in PEOPLE


def faults_of_part(part: Part, calls: Mapping[str, str]) -> list[str]:
    """What of a part of a request shows the canary as if it were not from outside."""
    match part:
        case ToolResult(call_id=id, text=text) if calls.get(id) in ("memory_search", "recall"):
            return [] if OUTSIDE_LABEL in text and not unmarked(text) else unmarked(text)
        case ToolResult() | Document():
            return []  # each wire has a place of its own for them
        case Text(aside=label) if label:
            return []  # all of it is shown behind its label
        case Text(text=text):
            return unmarked(text)
        case ToolCall(input=text):
            return [text] if CANARY in text else []
    return []


def faults_of_request(request: Request) -> list[str]:
    """The lines of a request that show the canary without a mark, or under a person's name."""
    calls = {
        part.id: part.name
        for message in request.messages
        for part in message.parts
        if isinstance(part, ToolCall)
    }
    parts = [part for message in request.messages for part in message.parts]
    found = [fault for part in parts for fault in faults_of_part(part, calls)]
    return [*found, *(line for text in request.system for line in unmarked(text))]


def shown_requests(it: Inside) -> Sequence[Request]:
    return [
        request
        for request in it.model.requests
        if words(request) and not words(request)[0].startswith("[Task] ")
    ]


@pytest.mark.parametrize(
    "way",
    [pytest.param(way, marks=way.marks, id=name) for name, way in WAYS.items()],
)
async def test_I49_words_from_outside_are_marked_wherever_they_come_back(
    way: Way, tmp_path: Path
) -> None:
    async with brought(way, tmp_path) as it:
        assert any(CANARY in json.dumps(str(request.messages)) for request in it.model.requests), (
            "it has come in"
        )
        await it.text("and what now?")
        # another conversation of the same person: unasked, then searched for
        await it.text(QUESTION, chat="c2")
        await it.text(SEARCH, chat="c3")
        assert CANARY in results(it.model.requests[-1])[-1].text, "the search finds it"
        await it.text(SEARCH_OWN, chat="c3")
        assert CANARY not in results(it.model.requests[-1])[-1].text, "the person never said it"
        for passage in await _passages(it):
            assert passage.outside
            assert passage.text.startswith(OUTSIDE_LABEL)
            assert passage.speaker not in {USER_SPEAKER, BOT_SPEAKER, NAME}
        # the record as people see it, and as it is exported
        conversation = await it.conversation()
        lines = await it.bot.store.sessions.lines(conversation)
        assert not [line for line in lines if CANARY in line.text and line.role == "user"]
        assert [line.tool for line in lines if line.tool] == list(way.outcomes)
        assert not [line for line in lines if line.tool and line.role != "notice"]
        exported = [line async for line in load_lines(it.bot.store, conversation)]
        assert [line["tool"] for line in exported if line["role"] == "notice"] == list(way.outcomes)
        # folded, with the program's own log and summary, and asked again
        await it.text("/context fold")
        await it.bot.settled()
        await it.text("and after that?")
        await it.text(QUESTION, chat="c4")
        await it.bot.settled()
        assert await _faults_of_logs(it) == []
        assert [
            fault for request in shown_requests(it) for fault in faults_of_request(request)
        ] == []
        memory = it.bot.workspace.root / "MEMORY.md"
        assert not memory.exists() or CANARY not in memory.read_text(), "no fact is taken from it"


async def _passages(it: Inside) -> Sequence[Any]:
    query = SearchRequest(space="", query=QUESTION, now=it.bot.now(), limit=20)
    found = [passage for passage in await it.bot.recall.search(query) if CANARY in passage.words]
    assert found
    return found


async def _faults_of_logs(it: Inside) -> list[str]:
    """The lines of the daily logs that hold the canary under a person's name, or are not labelled
    as from outside.
    """
    faults = []
    for path in (it.bot.workspace.root / "memory").glob("*.md"):
        rows = [row for row in iter_rows(path.read_text()) if CANARY in row.text]
        labels = await it.bot.store.folds.labels([row.fold for row in rows])
        faults += [
            row.raw
            for row in rows
            if (row.time and row.speaker in PEOPLE) or not labels[row.fold].covers(row.text)
        ]
    return faults
