"""Terminal input: lines from a pipe, or a prompt with history, completion and multi-line text."""

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
    """Options of a prompt."""

    #: Slash commands, with their slash.
    commands: Sequence[str] = ()
    #: Base of relative paths.
    folder: Path = field(default_factory=Path)
    #: History file, None for none.
    history: Path | None = None
    #: Returns the line under the prompt; called each second.
    toolbar: Callable[[], str] = str
    language: Language = "en"


async def read_piped_lines(fd: int, language: Language = "en") -> AsyncIterator[str]:
    """Read lines from a descriptor, without their ends. Invalid UTF-8 is replaced.

    The next chunk is read only once all lines of the last one are used. A line over 800,000 bytes
    is cut and marked.
    """
    rest = b""
    async for chunk in _read_chunks(fd):
        *lines, last = chunk.split(b"\n")
        for line in lines:
            yield _decode_line(rest + line, language)
            rest = b""
        rest = (rest + last)[: LINE_BYTES + 1]
    if rest:
        yield _decode_line(rest, language)


class LinePrompt:
    """An input line. Enter sends; Alt-Enter, or Enter after a backslash, starts a new line."""

    def __init__(self, options: PromptOptions, source: Any = None, out: Any = None) -> None:
        """Args: source, out: input and output of prompt_toolkit, None for the terminal."""
        from prompt_toolkit import PromptSession

        self._options = options
        #: Ctrl-C was pressed at an empty prompt; the next one quits.
        self._interrupted = False
        self._session: Any = PromptSession(
            "› ",
            multiline=True,
            prompt_continuation="  ",
            completer=_make_completer(options),
            history=_open_history(options.history),
            key_bindings=self._keys(),
            bottom_toolbar=self._toolbar,
            refresh_interval=1.0,
            input=source,
            output=out,
        )
        self._session.default_buffer.on_text_changed += self._text_changed

    async def lines(self) -> AsyncIterator[str]:
        """Yield typed texts until Ctrl-D, or a second Ctrl-C at an empty prompt."""
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
        elif self._interrupted:
            event.app.exit(exception=EOFError)
        else:
            self._interrupted = True

    def _text_changed(self, _: Any) -> None:
        self._interrupted = False

    def _toolbar(self) -> str:
        return (
            localized(self._options.language, "leave")
            if self._interrupted
            else self._options.toolbar()
        )


def complete(text: str, commands: Sequence[str], folder: Path) -> Iterator[tuple[str, int]]:
    """Complete the text before the cursor: yield (word, negative number of characters it
    replaces).
    """
    if text.startswith("/") and " " not in text:
        matching = [command for command in commands if command.startswith(text)]
        yield from ((command, -len(text)) for command in matching[:MAX_COMPLETIONS])
        return
    found = _LAST_WORD.search(text)
    word = found[0] if found else ""
    if word.startswith("@") or "/" in word:
        yield from ((path, -len(word)) for path in _complete_path(word, folder))


def attached_files(text: str, folder: Path) -> Iterator[Attachment | tuple[str, OSError]]:
    """Read the files named in a text as @path or @"path with spaces"; yield (path, error) if
    unreadable.
    """
    for quoted, bare in _FILE_REFERENCE.findall(text):
        path = folder / Path(quoted or bare).expanduser()
        try:
            if not path.is_file():
                continue
            if path.stat().st_size > FILE_BYTES:
                raise OSError(f"> {FILE_BYTES // 2**20} MB")
            media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
            yield Attachment(name=path.name, media_type=media_type, data=path.read_bytes())
        except OSError as err:
            yield str(path), err


def _complete_path(word: str, folder: Path) -> Iterator[str]:
    mark = "@" if word.startswith("@") else ""
    head, slash, start = word.removeprefix("@").rpartition("/")
    try:
        entries = sorted(
            os.scandir(folder / Path(head + slash).expanduser()), key=lambda entry: entry.name
        )
    except (OSError, RuntimeError):
        return
    matching = [
        entry
        for entry in entries
        if entry.name.startswith(start) and (start or entry.name[0] != ".")
    ]
    for entry in matching[:MAX_COMPLETIONS]:
        yield f"{mark}{head}{slash}{entry.name}{'/' if entry.is_dir() else ''}"


def _submit(event: Any) -> None:
    buffer = event.current_buffer
    if buffer.document.text_before_cursor.endswith("\\"):
        buffer.delete_before_cursor()
        buffer.insert_text("\n")
    else:
        buffer.validate_and_handle()


def _make_completer(options: PromptOptions) -> Any:
    from prompt_toolkit.completion import Completer, Completion

    class CommandsAndPaths(Completer):
        def get_completions(self, document: Any, _: Any) -> Iterator[Completion]:
            for word, start in complete(
                document.text_before_cursor, options.commands, options.folder
            ):
                yield Completion(word, start_position=start)

    return CommandsAndPaths()


def _open_history(path: Path | None) -> Any:
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    if path is None:
        return InMemoryHistory()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.touch(mode=0o600)
    return FileHistory(path)


def _decode_line(line: bytes, language: Language) -> str:
    text = (
        line[:LINE_BYTES]
        .decode("utf-8", "replace")
        .removeprefix("\ufeff")
        .removesuffix("\r")
        .replace("\0", "\ufffd")
    )
    return (
        text
        if len(line) <= LINE_BYTES
        else f"{text}\n{localized(language, 'cut', most=LINE_BYTES)}"
    )


async def _read_chunks(fd: int) -> AsyncIterator[bytes]:
    """Read chunks in a daemon thread, so that the process can end while a read blocks."""
    loop = asyncio.get_running_loop()
    requests = threading.Semaphore(0)
    chunks: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        chunk = b"."
        while chunk:
            requests.acquire()
            try:
                chunk = os.read(fd, CHUNK_BYTES)
            except OSError:
                chunk = b""
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)

    threading.Thread(target=read, name="terminal input", daemon=True).start()
    while True:
        requests.release()
        chunk = await chunks.get()
        if not chunk:
            return
        yield chunk
