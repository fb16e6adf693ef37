"""Terminal output: plain lines for pipes, live Markdown for people."""

import os
import re
import sys
import unicodedata
from contextlib import suppress
from typing import Any, Literal, Protocol, TextIO

from channels.phrases import Phrase

Language = Literal["zh", "en"]
MARKDOWN_CHARS = 50_000  # longer texts are shown as plain text: their layout would take seconds
FRAMES_PER_SECOND = 8
_LINE_ENDS = re.compile(r"\r\n?|[\u2028\u2029\x85]")
_MIN_HEIGHT = 5
TEXTS: dict[str, Phrase] = {
    "thinking": Phrase("thinking…"),
    "step": Phrase("step {step} · {tool}"),
    "turn_one": Phrase("turn {turn}"),
    "turn_many": Phrase("turns {first}–{last}"),
    "fold_planned": Phrase("folding {turns}: summarising…"),
    "fold_summarised": Phrase("folding {turns}: checking the summary…"),
    "fold_digest": Phrase("folding {turns}: keeping quotes instead of a summary…"),
    "fold_logged": Phrase("folding {turns}: written to the diary…"),
    "stopping": Phrase("Stopping… Press Ctrl-C again to stop waiting."),
    "left": Phrase("No longer waiting for this answer."),
    "leave": Phrase("Press Ctrl-C again or Ctrl-D to quit."),
    "still_running": Phrase(
        "The last message is still being answered. Type it again to quit; the answer will come "
        "later."
    ),
    "lost": Phrase("This message was not stored: {why}"),
    "unread": Phrase("{path} could not be read: {why}"),
    "away": Phrase("Connection lost, reconnecting…"),
    "cut": Phrase("[cut: the line was longer than {most} bytes]"),
}


def localized(language: Language, key: str, **fields: object) -> str:
    """Return one of TEXTS, filled in."""
    return TEXTS[key].fill(**fields).text(language)


def strip_control(text: str) -> str:
    """Remove everything that controls a terminal or changes the direction of text.

    That is ESC, all control characters but line ends and tabs, bidirectional overrides and tags.
    Unpaired surrogates become U+FFFD.
    """
    text = _LINE_ENDS.sub("\n", text)
    if text.isascii() and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    return "".join(map(_visible_char, text))


def shorten_line(text: str, most: int = 60) -> str:
    """Shorten a text to a label of one line."""
    line = " ".join(strip_control(text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


class TerminalView(Protocol):
    """Shows a conversation."""

    def show_status(self, text: str) -> None:
        """Show what the bot is doing."""
        ...

    def delta(self, text: str, *, whole: bool = False) -> None:
        """Show more of the reply's text, or all of it so far."""
        ...

    def answer(self, text: str) -> None:
        """Show a complete message. Raises BrokenPipeError when the output is closed."""
        ...

    def hint(self, text: str) -> None:
        """Show a message of the terminal itself."""
        ...

    def clear_status(self) -> None:
        """Remove status and live text."""
        ...


class PlainView:
    """Prints replies as plain text on standard output, and hints on standard error."""

    def __init__(self, out: TextIO | None = None, err: TextIO | None = None) -> None:
        self._out = out or sys.stdout
        self._err = err or sys.stderr
        for stream in (self._out, self._err):
            reconfigure = getattr(stream, "reconfigure", None)
            if reconfigure is not None:
                reconfigure(errors="replace")

    def show_status(self, text: str) -> None:
        pass

    def delta(self, text: str, *, whole: bool = False) -> None:
        pass

    def answer(self, text: str) -> None:
        try:
            self._out.write(f"{strip_control(text)}\n")
            self._out.flush()
        except BrokenPipeError:
            # Python flushes again at exit and would report the error.
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), self._out.fileno())
            raise

    def hint(self, text: str) -> None:
        with suppress(OSError):
            self._err.write(f"{strip_control(text)}\n")
            self._err.flush()

    def clear_status(self) -> None:
        pass


class RichView:
    """Shows a growing reply as Markdown with a spinner below it, then the finished reply in its
    place.
    """

    def __init__(self, console: Any = None) -> None:
        from rich.console import Console

        # Without `file` it prints to the current sys.stdout, which prompt_toolkit shows above the
        # line being typed.
        self._console = console or Console(highlight=False, emoji=False, markup=False)
        self._text = ""
        self._status = ""
        self._live: Any = None
        self._spinner: Any = None

    def show_status(self, text: str) -> None:
        self._status = shorten_line(text)
        self._start_live()

    def delta(self, text: str, *, whole: bool = False) -> None:
        self._text = strip_control(text) if whole else self._text + strip_control(text)
        self._start_live()

    def answer(self, text: str) -> None:
        self._console.print(self._markdown(strip_control(text)))
        self._console.print()

    def hint(self, text: str) -> None:
        self._console.print(strip_control(text), style="dim")

    def clear_status(self) -> None:
        live, self._live = self._live, None
        self._text = self._status = ""
        if live is not None:
            live.stop()

    def _start_live(self) -> None:
        if self._live is not None:
            return
        from rich.live import Live
        from rich.spinner import Spinner

        self._spinner = Spinner("dots", style="cyan")
        self._live = Live(
            get_renderable=self._frame,
            console=self._console,
            refresh_per_second=FRAMES_PER_SECOND,
            transient=True,
        )
        self._live.start()

    def _frame(self) -> Any:
        from rich.console import Group
        from rich.text import Text

        self._spinner.update(text=Text(self._status, style="dim"))
        if not self._text.strip():
            return self._spinner
        height = max(_MIN_HEIGHT, self._console.height - _MIN_HEIGHT)
        tail = "\n".join(self._text[-height * self._console.width :].splitlines()[-height:])
        return Group(self._markdown(tail), self._spinner)

    def _markdown(self, text: str) -> Any:
        from rich.markdown import Markdown
        from rich.text import Text

        if len(text) > MARKDOWN_CHARS:
            return Text(text)
        # hyperlinks=False prints each link's URL: a hidden one could lead anywhere.
        return Markdown(hard_breaks(text), hyperlinks=False, code_theme="ansi_dark")


def hard_breaks(text: str) -> str:
    """Turn line ends into Markdown's hard breaks, as chats show them; fenced code stays
    unchanged.
    """
    lines, fenced = [], False
    for line in text.split("\n"):
        is_fence = line.lstrip().startswith(("```", "~~~"))
        fenced ^= is_fence
        lines.append(line if fenced or is_fence or not line.strip() else f"{line}  ")
    return "\n".join(lines)


def _visible_char(char: str) -> str:
    category = unicodedata.category(char)
    if category == "Cs":
        return "\ufffd"
    if char in "\n\t" or category not in ("Cc", "Cf"):
        return char
    return char if char in "\u200c\u200d\u00ad" else ""
