"""Confirmation codes, row ids and idempotency keys."""

import hashlib
import secrets
from datetime import timedelta

CODE_ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # 32 characters without look-alikes
CODE_LENGTH = 8
CODE_VALIDITY = timedelta(minutes=10)


def new_code() -> str:
    """Generate a confirmation code; only its hash is stored."""
    return "".join(secrets.choice(CODE_ALPHABET) for _ in range(CODE_LENGTH))


def format_code(code: str) -> str:
    """Format a code as people read it."""
    return f"{code[:4]}-{code[4:]}"


def code_sha256(code: str) -> str:
    """Hash a code for storage and comparison; hyphens, spaces and case do not matter."""
    return hashlib.sha256("".join(filter(str.isalnum, code)).upper().encode()).hexdigest()


AFTER_ALL = "z" * 27  # sorts after every row id
_ID_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"


def new_id(now: float) -> str:
    """Generate a row id of 26 characters: 48 bits of milliseconds, then 80 random bits; ids sort by
    time.

    Args:
        now: unix seconds.
    """
    return _format_id(now, secrets.randbits(80))


def first_id(at: float) -> str:
    """Return the lowest row id of a time: rows made since then have this one or a higher one.

    Args:
        at: unix seconds.
    """
    return _format_id(at, 0)


def _format_id(at: float, bits: int) -> str:
    number = (int(at * 1000) & (1 << 48) - 1) << 80 | bits
    return "".join(_ID_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


def derive_key(*parts: str | int) -> str:
    """Derive the idempotency key of an operation: 32 hex digits, equal for equal parts."""
    return hashlib.sha256(":".join(str(part) for part in parts).encode()).hexdigest()[:32]
