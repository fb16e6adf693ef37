"""Files on WeChat's file servers: encrypted, uploaded and downloaded."""

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
from channels.toolkit.wechat_crypto import pad, unpad
from channels.wechat.client import MAX_ERROR_TEXT, ILinkSession, Json, checked_root
from channels.wechat.messages import FILE, IMAGE

# Encryption of files, and the encodings of their keys. Pure.

KEY_BYTES = 16


def encrypted_size(size: int) -> int:
    """Return the size of so many bytes after encryption: whole blocks, with at least one byte of
    padding.
    """
    return (size // KEY_BYTES + 1) * KEY_BYTES


def encrypt_file(data: bytes, key: bytes) -> bytes:
    """Encrypt with AES-128-ECB and PKCS#7. The platform requires ECB; each file has its own key."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    encryptor = Cipher(algorithms.AES(key), modes.ECB()).encryptor()  # noqa: S305
    return encryptor.update(pad(data, KEY_BYTES)) + encryptor.finalize()


def decrypt_file(data: bytes, key: bytes) -> bytes:
    """Decrypt a file. Raises ValueError: it was not encrypted with this key."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    if not data or len(data) % KEY_BYTES:
        raise ValueError(f"{len(data)} bytes are no whole number of blocks")
    decryptor = Cipher(algorithms.AES(key), modes.ECB()).decryptor()  # noqa: S305
    return unpad(decryptor.update(data) + decryptor.finalize(), KEY_BYTES)


def encode_file_key(key: bytes) -> str:
    """Encode a key for a message: base64 of its hexadecimal text, not of its bytes."""
    return base64.b64encode(key.hex().encode()).decode()


def read_file_key(plain_hex: str, encoded: str) -> bytes:
    """Decode a file's key; b"" if it has none and is not encrypted.

    Args:
        plain_hex: image_item.aeskey, 32 hexadecimal digits; preferred.
        encoded: media.aes_key, base64 of 16 bytes or of 32 hexadecimal digits.

    Raises:
        ValueError: neither form.
    """
    if plain_hex:
        return _key_from_hex(plain_hex)
    if not encoded:
        return b""
    try:
        key = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except binascii.Error as err:
        raise ValueError("the key is no base64") from err
    return key if len(key) == KEY_BYTES else _key_from_hex(key.decode("ascii"))


def _key_from_hex(text: str) -> bytes:
    key = bytes.fromhex(text)
    if len(key) != KEY_BYTES:
        raise ValueError(f"the key has {len(key)} bytes instead of {KEY_BYTES}")
    return key


# Uploads and downloads.

# that we send; the platform documents no limit, its own client stops at 100 MB
MAX_FILE_BYTES = 25 * 2**20
MAX_TRIES = 3
TRANSFER_SECONDS = 120.0
_PICTURE_KIND, _FILE_KIND = 1, 3  # media_type of an upload, not the type of a message item


class ILinkMedia:
    """Uploads and downloads files. root: URL of the file servers."""

    def __init__(self, session: ILinkSession, root: str) -> None:
        self._session = session
        self._root = root

    async def upload(self, person: str, file: OutboundFile) -> Json:
        """Upload a file; return the message item that shows it.

        Raises:
            AttachmentTooBig, Rejected: it will never be accepted. Retryable: not now. LoggedOut.
        """
        if len(file.data) > MAX_FILE_BYTES:
            raise AttachmentTooBig(
                f"{file.name}: {len(file.data)} bytes are more than the {MAX_FILE_BYTES} that go "
                "to WeChat"
            )
        key, name = secrets.token_bytes(KEY_BYTES), secrets.token_hex(16)
        md5 = await asyncio.to_thread(
            lambda: hashlib.md5(file.data, usedforsecurity=False).hexdigest()
        )
        encrypted = await asyncio.to_thread(encrypt_file, file.data, key)
        request = {
            "filekey": name,
            "media_type": _PICTURE_KIND if file.picture else _FILE_KIND,
            "to_user_id": person,
            "rawsize": len(file.data),
            "rawfilemd5": md5,
            "filesize": len(encrypted),
            "aeskey": key.hex(),
            "no_need_thumb": True,
        }
        try:
            target = await self._session.call("getuploadurl", request)
        except Ambiguous as err:  # users see nothing of an upload
            raise Retryable(str(err)) from err
        param = await self._upload(self._upload_url(target, name), encrypted)
        media = {"encrypt_query_param": param, "aes_key": encode_file_key(key), "encrypt_type": 1}
        if file.picture:
            return {"type": IMAGE, "image_item": {"media": media, "mid_size": len(encrypted)}}
        file_name = file.name.replace("\\", "/").rpartition("/")[2] or "file"
        item = {"media": media, "file_name": file_name, "md5": md5, "len": str(len(file.data))}
        return {"type": FILE, "file_item": item}

    async def download(self, ref: str, most: int) -> FetchedFile:
        """Download and decrypt an attachment; see channels.base.HasAttachments.

        Raises:
            AttachmentTooBig: there are more than `most`. Rejected: it is gone or damaged.
                Retryable: not now.
        """
        source = json.loads(ref)
        try:
            key = read_file_key(source.get("hex", ""), source.get("key", ""))
        except ValueError as err:
            raise Rejected(f"the file cannot be opened: {err}") from err
        url = self._download_url(source)
        try:
            async with asyncio.timeout(TRANSFER_SECONDS):
                data = await self._download(url, encrypted_size(most) if key else most)
            plain = await asyncio.to_thread(decrypt_file, data, key) if key else data
        except TimeoutError as err:
            raise Retryable(f"the file was not downloaded within {TRANSFER_SECONDS:.0f} s") from err
        except ValueError as err:
            raise Rejected(f"the file is damaged: {err}") from err
        if len(plain) > most:
            raise AttachmentTooBig(f"the file has {len(plain)} bytes, more than {most}")
        return FetchedFile(data=plain)

    def _upload_url(self, target: Json, name: str) -> str:
        if target.get("upload_full_url"):
            return checked_root(str(target["upload_full_url"]), self._root)
        if not target.get("upload_param"):
            raise Retryable("WeChat returned no URL for the upload")
        return f"{self._root}/upload?encrypted_query_param={quote(str(target['upload_param']), safe='')}&filekey={name}"  # noqa: E501

    def _download_url(self, source: dict[str, str]) -> str:
        if source.get("url"):
            try:
                return checked_root(source["url"], self._root)
            except ChannelError as err:
                if not source.get("param"):
                    raise Rejected(str(err)) from err
        if not source.get("param"):
            raise Rejected("the message has no URL of the file")
        return f"{self._root}/download?encrypted_query_param={quote(source['param'], safe='')}"

    async def _upload(self, url: str, encrypted: bytes) -> str:
        """Upload the bytes and return the parameter to download them with.

        Repeating an upload does no harm.
        """
        why: ChannelError = Retryable("")
        for _ in range(MAX_TRIES):
            try:
                async with asyncio.timeout(TRANSFER_SECONDS):
                    return await self._upload_once(url, encrypted)
            except (Ambiguous, Retryable) as err:
                why = err
            except TimeoutError:
                why = Retryable(f"the file was not uploaded within {TRANSFER_SECONDS:.0f} s")
        raise Retryable(f"the file was not uploaded in {MAX_TRIES} attempts: {why}") from why

    async def _upload_once(self, url: str, encrypted: bytes) -> str:
        headers = {"Content-Type": "application/octet-stream"}
        async with self._session.send_client.stream(
            "POST", url, content=encrypted, headers=headers
        ) as response:
            _check_response(response)
            param = response.headers.get("x-encrypted-param", "")
        if not param:
            raise Retryable("the reply to the upload has no download parameter")
        return str(param)

    async def _download(self, url: str, most: int) -> bytes:
        headers = {"Accept-Encoding": "identity"}
        try:
            async with self._session.send_client.stream("GET", url, headers=headers) as response:
                _check_response(response)
                return await read_limited(response.aiter_raw(), most)
        except Ambiguous as err:  # a download can be repeated
            raise Retryable(str(err)) from err


def _check_response(response: Any) -> None:
    status = response.status_code
    if status == 200:
        return
    text = str(response.headers.get("x-error-message", ""))[:MAX_ERROR_TEXT]
    why = f"WeChat's file server replied with status {status} {text}".rstrip()
    raise Rejected(why) if 400 <= status < 500 and status not in (408, 429) else Retryable(why)
