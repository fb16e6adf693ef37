"""One thing that `mnema doctor` looks at, as it was found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorCheck:
    """One thing looked at."""

    name: str
    ok: bool
    #: How it is, one sentence.
    message: str
    #: What to do, "" for nothing.
    hint: str = ""
