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
    number = (int(now * 1000) & (1 << 48) - 1) << 80 | secrets.randbits(80)
    return "".join(_ID_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))


def derive_key(*parts: str | int) -> str:
    """Derive the idempotency key of an operation: 32 hex digits, equal for equal parts."""
    return hashlib.sha256(":".join(str(part) for part in parts).encode()).hexdigest()[:32]
