"""Several conversations of one person write into one diary: its sections say whose they are, and so
do its handles.
"""

import re
from pathlib import Path

from bot.models.base import Request
from tests.bot.inside import Inside, inside
from tests.bot.talk import call, folded, results, words

PLAIN = "We went through the plan for the garden again and agreed on the beds and the path. "
CONTEXT = {"agent_max_context_turns": 10}


def diary(it: Inside) -> str:
    [path] = (it.bot.workspace.root / "memory").glob("*.md")
    return path.read_text("utf-8")


def script(request: Request) -> object:
    """Writes a file when told so, looks up the handle that it is told, and says what it found."""
    if request.purpose == "fold":
        return folded("", "")
    newest = [text for text in words(request) if not text.startswith("[")][-1]
    done = [result.text for result in results(request)]
    if (
        newest.startswith("write")
        and "is written" not in "".join(done[-1:])
        and not _answered(request)
    ):
        return [call("write_file", f"w{len(done)}", path=f"{newest.split()[1]}.md", content="4711")]
    if newest.startswith("look at ") and not _answered(request):
        return [call("recall", f"r{len(done)}", handle=newest.removeprefix("look at "))]
    return f"found: {done[-1]}" if newest.startswith("look at ") else PLAIN


def _answered(request: Request) -> bool:
    """Whether the newest message holds the result of a call."""
    return any(type(part).__name__ == "ToolResult" for part in request.messages[-1].parts)


async def talk(it: Inside, chat: str, subject: str) -> None:
    await it.text(f"write {subject}", chat=chat)
    for number in range(3):
        await it.text(f"{PLAIN} The number of {subject} is {number + 70}.", chat=chat)
    await it.text("/context fold", chat=chat)


async def test_sections_and_handles_name_their_conversation_and_resolve_in_no_other(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, script, CONTEXT) as it:
        await talk(it, "garden", "tulips")
        await talk(it, "office", "desks")
        text = diary(it)
        headings = re.findall(
            r"^## \d\d:\d\d(?:–\d\d:\d\d)? · ([^·]+) · turns \d+–\d+ <!-- fold \S+ -->$",
            text,
            re.MULTILINE,
        )
        tag = (await it.conversation("office"))[-8:]
        assert headings == ["terminal u1", f"terminal u1 ~{tag}"]
        handles = re.findall(r'recall\(handle="([^"]+)"\)', text)
        tulips, desks = (
            next(one for one in handles if f":{chat}~" in one) for chat in ("garden", "office")
        )
        assert "tulips.md" in await it.text(f"look at {tulips}", chat="garden")
        assert "tulips.md" in await it.text(f"look at {tulips}", chat="office")
        assert "desks.md" in await it.text(f"look at {desks}", chat="garden")
        bare = tulips.partition("#")[2]
        assert "tulips" not in await it.text(f"look at {bare}", chat="office")


async def test_what_another_conversation_cleared_is_refused_like_a_handle_that_leads_nowhere(
    tmp_path: Path,
) -> None:
    async with inside(tmp_path, script, CONTEXT) as it:
        await talk(it, "garden", "tulips")
        [handle] = set(re.findall(r'recall\(handle="([^"]+~[^"]+)"\)', diary(it)))
        await it.text("/context clear", chat="garden")
        gone = await it.text(f"look at {handle}", chat="office")
        nowhere = await it.text("look at terminal:x~zzzzzzzz#1.0", chat="office")
        assert gone.replace(handle, "H") == nowhere.replace("terminal:x~zzzzzzzz#1.0", "H")
        assert "There is nothing at" in gone
