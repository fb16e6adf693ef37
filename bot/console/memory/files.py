"""Routes for the owner's Markdown files: read with an ETag, and written only if it still
matches.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable

from starlette.requests import Request
from starlette.responses import Response

from bot.console.memory import models
from bot.memory.files import MEMORY_SUFFIX, file_to_json, files_to_json
from channels.phrases import Phrase, untranslated
from channels.web.requests import (
    MEBIBYTE,
    HttpRefusal,
    Route,
    is_versioned,
    json_response,
    list_key,
)
from memory.workspace.atomic_write import FileConflict
from memory.workspace.files import SpaceFiles, TextFile
from memory.workspace.safe_path import FileTooBig, PathRefused

FILES_PATH = "/api/v1/memory/files"
MAX_FILE_BYTES = 4 * MEBIBYTE
_ETAG_PATTERN = re.compile(r'"([0-9a-f]{64})"')


class FileRoutes:
    """Handlers over one space. A file that may not be read responds like a missing one."""

    def __init__(self, files: SpaceFiles, saved: Callable[[], Awaitable[None]]) -> None:
        """saved: called after each write, before the response."""
        self._files = files
        self._saved = saved

    def calls(self) -> tuple[Route, ...]:
        """Return the routes."""
        path = FILES_PATH + "/{path:path}"
        return (
            Route(
                method="GET",
                path=FILES_PATH,
                action="files.read",
                handler=self.list,
                is_promised=True,
                reply=models.MemoryFileListBody,
            ),
            Route(
                method="GET",
                path=path,
                action="files.read",
                handler=self.read,
                is_promised=True,
                reply=models.MemoryFileTextBody,
            ),
            Route(
                method="PUT",
                path=path,
                action="files.write",
                handler=self.write,
                is_promised=True,
                body=models.NewTextBody,
                reply=models.MemoryFileBody,
                max_body=MAX_FILE_BYTES,
                text_field="text",
            ),
        )

    async def list(self, request: Request) -> Response:
        """List all Markdown files with size and time."""
        return json_response(
            {list_key(request, "files"): await asyncio.to_thread(files_to_json, self._files)}
        )

    async def read(self, request: Request) -> Response:
        """Return the file's text, as JSON if the client accepts that; 304 if If-None-Match
        matches.
        """
        file = await self._file(_request_path(request))
        headers = {"etag": f'"{file.sha256}"', "cache-control": "no-cache", "vary": "accept"}
        if _is_current(request.headers.get("if-none-match", ""), file.sha256):
            return Response(status_code=304, headers=headers)
        if "application/json" in request.headers.get("accept", ""):
            return json_response({**file_to_json(file), "text": file.text}, headers=headers)
        headers["content-disposition"] = "attachment"
        return Response(file.text.encode(errors="replace"), 200, headers, "text/markdown")

    async def write(self, request: Request, body: models.NewTextBody) -> Response:
        """Replace the file that If-Match names, or create one with If-None-Match: *; otherwise
        412.
        """
        path = _request_path(request)
        expected = await self._expected(request, path)
        if expected is not None:
            await self._check_utf8(path)
        try:
            file = await asyncio.to_thread(self._files.write, path, body.text, expected)
        except FileConflict as err:
            raise HttpRefusal(
                412, "changed", Phrase("the file was changed meanwhile; read it again")
            ) from err
        except FileTooBig as err:
            raise HttpRefusal(413, "too_large", untranslated(err)) from err
        except (PathRefused, NotADirectoryError) as err:
            raise _not_found() from err
        except OSError as err:
            raise HttpRefusal(
                503, "storage", Phrase("the file could not be written; nothing changed")
            ) from err
        await self._saved()
        return json_response(
            file_to_json(file), 201 if expected is None else 200, {"etag": f'"{file.sha256}"'}
        )

    async def _check_utf8(self, path: str) -> None:
        """Refuse to replace a file that is not UTF-8: the client was shown something else than its
        content.
        """
        try:
            (await asyncio.to_thread(self._files.read_bytes, path)).decode("utf-8")
        except UnicodeDecodeError as err:
            raise HttpRefusal(
                409, "not_utf8", Phrase("the file is not UTF-8, so it was left as it is")
            ) from err
        except (PathRefused, FileTooBig, OSError):
            return  # the write itself reports it

    async def _file(self, path: str) -> TextFile:
        try:
            return await asyncio.to_thread(self._files.read, path)
        except FileTooBig as err:
            raise HttpRefusal(413, "too_large", untranslated(err)) from err
        except (PathRefused, OSError) as err:
            raise _not_found() from err

    async def _expected(self, request: Request, path: str) -> str | None:
        match, none_match = request.headers.get("if-match"), request.headers.get("if-none-match")
        if match is None and none_match == "*":
            return None
        if match == "*":
            return (await self._file(path)).sha256
        tag = _ETAG_PATTERN.fullmatch((match or "").strip())
        if match is None and is_versioned(request):
            raise HttpRefusal(
                428,
                "precondition",
                Phrase("send If-Match with the ETag that the file was read with"),
            )
        if tag is None:
            raise HttpRefusal(
                412,
                "precondition",
                Phrase("send If-Match with the ETag that the file was read with"),
            )
        return tag[1]


def _request_path(request: Request) -> str:
    path = str(request.path_params["path"])
    if not path.endswith(MEMORY_SUFFIX):
        raise _not_found()
    return path


def _is_current(none_match: str, sha256: str) -> bool:
    """Tell whether the client has this text; weak tags match too (RFC 9110, 13.1.2)."""
    tags = [tag.strip().removeprefix("W/") for tag in none_match.split(",")]
    return f'"{sha256}"' in tags or tags == ["*"]


def _not_found() -> HttpRefusal:
    return HttpRefusal(404, "not_found", Phrase("there is no such file"))
