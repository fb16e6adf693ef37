"""Codes that a person reads in one place and types in another: good for a while, and kept only as their hash."""

import hashlib
import secrets
from datetime import timedelta

CODE_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # 32 signs that nobody takes for one another
CODE_LENGTH = 8
CODE_VALIDITY = timedelta(minutes=10)


def new_code() -> str:
    """A new one."""
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))


def code_sha256(code: str) -> str:
    """What is kept of a code; hyphens, spaces and case do not matter."""
    return hashlib.sha256("".join(filter(str.isalnum, code)).upper().encode()).hexdigest()


# Names for rows: texts that sort by the time they were made.

_ID_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(now: float) -> str:
    """26 letters: 48 bits of milliseconds, then 80 random bits.

    Args:
        now: unix seconds.
    """
    number = (int(now * 1000) & (1 << 48) - 1) << 80 | secrets.randbits(80)
    return "".join(_ID_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


def derive_key(*parts: str | int) -> str:
    """32 hex letters that are the same for the same parts: the key of every attempt at one thing."""
    return hashlib.sha256(":".join(str(part) for part in parts).encode()).hexdigest()[:32]
