"""The commands /tools and /mcp: what the model may use in this chat, what is off, and how the servers of tools are."""

from datetime import UTC, datetime

from bot.access.permissions import authorize
from bot.commands.base import Command, CommandContext
from bot.tools.base import Tool
from bot.tools.mcp.service import McpServerView

MAX_SHOWN = 100
_ORIGIN_TEXTS = ("机器人自带", "the bot's own")


async def _tools(context: CommandContext) -> str:
    toolset = context.services.toolset(context.conversation.place.space)
    lines: dict[str, list[str]] = {}
    for tool in toolset.all()[:MAX_SHOWN]:
        lines.setdefault(tool.spec.origin, []).append(_describe(context, tool))
    own = context.text(*_ORIGIN_TEXTS)
    parts = [f"**{origin or own}**: {', '.join(names)}" for origin, names in lines.items()]
    if (more := len(toolset.all()) - MAX_SHOWN) > 0:
        parts.append(context.text(f"另有 {more} 个", f"and {more} more"))
    if off := context.config.tools.off:
        parts.append(context.text(f"已关闭：{', '.join(off)}", f"off: {', '.join(off)}"))
    if context.actor.role == "owner" and not context.conversation.place.space:
        parts += _plugin_notes(context)
    return "\n".join(parts)


def _describe(context: CommandContext, tool: Tool) -> str:
    decision = authorize(context.actor, tool.spec.action, context.conversation.place.space, context.scope)
    asks = tool.spec.action.endswith(".ask") or tool.spec.action == "exec"
    if not decision.allowed:
        return context.text(f"{tool.spec.name}（你不可用）", f"{tool.spec.name} (not for you)")
    return context.text(f"{tool.spec.name}（每次询问）", f"{tool.spec.name} (asks)") if asks else tool.spec.name


def _plugin_notes(context: CommandContext) -> list[str]:
    """Say which plug-ins are off or lack a secret, to the owner."""
    notes = []
    plugins = context.services.plugins
    enabled = {file.name for file, _ in plugins.library.enabled()}
    for file in plugins.library.all():
        if file.name not in enabled:
            why = file.problem or f"`mnema tools on {file.name}`"
            notes.append(context.text(f"插件 {file.name} 未启用：{why}", f"plug-in {file.name} is off: {why}"))
    for tool in plugins.all():
        if missing := ", ".join(tool.missing()):
            key = f"plugins.{tool.origin}.env"
            notes.append(
                context.text(f"{tool.spec.name} 缺少 {key}：{missing}", f"{tool.spec.name} lacks {key}: {missing}")
            )
    return notes


TOOLS_COMMAND = Command(
    name="tools",
    usage="",
    action="tools.read",
    zh="模型可用的工具",
    en="the tools that the model may use",
    run=_tools,
)


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
