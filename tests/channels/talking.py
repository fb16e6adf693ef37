"""A terminal with a minimal bot behind it, as a program that tests drive through pipes and ptys.

It answers `hi` with `echo: hi`; `slow` only when it is stopped; `stuck` never; `hostile` with what
a terminal must not see.
"""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

from channels.message import Accepted, InboundMessage, LiveEvent, OutboundMessage
from channels.terminal.channel import Terminal, TerminalOptions
from channels.terminal.prompt import PromptOptions

HOSTILE = "\x1b[2J\x1b]52;c;ZXZpbA==\x07 \x9b31m \u202eback **bold** \r\nnext"


class EchoBot:
    """Remembers what was asked in which order; answers in another task, as a lane would."""

    def __init__(self) -> None:
        self.terminal: Terminal | None = None
        self.tasks: list[asyncio.Task[None]] = []
        self.stopped = asyncio.Event()

    async def deliver(self, messages: Sequence[InboundMessage]) -> list[Accepted]:
        [message] = messages
        sys.stderr.write(
            f"asked {message.key.partition(':')[2]} {message.text[:60]!r} "
            f"{len(message.attachments)}\n"
        )
        if message.text == "full":
            raise OSError("no space is left")
        self.tasks.append(asyncio.create_task(self._answer(message)))
        return [Accepted(id=f"in{message.key}", new=True)]

    async def stop(self) -> None:
        self.stopped.set()

    async def _answer(self, message: InboundMessage) -> None:
        text = f"echo: {message.text}"
        if message.text == "slow":
            self._show(message, "started")
            self._show(message, "delta", "some words")
            self._show(message, "tool_started")
            await self.stopped.wait()
            text = "Stopped."
        if message.text == "stuck":
            await asyncio.Event().wait()
        if message.text == "hostile":
            text = HOSTILE
        for part, piece in enumerate((text, "(end)")):
            await self._send(message, piece, part)
        sys.stderr.write(f"answered {message.key.partition(':')[2]}\n")

    async def _send(self, message: InboundMessage, text: str, part: int) -> None:
        assert self.terminal is not None
        out = OutboundMessage(
            id=f"out{message.key}.{part}",
            address=message.address,
            client_key=f"{message.key}.{part}",
            text=text,
            reply_to=f"in{message.key}",
            part_no=part,
            parts=2,
        )
        for _ in range(2):
            await self.terminal.send(out)

    def _show(self, message: InboundMessage, name: str, text: str = "") -> None:
        assert self.terminal is not None
        facts = {"tool": "read_file", "step": 1}
        self.terminal.show(LiveEvent(address=message.address, name=name, text=text, facts=facts))  # type: ignore[arg-type]


async def talk(once: str | None, folder: Path) -> int:
    bot = EchoBot()
    prompt = PromptOptions(
        commands=("/help", "/new"),
        folder=folder,
        history=folder / "history",
        toolbar=lambda: "offline · 3 %",
    )
    bot.terminal = Terminal(
        TerminalOptions(once=once, prompt=prompt, greeting="welcome", stop=bot.stop)
    )
    await bot.terminal.run(bot.deliver)
    if not bot.terminal.interactive:
        heavy = sorted({"rich", "prompt_toolkit"} & set(sys.modules))
        sys.stderr.write(f"left {heavy}\n")
    return int(bot.terminal.failed)


if __name__ == "__main__":
    given = sys.argv[2:]
    raise SystemExit(asyncio.run(talk(given[0] if given else None, Path(sys.argv[1]))))
