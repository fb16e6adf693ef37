"""Bodies of the API of the memory, as its description (OpenAPI) and the types of the page have
them.
"""

import re
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from channels.phrases import Phrase
from channels.web.models import ApiModel
from channels.web.validation import Day, IdCursor, Word, at_most, matches

_MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])", re.ASCII)


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

    q: Word = Field("", description="Words that the fact contains.")
    category: Literal["", "user_preference", "instruction", "project_context", "skill", "fact"] = ""
    importance: int = Field(1, ge=1, le=10, description="The least one.")
    former: bool = Field(False, description="Those that no longer hold, instead of those that do.")
    cursor: IdCursor = Field("", description="The `next` of the page before.")
    limit: Annotated[int, at_most(200)] = Field(50, ge=1, le=200)


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
    obstacle: Literal["forgotten", "live", "changed"] | None = Field(
        description="Why it cannot be put back."
    )


class FactChangeBody(ApiModel):
    """How a fact should be; null leaves a value."""

    text: (
        Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=10_000)]
        | None
    ) = None
    category: (
        Literal["user_preference", "instruction", "project_context", "skill", "fact"] | None
    ) = None
    importance: Annotated[int, Field(ge=1, le=10)] | None = None


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

    chosen: list[Annotated[int, Field(ge=0)]] | None = Field(
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
    versions: int = Field(description="Former versions of files that mentioned it.")
    attachments: int
    index: bool
    backups: list[str] = Field(description="Copies that may still hold it.")
    kept: list[str] = Field(description="Files of the workspace that still mention it.")


class DaysQueryBody(SpaceQueryBody):
    """Which month is wanted."""

    month: Annotated[str, matches(_MONTH, Phrase("month must be a month such as 2026-11"))] = Field(
        "", description="Such as 2026-11; empty for this one."
    )


class DiaryDayBody(ApiModel):
    """A day with a diary."""

    day: str
    turns: int = Field(description="Turns that were folded into it.")
    entries: int


class DaysBody(ApiModel):
    """The days of a month that have a diary."""

    month: str
    first: str = Field(description="First day that has one; empty for none.")
    last: str
    items: list[DiaryDayBody]


class DiaryLineBody(ApiModel):
    """A line of the diary."""

    time: str
    speaker: str
    text: str


class DiaryEntryBody(ApiModel):
    """What stands together in the diary: a fold of turns, or lines that somebody wrote."""

    time: str
    channel: str
    from_turn: int = Field(description="0 where no fold is meant.")
    to_turn: int
    state: Literal["", "stale", "undone"]
    conversation: str = Field(description="The one that was folded; empty if it is gone.")
    title: str
    line: int
    lines: list[DiaryLineBody]
    more: int = Field(description="Lines that are left out here.")


class DiaryBody(ApiModel):
    """The diary of one day."""

    day: str
    path: str = Field(description="Its file; empty where it is not the owner's to open.")
    items: list[DiaryEntryBody]


class NightsQueryBody(SpaceQueryBody):
    """Which nights are wanted."""

    cursor: IdCursor = Field("", description="The `next` of the page before.")
    limit: Annotated[int, at_most(200)] = Field(20, ge=1, le=200)


class MergedLinesBody(ApiModel):
    """Lines that said the same, and what stands for them."""

    parts: list[str]
    text: str


class DroppedLineBody(ApiModel):
    """A line that no longer held."""

    text: str
    by: str = Field(description="What stands for it.")
    since: str


class GatheredSourceBody(ApiModel):
    """A line of the diary."""

    text: str
    day: str
    line: int


class GatheredLineBody(ApiModel):
    """A line that recurred in the diary."""

    text: str
    category: str
    sources: list[GatheredSourceBody]


class NightBody(ApiModel):
    """What one night changed."""

    id: str
    day: str
    at: str
    state: Literal["planned", "written", "done", "refused", "undone"]
    reason: str = Field(description="Why nothing was changed.")
    diary: str
    merged: list[MergedLinesBody]
    dropped: list[DroppedLineBody]
    gathered: list[GatheredLineBody]
    forgotten: bool = Field(
        description="Part of what it changed was forgotten since, and is not shown."
    )


class NightPageBody(ApiModel):
    """A page of nights, newest first."""

    items: list[NightBody]
    next: str | None = Field(description="Cursor of the next page; null on the last one.")


class NightUndoneBody(ApiModel):
    """What taking a night back did."""

    whole: bool = Field(
        description="The file is byte for byte as it was before; else later changes stay."
    )
    back: list[str]
    gone: list[str]


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

    q: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1_000)]
    limit: Annotated[int, at_most(200)] = Field(10, ge=1, le=200)
    space: str = ""
    since: Day = Field("", description="A day such as 2026-11-20.")
    until: Day = Field("", description="A day such as 2026-11-20.")
    as_of: Day = Field("", description="A day such as 2026-11-20: from what was known at its end.")
    speaker: Word = ""
    kind: Literal["", "memory", "log", "said", "tool"] = ""
    everyone: bool = Field(
        False, description="In every memory; those of others are noted in the audit list."
    )


class MineBody(ApiModel):
    """A file or folder that its owner calls their own."""

    path: str = Field(max_length=1_000, description="In the owner's workspace.")


class TakenOverBody(ApiModel):
    """What became of it."""

    removed: int = Field(description="How many marks of outside origin there were.")


class IndexBody(ApiModel):
    """Which search index is rebuilt."""

    space: str | None = Field(None, description="Whose memory; null for all.")


class ScoreSplitBody(ApiModel):
    """What a score is made of; together it."""

    words: float
    dates: float
    vector: float
    nearby: float = Field(description="Lent by what stands beside it, and by its day.")


class SearchHitBody(ApiModel):
    """What was found: lines of a file, or a turn of a conversation."""

    text: str
    kind: str
    score: float
    source: str
    split: ScoreSplitBody | None = None
    marks: list[tuple[int, int]] = Field(
        [], description="Where words of the question are, as [from, to]."
    )
    path: str | None = None
    line: int | None = None
    turn: int | None = None
    conversation: str | None = None
    title: str | None = Field(None, description="Title of the conversation.")
    speaker: str | None = None
    space: str | None = Field(None, description="Whose memory; empty for the owner's.")
    date: str | None = None
    outside: bool = Field(
        False, description="It may hold words from outside; the text begins with a mark then."
    )
    since: str = Field("", description="Day since which a line of memory holds.")
    former: str = Field("", description="The line that it replaced.")
    later: str = Field("", description="The fact that replaced what is said.")
    later_on: str = Field("", description="Day since which that one holds.")


class SearchHitsBody(ApiModel):
    """Best first."""

    items: list[SearchHitBody]
    left_out: int = Field(0, description="Memories that were not searched, for there are too many.")


class ModelTextBody(ApiModel):
    """What a search gives the model."""

    text: str
