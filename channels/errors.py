"""Errors between the bot and a platform, named for what to do about them.

ChannelError
├── Retryable             certainly not delivered; try again
│   └── AwaitsUser        certainly not delivered; not possible before the user writes again
├── Rejected              will never be accepted
│   ├── BadFormat         would be accepted as plain text
│   ├── AttachmentTooBig  larger than the platform or the bot accepts
│   └── ChatMoved         the chat has a new id
├── LoggedOut             the owner must sign in or replace the credentials
├── ReceiverConflict      another program receives with the same credentials
└── Ambiguous             may have been delivered
"""

from channels.phrases import Phrase


class ChannelError(Exception):
    """A call to a platform failed."""


class Retryable(ChannelError):
    """Certainly not delivered; try again after `retry_after` seconds (None: by back-off)."""

    def __init__(
        self, why: str, *, retry_after: float | None = None, whole_channel: bool = False
    ) -> None:
        super().__init__(why)
        self.retry_after = retry_after
        self.whole_channel = whole_channel


class AwaitsUser(Retryable):
    """Certainly not delivered; the platform accepts nothing before the user writes again."""


class Rejected(ChannelError):
    """The platform will never accept this message. `gone`: the chat itself no longer accepts
    any.
    """

    def __init__(self, why: str, *, gone: bool = False) -> None:
        super().__init__(why)
        self.gone = gone


class BadFormat(Rejected):
    """The markup was refused; as plain text the message would be accepted."""


class AttachmentTooBig(Rejected):
    """The file is larger than the platform or the bot accepts."""


class ChatMoved(Rejected):
    """The chat has a new id."""

    def __init__(self, why: str, *, chat_id: str) -> None:
        super().__init__(why)
        self.chat_id = chat_id


class LoggedOut(ChannelError):
    """The credentials are no longer valid; nothing works until the owner acts."""


class ReceiverConflict(ChannelError):
    """Another program receives this account's messages; this one does not compete for them."""


class Ambiguous(ChannelError):
    """The response was lost: the message may or may not have been delivered."""


class InvalidValue(ValueError):
    """A value in a request is wrong; the phrase says what would be right."""

    def __init__(self, phrase: Phrase) -> None:
        super().__init__(str(phrase))
        self.phrase = phrase
