"""What a whole bot promises of its context, under every policy: nothing is forgotten, late, too
long or changed.
"""

import asyncio
import itertools
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from bot.config.home import HomeFolder
from bot.errors import ModelError
from bot.models.base import Answer, Request, TokensUsed
from bot.models.providers.offline import ScriptedAnswer
from memory.context.policies.policies import POLICIES
from memory.context.time_marks import is_time_mark
from memory.context.view import fixed_tokens
from memory.conversation import Text, ToolResult, Turn
from memory.store.engine.sqlite_connection import copy_database
from tests.bot.inside import Inside, inside
from tests.bot.talk import call, folded, words
from tests.by_night import by_night

NAMES = sorted(POLICIES)


def by_day(*names: str) -> list[Any]:
    """All policies, those that are not named by night only."""
    return [name if name in names else pytest.param(name, marks=by_night) for name in NAMES]


INVENTED = "987654"
START = 1_795_000_000.0  # 2026-11-18
TIGHT = {"agent_max_context_turns": 6, "agent_max_context_tokens": 8_000}
LESS_TIGHT = {**TIGHT, "agent_max_context_tokens": 9_000}


def code(number: int) -> str:
    """A number that stands nowhere else."""
    return str(40_000 + number * 137)


def fact(number: int) -> str:
    """What the person says in that turn: every third fact stands in a file, the others are zh and
    en by turns.
    """
    if number % 3 == 2:
        return f"read notes/n{number}.md"
    kept = (
        f"第{number}号柜子的密码是 {code(number)}"
        if number % 2
        else f"locker {number} opens with {code(number)}"
    )
    return kept + (" 请记一下。" if number % 2 else " and so on. ") * 20


def newest(request: Request) -> str:
    """What the person said last."""
    said = [part.text for part in request.messages[-1].parts if isinstance(part, Text)]
    return next((text for text in said if not text.startswith("[")), "")


def answering(request: Request) -> ScriptedAnswer:
    """Reads the files it is asked to, and repeats the first words of the rest."""
    last = request.messages[-1].parts
    if any(isinstance(part, ToolResult) for part in last):
        return "I have read it."
    asked = newest(request)
    if asked.startswith("read "):
        return call(
            "read_file",
            id=f"r{asked.split('/n')[1].split('.')[0]}",
            path=asked.removeprefix("read "),
        )
    return f"noted: {asked[:12]}"


class Unreliable:
    """Answers turns; summaries are in turn good, failing, hanging, empty and with a number of its
    own.
    """

    name = "unreliable"

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self._moods: Iterator[str] = itertools.cycle(("good", "fails", "hangs", "empty", "invents"))

    async def stream(self, request: Request) -> Any:
        self.requests.append(request)
        if request.purpose != "turn":
            text = await self._summary()
            yield Answer(
                parts=(Text(text=text),), stop="end", usage=TokensUsed(), model=request.model
            )
            return
        line = answering(request)
        part = Text(text=line) if isinstance(line, str) else line
        stop = "end" if isinstance(line, str) else "tools"
        yield Answer(parts=(part,), stop=stop, usage=TokensUsed(), model=request.model)  # type: ignore[arg-type]

    async def _summary(self) -> str:
        match next(self._moods):
            case "fails":
                raise ModelError("out of order", kind="scripted")
            case "hangs":
                await asyncio.Event().wait()
            case "empty":
                return ""
            case "invents":
                return folded(
                    f"- The vault opens with {INVENTED}.",
                    f"## Facts\n- The vault opens with {INVENTED}.",
                )
        return folded(
            "- The user told codes of lockers.",
            "## Goal and state\n- The user tells codes of lockers.",
        )

    async def close(self) -> None:
        """Nothing is open."""


async def test_no_answer_is_kept_unless_what_its_request_began_with_is(tmp_path: Path) -> None:
    asked: asyncio.Queue[Request] = asyncio.Queue()

    def script(request: Request) -> ScriptedAnswer:
        asked.put_nowait(request)
        return "here you are"

    async with inside(tmp_path, script) as it:
        with closing(sqlite3.connect(HomeFolder(root=tmp_path).db, isolation_level=None)) as db:
            db.execute(
                "CREATE TRIGGER fault BEFORE INSERT ON snapshot BEGIN SELECT RAISE(ABORT, 'a "
                "fault'); END"
            )
            message = it.channel.hear("hello")
            async with asyncio.timeout(60):
                # it is asked again, as nothing was stored
                first, second = [await asked.get() for _ in range(2)]
            assert newest(first) == newest(second) == "hello"
            assert db.execute(
                "SELECT count(*) FROM message WHERE role = 'assistant'"
            ).fetchone() == (0,)
            db.execute("DROP TRIGGER fault")
            [part] = await it.answer(message.key)
            assert part.text == "here you are"
            assert db.execute("SELECT count(*) FROM snapshot").fetchone() == (1,)


@pytest.mark.parametrize("name", by_day("rolling"))
async def test_of_sixty_facts_each_is_in_view_summary_or_log_whatever_the_summariser_does(
    tmp_path: Path, name: str
) -> None:
    async with inside(tmp_path, [], {**LESS_TIGHT, "context_policy": name}) as it:
        model = Unreliable()
        it.bot.models.use(model)
        notes = tmp_path / "workspace" / "notes"
        notes.mkdir()
        for number in range(60):
            (notes / f"n{number}.md").write_text(
                f"crate {number} weighs {code(number)} kg\n" + "padding words\n" * 60
            )
            async with asyncio.timeout(60):
                assert await it.text(fact(number))
        view = everything([request for request in model.requests if request.purpose == "turn"][-1])
        log = "\n".join(
            path.read_text() for path in (tmp_path / "workspace" / "memory").glob("*.md")
        )
        lost = [number for number in range(60) if code(number) not in view + log]
        shown = {
            turn.number: "".join(str(message.parts) for message in turn.messages)
            for turn in await live(it)
        }
        gone = [number for number in lost if code(number) not in shown.get(number + 1, "")]
        assert [number for number in gone if number % 3 != 2] == []
        for number in gone:  # what only a tool said is in the record, and search finds it
            assert code(number) in await it.text(f"/memory search crate {number} weighs")
        waiting = [number for number in lost if number not in gone]
        assert [
            number for number in waiting if f"recall(turn={number + 1}) shows" not in view
        ] == [], "a slow fold's wait"
        assert INVENTED not in log
        assert not any(INVENTED in everything(request) for request in model.requests)
        await no_request_is_over(it, model.requests, LESS_TIGHT["agent_max_context_tokens"])
        assert not await it.bot.store.folds.check_ledger()


async def live(it: Inside) -> Sequence[Turn]:
    """The turns that are not folded, whole."""
    return (await it.bot.store.sessions.load(await it.conversation())).turns


def everything(request: Request) -> str:
    """All that the model is shown."""
    parts = [part for message in request.messages for part in message.parts]
    shown = [part.text if isinstance(part, Text | ToolResult) else str(part) for part in parts]
    return "\n".join((*request.system, *shown))


async def no_request_is_over(it: Inside, requests: list[Request], most: int) -> None:
    counter = await it.bot.fitter.counter()
    for request in requests:
        if request.purpose == "turn":
            said = sum(counter.message(message.parts) for message in request.messages)
            assert fixed_tokens(request.system, request.tools, "", counter) + said <= most


def untailed(request: Request) -> list[Any]:
    """System, tools and messages without what moves from call to call."""
    return [
        request.system,
        request.tools,
        *(
            replace(
                message,
                parts=tuple(
                    part for part in message.parts if not _is_clock(part) and not _is_time(part)
                ),
            )
            for message in request.messages
        ),
    ]


def _is_clock(part: object) -> bool:
    """Its line is the last of what travels with a message, where something else does too."""
    return isinstance(part, Text) and part.text.rpartition("\n")[2].startswith("[Now: ")


def _is_time(part: object) -> bool:
    """A message gets its time when it is kept, that is, when the clock goes."""
    return isinstance(part, Text) and is_time_mark(part.text)


def breaks(before: Request, after: Request) -> bool:
    """Whether the later request does not begin with the earlier one, or with its kept turns as they
    were.
    """
    one, two = untailed(before), untailed(after)
    return (
        two[: len(one)] != one
        or after.messages[: before.stable] != before.messages[: before.stable]
    )


@pytest.mark.parametrize("name", by_day("rolling", "boundary"))
async def test_the_prefix_breaks_only_at_folds_and_declared_changes_though_the_clock_moves(
    tmp_path: Path, name: str
) -> None:
    clock = itertools.count(START, 97)
    settings = {**TIGHT, "context_policy": name}
    requests: list[Request] = []
    declared: list[int] = []
    for first, last in ((0, 15), (15, 30)):
        async with inside(
            tmp_path, answering_folds, settings, clock=lambda: float(next(clock))
        ) as it:
            for number in range(first, last):
                if number == 22:
                    (tmp_path / "workspace" / "MEMORY.md").write_text(
                        "# Memory\n\n## Likes\n\n- green tea\n"
                    )
                await it.text(f"locker {number} opens with {code(number)} " + "and so on " * 60)
                await it.bot.settled()
                session = await it.bot.store.sessions.load(await it.conversation())
                declared.append(session.prefix_generation)
            requests += [request for request in it.model.requests if request.purpose == "turn"]
            done = await it.bot.store.folds.folds(await it.conversation())
            folds = [fold for fold in done if not fold.log_only]
    assert len(requests) == 30
    clocks = [
        part.text for request in requests for part in request.messages[-1].parts if _is_clock(part)
    ]
    assert len({*clocks}) == 30
    assert not any(
        _is_clock(part)
        for request in requests
        for shown in request.messages[:-1]
        for part in shown.parts
    )
    broken = [at for at in range(1, 30) if breaks(requests[at - 1], requests[at])]
    before = {at for at in range(1, 30) if declared[at - 1] != (declared[at - 2] if at > 1 else 0)}
    itself = {at for at in range(1, 30) if declared[at] != declared[at - 1]}
    assert set(broken) <= before | itself, (
        "a break was declared by the turn before it or by its own request"
    )
    assert before <= {*broken, *(at + 1 for at in broken)}, (
        "and nothing was declared that broke nothing"
    )
    assert 22 in broken
    assert 22 in itself, "the edit is declared by its own request"
    assert len(broken) + 1 >= len(folds) > 0, "the last fold may come after the last request"


def answering_folds(request: Request) -> ScriptedAnswer:
    if request.purpose == "fold":
        return folded(
            "- The user told codes.", "## Goal and state\n- The user tells codes of lockers."
        )
    return answering(request)


Build = Callable[[Inside], Any]


async def _talk(it: Inside, count: int, size: int = 20) -> None:
    for number in range(count):
        await it.text(f"locker {number} opens with {code(number)} " + "and so on " * size)


async def _read(it: Inside, count: int, lines: int) -> None:
    notes = it.bot.home.workspace / "notes"
    notes.mkdir(exist_ok=True)
    for number in range(count):
        (notes / f"n{number}.md").write_text(f"crate {number} weighs {code(number)} kg\n" * lines)
        await it.text(f"read notes/n{number}.md")


KINDS: dict[str, tuple[str, dict[str, Any], Build]] = {
    "snip": ("turns", {"policies": {"turns": {"snip_chars": 2_000}}}, lambda it: _read(it, 3, 200)),
    "trim": ("budget", {}, lambda it: _read(it, 3, 100)),
    "one_line": (
        "balanced",
        {"agent_max_context_tokens": 14_000, "policies": {"balanced": {"fold_at": 1.0}}},
        lambda it: _read(it, 11, 80),
    ),
    "text_only": ("turns", {"agent_max_context_tokens": 8_000}, lambda it: _read(it, 4, 200)),
    "pinned": ("rolling", {"agent_max_context_tokens": 4_500}, lambda it: _read(it, 1, 900)),
    "fold": ("balanced", {"agent_max_context_turns": 4}, lambda it: _talk(it, 9)),
    "rolled": ("rolling", {}, lambda it: _talk(it, 9)),
    "cut": ("boundary", {"policies": {"boundary": {"fold_messages": 12}}}, lambda it: _talk(it, 9)),
    "snapshot": ("balanced", {"agent_max_context_turns": 4}, lambda it: _remembered(it)),
    "factor": ("balanced", {"agent_max_context_tokens": 9_000}, lambda it: _talk(it, 12, 60)),
}


async def _remembered(it: Inside) -> None:
    memory = it.bot.home.workspace / "MEMORY.md"
    memory.write_text("# Memory\n\n## Likes\n\n- green tea\n")
    await _talk(it, 3)
    await it.text("locker 7 opens with 40959", chat="another")
    memory.write_text("# Memory\n\n## Likes\n\n- black tea\n")
    await _talk(it, 3)


def miscounting(request: Request) -> ScriptedAnswer:
    """As `answering_folds`, but its provider counts three fifths more than we do, roughly."""
    line = answering_folds(request)
    part = Text(text=line) if isinstance(line, str) else line
    size = sum(len(str(piece)) for message in request.messages for piece in message.parts) + len(
        str(request.system)
    )
    usage = TokensUsed(input=size * 2 // 5, output=5)
    stop = "tools" if not isinstance(part, Text) else "end"
    return [Answer(parts=(part,), stop=stop, usage=usage, model=request.model)]  # type: ignore[arg-type,list-item]


# A reduction is rebuilt the same way whatever its form, and so is a fold whatever its policy.
BY_NIGHT = ("trim", "text_only", "rolled", "cut")


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=by_night) if kind in BY_NIGHT else kind for kind in KINDS]
)
async def test_a_restart_rebuilds_the_same_request(tmp_path: Path, kind: str) -> None:
    policy, settings, build = KINDS[kind]
    settings = {"context_policy": policy, **settings}
    one, two = tmp_path / "one", tmp_path / "two"
    async with inside(
        one, miscounting if kind == "factor" else answering_folds, settings, clock=lambda: START
    ) as it:
        await build(it)
        await it.bot.settled()
        recorded = await it.bot.store.sessions.load(await it.conversation())
        if kind in ("snip", "trim", "one_line", "text_only", "pinned"):
            assert kind in {item.form.split()[0] for item in recorded.reductions}
        elif kind not in ("factor", "snapshot"):
            assert recorded.summary is not None
        shutil.copytree(one / "workspace", two / "workspace")
        shutil.copy(one / "config.json", two / "config.json")
        (two / "data").mkdir()
        copy_database(one / "data" / "mnema.db", two / "data" / "mnema.db")
        await it.text("and what now?")
        stayed = [request for request in it.model.requests if request.purpose == "turn"][-1]
    async with inside(two, answering_folds, clock=lambda: START) as it:
        await it.text("and what now?")
        restarted = next(request for request in it.model.requests if request.purpose == "turn")
    assert (restarted.system, restarted.tools, restarted.messages) == (
        stayed.system,
        stayed.tools,
        stayed.messages,
    )
    assert "and what now?" in words(restarted)


async def test_what_memory_md_has_no_room_for_is_told_once_and_named_by_context(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, answering_folds) as it:
        await it.text("hello")
        memory = "# Memory\n\n## Likes\n\n" + "\n".join(
            f"- {n}: green tea from the hill {n * 7}" for n in range(400)
        )
        (tmp_path / "workspace" / "MEMORY.md").write_text(
            memory + "\n\n## Work\n\n- The port is 8443.\n"
        )
        for _ in range(3):
            await it.text("and now?")
        await it.bot.settled()
        await it.channel.until(lambda: any(part.kind == "notice" for part in it.channel.sent))
        (notice,) = [part.text for part in it.channel.sent if part.kind == "notice"]
        assert notice.startswith("MEMORY.md is longer than its 4,000 tokens in the prompt.")
        assert "## Likes" in notice
        request = [each for each in it.model.requests if each.purpose == "turn"][-1]
        shown = next(text for text in request.system if text.startswith("[MEMORY.md"))
        assert "## Likes" in shown
        assert "The port is 8443." in shown
        assert (await it.bot.fitter.counter()).text(shown) <= 4_000
        assert "MEMORY.md" in await it.text("/context")
        facts = await it.bot.report.facts(await it.conversation())
        assert [part["name"] for part in facts["system_parts"] if part["left_out"]] == ["MEMORY.md"]


async def test_a_folds_tokens_are_those_of_the_view(tmp_path: Path) -> None:
    settings = {
        "context_policy": "budget",
        "policies": {"budget": {"fold_tokens": 2_650, "keep_tokens": 800}},
    }
    async with inside(tmp_path, answering_folds, settings) as it:
        await _read(it, 3, 150)
        before = (await it.bot.report.facts(await it.conversation()))["parts"]["history"]
        assert before < 2_650
        await _talk(it, 6, 60)
        await it.bot.settled()
        facts = await it.bot.report.facts(await it.conversation())
        fold = facts["folds"][-1]
        assert 2_500 < fold["tokens_before"] < 3_600, (
            "the results as they are shown: whole they have six thousand"
        )
        assert fold["tokens_after"] == pytest.approx(
            facts["parts"]["history"] + facts["parts"]["summary"], abs=300
        )


async def test_a_persona_that_leaves_no_room_is_named(tmp_path: Path) -> None:
    async with inside(tmp_path, answering_folds) as it:
        (tmp_path / "workspace" / "SOUL.md").write_text("I am patient and kind. " * 12_000)
        for text in ("hello", "/context"):
            told = await it.text(text)
            assert "agent_max_context_tokens must be at least" in told
            assert "SOUL.md takes" in told


async def test_diff_names_what_other_tools_found_and_the_summary_left_to_the_archive(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, answering_folds, {"agent_max_context_turns": 4}) as it:
        await _read(it, 4, 3)
        await it.bot.settled()
        told = await it.text("/context diff")
        assert "read_file notes/n0.md" in told
        assert "In the archive only" in told
        assert "In the archive only** 0" not in told
