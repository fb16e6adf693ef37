"""Codes and buttons that answer an approval, and the hashes they are stored as. Pure."""

import hashlib
import re

from memory.ids import CODE_LENGTH, code_sha256

# prefixes of the data of the buttons
APPROVE_PREFIX, DENY_PREFIX, ALWAYS_PREFIX = "yes:", "no:", "ever:"


def is_denial_press(key: str) -> bool:
    """Tell whether this is the data of the deny button."""
    return key.startswith(DENY_PREFIX)


def is_lasting_press(key: str) -> bool:
    """Tell whether this is the data of the button that makes a rule."""
    return key.startswith(ALWAYS_PREFIX)


def hash_answer(key: str) -> str:
    """Return the hash under which the request that a code or a button answers is stored."""
    for start in (APPROVE_PREFIX, DENY_PREFIX, ALWAYS_PREFIX):
        if key.startswith(start):
            return hash_button_key(key.removeprefix(start))
    plain = re.sub(r"[\s-]", "", key)
    return code_sha256(plain) if len(plain) == CODE_LENGTH else hash_button_key(key)


def hash_button_key(key: str) -> str:
    """Return the hash of what a button brings back, without its prefix."""
    return hashlib.sha256(key.encode()).hexdigest()
