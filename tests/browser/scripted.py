"""The bot that the browser tests talk to: streams its answers, keeps files, tells its context."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from copy import deepcopy
from pathlib import Path
from typing import Any

from bot.console.memory.files import FileRoutes
from channels.message import InboundMessage
from channels.phrases import Phrase
from channels.web.requests import HttpRefusal, Route, json_response
from memory.workspace.files import Workspace
from tests.channels.web.server import Running, ScriptedBot, running

LONG = """Here is what I found in your notes:

1. **Green tea** in the morning, `no sugar`
2. Walks by the river — see [the map](https://maps.example/river)

| day | steps |
| --- | ---: |
| Mon | 8 200 |
| Tue | 11 040 |

```python
def remember(fact: str) -> None:
    print(f"kept: {fact}")
```

> 记忆不是仓库，而是花园。
"""
WHY = {
    "turns": 10, "target": 9, "keep": 0.5, "adapted": [], "score": 155, "candidates": 5,
    "terms": [["base", 100], ["reply", 30], ["topic", 25]],
}  # fmt: skip
FOLDS = [
    {
        "id": "f1",
        "from_turn": 1,
        "to_turn": 10,
        "at": "2026-11-20T09:12:00+00:00",
        "method": "model",
        "file": "memory/2026-11-20.md",
        "tokens_before": 21_800,
        "tokens_after": 900,
        "policy": "balanced",
        "reason": "tokens",
        "why": WHY,
    },
    {
        "id": "f2",
        "from_turn": 11,
        "to_turn": 11,
        "at": "2026-11-20T09:40:00+00:00",
        "method": "extract",
        "file": "spaces/telegram-ann/memory/2026-11-20.md",
        "tokens_before": 12_400,
        "tokens_after": 6_100,
        "policy": "balanced",
        "reason": "/context fold",
        "why": None,
    },
]
CONTEXT: Mapping[str, Any] = {
    "epoch": 1,
    "turns": 7,
    "max_turns": 20,
    "tokens": 18_432,
    "max_tokens": 50_000,
    "budget": 50_000,
    "parts": {"system": 3_100, "tools": 2_050, "summary": 900, "history": 11_900, "running": 482},
    "messages": 31,
    "roles": {"user": 8, "assistant": 23},
    "characters": 51_200,
    "policy": "balanced",
    "folds": FOLDS,
    "counter": {"name": "o200k", "factor": 1.02, "last_error_percent": 1.4},
    "cache_share": 0.83,
    "policy_own": False,
    "live_turns": [12, 18],
    "folding": None,
    "next_fold": [
        {"unit": "tokens", "now": 18_432, "at": 37_500},
        {"unit": "turns", "now": 7, "at": 20},
    ],
    "system_parts": [
        {"name": "SOUL.md", "tokens": 410, "left_out": []},
        {"name": "rules", "tokens": 260, "left_out": []},
        {"name": "awareness", "tokens": 630, "left_out": []},
        {"name": "MEMORY.md", "tokens": 1_400, "left_out": ["## Preferences: 3 paragraphs"]},
        {"name": "log", "tokens": 400, "left_out": []},
    ],
}
COMMANDS = [
    {"name": "help", "usage": "", "zh": "查看所有命令", "en": "this list"},
    {
        "name": "context",
        "usage": "[clear|fold|undo|diff]",
        "zh": "查看模型读到的内容",
        "en": "what the context holds",
    },
    {
        "name": "policy",
        "usage": "[NAME]",
        "zh": "查看或更换上下文策略",
        "en": "how the context is kept small",
    },
    {
        "name": "config",
        "usage": "[KEY [VALUE]]",
        "zh": "查看或修改配置",
        "en": "show or change the configuration",
    },
    {"name": "remember", "usage": "TEXT", "zh": "记住一句话", "en": "remember this"},
]


FOUND = [
    {
        "text": "likes green tea",
        "kind": "memory",
        "path": "MEMORY.md",
        "line": 3,
        "lines": [3, 3],
        "score": 1.0,
        "source": "MEMORY.md:3",
    },
    {
        "text": "[2026-11-20 09:01] Ann: hello",
        "kind": "log",
        "path": "memory/2026-11-20.md",
        "line": 2,
        "lines": [2, 2],
        "date": "2026-11-20",
        "score": 0.6,
        "source": "memory/2026-11-20.md:2",
    },
    {
        "text": "[2026-11-19 18:30] User: 我喜欢乌龙茶",
        "kind": "said",
        "turn": 4,
        "conversation": "tea",
        "date": "2026-11-19",
        "score": 0.4,
        "source": "turn 4",
    },
]


class Page(ScriptedBot):
    """Answers `long` in pieces, `wait` when told to, a command by a notice, all else by an echo.

    release: lets the answer to `wait` come to its end. facts: what its context is said to be.
    found: what any search of the memory finds.
    """

    def __init__(self) -> None:
        super().__init__()
        self.release = asyncio.Event()
        self.facts: dict[str, Any] = dict(CONTEXT)
        self.found: list[dict[str, Any]] = deepcopy(FOUND)
        self.working: set[asyncio.Task[None]] = set()

    async def _take(self, message: InboundMessage) -> Any:
        accepted = await super()._take(message)
        if accepted.new:
            task = asyncio.create_task(self.work(message, accepted.id))
            self.working.add(task)
            task.add_done_callback(self.working.discard)
        return accepted

    async def work(self, message: InboundMessage, id: str) -> None:
        name, text = message.address.chat_id, message.text
        if text.startswith("/"):
            await self.reply(name, id, f"**{text}**\n\n- one command\n- another", kind="notice")
            return
        self.show(name, "started", id)
        if text == "wait":
            self.show(name, "delta", id, "Half of an ans")
            self.show(name, "tool_started", id, tool="memory_search", step=2)
            await self.release.wait()
            self.show(name, "tool_ended", id, tool="memory_search")
        words = LONG if text == "long" else f"You said: {text}"
        for start in range(0, len(words), 12):
            self.show(name, "delta", id, words[start : start + 12])
            await asyncio.sleep(0)
        await self.reply(name, id, words)


@asynccontextmanager
async def page_bot(
    root: Path, *, port: int = 0, bot: Page | None = None, public_url: str = ""
) -> AsyncIterator[Running]:
    bot = bot or Page()

    async def context(request: Any) -> Any:
        if request.path_params["id"] not in bot.said:
            raise HttpRefusal(404, "not_found", Phrase("no"))
        return json_response(bot.facts)

    async def commands(_: Any) -> Any:
        return json_response({"items": COMMANDS})

    async def search(request: Any) -> Any:
        if request.query_params["q"] == "broken":
            raise HttpRefusal(503, "storage", Phrase("the index cannot be read"))
        kind, words = request.query_params.get("kind", ""), request.query_params["q"]
        found = [
            one for one in bot.found if not kind or (one["kind"] == kind and words in one["text"])
        ]
        return json_response({"items": found})

    async def saved() -> None: ...

    calls = (
        Route(
            method="GET",
            path="/api/v1/conversations/{id}/context",
            action="context.read",
            handler=context,
        ),
        Route(method="GET", path="/api/v1/commands", action="help", handler=commands),
        Route(method="GET", path="/api/v1/memory/search", action="memory.read", handler=search),
        *FileRoutes(Workspace(root).space(""), saved).calls(),
    )
    async with running(bot, calls, port=port, public_url=public_url) as site:
        yield site
