"""Nonces of signed calls: one that comes again must come with the same content."""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from itertools import islice

NONCE_SECONDS = 600.0
MAX_NONCES = 100_000
MAX_DROPS = 100


class ReplayGuard:
    """Those of the last ten minutes, each with what it came with."""

    def __init__(self) -> None:
        self._seen: OrderedDict[str, tuple[float, str]] = OrderedDict()

    def fits(self, nonce: str, content: bytes, now: float) -> bool:
        """Note it; False where it has been seen with another content. now: seconds of any clock that runs forward."""
        while self._seen and (len(self._seen) >= MAX_NONCES or now - self._oldest() > NONCE_SECONDS):
            self._drop(self._seen.popitem(last=False)[0])
        name, digest = _digest(nonce.encode("utf-8", "replace")), _digest(content)
        if name not in self._seen:
            self._note(name, now, digest)
        return self._seen[name][1] == digest

    def _oldest(self) -> float:
        return next(iter(self._seen.values()))[0]

    def _note(self, name: str, at: float, digest: str) -> None:
        self._seen[name] = (at, digest)

    def _drop(self, name: str) -> None:
        """It is forgotten."""


class StoredReplayGuard(ReplayGuard):
    """Nonces that outlive a restart, as pages of a notebook.

    A nonce counts once `stored` was told that its page is written. Times are unix seconds.
    """

    def __init__(self, prefix: str) -> None:
        super().__init__()
        self._prefix = prefix
        self._pending: dict[str, str] = {}

    def load(self, pages: Mapping[str, str], now: float) -> None:
        """Take over what an earlier life has stored; it holds against what was noted since."""
        known = dict(self._seen)
        self._seen.clear()
        for name, (at, digest) in sorted(self._of(pages).items(), key=lambda item: item[1]):
            if now - at > NONCE_SECONDS:
                self._pending[self._prefix + name] = ""
            else:
                self._seen[name] = (at, digest)
        for name, seen in known.items():
            self._seen.setdefault(name, seen)

    def unstored(self) -> dict[str, str]:
        """The pages that are still to be written now; "" takes one away, of which each call gives a few."""
        new = {name: value for name, value in self._pending.items() if value}
        return new | dict.fromkeys(islice((name for name, value in self._pending.items() if not value), MAX_DROPS), "")

    def stored(self, pages: Mapping[str, str]) -> None:
        """These pages of `unstored` are written."""
        for name, value in pages.items():
            if self._pending.get(name) == value:
                del self._pending[name]

    def _of(self, pages: Mapping[str, str]) -> dict[str, tuple[float, str]]:
        found = {}
        for name, page in pages.items():
            at, _, digest = page.partition(" ")
            if name.startswith(self._prefix) and at.isdigit():
                found[name.removeprefix(self._prefix)] = (float(at), digest)
        return found

    def _note(self, name: str, at: float, digest: str) -> None:
        super()._note(name, at, digest)
        self._pending[self._prefix + name] = f"{int(at)} {digest}"

    def _drop(self, name: str) -> None:
        self._pending[self._prefix + name] = ""


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]
