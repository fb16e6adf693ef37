"""Messages in a row become turns: a user's words begin one, and everything they lead to belongs to it. Pure."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from bot.replay.recording import Probe, Recording
from bot.replay.wire import Heard
from memory.conversation import Message, Part, Role, Text, ToolCall, ToolResult, ToolSpec, Turn

NO_CALL = "result of a call that is not here"
"""The aside of a tool's words where nobody knows which tool gave them."""
STEP = timedelta(seconds=1)
"""Between two messages that have no time of their own."""


class Turning:
    """Takes messages one by one. begun: the time of the first one where it has none."""

    def __init__(self, begun: datetime) -> None:
        self._at = begun - STEP
        self._turns: list[list[Message]] = []
        self._open: set[str] = set()
        self._seq = 0
        self._timed = False
        self._unanswered = 0
        self._files: dict[str, bytes] = {}
        self.system: list[str] = []
        self.notes: list[str] = []

    def hear(self, heard: Heard, where: str) -> None:
        """Take a message off a wire. where: "message 3", for notes."""
        self.notes += [f"{where}: {note}" for note in heard.notes]
        self._files.update(heard.files)
        self._timed = self._timed or heard.at is not None
        self._at = heard.at or self._at + STEP
        if heard.system:
            if self._turns:
                self.notes.append(f"{where}: a system message in the middle is shown with the others, at the beginning")
            self.system.append(heard.system)
            return
        parts = self._paired(heard.parts, where) if heard.role == "user" else heard.parts
        if not parts:
            return
        by_tool = heard.role == "user" and any(isinstance(part, ToolResult) for part in heard.parts)
        self._place(heard.role, parts, where, "tool" if by_tool else "person")
        if heard.role == "assistant":
            self._open |= {part.id for part in parts if isinstance(part, ToolCall)}

    def keep(self, message: Message) -> None:
        """Take a message that was exported with its turn and its place.

        Raises:
            ValueError: it does not come after the one before it.
        """
        last = self._turns[-1][-1] if self._turns else None
        if last and (message.seq <= last.seq or message.turn < last.turn):
            raise ValueError(f"its seq {message.seq} and turn {message.turn} do not come after {last.seq}, {last.turn}")
        if last is None or message.turn > last.turn:
            self._turns.append([])
        self._turns[-1].append(message)
        self._timed = True

    def recording(self, name: str, tools: tuple[ToolSpec, ...], probes: Sequence[Probe]) -> Recording:
        """All that was taken."""
        unanswered = self._unanswered + len(self._open)
        if unanswered:
            self.notes.append(f"{unanswered} tool calls have no result; a request shows that none was recorded")
        return Recording(
            name=name,
            turns=tuple(Turn(number=held[0].turn, messages=tuple(held)) for held in self._turns),
            system=tuple(self.system),
            tools=tools,
            probes=tuple(probes),
            timed=self._timed,
            files=self._files,
            notes=tuple(self.notes),
        )

    def _place(self, role: Role, parts: tuple[Part, ...], where: str, by: str) -> None:
        results = any(isinstance(part, ToolResult) for part in parts)
        before = self._turns[-1][-1] if self._turns else None
        same = before is not None and before.role == role and (role == "assistant" or (results and _answers(before)))
        if before is not None and same:
            self._turns[-1][-1] = replace(before, parts=(*before.parts, *parts))
            return
        if before is None and role == "assistant":
            self.notes.append(f"{where}: it answers nothing, so no request is made of it")
        if before is None or (role == "user" and not results):
            self._turns.append([])
            self._unanswered += len(self._open)
            self._open.clear()
        self._seq += 1
        self._turns[-1].append(
            Message(
                id=f"m{self._seq}",
                seq=self._seq,
                turn=len(self._turns),
                role=role,
                parts=parts,
                at=self._at,
                origin="model" if role == "assistant" else by,
            )
        )

    def _paired(self, parts: tuple[Part, ...], where: str) -> tuple[Part, ...]:
        """Results that answer a call of this turn; any other one becomes words."""
        kept: list[Part] = []
        for part in parts:
            if isinstance(part, ToolResult) and part.call_id not in self._open:
                self.notes.append(f"{where}: a result has no call before it and is kept as words")
                kept.append(Text(text=part.text, aside=NO_CALL))
                continue
            if isinstance(part, ToolResult):
                self._open.discard(part.call_id)
            kept.append(part)
        return tuple(sorted(kept, key=lambda part: not isinstance(part, ToolResult)))


def _answers(message: Message) -> bool:
    return any(isinstance(part, ToolResult) for part in message.parts)
