"""Finds the command that was meant, asks whether it may be given here, and settles its row with the answer."""

from collections.abc import Callable, Mapping
from dataclasses import replace

import structlog

from bot.access.permissions import AccessScope, authorize
from bot.agent.turn_context import EventSink, ShowEvent
from bot.commands.access import ACCESS_COMMANDS
from bot.commands.base import Command, CommandContext, CommandServices, is_allowed
from bot.commands.context import CONTEXT_COMMANDS
from bot.commands.export import EXPORT_COMMAND
from bot.commands.forget import FORGET_COMMANDS
from bot.commands.info import INFO_COMMANDS
from bot.commands.link import LINK_COMMANDS
from bot.commands.memory import MEMORY_COMMANDS
from bot.commands.names import is_language_evidence, is_mutating, nearest_commands, parse_command
from bot.commands.settings import POLICY_COMMAND, SETTINGS_COMMANDS
from bot.commands.trace import TRACE_COMMAND
from bot.config.messages import ConfigRejected
from bot.errors import MnemaError
from bot.gateway.receiver import access_scope
from bot.messages import PRESS_COMMAND, MessageBody, split_reply, to_address
from bot.texts import format_text, resolve_language
from channels.base import Channel
from channels.message import Capabilities
from memory.conversation import Part
from memory.store.errors import IndexUnusable, StoreError, WrongState
from memory.store.rows import InboxRow

log = structlog.get_logger(__name__)
COMMANDS: dict[str, Command] = {
    command.name: command
    for command in (
        *INFO_COMMANDS,
        *CONTEXT_COMMANDS,
        *MEMORY_COMMANDS,
        POLICY_COMMAND,
        *SETTINGS_COMMANDS,
        EXPORT_COMMAND,
        *LINK_COMMANDS,
        *FORGET_COMMANDS,
        *ACCESS_COMMANDS,
        TRACE_COMMAND,
    )
}
# What a command may break with and is told of; what the store refuses is tried again by the lane.
COMMAND_ERRORS = (OSError, ValueError, TypeError, LookupError, RuntimeError, ArithmeticError)
# Other names; /start is what Telegram sends for a person who opens the chat for the first time.
COMMAND_ALIASES = {"start": "help", PRESS_COMMAND: "approve"}
RETRY_COMMAND = "retry"
MAX_NAME_CHARS = 60  # characters of an unknown name that are repeated


def _private_only_text(asked: CommandContext, command: Command) -> bool:
    """Whether this person might do it in a private chat."""
    return authorize(asked.actor, command.action, "", AccessScope(kind="dm", space=asked.where.space)).allowed


class CommandRouter:
    """Runs command rows. denied: told of each command that its sender may not give."""

    def __init__(
        self,
        desk: CommandServices,
        channels: Callable[[], Mapping[str, Channel]],
        show: ShowEvent,
        denied: Callable[[], None] = lambda: None,
    ) -> None:
        self._desk = desk
        self._channels = channels
        self._show = show
        self._denied = denied

    async def run(self, row: InboxRow, said: MessageBody) -> tuple[Part, ...] | None:
        """Answer and settle a command row; the parts of the newest message when it is to be answered again."""
        asked = await self._asked(row, said)
        name, rest = parse_command(said.text) or ("", "")
        asked = replace(asked, rest=rest)
        if name == RETRY_COMMAND and (parts := await self._again(asked)):
            return parts
        if is_mutating(name, rest) and not await self._desk.store.delivery.begin(row.id):
            await self._settle(asked, format_text(asked.lang, "command_interrupted", command=f"/{name} {rest}".strip()))
            return None
        await self._settle(asked, await self._answer(name, asked))
        return None

    async def _answer(self, name: str, asked: CommandContext) -> str:
        command = COMMANDS.get(COMMAND_ALIASES.get(name, name))
        if command is None:
            near = nearest_commands(name[:MAX_NAME_CHARS], COMMANDS)
            names = asked.either("、", ", ").join(f"/{found}" for found in near)
            hint = format_text(asked.lang, "nearest", names=names) if near else format_text(asked.lang, "see_help")
            return format_text(asked.lang, "unknown_command", name=name[:MAX_NAME_CHARS], near=hint)
        if not is_allowed(asked, command.action):
            self._denied()
            await self._desk.store.note(f"/{command.name}", asked.conversation.id, "refused", asked.who)
            return format_text(
                asked.lang,
                "not_in_a_group" if asked.where.kind == "group" and _private_only_text(asked, command) else "denied",
            )
        try:
            return await command.run(asked)
        except ConfigRejected as err:
            return err.say(asked.lang)
        except MnemaError as err:
            return str(err)
        except IndexUnusable as err:
            return format_text(asked.lang, "command_broke", why=err, trace=asked.row.trace_id)
        except COMMAND_ERRORS as err:
            log.error("command broke", command=name, error=type(err).__name__, exc_info=True)
            why = (err.strerror if isinstance(err, OSError) else "") or type(err).__name__
            return format_text(asked.lang, "command_broke", why=why, trace=asked.row.trace_id)

    async def _again(self, asked: CommandContext) -> tuple[Part, ...] | None:
        if not is_allowed(asked, COMMANDS[RETRY_COMMAND].action):
            return None
        session = await self._desk.store.sessions.load(asked.conversation.id)
        for turn in reversed(session.turns):
            first = turn.messages[0]
            if first.role == "user":
                return first.parts
        return None

    async def _settle(self, asked: CommandContext, text: str) -> None:
        channel = self._channels().get(asked.conversation.place.channel)
        able = channel.capabilities if channel else Capabilities()
        try:
            await self._desk.store.delivery.settle(asked.row.id, split_reply(text, "notice", able))
        except WrongState:
            return

    async def _asked(self, row: InboxRow, said: MessageBody) -> CommandContext:
        conversation = await self._desk.store.sessions.conversation(row.conversation)
        if conversation is None:
            raise StoreError(f"conversation {row.conversation} of a command is missing")
        place, config = conversation.place, self._desk.config.current
        address, sender = to_address(place), row.sender_id
        actor = await self._desk.roles.actor(
            place.channel, place.account, sender, place.chat_id, place.kind, proven=said.proven
        )
        return CommandContext(
            desk=self._desk,
            row=row,
            conversation=conversation,
            actor=actor,
            where=access_scope(place.channel, place.kind, place.space),
            lang=await self._language(conversation.id, said.text, config.language),
            rest="",
            known=COMMANDS,
            event_sink=EventSink(show=self._show, address=address, message_id=row.id),
        )

    async def _language(self, conversation: str, text: str, setting: str) -> str:
        """English names are typed by everybody: what was written last otherwise says which language they read."""
        if resolve_language(text, setting) == "zh" or setting in ("zh", "en"):
            return resolve_language(text, setting)
        lines = await self._desk.store.sessions.lines(conversation, limit=60)
        words = [line.text for line in lines if line.role == "user" and is_language_evidence(line.text)]
        return resolve_language(words[-1]) if words else "en"
