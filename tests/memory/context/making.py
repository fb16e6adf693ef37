"""Makes conversations for the tests of this room."""

from datetime import UTC, datetime, timedelta

from memory.context.tokens import WEIGHTED, TokenCounter
from memory.conversation import (
    Message,
    Part,
    Reduction,
    Role,
    Session,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    Turn,
)

START = datetime(2026, 11, 20, 6, 0, tzinfo=UTC)
Said = tuple[Role, tuple[Part, ...]]


def said(text: str) -> Said:
    return "user", (Text(text=text),)


def replied(text: str) -> Said:
    return "assistant", (Text(text=text),)


def used(id: str, result: str, input: str = '{"path": "a.txt"}') -> tuple[Said, Said]:
    return (
        ("assistant", (ToolCall(id=id, name="read_file", input=input),)),
        ("user", (ToolResult(call_id=id, text=result),)),
    )


def make_session(
    turns: list[list[Said]],
    *,
    running: bool = False,
    summary: Summary | None = None,
    reductions: tuple[Reduction, ...] = (),
    counter: TokenCounter = WEIGHTED,
    first_turn: int = 1,
) -> Session:
    seq = 0
    made = []
    for number, messages in enumerate(turns, first_turn):
        row = []
        for role, parts in messages:
            seq += 1
            row.append(
                Message(
                    id=f"m{seq}",
                    seq=seq,
                    turn=number,
                    role=role,
                    parts=parts,
                    at=START + timedelta(minutes=seq),
                    tokens=counter.message(parts),
                    counter=counter.name,
                )
            )
        made.append(Turn(number=number, messages=tuple(row)))
    return Session(
        conversation="c1",
        space="",
        epoch=1,
        next_seq=seq + 1,
        next_turn=first_turn + len(turns),
        view_from=1,
        fold_head="",
        summary=summary,
        turns=tuple(made),
        reductions=reductions,
        running=made[-1].number if running and made else 0,
    )


def chat(count: int, size: int = 20) -> list[list[Said]]:
    """Finished turns of a question and an answer of about `size` characters each."""
    return [
        [said(f"question {n} " + "q" * size), replied(f"answer {n} " + "a" * size)]
        for n in range(1, count + 1)
    ]
