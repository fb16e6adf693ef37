"""Names for rows: texts that sort by the time they were made."""

import hashlib
import secrets

_LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(now: float) -> str:
    """26 letters: 48 bits of milliseconds, then 80 random bits.

    Args:
        now: unix seconds.
    """
    number = (int(now * 1000) & (1 << 48) - 1) << 80 | secrets.randbits(80)
    return "".join(_LETTERS[number >> shift & 31] for shift in range(125, -1, -5))


def key_of(*parts: str | int) -> str:
    """32 hex letters that are the same for the same parts: the key of every attempt at one thing."""
    return hashlib.sha256(":".join(str(part) for part in parts).encode()).hexdigest()[:32]
