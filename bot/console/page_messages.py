"""Whose a conversation is, and messages that the owner types on the page in one of another
channel.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from bot.access.permissions import LOCAL_CHANNELS
from bot.access.roles import RoleResolver
from bot.gateway.channel_status import ChannelStatus
from bot.messages import load_body, to_address
from channels.base import Channel
from channels.message import InboundMessage, Sender
from channels.phrases import Phrase
from channels.web.backend import ConversationOwner
from channels.web.requests import HttpRefusal
from memory.store.conversations.delivery import Delivery
from memory.store.rows import ConversationRow, Place

OF_GROUP = Phrase("This is a group's conversation: write in the group itself.")
OF_OTHER = Phrase("This chat is not yours: only the person it belongs to can write in it.")
OF_SUBAGENT = Phrase("This is the work of a sub-agent: nobody can write in it.")
OFF = Phrase("{channel} is off, so nothing can be sent there: turn it on in the settings.")
OTHER_ACCOUNT = Phrase(
    "This conversation belongs to another {channel} account than the one that is connected."
)
LOGGED_OUT = Phrase("{channel} is logged out, so nothing can be sent there: log in again.")
USED_UP = Phrase("{channel} accepts no more messages until you write to the bot there.")


def conversation_owner(row: ConversationRow) -> ConversationOwner:
    """Tell whose conversation it is.

    A group is no private chat. An account that is linked to the owner's shares their memory and is
    not the owner.
    """
    if row.place.kind == "group":
        return "group"
    return "other" if row.own_space else "own"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageMessages:
    """Decides in which conversations the page may write, and as whom."""

    delivery: Delivery
    roles: RoleResolver
    #: The running channels by name.
    channels: Mapping[str, Channel]
    states: Callable[[], Mapping[str, ChannelStatus]]

    def refusal(self, row: ConversationRow) -> Phrase | None:
        """Say why one cannot write in a conversation on the page; None where one can."""
        owner, place = conversation_owner(row), row.place
        if place.is_hidden:
            return OF_SUBAGENT
        if owner == "group":
            return OF_GROUP
        if owner == "other":
            return OF_OTHER
        return None if place.channel in LOCAL_CHANNELS else self._channel_refusal(place)

    def _channel_refusal(self, place: Place) -> Phrase | None:
        """Say why a channel can send nothing to a chat now."""
        name = place.channel
        channel, state = self.channels.get(name), self.states().get(name)
        if channel is None:
            return OFF.fill(channel=name)
        if channel.account and place.account != channel.account:
            return OTHER_ACCOUNT.fill(channel=name)
        if state is not None and state.phase in ("asking", "logged_out"):
            return LOGGED_OUT.fill(channel=name)
        allowance = getattr(channel, "allowance", None)
        is_used_up = allowance is not None and allowance(to_address(place)) == 0
        return USED_UP.fill(channel=name) if is_used_up else None

    async def address(self, row: ConversationRow, message: InboundMessage) -> InboundMessage:
        """Return a message of the page as one of this conversation; in a chat of another channel it
        is of the person who wrote there last, if they are the owner.

        Raises:
            HttpRefusal: 403, one cannot write there.
        """
        why, place = self.refusal(row), row.place
        if why is not None:
            raise HttpRefusal(403, "denied", why)
        message = replace(message, address=to_address(place))
        if place.channel in LOCAL_CHANNELS:
            return message
        newest = await self.delivery.newest_inbox_row(row.id)
        if newest is None:
            raise HttpRefusal(403, "denied", OF_OTHER)
        actor = await self.roles.actor(
            place.channel,
            place.account,
            newest.sender_id,
            place.chat_id,
            place.kind,
            proven=load_body(newest.body).proven,
        )
        if actor.role != "owner":
            raise HttpRefusal(403, "denied", OF_OTHER)
        # what the platform has delivered before is answered before
        return replace(
            message,
            sender=Sender(id=newest.sender_id),
            order_key=newest.order_key,
            written_on="page",
        )
