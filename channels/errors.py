"""Errors between the bot and a platform, named for what to do about them.

ChannelError
├── Retryable             certainly not delivered; try again
│   └── AwaitsUser        certainly not delivered, and not possible before the person writes again
├── Rejected              will never be accepted
│   ├── BadFormat         would be accepted as plain text
│   ├── AttachmentTooBig  larger than the platform or the bot carries
│   └── ChatMoved         the chat has a new id
├── LoggedOut             the owner must sign in or replace the credentials
├── ReceiverConflict      another program receives with the same credentials
└── Ambiguous             may have been delivered
"""


class ChannelError(Exception):
    """A platform did not do what was asked."""


class Retryable(ChannelError):
    """Surely not delivered; try again after `retry_after` seconds (None: by back-off)."""

    def __init__(self, why: str, *, retry_after: float | None = None, whole_channel: bool = False) -> None:
        super().__init__(why)
        self.retry_after = retry_after
        self.whole_channel = whole_channel


class AwaitsUser(Retryable):
    """Surely not delivered; the platform takes it once the person has written again, and not before."""


class Rejected(ChannelError):
    """The platform will never take this message; `gone` says that the chat itself is closed to us."""

    def __init__(self, why: str, *, gone: bool = False) -> None:
        super().__init__(why)
        self.gone = gone


class BadFormat(Rejected):
    """The markup was refused; the same text would be taken as plain text."""


class AttachmentTooBig(Rejected):
    """The file is larger than the platform, or we, will carry."""


class ChatMoved(Rejected):
    """The chat has a new id."""

    def __init__(self, why: str, *, chat_id: str) -> None:
        super().__init__(why)
        self.chat_id = chat_id


class LoggedOut(ChannelError):
    """The credentials no longer hold; nothing works until the owner acts."""


class ReceiverConflict(ChannelError):
    """Something else receives this account's messages; we do not fight for them."""


class Ambiguous(ChannelError):
    """The answer was lost: the message may or may not have arrived."""
