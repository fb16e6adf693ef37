"""All routes to run a bot."""

from bot.console.operate.usage import UsageRoutes
from bot.console.transcripts import TranscriptBackend
from bot.runtime.bot import Bot
from channels.web.requests import Route


def operate_routes(bot: Bot, transcripts: TranscriptBackend) -> tuple[Route, ...]:
    """Return the routes to run this bot, with the action each one needs."""
    return (*UsageRoutes(bot, transcripts).calls(),)
