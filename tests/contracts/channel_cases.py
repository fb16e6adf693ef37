"""Test cases of the channel contract declare what they need, and suites what their platform
lacks.
"""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, TypeVar, get_args

import pytest

from channels.message import Capabilities
from tests.by_night import IS_NIGHT
from tests.contracts.channel_stage import Fault, Inbox, Pages, Stage, bind

# What a case may need that a channel's capabilities tell of: claimed there, it cannot be left out
# here.
CLAIMED: dict[str, Callable[[Capabilities], bool]] = {
    "say_in_group": lambda able: able.groups,
    "edit": lambda able: "edit" in able.receives,
    "withdraw": lambda able: "delete" in able.receives,
    "quote": lambda able: "quote" in able.receives,
    "press": lambda able: "button" in able.receives,
    "send_album": lambda able: "album" in able.receives,
    "send_picture": lambda able: "picture" in able.receives,
    "send_file": lambda able: "file" in able.receives,
    "files_seen": lambda able: bool(able.file_bytes or able.picture_bytes),
    "live": lambda able: able.live and able.live_display not in ("", "typing"),
    "keyed": lambda able: able.keyed,
    "limit": lambda able: bool(able.limit),
}

Case = TypeVar("Case", bound=Callable[..., Any])
METHODS = {name for name in vars(Stage) if not name.startswith("_")} | {*Stage.__annotations__}
OF_THE_CHANNEL = {"connection_status", "probe"}
KNOWN = METHODS | OF_THE_CHANNEL | {*CLAIMED} | {*get_args(Fault)} | {"silent", "refused", "errors"}


def needs(*words: str) -> Callable[[Case], Case]:
    """Declare what a test case needs: methods of the stage, faults, cuts, or claims of the
    capabilities.
    """
    unknown = set(words) - KNOWN
    assert not unknown, f"nobody can have {sorted(unknown)}"

    def marked(case: Case) -> Case:
        case.needed = words
        return case

    return marked


class Cases:
    """Base class of the contract's test cases.

    not_here: what the platform lacks (names of `needs`), each with the reason. drawn: how it
    displays a text.
    """

    not_here: ClassVar[Mapping[str, str]] = {}
    #: Parts of the contract whose code this suite shares with one that plays them by day.
    by_night: ClassVar[tuple[type["Cases"], ...]] = ()

    @staticmethod
    def drawn(text: str) -> str:
        return text

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        for name in left_out(cls):
            setattr(cls, name, None)
        for part in () if IS_NIGHT else cls.by_night:
            for name, case in vars(part).items():
                if name.startswith("test_") and getattr(cls, name) is case:
                    setattr(cls, name, None)

    @pytest.fixture(autouse=True)
    def _able(self, request: pytest.FixtureRequest, stage: Stage) -> None:
        missing = [
            word for word in getattr(request.function, "needed", ()) if not _has(stage, word)
        ]
        if missing:
            pytest.fail(
                f"{type(stage).__name__} lacks {missing}: write it, or give the reason in not_here"
            )
        stage.notebook = getattr(stage, "notebook", None) or Pages()
        bind(stage)

    @pytest.fixture
    def inbox(self, stage: Stage) -> Inbox:
        return Inbox(notebook=stage.notebook)


def left_out(suite: type[Cases]) -> dict[str, list[str]]:
    """Return the test cases that a suite leaves out, with the needs that its platform lacks."""
    found = {}
    for base in suite.__mro__:
        for name, case in vars(base).items():
            because = [word for word in getattr(case, "needed", ()) if word in suite.not_here]
            if because:
                found[name] = because
    return found


def _has(stage: Stage, word: str) -> bool:
    if word in OF_THE_CHANNEL:
        return hasattr(stage.channel, word)
    return word not in METHODS or hasattr(stage, word)


def contradictions(suite: type[Cases], able: Capabilities, channel: Any) -> list[str]:
    """Return where the omissions of a suite contradict the channel's capabilities."""
    found = [
        f"not_here names {word}, which no case needs" for word in sorted({*suite.not_here} - KNOWN)
    ]
    for word, claimed in CLAIMED.items():
        if claimed(able) and word in suite.not_here:
            found.append(f"{word} is left out, but the capabilities claim it")
        elif not claimed(able) and word not in suite.not_here:
            found.append(f"{word} is not left out, but the capabilities do not claim it")
    claimed_words = [
        word for word in sorted(OF_THE_CHANNEL) if hasattr(channel, word) and word in suite.not_here
    ]
    found += [f"{word} is left out, but the channel has it" for word in claimed_words]
    return found
