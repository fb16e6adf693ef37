"""The command /mcp: the servers of tools, and how they are."""

from datetime import UTC, datetime

from bot.commands.base import Command, CommandContext
from bot.tools.mcp.service import McpServerView

_STATE_TEXTS = {"idle": ("未运行", "not running"), "up": ("运行中", "running"), "down": ("不可用", "down")}


async def _mcp(context: CommandContext) -> str:
    views = context.services.mcp.views()
    if not views:
        return context.text("config.json 的 mcp 里没有服务器。", "config.json names no servers under mcp.")
    return "\n".join(_format_server(context, view) for view in views)


def _format_server(context: CommandContext, view: McpServerView) -> str:
    state = context.text(*_STATE_TEXTS[view.status.state])
    if view.status.since:
        since = datetime.fromtimestamp(view.status.since, UTC).astimezone(context.services.now().tzinfo)
        state = context.text(f"{state}，{since:%m-%d %H:%M} 起", f"{state} since {since:%m-%d %H:%M}")
    if view.status.why:
        state += context.text(f"：{view.status.why}", f": {view.status.why}")
    tools = context.text(f"工具 {view.offered}/{view.listed}", f"tools {view.offered} of {view.listed}")
    if not view.reviewed or view.changed:
        command = f"mnema mcp review {view.name}"
        tools += context.text(f"，需要审阅：`{command}`", f", to be reviewed: `{command}`")
    return f"- {view.name}: {state}; {tools}"


MCP_COMMAND = Command(
    name="mcp",
    usage="",
    action="mcp.status",
    zh="查看 MCP 服务器",
    en="show the MCP servers",
    run=_mcp,
)
