"""The terminal: line by line through a pipe, by hand through a pty, and nothing of a stranger's
steers it.
"""

import asyncio
import os
import pty
import re
import select
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from io import StringIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from channels.message import (
    Accepted,
    Address,
    Attachment,
    InboundMessage,
    LiveEvent,
    OutboundMessage,
)
from channels.terminal.channel import Terminal, TerminalOptions
from channels.terminal.prompt import (
    LinePrompt,
    PromptOptions,
    attached_files,
    complete,
    read_piped_lines,
)
from channels.terminal.view import PlainView, RichView, hard_breaks, shorten_line, strip_control
from tests.cases import every_case
from tests.channels.talking import HOSTILE

# Literals, so that the product is not compared with itself.
LINE_BYTES = 800_000

TALK = [sys.executable, "-m", "tests.channels.talking"]
COLOURS = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# What is written over a line leaves a character that was there already where it is, and goes one to
# the right.
KEPT = "\x1b[C"
PLACE = Address(channel="terminal", account="local", chat_id="terminal")


def talk(folder: Path, typed: bytes, *once: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [*TALK, str(folder), *once], input=typed, capture_output=True, timeout=30, check=False
    )


def test_piped_lines_are_answered_one_by_one_until_the_end(tmp_path: Path) -> None:
    ended = talk(tmp_path, b"one\n\n   \ntwo\r\nlast")
    assert ended.returncode == 0
    assert ended.stdout.decode() == "echo: one\n(end)\necho: two\n(end)\necho: last\n(end)\n"
    told = ended.stderr.decode().splitlines()
    assert [line.split()[0] for line in told] == ["asked", "answered"] * 3 + ["left"]
    assert told[-1] == "left []"


def test_a_mark_and_what_is_not_utf_8_do_no_harm(tmp_path: Path) -> None:
    ended = talk(tmp_path, b"\xef\xbb\xbf\xe4\xbd\xa0\xe5\xa5\xbd \xff\0\n")
    assert ended.stdout.decode().splitlines()[0] == "echo: 你好 \ufffd\ufffd"


def test_no_input_is_a_quiet_end(tmp_path: Path) -> None:
    assert talk(tmp_path, b"").stdout == b""


def test_input_may_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("one\n")
    with (tmp_path / "lines").open() as given:
        ended = subprocess.run(
            [*TALK, str(tmp_path)], stdin=given, capture_output=True, timeout=30, check=True
        )
    assert ended.stdout == b"echo: one\n(end)\n"


def test_once_says_one_thing_and_leaves(tmp_path: Path) -> None:
    assert talk(tmp_path, b"never read\n", "hello").stdout == b"echo: hello\n(end)\n"


def test_a_message_that_was_not_stored_is_reported_and_the_next_one_is_sent(tmp_path: Path) -> None:
    ended = talk(tmp_path, b"full\nnext\n")
    assert ended.returncode == 1
    assert ended.stdout == b"echo: next\n(end)\n"
    assert b"not stored: no space is left" in ended.stderr


def test_a_closed_output_is_a_quiet_end(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run(
        [*TALK, str(tmp_path)],
        input=b"one\ntwo\n",
        stdout=writer,
        stderr=subprocess.PIPE,
        timeout=30,
        check=False,
    )
    os.close(writer)
    assert ended.returncode == 0
    assert b"rror" not in ended.stderr
    assert b"asked 2" not in ended.stderr


def test_i34_s61_no_escape_of_a_stranger_reaches_the_terminal(tmp_path: Path) -> None:
    out = talk(tmp_path, b"hostile\n").stdout.decode()
    assert out.splitlines() == ["[2J]52;c;ZXZpbA== 31m back **bold** ", "next", "(end)"]


async def test_a_line_without_an_end_is_cut() -> None:
    reader, writer = os.pipe()
    feed = asyncio.create_task(asyncio.to_thread(_feed, writer, b"x" * 3_000_000 + b"\nafter\n"))
    lines = [line async for line in read_piped_lines(reader)]
    await feed
    os.close(reader)
    assert len(lines) == 2
    assert lines[0].startswith("x" * LINE_BYTES + "\n[cut:")
    assert lines[1] == "after"


def _feed(fd: int, data: bytes) -> None:
    with os.fdopen(fd, "wb") as out:
        out.write(data)


@given(
    st.lists(st.text(st.characters(exclude_characters="\n\r\0\ufeff", exclude_categories=["Cs"])))
)
async def test_every_line_comes_through_as_it_is(lines: list[str]) -> None:
    reader, writer = os.pipe()
    _feed(writer, "".join(f"{line}\n" for line in lines).encode())
    assert [line async for line in read_piped_lines(reader)] == lines
    os.close(reader)


class Person:
    """Somebody at a pty."""

    def __init__(self, folder: Path) -> None:
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(TERM="xterm-256color", COLUMNS="80", LINES="24")
            os.execv(TALK[0], [*TALK, str(folder)])
        self.seen = ""

    def type(self, text: str) -> None:
        os.write(self.fd, text.encode())

    def sees(self, text: str, within: float = 20.0) -> str:
        """What came up to and with this text."""
        until = time.monotonic() + within
        wanted = re.compile(
            re.escape(text[0]) + "".join(f"(?:{re.escape(letter)}|\0)" for letter in text[1:])
        )
        while not (found := wanted.search(self._plain())):
            assert time.monotonic() < until, f"{text!r} never came: {self.seen[-2000:]!r}"
            assert self._more(), f"{text!r} never came: {self.seen[-2000:]!r}"
        plain, self.seen = self._plain(), self._plain()[found.end() :]
        return plain[: found.start()] + text

    def _plain(self) -> str:
        return COLOURS.sub("", self.seen.replace(KEPT, "\0"))

    def leaves(self) -> int:
        while self._more():
            pass
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])

    def _more(self) -> bool:
        if not select.select([self.fd], [], [], 20.0)[0]:
            return False
        try:
            piece = os.read(self.fd, 65536)
        except OSError:  # Linux says EIO when the other end is closed
            return False
        if b"\x1b[6n" in piece:  # where is the cursor?
            os.write(self.fd, b"\x1b[1;1R")
        self.seen += piece.decode("utf-8", "replace")
        return bool(piece)


@pytest.fixture
def person(tmp_path: Path) -> Iterator[Person]:
    someone = Person(tmp_path)
    yield someone
    os.close(someone.fd)


@pytest.mark.kill
def test_a_person_is_answered_stops_a_turn_and_leaves(person: Person, tmp_path: Path) -> None:
    person.sees("›")
    person.type("hi\r")
    person.sees("echo: hi")
    person.sees("(end)")
    person.sees("›")
    person.type("slow\r")
    person.sees("some words")
    person.sees("step 2 · read_file")
    person.type("\x03")
    person.sees("Stopping")
    person.sees("Stopped.")
    person.sees("(end)")
    person.sees("›")
    person.type("\x03")
    person.sees("Press Ctrl-C again")
    person.type("\x03")
    assert person.leaves() == 0
    assert "+hi" in (tmp_path / "history").read_text()
    assert (tmp_path / "history").stat().st_mode & 0o777 == 0o600


@pytest.mark.kill
def test_a_person_is_greeted_and_leaves_with_a_word(person: Person) -> None:
    person.sees("welcome")
    person.sees("›")
    person.type("exit now\r")
    person.sees("echo: exit now")
    person.sees("›")
    person.type("exit\r")
    assert person.leaves() == 0


@pytest.mark.kill
def test_who_leaves_while_a_turn_runs_is_asked_once(person: Person) -> None:
    person.sees("›")
    person.type("stuck\r")
    person.sees("thinking")
    person.type("\x03")
    person.sees("Stopping")
    person.type("\x03")
    person.sees("No longer waiting")
    person.sees("›")
    person.type("Quit\r")
    person.sees("Type it again to quit")
    person.sees("›")
    person.type("退出\r")
    assert person.leaves() == 0


@pytest.mark.kill
def test_a_person_sees_no_escape_but_ours_and_leaves_with_ctrl_d(person: Person) -> None:
    person.sees("›")
    person.type("hostile\r")
    shown = person.sees("(end)")
    assert "\x1b]52" not in shown
    assert "\x9b" not in shown
    assert "\u202e" not in shown
    person.sees("›")
    person.type("\x04")
    assert person.leaves() == 0


async def prompted(typed: str, **options: object) -> list[str]:
    from prompt_toolkit.input import create_pipe_input
    from prompt_toolkit.output import DummyOutput

    with create_pipe_input() as source:
        source.send_text(typed)
        return [
            line
            async for line in LinePrompt(PromptOptions(**options), source, DummyOutput()).lines()
        ]  # type: ignore[arg-type]


@every_case(
    ("typed", "lines"),
    [
        ("hello\r\x04", ["hello"]),
        ("one\\\rtwo\r\x04", ["one\ntwo"]),
        ("one\x1b\rtwo\r\x04", ["one\ntwo"]),
        ("never\x03sent\r\x04", ["sent"]),
        ("\x03\x03", []),
        ("\x03a\r\x03\x03", ["a"]),
        ("\x1b[200~pasted\ntext\x1b[201~\r\x04", ["pasted\ntext"]),
    ],
)
async def test_what_is_typed(typed: str, lines: list[str]) -> None:
    assert await prompted(typed, commands=("/help", "/new")) == lines


def test_commands_and_paths_are_completed(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").touch()
    (tmp_path / ".hidden").touch()

    def offered(text: str) -> list[str]:
        return [
            text[:start] + word
            for word, start in complete(text, ("/help", "/new", "/now"), tmp_path)
        ]

    assert offered("/n") == ["/new", "/now"]
    assert offered("/new x") == []
    assert [word for word, _ in complete("/帮", ("/帮助", "/记忆", "/help"), tmp_path)] == ["/帮助"]
    assert offered("see @n") == ["see @notes/"]
    assert offered("see @") == ["see @notes/"]
    assert offered("@notes/") == ["@notes/a.md"]
    assert offered("notes/a") == ["notes/a.md"]
    assert offered("@nowhere/x") == []
    assert offered("plain words") == []


def test_files_named_in_a_line_go_with_it(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "b c.png").write_bytes(b"b")
    found = list(
        attached_files('look at @a.md and @"b c.png", not x@a.md, @b or @/nowhere', tmp_path)
    )
    assert found == [
        Attachment(name="a.md", media_type="text/markdown", data=b"a"),
        Attachment(name="b c.png", media_type="image/png", data=b"b"),
    ]
    with (tmp_path / "huge").open("wb") as out:
        out.truncate(2**30)
    [(path, why)] = attached_files("@huge", tmp_path)  # type: ignore[misc]
    assert path == str(tmp_path / "huge")
    assert "25 MB" in str(why)


async def test_an_answer_that_overtakes_its_own_receipt_is_not_waited_for() -> None:
    out = StringIO()
    terminal = Terminal(TerminalOptions(once="hi", interactive=False), PlainView(out, StringIO()))

    async def deliver(messages: object) -> list[Accepted]:
        for _ in range(2):
            await terminal.send(
                OutboundMessage(id="o", address=PLACE, client_key="o", text="yes", reply_to="m")
            )
        return [Accepted(id="m", new=True)]

    async with asyncio.timeout(5):
        await terminal.run(deliver)
    assert out.getvalue() == "yes\n"


async def test_once_fails_where_the_turn_fails() -> None:
    terminal = Terminal(
        TerminalOptions(once="hi", interactive=False), PlainView(StringIO(), StringIO())
    )

    async def deliver(messages: object) -> list[Accepted]:
        terminal.show(LiveEvent(address=PLACE, name="failed", message_id="m", text="no answer"))
        await terminal.send(
            OutboundMessage(
                id="o", address=PLACE, client_key="o", text="no answer", kind="notice", reply_to="m"
            )
        )
        return [Accepted(id="m", new=True)]

    async with asyncio.timeout(5):
        await terminal.run(deliver)
    assert terminal.failed


async def test_progress_and_strange_messages_do_not_end_the_waiting() -> None:
    out, asked = StringIO(), asyncio.Event()
    terminal = Terminal(TerminalOptions(once="hi", interactive=False), PlainView(out, StringIO()))

    async def deliver(messages: list[InboundMessage]) -> list[Accepted]:
        asked.set()
        return [Accepted(id="m", new=True)]

    running = asyncio.create_task(terminal.run(deliver))  # type: ignore[arg-type]
    await asked.wait()
    for id, kind, reply_to in (
        ("1", "progress", "m"),
        ("2", "notice", ""),
        ("3", "final", "other"),
    ):
        await terminal.send(
            OutboundMessage(
                id=id, address=PLACE, client_key=id, text=id, kind=kind, reply_to=reply_to
            )  # type: ignore[arg-type]
        )
    assert not running.done()
    await terminal.send(
        OutboundMessage(
            id="4", address=PLACE, client_key="4", text="4", kind="notice", reply_to="m"
        )
    )
    async with asyncio.timeout(5):
        await running
    assert out.getvalue().split() == ["1", "2", "3", "4"]


def rich_view() -> tuple[RichView, StringIO]:
    out = StringIO()
    return RichView(
        Console(file=out, force_terminal=True, width=60, height=20, color_system=None)
    ), out


def test_markdown_is_laid_out_and_links_show_where_they_lead() -> None:
    view, out = rich_view()
    view.answer("# Title\n\n- **one**\n\n[safe](https://evil.example/x)")
    assert "**" not in out.getvalue()
    assert "https://evil.example/x" in out.getvalue()
    assert "\x1b]8" not in out.getvalue()


@every_case(
    "text", ["", "```\nopen", "> " * 5000, "[" * 40_000, "*" * 40_000, "x" * 1_000_000, "|a" * 9000]
)
def test_i34_any_answer_is_shown_soon(text: str) -> None:
    view, _ = rich_view()
    began = time.process_time()
    view.answer(text)
    assert time.process_time() - began < 5


@given(st.text(max_size=200))
def test_no_control_sign_is_left(text: str) -> None:
    shown = strip_control(text)
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", shown
    )
    assert strip_control(shown) == shown
    assert "\n" not in shorten_line(text)
    shown.encode()


def test_what_goes_on_is_shown_only_while_an_answer_is_waited_for() -> None:
    view, out = rich_view()
    terminal = Terminal(TerminalOptions(interactive=False), view)
    terminal.show(LiveEvent(address=PLACE, name="delta", text="early"))
    assert out.getvalue() == ""
    view.delta(HOSTILE)
    view.delta("all of it", whole=True)
    view.clear_status()
    assert "\x1b]" not in out.getvalue()


class Told:
    """A view that records each status."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self.begun = asyncio.Event()

    def show_status(self, text: str) -> None:
        self.told.append(text)
        self.begun.set()

    def delta(self, text: str, *, whole: bool = False) -> None: ...

    def answer(self, text: str) -> None: ...

    def hint(self, text: str) -> None: ...

    def clear_status(self) -> None: ...


async def test_a_fold_is_shown_step_by_step_while_its_reply_is_awaited() -> None:
    async def take(messages: Sequence[InboundMessage]) -> list[Accepted]:
        return [Accepted(id="m1", new=True)]

    view = Told()
    terminal = Terminal(TerminalOptions(interactive=False, once="/context fold"), view)
    talking = asyncio.create_task(terminal.run(take))
    await view.begun.wait()
    for state in ("planned", "summarised", "digest", "logged", "folded"):
        facts = {"state": state, "from_turn": 1, "to_turn": 10}
        terminal.show(LiveEvent(address=PLACE, name="fold", facts=facts))
    one = {"state": "planned", "from_turn": 11, "to_turn": 11}
    terminal.show(LiveEvent(address=PLACE, name="fold", facts=one))
    await terminal.send(
        OutboundMessage(
            id="n1", address=PLACE, client_key="n1", text="Folded.", kind="notice", reply_to="m1"
        )
    )
    await talking
    assert view.told == [
        "thinking…",
        "folding turns 1–10: summarising…",
        "folding turns 1–10: checking the summary…",
        "folding turns 1–10: keeping quotes instead of a summary…",
        "folding turns 1–10: written to the diary…",
        "thinking…",
        "folding turn 11: summarising…",
    ]


def test_line_ends_stay_line_ends_outside_of_code() -> None:
    assert hard_breaks("a\nb\n\n```\nc\n```\nd") == "a  \nb  \n\n```\nc\n```\nd  "
