"""The command interface: a command, the context it runs in, and the services it may use."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from bot.access.pairing import PairingService
from bot.access.permissions import ACTIONS, AccessScope, Actor, authorize
from bot.access.roles import RoleResolver
from bot.agent.approvals import ApprovalService
from bot.agent.context.fitter import ContextFitter
from bot.agent.context.report import ContextReport
from bot.agent.folding import FoldManager
from bot.command_names import CHINESE_NAMES
from bot.config.file import ConfigFile
from bot.config.schema import Config
from bot.errors import AccessDenied
from bot.gateway.channel_status import ChannelStatus
from bot.jobs.heartbeat import Heartbeat
from bot.jobs.progress import TaskProgress
from bot.jobs.service import JobService
from bot.models.service import ModelService
from bot.texts import DENIED
from bot.tools.base import Toolset
from bot.tools.exec.probe import SandboxLevel
from bot.tools.mcp.service import McpTools
from bot.tools.plugins.service import PluginTools
from bot.tools.skills.service import SkillTools
from channels.phrases import AnyPhrase, Phrase
from memory.conversation import Part
from memory.forgetting.forget import ForgetService
from memory.longterm.dream_worker import DreamWorker
from memory.longterm.memories import Memories
from memory.recall.search import Recall
from memory.store.automation.background_tasks import TaskRow
from memory.store.rows import ConversationRow, InboxRow
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import Workspace

MAX_NAME_CHARS = 60  # of an unknown command's name that the reply repeats


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandServices:
    """The parts of the bot that commands use."""

    store: Store
    config: ConfigFile
    fitter: ContextFitter
    folding: FoldManager
    workspace: Workspace
    blobs: Blobs
    report: ContextReport
    #: Stops the running turn of a conversation.
    stop: Callable[[str], Awaitable[bool]]
    channels: Callable[[], Mapping[str, ChannelStatus]]
    models: ModelService
    #: The owner's local time.
    now: Callable[[], datetime]
    started: datetime
    #: Sends a notice to another conversation: (its id, the notice).
    tell: Callable[[str, AnyPhrase], Awaitable[None]]
    #: Returns the memories of a space.
    memories: Callable[[str], Memories]
    recall: Recall
    dreamer: DreamWorker
    forgetter: ForgetService
    roles: RoleResolver
    pairing: PairingService
    approvals: ApprovalService
    #: Returns what is known of the sandbox for commands.
    sandbox: Callable[[], SandboxLevel]
    jobs: JobService
    #: Ends work beside a conversation; False if it has ended.
    cancel_task: Callable[[TaskRow], Awaitable[bool]]
    #: Describes running work beside a conversation.
    progress: TaskProgress
    heartbeat: Heartbeat
    skills: SkillTools
    mcp: McpTools
    plugins: PluginTools
    #: Returns the tools that a space is offered.
    toolset: Callable[[str], Toolset]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContext:
    """One command as a person sent it."""

    services: CommandServices
    row: InboxRow
    conversation: ConversationRow
    actor: Actor
    scope: AccessScope
    lang: str
    #: Text after the name.
    arguments: str
    #: All commands by name.
    commands: "Mapping[str, Command]"

    @property
    def store(self) -> Store:
        return self.services.store

    @property
    def config(self) -> Config:
        return self.services.config.current

    @property
    def who(self) -> str:
        """Return the sender as the audit log names them: channel, account, platform id."""
        place = self.conversation.place
        return f"{place.channel}/{place.account}/{self.row.sender_id}"

    def text(self, phrase: AnyPhrase) -> str:
        """Return the text in the sender's language."""
        return phrase.text(self.lang)


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A slash command."""

    name: str
    #: Its arguments as /help shows them.
    usage: Phrase
    #: The action that `authorize` checks.
    action: str
    #: What it does, in a line.
    about: Phrase
    #: Returns the reply, or the parts of a message that is answered in its place.
    run: Callable[[CommandContext], Awaitable[str | tuple[Part, ...]]]

    @property
    def name_zh(self) -> str:
        """The Chinese name that is shown; there may be others."""
        return CHINESE_NAMES[self.name][0]


def is_allowed(context: CommandContext, action: str) -> bool:
    """Check a right of the sender in this chat; some actions have a rule of their own for
    groups.
    """
    in_group = f"{action}.group"
    checked = in_group if context.scope.kind == "group" and in_group in ACTIONS else action
    return authorize(context.actor, checked, "", context.scope).allowed


def require(context: CommandContext, action: str) -> None:
    """Raise AccessDenied unless the sender has this right here."""
    if not is_allowed(context, action):
        raise AccessDenied(DENIED.text(context.lang))
