"""Health in the page: the figures of the last day; checks of `mnema doctor` and a call of each model as jobs."""

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.console.operations import models
from bot.console.operations.cli_process import run_command
from bot.console.operations.jobs import Job, JobRunner, accepted
from bot.models.health import model_status_to_json
from bot.runtime.bot import Bot
from channels.web.requests import Route, json_response, read_json

DOCTOR_CODES = (0, 1)  # 1: a check has failed


class HealthRoutes:
    """Handlers of health."""

    def __init__(self, bot: Bot, jobs: JobRunner) -> None:
        self._bot = bot
        self._jobs = jobs

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        return (
            Route(
                method="GET",
                path="/api/metrics/recent",
                action="console.read",
                handler=self.recent,
                reply=models.RecentMetricsBody,
            ),
            Route(
                method="POST",
                path="/api/health/checks",
                action="console.write",
                handler=self.check,
                reply=models.JobBody,
            ),
            Route(
                method="POST",
                path="/api/health/models",
                action="console.write",
                handler=self.try_models,
                reply=models.JobBody,
            ),
        )

    async def recent(self, _: Request) -> Response:
        """Return the figures of each minute of the last day, as far as this process runs."""
        recent = self._bot.recent
        channels = {
            name: [{"state": state, "minutes": minutes} for state, minutes in spans]
            for name, spans in recent.channels().items()
        }
        return json_response({"newest": recent.newest, "channels": channels, **recent.columns()})

    async def check(self, request: Request) -> Response:
        """Run all checks of `mnema doctor` as a job; its result has each with its remedy."""
        await read_json(request)
        lang = "zh" if request.headers.get("accept-language", "").lower().startswith("zh") else "en"

        async def work(_: Job) -> Mapping[str, Any]:
            return await run_command(self._bot.home.root, "doctor", "--language", lang, accept=DOCTOR_CODES)

        return accepted(self._jobs.start("doctor", "", work))

    async def try_models(self, request: Request) -> Response:
        """Send a tiny request to each model at once, as a job; its result has their states after it."""
        await read_json(request)

        async def work(_: Job) -> Mapping[str, Any]:
            await self._bot.models.try_now()
            return {"models": [model_status_to_json(state) for state in self._bot.models.states()]}

        return accepted(self._jobs.start("models", "", work))
