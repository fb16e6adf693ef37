"""Files to and from WeChat's own servers: sealed, carried, counted."""

import asyncio
import base64
import binascii
import hashlib
import json
import secrets
from typing import Any
from urllib.parse import quote

from channels.base import FetchedFile
from channels.errors import Ambiguous, AttachmentTooBig, ChannelError, Rejected, Retryable
from channels.message import OutboundFile
from channels.toolkit.http import read_limited
from channels.wechat.client import MAX_ERROR_TEXT, ILinkSession, Json, checked_root
from channels.wechat.messages import FILE, IMAGE

# The cipher of WeChat's files, and the forms in which their keys come; pure.

KEY_BYTES = 16


def encrypted_size(size: int) -> int:
    """How many bytes so many become: whole blocks, and at least one byte of padding."""
    return (size // KEY_BYTES + 1) * KEY_BYTES


def encrypt_file(data: bytes, key: bytes) -> bytes:
    """AES-128-ECB with PKCS#7. The platform sets the mode: each file has a key of its own."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    pad = KEY_BYTES - len(data) % KEY_BYTES
    sealing = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305
    return sealing.update(data + bytes([pad]) * pad) + sealing.finalize()


def decrypt_file(data: bytes, key: bytes) -> bytes:
    """Back again. Raises ValueError: these bytes were not sealed with this key."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    if not data or len(data) % KEY_BYTES:
        raise ValueError(f"{len(data)} bytes are no whole number of blocks")
    opening = Cipher(algorithms.AES(key), modes.ECB()).decryptor()  # noqa: S305
    plain = opening.update(data) + opening.finalize()
    pad = plain[-1]
    if not 1 <= pad <= KEY_BYTES or plain[-pad:] != bytes([pad]) * pad:
        raise ValueError("its padding is wrong")
    return plain[:-pad]


def encode_file_key(key: bytes) -> str:
    """The key as a message of ours names it: base64 of its hexadecimal text, not of its bytes."""
    return base64.b64encode(key.hex().encode()).decode()


def read_file_key(plain_hex: str, encoded: str) -> bytes:
    """A file's key, b"" where it has none and is not sealed.

    Args:
        plain_hex: image_item.aeskey, 32 hexadecimal signs; it goes first.
        encoded: media.aes_key, base64 of 16 bytes or of 32 hexadecimal signs.

    Raises:
        ValueError: neither form.
    """
    if plain_hex:
        return _checked_key(bytes.fromhex(plain_hex))
    if not encoded:
        return b""
    try:
        held = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except binascii.Error as err:
        raise ValueError("the key is no base64") from err
    return held if len(held) == KEY_BYTES else _checked_key(bytes.fromhex(held.decode("ascii")))


def _checked_key(key: bytes) -> bytes:
    if len(key) != KEY_BYTES:
        raise ValueError(f"the key has {len(key)} bytes instead of {KEY_BYTES}")
    return key


# Bytes of a file we send; nobody says what the platform takes, and its own client stops at 100 MB.
MAX_FILE_BYTES = 25 * 2**20
MAX_TRIES = 3
TRANSFER_SECONDS = 120.0
_PICTURE_KIND, _FILE_KIND = 1, 3  # media_type of an upload, which counts otherwise than the items of a message


class ILinkMedia:
    """Both ways. root: of the files' servers."""

    def __init__(self, session: ILinkSession, root: str) -> None:
        self._session = session
        self._root = root

    async def upload(self, person: str, file: OutboundFile) -> Json:
        """Carry it there; the item of a message that shows it.

        Raises:
            AttachmentTooBig, Rejected: it will never be taken. Retryable: not now; LoggedOut.
        """
        if len(file.data) > MAX_FILE_BYTES:
            raise AttachmentTooBig(
                f"{file.name}: {len(file.data)} bytes are more than the {MAX_FILE_BYTES} that go to WeChat"
            )
        key, name = secrets.token_bytes(KEY_BYTES), secrets.token_hex(16)
        digest, sealed = await asyncio.to_thread(_encrypt_with_hash, file.data, key)
        asked = {
            "filekey": name,
            "media_type": _PICTURE_KIND if file.picture else _FILE_KIND,
            "to_user_id": person,
            "rawsize": len(file.data),
            "rawfilemd5": digest,
            "filesize": len(sealed),
            "aeskey": key.hex(),
            "no_need_thumb": True,
        }
        try:
            place = await self._session.call("getuploadurl", asked)
        except Ambiguous as err:  # nobody has seen anything yet
            raise Retryable(str(err)) from err
        param = await self._carry(self._upload_url(place, name), sealed)
        media = {"encrypt_query_param": param, "aes_key": encode_file_key(key), "encrypt_type": 1}
        if file.picture:
            return {"type": IMAGE, "image_item": {"media": media, "mid_size": len(sealed)}}
        shown = file.name.replace("\\", "/").rpartition("/")[2] or "file"
        held = {"media": media, "file_name": shown, "md5": digest, "len": str(len(file.data))}
        return {"type": FILE, "file_item": held}

    async def download(self, ref: str, most: int) -> FetchedFile:
        """The bytes of an attachment; see channels.base.Fetching.

        Raises:
            AttachmentTooBig: there are more than `most`. Rejected: it is gone or damaged. Retryable: not now.
        """
        held = json.loads(ref)
        try:
            key = read_file_key(held.get("hex", ""), held.get("key", ""))
        except ValueError as err:
            raise Rejected(f"the file cannot be opened: {err}") from err
        url = self._download_url(held)
        try:
            async with asyncio.timeout(TRANSFER_SECONDS):
                data = await self._read(url, encrypted_size(most) if key else most)
            plain = await asyncio.to_thread(decrypt_file, data, key) if key else data
        except TimeoutError as err:
            raise Retryable(f"the file did not come within {TRANSFER_SECONDS:.0f} s") from err
        except ValueError as err:
            raise Rejected(f"the file is damaged: {err}") from err
        if len(plain) > most:
            raise AttachmentTooBig(f"the file has {len(plain)} bytes, more than {most}")
        return FetchedFile(data=plain)

    def _upload_url(self, place: Json, name: str) -> str:
        if place.get("upload_full_url"):
            return checked_root(str(place["upload_full_url"]), self._root)
        if not place.get("upload_param"):
            raise Retryable("WeChat named no place for the file")
        return f"{self._root}/upload?encrypted_query_param={quote(str(place['upload_param']), safe='')}&filekey={name}"

    def _download_url(self, held: dict[str, str]) -> str:
        if held.get("url"):
            try:
                return checked_root(held["url"], self._root)
            except ChannelError as err:
                if not held.get("param"):
                    raise Rejected(str(err)) from err
        if not held.get("param"):
            raise Rejected("the message names no place where the file is")
        return f"{self._root}/download?encrypted_query_param={quote(held['param'], safe='')}"

    async def _carry(self, url: str, sealed: bytes) -> str:
        """Put the bytes there; the name under which they are to be had. The same bytes may be put there again."""
        why: ChannelError = Retryable("")
        for _ in range(MAX_TRIES):
            try:
                async with asyncio.timeout(TRANSFER_SECONDS):
                    return await self._put(url, sealed)
            except (Ambiguous, Retryable) as err:
                why = err
            except TimeoutError:
                why = Retryable(f"the file was not taken within {TRANSFER_SECONDS:.0f} s")
        raise Retryable(f"the file was not taken in {MAX_TRIES} tries: {why}") from why

    async def _put(self, url: str, sealed: bytes) -> str:
        wire = self._session.send_client
        kind = {"Content-Type": "application/octet-stream"}
        async with wire.stream("POST", url, content=sealed, headers=kind) as answer:
            _check_answer(answer)
            param = answer.headers.get("x-encrypted-param", "")
        if not param:
            raise Retryable("the answer to the file names no place")
        return str(param)

    async def _read(self, url: str, most: int) -> bytes:
        wire = self._session.send_client
        try:
            async with wire.stream("GET", url, headers={"Accept-Encoding": "identity"}) as answer:
                _check_answer(answer)
                return await read_limited(answer.aiter_raw(), most)
        except Ambiguous as err:  # to read again does no harm
            raise Retryable(str(err)) from err


def _check_answer(answer: Any) -> None:
    status = answer.status_code
    if status == 200:
        return
    words = str(answer.headers.get("x-error-message", ""))[:MAX_ERROR_TEXT]
    if 400 <= status < 500 and status not in (408, 429):
        raise Rejected(f"WeChat's files answered with status {status} {words}".rstrip())
    raise Retryable(f"WeChat's files answered with status {status} {words}".rstrip())


def _encrypt_with_hash(data: bytes, key: bytes) -> tuple[str, bytes]:
    return hashlib.md5(data, usedforsecurity=False).hexdigest(), encrypt_file(data, key)
