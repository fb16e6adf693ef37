"""Bodies of the API of the web channel, as its description (OpenAPI) and the types of the page have
them.
"""

from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from channels.errors import InvalidValue
from channels.phrases import Phrase
from channels.web.validation import (
    MAX_WORD_CHARS,
    Base64Data,
    CleanText,
    RequiredWord,
    Word,
    at_most,
    check_client_key,
    check_conversation_name,
)

MAX_LINE = 2**31 - 1  # number of a line in a transcript


class ApiModel(BaseModel):
    """A JSON object of the API; a client leaves unknown fields alone."""

    # few of them are needed by a bot that nobody looks at
    model_config = ConfigDict(frozen=True, defer_build=True)


class ErrorDetailBody(ApiModel):
    """What was wrong."""

    code: str
    message: str = Field(description="In the language of Accept-Language: Chinese or English.")
    field: str | None = Field(None, description="Which value of the request is wrong.")
    hint: str | None = Field(None, description="What to do next.")


class ErrorReplyBody(ApiModel):
    """Body of every refusal."""

    error: ErrorDetailBody


class SessionBody(ApiModel):
    """The login of this browser."""

    csrf: str = Field(
        description="Sent as X-CSRF-Token with every change; empty for a bearer token."
    )
    now: str = Field(description="The server's time.")


class SentenceBody(ApiModel):
    """A sentence in both languages."""

    zh: str
    en: str


class ConversationSummaryBody(ApiModel):
    """An entry of the list of conversations."""

    id: str = Field(description="Its name in addresses.")
    title: str = Field(description="Of another person's private chat only their id.")
    channel: str
    updated_at: str
    turns: int = Field(description="Turns in the view.")
    whose: Literal["own", "group", "other"]
    person: str = Field(
        "", description="Of another person's private chat: their name, where it is known."
    )
    chat_id: str = Field(
        "", description="Of a group, or of another person's chat: its id on the channel."
    )
    no_reply: SentenceBody | None = Field(
        None, description="Why one cannot write in it on the page; null where one can."
    )
    pinned: bool
    archived: bool
    unread: int = Field(description="Lines that were not read in the page.")
    named: bool = Field(description="The title was given by the owner.")
    deleting: bool = Field(description="It is about to be deleted, and in no list.")
    etag: str = Field(description="Sent in quotes as If-Match with each change.")


class ConversationQueryBody(ApiModel):
    """Which page of the list is wanted."""

    cursor: str = Field("", description="The `next` of the page before.")
    limit: Annotated[int, at_most(200)] = Field(200, ge=1, le=200)
    own: bool = Field(False, description="Only the owner's own private conversations.")
    q: Word = Field(
        "", description="Only those whose title (of other people: whose id) contains it."
    )
    channel: Word = Field("", description="Only those of this channel.")
    person: Word = Field("", description="Only the chat with this id on its channel.")
    state: Literal["", "archived", "unread", "all"] = Field(
        "", description="Archived ones are left out by default."
    )


class ConversationPageBody(ApiModel):
    """A page of the list, newest first, pinned ones before all others."""

    items: list[ConversationSummaryBody]
    next: str | None = Field(description="Cursor of the next page; null on the last one.")


class LineFileBody(ApiModel):
    """A file that came or went with a line."""

    id: str = Field(description="Its name below /blobs; empty where it is still at the platform.")
    name: str
    media_type: str
    size: int
    picture: bool = Field(description="A small picture of it can be had.")


class RecalledBody(ApiModel):
    """Where a passage is that an answer was given of memory."""

    path: str = Field(description="The file; empty for something that was said.")
    line: int
    last: int
    conversation: str = Field(description="The conversation in which it was said.")
    title: str
    turn: int


class BranchOriginBody(ApiModel):
    """What a branch was made from: a conversation, before one of its turns."""

    conversation: str
    title: str
    turn: int


class AskedApprovalBody(ApiModel):
    """An approval that a line asks for; /approvals has what waits."""

    id: str
    state: Literal["asked", "approved", "running", "done", "failed", "unknown", "denied", "ended"]


class AnswerUsageBody(ApiModel):
    """What a turn took of one model."""

    model: str
    input: int = Field(description="Tokens, cached ones included.")
    output: int
    cached: int
    cost: float | None = Field(description="US dollars; null where the price is not known.")


class TranscriptMessageBody(ApiModel):
    """A line of a transcript."""

    id: str
    role: Literal["user", "assistant", "notice"]
    text: str
    at: str
    line: int = Field(description="Place in the transcript, from 1.")
    reply_to: str | None = Field(None, description="Id of the message that it answers.")
    tool: str | None = Field(
        None, description="Of a notice that is the outcome of a call: the tool."
    )
    call_end: Literal["done", "failed", "unknown", "denied"] | None = Field(
        None, description="How that call ended, where a person decided over it."
    )
    speaker: str | None = Field(
        None, description="In a group: who wrote it, by the platform's name."
    )
    written_on: Literal["page"] | None = Field(
        None, description="In a chat of another channel: the person typed it on the page."
    )
    origin: BranchOriginBody | None = Field(
        None, description="Of the notice that begins a branch: what it was branched from."
    )
    approval: AskedApprovalBody | None = Field(
        None, description="Of a notice that asks for an approval."
    )
    state: (
        Literal["queued", "at_work", "given_up", "sending", "unsent", "unknown", "stopped", "cut"]
        | None
    ) = Field(
        None,
        description="Of a message what is still to come, of a reply how its sending stands; "
        "`stopped` or `cut`: the text is what was shown of an answer that was not finished.",
    )
    files: list[LineFileBody] | None = None
    turn: int | None = Field(None, description="Number of the turn that an answer ended.")
    steps: int | None = Field(None, description="Tool calls of that turn.")
    recalled: list[RecalledBody] | None = None
    usage: list[AnswerUsageBody] | None = None
    marks: list[tuple[int, int]] | None = Field(
        None, description="Of a search: where the words are, as [from, to]."
    )


class MessageQueryBody(ApiModel):
    """Which page of a transcript is wanted; without any of these the newest one."""

    before: str = Field("", description="Id or line of a message.")
    after: int | None = Field(None, ge=0, le=MAX_LINE, description="Line of a message.")
    around: str = Field(
        "", description="Id or line of a message, or turn-N: the lines on both sides of it."
    )
    q: Word = Field("", description="Only messages that hold these words, newest first.")
    limit: Annotated[int, at_most(200)] = Field(50, ge=1, le=200)


class MessagePageBody(ApiModel):
    """A page of a transcript, oldest first; of a search newest first."""

    items: list[TranscriptMessageBody]
    line: int | None = Field(None, description="The line that `around` names.")


def _clean_title(title: str) -> str:
    cleaned = " ".join(title.replace("\0", "").split())
    if len(cleaned) > MAX_WORD_CHARS:
        raise InvalidValue(Phrase("title may have {most} characters", most=MAX_WORD_CHARS))
    return cleaned


class ConversationChoiceBody(ApiModel):
    """What the owner chooses for a conversation; what is left out stays."""

    model_config = ConfigDict(extra="forbid")

    title: Annotated[str, AfterValidator(_clean_title)] | None = Field(
        None, description="Up to 200 characters; empty shows the first words again."
    )
    pinned: bool | None = None
    archived: bool | None = None


class BranchBody(ApiModel):
    """Where a branch begins, and its name."""

    message: RequiredWord = Field(description="Id of the person's message that it leaves out.")
    name: Annotated[str, AfterValidator(check_conversation_name)] = Field(
        json_schema_extra={"pattern": "^[A-Za-z0-9._:-]{1,128}$"}
    )


class DaysOfChatQueryBody(ApiModel):
    """Whose days are meant."""

    offset: int = Field(0, ge=-86_400, le=86_400, description="Seconds east of UTC.")


class TranscriptDayBody(ApiModel):
    """A day on which something was said."""

    at: str = Field(description="When its first line came.")
    line: int


class TranscriptDaysBody(ApiModel):
    """The days of a conversation, oldest first."""

    items: list[TranscriptDayBody]


class DeletionBody(ApiModel):
    """A conversation that is about to be deleted."""

    seconds: float = Field(description="So long it can be restored.")
    etag: str


class WaitingBody(ApiModel):
    """How many things wait for the owner."""

    pairing: int = Field(description="People and groups that ask to be let in.")
    approvals: int = Field(description="Calls of tools that need consent.")
    logins: int = Field(description="Channels that wait for a login.")
    checks: int = Field(description="What does not work now.")
    key_missing: bool = Field(description="No model is set up: the offline one answers.")


class SeenBody(ApiModel):
    """How far a conversation was read."""

    line: int = Field(ge=0, le=MAX_LINE)


class ToolStepBody(ApiModel):
    """A tool call of a turn."""

    tool: str
    state: str
    ms: int
    arguments: str
    result: str
    characters: int = Field(description="Of the whole result; up to 1,000 of them are in `result`.")
    tainted: bool = Field(description="It holds words from outside.")
    images: list[LineFileBody]


class ToolStepsBody(ApiModel):
    """The tool calls of a turn, in order."""

    items: list[ToolStepBody]


class FileQueryBody(ApiModel):
    """Where a file is; it is given to those who may read that conversation."""

    conversation: str
    message: RequiredWord = Field(
        description="Id of the message that it came or went with, or of the answer of its turn."
    )


class AttachedFileBody(ApiModel):
    """A file that is sent with a message."""

    name: CleanText = ""
    media_type: str = Field("", description="Such as image/png.")
    data: Base64Data = Field(description="Base64.")


class NewMessageBody(ApiModel):
    """A message to the bot; its conversation is created by the first one."""

    model_config = ConfigDict(extra="forbid")

    conversation: Annotated[str, AfterValidator(check_conversation_name)] = Field(
        json_schema_extra={"pattern": "^[A-Za-z0-9._:-]{1,128}$"}
    )
    text: CleanText = ""
    key: Annotated[str, AfterValidator(check_client_key)] | None = Field(
        None,
        description=(
            "The client's own id, up to 200 characters: a repeat with the same key is one message."
        ),
    )
    attachments: list[AttachedFileBody] | None = None


class AcceptedBody(ApiModel):
    """A message that is stored."""

    id: str


class DoneBody(ApiModel):
    """An act that was carried out."""

    ok: bool


class ConversationStreamQueryBody(ApiModel):
    """Where a stream of one conversation begins."""

    after: str = Field("", description="A line, or the id of an event; Last-Event-ID goes first.")


class StreamQueryBody(ApiModel):
    """What one tab follows."""

    topics: str = Field(
        "conversations", description="`conversations`, `c:ID`, `jobs`, `logs`; separated by commas."
    )
    conversation: str = Field("", description="The same as `c:ID`.")
    after: str = Field(
        "",
        description="Where `c:ID` begins: a line, or the id of an event; Last-Event-ID goes first.",
    )
