"""Health in the page: the figures of the last day; a call of each model; checks of `mnema doctor`
as a job.
"""

import asyncio
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from bot.console.models import ModelStatesBody
from bot.console.operations import models
from bot.console.operations.cli_process import run_command
from bot.console.operations.jobs import Job, JobRunner, accepted
from bot.memory.outcome_texts import describe_outcomes
from bot.models.facts import facts_to_json, format_error, format_facts
from bot.models.health import model_status_to_json
from bot.runtime.bot import Bot
from channels.web.requests import Route, json_response, request_language

TRY_SECONDS = 50.0  # for all models; proxies wait for a minute
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
                path="/api/v1/metrics/recent",
                action="console.read",
                handler=self.recent,
                reply=models.RecentMetricsBody,
            ),
            Route(
                method="GET",
                path="/api/v1/health/background",
                action="console.read",
                handler=self.background,
                reply=models.BackgroundBody,
            ),
            Route(
                method="POST",
                path="/api/v1/health/checks",
                action="console.write",
                handler=self.check,
                reply=models.JobBody,
            ),
            Route(
                method="POST",
                path="/api/v1/health/models",
                action="console.write",
                handler=self.try_models,
                reply=ModelStatesBody,
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

    async def background(self, request: Request) -> Response:
        """Return what is known of each model, and what became of the newest summaries and facts."""
        lang = request_language(request)
        outcomes, now = await self._bot.store.outcomes.newest(), time.monotonic()
        known = self._bot.models.facts()
        errors = filter(None, (format_error(facts, now, lang) for facts in known))
        return json_response(
            {
                "models": [facts_to_json(facts, now) for facts in known],
                "folds": outcomes.folds,
                "digests": dict(outcomes.digests),
                "extractions": outcomes.extractions,
                "failed": dict(outcomes.failed),
                "lines": [
                    *(format_facts(facts, lang) for facts in known),
                    *errors,
                    *[line.text(lang) for line in describe_outcomes(outcomes)],
                ],
            }
        )

    async def check(self, request: Request) -> Response:
        """Run all checks of `mnema doctor` as a job; its result has each with its remedy."""
        lang = request_language(request)

        async def work(_: Job) -> Mapping[str, Any]:
            return await run_command(
                self._bot.home.root, "doctor", "--language", lang, accept=DOCTOR_CODES
            )

        return accepted(self._jobs.start("doctor", "", work))

    async def try_models(self, _: Request) -> Response:
        """Send a tiny request to each model at once; return their states after it."""
        asked = self._bot.models
        with suppress(TimeoutError):  # one that is still silent keeps its state
            async with asyncio.timeout(TRY_SECONDS):
                await asked.try_now()
        return json_response({"models": [model_status_to_json(state) for state in asked.states()]})
