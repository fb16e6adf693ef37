"""Files of WeCom: downloaded by URL and decrypted, uploaded in chunks over the WebSocket."""

import asyncio
import base64
import binascii
import hashlib
import json
import math
from collections.abc import Awaitable, Callable
from email.message import Message
from typing import Any
from urllib.parse import unquote, urlsplit

from channels.base import FetchedFile
from channels.errors import Ambiguous, AttachmentTooBig, Rejected, Retryable
from channels.message import OutboundFile
from channels.toolkit.http import create_http_client, read_limited
from channels.toolkit.text import replace_unstorable
from channels.toolkit.wechat_crypto import DecryptionFailed, decrypt_bytes
from channels.wecom.settings import SERVER

CHUNK_BYTES = 512 * 1024
PICTURE_BYTES = 10 * 2**20
FILE_BYTES = 20 * 2**20
PICTURES = ("image/jpeg", "image/png")
PADDING_BLOCK = 32
FETCH_SECONDS = 120.0
# Sends a command with a body and returns the body of its reply.
SendCommand = Callable[[str, dict[str, Any]], Awaitable[Any]]


async def fetch_attachment(ref: str, most: int, ws_url: str = "", proxy: str = "") -> FetchedFile:
    """Download and decrypt an attachment. Its URL is valid for five minutes.

    Args:
        ws_url: the WebSocket's URL; plain http is accepted for files only where the socket is plain
            ws (tests).
    """
    try:
        source = json.loads(ref)
        url, key = (
            str(source["url"]),
            base64.b64decode(source["aeskey"] + "=" * (-len(source["aeskey"]) % 4)),
        )
    except (ValueError, KeyError, TypeError, binascii.Error) as err:
        raise Rejected("not a file of WeCom") from err
    if urlsplit(url).scheme != "https" and urlsplit(ws_url or SERVER).scheme != "ws":
        raise Rejected("the file's URL is not https")
    if len(key) != PADDING_BLOCK:
        raise Rejected("the file's key is not 32 bytes long")
    data, name = await _download(url, most + PADDING_BLOCK, proxy)
    try:
        plain = await asyncio.to_thread(decrypt_bytes, key, data)
    except DecryptionFailed as err:
        raise Rejected("the file cannot be deciphered with its key") from err
    if len(plain) > most:
        raise AttachmentTooBig(f"the file is larger than {most} bytes")
    return FetchedFile(data=plain, name=name)


async def _download(url: str, most: int, proxy: str) -> tuple[bytes, str]:
    http_client = await asyncio.to_thread(create_http_client, proxy)
    import httpx2

    try:
        async with (
            asyncio.timeout(FETCH_SECONDS),
            http_client as client,
            client.stream("GET", url, headers={"accept-encoding": "identity"}) as reply,
        ):
            _check_status(reply.status_code)
            data = await read_limited(reply.aiter_raw(), most)
            return data, file_name(reply.headers.get("content-disposition", ""))
    except (httpx2.HTTPError, httpx2.StreamError, httpx2.InvalidURL, TimeoutError) as err:
        raise Retryable(f"the file could not be downloaded: {type(err).__name__}") from err


def _check_status(status: int) -> None:
    if status == 200:
        return
    if status >= 500 or status in (408, 429):
        raise Retryable(f"the file server replied with status {status}")
    raise Rejected(
        f"the file server replied with status {status}; a file's URL is valid for five minutes",
        gone=True,
    )


def file_name(disposition: str) -> str:
    """Read the file name from a Content-Disposition header, without any path; "" for none."""
    header = Message()
    header["content-disposition"] = disposition.replace("\r", " ").replace("\n", " ")
    name = header.get_filename("")
    if "%" in name:
        name = unquote(name)
    return base_name(name)


def base_name(name: str) -> str:
    """Return a name without its path."""
    return replace_unstorable(name.replace("\\", "/").rpartition("/")[2])


def media_kind(file: OutboundFile) -> str:
    """Choose how to send a file: "image" or "file".

    Raises:
        AttachmentTooBig: larger than WeCom accepts.
    """
    if file.picture and file.media_type in PICTURES and len(file.data) <= PICTURE_BYTES:
        return "image"
    if len(file.data) > FILE_BYTES:
        raise AttachmentTooBig(f"WeCom takes files of at most {FILE_BYTES // 2**20} MB")
    return "file"


async def upload_media(file: OutboundFile, send: SendCommand) -> dict[str, Any]:
    """Upload a file and return the body of a message that shows it.

    Raises:
        AttachmentTooBig, Rejected, Retryable: not uploaded. Users do not see an incomplete upload.
    """
    kind = media_kind(file)
    try:
        begun = await send(
            "aibot_upload_media_init",
            {
                "type": kind,
                "filename": base_name(file.name) or kind,
                "total_size": len(file.data),
                "total_chunks": math.ceil(len(file.data) / CHUNK_BYTES),
                "md5": hashlib.md5(file.data, usedforsecurity=False).hexdigest(),
            },
        )
        id = begun["upload_id"]
        for number, start in enumerate(range(0, len(file.data), CHUNK_BYTES)):
            piece = base64.b64encode(file.data[start : start + CHUNK_BYTES]).decode()
            chunk = {"upload_id": id, "chunk_index": number, "base64_data": piece}
            await send("aibot_upload_media_chunk", chunk)
        ended = await send("aibot_upload_media_finish", {"upload_id": id})
        return {"msgtype": kind, kind: {"media_id": ended["media_id"]}}
    except Ambiguous as err:
        raise Retryable(f"the file was not uploaded: {err}") from err
    except (KeyError, TypeError) as err:
        raise Retryable("the reply to an upload has no id") from err
