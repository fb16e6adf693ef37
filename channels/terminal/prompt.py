"""What a person types: lines from a pipe, or a prompt with history, completion and more than one line."""

import asyncio
import mimetypes
import os
import re
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from channels.message import Attachment
from channels.terminal.view import Language, localized

LINE_BYTES = 800_000
FILE_BYTES = 25 * 2**20
CHUNK_BYTES = 65_536
MAX_COMPLETIONS = 50
_FILE_REFERENCE = re.compile(r'(?<!\S)@(?:"([^"\n]+)"|(\S+))')
_LAST_WORD = re.compile(r"\S*$")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptOptions:
    """What a prompt knows."""

    #: Slash commands with their slash.
    commands: Sequence[str] = ()
    #: Where paths begin.
    folder: Path = field(default_factory=Path)
    #: File of what was typed, None for none.
    history: Path | None = None
    #: One line under the prompt, asked each second.
    toolbar: Callable[[], str] = str
    language: Language = "en"


async def read_piped_lines(fd: int, language: Language = "en") -> AsyncIterator[str]:
    """The lines that come through a descriptor, without their ends; what is not UTF-8 is replaced.

    One chunk is read at a time, and only when the last one is used up. A line over 800,000 bytes is cut and says so.
    """
    rest = b""
    async for chunk in _read_chunks(fd):
        *whole, last = chunk.split(b"\n")
        for line in whole:
            yield _decode_line(rest + line, language)
            rest = b""
        rest = (rest + last)[: LINE_BYTES + 1]
    if rest:
        yield _decode_line(rest, language)


class LinePrompt:
    """A line to type in. Enter sends; Alt-Enter, or Enter after a backslash, begins another line."""

    def __init__(self, desk: PromptOptions, source: Any = None, out: Any = None) -> None:
        """source, out: prompt_toolkit's input and output, None for the terminal."""
        from prompt_toolkit import PromptSession

        self._desk = desk
        self._told = False
        self._session: Any = PromptSession(
            "› ",
            multiline=True,
            prompt_continuation="  ",
            completer=_make_completer(desk),
            history=_open_history(desk.history),
            key_bindings=self._keys(),
            bottom_toolbar=self._toolbar,
            refresh_interval=1.0,
            input=source,
            output=out,
        )
        self._session.default_buffer.on_text_changed += self._typed

    async def lines(self) -> AsyncIterator[str]:
        """What is typed, until Ctrl-D or a second Ctrl-C at an empty prompt."""
        from prompt_toolkit.patch_stdout import patch_stdout

        while True:
            try:
                with patch_stdout(raw=True):
                    text: str = await self._session.prompt_async()
            except EOFError:
                return
            yield text

    def _keys(self) -> Any:
        from prompt_toolkit.key_binding import KeyBindings

        keys = KeyBindings()
        keys.add("enter")(_submit)
        keys.add("escape", "enter")(lambda event: event.current_buffer.insert_text("\n"))
        keys.add("c-c")(self._interrupt)
        return keys

    def _interrupt(self, event: Any) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        elif self._told:
            event.app.exit(exception=EOFError)
        else:
            self._told = True

    def _typed(self, _: Any) -> None:
        self._told = False

    def _toolbar(self) -> str:
        return localized(self._desk.language, "leave") if self._told else self._desk.toolbar()


def complete(text: str, commands: Sequence[str], folder: Path) -> Iterator[tuple[str, int]]:
    """What the text before the cursor may go on as: (word, how many characters it replaces, negative)."""
    if text.startswith("/") and " " not in text:
        matching = [command for command in commands if command.startswith(text)]
        yield from ((command, -len(text)) for command in matching[:MAX_COMPLETIONS])
        return
    found = _LAST_WORD.search(text)
    word = found[0] if found else ""
    if word.startswith("@") or "/" in word:
        yield from ((path, -len(word)) for path in _complete_path(word, folder))


def attached_files(text: str, folder: Path) -> Iterator[Attachment | tuple[str, OSError]]:
    """The files that a text names as @path or @"path with spaces"; those that exist but cannot be read with why."""
    for quoted, bare in _FILE_REFERENCE.findall(text):
        path = folder / Path(quoted or bare).expanduser()
        try:
            if not path.is_file():
                continue
            if path.stat().st_size > FILE_BYTES:
                raise OSError(f"> {FILE_BYTES // 2**20} MB")
            kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
            yield Attachment(name=path.name, media_type=kind, data=path.read_bytes())
        except OSError as err:
            yield str(path), err


def _complete_path(word: str, folder: Path) -> Iterator[str]:
    mark = "@" if word.startswith("@") else ""
    head, slash, start = word.removeprefix("@").rpartition("/")
    try:
        entries = sorted(os.scandir(folder / Path(head + slash).expanduser()), key=lambda entry: entry.name)
    except (OSError, RuntimeError):
        return
    matching = [entry for entry in entries if entry.name.startswith(start) and (start or entry.name[0] != ".")]
    for entry in matching[:MAX_COMPLETIONS]:
        yield f"{mark}{head}{slash}{entry.name}{'/' if entry.is_dir() else ''}"


def _submit(event: Any) -> None:
    buffer = event.current_buffer
    if buffer.document.text_before_cursor.endswith("\\"):
        buffer.delete_before_cursor()
        buffer.insert_text("\n")
    else:
        buffer.validate_and_handle()


def _make_completer(desk: PromptOptions) -> Any:
    from prompt_toolkit.completion import Completer, Completion

    class Words(Completer):
        def get_completions(self, document: Any, _: Any) -> Iterator[Completion]:
            for word, start in complete(document.text_before_cursor, desk.commands, desk.folder):
                yield Completion(word, start_position=start)

    return Words()


def _open_history(path: Path | None) -> Any:
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    if path is None:
        return InMemoryHistory()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    return FileHistory(path)


def _decode_line(line: bytes, language: Language) -> str:
    text = (
        line[:LINE_BYTES].decode("utf-8", "replace").removeprefix("\ufeff").removesuffix("\r").replace("\0", "\ufffd")
    )
    return text if len(line) <= LINE_BYTES else f"{text}\n{localized(language, 'cut', most=LINE_BYTES)}"


async def _read_chunks(fd: int) -> AsyncIterator[bytes]:
    """Bytes as they come. Read in a thread that nobody waits for at the end, and with no lock of Python's held."""
    loop = asyncio.get_running_loop()
    wanted = threading.Semaphore(0)
    come: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        chunk = b"."
        while chunk:
            wanted.acquire()
            try:
                chunk = os.read(fd, CHUNK_BYTES)
            except OSError:
                chunk = b""
            with suppress(RuntimeError):  # the loop has ended meanwhile
                loop.call_soon_threadsafe(come.put_nowait, chunk)

    threading.Thread(target=read, name="terminal input", daemon=True).start()
    while True:
        wanted.release()
        chunk = await come.get()
        if not chunk:
            return
        yield chunk
