"""The door to a command: its name, what it is called in two languages, the action it needs, and what it says."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from bot.access.pairing import PairingService
from bot.access.permissions import ACTIONS, AccessScope, Actor, authorize
from bot.access.roles import RoleResolver
from bot.agent.approvals import ApprovalService
from bot.agent.context_fitter import ContextFitter
from bot.agent.context_report import ContextReport
from bot.agent.folding import FoldManager
from bot.agent.turn_context import EventSink
from bot.commands.names import CHINESE_NAMES
from bot.config.file import ConfigFile
from bot.config.schema import Config
from bot.gateway.channel_status import ChannelStatus
from bot.models.health import ModelStatus
from memory.forgetting.forget import ForgetService
from memory.longterm.dream_worker import DreamWorker
from memory.longterm.memories import Memories
from memory.recall.search import Recall
from memory.store.rows import ConversationRow, InboxRow
from memory.store.store import Store
from memory.workspace.blobs import Blobs
from memory.workspace.files import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandServices:
    """What commands may reach."""

    store: Store
    config: ConfigFile
    fitter: ContextFitter
    folding: FoldManager
    workspace: Workspace
    blobs: Blobs
    report: ContextReport
    stop: Callable[[str], Awaitable[bool]]
    channels: Callable[[], Mapping[str, ChannelStatus]]
    model_name: Callable[[], str]
    provider: Callable[[], str]
    models: Callable[[], Sequence[ModelStatus]]
    now: Callable[[], datetime]
    started: datetime
    #: Says something to another conversation: (its id, in Chinese, in English).
    tell: Callable[[str, str, str], Awaitable[None]]
    memories: Callable[[str], Memories]
    recall: Recall
    dreamer: DreamWorker
    forgetter: ForgetService
    roles: RoleResolver
    pairing: PairingService
    approvals: ApprovalService


@dataclass(frozen=True, slots=True, kw_only=True)
class CommandContext:
    """One command as it was given."""

    desk: CommandServices
    row: InboxRow
    conversation: ConversationRow
    actor: Actor
    where: AccessScope
    lang: str
    #: The words after its name.
    rest: str
    event_sink: EventSink
    #: All there are.
    known: "Mapping[str, Command]"

    @property
    def config(self) -> Config:
        return self.desk.config.current

    @property
    def who(self) -> str:
        """The person as the chain of acts names them; only the last of the three is a platform's free text."""
        place = self.conversation.place
        return f"{place.channel}/{place.account}/{self.row.sender_id}"

    def either(self, zh: str, en: str) -> str:
        """The text in this person's language."""
        return zh if self.lang == "zh" else en


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One command."""

    name: str
    #: Its arguments as /help shows them.
    usage: str
    #: What `authorize` is asked for.
    action: str
    zh: str
    en: str
    run: Callable[[CommandContext], Awaitable[str]]
    #: Its arguments in Chinese.
    usage_zh: str = ""

    @property
    def name_zh(self) -> str:
        """The Chinese name that is shown; there may be others."""
        return CHINESE_NAMES[self.name][0]


def is_allowed(asked: CommandContext, action: str) -> bool:
    """Whether this person may do that here; groups have rules of their own for what is everybody's."""
    grouped = f"{action}.group"
    here = grouped if asked.where.kind == "group" and grouped in ACTIONS else action
    return authorize(asked.actor, here, "", asked.where).allowed
