"""The tool that says what time it is for the person."""

from typing import Any

from bot.tools.base import ToolContext, object_schema
from memory.conversation import ToolSpec


class ClockTool:
    """Date, weekday, time and zone."""

    spec = ToolSpec(
        name="now",
        description="The current date, weekday, time and time zone of the person.",
        schema=object_schema({}),
        effect="pure",
        action="clock.read",
    )

    async def run(self, arguments: dict[str, Any], context: ToolContext) -> str:
        now = context.now()
        offset = now.strftime("%z")
        zone = getattr(now.tzinfo, "key", "") or now.tzname() or "UTC"
        return f"{now:%Y-%m-%d} {now:%A} {now:%H:%M:%S} {zone} (UTC{offset[:3]}:{offset[3:5]})"
