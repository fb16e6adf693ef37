"""How a conversation looks in a terminal: plain lines for pipes, Markdown as it grows for people."""

import os
import re
import sys
import unicodedata
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TextIO

Language = Literal["zh", "en"]
MARKDOWN_CHARS = 50_000  # longer texts are shown as they are: to lay them out would take seconds
FRAMES_PER_SECOND = 8
_LINE_ENDS = re.compile(r"\r\n?|[\u2028\u2029\x85]")
_MIN_HEIGHT = 5
TEXTS: dict[str, tuple[str, str]] = {
    "thinking": ("思考中…", "thinking…"),
    "step": ("第 {step} 步 · {tool}", "step {step} · {tool}"),
    "turn_one": ("第 {turn} 轮", "turn {turn}"),
    "turn_many": ("第 {first}–{last} 轮", "turns {first}–{last}"),
    "fold_planned": ("整理{turns}：总结中…", "folding {turns}: summarising…"),
    "fold_summarised": ("整理{turns}：核对摘要…", "folding {turns}: checking the summary…"),
    "fold_digest": ("整理{turns}：改用原文摘录…", "folding {turns}: the words themselves are kept…"),
    "fold_logged": ("整理{turns}：已写入日记…", "folding {turns}: written to the diary…"),
    "stopping": ("正在停止…再按一次 Ctrl-C 就不再等。", "Stopping… Ctrl-C again stops waiting for it."),
    "left": ("不再等这条回复。", "No longer waiting for this answer."),
    "leave": ("再按一次 Ctrl-C 退出，或按 Ctrl-D。", "Ctrl-C again leaves; so does Ctrl-D."),
    "lost": ("这条消息没有存下：{why}", "This message was not stored: {why}"),
    "unread": ("读不了 {path}：{why}", "{path} could not be read: {why}"),
    "away": ("连接中断，正在重连…", "The connection is gone; trying again…"),
    "cut": ("[已截断：这一行超过 {most} 字节]", "[cut: the line was longer than {most} bytes]"),
}


def localized(language: Language, key: str, **fields: object) -> str:
    """One sentence of the terminal's own."""
    zh, en = TEXTS[key]
    return (zh if language == "zh" else en).format(**fields)


def strip_control(text: str) -> str:
    """The text without anything that steers a terminal or turns its reading around: no ESC, no control but line
    ends and tabs, no bidirectional override, no tag; unpaired surrogates become U+FFFD.
    """
    text = _LINE_ENDS.sub("\n", text)
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(map(_is_visible, text))


def shorten_line(text: str, most: int = 60) -> str:
    """The text as a short label."""
    line = " ".join(strip_control(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


class TerminalView(Protocol):
    """Where a conversation is shown."""

    def working(self, what: str) -> None:
        """Something goes on; `what` says what."""
        ...

    def delta(self, text: str, *, whole: bool = False) -> None:
        """More words of the answer, or all of them so far."""
        ...

    def answer(self, text: str) -> None:
        """A message, whole. Raises BrokenPipeError when nobody reads any more."""
        ...

    def hint(self, text: str) -> None:
        """A word of the terminal's own."""
        ...

    def rest(self) -> None:
        """Nothing goes on any more."""
        ...


class PlainView:
    """Answers as plain text on standard output, hints on standard error."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self._err = err or sys.stderr
        for stream in (self._out, self._err):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(errors="replace")

    def working(self, what: str) -> None:
        pass

    def delta(self, text: str, *, whole: bool = False) -> None:
        pass

    def answer(self, text: str) -> None:
        try:
            self._out.write(f"{strip_control(text)}\n")
            self._out.flush()
        except BrokenPipeError:
            # Python would try once more at its end, and complain.
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._out.fileno())
            raise

    def hint(self, text: str) -> None:
        with suppress(OSError):
            self._err.write(f"{strip_control(text)}\n")
            self._err.flush()

    def rest(self) -> None:
        pass


@dataclass(slots=True)
class _LiveFrame:
    """What is shown while an answer grows."""

    text: str = ""
    what: str = ""


class RichView:
    """Markdown that grows, a spinner under it, and the finished answer in its place."""

    def __init__(self, console: Any = None) -> None:
        from rich.console import Console

        # No file is named, so that what comes while a line is typed is printed above it.
        self._console = console or Console(highlight=False, emoji=False, markup=False)
        self._now = _LiveFrame()
        self._live: Any = None
        self._spinner: Any = None

    def working(self, what: str) -> None:
        self._now.what = shorten_line(what)
        self._wake()

    def delta(self, text: str, *, whole: bool = False) -> None:
        self._now.text = strip_control(text) if whole else self._now.text + strip_control(text)
        self._wake()

    def answer(self, text: str) -> None:
        self._console.print(self._laid_out(strip_control(text)))
        self._console.print()

    def hint(self, text: str) -> None:
        self._console.print(strip_control(text), style="dim")

    def rest(self) -> None:
        live, self._live = self._live, None
        self._now = _LiveFrame()
        if live is not None:
            live.stop()

    def _wake(self) -> None:
        if self._live is not None:
            return
        from rich.live import Live
        from rich.spinner import Spinner

        self._spinner = Spinner("dots", style="cyan")
        self._live = Live(
            get_renderable=self._frame, console=self._console, refresh_per_second=FRAMES_PER_SECOND, transient=True
        )
        self._live.start()

    def _frame(self) -> Any:
        from rich.console import Group
        from rich.text import Text

        now = self._now
        self._spinner.update(text=Text(now.what, style="dim"))
        if not now.text.strip():
            return self._spinner
        room = max(_MIN_HEIGHT, self._console.height - _MIN_HEIGHT)
        tail = "\n".join(now.text[-room * self._console.width :].splitlines()[-room:])
        return Group(self._laid_out(tail), self._spinner)

    def _laid_out(self, text: str) -> Any:
        from rich.markdown import Markdown
        from rich.text import Text

        if len(text) > MARKDOWN_CHARS:
            return Text(text)
        # Links show their address: a hidden one could lead anywhere.
        return Markdown(hard_breaks(text), hyperlinks=False, code_theme="ansi_dark")


def hard_breaks(text: str) -> str:
    """Markdown whose line ends stay line ends, as in every chat; fenced code is left as it is."""
    lines, fenced = [], False
    for line in text.split("\n"):
        mark = line.lstrip().startswith(("```", "~~~"))
        fenced ^= mark
        lines.append(line if fenced or mark or not line.strip() else f"{line}  ")
    return "\n".join(lines)


def _is_visible(sign: str) -> str:
    kind = unicodedata.category(sign)
    if kind == "Cs":
        return "\ufffd"
    if sign in "\n\t" or kind not in ("Cc", "Cf"):
        return sign
    return sign if sign in "\u200c\u200d\u00ad" else ""
