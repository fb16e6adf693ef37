"""Runs slash commands: find the command, check the sender's rights, settle the row with the
reply.
"""

import difflib
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress

import structlog

from bot.access.permissions import AccessScope, Actor, access_scope, authorize
from bot.command_names import CHINESE_NAMES, CHINESE_SUBCOMMANDS
from bot.commands.access import ACCESS_COMMANDS, LINK_COMMANDS
from bot.commands.base import MAX_NAME_CHARS, Command, CommandContext, CommandServices, is_allowed
from bot.commands.context import CONTEXT_COMMANDS
from bot.commands.export import EXPORT_COMMAND
from bot.commands.info import INFO_COMMANDS, SKILL_COMMAND, SKILLS_COMMAND
from bot.commands.jobs import JOB_COMMANDS
from bot.commands.memory.commands import MEMORY_COMMANDS
from bot.commands.memory.forget import FORGET_COMMANDS
from bot.commands.settings import SETTINGS_COMMANDS
from bot.commands.tools import MCP_COMMAND, TOOLS_COMMAND
from bot.commands.trace import TRACE_COMMAND
from bot.config.messages import ConfigRejected
from bot.errors import MnemaError
from bot.messages import (
    PRESS_COMMAND,
    RESUME_PREFIX,
    MessageBody,
    is_mutating,
    parse_command,
    split_reply,
)
from bot.page_questions import ASKED_UNITS
from bot.texts import (
    COMMAND_FAILED,
    DENIED,
    NOT_IN_A_GROUP,
    SEE_HELP,
    UNKNOWN_COMMAND,
    resolve_language,
)
from channels.base import Channel
from channels.message import Capabilities
from channels.phrases import Phrase
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
        *SETTINGS_COMMANDS,
        EXPORT_COMMAND,
        *LINK_COMMANDS,
        *FORGET_COMMANDS,
        *ACCESS_COMMANDS,
        TRACE_COMMAND,
        *JOB_COMMANDS,
        SKILLS_COMMAND,
        SKILL_COMMAND,
        MCP_COMMAND,
        TOOLS_COMMAND,
    )
}
# Other names; /start is what Telegram sends when a person opens the chat for the first time.
COMMAND_ALIASES = {"start": "help", PRESS_COMMAND: "approve"}
RETRY_COMMAND = "retry"
MAX_SUGGESTIONS = 3
SIMILARITY_CUTOFF = 0.5  # difflib's ratio


class CommandRouter:
    """Runs command rows.

    Args:
        language: returns the language of a conversation.
        denied: called for each command that its sender may not use.
    """

    def __init__(
        self,
        services: CommandServices,
        channels: Mapping[str, Channel],
        language: Callable[[str], Awaitable[str]],
        denied: Callable[[], None],
    ) -> None:
        self._services = services
        self._channels = channels
        self._language = language
        self._denied = denied

    async def run(self, row: InboxRow, body: MessageBody) -> tuple[Part, ...] | None:
        """Reply to a command row and settle it; if it is to be answered as a message, return the
        parts of that.
        """
        name, arguments = parse_command(body.text) or ("", "")
        if name == PRESS_COMMAND and arguments.startswith(RESUME_PREFIX):
            name, arguments = "tasks", f"resume {arguments.removeprefix(RESUME_PREFIX)}"
        context = await self._create_context(row, body, arguments)
        if name == RETRY_COMMAND and (parts := await self._newest_user_parts(context)):
            self._services.models.end_rests()
            return parts
        delivery = self._services.store.delivery
        reply: str | tuple[Part, ...]
        if body.approved:
            outcome = await self._services.approvals.run_approved(
                body.approved, context.actor, context.scope
            )
            reply = context.text(outcome)
        elif is_mutating(name, arguments) and not await delivery.mark_begun(row.id):
            command = f"/{name} {arguments}".strip()
            reply = Phrase(
                "I was interrupted during {command}. It may have taken effect and is not repeated "
                "automatically. See /context.",
                command=command,
            ).text(context.lang)
        else:
            reply = await self._reply(name, context)
        if not isinstance(reply, str):
            return reply
        channel = self._channels.get(context.conversation.place.channel)
        capabilities = channel.capabilities if channel else Capabilities()
        with suppress(WrongState):
            reserved = ASKED_UNITS if body.written_on == "page" else 0
            out = split_reply(reply, "notice", capabilities, reserved=reserved)
            await delivery.settle(row.id, out)
        return None

    async def _reply(self, name: str, context: CommandContext) -> str | tuple[Part, ...]:
        command = COMMANDS.get(COMMAND_ALIASES.get(name, name))
        if command is None:
            return _describe_unknown(name[:MAX_NAME_CHARS], context)
        if not is_allowed(context, command.action):
            return await self._refuse(command, context)
        try:
            return await command.run(context)
        except ConfigRejected as err:
            return err.say(context.lang)
        except MnemaError as err:
            return str(err)
        except IndexUnusable as err:
            return COMMAND_FAILED.fill(why=err, trace=context.row.trace_id).text(context.lang)
        except StoreError:
            raise  # the dispatcher retries the row
        except Exception as err:
            log.error("command broke", command=name, error=type(err).__name__, exc_info=True)
            why = (err.strerror if isinstance(err, OSError) else "") or type(err).__name__
            return COMMAND_FAILED.fill(why=why, trace=context.row.trace_id).text(context.lang)

    async def _refuse(self, command: Command, context: CommandContext) -> str:
        """Record that a command is not allowed; say whether it would be in a private chat."""
        self._denied()
        await self._services.store.note(
            f"/{command.name}", context.conversation.id, "refused", context.who
        )
        private = AccessScope(kind="dm", space=context.scope.space)
        is_private_only = (
            context.scope.kind == "group"
            and authorize(context.actor, command.action, "", private).allowed
        )
        return (NOT_IN_A_GROUP if is_private_only else DENIED).text(context.lang)

    async def _newest_user_parts(self, context: CommandContext) -> tuple[Part, ...] | None:
        if not is_allowed(context, COMMANDS[RETRY_COMMAND].action):
            return None
        session = await self._services.store.sessions.load(context.conversation.id)
        firsts = (turn.messages[0] for turn in reversed(session.turns))
        return next((message.parts for message in firsts if message.origin == "person"), None)

    async def _create_context(
        self, row: InboxRow, body: MessageBody, arguments: str
    ) -> CommandContext:
        conversation = await self._services.store.sessions.conversation(row.conversation)
        if conversation is None:
            raise StoreError(f"conversation {row.conversation} of a command is missing")
        place = conversation.place
        actor = await self._services.roles.actor(
            place.channel,
            place.account,
            row.sender_id,
            place.chat_id,
            place.kind,
            proven=body.proven,
        )
        # An English command name does not say which language its sender reads.
        is_chinese = resolve_language(body.text, self._services.config.current.language) == "zh"
        return CommandContext(
            services=self._services,
            row=row,
            conversation=conversation,
            actor=actor,
            scope=access_scope(place.channel, place.kind, place.space),
            lang="zh" if is_chinese else await self._language(conversation.id),
            arguments=arguments,
            commands=COMMANDS,
        )


def _describe_unknown(name: str, context: CommandContext) -> str:
    """Say that there is no such command, and which are named nearly the same."""
    near = nearest_commands(name, COMMANDS)
    hint = SEE_HELP.text(context.lang)
    if near:
        names = context.text(Phrase(", ")).join(f"/{command}" for command in near)
        hint = Phrase("Did you mean {names}?", names=names).text(context.lang)
    return UNKNOWN_COMMAND.fill(name=name, near=hint).text(context.lang)


def nearest_commands(name: str, known: Collection[str]) -> list[str]:
    """Return the commands similar to an unknown name, best first, without the slash, in either
    language.

    Args:
        known: English names of all commands.
    """
    shown = dict.fromkeys(known, "")
    shown |= {
        zh: CHINESE_NAMES[command][0] for command in known for zh in CHINESE_NAMES.get(command, ())
    }
    for command in CHINESE_NAMES.keys() & CHINESE_SUBCOMMANDS.keys() & set(known):
        for word, names in CHINESE_SUBCOMMANDS[command].items():
            shown |= dict.fromkeys(names, f"{CHINESE_NAMES[command][0]} {names[0]}")
            shown.setdefault(word, f"{command} {word}")
    begun = sorted(
        (one for one in shown if not one.isascii() and name.startswith(one)), key=len, reverse=True
    )
    alike = difflib.get_close_matches(name, shown, n=MAX_SUGGESTIONS, cutoff=SIMILARITY_CUTOFF)
    return list(dict.fromkeys(shown[one] or one for one in (*begun, *alike)))[:MAX_SUGGESTIONS]


MENU_ACTOR = Actor(channel="", id="", role="user")
MENU_SCOPE = AccessScope(kind="dm", space="someone")


def command_menu() -> list[tuple[str, Phrase]]:
    """Return the commands of a private chat, each with what it does."""
    return [
        (command.name, command.about)
        for command in COMMANDS.values()
        if authorize(MENU_ACTOR, command.action, "", MENU_SCOPE).allowed
    ]
