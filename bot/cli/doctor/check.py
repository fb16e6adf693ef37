"""One thing that `mnema doctor` looks at, as it was found."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class DoctorCheck:
    """One thing looked at. message: how it is, one sentence; hint: what to do, "" for nothing."""

    name: str
    ok: bool
    message: str
    hint: str = ""
