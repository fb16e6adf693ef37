"""Whether what is to be sent out would carry private text with it: a URL or a search, in plain or
encoded.

Pure.
"""

import base64
import binascii
import contextlib
import re
from collections.abc import Collection, Iterable, Iterator
from urllib.parse import unquote_plus

from bot.tools.web.addresses import WebError, parse_url
from memory.text.normalize import normalize_text

#: Letters and digits in a row that count as a copy; a CJK character says as much as two of them.
MAX_SHARED_SIGNS = 16
MIN_ENCODED_CHARS = 8
_URLS = re.compile(r"https?://[^\s<>\"'`|\\^{}\u3000-\u303f\uff00-\uffef]+", re.IGNORECASE)
_LINK_TARGETS = re.compile(r"\]\((https?://[^\s()]+(?:\([^\s()]*\)[^\s()]*)*)", re.IGNORECASE)
_BASE64 = re.compile(rf"[A-Za-z0-9+/_-]{{{MIN_ENCODED_CHARS},}}={{0,2}}")
_HEX = re.compile(rf"(?:[0-9A-Fa-f]{{2}}){{{MIN_ENCODED_CHARS // 2},}}")
_CLOSING = ".,;:!?)]}'\"*_"


def find_urls(texts: Iterable[str]) -> frozenset[str]:
    """Return the URLs in texts, as `parse_url` writes them.

    A URL in prose or Markdown may be followed by punctuation that belongs to neither or both: each
    reading counts.
    """
    found: set[str] = set()
    for text in texts:
        for url in (*_URLS.findall(text), *_LINK_TARGETS.findall(text)):
            while url:
                with contextlib.suppress(WebError):
                    found.add(str(parse_url(url)))
                if url[-1] not in _CLOSING:
                    break
                url = url[:-1]
    return frozenset(found)


def find_leak(
    sent: str, private: Iterable[str], known: Iterable[str], secrets: Collection[str]
) -> str:
    """Say what private text a URL or a search would carry away: "secret", "memory", or "" for none.

    Args:
        sent: everything that leaves, as it leaves.
        private: texts of memory that the model has in view.
        known: texts that the person typed themselves: what stands there too is no leak.
        secrets: values of keys and tokens.
    """
    readings = list(_readings(sent))
    if any(secret in reading for secret in filter(None, secrets) for reading in readings):
        return "secret"
    windows = {window for reading in readings for window in _windows(_plain(reading))}
    unknown = _windows_not_in(windows, known)
    if not unknown:
        return ""
    private_texts = map(_plain, private)
    is_shared = any(window in text for text in private_texts for window in unknown)
    return "memory" if is_shared else ""


def _windows_not_in(windows: set[str], known: Iterable[str]) -> set[str]:
    """Return the windows that stand in none of the texts, which are read only if there are any."""
    if not windows:
        return windows
    known_text = "\n".join(map(_plain, known))
    return {window for window in windows if window not in known_text}


def _readings(sent: str) -> Iterator[str]:
    """Yield a text and what it says when it is decoded."""
    yield sent
    plain = sent
    for _ in range(3):
        decoded = unquote_plus(plain)
        if decoded == plain:
            break
        plain = decoded
        yield plain
    # encoded text that is split by dots or other signs
    joined = re.sub(r"[^A-Za-z0-9+/_-]", "", plain)
    for text in (plain, joined):
        for match in _HEX.finditer(text):
            for start in (0, 1):
                yield from _decode_hex(match[0][start:])
        for match in _BASE64.finditer(text):
            for start in range(4):
                yield from _decode_base64(match[0][start:].rstrip("="))


def _decode_hex(text: str) -> Iterator[str]:
    yield bytes.fromhex(text[: len(text) // 2 * 2]).decode("utf-8", "ignore")


def _decode_base64(text: str) -> Iterator[str]:
    usable = text[: len(text) - 1] if len(text) % 4 == 1 else text
    try:
        data = base64.b64decode(
            usable + "=" * (-len(usable) % 4), altchars=b"-_" if set("-_") & set(usable) else None
        )
    except (binascii.Error, ValueError):
        return
    yield data.decode("utf-8", "ignore")


def _plain(text: str) -> str:
    """Letters and digits only, case and width folded; a CJK character twice."""
    signs = (sign for sign in normalize_text(text) if sign.isalnum())
    return "".join(sign * 2 if sign >= "\u2e80" else sign for sign in signs)


def _windows(text: str) -> Iterator[str]:
    for start in range(len(text) - MAX_SHARED_SIGNS + 1):
        yield text[start : start + MAX_SHARED_SIGNS]
