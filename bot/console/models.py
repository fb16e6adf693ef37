"""Bodies of the console's API, as its description (OpenAPI) and the types of the page have them."""

from typing import Any, Literal

from pydantic import Field

from channels.web.models import ApiModel
from channels.web.validation import RequiredWord, Word


class CommandBody(ApiModel):
    """A command that may be typed in the page."""

    name: str
    usage: str
    zh: str
    en: str


class CommandListBody(ApiModel):
    """All of them, in the order of /help."""

    items: list[CommandBody]


class ContextPartsBody(ApiModel):
    """Tokens of each part of a request."""

    system: int
    tools: int
    summary: int
    history: int
    running: int


class SystemPartBody(ApiModel):
    """A part of the system prompt."""

    name: str
    tokens: int
    left_out: list[str]


class FoldTriggerBody(ApiModel):
    """What brings about the next fold."""

    unit: Literal["tokens", "turns", "messages", "new_tokens", "new_messages"]
    now: int
    at: int


class CutReasonBody(ApiModel):
    """Why a fold ends where it does."""

    score: float
    candidates: int
    terms: list[tuple[str, float]]


class FoldBody(ApiModel):
    """A fold of older turns."""

    id: str
    from_turn: int
    to_turn: int
    at: str
    method: str
    file: str
    tokens_before: int
    tokens_after: int
    state: str = "folded"
    reason: str = ""
    why: CutReasonBody | None = None


class FoldProgressBody(ApiModel):
    """State of a fold that is going on: an event of the stream."""

    state: str
    from_turn: int
    to_turn: int
    tokens_before: int
    tokens_after: int


class TokenCounterBody(ApiModel):
    """How tokens are counted."""

    name: str
    factor: float
    last_error_percent: float


class ContextFactsBody(ApiModel):
    """What the model would be sent now, in figures."""

    epoch: int
    turns: int
    max_turns: int
    live_turns: list[int] = Field([])
    tokens: int
    max_tokens: int
    budget: int
    parts: ContextPartsBody
    system_parts: list[SystemPartBody] = Field([])
    messages: int
    roles: dict[str, int]
    characters: int
    policy: str
    policy_own: bool = False
    folds: list[FoldBody]
    folding: FoldProgressBody | None = None
    next_fold: list[FoldTriggerBody] = Field([])
    counter: TokenCounterBody
    cache_share: float


class ViewPieceBody(ApiModel):
    """A text of a request, as the model reads it."""

    kind: Literal["text", "call", "result", "thinking", "image", "document"]
    text: str
    role: Literal["user", "assistant"] | None = None
    name: str = ""
    failed: bool = False


class OutsideSourceBody(ApiModel):
    """Something from outside in a request."""

    turn: int = Field(description="The turn that it came in; 0 for the summary.")
    name: str


class ViewSegmentBody(ApiModel):
    """A part of a request: of the system prompt, a tool, the summary, or a turn."""

    kind: Literal["system", "tools", "summary", "history", "running"]
    name: str
    tokens: int
    pieces: list[ViewPieceBody]
    cut: bool = Field(description="Its text is longer than what is shown.")
    turn: int | None = None
    tainted: bool = Field(False, description="Some of it may rest on words from outside.")
    sources: list[OutsideSourceBody] = Field(
        [], description="Of a turn: what from outside was in view, newest first."
    )


class ViewBody(ApiModel):
    """The next request, in the order in which the model reads it."""

    items: list[ViewSegmentBody]


class TraceEventBody(ApiModel):
    """One step of the processing of a message."""

    kind: str
    at: str | None = None
    name: str = ""
    state: str = ""
    seconds: float = 0.0
    why: str = ""


class TraceBody(ApiModel):
    """What became of one message, step by step and in words."""

    events: list[TraceEventBody]

    zh: list[str]
    en: list[str]


class MessageTraceQueryBody(ApiModel):
    """Which message's trace is wanted."""

    message: Word = Field("", description="Its id; empty for the newest one that had a turn.")


class LoginPromptBody(ApiModel):
    """What a channel wants of its owner to log in."""

    kind: Literal["qr", "digits", "wait"]
    id: str
    zh: str
    en: str
    expires: str = Field(
        "", description="When a QR code is replaced by a new one; empty if that is not known."
    )


class ChannelStateBody(ApiModel):
    """State of one channel."""

    up: bool
    state: str
    why: str
    since: str
    heard: str
    last_error: str
    last_error_at: str
    quota: str
    login: bool
    prompt: LoginPromptBody | None = None


class ModelStateBody(ApiModel):
    """State of one model."""

    name: str
    use: str
    up: bool
    state: Literal["up", "untried", "resting", "refused"]
    seconds: int
    asked_again_in: int = Field(description="Seconds for which other models are asked first.")
    why: str


class ModelStatesBody(ApiModel):
    """Each model of the chain, then the fast one if it differs."""

    models: list[ModelStateBody]


class StatusBody(ApiModel):
    """State of the running bot."""

    started: str
    uptime_seconds: int
    provider: str
    model: str
    fast_model: str
    trouble: str
    models: list[ModelStateBody]
    waiting: int = Field(description="Messages that wait for their turn.")
    unsent: int = Field(description="Parts of replies that are not sent yet.")
    database: str
    channels: dict[str, ChannelStateBody]
    troubles: dict[str, str]


class TypedCodeBody(ApiModel):
    """Digits that a telephone shows, or nothing to ask for a new code."""

    text: str


class PersonBody(ApiModel):
    """Somebody who may talk to the bot."""

    channel: str
    account: str
    id: str
    kind: str
    role: str
    group: str
    name: str
    by: str
    at: str


class AccessRequestBody(ApiModel):
    """Somebody who asks to be let in."""

    channel: str
    account: str = ""
    id: str
    kind: str
    name: str
    at: str = ""
    expires: str


class AccessFactsBody(ApiModel):
    """Who may talk to the bot, and who asks to."""

    people: list[PersonBody] = Field([])
    waiting: list[AccessRequestBody]
    locked_until: str


class AccessCodeBody(ApiModel):
    """The request to be let in that an act on access means."""

    code: RequiredWord
    channel: Word = ""


class AccessAccountBody(ApiModel):
    """The account or group that an act on access means."""

    channel: RequiredWord
    id: RequiredWord


class AccessRoleBody(AccessAccountBody):
    """A role that is given to an account."""

    role: RequiredWord
    group: Word = Field("", description="Only in this group.")


class LoginCodeBody(ApiModel):
    """A code for a link that signs one browser in, once and within ten minutes."""

    code: str


class ShownTextBody(ApiModel):
    """What an act did, in words."""

    zh: str
    en: str


class ModelUsageBody(ApiModel):
    """Use of one model for one purpose."""

    model: str
    purpose: str
    calls: int
    input: int
    output: int
    cache_read: int = 0
    cache_write: int = 0
    cost: float | None = Field(description="US dollars; null where the price is not known.")


class PersonUsageBody(ApiModel):
    """Use by one person."""

    who: str
    calls: int = 0
    tokens: int
    cost: float | None
    unpriced: list[str]


class UsageBody(ApiModel):
    """Use over three spans."""

    today: list[ModelUsageBody]
    month: list[ModelUsageBody]
    days: list[ModelUsageBody] = Field(alias="30_days")
    today_people: list[PersonUsageBody]
    month_people: list[PersonUsageBody]
    days_people: list[PersonUsageBody] = Field(alias="30_days_people")


class ToolBody(ApiModel):
    """A tool of the owner's chats."""

    name: str
    origin: str = Field(
        description="Where it comes from: built in, a plug-in, a package or a server."
    )
    effect: str
    asks: bool = Field(description="Each call waits for the owner's consent.")
    description: str = Field(description="As the model is told.")
    about: str = Field(description="What it does, in the language that was asked for.")
    in_prompt: bool = Field(
        description="It is described in each request; else the model has to look for it."
    )


class SwitchBody(ApiModel):
    """A plug-in or a skill."""

    name: str
    on: bool
    problem: str


class ToolServerBody(ApiModel):
    """A server of tools (MCP)."""

    name: str
    state: str
    why: str
    reviewed: bool
    offered: int
    changed: int
    listed: int


class ToolsBody(ApiModel):
    """What the model may use in the owner's chats."""

    tools: list[ToolBody]
    off: list[str]
    plugins: list[SwitchBody]
    missing: dict[str, list[str]] = Field(
        description="Secrets that tools of plug-ins need and were not given."
    )
    servers: list[ToolServerBody]
    skills: list[SwitchBody]


class ApprovalBody(ApiModel):
    """A call that waits for the owner's consent."""

    id: str
    tool: str
    arguments: dict[str, Any]
    kind: Literal["command", "script", "call"]
    shown: str = Field(
        description="What runs: the words shell-quoted, the text of the script, or the tool with "
        "its short arguments."
    )
    language: str = Field(description="Of a script.")
    rest: dict[str, Any] = Field(description="The arguments that `shown` does not hold.")
    why: ShownTextBody = Field(description="Why it is asked for.")
    sources: list[str] = Field(description="What the words from outside came with, newest first.")
    mixed: list[str] = Field(description="Words in letters of several scripts.")
    bound: dict[str, Any] = Field(
        description="What the approval depends on apart from the arguments."
    )
    tainted: bool = Field(description="The call may rest on words from outside.")
    digest: str = Field(
        description=(
            "SHA-256 of the call and of all that it depends on; to be sent with the decision."
        )
    )
    lasting: bool = Field(description="It can be allowed for good.")
    conversation: str
    channel: str
    by: str
    expires: str


class ApprovalRuleBody(ApiModel):
    """Calls that need no consent until the rule expires."""

    number: int
    tool: str
    text: str
    at: str
    expires: str
    by: str
    channel: str
    #: Its maker may run commands at this moment; a rule counts only then.
    in_force: bool


class ApprovalsBody(ApiModel):
    """What waits for a decision, and the rules."""

    waiting: list[ApprovalBody]
    rules: list[ApprovalRuleBody]


class DecisionBody(ApiModel):
    """The owner's decision over a call, as it was shown."""

    decision: Literal["once", "deny", "always"]
    digest: str


class DecidedBody(ApiModel):
    """What the decision led to; the chat that asked sees how a call ended."""

    state: Literal["running", "denied"]


class RuleNumberBody(ApiModel):
    """Which rule is meant."""

    number: int


class TaskBody(ApiModel):
    """A reminder, or something that the model does when it is due."""

    id: str
    kind: str
    text: str
    state: str
    reason: str
    next_at: str | None
    zone: str
    conversation: str
    made_at: str
    every_minutes: int | None = None
    cron: str | None = None
    runs_left: int | None = None


class TaskListBody(ApiModel):
    """The open ones, by number."""

    items: list[TaskBody]


class TaskQueryBody(ApiModel):
    """Which tasks are wanted."""

    all: bool = Field(False, description="Ended ones too.")


class TaskActBody(ApiModel):
    """What to do with a task."""

    action: Literal["pause", "resume", "cancel", "run"]
