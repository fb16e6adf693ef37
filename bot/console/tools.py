"""What the model may use, as the console shows it."""

from collections.abc import Mapping
from typing import Any

from bot.runtime.bot import Bot
from bot.tools.base import Tool

OWNER_SPACE = ""


def tools_to_json(bot: Bot) -> Mapping[str, Any]:
    """Return the tools of the owner's chats, and what is off there: plug-ins, servers and skills."""
    toolset = bot.toolset(OWNER_SPACE)
    shown = frozenset(toolset.names())
    enabled = {file.name for file, _ in bot.plugins.library.enabled()}
    on = {skill.name for skill in bot.skills.library.enabled(OWNER_SPACE)}
    return {
        "tools": [{**_tool_to_json(tool), "in_prompt": tool.spec.name in shown} for tool in toolset.all()],
        "off": list(bot.config().tools.off),
        "plugins": [
            {"name": file.name, "on": file.name in enabled, "problem": file.problem}
            for file in bot.plugins.library.all()
        ],
        "missing": {tool.spec.name: missing for tool in bot.plugins.all() if (missing := tool.missing())},
        "servers": [
            {
                "name": view.name,
                "state": view.status.state,
                "why": view.status.why,
                "reviewed": view.reviewed,
                "offered": view.offered,
                "changed": view.changed,
                "listed": view.listed,
            }
            for view in bot.mcp_tools.views()
        ],
        "skills": [
            {"name": skill.name, "on": skill.name in on, "problem": skill.problem} for skill in bot.skills.library.all()
        ],
    }


def _tool_to_json(tool: Tool) -> Mapping[str, Any]:
    spec = tool.spec
    return {
        "name": spec.name,
        "origin": spec.origin,
        "effect": spec.effect,
        "asks": spec.action.endswith(".ask") or spec.action == "exec",
        "description": spec.description,
    }
