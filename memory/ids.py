"""Codes that a person reads in one place and types in another: good for a while, and kept only as their hash."""

import hashlib
import secrets
from datetime import timedelta

SIGNS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"
"""32 signs that nobody takes for one another."""
LETTERS = 8
GOOD_FOR = timedelta(minutes=10)


def fresh() -> str:
    """A new one."""
    return "".join(secrets.choice(SIGNS) for _ in range(LETTERS))


def code_sha256(code: str) -> str:
    """What is kept of a code; hyphens, spaces and case do not matter."""
    return hashlib.sha256("".join(filter(str.isalnum, code)).upper().encode()).hexdigest()


# Names for rows: texts that sort by the time they were made.

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
