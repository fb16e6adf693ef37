"""The commands /tools and /mcp: what the model may use in this chat, what is off, and how the
servers of tools are.
"""

from datetime import UTC, datetime

from bot.commands.base import Command, CommandContext, is_allowed
from bot.commands.info import describe_missing_exec
from bot.tools.base import Tool
from bot.tools.mcp.connection import McpError
from bot.tools.mcp.service import McpServerView
from memory.conversation import Part, Text

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
        if context.config.tools.exec.enabled and (why := context.services.sandbox().reason):
            parts.append(describe_missing_exec(context, why))
    return "\n".join(parts)


def _describe(context: CommandContext, tool: Tool) -> str:
    asks = tool.spec.action.endswith(".ask") or tool.spec.action == "exec"
    if not is_allowed(context, tool.spec.action):
        return context.text(f"{tool.spec.name}（你不可用）", f"{tool.spec.name} (not for you)")
    return (
        context.text(f"{tool.spec.name}（每次询问）", f"{tool.spec.name} (asks)")
        if asks
        else tool.spec.name
    )


def _plugin_notes(context: CommandContext) -> list[str]:
    """Say which plug-ins are off or lack a secret, to the owner."""
    notes = []
    plugins = context.services.plugins
    enabled = {file.name for file, _ in plugins.library.enabled()}
    for file in plugins.library.all():
        if file.name not in enabled:
            why = file.problem or f"`mnema tools on {file.name}`"
            notes.append(
                context.text(
                    f"插件 {file.name} 未启用：{why}", f"plug-in {file.name} is off: {why}"
                )
            )
    for tool in plugins.all():
        if missing := ", ".join(tool.missing()):
            key = f"plugins.{tool.origin}.env"
            notes.append(
                context.text(
                    f"{tool.spec.name} 缺少 {key}：{missing}",
                    f"{tool.spec.name} lacks {key}: {missing}",
                )
            )
    return notes


TOOLS_COMMAND = Command(
    name="tools",
    usage="",
    action="tools.read",
    zh="模型可用的工具",
    en="see which tools the model may use",
    run=_tools,
)


_MCP_USAGE = ("[prompt SERVER [NAME [key=value …]]]", "[提示 服务器 [名称 [参数=值 …]]]")
_STATE_TEXTS = {
    "idle": ("未运行", "not running"),
    "up": ("运行中", "running"),
    "down": ("不可用", "down"),
}


async def _mcp(context: CommandContext) -> str | tuple[Part, ...]:
    verb, _, rest = context.arguments.partition(" ")
    if verb == "prompt":
        return await _prompt(context, rest.split())
    if verb:
        return context.text(
            "用法：/外接工具 [提示 服务器 [名称 [参数=值 …]]]",
            "Usage: /mcp [prompt SERVER [NAME [key=value …]]]",
        )
    views = context.services.mcp.views()
    if not views:
        return context.text(
            "config.json 的 mcp 里没有服务器。", "config.json names no servers under mcp."
        )
    return "\n".join(_format_server(context, view) for view in views)


def _format_server(context: CommandContext, view: McpServerView) -> str:
    state = context.text(*_STATE_TEXTS[view.status.state])
    if view.status.since:
        since = datetime.fromtimestamp(view.status.since, UTC).astimezone(
            context.services.now().tzinfo
        )
        state = context.text(
            f"{state}，{since:%m-%d %H:%M} 起", f"{state} since {since:%m-%d %H:%M}"
        )
    if why := view.status.why:
        state += context.text(f"：{view.status.why_zh or why}", f": {why}")
    tools = context.text(
        f"工具 {view.offered}/{view.listed}", f"tools {view.offered} of {view.listed}"
    )
    if not view.reviewed or view.changed:
        command = f"mnema mcp review {view.name}"
        tools += context.text(f"，需要审阅：`{command}`", f", to be reviewed: `{command}`")
    return f"- {view.name}: {state}; {tools}"


async def _prompt(context: CommandContext, words: list[str]) -> str | tuple[Part, ...]:
    """List the prompts of a server, or have the model do what one of them says."""
    servers = context.services.mcp.usable(context.conversation.place.space)
    server, name, *rest = [*words, "", ""][: max(2, len(words))]
    if server not in servers:
        known = ", ".join(servers) or "-"
        return context.text(
            f"没有这个服务器；有：{known}", f"There is no such server; there are: {known}"
        )
    try:
        if not name:
            prompts = await context.services.mcp.prompts(server)
            lines = [
                f"- {one.name} {' '.join(one.arguments)}: {one.description}" for one in prompts
            ]
            return "\n".join(lines) or context.text("它没有提示词。", "It has no prompts.")
        given = dict(word.partition("=")[::2] for word in rest if "=" in word)
        text = await context.services.mcp.prompt(server, name, given)
    except (McpError, TimeoutError) as err:
        return context.text(f"没有拿到提示词：{err}", f"The prompt could not be had: {err}")
    more = " ".join(word for word in rest if "=" not in word)
    wish = context.text(
        f"按上面的提示词 {name} 去做。{more}", f"Do what the prompt {name} above says. {more}"
    ).strip()
    return Text(text=text, aside=f"prompt {name} of the MCP server {server}"), Text(text=wish)


MCP_COMMAND = Command(
    name="mcp",
    usage=_MCP_USAGE[0],
    usage_zh=_MCP_USAGE[1],
    action="mcp.status",
    zh="查看 MCP 服务器，使用它们的提示词",
    en="see the MCP servers and use their prompts",
    run=_mcp,
)
