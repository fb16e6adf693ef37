"""Our errors, named for who should act on them.

MnemaError
├── ConfigError                 the operator
├── Busy                        the operator: another instance runs
├── ModelError                  the worker; see each for what it does
│   ├── Transient               back off, try again
│   ├── RateLimited             wait exactly retry_after, try again
│   ├── Stalled                 no byte, a gap, or too long: try again, less often
│   ├── Overflow                the request is too long: fit again
│   ├── BadRequest              repair once, else tell
│   ├── BadImage                drop that picture from the view, once
│   ├── TooLarge                too many bytes: shrink attachments, once
│   └── Unusable                this model is of no use until something changes: next in the chain
│       ├── KeyRefused          401, 402, 403
│       ├── NoSuchModel         404
│       └── QuotaSpent          429 of a spend or plan limit
├── OverBudget                  the person: the text is what they are told
├── ToolFailed                  the model: the text becomes the tool's result
└── Denied                      the sender
"""


class MnemaError(Exception):
    """The root of ours."""


class ConfigError(MnemaError):
    """Configuration is wrong; the text names key, file, line and what would be right."""


class BudgetTooSmall(ConfigError):
    """Not even what stands before the conversation fits; `least` (tokens) is the smallest that would do.

    soul: tokens of SOUL.md, which always goes in whole.
    """

    def __init__(self, least: int, soul: int = 0) -> None:
        super().__init__(f"agent_max_context_tokens must be at least {least:,}; system and tools take the rest")
        self.least = least
        self.soul = soul


class FoldFailed(MnemaError):
    """A request fits only after a fold, and the fold could not be written. why: as the system said it."""

    def __init__(self, why: str) -> None:
        super().__init__(f"the daily log cannot be written: {why}")
        self.why = why


class HomeLocked(MnemaError):
    """Another instance holds this home."""


class ModelError(MnemaError):
    """A model call failed. status: HTTP status, 0 for none; kind: the wire's own type or code."""

    def __init__(self, why: str, *, status: int = 0, kind: str = "") -> None:
        super().__init__(why)
        self.status = status
        self.kind = kind


class Transient(ModelError):
    """Overloaded, a server's fault, or the connection: worth another try, after `retry_after` seconds if given."""

    def __init__(self, why: str, *, status: int = 0, kind: str = "", retry_after: float | None = None) -> None:
        super().__init__(why, status=status, kind=kind)
        self.retry_after = retry_after


class RateLimited(ModelError):
    """Too many requests; `retry_after` in seconds, None when the wire did not say."""

    def __init__(self, why: str, *, retry_after: float | None = None, status: int = 429, kind: str = "") -> None:
        super().__init__(why, status=status, kind=kind)
        self.retry_after = retry_after


class Stalled(ModelError):
    """Nothing came for too long."""


class Overflow(ModelError):
    """The request is longer than the model's window. actual, limit: tokens as the wire said, 0 for unknown.

    model: the id of the one that was asked, "" for the one the request named.
    """

    def __init__(
        self, why: str, *, status: int = 400, kind: str = "", actual: int = 0, limit: int = 0, model: str = ""
    ) -> None:
        super().__init__(why, status=status, kind=kind)
        self.actual = actual
        self.limit = limit
        self.model = model


class BadRequest(ModelError):
    """The wire refused the request's form."""


class BadImage(ModelError):
    """The wire refused a picture. message, part: where it is in the request, -1 for unknown."""

    def __init__(self, why: str, *, status: int = 400, kind: str = "", message: int = -1, part: int = -1) -> None:
        super().__init__(why, status=status, kind=kind)
        self.message = message
        self.part = part


class TooLarge(ModelError):
    """More bytes than the wire takes."""


class Unusable(ModelError):
    """This model will not answer until its configuration or account changes."""


class KeyRefused(Unusable):
    """The key is wrong, unpaid, or not allowed to do this."""


class NoSuchModel(Unusable):
    """The wire knows no model of that name."""


class QuotaSpent(Unusable):
    """A spending or plan limit is reached."""


class OverBudget(MnemaError):
    """Somebody has used up what they may use; the text is written for them."""


class ToolFailed(MnemaError):
    """A tool could not do it; the text is written for the model."""


class AccessDenied(MnemaError):
    """Not allowed; the text is written for the sender and names nothing they may not know."""
