"""Bodies of the API of the memory, as its description (OpenAPI) and the types of the page have them."""

from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from channels.web.models import ApiModel


class MemorySpaceBody(ApiModel):
    """Whose memory there is."""

    space: str = Field(description="Empty for the owner's.")
    whose: Literal["own", "person", "group"]
    name: str
    accounts: list[str] = Field([], description="CHANNEL:ID of those who write there.")


class MemorySpaceListBody(ApiModel):
    """The owner's, then the others by name."""

    items: list[MemorySpaceBody]


class SpaceQueryBody(ApiModel):
    """Whose memory is meant; reading another's is written to the audit list."""

    space: str = Field("", description="Empty for the owner's.")


class FactQueryBody(SpaceQueryBody):
    """Which facts are wanted."""

    q: str = Field("", max_length=200, description="Words that the fact contains.")
    category: Literal["", "user_preference", "project_context", "skill", "fact"] = ""
    importance: int = Field(1, ge=1, le=10, description="The least one.")
    former: bool = Field(False, description="Those that no longer hold, instead of those that do.")
    cursor: str = Field("", pattern=r"^([0-9a-z]{26})?$", description="The `next` of the page before.")
    limit: int = Field(50, ge=1, le=200)


class FactBody(ApiModel):
    """A fact of the long-term memory."""

    id: str
    text: str = Field(description="Empty once it is forgotten.")
    category: str
    importance: int
    state: Literal["live", "superseded", "gone", "forgotten"]
    origin: Literal["extraction", "person", "tool", "dream", "file"]
    created_at: str
    used_at: str | None = Field(description="When a search last gave it; null for never.")
    uses: int
    until: str | None = Field(None, description="When it was superseded or removed.")
    quote: str = Field("", description="The words that it rests on.")
    said_at: str | None = None
    channel: str = ""
    etag: str


class FactPageBody(ApiModel):
    """A page of facts, newest first."""

    items: list[FactBody]
    next: str | None = Field(description="Cursor of the next page; null on the last one.")


class FactFactsBody(FactBody):
    """A fact with all that is known of it."""

    conversation: str = Field("", description="Where it was said.")
    title: str = ""
    turn: int = 0
    formers: list[FactBody] = Field(description="What it superseded, newest first.")
    successor: FactBody | None = Field(description="What superseded it.")
    obstacle: Literal["forgotten", "live", "changed"] | None = Field(description="Why it cannot be put back.")


class FactChangeBody(ApiModel):
    """How a fact should be; null leaves a value."""

    text: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=10_000)] | None = None
    category: Literal["user_preference", "project_context", "skill", "fact"] | None = None
    importance: Annotated[int, Field(strict=True, ge=1, le=10)] | None = None


class ForgetPlaceBody(ApiModel):
    """A place that says what is to be forgotten."""

    kind: Literal["memory", "log", "version", "said"]
    text: str = Field(description="The sentences that go.")
    path: str = ""
    line: int = 0
    date: str = ""
    channel: str = ""
    mine: bool = Field(False, description="A person wrote it, not the bot.")


class ForgetPreviewBody(ApiModel):
    """What forgetting a fact takes away; nothing is changed yet."""

    code: str = Field(description="Confirms it, within ten minutes.")
    items: list[ForgetPlaceBody]


class ForgetChoiceBody(ApiModel):
    """Which of the places go."""

    chosen: list[Annotated[int, Field(strict=True, ge=0)]] | None = Field(
        None, description="Their positions; null for all, and all that say the same."
    )


class ForgottenLinesBody(ApiModel):
    """Lines of one file."""

    path: str
    lines: list[int]


class ForgottenMessagesBody(ApiModel):
    """Messages of one day and channel."""

    date: str
    channel: str
    count: int


class ForgetReceiptBody(ApiModel):
    """Where the forgotten words were, how often, and where they may remain; without the words."""

    files: list[ForgottenLinesBody]
    said: list[ForgottenMessagesBody]
    summaries: int
    records: int
    views: int = Field(description="Past requests that showed it.")
    attachments: int
    index: bool
    backups: list[str] = Field(description="Copies that may still hold it.")
    kept: list[str] = Field(description="Files of the workspace that still mention it.")


class MemoryFileBody(ApiModel):
    """A Markdown file of the workspace."""

    path: str
    size: int
    updated_at: str


class MemoryFileListBody(ApiModel):
    """All of them, by path."""

    items: list[MemoryFileBody]


class MemoryFileTextBody(MemoryFileBody):
    """A file with its text; the ETag names this version."""

    text: str


class NewTextBody(ApiModel):
    """A file's new text."""

    text: str


class SearchQueryBody(ApiModel):
    """A search of the memory."""

    q: str = Field(min_length=1, max_length=1_000)
    limit: int = Field(10, ge=1, le=200)
    space: str = ""
    since: str = Field("", description="A day such as 2026-11-20.")
    until: str = Field("", description="A day such as 2026-11-20.")
    speaker: str = ""


class SearchHitBody(ApiModel):
    """What was found: lines of a file, or a turn of a conversation."""

    text: str
    kind: str
    score: float
    source: str
    path: str | None = None
    line: int | None = None
    turn: int | None = None
    conversation: str | None = None
    title: str | None = Field(None, description="Title of the conversation.")
    date: str | None = None


class SearchHitsBody(ApiModel):
    """Best first."""

    items: list[SearchHitBody]
