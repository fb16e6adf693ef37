"""Each built-in tool and each skill is said to people in their language."""

from pathlib import Path

import pytest

from bot.tools.registry import RESERVED_NAMES, default_tool_specs
from bot.tools.texts import TOOL_TEXTS
from channels.phrases import find_chinese
from tests.browser.real import real_bot

SKILL = (
    "---\nname: tea\ndescription: How to make tea.\nmetadata:\n  description-zh: 怎么泡茶。\n---\n"
    "Boil water.\n"
)


def test_every_built_in_tool_has_a_text_in_both_languages() -> None:
    names = {spec.name for spec in default_tool_specs()} | RESERVED_NAMES
    names |= {"exec_status", "exec_stop", "delegate", "mcp_find", "mcp_read"}
    assert names == set(TOOL_TEXTS)
    assert all(find_chinese(text.template) for text in TOOL_TEXTS.values())


@pytest.mark.parametrize(
    ("lang", "tool", "skill"),
    [
        ("zh-CN", "把文件发到聊天里。", "怎么泡茶。"),
        ("en", "Sends a file to the chat.", "How to make tea."),
    ],
)
async def test_the_page_is_told_in_its_language_and_the_model_as_before(
    tmp_path: Path, lang: str, tool: str, skill: str
) -> None:
    folder = tmp_path / "workspace" / "skills" / "tea"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(SKILL, "utf-8")
    async with real_bot(tmp_path, lambda asked: "yes") as real, real.site.client() as client:
        client.headers["accept-language"] = lang
        tools = {row["name"]: row for row in (await client.get("/api/v1/tools")).json()["tools"]}
        assert tools["send_file"]["about"] == tool
        described = real.bot.toolset("").all()
        told = {one.spec.name: one.spec.description for one in described}
        assert tools["send_file"]["description"] == told["send_file"]
        [found] = (await client.get("/api/v1/skills")).json()["items"]
        assert found["description"] == skill
        assert (await client.get("/api/v1/skills/tea")).json()["description"] == skill
        [known] = real.bot.skills.library.all()
        assert known.description == "How to make tea."
