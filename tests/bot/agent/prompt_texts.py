"""Renders every text that a model reads, as it stands in `prompt_texts/`.

After a change of a prompt, rewrite the files with

    .venv/bin/python -m tests.bot.agent.prompt_texts

and review them with `git diff`: each change of a system prompt or a tool costs every running
conversation its prompt cache once.
"""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from bot.agent.prompt.system_rules import system_rules
from bot.agent.turn_context import format_clock_note
from bot.config.home import HomeFolder
from bot.models.base import Request
from memory.context.policies import tool_lines
from memory.context.view import summary_text
from memory.conversation import Message, Summary, ToolCall, ToolResult, ToolSpec
from memory.longterm import extraction, recurring
from memory.longterm.extraction import ExtractionRules, KnownMemory, TurnExchange
from memory.longterm.recurring import LogLine, RecurringFact
from tests.bot.inside import inside

FOLDER = Path(__file__).parent / "prompt_texts"
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


async def first_request(home: Path, language: str) -> Request:
    """The first request of a new home whose SOUL.md is in that language."""
    folder = HomeFolder(root=home)
    folder.ensure()
    folder.set_soul_language(language)
    async with inside(home, ["ok"], {"timezone": "Asia/Shanghai"}, clock=NOON.timestamp) as it:
        await it.text({"zh": "你好", "en": "hello"}[language])
        return it.model.requests[0]


def render_texts() -> dict[str, str]:
    """Every text by its file name."""
    texts: dict[str, str] = {}
    for language in ("zh", "en"):
        with TemporaryDirectory() as folder:
            request = asyncio.run(first_request(Path(folder), language))
        texts[f"request.{language}.txt"] = "\n\n".join(_render_request(request))
        texts["tools.txt"] = "\n\n".join(map(_render_tool, request.tools))
        texts[f"extraction.{language}.txt"] = _render_prompts(_extraction_prompts(language))
        texts[f"dream.{language}.txt"] = _render_prompts(_dream_prompts(language))
    texts["rules_without_tools.txt"] = system_rules(())
    texts["tool_lines.txt"] = _render_prompts(
        (tool_lines.SYSTEM, tool_lines.build_prompt(_tool_result()))
    )
    texts["summary.txt"] = summary_text(
        Summary(fold_id="f", turns=12, text="## Facts\n- likes tea", tokens=9, last_turn=12)
    )
    texts["clock.txt"] = format_clock_note(NOON)
    return {name: f"{text.rstrip()}\n" for name, text in texts.items()}


def _render_request(request: Request) -> Iterator[str]:
    for text in request.system:
        yield f"=== system ===\n{text}"
    for message in request.messages:
        yield "\n".join(
            (
                f"=== {message.role} ===",
                *(str(getattr(part, "text", part)) for part in message.parts),
            )
        )


def _render_tool(spec: ToolSpec) -> str:
    schema = json.dumps(json.loads(spec.schema), ensure_ascii=False, indent=1)
    return f"=== {spec.name} ===\n{spec.description}\n{schema}"


def _render_prompts(prompts: tuple[str, str]) -> str:
    system, prompt = prompts
    return f"=== system ===\n{system}\n\n=== user ===\n{prompt}"


def _extraction_prompts(language: str) -> tuple[str, str]:
    user, bot, known = {
        "zh": ("以后都用中文回答我", "好的。", "用户喜欢简短的回答"),
        "en": ("Always answer me in English", "I will.", "The user likes short answers"),
    }[language]
    lines = (KnownMemory(norm="n", text=known),)
    return extraction.build_prompts([TurnExchange(user=user, bot=bot)], lines, ExtractionRules())


def _dream_prompts(language: str) -> tuple[str, str]:
    text = {"zh": "我每天早上六点跑步", "en": "I run at six every morning"}[language]
    lines = tuple(
        LogLine(text=text, day=day, path=f"memory/{day}.md", number=3, said=NOON)
        for day in ("2026-11-18", "2026-11-19")
    )
    return recurring.build_prompts([RecurringFact(text=text, category="fact", sources=lines)])


def _tool_result() -> list[tool_lines.ToolResultRef]:
    result = ToolResult(
        call_id="t1", text="[notes.md, version 1f, lines 1-2 of 2]\n- 12 tasks\n- 3 of them open\n"
    )
    message = Message(
        id="m", seq=1, turn=1, role="user", parts=(result,), at=NOON, tokens=9, counter="weighted"
    )
    call = ToolCall(id="t1", name="read_file", input='{"path": "notes.md"}')
    return [tool_lines.ToolResultRef(message=message, part=0, result=result, call=call)]


def rewrite() -> None:
    """Write the files, and remove those that no longer exist."""
    FOLDER.mkdir(exist_ok=True)
    texts = render_texts()
    for path in FOLDER.glob("*.txt"):
        if path.name not in texts:
            path.unlink()
    for name, text in texts.items():
        (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    rewrite()
