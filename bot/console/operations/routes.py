"""All routes and event sources to run a bot."""

from dataclasses import dataclass

from bot.console.operations.backups import BackupRoutes
from bot.console.operations.health import HealthRoutes
from bot.console.operations.jobs import JobRoutes, JobRunner
from bot.console.operations.logs import LogRoutes
from bot.console.operations.replays import ReplayRoutes
from bot.console.operations.traces import TraceRoutes
from bot.console.operations.usage import UsageRoutes
from bot.console.transcripts import TranscriptBackend
from bot.runtime.bot import Bot
from channels.web.backend import EventSources
from channels.web.requests import Route


@dataclass(frozen=True, slots=True, kw_only=True)
class Operating:
    """What the site serves to run a bot."""

    routes: tuple[Route, ...] = ()
    sources: EventSources


def build_operating(bot: Bot, transcripts: TranscriptBackend) -> Operating:
    """Return the routes to run this bot, with the action each one needs, and the topics of the event stream."""
    jobs, logs = JobRunner(), LogRoutes(bot.home.log)
    bot.on_close.append(jobs.close)
    routes = (
        *UsageRoutes(bot, transcripts).calls(),
        *JobRoutes(jobs).calls(),
        *BackupRoutes(bot, jobs).calls(),
        *HealthRoutes(bot, jobs).calls(),
        *logs.calls(),
        *TraceRoutes(bot, transcripts).calls(),
        *ReplayRoutes(bot.home, jobs, transcripts).calls(),
    )
    return Operating(routes=routes, sources={"jobs": jobs.follow, "logs": logs.follow})
