"""The commands /tools and /mcp: what the model may use in this chat, what is off, and how the
servers of tools are.
"""

from datetime import UTC, datetime

from bot.commands.base import Command, CommandContext, is_allowed
from bot.commands.info import describe_missing_exec
from bot.tools.base import Tool
from bot.tools.mcp.connection import McpError
from bot.tools.mcp.service import McpServerView
from channels.phrases import NO_PHRASE, Phrase
from memory.conversation import Part, Text

MAX_SHOWN = 100
_ORIGIN_TEXTS = Phrase("the bot's own")


async def _tools(context: CommandContext) -> str:
    toolset = context.services.toolset(context.conversation.place.space)
    lines: dict[str, list[str]] = {}
    for tool in toolset.all()[:MAX_SHOWN]:
        lines.setdefault(tool.spec.origin, []).append(_describe(context, tool))
    own = context.text(_ORIGIN_TEXTS)
    parts = [f"**{origin or own}**: {', '.join(names)}" for origin, names in lines.items()]
    if (more := len(toolset.all()) - MAX_SHOWN) > 0:
        parts.append(context.text(Phrase("and {more} more", more=more)))
    if off := context.config.tools.off:
        parts.append(context.text(Phrase("off: {off}", off=", ".join(off))))
    if context.actor.role == "owner" and not context.conversation.place.space:
        parts += _plugin_notes(context)
        if context.config.tools.exec.enabled and (why := context.services.sandbox().reason):
            parts.append(describe_missing_exec(context, why))
    return "\n".join(parts)


def _describe(context: CommandContext, tool: Tool) -> str:
    asks = tool.spec.action.endswith(".ask") or tool.spec.action == "exec"
    if not is_allowed(context, tool.spec.action):
        return context.text(Phrase("{name} (not for you)", name=tool.spec.name))
    return context.text(Phrase("{name} (asks)", name=tool.spec.name)) if asks else tool.spec.name


def _plugin_notes(context: CommandContext) -> list[str]:
    """Say which plug-ins are off or lack a secret, to the owner."""
    notes = []
    plugins = context.services.plugins
    enabled = {file.name for file, _ in plugins.library.enabled()}
    for file in plugins.library.all():
        if file.name not in enabled:
            why = file.problem or f"`mnema tools on {file.name}`"
            notes.append(
                context.text(Phrase("plug-in {name} is off: {why}", name=file.name, why=why))
            )
    for tool in plugins.all():
        if missing := ", ".join(tool.missing()):
            key = f"plugins.{tool.origin}.env"
            notes.append(
                context.text(
                    Phrase(
                        "{name} lacks {key}: {missing}",
                        name=tool.spec.name,
                        key=key,
                        missing=missing,
                    ),
                )
            )
    return notes


TOOLS_COMMAND = Command(
    name="tools",
    usage=NO_PHRASE,
    action="tools.read",
    about=Phrase("see which tools the model may use"),
    run=_tools,
)


_STATE_TEXTS = {
    "idle": Phrase("not running"),
    "up": Phrase("running", context="a server"),
    "down": Phrase("down"),
}


async def _mcp(context: CommandContext) -> str | tuple[Part, ...]:
    verb, _, rest = context.arguments.partition(" ")
    if verb == "prompt":
        return await _prompt(context, rest.split())
    if verb:
        return context.text(
            Phrase("Usage: /mcp [prompt SERVER [NAME [key=value …]]]"),
        )
    views = context.services.mcp.views()
    if not views:
        return context.text(Phrase("config.json lists no servers under mcp."))
    return "\n".join(_format_server(context, view) for view in views)


def _format_server(context: CommandContext, view: McpServerView) -> str:
    state = context.text(_STATE_TEXTS[view.status.state])
    if view.status.since:
        since = datetime.fromtimestamp(view.status.since, UTC).astimezone(
            context.services.now().tzinfo
        )
        state = context.text(Phrase("{state} since {since:%m-%d %H:%M}", state=state, since=since))
    if why := view.status.why:
        state += context.text(
            Phrase(": {why}", context="of a state", why=view.status.refused or why)
        )
    tools = context.text(
        Phrase("tools {offered} of {listed}", offered=view.offered, listed=view.listed)
    )
    if not view.reviewed or view.changed:
        command = f"mnema mcp review {view.name}"
        tools += context.text(Phrase(", to be reviewed: `{command}`", command=command))
    return f"- {view.name}: {state}; {tools}"


async def _prompt(context: CommandContext, words: list[str]) -> str | tuple[Part, ...]:
    """List the prompts of a server, or have the model do what one of them says."""
    servers = context.services.mcp.usable(context.conversation.place.space)
    server, name, *rest = [*words, "", ""][: max(2, len(words))]
    if server not in servers:
        known = ", ".join(servers) or "-"
        return context.text(Phrase("There is no such server. Available: {known}", known=known))
    try:
        if not name:
            prompts = await context.services.mcp.prompts(server)
            lines = [
                f"- {one.name} {' '.join(one.arguments)}: {one.description}" for one in prompts
            ]
            return "\n".join(lines) or context.text(Phrase("It has no prompts."))
        given = dict(word.partition("=")[::2] for word in rest if "=" in word)
        text = await context.services.mcp.prompt(server, name, given)
    except (McpError, TimeoutError) as err:
        return context.text(Phrase("The prompt could not be fetched: {err}", err=err))
    more = " ".join(word for word in rest if "=" not in word)
    wish = context.text(
        Phrase("Do what the prompt {name} above says. {more}", name=name, more=more)
    ).strip()
    return Text(text=text, aside=f"prompt {name} of the MCP server {server}"), Text(text=wish)


MCP_COMMAND = Command(
    name="mcp",
    usage=Phrase("[prompt SERVER [NAME [key=value …]]]"),
    action="mcp.status",
    about=Phrase("see the MCP servers and use their prompts"),
    run=_mcp,
)
