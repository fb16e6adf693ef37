"""The tool that returns the person's local time."""

from bot.tools.base import LazyToolSpec, ToolArguments, ToolContext


class ClockTool:
    """Date, weekday, time and zone."""

    arguments = ToolArguments
    spec = LazyToolSpec(
        arguments,
        name="now",
        description="The current date, weekday, time and time zone of the person.",
        effect="pure",
        action="clock.read",
    )

    async def run(self, arguments: ToolArguments, context: ToolContext) -> str:
        now = context.now()
        offset = now.strftime("%z")
        zone = getattr(now.tzinfo, "key", "") or now.tzname() or "UTC"
        return f"{now:%Y-%m-%d} {now:%A} {now:%H:%M:%S} {zone} (UTC{offset[:3]}:{offset[3:5]})"
