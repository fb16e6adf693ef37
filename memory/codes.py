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
