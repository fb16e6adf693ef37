"""Bodies of the API of the web channel, as its description (OpenAPI) and the types of the page have them."""

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class ApiModel(BaseModel):
    """A JSON object of the API; a client leaves unknown fields alone."""

    model_config = ConfigDict(frozen=True, defer_build=True)  # few of them are needed by a bot that nobody looks at


class ErrorDetailBody(ApiModel):
    """What was wrong."""

    code: str
    message: str


class ErrorReplyBody(ApiModel):
    """Body of every refusal."""

    error: ErrorDetailBody


class SessionBody(ApiModel):
    """The login of this browser."""

    csrf: str = Field(description="Sent as X-CSRF-Token with every change; empty for a bearer token.")
    now: str = Field(description="The server's time.")


class ConversationSummaryBody(ApiModel):
    """An entry of the list of conversations."""

    id: str = Field(description="Its name in addresses.")
    title: str = Field(description="Of another person's private chat only their id.")
    channel: str
    updated_at: str
    turns: int = Field(description="Turns in the view.")
    whose: Literal["own", "group", "other"]


class ConversationQueryBody(ApiModel):
    """Which page of the list is wanted."""

    cursor: str = Field("", description="The `next` of the page before.")
    limit: int = Field(200, ge=1, le=200)
    own: bool = Field(False, description="Only the owner's own private conversations.")
    q: str = Field("", max_length=200, description="Only those whose title (of other people: whose id) contains it.")


class ConversationPageBody(ApiModel):
    """A page of the list, newest first."""

    items: list[ConversationSummaryBody]
    next: str | None = Field(description="Cursor of the next page; null on the last one.")


class TranscriptMessageBody(ApiModel):
    """A line of a transcript."""

    id: str
    role: Literal["user", "assistant", "notice"]
    text: str
    at: str
    line: int = Field(description="Place in the transcript, from 1.")
    reply_to: str | None = Field(None, description="Id of the message that it answers.")
    state: Literal["queued", "at_work", "given_up", "sending", "unsent", "unknown"] | None = Field(
        None, description="Of a message what is still to come, of a reply how its sending stands."
    )


class MessageQueryBody(ApiModel):
    """Which page of a transcript is wanted; without `before` and `after` the newest one."""

    before: str = Field("", description="Id or line of a message.")
    after: int | None = Field(None, ge=0, description="Line of a message.")
    limit: int = Field(50, ge=1, le=200)


class MessagePageBody(ApiModel):
    """A page of a transcript, oldest first."""

    items: list[TranscriptMessageBody]


class AttachedFileBody(ApiModel):
    """A file that is sent with a message."""

    name: str
    media_type: str
    data: str = Field(description="Base64.")


class NewMessageBody(ApiModel):
    """A message to the bot; its conversation is created by the first one."""

    conversation: str = Field(pattern=r"^[A-Za-z0-9._:-]{1,128}$")
    text: str = ""
    key: str = Field("", max_length=200, description="The client's own id: a repeat with the same key is one message.")
    attachments: list[AttachedFileBody] = Field([])


class AcceptedBody(ApiModel):
    """A message that is stored."""

    id: str


class DoneBody(ApiModel):
    """An act that was carried out."""

    ok: bool


class StreamQueryBody(ApiModel):
    """What one tab follows."""

    topics: str = Field("conversations", description="`conversations`, `c:ID`, `jobs`, `logs`; separated by commas.")
    after: str = Field("", description="Where `c:ID` begins: a line, or the id of an event; Last-Event-ID goes first.")
