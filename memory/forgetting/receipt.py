"""The receipt of a forgetting: where it was and how often, and what still holds it; never a word of it. Pure."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePlace:
    """A file that was changed. lines: as they were numbered before.

    path: relative to the workspace's root; that of the terminal's history, to the home.
    """

    path: str
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidPlace:
    """Messages of one day and channel. date: YYYY-MM-DD in the person's zone."""

    date: str
    channel: str
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What was done. records: rows of what was known of lines of memory; attachments: files that were deleted.

    backups: copies of the database that may still hold it, as paths below the home; kept: files of the workspace that
    are not memory and still mention it.
    """

    files: tuple[FilePlace, ...] = ()
    said: tuple[SaidPlace, ...] = ()
    summaries: int = 0
    records: int = 0
    attachments: int = 0
    index: bool = False
    backups: tuple[str, ...] = ()
    kept: tuple[str, ...] = ()


def said_places(found: Iterable[tuple[str, str]]) -> tuple[SaidPlace, ...]:
    """(date, channel) of each message, counted."""
    counted = sorted(Counter(found).items())
    return tuple(SaidPlace(date=date, channel=channel, count=count) for (date, channel), count in counted)


def with_files(receipt: Receipt, files: Iterable[FilePlace]) -> Receipt:
    """The receipt with more lines of files; those it names already are named once."""
    lines: dict[str, set[int]] = {place.path: set(place.lines) for place in receipt.files}
    for place in files:
        lines.setdefault(place.path, set()).update(place.lines)
    named = tuple(FilePlace(path=path, lines=tuple(sorted(held))) for path, held in lines.items())
    return replace(receipt, files=named)


def dump_receipt(receipt: Receipt) -> str:
    """A receipt as JSON text."""
    return json.dumps(asdict(receipt), ensure_ascii=False)


def load_receipt(text: str) -> Receipt:
    """The inverse of `dump_receipt`."""
    held = json.loads(text)
    files = tuple(FilePlace(path=place["path"], lines=tuple(place["lines"])) for place in held.pop("files"))
    said = tuple(SaidPlace(**place) for place in held.pop("said"))
    backups, kept = tuple(held.pop("backups")), tuple(held.pop("kept"))
    return Receipt(**held, files=files, said=said, backups=backups, kept=kept)
