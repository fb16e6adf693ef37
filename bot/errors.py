"""All errors of the bot, grouped by who has to act.

MnemaError
├── ConfigError                 the operator
├── HomeLocked                  the operator: another instance runs
├── FoldFailed                  the operator: the daily log cannot be written
├── ModelError                  the turn worker:
│   ├── Transient               back off, retry
│   │   └── Damaged             the same; it may lie in this conversation alone
│   ├── RateLimited             wait exactly retry_after, retry
│   ├── Stalled                 timeout of first byte, gap or step: retry, fewer times
│   ├── Overflow                the request is too long: fit it again
│   ├── BadRequest              repair once, else report
│   ├── BadImage                drop that picture, once
│   ├── TooLarge                too many bytes: shrink attachments, once
│   └── Unusable                no retry: the other models of the chain first
│       ├── KeyRefused          401, 402, 403
│       ├── NoSuchModel         404
│       └── QuotaSpent          429 of a spend or plan limit
├── OverBudget                  the person: they see the text
├── ToolFailed                  the model: the text becomes the tool's result
│   └── OutcomeUnknown          the same, and it may have happened
└── AccessDenied                the sender: they see the text
"""

from dataclasses import dataclass


class MnemaError(Exception):
    """Base class of all errors of the bot."""


class ConfigError(MnemaError):
    """Invalid configuration; the text names key, file, line and the valid form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetShortage:
    """Why a request cannot fit, in tokens."""

    #: Of the model, and what is kept of it for the answer.
    window: int
    reserve: int
    #: `agent_max_context_tokens`.
    max_tokens: int
    #: Of system parts and tools; with the newest message where that is too long.
    fixed: int
    #: Smallest budget that works.
    least: int
    #: Smallest window that works.
    least_window: int = 0
    #: Of the tools alone.
    tools: int = 0
    #: Of SOUL.md, which is always included in full.
    soul: int = 0
    #: The fixed part would fit without the newest message.
    is_message: bool = False

    @property
    def is_window(self) -> bool:
        """Whether the model's window binds, and not the configured limit."""
        return self.window - self.reserve < self.max_tokens


class BudgetTooSmall(ConfigError):
    """The fixed part of the prompt, or the newest message with it, exceeds the context budget."""

    def __init__(self, shortage: BudgetShortage) -> None:
        binding = (
            "what a request may have of the model's window"
            if shortage.is_window
            else "agent_max_context_tokens"
        )
        super().__init__(
            f"{binding} must be at least {shortage.least:,}; system and tools take the rest"
        )
        self.shortage = shortage


class FoldFailed(MnemaError):
    """The request needs a fold to fit, and the fold could not be written."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the daily log cannot be written: {why}")
        self.why = why


class HomeLocked(MnemaError):
    """Another instance holds this home."""


class ModelError(MnemaError):
    """A model call failed. status: HTTP status, 0 for none; kind: the provider's error type or
    code.
    """

    def __init__(self, why: str, *, status: int = 0, kind: str = "") -> None:
        super().__init__(why)
        self.status = status
        self.kind = kind


class Transient(ModelError):
    """Overload, server error or connection failure: retry, after `retry_after` seconds if given."""

    def __init__(
        self, why: str, *, status: int = 0, kind: str = "", retry_after: float | None = None
    ) -> None:
        super().__init__(why, status=status, kind=kind)
        self.retry_after = retry_after


class Damaged(Transient):
    """The answer broke off or cannot be read, though the provider had begun it."""


class RateLimited(ModelError):
    """Too many requests; `retry_after` in seconds, None if unknown."""

    def __init__(
        self, why: str, *, retry_after: float | None = None, status: int = 429, kind: str = ""
    ) -> None:
        super().__init__(why, status=status, kind=kind)
        self.retry_after = retry_after


class Stalled(ModelError):
    """The provider sent nothing for too long."""


class Overflow(ModelError):
    """The request is longer than the model's window. actual, limit: tokens as the provider
    reported, 0 if unknown.

    model: id of the model called, "" for the one in the request.
    """

    def __init__(
        self,
        why: str,
        *,
        status: int = 400,
        kind: str = "",
        actual: int = 0,
        limit: int = 0,
        model: str = "",
    ) -> None:
        super().__init__(why, status=status, kind=kind)
        self.actual = actual
        self.limit = limit
        self.model = model


class BadRequest(ModelError):
    """The provider rejected the request as malformed."""


class BadImage(ModelError):
    """The provider rejected a picture. message, part: its position in the request, -1 if
    unknown.
    """

    def __init__(
        self, why: str, *, status: int = 400, kind: str = "", message: int = -1, part: int = -1
    ) -> None:
        super().__init__(why, status=status, kind=kind)
        self.message = message
        self.part = part


class TooLarge(ModelError):
    """The request has more bytes than the provider accepts."""


class Unusable(ModelError):
    """The provider refuses this model, mostly until its configuration or account changes: only the
    owner can tell.
    """


class KeyRefused(Unusable):
    """The key is wrong, unpaid, or not allowed to do this."""


class NoSuchModel(Unusable):
    """The provider has no model of that name."""


class QuotaSpent(Unusable):
    """A spending or plan limit is reached."""


class OverBudget(MnemaError):
    """A person has used up their budget; the text is written for them."""


class ToolFailed(MnemaError):
    """A tool call failed; the text is written for the model."""


class OutcomeUnknown(ToolFailed):
    """A tool call broke off after it was sent: it may have happened.

    The text is written for the model.
    """


class AccessDenied(MnemaError):
    """Not allowed; the text is written for the sender and reveals nothing they may not know."""
