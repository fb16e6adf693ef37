"""Offers `exec` while it is enabled and the sandbox holds."""

from collections.abc import Awaitable, Callable
from pathlib import Path

import structlog

from bot.config.schema import Config
from bot.tools.base import Tool
from bot.tools.exec.background import BackgroundCommands
from bot.tools.exec.probe import SandboxLevel, probe_sandbox
from bot.tools.exec.tool import ExecStatusTool, ExecStopTool, ExecTool
from channels.phrases import Phrase
from memory.store.automation.background_tasks import ComposeBody, TaskRecords
from memory.store.longterm.file_labels import FileLabels
from memory.store.rows import ConversationRow

log = structlog.get_logger(__name__)
_NOT_PROBED = SandboxLevel(level="C", reason=Phrase("it has not been probed yet"))


class ExecTools:
    """The tool `exec`, and the level of this machine's sandbox.

    Args:
        config: the current settings.
        folder: of the owner's space.
        conversation: loads a conversation.
        compose: makes the body of the message that tells how a command in the background ended.
        labels: of the files of the space.
        ended: counts how a command ended.
    """

    def __init__(
        self,
        config: Callable[[], Config],
        folder: Path,
        tasks: TaskRecords,
        conversation: Callable[[str], Awaitable[ConversationRow | None]],
        compose: ComposeBody,
        labels: FileLabels,
        ended: Callable[[str], None],
    ) -> None:
        self._config = config
        self.background = BackgroundCommands(tasks, compose)
        #: What the last probe found; it never changes by itself.
        self.level = _NOT_PROBED
        self.tool = ExecTool(
            folder,
            lambda: self.level,
            lambda: config().tools.exec,
            lambda: config().timezone or "UTC",
            self.background,
            conversation,
            labels,
            ended,
        )
        self._tools: list[Tool] = [
            self.tool,
            ExecStatusTool(self.background),
            ExecStopTool(self.background),
        ]

    async def probe(self) -> None:
        """Probe the sandbox if the tool is enabled and this was not done yet."""
        if self._config().tools.exec.enabled and self.level is _NOT_PROBED:
            self.level = await probe_sandbox()
            if self.level.level == "C":
                log.warning("exec is not offered: there is no sandbox", why=str(self.level.reason))

    def refuse(self, reason: Phrase) -> None:
        """Offer the tool no more, whatever the sandbox."""
        self.level = SandboxLevel(level="C", reason=reason)

    async def stop(self, conversation: str) -> bool:
        """End every command of a conversation, "" for all; False if none runs."""
        stopped = self.tool.stop(conversation)
        return bool(await self.background.stop_of(conversation)) or stopped

    def offered(self, space: str) -> list[Tool]:
        """Return the tools in the owner's space while they are enabled and the sandbox has passed
        its probes.
        """
        holds = self.level.level == "A"
        return self._tools if holds and not space and self._config().tools.exec.enabled else []
