"""The tool that runs a program or a script in the owner's workspace."""

import asyncio
import hashlib
import json
import os
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from bot.config.sections.tools import ExecToolConfig
from bot.errors import ToolFailed
from bot.tools.base import LazyToolSpec, ToolArguments, ToolContext
from bot.tools.exec.background import MAX_BACKGROUND_SECONDS, BackgroundCommands
from bot.tools.exec.binding import (
    UNBOUND_KEY,
    UNBOUND_REST,
    check_folder,
    find_inner_names,
    hash_files,
    skills_of,
    sort_folders,
)
from bot.tools.exec.output import OutputBuffer
from bot.tools.exec.probe import SandboxLevel
from bot.tools.exec.runner import SandboxError, SandboxResult, run_in_sandbox
from bot.tools.exec.sandbox import (
    SCRIPT_PATH,
    SPACE_PATH,
    START_PATH,
    SandboxCommand,
    SandboxLimits,
)
from bot.tools.workspace.command_labels import CommandLabels
from memory.store.automation.background_tasks import NewTask
from memory.store.longterm.file_labels import FileLabels
from memory.store.rows import ConversationRow
from memory.tasks import cancel_and_wait

MAX_SECONDS = 600
MAX_UNBOUND_NAMES = 20  # that a question shows of the files named inside a command
_INTERPRETERS = {"sh": "/bin/sh", "python": "python3"}
_NAME_PATTERN = "^w[0-9]{1,9}$"


class ExecArguments(ToolArguments):
    """Arguments of `exec`."""

    argv: list[str] = Field(
        [], description="Program and arguments; no shell reads them. Or a script:"
    )
    script: str = Field("", description="Text of a script")
    language: Literal["sh", "python"] = Field("sh", description="Of the script")
    cwd: str = Field("", description=f"Folder of the workspace; {START_PATH} if empty")
    seconds: int = Field(
        0,
        ge=0,
        le=MAX_BACKGROUND_SECONDS,
        description=f"Time limit; 0 for the usual one, {MAX_SECONDS} at most",
    )
    background: bool = Field(
        False, description="Return at once; the end comes as a message; up to an hour"
    )


async def _find_no_skill(_: str) -> str:
    return ""


class ExecTool:
    """Runs a command without network; only what its owner has approved comes here."""

    arguments = ExecArguments
    spec = LazyToolSpec(
        arguments,
        name="exec",
        description="Run a program or a script (sh, python) in a sandbox without network. The "
        f"workspace is {SPACE_PATH}, and it begins in {START_PATH}. It can write in that and other "
        "folders of the workspace, not directly in it, nor in memory, rules, skills and tools; of "
        "the rest it sees only /usr. The person approves each run and you see the result "
        "afterwards.",
        effect="unsafe",
        action="exec",
        seconds=MAX_SECONDS + 30.0,
    )

    def __init__(
        self,
        folder: Path,
        level: Callable[[], SandboxLevel],
        config: Callable[[], ExecToolConfig],
        zone: Callable[[], str],
        background: BackgroundCommands,
        conversation: Callable[[str], Awaitable[ConversationRow | None]],
        labels: FileLabels,
        ended: Callable[[str], None],
    ) -> None:
        """Args:
        folder: of the owner's space.
        level: the level of the sandbox, as it was probed.
        zone: IANA name.
        conversation: loads a conversation.
        labels: of the files of the space.
        ended: counts how a command ended.
        """
        self._background = background
        self._conversation = conversation
        self._labels = CommandLabels(folder, labels)
        self._ended = ended
        self._folder = folder
        self._level = level
        self._config = config
        self._zone = zone
        self._running: dict[str, set[asyncio.Task[str]]] = {}
        #: Returns the hash of an enabled skill of the workspace, "" for any other.
        self.find_skill: Callable[[str], Awaitable[str]] = _find_no_skill

    async def bind(self, arguments: ExecArguments) -> Mapping[str, str]:
        """Return what an approval of these arguments depends on; it is void once that has changed.

        Raises:
            ToolFailed: these arguments cannot be run.
        """
        command = self._to_command(arguments)
        facts = {
            "sandbox": self._level().level,
            "cwd": os.path.join(SPACE_PATH, command.cwd).rstrip("/"),
        }
        if command.script:
            facts["sha256 of the script"] = hashlib.sha256(command.script.encode()).hexdigest()
        hashes = await asyncio.to_thread(hash_files, self._folder, command.cwd, command.argv)
        for name in skills_of(hashes):
            if not (sha256 := await self.find_skill(name)):
                raise ToolFailed(
                    f"The skill {name} is not enabled as it is now, so nothing of it is run; the "
                    "owner can review and enable it."
                )
            facts[f"sha256 of the skill {name}"] = sha256
        texts = (*arguments.argv, arguments.script)
        inner = await asyncio.to_thread(find_inner_names, self._folder, command.cwd, texts)
        unbound = [name for name in inner if name not in hashes]
        if len(unbound) > MAX_UNBOUND_NAMES:
            unbound[MAX_UNBOUND_NAMES:] = [f"… (+{len(unbound) - MAX_UNBOUND_NAMES})"]
        facts |= {f"sha256 of {name}": digest for name, digest in hashes.items()}
        return facts | {UNBOUND_KEY: ", ".join((*unbound, str(UNBOUND_REST)))}

    async def run(self, arguments: ExecArguments, context: ToolContext) -> str:
        if context.space:
            raise ToolFailed("Commands run in the owner's workspace only.")
        if self._level().level != "A":
            raise ToolFailed(f"There is no sandbox: {self._level().reason}. Nothing was run.")
        command = self._to_command(arguments)
        if arguments.background:
            return await self._start(arguments, command, context)
        task = asyncio.create_task(
            self._run(command, self._limits(arguments.seconds), OutputBuffer())
        )
        self._running.setdefault(context.conversation, set()).add(task)
        try:
            await asyncio.wait({task})
        finally:
            await cancel_and_wait({task})
            self._running[context.conversation].discard(task)
            if not self._running[context.conversation]:
                del self._running[context.conversation]
        if task.cancelled():
            raise ToolFailed("It was stopped by the person; what it had done by then stays done.")
        return task.result()

    async def _start(
        self, arguments: ExecArguments, command: SandboxCommand, context: ToolContext
    ) -> str:
        """Start a command in the background."""
        row, actor = await self._conversation(context.conversation), context.actor
        if row is None or actor is None:
            raise ToolFailed("Nothing can be run in the background here.")
        new = NewTask(
            kind="exec",
            space=context.space,
            conversation=context.conversation,
            call=context.idem_key,
            position=0,
            channel=actor.channel,
            account=actor.account,
            person=actor.id,
            goal=" ".join(arguments.argv) or f"{arguments.language} script",
            request=json.dumps(arguments.given(), ensure_ascii=False),
            epoch=row.epoch,
        )
        limits = self._limits(arguments.seconds or MAX_BACKGROUND_SECONDS)
        task = await self._background.start(new, lambda output: self._run(command, limits, output))
        return (
            f"[{task.name} runs in the background; its end comes as a message. "
            f'exec_status(id="{task.name}") shows it]'
        )

    async def _run(
        self, command: SandboxCommand, limits: SandboxLimits, output: OutputBuffer
    ) -> str:
        """Run a command to its end.

        Raises:
            ToolFailed: nothing was run.
        """
        state = "stopped"
        try:
            async with self._labels.labelling(command.writable):
                result = await run_in_sandbox(command, limits, output=output)
            state = "limit" if result.ended else "done" if not result.code else "failed"
        except SandboxError as err:
            state = "refused"
            raise ToolFailed(f"Nothing was run: {err}.") from err
        finally:
            self._ended(state)
        return format_result(result)

    def stop(self, conversation: str) -> bool:
        """End what runs for a conversation, "" for all; False if nothing does."""
        names = [conversation] if conversation else list(self._running)
        tasks = [task for name in names for task in self._running.get(name, ()) if not task.done()]
        for task in tasks:
            task.cancel()
        return bool(tasks)

    def _to_command(self, arguments: ExecArguments) -> SandboxCommand:
        if bool(arguments.argv) == bool(arguments.script):
            raise ToolFailed("Give either argv or script.")
        if arguments.seconds > MAX_SECONDS and not arguments.background:
            raise ToolFailed(
                f"seconds may be {MAX_SECONDS} at most; what takes longer runs with background."
            )
        argv = tuple(arguments.argv)
        if arguments.script:
            argv = (_INTERPRETERS[arguments.language], SCRIPT_PATH)
        if not argv[0] or argv[0].startswith("-") or "=" in argv[0]:
            raise ToolFailed("The first word of argv must be a program, without '='.")
        if any("\0" in word for word in (*argv, arguments.script)):
            raise ToolFailed("There is a NUL character in it.")
        folders = sort_folders(self._folder)
        return SandboxCommand(
            argv=argv,
            space=self._folder,
            writable=folders.writable,
            hidden=folders.hidden,
            cwd=check_folder(self._folder, arguments.cwd or START_PATH),
            script=arguments.script,
            zone=self._zone(),
        )

    def _limits(self, seconds: int) -> SandboxLimits:
        config = self._config()
        return SandboxLimits(
            seconds=float(seconds or config.seconds),
            memory_bytes=config.memory_mb * 2**20,
            processes=config.processes,
            disk_bytes=config.disk_mb * 2**20,
        )


def format_result(result: SandboxResult) -> str:
    """Format how a command ended, and its output."""
    end = f"ended: {result.ended}" if result.ended else f"exit code {result.code}"
    return f"[{end}, {result.seconds:.1f} s]\n{result.output}".rstrip()


class ExecStatusArguments(ToolArguments):
    """Arguments of `exec_status`."""

    id: str = Field(pattern=_NAME_PATTERN)
    after: int = Field(0, ge=0, description="Characters that you have seen")


class ExecStopArguments(ToolArguments):
    """Arguments of `exec_stop`."""

    id: str = Field(pattern=_NAME_PATTERN)


class ExecStatusTool:
    """Shows a command in the background."""

    arguments = ExecStatusArguments
    spec = LazyToolSpec(
        arguments,
        name="exec_status",
        description="How a command in the background is, and what it printed.",
        effect="pure",
        action="exec.status",
    )

    def __init__(self, background: BackgroundCommands) -> None:
        self._background = background

    async def run(self, arguments: ExecStatusArguments, context: ToolContext) -> str:
        return await self._background.status(int(arguments.id[1:]), arguments.after)


class ExecStopTool:
    """Ends a command in the background."""

    arguments = ExecStopArguments
    spec = LazyToolSpec(
        arguments,
        name="exec_stop",
        description="End a command in the background.",
        effect="idempotent",
        action="exec.status",
        outside=False,
    )

    def __init__(self, background: BackgroundCommands) -> None:
        self._background = background

    async def run(self, arguments: ExecStopArguments, context: ToolContext) -> str:
        stopped = await self._background.stop(int(arguments.id[1:]))
        return f"{arguments.id} was ended." if stopped else f"{arguments.id} does not run."
