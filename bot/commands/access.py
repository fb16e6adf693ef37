"""The commands /pair, /approve and /deny (access), /link and /unlink (accounts that share a
memory).
"""

import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from bot.access.pairing import PairingRefused, parse_typed_code
from bot.agent.approval_keys import is_denial_press, is_lasting_press
from bot.agent.approval_texts import format_command_line, show_call
from bot.commands.base import Command, CommandContext, is_allowed
from bot.commands.memory.forget import decide_forgetting, no_request_text
from bot.messages import load_body
from bot.tools.exec.rules import StoredCall, format_rule, is_in_force, to_rule
from channels.phrases import Phrase
from memory.ids import CODE_VALIDITY, code_sha256, format_code, new_code
from memory.store.automation.approval_rules import ApprovalRuleRow
from memory.store.automation.approvals import ApprovalRow
from memory.store.longterm.rows import AccountIdentity, LinkCodeRow, LinkRow
from memory.store.rows import Party
from memory.text.quoting import first_line, shorten

WRITE_ACTION = "access.write"  # granting access: the owner only, in the terminal and on the page
CONFIRM_WORDS, REFUSE_WORDS = ("confirm", "确认"), ("refuse", "拒绝")
MAX_NAME_CHARS = 40
LINK_ACTION = "memory.link"
MAX_LISTED_CHARS = 120  # of a command in the list of what waits
_WHY_PATTERN = re.compile(r"(\S.{0,99}?)\s+(?:why|原因)", re.IGNORECASE)
_ALWAYS_PATTERN = re.compile(r"(\S.{0,99}?)\s+(?:always|总是)(?:\s+([0-9]{1,3}))?", re.IGNORECASE)


async def _pair(context: CommandContext) -> str:
    code = parse_typed_code(context.arguments)
    if code and context.scope.kind != "group" and await _claim_ownership(context, code):
        return context.text(
            Phrase("This account is now an owner. /help lists the commands."),
        )
    if context.actor.role != "owner":
        return context.text(
            Phrase("You can already talk to me; there is nothing to pair."),
        )
    if not is_allowed(context, WRITE_ACTION):
        count = await context.services.pairing.waiting()
        return context.text(
            Phrase(
                "People waiting: {count}. Approve them in the terminal or on the page, not here.",
                count=count,
            ),
        )
    return await _list_requests(context)


async def _claim_ownership(context: CommandContext, code: str) -> bool:
    actor = context.actor
    if actor.bound is not None:  # the channel does not prove who typed it
        return False
    person = Party(channel=actor.channel, account=actor.account, subject="user", id=actor.id)
    return await context.services.pairing.claim(person, load_body(context.row.body).name, code)


async def _list_requests(context: CommandContext) -> str:
    facts = await context.services.pairing.facts()
    rows = [f"- {_format_request(row)}" for row in facts["waiting"]]
    if not rows:
        return context.text(Phrase("Nobody is waiting."))
    head = context.text(
        Phrase("**Waiting** (ask them for their code, then send /approve CODE or /deny CODE)"),
    )
    return "\n".join([head, *rows])


def _format_request(row: Mapping[str, Any]) -> str:
    """Format channel and immutable id, then the name they claim, quoted."""
    name = f" “`{row['name']}`”" if row["name"] else ""
    return f"{row['channel']} {row['kind']} `{row['id'].replace('`', '')}`{name}"


async def _approve(context: CommandContext) -> str:
    asks_why = _WHY_PATTERN.fullmatch(context.arguments.strip())
    if asks_why and context.scope.kind != "group":
        shown = await context.services.approvals.explain(context.actor, asks_why[1], context.lang)
        return shown or no_request_text(context)
    return await _decide(context, approve=not is_denial_press(context.arguments))


async def _deny(context: CommandContext) -> str:
    return await _decide(context, approve=False)


async def _decide(context: CommandContext, *, approve: bool) -> str:
    """Decide the sender's tool call or /forget; in the terminal and on the page, an access request
    too.
    """
    services = context.services
    key, always = _split_always(context.arguments.strip())
    if not key:
        return context.text(Phrase("Add the code, as in /approve ABCD-EFGH."))
    if context.scope.kind != "group" and (
        outcome := await services.approvals.decide(
            context.actor, context.scope, key, approve=approve, always=always
        )
    ):
        return context.text(outcome)
    if reply := await decide_forgetting(context, approve=approve):
        return reply
    code = parse_typed_code(key)
    if code and context.actor.role == "owner" and not is_allowed(context, WRITE_ACTION):
        return context.text(
            Phrase(
                "No request with that code is waiting here. Approve people in the terminal "
                "(mnema pair approve CODE) or on the page."
            ),
        )
    if not code or not is_allowed(context, WRITE_ACTION):
        return no_request_text(context)
    decide = services.pairing.approve if approve else services.pairing.deny
    try:
        return context.text(await decide(code, context.scope.kind))
    except PairingRefused as err:
        return context.text(err.phrase)


def _split_always(typed: str) -> tuple[str, int | None]:
    """Split a code or a button's data from "always" and the number of words; None for "once"."""
    if is_lasting_press(typed):
        return typed, 0
    found = _ALWAYS_PATTERN.fullmatch(typed)
    return (found[1], int(found[2] or 0)) if found else (typed, None)


async def _approvals(context: CommandContext) -> str:
    """List what waits for a decision and which commands run without one; or revoke a rule."""
    access, space = context.services.store.access, context.conversation.place.space
    word, _, number = context.arguments.strip().partition(" ")
    if word:
        if word.lower() != "revoke" or not re.fullmatch(r"[0-9]{1,6}", number.strip()):
            return context.text(Phrase("Usage: /approvals, /approvals revoke 2"))
        if not await access.revoke_rule(space, int(number), context.actor.id):
            return context.text(Phrase("There is no rule {number}.", number=number))
        return context.text(Phrase("Rule {number} has been revoked.", number=number))
    now = context.services.now()
    waiting = [
        row
        for row in await access.open_approvals(space, context.store.now())
        if (row.party.channel, row.party.id) == (context.actor.channel, context.actor.id)
    ]
    codes = await access.codes(waiting)
    rules = [
        await _format_rule_line(context, row)
        for row in await access.rules(space, context.store.now())
    ]
    parts = []
    if waiting:
        lines = [_format_waiting(context, row, codes.get(row.id, ""), now) for row in waiting]
        parts.append("\n".join([context.text(Phrase("**Waiting for your approval**")), *lines]))
    if rules:
        head = context.text(
            Phrase("**Always approved** (/approvals revoke N revokes one)"),
        )
        parts.append("\n".join([head, *rules]))
    return "\n\n".join(parts) or context.text(
        Phrase("Nothing is waiting for your approval, and no command is always approved."),
    )


def _format_waiting(context: CommandContext, row: ApprovalRow, code: str, now: datetime) -> str:
    """Format what runs, then the code and the time that is left; a group sees no code."""
    call = show_call(row.tool, StoredCall.parse(row.arguments).arguments)
    line = shorten(first_line(format_command_line(call)), MAX_LISTED_CHARS).replace("`", "'")
    shows_code = code and context.scope.kind != "group"
    typed = f" · `/approve {format_code(code)}`" if shows_code else ""
    left = _minutes_left(row.expires, now)
    return context.text(
        Phrase("- `{line}`{typed} · {left} minutes left", line=line, typed=typed, left=left)
    )


async def _format_rule_line(context: CommandContext, row: ApprovalRuleRow) -> str:
    """Format a rule, and that it does not count while its maker may not run commands."""
    line = f"{row.number}. {format_rule(to_rule(row), row.tool, context.lang)}" + context.text(
        Phrase(", until {expires:%Y-%m-%d}", expires=row.expires)
    )
    if await is_in_force(row, context.services.roles):
        return line
    return line + context.text(
        Phrase(" — not in effect: the person who made it cannot run commands now"),
    )


def _minutes_left(expires: datetime, now: datetime) -> int:
    return max(1, round((expires - now) / timedelta(minutes=1)))


async def _link(context: CommandContext) -> str:
    word = context.arguments.strip().lower()
    if word in CONFIRM_WORDS:
        return await _confirm(context)
    if word in REFUSE_WORDS:
        return await _refuse(context)
    if word:
        return await _enter_code(context)
    linked = await _format_linked(context)
    request = await context.store.links.pending(_own_identity(context), context.services.now())
    return "\n\n".join(
        [*linked, _format_pending(context, request) if request else await _create_code(context)]
    )


async def _format_linked(context: CommandContext) -> list[str]:
    own, home = context.conversation.own_space, context.conversation.place.space
    if own != home:
        return [
            context.text(
                Phrase(
                    "This account shares the memory of {space_owner}; /unlink ends that.",
                    space_owner=_format_space_owner(context, home),
                ),
            )
        ]
    links = await context.store.links.links(home)
    rows = [
        f"{number}. {_format_account(link)} · {link.at:%Y-%m-%d}"
        for number, link in enumerate(links, start=1)
    ]
    head = context.text(
        Phrase("**Accounts that share this memory** (/unlink N removes one)"),
    )
    return ["\n".join([head, *rows])] if rows else []


async def _create_code(context: CommandContext) -> str:
    code = new_code()
    until = context.services.now() + CODE_VALIDITY
    await context.store.links.make_code(
        code_sha256(code), _own_identity(context), context.conversation.id, until
    )
    shown = f"`/link {format_code(code)}`"
    return context.text(
        Phrase(
            "To let another account of yours share this memory, send {shown} from it in a "
            "private chat with me within 10 minutes; both chats then confirm. Only memory is "
            "shared, not rights. Give the code to nobody else.",
            shown=shown,
        ),
    )


def _format_pending(context: CommandContext, request: LinkCodeRow) -> str:
    """Format the state of a pending request for this side of it."""
    if request.typist == _own_identity(context):
        if request.state == "typed":
            return _format_code_owner(context, request)
        return context.text(
            Phrase("The other chat must now send /link confirm; /link refuse cancels the link."),
        )
    if request.state == "agreed":
        return context.text(_format_link_request(request))
    return context.text(
        Phrase(
            "{requester} entered your code but has not confirmed yet; /link refuse declines.",
            requester=_format_requester(request),
        ),
    )


async def _enter_code(context: CommandContext) -> str:
    links, me, now = context.store.links, _own_identity(context), context.services.now()
    if obstacle := await _link_obstacle(context):
        return obstacle
    name = load_body(context.row.body).name
    if request := await links.type_code(
        code_sha256(context.arguments), me, name, context.conversation.id, now
    ):
        return _format_code_owner(context, request)
    if until := await links.locked(me, now):
        return _locked_text(context, until - now)
    return context.text(
        Phrase(
            "This code does not work here: it is wrong, expired, already used, or this account's "
            "own. Enter a new one in the other account's private chat."
        ),
    )


async def _link_obstacle(context: CommandContext) -> str:
    """Return why this account cannot join another memory now; "" if it can."""
    links, me, now = context.store.links, _own_identity(context), context.services.now()
    if until := await links.locked(me, now):
        return _locked_text(context, until - now)
    if await links.linked_space(me.space) != me.space:
        return context.text(
            Phrase("This account already shares a memory. Send /unlink first."),
        )
    if not me.space or len(await links.members(me.space)) > 1:
        return context.text(
            Phrase(
                "This memory cannot join another. Create the code here with /link, and enter it "
                "in the other account's chat."
            ),
        )
    return ""


async def _confirm(context: CommandContext) -> str:
    links, services = context.store.links, context.services
    request = await links.pending(_own_identity(context), services.now())
    if request is None:
        return _no_link_text(context)
    if request.typist == _own_identity(context):
        if request.state == "typed" and await links.agree(request.id):
            await services.tell(request.conversation, _format_link_request(request))
        return context.text(
            Phrase("Good. Now send /link confirm in the chat where the code was created."),
        )
    if request.state != "agreed":
        return _format_pending(context, request)
    joined = await links.settle(request.id, join=True)
    if joined is None:
        await services.tell(request.typed_conversation, _LINK_CHANGED_TEXT)
        return context.text(_LINK_CHANGED_TEXT)
    await services.tell(
        request.typed_conversation,
        Phrase(
            "Linked: from now on this account uses the memory of {account}. /unlink ends that.",
            account=_format_account(request.maker),
        ),
    )
    return context.text(
        Phrase(
            "Linked: {account} now shares this memory. /link shows it, /unlink ends it.",
            account=_format_account(joined),
        ),
    )


_LINK_CHANGED_TEXT = Phrase("Not linked: another link was made meanwhile. Send /link again.")


async def _refuse(context: CommandContext) -> str:
    links, me = context.store.links, _own_identity(context)
    request = await links.pending(me, context.services.now())
    if request is None:
        return _no_link_text(context)
    await links.settle(request.id, join=False)
    other = request.conversation if request.typist == me else request.typed_conversation
    await context.services.tell(other, Phrase("The other side declined the link."))
    return context.text(Phrase("Declined; nothing was linked."))


async def _unlink(context: CommandContext) -> str:
    own, home = context.conversation.own_space, context.conversation.place.space
    links = await context.store.links.links(home)
    if own != home:
        leaving = next((link for link in links if link.own_space == own), None)
        return await _remove_account(context, leaving) if leaving else _not_linked_text(context)
    if not links:
        return _not_linked_text(context)
    number = int(context.arguments) if re.fullmatch(r"[0-9]{1,3}", context.arguments.strip()) else 0
    if 1 <= number <= len(links):
        return await _remove_account(context, links[number - 1])
    return "\n".join(await _format_linked(context))


async def _remove_account(context: CommandContext, link: LinkRow) -> str:
    if not await context.store.links.unlink(link.own_space):
        return _not_linked_text(context)
    is_own = link.own_space == context.conversation.own_space
    unlinked = Phrase(
        "Unlinked: {account} has its own memory again. What was noted meanwhile stays where it is.",
        account=_format_account(link),
    )
    await context.services.tell(link.home_chat if is_own else link.chat, unlinked)
    return context.text(unlinked)


def _format_code_owner(context: CommandContext, request: LinkCodeRow) -> str:
    """Tell the account that typed a code whose it is, before it confirms."""
    maker = _format_account(request.maker)
    return context.text(
        Phrase(
            "This code comes from {maker}. Once you confirm, what is said and noted here is "
            "shared with that account, and each sees both. Is that account yours too? If so, "
            "send /link confirm; if not, /link refuse.",
            maker=maker,
        ),
    )


def _format_link_request(request: LinkCodeRow) -> Phrase:
    """Ask the account that made the code to confirm."""
    return Phrase(
        "{requester} asks to share this memory. Is that account yours? If so, send /link "
        "confirm; if not, /link refuse.",
        requester=_format_requester(request),
    )


def _format_requester(request: LinkCodeRow) -> str:
    """Format channel and immutable id, then the name they claim, quoted."""
    name = " ".join(request.typed_name.replace("`", "").split())[:MAX_NAME_CHARS]
    return (
        f"{_format_account(request.typist)}{f' “`{name}`”' if name else ''}"
        if request.typist
        else ""
    )


def _format_account(one: AccountIdentity | LinkRow) -> str:
    return f"{one.channel} `{one.sender_id.replace('`', '')}`"


def _format_space_owner(context: CommandContext, space: str) -> str:
    return f"`{space}`" if space else context.text(Phrase("the owner"))


def _no_link_text(context: CommandContext) -> str:
    return context.text(Phrase("No link is waiting for confirmation here."))


def _not_linked_text(context: CommandContext) -> str:
    return context.text(Phrase("Nothing is linked here."))


def _locked_text(context: CommandContext, remaining: timedelta) -> str:
    minutes = round(remaining / timedelta(minutes=1))
    return context.text(
        Phrase("Too many wrong codes. Try again in {minutes} minutes.", minutes=minutes),
    )


def _own_identity(context: CommandContext) -> AccountIdentity:
    place = context.conversation.place
    return AccountIdentity(
        channel=place.channel,
        account=place.account,
        sender_id=context.row.sender_id,
        space=context.conversation.own_space,
    )


ACCESS_COMMANDS = (
    Command(
        name="pair",
        usage=Phrase("[CODE]"),
        action="pair.status",
        about=Phrase("see who wants to talk to the bot, or enter an owner code"),
        run=_pair,
    ),
    Command(
        name="approve",
        usage=Phrase("CODE [always [WORDS]|why]"),
        action="approval.decide",
        about=Phrase("approve a request (in the terminal or on the page, also a pairing)"),
        run=_approve,
    ),
    Command(
        name="deny",
        usage=Phrase("CODE"),
        action="approval.decide",
        about=Phrase("deny a request or a pairing"),
        run=_deny,
    ),
    Command(
        name="approvals",
        usage=Phrase("[revoke N]"),
        action="approval.decide",
        about=Phrase("see requests waiting for you, and commands that are always approved"),
        run=_approvals,
    ),
)
LINK_COMMANDS = (
    Command(
        name="link",
        usage=Phrase("[CODE|confirm|refuse]"),
        action=LINK_ACTION,
        about=Phrase("share this memory with another of your accounts"),
        run=_link,
    ),
    Command(
        name="unlink",
        usage=Phrase("[N]"),
        action=LINK_ACTION,
        about=Phrase("stop sharing memory with an account"),
        run=_unlink,
    ),
)
