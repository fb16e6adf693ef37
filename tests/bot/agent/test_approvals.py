"""Acts that a model may only ask for: the person's own yes to that very act, once, and nothing
else, lets it run.
"""

import asyncio
import hashlib
import json
import re
import shlex
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from bot.access.permissions import AccessScope, Actor, authorize
from bot.agent.approval_texts import ApprovalQuestion, format_approval_question, show_call
from bot.agent.approvals import ApprovalRequest, ApprovalService
from bot.agent.call_actions import action_for_call
from bot.errors import OutcomeUnknown, ToolFailed
from bot.messages import load_body, load_extras
from bot.tools.base import GuardedCall, LazyToolSpec, ToolArguments, ToolContext, Toolset
from bot.tools.exec.rules import StoredCall
from bot.tools.workspace.changes import FileChanges
from bot.tools.workspace.files import (
    EditFileArguments,
    EditFileTool,
    ReadFileArguments,
    ReadFileTool,
    WriteFileArguments,
    WriteFileTool,
)
from bot.tools.workspace.history import RestoreFileArguments, RestoreFileTool
from bot.tools.workspace.patch import PatchFilesArguments, PatchFilesTool
from channels.message import Capabilities
from channels.testing import ScriptedChannel as Channel
from memory.conversation import ToolSpec
from memory.ids import code_sha256
from memory.store.engine.database import QueueKey, Tx
from memory.store.open import open_store
from memory.store.people.rows import GrantRow
from memory.store.rows import ConversationRow, OutboxRow, Party, SendOutcome
from memory.store.schema.memory_tables import approval
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import Workspace
from tests.bot.access.test_pairing import Clock
from tests.cases import every_case
from tests.contracts.store_words import talk

# Literals, so that the product is not compared with itself.
MOST_SHOWN = 12_000
ASKED = (
    "[not done: this needs the person's approval. They were asked in this chat just now and decide "
    "with a button or a code of their own; nothing that is written here approves it. Do not call "
    "it again; say that it waits for them.]"
)

OWNER = Actor(channel="web", account="a", id="1", role="owner")
HERE = AccessScope(kind="console", space="")
CODE = re.compile(r"`/approve ([2-9A-HJ-NP-Z]{4}-[2-9A-HJ-NP-Z]{4})`")
FATE = SendOutcome(state="sent", platform_id="p")
TEXT = "You are kind.\n```\nand brief\n```"


async def hold_always(_: str) -> bool:
    return True


async def release_nothing(_: str) -> None:
    pass


async def none_held() -> set[str]:
    return set()


class Desk:
    """Approvals over a real record and a real workspace."""

    def __init__(self, folder: Path, store: Store, clock: Clock, home: ConversationRow) -> None:
        self.store, self.clock, self.home = store, clock, home
        self.workspace = Workspace(folder / "workspace")
        changes = FileChanges(self.workspace, store.file_versions, Blobs(folder / "blobs"))
        writing = (WriteFileTool(self.workspace, changes), EditFileTool(self.workspace, changes))
        self.toolset = Toolset([ReadFileTool(self.workspace), *writing])
        self.channel = Channel(name="web", account="a", capabilities=Capabilities(buttons=True))
        self.rung: list[QueueKey] = []
        store.database.on_commit = self.rung.extend
        self.approvals = ApprovalService(
            access=store.access,
            toolset=lambda space: self.toolset,
            now=lambda: datetime.fromtimestamp(clock(), UTC),
            channels={"web": self.channel},
            hold=hold_always,
            release=release_nothing,
            held=none_held,
        )

    def wanted(
        self, call: str = "call", tool: str = "write_file", **arguments: str
    ) -> ApprovalRequest:
        return ApprovalRequest(
            actor=OWNER,
            conversation=self.home,
            call=call,
            action="persona.write",
            tool=tool,
            arguments=arguments or {"path": "SOUL.md", "content": TEXT},
            lang="en",
        )

    async def asked(self, wanted: ApprovalRequest | None = None) -> tuple[str, str, str]:
        """Ask; the code, and what the buttons for yes and no bring back."""
        assert await self.approvals.ask(wanted or self.wanted()) == ASKED
        row = await self.question()
        await self.store.delivery.mark_sending(row.id)
        await self.store.delivery.settle_sent(row.id, FATE)
        found = CODE.search(row.text)
        assert found
        (_, yes), (_, no) = load_extras(row.payload).buttons
        return found[1], yes, no

    async def question(self) -> OutboxRow:
        row = await self.store.delivery.next_outbox_row(self.home.id)
        assert row
        return row

    async def yes(self, key: str, actor: Actor = OWNER, where: AccessScope = HERE) -> str:
        said = await self.approvals.decide(actor, where, key, approve=True)
        return str(said) if said else ""

    def soul(self) -> str:
        path = self.workspace.root / "SOUL.md"
        return path.read_text() if path.exists() else ""


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Desk]:
    clock = Clock()
    (folder / "workspace").mkdir()
    store = await open_store(folder / "m.db", clock=clock)
    home = await store.sessions.conversation(await talk(store, "k1"))
    assert home
    try:
        yield Desk(folder, store, clock, home)
    finally:
        await store.close()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with opened(tmp_path) as one:
        yield one


async def test_it_runs_once_with_the_very_arguments_that_were_shown(desk: Desk) -> None:
    code, yes, _ = await desk.asked()
    assert desk.soul() == ""
    assert "Approved and done, `write_file`" in await desk.yes(code)
    assert desk.soul() == TEXT
    (desk.workspace.root / "SOUL.md").write_text("mine")
    for key in (code, yes):
        assert "already" in await desk.yes(key)
    assert desk.soul() == "mine"
    assert [(lane.kind, lane.id) for lane in desk.rung] == [("out", desk.home.id)]


async def test_a_tool_that_is_described_anew_is_not_what_was_approved(desk: Desk) -> None:
    code, _, _ = await desk.asked()
    tool = desk.toolset.get("write_file")
    assert tool

    class Renewed:
        spec = replace(tool.spec, description=f"{tool.spec.description} And more.")
        arguments, run = tool.arguments, tool.run

    desk.toolset = Toolset([Renewed()])
    assert "changed since: spec" in await desk.yes(code)
    assert desk.soul() == ""
    assert "already" in await desk.yes(code)


async def test_guards_are_asked_once_more_when_it_runs(desk: Desk) -> None:
    seen: list[GuardedCall] = []

    async def refuse(call: GuardedCall) -> str:
        seen.append(call)
        return "not on Sundays"

    desk.approvals = replace(desk.approvals, find_refusal=refuse)
    code, _, _ = await desk.asked()
    assert "not on Sundays" in await desk.yes(code)
    assert desk.soul() == ""
    assert [(call.tool, call.arguments["path"], call.person) for call in seen] == [
        ("write_file", "SOUL.md", OWNER.id)
    ]


async def test_arguments_that_are_not_those_that_were_shown_are_not_run(
    desk: Desk, tmp_path: Path
) -> None:
    code, _, _ = await desk.asked()
    with closing(sqlite3.connect(tmp_path / "m.db")) as held:
        [(arguments, digest)] = held.execute("SELECT arguments, digest FROM approval").fetchall()
        assert digest == hashlib.sha256(arguments.encode()).hexdigest()
        stored = json.loads(arguments)
        assert set(stored.pop("#bound")) == {"spec"}
        assert stored == {"path": "SOUL.md", "content": TEXT}
        held.execute("UPDATE approval SET arguments = ?", (arguments.replace("kind", "evil"),))
        held.commit()
    assert await desk.yes(code) == (
        "Approved, but `write_file` failed: it is not what was asked, or there is no such "
        "tool any more."
    )
    assert desk.soul() == ""
    assert "failed" in await desk.yes(code)


async def test_the_button_is_as_good_as_the_code_and_so_is_the_other_button(desk: Desk) -> None:
    _, _, no = await desk.asked(desk.wanted("one"))
    said = await desk.approvals.decide(OWNER, HERE, no, approve=False)
    assert said
    assert "Denied" in str(said)
    assert "denied" in await desk.yes(no)
    _, yes, _ = await desk.asked(desk.wanted("two"))
    assert "done" in await desk.yes(yes)
    assert desk.soul() == TEXT


async def test_S08_nobody_elses_yes_counts_and_it_stays_open_for_its_owner(desk: Desk) -> None:
    code, yes, _ = await desk.asked()
    others = [
        replace(OWNER, id="2"),
        replace(OWNER, account="b"),
        replace(OWNER, channel="telegram"),
    ]
    for other in others:
        for key in (code, yes):
            assert await desk.yes(key, other) == ""
            assert await desk.approvals.decide(other, HERE, key, approve=False) is None
    assert desk.soul() == ""
    assert "done" in await desk.yes(code)


async def test_S08_altered_replayed_and_old_presses_do_nothing(desk: Desk) -> None:
    code, yes, _ = await desk.asked()
    for altered in (yes[:-1], yes + "A", "yes:", "", "yes", code[:-1], yes.upper()):
        assert await desk.yes(altered) == ""
    desk.clock.now += 11 * 60
    assert "no longer valid" in await desk.yes(yes)
    assert "no longer valid" in await desk.yes(code)
    assert desk.soul() == ""


async def test_S09_who_is_not_the_owner_any_more_approves_nothing(desk: Desk) -> None:
    code, yes, _ = await desk.asked()
    assert "no longer valid" in await desk.yes(code, replace(OWNER, role="admin"))
    assert "no longer valid" in await desk.yes(yes), "it ended with the role"
    assert desk.soul() == ""
    later, _, _ = await desk.asked(desk.wanted("two"))
    party = Party(channel="web", account="a", subject="user", id="1")
    await desk.store.access.grant(
        GrantRow(party=party, role="owner", group="", name="", by="", at=desk.approvals.now())
    )
    assert (await desk.store.access.revoke("web", "1", "test")).approvals == 1
    assert "no longer valid" in await desk.yes(later)
    assert desk.soul() == ""


async def test_a_group_is_no_place_to_approve_in(desk: Desk) -> None:
    code, _, _ = await desk.asked()
    assert "no longer valid" in await desk.yes(code, where=AccessScope(kind="group", space="g"))
    assert desk.soul() == ""


async def test_what_was_begun_before_a_crash_is_not_run_again(desk: Desk) -> None:
    code, _, _ = await desk.asked()
    row = await desk.store.access.approval(
        code_sha256(code), Party(channel="web", account="a", subject="user", id="1")
    )
    assert row
    assert await desk.store.access.move(row.id, "asked", "running")
    assert "may or may not have taken effect" in await desk.yes(code)
    assert desk.soul() == ""


class BellArguments(ToolArguments):
    tone: str = "a"


class Bell:
    """A tool whose approval is bound to its chat."""

    arguments = BellArguments
    spec = LazyToolSpec(
        arguments, name="bell", description="Ring.", effect="unsafe", action="persona.write"
    )

    async def bind(self, arguments: BellArguments) -> dict[str, str]:
        return {}

    async def run(self, arguments: BellArguments, context: ToolContext) -> str:
        return "rung"


async def test_what_runs_and_is_held_by_a_process_was_not_interrupted(desk: Desk) -> None:
    taken: list[str] = []

    async def hold(id: str) -> bool:
        taken.append(id)
        return len(taken) == 1

    approvals = replace(
        desk.approvals,
        toolset=lambda space: Toolset([Bell()]),
        conversation=desk.store.sessions.conversation,
        hold=hold,
    )
    desk.approvals = approvals
    code, _, _ = await desk.asked(desk.wanted(tool="bell", tone="c"))
    row = await desk.store.access.approval(
        code_sha256(code), Party(channel="web", account="a", subject="user", id="1")
    )
    assert row
    assert (await approvals.begin(row, OWNER, HERE, approve=True)).runs
    assert not (await approvals.begin(row, OWNER, HERE, approve=True)).runs, (
        "another process runs it"
    )

    async def held() -> set[str]:
        return {row.id}

    assert await replace(approvals, held=held).report_interrupted() == []
    [told] = await approvals.report_interrupted()
    assert told.key == f"approval:{row.id}"
    assert "outcome unknown" in told.body
    assert taken == [row.id] * 2


@pytest.mark.parametrize("ends", ["late", "unknown"])
async def test_what_may_have_happened_is_not_told_as_not_done(desk: Desk, ends: str) -> None:
    class SlowBell(Bell):
        spec = replace(Bell.spec, seconds=0.01)

        async def run(self, arguments: BellArguments, context: ToolContext) -> str:
            if ends == "unknown":
                raise OutcomeUnknown("the line broke")
            await asyncio.Event().wait()
            return ""

    desk.approvals = replace(
        desk.approvals,
        toolset=lambda space: Toolset([SlowBell()]),
        conversation=desk.store.sessions.conversation,
    )
    code, _, _ = await desk.asked(desk.wanted(tool="bell", tone="c"))
    assert "it is not known whether `bell` took effect" in await desk.yes(code)
    told = await desk.store.delivery.next_inbox_row(desk.home.id, desk.clock())
    assert told is not None
    assert load_body(told.body).call_end == "unknown"
    assert "approved by the person: outcome unknown" in told.body
    assert "the outcome is unknown" in await desk.yes(code)


async def test_what_needs_another_consent_by_now_is_not_run(desk: Desk) -> None:
    """As when it was asked for by a version that took the file for any other."""
    code, _, _ = await desk.asked(replace(desk.wanted(), action="files.write"))
    assert "another consent" in await desk.yes(code)
    assert desk.soul() == ""
    assert "already" in await desk.yes(code)


@pytest.mark.parametrize("clears", [False, True])
async def test_the_outcome_of_what_runs_is_told_unless_the_chat_is_cleared_meanwhile(
    desk: Desk, clears: bool
) -> None:
    class ClearingBell(Bell):
        async def run(self, arguments: BellArguments, context: ToolContext) -> str:
            if clears:
                assert await desk.store.sessions.clear(desk.home.id)
            return "rung"

    desk.approvals = replace(
        desk.approvals,
        toolset=lambda space: Toolset([ClearingBell()]),
        conversation=desk.store.sessions.conversation,
    )
    code, _, _ = await desk.asked(desk.wanted(tool="bell", tone="c"))
    assert "rung" in await desk.yes(code)
    told = await desk.store.delivery.next_inbox_row(desk.home.id, desk.clock())
    assert (told is None) is clears
    assert told is None or "rung" in told.body


async def test_the_same_call_asks_once_and_two_calls_ask_twice(desk: Desk) -> None:
    code, _, _ = await desk.asked()
    assert await desk.approvals.ask(desk.wanted()) == ASKED
    assert await desk.store.delivery.next_outbox_row(desk.home.id) is None
    other, _, _ = await desk.asked(desk.wanted("two", path="SOUL.md", content="another"))
    assert "done" in await desk.yes(other)
    assert "failed" in await desk.yes(code), "the file is not what it was when the model wrote that"
    assert desk.soul() == "another"


async def test_what_cannot_be_done_is_told_and_is_not_tried_again(desk: Desk) -> None:
    code, _, _ = await desk.asked(desk.wanted(tool="edit_file", path="SOUL.md", old="x", new="y"))
    assert "failed: There is no such file" in await desk.yes(code)
    assert "failed" in await desk.yes(code)


async def test_what_a_person_could_not_see_is_not_asked(desk: Desk) -> None:
    for content in (
        "a" * (MOST_SHOWN + 1),
        "be kind\u202eevil",
        "be kind\U000e0041",
        "be kind\x1b[8m",
        "a\u200bb",
    ):
        with pytest.raises(ToolFailed, match="see all of it"):
            await desk.approvals.ask(desk.wanted(path="SOUL.md", content=content))
    assert await desk.store.delivery.next_outbox_row(desk.home.id) is None
    await desk.approvals.ask(desk.wanted(path="SOUL.md", content="👩\u200d💻 kind\n\tand 简短"))


HIDDEN = (
    "\u3164",
    "\u115f",
    "\uffa0",
    "\u2800",
    "\u034f",
    "\u17b4",
    "\ufe0f",
    "\U000e0100",
    "\U000e0041",
    "\u200d",
)


@pytest.mark.parametrize("sign", HIDDEN, ids=ascii)
async def test_what_a_person_could_not_see_is_found_at_any_depth_and_in_names(
    desk: Desk, sign: str
) -> None:
    word = f"a{sign}b"
    for hidden in ({"x": word}, {"x": {"y": [{"z": word}]}}, {word: "x"}, {"x": [[{word: 1}]]}):
        with pytest.raises(ToolFailed, match="see all of it"):
            await desk.approvals.ask(desk.wanted(path="SOUL.md", content="kind", **hidden))
    assert await desk.store.delivery.next_outbox_row(desk.home.id) is None


def question_of(
    arguments: dict[str, Any], tool: str = "write_file", lang: str = "en"
) -> ApprovalQuestion:
    call = StoredCall(arguments=arguments, bound={}, tainted=False, sources=())
    return ApprovalQuestion(
        tool=tool, action="persona.write", call=call, code="ABCDEFGH", lang=lang
    )


def test_a_question_names_words_that_are_not_what_they_look_like() -> None:
    mixed = {"path": "SOUL.md", "content": "pay p\u0430ypal, 用Python写"}
    for lang, warning in (("en", "letters from different scripts"), ("zh", "混用了不同文字的字母")):
        _, _, below = format_approval_question(question_of(mixed, lang=lang)).partition("```\n\n")
        assert warning in below
        assert "p\u0430ypal" in below
        assert "Python" not in below
    plain = {"path": "SOUL.md", "content": "Привет, ❤\ufe0f 用Python写 κόσμε"}
    assert "scripts" not in format_approval_question(question_of(plain))


async def test_neither_code_nor_button_is_kept_as_it_is_but_in_the_message_itself(
    desk: Desk,
) -> None:
    code, yes, _ = await desk.asked()
    kept = await desk.store.database.read(_all_of_it)
    for secret in (code, code.replace("-", ""), yes, yes.removeprefix("yes:")):
        assert secret not in kept


async def _all_of_it(tx: Tx) -> str:
    return str([tuple(row) for row in (await tx.execute(select(approval))).all()])


async def test_where_there_are_no_buttons_there_is_the_code(desk: Desk) -> None:
    desk.channel.capabilities = Capabilities(limit=400)
    await desk.approvals.ask(desk.wanted(path="SOUL.md", content="kind " * 300))
    parts = []
    while row := await desk.store.delivery.next_outbox_row(desk.home.id):
        await desk.store.delivery.mark_sending(row.id)
        await desk.store.delivery.settle_sent(row.id, FATE)
        parts.append(row)
    assert len(parts) > 3
    assert not [button for row in parts for button in load_extras(row.payload).buttons]
    assert CODE.search(parts[-1].text)


@given(st.text(max_size=80))
def test_the_whole_of_each_argument_is_shown_and_nothing_of_it_is_taken_for_the_question(
    content: str,
) -> None:
    call = show_call("t", {"content": content})
    text = call.rest.get("content", call.text)
    assert text == content or shlex.split(text) == ["t", f"content={content}"]
    shown = format_approval_question(question_of({"content": content}, "t"))
    start = r"`content`\n(`{3,})\n" if call.rest else r"(`{3,})\n"
    fence = re.search(start, shown)
    assert fence
    body, _, rest = shown[fence.end() :].rpartition(f"\n{fence[1]}\n\n")
    assert body == text
    assert "/approve ABCD-EFGH" in rest
    assert fence[1] not in text


@given(st.lists(st.text(), min_size=1))
def test_the_line_of_a_command_has_all_of_its_words(argv: list[str]) -> None:
    call = show_call("exec", {"argv": argv, "cwd": "sub"})
    assert (call.kind, shlex.split(call.text), call.rest) == ("command", argv, {"cwd": "sub"})


async def test_what_an_approval_depends_on_is_shown_on_request_only_to_its_person(
    desk: Desk,
) -> None:
    code, _, _ = await desk.asked()
    why = await desk.approvals.explain(OWNER, code, "en")
    assert "spec: " in why
    assert await desk.approvals.explain(replace(OWNER, id="2"), code, "en") == ""
    await desk.yes(code)
    assert "already" in await desk.approvals.explain(OWNER, code, "en")


async def test_the_code_of_what_waits_is_read_from_the_question(desk: Desk) -> None:
    code, _, _ = await desk.asked()
    waiting = await desk.store.access.open_approvals("", desk.clock())
    assert list((await desk.store.access.codes(waiting)).values()) == [code.replace("-", "")]


def writing_calls(path: str) -> list[tuple[ToolSpec, ToolArguments]]:
    """A call of each tool that writes the file."""
    patch = (
        f"--- a/notes.md\n+++ b/notes.md\n@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/{path}\n@@ "
        "-0,0 +1 @@\n+a\n"
    )
    return [
        (WriteFileTool.spec, WriteFileArguments(path=path, content="")),
        (EditFileTool.spec, EditFileArguments(path=path, old="a", new="b")),
        (PatchFilesTool.spec, PatchFilesArguments(patch=patch)),
        (RestoreFileTool.spec, RestoreFileArguments(path=path, version="0" * 12)),
    ]


@every_case(
    ("path", "space", "asks"),
    [
        ("SOUL.md", "", True),
        ("soul.MD", "", True),
        (" SOUL.md ", "", True),
        ("./SOUL.md", "", True),
        ("AGENTS.md", "", True),
        ("rules/tone.md", "", True),
        ("SOUL.md", "telegram-9", False),
        ("notes/SOUL.md", "", False),
        ("MEMORY.md", "", False),
        ("rules-of-chess.md", "", False),
    ],
)
def test_which_files_say_who_the_bot_is(path: str, space: str, asks: bool) -> None:
    for spec, arguments in writing_calls(path):
        assert (action_for_call(spec, arguments, space) == "persona.write") == asks
    assert action_for_call(ReadFileTool.spec, ReadFileArguments(path=path), space) == "files.read"


@pytest.mark.parametrize("space", ["", "telegram-7"])
@pytest.mark.parametrize(
    "path",
    [
        *(
            "skills/x/SKILL.md",
            "Tools/x.py",
            " TOOLS/x.py",
            "./skills/a",
            "ｓkills/a",
            "tools",
            "tools . /x.py",
        ),
        *(
            ".git",
            ".git/config",
            "site/.GIT/hooks/pre-commit",
            "./a/.git./config",
            "a/.git . /config",
            "a/．git/config",
        ),
    ],
)
def test_no_model_writes_what_is_run_or_followed(path: str, space: str) -> None:
    for spec, arguments in writing_calls(path):
        action = action_for_call(spec, arguments, space)
        owner = Actor(channel="terminal", id="o", role="owner", by_model=True)
        decision = authorize(owner, action, space, AccessScope(kind="terminal", space=space))
        assert (action, decision.allowed, decision.ask) == ("extension.write", False, False)
