"""Jobs of the console: work that outlives the request that started it, with its progress, its
result, and a stop.
"""

import asyncio
import json
import secrets
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

import structlog
from starlette.requests import Request
from starlette.responses import Response

from bot.console.operations import models
from bot.console.operations.cli_process import CommandFailed
from bot.errors import MnemaError
from channels.phrases import Phrase
from channels.web.models import DoneBody
from channels.web.requests import HttpRefusal, Route, json_response
from memory.tasks import cancel_and_wait

log = structlog.get_logger(__name__)
MAX_JOBS = 20  # that are remembered; the oldest ended one goes first
POLL_SECONDS = 15.0  # after which a stream without changes checks its login
State = Literal["running", "done", "failed", "cancelled"]
Work = Callable[["Job"], Awaitable[Mapping[str, Any]]]


@dataclass(slots=True, kw_only=True)
class Job:
    """One job, from its start to the end of the process."""

    id: str
    kind: str
    #: What it works on, such as a file.
    subject: str
    state: State = "running"
    #: Progress so far and what is expected; 0 where that is not known.
    done: int = 0
    expected: int = 0
    result: Mapping[str, Any] = field(default_factory=dict)
    #: One sentence, "" unless it failed.
    error: str = ""
    started: datetime = field(default_factory=lambda: datetime.now(UTC))
    ended: datetime | None = None
    #: Counts its changes.
    version: int = 0

    def to_json(self) -> dict[str, Any]:
        names = ("id", "kind", "subject", "state", "done", "expected", "error")
        return {
            **{name: getattr(self, name) for name in names},
            "result": dict(self.result),
            "started": self.started.isoformat(),
            "ended": self.ended.isoformat() if self.ended else None,
        }


class JobRunner:
    """Runs jobs in this process; of each kind one at a time."""

    def __init__(self) -> None:
        self._jobs: dict[str, Job] = {}
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._changed = asyncio.Event()

    def start(self, kind: str, subject: str, work: Work) -> Job:
        """Start a job.

        Raises:
            HttpRefusal: 409 if one of this kind is running.
        """
        if any(job.kind == kind and job.state == "running" for job in self._jobs.values()):
            raise HttpRefusal(
                409,
                "busy",
                Phrase("another {kind} is running; wait for it, or cancel it", kind=kind),
            )
        job = Job(id=secrets.token_hex(8), kind=kind, subject=subject)
        self._jobs[job.id] = job
        while len(self._jobs) > MAX_JOBS:
            del self._jobs[next(id for id, old in self._jobs.items() if old.state != "running")]
        self._tasks[job.id] = asyncio.create_task(self._run(job, work))
        self.notify(job)
        return job

    def jobs(self) -> list[Job]:
        """Return the known jobs, newest first."""
        return list(reversed(self._jobs.values()))

    def find(self, id: str) -> Job:
        """Return a job.

        Raises:
            HttpRefusal: 404 if there is none.
        """
        if (job := self._jobs.get(id)) is None:
            raise HttpRefusal(
                404, "not_found", Phrase("there is no such job, or it ended before the last start")
            )
        return job

    def cancel(self, id: str) -> None:
        """Cancel a job that is running; it undoes what it has begun."""
        if self.find(id).state == "running" and (task := self._tasks.get(id)):
            task.cancel()

    async def close(self) -> None:
        """Cancel all jobs."""
        await cancel_and_wait(set(self._tasks.values()))

    def notify(self, job: Job) -> None:
        """Tell the streams of a change."""
        job.version += 1
        self._changed.set()
        self._changed = asyncio.Event()

    async def follow(self, closed: Callable[[], bool]) -> AsyncGenerator[bytes]:
        """Yield a frame for every job, and for each change from then on; b"" now and then."""
        sent: dict[str, int] = {}
        while not closed():
            changed = self._changed
            for job in list(self._jobs.values()):
                if sent.get(job.id) != job.version:
                    sent[job.id] = job.version
                    yield f"event: job\ndata: {json.dumps(job.to_json(), separators=(',', ':'))}\n\n".encode()  # noqa: E501
            with suppress(TimeoutError):
                async with asyncio.timeout(POLL_SECONDS):
                    await changed.wait()
            yield b""

    async def _run(self, job: Job, work: Work) -> None:
        try:
            job.result = await work(job)
            job.state = "done"
        except asyncio.CancelledError:
            job.state = "cancelled"
        except (CommandFailed, MnemaError, OSError) as err:
            job.state, job.error = "failed", str(err)
        except Exception as err:
            log.exception("job failed", kind=job.kind)
            job.state, job.error = (
                "failed",
                f"unexpected error ({type(err).__name__}); the log has the details",
            )
        finally:
            job.ended = datetime.now(UTC)
            self._tasks.pop(job.id, None)
            self.notify(job)


class JobRoutes:
    """Handlers of jobs."""

    def __init__(self, runner: JobRunner) -> None:
        self._runner = runner

    def calls(self) -> tuple[Route, ...]:
        """Return the routes, with the action each one needs."""
        one = "/api/v1/jobs/{id}"
        return (
            Route(
                method="GET",
                path="/api/v1/jobs",
                action="console.read",
                handler=self.list,
                reply=models.JobListBody,
            ),
            Route(
                method="GET",
                path=one,
                action="console.read",
                handler=self.read,
                reply=models.JobBody,
            ),
            Route(
                method="POST",
                path=f"{one}/cancel",
                action="console.write",
                handler=self.cancel,
                reply=DoneBody,
            ),
        )

    async def list(self, _: Request) -> Response:
        """Return the jobs since the last start, newest first."""
        return json_response({"items": [job.to_json() for job in self._runner.jobs()]})

    async def read(self, request: Request) -> Response:
        """Return one job."""
        return json_response(self._runner.find(str(request.path_params["id"])).to_json())

    async def cancel(self, request: Request) -> Response:
        """Cancel a job."""
        self._runner.cancel(str(request.path_params["id"]))
        return json_response({"ok": True}, 202)


def accepted(job: Job) -> Response:
    """Build the response to a request that started a job."""
    return json_response(job.to_json(), 202, {"location": f"/api/v1/jobs/{job.id}"})
