"""Pairing: a stranger who writes gets a code, the owner approves it; also groups, roles and owner
codes.
"""

import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import structlog

from bot.access.permissions import LOCAL_CHANNELS, ROLE_RANK, canonical_id
from bot.access.roles import RoleResolver
from bot.config.schema import Config
from bot.errors import MnemaError
from bot.messages import split_reply
from bot.texts import resolve_language
from channels.base import Channel
from channels.message import Address, Capabilities, InboundMessage
from channels.phrases import NO_PHRASE, Phrase, PhraseList, join_sentences
from memory.ids import CODE_ALPHABET, CODE_VALIDITY, code_sha256, format_code, new_code
from memory.store.errors import StoreError
from memory.store.people.access import AccessRecords
from memory.store.people.rows import (
    AccessRequest,
    AccessRequestRow,
    GrantedRole,
    GrantRow,
    RequestState,
    RevokeResult,
)
from memory.store.rows import AcceptedRow, Notice, Party

log = structlog.get_logger(__name__)
CODE_LIFETIME = timedelta(hours=1)  # of a stranger's code. Source: the security page.
MAX_NAME_CHARS = 40
_TYPED_CODE = re.compile(
    rf"(?:[/／]pair\s+)?([{CODE_ALPHABET}]{{4}})[-\s]?([{CODE_ALPHABET}]{{4}})", re.IGNORECASE
)


class PairingRefused(MnemaError):
    """A change of access is refused."""

    def __init__(self, phrase: Phrase) -> None:
        super().__init__(str(phrase))
        self.phrase = phrase


@dataclass(frozen=True, slots=True, kw_only=True)
class PairingService:
    """Decides who may talk to the bot: requests, grants and roles."""

    access: AccessRecords
    roles: RoleResolver
    config: Callable[[], Config]
    now: Callable[[], datetime]
    #: The running channels by name.
    channels: Mapping[str, Channel] = field(default_factory=dict)
    #: Returns the language of a conversation; None: English.
    language: Callable[[str], Awaitable[str]] | None = None
    #: Stops the running turn of a conversation whose person lost a role; None if no turn can run.
    stop_turn: Callable[[str], Awaitable[object]] | None = None
    #: Ends what people may no longer do, once a role was lowered; None if nothing can run.
    roles_changed: Callable[[], Awaitable[object]] | None = None

    async def met(self, message: InboundMessage, row: AcceptedRow) -> None:
        """Answer a stranger's stored message with a code, or report a group that is not allowed to
        the owner.

        A second call for the same row does nothing.

        Raises:
            OSError: the store could not be written; nothing was done.
        """
        try:
            await self._request_access(message, row)
        except StoreError as err:
            raise OSError(str(err)) from err

    async def moved(self, address: Address, chat_id: str) -> None:
        """Keep a group allowed whose id changed to `chat_id`.

        Raises:
            OSError: the store could not be written.
        """
        channel, account = address.channel, address.account
        if not await self.roles.group_allowed(channel, account, address.chat_id):
            return
        if not await self.roles.group_allowed(channel, account, chat_id):
            party = Party(channel=channel, account=account, subject="group", id=chat_id)
            try:
                await self.access.grant(
                    GrantRow(
                        party=party,
                        role="group",
                        group="",
                        name="",
                        by=f"moved:{address.chat_id}",
                        at=self.now(),
                    )
                )
            except StoreError as err:
                raise OSError(str(err)) from err

    async def claim(
        self, person: Party, name: str, code: str, notices: Sequence[Notice] = ()
    ) -> bool:
        """Make a person owner if `code` is a valid owner code, and send `notices`; False if it is
        not.

        Only for codes typed in a private chat. name: the person's display name.
        """
        return await self.access.redeem_owner_code(
            person, _printable(name), code_sha256(code), notices
        )

    async def approve(self, code: str, by: str, channel: str = "") -> Phrase:
        """Let in the person who was given this code; return what was done in Chinese and in
        English.

        Args:
            by: the actor in the audit chain.
            channel: the only channel the code may be of; "" for any.

        Raises:
            PairingRefused: the code is wrong, used, expired, of another channel, or codes are
                locked.
        """
        found = await self._decide(code, "approved", by, channel)
        text = _APPROVED_TEXT.text(found.lang)
        await self.access.tell(
            [self._notice(found.party.channel, found.conversation, f"paired:{found.id}", text)]
        )
        who = _format_party(found.party, found.name)
        return Phrase("{who} can now talk to me in private.", who=who)

    async def deny(self, code: str, by: str, channel: str = "") -> Phrase:
        """Refuse the person who was given this code, and ignore that id from now on, without
        notice; see `approve`.
        """
        found = await self._decide(code, "denied", by, channel)
        who, name = (
            _format_party(found.party, found.name),
            f"{found.party.channel}:{found.party.id}",
        )
        return Phrase(
            "Denied {who}. They get no answer from now on; `mnema pair revoke {name}` undoes this.",
            who=who,
            name=name,
        )

    async def allow_group(self, channel: str, id: str, by: str) -> Phrase:
        """Allow the bot to answer in a group.

        Raises:
            PairingRefused: there is no such channel.
        """
        self._check_channel(channel)
        waiting = [
            row.party for row in await self.access.requests() if row.party.subject == "group"
        ]
        account = next(
            (group.account for group in waiting if (group.channel, group.id) == (channel, id)), ""
        )
        party = Party(channel=channel, account=account, subject="group", id=id)
        await self.access.grant(
            GrantRow(party=party, role="group", group="", name="", by=by, at=self.now())
        )
        return Phrase(
            "The group {channel} `{id}` is now allowed. I answer anyone there who addresses me.",
            channel=channel,
            id=id,
        )

    async def set_role(self, channel: str, id: str, role: str, by: str, group: str = "") -> Phrase:
        """Make a known person a user or an admin. group: an admin of that group only.

        Raises:
            PairingRefused: another role, or the person is a stranger.
        """
        new_role = _check_role(role, group)
        self._check_channel(channel)
        person = canonical_id(channel, id)
        held = await self._grants_of_person(channel, person)
        if not held and await self._is_stranger(channel, person):
            raise PairingRefused(
                Phrase(
                    "{channel}:{id} is not known yet. Have them write to the bot, then approve "
                    "the code they get.",
                    channel=channel,
                    id=id,
                ),
            )

        same_place = [row for row in held if row.group == group]
        elsewhere = [row for row in held if row.group != group]
        if any(ROLE_RANK.get(row.role, 0) > ROLE_RANK[new_role] for row in same_place):
            # Lowering a role revokes everything first, so that the person's running turns end.
            revoked = await self.access.revoke(channel, person, by)
            await self._stop_turns(channel, {person}, revoked)
            for row in elsewhere:
                await self.access.grant(row)

        party, name = Party(channel=channel, account="", subject="user", id=person), ""
        if held:
            party, name = held[0].party, held[0].name
        await self.access.grant(
            GrantRow(party=party, role=new_role, group=group, name=name, by=by, at=self.now())
        )
        await self._end_lost_rights()
        where = Phrase(" (in the group {group} only)", group=group) if group else NO_PHRASE
        return Phrase(
            "{channel} `{id}` is now {role}{where}.",
            channel=channel,
            id=id,
            role=role,
            where=where,
        )

    async def revoke(self, channel: str, id: str, by: str) -> PhraseList:
        """Revoke everything granted to a person or group, and stop their running turns.

        Raises:
            PairingRefused: nothing was granted.
        """
        self._check_channel(channel)
        as_person = canonical_id(channel, id)
        # The id as given, too: ids of groups have no canonical form.
        revoked = [await self.access.revoke(channel, variant, by) for variant in {id, as_person}]
        listed = [
            name
            for name, ids in self.roles.lists(channel).items()
            if id in ids or as_person in [canonical_id(channel, listed_id) for listed_id in ids]
        ]
        if not listed and not any(result.grants for result in revoked):
            raise PairingRefused(
                Phrase("{channel}:{id} had no access to revoke.", channel=channel, id=id)
            )
        turns = await self._stop_turns(channel, {id, as_person}, revoked[0])
        await self._end_lost_rights()
        approvals = sum(result.approvals for result in revoked)
        keys = ", ".join(f"channels.{channel}.{name}" for name in listed)
        revoked_text = Phrase(
            "Revoked the access of {channel} `{id}`. Turns stopped: {turns}; pending approvals "
            "cancelled: {approvals}.",
            channel=channel,
            id=id,
            turns=turns,
            approvals=approvals,
        )
        still_listed = Phrase(
            "This id is still listed in config.json under {keys}; remove it there.", keys=keys
        )
        return join_sentences([revoked_text, still_listed if listed else NO_PHRASE])

    async def owner_code(self, by: str) -> str:
        """Return a new owner code: the first person who sends it in a private chat within ten
        minutes is an owner.
        """
        code = new_code()
        await self.access.make_owner_code(code_sha256(code), self.now() + CODE_VALIDITY, by)
        return format_code(code)

    async def waiting(self) -> int:
        """Return how many people wait for approval."""
        return len([row for row in await self.access.requests() if row.party.subject == "user"])

    async def facts(self) -> dict[str, Any]:
        """Return who may talk and who waits for approval, as JSON values; times in ISO format."""
        locked = await self.access.locked_until()
        return {
            "people": [
                *self._listed_people(),
                *(_grant_to_json(row) for row in await self.access.load_all_grants()),
            ],
            "waiting": [_request_to_json(row) for row in await self.access.requests()],
            "locked_until": locked.isoformat() if locked else "",
        }

    async def _request_access(self, message: InboundMessage, row: AcceptedRow) -> None:
        address = message.address
        if message.kind == "group":
            if not await self.roles.group_allowed(
                address.channel, address.account, address.chat_id
            ):
                await self._request_for_group(message, row)
            return
        if (
            message.act != "message"
            or message.sender.is_bot
            or await self._redeem_owner_code(message, row)
        ):
            return
        section = getattr(self.config().channels, address.channel, None)
        if getattr(section, "pairing", False):
            await self._request_for_person(message, row)

    async def _redeem_owner_code(self, message: InboundMessage, row: AcceptedRow) -> bool:
        person, code = _sender_party(message), parse_typed_code(message.text)
        text = _OWNER_TEXT.text(resolve_language(message.text, self.config().language))
        notice = self._notice(person.channel, row.conversation, f"owner:{row.id}", text)
        return (
            bool(code)
            and message.proven
            and await self.claim(person, message.sender.name, code, [notice])
        )

    async def _request_for_person(self, message: InboundMessage, row: AcceptedRow) -> None:
        party, name, code = _sender_party(message), _printable(message.sender.name), new_code()
        lang = resolve_language(message.text, self.config().language)
        text = _CODE_TEXT.fill(code=format_code(code)).text(lang)
        notices = [self._notice(party.channel, row.conversation, f"pair:{row.id}", text)]
        request_text = _REQUEST_TEXT.fill(who=_format_party(party, name))
        notices += await self._owner_notices(
            f"pairing:{party.channel}:{party.account}:{self.now():%Y-%m-%d}", request_text
        )
        await self._add_request(
            AccessRequest(party=party, name=name, conversation=row.conversation, lang=lang),
            code,
            notices,
        )

    async def _request_for_group(self, message: InboundMessage, row: AcceptedRow) -> None:
        address, title = message.address, _printable(message.chat_title)
        name = title or _printable(message.sender.name)
        party = Party(
            channel=address.channel, account=address.account, subject="group", id=address.chat_id
        )
        key = f"{party.channel}:{party.id}"
        group_text = _GROUP_TEXT.fill(who=_format_party(party, title), key=key)
        notices = await self._owner_notices(
            f"group:{party.channel}:{party.account}:{party.id}", group_text
        )
        await self._add_request(
            AccessRequest(party=party, name=name, conversation=row.conversation, lang=""),
            "",
            notices,
        )

    async def _add_request(
        self, request: AccessRequest, code: str, notices: Sequence[Notice]
    ) -> None:
        sha256 = code_sha256(code) if code else ""
        if await self.access.add_request(request, sha256, self.now() + CODE_LIFETIME, notices):
            party = request.party
            log.info("access requested", channel=party.channel, subject=party.subject, id=party.id)

    async def _owner_notices(self, source: str, phrase: Phrase) -> list[Notice]:
        conversation, channel = await self.access.find_owner_conversation()
        if not conversation:
            return []
        lang = await self.language(conversation) if self.language else "en"
        return [self._notice(channel, conversation, source, phrase.text(lang))]

    async def _decide(
        self, code: str, state: RequestState, by: str, channel: str
    ) -> AccessRequestRow:
        found = await self.access.decide(code_sha256(code), state, by, channel)
        if found is not None:
            return found
        if until := await self.access.locked_until():
            minutes = max(1, round((until - self.now()) / timedelta(minutes=1)))
            raise PairingRefused(
                Phrase(
                    "Too many wrong codes, so all pending requests were cleared. Try again in "
                    "{minutes} minutes.",
                    minutes=minutes,
                ),
            )
        raise PairingRefused(
            Phrase(
                "This code is wrong, expired or already used. Have them write again to get a new "
                "one."
            ),
        )

    async def _grants_of_person(self, channel: str, id: str) -> list[GrantRow]:
        grants = await self.access.load_all_grants()
        key = (channel, "user", id)
        return [
            row for row in grants if (row.party.channel, row.party.subject, row.party.id) == key
        ]

    async def _is_stranger(self, channel: str, id: str) -> bool:
        return (await self.roles.actor(channel, "", id, id, "dm")).role == "stranger"

    async def _stop_turns(self, channel: str, ids: Collection[str], revoked: RevokeResult) -> int:
        """Stop the turns of a person, or those in a group; return how many."""
        turns = [
            turn
            for turn in revoked.turns
            if canonical_id(channel, turn.actor) in ids or turn.chat in ids
        ]
        for turn in turns:
            if self.stop_turn is not None:
                await self.stop_turn(turn.conversation)
        return len(turns)

    async def _end_lost_rights(self) -> None:
        if self.roles_changed is not None:
            await self.roles_changed()

    def _notice(self, channel: str, conversation: str, source: str, text: str) -> Notice:
        known = self.channels.get(channel)
        capabilities = known.capabilities if known else Capabilities()
        return Notice(
            conversation=conversation,
            source=source,
            out=tuple(split_reply(text, "notice", capabilities)),
        )

    def _check_channel(self, channel: str) -> None:
        names = [name for name, _ in self.config().channels if name not in LOCAL_CHANNELS]
        if channel not in names:
            known = ", ".join(names)
            raise PairingRefused(
                Phrase(
                    "There is no channel {channel}. Available: {known}.",
                    channel=channel,
                    known=known,
                ),
            )

    def _listed_people(self) -> Iterator[dict[str, Any]]:
        """Yield the people whom config.json names."""
        for channel, _ in self.config().channels:
            for name, role in (("owners", "owner"), ("allow", "allowed")):
                for id in self.roles.lists(channel)[name]:
                    row = {
                        "channel": channel,
                        "account": "",
                        "id": id,
                        "kind": "user",
                        "role": role,
                    }
                    yield {**row, "group": "", "name": "", "by": "config.json", "at": ""}


def parse_typed_code(text: str) -> str:
    """Return the code in a message that is nothing else, alone or after /pair; "" otherwise."""
    found = _TYPED_CODE.fullmatch(text.strip())
    return (found[1] + found[2]).upper() if found else ""


def _check_role(role: str, group: str) -> GrantedRole:
    """Return a role that may be granted: a group has only admins, and owners have their code."""
    if role == "admin":
        return "admin"
    if role == "user" and not group:
        return "user"
    raise PairingRefused(
        Phrase(
            "The role must be user or admin; in a group, only admin. To make someone an owner, "
            "use mnema owner add."
        ),
    )


def _sender_party(message: InboundMessage) -> Party:
    address = message.address
    id = canonical_id(address.channel, message.sender.id)
    return Party(channel=address.channel, account=address.account, subject="user", id=id)


def _printable(name: str) -> str:
    """Make a display name printable: short and on one line."""
    visible = "".join(sign if sign.isprintable() and sign != "`" else " " for sign in name)
    return " ".join(visible.split())[:MAX_NAME_CHARS]


def _format_party(party: Party, name: str) -> str:
    """Format channel and immutable id, with the display name as a quotation."""
    id = "".join(sign for sign in party.id if sign.isprintable() and sign != "`")
    return f"{party.channel} `{id}`{f' “`{name}`”' if name else ''}"


def _party_to_json(party: Party) -> dict[str, Any]:
    return {
        "channel": party.channel,
        "account": party.account,
        "id": party.id,
        "kind": party.subject,
    }


def _grant_to_json(row: GrantRow) -> dict[str, Any]:
    by = {"by": row.by, "at": row.at.isoformat()}
    return {
        **_party_to_json(row.party),
        "role": row.role,
        "group": row.group,
        "name": row.name,
        **by,
    }


def _request_to_json(row: AccessRequestRow) -> dict[str, Any]:
    expires = row.expires.isoformat() if row.party.subject == "user" else ""
    return {
        **_party_to_json(row.party),
        "name": row.name,
        "at": row.at.isoformat(),
        "expires": expires,
    }


_CODE_TEXT = Phrase(
    "I talk only to people who have been approved. Give this code to the person who runs me; it "
    "is valid for an hour: `{code}`"
)
_APPROVED_TEXT = Phrase("You have been approved: you can talk to me now.")
_OWNER_TEXT = Phrase("This account is now an owner. /help lists the commands.")
_REQUEST_TEXT = Phrase(
    "{who} wants to talk to me and was given a code. If you know them, ask them for the code and "
    "enter it with `mnema pair approve CODE` in a terminal, or with `/approve CODE` on the page "
    "or in the terminal chat. I will not report further requests today; `mnema pair list` shows "
    "them all."
)
_GROUP_TEXT = Phrase(
    "I was added to a group that is not allowed: {who}. I stay silent there; `mnema pair group "
    "{key}` allows it."
)
