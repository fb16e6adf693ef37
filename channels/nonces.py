"""Nonces of signed calls: one that comes again must come with the same content."""

import hashlib
from collections import OrderedDict

KEPT_SECONDS = 600.0
MOST = 100_000


class Nonces:
    """Those of the last ten minutes, each with what it came with."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    def fits(self, nonce: str, content: bytes, now: float) -> bool:
        """Note it; False where it has been seen with another content. now: seconds of any clock that runs forward."""
        while self._seen and (len(self._seen) >= MOST or now - self._oldest() > KEPT_SECONDS):
            self._seen.popitem(last=False)
        digest = hashlib.sha256(content).digest()
        return self._seen.setdefault(nonce, (now, digest))[1] == digest

    def _oldest(self) -> float:
        return next(iter(self._seen.values()))[0]
