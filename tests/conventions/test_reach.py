"""How many files a reader opens to follow one message, and one fold: a ratchet that only falls.

Counted by a profiler hook in all threads: the product's files in which a named function ran. The
channel's wire and the model are the shipped test doubles, so that a platform's client and a
provider come on top.
"""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

import bot
from tests.bot.agent.test_folding import plan_of, script, talk
from tests.bot.inside import inside

ROOT = Path(bot.__file__).parent.parent
PRODUCT = tuple(f"{ROOT / folder}/" for folder in ("bot", "channels", "memory"))
# two more since turns are loaded by the first message: SOUL.md, and the space's memory files, are
# read apart; two more since the window of a model is learnt, and replies come before background
# calls; two more since a question is parsed, and rows of one index are found, apart from the
# search; two more since linked spaces are apart from rows, and the Markdown splitter from excerpts;
# one more since results say what became of their facts; two more since open turns, and the results
# of turns, are apart from their steps
MAX_FILES_OF_A_MESSAGE = 93
# one more since folds are wired where turns are; two since they fit the window of their model, and
# wait for replies; two since names of conversations, and locks of writers, have modules of their
# own; one since a diary leaves out greetings. Up to five more on a slow machine, where background
# work is beside each run.
MAX_FILES_OF_A_FOLD = 67
# The index, and who watches memory files, follow a change after a while. On a slow machine that is
# during each run, and it is no part of the fold.
AFTER_A_FOLD = (
    "memory/recall/",
    "memory/text/word_forms.py",
    "memory/longterm/memories.py",
    "memory/workspace/folder_watch.py",
    "memory/workspace/watch.py",
)
# What a message does not need, but an update of the index beside it, and the flush of soft commits.
ONLY_BESIDE = (
    "memory/workspace/files.py",
    "memory/workspace/atomic_write.py",
    "memory/workspace/write_locks.py",
    "memory/recall/documents.py",
    "memory/text/word_forms.py",
    "memory/workspace/append.py",
    "memory/workspace/folder_watch.py",
)
RUNS = 3


class Entered:
    """The functions that ran while it was on, in every thread started under it."""

    def __init__(self) -> None:
        self.on = False
        self.codes: set[CodeType] = set()

    def __call__(self, frame: FrameType, event: str, _argument: object) -> None:
        if self.on and event == "call":
            self.codes.add(frame.f_code)

    def start(self) -> None:
        self.codes.clear()
        self.on = True

    def stop(self) -> dict[str, set[str]]:
        """File -> the named functions that ran in it since `start` (no modules, lambdas or
        comprehensions).
        """
        self.on = False
        found: dict[str, set[str]] = {}
        for code in self.codes:
            if code.co_filename.startswith(PRODUCT) and not code.co_name.startswith("<"):
                found.setdefault(str(Path(code.co_filename).relative_to(ROOT)), set()).add(
                    code.co_qualname
                )
        return found


@contextmanager
def profiled() -> Iterator[Entered]:
    entered = Entered()
    before = sys.getprofile(), threading.getprofile()
    threading.setprofile(entered)
    sys.setprofile(entered)
    try:
        yield entered
    finally:
        sys.setprofile(before[0])
        threading.setprofile(before[1])


def listed(files: dict[str, set[str]]) -> str:
    return "\n".join(f"{name}: {', '.join(sorted(files[name]))}" for name in sorted(files))


def always(runs: list[dict[str, set[str]]]) -> dict[str, set[str]]:
    """The files of every run: what works in the background beside one of them does not count."""
    return {name: runs[0][name] for name in runs[0] if all(name in run for run in runs)}


async def test_one_message_is_followed_in_few_files(tmp_path: Path) -> None:
    runs = []
    with profiled() as entered:
        async with inside(tmp_path, script) as it:
            await talk(it, 0, 3)
            for number in range(3, 3 + RUNS):
                await it.bot.settled()
                entered.start()
                await talk(it, number, number + 1)
                runs.append(entered.stop())
    files = {name: named for name, named in always(runs).items() if name not in ONLY_BESIDE}
    assert "bot/agent/turn.py" in files
    assert len(files) <= MAX_FILES_OF_A_MESSAGE, listed(files)


async def test_one_fold_is_followed_in_few_files(tmp_path: Path) -> None:
    runs = []
    with profiled() as entered:
        async with inside(tmp_path, script) as it:
            await talk(it, 0, 12)
            for _ in range(RUNS):
                await it.bot.settled()
                plan = await plan_of(it, 2)
                entered.start()
                fold = await it.bot.folding.run(plan)
                runs.append(entered.stop())
                assert fold is not None
                assert fold.state == "folded"
    files = {
        name: named for name, named in always(runs).items() if not name.startswith(AFTER_A_FOLD)
    }
    assert "memory/folding/runner.py" in files
    assert len(files) <= MAX_FILES_OF_A_FOLD, listed(files)
