"""Replays of a conversation through context policies, as jobs: each policy is a run of
`mnema replay`.
"""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import AfterValidator, Field
from starlette.requests import Request
from starlette.responses import Response

from bot.config.home import HomeFolder
from bot.console.operations.cli_process import run_command
from bot.console.operations.jobs import Job, JobRunner, accepted
from bot.console.operations.models import JobBody
from bot.console.transcripts import TranscriptBackend
from channels.errors import InvalidValue
from channels.phrases import Phrase
from channels.web.models import ApiModel
from channels.web.requests import HttpRefusal, Route
from memory.context.policies.policies import POLICIES

MAX_BUDGET, MAX_TURNS = 10_000_000, 10_000
PROBES = 50  # as `mnema replay`
_FIGURES = (
    *(
        "requests",
        "tokens_mean",
        "tokens_max",
        "folds",
        "folds_at_once",
        "reductions",
        "prefix_breaks",
    ),
    *(
        "cached_percent",
        "cost",
        "fold_cost",
        "visible_percent",
        "retrievable_percent",
        "either_percent",
        "over_budget",
    ),
)


def _check_policies(policies: list[str]) -> list[str]:
    if any(name not in POLICIES for name in policies):
        raise InvalidValue(
            Phrase(
                "policies must be a list of: {policies}; empty for all",
                policies=", ".join(POLICIES),
            )
        )
    return list(dict.fromkeys(policies))


class ReplayBody(ApiModel):
    """What to replay a conversation with."""

    policies: Annotated[list[str], AfterValidator(_check_policies)] = Field(
        [], description="Empty for all."
    )
    budget: int = Field(
        0, ge=0, le=MAX_BUDGET, description="Tokens of a request; 0 for the configured number."
    )
    turns: int = Field(0, ge=0, le=MAX_TURNS, description="0 for the configured number.")


class ReplayFoldBody(ApiModel):
    """A fold that a policy would have made."""

    request: int = Field(description="Before which request, from 0.")
    from_turn: int
    to_turn: int
    reason: str
    tokens_before: int
    tokens_after: int


class ReplayPolicyBody(ApiModel):
    """What a policy would have shown and cost: the figures of `mnema replay --json`."""

    name: str
    requests: int
    tokens_mean: int
    tokens_max: int
    folds: int
    folds_at_once: int
    reductions: int
    prefix_breaks: int
    cached_percent: float
    cost: float | None
    fold_cost: float | None
    visible_percent: float | None
    retrievable_percent: float | None
    either_percent: float | None
    over_budget: int
    tokens: list[int] = Field(description="Of each request.")
    broke: list[int] = Field(description="Requests that broke the prefix, from 0.")
    fold_list: list[ReplayFoldBody]


class ReplayResultBody(ApiModel):
    """The result of such a job."""

    conversation: str
    budget: int
    turns: int
    policies: list[ReplayPolicyBody]


class ReplayRoutes:
    """Handlers of replays."""

    def __init__(self, home: HomeFolder, jobs: JobRunner, transcripts: TranscriptBackend) -> None:
        self._home = home
        self._jobs = jobs
        self._transcripts = transcripts

    def calls(self) -> tuple[Route, ...]:
        """Return the route, with the action that it needs."""
        return (
            Route(
                method="POST",
                path="/api/v1/conversations/{id}/replays",
                action="context.read",
                handler=self.begin,
                body=ReplayBody,
                reply=JobBody,
            ),
        )

    async def begin(self, request: Request, body: ReplayBody) -> Response:
        """Replay the conversation as a job; no model is asked."""
        name = str(request.path_params["id"])
        row = await self._transcripts.readable(name, request.state.visitor.id)
        if row is None:
            raise HttpRefusal(404, "not_found", Phrase("there is no such conversation"))
        policies = body.policies or list(POLICIES)

        async def work(job: Job) -> Mapping[str, Any]:
            options = (
                "--budget",
                str(body.budget),
                "--turns",
                str(body.turns),
                "--probes",
                str(PROBES),
            )
            found: list[dict[str, Any]] = []
            limits: Mapping[str, Any] = {}
            job.expected = len(policies)
            for policy in policies:
                self._jobs.notify(job)
                report = await run_command(
                    self._home.root, "replay", row.id, "--policy", policy, *options
                )
                limits = report["limits"]
                found += map(_policy_figures, report["policies"])
                job.done += 1
            return {
                "conversation": name,
                "budget": limits["tokens"],
                "turns": limits["turns"],
                "policies": found,
            }

        return accepted(self._jobs.start("replay", name, work))


def _policy_figures(policy: Mapping[str, Any]) -> dict[str, Any]:
    series = policy["series"]
    fold_names = ReplayFoldBody.model_fields
    return {
        "name": policy["name"],
        **{name: policy[name] for name in _FIGURES},
        "tokens": [request["tokens"] for request in series],
        "broke": [at for at, request in enumerate(series) if request["prefix_broke"]],
        "fold_list": [{name: fold[name] for name in fold_names} for fold in policy["fold_list"]],
    }
